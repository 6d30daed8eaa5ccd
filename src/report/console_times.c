/* Where the time of a run goes: by layer, by type, and the ledger that sums to the whole. */
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#include "base/map.h"
#include "base/text.h"
#include "report/console.h"

static bool holds(str text, str part)
{
    for (uint32_t i = 0; part.n && i + part.n <= text.n; i++)
        if (strncasecmp(text.p + i, part.p, part.n) == 0)
            return true;
    return false;
}

/* Whether a layer is one of those asked for: a list of parts of names, types, modules or operators. */
static bool wanted(const console *c, const profile_layer *l)
{
    str rest = str_of(c->o->layer_patterns ? c->o->layer_patterns : "");
    if (!rest.n)
        return true;
    while (rest.n) {
        const char *comma = memchr(rest.p, ',', rest.n);
        uint32_t n = comma ? (uint32_t)(comma - rest.p) : rest.n;
        str part = {rest.p, n};
        if (holds(l->name, part) || holds(l->type, part) || holds(l->module, part) ||
            holds(l->op, part))
            return true;
        n += comma ? 1 : 0;
        rest = (str){rest.p + n, rest.n - n};
    }
    return false;
}

static int by_time(const void *a, const void *b)
{
    const profile_layer *x = *(const profile_layer *const *)a,
                        *y = *(const profile_layer *const *)b;
    return x->time_ms > y->time_ms ? -1 : x->time_ms < y->time_ms ? 1 : x < y ? -1 : x > y;
}

static void add_layer(console_table *t, const profile_layer *l, double whole)
{
    table_name(t, STYLE_PLAIN, l->name);
    table_str(t, STYLE_DIM, l->type);
    console_ms(table_cell(t, STYLE_TITLE), l->time_ms);
    sbuf *b = table_cell(t, STYLE_DIM);
    sbuf_puts(b, "± ");
    console_ms(b, l->time_std_ms);
    table_percent(t, STYLE_PLAIN, l->time_ms, whole);
    table_si(t, STYLE_PLAIN, l->flops);
    report_fixed(table_cell(t, STYLE_PLAIN), (double)l->flops / l->time_ms / 1e6, 1);
    report_fixed(table_cell(t, STYLE_PLAIN), (double)l->memory / l->time_ms / 1e6, 1);
    table_str(t, l->compute_bound ? STYLE_COMPUTE : STYLE_MEMORY,
              str_of(l->compute_bound ? "compute" : "memory"));
}

static const console_column layer_columns[] = {
    {.title = "layer", .min = 18},       {.title = "type", .min = 8, .max = 18},
    {.title = "time", .right = true},    {.title = "", .drop = 3},
    {.title = "share", .right = true},   {.title = "FLOPs", .right = true, .drop = 2},
    {.title = "GFLOP/s", .right = true}, {.title = "GB/s", .right = true, .drop = 1},
    {.title = "bound", .drop = 4},
};

static void put_layers(console *c, const profile_layer **list, uint32_t n)
{
    bool all = c->o->verbose || c->o->layer_patterns;
    uint32_t top = all || (uint32_t)c->o->top > n ? n : (uint32_t)c->o->top;
    double whole = c->p->measured->ledger.run_ms, sum = 0;
    char title[64];
    console_table t;
    for (uint32_t i = 0; i < n; i++)
        sum += list[i]->time_ms;
    snprintf(title, sizeof title, "Slowest %u of %u timed layers", top, n);
    sbuf remark = {0};
    if (c->o->layer_patterns && *c->o->layer_patterns) {
        sbuf_printf(&remark, "%s: ", c->o->layer_patterns);
        console_ms(&remark, sum);
        sbuf_printf(&remark, ", %.1f %% of the run", whole > 0 ? 100 * sum / whole : 0);
    } else {
        sbuf_puts(&remark, "of one run; fused kernels shared out by cost");
    }
    console_heading(c, title, sbuf_cstr(&remark));
    sbuf_free(&remark);
    table_begin(&t, layer_columns, 9, 2);
    for (uint32_t i = 0; i < top; i++)
        add_layer(&t, list[i], whole);
    table_print(&t, c);
}

/* ---- by type ---- */

typedef struct type_sum {
    str type;
    uint32_t count;
    double ms;
    uint64_t flops, memory;
} type_sum;

static int by_type_time(const void *a, const void *b)
{
    const type_sum *x = a, *y = b;
    return x->ms > y->ms ? -1 : x->ms < y->ms;
}

static void put_types(console *c, const profile_layer **list, uint32_t n, arena *a)
{
    static const console_column columns[] = {
        {.title = "type", .min = 8},
        {.title = "", .drop = 1},
        {.title = "share", .right = true},
        {.title = "layers", .right = true},
        {.title = "time", .right = true},
        {.title = "GFLOP/s", .right = true},
        {.title = "GB/s", .right = true, .drop = 2},
    };
    map index;
    uint32_t n_types = 0;
    type_sum *sums = ARENA_ARRAY(a, type_sum, n + 1u);
    double whole = c->p->measured->ledger.run_ms;
    console_table t;
    if (!sums || !map_init(&index, a, 64))
        return;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t k = map_get(&index, list[i]->type);
        if (k == MAP_NONE) {
            k = n_types++;
            map_put(&index, list[i]->type, k);
            sums[k].type = list[i]->type;
        }
        sums[k].count++;
        sums[k].ms += list[i]->time_ms;
        sums[k].flops += list[i]->flops;
        sums[k].memory += list[i]->memory;
    }
    qsort(sums, n_types, sizeof *sums, by_type_time);
    console_heading(c, "Time by type", NULL);
    table_begin(&t, columns, 7, 2);
    for (uint32_t i = 0; i < n_types && (i < 12 || c->o->verbose); i++) {
        table_str(&t, STYLE_PLAIN, sums[i].type);
        console_bar(table_cell(&t, STYLE_BAR), whole > 0 ? sums[i].ms / whole : 0, 16);
        table_percent(&t, STYLE_PLAIN, sums[i].ms, whole);
        sbuf_printf(table_cell(&t, STYLE_PLAIN), "%u", sums[i].count);
        console_ms(table_cell(&t, STYLE_TITLE), sums[i].ms);
        report_fixed(table_cell(&t, STYLE_PLAIN), (double)sums[i].flops / sums[i].ms / 1e6, 1);
        report_fixed(table_cell(&t, STYLE_PLAIN), (double)sums[i].memory / sums[i].ms / 1e6, 1);
    }
    table_print(&t, c);
}

/* ---- the ledger ---- */

static void add_line(console_table *t, const char *what, double ms, double whole)
{
    table_str(t, STYLE_PLAIN, str_of(what));
    console_ms(table_cell(t, STYLE_TITLE), ms);
    table_percent(t, STYLE_PLAIN, ms, whole);
}

static void put_ledger(console *c)
{
    static const console_column columns[] = {{0}, {.right = true}, {.right = true}};
    const profile_ledger *l = &c->p->measured->ledger;
    console_table t;
    sbuf b = {0};
    console_heading(c, "Ledger", "of one profiled run, without the profiler's own cost");
    table_begin(&t, columns, 3, 2);
    add_line(&t, "layers of the model", l->layers_ms, l->run_ms);
    add_line(&t, "the engine's own kernels", l->engine_ms, l->run_ms);
    add_line(&t, "dispatch between kernels", l->dispatch_ms, l->run_ms);
    add_line(&t, "unexplained", l->unexplained_ms, l->run_ms);
    add_line(&t, "run", l->run_ms, l->run_ms);
    table_print(&t, c);
    sbuf_printf(
        &b,
        "%llu runs, %llu kernels of which %llu are fused of several layers; %llu layers have no "
        "kernel left. Subtracted for the profiler: %.2f µs in and %.2f µs between kernels.",
        (unsigned long long)l->runs, (unsigned long long)l->kernels,
        (unsigned long long)l->fused_kernels, (unsigned long long)l->unmapped_layers, l->bias_us,
        l->overhead_us);
    if (l->latency_ms > 0) {
        sbuf_puts(&b, " Median without the profiler: ");
        console_ms(&b, l->latency_ms);
        sbuf_putc(&b, '.');
    }
    console_words(c, STYLE_DIM, 2, false, str_of(sbuf_cstr(&b)));
    sbuf_free(&b);
}

void console_times(console *c)
{
    const profile *p = c->p;
    uint32_t n = 0;
    if (!p->measured || !p->measured->ledger.present)
        return;
    arena *a = arena_new(SIZE_MAX);
    const profile_layer **list = a ? ARENA_ARRAY(a, const profile_layer *, p->n_layers + 1u) : NULL;
    for (uint32_t i = 0; list && i < p->n_layers; i++)
        if (p->layers[i].time_ms > 0 && wanted(c, &p->layers[i]))
            list[n++] = &p->layers[i];
    if (list) {
        qsort(list, n, sizeof *list, by_time);
        put_types(c, list, n, a);
        put_layers(c, list, n);
        put_ledger(c);
    } else {
        c->out->failed = true;
    }
    arena_free(a);
}
