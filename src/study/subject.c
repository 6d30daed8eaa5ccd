/* See subject.h. */
#include "study/subject.h"

#include "rewrite/rebatch.h"

#define BUILT "it is first in built-in architectures"

static infer_options sizes_of(const study_subject *s)
{
    const model_options *o = s->options;
    infer_options shapes = {.dims = o->dims.items,
                            .n_dims = o->dims.n,
                            .user_ops = o->ops,
                            .dims_must_exist = !o->dims_may_miss};
    if (s->row) /* it has taken shapes and batch already when it was built */
        return shapes;
    shapes.shapes = o->shapes.items;
    shapes.n_shapes = o->shapes.n;
    return shapes;
}

assay_status subject_batch_rule(const study_subject *s, const batch_rule **out, assay_error *err)
{
    static const batch_rule built = {
        .present = true, .fixed = -1, .certainty = BATCH_BUILT, .why = {BUILT, sizeof BUILT - 1}};
    *out = s->row ? &built : *s->batch;
    if (*out)
        return ASSAY_OK;
    arena *a = (*s->ir)->arena;
    batch_question q = {.model = *s->ir, .shapes = sizes_of(s), .again = s->again, .ctx = s->ctx};
    q.shapes.dims_must_exist = false; /* the caller says so */
    batch_rule *rule = ARENA_NEW(a, batch_rule);
    TRY_MEMORY(rule, err);
    TRY(batch_find(&q, a, rule, err));
    *out = *s->batch = rule;
    return ASSAY_OK;
}

static assay_status no_batch(const batch_rule *rule, int64_t batch, assay_error *err)
{
    return err_fail(err, ASSAY_ERR_UNSUPPORTED,
                    "cannot set the batch size to %lld: the model has no batch dimension (" STR_FMT
                    "). Change input sizes with --input-shape or --dim.",
                    (long long)batch, STR_ARG(rule->why));
}

static assay_status cannot_rebatch(int64_t batch, assay_error *err)
{
    err_clear(err);
    return err_fail(err, ASSAY_ERR_UNSUPPORTED,
                    "the model has a fixed batch size and its graph does not accept %lld. Export "
                    "it with a dynamic batch dimension.",
                    (long long)batch);
}

assay_status sized_failed(const sized_model *x, assay_status s, assay_error *err)
{
    return s == ASSAY_ERR_UNSUPPORTED && x->own ? cannot_rebatch(x->batch, err) : s;
}

static assay_status rebatch(const study_subject *s, sized_model *x, assay_error *err)
{
    if (x->rule->fixed < 0 || x->rule->fixed == x->batch)
        return ASSAY_OK;
    if (x->rule->certainty == BATCH_LIKELY) /* it was tried */
        return cannot_rebatch(x->batch, err);
    TRY(s->again(s->ctx, &x->own, err));
    x->ir = x->own;
    return rewrite_rebatch(x->own, x->rule->axes, x->batch, err);
}

assay_status sized_make(const study_subject *s, int64_t batch, sized_model *out, assay_error *err)
{
    *out = (sized_model){.shapes = sizes_of(s), .ir = *s->ir, .batch = batch};
    if (!batch)
        return ASSAY_OK;
    TRY(subject_batch_rule(s, &out->rule, err));
    if (s->row)
        return ASSAY_OK;
    if (!out->rule->present)
        return batch == 1 ? ASSAY_OK : no_batch(out->rule, batch, err);
    out->shapes.batch = batch;
    out->shapes.batch_axes = out->rule->axes;
    return rebatch(s, out, err);
}

void sized_free(sized_model *x)
{
    ir_model_free(x->own);
    *x = (sized_model){0};
}

/* The input that the first shape given is for. */
static uint32_t shaped_input(const ir_model *ir, const infer_shape *s)
{
    const ir_graph *g = ir_graph_at(ir, 0);
    uint32_t i = 0;
    while (s->input.n && i < g->inputs.n &&
           !str_eq(s->input, ir_value_at(ir, g->inputs.items[i])->name))
        i++;
    return i;
}

assay_status subject_implied_batch(const study_subject *s, int64_t *batch, assay_error *err)
{
    const batch_rule *rule;
    if (s->row || !*s->ir || (*s->ir)->inventory || !s->options->shapes.n)
        return ASSAY_OK;
    TRY(subject_batch_rule(s, &rule, err));
    const infer_shape *given = &s->options->shapes.items[0];
    int axis = rule->present ? batch_axis(rule, shaped_input(*s->ir, given), given->rank) : -1;
    if (axis >= 0 && rule->fixed > 0 && given->dims[axis] > 0 && given->dims[axis] != rule->fixed)
        *batch = given->dims[axis];
    return ASSAY_OK;
}
