/* See rebatch.h. */
#include "rewrite/rebatch.h"

#include "ir/build.h"

enum { TARGET_MAX = 16 };

static int64_t old_batch(const ir_model *m)
{
    const ir_graph *g = ir_graph_at(m, 0);
    for (uint32_t i = 0; i < g->inputs.n; i++) {
        const ir_type *t = &ir_value_at(m, g->inputs.items[i])->declared;
        if (t->kind == IR_KIND_TENSOR && t->rank >= 2 && t->dims && t->dims[0].value > 0)
            return t->dims[0].value;
    }
    return -1;
}

/* The same dims with another first one; -1 leaves it open. */
static assay_status set_first(ir_model *m, ir_id id, int64_t first, assay_error *err)
{
    ir_type *t = &ir_value_at(m, id)->declared;
    ir_dim *dims = arena_copy(m->arena, t->dims, sizeof *dims * (size_t)t->rank);
    if (!dims)
        return err_no_memory(err);
    dims[0] = (ir_dim){.value = first};
    t->dims = dims;
    return ASSAY_OK;
}

static assay_status redeclare(ir_model *m, int64_t batch, assay_error *err)
{
    for (ir_id id = 0; id < m->values.n; id++) {
        ir_value *v = ir_value_at(m, id);
        bool tensor = v->declared.kind == IR_KIND_TENSOR && v->declared.rank >= 1 &&
                      v->declared.dims;
        if (v->constant || !tensor)
            continue;
        if (v->graph != 0 || !(v->flags & (IR_VALUE_INPUT | IR_VALUE_OUTPUT)))
            v->declared = (ir_type){.kind = IR_KIND_NONE, .rank = -1};
        else if (v->flags & IR_VALUE_OUTPUT)
            TRY(set_first(m, id, -1, err));
        else if (v->declared.rank >= 2)
            TRY(set_first(m, id, batch, err));
    }
    return ASSAY_OK;
}

/* ---- targets ---- */

static bool read_target(const ir_model *m, ir_id id, int64_t out[TARGET_MAX], uint32_t *n)
{
    const ir_tensor *t = id == IR_NONE ? NULL : ir_value_at(m, id)->constant;
    if (!t || t->dtype != IR_INT64 || t->storage != IR_DATA_INLINE || t->n_elems < 1 ||
        t->n_elems > TARGET_MAX || t->size_bytes != t->n_elems * 8)
        return false;
    *n = (uint32_t)t->n_elems;
    memcpy(out, t->bytes, t->size_bytes);
    return true;
}

static bool change_target(bool reshape, int64_t *target, uint32_t n, int64_t old, int64_t batch)
{
    bool open = false;
    for (uint32_t i = 0; i < n; i++)
        open = open || target[i] == -1;
    if (target[0] == old && (open || !reshape)) {
        target[0] = batch;
        return true;
    }
    if (reshape && !open && target[0] > 0) {
        target[0] = -1;
        return true;
    }
    return false;
}

static assay_status put_target(ir_model *m, ir_id node, const int64_t *target, uint32_t n,
                               assay_error *err)
{
    int64_t dims[] = {n};
    str name = str_printf(m->arena, "assay_batch_%u", node);
    ir_id graph = ir_node_at(m, node)->graph;
    ir_id value = ir_add_value(m, graph, name);
    ir_tensor *t = ir_make_tensor(m, name, IR_INT64, 1, dims);
    if (value == IR_NONE || !t)
        return err_no_memory(err);
    t->storage = IR_DATA_INLINE;
    t->bytes = arena_copy(m->arena, target, sizeof *target * n);
    ir_node *x = ir_node_at(m, node);
    ir_id *inputs = arena_copy(m->arena, x->inputs, sizeof *inputs * x->n_inputs);
    if (!t->bytes || !inputs || !ir_add_constant(m, graph, value, t))
        return err_no_memory(err);
    inputs[1] = value;
    x->inputs = inputs;
    return ASSAY_OK;
}

assay_status rewrite_rebatch(ir_model *m, int64_t batch, assay_error *err)
{
    int64_t old = old_batch(m), target[TARGET_MAX];
    uint32_t n, nodes = m->nodes.n;
    if (old < 0 || old == batch)
        return ASSAY_OK;
    TRY(redeclare(m, batch, err));
    for (ir_id id = 0; id < nodes; id++) {
        const ir_node *x = ir_node_at(m, id);
        bool reshape = str_is(x->op, "Reshape");
        if ((!reshape && !str_is(x->op, "Expand")) || x->domain.n || x->n_inputs < 2)
            continue;
        if (read_target(m, x->inputs[1], target, &n) &&
            change_target(reshape, target, n, old, batch))
            TRY(put_target(m, id, target, n, err));
    }
    return ASSAY_OK;
}
