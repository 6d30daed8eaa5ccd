/* Comparisons: profiles side by side, and models run turn by turn. */
#include "api/document.h"
#include "base/text.h"
#include "jobs/race.h"
#include "measure/compare_times.h"
#include "report/studies.h"

/* ---- a comparison ---- */

assay_status assay_comparison_new(const assay_profile *const *profiles, size_t n,
                                  const assay_options *options, assay_comparison **out,
                                  assay_error *err)
{
    const assay_options none = api_default_options();
    double tolerance = (options ? options : &none)->check.tolerance / 100;
    err_clear(err);
    *out = NULL;
    arena *a = arena_new(JOB_ANALYSIS_BYTES);
    assay_comparison *c = a ? ARENA_NEW(a, assay_comparison) : NULL;
    if (!c) {
        arena_free(a);
        return err_no_memory(err);
    }
    c->arena = a;
    for (size_t i = 0; i < n && i < COMPARISON_MAX; i++) {
        c->list[i] = c->own[i] = profiles[i]->p;
        c->given[i] = profiles[i];
    }
    for (uint32_t i = 0; i < COMPARISON_MAX; i++)
        c->timings[i] = COMPARISON_NO_TIMES;
    uint32_t count = n > COMPARISON_MAX ? COMPARISON_MAX + 1 : (uint32_t)n;
    assay_status s = compare_run(c->list, count, a, &c->c, err);
    for (uint32_t i = 1; s == ASSAY_OK && i < count; i++)
        s = compare_saved_times(c->list[0], c->list[i], tolerance, c->arena, &c->timings[i], err);
    if (s == ASSAY_OK && !compare_settle(c->list, count, c->timings, a, &c->c))
        s = err_no_memory(err);
    if (s == ASSAY_OK)
        *out = c;
    else
        arena_free(a);
    return s;
}

void assay_comparison_free(assay_comparison *c)
{
    if (c)
        arena_free(c->arena);
}

static assay_status write_comparison(const void *of, str format, const report_options *o, sbuf *out,
                                     assay_error *err)
{
    return report_comparison(of, format, o, out, err);
}

assay_status assay_comparison_report(const assay_comparison *of, const char *format,
                                     const assay_options *options, char **out, size_t *n,
                                     assay_error *err)
{
    const api_document d = {.of = &of->c,
                            .write = write_comparison,
                            .own_md = true,
                            .profiles = of->given,
                            .n_profiles = of->c.n_models};
    return api_document_report(&d, format, options, out, n, err);
}

assay_status assay_compare(const assay_profile *const *profiles, size_t n_profiles,
                           const char *format, const assay_options *options, char **out, size_t *n,
                           assay_error *err)
{
    assay_comparison *c;
    *out = NULL;
    *n = 0;
    TRY(assay_comparison_new(profiles, n_profiles, options, &c, err));
    assay_status s = assay_comparison_report(c, format, options, out, n, err);
    assay_comparison_free(c);
    return s;
}

/* ---- walking it ---- */

static double or_zero(double v)
{
    return isnan(v) ? 0 : v;
}

bool assay_comparison_timing(const assay_comparison *of, size_t index, assay_timing *out)
{
    if (index >= of->c.n_models || !of->timings[index].verdict)
        return false;
    const comparison_timing *t = &of->timings[index];
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

bool assay_comparison_layer(const assay_comparison *of, size_t index, assay_layer_change *out)
{
    if (index >= of->c.n_layers)
        return false;
    const comparison_layer *l = &of->c.layers[index];
    const comparison_side *a = l->before, *b = l->after;
#define DELTA(field) (int64_t)((b ? b->field : 0) - (a ? a->field : 0))
    assay_layer_change x = {.change = comparison_change_words[l->change],
                            .before = name_of(a),
                            .after = name_of(b),
                            .type = l->type.p ? l->type.p : "",
                            .macs = DELTA(macs),
                            .flops = DELTA(flops),
                            .parameters = DELTA(parameters),
                            .memory = DELTA(memory),
                            .peak_bytes = DELTA(peak_bytes),
                            .time_ms = a && b ? or_zero(b->time_ms - a->time_ms) : 0};
#undef DELTA
    sbuf changes = {0};
    comparison_put_attributes(&changes, l);
    text_safe_into(x.attributes, sizeof x.attributes, (str){changes.p, (uint32_t)changes.n});
    sbuf_free(&changes);
    HAND_OUT(out, x);
    return true;
}

/* ---- run turn by turn ---- */

assay_status assay_comparison_measure(assay_comparison *c, assay_model *const *models, size_t n,
                                      const assay_options *options, const assay_hooks *hooks,
                                      assay_error *err)
{
    assay_options none;
    err_clear(err);
    return job_race(c, models, n, api_options(options, &none), hooks, err);
}
