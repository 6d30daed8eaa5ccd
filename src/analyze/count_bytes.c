/* Bytes that a node moves, and its cost at the requested precision. */
#include <assert.h>

#include "analyze/count.h"
#include "base/num.h"

static ir_dtype weighed_as(ir_dtype t, ir_dtype precision)
{
    return precision != IR_UNDEFINED && ir_is_float(t) ? precision : t;
}

uint64_t count_tensor_bytes(const op_info *x, ir_dtype precision)
{
    int64_t n = x && x->kind == IR_KIND_TENSOR ? op_numel(x) : 0;
    return ir_dtype_bytes(weighed_as(x ? x->dtype : IR_UNDEFINED, precision),
                          n < 0 ? 0 : (uint64_t)n);
}

static bool read_before(const op_ctx *c, uint32_t i)
{
    for (uint32_t j = 0; j < i; j++)
        if (c->in_ids[j] == c->in_ids[i])
            return true;
    return false;
}

/* Bytes the rule gave, at the requested precision. The rules speak of stored types. */
static uint64_t reweigh(uint64_t bytes, const op_info *x, ir_dtype precision)
{
    ir_dtype t = x ? x->dtype : IR_UNDEFINED, as = weighed_as(t, precision);
    unsigned bits = ir_dtype_get(t)->bits;
    if (as == t || bits == 0)
        return bytes;
    return bytes / bits * ir_dtype_get(as)->bits + bytes % bits * ir_dtype_get(as)->bits / bits;
}

static void whole_tensors(const op_ctx *c, op_cost *k)
{
    for (uint32_t i = 0; i < c->n_in; i++)
        k->read[i] = count_tensor_bytes(c->in[i], IR_UNDEFINED);
    for (uint32_t o = 0; o < c->n_out; o++)
        k->written[o] = count_tensor_bytes(&c->out[o], IR_UNDEFINED);
}

/* A weight that is stored quantised is read in that form, whatever precision is requested. */
static uint64_t as_stored(const ir_tensor *t, uint64_t stored, uint64_t bytes)
{
    return (uint64_t)((double)bytes / (double)t->size_bytes * (double)stored + 0.5);
}

static uint64_t read_bytes(const infer_result *r, const op_ctx *c, uint32_t i, ir_dtype precision,
                           uint64_t bytes)
{
    ir_id id = c->in_ids[i];
    const ir_tensor *t = id == IR_NONE ? NULL : ir_value_at(r->model, id)->constant;
    count_stored at = t ? count_stored_as(r, t) : (count_stored){0};
    if (!t || !t->size_bytes || at.as_declared)
        return reweigh(bytes, c->in[i], precision);
    if (precision != IR_UNDEFINED && ir_is_float(at.dtype))
        return reweigh(bytes, c->in[i], precision);
    return bytes == t->size_bytes ? at.bytes : as_stored(t, at.bytes, bytes);
}

/* Long input lists (a Concat of thousands) are not checked for repeats: it would be quadratic. */
static uint64_t input_bytes(const infer_result *r, const op_ctx *c, uint32_t i, ir_dtype precision,
                            const op_cost *k)
{
    return c->n_in <= 64 && read_before(c, i) ? 0 : read_bytes(r, c, i, precision, k->read[i]);
}

static void final_bytes(const infer_result *r, const op_ctx *c, ir_dtype precision, op_cost *k)
{
    for (uint32_t i = 0; i < c->n_in; i++)
        k->read[i] = input_bytes(r, c, i, precision, k);
    for (uint32_t o = 0; o < c->n_out; o++)
        k->written[o] = reweigh(k->written[o], &c->out[o], precision);
}

void count_cost(const op_ctx *c, op_cost *k)
{
    uint64_t *read = k->read, *written = k->written;
    *k = (op_cost){.read = read, .written = written};
    whole_tensors(c, k);
    if (!c->row)
        return;
    if (c->row->flags & (OPF_VIEW | OPF_SHAPE_ONLY | OPF_CONTROL | OPF_CONSTANT))
        op_cost_free(c, k);
    if (c->row->cost)
        c->row->cost(c, k);
    if (k->causal_mac == 0)
        k->causal_mac = k->mac;
}

void count_node(infer_result *r, const op_ctx *c, ir_dtype precision, op_cost *k)
{
    count_cost(c, k);
    if (c->row)
        final_bytes(r, c, precision, k);
}

uint64_t count_moved(const infer_result *r, const op_ctx *c, ir_dtype precision, const op_cost *k)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < c->n_in; i++)
        sum = sat_add(sum, c->row ? input_bytes(r, c, i, precision, k) : k->read[i]);
    for (uint32_t o = 0; o < c->n_out; o++)
        sum = sat_add(sum, c->row ? reweigh(k->written[o], &c->out[o], precision) : k->written[o]);
    return sum;
}
