/* See rebatch.h. */
#include "rewrite/rebatch.h"

#include "ir/kit.h"
#include "rewrite/rebatch_state.h"

enum { TARGET_MAX = 16 };

/* The dimension of an input that is the batch, or -1. */
static int axis_of(const ir_model *m, const int *axes, uint32_t input)
{
    const ir_type *t = &ir_value_at(m, ir_graph_at(m, 0)->inputs.items[input])->declared;
    if (t->kind != IR_KIND_TENSOR || !t->dims)
        return -1;
    if (!axes || axes[input] == REBATCH_FIRST)
        return t->rank >= 2 ? 0 : -1;
    return axes[input] < t->rank ? axes[input] : -1;
}

/* What the file fixes, and on which axis it is there. */
typedef struct old_batch {
    int64_t size; /* -1: nothing */
    int axis;
    bool first; /* it is the first dimension of every input that has it */
} old_batch;

static old_batch batch_of(const ir_model *m, const int *axes)
{
    const ir_graph *g = ir_graph_at(m, 0);
    old_batch old = {.size = -1, .first = true};
    for (uint32_t i = 0; i < g->inputs.n; i++) {
        int axis = axis_of(m, axes, i);
        if (axis < 0)
            continue;
        int64_t size = ir_value_at(m, g->inputs.items[i])->declared.dims[axis].value;
        old.first = old.first && axis == 0;
        if (old.size < 0 && size > 0)
            old = (old_batch){.size = size, .axis = axis, .first = old.first};
    }
    return old;
}

/* ---- declared shapes ---- */

/* The same dims with another one; -1 leaves it open, axis -1 is all of them. */
static assay_status set_dim(ir_model *m, ir_id id, int axis, int64_t size, assay_error *err)
{
    ir_type *t = &ir_value_at(m, id)->declared;
    ir_dim *dims = arena_copy(m->arena, t->dims, sizeof *dims * (size_t)t->rank);
    TRY_MEMORY(dims, err);
    for (int d = 0; d < t->rank; d++)
        if (axis < 0 || axis == d)
            dims[d] = (ir_dim){.value = size};
    t->dims = dims;
    return ASSAY_OK;
}

static assay_status redeclare_inputs(ir_model *m, const int *axes, int64_t batch, assay_error *err)
{
    for (uint32_t i = 0; i < ir_graph_at(m, 0)->inputs.n; i++) {
        int axis = axis_of(m, axes, i);
        if (axis >= 0)
            TRY(set_dim(m, ir_graph_at(m, 0)->inputs.items[i], axis, batch, err));
    }
    return ASSAY_OK;
}

/* An output is known to have the batch first only where all inputs have it so. */
static assay_status forget_others(ir_model *m, const old_batch *old, assay_error *err)
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
            TRY(set_dim(m, id, old->first ? 0 : -1, -1, err));
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

/* The number that stands for the batch: where the inputs have it, or the first, into which it is merged. */
static uint32_t place_in(const int64_t *target, uint32_t n, const old_batch *old)
{
    uint32_t at = (uint32_t)old->axis;
    return at < n && target[at] > 0 && target[at] % old->size == 0 ? at : 0;
}

static bool change_target(bool reshape, int64_t *target, uint32_t n, const old_batch *old,
                          int64_t batch)
{
    bool open = false;
    uint32_t at = place_in(target, n, old);
    for (uint32_t i = 0; i < n; i++)
        open = open || target[i] == -1;
    if (target[at] == old->size && (open || !reshape)) {
        target[at] = batch;
        return true;
    }
    if (reshape && !open && target[at] > 0) {
        target[at] = -1;
        return true;
    }
    return false;
}

static assay_status put_target(ir_model *m, ir_id node, uint32_t slot, const int64_t *target,
                               uint32_t n, assay_error *err)
{
    const ir_t of = {.dtype = IR_INT64, .rank = 1, .d = {n}};
    str name = str_printf(m->arena, "assay_batch_%u", node);
    ir_id value = ir_kit_const(m, ir_node_at(m, node)->graph, name, &of, target, 0);
    bool set = value != IR_NONE && ir_kit_set_input(m, ir_node_at(m, node), slot, value);
    return set ? ASSAY_OK : err_no_memory(err);
}

/* The input that holds sizes of a whole result; 0: there is none. */
static uint32_t target_slot(const ir_node *x)
{
    static const struct {
        const char *op;
        uint32_t slot;
    } rows[] = {{"Reshape", 1}, {"Expand", 1}, {"Resize", 3}};
    for (size_t i = 0; !x->domain.n && i < sizeof rows / sizeof *rows; i++)
        if (str_is(x->op, rows[i].op) && !ir_attr_find(x, "axes"))
            return x->n_inputs > rows[i].slot ? rows[i].slot : 0;
    return 0;
}

assay_status rewrite_rebatch(ir_model *m, const int *axes, int64_t batch, assay_error *err)
{
    const old_batch old = batch_of(m, axes);
    int64_t target[TARGET_MAX];
    uint32_t n, nodes = m->nodes.n;
    if (old.size < 0 || old.size == batch)
        return ASSAY_OK;
    TRY(redeclare_inputs(m, axes, batch, err));
    TRY(forget_others(m, &old, err));
    for (ir_id id = 0; id < nodes; id++) {
        const ir_node *x = ir_node_at(m, id);
        uint32_t slot = target_slot(x);
        if (slot && read_target(m, x->inputs[slot], target, &n) &&
            change_target(str_is(x->op, "Reshape"), target, n, &old, batch))
            TRY(put_target(m, id, slot, target, n, err));
    }
    return rebatch_states(m, old.size, batch, err);
}
