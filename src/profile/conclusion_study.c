/* Conclusions of comparisons, checks, trends, capacity plans, validations and scalings; see conclusion.h. Pipelines and
 * language models are in conclusion_pipeline.c. */
#include <math.h>

#include "base/text.h"
#include "profile/capacity.h"
#include "profile/comparison.h"
#include "profile/conclusion.h"
#include "profile/history.h"
#include "profile/scaling.h"
#include "profile/validation.h"
#include "profile/verdicts.h"

/* ---- comparisons ---- */

static const comparison_model *fewest(const comparison *c,
                                      uint64_t (*of)(const comparison_model *m))
{
    const comparison_model *best = &c->models[0];
    for (uint32_t i = 1; i < c->n_models; i++)
        if (of(&c->models[i]) < of(best))
            best = &c->models[i];
    return best;
}

static uint64_t flops_of(const comparison_model *m)
{
    return m->flops;
}
static uint64_t parameters_of(const comparison_model *m)
{
    return m->parameters;
}

static void put_budget(const comparison_budget *b, sbuf *out)
{
    text_thousands(out, b->fits);
    sbuf_puts(out, " of ");
    conclude_count(out, b->n_ranking, "model");
    sbuf_puts(out, b->fits == 1 ? " meets the limits" : " meet the limits");
    if (b->fits && b->n_ranking) {
        sbuf_puts(out, "; ");
        conclude_name(out, b->ranking[0].label);
        sbuf_puts(out, " is the best");
    }
    sbuf_puts(out, ". ");
}

/* The one with the shortest time of those that ran; NULL: none is compared. */
static const comparison_timing *fastest(const comparison *c)
{
    const comparison_timing *best = NULL;
    for (uint32_t i = 0; i < c->n_measured; i++)
        if (c->measured[i].ratio > 0 && (!best || c->measured[i].ratio < best->ratio))
            best = &c->measured[i];
    return best;
}

static void put_timing(const comparison *c, const comparison_timing *t, sbuf *out)
{
    conclude_name(out, t->label);
    sbuf_puts(out, " takes ");
    conclude_ratio(out, t->ratio);
    sbuf_puts(out, " the time of ");
    conclude_name(out, c->models[0].label);
    if (isfinite(t->low)) {
        sbuf_puts(out, " (99 % interval ");
        text_fixed(out, t->low, 2);
        sbuf_puts(out, " to ");
        text_fixed(out, t->high, 2);
        sbuf_puts(out, ")");
    }
    sbuf_printf(out, ": %s. ", t->verdict ? t->verdict : "not tested");
}

/* One of the two is a file of weights without a graph. */
static void put_weights_pair(const comparison *c, sbuf *out)
{
    const comparison_model *a = &c->models[0], *b = &c->models[1];
    conclude_name(out, b->label);
    sbuf_puts(out, " has ");
    conclude_ratio(out, b->ratios.parameters);
    sbuf_puts(out, " the parameters of ");
    conclude_name(out, a->label);
    sbuf_puts(out, "; the work is not compared: ");
    conclude_name(out, a->flops == FIELD_UNKNOWN ? a->label : b->label);
    sbuf_puts(out, " holds weights without a graph.");
}

static void put_pair(const comparison *c, sbuf *out)
{
    const comparison_model *a = &c->models[0], *b = &c->models[1];
    if (a->flops == FIELD_UNKNOWN || b->flops == FIELD_UNKNOWN) {
        put_weights_pair(c, out);
        return;
    }
    conclude_name(out, b->label);
    sbuf_puts(out, " needs ");
    conclude_ratio(out, b->ratios.flops);
    sbuf_puts(out, " the FLOPs, ");
    conclude_ratio(out, b->ratios.parameters);
    sbuf_puts(out, " the parameters and ");
    conclude_ratio(out, b->ratios.peak_bytes);
    sbuf_puts(out, " the peak memory of ");
    conclude_name(out, a->label);
    if (c->is_pair) {
        sbuf_puts(out, "; ");
        conclude_count(out, c->n_layers, "layer");
        sbuf_puts(out, c->n_layers == 1 ? " differs" : " differ");
    }
    sbuf_puts(out, ".");
}

static void put_extremes(const comparison *c, sbuf *out)
{
    const comparison_model *light = fewest(c, flops_of), *small = fewest(c, parameters_of);
    sbuf_puts(out, "Of ");
    conclude_count(out, c->n_models, "model");
    sbuf_puts(out, ", ");
    conclude_name(out, light->label);
    sbuf_puts(out, " needs the fewest FLOPs (");
    conclude_flops(out, (double)light->flops);
    sbuf_puts(out, ")");
    if (light == small) {
        sbuf_puts(out, " and has the fewest parameters (");
    } else {
        sbuf_puts(out, " and ");
        conclude_name(out, small->label);
        sbuf_puts(out, " has the fewest parameters (");
    }
    text_si(out, (double)small->parameters, -1);
    sbuf_puts(out, ").");
}

void comparison_conclude(const void *data, sbuf *out)
{
    const comparison *c = data;
    const comparison_timing *t = fastest(c);
    if (c->n_models < 2)
        return;
    if (c->budget)
        put_budget(c->budget, out);
    if (t)
        put_timing(c, t, out);
    if (c->n_models == 2)
        put_pair(c, out);
    else
        put_extremes(c, out);
}

/* ---- checks ---- */

static uint32_t count_verdicts(const verdicts *v, verdict_kind kind)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < v->n; i++)
        n += v->rows[i].verdict == kind;
    return n;
}

/* The first row that decided. */
static const verdict_row *deciding_row(const verdicts *v)
{
    for (uint32_t i = 0; i < v->n; i++)
        if (v->rows[i].verdict == v->overall)
            return &v->rows[i];
    return NULL;
}

static void put_deciding(const verdict_row *r, sbuf *out)
{
    sbuf_puts(out, "; ");
    sbuf_puts(out, r->title ? r->title : r->metric ? r->metric : "a metric");
    sbuf_puts(out, " is ");
    conclude_metric(out, r->now.v, r->unit);
    if (isfinite(r->limit)) {
        sbuf_puts(out, r->op && str_is(STR(VERDICT_AT_LEAST), r->op) ? ", the limit is at least "
                                                                     : ", the limit is at most ");
        conclude_metric(out, r->limit, r->unit);
    } else if (isfinite(r->ratio)) {
        sbuf_puts(out, ", ");
        conclude_change(out, r->ratio, "above", "below");
        sbuf_puts(out, fabs(r->ratio - 1) < 5e-5 ? " as the baseline" : " the baseline");
    }
}

void check_conclude(const void *data, sbuf *out)
{
    const verdicts *v = data;
    const verdict_row *r = deciding_row(v);
    if (!v->n)
        return;
    conclude_name(out, v->model);
    sbuf_printf(out, ": %s. ", verdict_words[v->overall]);
    text_thousands(out, count_verdicts(v, v->overall));
    sbuf_puts(out, " of ");
    conclude_count(out, v->n, "metric");
    sbuf_printf(out, " %s", count_verdicts(v, v->overall) == 1 ? "has" : "have");
    sbuf_puts(out, " this verdict");
    if (r && v->overall != VERDICT_PASS)
        put_deciding(r, out);
    sbuf_puts(out, ".");
}

/* ---- trends ---- */

void trend_conclude(const void *data, sbuf *out)
{
    const history_trend *t = data;
    const history_change *last = t->n_changes ? &t->changes[t->n_changes - 1] : NULL;
    if (!t->n || !isfinite(t->newest))
        return;
    sbuf_printf(out, "%s of ", t->title ? t->title : "The metric");
    conclude_name(out, t->model);
    sbuf_puts(out, " is ");
    conclude_metric(out, t->newest, t->unit);
    sbuf_puts(out, " in the newest of ");
    conclude_count(out, t->n, "record");
    if (t->median > 0) {
        sbuf_puts(out, ", ");
        conclude_change(out, t->newest / t->median, "above", "below");
        sbuf_puts(out, t->newest == t->median ? " as their median" : " their median");
    }
    sbuf_puts(out, ".");
    if (last && isfinite(last->ratio)) {
        sbuf_printf(out, " The last change made it %s: ", last->worse ? "worse" : "better");
        conclude_ratio(out, last->ratio);
        sbuf_puts(out, " the level before.");
    } else if (!last) {
        sbuf_puts(out, " The level did not change.");
    }
}

/* ---- capacity ---- */

static void put_target(const capacity *c, str model, sbuf *out)
{
    conclude_rate(out, c->target);
    sbuf_puts(out, c->target == 1 ? " request/s to " : " requests/s to ");
    conclude_name(out, model);
}

static void put_predicted_plan(const capacity *c, const capacity_plan *p, sbuf *out)
{
    put_target(c, p->source, out);
    sbuf_puts(out, c->target == 1 ? " is predicted to need " : " are predicted to need ");
    text_thousands(out, p->machines);
    sbuf_puts(out, " × ");
    text_safe(out, p->device);
    if (p->machines_low < p->machines_high)
        sbuf_printf(out, " (80 %% interval %llu to %llu)", (unsigned long long)p->machines_low,
                    (unsigned long long)p->machines_high);
    sbuf_puts(out, ": the first token after ");
    text_ms(out, p->ttft_ms);
    sbuf_puts(out, ", then ");
    text_ms(out, p->itl_ms);
    sbuf_puts(out, " per token.");
}

static void put_plan(const capacity *c, const capacity_plan *p, sbuf *out)
{
    if (p->predicted) {
        put_predicted_plan(c, p, out);
        return;
    }
    put_target(c, c->model, out);
    sbuf_puts(out, c->target == 1 ? " needs " : " need ");
    conclude_count(out, p->machines, "machine");
    sbuf_puts(out, " (batch ");
    text_thousands(out, p->batch);
    sbuf_puts(out, ", ");
    sbuf_str(out, p->precision);
    sbuf_puts(out, "), each ");
    conclude_percent(out, 100 * p->utilization);
    sbuf_printf(out, " busy. The predicted %s latency is ", c->latency_name);
    text_ms(out, p->quantile_ms > 0 ? p->quantile_ms : p->mean_ms);
    if (isfinite(c->limit_ms)) {
        sbuf_printf(out, ", the %s limit is ", c->limit_name);
        text_ms(out, c->limit_ms);
    }
    sbuf_puts(out, ".");
}

void capacity_conclude(const void *data, sbuf *out)
{
    const capacity *c = data;
    if (c->best < c->n) {
        put_plan(c, &c->plans[c->best], out);
        return;
    }
    sbuf_puts(out, "None of ");
    conclude_count(out, c->n, c->n && c->plans[0].predicted ? "device" : "measured configuration");
    sbuf_puts(out, " can serve ");
    put_target(c, c->model, out);
    sbuf_puts(out, c->n && c->plans[0].why.n ? ": " : "");
    if (c->n)
        text_safe(out, c->plans[0].why);
    sbuf_puts(out, ".");
}

/* ---- validations ---- */

void validation_conclude(const void *data, sbuf *out)
{
    const validation *v = data;
    uint32_t equal = 0;
    double most = 0;
    for (uint32_t i = 0; i < v->rows.n; i++) {
        const validation_row *r = &v->rows.items[i];
        equal += r->ours == r->theirs;
        most = fabs(r->difference_percent) > most ? fabs(r->difference_percent) : most;
    }
    if (!v->rows.n)
        return;
    text_thousands(out, equal);
    sbuf_puts(out, " of ");
    conclude_count(out, v->rows.n, "count");
    sbuf_puts(out, v->rows.n == 1 || equal == 1 ? " equals that of the other tool"
                                                : " equal those of the other tool");
    if (equal < v->rows.n) {
        sbuf_puts(out, "; the largest difference is ");
        conclude_percent(out, most);
    }
    sbuf_puts(out, ".");
}

/* ---- scaling ---- */

static void put_growth(const scaling_form *f, const scaling_axis *axis, sbuf *out)
{
    const scaling_exponent *e = &f->exponents[0];
    text_safe(out, f->title);
    sbuf_puts(out, " grow with ");
    text_safe(out, axis->name);
    sbuf_puts(out, " to the power of ");
    text_fixed(out, e->fitted, 2);
    sbuf_puts(out, " (");
    text_si(out, axis->from, -1);
    sbuf_puts(out, " to ");
    text_si(out, axis->to, -1);
    sbuf_puts(out, "): twice the size costs ");
    conclude_ratio(out, pow(2, e->fitted));
    sbuf_puts(out, ".");
}

static void put_answer(const scaling_answer *a, sbuf *out)
{
    sbuf_puts(out, " ");
    text_safe(out, a->question);
    sbuf_puts(out, ": ");
    if (isnan(a->value)) {
        sbuf_puts(out, "no size does.");
        return;
    }
    text_safe(out, a->axis);
    sbuf_puts(out, " ");
    text_si(out, a->value, -1);
    sbuf_puts(out, a->outcome == SCALING_ALWAYS ? " or more." : ".");
}

void scaling_conclude(const void *data, sbuf *out)
{
    const scaling *s = data;
    if (!s->n_axes)
        return;
    if (s->n_forms && s->forms[0].n_exponents && isfinite(s->forms[0].exponents[0].fitted)) {
        sbuf_puts(out, "In ");
        conclude_name(out, s->model);
        sbuf_puts(out, ", ");
        put_growth(&s->forms[0], &s->axes[0], out);
    }
    if (s->n_answers)
        put_answer(&s->answers[0], out);
}
