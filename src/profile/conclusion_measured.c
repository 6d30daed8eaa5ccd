/* The conclusion of a model that ran: speed, where the time goes and how near to the machine's peak, and what another
 * precision or batch size gave, with its output error. Without such a run, the first advice.
 *
 *   resnet50 runs at 28.1 images/s with ONNX Runtime on cpu (35.6 ms per run, batch 1, fp32); 94.2 % of the time is in
 *   53 conv2d layers at 61.0 % of the machine's peak. int8 is 1.90× as fast with an output error of 0.80 %.
 */
#include <math.h>

#include "base/text.h"
#include "profile/batch_choice.h"
#include "profile/conclusion.h"

#define NOTICEABLE 1.02 /* a smaller difference of two configurations is noise */

static double rate_of(const profile_measured *m, const profile_config *c)
{
    double rate = profile_rate(m, c);
    return rate > 0 ? rate : NAN;
}

/* ---- speed ---- */

static void put_engine(const profile_measured *m, sbuf *out)
{
    const profile_engine *e = &m->engine;
    if (!e->title.n && !e->name.n)
        return;
    sbuf_puts(out, " with ");
    conclude_name(out, e->title.n ? e->title : e->name);
    if (e->device.n) {
        sbuf_puts(out, " on ");
        conclude_name(out, e->device);
    }
}

static void put_setting(const profile_config *c, sbuf *out)
{
    sbuf_puts(out, " (");
    if (c->latency.mean > 0) {
        text_ms(out, c->latency.mean);
        sbuf_puts(out, " per run, ");
    }
    sbuf_puts(out, "batch ");
    text_thousands(out, c->batch);
    if (c->precision.n) {
        sbuf_puts(out, ", ");
        sbuf_str(out, c->precision);
    }
    sbuf_puts(out, c->partial ? ", interrupted" : "");
    sbuf_puts(out, c->use.busy.n ? ", on a busy machine)" : ")");
}

static void put_speed(const profile *p, const profile_measured *m, sbuf *out)
{
    const profile_config *c = &m->top;
    double rate = rate_of(m, c);
    conclude_name(out, p->model);
    if (isnan(rate)) {
        sbuf_puts(out, " was run");
    } else {
        sbuf_puts(out, " runs at ");
        conclude_rate(out, rate);
        sbuf_printf(out, " %s/s", m->unit ? m->unit : "samples");
    }
    put_engine(m, out);
    put_setting(c, out);
}

/* ---- where the time goes ---- */

static const profile_time_group *largest_type(const profile_ledger *l)
{
    const profile_time_group *best = NULL;
    for (uint32_t i = 0; i < l->n_groups; i++)
        if (l->groups[i].by && str_is(STR("type"), l->groups[i].by) &&
            (!best || l->groups[i].time_ms > best->time_ms))
            best = &l->groups[i];
    return best;
}

static double percent_of_peak(const profile_measured *m, const profile_time_group *g)
{
    bool known = m->ceilings.present && m->ceilings.ops_per_s > 0 && g->gflops_per_s > 0;
    return known ? 100 * g->gflops_per_s * 1e9 / m->ceilings.ops_per_s : NAN;
}

static void put_group(const profile_measured *m, const profile_time_group *g, sbuf *out)
{
    double peak = percent_of_peak(m, g);
    sbuf_puts(out, "; ");
    conclude_percent(out, g->percent);
    sbuf_puts(out, " of the time is in ");
    text_thousands(out, g->layers);
    sbuf_putc(out, ' ');
    conclude_name(out, g->name);
    sbuf_printf(out, " layer%s", TEXT_S(g->layers));
    if (!isnan(peak)) {
        sbuf_puts(out, " at ");
        conclude_percent(out, peak);
        sbuf_puts(out, " of the machine's peak");
    } else if (g->gflops_per_s > 0) {
        sbuf_puts(out, " at ");
        conclude_flop_rate(out, g->gflops_per_s * 1e9);
    }
}

static void put_use(const profile_measured *m, sbuf *out)
{
    const profile_config *c = &m->top;
    const profile_time_group *g = m->ledger.present ? largest_type(&m->ledger) : NULL;
    if (g && isfinite(g->percent)) {
        put_group(m, g, out);
    } else if (c->percent_of_peak >= 0) {
        sbuf_puts(out, ", ");
        conclude_percent(out, c->percent_of_peak);
        sbuf_puts(out, " of the machine's peak");
    } else if (c->gflops_per_s > 0) {
        sbuf_puts(out, ", ");
        conclude_flop_rate(out, c->gflops_per_s * 1e9);
    }
}

/* ---- what to change ---- */

/* The fastest configuration of the same batch at another precision; NULL: none ran. */
static const profile_config *other_precision(const profile_measured *m)
{
    const profile_config *best = NULL;
    for (uint32_t i = 0; i < m->n_configs; i++) {
        const profile_config *c = &m->configs[i];
        if (c->ran && c->batch == m->top.batch && !str_eq(c->precision, m->top.precision) &&
            c->latency.mean > 0 && (!best || c->latency.mean < best->latency.mean))
            best = c;
    }
    return best;
}

static void put_precision(const profile_config *top, const profile_config *c, sbuf *out)
{
    double gain = top->latency.mean / c->latency.mean;
    sbuf_str(out, c->precision);
    if (gain > NOTICEABLE || gain < 1 / NOTICEABLE) {
        sbuf_puts(out, " is ");
        conclude_ratio(out, gain);
        sbuf_puts(out, " as fast");
    } else {
        sbuf_puts(out, " is as fast");
    }
    if (c->output_error.present && isfinite(c->output_error.relative)) {
        sbuf_puts(out, " with an output error of ");
        conclude_percent(out, 100 * c->output_error.relative);
    }
    sbuf_puts(out, ".");
}

static bool put_batch(const profile_measured *m, sbuf *out)
{
    const profile_config *c = profile_chosen(m);
    double now = rate_of(m, &m->top), then = c ? rate_of(m, c) : NAN;
    if (!c || c->batch == m->top.batch || !(then / now > NOTICEABLE))
        return false;
    sbuf_puts(out, "Batch ");
    text_thousands(out, c->batch);
    sbuf_puts(out, " gives ");
    conclude_ratio(out, then / now);
    sbuf_puts(out, " the throughput.");
    return true;
}

/* Up to the end of the first sentence, which is not put. */
static str first_sentence(str text)
{
    for (uint32_t i = 0; i < text.n; i++)
        if (text.p[i] == '.' && (i + 1 == text.n || text.p[i + 1] == ' '))
            return (str){text.p, i};
    return text;
}

void conclude_advice(const profile *p, sbuf *out)
{
    const profile_advice *a = p->n_recommendations ? &p->recommendations[0] : NULL;
    if (!a || !a->title.n)
        return;
    sbuf_puts(out, "Recommended: ");
    text_safe(out, a->title);
    if (a->expected.n) {
        sbuf_puts(out, ". ");
        text_safe(out, first_sentence(a->expected));
    }
    sbuf_puts(out, ".");
}

static void put_change(const profile *p, const profile_measured *m, sbuf *out)
{
    const profile_config *other = other_precision(m);
    if (other)
        put_precision(&m->top, other, out);
    else if (!put_batch(m, out))
        conclude_advice(p, out);
}

/* ---- the whole ---- */

/* Nothing ran: why. */
static void put_failure(const profile *p, const profile_measured *m, sbuf *out)
{
    if (!m->n_configs)
        return;
    conclude_name(out, p->model);
    sbuf_puts(out, " did not run: ");
    text_safe(out, first_sentence(m->configs[0].error));
    sbuf_puts(out, ".");
}

void conclude_measured(const profile *p, sbuf *out)
{
    const profile_measured *m = p->measured;
    if (!m->has_top) {
        put_failure(p, m, out);
        return;
    }
    put_speed(p, m, out);
    put_use(m, out);
    sbuf_puts(out, ". ");
    put_change(p, m, out);
}
