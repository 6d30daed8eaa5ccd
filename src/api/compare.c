/* Comparisons: profiles side by side, and models run turn by turn. */
#include "api/result.h"
#include "base/text.h"
#include "jobs/race.h"
#include "measure/compare_times.h"

/* ---- a comparison ---- */

assay_status assay_compare(const assay_result *const *profiles, size_t n,
                           const assay_options *options, assay_result **out, assay_error *err)
{
    const assay_options none = api_default_options();
    double tolerance = (options ? options : &none)->check.tolerance / 100;
    err_clear(err);
    *out = NULL;
    TRY(api_need_profiles(profiles, n < COMPARISON_MAX ? n : COMPARISON_MAX, "A comparison", err));
    assay_result *r = job_result_new(&comparison_kind, JOB_ANALYSIS_BYTES);
    job_comparison *c = r ? ARENA_NEW(r->arena, job_comparison) : NULL;
    if (!c) {
        job_result_free(r);
        return err_no_memory(err);
    }
    r->comparison = c;
    r->data = &c->c;
    c->arena = r->arena;
    for (size_t i = 0; i < n && i < COMPARISON_MAX; i++) {
        c->list[i] = c->own[i] = profiles[i]->p;
        c->given[i] = profiles[i];
    }
    for (uint32_t i = 0; i < COMPARISON_MAX; i++)
        c->timings[i] = COMPARISON_NO_TIMES;
    uint32_t count = n > COMPARISON_MAX ? COMPARISON_MAX + 1 : (uint32_t)n;
    assay_status s = compare_run(c->list, count, c->arena, &c->c, err);
    for (uint32_t i = 1; s == ASSAY_OK && i < count; i++)
        s = compare_saved_times(c->list[0], c->list[i], tolerance, c->arena, &c->timings[i], err);
    if (s == ASSAY_OK && !compare_settle(c->list, count, c->timings, c->arena, &c->c))
        s = err_no_memory(err);
    return api_hand_result(s, r, out);
}

/* ---- walking it ---- */

static double or_zero(double v)
{
    return isnan(v) ? 0 : v;
}

bool assay_comparison_timing(const assay_result *of, size_t index, assay_timing *out)
{
    const job_comparison *c = of->comparison;
    if (!c || index >= c->c.n_models || !c->timings[index].verdict)
        return false;
    const comparison_timing *t = &c->timings[index];
    const assay_timing x = {.verdict = t->verdict,
                            .why = t->why.n ? t->why.p : "",
                            .interleaved = t->interleaved,
                            .tested = !isnan(t->low),
                            .ratio = or_zero(t->ratio),
                            .ratio_low = or_zero(t->low),
                            .ratio_high = or_zero(t->high),
                            .runs = t->runs,
                            .instructions_ratio = t->instructions.ratio,
                            .instructions_low = t->instructions.low,
                            .instructions_high = t->instructions.high};
    HAND_OUT(out, x);
    return true;
}

static const char *name_of(const comparison_side *l)
{
    return l && l->name.p ? l->name.p : "";
}

bool assay_comparison_layer(const assay_result *of, size_t index, assay_layer_change *out)
{
    const comparison *c = of->data;
    if (index >= c->n_layers)
        return false;
    const comparison_layer *l = &c->layers[index];
    const comparison_side *a = l->before, *b = l->after;
    assay_layer_change x = {.change = comparison_change_words[l->change],
                            .before = name_of(a),
                            .after = name_of(b),
                            .type = l->type.p ? l->type.p : "",
                            .macs = l->difference.macs,
                            .flops = l->difference.flops,
                            .parameters = l->difference.parameters,
                            .memory = l->difference.memory,
                            .peak_bytes = l->difference.peak_bytes,
                            .time_ms = a && b ? or_zero(b->time_ms - a->time_ms) : 0};
    text_safe_into(x.attributes, sizeof x.attributes, l->changes);
    HAND_OUT(out, x);
    return true;
}

/* ---- run turn by turn ---- */

assay_status assay_compare_measure(assay_result *of, assay_model *const *models, size_t n,
                                   const assay_options *options, const assay_hooks *hooks,
                                   assay_error *err)
{
    assay_options none;
    err_clear(err);
    if (!of->comparison)
        return err_fail(err, ASSAY_ERR_USAGE,
                        "Only a comparison of models can be measured, not %s.", of->kind->what);
    assay_status s = job_race(of->comparison, models, n, api_options(options, &none), hooks, err);
    for (uint32_t i = 0; i < of->comparison->c.n_models; i++)
        profile_settle(of->comparison->own[i]);
    return s;
}
