/* See rebatch_state.h. The state is input 5, of an LSTM also 6: [directions, batch, units], or with layout 1 [batch,
 * directions, units]. It is a constant; or a constant behind Expand, of which one sample is enough; or made by
 * ConstantOfShape.
 */
#include "rewrite/rebatch_state.h"

#include "ir/kit.h"

enum { STATE_RANK = 3, FIRST_STATE = 5, LAST_STATE = 6, STATE_BYTES_MAX = 1 << 24 };

typedef struct states {
    ir_model *m;
    int64_t old, batch;
    int axis;
} states;

static bool is_recurrent(const ir_node *n)
{
    return !n->domain.n && (str_is(n->op, "RNN") || str_is(n->op, "GRU") || str_is(n->op, "LSTM"));
}

static int state_axis(const ir_node *n)
{
    return ir_attr_int(n, "layout", 0) ? 0 : 1;
}

static uint64_t bytes_behind(const ir_tensor *t, int axis)
{
    uint64_t n = t->n_elems ? t->size_bytes / t->n_elems : 0;
    for (int d = axis + 1; d < t->rank; d++)
        n *= (uint64_t)t->dims[d];
    return n;
}

/* NULL when they are not there: a state whose data is missing may be any. */
static const uint8_t *bytes_of(const states *s, const ir_tensor *t)
{
    if (t->storage == IR_DATA_INLINE)
        return t->bytes;
    uint8_t *buf = t->storage == IR_DATA_NONE || !s->m->reader.read
                       ? NULL
                       : arena_alloc(s->m->arena, t->size_bytes + 1);
    return buf && s->m->reader.read(s->m->reader.ctx, t, buf, NULL) == ASSAY_OK ? buf : NULL;
}

static bool same_for_all(const states *s, const ir_tensor *t, const uint8_t *bytes)
{
    uint64_t sample = bytes_behind(t, s->axis), all = sample * (uint64_t)s->old;
    for (uint64_t at = 0; bytes && all && at < t->size_bytes; at += all)
        for (int64_t k = 1; k < s->old; k++)
            if (memcmp(bytes + at, bytes + at + (uint64_t)k * sample, sample) != 0)
                return false;
    return true;
}

/* A file may put anything there: text and elements that share a byte cannot be cut into samples. */
static bool is_state(const states *s, const ir_tensor *t)
{
    return t && t->rank == STATE_RANK && t->dims[s->axis] == s->old && !t->sparse && t->n_elems &&
           ir_is_float(t->dtype) && ir_dtype_get(t->dtype)->bits >= 8 &&
           t->size_bytes <= STATE_BYTES_MAX &&
           t->size_bytes == ir_dtype_bytes(t->dtype, t->n_elems);
}

/* The same state for `batch` samples, in place of input `slot` of a node. */
static assay_status put_state(const states *s, ir_id node, uint32_t slot, const ir_tensor *old,
                              int64_t batch, assay_error *err)
{
    const uint8_t *bytes = bytes_of(s, old);
    int64_t dims[STATE_RANK];
    ir_model *m = s->m;
    if (!same_for_all(s, old, bytes))
        return ASSAY_OK;
    memcpy(dims, old->dims, sizeof dims);
    dims[s->axis] = batch;
    str name = str_printf(m->arena, "assay_state_%u_%u", node, slot);
    ir_tensor *t = ir_make_tensor(m, name, old->dtype, STATE_RANK, dims);
    uint8_t *data = t && bytes ? arena_alloc(m->arena, t->size_bytes + 1) : NULL;
    if (!t || (bytes && !data))
        return err_no_memory(err);
    uint64_t sample = bytes_behind(old, s->axis);
    uint64_t from = sample * (uint64_t)s->old, to = sample * (uint64_t)batch;
    for (uint64_t row = 0; data && from && row < old->size_bytes / from; row++)
        for (int64_t k = 0; k < batch; k++)
            memcpy(data + row * to + (uint64_t)k * sample, bytes + row * from, sample);
    t->storage = data ? IR_DATA_INLINE : IR_DATA_NONE;
    t->bytes = data;
    ir_id value = ir_kit_const_of(m, ir_node_at(m, node)->graph, name, t, 0);
    bool set = value != IR_NONE && ir_kit_set_input(m, ir_node_at(m, node), slot, value);
    return set ? ASSAY_OK : err_no_memory(err);
}

/* ConstantOfShape: [directions, batch, units] is a constant itself. */
static assay_status put_shape(const states *s, ir_id node, assay_error *err)
{
    ir_model *m = s->m;
    const ir_node *n = ir_node_at(m, node);
    const ir_tensor *old = n->n_inputs && n->inputs[0] != IR_NONE
                               ? ir_value_at(m, n->inputs[0])->constant
                               : NULL;
    int64_t shape[STATE_RANK];
    if (!old || old->dtype != IR_INT64 || old->storage != IR_DATA_INLINE ||
        old->size_bytes != sizeof shape)
        return ASSAY_OK;
    memcpy(shape, old->bytes, sizeof shape);
    if (shape[s->axis] != s->old)
        return ASSAY_OK;
    shape[s->axis] = s->batch;
    str name = str_printf(m->arena, "assay_state_shape_%u", node);
    const ir_t of = {.dtype = IR_INT64, .rank = 1, .d = {STATE_RANK}};
    ir_id value = ir_kit_const(m, n->graph, name, &of, shape, 0);
    bool set = value != IR_NONE && ir_kit_set_input(m, ir_node_at(m, node), 0, value);
    return set ? ASSAY_OK : err_no_memory(err);
}

static assay_status change_state(const states *s, ir_id node, uint32_t slot, assay_error *err)
{
    const ir_model *m = s->m;
    const ir_value *v = ir_value_at(m, ir_node_at(m, node)->inputs[slot]);
    if (is_state(s, v->constant))
        return put_state(s, node, slot, v->constant, s->batch, err);
    if (v->producer == IR_NONE)
        return ASSAY_OK;
    const ir_node *by = ir_node_at(m, v->producer);
    if (str_is(by->op, "ConstantOfShape"))
        return put_shape(s, v->producer, err);
    if (!str_is(by->op, "Expand") || !by->n_inputs || by->inputs[0] == IR_NONE)
        return ASSAY_OK;
    const ir_tensor *inner = ir_value_at(m, by->inputs[0])->constant;
    return is_state(s, inner) ? put_state(s, v->producer, 0, inner, 1, err) : ASSAY_OK;
}

assay_status rebatch_states(ir_model *m, int64_t old, int64_t batch, assay_error *err)
{
    states s = {.m = m, .old = old, .batch = batch};
    for (ir_id id = 0, n = m->nodes.n; id < n; id++) {
        if (!is_recurrent(ir_node_at(m, id)))
            continue;
        s.axis = state_axis(ir_node_at(m, id));
        for (uint32_t slot = FIRST_STATE; slot <= LAST_STATE; slot++)
            if (slot < ir_node_at(m, id)->n_inputs && ir_node_at(m, id)->inputs[slot] != IR_NONE)
                TRY(change_state(&s, id, slot, err));
    }
    return ASSAY_OK;
}
