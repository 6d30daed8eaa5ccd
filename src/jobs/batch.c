/* See batch.h. */
#include "jobs/batch.h"

#include "rewrite/rebatch.h"

#define BUILT "it is first in built-in architectures"

static assay_status read_again(void *model, ir_model **out, assay_error *err)
{
    return job_model_again(model, out, err);
}

static infer_options sizes_of(const assay_model *m, const assay_options *o)
{
    infer_options shapes = {.dims = o->model.dims.items,
                            .n_dims = o->model.dims.n,
                            .user_ops = o->model.ops,
                            .dims_must_exist = !o->model.dims_may_miss};
    if (m->row) /* it has taken shapes and batch already when it was built */
        return shapes;
    shapes.shapes = o->model.shapes.items;
    shapes.n_shapes = o->model.shapes.n;
    return shapes;
}

assay_status job_batch_rule(assay_model *m, const assay_options *o, const batch_rule **out,
                            assay_error *err)
{
    static const batch_rule built = {
        .present = true, .fixed = -1, .certainty = BATCH_BUILT, .why = {BUILT, sizeof BUILT - 1}};
    *out = m->row ? &built : m->batch;
    if (*out)
        return ASSAY_OK;
    batch_question q = {.model = m->ir, .shapes = sizes_of(m, o), .again = read_again, .ctx = m};
    q.shapes.dims_must_exist = false; /* the caller says so */
    batch_rule *rule = ARENA_NEW(m->ir->arena, batch_rule);
    TRY_MEMORY(rule, err);
    TRY(batch_find(&q, m->ir->arena, rule, err));
    *out = m->batch = rule;
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

assay_status job_sized_failed(const job_sized *x, assay_status s, assay_error *err)
{
    return s == ASSAY_ERR_UNSUPPORTED && x->own ? cannot_rebatch(x->batch, err) : s;
}

static assay_status rebatch(assay_model *m, job_sized *x, assay_error *err)
{
    if (x->rule->fixed < 0 || x->rule->fixed == x->batch)
        return ASSAY_OK;
    if (x->rule->certainty == BATCH_LIKELY) /* it was tried */
        return cannot_rebatch(x->batch, err);
    TRY(job_model_again(m, &x->own, err));
    x->ir = x->own;
    return rewrite_rebatch(x->own, x->rule->axes, x->batch, err);
}

assay_status job_sized_make(assay_model *m, const assay_options *o, int64_t batch, job_sized *out,
                            assay_error *err)
{
    *out = (job_sized){.shapes = sizes_of(m, o), .ir = m->ir, .batch = batch};
    if (!batch)
        return ASSAY_OK;
    TRY(job_batch_rule(m, o, &out->rule, err));
    if (m->row)
        return ASSAY_OK;
    if (!out->rule->present)
        return batch == 1 ? ASSAY_OK : no_batch(out->rule, batch, err);
    out->shapes.batch = batch;
    out->shapes.batch_axes = out->rule->axes;
    return rebatch(m, out, err);
}

void job_sized_free(job_sized *x)
{
    ir_model_free(x->own);
    *x = (job_sized){0};
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

assay_status job_implied_batch(assay_model *m, const assay_options *o, int64_t *batch,
                               assay_error *err)
{
    const batch_rule *rule;
    if (m->row || !m->ir || m->ir->inventory || !o->model.shapes.n)
        return ASSAY_OK;
    TRY(job_batch_rule(m, o, &rule, err));
    const infer_shape *s = &o->model.shapes.items[0];
    int axis = rule->present ? batch_axis(rule, shaped_input(m->ir, s), s->rank) : -1;
    if (axis >= 0 && rule->fixed > 0 && s->dims[axis] > 0 && s->dims[axis] != rule->fixed)
        *batch = s->dims[axis];
    return ASSAY_OK;
}
