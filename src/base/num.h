/* Checked 64-bit arithmetic, the only kind allowed on sizes and counts. Functions return false on
 * overflow and leave *out unspecified. The `sat_` forms saturate at the type's maximum and are for
 * cost accumulation, where the caller checks for NUM_SATURATED once at the end.
 */
#ifndef BASE_NUM_H
#define BASE_NUM_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

static inline bool num_add(int64_t a, int64_t b, int64_t *out)
{
    return !__builtin_add_overflow(a, b, out);
}
static inline bool num_sub(int64_t a, int64_t b, int64_t *out)
{
    return !__builtin_sub_overflow(a, b, out);
}
static inline bool num_mul(int64_t a, int64_t b, int64_t *out)
{
    return !__builtin_mul_overflow(a, b, out);
}
static inline bool num_addu(uint64_t a, uint64_t b, uint64_t *out)
{
    return !__builtin_add_overflow(a, b, out);
}
static inline bool num_mulu(uint64_t a, uint64_t b, uint64_t *out)
{
    return !__builtin_mul_overflow(a, b, out);
}

/* Counts never reach this in any model that could exist (2^63 - 1, the largest JSON-safe int64). */
#define NUM_SATURATED ((uint64_t)INT64_MAX)

static inline uint64_t sat_add(uint64_t a, uint64_t b)
{
    uint64_t r;
    return __builtin_add_overflow(a, b, &r) || r > NUM_SATURATED ? NUM_SATURATED : r;
}
static inline uint64_t sat_mul(uint64_t a, uint64_t b)
{
    uint64_t r;
    return __builtin_mul_overflow(a, b, &r) || r > NUM_SATURATED ? NUM_SATURATED : r;
}

static inline uint64_t sat_sub(uint64_t a, uint64_t b)
{
    return a > b ? a - b : 0;
}

static inline void sat_add_to(uint64_t *sum, uint64_t n)
{
    *sum = sat_add(*sum, n);
}

/* 0 where there is nothing to divide by. */
static inline double num_ratio(uint64_t a, uint64_t b)
{
    return b ? (double)a / (double)b : 0;
}

static inline double num_max(double a, double b)
{
    return a > b ? a : b;
}
static inline double num_min(double a, double b)
{
    return a < b ? a : b;
}

/* A figure that was computed as a double, as a count: none below 0, none above the maximum. */
static inline uint64_t sat_whole(double v)
{
    return v >= (double)NUM_SATURATED ? NUM_SATURATED : v > 0 ? (uint64_t)v : 0;
}

/* The integer that a double is; false: it is none, or none that int64_t holds. */
static inline bool num_whole(double v, int64_t *out)
{
    if (!(v >= -0x1p63 && v < 0x1p63))
        return false;
    *out = (int64_t)v;
    return (double)*out == v;
}

/* For qsort() of doubles that are numbers. */
static inline int num_order(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Of n > 0 numbers, which are put in order. */
static inline double num_median(double *v, uint32_t n)
{
    assert(n > 0);
    qsort(v, n, sizeof *v, num_order);
    return n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

/* Rounded division of non-negative a by positive b. */
static inline int64_t num_ceil_div(int64_t a, int64_t b)
{
    assert(a >= 0 && b > 0);
    return a / b + (a % b != 0);
}

#endif
