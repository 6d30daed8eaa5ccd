/* A process as it was watched: totals, and memory and processor over time. */
#include <math.h>

#include "base/text.h"
#include "report/console.h"

static void put_bytes(console *c, const char *label, uint64_t v)
{
    sbuf b = {0};
    text_bytes(&b, v);
    console_putf(c, STYLE_PLAIN, "  %-14s", label);
    console_put(c, STYLE_TITLE, sbuf_cstr(&b));
    sbuf_free(&b);
}

static void put_curve(console *c, const char *label, const uint64_t *items, uint32_t n)
{
    sbuf b = {0};
    console_spark(&b, items, n, c->width > 30 ? c->width - 18 : 14);
    console_putf(c, STYLE_PLAIN, "  %-14s", label);
    console_put(c, STYLE_BAR, sbuf_cstr(&b));
    console_line(c);
    sbuf_free(&b);
}

static void put_curves(console *c, const profile_watch *w)
{
    uint32_t told = 0;
    arena *a = arena_new((size_t)1 << 20);
    uint64_t *items = a && w->n_samples > 1 ? ARENA_ARRAY(a, uint64_t, w->n_samples) : NULL;
    for (uint32_t i = 0; items && i < w->n_samples; i++)
        items[i] = w->samples[i].resident;
    if (items)
        put_curve(c, "memory", items, w->n_samples);
    for (uint32_t i = 0; items && i < w->n_samples; i++)
        if (w->samples[i].cpu_percent >= 0)
            items[told++] = (uint64_t)(fmin(w->samples[i].cpu_percent, 1e9) * 1000);
    if (told > 1)
        put_curve(c, "processor", items, told);
    arena_free(a);
}

static void put_io(console *c, const profile_watch *w)
{
    if (w->read_bytes == PROFILE_NOT_TOLD) {
        console_putf(c, STYLE_PLAIN, "  %-14s", "disk");
        console_put(c, STYLE_DIM, "not told: another user's process");
        console_line(c);
        return;
    }
    sbuf b = {0};
    put_bytes(c, "disk", w->read_bytes);
    sbuf_puts(&b, " read, ");
    text_bytes(&b, w->written_bytes);
    sbuf_puts(&b, " written");
    console_put(c, STYLE_PLAIN, sbuf_cstr(&b));
    console_line(c);
    sbuf_free(&b);
}

static void put_end(console *c, const profile_watch *w)
{
    if (w->exit_code > 128)
        console_putf(c, STYLE_WARN, "  %-14sby signal %d", "ended", (int)w->exit_code - 128);
    else if (w->exit_code >= 0)
        console_putf(c, w->exit_code ? STYLE_WARN : STYLE_GOOD, "  %-14sexit code %d", "ended",
                     (int)w->exit_code);
    else
        console_putf(c, STYLE_PLAIN, "  %-14s%s", "ended",
                     w->interrupted ? "the watching was interrupted" : "not known");
    console_line(c);
}

/* What ends within a sample is never looked at while it runs. */
static void put_process(console *c, const profile_watch *w)
{
    console_putf(c, STYLE_PLAIN, "%llu", (unsigned long long)w->pid);
    if (w->peak_processes)
        console_putf(c, STYLE_PLAIN, ", at most %llu process%s and %llu thread%s",
                     (unsigned long long)w->peak_processes, w->peak_processes == 1 ? "" : "es",
                     (unsigned long long)w->peak_threads, w->peak_threads == 1 ? "" : "s");
    else
        console_putf(c, STYLE_PLAIN, ", over before it could be looked at");
}

void console_watch(console *c)
{
    const profile_watch *w = c->p->watch;
    sbuf b = {0};
    if (!w)
        return;
    profile_put_name(&b, w->command);
    console_heading(c, "Watched", sbuf_cstr(&b));
    sbuf_free(&b);
    console_putf(c, STYLE_PLAIN, "  %-14s", "process");
    put_process(c, w);
    console_line(c);
    console_putf(c, STYLE_PLAIN, "  %-14s", "time");
    console_putf(c, STYLE_TITLE, "%.2f s", w->wall_s);
    console_putf(c, STYLE_PLAIN, ", %.2f s of processor", w->cpu_s);
    if (isnan(w->cpu_percent))
        console_put(c, STYLE_DIM, ": too short to tell its share");
    else
        console_putf(c, STYLE_PLAIN, ": %.0f %%", text_tie_away(w->cpu_percent, 0));
    console_line(c);
    put_bytes(c, "peak memory", w->peak_resident);
    b = (sbuf){0};
    sbuf_puts(&b, ", average ");
    text_bytes(&b, w->average_resident);
    console_put(c, STYLE_PLAIN, sbuf_cstr(&b));
    sbuf_free(&b);
    console_line(c);
    put_io(c, w);
    console_putf(c, STYLE_PLAIN,
                 "  %-14s%llu page faults (%llu from disk), %llu switches (%llu forced)", "events",
                 (unsigned long long)(w->minor_faults + w->major_faults),
                 (unsigned long long)w->major_faults,
                 (unsigned long long)(w->voluntary_switches + w->involuntary_switches),
                 (unsigned long long)w->involuntary_switches);
    console_line(c);
    put_end(c, w);
    put_curves(c, w);
}
