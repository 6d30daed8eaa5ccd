/* Comparing, merging and reshaping whole op_infos: see ops/op_util_info.h. */
#include "ops/op_util_info.h"

#include <assert.h>

#define DEPTH_MAX 8

op_info op_info_none(void)
{
    return (op_info){.kind = IR_KIND_NONE, .rank = -1, .length = -1};
}

op_info op_info_tensor(ir_dtype t)
{
    return (op_info){.kind = IR_KIND_TENSOR, .dtype = t, .rank = -1, .length = -1};
}

op_info op_info_input(const op_ctx *c, uint32_t i)
{
    if (!op_has(c, i))
        return op_info_none();
    op_info x = *c->in[i];
    x.val = op_value(c, i);
    return x;
}

op_info op_info_bare(const op_info *x)
{
    op_info bare = *x;
    bare.val = NULL;
    bare.items = NULL;
    return bare;
}

op_info op_info_scalar(op_ctx *c, ir_dtype t, int64_t content)
{
    op_info x = op_info_tensor(t);
    x.rank = 0;
    op_val *v = ARENA_NEW(c->arena, op_val);
    op_cell *cell = ARENA_NEW(c->arena, op_cell);
    if (v && cell) {
        cell->i = content;
        *v = (op_val){.n = 1, .cells = cell};
        x.val = v;
    }
    return x;
}

bool op_info_truth(const op_info *x, bool *truth)
{
    const op_val *v = x->val;
    if (!v || v->n != 1 || !op_val_known(v, 0) || ir_is_float(x->dtype))
        return false;
    *truth = v->cells[0].i != 0;
    return true;
}

void op_info_put(op_ctx *c, uint32_t o, const op_info *x)
{
    if (o >= c->n_out)
        return;
    bool assumed = c->out[o].assumed;
    c->out[o] = *x;
    c->out[o].assumed |= assumed;
}

/* Constants are read on demand. Outputs of the graph are read like inputs. */
static void load_outputs(const op_ctx *c, ir_id graph, op_info *out, uint32_t n_out)
{
    const ir_graph *g = ir_graph_at(c->model, graph);
    for (uint32_t o = 0; o < n_out && o < g->outputs.n; o++) {
        ir_id id = g->outputs.items[o];
        const op_info *x = &out[o];
        if (x->val || x->kind != IR_KIND_TENSOR || !ir_value_at(c->model, id)->constant)
            continue;
        op_ctx probe = *c;
        probe.in = &x;
        probe.in_ids = &id;
        probe.n_in = 1;
        out[o].val = op_value(&probe, 0);
    }
}

assay_status op_info_run(op_ctx *c, ir_id graph, const op_info *in, uint32_t n_in, op_info *out,
                         uint32_t n_out, assay_error *err)
{
    TRY(c->env->graph(c->env, c, graph, in, n_in, out, n_out, err));
    load_outputs(c, graph, out, n_out);
    return ASSAY_OK;
}

assay_status op_put_scalar(op_ctx *c, uint32_t o, int64_t content)
{
    op_val *v = op_new_val(c, 1, false);
    if (v)
        v->cells[0].i = content;
    op_set_val(c, o, v);
    return ASSAY_OK;
}

/* ---- comparing ---- */

static bool same_dims(const op_info *a, const op_info *b)
{
    if (a->rank != b->rank)
        return false;
    assert(a->rank <= 0 || (a->dims && b->dims));
    return a->rank <= 0 || !memcmp(a->dims, b->dims, (size_t)a->rank * sizeof *a->dims);
}

static bool same_at(const op_info *a, const op_info *b, int depth)
{
    if (a == b)
        return true;
    if (!a || !b || depth > DEPTH_MAX)
        return false;
    return a->kind == b->kind && a->dtype == b->dtype && a->length == b->length &&
           same_dims(a, b) && same_at(a->elem, b->elem, depth + 1);
}

/* Kind, dtype, shape, length, elements. */
static bool op_info_same(const op_info *a, const op_info *b)
{
    return same_at(a, b, 0);
}

static bool same_val(const op_val *a, const op_val *b)
{
    if (a == b)
        return true;
    if (!a || !b || a->n != b->n || !op_val_full(a) || !op_val_full(b))
        return false;
    return a->n == 0 || !memcmp(a->cells, b->cells, (size_t)a->n * sizeof *a->cells);
}

/* ---- merging ---- */

static assay_status merge_dims(op_ctx *c, const op_info *a, const op_info *b, op_info *out)
{
    out->rank = a->rank == b->rank ? a->rank : -1;
    out->dims = NULL;
    if (out->rank <= 0)
        return ASSAY_OK;
    int64_t *dims = ARENA_ARRAY(c->arena, int64_t, (size_t)out->rank);
    TRY_MEMORY(dims, c->err);
    for (int d = 0; d < out->rank; d++)
        dims[d] = a->dims[d] == b->dims[d] ? a->dims[d] : -1;
    out->dims = dims;
    return ASSAY_OK;
}

static assay_status merge_at(op_ctx *c, const op_info *a, const op_info *b, op_info *out,
                             int depth);

/* The element type of an empty sequence says nothing, so the other side's holds for both. */
static assay_status merge_elem(op_ctx *c, const op_info *a, const op_info *b, op_info *out,
                               int depth)
{
    out->elem = NULL;
    if (a->length == 0 && b->elem)
        out->elem = b->elem;
    else if (b->length == 0 && a->elem)
        out->elem = a->elem;
    else if (a->elem && b->elem) {
        op_info *both = ARENA_NEW(c->arena, op_info);
        TRY_MEMORY(both, c->err);
        TRY(merge_at(c, a->elem, b->elem, both, depth + 1));
        out->elem = both;
    }
    return ASSAY_OK;
}

static assay_status merge_at(op_ctx *c, const op_info *a, const op_info *b, op_info *out, int depth)
{
    bool assumed = a->assumed || b->assumed, defaulted = a->defaulted || b->defaulted;
    *out = op_info_none();
    out->assumed = assumed;
    out->defaulted = defaulted;
    if (a->kind != b->kind || depth > DEPTH_MAX)
        return ASSAY_OK;
    out->kind = a->kind;
    out->dtype = a->dtype == b->dtype ? a->dtype : IR_UNDEFINED;
    out->length = a->length == b->length ? a->length : -1;
    out->val = a->dtype == b->dtype && same_dims(a, b) && same_val(a->val, b->val) ? a->val : NULL;
    TRY(merge_dims(c, a, b, out));
    return merge_elem(c, a, b, out, depth);
}

assay_status op_info_merge(op_ctx *c, const op_info *a, const op_info *b, op_info *out)
{
    op_info merged;
    TRY(merge_at(c, a, b, &merged, 0));
    *out = merged;
    return ASSAY_OK;
}

assay_status op_info_covers(op_ctx *c, const op_info *wide, const op_info *x, bool *covers)
{
    op_info merged;
    TRY(merge_at(c, wide, x, &merged, 0));
    *covers = wide->kind == IR_KIND_NONE || op_info_same(&merged, wide);
    return ASSAY_OK;
}

/* ---- types of a file ---- */

static assay_status declared_dims(op_ctx *c, const ir_type *t, op_info *out)
{
    if (t->rank < 0 || t->rank > IR_MAX_RANK)
        return ASSAY_OK;
    int64_t *dims = ARENA_ARRAY(c->arena, int64_t, (size_t)t->rank + 1);
    TRY_MEMORY(dims, c->err);
    for (int d = 0; d < t->rank; d++)
        dims[d] = t->dims[d].value >= 0 ? t->dims[d].value : -1;
    out->rank = t->rank;
    out->dims = dims;
    return ASSAY_OK;
}

static assay_status of_type_at(op_ctx *c, const ir_type *t, op_info *out, int depth)
{
    *out = op_info_none();
    if (!t || depth > DEPTH_MAX)
        return ASSAY_OK;
    out->kind = t->kind;
    out->dtype = t->dtype;
    TRY(declared_dims(c, t, out));
    if (!t->elem)
        return ASSAY_OK;
    op_info *elem = ARENA_NEW(c->arena, op_info);
    TRY_MEMORY(elem, c->err);
    out->elem = elem;
    TRY(of_type_at(c, t->elem, elem, depth + 1));
    if (t->kind == IR_KIND_SEQUENCE || t->kind == IR_KIND_OPTIONAL)
        out->dtype = elem->dtype;
    return ASSAY_OK;
}

assay_status op_info_of_type(op_ctx *c, const ir_type *t, op_info *out)
{
    return of_type_at(c, t, out, 0);
}

/* ---- axes ---- */

assay_status op_info_drop_axis(op_ctx *c, const op_info *x, int axis, op_info *out)
{
    *out = op_info_bare(x);
    if (x->rank < 0)
        return ASSAY_OK;
    int64_t *dims = ARENA_ARRAY(c->arena, int64_t, (size_t)x->rank + 1);
    TRY_MEMORY(dims, c->err);
    for (int d = 0, n = 0; d < x->rank; d++)
        if (d != axis)
            dims[n++] = x->dims[d];
    out->rank = x->rank - 1;
    out->dims = dims;
    return ASSAY_OK;
}

assay_status op_info_add_axis(op_ctx *c, const op_info *x, int axis, int64_t dim, op_info *out)
{
    *out = op_info_bare(x);
    if (x->rank < 0)
        return ASSAY_OK;
    if (x->rank >= IR_MAX_RANK)
        return op_fail(c, "output rank %d exceeds the limit of %d", x->rank + 1, IR_MAX_RANK);
    int64_t *dims = ARENA_ARRAY(c->arena, int64_t, (size_t)x->rank + 1);
    TRY_MEMORY(dims, c->err);
    for (int d = 0, from = 0; d <= x->rank; d++)
        dims[d] = d == axis ? dim : x->dims[from++];
    out->rank = x->rank + 1;
    out->dims = dims;
    return ASSAY_OK;
}

/* ---- sequences ---- */

assay_status op_set_items(op_ctx *c, uint32_t o, ir_dtype t, const op_info *items, int64_t n)
{
    op_info elem = n > 0 ? op_info_bare(&items[0]) : op_info_tensor(t);
    for (int64_t k = 1; k < n; k++)
        TRY(op_info_merge(c, &elem, &items[k], &elem));
    elem.val = NULL;
    TRY(op_set_sequence(c, o, &elem, n));
    if (o < c->n_out) {
        c->out[o].items = n > 0 ? items : NULL;
        c->out[o].assumed |= elem.assumed;
    }
    return ASSAY_OK;
}
