/* See inputs.h. */
#include "measure/inputs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/num.h"
#include "base/rng.h"

enum { ALIGN = 64, RANK_MAX = 64 };

/* ---- one element of each type ---- */

static uint16_t to_half(double v)
{
    float f = (float)v;
    uint32_t x;
    memcpy(&x, &f, sizeof x);
    uint32_t sign = x >> 16 & 0x8000, bits = x & 0x7fffffff;
    if (bits < 0x38800000) /* below the smallest normal number: near enough to zero for an input */
        return (uint16_t)sign;
    if (bits >= 0x47800000)
        return (uint16_t)(sign | 0x7bff);
    return (uint16_t)(sign | ((bits - 0x38000000 + 0x1000) >> 13));
}

static uint16_t to_bfloat(double v)
{
    float f = (float)v;
    uint32_t x;
    memcpy(&x, &f, sizeof x);
    return (uint16_t)((x + 0x8000) >> 16);
}

static void put_real(ir_dtype t, void *data, uint64_t i, double v)
{
    if (t == IR_FLOAT32)
        ((float *)data)[i] = (float)v;
    else if (t == IR_FLOAT64)
        ((double *)data)[i] = v;
    else if (t == IR_FLOAT16)
        ((uint16_t *)data)[i] = to_half(v);
    else if (t == IR_BFLOAT16)
        ((uint16_t *)data)[i] = to_bfloat(v);
}

static void put_whole(ir_dtype t, void *data, uint64_t i, uint64_t v)
{
    switch (ir_dtype_get(t)->bits) {
    case 8:
        ((uint8_t *)data)[i] = (uint8_t)v;
        break;
    case 16:
        ((uint16_t *)data)[i] = (uint16_t)v;
        break;
    case 32:
        ((uint32_t *)data)[i] = (uint32_t)v;
        break;
    case 64:
        ((uint64_t *)data)[i] = v;
        break;
    default:
        break;
    }
}

static uint64_t limit_of(ir_dtype t)
{
    const ir_dtype_row *row = ir_dtype_get(t);
    unsigned bits = row->cls == IR_CLASS_INT ? row->bits - 1u : row->bits;
    return bits >= 63 ? INT64_MAX : ((uint64_t)1 << bits) - 1;
}

static uint64_t whole_at(const input_want *w, rng *r, uint64_t i, uint64_t last)
{
    uint64_t top = limit_of(w->dtype), bound = w->bound && w->bound - 1 < top ? w->bound : top;
    switch (w->role) {
    case INPUT_INDEX:
        return w->bound ? rng_next(r) % bound : 0;
    case INPUT_POSITION:
        return last ? (w->from + i % last) % (bound ? bound : 1) : 0;
    case INPUT_LENGTH:
        return bound == top ? 1 : bound;
    case INPUT_MASK:
        return 1;
    case INPUT_NUMBERS:
        return (uint64_t)(int64_t)fmax(-0x1p62, fmin(0x1p62, w->numbers[i])); /* sizes may be any */
    case INPUT_PLAIN:
        break;
    }
    return ir_dtype_get(w->dtype)->bits == 8 ? 1 + rng_next(r) % top : 1; /* may be divided by */
}

static double real_at(const input_want *w, rng *r, uint64_t i)
{
    if (w->role == INPUT_NUMBERS)
        return w->numbers[i];
    return w->role == INPUT_MASK ? 1 : rng_normal(r);
}

void inputs_fill(const input_want *w, uint64_t n, uint64_t seed, void *data)
{
    rng r;
    uint64_t last = w->rank > 0 && w->dims[w->rank - 1] > 0 ? (uint64_t)w->dims[w->rank - 1] : 1;
    rng_seed(&r, seed);
    for (uint64_t i = 0; i < n; i++)
        if (w->dtype == IR_BOOL)
            ((uint8_t *)data)[i] = 1;
        else if (ir_is_float(w->dtype))
            put_real(w->dtype, data, i, real_at(w, &r, i));
        else if (w->dtype == IR_STRING)
            ((const char **)data)[i] = "1"; /* text that also reads as a number */
        else
            put_whole(w->dtype, data, i, whole_at(w, &r, i, last));
}

/* ---- all inputs of a session ---- */

static const input_want *find_want(const input_want *wants, uint32_t n, const char *name)
{
    for (uint32_t i = 0; i < n; i++)
        if (str_is(wants[i].name, name))
            return &wants[i];
    return NULL;
}

static bool can_make(ir_dtype t)
{
    const ir_dtype_row *row = ir_dtype_get(t);
    bool wide = row->bits == 8 || row->bits == 16 || row->bits == 32 || row->bits == 64;
    return t == IR_BOOL || t == IR_STRING || (ir_is_integer(t) && wide) || t == IR_FLOAT32 ||
           t == IR_FLOAT64 || t == IR_FLOAT16 || t == IR_BFLOAT16;
}

static assay_status count_elements(const input_want *w, uint64_t *n, assay_error *err)
{
    *n = 1;
    for (int i = 0; i < w->rank; i++)
        if (w->dims[i] < 0 || !num_mulu(*n, (uint64_t)w->dims[i], n))
            return err_fail(err, ASSAY_ERR_UNSUPPORTED,
                            "the shape of input '" STR_FMT
                            "' is unknown. Set it with --input-shape.",
                            STR_ARG(w->name));
    return *n <= NUM_SATURATED / 16 ? ASSAY_OK : err_no_memory(err);
}

static assay_status wrong_size(const input_want *w, uint64_t need, assay_error *err)
{
    return err_fail(err, ASSAY_ERR_UNSUPPORTED,
                    "the data for input '" STR_FMT "' has %llu bytes; its shape and type need %llu",
                    STR_ARG(w->name), (unsigned long long)w->data_bytes, (unsigned long long)need);
}

static assay_status make_input(const input_want *w, const engine_io *io, uint64_t seed,
                               engine_tensor *t, assay_error *err)
{
    uint64_t n;
    ir_dtype dtype = io->dtype != IR_UNDEFINED ? io->dtype : w->dtype;
    input_want fitted = *w;
    fitted.dtype = dtype;
    TRY(count_elements(w, &n, err));
    if (!io->is_tensor || (!w->data && !can_make(dtype)))
        return err_fail(err, ASSAY_ERR_UNSUPPORTED, "cannot generate data for input '%s' (%s)",
                        io->name, io->is_tensor ? ir_dtype_get(dtype)->name : "not a tensor");
    if (w->data && dtype == IR_STRING)
        return err_fail(err, ASSAY_ERR_UNSUPPORTED,
                        "input '%s' takes strings, which --input does not support. Omit it to use "
                        "generated strings.",
                        io->name);
    uint64_t size = ir_dtype_bytes(dtype, n), room = (size + ALIGN) / ALIGN * ALIGN;
    if (w->data && w->data_bytes != size)
        return wrong_size(w, size, err);
    *t = (engine_tensor){.dtype = dtype, .rank = w->rank, .dims = w->dims, .size_bytes = size};
    t->data = aligned_alloc(ALIGN, room);
    TRY_MEMORY(t->data, err);
    if (w->data)
        memcpy(t->data, w->data, size);
    else
        inputs_fill(&fitted, n, seed, t->data);
    return ASSAY_OK;
}

assay_status inputs_make(const input_want *wants, uint32_t n_wants, const engine_session_info *info,
                         uint64_t seed, input_set *out, assay_error *err)
{
    *out = (input_set){.tensors = memory_zeroed(info->n_inputs + 1u, sizeof(engine_tensor))};
    TRY_MEMORY(out->tensors, err);
    out->n = info->n_inputs;
    for (uint32_t i = 0; i < info->n_inputs; i++) {
        const input_want *w = find_want(wants, n_wants, info->inputs[i].name);
        if (!w)
            return err_fail(err, ASSAY_ERR_ENGINE,
                            "the engine needs an input '%s' that the model does not have",
                            info->inputs[i].name);
        TRY(make_input(w, &info->inputs[i], seed + i * 7919u, &out->tensors[i], err));
        out->size_bytes += out->tensors[i].size_bytes;
    }
    return ASSAY_OK;
}

void inputs_free(input_set *s)
{
    for (uint32_t i = 0; s->tensors && i < s->n; i++)
        free(s->tensors[i].data);
    free(s->tensors);
    *s = (input_set){0};
}
