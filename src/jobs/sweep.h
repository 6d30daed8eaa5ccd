/* Steps of a sweep: digests of what is measured, the machine that measures, and the schedulers that run tasks.
 *
 * Digests are SHA-256. Of a file: its bytes. Of a directory: the names and digests of its files, by name (directories
 * below it do not count). Of a built-in architecture: its name and its counts, because its graph is made by this version
 * of assay, which a task compares too. External data of an ONNX file does not count.
 */
#ifndef JOBS_SWEEP_H
#define JOBS_SWEEP_H

#include <assay/sweep.h>

#include "base/sbuf.h"
#include "jobs/measure.h"
#include "profile/sweep.h"
#include "store/store.h"

#define SWEEP_BYTES ((size_t)256 << 20) /* of a plan, a status or a report */

typedef char sweep_hex[65];

/* Of a file or directory; ASSAY_ERR_SYSTEM when it cannot be read. */
assay_status sweep_digest_path(const char *path, sweep_hex out, assay_error *err);
/* Of a model that was opened by `word` and analysed as `p`. */
assay_status sweep_digest_model(const assay_model *m, const char *word, const profile *p,
                                sweep_hex out, assay_error *err);
/* Of a plan, without its id and its digest. */
assay_status sweep_digest_plan(const sweep_plan *plan, sweep_hex out, assay_error *err);

enum { SWEEP_MACHINE = 200 };
/* NODE@FINGERPRINT: the node by $ASSAY_NODE, $SLURMD_NODENAME or the name of the host; the fingerprint is the beginning
 * of the digest of processor, architecture, number of processors and memory in GiB. */
void sweep_machine_name(char out[SWEEP_MACHINE]);
/* Jobs of Slurm that run on this node beside this one, as a sentence; nothing when there are none, or no Slurm. */
void sweep_other_jobs(sbuf *why);

/* ---- lists of tasks: "0-3,7,9-12" ---- */

typedef struct sweep_tasks {
    const int64_t *items; /* ascending, distinct */
    uint32_t n;
} sweep_tasks;

void sweep_put_tasks(sbuf *b, const sweep_tasks *tasks, int64_t minus);
/* ASSAY_ERR_USAGE unless each is below n_tasks. `what` is what messages call the text. */
assay_status sweep_parse_tasks(str text, uint32_t n_tasks, const char *what, arena *a,
                               sweep_tasks *out, assay_error *err);

/* ---- plans ---- */

/* Options of every measurement that a plan keeps, and the axes of a plan, as options: their names, NULL at the end
 * (sweep_request.c). */
extern const char *const sweep_settings[], *const sweep_axes[];

typedef struct sweep_request {
    const char *const *models;
    size_t n_models;
    const assay_options *options; /* the axes, and what the time of a run depends on */
    const assay_options *plain;   /* as if nothing had been set */
    const sweep_setting *settings;
    uint32_t n_settings;
} sweep_request;
/* Reads and analyses every model, and looks for the engine (sweep_plan.c). */
assay_status sweep_plan_make(const sweep_request *request, arena *a, sweep_plan *out,
                             assay_error *err);

/* A file with a request, as the options that it sets. */
typedef struct sweep_file {
    const char **models;
    uint32_t n_models;
    const sweep_setting *options;
    uint32_t n_options;
} sweep_file;
assay_status sweep_request_read(str text, const char *path, arena *a, sweep_file *out,
                                assay_error *err);
/* ASSAY_ERR_MALFORMED: the tasks are not numbered, or the digest is another. */
assay_status sweep_plan_check(const sweep_plan *plan, const char *path, assay_error *err);

/* Seconds that a task may take, predicted for a model that is open (sweep_limit.c). */
double sweep_time_limit(assay_model *model, const sweep_model *counts, const sweep_request *q,
                        const sweep_task *t);

typedef struct sweep_engine {
    char name[32], version[64], architecture[65];
    sweep_hex sha256; /* of its library; empty: it is not a file */
} sweep_engine;
/* The engine that these options find. The name is empty when there is none, and set when only its library cannot be
 * read. */
assay_status sweep_engine_here(const assay_options *options, sweep_engine *out, assay_error *err);

/* ---- one task ---- */

typedef struct sweep_running {
    const sweep_plan *plan;
    const sweep_task *task;
    store *store;
    const assay_options *options; /* of the measurement */
    const job_measure_hooks *hooks;
    assay_sweep_outcome *out; /* empty */
    const sweep_model *model; /* set by sweep_task_run() */
    assay_error *err;
} sweep_running;
/* Looks for the task's record, compares the plan with what is here, and measures, at most three times. What was measured
 * is in out->result, for the caller to store and to free; out->known: there is a record already. */
assay_status sweep_task_run(sweep_running *r);

/* ---- where tasks run ---- */

typedef struct sweep_submission {
    const sweep_plan *plan;
    const char *plan_path; /* absolute */
    str plan_text;         /* the document */
    const char *program;   /* path of assay */
    sweep_tasks tasks;
    int64_t throttle;                      /* tasks at a time; 0: any number */
    double time_limit_s;                   /* 0: as predicted */
    const measure_options *measure;        /* of the plan's settings */
    const double *limits_s;                /* by task; set by sweep_submit() */
    const char *image, *secret, *manifest; /* of Kubernetes; or NULL */
    arena *arena;
    sbuf *said; /* receives what was done, a line each */
} sweep_submission;

/* A scheduler. `tasks` of states() are by number; it fills state, machine and reason of those that it has. */
typedef struct sweep_place {
    const char *name;
    assay_status (*submit)(const sweep_submission *q, assay_error *err);
    assay_status (*states)(const sweep_plan *plan, sweep_progress *tasks, arena *a,
                           assay_error *err);
    assay_status (*cancel)(const sweep_plan *plan, sbuf *said, assay_error *err);
} sweep_place;

extern const sweep_place sweep_place_slurm, sweep_place_kubernetes;
/* NULL when there is none of that name. */
const sweep_place *sweep_find_place(const char *name);

/* The state of every task; place NULL: no scheduler is asked (sweep_status.c). */
assay_status sweep_status_make(const sweep_plan *plan, store *db, const sweep_place *place,
                               arena *a, sweep_status *out, assay_error *err);
/* The tasks without a record as "0-3,7", and how many. */
assay_status sweep_put_missing(const sweep_plan *plan, store *db, arena *a, sbuf *text, uint64_t *n,
                               assay_error *err);
/* Submits the tasks of the list (NULL: of the plan) that have no record and are not in the queue; fills q->tasks. */
assay_status sweep_submit(const sweep_place *place, store *db, const char *list,
                          sweep_submission *q, assay_error *err);
assay_status sweep_report_read(const sweep_plan *plan, store *db, arena *a, sweep_report *out,
                               assay_error *err);

/* The task that a scheduler started this process for: SLURM_ARRAY_TASK_ID plus ASSAY_TASK_OFFSET, or the item
 * JOB_COMPLETION_INDEX of ASSAY_TASKS. -1: none. ASSAY_ERR_USAGE when they are no numbers. */
assay_status sweep_task_of_environment(uint32_t n_tasks, int64_t *task, assay_error *err);

/* ---- shared by the schedulers (sweep_place.c) ---- */

/* Tasks of one device and node class, as one submission each. */
typedef struct sweep_group {
    str device, node_class;
    sweep_tasks tasks;
    double time_limit_s; /* the longest */
} sweep_group;
/* Time limits by task: by earlier records, else those of the plan (sweep_limit.c). */
assay_status sweep_limits(const sweep_submission *q, store *db, const measure_options *o,
                          double **out, assay_error *err);
assay_status sweep_groups(const sweep_submission *q, sweep_group **out, uint32_t *n,
                          assay_error *err);
/* Runs a program of a scheduler; its output goes to `out`. ASSAY_ERR_SYSTEM with what it printed when it fails. */
assay_status sweep_call(const char *const *argv, sbuf *out, assay_error *err);

#endif
