/* Cost of a model as a function of its sizes: what was asked, and the evaluations. */
#include "study/scaling_ask.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/training.h"
#include "base/memory.h"
#include "study/scaling.h"

enum { FIXED_MAX = 16 };

typedef struct scaling_ask {
    const study_subject *subject; /* without the sizes that are set here */
    const profile *base;
    size_binding axes[SCALING_AXES], fixed[FIXED_MAX];
    size_setting set[FIXED_MAX + SCALING_AXES]; /* the fixed ones, then the axes */
    uint32_t n_fixed, n_axes;
    uint64_t n_evaluated;
    const char *kv_cache;
} scaling_ask;

/* ---- one evaluation ---- */

static void take_figures(const profile *p, scaling_figures *out)
{
    out->v[SCALING_MACS] = p->total_macs;
    out->v[SCALING_FLOPS] = p->total_flops;
    out->v[SCALING_TRAFFIC] = p->total_memory;
    out->v[SCALING_PARAMETERS] = p->total_parameters;
    out->v[SCALING_ACTIVATIONS] = p->memory_plan.activations_peak_bytes;
    out->v[SCALING_PEAK] = p->memory_plan.peak_bytes;
    out->v[SCALING_TRAINING] = training_bytes(&p->training, "adamw");
}

static const char *both_caches(const scaling_ask *a, const char *kv_cache)
{
    bool first = a->n_evaluated == 1;
    if (first || (kv_cache && a->kv_cache && strcmp(kv_cache, a->kv_cache) == 0))
        return kv_cache;
    return kv_cache || a->kv_cache ? "mixed" : NULL;
}

static assay_status evaluate(void *ctx, const int64_t *at, scaling_figures *out, bool *assumed,
                             assay_error *err)
{
    scaling_ask *a = ctx;
    profile *p = NULL;
    TRY(a->subject->go_on(a->subject->ctx, a->n_evaluated++, err));
    for (uint32_t k = 0; k < a->n_axes; k++)
        a->set[a->n_fixed + k] = (size_setting){&a->axes[k], at[k]};
    TRY(subject_size_run(a->subject, a->base, a->set, a->n_fixed + a->n_axes, &p, err));
    take_figures(p, out);
    a->kv_cache = both_caches(a, p->memory_plan.kv_cache);
    *assumed = p->anything_assumed;
    profile_free(p);
    return ASSAY_OK;
}

/* ---- what was asked ---- */

static assay_status add_axis(scaling_ask *a, const scaling_range *r, scale_work *s,
                             scaling_request *q, assay_error *err)
{
    assert(a && s->n_axes < SCALING_AXES);
    uint32_t k = s->n_axes;
    size_binding *b = &a->axes[k];
    TRY(subject_size_find(a->subject, a->base, r->name, b, err));
    if (r->decimals && b->kind != SIZE_PARAMETER)
        return err_fail(err, ASSAY_ERR_USAGE, "'" STR_FMT "' must be a whole number",
                        STR_ARG(r->name));
    for (uint32_t i = 0; i < k; i++)
        if (str_eq(s->axes[i].name, r->name))
            return err_fail(err, ASSAY_ERR_USAGE, "duplicate --dim " STR_FMT "", STR_ARG(r->name));
    b->decimals = r->decimals;
    s->axes[k] = (scale_axis){.name = str_copy(s->arena, r->name),
                              .kind = size_kind_name(b->kind),
                              .decimals = r->decimals,
                              .from = r->from,
                              .to = r->to,
                              .n_values = r->n_values};
    if (r->n_values)
        s->axes[k].values = arena_copy(s->arena, r->values, r->n_values * sizeof *r->values);
    q->step[k] = r->step;
    q->count[k] = r->count;
    a->n_axes = s->n_axes = k + 1;
    return arena_failed(s->arena) ? err_no_memory(err) : ASSAY_OK;
}

/* --dim batch=4 beside ranges: a size by name that stays as it is. */
static assay_status add_fixed(scaling_ask *a, const infer_dim *d, assay_error *err)
{
    assert(a);
    if (a->n_fixed == FIXED_MAX)
        return err_fail(err, ASSAY_ERR_USAGE, "more than %d sizes", FIXED_MAX);
    size_binding *b = &a->fixed[a->n_fixed];
    TRY(subject_size_find(a->subject, a->base, d->symbol, b, err));
    a->set[a->n_fixed++] = (size_setting){b, d->value};
    return ASSAY_OK;
}

static assay_status ask_all(scaling_ask *a, const scaling_asked *o, scale_work *s,
                            scaling_request *q, assay_error *err)
{
    for (uint32_t i = 0; i < o->n_dims; i++)
        TRY(add_fixed(a, &o->dims[i], err));
    for (uint32_t i = 0; i < o->of->ranges.n; i++)
        TRY(add_axis(a, &o->of->ranges.items[i], s, q, err));
    for (uint32_t i = 0; i < o->of->questions.n; i++) {
        scaling_question *x = &s->questions[s->n_questions++];
        *x = o->of->questions.items[i];
        x->text = str_copy(s->arena, x->text);
        x->axis = str_copy(s->arena, x->axis);
        s->metrics[x->metric] = true;
    }
    for (int m = 0; m < SCALING_TRAINING; m++)
        s->metrics[m] = true;
    s->metrics[SCALING_TRAINING] |= o->training;
    return arena_failed(s->arena) ? err_no_memory(err) : ASSAY_OK;
}

/* A name that is not a size was treated as a parameter of the architecture and refused; that message names only
 * parameters. */
static assay_status name_sizes(const scaling_ask *a, assay_status status, assay_error *err)
{
    bool parameter = false;
    assert(a);
    sbuf names = {0};
    for (uint32_t k = 0; k < a->n_fixed + a->n_axes; k++)
        parameter |= a->set[k].of && a->set[k].of->kind == SIZE_PARAMETER;
    if (status != ASSAY_ERR_USAGE || !parameter || !err)
        return status;
    char said[sizeof err->message];
    snprintf(said, sizeof said, "%s", err->message);
    const char *stop = said[strlen(said) - 1] == '.' ? "" : ".";
    subject_size_names(a->subject, a->base, &names);
    err_clear(err);
    err_fail(err, status, "%s%s Other sizes: %s.", said, stop, sbuf_cstr(&names));
    sbuf_free(&names);
    return status;
}

static assay_status scale(const scaling_asked *q, scale_work *work, assay_error *err)
{
    scaling_ask *a = memory_zeroed(1, sizeof *a);
    TRY_MEMORY(a, err);
    scaling_request request = {.evaluate = evaluate, .ctx = a};
    *a = (scaling_ask){.subject = q->subject, .base = q->base};
    assay_status s = ask_all(a, q, work, &request, err);
    work->model = str_copy(work->arena, q->base->model);
    work->precision = str_copy(work->arena, profile_precision(q->base));
    if (s == ASSAY_OK)
        s = name_sizes(a, scaling_run(&request, work, err), err);
    work->kv_cache = a->kv_cache;
    free(a);
    return s;
}

assay_status scaling_study(const scaling_asked *q, arena *a, scaling *out, assay_error *err)
{
    scale_work *work = ARENA_NEW(a, scale_work);
    TRY_MEMORY(work, err);
    work->arena = a;
    TRY(scale(q, work, err));
    return scaling_result(work, out) ? ASSAY_OK : err_no_memory(err);
}
