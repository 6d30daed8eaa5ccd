/* Records of a history and the trend of a metric over them: results "assay.records/1", "assay.models/1" and
 * "assay.trend/1" (history_fields.c). All pointers are in the arena of the caller. Times are seconds since 1970, UTC.
 */
#ifndef PROFILE_HISTORY_H
#define PROFILE_HISTORY_H

#include "base/result.h"
#include "profile/metrics.h"

/* Metrics that a list of records shows. */
enum {
    HISTORY_P50,
    HISTORY_P95,
    HISTORY_MEAN,
    HISTORY_THROUGHPUT,
    HISTORY_MEMORY,
    HISTORY_MACS,
    HISTORY_PARAMETERS,
    HISTORY_FIGURES
};
extern const char *const history_metrics[HISTORY_FIGURES]; /* names in metric_table */

typedef struct history_record {
    int64_t id, created_s;
    str kind; /* "profile", "pipeline", "machine", "watch" */
    str model, command, host, precision, device;
    uint64_t batch;                                 /* 0: it has none */
    str model_sha256, tool_version, machine, sweep; /* empty: not known, or none */
    int64_t task;                                   /* INT64_MIN: the record is of no sweep */
    metric_value figures[HISTORY_FIGURES];
    const str *tags;
    uint32_t n_tags;
} history_record;

typedef struct history_list {
    const history_record *records; /* newest first */
    uint32_t n;
    uint64_t total; /* matching records, listed or not */
} history_list;

typedef struct history_model {
    str model;
    uint64_t records;
    history_record newest;
} history_model;

typedef struct history_models {
    const history_model *models;
    uint32_t n;
} history_models;

extern const result_kind records_kind, models_kind;
/* An int64_t of seconds since 1970 as "2026-11-15T19:06:00Z"; INT64_MIN: unknown. */
extern const field_codec history_time_codec;

/* ---- one metric over time ---- */

typedef struct history_point {
    int64_t id, created_s;
    metric_value v;
    const char *change; /* "better" or "worse" where a new level begins; NULL elsewhere */
} history_point;

/* Where the level changed: the first record of the new level. */
typedef struct history_change {
    uint32_t at; /* index of that point */
    int64_t id, created_s;
    double before, after; /* medians of the levels on both sides */
    double ratio;         /* after / before; NaN when that is 0 */
    double p;             /* probability of such a change by chance; 0: the metric is exact */
    bool worse;
} history_change;

typedef enum alert_verdict { ALERT_QUIET, ALERT_FIRED, ALERT_INCONCLUSIVE } alert_verdict;

typedef struct history_alert {
    str expression;
    alert_verdict verdict; /* inconclusive: there was nothing to compare */
    double value, limit;   /* of the newest record, and what it was compared with; NaN: unknown */
    uint32_t window_records;
    str why; /* a sentence */
} history_alert;

typedef struct history_trend {
    str conclusion; /* one or two sentences: result_conclude() */
    str model;
    const char *metric, *title; /* of metric_table */
    metric_unit unit;
    bool more_is_better;
    str setup;             /* what the records have in common, as text */
    history_point *points; /* oldest first */
    uint32_t n;
    uint64_t left_out;                     /* records of the model with another setup */
    uint64_t older;                        /* records beyond the limit of a trend */
    bool at_least;                         /* both counts stopped: there may be more */
    double median, mean, min, max, newest; /* NaN without points */
    const history_change *changes;
    uint32_t n_changes;
    const history_alert *alerts;
    uint32_t n_alerts;
} history_trend;

extern const result_kind trend_kind;

/* Returns an empty trend of this metric. */
history_trend trend_of(const metric_row *m);

#endif
