/* Multiply-adds of x86. An FMA takes 4 or 5 cycles and two start in each, so twelve chains are enough;
 * before FMA, products and sums are chains of their own. The factor keeps values finite: x·f + s stays at
 * its fixed point. int8 before VNNI is pmaddubsw, pmaddwd and paddd: three instructions for one step.
 *
 * Every chain passes through KEEP at each step. Chains that the compiler can prove equal become one chain,
 * and the row then claims operations that nothing executes; test_ceiling_code counts the instructions.
 *
 * AMX: a tile of 16 rows of 64 bytes, four accumulators; one instruction is 16·16·64 multiply-adds of int8
 * or half as many of bf16 (Intel SDM volume 1, chapter 18). */
#include "measure/ceiling_kernels.h"

#if defined(__x86_64__)
#include <immintrin.h>
#include <string.h>

#include "device/isa.h"

#define FOUR(X, ...)  X(0, __VA_ARGS__) X(1, __VA_ARGS__) X(2, __VA_ARGS__) X(3, __VA_ARGS__)
#define SEVEN(X, ...) FOUR(X, __VA_ARGS__) X(4, __VA_ARGS__) X(5, __VA_ARGS__) X(6, __VA_ARGS__)
#define TWELVE(X, ...)    \
    SEVEN(X, __VA_ARGS__) \
    X(7, __VA_ARGS__) X(8, __VA_ARGS__) X(9, __VA_ARGS__) X(10, __VA_ARGS__) X(11, __VA_ARGS__)

/* Hides a value from the optimiser and keeps it in a register. */
#define KEEP(r) __asm__ volatile("" : "+v"(r))

#define DECLARE(i, vector, start) \
    vector r##i = start;          \
    KEEP(r##i);
#define SUM(i, add) r0 = add(r0, r##i);

/* ---- one instruction a step: fused multiply-adds and dot products ---- */

#define STEP(i, step)        \
    r##i = step(r##i, f, s); \
    KEEP(r##i);

#define CHAINS(name, isa, vector, operand, start, f_is, s_is, step, add) \
    __attribute__((target(isa))) static void name(uint64_t n, void *to)  \
    {                                                                    \
        operand f = f_is, s = s_is;                                      \
        KEEP(f);                                                         \
        KEEP(s);                                                         \
        TWELVE(DECLARE, vector, start)                                   \
        for (; n; n--) {                                                 \
            TWELVE(STEP, step)                                           \
        }                                                                \
        TWELVE(SUM, add)                                                 \
        memcpy(to, &r0, sizeof r0);                                      \
    }

#define FMA_KERNEL(name, isa, vector, set, fma, add) \
    CHAINS(name, isa, vector, vector, f, set(0.999f), set(0.001f), fma, add)

FMA_KERNEL(fp32_avx2, "avx2,fma", __m256, _mm256_set1_ps, _mm256_fmadd_ps, _mm256_add_ps)
FMA_KERNEL(fp64_avx2, "avx2,fma", __m256d, _mm256_set1_pd, _mm256_fmadd_pd, _mm256_add_pd)
FMA_KERNEL(fp32_avx512, "avx512f", __m512, _mm512_set1_ps, _mm512_fmadd_ps, _mm512_add_ps)
FMA_KERNEL(fp64_avx512, "avx512f", __m512d, _mm512_set1_pd, _mm512_fmadd_pd, _mm512_add_pd)
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 12
#define HAS_FP16  1
#define SET_PH(v) _mm512_set1_ph((_Float16)(v))
FMA_KERNEL(fp16_avx512, "avx512fp16", __m512h, SET_PH, _mm512_fmadd_ph, _mm512_add_ph)
#endif

CHAINS(int8_vnni, "avx512f,avx512vnni", __m512i, __m512i, _mm512_setzero_si512(),
       _mm512_set1_epi8(1), _mm512_set1_epi8(1), _mm512_dpbusd_epi32, _mm512_add_epi32)
CHAINS(int8_avx_vnni, "avx2,avxvnni", __m256i, __m256i, _mm256_setzero_si256(), _mm256_set1_epi8(1),
       _mm256_set1_epi8(1), _mm256_dpbusd_avx_epi32, _mm256_add_epi32)

#define HALF_BH (__m512bh) _mm512_set1_epi16(0x3f00) /* 0.5 */
CHAINS(bf16_avx512, "avx512f,avx512bf16", __m512, __m512bh, _mm512_setzero_ps(), HALF_BH, HALF_BH,
       _mm512_dpbf16_ps, _mm512_add_ps)

/* ---- before FMA: products and sums side by side ---- */

#define DECLARE_PAIR(i, vector) \
    vector p##i = f, r##i = s;  \
    KEEP(p##i);                 \
    KEEP(r##i);
#define STEP_PAIR(i, mul, add) \
    p##i = mul(p##i, f);       \
    r##i = add(r##i, s);       \
    KEEP(p##i);                \
    KEEP(r##i);
#define SUM_PAIR(i, add) r0 = add(r0, add(p##i, r##i));

#define PAIR_KERNEL(name, isa, vector, set, mul, add)                   \
    __attribute__((target(isa))) static void name(uint64_t n, void *to) \
    {                                                                   \
        vector f = set(0.9999999f), s = set(0.001f);                    \
        KEEP(f);                                                        \
        KEEP(s);                                                        \
        SEVEN(DECLARE_PAIR, vector)                                     \
        for (; n; n--) {                                                \
            SEVEN(STEP_PAIR, mul, add)                                  \
        }                                                               \
        SEVEN(SUM_PAIR, add)                                            \
        memcpy(to, &r0, sizeof r0);                                     \
    }

PAIR_KERNEL(fp32_sse2, "sse2", __m128, _mm_set1_ps, _mm_mul_ps, _mm_add_ps)
PAIR_KERNEL(fp64_sse2, "sse2", __m128d, _mm_set1_pd, _mm_mul_pd, _mm_add_pd)
PAIR_KERNEL(fp32_avx, "avx", __m256, _mm256_set1_ps, _mm256_mul_ps, _mm256_add_ps)

/* ---- int8 before VNNI ---- */

/* v passes through KEEP too, or products of the same u and v would be computed once; and p, which a compiler
 * for newer processors adds by VNNI. Only the sums are a chain, of one cycle a step: four are enough. */
#define STEP_INT8(i, maddubs, madd, add) \
    p = madd(maddubs(u, v), one);        \
    KEEP(p);                             \
    r##i = add(r##i, p);                 \
    KEEP(r##i);                          \
    KEEP(v);

#define INT8_KERNEL(name, isa, vector, set8, set16, maddubs, madd, add) \
    __attribute__((target(isa))) static void name(uint64_t n, void *to) \
    {                                                                   \
        vector u = set8(1), v = set8(2), one = set16(1), p;             \
        KEEP(u);                                                        \
        KEEP(v);                                                        \
        KEEP(one);                                                      \
        FOUR(DECLARE, vector, one)                                      \
        for (; n; n--) {                                                \
            FOUR(STEP_INT8, maddubs, madd, add)                         \
            FOUR(STEP_INT8, maddubs, madd, add)                         \
        }                                                               \
        FOUR(SUM, add)                                                  \
        memcpy(to, &r0, sizeof r0);                                     \
    }

INT8_KERNEL(int8_ssse3, "ssse3", __m128i, _mm_set1_epi8, _mm_set1_epi16, _mm_maddubs_epi16,
            _mm_madd_epi16, _mm_add_epi32)
INT8_KERNEL(int8_avx2, "avx2", __m256i, _mm256_set1_epi8, _mm256_set1_epi16, _mm256_maddubs_epi16,
            _mm256_madd_epi16, _mm256_add_epi32)

/* ---- tiles ---- */

typedef struct tile_config { /* palette 1: eight tiles */
    uint8_t palette, start_row, reserved[14];
    uint16_t row_bytes[16];
    uint8_t rows[16];
} tile_config;

__attribute__((target("amx-tile"))) static void tiles_ready(void)
{
    tile_config c = {.palette = 1};
    for (int i = 0; i < 8; i++) {
        c.row_bytes[i] = 64;
        c.rows[i] = 16;
    }
    _tile_loadconfig(&c);
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
    _tile_zero(4);
    _tile_zero(5);
    _tile_zero(6);
    _tile_zero(7);
}

__attribute__((target("amx-tile,amx-int8"))) static void int8_amx(uint64_t n, void *to)
{
    memset(to, 0, 64);
    if (!isa_allow_amx())
        return;
    tiles_ready();
    for (; n; n--) {
        _tile_dpbssd(0, 4, 6);
        _tile_dpbssd(1, 4, 7);
        _tile_dpbssd(2, 5, 6);
        _tile_dpbssd(3, 5, 7);
    }
    _tile_release();
}

__attribute__((target("amx-tile,amx-bf16"))) static void bf16_amx(uint64_t n, void *to)
{
    memset(to, 0, 64);
    if (!isa_allow_amx())
        return;
    tiles_ready();
    for (; n; n--) {
        _tile_dpbf16ps(0, 4, 6);
        _tile_dpbf16ps(1, 4, 7);
        _tile_dpbf16ps(2, 5, 6);
        _tile_dpbf16ps(3, 5, 7);
    }
    _tile_release();
}

const ceiling_fma_row ceiling_fma_x86[] = {
    {"float64", "sse2", ISA_SSE2, 7 * 2 * 2, fp64_sse2},
    {"float32", "sse2", ISA_SSE2, 7 * 2 * 4, fp32_sse2},
    {"float32", "avx", ISA_AVX, 7 * 2 * 8, fp32_avx},
    {"float64", "avx2+fma", ISA_FMA, 12 * 2 * 4, fp64_avx2},
    {"float32", "avx2+fma", ISA_FMA, 12 * 2 * 8, fp32_avx2},
    {"float64", "avx512", ISA_AVX512, 12 * 2 * 8, fp64_avx512},
    {"float32", "avx512", ISA_AVX512, 12 * 2 * 16, fp32_avx512},
#ifdef HAS_FP16
    {"float16", "avx512-fp16", ISA_AVX512_FP16, 12 * 2 * 32, fp16_avx512},
#endif
    {"bfloat16", "avx512-bf16", ISA_AVX512_BF16, 12 * 2 * 32, bf16_avx512},
    {"bfloat16", "amx-bf16", ISA_AMX_BF16, 4 * 2 * 16 * 16 * 32, bf16_amx},
    {"int8", "ssse3", ISA_SSSE3, 8 * 2 * 16, int8_ssse3},
    {"int8", "avx2", ISA_FMA, 8 * 2 * 32, int8_avx2},
    {"int8", "avx-vnni", ISA_AVX_VNNI, 12 * 2 * 32, int8_avx_vnni},
    {"int8", "avx512-vnni", ISA_AVX512_VNNI, 12 * 2 * 64, int8_vnni},
    {"int8", "amx-int8", ISA_AMX_INT8, 4 * 2 * 16 * 16 * 64, int8_amx},
    {0},
};
#else
const ceiling_fma_row ceiling_fma_x86[] = {{0}};
#endif
