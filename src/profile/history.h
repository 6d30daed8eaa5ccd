/* Runs that a history keeps and how a figure moved over them: plain data between store/, study/ and report/.
 * All pointers live in the arena of whoever asked. Times are seconds since 1970, UTC.
 */
#ifndef PROFILE_HISTORY_H
#define PROFILE_HISTORY_H

#include "profile/metrics.h"

/* A figure that a run may not have. */
typedef struct history_value {
    bool told;
    metric_value v;
} history_value;

/* The figures that a list of runs shows: one row each (history.c). */
typedef struct history_column {
    const char *metric; /* of metric_table */
    const char *key;    /* in the JSON document and the CSV header */
} history_column;
enum { HISTORY_COLUMNS = 7 };
extern const history_column history_columns[HISTORY_COLUMNS];

typedef struct history_run {
    int64_t id, created_s;
    str kind; /* "profile", "pipeline", "machine", "watch" */
    str model, command, host, precision, device;
    uint64_t batch; /* 0: not told */
    history_value figures[HISTORY_COLUMNS];
    const str *tags;
    uint32_t n_tags;
} history_run;

typedef struct history_list {
    const history_run *runs; /* newest first */
    uint32_t n;
    uint64_t total; /* that match, shown or not */
} history_list;

typedef struct history_model {
    str model;
    uint64_t runs;
    history_run newest;
} history_model;

typedef struct history_models {
    const history_model *models;
    uint32_t n;
} history_models;

/* ---- one figure over time ---- */

typedef struct history_point {
    int64_t id, created_s;
    metric_value v;
} history_point;

/* Where the level moved: the run that is the first of the new level. */
typedef struct history_change {
    uint32_t at;          /* index of that point */
    double before, after; /* medians of the levels on both sides */
    double p;             /* how often chance alone does as much; 0: the metric is exact */
    bool worse;
} history_change;

typedef struct history_alert {
    str expression;
    bool judged; /* there was something to compare */
    bool fired;
    double value, limit; /* of the newest run, and what it was compared with */
    uint32_t window_runs;
    str why; /* a sentence */
} history_alert;

typedef struct history_trend {
    str model;
    const metric_row *metric;
    str setup;                   /* what the runs have in common, for people */
    const history_point *points; /* oldest first */
    uint32_t n;
    uint64_t left_out; /* runs of the model with another setup */
    uint64_t older;    /* runs that are more than a trend looks at */
    double median, mean, min, max, newest;
    const history_change *changes;
    uint32_t n_changes;
    const history_alert *alerts;
    uint32_t n_alerts;
} history_trend;

#endif
