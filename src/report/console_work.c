/* Where the work is: by operator type, by what limits it, by layer, by module. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/text.h"
#include "report/console.h"

enum { SHOWN_TYPES = 12, BAR_SMALL = 16, BAR_LARGE = 24, WIDE = 100 };

static unsigned bar_width(const console *c)
{
    return c->width >= WIDE ? BAR_LARGE : BAR_SMALL;
}

/* ---- operations ---- */

static void add_operation(console_table *t, const console *c, const profile_operation *o)
{
    table_str(t, STYLE_PLAIN, o->type);
    console_bar(table_cell(t, STYLE_BAR), o->percent / 100, bar_width(c));
    table_percent(t, STYLE_PLAIN, o->percent, 100);
    sbuf_printf(table_cell(t, STYLE_PLAIN), "%llu", (unsigned long long)o->count);
    table_si(t, STYLE_PLAIN, o->flops);
    table_bytes(t, STYLE_PLAIN, o->memory);
}

static void add_rest(console_table *t, const console *c, uint32_t from)
{
    profile_operation rest = {.type = STR("others")};
    for (uint32_t i = from; i < c->p->n_operations; i++) {
        const profile_operation *o = &c->p->operations[i];
        rest.count += o->count;
        rest.flops += o->flops;
        rest.memory += o->memory;
        rest.percent += o->percent;
    }
    add_operation(t, c, &rest);
}

void console_operations(console *c)
{
    static const console_column columns[] = {
        {.title = "type", .min = 9},       {.title = "", .drop = 1},
        {.title = "share", .right = true}, {.title = "count", .right = true},
        {.title = "FLOPs", .right = true}, {.title = "memory", .right = true},
    };
    uint32_t n = c->p->n_operations;
    uint32_t shown = c->o->verbose || n <= SHOWN_TYPES + 1 ? n : SHOWN_TYPES;
    console_table t;
    if (n == 0)
        return;
    console_heading(c, "Operations", "by share of FLOPs");
    table_begin(&t, columns, 6, 2);
    for (uint32_t i = 0; i < shown; i++)
        add_operation(&t, c, &c->p->operations[i]);
    if (shown < n)
        add_rest(&t, c, shown);
    table_print(&t, c);
}

/* ---- bottlenecks ---- */

static void add_bound(console_table *t, const console *c, const char *label, console_style s,
                      double flops, double layers)
{
    table_str(t, STYLE_PLAIN, str_of(label));
    console_bar(table_cell(t, s), flops / 100, bar_width(c));
    table_percent(t, STYLE_PLAIN, flops, 100);
    table_str(t, STYLE_DIM, STR("of FLOPs"));
    table_percent(t, STYLE_PLAIN, layers, 100);
    table_str(t, STYLE_DIM, STR("of layers"));
}

static double share_of(const profile *p, const char *const *prefixes, int n)
{
    double sum = 0;
    for (uint32_t i = 0; i < p->n_operations; i++)
        for (int k = 0; k < n; k++)
            if (str_starts(p->operations[i].type, prefixes[k])) {
                sum += p->operations[i].percent;
                break;
            }
    return sum;
}

static void say_limit(console *c)
{
    const profile_bottlenecks *b = &c->p->bottlenecks;
    const char *text =
        b->compute_bound_percent >= 60
            ? "Most of the arithmetic is in layers that reuse what they load. They gain "
              "from more FLOPs per second: clock, cores, wider units, lower precision "
              "where it is faster."
        : b->compute_bound_percent > 40
            ? "The arithmetic is split: about half of it waits for compute units, half "
              "for memory. Look at the layers, not at the total."
            : "Most of the arithmetic is in layers that wait for memory. They gain from "
              "bandwidth (HBM, caches), from fewer bytes (fp16, int8) and from fusing "
              "them into their neighbours; a larger batch reuses the weights.";
    console_words(c, STYLE_PLAIN, 2, false, str_of(text));
    if (b->compute_bound_percent >= 60 && b->memory_bound_layers_percent >= 60)
        console_words(c, STYLE_PLAIN, 2, false,
                      STR("Most layers are small ones that only move data: fusing them saves their "
                          "traffic."));
}

static void say_mix(console *c)
{
    static const char *const conv[] = {"conv", "deformconv"};
    static const char *const matmul[] = {"matmul", "linear", "attention", "einsum"};
    double convs = share_of(c->p, conv, 2), products = share_of(c->p, matmul, 4);
    sbuf text = {0};
    if (convs > 70)
        sbuf_printf(
            &text,
            "Convolutions are %.0f %% of the FLOPs: hardware with many FLOPs per second suits "
            "the model, and so do int8 and fusing normalisation and activation into them.",
            text_tie_away(convs, 0));
    else if (products > 50)
        sbuf_printf(
            &text,
            "Matrix products are %.0f %% of the FLOPs. Whole sequences and batches at once are "
            "limited by compute; one token at a time reads every weight for little work and is "
            "limited by bandwidth, which batching relieves.",
            text_tie_away(products, 0));
    if (text.n)
        console_words(c, STYLE_PLAIN, 2, false, (str){text.p, (uint32_t)text.n});
    sbuf_free(&text);
}

void console_bottlenecks(console *c)
{
    static const console_column columns[] = {
        {.min = 8}, {.drop = 1}, {.right = true}, {0}, {.right = true}, {0},
    };
    const profile_bottlenecks *b = &c->p->bottlenecks;
    sbuf remark = {0};
    console_table t;
    if (c->p->n_layers == 0)
        return;
    sbuf_puts(&remark, "compute-bound means ");
    report_fixed(&remark, b->threshold, b->threshold == floor(b->threshold) ? 0 : 2);
    sbuf_puts(&remark, " FLOPs per byte or more");
    if (b->hardware.n)
        sbuf_puts(&remark, ", ridge of ");
    text_safe(&remark, b->hardware);
    console_heading(c, "Bottlenecks", sbuf_cstr(&remark));
    sbuf_free(&remark);
    table_begin(&t, columns, 6, 2);
    add_bound(&t, c, "compute-bound", STYLE_COMPUTE, b->compute_bound_percent,
              b->compute_bound_layers_percent);
    add_bound(&t, c, "memory-bound", STYLE_MEMORY, b->memory_bound_percent,
              b->memory_bound_layers_percent);
    table_print(&t, c);
    say_limit(c);
    say_mix(c);
    console_words(
        c, STYLE_DIM, 2, false,
        STR("The line is a convention. A machine's own is its peak over its bandwidth: about "
            "16 for an EPYC 9654 in fp32, 153 for an A100 80 GB in fp16. --threshold N moves "
            "it."));
}

/* ---- layers ---- */

static const console_column layer_columns[] = {
    {.title = "layer", .min = 22},
    {.title = "type", .min = 8, .max = 20},
    {.title = "output", .min = 12, .max = 28},
    {.title = "params", .right = true, .drop = 3},
    {.title = "MACs", .right = true, .drop = 4},
    {.title = "FLOPs", .right = true},
    {.title = "share", .right = true, .drop = 5},
    {.title = "memory", .right = true, .drop = 1},
    {.title = "F/B", .right = true},
    {.title = "bound"},
};

static void add_layer(console_table *t, const profile *p, const profile_layer *l)
{
    table_name(t, STYLE_PLAIN, l->name);
    sbuf *type = table_cell(t, STYLE_DIM);
    sbuf_str(type, l->type);
    if (l->times != 1)
        sbuf_printf(type, " ×%llu", (unsigned long long)l->times);
    sbuf *shape = table_cell(t, STYLE_PLAIN);
    if (l->n_outputs)
        profile_put_shape(shape, &l->outputs[0].shape, "×");
    table_si(t, STYLE_PLAIN, l->parameters);
    table_si(t, STYLE_PLAIN, l->macs);
    table_si(t, STYLE_TITLE, l->flops);
    table_percent(t, STYLE_PLAIN, (double)l->flops, (double)p->total_flops);
    table_bytes(t, STYLE_PLAIN, l->memory);
    report_fixed(table_cell(t, STYLE_PLAIN), l->arithmetic_intensity,
                 l->arithmetic_intensity < 99.95 ? 1 : 0);
    if (l->certainty == PROFILE_UNKNOWN)
        table_str(t, STYLE_WARN, STR("unknown"));
    else if (l->memory == 0 && l->flops == 0)
        table_str(t, STYLE_DIM, STR("free"));
    else
        table_str(t, l->compute_bound ? STYLE_COMPUTE : STYLE_MEMORY,
                  str_of(l->compute_bound ? "compute" : "memory"));
}

static int by_flops(const void *a, const void *b)
{
    const profile_layer *x = *(const profile_layer *const *)a,
                        *y = *(const profile_layer *const *)b;
    if (x->flops != y->flops)
        return x->flops < y->flops ? 1 : -1;
    return x < y ? -1 : x > y; /* in the order they run */
}

static void add_top(console_table *t, console *c, uint32_t n)
{
    const profile *p = c->p;
    arena *a = arena_new(SIZE_MAX);
    const profile_layer **sorted = a ? ARENA_ARRAY(a, const profile_layer *, p->n_layers) : NULL;
    if (!sorted)
        c->out->failed = true;
    for (uint32_t i = 0; sorted && i < p->n_layers; i++)
        sorted[i] = &p->layers[i];
    if (sorted)
        qsort(sorted, p->n_layers, sizeof *sorted, by_flops);
    for (uint32_t i = 0; sorted && i < n; i++)
        add_layer(t, p, sorted[i]);
    arena_free(a);
}

void console_layers(console *c)
{
    const profile *p = c->p;
    uint32_t top = (uint32_t)c->o->top < p->n_layers ? (uint32_t)c->o->top : p->n_layers;
    console_table t;
    char title[64];
    if (p->n_layers && top) {
        snprintf(title, sizeof title, "Top %u layers", top);
        console_heading(c, title, "by FLOPs; F/B is FLOPs per byte");
        table_begin(&t, layer_columns, 10, 2);
        add_top(&t, c, top);
        table_print(&t, c);
    }
    if (!p->n_layers || !c->o->verbose)
        return;
    console_heading(c, "All layers", "in the order they run");
    table_begin(&t, layer_columns, 10, 2);
    for (uint32_t i = 0; i < p->n_layers; i++)
        add_layer(&t, p, &p->layers[i]);
    table_print(&t, c);
}

/* ---- modules ---- */

void console_modules(console *c)
{
    static const console_column columns[] = {
        {.title = "module", .min = 16},
        {.title = "layers", .right = true},
        {.title = "params", .right = true},
        {.title = "MACs", .right = true, .drop = 2},
        {.title = "FLOPs", .right = true},
        {.title = "share", .right = true},
        {.title = "memory", .right = true, .drop = 1},
    };
    const profile *p = c->p;
    console_table t;
    if (c->o->depth <= 0 || p->n_modules == 0)
        return;
    console_heading(c, "Modules", NULL);
    table_begin(&t, columns, 7, 2);
    for (uint32_t i = 0; i < p->n_modules; i++) {
        const profile_module *m = &p->modules[i];
        if (m->depth > c->o->depth)
            continue;
        sbuf *name = table_cell(&t, m->depth == 0 ? STYLE_TITLE : STYLE_PLAIN);
        sbuf_repeat(name, "  ", (unsigned)m->depth);
        sbuf_str(name, m->depth == 0 ? STR("whole model") : m->name);
        sbuf_printf(table_cell(&t, STYLE_PLAIN), "%llu", (unsigned long long)m->layers);
        table_si(&t, STYLE_PLAIN, m->parameters);
        table_si(&t, STYLE_PLAIN, m->macs);
        table_si(&t, STYLE_PLAIN, m->flops);
        table_percent(&t, STYLE_PLAIN, (double)m->flops, (double)p->total_flops);
        table_bytes(&t, STYLE_PLAIN, m->memory);
    }
    table_print(&t, c);
}
