/* See load_stats.h. */
#include "measure/load_stats.h"

#include <math.h>
#include <stdlib.h>

#include "base/amount.h"
#include "base/memory.h"
#include "measure/stats.h"

enum { SERIES_MOST = 20000 };

/* ---- values ---- */

static int order_floats(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

static double value_at(const load_values *v, uint32_t rank)
{
    if (rank < v->n_good)
        return (double)v->good[rank];
    double slowest = v->n_good ? (double)v->good[v->n_good - 1] : 0;
    return fmax(slowest, (double)v->bad[rank - v->n_good]);
}

double load_quantile(const load_values *v, double q)
{
    uint32_t n = v->n_good + v->n_bad;
    if (!n)
        return NAN;
    double at = q * (n - 1), low = floor(at);
    double a = value_at(v, (uint32_t)low);
    double b = value_at(v, low + 1 < n ? (uint32_t)low + 1 : n - 1);
    return a + (at - low) * (b - a);
}

static void quantile_interval(const load_values *v, double q, double *low, double *high)
{
    uint32_t n = v->n_good + v->n_bad;
    double middle = q * n, by = 1.96 * sqrt(n * q * (1 - q));
    *low = n && middle - by >= 1 ? value_at(v, (uint32_t)floor(middle - by) - 1) : NAN;
    *high = middle + by + 1 <= n ? value_at(v, (uint32_t)ceil(middle + by)) : NAN;
}

/* Of the series in its order; before it is sorted. */
static bool mean_interval(const load_values *v, load_times *out)
{
    uint32_t step = v->n_good / SERIES_MOST + 1, n = v->n_good / step;
    out->ci95_low = out->ci95_high = NAN;
    if (n < 3)
        return true;
    double *x = memory_alloc(sizeof *x * n);
    if (!x)
        return false;
    for (uint32_t i = 0; i < n; i++)
        x[i] = (double)v->good[i * step];
    double tau = stats_autocorrelation_time(x, n), independent = fmax(2, v->n_good / tau);
    double by = stats_t95(independent - 1) * out->std / sqrt(independent);
    free(x);
    if (by < out->mean) {
        out->ci95_low = out->mean - by;
        out->ci95_high = out->mean + by;
    }
    return true;
}

static void moments_of(const load_values *v, load_times *out)
{
    double sum = 0, squares = 0;
    for (uint32_t i = 0; i < v->n_good; i++)
        sum += (double)v->good[i];
    out->mean = v->n_good ? sum / v->n_good : NAN;
    for (uint32_t i = 0; i < v->n_good; i++)
        squares += ((double)v->good[i] - out->mean) * ((double)v->good[i] - out->mean);
    out->std = v->n_good > 1 ? sqrt(squares / (v->n_good - 1)) : NAN;
}

bool load_times_of(load_values *v, load_times *out)
{
    *out = (load_times){.present = v->n_good > 0, .runs = v->n_good};
    moments_of(v, out);
    if (!mean_interval(v, out))
        return false;
    if (v->n_good)
        qsort(v->good, v->n_good, sizeof *v->good, order_floats);
    if (v->n_bad)
        qsort(v->bad, v->n_bad, sizeof *v->bad, order_floats);
    out->min = v->n_good ? (double)v->good[0] : NAN;
    out->max = v->n_good ? (double)v->good[v->n_good - 1] : NAN;
    out->p50 = load_quantile(v, 0.5);
    out->p90 = load_quantile(v, 0.9);
    out->p95 = load_quantile(v, 0.95);
    out->p99 = load_quantile(v, 0.99);
    out->p999 = load_quantile(v, 0.999);
    quantile_interval(v, 0.5, &out->p50_low, &out->p50_high);
    quantile_interval(v, 0.99, &out->p99_low, &out->p99_high);
    return true;
}

/* ---- steady state ---- */

static void mean_and_variance(const double *x, uint32_t n, double *mean, double *variance)
{
    *mean = stats_mean(x, n);
    *variance = 0;
    for (uint32_t i = 0; i < n; i++)
        *variance += (x[i] - *mean) * (x[i] - *mean) / n;
}

static uint32_t best_cut(const double *x, uint32_t n)
{
    uint32_t best = 0;
    double least = INFINITY;
    for (uint32_t d = 0; d <= n / 2; d++) {
        double mean, variance;
        mean_and_variance(x + d, n - d, &mean, &variance);
        double z = variance / (n - d);
        if (z < least) {
            least = z;
            best = d;
        }
    }
    return best;
}

static bool halves_agree(const double *x, uint32_t n)
{
    double a, b, va, vb;
    uint32_t half = n / 2;
    mean_and_variance(x, half, &a, &va);
    mean_and_variance(x + half, n - half, &b, &vb);
    double chance = 2.5 * sqrt(va / half + vb / (n - half));
    return fabs(b - a) <= chance + 0.1 * fmin(a, b);
}

load_steady load_find_steady(const double *means, uint32_t n, double window_s)
{
    double x[LOAD_WINDOWS];
    uint32_t k = 0, first = 0;
    while (first < n && isnan(means[first]))
        first++;
    for (uint32_t i = first; i < n && k < LOAD_WINDOWS; i++, k++)
        x[k] = isnan(means[i]) && k ? x[k - 1] : means[i];
    if (k < 4)
        return (load_steady){false, 0};
    uint32_t cut = best_cut(x, k);
    bool steady = cut < k / 2 && halves_agree(x + cut, k - cut);
    return (load_steady){steady, (first + (steady ? cut : 0)) * window_s};
}

load_steady load_run_steady(const load_record *items, uint32_t n, double duration_s)
{
    double sums[LOAD_WINDOWS] = {0}, means[LOAD_WINDOWS], window_s = duration_s / LOAD_WINDOWS;
    uint32_t counts[LOAD_WINDOWS] = {0};
    for (uint32_t i = 0; i < n; i++) {
        uint32_t w = (uint32_t)((double)items[i].due_ns / 1e9 / window_s);
        w = w < LOAD_WINDOWS ? w : LOAD_WINDOWS - 1;
        sums[w] += (double)items[i].end_ms;
        counts[w]++;
    }
    for (uint32_t w = 0; w < LOAD_WINDOWS; w++)
        means[w] = counts[w] ? sums[w] / counts[w] : NAN;
    return load_find_steady(means, LOAD_WINDOWS, window_s);
}

/* ---- service level objectives ---- */

const char *const load_metric_words[] = {"latency", "ttft", "itl", NULL};

/* "p99" is 0.99, "p99.9" 0.999. */
static bool parse_quantile(str text, double *out)
{
    double v;
    str digits = {text.p + 1, text.n - 1};
    if (text.n < 2 || (text.p[0] != 'p' && text.p[0] != 'P') || !str_to_f64(digits, &v) || v <= 0 ||
        v >= 100)
        return false;
    *out = v / 100;
    return true;
}

static bool parse_objective(str text, load_objective *o)
{
    str limit = text, name = str_trim(str_cut(&limit, ':')), metric = name;
    double q = 0.99;
    str first = str_cut(&metric, '_');
    bool alone = parse_quantile(name, &q), before = !alone && parse_quantile(first, &q);
    *o = (load_objective){.quantile = q};
    metric = alone ? STR("latency") : before ? metric : name;
    for (int i = 0; i < LOAD_METRICS; i++)
        if (str_is(metric, load_metric_words[i])) {
            o->metric = (load_metric)i;
            return amount_parse(AMOUNT_MS, str_trim(limit), &o->limit_ms) && o->limit_ms > 0;
        }
    return false;
}

bool load_objectives_parse(str text, load_objectives *out)
{
    for (str item; str_split(&text, ',', &item);)
        if (out->n == LOAD_OBJECTIVES || !parse_objective(item, &out->items[out->n++]))
            return false;
    return out->n > 0;
}

static float record_value(const load_record *r, load_metric m)
{
    return m == METRIC_LATENCY ? r->end_ms : m == METRIC_TTFT ? r->first_ms : r->itl_ms;
}

bool load_is_good(const load_record *r, const load_objectives *o)
{
    if (r->outcome != LOAD_GOOD)
        return false;
    for (uint32_t i = 0; i < o->n; i++)
        if ((double)record_value(r, o->items[i].metric) > o->items[i].limit_ms)
            return false;
    return true;
}

/* ---- a run ---- */

typedef struct summary {
    const load_summary_request *q;
    arena *a;
    load_result *out;
    const load_record *items;
    uint32_t n, n_good, n_bad;
    float *work; /* [n + n_gaps] */
    double window_s;
} summary;

static bool is_counted(const summary *s, const load_record *r)
{
    return r->due_ns >= s->q->from_ns;
}

/* Values of one metric; those that a good request does not have are left out. */
static load_values collect(const summary *s, load_metric m)
{
    load_values v = {.good = s->work, .bad = s->work + s->n_good};
    for (uint32_t i = 0; i < s->n; i++) {
        const load_record *r = &s->items[i];
        if (!is_counted(s, r))
            continue;
        float x = record_value(r, m);
        if (r->outcome != LOAD_GOOD)
            v.bad[v.n_bad++] = r->end_ms;
        else if (x >= 0)
            v.good[v.n_good++] = x;
    }
    return v;
}

static void count_outcomes(summary *s)
{
    load_result *out = s->out;
    uint64_t counts[LOAD_OUTCOMES] = {0};
    bool usage = false, chunks = false;
    for (uint32_t i = 0; i < s->n; i++) {
        const load_record *r = &s->items[i];
        if (!is_counted(s, r))
            continue;
        counts[r->outcome]++;
        out->in_tokens += r->outcome == LOAD_GOOD ? r->in_tokens : 0;
        out->out_tokens += r->out_tokens;
        usage = usage || (r->outcome == LOAD_GOOD && r->has_usage);
        chunks = chunks || (r->outcome == LOAD_GOOD && !r->has_usage);
    }
    load_error_count *errors = ARENA_ARRAY(s->a, load_error_count, LOAD_OUTCOMES);
    load_error_cause *causes = ARENA_ARRAY(s->a, load_error_cause, LOAD_OUTCOMES);
    for (int k = LOAD_GOOD + 1; errors && causes && k < LOAD_OUTCOMES; k++) {
        out->failed += counts[k];
        if (!counts[k])
            continue;
        errors[out->n_errors++] = (load_error_count){str_of(load_outcome_words[k]), counts[k]};
        if (*s->q->run->why[k])
            causes[out->n_causes++] = (load_error_cause){str_of(load_outcome_words[k]),
                                                         str_copy(s->a, str_of(s->q->run->why[k]))};
    }
    out->errors = errors;
    out->causes = causes;
    out->good = counts[LOAD_GOOD];
    out->requests = out->good + out->failed;
    out->error_rate = out->requests ? (double)out->failed / (double)out->requests : NAN;
    out->any_tokens = s->q->tokens;
    out->tokens_source = !s->q->tokens || !out->good ? NULL
                         : usage && chunks           ? "mixed"
                         : usage                     ? "usage"
                                                     : "chunks";
}

static void keep_samples(summary *s)
{
    uint32_t step = s->n_good / LOAD_SAMPLES + 1, n = 0, k = 0;
    double *samples = ARENA_ARRAY(s->a, double, s->n_good / step + 1);
    for (uint32_t i = 0; samples && i < s->n; i++) {
        const load_record *r = &s->items[i];
        if (r->outcome == LOAD_GOOD && is_counted(s, r) && k++ % step == 0)
            samples[n++] = (double)r->end_ms;
    }
    s->out->latency.samples_ms = samples;
    s->out->latency.n_samples = samples ? n : 0;
}

static const double cdf_percents[] = {0,  1,  2,  5,  10, 15, 20,   25,   30,    35, 40,
                                      45, 50, 55, 60, 65, 70, 75,   80,   85,    90, 92,
                                      94, 95, 96, 97, 98, 99, 99.5, 99.9, 99.99, 100};
enum { CDF_POINTS = sizeof cdf_percents / sizeof *cdf_percents };

static void fill_cdf(const load_values *v, load_share *to, size_t member)
{
    for (uint32_t i = 0; i < CDF_POINTS; i++) {
        double x = load_quantile(v, cdf_percents[i] / 100);
        memcpy((char *)&to[i] + member, &x, sizeof x);
    }
}

static bool describe_times(summary *s)
{
    load_result *out = s->out;
    load_share *cdf = ARENA_ARRAY(s->a, load_share, CDF_POINTS);
    if (!cdf)
        return false;
    for (uint32_t i = 0; i < CDF_POINTS; i++)
        cdf[i] = (load_share){cdf_percents[i], NAN, NAN, NAN};
    load_values v = collect(s, METRIC_LATENCY);
    bool good = load_times_of(&v, &out->latency);
    fill_cdf(&v, cdf, offsetof(load_share, latency));
    keep_samples(s);
    if (good && s->q->tokens) {
        v = collect(s, METRIC_TTFT);
        out->ttft.present = v.n_good > 0;
        good = !v.n_good || load_times_of(&v, &out->ttft);
        if (v.n_good)
            fill_cdf(&v, cdf, offsetof(load_share, ttft));
        const load_run_result *run = s->q->run;
        v = (load_values){.good = s->work, .n_good = run->n_gaps};
        if (run->n_gaps)
            memcpy(s->work, run->gaps, sizeof(float) * run->n_gaps);
        good = good && (!run->n_gaps || load_times_of(&v, &out->itl));
        if (run->n_gaps)
            fill_cdf(&v, cdf, offsetof(load_share, itl));
    }
    out->cdf = cdf;
    out->n_cdf = out->good ? CDF_POINTS : 0;
    return good;
}

static void describe_rates(summary *s)
{
    const load_run_result *run = s->q->run;
    load_result *out = s->out;
    uint64_t last = 0, due = 0;
    for (uint32_t i = 0; i < s->n; i++) {
        const load_record *r = &s->items[i];
        uint64_t end = r->due_ns + (uint64_t)((double)r->end_ms * 1e6);
        if (is_counted(s, r) && r->outcome == LOAD_GOOD && end > last)
            last = end;
        due += is_counted(s, r);
    }
    /* From the first that counts to the last answer, at least the time of sending. */
    uint64_t from = s->q->from_ns, to = last > run->sending_ns ? last : run->sending_ns;
    s->window_s = to > from ? (double)(to - from) / 1e9 : 0;
    double t = s->window_s > 0 ? s->window_s : NAN;
    bool some = out->good > 0;
    out->wall_s = (double)run->wall_ns / 1e9;
    out->throughput = (load_throughput){
        .requests = some ? (double)out->good / t : 0,
        .tokens = s->q->tokens && some ? (double)out->out_tokens / t : NAN,
        .in_tokens = s->q->tokens && out->in_tokens ? (double)out->in_tokens / t : NAN,
        .offered = s->q->open && run->sending_ns > from
                       ? (double)due / ((double)(run->sending_ns - from) / 1e9)
                       : NAN};
    out->network = (load_network){.in_bytes = run->bytes_in,
                                  .out_bytes = run->bytes_out,
                                  .in_rate = (double)run->bytes_in / out->wall_s,
                                  .out_rate = (double)run->bytes_out / out->wall_s};
}

static void judge_slo(summary *s)
{
    const load_objectives *o = s->q->slo;
    load_slo *slo = &s->out->slo;
    load_limit *limits = o->n ? ARENA_ARRAY(s->a, load_limit, o->n) : NULL;
    if (!limits)
        return;
    slo->present = slo->met = true;
    for (uint32_t i = 0; i < o->n; i++) {
        load_values v = collect(s, o->items[i].metric);
        load_times t;
        load_times_of(&v, &t);
        double value = v.n_good ? load_quantile(&v, o->items[i].quantile) : NAN;
        limits[i] = (load_limit){.metric = str_of(load_metric_words[o->items[i].metric]),
                                 .quantile = o->items[i].quantile,
                                 .limit_ms = o->items[i].limit_ms,
                                 .value_ms = value,
                                 .met = value <= o->items[i].limit_ms};
        /* Failures rank as the slowest; where none was slow, their number decides. */
        double bad = (double)v.n_bad / (v.n_good + v.n_bad + (v.n_good + v.n_bad == 0));
        limits[i].met = limits[i].met && bad <= 1 - o->items[i].quantile + 1e-12;
        slo->met = slo->met && limits[i].met;
    }
    for (uint32_t i = 0; i < s->n; i++)
        slo->good += is_counted(s, &s->items[i]) && load_is_good(&s->items[i], o);
    slo->limits = limits;
    slo->n_limits = o->n;
    slo->goodput = s->window_s > 0 ? (double)slo->good / s->window_s : 0;
    slo->share = s->out->requests ? (double)slo->good / (double)s->out->requests : 0;
}

/* ---- the client itself ---- */

#define CLIENT_CPU_MOST  90.0
#define CLIENT_LATE_MOST 1.0 /* percent */

static void describe_client(summary *s)
{
    const load_run_result *run = s->q->run;
    load_client_use *c = &s->out->client;
    double sends = run->n ? run->n : 1;
    *c = (load_client_use){
        .cpu_percent = run->wall_ns ? 100 * (double)run->cpu_ns / (double)run->wall_ns : NAN,
        .late_sends = run->late,
        .late_percent = 100 * (double)run->late / sends,
        .send_delay_p50_us = run->late_p50_us,
        .send_delay_p99_us = run->late_p99_us,
        .send_delay_max_us = run->late_max_us,
        .receive_delay_us = run->handling_us,
        .connections = run->connections,
        .reconnects = run->reconnects,
        .in_flight_most = run->in_flight_most,
        .waited = run->waited};
    bool busy = c->cpu_percent > CLIENT_CPU_MOST, late = c->late_percent > CLIENT_LATE_MOST;
    c->saturated = (busy && s->q->run->wall_ns > 200000000u) || late;
    if (busy && c->saturated)
        c->why = str_printf(s->a, "its thread used %.0f %% of a core", c->cpu_percent);
    else if (late)
        c->why = str_printf(s->a, "%.1f %% of the requests were sent more than 1 ms late",
                            c->late_percent);
}

/* ---- over time ---- */

typedef struct bucket {
    uint32_t n, at; /* of its values in the work array */
    uint64_t tokens, errors;
} bucket;

static uint32_t bucket_of(const load_record *r, double width_s)
{
    double end_s = (double)r->due_ns / 1e9 + (double)r->end_ms / 1e3;
    uint32_t b = (uint32_t)(end_s / width_s);
    return b < LOAD_TIMELINE ? b : LOAD_TIMELINE - 1;
}

static void fill_buckets(const summary *s, double width_s, bucket *b)
{
    for (uint32_t i = 0; i < s->n; i++) {
        bucket *x = &b[bucket_of(&s->items[i], width_s)];
        bool good = s->items[i].outcome == LOAD_GOOD;
        x->n += good;
        x->errors += !good;
        x->tokens += s->items[i].out_tokens;
    }
    for (uint32_t k = 1; k < LOAD_TIMELINE; k++)
        b[k].at = b[k - 1].at + b[k - 1].n;
    for (uint32_t k = 0; k < LOAD_TIMELINE; k++)
        b[k].n = 0;
    for (uint32_t i = 0; i < s->n; i++) {
        bucket *x = &b[bucket_of(&s->items[i], width_s)];
        if (s->items[i].outcome == LOAD_GOOD)
            s->work[x->at + x->n++] = s->items[i].end_ms;
    }
}

static double nice_width(double wall_s)
{
    static const double widths[] = {0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 60, 120, 300, 600};
    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++)
        if (wall_s / widths[i] <= LOAD_TIMELINE - 1)
            return widths[i];
    return wall_s / (LOAD_TIMELINE - 1);
}

static void describe_timeline(summary *s)
{
    double width = nice_width((double)s->q->run->wall_ns / 1e9);
    uint32_t n = (uint32_t)ceil((double)s->q->run->wall_ns / 1e9 / width);
    bucket buckets[LOAD_TIMELINE] = {0};
    load_moment *list = ARENA_ARRAY(s->a, load_moment, LOAD_TIMELINE);
    if (!list || !s->n)
        return;
    fill_buckets(s, width, buckets);
    for (uint32_t k = 0; k < n && k < LOAD_TIMELINE; k++) {
        load_values v = {.good = s->work + buckets[k].at, .n_good = buckets[k].n};
        if (v.n_good)
            qsort(v.good, v.n_good, sizeof *v.good, order_floats);
        list[k] = (load_moment){
            .time_s = k * width,
            .requests_per_second = buckets[k].n / width,
            .tokens_per_second = s->q->tokens ? (double)buckets[k].tokens / width : NAN,
            .p50 = load_quantile(&v, 0.5),
            .p99 = load_quantile(&v, 0.99),
            .errors = buckets[k].errors};
    }
    s->out->timeline = list;
    s->out->n_timeline = n < LOAD_TIMELINE ? n : LOAD_TIMELINE;
}

assay_status load_summarise(const load_summary_request *q, arena *a, load_result *out,
                            assay_error *err)
{
    summary s = {.q = q, .a = a, .out = out, .items = q->run->items, .n = q->run->n};
    for (uint32_t i = 0; i < s.n; i++)
        if (is_counted(&s, &s.items[i]))
            *(s.items[i].outcome == LOAD_GOOD ? &s.n_good : &s.n_bad) += 1;
    size_t room = (size_t)s.n + q->run->n_gaps + 1;
    s.work = memory_alloc(sizeof *s.work * room);
    TRY_MEMORY(s.work, err);
    count_outcomes(&s);
    bool good = describe_times(&s);
    describe_rates(&s);
    judge_slo(&s);
    describe_client(&s);
    describe_timeline(&s);
    free(s.work);
    return good && !arena_failed(a) ? ASSAY_OK : err_no_memory(err);
}
