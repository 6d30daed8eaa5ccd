/* assay: sweeps, many measurements on one machine or on a cluster (docs/sweeps.md).
 *
 *     const char *models[] = {"resnet18", "resnet50"};
 *     assay_sweep_request request = {.size = sizeof request, .models = models, .n_models = 2, .options = options};
 *     assay_result *plan;
 *     assay_sweep_plan(&request, &plan, &err);
 *     for (size_t i = 0; i < assay_result_count(plan, "tasks"); i++) {
 *         assay_sweep_outcome done = {.size = sizeof done};
 *         assay_sweep_run(plan, (int64_t)i, store, NULL, NULL, &done, &err);
 *         assay_result_free(done.result);
 *     }
 *     assay_result *report;
 *     assay_sweep_report(plan, store, &report, &err);
 *
 * A plan is a result of kind "sweep". It contains numbered tasks, the digests of the models and the engine, and the
 * version of assay. A task has one record in the history, identified by the name of the sweep and the number of the
 * task. Any machine with the plan and the history can run a task. Running it twice stores one record.
 */
#ifndef ASSAY_SWEEP_H
#define ASSAY_SWEEP_H

#include <assay/history.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- plans ----------------------------------------------------------------------------------- */

/* What is measured. A configuration is a combination of a model with one item of each of these options (defaults in
 * parentheses): "batch-sizes" (1), "precisions" (fp32), "threads" (0: the engine decides), "device" (cpu) and
 * "node-class" (any). Each configuration becomes "repeat" (1) equal tasks. "sweep-name" is the first part of the
 * sweep's name. These options apply to every measurement: "num-runs", "warmup-runs", "duration", "concurrency",
 * "opt-level", "no-spin", "seed", "memory-limit", "engine". */
typedef struct assay_sweep_request {
    size_t size;
    const char *const *models;
    size_t n_models;
    const assay_options *options; /* may be NULL */
} assay_sweep_request;

/* Makes a plan of at most 20000 tasks. Reads and analyses every model, and looks for the engine. If no engine is found,
 * the plan names none and tasks accept any. The result has the kind "sweep". */
ASSAY_API assay_status assay_sweep_plan(const assay_sweep_request *request, assay_result **out,
                                        assay_error *err);
/* Reads a plan from a file, or makes one from a file with a request: {"models": ["resnet18"], "batch_sizes": [1, 8],
 * "repeat": 3}, with the options above as keys. `options` replace those of the request. The tasks of a plan are fixed:
 * setting one of these options for it is ASSAY_ERR_USAGE. ASSAY_ERR_MALFORMED: the file is neither, or is a plan that
 * was changed. */
ASSAY_API assay_status assay_sweep_open(const char *path, const assay_options *options,
                                        assay_result **out, assay_error *err);

/* ---- tasks ----------------------------------------------------------------------------------- */

typedef struct assay_sweep_outcome {
    size_t size;
    int64_t record; /* its number in the history; 0: not stored */
    bool known;     /* the task had a record already: nothing was measured */
    bool noisy;     /* the machine was not quiet in any attempt; the record has the tag "noisy" */
    unsigned attempts;    /* measurements, at most 3 */
    char machine[256];    /* of the record: node name and fingerprint of the hardware */
    char why[256];        /* why it is noisy */
    assay_result *result; /* the measured profile, for the caller to free; NULL: none */
} assay_sweep_outcome;

/* Runs a task and stores its record. If the machine is not quiet (run queue, load, steal, other Slurm jobs), the
 * measurement is repeated at most twice, then stored with the tag "noisy". `options` may set "engine-lib"; it and
 * `hooks` may be NULL.
 * ASSAY_ERR_UNSUPPORTED: the model, the engine or the version of assay is not that of the plan. ASSAY_ERR_ENGINE: the
 * task cannot be measured. If storing failed, out->result is set and out->record is 0. */
ASSAY_API assay_status assay_sweep_run(const assay_result *plan, int64_t task, assay_store *store,
                                       const assay_options *options, const assay_hooks *hooks,
                                       assay_sweep_outcome *out, assay_error *err);
/* The task that a scheduler started this process for: SLURM_ARRAY_TASK_ID (plus ASSAY_TASK_OFFSET), or the item with
 * the index JOB_COMPLETION_INDEX of the list ASSAY_TASKS. -1: no scheduler started it. ASSAY_ERR_USAGE: these variables
 * are not valid. */
ASSAY_API assay_status assay_sweep_task(const assay_result *plan, int64_t *task, assay_error *err);

/* ---- schedulers ------------------------------------------------------------------------------ */

/* How tasks are submitted to "slurm" (a job array by sbatch) or "kubernetes" (a manifest with an Indexed Job, applied
 * if kubectl has a context). Tasks that have a record or are already submitted are skipped. */
typedef struct assay_sweep_submission {
    size_t size;
    const char *on;        /* "slurm" or "kubernetes"; required */
    const char *plan_path; /* file of the plan, readable on every node; required */
    const char *program;   /* path of assay on the nodes; required */
    const char *tasks;     /* "0-3,7"; NULL: all */
    int64_t throttle;      /* largest number of tasks at a time; 0: any */
    double time_limit_s;   /* of a task; 0: from its predicted time */
    const char *image;     /* container image; required for kubernetes */
    const char *secret;    /* secret with the key ASSAY_DB; or NULL */
    const char *manifest;  /* file to write; required for kubernetes */
} assay_sweep_submission;

/* Submits tasks. `said` receives a line of text per submission; free it with assay_free(). `n_tasks` receives the
 * number of submitted tasks and may be NULL. */
ASSAY_API assay_status assay_sweep_submit(const assay_result *plan, assay_store *store,
                                          const assay_sweep_submission *submission,
                                          uint64_t *n_tasks, char **said, assay_error *err);
/* Removes the sweep's jobs from a scheduler. Records are kept. `said` receives text about it; free it with
 * assay_free(). */
ASSAY_API assay_status assay_sweep_cancel(const assay_result *plan, const char *on, char **said,
                                          assay_error *err);

/* ---- results --------------------------------------------------------------------------------- */

/* The state of every task, from the history and, unless `on` is NULL, from a scheduler. Kind "sweep_status"; keys
 * "total", "done", "running", "waiting", "missing", "expected_end" and "tasks". The plan must stay valid until the
 * result is freed. */
ASSAY_API assay_status assay_sweep_status(const assay_result *plan, assay_store *store,
                                          const char *on, assay_result **out, assay_error *err);
/* The numbers of the tasks without a record, as "0-3,7"; "" if there are none. Free it with assay_free(). */
ASSAY_API assay_status assay_sweep_missing(const assay_result *plan, assay_store *store,
                                           char **tasks, uint64_t *n, assay_error *err);
/* The measured values of all models, places and configurations, the best configuration per goal, the Pareto fronts and
 * the machines. Kind "sweep_report". The plan must stay valid until the result is freed. ASSAY_ERR_ENGINE: some tasks
 * have no record; *out is set. */
ASSAY_API assay_status assay_sweep_report(const assay_result *plan, assay_store *store,
                                          assay_result **out, assay_error *err);

#ifdef __cplusplus
}
#endif
#endif
