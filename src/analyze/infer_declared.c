/* Reconciles the declared shape of a value with the inferred one.
 *
 * If they contradict, the inferred one is used, with a warning, unless a size was assumed: then the declared one is
 * used. Unknown sizes are taken from the declaration.
 */
#include "analyze/infer.h"
#include "base/sbuf.h"

#define NESTED_MAX 8 /* sequences in optionals in ... that are followed */

/* ---- types ---- */

static assay_status declared_dims(infer_result *r, const ir_type *t, op_info *x, assay_error *err)
{
    int64_t *dims = ARENA_ARRAY(r->arena, int64_t, (size_t)t->rank + 1);
    TRY_MEMORY(dims, err);
    for (int d = 0; d < t->rank; d++)
        dims[d] = t->dims[d].value >= 0 ? t->dims[d].value : infer_symbol(r, t->dims[d].symbol);
    x->rank = t->rank;
    x->dims = dims;
    return ASSAY_OK;
}

static assay_status describe_at(infer_result *r, const ir_type *t, op_info *x, int depth,
                                assay_error *err)
{
    *x = (op_info){.kind = t->kind, .dtype = t->dtype, .rank = -1, .length = -1};
    if (!t->elem && t->rank >= 0)
        TRY(declared_dims(r, t, x, err));
    if (!t->elem || depth >= NESTED_MAX)
        return ASSAY_OK;
    op_info *elem = ARENA_NEW(r->arena, op_info);
    TRY_MEMORY(elem, err);
    TRY(describe_at(r, t->elem, elem, depth + 1, err));
    x->elem = elem;
    if (t->kind == IR_KIND_SEQUENCE || t->kind == IR_KIND_OPTIONAL)
        x->dtype = elem->dtype; /* as of one that an operator makes */
    return ASSAY_OK;
}

assay_status infer_describe(infer_result *r, const ir_type *t, op_info *x, assay_error *err)
{
    return describe_at(r, t, x, 0, err);
}

/* ---- shapes ---- */

static void note_declared(infer_result *r, const ir_value *v, const op_info *x)
{
    sbuf a = {0}, b = {0};
    for (int d = 0; d < x->rank; d++)
        sbuf_printf(&a, "%s%lld", d ? "," : "", (long long)x->dims[d]);
    for (int d = 0; d < v->declared.rank; d++)
        sbuf_printf(&b, "%s%lld", d ? "," : "", (long long)v->declared.dims[d].value);
    notes_add(&r->notes, "declared-shape", v->name, "Export the model again, or ignore this.",
              "The file declares shape [%s], but the operators give [%s], which is used.",
              sbuf_cstr(&b), sbuf_cstr(&a));
    sbuf_free(&a);
    sbuf_free(&b);
}

static bool declared_conflicts(const ir_type *t, const op_info *x)
{
    if (t->rank != x->rank)
        return true;
    for (int d = 0; d < x->rank; d++)
        if (t->dims[d].value >= 0 && x->dims[d] >= 0 && t->dims[d].value != x->dims[d])
            return true;
    return false;
}

/* Fills the dims that rules left unknown from the declaration. */
static void fill_declared(infer_result *r, const ir_type *t, op_info *x)
{
    int64_t *dims = ARENA_ARRAY(r->arena, int64_t, (size_t)(t->rank > 0 ? t->rank : 1));
    if (!dims)
        return;
    for (int d = 0; d < t->rank; d++) {
        dims[d] = x->rank >= 0 ? x->dims[d] : -1;
        if (dims[d] < 0)
            dims[d] = t->dims[d].value >= 0 ? t->dims[d].value : infer_symbol(r, t->dims[d].symbol);
    }
    x->rank = t->rank;
    x->dims = dims;
}

static void take_declared(infer_result *r, const ir_value *v, op_info *x)
{
    const ir_type *t = &v->declared;
    int64_t *dims = ARENA_ARRAY(r->arena, int64_t, (size_t)(t->rank > 0 ? t->rank : 1));
    for (int d = 0; dims && d < t->rank; d++)
        dims[d] = t->dims[d].value >= 0 ? t->dims[d].value : x->dims[d];
    if (!dims)
        return;
    x->dims = dims;
    x->val = NULL;
    notes_add(&r->notes, "assumed", v->name, NULL,
              "The assumed shape was replaced by the declared one.");
}

static void reconcile_tensor(infer_result *r, const ir_value *v, op_info *x)
{
    const ir_type *t = &v->declared;
    if (x->kind == IR_KIND_NONE)
        x->kind = IR_KIND_TENSOR;
    if (x->dtype == IR_UNDEFINED)
        x->dtype = t->dtype;
    if (t->rank < 0 || x->kind != IR_KIND_TENSOR || r->resized)
        return;
    bool differs = x->rank >= 0 && declared_conflicts(t, x);
    if (differs && x->assumed && t->rank == x->rank)
        take_declared(r, v, x);
    else if (differs)
        note_declared(r, v, x);
    else if (!op_shape_full(x)) {
        fill_declared(r, t, x);
        x->assumed = x->assumed || v->flags & IR_VALUE_ASSUMED;
    }
}

/* A sequence, optional or map of which the rules found nothing, or not what it holds. */
static assay_status reconcile_container(infer_result *r, const ir_type *t, op_info *x,
                                        assay_error *err)
{
    op_info declared;
    bool bare = x->kind == t->kind && x->dtype == IR_UNDEFINED;
    if (x->kind != IR_KIND_NONE && !bare)
        return ASSAY_OK;
    TRY(infer_describe(r, t, &declared, err));
    declared.assumed = x->assumed;
    declared.defaulted = x->defaulted;
    if (bare)
        declared.length = x->length;
    *x = declared;
    return ASSAY_OK;
}

assay_status infer_reconcile(infer_result *r, const infer_options *opt, ir_id id, assay_error *err)
{
    const ir_value *v = ir_value_at(r->model, id);
    if (opt->ignore_declared || v->declared.kind == IR_KIND_NONE)
        return ASSAY_OK;
    op_info *x = &r->info[id];
    bool sparse = v->declared.kind == IR_KIND_SPARSE && x->kind == IR_KIND_TENSOR;
    if (v->declared.kind != IR_KIND_TENSOR && !sparse)
        return reconcile_container(r, &v->declared, x, err);
    reconcile_tensor(r, v, x);
    return ASSAY_OK;
}

/* ---- views ---- */

static int open_dims(const op_info *x, int *last)
{
    int n = 0;
    for (int d = 0; d < x->rank; d++)
        if (x->dims[d] < 0) {
            n++;
            *last = d;
        }
    return n;
}

/* Product of the known dims. */
static int64_t taken_by(const op_info *x)
{
    int64_t product = 1;
    for (int d = 0; d < x->rank; d++)
        if (x->dims[d] >= 0 && !num_mul(product, x->dims[d], &product))
            return INT64_MAX;
    return product;
}

static assay_status fill_last(infer_result *r, op_info *x, int at, int64_t size, assay_error *err)
{
    int64_t *dims = arena_copy(r->arena, x->dims, (size_t)x->rank * sizeof *dims);
    TRY_MEMORY(dims, err);
    dims[at] = size;
    x->dims = dims;
    return ASSAY_OK;
}

assay_status infer_fill_view(infer_result *r, op_ctx *c)
{
    ir_id id = c->node->n_outputs ? c->node->outputs[0] : IR_NONE;
    if (id == IR_NONE || !op_has(c, 0) || c->in[0]->assumed)
        return ASSAY_OK;
    op_info *x = &r->info[id];
    int64_t elems = c->in[0]->kind == IR_KIND_TENSOR ? op_numel(c->in[0]) : -1;
    if (x->kind != IR_KIND_TENSOR || x->rank < 0 || x->assumed || elems < 0 || elems == INT64_MAX)
        return ASSAY_OK;
    int last = 0, open = open_dims(x, &last);
    int64_t taken = taken_by(x);
    bool fits = open ? (taken ? elems % taken == 0 : elems == 0) : taken == elems;
    if (!fits)
        return op_fail(c, "input %s and the declared output %s differ in the number of elements",
                       op_shape_text(c, 0), op_dims_text(c, x->rank, x->dims));
    return open == 1 && taken ? fill_last(r, x, last, elems / taken, c->err) : ASSAY_OK;
}
