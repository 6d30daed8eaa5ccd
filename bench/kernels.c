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
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/csv.h"
#include "device/kernel.h"

enum { COLUMNS = 24, TABLES = 256 };

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
    uint32_t n_terms, n_ratios;
} table;

typedef struct bench {
    arena *arena;
    device_list devices;
    table tables[TABLES];
    uint32_t n;
} bench;

/* ---- reading ---- */

static str read_all(const char *path, arena *a)
{
    gzFile f = gzopen(path, "rb");
    size_t room = 1u << 20, n = 0;
    char *text = malloc(room);
    for (int got = 1; f && text && got > 0; n += (size_t)got) {
        if (n + (1u << 19) > room)
            text = realloc(text, room *= 2);
        got = gzread(f, text + n, 1u << 19);
        got = got < 0 ? 0 : got;
        if (!got)
            break;
    }
    if (f)
        gzclose(f);
    char *copy = arena_alloc(a, n + 1);
    if (copy)
        memcpy(copy, text, n);
    free(text);
    return (str){copy, (uint32_t)n};
}

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
        for (uint32_t k = 0; str_is(gpu, gpus[i].table) && k < b->devices.rows.n; k++)
            if (str_is(b->devices.rows.items[k].id, gpus[i].ours))
                return &b->devices.rows.items[k];
    return NULL;
}

typedef struct header {
    str titles[COLUMNS];
    int n;
} header;

static str cell(const header *h, const str *cells, const char *title)
{
    int i = csv_column(h->titles, h->n, title);
    return i < 0 ? (str){0} : cells[i];
}

static double number(const header *h, const str *cells, const char *title)
{
    double v = 0;
    str s = cell(h, cells, title);
    return s.n && str_to_f64(s, &v) ? v : 0;
}

static kernel_family family_of(const header *h)
{
    if (csv_column(h->titles, h->n, "gemm_dtype") >= 0)
        return KERNEL_GEMM;
    if (csv_column(h->titles, h->n, "moe_dtype") >= 0)
        return KERNEL_MOE;
    if (csv_column(h->titles, h->n, "collective") >= 0)
        return KERNEL_COLLECTIVE;
    if (csv_column(h->titles, h->n, "window_size") >= 0)
        return KERNEL_PREFILL; /* or decode: the file's name says */
    return csv_column(h->titles, h->n, "attn_dtype") >= 0 ? KERNEL_ENCODER : KERNEL_FAMILIES;
}

static str dtype_of(const header *h, const str *cells, kernel_family f)
{
    if (f == KERNEL_PREFILL || f == KERNEL_DECODE)
        return cell(h, cells, "kv_cache_dtype");
    const char *title[KERNEL_FAMILIES] = {"gemm_dtype", "", "", "attn_dtype", "moe_dtype", "dtype"};
    return cell(h, cells, title[f]);
}

static double passes_of(str collective)
{
    return str_is(collective, "all_reduce") ? 2 : 1;
}

static uint32_t mix(uint32_t a, double b)
{
    uint64_t v = ((uint64_t)a << 32 | (uint32_t)(b * 16)) + 0x9e3779b97f4a7c15u;
    v = (v ^ v >> 30) * 0xbf58476d1ce4e5b9u;
    v = (v ^ v >> 27) * 0x94d049bb133111ebu;
    return (uint32_t)(v >> 31);
}

static sample read_sample(const header *h, const str *cells, kernel_family f, const kernel_dtype *t)
{
    kernel_call c = {.family = f,
                     .dtype = t,
                     .m = number(h, cells, "m"),
                     .n = number(h, cells, "n"),
                     .k = number(h, cells, "k"),
                     .batch = number(h, cells, "batch_size"),
                     .queries = number(h, cells, "isl"),
                     .past = number(h, cells, "step"),
                     .heads = number(h, cells, "num_heads"),
                     .kv_heads = number(h, cells, "num_key_value_heads"),
                     .head_size = number(h, cells, "head_dim"),
                     .window = number(h, cells, "window_size"),
                     .kv_bytes = str_is(cell(h, cells, "kv_cache_dtype"), "fp8") ? 1 : 2,
                     .tokens = number(h, cells, "num_tokens"),
                     .hidden = number(h, cells, "hidden_size"),
                     .inner = number(h, cells, "inter_size") /
                              fmax(number(h, cells, "moe_tp_size"), 1),
                     .topk = number(h, cells, "topk"),
                     .experts = number(h, cells, "num_experts"),
                     .shares = number(h, cells, "moe_ep_size"),
                     .skewed = str_starts(cell(h, cells, "distribution"), "power"),
                     .devices = number(h, cells, "gpus"),
                     .message_bytes = number(h, cells, "message_bytes"),
                     .passes = passes_of(cell(h, cells, "collective"))};
    if (!(c.kv_heads > 0))
        c.kv_heads = c.heads;
    sample s = {.call = c, .seconds = number(h, cells, "latency_ms") / 1e3};
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

static void read_line(bench *b, const header *h, const str *cells, kernel_family f)
{
    str type = dtype_of(h, cells, f), framework = cell(h, cells, "framework");
    const kernel_dtype *t = kernel_dtype_find(
        f == KERNEL_PREFILL || f == KERNEL_DECODE || f == KERNEL_COLLECTIVE ? STR("bfloat16")
                                                                            : type);
    str kernel = cell(h, cells, "kernel");
    if (f == KERNEL_COLLECTIVE) {
        kernel = cell(h, cells, "collective");
        framework = cell(h, cells, "library");
        if (!str_is(framework, "nccl") || str_is(type, "int8"))
            return;
    }
    table like = {.family = f,
                  .gpu = cell(h, cells, "gpu"),
                  .dtype = type,
                  .kernel = kernel_name(kernel, b->arena),
                  .framework = framework,
                  .version = cell(h, cells, "version")};
    like.d = find_device(b, like.gpu);
    sample s = read_sample(h, cells, f, t);
    table *into = like.d && t && s.seconds > 0 ? find_table(b, &like) : NULL;
    if (into && !VEC_ADD(b->arena, &into->rows, s))
        exit(1);
}

static bool read_table(bench *b, const char *path)
{
    str text = read_all(path, b->arena);
    csv c = csv_of(text, b->arena);
    header h = {0};
    str cells[COLUMNS];
    h.n = csv_more(&c) ? csv_line(&c, h.titles, COLUMNS) : 0;
    kernel_family f = family_of(&h);
    if (f == KERNEL_PREFILL && strstr(path, "generation"))
        f = KERNEL_DECODE;
    if (f == KERNEL_FAMILIES)
        return fprintf(stderr, "%s: not a table of kernels\n", path), false;
    while (csv_more(&c))
        if (csv_line(&c, cells, COLUMNS) == h.n)
            read_line(b, &h, cells, f);
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
            t->n_ratios = x.n_ratios;
            t->x = ARENA_ARRAY(a, double, (size_t)t->rows.n *x.n);
            t->base = ARENA_ARRAY(a, double, t->rows.n);
            t->seconds = ARENA_ARRAY(a, double, t->rows.n);
        }
        memcpy(t->x + (size_t)i * x.n, x.x, sizeof *x.x * x.n);
        t->base[i] = x.base;
        t->seconds[i] = s->seconds;
    }
}

static void fit_table(table *t, arena *keep)
{
    arena *a = arena_new((size_t)2 << 30);
    uint32_t *group = ARENA_ARRAY(a, uint32_t, t->rows.n);
    for (uint32_t i = 0; i < t->rows.n; i++)
        group[i] = t->rows.items[i].group;
    describe(t, keep);
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

static const char *like_dtype(str dtype)
{
    if (str_is(dtype, "sq"))
        return "fp8_block";
    return str_is(dtype, "int8_wo") || str_is(dtype, "int4_wo") ? "bfloat16" : NULL;
}

static bool same_type(str a, str b)
{
    const char *like = like_dtype(b);
    return str_eq(a, b) || (like && str_is(a, like));
}

#define OTHER_TYPE   0.2  /* weight of tables of another number type */
#define POOLED_PRIOR 0.06 /* of the rows' weight */
#define USELESS      0.8  /* mean error of a generation left out: such a pooled row is not kept */
enum { DTYPE_TERMS = 6 };
static const char *const pooled_types[] = {"fp8", "fp8_block", "nvfp4"};

/* The ratios of a row, and a factor of its own for each narrow type: constant, and where arithmetic binds. */
static uint32_t pooled_row(const table *t, uint32_t i, str dtype, double *out)
{
    const double *x = t->x + (size_t)i * t->n_terms;
    const char *like = like_dtype(dtype);
    memcpy(out, x, sizeof *x * t->n_ratios);
    if (t->family != KERNEL_GEMM)
        return t->n_ratios;
    for (uint32_t k = 0; k < 3; k++) {
        bool is = str_is(like ? str_of(like) : dtype, pooled_types[k]);
        out[t->n_ratios + 2 * k] = is ? 1 : 0;
        out[t->n_ratios + 2 * k + 1] = is ? fmin(x[3], 6) : 0;
    }
    return t->n_ratios + DTYPE_TERMS;
}

/* Tables whose name in the trt_flow of one GPU only says nothing of others. */
static bool pools(const table *t, const table *of, int without)
{
    return t->family == of->family && t->rows.n && generation_of(t->gpu) >= 0 &&
           generation_of(t->gpu) != without && !str_is(t->kernel, "trt_flow") &&
           (t->family == KERNEL_GEMM || str_eq(t->dtype, of->dtype)) &&
           (t->family != KERNEL_COLLECTIVE || str_eq(t->kernel, of->kernel)) &&
           (t->family != KERNEL_PREFILL || !strstr(t->kernel.p, "triton"));
}

static bool pool(bench *b, const table *of, int without, fit_result *out)
{
    arena *a = arena_new((size_t)2 << 30);
    size_t all = 0, n = 0;
    uint32_t terms = 0, tables[N_GENERATIONS] = {0};
    for (uint32_t k = 0; k < b->n; k++)
        if (pools(&b->tables[k], of, without)) {
            all += b->tables[k].rows.n;
            tables[generation_of(b->tables[k].gpu)]++;
        }
    size_t step = all / POOLED_MOST + 1;
    double *x = ARENA_ARRAY(a, double, (all / step + TABLES) * FIT_TERMS);
    double *base = ARENA_ARRAY(a, double, all / step + TABLES);
    double *seconds = ARENA_ARRAY(a, double, all / step + TABLES);
    double *weight = ARENA_ARRAY(a, double, all / step + TABLES);
    uint32_t *group = ARENA_ARRAY(a, uint32_t, all / step + TABLES);
    for (uint32_t k = 0; all && k < b->n; k++) {
        const table *t = &b->tables[k];
        if (!pools(t, of, without))
            continue;
        for (size_t i = 0; i < t->rows.n; i += step, n++) {
            double row[FIT_TERMS];
            terms = pooled_row(t, (uint32_t)i, t->dtype, row);
            memcpy(x + n * terms, row, sizeof *row * terms);
            base[n] = t->base[i];
            seconds[n] = t->seconds[i];
            group[n] = (uint32_t)generation_of(t->gpu);
            weight[n] = (same_type(t->dtype, of->dtype) ? 1 : OTHER_TYPE) * 1e4 / t->rows.n /
                        tables[group[n]];
        }
    }
    fit_problem p = {FIT_FACTORS, (uint32_t)n, terms, x, base, seconds, weight, group, NULL, 0};
    for (size_t i = 0; i < n; i++)
        p.prior_rows += weight[i] * POOLED_PRIOR;
    assay_error err;
    err_clear(&err);
    bool ok = n > 100 && fit_run(&p, a, out, NULL, &err) == ASSAY_OK;
    arena_free(a);
    return ok;
}

static void leave_generation_out(bench *b, kernel_family f, int g)
{
    double *off = NULL;
    size_t n = 0;
    for (uint32_t k = 0; k < b->n; k++) {
        const table *t = &b->tables[k];
        fit_result r;
        if (t->family != f || generation_of(t->gpu) != g || !pool(b, t, g, &r))
            continue;
        off = realloc(off, sizeof *off * (n + t->rows.n));
        size_t from = n;
        for (uint32_t i = 0; i < t->rows.n; i++) {
            double row[FIT_TERMS];
            uint32_t terms = pooled_row(t, i, t->dtype, row);
            double s = fit_seconds(FIT_FACTORS, t->base[i], row, r.c, terms);
            off[n++] = fabs(s / t->seconds[i] - 1);
        }
        double *copy = malloc(sizeof *copy * (n - from));
        memcpy(copy, off + from, sizeof *copy * (n - from));
        printf("    %-22.*s %-18.*s %6zu rows  median %5.1f %%\n", (int)t->gpu.n, t->gpu.p,
               (int)t->dtype.n, t->dtype.p, n - from,
               100 * fit_quantile(copy, (uint32_t)(n - from), 0.5));
        free(copy);
    }
    if (n)
        printf("  %-10s generation %-22s left out: median %5.1f %%  (target 20)\n",
               kernel_family_name(f), generations[g][0], 100 * fit_quantile(off, (uint32_t)n, 0.5));
    free(off);
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
    bool rows = argc > 1 && strcmp(argv[1], "--rows") == 0, met = true;
    assay_error err;
    err_clear(&err);
    if (!b || !(b->arena = arena_new((size_t)8 << 30)))
        return 1;
    b->devices.arena = b->arena;
    if (argc < 2 + rows || devices_builtin(&b->devices, &err) != ASSAY_OK)
        return fprintf(stderr, "usage: kernels [--rows] FILE...\n%s\n", err.message), 2;
    for (int i = 1 + rows; i < argc; i++)
        if (!read_table(b, argv[i]))
            return 2;
    for (uint32_t k = 0; k < b->n; k++)
        fit_table(&b->tables[k], b->arena);
    if (rows)
        return print_rows(b), 0;
    for (size_t i = 0; i < sizeof bars / sizeof *bars; i++)
        met = report_family(b, &bars[i]) && met;
    for (int f = 0; f < KERNEL_FAMILIES; f++)
        for (int g = 0; g < N_GENERATIONS; g++)
            leave_generation_out(b, (kernel_family)f, g);
    return met ? 0 : 1;
}
