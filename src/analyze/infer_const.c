/* Reading the content of small constants: the shape tensors, axes, scales and trip counts that shape
 * inference needs. Weights are never asked for: rules only look at slots that carry sizes, and
 * anything above the limits below stays unread.
 */
#include <math.h>

#include "analyze/infer.h"

static uint64_t load_le(const uint8_t *p, unsigned bytes)
{
    uint64_t v = 0;
    for (unsigned b = 0; b < bytes; b++)
        v |= (uint64_t)p[b] << (8 * b);
    return v;
}

static double half_to_double(uint16_t h)
{
    int exponent = (h >> 10) & 31, fraction = h & 1023;
    double v = exponent == 0    ? ldexp(fraction, -24)
               : exponent == 31 ? (fraction ? NAN : INFINITY)
                                : ldexp(1024 + fraction, exponent - 25);
    return h & 0x8000 ? -v : v;
}

static double f32_from_bits(uint32_t bits)
{
    float f;
    memcpy(&f, &bits, sizeof f);
    return (double)f;
}

/* One element; false when its dtype has no cell form. */
static bool load_cell(ir_dtype t, const uint8_t *p, op_cell *cell)
{
    unsigned bits = ir_dtype_get(t)->bits;
    uint64_t raw = bits >= 8 ? load_le(p, bits / 8) : 0;
    switch (ir_dtype_get(t)->cls) {
    case IR_CLASS_BOOL:
        cell->i = raw != 0;
        return true;
    case IR_CLASS_UINT:
        cell->i = (int64_t)raw;
        return bits >= 8 && raw <= INT64_MAX;
    case IR_CLASS_INT:
        cell->i = (int64_t)(raw << (64 - bits)) >> (64 - bits);
        return bits >= 8;
    case IR_CLASS_FLOAT:
        break;
    default:
        return false;
    }
    if (t == IR_FLOAT32)
        cell->f = f32_from_bits((uint32_t)raw);
    else if (t == IR_BFLOAT16)
        cell->f = f32_from_bits((uint32_t)raw << 16);
    else if (t == IR_FLOAT16)
        cell->f = half_to_double((uint16_t)raw);
    else if (t == IR_FLOAT64)
        memcpy(&cell->f, &raw, sizeof cell->f);
    else
        return false;
    return true;
}

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
        if (!load_cell(t->dtype, p + k * bytes, &v->cells[k]))
            return NULL;
    return v;
}
