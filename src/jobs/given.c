/* Inputs from memory: assay_options_input() records a tensor, and given_take() makes it fit when the model
 * is run.
 *
 * Whoever calls from a language of dynamic types has float64 and int64 by default; the model asks for
 * float32 and int32. Numbers are converted where nothing but rounding of floats is lost. */
#include "jobs/given.h"

#include <stdio.h>
#include <string.h>

#include "base/num.h"
#include "rewrite/convert.h"

/* ---- one element ---- */

typedef struct figure {
    bool real, negative;
    uint64_t magnitude; /* of a whole number */
    double value;       /* of a real one */
} figure;

static bool castable(ir_dtype t)
{
    const ir_dtype_row *row = ir_dtype_get(t);
    bool wide = row->bits == 8 || row->bits == 16 || row->bits == 32 || row->bits == 64;
    return t == IR_BOOL || (ir_is_integer(t) && wide) || t == IR_FLOAT32 || t == IR_FLOAT64 ||
           t == IR_FLOAT16 || t == IR_BFLOAT16;
}

/* Sign, 5 bits of exponent, 10 of fraction. */
static double from_half(uint16_t h)
{
    uint32_t sign = (uint32_t)(h & 0x8000) << 16, exponent = h >> 10 & 31, fraction = h & 1023;
    if (exponent == 0) /* zero and subnormals: multiples of 2^-24 */
        return (sign ? -1.0 : 1.0) * (double)fraction / 16777216.0;
    uint32_t bits = sign | (exponent == 31 ? 255 : exponent + 112) << 23 | fraction << 13;
    float f;
    memcpy(&f, &bits, sizeof f);
    return (double)f;
}

static double from_bfloat(uint16_t b)
{
    uint32_t bits = (uint32_t)b << 16;
    float f;
    memcpy(&f, &bits, sizeof f);
    return (double)f;
}

static double load_real(ir_dtype t, const char *p)
{
    double d;
    float f;
    uint16_t h;
    if (t == IR_FLOAT64) {
        memcpy(&d, p, sizeof d);
        return d;
    }
    if (t == IR_FLOAT32) {
        memcpy(&f, p, sizeof f);
        return (double)f;
    }
    memcpy(&h, p, sizeof h);
    return t == IR_FLOAT16 ? from_half(h) : from_bfloat(h);
}

static figure load(ir_dtype t, const char *p)
{
    unsigned bits = ir_dtype_get(t)->bits;
    uint64_t u = 0;
    if (ir_is_float(t))
        return (figure){.real = true, .value = load_real(t, p)};
    memcpy(&u, p, bits / 8); /* little-endian, as the data is */
    uint64_t sign = (uint64_t)1 << (bits - 1);
    bool negative = ir_dtype_get(t)->cls == IR_CLASS_INT && (u & sign);
    uint64_t mask = bits == 64 ? UINT64_MAX : ((uint64_t)1 << bits) - 1;
    return (figure){.negative = negative, .magnitude = negative ? (~u + 1) & mask : u};
}

static void store_real(ir_dtype t, double v, char *p)
{
    float f = (float)v;
    uint16_t h = t == IR_FLOAT16 ? convert_to_half(f) : convert_to_bfloat(f);
    if (t == IR_FLOAT64)
        memcpy(p, &v, sizeof v);
    else if (t == IR_FLOAT32)
        memcpy(p, &f, sizeof f);
    else
        memcpy(p, &h, sizeof h);
}

static bool store(ir_dtype t, figure x, char *p)
{
    const ir_dtype_row *row = ir_dtype_get(t);
    if (ir_is_float(t)) {
        double whole = x.negative ? -(double)x.magnitude : (double)x.magnitude;
        store_real(t, x.real ? x.value : whole, p);
        return true;
    }
    unsigned bits = row->cls == IR_CLASS_INT ? row->bits - 1u : row->bits;
    uint64_t top = t == IR_BOOL ? 1 : bits >= 64 ? UINT64_MAX : ((uint64_t)1 << bits) - 1;
    if (x.negative && row->cls != IR_CLASS_INT && x.magnitude)
        return false;
    if (x.magnitude > top + (x.negative ? 1u : 0u))
        return false;
    uint64_t u = x.negative ? ~x.magnitude + 1 : x.magnitude;
    memcpy(p, &u, row->bits / 8);
    return true;
}

/* ---- a tensor ---- */

assay_status given_cast(str input, ir_dtype from, const void *data, uint64_t n, ir_dtype to,
                        void *out, assay_error *err)
{
    const char *p = data;
    char *q = out;
    if (!castable(from) || !castable(to) || (ir_is_float(from) && !ir_is_float(to)))
        return err_fail(err, ASSAY_ERR_USAGE,
                        "The data given for input '" STR_FMT
                        "' is %s, the model takes %s: convert it first.",
                        STR_ARG(input), ir_dtype_get(from)->name, ir_dtype_get(to)->name);
    for (uint64_t i = 0; i < n; i++) {
        if (!store(to, load(from, p), q))
            return err_fail(err, ASSAY_ERR_USAGE,
                            "Element %llu of the data given for input '" STR_FMT
                            "' is outside of what %s can hold.",
                            (unsigned long long)i, STR_ARG(input), ir_dtype_get(to)->name);
        p += ir_dtype_get(from)->bits / 8;
        q += ir_dtype_get(to)->bits / 8;
    }
    return ASSAY_OK;
}

static void put_dims(const int64_t *dims, int rank, char *out, size_t n)
{
    size_t used = 0;
    out[0] = 0;
    for (int i = 0; i < rank && used < n; i++)
        used += (size_t)snprintf(out + used, n - used, "%s%lld", i ? "x" : "", (long long)dims[i]);
}

static assay_status other_shape(const input_want *w, const tensor_file *t, assay_error *err)
{
    char wanted[128], given[128];
    put_dims(w->dims, w->rank, wanted, sizeof wanted);
    put_dims(t->dims, t->rank, given, sizeof given);
    return err_fail(err, ASSAY_ERR_UNSUPPORTED,
                    "The data given for input '" STR_FMT
                    "' is %s, and the model would be run with %s.",
                    STR_ARG(w->name), t->rank ? given : "a single number",
                    w->rank ? wanted : "a single number");
}

/* Everything but the batch must be the same; the batch too, unless another was asked for. */
static bool fits(const input_want *w, const tensor_file *t, bool other_batch)
{
    if (t->rank != w->rank)
        return false;
    for (int i = 0; i < w->rank; i++) {
        bool batch = i == w->batch_axis && other_batch && t->dims[i] > 0;
        if (w->dims[i] != t->dims[i] && !batch)
            return false;
    }
    return true;
}

static uint64_t elements(const int64_t *dims, int from, int rank)
{
    uint64_t n = 1;
    for (int i = from; i < rank; i++)
        n = sat_mul(n, dims[i] > 0 ? (uint64_t)dims[i] : 0);
    return n;
}

/* Sample k of the batch is sample k modulo the number that was given. What stands before the batch dimension counts
 * rows of samples, each of `have` bytes and to be of `need`. */
static void repeat(const char *from, char *to, uint64_t rows, uint64_t have, uint64_t need)
{
    for (uint64_t row = 0; row < rows; row++)
        for (uint64_t at = 0; have && at < need;) {
            uint64_t n = need - at < have ? need - at : have;
            memcpy(to + row * need + at, from + row * have, n);
            at += n;
        }
}

static void *keep(job_runnable *x, uint64_t size)
{
    arena *own = size < SIZE_MAX / 4 ? arena_new((size_t)size + 4096) : NULL;
    char *data = own ? arena_alloc(own, (size_t)size + 1) : NULL;
    job_kept *k = data ? ARENA_NEW(x->work, job_kept) : NULL;
    if (!k) {
        arena_free(own);
        return NULL;
    }
    *k = (job_kept){.arena = own, .next = x->kept};
    x->kept = k;
    return data;
}

static assay_status fit(const tensor_file *t, job_runnable *x, input_want *w, assay_error *err)
{
    uint64_t n = elements(t->dims, 0, t->rank), m = elements(w->dims, 0, w->rank);
    uint64_t have = ir_dtype_bytes(w->dtype, n), need = ir_dtype_bytes(w->dtype, m);
    uint64_t rows = w->batch_axis > 0 ? elements(w->dims, 0, w->batch_axis) : 1;
    const char *data = t->data;
    if (t->dtype != w->dtype) {
        char *cast = keep(x, have);
        if (!cast)
            return err_no_memory(err);
        TRY(given_cast(w->name, t->dtype, t->data, n, w->dtype, cast, err));
        data = cast;
    }
    if (have < need || (have > need && rows > 1)) {
        char *all = keep(x, need);
        if (!all)
            return err_no_memory(err);
        repeat(data, all, rows, rows ? have / rows : 0, rows ? need / rows : 0);
        data = all;
    }
    w->data = data;
    w->data_bytes = need;
    return ASSAY_OK;
}

assay_status given_take(const job_input *in, job_runnable *x, input_want *w, assay_error *err)
{
    if (!fits(w, &in->given, x->batch > 0))
        return other_shape(w, &in->given, err);
    return fit(&in->given, x, w, err);
}
