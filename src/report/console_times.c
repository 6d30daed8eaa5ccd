/* Where the time of a run goes: by type and module or pattern, by layer, and the ledger that sums to the whole. */
#include <stdio.h>
#include <stdlib.h>

#include "base/text.h"
#include "profile/layer_names.h"
#include "profile/time_groups.h"
#include "report/console.h"

enum { GROUPS_SHOWN = 12, MODULE_DEPTH = 2 };

static int by_time(const void *a, const void *b)
{
    const profile_layer *x = *(const profile_layer *const *)a,
                        *y = *(const profile_layer *const *)b;
    return x->time_ms > y->time_ms ? -1 : x->time_ms < y->time_ms ? 1 : x < y ? -1 : x > y;
}

/* roof: per cent of the machine's ceilings, or negative. */
static void add_layer(console_table *t, const profile_layer *l, double whole, double roof)
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
    if (roof >= 0)
        table_percent(t, STYLE_PLAIN, roof, 100);
}

static const console_column layer_columns[] = {
    {.title = "layer", .min = 16},       {.title = "type", .min = 8, .max = 18},
    {.title = "time", .right = true},    {.title = "", .drop = 1},
    {.title = "share", .right = true},   {.title = "FLOPs", .right = true, .drop = 3},
    {.title = "GFLOP/s", .right = true}, {.title = "GB/s", .right = true, .drop = 2},
    {.title = "bound", .drop = 4},       {.title = "of roof", .right = true, .drop = 5},
};

static void put_layers(console *c, const profile_layer **list, uint32_t n)
{
    uint32_t top = c->o->verbose || (uint32_t)c->o->top > n ? n : (uint32_t)c->o->top;
    double whole = c->p->measured->ledger.run_ms, sum = 0;
    char title[64];
    console_table t;
    for (uint32_t i = 0; i < n; i++)
        sum += list[i]->time_ms;
    snprintf(title, sizeof title, "Slowest %u of %u timed layers", top, n);
    sbuf remark = {0};
    if (c->o->layer_patterns && *c->o->layer_patterns) {
        console_ms(&remark, sum);
        sbuf_printf(&remark, ", %.1f %% of the run", whole > 0 ? 100 * sum / whole : 0);
    } else {
        sbuf_puts(&remark, "of one run; fused kernels shared out by cost");
    }
    console_heading(c, title, sbuf_cstr(&remark));
    sbuf_free(&remark);
    bool roofed = top && profile_percent_of_roof(c->p, list[0]) >= 0;
    table_begin(&t, layer_columns, roofed ? 10 : 9, 2);
    for (uint32_t i = 0; i < top; i++)
        add_layer(&t, list[i], whole, profile_percent_of_roof(c->p, list[i]));
    table_print(&t, c);
}

/* ---- by type, module and pattern ---- */

static int depth_of(str path)
{
    int n = 1;
    for (uint32_t i = 0; i < path.n; i++)
        n += path.p[i] == '.';
    return n;
}

static void add_per_second(console_table *t, uint64_t n, double ms)
{
    sbuf *b = table_cell(t, STYLE_PLAIN);
    if (ms > 0)
        report_fixed(b, (double)n / ms / 1e6, 1);
    else
        sbuf_puts(b, "–");
}

static void add_group(console_table *t, const console *c, const profile_time_group *g)
{
    double whole = c->p->measured->ledger.run_ms;
    bool compute = g->memory && (double)g->flops / (double)g->memory >= c->p->bottlenecks.threshold;
    table_name(t, STYLE_PLAIN, g->name);
    console_bar(table_cell(t, STYLE_BAR), whole > 0 ? g->time_ms / whole : 0, 16);
    table_percent(t, STYLE_PLAIN, g->time_ms, whole);
    sbuf_printf(table_cell(t, STYLE_PLAIN), "%llu", (unsigned long long)g->layers);
    console_ms(table_cell(t, STYLE_TITLE), g->time_ms);
    sbuf *b = table_cell(t, STYLE_DIM);
    if (g->time_std_ms >= 0) {
        sbuf_puts(b, "± ");
        console_ms(b, g->time_std_ms);
    }
    table_si(t, STYLE_PLAIN, g->flops);
    add_per_second(t, g->flops, g->time_ms);
    add_per_second(t, g->memory, g->time_ms);
    table_str(t, compute ? STYLE_COMPUTE : STYLE_MEMORY,
              str_of(!g->layers ? "no layer"
                     : compute  ? "compute"
                                : "memory"));
}

static void put_groups(console *c, const time_groups *g, const char *by)
{
    const console_column columns[] = {
        {.title = by, .min = 20},
        {.title = "", .drop = 5},
        {.title = "share", .right = true},
        {.title = "layers", .right = true, .drop = 3},
        {.title = "time", .right = true},
        {.title = ""},
        {.title = "FLOPs", .right = true, .drop = 4},
        {.title = "GFLOP/s", .right = true},
        {.title = "GB/s", .right = true, .drop = 1},
        {.title = "bound", .drop = 2},
    };
    int deepest = c->o->depth > 0 ? c->o->depth : MODULE_DEPTH;
    uint32_t shown = 0;
    char title[32];
    console_table t;
    table_begin(&t, columns, sizeof columns / sizeof *columns, 2);
    for (uint32_t i = 0; i < g->n && (shown < GROUPS_SHOWN || c->o->verbose); i++) {
        const profile_time_group *x = &g->items[i];
        bool deep = strcmp(by, "module") == 0 && depth_of(x->name) > deepest;
        if (strcmp(x->by, by) != 0 || deep)
            continue;
        add_group(&t, c, x);
        shown++;
    }
    snprintf(title, sizeof title, "Time by %s", by);
    if (shown)
        console_heading(c, title, NULL);
    table_print(&t, c);
}

/* What the file holds; sums alone of patterns that it does not, and of files without. */
static void put_all_groups(console *c, arena *a)
{
    const profile_ledger *l = &c->p->measured->ledger;
    const str patterns = str_of(c->o->layer_patterns ? c->o->layer_patterns : "");
    time_groups g = {l->groups, l->n_groups};
    bool kept = g.n && (!patterns.n || time_groups_are_of(g, patterns));
    if (!kept && !time_groups_make(c->p, NULL, 0, patterns, a, &g)) {
        c->out->failed = true;
        return;
    }
    if (patterns.n) {
        put_groups(c, &g, "pattern");
        return;
    }
    put_groups(c, &g, "type");
    put_groups(c, &g, "module");
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

/* A table of nothing would leave the reader to guess. */
static bool put_missed(console *c)
{
    sbuf b = {0};
    layer_patterns_missed m = layer_patterns_check(
        c->p, str_of(c->o->layer_patterns ? c->o->layer_patterns : ""), &b);
    if (m.missed) {
        console_heading(c, "Timed layers", NULL);
        console_words(c, STYLE_WARN, 2, false, str_of(sbuf_cstr(&b)));
    }
    sbuf_free(&b);
    return m.missed > 0;
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
        if (p->layers[i].time_ms > 0 &&
            layer_is_one_of(&p->layers[i],
                            str_of(c->o->layer_patterns ? c->o->layer_patterns : "")))
            list[n++] = &p->layers[i];
    if (list && !n && put_missed(c)) {
        put_ledger(c);
    } else if (list) {
        qsort(list, n, sizeof *list, by_time);
        put_all_groups(c, a);
        put_layers(c, list, n);
        put_ledger(c);
    } else {
        c->out->failed = true;
    }
    arena_free(a);
}
