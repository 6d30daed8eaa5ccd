/* Reading the content of small constants: the shape tensors, axes, scales and trip counts that shape
 * inference needs. Weights are never asked for: rules only look at slots that carry sizes, and
 * anything above the limits below stays unread.
 */
#include "analyze/infer.h"
#include "ops/op_util_eval.h"

static const uint8_t *bytes_of(const infer_result *r, const ir_tensor *t)
{
    if (t->storage == IR_DATA_INLINE)
        return t->bytes;
    if (t->storage == IR_DATA_NONE || !r->model->reader.read)
        return NULL;
    uint8_t *buf = arena_alloc(r->arena, t->size_bytes ? t->size_bytes : 1);
    if (!buf || r->model->reader.read(r->model->reader.ctx, t, buf, NULL) != ASSAY_OK)
        return NULL;
    return buf;
}

const op_val *infer_constant(const infer_result *r, const ir_tensor *t)
{
    uint64_t limit = ir_is_float(t->dtype) ? OP_FLOATS_MAX : OP_VALUE_MAX;
    unsigned bytes = ir_dtype_get(t->dtype)->bits / 8u;
    if (t->n_elems > limit || t->sparse || bytes == 0 || t->size_bytes != t->n_elems * bytes)
        return NULL;
    const uint8_t *p = t->n_elems ? bytes_of(r, t) : (const uint8_t *)"";
    op_val *v = p ? ARENA_NEW(r->arena, op_val) : NULL;
    if (!v || !(v->cells = ARENA_ARRAY(r->arena, op_cell, t->n_elems)))
        return NULL;
    v->n = (int64_t)t->n_elems;
    for (uint64_t k = 0; k < t->n_elems; k++)
        if (!ev_decode(t->dtype, p + k * bytes, &v->cells[k]))
            return NULL;
    return v;
}
