/* Converts numbers from one type to another: single 16-bit numbers and whole tensors. */
#include <math.h>
#include <string.h>

#include "ir/dtype.h"

/* ---- floats ---- */

static uint32_t bits_of(float v)
{
    uint32_t b;
    memcpy(&b, &v, sizeof b);
    return b;
}

uint16_t ir_half_of(float v)
{
    uint32_t b = bits_of(v), a = b & 0x7fffffff, sign = b >> 16 & 0x8000;
    if (a > 0x7f800000)
        return (uint16_t)(sign | 0x7e00);
    if (a == 0x7f800000)
        return (uint16_t)(sign | 0x7c00);
    if (a >= 0x477ff000)
        return (uint16_t)(sign | 0x7bff);
    if (a < 0x38800000) /* adding 1/2 rounds to multiples of 2^-24, the smallest half */
        return (uint16_t)(sign | (bits_of(fabsf(v) + 0.5f) - bits_of(0.5f)));
    return (uint16_t)(sign | (a - 0x38000000 + 0xfff + (a >> 13 & 1)) >> 13);
}

uint16_t ir_bfloat_of(float v)
{
    uint32_t b = bits_of(v), a = b & 0x7fffffff;
    if (a > 0x7f800000)
        return (uint16_t)(b >> 16 | 0x40);
    uint32_t r = (b + 0x7fff + (b >> 16 & 1)) >> 16;
    return (uint16_t)(a < 0x7f800000 && (r & 0x7fff) == 0x7f80 ? r - 1 : r);
}

static double single(uint32_t bits)
{
    float f;
    memcpy(&f, &bits, sizeof f);
    return (double)f;
}

/* Sign, 5 bits of exponent, 10 of fraction. */
static double from_half(uint32_t bits)
{
    int e = (int)(bits >> 10 & 31);
    double m = (double)(bits & 1023), sign = bits >> 15 & 1 ? -1.0 : 1.0;
    if (e == 31)
        return m != 0 ? (double)NAN : sign * (double)INFINITY;
    return sign * (e == 0 ? ldexp(m, -24) : ldexp(m + 1024, e - 25));
}

double ir_load_float(ir_dtype t, const void *p)
{
    double d;
    uint32_t u = 0;
    if (t == IR_FLOAT64) {
        memcpy(&d, p, sizeof d);
        return d;
    }
    memcpy(&u, p, t == IR_FLOAT32 ? 4 : 2); /* little-endian, as the data is */
    return t == IR_FLOAT32 ? single(u) : t == IR_FLOAT16 ? from_half(u) : single(u << 16);
}

/* ---- any number ---- */

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

static figure load(ir_dtype t, const char *p)
{
    unsigned bits = ir_dtype_get(t)->bits;
    uint64_t u = 0;
    if (ir_is_float(t))
        return (figure){.real = true, .value = ir_load_float(t, p)};
    memcpy(&u, p, bits / 8); /* little-endian, as the data is */
    uint64_t sign = (uint64_t)1 << (bits - 1);
    bool negative = ir_dtype_get(t)->cls == IR_CLASS_INT && (u & sign);
    uint64_t mask = bits == 64 ? UINT64_MAX : ((uint64_t)1 << bits) - 1;
    return (figure){.negative = negative, .magnitude = negative ? (~u + 1) & mask : u};
}

static void store_real(ir_dtype t, double v, char *p)
{
    float f = (float)v;
    uint16_t h = t == IR_FLOAT16 ? ir_half_of(f) : ir_bfloat_of(f);
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

bool ir_can_cast(ir_dtype from, ir_dtype to)
{
    return castable(from) && castable(to) && (!ir_is_float(from) || ir_is_float(to));
}

uint64_t ir_cast(ir_dtype from, const void *data, uint64_t n, ir_dtype to, void *out)
{
    const char *p = data;
    char *q = out;
    for (uint64_t i = 0; i < n; i++) {
        if (!store(to, load(from, p), q))
            return i;
        p += ir_dtype_get(from)->bits / 8;
        q += ir_dtype_get(to)->bits / 8;
    }
    return n;
}
