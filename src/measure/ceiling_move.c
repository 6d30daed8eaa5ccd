/* Loads and stores as wide as the processor has them, by the compiler's vector types: one text for every
 * width. Bytes are counted as the program sees them, as STREAM does (J. McCalpin): read n, write n, copy 2n,
 * triad 3n. What a cache fetches before it is written over is not counted, and stores are ordinary ones:
 * those of the kernels that models run.
 *
 * A block is CEILING_BLOCK bytes; the empty asm keeps loops from becoming calls of memset and memcpy. */
#include <string.h>

#include "device/isa.h"
#include "measure/ceiling_kernels.h"

#define FENCE() __asm__ volatile("" : : : "memory")

#define MOVES(tag, isa, width)                                                           \
    typedef float v_##tag __attribute__((vector_size(width)));                           \
    typedef long long i_##tag __attribute__((vector_size(width)));                       \
    isa static void read_##tag(const ceiling_arrays *x, uint64_t passes, void *to)       \
    {                                                                                    \
        i_##tag s0 = {0}, s1 = s0, s2 = s0, s3 = s0, s4 = s0, s5 = s0, s6 = s0, s7 = s0; \
        for (; passes; passes--) {                                                       \
            const i_##tag *p = x->a, *end = p + x->n_bytes / width;                      \
            for (; p < end; p += 8) {                                                    \
                s0 += p[0], s1 += p[1], s2 += p[2], s3 += p[3];                          \
                s4 += p[4], s5 += p[5], s6 += p[6], s7 += p[7];                          \
            }                                                                            \
            FENCE();                                                                     \
        }                                                                                \
        s0 += s1 + s2 + s3 + s4 + s5 + s6 + s7;                                          \
        memcpy(to, &s0, sizeof s0);                                                      \
    }                                                                                    \
    isa static void write_##tag(const ceiling_arrays *x, uint64_t passes, void *to)      \
    {                                                                                    \
        v_##tag v = {1};                                                                 \
        for (; passes; passes--) {                                                       \
            v_##tag *p = x->a, *end = p + x->n_bytes / width;                            \
            for (; p < end; p += 8) {                                                    \
                p[0] = v, p[1] = v, p[2] = v, p[3] = v;                                  \
                p[4] = v, p[5] = v, p[6] = v, p[7] = v;                                  \
                FENCE();                                                                 \
            }                                                                            \
        }                                                                                \
        memcpy(to, &v, sizeof v);                                                        \
    }                                                                                    \
    isa static void copy_##tag(const ceiling_arrays *x, uint64_t passes, void *to)       \
    {                                                                                    \
        for (; passes; passes--) {                                                       \
            v_##tag *p = x->a, *end = p + x->n_bytes / width;                            \
            const v_##tag *q = x->b;                                                     \
            for (; p < end; p += 8, q += 8) {                                            \
                v_##tag t0 = q[0], t1 = q[1], t2 = q[2], t3 = q[3];                      \
                v_##tag t4 = q[4], t5 = q[5], t6 = q[6], t7 = q[7];                      \
                p[0] = t0, p[1] = t1, p[2] = t2, p[3] = t3;                              \
                p[4] = t4, p[5] = t5, p[6] = t6, p[7] = t7;                              \
                FENCE();                                                                 \
            }                                                                            \
        }                                                                                \
        memcpy(to, x->a, sizeof(v_##tag));                                               \
    }                                                                                    \
    isa static void triad_##tag(const ceiling_arrays *x, uint64_t passes, void *to)      \
    {                                                                                    \
        for (; passes; passes--) {                                                       \
            v_##tag *p = x->a, *end = p + x->n_bytes / width;                            \
            const v_##tag *q = x->b, *r = x->c;                                          \
            for (; p < end; p += 4, q += 4, r += 4) {                                    \
                v_##tag t0 = q[0] + r[0] * 3.0f, t1 = q[1] + r[1] * 3.0f;                \
                v_##tag t2 = q[2] + r[2] * 3.0f, t3 = q[3] + r[3] * 3.0f;                \
                p[0] = t0, p[1] = t1, p[2] = t2, p[3] = t3;                              \
                FENCE();                                                                 \
            }                                                                            \
        }                                                                                \
        memcpy(to, x->a, sizeof(v_##tag));                                               \
    }                                                                                    \
    _Static_assert(CEILING_BLOCK % (8 * width) == 0, "whole steps in a block")

#define ROW(name, needs, tag)                                         \
    {                                                                 \
        name, needs, read_##tag, write_##tag, copy_##tag, triad_##tag \
    }

MOVES(w16, , 16);
#if defined(__x86_64__)
MOVES(w32, __attribute__((target("avx2"))), 32);
MOVES(w64, __attribute__((target("avx512f,avx512dq"))), 64);
#endif

const ceiling_move_row ceiling_moves[] = {
    ROW("128-bit", 0, w16),
#if defined(__x86_64__)
    ROW("256-bit", ISA_FMA, w32),
    ROW("512-bit", ISA_AVX512, w64),
#endif
    {0},
};
