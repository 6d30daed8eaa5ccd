/* Questions to the history of a fleet (docs/history.md). Texts of the answers are in the arena. */
#ifndef JOBS_FLEET_H
#define JOBS_FLEET_H

#include "store/store.h"
#include "study/fleet.h"

typedef struct fleet_change_question {
    store_filter records; /* those that are older than since_s tell the level before */
    const metric_row *metric;
    fleet_by by;
    int64_t since_s; /* INT64_MIN: any time */
    bool worse_only;
} fleet_change_question;
assay_status fleet_changes_read(store *db, const fleet_change_question *q, arena *a,
                                fleet_changes *out, assay_error *err);

/* Of the records of machines among these. */
assay_status fleet_drift_read(store *db, const store_filter *records, arena *a, fleet_drifts *out,
                              assay_error *err);

typedef struct fleet_cost_question {
    store_filter records;      /* of one model */
    const char *latency;       /* "p99:50ms"; NULL: any */
    const char *const *prices; /* "[CLASS=]USD-PER-HOUR,..." */
    size_t n_prices;
} fleet_cost_question;
/* ASSAY_ERR_USAGE: a price or the latency is none, or the model has no such record. */
assay_status fleet_cheapest_read(store *db, const fleet_cost_question *q, arena *a,
                                 fleet_cheapest *out, assay_error *err);

#endif
