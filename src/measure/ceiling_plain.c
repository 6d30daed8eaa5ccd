/* Multiply-adds in plain C, as any compiler makes them for any processor: the rows of last resort, and the
 * yardstick that says what the instruction sets are worth. */
#include <string.h>

#include "measure/ceiling_kernels.h"

#define KEEP(x) __asm__ volatile("" : "+m"(x))

#define PLAIN_KERNEL(name, type, factor, step)                                         \
    static void name(uint64_t n, void *to)                                             \
    {                                                                                  \
        type f = (factor), s = (step);                                                 \
        KEEP(f);                                                                       \
        KEEP(s);                                                                       \
        type r0 = s, r1 = f, r2 = s, r3 = f, r4 = s, r5 = f, r6 = s, r7 = f;           \
        for (; n; n--) {                                                               \
            r0 = (type)(r0 * f + s), r1 = (type)(r1 * f + s), r2 = (type)(r2 * f + s); \
            r3 = (type)(r3 * f + s), r4 = (type)(r4 * f + s), r5 = (type)(r5 * f + s); \
            r6 = (type)(r6 * f + s), r7 = (type)(r7 * f + s);                          \
        }                                                                              \
        type all[] = {r0, r1, r2, r3, r4, r5, r6, r7};                                 \
        memcpy(to, all, sizeof all);                                                   \
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
