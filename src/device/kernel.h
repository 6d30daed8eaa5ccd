/* The time of one kernel on one device, from physical terms: arithmetic at the peak of its number type with whole tiles
 * and waves, bytes at the bandwidth of the cache or memory that holds them, the launch. What those leave out is a
 * factor exp(sum c_j x_j), whose coefficients were fitted to measured tables (data/kernels.csv, tools/fit_devices):
 *
 *   base   = launch + sqrt(arithmetic^2 + moving^2)
 *   time   = max(limit, base exp(sum c_j x_j))
 *   limit  = max(FLOPs / peak, bytes / bandwidth of memory), never undercut unless the data stay in the cache
 *
 * The x_j are logarithms of ratios (waves per unit, bytes per cache, arithmetic over moving, work over launch) and
 * hinges max(0, x - knot) on them: at most 50 per table. A device that was not measured takes the coefficients of the
 * pooled rows (device "*"), and its error is that of a generation left out. They are fitted to the ratios alone, or,
 * where launches, waves of blocks and bytes add up (attention, experts), they are factors of those parts:
 *
 *   time   = max(limit, sum exp(c_j) part_j)      part_j: seconds by the data sheet
 *
 * Families: GEMM, attention of new tokens (prefill), of one token against a cache (decode), of an encoder, mixtures of
 * experts, and collectives. Elementwise operators, norms and gathers are terms of whole models (device/runtime.h).
 */
#ifndef DEVICE_KERNEL_H
#define DEVICE_KERNEL_H

#include "device/devices.h"
#include "device/fit.h"

typedef enum kernel_family {
    KERNEL_GEMM,
    KERNEL_PREFILL,
    KERNEL_DECODE,
    KERNEL_ENCODER,
    KERNEL_MOE,
    KERNEL_COLLECTIVE,
    KERNEL_FAMILIES
} kernel_family;

/* "gemm", "prefill"; and back (KERNEL_FAMILIES: unknown). */
const char *kernel_family_name(kernel_family f);
kernel_family kernel_family_find(str name);

/* Number types of kernels: more than a device has peaks for, because weights and activations differ. */
typedef struct kernel_dtype {
    const char *name; /* "fp8_block", as the measured tables call it */
    device_precision peak;
    bool fp4; /* at the device's fp4 rate, where it has one */
    double weight_bytes, activation_bytes;
    double launch_s; /* least time of a kernel of this type: quantising included */
} kernel_dtype;
const kernel_dtype *kernel_dtype_find(str name); /* NULL: unknown */

typedef struct kernel_call {
    kernel_family family;
    const kernel_dtype *dtype;
    double m, n, k;                                                  /* out[m,n] = x[m,k] w[n,k] */
    double batch, queries, past, heads, kv_heads, head_size, window; /* window 0: none */
    double kv_bytes;                                                 /* of a number in the cache */
    double tokens, hidden, inner, topk, experts, shares; /* shares: devices that hold experts */
    double skew;                           /* exponent of a power law of experts' tokens; 0: even */
    double devices, message_bytes, passes; /* passes: of the message over the link */
} kernel_call;

/* What of a device the model uses. */
typedef struct kernel_machine {
    double peak, bandwidth, units, clock, cache_bytes, link;
    double tensor_rate; /* half-precision FLOPs of a unit in a cycle */
    bool fp4;           /* it has 4-bit tensor cores: of NVIDIA's, Blackwell and later */
} kernel_machine;
/* From these rates on, groups of warps share the tensor cores (Hopper), and they have memory of their own (Blackwell
 * for data centres): frameworks have other kernels for either. */
#define KERNEL_WARP_GROUPS   3e3
#define KERNEL_TENSOR_MEMORY 6e3
kernel_machine kernel_machine_of(const device *d, const kernel_dtype *t);

enum { KERNEL_PARTS = 8 };

typedef struct kernel_terms {
    double base, limit; /* seconds */
    double flops, bytes;
    double x[FIT_TERMS];
    uint32_t n;
    uint32_t n_ratios; /* of x: those that hold for any device come first */
    double parts[KERNEL_PARTS];
    uint32_t n_parts; /* 0: rows of all devices are fitted to the ratios alone */
} kernel_terms;
void kernel_describe(const kernel_call *c, const kernel_machine *m, kernel_terms *out);
/* The terms of rows of all devices together (device "*") in a form: FIT_SUM the parts, FIT_FACTORS the ratios, and of
 * GEMM a factor of its own for each narrow type: constant, and where arithmetic binds. Returns their number. */
uint32_t kernel_pooled_terms(kernel_family f, str dtype, fit_form form, const kernel_terms *t,
                             double out[FIT_TERMS]);
/* The form of such a row: as many coefficients as the kernel has parts are those of a sum. */
fit_form kernel_pooled_form(const kernel_terms *t, uint32_t n_coefficients);
/* Types of which few devices have tables: those of another type hold for them; NULL: of none. */
const char *kernel_type_like(str dtype);

/* One row of data/kernels.csv. */
typedef struct kernel_row {
    str family, device, dtype, kernel, framework, version;
    uint32_t rows, groups;
    double mean_error, median_error, low, high;
    double c[FIT_TERMS];
    uint32_t n_terms;
} kernel_row;

typedef struct kernel_table {
    VEC(kernel_row) rows;
} kernel_table;

/* The rows of the built-in table. */
assay_status kernel_table_read(arena *a, kernel_table *out, assay_error *err);
assay_status kernel_table_csv(str text, arena *a, kernel_table *out, assay_error *err);
/* Of that device if it was measured, else pooled; NULL when no row is of the family and type. */
const kernel_row *kernel_row_for(const kernel_table *t, const device *d, const kernel_call *c);

typedef struct kernel_time {
    double seconds, low_s, high_s, limit_s;
    const kernel_row *from; /* NULL: base without a correction */
} kernel_time;
kernel_time kernel_predict(const kernel_table *t, const device *d, const kernel_call *c);

/* ---- between kernel.c and its neighbours ---- */
void kernel_put(kernel_terms *t, double x);
void kernel_hinges(kernel_terms *t, double x, const double *knots, uint32_t n);
#define KERNEL_HINGES(t, x, ...)                           \
    kernel_hinges((t), (x), (const double[]){__VA_ARGS__}, \
                  sizeof((const double[]){__VA_ARGS__}) / sizeof(double))
void kernel_part(kernel_terms *t, double seconds);
/* Seconds to move bytes: from the last cache as far as they fit, else from memory. */
double kernel_moving(const kernel_machine *m, double bytes);
void kernel_begin(kernel_terms *t, const kernel_machine *m, double launch, double arithmetic);
void kernel_gemm(const kernel_call *c, const kernel_machine *m, kernel_terms *t);
void kernel_attention(const kernel_call *c, const kernel_machine *m, kernel_terms *t);
void kernel_moe(const kernel_call *c, const kernel_machine *m, kernel_terms *t);
void kernel_collective(const kernel_call *c, const kernel_machine *m, kernel_terms *t);

#endif
