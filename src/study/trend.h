/* How a figure moved over the runs of a history: its level, where the level changed, and alerts.
 *
 * Change points. An exact metric changes wherever its value does. A measured one is cut by binary
 * segmentation with a rank statistic: of a stretch of n values, with midranks r and their mean m,
 *
 *     T = max over k of |sum of the first k (r - m)| / sqrt(k (n - k) / n * variance of r)
 *
 * which is the largest two-sample Wilcoxon statistic over all places to cut (Pettitt 1979), so that neither the
 * shape of the noise nor single outliers matter. How large T becomes by chance is asked of the values
 * themselves: CHANGE_SHUFFLES random orders of them (a permutation test, exact for exchangeable values). At
 * p <= CHANGE_LEVEL the stretch is cut there and both parts are looked at in the same way. A series whose
 * level never moves is therefore cut with a probability of at most CHANGE_LEVEL. Neighbouring runs that
 * resemble each other would be taken for a change: T is lowered by sqrt((1 - a) / (1 + a)), a the
 * autocorrelation of the ranks at lag 1 within the two parts, when that is positive. Cuts whose medians differ
 * by less than CHANGE_LEAST are left out: true perhaps, but nobody's concern.
 */
#ifndef STUDY_TREND_H
#define STUDY_TREND_H

#include "base/error.h"
#include "profile/history.h"

#define CHANGE_LEVEL    0.01
#define CHANGE_SHUFFLES 999
#define CHANGE_SIDE     4    /* values that a part has at least */
#define CHANGE_LEAST    0.01 /* of the level */
#define TREND_POINTS    5000

/* Fills the totals and the changes of a trend whose metric and points are there. The arena takes what it needs.
 * The result depends on the values alone. */
assay_status trend_analyze(history_trend *t, arena *a, assay_error *err);

/* ---- alerts (alert.c) ----
 *
 *   METRIC OP VALUE                 p95 > 50ms         memory >= 2GB
 *   METRIC OP [Nx] FUNC(WINDOW)     p95 > 1.2x median(30d)      throughput < 0.9x mean(20)
 *
 * OP is > >= < <=. FUNC is median, mean, min, max or last. WINDOW is a duration before the newest run (12h, 30d,
 * 2w), a number of runs before it, or all. The left side is the newest run's value, the right side never holds
 * it.
 */
typedef enum alert_op { ALERT_GT, ALERT_GE, ALERT_LT, ALERT_LE } alert_op;

typedef struct alert {
    str expression;
    const metric_row *metric;
    alert_op op;
    double factor;             /* of the function's value */
    const struct alert_fn *fn; /* NULL: against `limit` */
    int64_t window_s;          /* 0: not by time */
    uint32_t window_runs;      /* 0: not by number */
    double limit;
} alert;

/* ASSAY_ERR_USAGE with err->offset at the place in the expression. Borrows the expression. */
assay_status alert_parse(str expression, alert *out, assay_error *err);
/* `t` is the series of the alert's metric. Texts go into the arena. */
assay_status alert_judge(const alert *q, const history_trend *t, arena *a, history_alert *out,
                         assay_error *err);

#endif
