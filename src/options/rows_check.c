/* Options of checks: limits, metrics, tolerance; and of planning capacity. */
#include "base/sbuf.h"
#include "base/text.h"
#include "options/rows.h"

assay_status option_no_such_metric(str name, assay_error *err)
{
    const char *names[64] = {0};
    uint32_t n = 0;
    sbuf hint = {0};
    for (; n < metric_table_n && n < 64; n++)
        names[n] = metric_table[n].name;
    text_did_you_mean(&hint, name, names, n);
    for (uint32_t i = 0; i < n; i++)
        sbuf_printf(&hint, "%s%s", i == 0 ? " The metrics are: " : ", ", names[i]);
    assay_status s = err_fail(err, ASSAY_ERR_USAGE, "unknown metric '" STR_FMT "'.%s.",
                              STR_ARG(name), sbuf_cstr(&hint));
    sbuf_free(&hint);
    return s;
}

/* Where the name ends, and how long the separator after it is: ':', "<=" or ">=". 0: there is none. */
static uint32_t find_separator(str s, uint32_t *n)
{
    for (uint32_t i = 0; i < s.n; i++) {
        bool two = i + 1 < s.n && (s.p[i] == '<' || s.p[i] == '>') && s.p[i + 1] == '=';
        *n = two ? 2 : 1;
        if (two || s.p[i] == ':')
            return i;
    }
    return 0;
}

/* "latency:100ms" or "params<=30M". */
static assay_status parse_limit(const option_row *row, str value, verdict_limit *out,
                                assay_error *err)
{
    uint32_t n = 0, at = find_separator(value, &n);
    str name = {value.p, at}, text = {value.p + at + n, value.n - at - n};
    const metric_row *m = metric_find(name);
    double limit;
    if (!m)
        return option_no_such_metric(name, err);
    if (!metric_parse(m->unit, text, &limit))
        return option_refuse(row, value, err, "a limit such as %s:%s", m->name,
                             metric_example(m->unit));
    *out = (verdict_limit){
        .metric = m, .at_least = n == 2 ? value.p[at] == '>' : m->more_is_better, .limit = limit};
    return ASSAY_OK;
}

static assay_status add_limit(assay_options *o, const option_row *row, str value, assay_error *err)
{
    verdict_limit one;
    TRY(parse_limit(row, value, &one, err));
    return VEC_ADD(o->arena, &o->check.limits, one) ? ASSAY_OK : err_no_memory(err);
}

/* A list of limits. */
static OPTION_SETTER(set_budget)
{
    for (str word; str_split(&value, ',', &word);) {
        verdict_limit one;
        uint32_t n;
        if (!find_separator(word, &n))
            return option_refuse(row, word, err, "limits such as flops:5G,memory:2GB,latency:20ms");
        TRY(parse_limit(row, word, &one, err));
        TRY_MEMORY(VEC_ADD(o->arena, &o->check.budget, one), err);
    }
    return ASSAY_OK;
}

/* A bare number is the intensity from which a layer is compute-bound. */
static OPTION_SETTER(set_threshold)
{
    uint32_t n = 0, at = find_separator(value, &n);
    double v;
    if (at)
        return add_limit(o, row, value, err);
    if (!amount_number(value, &v) || v <= 0 || v > 1e6)
        return option_refuse(row, value, err,
                             "a number above 0, at most 1000000, or a limit such as latency:100ms "
                             "or params<=30M");
    o->analysis.threshold = v;
    return ASSAY_OK;
}

static OPTION_SETTER(set_metrics)
{
    str rest = value;
    (void)row;
    o->check.metrics.n = 0;
    do {
        str name = str_cut(&rest, ',');
        const metric_row *m = metric_find(name), **slot;
        if (!m)
            return option_no_such_metric(name, err);
        slot = VEC_PUSH(o->arena, &o->check.metrics);
        TRY_MEMORY(slot, err);
        *slot = m;
    } while (rest.n);
    return ASSAY_OK;
}

/* "params:1,p95:5%". */
static OPTION_SETTER(set_metric_tolerance)
{
    str rest = value;
    do {
        str item = str_cut(&rest, ','), name = str_cut(&item, ':');
        const metric_row *m = metric_find(name);
        double percent;
        if (item.n && item.p[item.n - 1] == '%')
            item.n--;
        if (!m)
            return option_no_such_metric(name, err);
        if (!amount_number(item, &percent) || percent < 0 || percent > 1000)
            return option_refuse(row, value, err, "percentages from 0 to 1000 such as %s:1",
                                 m->name);
        verdict_tolerance *t = VEC_PUSH(o->arena, &o->check.tolerances);
        TRY_MEMORY(t, err);
        *t = (verdict_tolerance){.metric = m, .percent = percent};
    } while (rest.n);
    return ASSAY_OK;
}

static const option_row check[] = {
    {OPTION_READ("threshold", set_threshold, "graph profile bench layers memory check"),
     .repeatable = true, .value = "N|METRIC:LIMIT", .values = "@metrics",
     .about = "METRIC:LIMIT, such as latency:100ms or params<=30M: exit 6 if the limit is missed. "
              "N: layers with at least N FLOPs per byte are compute-bound. Default: 50."},
    {OPTION_READ("budget", set_budget, "compare models"), .repeatable = true,
     .value = "METRIC:LIMIT,...", .values = "@metrics",
     .about = "Rank the models by limits such as flops:5G,memory:2GB,latency:20ms."},
    {OPTION("tolerance", REAL, check.tolerance, "profile bench compare check"), .above = true,
     .value = "PERCENT", .needs = "baseline|measure", .max = 1000, .initial = 2,
     .about = "Accept measured differences up to this value."},
    {OPTION_READ("metric-tolerance", set_metric_tolerance, "profile bench check"),
     .repeatable = true, .value = "METRIC:PERCENT,...", .values = "@metrics", .needs = "baseline",
     .about = "Set the tolerance of a metric, such as params:1. By default counts have none."},
    {OPTION_READ("metrics", set_metrics, "profile bench check"), .value = "p50,p95,...",
     .values = "@metrics", .needs = "baseline|save-baseline",
     .about = "Compare these metrics with the baseline. Default: counts and median latency."},
};
OPTION_TOPIC(options_check, "Check", check);

/* ---- capacity ---- */

static OPTION_SETTER(set_target)
{
    double *rate = &o->capacity.target_rate;
    if (!metric_parse(METRIC_RATE, value, rate) || *rate <= 0 || *rate > 1e12)
        return option_refuse(row, value, err, "requests per second such as 5000rps or 2k");
    return ASSAY_OK;
}

/* "p99", "p99.9", "mean"; false when it is neither. */
static bool parse_quantile(str name, double *out)
{
    double percent;
    *out = 0;
    if (str_is(name, "mean"))
        return true;
    if (str_is(name, "median"))
        name = STR("p50");
    if (name.n < 2 || (name.p[0] != 'p' && name.p[0] != 'P') ||
        !amount_number((str){name.p + 1, name.n - 1}, &percent) || percent <= 0 || percent >= 100)
        return false;
    *out = percent / 100;
    return true;
}

/* "p99:50ms"; a bare time is of P99. */
static OPTION_SETTER(set_latency)
{
    str limit = value, name = STR("p99");
    if (memchr(value.p, ':', value.n))
        name = str_cut(&limit, ':');
    if (!parse_quantile(name, &o->capacity.latency_quantile) ||
        !metric_parse(METRIC_MS, limit, &o->capacity.latency_ms) || o->capacity.latency_ms <= 0)
        return option_refuse(row, value, err, "a limit such as p99:50ms, p99.9:1s or mean:20ms");
    return ASSAY_OK;
}

static const option_row capacity[] = {
    {OPTION_READ("target", set_target, "capacity"), .value = "5000rps",
     .about = "Set the request rate."},
    {OPTION_READ("latency", set_latency, "capacity history"), .value = "p99:50ms",
     .about = "Set the latency limit of a request: a percentile (p99) or the mean."},
    {OPTION("headroom", REAL, capacity.headroom, "capacity"), .above = true, .value = "PERCENT",
     .max = 99, .initial = 20, .about = "Set the share of each machine to keep free."},
};
OPTION_TOPIC(options_capacity, "Capacity", capacity);
