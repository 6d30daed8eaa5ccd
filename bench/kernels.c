/* How far the kernel model is from measured tables, with shapes and with whole generations left out; and the rows of
 * data/kernels.csv, which are fitted to the same tables.
 *
 *   kernels [--rows] FILE...     FILE: a table of measured kernels, .csv or .csv.gz, known by its columns
 *
 * Columns of a table: gpu, framework (or library), version, kernel, a dtype, the shape, latency_ms. Targets: the mean
 * error of GEMM tables, (n, k) left out, at most 10 % over all and 14 % of any; attention 12 % and 18 %, heads left
 * out; a generation left out at most 20 % at the median. Tables of the Intel B60 are reported and not judged.
 */
#include <math.h>

#include "device/kernel.h"
#include "tables.h"

enum { TABLES = 256 };

typedef struct sample {
    kernel_call call;
    double seconds;
    uint32_t group;
} sample;

typedef struct table {
    kernel_family family;
    str gpu, dtype, kernel, framework, version;
    const device *d;
    VEC(sample) rows;
    fit_result fit;
    double *x, *base, *seconds;
    uint32_t n_terms;
    bool sound;
} table;

/* Coefficients of all devices but one generation. */
typedef struct known_pool {
    kernel_family family;
    int without;
    str dtype, kernel;
    bool ok;
    fit_result fit;
} known_pool;

typedef struct bench {
    bench_run run;
    arena *arena; /* of run */
    table tables[TABLES];
    uint32_t n;
    known_pool known[TABLES];
    uint32_t n_known;
} bench;

/* ---- reading ---- */

typedef struct names {
    const char *table, *ours;
} names;
static const names gpus[] = {{"a100_sxm", "a100-80"},
                             {"h100_sxm", "h100-sxm"},
                             {"b200_sxm", "b200"},
                             {"b300_sxm", "b300"},
                             {"gb200", "gb200"},
                             {"b60", "arc-pro-b60"},
                             {"rtx_pro_6000_server", "rtx-pro-6000"}};

static const device *find_device(const bench *b, str gpu)
{
    for (size_t i = 0; i < sizeof gpus / sizeof *gpus; i++)
        if (str_is(gpu, gpus[i].table))
            return bench_device(&b->run, gpus[i].ours);
    return NULL;
}

static kernel_family family_of(const bench_table *h)
{
    if (bench_has(h, "gemm_dtype"))
        return KERNEL_GEMM;
    if (bench_has(h, "moe_dtype"))
        return KERNEL_MOE;
    if (bench_has(h, "collective"))
        return KERNEL_COLLECTIVE;
    if (bench_has(h, "window_size"))
        return KERNEL_PREFILL; /* or decode: the file's name says */
    return bench_has(h, "attn_dtype") ? KERNEL_ENCODER : KERNEL_FAMILIES;
}

static str dtype_of(const bench_table *h, kernel_family f)
{
    if (f == KERNEL_PREFILL || f == KERNEL_DECODE)
        return bench_cell(h, "kv_cache_dtype");
    const char *title[KERNEL_FAMILIES] = {"gemm_dtype", "", "", "attn_dtype", "moe_dtype", "dtype"};
    return bench_cell(h, title[f]);
}

static double passes_of(str collective)
{
    return str_is(collective, "all_reduce") ? 2 : 1;
}

/* "power_law_1.2": 1.2; anything else is even. */
static double skew_of(str distribution)
{
    str name = STR("power_law_");
    double v = 0;
    if (str_starts(distribution, name.p))
        str_to_f64((str){distribution.p + name.n, distribution.n - name.n}, &v);
    return v;
}

static uint32_t mix(uint32_t a, double b)
{
    uint64_t v = ((uint64_t)a << 32 | (uint32_t)(b * 16)) + 0x9e3779b97f4a7c15u;
    v = (v ^ v >> 30) * 0xbf58476d1ce4e5b9u;
    v = (v ^ v >> 27) * 0x94d049bb133111ebu;
    return (uint32_t)(v >> 31);
}

static sample read_sample(const bench_table *h, kernel_family f, const kernel_dtype *t)
{
    kernel_call c = {.family = f,
                     .dtype = t,
                     .m = bench_number(h, "m"),
                     .n = bench_number(h, "n"),
                     .k = bench_number(h, "k"),
                     .batch = bench_number(h, "batch_size"),
                     .queries = bench_number(h, "isl"),
                     .past = bench_number(h, "step"),
                     .heads = bench_number(h, "num_heads"),
                     .kv_heads = bench_number(h, "num_key_value_heads"),
                     .head_size = bench_number(h, "head_dim"),
                     .window = bench_number(h, "window_size"),
                     .kv_bytes = str_is(bench_cell(h, "kv_cache_dtype"), "fp8") ? 1 : 2,
                     .tokens = bench_number(h, "num_tokens"),
                     .hidden = bench_number(h, "hidden_size"),
                     .inner = bench_number(h, "inter_size") /
                              fmax(bench_number(h, "moe_tp_size"), 1),
                     .topk = bench_number(h, "topk"),
                     .experts = bench_number(h, "num_experts"),
                     .shares = bench_number(h, "moe_ep_size"),
                     .skew = skew_of(bench_cell(h, "distribution")),
                     .devices = bench_number(h, "gpus"),
                     .message_bytes = bench_number(h, "message_bytes"),
                     .passes = passes_of(bench_cell(h, "collective"))};
    if (!(c.kv_heads > 0))
        c.kv_heads = c.heads;
    sample s = {.call = c, .seconds = bench_number(h, "latency_ms") / 1e3};
    uint32_t g = mix(mix(mix(1, c.n), c.k), c.heads);
    g = mix(mix(mix(mix(g, c.kv_heads), c.head_size), c.window), c.hidden);
    g = mix(mix(mix(mix(g, c.inner), c.experts), c.topk), c.shares);
    s.group = mix(g, f == KERNEL_COLLECTIVE ? c.message_bytes / 512 : 0);
    return s;
}

/* Kernels of one framework that are chosen by the shape are one table. */
static str kernel_name(str k, arena *a)
{
    static const char *const ends[] = {"prefill", "decode"};
    for (int i = 0; i < 2; i++)
        if (str_ends(k, ends[i]))
            k.n -= (uint32_t)strlen(ends[i]);
    if (str_starts(k, "trt_flow"))
        k = STR("trt_flow");
    return str_copy(a, k);
}

static table *find_table(bench *b, const table *like)
{
    for (uint32_t i = 0; i < b->n; i++) {
        table *t = &b->tables[i];
        if (t->family == like->family && str_eq(t->gpu, like->gpu) &&
            str_eq(t->dtype, like->dtype) && str_eq(t->kernel, like->kernel) &&
            str_eq(t->version, like->version))
            return t;
    }
    if (b->n == TABLES)
        return NULL;
    b->tables[b->n] = *like;
    return &b->tables[b->n++];
}

static void read_line(bench *b, const bench_table *h, kernel_family f)
{
    str type = dtype_of(h, f), framework = bench_cell(h, "framework");
    const kernel_dtype *t = kernel_dtype_find(
        f == KERNEL_PREFILL || f == KERNEL_DECODE || f == KERNEL_COLLECTIVE ? STR("bfloat16")
                                                                            : type);
    str kernel = bench_cell(h, "kernel");
    if (f == KERNEL_COLLECTIVE) {
        kernel = bench_cell(h, "collective");
        framework = bench_cell(h, "library");
        if (!str_is(framework, "nccl") || str_is(type, "int8"))
            return;
    }
    table like = {.family = f,
                  .gpu = bench_cell(h, "gpu"),
                  .dtype = type,
                  .kernel = kernel_name(kernel, b->arena),
                  .framework = framework,
                  .version = bench_cell(h, "version")};
    like.d = find_device(b, like.gpu);
    sample s = read_sample(h, f, t);
    table *into = like.d && t && s.seconds > 0 ? find_table(b, &like) : NULL;
    if (into && !VEC_ADD(b->arena, &into->rows, s))
        exit(1);
}

static bool read_table(bench *b, const char *path)
{
    bench_table t = bench_open(path, b->arena);
    kernel_family f = family_of(&t);
    if (f == KERNEL_PREFILL && strstr(path, "generation"))
        f = KERNEL_DECODE;
    if (f == KERNEL_FAMILIES)
        return fprintf(stderr, "%s: not a table of kernels\n", path), false;
    while (bench_next(&t))
        read_line(b, &t, f);
    return true;
}

/* ---- fitting ---- */

static void describe(table *t, arena *a)
{
    kernel_terms x;
    for (uint32_t i = 0; i < t->rows.n; i++) {
        const sample *s = &t->rows.items[i];
        kernel_machine m = kernel_machine_of(t->d, s->call.dtype);
        kernel_describe(&s->call, &m, &x);
        if (!t->x) {
            t->n_terms = x.n;
            t->x = ARENA_ARRAY(a, double, (size_t)t->rows.n *x.n);
            t->base = ARENA_ARRAY(a, double, t->rows.n);
            t->seconds = ARENA_ARRAY(a, double, t->rows.n);
        }
        memcpy(t->x + (size_t)i * x.n, x.x, sizeof *x.x * x.n);
        t->base[i] = x.base;
        t->seconds[i] = s->seconds;
    }
}

#define UNSOUND 3.0 /* median of measured over base */

/* A kernel that takes many times what the data sheet lets expect is a defect of its version and says nothing of others. */
static bool is_sound(const table *t)
{
    double *ratio = malloc(sizeof *ratio * (t->rows.n + 1u));
    for (uint32_t i = 0; i < t->rows.n; i++)
        ratio[i] = t->seconds[i] / t->base[i];
    double middle = fit_quantile(ratio, t->rows.n, 0.5);
    free(ratio);
    return middle < UNSOUND;
}

static void fit_table(table *t, arena *keep)
{
    arena *a = arena_new((size_t)2 << 30);
    uint32_t *group = ARENA_ARRAY(a, uint32_t, t->rows.n);
    for (uint32_t i = 0; i < t->rows.n; i++)
        group[i] = t->rows.items[i].group;
    describe(t, keep);
    t->sound = is_sound(t);
    fit_problem p = {.form = FIT_FACTORS,
                     .n = t->rows.n,
                     .n_terms = t->n_terms,
                     .x = t->x,
                     .base = t->base,
                     .seconds = t->seconds,
                     .group = group,
                     .prior_rows = t->rows.n * 5e-6};
    assay_error err;
    err_clear(&err);
    assay_status s = fit_run(&p, a, &t->fit, NULL, &err);
    if (s == ASSAY_OK && t->family != KERNEL_GEMM && t->fit.groups < 100) {
        double few = 100.0 / t->fit.groups;
        p.prior_rows = t->rows.n * 5e-5 * few * few;
        s = fit_run(&p, a, &t->fit, NULL, &err);
    }
    if (s != ASSAY_OK)
        fprintf(stderr, STR_FMT " " STR_FMT ": %s\n", STR_ARG(t->gpu), STR_ARG(t->kernel),
                err.message);
    arena_free(a);
}

/* ---- generations left out ---- */

static const char *const generations[][3] = {
    {"a100_sxm"}, {"h100_sxm"}, {"b200_sxm", "b300_sxm", "gb200"}, {"rtx_pro_6000_server"}};
enum { N_GENERATIONS = 4, POOLED_MOST = 60000 };

static int generation_of(str gpu)
{
    for (int g = 0; g < N_GENERATIONS; g++)
        for (int i = 0; i < 3 && generations[g][i]; i++)
            if (str_is(gpu, generations[g][i]))
                return g;
    return -1;
}

static bool same_type(str a, str b)
{
    const char *like = kernel_type_like(b);
    return str_eq(a, b) || (like && str_is(a, like));
}

/* GEMM and attention have a target; experts and collectives are reported. */
static bool is_judged(kernel_family f)
{
    return f != KERNEL_MOE && f != KERNEL_COLLECTIVE;
}

#define OTHER_TYPE 0.2 /* weight of tables of another number type */
#define OTHER_TYPE_OF_SUM \
    0.5                   /* the same: bytes and peak, in which types differ, are in the parts */
#define POOLED_PRIOR 0.06 /* of the rows' weight */
#define SUM_PRIOR    1e-3 /* the same of sums */
#define USELESS      0.8  /* mean error of a generation left out: such a pooled row is not kept */

static uint32_t pooled_row(const table *t, uint32_t i, fit_form form, double *out)
{
    const kernel_call *c = &t->rows.items[i].call;
    kernel_machine m = kernel_machine_of(t->d, c->dtype);
    kernel_terms x;
    kernel_describe(c, &m, &x);
    return kernel_pooled_terms(t->family, t->dtype, form, &x, out);
}

/* Of families whose types differ in bytes and peak alone, all types count. */
static bool pools_types(kernel_family f)
{
    return f == KERNEL_GEMM || f == KERNEL_PREFILL || f == KERNEL_DECODE || f == KERNEL_MOE;
}

/* Tables whose name in the trt_flow of one GPU only says nothing of others. */
static bool pools(const table *t, const table *of, int without)
{
    return t->family == of->family && t->rows.n && generation_of(t->gpu) >= 0 &&
           generation_of(t->gpu) != without && !str_is(t->kernel, "trt_flow") &&
           (pools_types(t->family) || str_eq(t->dtype, of->dtype)) && t->sound &&
           (t->family != KERNEL_COLLECTIVE || str_eq(t->kernel, of->kernel)) &&
           (t->family != KERNEL_PREFILL || !strstr(t->kernel.p, "triton"));
}

typedef struct pooled {
    fit_form form;
    uint32_t n, terms;
    double *x, *base, *seconds, *weight;
    uint32_t *group; /* generation */
} pooled;

/* Every step-th row of the tables that pool, so that there are at most POOLED_MOST. */
static bool gather(const bench *b, const table *of, int without, fit_form form, arena *a, pooled *p)
{
    size_t all = 0, rows[N_GENERATIONS] = {0};
    for (uint32_t k = 0; k < b->n; k++)
        if (pools(&b->tables[k], of, without)) {
            all += b->tables[k].rows.n;
            rows[generation_of(b->tables[k].gpu)] += b->tables[k].rows.n;
        }
    size_t step = all / POOLED_MOST + 1, room = all / step + TABLES;
    *p = (pooled){.form = form,
                  .x = ARENA_ARRAY(a, double, room *FIT_TERMS),
                  .base = ARENA_ARRAY(a, double, room),
                  .seconds = ARENA_ARRAY(a, double, room),
                  .weight = ARENA_ARRAY(a, double, room),
                  .group = ARENA_ARRAY(a, uint32_t, room)};
    for (uint32_t k = 0; all && k < b->n; k++) {
        const table *t = &b->tables[k];
        for (size_t i = 0; pools(t, of, without) && i < t->rows.n; i += step, p->n++) {
            double row[FIT_TERMS];
            p->terms = pooled_row(t, (uint32_t)i, p->form, row);
            memcpy(p->x + (size_t)p->n * p->terms, row, sizeof *row * p->terms);
            p->base[p->n] = t->base[i];
            p->seconds[p->n] = t->seconds[i];
            p->group[p->n] = (uint32_t)generation_of(t->gpu);
            double other = p->form == FIT_SUM ? OTHER_TYPE_OF_SUM : OTHER_TYPE;
            p->weight[p->n] = (same_type(t->dtype, of->dtype) ? 1 : other) * 1e4 /
                              (double)rows[generation_of(t->gpu)];
        }
    }
    return p->n > 100;
}

static bool fit_pooled(const pooled *p, fit_result *out)
{
    arena *a = arena_new((size_t)2 << 30);
    fit_problem q = {p->form,    p->n,      p->terms, p->x, p->base,
                     p->seconds, p->weight, p->group, NULL, 0};
    for (uint32_t i = 0; i < p->n; i++)
        q.prior_rows += p->weight[i] * (p->form == FIT_SUM ? SUM_PRIOR : POOLED_PRIOR);
    assay_error err;
    err_clear(&err);
    bool ok = fit_run(&q, a, out, NULL, &err) == ASSAY_OK;
    arena_free(a);
    return ok;
}

static bool has_parts(kernel_family f)
{
    return f != KERNEL_GEMM && f != KERNEL_COLLECTIVE;
}

static fit_form form_of(kernel_family f)
{
    return has_parts(f) ? FIT_SUM : FIT_FACTORS;
}

static bool pool_anew(const bench *b, const table *of, int without, fit_result *out)
{
    arena *a = arena_new((size_t)2 << 30);
    fit_form form = form_of(of->family);
    pooled p;
    bool ok = gather(b, of, without, form, a, &p) && fit_pooled(&p, out);
    arena_free(a);
    return ok;
}

/* Tables of one family, type and generation left out have the same. */
static bool pool(bench *b, const table *of, int without, fit_result *out)
{
    for (uint32_t i = 0; i < b->n_known; i++) {
        const known_pool *k = &b->known[i];
        if (k->family == of->family && k->without == without && str_eq(k->dtype, of->dtype) &&
            (of->family != KERNEL_COLLECTIVE || str_eq(k->kernel, of->kernel)))
            return *out = k->fit, k->ok;
    }
    known_pool k = {
        .family = of->family, .without = without, .dtype = of->dtype, .kernel = of->kernel};
    k.ok = pool_anew(b, of, without, &k.fit);
    if (b->n_known < TABLES)
        b->known[b->n_known++] = k;
    return *out = k.fit, k.ok;
}

typedef struct errors {
    double *off;
    size_t n;
} errors;

static double add_errors(errors *e, const double *off, size_t n)
{
    e->off = realloc(e->off, sizeof *off * (e->n + n));
    memcpy(e->off + e->n, off, sizeof *off * n);
    e->n += n;
    double *copy = malloc(sizeof *copy * n);
    memcpy(copy, off, sizeof *copy * n);
    double median = fit_quantile(copy, (uint32_t)n, 0.5);
    free(copy);
    return 100 * median;
}

static void leave_table_out(bench *b, const table *t, int g, errors *of_family)
{
    fit_result r;
    if (!pool(b, t, g, &r))
        return;
    double *off = malloc(sizeof *off * t->rows.n), row[FIT_TERMS];
    fit_form form = form_of(t->family);
    for (uint32_t i = 0; i < t->rows.n; i++) {
        uint32_t terms = pooled_row(t, i, form, row);
        double s = fit_seconds(form, t->base[i], row, r.c, terms);
        off[i] = fabs(s / t->seconds[i] - 1);
    }
    printf("    %-22.*s %-18.*s %6u rows  median %5.1f %%\n", (int)t->gpu.n, t->gpu.p,
           (int)t->dtype.n, t->dtype.p, t->rows.n, add_errors(of_family, off, t->rows.n));
    free(off);
}

/* Errors are added to those of the generation where the family is judged. */
static void leave_generation_out(bench *b, kernel_family f, int g, errors *of_generation)
{
    errors e = {0};
    for (uint32_t k = 0; k < b->n; k++)
        if (b->tables[k].family == f && generation_of(b->tables[k].gpu) == g)
            leave_table_out(b, &b->tables[k], g, &e);
    if (e.n)
        printf("  %-10s generation %-22s left out: median %5.1f %%  (target 20)\n",
               kernel_family_name(f), generations[g][0],
               is_judged(f) ? add_errors(of_generation, e.off, e.n)
                            : 100 * fit_quantile(e.off, (uint32_t)e.n, 0.5));
    free(e.off);
}

static void report_generation(bench *b, int g)
{
    errors e = {0};
    for (int f = 0; f < KERNEL_FAMILIES; f++)
        leave_generation_out(b, (kernel_family)f, g, &e);
    if (e.n)
        printf("  GEMM and attention, generation %s left out: median %5.1f %% of %zu rows  "
               "(target 20)\n\n",
               generations[g][0], 100 * fit_quantile(e.off, (uint32_t)e.n, 0.5), e.n);
    free(e.off);
}

/* ---- output ---- */

static void print_coefficients(const fit_result *r)
{
    for (uint32_t i = 0; i < r->n_terms; i++)
        printf(",%.4g", r->c[i]);
    printf("\n");
}

static void print_row(const table *t, const char *device_id, str kernel, const char *framework,
                      str version, const fit_result *r)
{
    printf("%s,%s," STR_FMT "," STR_FMT ",%s," STR_FMT ",%u,%u,%.4f,%.4f,%.3f,%.3f",
           kernel_family_name(t->family), device_id, STR_ARG(t->dtype), STR_ARG(kernel), framework,
           STR_ARG(version), r->rows, r->groups, r->mean_error, r->median_error, r->low, r->high);
    print_coefficients(r);
}

static bool first_of_kind(const bench *b, uint32_t k)
{
    const table *t = &b->tables[k];
    for (uint32_t i = 0; i < k; i++)
        if (b->tables[i].family == t->family && str_eq(b->tables[i].dtype, t->dtype) &&
            (t->family != KERNEL_COLLECTIVE || str_eq(b->tables[i].kernel, t->kernel)))
            return false;
    return true;
}

/* At most 150 numbers per GPU and family: small tables of rare kernels are measured here and not kept. */
static bool is_kept(const table *t)
{
    return t->family != KERNEL_MOE || t->rows.n >= 3000 || str_is(t->gpu, "b60");
}

static void print_rows(bench *b)
{
    printf("family,device,dtype,kernel,framework,version,rows,groups,mean_error,median_error,low,"
           "high,coefficients\n");
    for (uint32_t k = 0; k < b->n; k++) {
        const table *t = &b->tables[k];
        char framework[64];
        if (!is_kept(t))
            continue;
        snprintf(framework, sizeof framework, STR_FMT, STR_ARG(t->framework));
        print_row(t, t->d->id.p, t->kernel, framework, t->version, &t->fit);
    }
    for (uint32_t k = 0; k < b->n; k++) {
        fit_result r;
        if (first_of_kind(b, k) && pool(b, &b->tables[k], -2, &r) && r.groups > 1 &&
            r.mean_error < USELESS)
            print_row(&b->tables[k], "*",
                      b->tables[k].family == KERNEL_COLLECTIVE ? b->tables[k].kernel
                                                               : STR("pooled"),
                      "all of the above", STR("-"), &r);
    }
}

typedef struct bar {
    kernel_family family;
    double all, each;
} bar;
static const bar bars[] = {{KERNEL_GEMM, 10, 14},   {KERNEL_PREFILL, 12, 18},
                           {KERNEL_DECODE, 12, 18}, {KERNEL_ENCODER, 12, 18},
                           {KERNEL_MOE, 0, 0},      {KERNEL_COLLECTIVE, 0, 0}};

/* Tables of one GPU and type that differ in the kernel are one for the target. */
static bool report_family(const bench *b, const bar *t)
{
    double sum = 0, rows = 0, worst = 0;
    for (uint32_t k = 0; k < b->n; k++) {
        const table *x = &b->tables[k];
        if (x->family != t->family)
            continue;
        double same = 0, same_rows = 0;
        for (uint32_t i = 0; i < b->n; i++)
            if (b->tables[i].family == x->family && str_eq(b->tables[i].gpu, x->gpu) &&
                str_eq(b->tables[i].dtype, x->dtype)) {
                same += b->tables[i].fit.mean_error * b->tables[i].rows.n;
                same_rows += b->tables[i].rows.n;
            }
        bool judged = !str_is(x->gpu, "b60");
        printf(
            "  %-10s %-20.*s %-17.*s %-26.26s %6u rows %4u groups %2u terms  mean %5.1f %%  median "
            "%5.1f %%  80 %% in [%.2f, %.2f]%s\n",
            kernel_family_name(t->family), (int)x->gpu.n, x->gpu.p, (int)x->dtype.n, x->dtype.p,
            x->kernel.p, x->rows.n, x->fit.groups, x->fit.n_terms, 100 * x->fit.mean_error,
            100 * x->fit.median_error, x->fit.low, x->fit.high, judged ? "" : "  (not judged)");
        if (!judged)
            continue;
        sum += x->fit.mean_error * x->rows.n;
        rows += x->rows.n;
        worst = same / same_rows > worst ? same / same_rows : worst;
    }
    if (!(rows > 0))
        return true;
    bool met = !(t->all > 0) || (100 * sum / rows <= t->all && 100 * worst <= t->each);
    printf("  %-10s all: mean %.2f %% (target %g), worst GPU and type %.2f %% (target %g)  %s\n\n",
           kernel_family_name(t->family), 100 * sum / rows, t->all, 100 * worst, t->each,
           !(t->all > 0) ? "no target"
           : met         ? "met"
                         : "MISSED");
    return met;
}

int main(int argc, char **argv)
{
    bench *b = calloc(1, sizeof *b);
    bool met = true;
    if (!b || !bench_begin(&b->run, argc, argv, 1, 64))
        return 2;
    b->arena = b->run.arena;
    for (int i = 0; i < b->run.n; i++)
        if (!read_table(b, b->run.files[i]))
            return 2;
    for (uint32_t k = 0; k < b->n; k++)
        fit_table(&b->tables[k], b->arena);
    if (b->run.rows)
        return print_rows(b), 0;
    for (size_t i = 0; i < sizeof bars / sizeof *bars; i++)
        met = report_family(b, &bars[i]) && met;
    for (int g = 0; g < N_GENERATIONS; g++)
        report_generation(b, g);
    return met ? 0 : 1;
}
