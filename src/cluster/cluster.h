/* Where the tasks of a sweep run: a scheduler behind one interface (Slurm: slurm.c, Kubernetes: kubernetes.c). A scheduler
 * is called by its own programs (sbatch, kubectl); nothing is linked. */
#ifndef CLUSTER_CLUSTER_H
#define CLUSTER_CLUSTER_H

#include "base/error.h"
#include "base/sbuf.h"
#include "profile/sweep.h"

/* ---- lists of tasks: "0-3,7,9-12" ---- */

typedef struct sweep_tasks {
    const int64_t *items; /* ascending, distinct */
    uint32_t n;
} sweep_tasks;

void sweep_put_tasks(sbuf *b, const sweep_tasks *tasks, int64_t minus);
/* ASSAY_ERR_USAGE unless each is below n_tasks. `what` is what messages call the text. */
assay_status sweep_parse_tasks(str text, uint32_t n_tasks, const char *what, arena *a,
                               sweep_tasks *out, assay_error *err);

/* ---- schedulers ---- */

typedef struct sweep_submission {
    const sweep_plan *plan;
    const char *plan_path; /* absolute */
    str plan_text;         /* the document */
    const char *program;   /* path of assay */
    sweep_tasks tasks;
    int64_t throttle;                      /* tasks at a time; 0: any number */
    double time_limit_s;                   /* 0: as predicted */
    const double *limits_s;                /* by task */
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

/* The task that a scheduler started this process for: SLURM_ARRAY_TASK_ID plus ASSAY_TASK_OFFSET, or the item
 * JOB_COMPLETION_INDEX of ASSAY_TASKS. -1: none. ASSAY_ERR_USAGE when they are no numbers. */
assay_status sweep_task_of_environment(uint32_t n_tasks, int64_t *task, assay_error *err);

/* Jobs of Slurm that run on this node beside this one, as a sentence; nothing when there are none, or no Slurm. */
void sweep_other_jobs(sbuf *why);

/* ---- shared by the schedulers (cluster.c) ---- */

/* Tasks of one device and node class, as one submission each. */
typedef struct sweep_group {
    str device, node_class;
    sweep_tasks tasks;
    double time_limit_s; /* the longest */
} sweep_group;
assay_status sweep_groups(const sweep_submission *q, sweep_group **out, uint32_t *n,
                          assay_error *err);
/* Runs a program of a scheduler; its output goes to `out`. ASSAY_ERR_SYSTEM with what it printed when it fails. */
assay_status sweep_call(const char *const *argv, sbuf *out, assay_error *err);

#endif
