/* The memory plan of a profile as Markdown, in folds: snapshots, and what is done in which order. Nothing unless the
 * plan was asked for in full. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/text.h"
#include "report/markdown.h"

enum { EVENTS_SHOWN = 50 };

static void put_code(sbuf *out, str s)
{
    if (s.n)
        md_code(out, s);
    sbuf_puts(out, " | ");
}

static void put_snapshot(const profile_snapshot *s, sbuf *out)
{
    sbuf_printf(out, "| %" PRIu32 " | ", s->step);
    md_text(out, str_of(s->kind ? s->kind : ""));
    sbuf_puts(out, " | ");
    put_code(out, s->node);
    text_bytes(out, s->live_bytes);
    sbuf_printf(out, " | %" PRIu64 " | ", s->n_values + s->left_out);
    put_code(out, s->n_values ? s->values[0].value : (str){0});
    if (s->n_values)
        text_bytes(out, s->values[0].bytes);
    sbuf_puts(out, " |\n");
}

static void put_snapshots(const profile_memory_plan *m, sbuf *out)
{
    sbuf_printf(out, "\n<details><summary>Memory: %" PRIu32 " snapshots</summary>\n\n",
                m->n_snapshots);
    sbuf_puts(out, "| step | moment | while | alive | values | largest | size |\n"
                   "|---:|---|---|---:|---:|---|---:|\n");
    for (uint32_t i = 0; i < m->n_snapshots && !out->failed; i++)
        put_snapshot(&m->snapshots[i], out);
    sbuf_puts(out, "\n</details>\n");
}

static void put_event(const profile_event *e, sbuf *out)
{
    sbuf_printf(out, "| %" PRIu32 " | ", e->step);
    md_text(out, str_of(e->kind ? e->kind : ""));
    sbuf_puts(out, " | ");
    put_code(out, e->value);
    put_code(out, e->of);
    put_code(out, e->node);
    text_bytes(out, e->bytes);
    sbuf_puts(out, " | ");
    text_bytes(out, e->live_bytes);
    sbuf_puts(out, " |\n");
}

static void put_events(const profile_memory_plan *m, bool all, sbuf *out)
{
    uint32_t n;
    uint32_t *list = report_pick_events(m, all ? m->n_events : EVENTS_SHOWN, &n);
    if (!list)
        out->failed = true;
    sbuf_printf(out,
                "\n<details><summary>Allocations and frees: %" PRIu32 " of %" PRIu32
                "%s</summary>\n\n",
                n, m->n_events, n == m->n_events ? "" : ", the largest");
    sbuf_puts(out, "| step | what | value | in | while | size | alive |\n"
                   "|---:|---|---|---|---|---:|---:|\n");
    for (uint32_t i = 0; i < n && !out->failed; i++)
        put_event(&m->events[list[i]], out);
    sbuf_puts(out, "\n</details>\n");
    free(list);
}

void report_md_memory(const profile_memory_plan *m, const report_options *o, sbuf *out)
{
    if (m->n_snapshots)
        put_snapshots(m, out);
    if (m->n_events)
        put_events(m, o->verbose, out);
}
