/* Groups of the fusion partitioner: what they save, by kind, the groups that save most, and where the engine
 * did otherwise. Patterns: what was found, how often, in which form. */
#include <stdlib.h>

#include "base/map.h"
#include "base/num.h"
#include "base/text.h"
#include "report/console.h"

enum { DIFFERENCES_SHOWN = 6, REASONS_SHOWN = 8 };

static uint64_t saved(uint64_t before, uint64_t after)
{
    return before > after ? before - after : 0;
}

/* ---- the whole ---- */

static sbuf *fact(console_table *t, const char *label)
{
    table_str(t, STYLE_DIM, str_of(label));
    return table_cell(t, STYLE_TITLE);
}

static void put_change(console_table *t, const char *label, uint64_t before, uint64_t after,
                       bool bytes)
{
    sbuf *b = fact(t, label);
    if (bytes)
        text_bytes(b, before), sbuf_puts(b, " → "), text_bytes(b, after);
    else
        text_thousands(b, before), sbuf_puts(b, " → "), text_thousands(b, after);
    b = table_cell(t, STYLE_DIM);
    if (before > after) {
        if (bytes)
            text_bytes(b, before - after);
        else
            text_thousands(b, before - after);
        sbuf_puts(b, " saved, ");
        report_fixed(b, 100.0 * (double)(before - after) / (double)before, 1);
        sbuf_puts(b, " %");
    }
}

static void put_totals(console *c, const profile_fusion *f)
{
    static const console_column columns[] = {{0}, {.right = true}, {.min = 20}};
    console_table t;
    sbuf *b;
    table_begin(&t, columns, 3, 2);
    b = fact(&t, "Groups");
    sbuf_printf(b, "%u", f->n_groups);
    sbuf_printf(table_cell(&t, STYLE_DIM), "of %u layers", c->p->n_layers);
    put_change(&t, "Launches", f->launches_before, f->launches_after, false);
    put_change(&t, "Bytes moved", f->bytes_before, f->bytes_after, true);
    b = fact(&t, "Intensity");
    report_fixed(b, f->intensity_before, 2);
    sbuf_puts(b, " → ");
    report_fixed(b, f->intensity_after, 2);
    sbuf_puts(table_cell(&t, STYLE_DIM), "FLOPs per byte");
    b = fact(&t, "Levels");
    sbuf_printf(b, "%u", f->levels);
    sbuf_printf(table_cell(&t, STYLE_DIM), "at most %u side by side, at level %u", f->widest_groups,
                f->widest_level);
    b = fact(&t, "Critical path");
    sbuf_printf(b, "%u groups", f->critical_groups);
    b = table_cell(&t, STYLE_DIM);
    text_si_unit(b, (double)f->critical_flops, -1, "FLOPs");
    sbuf_puts(b, "; concurrency ");
    report_fixed(b, f->concurrency, 2);
    table_print(&t, c);
}

/* ---- kinds ---- */

static void put_kinds(console *c, const profile_fusion *f)
{
    static const console_column columns[] = {
        {.title = "kind", .min = 16},
        {.title = "groups", .right = true},
        {.title = "layers", .right = true},
        {.title = "FLOPs", .right = true, .drop = 2},
        {.title = "alone", .right = true, .drop = 1},
        {.title = "fused", .right = true},
        {.title = "saved", .right = true},
    };
    uint32_t shown = c->o->verbose || f->n_kinds <= 16 ? f->n_kinds : 15;
    console_table t;
    console_heading(c, "Kinds", "bytes moved by layers alone and by groups");
    table_begin(&t, columns, 7, 2);
    for (uint32_t i = 0; i < shown; i++) {
        const fusion_kind *k = &f->kinds[i];
        table_str(&t, STYLE_PLAIN, k->kind);
        sbuf_printf(table_cell(&t, STYLE_PLAIN), "%u", k->groups);
        sbuf_printf(table_cell(&t, STYLE_PLAIN), "%u", k->nodes);
        table_si(&t, STYLE_PLAIN, k->flops);
        table_bytes(&t, STYLE_DIM, k->memory);
        table_bytes(&t, STYLE_PLAIN, k->boundary_bytes);
        table_bytes(&t, STYLE_TITLE, saved(k->memory, k->boundary_bytes));
    }
    table_print(&t, c);
    if (shown < f->n_kinds) {
        console_putf(c, STYLE_DIM, "  and %u more kinds; --verbose shows them", f->n_kinds - shown);
        console_line(c);
    }
}

/* ---- groups ---- */

static void put_nodes(sbuf *b, const fusion_group *g)
{
    profile_put_name(b, g->n_nodes ? g->nodes[0] : (str){0});
    if (g->n_nodes > 1) {
        sbuf_puts(b, g->n_nodes > 2 ? " … " : ", ");
        profile_put_name(b, g->nodes[g->n_nodes - 1]);
    }
}

typedef struct ranked {
    uint64_t saved;
    uint32_t id;
} ranked;

static int more_saved(const void *a, const void *b)
{
    const ranked *x = a, *y = b;
    if (x->saved != y->saved)
        return x->saved < y->saved ? 1 : -1;
    return x->id < y->id ? -1 : 1;
}

static void add_group(console_table *t, const profile_fusion *f, uint32_t id)
{
    const fusion_group *g = &f->groups[id];
    sbuf_printf(table_cell(t, STYLE_DIM), "%u%s", id, g->critical ? "*" : " ");
    table_str(t, STYLE_PLAIN, g->kind);
    sbuf_printf(table_cell(t, STYLE_DIM), "%u", g->level);
    table_si(t, STYLE_PLAIN, g->flops);
    table_bytes(t, STYLE_PLAIN, g->boundary_bytes);
    table_bytes(t, STYLE_TITLE, saved(g->memory, g->boundary_bytes));
    report_fixed(table_cell(t, STYLE_DIM), g->intensity_before, 1);
    report_fixed(table_cell(t, STYLE_PLAIN), g->arithmetic_intensity, 1);
    put_nodes(table_cell(t, STYLE_PLAIN), g);
}

/* All in their order when everything is asked for, else those that save most. */
static void put_groups(console *c, const profile_fusion *f)
{
    static const console_column columns[] = {
        {.title = "id", .right = true},
        {.title = "kind", .min = 12},
        {.title = "level", .right = true, .drop = 3},
        {.title = "FLOPs", .right = true, .drop = 2},
        {.title = "fused", .right = true, .drop = 1},
        {.title = "saved", .right = true},
        {.title = "F/B", .right = true, .drop = 4},
        {.title = "F/B fused", .right = true, .drop = 4},
        {.title = "layers", .min = 16},
    };
    uint32_t top = c->o->verbose ? f->n_groups : c->o->top < 0 ? 0 : (uint32_t)c->o->top;
    uint32_t shown = top < f->n_groups ? top : f->n_groups;
    ranked *list = malloc(sizeof *list * ((size_t)f->n_groups + 1));
    console_table t;
    if (list && shown) {
        for (uint32_t i = 0; i < f->n_groups; i++)
            list[i] = (ranked){saved(f->groups[i].memory, f->groups[i].boundary_bytes), i};
        if (!c->o->verbose)
            qsort(list, f->n_groups, sizeof *list, more_saved);
        console_heading(c, "Groups",
                        c->o->verbose ? "in the order they run; * is on the critical path"
                                      : "that save most; * is on the critical path");
        table_begin(&t, columns, 9, 2);
        for (uint32_t i = 0; i < shown; i++)
            add_group(&t, f, list[i].id);
        table_print(&t, c);
    }
    free(list);
}

/* ---- the engine ---- */

static void put_share(sbuf *b, const char *what, uint32_t part, uint32_t whole)
{
    sbuf_printf(b, "%u of %u %s (", part, whole, what);
    report_fixed(b, whole ? 100.0 * part / whole : 0, 1);
    sbuf_puts(b, " %)");
}

/* Where the two part, by the types of neighbours: this says why at a glance. */
static void put_reasons(console *c, const fusion_engine *e)
{
    static const console_column columns[] = {
        {.title = "engine"},
        {.title = "between", .min = 12},
        {.title = "and", .min = 12},
        {.title = "times", .right = true},
    };
    uint32_t shown = c->o->verbose || e->n_reasons <= REASONS_SHOWN ? e->n_reasons : REASONS_SHOWN;
    console_table t;
    if (!shown)
        return;
    table_begin(&t, columns, 4, 2);
    for (uint32_t i = 0; i < shown; i++) {
        const fusion_reason *r = &e->reasons[i];
        sbuf_puts(table_cell(&t, STYLE_WARN), strcmp(r->what, "split") == 0 ? "splits" : "joins");
        table_str(&t, STYLE_PLAIN, r->before);
        table_str(&t, STYLE_PLAIN, r->after);
        sbuf_printf(table_cell(&t, STYLE_PLAIN), "%u", r->pairs);
    }
    console_line(c);
    table_print(&t, c);
}

static void put_engine(console *c, const fusion_engine *e)
{
    static const console_column columns[] = {
        {.title = "engine"},
        {.title = "kernel", .min = 12},
        {.title = "group", .min = 8},
        {.title = "layers", .min = 20},
    };
    console_table t;
    sbuf b = {0};
    if (!e->present)
        return;
    text_safe(&b, e->name);
    console_heading(c, "Beside the engine", sbuf_cstr(&b));
    b.n = 0;
    put_share(&b, "groups are kernels of the engine's", e->same_groups, e->groups);
    sbuf_puts(&b, ", with ");
    put_share(&b, "layers", e->same_nodes, e->nodes);
    sbuf_printf(&b,
                "; %u kernels run, %u of them its own copies and layout changes. Of pairs of "
                "layers, %u are joined by both, %u here only, %u there only.",
                e->kernels, e->own_kernels, e->pairs_both, e->pairs_ours, e->pairs_engine);
    console_words(c, STYLE_PLAIN, 2, false, (str){b.p, (uint32_t)b.n});
    sbuf_free(&b);
    put_reasons(c, e);
    if (!e->n_differences)
        return;
    uint32_t shown = c->o->verbose || e->n_differences <= DIFFERENCES_SHOWN ? e->n_differences
                                                                            : DIFFERENCES_SHOWN;
    table_begin(&t, columns, 4, 2);
    for (uint32_t i = 0; i < shown; i++) {
        const fusion_difference *d = &e->differences[i];
        sbuf_puts(table_cell(&t, STYLE_WARN), d->what);
        table_str(&t, STYLE_PLAIN, d->op);
        table_str(&t, STYLE_PLAIN, d->kind);
        table_str(&t, STYLE_PLAIN, d->detail);
    }
    console_line(c);
    table_print(&t, c);
    if (shown < e->n_differences) {
        console_putf(c, STYLE_DIM, "  and %u more; --verbose shows them", e->n_differences - shown);
        console_line(c);
    }
}

void console_fusion(console *c)
{
    const profile_fusion *f = c->p->fusion;
    if (!f)
        return;
    console_heading(c, "Fusion", f->strategy);
    put_totals(c, f);
    put_kinds(c, f);
    put_groups(c, f);
    put_engine(c, &f->engine);
}

/* ---- patterns ---- */

typedef struct found {
    const profile_pattern *first;
    uint32_t count, native;
    uint64_t nodes, flops;
} found;

static uint32_t gather(const profile *p, found *list)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < p->n_patterns; i++) {
        const profile_pattern *x = &p->patterns[i];
        uint32_t k = 0;
        while (k < n &&
               (strcmp(list[k].first->name, x->name) != 0 ||
                strcmp(list[k].first->form, x->form) != 0 || list[k].first->native != x->native))
            k++;
        if (k == n)
            list[n++] = (found){.first = x};
        list[k].count++;
        list[k].nodes += x->n_nodes;
        list[k].flops = sat_add(list[k].flops, x->flops);
    }
    return n;
}

void console_patterns(console *c)
{
    static const console_column columns[] = {
        {.title = "pattern"},
        {.title = "form", .min = 8},
        {.title = "count", .right = true},
        {.title = "layers", .right = true},
        {.title = "FLOPs", .right = true},
        {.title = "first", .min = 16},
    };
    const profile *p = c->p;
    found *list = p->n_patterns ? malloc(sizeof *list * p->n_patterns) : NULL;
    console_table t;
    if (!p->has_patterns)
        return;
    console_heading(c, "Patterns", "what the file writes as several operators");
    uint32_t n = list ? gather(p, list) : 0;
    if (n == 0) {
        console_words(c, STYLE_PLAIN, 2, false, STR("None that is known."));
        free(list);
        return;
    }
    table_begin(&t, columns, 6, 2);
    for (uint32_t i = 0; i < n; i++) {
        const profile_pattern *x = list[i].first;
        table_str(&t, STYLE_PLAIN, str_of(x->name));
        table_str(&t, STYLE_DIM, str_of(x->native ? "one operator" : x->form));
        sbuf_printf(table_cell(&t, STYLE_TITLE), "%u", list[i].count);
        sbuf_printf(table_cell(&t, STYLE_PLAIN), "%llu", (unsigned long long)list[i].nodes);
        table_si(&t, STYLE_PLAIN, list[i].flops);
        table_name(&t, STYLE_DIM, x->output);
    }
    table_print(&t, c);
    free(list);
}
