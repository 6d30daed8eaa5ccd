/* How far whole-model predictions are from the public measurements of PyTorch image models (timm), with families of
 * models and with whole GPUs left out; and the rows of data/runtimes.csv, which are fitted to the same measurements.
 *
 *   timm [--rows] timm_speed.csv
 *
 * Columns: kind, device, software, layout, dynamo, dtype, model, family, img_size, batch, step_ms. Models are those of
 * the zoo that timm has too (pairs below). Targets: median error at most 10 % with families left out, and 15 % on the
 * RTX 4090 when nothing of it was fitted; intervals hold 72 to 88 % of the models.
 */
#include <assay/assay.h>
#include <math.h>

#include "analyze/roofline.h"
#include "device/runtime.h"
#include "jobs/job.h"
#include "tables.h"

typedef struct pair {
    const char *zoo, *timm;
    int size; /* that the zoo's model is built for; 0: any */
} pair;
static const pair pairs[] = {
    {"vgg11", "vgg11", 0},
    {"vgg13", "vgg13", 0},
    {"vgg16", "vgg16", 0},
    {"vgg19", "vgg19", 0},
    {"vgg11_bn", "vgg11_bn", 0},
    {"vgg13_bn", "vgg13_bn", 0},
    {"vgg16_bn", "vgg16_bn", 0},
    {"vgg19_bn", "vgg19_bn", 0},
    {"resnet18", "resnet18", 0},
    {"resnet34", "resnet34", 0},
    {"resnet50", "resnet50", 0},
    {"resnet101", "resnet101", 0},
    {"resnet152", "resnet152", 0},
    {"resnext50_32x4d", "resnext50_32x4d", 0},
    {"resnext101_32x8d", "resnext101_32x8d", 0},
    {"resnext101_64x4d", "resnext101_64x4d", 0},
    {"wide_resnet50_2", "wide_resnet50_2", 0},
    {"wide_resnet101_2", "wide_resnet101_2", 0},
    {"densenet121", "densenet121", 0},
    {"densenet161", "densenet161", 0},
    {"densenet169", "densenet169", 0},
    {"densenet201", "densenet201", 0},
    {"inception_v3", "inception_v3", 0},
    {"mnasnet0_5", "mnasnet_050", 0},
    {"mnasnet0_75", "mnasnet_075", 0},
    {"mnasnet1_0", "mnasnet_100", 0},
    {"mobilenet_v2", "mobilenetv2_100", 0},
    {"mobilenet_v3_large", "mobilenetv3_large_100", 0},
    {"mobilenet_v3_small", "mobilenetv3_small_100", 0},
    {"efficientnet_b0", "efficientnet_b0", 0},
    {"efficientnet_b1", "efficientnet_b1", 0},
    {"efficientnet_b2", "efficientnet_b2", 0},
    {"efficientnet_b3", "efficientnet_b3", 0},
    {"efficientnet_b4", "efficientnet_b4", 0},
    {"efficientnet_b5", "efficientnet_b5", 0},
    {"efficientnet_b6", "efficientnet_b6", 0},
    {"efficientnet_b7", "efficientnet_b7", 0},
    {"efficientnet_b0", "tf_efficientnet_b0", 0},
    {"efficientnet_b1", "tf_efficientnet_b1", 0},
    {"efficientnet_b2", "tf_efficientnet_b2", 0},
    {"efficientnet_b3", "tf_efficientnet_b3", 0},
    {"efficientnet_b4", "tf_efficientnet_b4", 0},
    {"efficientnet_b5", "tf_efficientnet_b5", 0},
    {"efficientnet_b6", "tf_efficientnet_b6", 0},
    {"efficientnet_b7", "tf_efficientnet_b7", 0},
    {"efficientnet_v2_s", "efficientnetv2_s", 0},
    {"efficientnet_v2_m", "efficientnetv2_m", 0},
    {"efficientnet_v2_l", "efficientnetv2_l", 0},
    {"efficientnet_v2_s", "tf_efficientnetv2_s", 0},
    {"efficientnet_v2_m", "tf_efficientnetv2_m", 0},
    {"efficientnet_v2_l", "tf_efficientnetv2_l", 0},
    {"regnet_y_400mf", "regnety_004", 0},
    {"regnet_y_800mf", "regnety_008_tv", 0},
    {"regnet_y_1_6gf", "regnety_016", 0},
    {"regnet_y_3_2gf", "regnety_032", 0},
    {"regnet_y_8gf", "regnety_080_tv", 0},
    {"regnet_y_16gf", "regnety_160", 0},
    {"regnet_y_32gf", "regnety_320", 0},
    {"regnet_y_128gf", "regnety_1280", 0},
    {"regnet_x_400mf", "regnetx_004_tv", 0},
    {"regnet_x_800mf", "regnetx_008", 0},
    {"regnet_x_1_6gf", "regnetx_016", 0},
    {"regnet_x_3_2gf", "regnetx_032", 0},
    {"regnet_x_8gf", "regnetx_080", 0},
    {"regnet_x_16gf", "regnetx_160", 0},
    {"regnet_x_32gf", "regnetx_320", 0},
    {"convnext_tiny", "convnext_tiny", 0},
    {"convnext_small", "convnext_small", 0},
    {"convnext_base", "convnext_base", 0},
    {"convnext_large", "convnext_large", 0},
    {"vit_b_16", "vit_base_patch16_224", 224},
    {"vit_b_32", "vit_base_patch32_224", 224},
    {"vit_l_16", "vit_large_patch16_224", 224},
    {"vit_l_32", "vit_large_patch32_224", 224},
    {"vit_h_14", "vit_huge_patch14_clip_224", 224},
    {"swin_t", "swin_tiny_patch4_window7_224", 224},
    {"swin_s", "swin_small_patch4_window7_224", 224},
    {"swin_b", "swin_base_patch4_window7_224", 224},
    {"swin_v2_t", "swinv2_tiny_window8_256", 256},
    {"swin_v2_s", "swinv2_small_window8_256", 256},
    {"swin_v2_b", "swinv2_base_window8_256", 256},
    {"maxvit_t", "maxvit_tiny_tf_224", 224},
};
enum { N_PAIRS = sizeof pairs / sizeof *pairs };

typedef struct spec {
    const char *device, *software, *layout, *dynamo, *runtime, *table_device;
    device_precision precision;
    bool judged;
} spec;
static const spec specs[] = {
    {"rtx3090", "pt240-cu124", "nchw", "0", "eager", "rtx3090", DEVICE_FP16, true},
    {"rtx4090", "pt291-cu128", "nchw", "0", "eager", "rtx4090", DEVICE_FP16, true},
    {"rtx4090", "pt291-cu128", "nchw", "1", "compiled", "rtx4090", DEVICE_FP16, true},
    {"rtx4090", "pt240-cu124", "nchw", "0", "eager", "rtx4090", DEVICE_FP16, false},
    {"rtx4090", "pt240-cu124", "nchw", "1", "compiled", "rtx4090", DEVICE_FP16, false},
    {"rtx3090", "pt240-cu124", "nhwc", "0", "eager", "rtx3090", DEVICE_FP16, false},
    {"i9-10940x", "pt240-cpu", "nchw", "1", "onnxruntime", "i9-10940x", DEVICE_FP32, false},
};
enum {
    N_SPECS = sizeof specs / sizeof *specs,
    EAGER_3090 = 0,
    EAGER_4090,
    COMPILED_4090,
    NHWC_3090 = 5,
    CPU = 6
};

typedef struct row {
    int pair;
    uint32_t family;
    double size, batch, seconds;
    term_totals terms;
} row;

typedef struct table {
    const spec *s;
    const runtime *r;
    const device *d;
    VEC(row) rows;
    double *x, *seconds, *ratio;
    uint32_t *group;
    fit_result fit;
} table;

typedef struct known {
    int pair, size;
    uint32_t width;
    term_totals one, low, high; /* at batch 1, 64 and 128 */
} known;

typedef struct bench {
    arena *arena;
    bench_run run;
    table tables[N_SPECS];
    VEC(known) cache;
} bench;

/* ---- terms of the zoo's models ---- */

static bool terms_at(const char *zoo, int size, int64_t batch, uint32_t width, term_totals out)
{
    assay_model *m = NULL;
    assay_options *o = assay_options_new();
    assay_error err;
    char shape[64];
    snprintf(shape, sizeof shape, "1,3,%d,%d", size, size);
    bool ok = o && assay_options_set(o, "input-shape", shape, &err) == ASSAY_OK &&
              assay_model_open(zoo, &m, &err) == ASSAY_OK &&
              job_terms(m, o, batch, width, &out[0][0], &err) == ASSAY_OK;
    if (!ok)
        fprintf(stderr, "%s at %d: %s\n", zoo, size, err.message);
    assay_model_free(m);
    assay_options_free(o);
    return ok;
}

static const known *terms_of(bench *b, int pair_at, int size, uint32_t width)
{
    for (uint32_t i = 0; i < b->cache.n; i++)
        if (strcmp(pairs[b->cache.items[i].pair].zoo, pairs[pair_at].zoo) == 0 &&
            b->cache.items[i].size == size && b->cache.items[i].width == width)
            return &b->cache.items[i];
    known k = {.pair = pair_at, .size = size, .width = width};
    const char *zoo = pairs[pair_at].zoo;
    if (!terms_at(zoo, size, 1, width, k.one) || !terms_at(zoo, size, 64, width, k.low) ||
        !terms_at(zoo, size, 128, width, k.high) || !VEC_ADD(b->arena, &b->cache, k))
        return NULL;
    return &b->cache.items[b->cache.n - 1];
}

static void fill_terms(const known *k, row *r)
{
    for (int w = 0; w < RUNTIME_WAYS; w++)
        for (int t = 0; t < RUNTIME_TERMS; t++) {
            double low = k->low[w][t], step = (k->high[w][t] - low) / 64;
            r->terms[w][t] = r->batch < 2 ? k->one[w][t] : low + step * (r->batch - 64);
        }
}

/* ---- reading ---- */

static void read_line(bench *b, const bench_table *h)
{
    for (int t = 0; t < N_SPECS; t++) {
        const spec *s = &specs[t];
        if (!str_is(bench_cell(h, "kind"), "infer") ||
            !str_is(bench_cell(h, "device"), s->table_device) ||
            !str_is(bench_cell(h, "software"), s->software) ||
            !str_is(bench_cell(h, "layout"), s->layout) ||
            !str_is(bench_cell(h, "dynamo"), s->dynamo))
            continue;
        for (int p = 0; p < N_PAIRS; p++) {
            row r = {.pair = p,
                     .family = str_hash_stored(bench_cell(h, "family")),
                     .size = bench_number(h, "img_size"),
                     .batch = bench_number(h, "batch"),
                     .seconds = bench_number(h, "step_ms") / 1e3};
            if (!str_is(bench_cell(h, "model"), pairs[p].timm) || !(r.seconds > 0) ||
                (pairs[p].size && pairs[p].size != (int)r.size))
                continue;
            const known *k = terms_of(b, p, (int)r.size, roofline_width_of(s->precision));
            if (!k)
                continue;
            fill_terms(k, &r);
            if (!VEC_ADD(b->arena, &b->tables[t].rows, r))
                exit(1);
        }
    }
}

static bool read_speed(bench *b, const char *path)
{
    bench_table t = bench_open(path, b->arena);
    if (!bench_has(&t, "step_ms"))
        return fprintf(stderr, "%s: not a table of speeds\n", path), false;
    while (bench_next(&t))
        read_line(b, &t);
    return true;
}

/* ---- fitting ---- */

#define LARGE_BATCH 32
#define PRIOR_ROWS  0.015 /* weight of the prior, in rows */

static void weigh_row(const table *t, const row *r, double *x)
{
    double rates[RUNTIME_TERMS];
    runtime_rates(t->d, t->s->precision, rates);
    for (int j = 0; j < RUNTIME_TERMS; j++)
        x[j] = rates[j] * r->terms[t->r->way][j];
    if (r->batch >= LARGE_BATCH) /* too small to be told apart: the prior stays */
        x[TERM_WAVE] = x[TERM_KERNELS] = 0;
}

static void prepare(bench *b, table *t, const spec *s)
{
    t->s = s;
    t->r = runtime_find(str_of(s->runtime));
    t->d = bench_device(&b->run, s->device);
    t->x = ARENA_ARRAY(b->arena, double, (size_t)t->rows.n *RUNTIME_TERMS + 1);
    t->seconds = ARENA_ARRAY(b->arena, double, (size_t)t->rows.n + 1);
    t->ratio = ARENA_ARRAY(b->arena, double, (size_t)t->rows.n + 1);
    t->group = ARENA_ARRAY(b->arena, uint32_t, (size_t)t->rows.n + 1);
    for (uint32_t i = 0; i < t->rows.n; i++) {
        weigh_row(t, &t->rows.items[i], t->x + (size_t)i * RUNTIME_TERMS);
        t->seconds[i] = t->rows.items[i].seconds;
        t->group[i] = t->rows.items[i].family;
    }
}

static bool fit_table(bench *b, table *t, const double *prior, double prior_rows)
{
    double own[RUNTIME_TERMS];
    assay_error err;
    err_clear(&err);
    runtime_prior(t->r->rows, own);
    fit_problem p = {.form = FIT_SUM,
                     .n = t->rows.n,
                     .n_terms = RUNTIME_TERMS,
                     .x = t->x,
                     .seconds = t->seconds,
                     .group = t->group,
                     .prior = prior ? prior : own,
                     .prior_rows = prior_rows};
    if (fit_run(&p, b->arena, &t->fit, t->ratio, &err) == ASSAY_OK)
        return true;
    fprintf(stderr, "%s %s: %s\n", t->s->device, t->s->runtime, err.message);
    return false;
}

/* What the coefficients of one table say of another: the median error; ratios are measured over predicted. */
static double transfer(const table *to, const double *c, double *ratio)
{
    double *off = malloc(sizeof *off * (to->rows.n + 1));
    for (uint32_t i = 0; off && i < to->rows.n; i++) {
        double s = fit_seconds(FIT_SUM, 1, to->x + (size_t)i * RUNTIME_TERMS, c, RUNTIME_TERMS);
        ratio[i] = to->seconds[i] / s;
        off[i] = fabs(s / to->seconds[i] - 1);
    }
    double median = off ? fit_quantile(off, to->rows.n, 0.5) : 1;
    free(off);
    return median;
}

/* Kernels that a compiler writes itself run at the bandwidth, whatever the library's do: their coefficients are those
 * of the prior. Everything else is as in the layout that compiled models use. */
static void as_compiled(const table *nhwc, double *c)
{
    static const runtime_term written[] = {TERM_NORM_BYTES, TERM_MOVE_BYTES, TERM_JOINED_BYTES,
                                           TERM_JOINED_SMALL_BYTES};
    double prior[RUNTIME_TERMS];
    runtime_prior("compiled", prior);
    memcpy(c, nhwc->fit.c, sizeof *c * RUNTIME_TERMS);
    for (size_t i = 0; i < sizeof written / sizeof *written; i++)
        c[written[i]] = prior[written[i]];
}

/* Rows inside an interval that the other families gave. */
static double held(const table *t)
{
    double *others = malloc(sizeof *others * (t->rows.n + 1));
    uint32_t inside = 0;
    for (uint32_t i = 0; others && i < t->rows.n; i++) {
        uint32_t n = 0;
        for (uint32_t k = 0; k < t->rows.n; k++)
            if (t->group[k] != t->group[i])
                others[n++] = t->ratio[k];
        double low = fit_quantile(others, n, 0.1), high = fit_quantile(others, n, 0.9);
        inside += t->ratio[i] >= low && t->ratio[i] <= high;
    }
    free(others);
    return t->rows.n ? (double)inside / t->rows.n : 0;
}

static uint32_t models_in(const table *t)
{
    uint32_t n = 0;
    for (int p = 0; p < N_PAIRS; p++) {
        bool there = false, before = false;
        for (uint32_t i = 0; i < t->rows.n; i++)
            there |= strcmp(pairs[t->rows.items[i].pair].zoo, pairs[p].zoo) == 0;
        for (int q = 0; q < p; q++)
            before |= strcmp(pairs[q].zoo, pairs[p].zoo) == 0;
        n += there && !before;
    }
    return n;
}

/* One factor for all models, from another GPU's measured times: it knows each model. */
static double yardstick(const table *from, const table *to)
{
    double *factor = malloc(sizeof *factor * (to->rows.n + 1)), median;
    uint32_t n = 0;
    for (int pass = 0; pass < 2; pass++) {
        median = pass && n ? fit_quantile(factor, n, 0.5) : 1;
        n = 0;
        for (uint32_t i = 0; i < to->rows.n; i++)
            for (uint32_t k = 0; k < from->rows.n; k++) {
                const row *a = &to->rows.items[i], *f = &from->rows.items[k];
                if (a->pair != f->pair || a->size != f->size)
                    continue;
                double ratio = a->seconds / a->batch / (f->seconds / f->batch);
                factor[n++] = pass ? fabs(median / ratio - 1) : ratio;
            }
    }
    double off = n ? fit_quantile(factor, n, 0.5) : 1;
    free(factor);
    return off;
}

static bool report(const table *t)
{
    double share = held(t);
    bool met = t->fit.median_error <= 0.10 && share >= 0.72 && share <= 0.88;
    printf(
        "  %-10s %-12s %-12s %s  %3u models %2u families %3u rows  median %5.1f %%  mean %5.1f %%  "
        "80 %% in [%.2f, %.2f], holds %.1f %%  %s\n",
        t->s->device, t->s->software, t->s->runtime, t->s->layout, models_in(t), t->fit.groups,
        t->rows.n, 100 * t->fit.median_error, 100 * t->fit.mean_error, t->fit.low, t->fit.high,
        100 * share,
        !t->s->judged ? "(not judged)"
        : met         ? "met"
                      : "MISSED");
    return met || !t->s->judged;
}

/* ---- rows of data/runtimes.csv ---- */

static const char source_name[] =
    "Measurements of PyTorch image models (timm; results of version 1.0.x by its author)";

typedef struct out_row {
    const char *runtime, *device, *kind, *software;
    const fit_result *fit;
    double low, high;
    const char *source;
} out_row;

static void print_row(const out_row *o)
{
    printf("%s,%s,%s,%s,%u,%u,%.4f,%.4f,%.3f,%.3f,\"%s\"", o->runtime, o->device, o->kind,
           o->software, o->fit->rows, o->fit->groups, o->fit->mean_error, o->fit->median_error,
           o->low, o->high, o->source);
    for (int j = 0; j < RUNTIME_TERMS; j++)
        printf(",%.4g", exp(o->fit->c[j]));
    printf("\n");
}

/* Other devices of a class: never narrower than what leaving out GPU generations shows of kernels. */
#define CLASS_LOW  0.72
#define CLASS_HIGH 1.40
#define WIDE_LOW   0.60
#define WIDE_HIGH  1.70

static double lower_of(double a, double b)
{
    return a < b ? a : b;
}

static double upper_of(double a, double b)
{
    return a > b ? a : b;
}

static void print_rows(bench *b)
{
    table *t = b->tables;
    double *ratio = malloc(sizeof *ratio * 4096), c[RUNTIME_TERMS];
    fit_result eager = t[EAGER_3090].fit, compiled = t[COMPILED_4090].fit, cpu = t[CPU].fit;
    printf("runtime,device,class,software,rows,groups,mean_error,median_error,low,high,source");
    for (int j = 0; j < RUNTIME_TERMS; j++)
        printf(",%s", runtime_term_name((runtime_term)j));
    printf("\n");
    print_row(&(out_row){"eager", "rtx3090", "gpu", "PyTorch 2.4 CUDA 12.4", &t[EAGER_3090].fit,
                         t[EAGER_3090].fit.low, t[EAGER_3090].fit.high, source_name});
    print_row(&(out_row){"eager", "rtx4090", "gpu", "PyTorch 2.9 CUDA 12.8", &t[EAGER_4090].fit,
                         t[EAGER_4090].fit.low, t[EAGER_4090].fit.high, source_name});
    print_row(&(out_row){"compiled", "rtx4090", "gpu", "PyTorch 2.9 CUDA 12.8",
                         &t[COMPILED_4090].fit, t[COMPILED_4090].fit.low, t[COMPILED_4090].fit.high,
                         source_name});
    print_row(&(out_row){"onnxruntime", "i9-10940x", "cpu", "PyTorch 2.4 compiled", &t[CPU].fit,
                         t[CPU].fit.low, t[CPU].fit.high, source_name});
    eager.median_error = transfer(&t[EAGER_4090], t[EAGER_3090].fit.c, ratio);
    double low = fit_quantile(ratio, t[EAGER_4090].rows.n, 0.1),
           high = fit_quantile(ratio, t[EAGER_4090].rows.n, 0.9);
    print_row(&(out_row){"eager", "*", "*", "PyTorch 2.4 CUDA 12.4", &eager,
                         lower_of(low, WIDE_LOW), upper_of(high, WIDE_HIGH),
                         "Coefficients of the RTX 3090; no device of this class was measured"});
    for (int k = 0; k < 2; k++)
        print_row(&(out_row){"eager", "*", k ? "edge" : "gpu", "PyTorch 2.4 CUDA 12.4", &eager,
                             lower_of(low, CLASS_LOW), upper_of(high, CLASS_HIGH),
                             "Coefficients of the RTX 3090; error and interval on the RTX 4090, no "
                             "narrower than with GPU generations left out"});
    as_compiled(&t[NHWC_3090], c);
    compiled.median_error = transfer(&t[COMPILED_4090], c, ratio);
    low = fit_quantile(ratio, t[COMPILED_4090].rows.n, 0.1);
    high = fit_quantile(ratio, t[COMPILED_4090].rows.n, 0.9);
    print_row(&(out_row){"compiled", "*", "*", "PyTorch 2.9 CUDA 12.8", &compiled,
                         lower_of(low, WIDE_LOW), upper_of(high, WIDE_HIGH),
                         "Coefficients of the RTX 4090; no device of this class was measured"});
    for (int k = 0; k < 2; k++)
        print_row(&(out_row){"compiled", "*", k ? "edge" : "gpu", "PyTorch 2.9 CUDA 12.8",
                             &compiled, lower_of(low, CLASS_LOW), upper_of(high, CLASS_HIGH),
                             "Coefficients of the RTX 4090; error and interval of a transfer from "
                             "the RTX 3090, no narrower than with GPU generations left out"});
    print_row(&(out_row){"onnxruntime", "*", "*", "PyTorch 2.4 compiled", &cpu,
                         lower_of(cpu.low, WIDE_LOW), upper_of(cpu.high, WIDE_HIGH),
                         "Coefficients of the Core i9-10940X; no other processor was measured"});
    free(ratio);
}

int main(int argc, char **argv)
{
    bench *b = calloc(1, sizeof *b);
    bool met = true;
    if (!b || !bench_begin(&b->run, argc, argv, 1, 1))
        return 2;
    b->arena = b->run.arena;
    if (!read_speed(b, b->run.files[0]))
        return 2;
    for (int t = 0; t < N_SPECS; t++)
        prepare(b, &b->tables[t], &specs[t]);
    double prior[RUNTIME_TERMS];
    if (!fit_table(b, &b->tables[NHWC_3090], NULL, PRIOR_ROWS))
        return 1;
    as_compiled(&b->tables[NHWC_3090], prior);
    for (int t = 0; t < N_SPECS; t++)
        if (t != NHWC_3090 &&
            !fit_table(b, &b->tables[t], strcmp(specs[t].runtime, "compiled") == 0 ? prior : NULL,
                       PRIOR_ROWS))
            return 1;
    if (b->run.rows)
        return print_rows(b), 0;
    printf("Families left out:\n");
    for (int t = 0; t < N_SPECS; t++)
        met = report(&b->tables[t]) && met;
    double *ratio = malloc(sizeof *ratio * 4096);
    printf("\nNothing of the RTX 4090 fitted:\n");
    for (int t = EAGER_4090; t <= 4; t++) {
        bool dyn = strcmp(specs[t].runtime, "compiled") == 0;
        double off = transfer(&b->tables[t], dyn ? prior : b->tables[EAGER_3090].fit.c, ratio);
        printf("  rtx4090    %-12s %-12s median %5.1f %%  (target 15)  %s\n", specs[t].software,
               specs[t].runtime, 100 * off, off <= 0.15 ? "met" : "MISSED");
        met = met && (off <= 0.15 || !specs[t].judged);
    }
    free(ratio);
    printf("\nYardstick, one factor from the other GPU's measured times (it knows each model):\n"
           "  rtx3090 to rtx4090 eager     median %5.1f %%\n  rtx3090 to rtx4090 compiled  median "
           "%5.1f %%\n",
           100 * yardstick(&b->tables[EAGER_3090], &b->tables[EAGER_4090]),
           100 * yardstick(&b->tables[EAGER_3090], &b->tables[COMPILED_4090]));
    return met ? 0 : 1;
}
