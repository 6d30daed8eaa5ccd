/* The memory plan in order: what is allocated, shared and freed, and what is alive at chosen moments. */
#include <stdlib.h>

#include "base/text.h"
#include "report/console.h"

enum { VALUES_SHOWN = 5 };

/* ---- which of them ---- */

typedef struct picked {
    uint64_t bytes;
    uint32_t index;
} picked;

static int larger_first(const void *a, const void *b)
{
    const picked *x = a, *y = b;
    if (x->bytes != y->bytes)
        return x->bytes < y->bytes ? 1 : -1;
    return x->index < y->index ? -1 : x->index > y->index;
}

static int in_order(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

static bool is_kind(const profile_event *e, const char *kind)
{
    return e->kind && strcmp(e->kind, kind) == 0;
}

static bool moves_memory(const profile_event *e)
{
    return is_kind(e, "allocate") || is_kind(e, "free");
}

static uint32_t find_moves(const profile_memory_plan *m, picked *all)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < m->n_events; i++)
        if (moves_memory(&m->events[i]))
            all[n++] = (picked){m->events[i].bytes, i};
    return n;
}

uint32_t *report_pick_events(const profile_memory_plan *m, uint32_t most, uint32_t *n)
{
    uint32_t *list = malloc(sizeof *list * (m->n_events + (size_t)1));
    picked *all = malloc(sizeof *all * (m->n_events + (size_t)1));
    *n = 0;
    if (list && all && m->n_events <= most) {
        for (; *n < m->n_events; (*n)++)
            list[*n] = *n;
    } else if (list && all) {
        uint32_t found = find_moves(m, all);
        qsort(all, found, sizeof *all, larger_first);
        for (; *n < found && *n < most; (*n)++)
            list[*n] = all[*n].index;
        qsort(list, *n, sizeof *list, in_order);
    }
    if (!all) {
        free(list);
        list = NULL;
    }
    free(all);
    return list;
}

/* ---- events ---- */

static void add_event(console_table *t, const profile_event *e)
{
    bool moves = moves_memory(e);
    sbuf_printf(table_cell(t, STYLE_DIM), "%u", e->step);
    table_str(t, moves ? STYLE_PLAIN : STYLE_DIM, str_of(e->kind ? e->kind : ""));
    sbuf *value = table_cell(t, STYLE_PLAIN);
    profile_put_name(value, e->value);
    if (e->of.n) {
        sbuf_puts(value, " in ");
        profile_put_name(value, e->of);
    }
    table_name(t, STYLE_DIM, e->node);
    table_bytes(t, moves ? STYLE_PLAIN : STYLE_DIM, e->bytes);
    table_bytes(t, STYLE_DIM, e->offset);
    table_bytes(t, STYLE_PLAIN, e->live_bytes);
}

static void put_events(console *c, const profile_memory_plan *m)
{
    static const console_column columns[] = {
        {.title = "step", .right = true},  {.title = "what"},
        {.title = "value", .min = 18},     {.title = "while", .min = 14, .drop = 1},
        {.title = "size", .right = true},  {.title = "at", .right = true, .drop = 2},
        {.title = "alive", .right = true},
    };
    uint32_t top = c->o->verbose ? m->n_events : c->o->top < 0 ? 0 : (uint32_t)c->o->top, n;
    uint32_t *list = report_pick_events(m, top, &n);
    console_table t;
    if (!list)
        c->out->failed = true;
    if (list && n) {
        table_begin(&t, columns, 7, 2);
        for (uint32_t i = 0; i < n; i++)
            add_event(&t, &m->events[list[i]]);
        table_print(&t, c);
    }
    free(list);
    if (n < m->n_events) {
        console_putf(c, STYLE_DIM, "  %u of %u; --top N shows more, --verbose, JSON and CSV all", n,
                     m->n_events);
        console_line(c);
    }
}

static uint32_t count_kind(const profile_memory_plan *m, const char *kind)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < m->n_events; i++)
        n += is_kind(&m->events[i], kind);
    return n;
}

static void put_counts(console *c, const profile_memory_plan *m)
{
    sbuf text = {0};
    sbuf_printf(&text, "Allocated %u, freed %u, written over an input %u, views %u.",
                count_kind(m, "allocate"), count_kind(m, "free"), count_kind(m, "reuse"),
                count_kind(m, "alias"));
    console_words(c, STYLE_PLAIN, 2, false, (str){text.p, (uint32_t)text.n});
    sbuf_free(&text);
}

/* ---- snapshots ---- */

static void add_snapshot(console_table *t, const profile_snapshot *s, uint64_t peak)
{
    sbuf_printf(table_cell(t, STYLE_DIM), "%u", s->step);
    table_str(t, STYLE_PLAIN, str_of(s->kind ? s->kind : ""));
    table_name(t, STYLE_DIM, s->node);
    table_bytes(t, STYLE_PLAIN, s->live_bytes);
    table_percent(t, STYLE_PLAIN, (double)s->live_bytes, (double)peak);
    sbuf_printf(table_cell(t, STYLE_PLAIN), "%llu",
                (unsigned long long)(s->n_values + s->left_out));
    table_name(t, STYLE_PLAIN, s->n_values ? s->values[0].value : (str){0});
    if (s->n_values)
        table_bytes(t, STYLE_PLAIN, s->values[0].bytes);
    else
        table_cell(t, STYLE_PLAIN);
}

static void put_snapshots(console *c, const profile_memory_plan *m)
{
    static const console_column columns[] = {
        {.title = "step", .right = true},
        {.title = "moment"},
        {.title = "while", .min = 14, .drop = 1},
        {.title = "alive", .right = true},
        {.title = "of peak", .right = true, .drop = 3},
        {.title = "values", .right = true},
        {.title = "largest", .min = 16},
        {.title = "size", .right = true, .drop = 2},
    };
    console_table t;
    console_heading(c, "Snapshots", "what is alive while a layer runs");
    table_begin(&t, columns, 8, 2);
    for (uint32_t i = 0; i < m->n_snapshots; i++)
        add_snapshot(&t, &m->snapshots[i], m->activations_peak_bytes);
    table_print(&t, c);
}

/* The values of one: those that were asked for by name, and of all with --verbose. */
static void put_values(console *c, const profile_snapshot *s, uint32_t most)
{
    static const console_column columns[] = {
        {.title = "value", .min = 14},
        {.title = "made by", .min = 10, .drop = 1},
        {.title = "size", .right = true},
        {.title = "share", .right = true, .drop = 2},
    };
    uint64_t rest = s->left_out + (s->n_values > most ? s->n_values - most : 0);
    sbuf title = {0};
    console_table t;
    profile_put_name(&title, s->node);
    console_heading(c, sbuf_cstr(&title), "alive while it runs");
    sbuf_free(&title);
    table_begin(&t, columns, 4, 2);
    for (uint32_t i = 0; i < s->n_values && i < most; i++) {
        table_name(&t, STYLE_PLAIN, s->values[i].value);
        table_name(&t, STYLE_DIM, s->values[i].producer);
        table_bytes(&t, STYLE_PLAIN, s->values[i].bytes);
        table_percent(&t, STYLE_PLAIN, (double)s->values[i].bytes, (double)s->live_bytes);
    }
    table_print(&t, c);
    if (rest) {
        console_putf(c, STYLE_DIM, "  and %llu more", (unsigned long long)rest);
        console_line(c);
    }
}

static void put_asked(console *c, const profile_memory_plan *m)
{
    uint32_t top = c->o->top < VALUES_SHOWN ? VALUES_SHOWN : (uint32_t)c->o->top;
    for (uint32_t i = 0; i < m->n_snapshots; i++) {
        const profile_snapshot *s = &m->snapshots[i];
        bool asked = s->kind && strcmp(s->kind, "asked") == 0;
        if (s->n_values && (asked || c->o->verbose))
            put_values(c, s, c->o->verbose ? s->n_values : top);
    }
}

void console_events(console *c)
{
    const profile_memory_plan *m = &c->p->memory_plan;
    if (m->n_events) {
        console_heading(c, "Allocations", "in order; alive is what is there afterwards");
        put_counts(c, m);
        put_events(c, m);
    }
    if (m->n_snapshots) {
        put_snapshots(c, m);
        put_asked(c, m);
    }
}
