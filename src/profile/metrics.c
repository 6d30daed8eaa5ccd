/* See metrics.h. Units: times by their SI names; KB, MB, GB are powers of 1000 and KiB, MiB, GiB of 1024; K, M, G (or
 * B), T count thousands, millions, billions and so on, with any name after them ("5GFLOPs"). */
#include "profile/metrics.h"

#include <ctype.h>
#include <math.h>
#include <strings.h>

/* ---- where they stand ---- */

const profile_config *profile_smallest(const profile *p)
{
    const profile_measured *m = p->measured;
    const profile_config *best = NULL;
    for (uint32_t i = 0; m && i < m->n_configs; i++)
        if (m->configs[i].latency.runs && (!best || m->configs[i].batch < best->batch))
            best = &m->configs[i];
    return best;
}

int64_t profile_input_batch(const profile *p, uint32_t input)
{
    int64_t axis = p->batch.certainty && input < p->batch.n_axes ? p->batch.axes[input].axis : 0;
    return axis < p->inputs[input].shape.rank ? axis : -1;
}

double profile_rate(const profile_measured *m, const profile_config *c)
{
    bool some = c->samples_per_second >= 0 && m->units_per_sample > 0;
    return some ? c->samples_per_second * m->units_per_sample : NAN;
}

static bool whole(metric_value *out, uint64_t n)
{
    *out = (metric_value){.v = (double)n, .whole = true, .n = n};
    return true;
}

static bool real(metric_value *out, double v)
{
    *out = (metric_value){.v = v};
    return isfinite(v) && v >= 0;
}

/* A watched process has no graph: nothing of it is a count of zero. */
static bool counted(const profile *p)
{
    return p->total_operators || p->total_parameters;
}

/* A pipeline has totals but no layers. */
static bool detailed(const profile *p)
{
    return counted(p) && !p->kind;
}

#define WHOLE(name, expression)                                \
    static bool get_##name(const profile *p, metric_value *to) \
    {                                                          \
        return counted(p) && whole(to, (expression));          \
    }
#define DETAIL(name, expression)                               \
    static bool get_##name(const profile *p, metric_value *to) \
    {                                                          \
        return detailed(p) && whole(to, (expression));         \
    }
#define OF_RUNS(name, expression)                              \
    static bool get_##name(const profile *p, metric_value *to) \
    {                                                          \
        const profile_config *c = profile_smallest(p);         \
        return c && real(to, (expression));                    \
    }

WHOLE(params, p->total_parameters)
WHOLE(flops, p->total_flops)
WHOLE(macs, p->total_macs)
DETAIL(size, p->architecture.weight_bytes)
DETAIL(traffic, p->total_memory)
DETAIL(activations, p->memory_plan.activations_peak_bytes)
DETAIL(plan, p->memory_plan.peak_bytes)
DETAIL(operators, p->total_operators)
DETAIL(unknown, p->accounting.unknown)

static bool get_file_size(const profile *p, metric_value *to)
{
    return p->architecture.file_size_bytes && whole(to, p->architecture.file_size_bytes);
}
static bool get_intensity(const profile *p, metric_value *to)
{
    return detailed(p) && real(to, p->arithmetic_intensity);
}

/* A file that does not have a percentile has zero here; no run takes no time. */
#define TIME_OF_RUNS(name, expression) OF_RUNS(name, (expression) > 0 ? (expression) : -1)
TIME_OF_RUNS(latency, c->latency.mean)
TIME_OF_RUNS(p50, c->latency.p50)
TIME_OF_RUNS(p90, c->latency.p90)
TIME_OF_RUNS(p95, c->latency.p95)
TIME_OF_RUNS(p99, c->latency.p99)
TIME_OF_RUNS(min, c->latency.min)
TIME_OF_RUNS(max, c->latency.max)
OF_RUNS(std, c->latency.std)
OF_RUNS(throughput, c->samples_per_second)
OF_RUNS(energy, c->use.energy_j)
OF_RUNS(gflops, c->gflops_per_s * 1e9)
static bool get_instructions(const profile *p, metric_value *to)
{
    const profile_config *c = profile_smallest(p);
    return c && c->use.instructions > 0 && real(to, c->use.instructions);
}
OF_RUNS(session, c->session_ms)
OF_RUNS(first_run, c->first_run_ms)

const char *profile_no_interval(const profile_stats *s)
{
    if (isfinite(s->ci95_low) && isfinite(s->ci95_high))
        return NULL;
    return s->runs < 2 ? "few-runs" : "scattered";
}

uint64_t profile_used_bytes(const profile_config *c)
{
    const profile_resident *m = &c->memory;
    return m->peak > m->before_session ? m->peak - m->before_session : 0;
}
static bool get_memory(const profile *p, metric_value *to)
{
    const profile_config *c = profile_smallest(p);
    if (!c && p->watch && p->watch->peak_resident != PROFILE_NOT_TOLD)
        return whole(to, p->watch->peak_resident);
    return c && !p->kind && !p->measured->interleaved && c->memory.peak &&
           whole(to, profile_used_bytes(c));
}
static bool get_cpu(const profile *p, metric_value *to)
{
    const profile_config *c = profile_smallest(p);
    if (!c && p->watch)
        return real(to, p->watch->cpu_percent);
    return c && real(to, c->use.cpu_percent);
}
static bool get_best_throughput(const profile *p, metric_value *to)
{
    double best = -1;
    for (uint32_t i = 0; p->measured && i < p->measured->n_configs; i++)
        if (p->measured->configs[i].latency.runs &&
            p->measured->configs[i].samples_per_second > best)
            best = p->measured->configs[i].samples_per_second;
    return real(to, best);
}

#define OF_LOAD(name, member)                                  \
    static bool get_##name(const profile *p, metric_value *to) \
    {                                                          \
        return p->load && real(to, p->load->member);           \
    }
OF_LOAD(ttft, ttft)
OF_LOAD(itl, itl)
OF_LOAD(goodput, goodput)
OF_LOAD(tokens, tokens)
OF_LOAD(max_rate, max_rate)
OF_LOAD(error_rate, error_rate)

/* ---- the rows ---- */

#define EXACT(n, t, u, g) .name = n, .title = t, .unit = u, .get = g
#define RUN(n, t, u, g)   .name = n, .title = t, .unit = u, .get = g, .measured = true

const metric_row metric_table[] = {
    {RUN("latency", "Mean latency", METRIC_MS, get_latency), .aliases = "mean avg average",
     .runs = RUNS_MEAN},
    {RUN("p50", "Median latency", METRIC_MS, get_p50), .aliases = "median", .gated = true,
     .runs = RUNS_QUANTILE, .quantile = 0.5},
    {RUN("p90", "P90 latency", METRIC_MS, get_p90), .runs = RUNS_QUANTILE, .quantile = 0.9},
    {RUN("p95", "P95 latency", METRIC_MS, get_p95), .runs = RUNS_QUANTILE, .quantile = 0.95},
    {RUN("p99", "P99 latency", METRIC_MS, get_p99), .runs = RUNS_QUANTILE, .quantile = 0.99},
    {RUN("min", "Fastest run", METRIC_MS, get_min)},
    {RUN("max", "Slowest run", METRIC_MS, get_max)},
    {RUN("std", "Deviation", METRIC_MS, get_std)},
    {RUN("throughput", "Throughput", METRIC_RATE, get_throughput), .aliases = "fps qps rps",
     .more_is_better = true, .runs = RUNS_RATE},
    {RUN("best-throughput", "Best throughput", METRIC_RATE, get_best_throughput),
     .aliases = "max-throughput", .more_is_better = true},
    {RUN("memory", "Memory used", METRIC_BYTES, get_memory), .aliases = "peak rss peak-memory"},
    {RUN("cpu", "Processor", METRIC_PERCENT, get_cpu), .aliases = "cpu-percent"},
    {RUN("energy", "Energy (J)", METRIC_PLAIN, get_energy)},
    {RUN("flops-per-second", "FLOP/s", METRIC_RATE, get_gflops), .more_is_better = true},
    {RUN("instructions", "Instructions", METRIC_COUNT, get_instructions)},
    {RUN("session", "Session", METRIC_MS, get_session), .aliases = "load"},
    {RUN("first-run", "First run", METRIC_MS, get_first_run)},
    {RUN("ttft", "P99 time to first token", METRIC_MS, get_ttft)},
    {RUN("itl", "P99 gap between tokens", METRIC_MS, get_itl), .aliases = "inter-token-latency"},
    {RUN("goodput", "Goodput", METRIC_RATE, get_goodput), .more_is_better = true},
    {RUN("tokens", "Tokens per second", METRIC_RATE, get_tokens),
     .aliases = "tokens-per-second tps", .more_is_better = true},
    {RUN("max-rate", "Highest rate", METRIC_RATE, get_max_rate), .more_is_better = true},
    {RUN("error-rate", "Error rate", METRIC_SHARE, get_error_rate), .aliases = "errors"},
    {EXACT("flops", "FLOPs", METRIC_COUNT, get_flops), .gated = true, .per_batch = true},
    {EXACT("macs", "MACs", METRIC_COUNT, get_macs), .gated = true, .per_batch = true},
    {EXACT("params", "Parameters", METRIC_COUNT, get_params), .aliases = "parameters weights",
     .gated = true},
    {EXACT("size", "Model size", METRIC_BYTES, get_size), .aliases = "model-size", .gated = true},
    {EXACT("file-size", "File size", METRIC_BYTES, get_file_size), .aliases = "file"},
    {EXACT("plan", "Planned memory", METRIC_BYTES, get_plan), .aliases = "planned-memory",
     .gated = true, .per_batch = true},
    {EXACT("activations", "Activation peak", METRIC_BYTES, get_activations), .gated = true,
     .per_batch = true},
    {EXACT("traffic", "Memory traffic", METRIC_BYTES, get_traffic), .gated = true,
     .per_batch = true},
    {EXACT("operators", "Operators", METRIC_COUNT, get_operators), .aliases = "ops", .gated = true},
    {EXACT("unknown", "Unknown operators", METRIC_COUNT, get_unknown), .gated = true},
    {EXACT("intensity", "FLOPs per byte", METRIC_PLAIN, get_intensity),
     .aliases = "arithmetic-intensity", .more_is_better = true, .per_batch = true},
};
const uint32_t metric_table_n = sizeof metric_table / sizeof *metric_table;

/* ---- names ---- */

static char folded(char c)
{
    return c == '_' ? '-' : (char)tolower((unsigned char)c);
}

static bool same_name(str a, const char *b, size_t n)
{
    if (a.n != n)
        return false;
    for (size_t i = 0; i < n; i++)
        if (folded(a.p[i]) != folded(b[i]))
            return false;
    return true;
}

static bool is_called(const metric_row *row, str name)
{
    if (same_name(name, row->name, strlen(row->name)))
        return true;
    for (str rest = str_of(row->aliases), alias; str_split(&rest, ' ', &alias);)
        if (alias.n && same_name(name, alias.p, alias.n))
            return true;
    return false;
}

const metric_row *metric_find(str name)
{
    for (uint32_t i = 0; i < metric_table_n; i++)
        if (is_called(&metric_table[i], name))
            return &metric_table[i];
    return NULL;
}

/* ---- values ---- */

bool metric_parse(metric_unit unit, str text, double *out)
{
    return amount_parse((amount_unit)unit, text, out);
}

const char *metric_example(metric_unit unit)
{
    static const char *const examples[] = {
        [METRIC_MS] = "100ms",    [METRIC_BYTES] = "2GB",
        [METRIC_COUNT] = "5G",    [METRIC_RATE] = "1000samples/s",
        [METRIC_PERCENT] = "80%", [METRIC_PLAIN] = "1.5",
        [METRIC_SHARE] = "1%"};
    return examples[unit];
}

const char *const metric_unit_words[] = {
    [METRIC_MS] = "ms",       [METRIC_BYTES] = "bytes",     [METRIC_COUNT] = "count",
    [METRIC_RATE] = "1/s",    [METRIC_PERCENT] = "percent", [METRIC_PLAIN] = "number",
    [METRIC_SHARE] = "share", [METRIC_SHARE + 1] = NULL};
