/* Do the gates hold? False alarms of an unchanged model and slowdowns that are found, over many trials of 50 runs
 * a side, with the 95 % interval of each rate (Wilson). Runs come from the null engine with a scripted clock, through
 * the loop that measures real ones: noise that is normal, skewed, in groups (AR(1)), in two modes, with spikes, with
 * a drift, and with sessions that differ; then, where there is an engine, real runs of one model against itself,
 * turn by turn.
 *
 *   gates [--trials N] [--real N] [--noise PART] [MODEL]
 *                                     500 trials a row, 100 real ones of squeezenet1_1
 *
 * A row that must hold says so: unchanged, regressions are under 1 %; 5 % slower at 1 % noise, over 95 % are found.
 * Exit 1 when one does not.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "engine/null.h"
#include "jobs/measure.h"
#include "measure/gate.h"
#include "measure/interleave.h"
#include "measure/judge.h"
#include "options/rows.h"

enum { RUNS = 50 };
#define MS 1e6

/* ---- noise ---- */

typedef struct noise {
    const char *name;
    double deviation;     /* of single runs, as a share */
    double memory;        /* of an AR(1) series */
    double skew;          /* deviation of the logarithm: the tail is to the slow side */
    double mode, in_mode; /* a second mode that much slower, in that share of runs */
    double stay;          /* the chance that the next run is in the same mode */
    double spike;         /* share of runs that take half as long again */
    double drift;         /* from the first run to the last, either way */
    double session;       /* deviation between sessions */
} noise;

typedef struct source { /* of one session */
    const noise *of;
    rng *r;
    double ms, e, slope;
    bool slow;
} source;

static source begin_session(const noise *n, rng *r, double ms)
{
    return (source){.of = n,
                    .r = r,
                    .ms = ms * (1 + n->session * rng_normal(r)),
                    .slope = rng_uniform(r) < 0.5 ? -n->drift : n->drift,
                    .slow = rng_uniform(r) < n->in_mode};
}

static uint64_t duration(void *context, uint64_t run)
{
    source *s = context;
    const noise *n = s->of;
    s->e = n->memory * s->e + sqrt(1 - n->memory * n->memory) * rng_normal(s->r);
    if (rng_uniform(s->r) >= n->stay)
        s->slow = rng_uniform(s->r) < n->in_mode;
    double ms = s->ms * (1 + n->deviation * s->e) * exp(n->skew * rng_normal(s->r));
    ms *= s->slow ? 1 + n->mode : 1;
    ms *= rng_uniform(s->r) < n->spike ? 1.5 : 1;
    ms *= 1 + s->slope * ((double)run / RUNS - 0.5);
    return (uint64_t)(ms > 0 ? ms * MS : 0);
}

/* Fifty runs of a session, through the loop that measures real ones. */
static void measure_null(source *s, double *out)
{
    const engine_script script = {.duration = duration, .context = s};
    const engine_config config = {.script = &script};
    const sample_rule rule = {.runs = RUNS};
    const sample_load load = {.concurrency = 1};
    engine *e = NULL;
    engine_session *session = NULL;
    engine_job *job = NULL;
    sample_runs got = {0};
    assay_error err;
    if (engine_open("null", &config, &e, &err) != ASSAY_OK ||
        engine_session_open(e, &(engine_model){0}, NULL, &session, &err) != ASSAY_OK ||
        engine_job_open(session, NULL, 0, &job, &err) != ASSAY_OK ||
        sample_measure(e, &job, &rule, &load, NULL, &got, &err) != ASSAY_OK || got.n != RUNS) {
        fprintf(stderr, "The null engine failed: %s\n", err.message);
        exit(1);
    }
    for (uint32_t i = 0; i < RUNS; i++)
        out[i] = sample_ms(&got.items[i]);
    sample_runs_free(&got);
    engine_job_close(job);
    engine_session_close(session);
    engine_close(e);
}

/* ---- rates ---- */

typedef struct tally {
    uint32_t n, regression, improvement, pass, inconclusive;
} tally;

static void count(tally *t, verdict_kind v)
{
    t->n++;
    t->regression += v == VERDICT_REGRESSION;
    t->improvement += v == VERDICT_IMPROVEMENT;
    t->pass += v == VERDICT_PASS;
    t->inconclusive += v == VERDICT_INCONCLUSIVE;
}

static void wilson(uint32_t k, uint32_t n, double *low, double *high)
{
    const double z = 1.96;
    double p = (double)k / n, d = 1 + z * z / n;
    double mid = p + z * z / (2.0 * n), half = z * sqrt(p * (1 - p) / n + z * z / (4.0 * n * n));
    *low = fmax(0, 100 * (mid - half) / d); /* of none at all rounding leaves a hair below it */
    *high = fmin(100, 100 * (mid + half) / d);
}

typedef enum demand { SHOWN, FEW_ALARMS, FOUND } demand;

static bool print_row(const char *name, double slower, const tally *t, demand d)
{
    double low, high, rate = 100.0 * t->regression / t->n;
    bool good = d == SHOWN || (d == FEW_ALARMS ? rate < 1 : rate > 95);
    wilson(t->regression, t->n, &low, &high);
    printf("  %-30s %+4.0f %%  %6.2f %% [%5.2f, %5.2f]  %6.2f %%  %6.2f %%  %6.2f %%  %s\n", name,
           100 * (slower - 1), rate, low, high, 100.0 * t->improvement / t->n,
           100.0 * t->pass / t->n, 100.0 * t->inconclusive / t->n,
           d == SHOWN        ? ""
           : !good           ? "FAILS"
           : d == FEW_ALARMS ? "ok: under 1 %"
                             : "ok: over 95 %");
    fflush(stdout);
    return good;
}

static void head(const char *title)
{
    printf("\n%s\n  %-30s %6s  %-23s  %8s  %8s  %8s\n", title, "noise", "slower",
           "regression [95 %]", "improved", "pass", "unclear");
}

/* ---- a gate over simulated runs: two sessions, one after the other ---- */

static tally gate_trials(const noise *n, double slower, uint32_t trials)
{
    double base[RUNS], now[RUNS];
    tally t = {0};
    rng r;
    rng_seed(&r, 2026);
    for (uint32_t i = 0; i < trials; i++) {
        source a = begin_session(n, &r, 10), b = begin_session(n, &r, 10 * slower);
        measure_null(&a, base);
        measure_null(&b, now);
        const gate_question q = {.base = {base, RUNS},
                                 .now = {now, RUNS},
                                 .what = RUNS_QUANTILE,
                                 .quantile = 0.5,
                                 .tolerance = 0.02,
                                 .allowance = JUDGE_SESSION_SHARE};
        gate_answer g;
        if (gate_ask(&q, &g, NULL) == ASSAY_OK)
            count(&t, g.verdict);
    }
    return t;
}

/* ---- turn by turn ---- */

typedef struct pair {
    source machine; /* one for both: what the machine does it does to both */
    double slower, change;
    uint64_t run;
} pair;

/* Runs of all jobs are counted together; whose turn it is follows from the order of the rounds. */
static bool is_second(uint64_t k)
{
    uint64_t warm = 2 * 10, block = INTERLEAVE_BLOCK + 1;
    if (k < warm)
        return k >= warm / 2;
    uint64_t turn = (k - warm) / block, round = turn / 2;
    return (turn % 2 == 1) != (round % 2 == 1);
}

static uint64_t pair_duration(void *context, uint64_t run)
{
    pair *p = context;
    double own = is_second(p->run) ? p->slower : 1;
    double speed = 1 + p->change * sin((double)p->run / 40);
    (void)run;
    p->run++;
    return (uint64_t)((double)duration(&p->machine, 0) * own * speed);
}

static verdict_kind race(const noise *n, double slower, rng *r)
{
    noise steady = *n;
    steady.drift = 0;
    pair p = {.machine = begin_session(&steady, r, 10), .slower = slower, .change = n->drift};
    const engine_script script = {.duration = pair_duration, .context = &p};
    const engine_config config = {.script = &script};
    measure_request subjects[2] = {{.warmup = {.min_runs = 10, .max_runs = 10}},
                                   {.warmup = {.min_runs = 10, .max_runs = 10}}};
    interleave_series series[2];
    interleave_request q = {.subjects = subjects, .n = 2, .runs = RUNS};
    gate_answer g = {.verdict = VERDICT_INCONCLUSIVE};
    engine *e = NULL;
    assay_error err;
    arena *a = arena_new(1 << 20);
    if (!a || engine_open("null", &config, &e, &err) != ASSAY_OK)
        exit(1);
    subjects[0].engine = subjects[1].engine = e;
    if (interleave_measure(&q, a, series, NULL, NULL, &err) == ASSAY_OK)
        interleave_judge(&series[0], &series[1], 0.02, &g);
    engine_close(e);
    arena_free(a);
    return g.verdict;
}

static tally race_trials(const noise *n, double slower, uint32_t trials)
{
    tally t = {0};
    rng r;
    rng_seed(&r, 77);
    for (uint32_t i = 0; i < trials; i++)
        count(&t, race(n, slower, &r));
    return t;
}

/* ---- real runs ---- */

typedef struct subject {
    assay_model *model;
    job_runnable x;
    assay_options o;
} subject;

static bool make_ready(subject *s, const char *name, engine *e, measure_request *q)
{
    assay_error err = {0};
    s->o = options_default();
    s->o.engine.threads = 1;
    if (assay_model_open(name, &s->model, &err) != ASSAY_OK ||
        job_runnable_make(s->model, &s->o, 0, &s->x, &err) != ASSAY_OK ||
        job_runnable_export(s->model, &s->o, &s->x, &err) != ASSAY_OK) {
        fprintf(stderr, "%s: %s\n", name, err.message);
        return false;
    }
    *q = (measure_request){.engine = e,
                           .model = s->x.model,
                           .options = job_engine_options(&s->o, s->x.work),
                           .wants = s->x.wants,
                           .n_wants = s->x.n_wants,
                           .warmup = {.min_runs = 5}};
    return true;
}

typedef struct real_rates {
    tally gate, gate_slower, race, race_slower;
} real_rates;

static void slow_down(interleave_series *s, double by)
{
    for (uint32_t i = 0; i < s->ms.n; i++)
        s->ms.items[i] *= by;
    for (uint32_t i = 0; i < s->turns.n; i++)
        s->turns.items[i] *= by;
}

static void judge_both(interleave_series *s, tally *gate, tally *turns)
{
    const gate_question q = {.base = {s[0].ms.items, s[0].ms.n},
                             .now = {s[1].ms.items, s[1].ms.n},
                             .what = RUNS_QUANTILE,
                             .quantile = 0.5,
                             .tolerance = 0.02,
                             .allowance = JUDGE_SESSION_SHARE};
    gate_answer g;
    if (gate_ask(&q, &g, NULL) == ASSAY_OK)
        count(gate, g.verdict);
    interleave_judge(&s[0], &s[1], 0.02, &g);
    count(turns, g.verdict);
}

static bool real_trials(const char *name, uint32_t trials, engine *e, real_rates *out)
{
    subject s = {0};
    measure_request both[2];
    bool good = make_ready(&s, name, e, &both[0]);
    both[1] = both[0];
    for (uint32_t i = 0; good && i < trials; i++) {
        const interleave_request q = {.subjects = both, .n = 2, .runs = RUNS};
        interleave_series series[2];
        assay_error err = {0};
        arena *a = arena_new((size_t)16 << 20);
        good = a && interleave_measure(&q, a, series, NULL, NULL, &err) == ASSAY_OK;
        if (good)
            judge_both(series, &out->gate, &out->race);
        if (good) {
            slow_down(&series[1], 1.05);
            judge_both(series, &out->gate_slower, &out->race_slower);
        }
        arena_free(a);
    }
    job_runnable_free(&s.x);
    assay_model_free(s.model);
    return good;
}

static bool real_runs(const char *name, uint32_t trials)
{
    engine *e = NULL;
    assay_error err = {0};
    real_rates t = {0};
    bool good = true;
    if (!trials || engine_open("ort", NULL, &e, &err) != ASSAY_OK) {
        printf("\nNo real runs: %s\n", trials ? err.message : "none were asked for");
        return true;
    }
    if (real_trials(name, trials, e, &t)) {
        printf(
            "\nReal runs of %s on one thread, turn by turn; slower: every time of the second x 1.05",
            name);
        head("");
        good &= print_row("unchanged, gate", 1, &t.gate, FEW_ALARMS);
        good &= print_row("unchanged, compare --measure", 1, &t.race, FEW_ALARMS);
        print_row("slower, gate", 1.05, &t.gate_slower, SHOWN);
        print_row("slower, compare --measure", 1.05, &t.race_slower, SHOWN);
    }
    engine_close(e);
    return good;
}

/* ---- all ---- */

static const noise rows[] = {
    {.name = "normal 1 %", .deviation = 0.01},
    {.name = "normal 5 %", .deviation = 0.05},
    {.name = "skewed, log-normal 5 %", .skew = 0.05},
    {.name = "skewed, log-normal 20 %", .skew = 0.2},
    {.name = "AR(1) 0.5, 2 %", .deviation = 0.02, .memory = 0.5},
    {.name = "AR(1) 0.8, 2 %", .deviation = 0.02, .memory = 0.8},
    {.name = "AR(1) 0.95, 2 %", .deviation = 0.02, .memory = 0.95},
    {.name = "two modes, 8 % apart, 30 %", .deviation = 0.01, .mode = 0.08, .in_mode = 0.3},
    {.name = "two modes, 8 % apart, 50 %", .deviation = 0.01, .mode = 0.08, .in_mode = 0.5},
    {.name = "two modes, in stretches of 10",
     .deviation = 0.01,
     .mode = 0.08,
     .in_mode = 0.4,
     .stay = 0.9},
    {.name = "spikes of half, 5 %", .deviation = 0.01, .spike = 0.05},
    {.name = "drift 3 % either way", .deviation = 0.01, .drift = 0.03},
    {.name = "sessions differ by 0.5 %", .deviation = 0.01, .session = 0.005},
    {.name = "sessions differ by 1 %", .deviation = 0.01, .session = 0.01},
};
enum { N_ROWS = sizeof rows / sizeof *rows };

typedef tally trials_fn(const noise *n, double slower, uint32_t trials);

static bool table(const char *title, trials_fn *f, double slower, uint32_t trials, const char *part)
{
    bool good = true;
    head(title);
    for (int i = 0; i < N_ROWS; i++) {
        if (part && !strstr(rows[i].name, part))
            continue;
        tally t = f(&rows[i], slower, trials);
        good &= print_row(rows[i].name, slower, &t,
                          slower == 1 ? FEW_ALARMS
                          : i == 0    ? FOUND
                                      : SHOWN);
    }
    return good;
}

static bool simulated(uint32_t trials, const char *part)
{
    printf("%u trials a row, %d runs a side, tolerance 2 %%, between sessions %.1f %%\n", trials,
           RUNS, 100 * JUDGE_SESSION_SHARE);
    bool good = table("A gate, unchanged: a baseline and a later session", gate_trials, 1, trials,
                      part);
    good &= table("A gate, slower", gate_trials, 1.05, trials, part);
    good &= table("compare --measure, turn by turn, unchanged", race_trials, 1, trials, part);
    good &= table("compare --measure, turn by turn, slower", race_trials, 1.05, trials, part);
    return good;
}

int main(int argc, char **argv)
{
    uint32_t trials = 500, real = 100;
    const char *model = "squeezenet1_1", *part = NULL;
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--trials") == 0 && i + 1 < argc)
            trials = (uint32_t)atoi(argv[++i]);
        else if (strcmp(argv[i], "--real") == 0 && i + 1 < argc)
            real = (uint32_t)atoi(argv[++i]);
        else if (strcmp(argv[i], "--noise") == 0 && i + 1 < argc)
            part = argv[++i];
        else
            model = argv[i];
    bool good = simulated(trials ? trials : 1, part);
    good &= real_runs(model, real);
    return good ? 0 : 1;
}
