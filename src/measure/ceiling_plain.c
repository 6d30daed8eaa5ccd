/* Multiply-adds in plain C for any processor: the fallback, and the reference for the gain by instruction sets. */
#include <string.h>

#include "measure/ceiling_kernels.h"

#define EIGHT(X, ...) \
    X(0, __VA_ARGS__) \
    X(1, __VA_ARGS__) \
    X(2, __VA_ARGS__) \
    X(3, __VA_ARGS__) X(4, __VA_ARGS__) X(5, __VA_ARGS__) X(6, __VA_ARGS__) X(7, __VA_ARGS__)

/* Hides a value from the optimiser: chains that start with the same known value become one chain. */
#define KEEP(x) __asm__ volatile("" : "+m"(x))

#define DECLARE(i, type) \
    type r##i = s;       \
    KEEP(r##i);
#define STEP(i, type)  r##i = (type)(r##i * f + s);
#define STORE(i, type) all[i] = r##i;

#define PLAIN_KERNEL(name, type, factor, step) \
    static void name(uint64_t n, void *to)     \
    {                                          \
        type f = (factor), s = (step), all[8]; \
        KEEP(f);                               \
        KEEP(s);                               \
        EIGHT(DECLARE, type)                   \
        for (; n; n--) {                       \
            EIGHT(STEP, type)                  \
        }                                      \
        EIGHT(STORE, type)                     \
        memcpy(to, all, sizeof all);           \
    }

PLAIN_KERNEL(fp32_plain, float, 0.999f, 0.001f)
PLAIN_KERNEL(fp64_plain, double, 0.999, 0.001)
PLAIN_KERNEL(int_plain, uint32_t, 3, 1)

const ceiling_fma_row ceiling_fma_plain[] = {
    {"float64", "plain C", 0, 8 * 2, fp64_plain},
    {"float32", "plain C", 0, 8 * 2, fp32_plain},
    {"int8", "plain C", 0, 8 * 2, int_plain},
    {0},
};
