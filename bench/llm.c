/* How far predicted time per token and time to the first token are from measured ones: rows of AIConfigurator's samples
 * of language models on one GPU.
 *
 *   llm serve_throughput.csv
 *
 * Rows: source AIConfigurator, gpus 1, H100 and B200, quantities tpot and ttft; repeats that differ by more than 10 %
 * are left out. The memory of the GPU limits the requests that run: engines use 90 % of it. Targets: median error 15 %
 * (TPOT) and 20 % (TTFT). VERBOSE=1 prints every row. The last lines are the columns wait to ttft_high of
 * data/serving.csv: per engine the two numbers of the wait, fitted to its rows, the median error, and the 10 % and 90 %
 * quantiles of measured over predicted time (widened to contain 1: the interval contains the expectation). TPOT has
 * no number fitted to these rows; errors of TTFT are of prompt and output lengths that the fit did not see.
 */
#include <math.h>

#include "device/serving.h"
#include "tables.h"

enum { ROWS = 8192 };
#define ENGINE_SHARE 0.9 /* of the memory: what vLLM, SGLang and TensorRT-LLM take by default */

typedef struct named {
    const char *name;
    serving_shape shape;
    double parameters;
} named;
static const named models[] = {
    {"meta-llama/Llama-3.1-70B", {80, 8192, 64, 8, 128, 28672, 128256}, 70.55e9},
    {"Qwen/Qwen3-32B", {64, 5120, 64, 8, 128, 25600, 151936}, 32.76e9},
};

/* "repeats=3 spread=1.25": largest over smallest. */
static bool spreads(str note)
{
    for (uint32_t i = 0; i + 7 < note.n; i++)
        if (memcmp(note.p + i, "spread=", 7) == 0)
            return atof(note.p + i + 7) > 1.1;
    return false;
}

typedef struct errors {
    double off[ROWS];
    uint32_t n;
} errors;

enum { ENGINES = 8 };

/* Rows of TTFT of one engine: seconds = wait x[0] + queue x[1]. */
typedef struct waits {
    double x[ROWS][2], seconds[ROWS];
    uint32_t group[ROWS], n; /* lengths of prompt and output */
} waits;

typedef struct reading {
    bench_run run;
    serving_table table;
    errors found[2][2];     /* quantity; GPU */
    errors ratios[ENGINES]; /* engine of the table: TPOT, measured over predicted */
    waits waits[ENGINES];
} reading;

static const named *find_model(str name)
{
    for (size_t i = 0; i < sizeof models / sizeof *models; i++)
        if (str_is(name, models[i].name))
            return &models[i];
    return NULL;
}

static const serving_engine *engine_of(const reading *r, const bench_table *t)
{
    str name = bench_cell(t, "engine");
    if (str_is(name, "trtllm") && str_starts(bench_cell(t, "engine_version"), "1.0"))
        name = STR("trtllm-1.0");
    const serving_engine *e = serving_engine_find(&r->table, name);
    return e ? e : &r->table.engines.items[0];
}

static serving_types types_of(str precision)
{
    bool fp4 = str_is(precision, "fp4"), fp8 = str_is(precision, "fp8");
    const kernel_dtype *t = kernel_dtype_find(fp4   ? STR("nvfp4")
                                              : fp8 ? STR("fp8")
                                                    : STR("bfloat16"));
    return (serving_types){*t, *t, *kernel_dtype_find(STR("bfloat16")), fp4 || fp8 ? 1 : 2};
}

/* Caches that the memory holds beside the weights. */
static double most_running(const serving_on *on, const named *m, const serving_load *l)
{
    const serving_shape *s = &m->shape;
    double cache = 2 * s->layers * s->kv_heads * s->head_size * on->types.kv_bytes;
    double room = ENGINE_SHARE * on->device->memory_bytes -
                  m->parameters * on->types.linear.weight_bytes;
    return fmax(1, floor(room / (cache * (l->input + l->output))));
}

/* Engines without one are predicted by the default's, which has no part in their errors. */
static bool has_row(const serving_engine *e, str engine)
{
    return e->name.n >= engine.n && memcmp(e->name.p, engine.p, engine.n) == 0;
}

static void keep_ratio(errors *e, double ratio)
{
    if (e->n < ROWS)
        e->off[e->n++] = ratio;
}

static void keep_wait(waits *w, const serving_time *t, const serving_load *l, double seconds)
{
    double slower = t->ttft.expected / (t->ttft.expected - t->wait_s);
    if (w->n == ROWS || t->running < 2)
        return;
    w->x[w->n][0] = t->prefill_s * slower;
    w->x[w->n][1] = t->prefill_s * slower * t->running;
    w->seconds[w->n] = seconds;
    w->group[w->n++] = (uint32_t)(l->input * 65536 + l->output);
}

static void take_line(reading *r, const bench_table *t)
{
    str gpu = bench_cell(t, "gpu"), quantity = bench_cell(t, "quantity");
    bool b200 = str_is(gpu, "b200_sxm"), ttft = str_is(quantity, "ttft");
    const named *m = find_model(bench_cell(t, "model"));
    serving_model model;
    if (!m || fabs(bench_number(t, "gpus") - 1) > 0.1 || spreads(bench_cell(t, "note")) ||
        !str_starts(bench_cell(t, "source"), "AIConf") || (!b200 && !str_is(gpu, "h100_sxm")) ||
        (!ttft && !str_is(quantity, "tpot")))
        return;
    serving_dense(&m->shape, &model);
    serving_on on = {.table = &r->table,
                     .device = bench_device(&r->run, b200 ? "b200" : "h100-sxm"),
                     .model = &model,
                     .engine = engine_of(r, t),
                     .types = types_of(bench_cell(t, "precision"))};
    serving_load l = {.input = bench_number(t, "isl"),
                      .output = bench_number(t, "osl"),
                      .users = bench_number(t, "concurrency")};
    l.most = most_running(&on, m, &l);
    serving_time s = serving_predict(&on, &l);
    double is = bench_number(t, "value"), says = 1e3 * (ttft ? s.ttft.expected : s.tpot.expected);
    errors *e = &r->found[ttft][b200];
    if (!(is > 0) || e->n == ROWS)
        return;
    e->off[e->n++] = fabs(says / is - 1);
    size_t engine = (size_t)(on.engine - r->table.engines.items);
    if (engine < ENGINES && has_row(on.engine, bench_cell(t, "engine"))) {
        if (ttft)
            keep_wait(&r->waits[engine], &s, &l, is / 1e3);
        else
            keep_ratio(&r->ratios[engine], is / says);
    }
    if (getenv("VERBOSE"))
        printf("%.*s %.*s %.*s %.*s isl %g osl %g c %g running %g  measured %.1f predicted %.1f\n",
               (int)gpu.n, gpu.p, (int)bench_cell(t, "engine").n, bench_cell(t, "engine").p,
               (int)bench_cell(t, "precision").n, bench_cell(t, "precision").p, (int)quantity.n,
               quantity.p, l.input, l.output, l.users, s.running, is, says);
}

static bool report(reading *r, int q)
{
    static errors all;
    all.n = 0;
    for (int g = 0; g < 2; g++) {
        errors *e = &r->found[q][g];
        memcpy(all.off + all.n, e->off, sizeof(double) * e->n);
        all.n += e->n;
        printf("  %s %-8s %4u rows  median %5.1f %%\n", q ? "TTFT" : "TPOT", g ? "b200" : "h100",
               e->n, 100 * fit_quantile(e->off, e->n, 0.5));
    }
    double off = 100 * fit_quantile(all.off, all.n, 0.5), target = q ? 20 : 15;
    printf("  %s all      %4u rows  median %5.1f %%  (target %g)  %s\n", q ? "TTFT" : "TPOT", all.n,
           off, target, off <= target ? "met" : "MISSED");
    return off <= target;
}

/* "0.064,0.85,1.18": the median error of predictions, and the quantiles of the ratios. */
static void print_ratios(errors *e)
{
    double off[ROWS];
    for (uint32_t i = 0; i < e->n; i++)
        off[i] = fabs(1 / e->off[i] - 1);
    printf(",%.3f,%.2f,%.2f", fit_quantile(off, e->n, 0.5),
           fmin(1, fit_quantile(e->off, e->n, 0.1)), fmax(1, fit_quantile(e->off, e->n, 0.9)));
}

static bool fit_waits(const waits *w, fit_result *out)
{
    arena *a = arena_new((size_t)64 << 20);
    fit_problem p = {.form = FIT_SUM,
                     .n = w->n,
                     .n_terms = 2,
                     .x = w->x[0],
                     .seconds = w->seconds,
                     .group = w->group,
                     .prior = (const double[]){0, -3}, /* no wait; a twentieth of a prompt each */
                     .prior_rows = 0.01};
    assay_error err;
    err_clear(&err);
    bool ok = fit_run(&p, a, out, NULL, &err) == ASSAY_OK;
    arena_free(a);
    return ok;
}

static void report_engines(reading *r)
{
    for (uint32_t i = 0; i < r->table.engines.n && i < ENGINES; i++) {
        fit_result f;
        if (!r->ratios[i].n || !fit_waits(&r->waits[i], &f))
            continue;
        printf("  " STR_FMT ": %.3g,%.3g,%u", STR_ARG(r->table.engines.items[i].name), exp(f.c[0]),
               exp(f.c[1]), r->ratios[i].n);
        print_ratios(&r->ratios[i]);
        printf(",%.3f,%.2f,%.2f\n", f.median_error, fmin(1, f.low), fmax(1, f.high));
    }
}

int main(int argc, char **argv)
{
    reading *r = calloc(1, sizeof *r);
    assay_error err;
    err_clear(&err);
    if (!r || !bench_begin(&r->run, argc, argv, 1, 1))
        return 2;
    if (serving_table_read(r->run.arena, &r->table, &err) != ASSAY_OK)
        return fprintf(stderr, "%s\n", err.message), 2;
    for (bench_table t = bench_open(r->run.files[0], r->run.arena); bench_next(&t);)
        take_line(r, &t);
    bool tpot = report(r, 0), ttft = report(r, 1);
    report_engines(r);
    return tpot && ttft ? 0 : 1;
}
