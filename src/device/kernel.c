/* See kernel.h. Number types, the terms that all families share, and the prediction. */
#include "device/kernel.h"

#include <assert.h>
#include <math.h>
#include <string.h>

static const char *const family_names[KERNEL_FAMILIES] = {"gemm",    "prefill", "decode",
                                                          "encoder", "moe",     "collective"};

const char *kernel_family_name(kernel_family f)
{
    return family_names[f];
}

kernel_family kernel_family_find(str name)
{
    int f = 0;
    while (f < KERNEL_FAMILIES && !str_is(name, family_names[f]))
        f++;
    return (kernel_family)f;
}

/* The launch is the shortest time that the tables have of each type: of fp8 it includes the kernel that quantises
 * the activations. */
static const kernel_dtype dtypes[] = {
    {"bfloat16", DEVICE_BF16, false, 2, 2, 2.2e-6},
    {"float16", DEVICE_FP16, false, 2, 2, 2.2e-6},
    {"fp8", DEVICE_FP8, false, 1, 1, 11.5e-6},
    {"fp8_block", DEVICE_FP8, false, 1, 1, 4.5e-6},
    {"nvfp4", DEVICE_FP8, true, 0.5625, 0.5625, 5.5e-6},
    {"sq", DEVICE_INT8, false, 1, 1, 7e-6},
    {"int8_wo", DEVICE_BF16, false, 1, 2, 8e-6},
    {"int4_wo", DEVICE_BF16, false, 0.5, 2, 8e-6},
    {"w4a16_mxfp4", DEVICE_BF16, false, 0.53125, 2, 8e-6},
    {"w4a8_mxfp4_mxfp8", DEVICE_FP8, false, 0.53125, 1, 8e-6},
    {"float32", DEVICE_FP32, false, 4, 4, 2.2e-6},
    {"tfloat32", DEVICE_TF32, false, 4, 4, 2.2e-6},
};
enum { N_DTYPES = sizeof dtypes / sizeof *dtypes };

const kernel_dtype *kernel_dtype_find(str name)
{
    for (int i = 0; i < N_DTYPES; i++)
        if (str_is(name, dtypes[i].name))
            return &dtypes[i];
    device_precision p = device_precision_find(name);
    for (int i = 0; p != DEVICE_PRECISIONS && i < N_DTYPES; i++)
        if (dtypes[i].peak == p && !dtypes[i].fp4)
            return &dtypes[i];
    return NULL;
}

/* ---- terms ---- */

#define USUAL_UNITS       64.0
#define USUAL_CLOCK       1.5e9
#define USUAL_CACHE       (8.0 * 1024 * 1024)
#define CACHE_BYTES_CYCLE 32.0 /* that a unit takes from the last cache in a cycle */
#define MEMORY_SHARE      0.85 /* of its bandwidth that kernels reach */
#define CACHE_SHARE       0.6  /* of it that is left for the data of one kernel */

static double or_usual(double v, double usual)
{
    return v > 0 ? v : usual;
}

kernel_machine kernel_machine_of(const device *d, const kernel_dtype *t)
{
    device_precision p = d->peak[t->peak] > 0
                             ? t->peak
                             : device_precision_on(d, str_of(device_precision_name(t->peak)));
    double peak = p < DEVICE_PRECISIONS ? d->peak[p] : 0;
    double half = fmax(d->peak[DEVICE_BF16], d->peak[DEVICE_FP16]);
    return (kernel_machine){.peak = t->fp4 && d->fp4 > 0 ? d->fp4 : or_usual(peak, 1e12),
                            .bandwidth = or_usual(d->bandwidth, 1e9),
                            .units = or_usual(d->units, USUAL_UNITS),
                            .clock = or_usual(d->clock_hz, USUAL_CLOCK),
                            .cache_bytes = or_usual(d->cache_bytes, USUAL_CACHE),
                            .link = or_usual(d->link, 32e9),
                            .fp4 = d->fp4 > 0,
                            .tensor_rate = half / or_usual(d->units, USUAL_UNITS) /
                                           or_usual(d->clock_hz, USUAL_CLOCK)};
}

void kernel_put(kernel_terms *t, double x)
{
    if (t->n < FIT_TERMS)
        t->x[t->n++] = x;
}

void kernel_part(kernel_terms *t, double seconds)
{
    assert(t->n_parts < KERNEL_PARTS);
    t->parts[t->n_parts++] = seconds;
}

void kernel_hinges(kernel_terms *t, double x, const double *knots, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        kernel_put(t, x > knots[i] ? x - knots[i] : 0);
}

double kernel_moving(const kernel_machine *m, double bytes)
{
    double cache = m->units * m->clock * CACHE_BYTES_CYCLE;
    double full = bytes / (CACHE_SHARE * m->cache_bytes), held = 1 / (1 + full * full * full);
    cache = cache > m->bandwidth ? cache : m->bandwidth;
    return bytes / m->bandwidth / MEMORY_SHARE * (1 - held) + bytes / cache * held;
}

/* t->flops and t->bytes are set. Data that the last cache holds may come from it, so that only the rest is a limit. */
void kernel_begin(kernel_terms *t, const kernel_machine *m, double launch, double arithmetic)
{
    double moving = kernel_moving(m, t->bytes), beyond = t->bytes - 2 * m->cache_bytes;
    double limit = t->flops / m->peak;
    t->base = launch + sqrt(arithmetic * arithmetic + moving * moving);
    t->limit = beyond > 0 && beyond / m->bandwidth > limit ? beyond / m->bandwidth : limit;
    kernel_put(t, 1);
}

void kernel_describe(const kernel_call *c, const kernel_machine *m, kernel_terms *out)
{
    *out = (kernel_terms){0};
    switch (c->family) {
    case KERNEL_GEMM:
        kernel_gemm(c, m, out);
        break;
    case KERNEL_MOE:
        kernel_moe(c, m, out);
        break;
    case KERNEL_COLLECTIVE:
        kernel_collective(c, m, out);
        break;
    default:
        kernel_attention(c, m, out);
    }
}

/* ---- all devices together ---- */

const char *kernel_type_like(str dtype)
{
    if (str_is(dtype, "sq"))
        return "fp8_block";
    return str_is(dtype, "int8_wo") || str_is(dtype, "int4_wo") ? "bfloat16" : NULL;
}

fit_form kernel_pooled_form(const kernel_terms *t, uint32_t n_coefficients)
{
    return t->n_parts && t->n_parts == n_coefficients ? FIT_SUM : FIT_FACTORS;
}

static uint32_t put_type_terms(str dtype, const double *x, uint32_t n, double out[FIT_TERMS])
{
    static const char *const types[] = {"fp8", "fp8_block", "nvfp4"};
    enum { TYPES = sizeof types / sizeof *types, COMPUTE_TERM = 3 };
    const char *like = kernel_type_like(dtype);
    if (n + 2 * TYPES > FIT_TERMS)
        return n;
    for (uint32_t k = 0; k < TYPES; k++) {
        bool is = str_is(like ? str_of(like) : dtype, types[k]);
        out[n + 2 * k] = is ? 1 : 0;
        out[n + 2 * k + 1] = is ? fmin(x[COMPUTE_TERM], 6) : 0;
    }
    return n + 2 * TYPES;
}

uint32_t kernel_pooled_terms(kernel_family f, str dtype, fit_form form, const kernel_terms *t,
                             double out[FIT_TERMS])
{
    if (form == FIT_SUM) {
        memcpy(out, t->parts, sizeof *out * t->n_parts);
        return t->n_parts;
    }
    memcpy(out, t->x, sizeof *out * t->n_ratios);
    return f == KERNEL_GEMM ? put_type_terms(dtype, t->x, t->n_ratios, out) : t->n_ratios;
}

/* ---- prediction ---- */

static bool serves(const kernel_row *r, str id, const kernel_call *c)
{
    return str_eq(r->device, id) && str_is(r->family, kernel_family_name(c->family)) &&
           str_is(r->dtype, c->dtype->name);
}

/* Of several kernels of a device, the one with the most rows behind it. */
static const kernel_row *best_row(const kernel_table *t, str id, const kernel_call *c)
{
    const kernel_row *best = NULL;
    for (uint32_t i = 0; i < t->rows.n; i++)
        if (serves(&t->rows.items[i], id, c) && (!best || t->rows.items[i].rows > best->rows))
            best = &t->rows.items[i];
    return best;
}

const kernel_row *kernel_row_for(const kernel_table *t, const device *d, const kernel_call *c)
{
    const kernel_row *own = d->id.n ? best_row(t, d->id, c) : NULL;
    return own ? own : best_row(t, STR("*"), c);
}

static double seconds_by(const kernel_row *r, const kernel_call *c, const kernel_terms *t)
{
    double pooled[FIT_TERMS];
    if (!str_is(r->device, "*"))
        return fit_seconds(FIT_FACTORS, t->base, t->x, r->c, r->n_terms);
    fit_form form = kernel_pooled_form(t, r->n_terms);
    uint32_t n = kernel_pooled_terms(c->family, str_of(c->dtype->name), form, t, pooled);
    n = n < r->n_terms ? n : r->n_terms;
    return fit_seconds(form, t->base, pooled, r->c, n);
}

/* The type of attention of generated tokens is that of the cache. Tables of all of them are fitted to the peak of half
 * precision. */
static const kernel_dtype *arithmetic_type(const kernel_call *c)
{
    bool has_cache = c->family == KERNEL_PREFILL || c->family == KERNEL_DECODE;
    return has_cache ? kernel_dtype_find(STR("bfloat16")) : c->dtype;
}

kernel_time kernel_predict(const kernel_table *t, const device *d, const kernel_call *c)
{
    kernel_machine m = kernel_machine_of(d, arithmetic_type(c));
    kernel_terms x;
    kernel_describe(c, &m, &x);
    const kernel_row *r = kernel_row_for(t, d, c);
    double s = r ? seconds_by(r, c, &x) : x.base;
    s = s > x.limit ? s : x.limit;
    kernel_time out = {.seconds = s, .low_s = s, .high_s = s, .limit_s = x.limit, .from = r};
    if (r) {
        out.low_s = s * r->low > x.limit ? s * r->low : x.limit;
        out.high_s = s * r->high > s ? s * r->high : s;
    }
    return out;
}
