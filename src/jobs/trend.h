/* The trend of a metric over the records of a history, with the verdicts of its alerts. */
#ifndef JOBS_TREND_H
#define JOBS_TREND_H

#include "store/store.h"
#include "study/trend.h"

typedef struct trend_question {
    store *store;
    store_filter filter;      /* names the model */
    const metric_row *metric; /* NULL: the first of the usual metrics that the records have */
    bool all;                 /* also records that are not comparable with the newest */
    const alert *alerts;
    uint32_t n_alerts;
    str (*why)(const alert *q, const history_alert *x, arena *a); /* of an alert that was decided */
} trend_question;
/* Reads and analyses the series; alerts and series are of the same records. ASSAY_ERR_USAGE when there are none. */
assay_status job_trend(const trend_question *q, arena *a, history_trend *out, assay_error *err);

#endif
