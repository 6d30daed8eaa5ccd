/* The trend of a metric over the records of a history: its level, where the level changed, and alerts.
 *
 * Change points. An exact metric changes wherever its value does. The series of a measured metric is cut by binary
 * segmentation with a rank statistic. For a segment of n values with midranks r and their mean m,
 *
 *     T = max over k of |sum of the first k (r - m)| / sqrt(k (n - k) / n * variance of r)
 *
 * is the largest two-sample Wilcoxon statistic over all cuts (Pettitt 1979). It depends neither on the distribution of
 * the noise nor on single outliers. Its distribution under the null hypothesis comes from CHANGE_SHUFFLES random
 * permutations of the values (a permutation test, exact for exchangeable values). If p <= CHANGE_LEVEL, the segment is
 * cut and both parts are examined in the same way. A series with a constant level is therefore cut with a probability
 * of at most CHANGE_LEVEL. Correlated neighbours would look like a change: T is lowered by sqrt((1 - a) / (1 + a)),
 * where a is the autocorrelation of the ranks at lag 1 within the two parts, if it is positive. Cuts whose medians
 * differ by less than CHANGE_LEAST are dropped.
 */
#ifndef STUDY_TREND_H
#define STUDY_TREND_H

#include "base/error.h"
#include "profile/history.h"

#define CHANGE_LEVEL    0.01
#define CHANGE_SHUFFLES 999
#define CHANGE_SIDE     4    /* fewest values of a part */
#define CHANGE_LEAST    0.01 /* of the level */
#define TREND_POINTS    5000

/* Computes the totals and the changes of a trend from its metric and points. Allocates in the arena. The result
 * depends only on the values. */
assay_status trend_analyze(history_trend *t, arena *a, assay_error *err);

/* ---- alerts (alert.c) ----
 *
 *   METRIC OP VALUE                 p95 > 50ms         memory >= 2GB
 *   METRIC OP [Nx] FUNC(WINDOW)     p95 > 1.2x median(30d)      throughput < 0.9x mean(20)
 *
 * OP is > >= < <=. FUNC is median, mean, min, max or last. WINDOW is a duration before the newest record (12h,
 * 30d, 2w), a number of records before it, or all. The left side is the value of the newest record, which the right
 * side never includes.
 */
typedef enum alert_op { ALERT_GT, ALERT_GE, ALERT_LT, ALERT_LE } alert_op;

typedef struct alert {
    str expression;
    const metric_row *metric;
    alert_op op;
    double factor;             /* of the function's value */
    const struct alert_fn *fn; /* NULL: against `limit` */
    int64_t window_s;          /* 0: not by time */
    uint32_t window_records;   /* 0: not by number */
    double limit;
} alert;

/* ASSAY_ERR_USAGE with err->offset at the place in the expression. Borrows the expression. */
assay_status alert_parse(str expression, alert *out, assay_error *err);
/* `t` is the series of the alert's metric. Texts go into the arena. */
assay_status alert_judge(const alert *q, const history_trend *t, arena *a, history_alert *out,
                         assay_error *err);

#endif
