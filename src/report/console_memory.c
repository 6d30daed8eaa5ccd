/* What stands in memory: the plan of an inference, the needs of training; and the closing lists of
 * advice and warnings. */
#include <stdlib.h>

#include "base/text.h"
#include "report/console.h"

enum { SHOWN_WITNESSES = 5, SPARK_MAX = 72, ADVICE_SHOWN = 5 };

/* ---- memory plan ---- */

static void put_timeline(console *c, const profile_memory_plan *m)
{
    unsigned room = c->width - 4 < SPARK_MAX ? c->width - 4 : SPARK_MAX;
    uint64_t *live = calloc(m->n_timeline ? m->n_timeline : 1, sizeof *live);
    if (!live) {
        c->out->failed = true;
        return;
    }
    for (uint32_t i = 0; i < m->n_timeline; i++)
        live[i] = m->timeline[i].live_bytes;
    sbuf_puts(c->out, "  ");
    console_on(c, STYLE_BAR);
    console_spark(c->out, live, m->n_timeline, room);
    console_on(c, STYLE_PLAIN);
    console_line(c);
    free(live);
}

static void put_witnesses(console *c, const profile_memory_plan *m)
{
    static const console_column columns[] = {
        {.title = "live at the peak", .min = 14},
        {.title = "made by", .min = 10, .drop = 1},
        {.title = "size", .right = true},
        {.title = "share", .right = true, .drop = 2},
    };
    uint32_t shown = c->o->verbose || m->n_witnesses <= SHOWN_WITNESSES + 1 ? m->n_witnesses
                                                                            : SHOWN_WITNESSES;
    console_table t;
    if (shown == 0)
        return;
    table_begin(&t, columns, 4, 2);
    for (uint32_t i = 0; i < shown; i++) {
        const profile_witness *w = &m->witnesses[i];
        table_name(&t, STYLE_PLAIN, w->value);
        table_name(&t, STYLE_DIM, w->producer);
        table_bytes(&t, STYLE_PLAIN, w->bytes);
        table_percent(&t, STYLE_PLAIN, (double)w->bytes, (double)m->activations_peak_bytes);
    }
    table_print(&t, c);
    if (shown < m->n_witnesses) {
        console_putf(c, STYLE_DIM, "  and %u more", m->n_witnesses - shown);
        console_line(c);
    }
}

static void put_idle(sbuf *b, const profile_memory_plan *m)
{
    double idle = 100 * profile_plan_fragmentation(m);
    if (idle < 0.05)
        return;
    sbuf_puts(b, " (fragmentation: ");
    report_fixed(b, idle, 1);
    sbuf_puts(b, " % of it is idle at the peak)");
}

void console_memory(console *c)
{
    const profile_memory_plan *m = &c->p->memory_plan;
    sbuf text = {0};
    if (m->n_timeline == 0)
        return;
    console_heading(c, "Memory plan", "activations alive while each layer runs");
    put_timeline(c, m);
    sbuf_puts(&text, "Peak ");
    text_bytes(&text, m->activations_peak_bytes);
    if (!str_empty(m->peak_node)) {
        sbuf_puts(&text, " while ");
        profile_put_name(&text, m->peak_node);
        sbuf_puts(&text, " runs");
    }
    sbuf_puts(&text, "; no plan can do with less than ");
    text_bytes(&text, m->lower_bound_bytes);
    if (m->planned_bytes) {
        sbuf_puts(&text, ", ours takes ");
        text_bytes(&text, m->planned_bytes);
        put_idle(&text, m);
    }
    sbuf_puts(&text, ". Weights take ");
    text_bytes(&text, m->weights_bytes);
    sbuf_puts(&text, " beside it");
    if (profile_precision(c->p).n)
        sbuf_puts(&text, ", in ");
    text_safe(&text, profile_precision(c->p));
    sbuf_putc(&text, '.');
    console_words(c, STYLE_PLAIN, 2, false, (str){text.p, (uint32_t)text.n});
    put_witnesses(c, m);
    sbuf_free(&text);
}

/* ---- training ---- */

static void put_optimizers(console *c, const profile_training *tr)
{
    static const console_column columns[] = {
        {.title = "optimiser"},
        {.title = "B/param", .right = true, .drop = 1},
        {.title = "weights", .right = true},
        {.title = "gradients", .right = true},
        {.title = "states", .right = true},
        {.title = "with activations", .right = true},
    };
    console_table t;
    table_begin(&t, columns, 6, 2);
    for (uint32_t i = 0; i < tr->n_optimizers; i++) {
        const profile_optimizer *o = &tr->optimizers[i];
        table_str(&t, STYLE_PLAIN, str_of(o->name));
        sbuf_printf(table_cell(&t, STYLE_PLAIN), "%llu", (unsigned long long)o->bytes_per_param);
        table_bytes(&t, STYLE_PLAIN, o->weights_bytes);
        table_bytes(&t, STYLE_PLAIN, o->gradients_bytes);
        table_bytes(&t, STYLE_PLAIN, o->states_bytes);
        table_bytes(&t, STYLE_TITLE, o->total_bytes);
    }
    table_print(&t, c);
}

void console_training(console *c)
{
    const profile_training *tr = &c->p->training;
    sbuf text = {0};
    if (!tr->present)
        return;
    console_heading(c, "Training", "one step at this batch size");
    sbuf_puts(&text, "Forward ");
    text_si_unit(&text, (double)tr->forward_flops, 2, "FLOPs");
    sbuf_puts(&text, ", backward ");
    text_si_unit(&text, (double)tr->backward_flops, 2, "FLOPs");
    if (tr->forward_flops) {
        sbuf_puts(&text, " (");
        report_fixed(&text, (double)tr->backward_flops / (double)tr->forward_flops, 2);
        sbuf_puts(&text, " times the forward pass)");
    }
    sbuf_puts(&text, "; ");
    text_bytes(&text, tr->saved_activation_bytes);
    sbuf_puts(&text, " of activations are kept for it.");
    console_words(c, STYLE_PLAIN, 2, false, (str){text.p, (uint32_t)text.n});
    sbuf_free(&text);
    put_optimizers(c, tr);
}

/* ---- advice and warnings ---- */

void console_advice(console *c)
{
    const profile *p = c->p;
    if (p->n_recommendations == 0)
        return;
    uint32_t shown = c->o->verbose || p->n_recommendations <= ADVICE_SHOWN ? p->n_recommendations
                                                                           : ADVICE_SHOWN;
    console_heading(c, "Recommendations", "by what they could save");
    for (uint32_t i = 0; i < shown; i++) {
        const profile_advice *a = &p->recommendations[i];
        console_put(c, STYLE_GOOD, "  • ");
        console_words(c, STYLE_TITLE, 4, true, a->title);
        console_words(c, STYLE_PLAIN, 4, false, a->why);
        console_words(c, STYLE_DIM, 4, false, a->expected);
    }
    if (shown < p->n_recommendations) {
        console_putf(c, STYLE_DIM, "  and %u more with --verbose", p->n_recommendations - shown);
        console_line(c);
    }
}

bool console_warnings_first(const profile *p)
{
    return p->warnings.list.n <= CONSOLE_FIRST_WARNINGS && p->warnings.dropped == 0;
}

static bool mentions(str text, str name)
{
    return name.n == 0 || (text.n >= name.n && memmem(text.p, text.n, name.p, name.n) != NULL);
}

void console_warning(console *c, const char *bullet, const note *n, bool with_advice)
{
    sbuf text = {0};
    console_put(c, STYLE_WARN, bullet);
    if (!mentions(n->text, n->node)) {
        profile_put_name(&text, n->node);
        sbuf_puts(&text, ": ");
    }
    sbuf_str(&text, n->text);
    console_words(c, STYLE_PLAIN, 4, true, (str){text.p, (uint32_t)text.n});
    if (with_advice && n->advice.n)
        console_words(c, STYLE_DIM, 4, false, n->advice);
    sbuf_free(&text);
}

void console_warnings(console *c)
{
    const notes *n = &c->p->warnings;
    if (console_warnings_first(c->p))
        return;
    console_heading(c, "Warnings", NULL);
    for (uint32_t i = 0; i < n->list.n; i++)
        console_warning(c, "  ⚠ ", &n->list.items[i], true);
    if (n->dropped) {
        console_putf(c, STYLE_DIM, "  and %u more of the same kinds", n->dropped);
        console_line(c);
    }
}
