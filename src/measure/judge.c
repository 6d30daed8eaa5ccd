/* See judge.h.
 *
 * Counts are compared exactly, unless a tolerance of their own was given: a model either has more parameters or it
 * has not. What a clock told is
 * compared by its runs (gate.h), never by two means. A measured figure of which a result holds one value
 * (memory, energy) is shown and not judged: there is no telling how much of its difference is chance.
 *
 * Inputs that differ in their batch alone (the first dimension where neither result tells which it is) are of the
 * same model: what grows with it is neither better nor worse.
 *
 * Runs on another machine, or of another configuration, do not answer the question at all. On the same
 * machine two sessions differ by more than their runs tell, so a regression must be beyond the tolerance and
 * JUDGE_SESSION_SHARE; what lies between the two is inconclusive.
 */
#include "measure/judge.h"

#include <math.h>
#include <stdio.h>
#include <time.h>

#include "measure/gate.h"

enum { NOTES_MOST = 16, ANOTHER_HOUR_S = 3600 };
#define PULSE_SHARE 0.02 /* up to which two pulses of one machine differ */

typedef struct judging {
    const judge_request *q;
    arena *a;
    verdicts *out;
    bool comparable;             /* the runs of the two */
    str not_comparable;          /* why not */
    bool other_batch;            /* the two are of one model at other batch sizes */
    double tolerance, allowance; /* shares; the allowance: between two sessions */
} judging;

static verdict_row *add_row(judging *j, const metric_row *m)
{
    verdict_row *row = &j->out->rows[j->out->n++];
    *row = (verdict_row){.metric = m->name,
                         .title = m->title,
                         .unit = m->unit,
                         .now = {.v = NAN},
                         .base = {.v = NAN},
                         .limit = NAN,
                         .ratio = NAN,
                         .low = NAN,
                         .high = NAN,
                         .tolerance_percent = NAN};
    return row;
}

static void add_note(judging *j, str sentence)
{
    if (j->out->n_notes < NOTES_MOST && sentence.p)
        j->out->notes[j->out->n_notes++] = sentence;
}

/* ---- limits ---- */

static assay_status absent(const judging *j, const metric_row *m, const char *whose,
                           assay_error *err)
{
    return err_fail(
        err, ASSAY_ERR_USAGE, "%s has no %s%s", whose, m->name,
        m->measured && !profile_smallest(j->q->now)
            ? ": the model was not run. Measure it with `assay bench MODEL -o FILE.json`."
            : "");
}

static bool holds(double v, const verdict_limit *l)
{
    return l->at_least ? v >= l->limit : v <= l->limit;
}

/* Whether the interval of the mean holds the limit: the next measurement may say otherwise. */
static bool is_close(const judging *j, const verdict_limit *l)
{
    const profile_config *c = profile_smallest(j->q->now);
    return l->metric->runs == RUNS_MEAN && c && c->latency.ci95_low < l->limit &&
           l->limit < c->latency.ci95_high;
}

static str remark(const judging *j, const verdict_limit *l)
{
    const profile_config *c = profile_smallest(j->q->now);
    double q = l->metric->quantile;
    if (is_close(j, l))
        return STR(
            "the 95 % interval of the mean contains the limit: another measurement may differ");
    if (l->metric->runs == RUNS_QUANTILE && c && q > 0.5 && (double)c->latency.runs * (1 - q) < 5)
        return str_printf(j->a, "from %llu runs; a reliable value needs %d",
                          (unsigned long long)c->latency.runs, (int)ceil(5 / (1 - q) - 1e-9));
    return (str){0};
}

static assay_status judge_limit(judging *j, const verdict_limit *l, assay_error *err)
{
    metric_value v;
    if (!l->metric->get(j->q->now, &v))
        return absent(j, l->metric, "the result", err);
    verdict_row *row = add_row(j, l->metric);
    row->op = l->at_least ? VERDICT_AT_LEAST : VERDICT_AT_MOST;
    row->limit = l->limit;
    row->now = v;
    row->verdict = holds(v.v, l) ? VERDICT_PASS : VERDICT_MISSED;
    row->why = remark(j, l);
    return ASSAY_OK;
}

/* ---- is it the same experiment? ---- */

static bool differ(judging *j, const char *what, str now, str base)
{
    if (str_eq(now, base) || !now.n || !base.n)
        return false;
    add_note(j, str_printf(j->a, "%s: '" STR_FMT "', baseline '" STR_FMT "'.", what, STR_ARG(now),
                           STR_ARG(base)));
    return true;
}

static bool differ_n(judging *j, const char *what, uint64_t now, uint64_t base)
{
    if (now == base)
        return false;
    add_note(j, str_printf(j->a, "%s: %llu, baseline %llu.", what, (unsigned long long)now,
                           (unsigned long long)base));
    return true;
}

static void not_comparable(judging *j, const char *why)
{
    j->comparable = false;
    if (!j->not_comparable.n)
        j->not_comparable = str_of(why);
}

static bool other_machine(judging *j)
{
    const profile_context *a = &j->q->now->context, *b = &j->q->base->context;
    bool cpu = differ(j, "Processor", a->cpu, b->cpu);
    bool kind = differ(j, "Machine", a->machine, b->machine);
    bool cores = a->cores && b->cores && differ_n(j, "Cores", a->cores, b->cores);
    return cpu || kind || cores;
}

static bool other_setup(judging *j)
{
    const profile_measured *a = j->q->now->measured, *b = j->q->base->measured;
    const profile_config *x = profile_smallest(j->q->now), *y = profile_smallest(j->q->base);
    bool other = x->batch != y->batch && /* said already when the inputs tell it */
                 (j->other_batch || differ_n(j, "Batch size", x->batch, y->batch));
    other |= differ(j, "Precision", x->precision, y->precision);
    other |= differ(j, "Device", a->engine.device, b->engine.device);
    other |= differ_n(j, "Threads", (uint64_t)a->engine.threads, (uint64_t)b->engine.threads);
    other |= differ_n(j, "Concurrency", a->concurrency, b->concurrency);
    other |= differ_n(j, "Optimisation level", (uint64_t)a->engine.opt_level,
                      (uint64_t)b->engine.opt_level);
    return other;
}

static bool same_but(int64_t axis, const profile_tensor *a, const profile_tensor *b)
{
    if (!str_eq(a->name, b->name) || a->shape.rank != b->shape.rank)
        return false;
    for (int d = 0; d < a->shape.rank; d++)
        if (d != axis && a->shape.dims[d] != b->shape.dims[d])
            return false;
    return true;
}

static bool other_batch(judging *j)
{
    const profile *a = j->q->now, *b = j->q->base, *told = a->batch.certainty ? a : b;
    uint64_t now = 0, base = 0;
    for (uint32_t i = 0; i < a->n_inputs && a->n_inputs == b->n_inputs; i++) {
        int64_t axis = profile_input_batch(told, i);
        if (!same_but(axis, &a->inputs[i], &b->inputs[i]))
            return false;
        int64_t x = axis < 0 ? 0 : a->inputs[i].shape.dims[axis];
        int64_t y = axis < 0 ? 0 : b->inputs[i].shape.dims[axis];
        if (now == base && x > 0 && y > 0) {
            now = (uint64_t)x;
            base = (uint64_t)y;
        }
    }
    return differ_n(j, "Input batch size", now, base);
}

/* "2026-11-15T19:06:00Z" in seconds; 0 when it is no such stamp. */
static int64_t seconds_of(str stamp)
{
    struct tm t = {0};
    char text[32];
    snprintf(text, sizeof text, STR_FMT, STR_ARG(stamp));
    if (sscanf(text, "%4d-%2d-%2dT%2d:%2d:%2dZ", &t.tm_year, &t.tm_mon, &t.tm_mday, &t.tm_hour,
               &t.tm_min, &t.tm_sec) != 6)
        return 0;
    t.tm_year -= 1900;
    t.tm_mon -= 1;
    return (int64_t)timegm(&t);
}

/* A machine that ran a fixed loop at another speed runs everything at another speed. */
static void allow_for_speed(judging *j)
{
    double now = profile_smallest(j->q->now)->use.pulse_us;
    double base = profile_smallest(j->q->base)->use.pulse_us;
    if (now <= 0 || base <= 0)
        return;
    double slower = now > base ? now / base - 1 : base / now - 1;
    if (slower <= PULSE_SHARE)
        return;
    j->allowance += slower;
    add_note(j, str_printf(j->a,
                           "A reference loop ran %.1f %% %s than for the baseline. The tolerance "
                           "is widened by that much.",
                           100 * slower, now > base ? "slower" : "faster"));
}

static void note_time(judging *j)
{
    int64_t now = seconds_of(j->q->now->context.timestamp);
    int64_t base = seconds_of(j->q->base->context.timestamp);
    int64_t apart = now > base ? now - base : base - now;
    if (apart > ANOTHER_HOUR_S)
        add_note(j, STR("The baseline was measured more than an hour apart. The difference "
                        "includes changes in machine state."));
}

/* Another version of the engine is a reason to ask, not a reason not to answer. */
static void compare_contexts(judging *j)
{
    const profile *a = j->q->now, *b = j->q->base;
    j->comparable = true;
    differ(j, "Model", a->model, b->model);
    j->other_batch = other_batch(j);
    if (!profile_smallest(a) || !profile_smallest(b)) {
        not_comparable(j, "only one of the two was measured");
        return;
    }
    differ(j, "Engine version", a->measured->engine.version, b->measured->engine.version);
    if (other_machine(j))
        not_comparable(j, "the baseline was measured on another machine");
    if (other_setup(j))
        not_comparable(j, "the two were measured with different settings");
    if (a->measured->interrupted || b->measured->interrupted)
        not_comparable(j, "one of the two was interrupted");
    if (!j->comparable)
        return;
    j->allowance = JUDGE_SESSION_SHARE;
    allow_for_speed(j);
    note_time(j);
}

/* ---- against the baseline ---- */

static double own_tolerance(const judging *j, const metric_row *m)
{
    for (uint32_t i = j->q->n_tolerances; i-- > 0;) /* the last one given counts */
        if (j->q->tolerances[i].metric == m)
            return j->q->tolerances[i].percent;
    return NAN;
}

/* A share. */
static double tolerance_of(const judging *j, const verdict_row *row)
{
    return isnan(row->tolerance_percent) ? j->tolerance : row->tolerance_percent / 100;
}

static bool is_within(const verdict_row *row)
{
    double by = fabs(row->now.v - row->base.v);
    return row->tolerance_percent > 0 && by <= fabs(row->base.v) * row->tolerance_percent / 100;
}

static void judge_exact(judging *j, const metric_row *m, verdict_row *row)
{
    const metric_value *a = &row->now, *b = &row->base;
    bool same = a->whole && b->whole ? a->n == b->n : a->v == b->v;
    bool more = a->whole && b->whole ? a->n > b->n : a->v > b->v;
    bool within = !same && is_within(row);
    row->verdict = same || within              ? VERDICT_PASS
                   : more == m->more_is_better ? VERDICT_IMPROVEMENT
                                               : VERDICT_REGRESSION;
    if (within)
        row->why = str_printf(j->a, "within its tolerance of %g %%", row->tolerance_percent);
}

static str why_of(const judging *j, const gate_answer *g)
{
    switch (g->reason) {
    case GATE_CLEAR:
        return (str){0};
    case GATE_NOISE:
        return STR("the interval contains the limit. Use more runs or a quieter machine");
    case GATE_SESSIONS:
        return str_printf(
            j->a, "beyond the tolerance, but sessions of the same model can differ by %.1f %%",
            100 * j->allowance);
    case GATE_FEW_RUNS:
        return str_printf(j->a, "each needs at least %d runs", GATE_RUNS_LEAST);
    case GATE_FEW_TAIL:
        return str_printf(j->a, "each needs at least %u runs for this percentile", g->runs_needed);
    case GATE_DEPENDENT:
        return STR(
            "the interval contains the limit: the runs are correlated, too few are independent");
    }
    return (str){0};
}

/* The gate speaks of time; a rate is its inverse. */
static void take_answer(judging *j, bool rate, verdict_row *row, const gate_answer *g)
{
    bool tested = g->reason != GATE_FEW_RUNS && g->reason != GATE_FEW_TAIL;
    row->verdict = g->verdict;
    row->ratio = !(g->ratio > 0) ? NAN : rate ? 1 / g->ratio : g->ratio;
    if (tested) {
        row->low = rate && g->high > 0 ? 1 / g->high : g->low;
        row->high = rate && g->low > 0 ? 1 / g->low : g->high;
    }
    row->why = why_of(j, g);
}

static assay_status judge_runs(judging *j, const metric_row *m, verdict_row *row, assay_error *err)
{
    const profile_config *a = profile_smallest(j->q->now), *b = profile_smallest(j->q->base);
    const gate_question q = {.base = {b->samples_ms, b->n_samples},
                             .now = {a->samples_ms, a->n_samples},
                             .what = m->runs,
                             .quantile = m->quantile,
                             .tolerance = tolerance_of(j, row),
                             .allowance = j->allowance};
    gate_answer g;
    TRY(gate_ask(&q, &g, err));
    take_answer(j, m->runs == RUNS_RATE, row, &g);
    return ASSAY_OK;
}

/* Every run of the one beside every run of the other: there is no chance to allow for. */
static void judge_instructions(const judging *j, verdict_row *row)
{
    const profile_use *a = &profile_smallest(j->q->now)->use;
    const profile_use *b = &profile_smallest(j->q->base)->use;
    double limit = 1 + tolerance_of(j, row);
    if (b->instructions_min <= 0 || b->instructions_max <= 0)
        return;
    row->low = a->instructions_min / b->instructions_max;
    row->high = a->instructions_max / b->instructions_min;
    row->verdict = row->low > limit        ? VERDICT_REGRESSION
                   : row->high < 1 / limit ? VERDICT_IMPROVEMENT
                   : row->high < limit     ? VERDICT_PASS
                                           : VERDICT_INCONCLUSIVE;
}

static bool counts_instructions(const metric_row *m)
{
    return strcmp(m->name, "instructions") == 0;
}

static assay_status judge_measured(judging *j, const metric_row *m, verdict_row *row,
                                   assay_error *err)
{
    if (!j->comparable) {
        row->verdict = m->runs == RUNS_NOT ? VERDICT_SHOWN : VERDICT_INCONCLUSIVE;
        row->why = j->not_comparable;
        return ASSAY_OK;
    }
    if (m->runs != RUNS_NOT)
        return judge_runs(j, m, row, err);
    if (counts_instructions(m) && j->q->metrics) {
        judge_instructions(j, row);
        return ASSAY_OK;
    }
    if (!isnan(row->tolerance_percent)) {
        judge_exact(j, m, row);
        return ASSAY_OK;
    }
    row->verdict = VERDICT_SHOWN;
    row->why = STR("one value each: no significance test");
    return ASSAY_OK;
}

static assay_status judge_metric(judging *j, const metric_row *m, bool named, assay_error *err)
{
    metric_value now, base;
    bool has_now = m->get(j->q->now, &now), has_base = m->get(j->q->base, &base);
    if (!has_now || !has_base)
        return named ? absent(j, m, has_now ? "the baseline" : "the result", err) : ASSAY_OK;
    verdict_row *row = add_row(j, m);
    row->now = now;
    row->base = base;
    row->tolerance_percent = own_tolerance(j, m);
    row->ratio = base.v > 0 && now.v > 0 ? now.v / base.v : NAN;
    if (m->measured)
        return judge_measured(j, m, row, err);
    if (m->per_batch && j->other_batch) {
        row->verdict = VERDICT_INCONCLUSIVE;
        row->why = STR("the two have different batch sizes");
        return ASSAY_OK;
    }
    judge_exact(j, m, row);
    return ASSAY_OK;
}

static bool is_shown(const metric_row *m)
{
    return m->gated || strcmp(m->name, "memory") == 0 || counts_instructions(m);
}

str judge_opinion(arena *a, double ratio)
{
    double percent = 100 * (ratio - 1);
    return str_printf(a, "A run retires %+.2f %% instructions: %s.", percent,
                      fabs(percent) < 0.5
                          ? "the same code ran, so a time difference comes from the machine"
                      : percent > 0 ? "more work"
                                    : "less work");
}

/* A second opinion beside what the clock says. */
static void add_opinion(judging *j)
{
    metric_value now, base;
    const metric_row *m = metric_find(STR("instructions"));
    if (!j->comparable || !m->get(j->q->now, &now) || !m->get(j->q->base, &base))
        return;
    add_note(j, judge_opinion(j->a, now.v / base.v));
}

/* A tolerance that nothing is judged by is a slip. */
static assay_status check_tolerances(const judging *j, assay_error *err)
{
    for (uint32_t i = 0; i < j->q->n_tolerances; i++) {
        const char *name = j->q->tolerances[i].metric->name;
        bool used = false;
        for (uint32_t k = 0; k < j->out->n && !used; k++)
            used = strcmp(j->out->rows[k].metric, name) == 0 && !j->out->rows[k].op;
        if (!used)
            return err_fail(err, ASSAY_ERR_USAGE,
                            "%s has a tolerance, but is not compared with the baseline. Add it to "
                            "--metrics.",
                            name);
    }
    return ASSAY_OK;
}

static assay_status judge_baseline(judging *j, assay_error *err)
{
    const judge_request *q = j->q;
    if (q->now->lens.n && q->base->lens.n && !str_eq(q->now->lens, q->base->lens))
        return err_fail(err, ASSAY_ERR_USAGE,
                        "the baseline uses the FLOP-counting convention '" STR_FMT
                        "', the result uses '" STR_FMT "'. Use the same --lens.",
                        STR_ARG(q->base->lens), STR_ARG(q->now->lens));
    compare_contexts(j);
    for (uint32_t i = 0; q->metrics && i < q->n_metrics; i++)
        TRY(judge_metric(j, q->metrics[i], true, err));
    for (uint32_t i = 0; !q->metrics && i < metric_table_n; i++)
        if (is_shown(&metric_table[i]))
            TRY(judge_metric(j, &metric_table[i], false, err));
    add_opinion(j);
    return check_tolerances(j, err);
}

assay_status judge_baseline_has(const profile *base, const metric_row *const *metrics, uint32_t n,
                                assay_error *err)
{
    metric_value v;
    for (uint32_t i = 0; i < n; i++)
        if (!metrics[i]->get(base, &v))
            return err_fail(err, ASSAY_ERR_USAGE, "the baseline has no %s", metrics[i]->name);
    return ASSAY_OK;
}

/* ---- all ---- */

static verdict_kind worst(const verdicts *v)
{
    verdict_kind w = VERDICT_PASS;
    for (uint32_t i = 0; i < v->n; i++)
        if (v->rows[i].verdict != VERDICT_SHOWN && v->rows[i].verdict > w)
            w = v->rows[i].verdict;
    return w;
}

assay_status judge_profile(const judge_request *q, arena *a, verdicts *out, assay_error *err)
{
    judging j = {.q = q, .a = a, .out = out, .tolerance = q->tolerance};
    *out = (verdicts){.model = q->now->model,
                      .has_baseline = q->base_name.n > 0,
                      .baseline = q->base_name,
                      .timestamp = q->now->context.timestamp};
    out->rows = ARENA_ARRAY(a, verdict_row, q->n_limits + metric_table_n + q->n_metrics + 1);
    out->notes = ARENA_ARRAY(a, str, NOTES_MOST);
    if (!out->rows || !out->notes)
        return err_no_memory(err);
    for (uint32_t i = 0; i < q->n_limits; i++)
        TRY(judge_limit(&j, &q->limits[i], err));
    if (q->base) {
        out->baseline_timestamp = q->base->context.timestamp;
        TRY(judge_baseline(&j, err));
    }
    out->tolerance_percent = 100 * j.tolerance;
    out->allowance_percent = 100 * j.allowance;
    out->overall = worst(out);
    return arena_failed(a) ? err_no_memory(err) : ASSAY_OK;
}
