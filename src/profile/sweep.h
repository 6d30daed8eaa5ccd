/* Sweeps: the numbered tasks of a plan ("assay.sweep/1"), how far they are ("assay.sweep_status/1") and what came out
 * ("assay.sweep_report/1"). Tables in sweep_fields.c; docs/sweeps.md. All pointers are in the arena of the caller. Times
 * are seconds since 1970, UTC.
 */
#ifndef PROFILE_SWEEP_H
#define PROFILE_SWEEP_H

#include "base/result.h"
#include "profile/metrics.h"

enum { SWEEP_TASKS = 20000 }; /* most of a plan */

/* ---- the plan ---- */

typedef struct sweep_model {
    str name, sha256;
    double flops, bytes; /* of one run at batch 1; a time limit is predicted from them */
} sweep_model;

typedef struct sweep_setting { /* an option of every measurement */
    str option, value;
} sweep_setting;

typedef struct sweep_task {
    int64_t task; /* its number, from 0 */
    str model;
    str device, node_class; /* node_class empty: any */
    uint64_t batch, threads;
    str precision;
    uint64_t repeat;     /* which of the equal ones, from 0 */
    double time_limit_s; /* predicted */
} sweep_task;

typedef struct sweep_plan {
    str id; /* NAME-DIGEST: the column `sweep` of the history */
    str name, digest;
    str tool_version;
    str engine, engine_version, engine_sha256; /* empty: not found when the plan was made */
    str architecture;                          /* that engine_sha256 is of: "x86_64" */
    const sweep_model *models;
    uint32_t n_models;
    const sweep_setting *settings;
    uint32_t n_settings;
    const sweep_task *tasks;
    uint32_t n_tasks;
} sweep_plan;

/* ---- how far it is ---- */

typedef enum sweep_state {
    SWEEP_DONE,
    SWEEP_NOISY, /* done, on a machine that was not quiet */
    SWEEP_RUNNING,
    SWEEP_WAITING, /* in the scheduler's queue */
    SWEEP_MISSING
} sweep_state;

typedef struct sweep_progress { /* of one task */
    int64_t task;
    str model, config, device, node_class;
    sweep_state state;
    str machine, reason; /* that measured it, or runs it; why it waits. Or empty */
    int64_t record;      /* INT64_MIN: none */
} sweep_progress;

typedef struct sweep_status {
    str id, scheduler; /* that was asked; empty: none */
    uint32_t total, done, noisy, running, waiting, missing;
    int64_t expected_end_s; /* INT64_MIN: not known */
    const sweep_progress *tasks;
    uint32_t n_tasks;
} sweep_status;

/* ---- what came out ---- */

typedef struct sweep_figures { /* NaN: not measured */
    double p50_ms, p95_ms, mean_ms, throughput, memory_bytes;
} sweep_figures;

typedef struct sweep_row { /* a task with its record */
    int64_t task;
    str model, device, node_class, config;
    uint64_t batch, threads;
    str precision;
    uint64_t repeat;
    int64_t record, created_s; /* INT64_MIN: none */
    str machine;
    bool noisy;
    sweep_figures figures;
} sweep_row;

typedef struct sweep_cell { /* equal tasks together: medians of their records */
    str model, place, device, node_class, config;
    uint64_t batch, threads;
    str precision;
    uint64_t repeats, records, noisy;
    sweep_figures figures;
    bool best_latency, best_throughput, best_memory; /* of its model */
    bool pareto; /* no other of its model is at least as good in all three and better in one */
} sweep_cell;

typedef struct sweep_best {
    str model;
    const char *goal;
    str place, config;
    double value;
    const char *unit;
} sweep_best;

typedef enum sweep_pace { PACE_LIKE_PEERS, PACE_SLOW, PACE_FAST, PACE_NOT_COMPARED } sweep_pace;

typedef struct sweep_machine {
    str machine;
    uint64_t records, compared; /* compared: with records of equal tasks on other machines */
    uint64_t slower;            /* of these */
    double ratio; /* median of its latency over that of its peers; NaN: not compared */
    double p;     /* of so many slower (or faster) ones by chance */
    sweep_pace pace;
} sweep_machine;

typedef struct sweep_report {
    str conclusion;
    str id;
    uint32_t total, done, noisy;
    const uint64_t *missing;
    uint32_t n_missing;
    const sweep_cell *cells;
    uint32_t n_cells;
    const sweep_best *best;
    uint32_t n_best;
    const sweep_machine *machines;
    uint32_t n_machines;
    const sweep_row *rows;
    uint32_t n_rows;
} sweep_report;

extern const result_kind sweep_kind, sweep_status_kind, sweep_report_kind;

/* "batch 4 · fp16 · threads 2", in the arena. */
str sweep_config_text(const sweep_task *t, arena *a);

#endif
