/* Steps of a sweep: digests of what is measured, the machine that measures, and the schedulers that run tasks.
 *
 * Digests are SHA-256. Of a file: its bytes. Of a directory: the names and digests of its files, by name (directories
 * below it do not count). Of a built-in architecture: its name and its counts, because its graph is made by this version
 * of assay, which a task compares too. External data of an ONNX file does not count.
 */
#ifndef JOBS_SWEEP_H
#define JOBS_SWEEP_H

#include <assay/sweep.h>

#include "cluster/cluster.h"
#include "jobs/measure.h"
#include "profile/sweep.h"
#include "store/store.h"
#include "study/sweep_request.h"

#define SWEEP_BYTES ((size_t)256 << 20) /* of a plan, a status or a report */

/* Of a model that was opened by `word` and analysed as `p`. */
assay_status sweep_digest_model(const assay_model *m, const char *word, const profile *p,
                                digest_hex out, assay_error *err);

/* ---- plans ---- */

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

/* Seconds that a task may take, predicted for a model that is open (sweep_limit.c). */
double sweep_time_limit(assay_model *model, const sweep_model *counts, const sweep_request *q,
                        const sweep_task *t);

typedef struct sweep_engine {
    char name[32], version[64], architecture[65];
    digest_hex sha256; /* of its library; empty: it is not a file */
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

/* Time limits by task: by earlier records, else those of the plan (sweep_limit.c). */
assay_status sweep_limits(const sweep_submission *q, store *db, const measure_options *o,
                          double **out, assay_error *err);

/* The state of every task; place NULL: no scheduler is asked (sweep_status.c). */
assay_status sweep_status_make(const sweep_plan *plan, store *db, const sweep_place *place,
                               arena *a, sweep_status *out, assay_error *err);
/* The tasks without a record as "0-3,7", and how many. */
assay_status sweep_put_missing(const sweep_plan *plan, store *db, arena *a, sbuf *text, uint64_t *n,
                               assay_error *err);
/* Submits the tasks of the list (NULL: of the plan) that have no record and are not in the queue; fills q->tasks. */
assay_status sweep_submit(const sweep_place *place, store *db, const char *list,
                          sweep_submission *q, const measure_options *o, assay_error *err);
assay_status sweep_report_read(const sweep_plan *plan, store *db, arena *a, sweep_report *out,
                               assay_error *err);

#endif
