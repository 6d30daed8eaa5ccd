/* Judging a profile: limits and metrics as options, and the verdicts behind <assay/assay.h>. */
#include <stdlib.h>

#include "api/check.h"
#include "api/document.h"
#include "device/host.h"
#include "measure/judge.h"
#include "report/verdicts.h"

struct assay_verdicts {
    arena *arena;
    verdicts v;
};

/* ---- options ---- */

assay_status api_no_such_metric(str name, assay_error *err)
{
    const char *names[64] = {0};
    uint32_t n = 0;
    sbuf hint = {0};
    for (; n < metric_table_n && n < 64; n++)
        names[n] = metric_table[n].name;
    api_did_you_mean(&hint, name, names, n);
    for (uint32_t i = 0; i < n; i++)
        sbuf_printf(&hint, "%s%s", i == 0 ? " There are: " : ", ", names[i]);
    assay_status s = err_fail(err, ASSAY_ERR_USAGE, "There is no metric '" STR_FMT "'.%s.",
                              STR_ARG(name), sbuf_cstr(&hint));
    sbuf_free(&hint);
    return s;
}

/* Where the name ends, and what stands between it and the limit: ':', "<=" or ">=". */
static uint32_t separator(str s, uint32_t *n)
{
    for (uint32_t i = 0; i < s.n; i++) {
        bool two = i + 1 < s.n && (s.p[i] == '<' || s.p[i] == '>') && s.p[i + 1] == '=';
        *n = two ? 2 : 1;
        if (two || s.p[i] == ':')
            return i;
    }
    return 0;
}

static assay_status set_limit(assay_options *o, str value, uint32_t at, uint32_t n,
                              assay_error *err)
{
    str name = {value.p, at}, text = {value.p + at + n, value.n - at - n};
    const metric_row *m = metric_find(name);
    double limit;
    if (!m)
        return api_no_such_metric(name, err);
    if (!metric_parse(m->unit, text, &limit))
        return err_fail(err, ASSAY_ERR_USAGE,
                        "threshold takes a limit such as %s:%s, not '" STR_FMT "'.", m->name,
                        metric_example(m->unit), STR_ARG(value));
    verdict_limit *l = VEC_PUSH(o->arena, &o->limits);
    if (!l)
        return err_no_memory(err);
    *l = (verdict_limit){
        .metric = m, .at_least = n == 2 ? value.p[at] == '>' : m->more_is_better, .limit = limit};
    return ASSAY_OK;
}

/* A bare number is the intensity from which a layer is compute-bound. */
API_SETTER(api_set_threshold)
{
    uint32_t n = 0, at = separator(value, &n);
    double v;
    (void)row;
    if (at)
        return set_limit(o, value, at, n, err);
    if (!metric_number(value, &v) || v <= 0 || v > 1e6)
        return err_fail(err, ASSAY_ERR_USAGE,
                        "threshold takes a number above 0 and up to 1000000, or a limit such as "
                        "latency:100ms or params<=30M, not '" STR_FMT "'.",
                        STR_ARG(value));
    o->threshold = v;
    return ASSAY_OK;
}

API_SETTER(api_set_metrics)
{
    (void)row;
    o->metrics.n = 0;
    for (uint32_t from = 0, to = 0; to <= value.n; to++) {
        if (to < value.n && value.p[to] != ',')
            continue;
        str name = {value.p + from, to - from};
        const metric_row *m = metric_find(name), **slot;
        if (!m)
            return api_no_such_metric(name, err);
        slot = VEC_PUSH(o->arena, &o->metrics);
        if (!slot)
            return err_no_memory(err);
        *slot = m;
        from = to + 1;
    }
    return ASSAY_OK;
}

bool assay_options_limits(const assay_options *options)
{
    return options->limits.n > 0;
}

bool assay_options_measured(const assay_options *options, const assay_profile *baseline)
{
    for (uint32_t i = 0; i < options->limits.n; i++)
        if (options->limits.items[i].metric->measured)
            return true;
    for (uint32_t i = 0; i < options->metrics.n; i++)
        if (options->metrics.items[i]->measured)
            return true;
    return baseline && !options->metrics.n && profile_smallest(baseline->p) != NULL;
}

/* Counts are of the batch that the inputs have: 0 when they are as the model has them. */
static int64_t analysed_batch(const profile *p, const profile_config *c)
{
    for (uint32_t i = 0; c->batch > 1 && i < p->n_inputs; i++) {
        int64_t axis = profile_input_batch(p, i);
        if (axis >= 0)
            return p->inputs[i].shape.dims[axis] == (int64_t)c->batch ? (int64_t)c->batch : 0;
    }
    return 0;
}

static assay_status follow_config(assay_options *o, const profile *p, const profile_config *c,
                                  assay_error *err)
{
    if (o->configs.n || o->batch_sizes.n || o->batch || o->shapes.n)
        return ASSAY_OK;
    o->batch = analysed_batch(p, c);
    api_config *own = VEC_PUSH(o->arena, &o->configs);
    if (!own)
        return err_no_memory(err);
    *own = (api_config){.batch = (int64_t)c->batch, .precision = str_copy(o->arena, c->precision)};
    return own->precision.p ? ASSAY_OK : err_no_memory(err);
}

assay_status assay_options_follow(assay_options *o, const assay_profile *baseline, assay_error *err)
{
    const profile_config *c = profile_smallest(baseline->p);
    const profile_measured *m = baseline->p->measured;
    err_clear(err);
    if (!c)
        return ASSAY_OK;
    o->threads = o->threads ? o->threads : m->engine.threads;
    o->concurrency = o->concurrency > 1 ? o->concurrency
                     : m->concurrency   ? (int64_t)m->concurrency
                                        : 1;
    o->opt_level = o->opt_level != 99 ? o->opt_level : m->engine.opt_level;
    o->no_spin = o->no_spin || !m->engine.spin;
    return follow_config(o, baseline->p, c, err);
}

/* ---- metrics ---- */

bool assay_metric_at(size_t index, assay_metric_info *out)
{
    if (index >= metric_table_n)
        return false;
    const metric_row *m = &metric_table[index];
    const assay_metric_info info = {.name = m->name,
                                    .title = m->title,
                                    .aliases = m->aliases ? m->aliases : "",
                                    .unit = metric_unit_name(m->unit),
                                    .example = metric_example(m->unit),
                                    .more_is_better = m->more_is_better,
                                    .measured = m->measured};
    HAND_OUT(out, info);
    return true;
}

bool assay_profile_metric(const assay_profile *of, const char *metric, double *out)
{
    const metric_row *m = metric_find(str_of(metric));
    metric_value v;
    if (!m || !m->get(of->p, &v))
        return false;
    *out = v.v;
    return true;
}

/* ---- judging ---- */

static assay_status status_of(const verdicts *v, assay_error *err)
{
    switch (v->overall) {
    case VERDICT_MISSED:
        return err_fail(err, ASSAY_ERR_THRESHOLD, "A threshold was missed.");
    case VERDICT_REGRESSION:
        return err_fail(err, ASSAY_ERR_THRESHOLD, "It is worse than the baseline.");
    case VERDICT_INCONCLUSIVE:
        return err_fail(err, ASSAY_ERR_INCONCLUSIVE,
                        "Whether it is worse than the baseline cannot be told.");
    default:
        return ASSAY_OK;
    }
}

/* A file may be valid and say nothing: against that everything would pass. */
static assay_status holds_something(const profile *p, const char *which, assay_error *err)
{
    if (p->n_layers || p->total_parameters || p->measured || p->watch || p->inventory.present)
        return ASSAY_OK;
    return err_fail(err, ASSAY_ERR_MALFORMED,
                    "The %s holds neither layers nor measurements: there is nothing to judge by.",
                    which);
}

assay_status assay_judge(const assay_profile *of, const assay_profile *baseline,
                         const char *baseline_name, const assay_options *options,
                         assay_verdicts **out, assay_error *err)
{
    const assay_options none = API_NO_OPTIONS;
    const assay_options *o = options ? options : &none;
    host_info host;
    assay_error own;
    err = err ? err : &own;
    err_clear(err);
    *out = NULL;
    TRY(holds_something(of->p, "result", err));
    if (baseline)
        TRY(holds_something(baseline->p, "baseline", err));
    const profile now = api_with_host(of, &host);
    const judge_request q = {.now = &now,
                             .base = baseline ? baseline->p : NULL,
                             .base_name = str_of(baseline && baseline_name ? baseline_name : ""),
                             .limits = o->limits.items,
                             .n_limits = o->limits.n,
                             .metrics = o->metrics.n ? o->metrics.items : NULL,
                             .n_metrics = o->metrics.n,
                             .tolerance = o->tolerance / 100};
    arena *a = arena_new(API_ANALYSIS_BYTES);
    assay_verdicts *v = a ? ARENA_NEW(a, assay_verdicts) : NULL;
    assay_status s = v ? judge_profile(&q, a, &v->v, err) : err_no_memory(err);
    if (s == ASSAY_OK && baseline)
        s = api_explain(baseline->p, &now, a, &v->v, err);
    if (s != ASSAY_OK) {
        arena_free(a);
        return s;
    }
    v->arena = a;
    v->v.model = str_copy(a, v->v.model);
    v->v.baseline = str_copy(a, v->v.baseline);
    v->v.timestamp = str_copy(a, v->v.timestamp);
    v->v.baseline_timestamp = str_copy(a, v->v.baseline_timestamp);
    *out = v;
    return status_of(&v->v, err);
}

void assay_verdicts_free(assay_verdicts *v)
{
    if (v)
        arena_free(v->arena);
}

bool assay_verdicts_at(const assay_verdicts *of, size_t index, assay_verdict *out)
{
    if (index >= of->v.n)
        return false;
    const verdict_row *r = &of->v.rows[index];
    const assay_verdict x = {.metric = r->metric->name,
                             .title = r->metric->title,
                             .unit = metric_unit_name(r->metric->unit),
                             .verdict = verdict_name(r->verdict),
                             .why = r->why.n ? r->why.p : "",
                             .against_limit = r->against_limit,
                             .at_least = r->at_least,
                             .limit = r->limit,
                             .value = r->now.v,
                             .baseline = r->base.v,
                             .ratio = r->ratio,
                             .tested = r->tested,
                             .ratio_low = r->low,
                             .ratio_high = r->high};
    HAND_OUT(out, x);
    return true;
}

/* ---- texts ---- */

report_options api_screen(const assay_options *o)
{
    return (report_options){.width = (int)o->width,
                            .color = o->color,
                            .ascii = o->ascii,
                            .verbose = o->verbose,
                            .top = (int)o->top,
                            .depth = (int)o->depth};
}

assay_status api_hand_text(assay_status s, sbuf *text, char **out, size_t *n, assay_error *err)
{
    sbuf_cstr(text);
    if (s == ASSAY_OK && text->failed)
        s = err_no_memory(err);
    if (s != ASSAY_OK) {
        sbuf_free(text);
        return s;
    }
    *out = text->p;
    *n = text->n;
    return ASSAY_OK;
}

static assay_status write_verdicts(const void *of, str format, const report_options *o, sbuf *out,
                                   assay_error *err)
{
    return report_verdicts(of, format, o, out, err);
}

assay_status assay_verdicts_report(const assay_verdicts *of, const char *format,
                                   const assay_options *options, char **out, size_t *n,
                                   assay_error *err)
{
    const api_document d = {.of = &of->v, .write = write_verdicts, .own_md = true};
    return api_document_report(&d, format, options, out, n, err);
}
