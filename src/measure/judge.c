/* See judge.h.
 *
 * Counts are compared exactly, unless they have their own tolerance. Times are compared by their runs (gate.h), never
 * by two means. A measured metric with only one value per result (memory, energy) is shown but not checked, because
 * its noise is unknown.
 *
 * Inputs that differ in their batch alone (the first dimension where neither result tells which it is) are of the
 * same model: what grows with it is neither better nor worse.
 *
 * Runs on another machine, or of another configuration, do not answer the question at all. On the same
 * machine two sessions differ by more than their runs tell, so a regression must be beyond the tolerance and
 * JUDGE_SESSION_SHARE; what lies between the two is inconclusive.
 */
#include "measure/judge_impl.h"

#include <math.h>

#include "measure/gate.h"

verdict_row *judge_add_row(judging *j, const metric_row *m)
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

void judge_add_note(judging *j, str sentence)
{
    if (j->out->n_notes < JUDGE_NOTES_MOST && sentence.p)
        j->out->notes[j->out->n_notes++] = sentence;
}

assay_status judge_absent(const judging *j, const metric_row *m, const char *whose,
                          assay_error *err)
{
    return err_fail(
        err, ASSAY_ERR_USAGE, "%s has no %s%s", whose, m->name,
        m->measured && !profile_smallest(j->q->now)
            ? ": the model was not run. Measure it with `assay bench MODEL -o FILE.json`."
            : "");
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
        if (j->busy)
            return STR(JUDGE_TOO_BUSY);
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
        if (j->busy)
            return STR(JUDGE_TOO_BUSY);
        return STR(
            "the interval contains the limit: the runs are correlated, too few are independent");
    }
    return (str){0};
}

/* The gate compares times; a rate is the inverse. */
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

/* Every run of one compared with every run of the other: no allowance for chance is needed. */
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
        return named ? judge_absent(j, m, has_now ? "the baseline" : "the result", err) : ASSAY_OK;
    verdict_row *row = judge_add_row(j, m);
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

/* Instructions, in addition to the times. */
static void add_opinion(judging *j)
{
    metric_value now, base;
    const metric_row *m = metric_find(STR("instructions"));
    if (!j->comparable || !m->get(j->q->now, &now) || !m->get(j->q->base, &base))
        return;
    judge_add_note(j, judge_opinion(j->a, now.v / base.v));
}

/* A tolerance that is not used is an error. */
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
    judge_contexts(j);
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

static bool judges_runs(const verdicts *v)
{
    for (uint32_t i = 0; i < v->n; i++)
        if (metric_find(str_of(v->rows[i].metric))->runs != RUNS_NOT)
            return true;
    return false;
}

assay_status judge_profile(const judge_request *q, arena *a, verdicts *out, assay_error *err)
{
    judging j = {.q = q, .a = a, .out = out, .tolerance = q->tolerance};
    *out = (verdicts){.model = q->now->model,
                      .has_baseline = q->base_name.n > 0,
                      .baseline = q->base_name,
                      .timestamp = q->now->context.timestamp};
    out->rows = ARENA_ARRAY(a, verdict_row, q->n_limits + metric_table_n + q->n_metrics + 1);
    out->notes = ARENA_ARRAY(a, str, JUDGE_NOTES_MOST);
    TRY_MEMORY(out->rows && out->notes, err);
    j.busy = judge_busy(&j);
    for (uint32_t i = 0; i < q->n_limits; i++)
        TRY(judge_limit(&j, &q->limits[i], err));
    if (q->base) {
        out->baseline_timestamp = q->base->context.timestamp;
        TRY(judge_baseline(&j, err));
    }
    out->tolerance_percent = 100 * j.tolerance;
    out->allowance_percent = 100 * j.allowance;
    out->overall = worst(out);
    if (!judges_runs(out)) /* counts do not care */
        out->busy = (str){0};
    return arena_failed(a) ? err_no_memory(err) : ASSAY_OK;
}
