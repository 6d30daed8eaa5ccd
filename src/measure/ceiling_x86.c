/* Multiply-adds of x86. An FMA takes 4 or 5 cycles and two start in each, so twelve chains are enough;
 * before FMA, products and sums are chains of their own. The factor keeps values finite: x·f + s stays at
 * its fixed point. int8 before VNNI is pmaddubsw, pmaddwd and paddd: three instructions for one step.
 * AMX: a tile of 16 rows of 64 bytes, four accumulators; one instruction is 16·16·64 multiply-adds of int8
 * or half as many of bf16 (Intel SDM volume 1, chapter 18). */
#include "measure/ceiling_kernels.h"

#if defined(__x86_64__)
#include <immintrin.h>
#include <string.h>

#include "device/isa.h"

#define TWELVE(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11)
#define SEVEN(X)  X(0) X(1) X(2) X(3) X(4) X(5) X(6)
#define EIGHT(X)  X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7)

/* Hides a value from the optimiser and keeps it in a register. */
#define KEEP(r) __asm__ volatile("" : "+x"(r))

/* ---- chains of fused multiply-adds ---- */

#define FMA_KERNEL(name, isa, vector, set)                              \
    __attribute__((target(isa))) static void name(uint64_t n, void *to) \
    {                                                                   \
        vector f = set(0.999f), s = set(0.001f);                        \
        KEEP(f);                                                        \
        KEEP(s);                                                        \
        TWELVE(DECLARE_F)                                               \
        for (; n; n--) {                                                \
            TWELVE(STEP_F)                                              \
        }                                                               \
        TWELVE(SUM_F)                                                   \
        memcpy(to, &s, sizeof s);                                       \
    }

#define DECLARE_F(i) \
    __m256 r##i = f; \
    KEEP(r##i);
#define STEP_F(i)                       \
    r##i = _mm256_fmadd_ps(r##i, f, s); \
    KEEP(r##i);
#define SUM_F(i) s = _mm256_add_ps(s, r##i);
FMA_KERNEL(fp32_avx2, "avx2,fma", __m256, _mm256_set1_ps)
#undef DECLARE_F
#undef STEP_F
#undef SUM_F

#define DECLARE_F(i)  \
    __m256d r##i = f; \
    KEEP(r##i);
#define STEP_F(i)                       \
    r##i = _mm256_fmadd_pd(r##i, f, s); \
    KEEP(r##i);
#define SUM_F(i) s = _mm256_add_pd(s, r##i);
FMA_KERNEL(fp64_avx2, "avx2,fma", __m256d, _mm256_set1_pd)
#undef DECLARE_F
#undef STEP_F
#undef SUM_F

#undef KEEP
#define KEEP(r) __asm__ volatile("" : "+v"(r))
#define DECLARE_F(i) \
    __m512 r##i = f; \
    KEEP(r##i);
#define STEP_F(i)                       \
    r##i = _mm512_fmadd_ps(r##i, f, s); \
    KEEP(r##i);
#define SUM_F(i) s = _mm512_add_ps(s, r##i);
FMA_KERNEL(fp32_avx512, "avx512f", __m512, _mm512_set1_ps)
#undef DECLARE_F
#undef STEP_F
#undef SUM_F

#define DECLARE_F(i)  \
    __m512d r##i = f; \
    KEEP(r##i);
#define STEP_F(i)                       \
    r##i = _mm512_fmadd_pd(r##i, f, s); \
    KEEP(r##i);
#define SUM_F(i) s = _mm512_add_pd(s, r##i);
FMA_KERNEL(fp64_avx512, "avx512f", __m512d, _mm512_set1_pd)
#undef DECLARE_F
#undef STEP_F
#undef SUM_F

#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 12
#define HAS_FP16 1
#define DECLARE_F(i)  \
    __m512h r##i = f; \
    KEEP(r##i);
#define STEP_F(i)                       \
    r##i = _mm512_fmadd_ph(r##i, f, s); \
    KEEP(r##i);
#define SUM_F(i)  s = _mm512_add_ph(s, r##i);
#define SET_PH(v) _mm512_set1_ph((_Float16)(v))
FMA_KERNEL(fp16_avx512, "avx512fp16", __m512h, SET_PH)
#undef DECLARE_F
#undef STEP_F
#undef SUM_F
#endif
#undef KEEP
#define KEEP(r) __asm__ volatile("" : "+x"(r))

/* ---- before FMA: products and sums side by side ---- */

#define PAIR_KERNEL(name, isa, vector, set)                             \
    __attribute__((target(isa))) static void name(uint64_t n, void *to) \
    {                                                                   \
        vector f = set(0.9999999f), s = set(0.001f);                    \
        KEEP(f);                                                        \
        KEEP(s);                                                        \
        SEVEN(DECLARE_P)                                                \
        for (; n; n--) {                                                \
            SEVEN(STEP_P)                                               \
        }                                                               \
        SEVEN(SUM_P)                                                    \
        memcpy(to, &s, sizeof s);                                       \
    }

#define DECLARE_P(i)           \
    __m128 p##i = f, q##i = s; \
    KEEP(p##i);                \
    KEEP(q##i);
#define STEP_P(i)               \
    p##i = _mm_mul_ps(p##i, f); \
    q##i = _mm_add_ps(q##i, s); \
    KEEP(p##i);                 \
    KEEP(q##i);
#define SUM_P(i) s = _mm_add_ps(s, _mm_add_ps(p##i, q##i));
PAIR_KERNEL(fp32_sse2, "sse2", __m128, _mm_set1_ps)
#undef DECLARE_P
#undef STEP_P
#undef SUM_P

#define DECLARE_P(i)            \
    __m128d p##i = f, q##i = s; \
    KEEP(p##i);                 \
    KEEP(q##i);
#define STEP_P(i)               \
    p##i = _mm_mul_pd(p##i, f); \
    q##i = _mm_add_pd(q##i, s); \
    KEEP(p##i);                 \
    KEEP(q##i);
#define SUM_P(i) s = _mm_add_pd(s, _mm_add_pd(p##i, q##i));
PAIR_KERNEL(fp64_sse2, "sse2", __m128d, _mm_set1_pd)
#undef DECLARE_P
#undef STEP_P
#undef SUM_P

#define DECLARE_P(i)           \
    __m256 p##i = f, q##i = s; \
    KEEP(p##i);                \
    KEEP(q##i);
#define STEP_P(i)                  \
    p##i = _mm256_mul_ps(p##i, f); \
    q##i = _mm256_add_ps(q##i, s); \
    KEEP(p##i);                    \
    KEEP(q##i);
#define SUM_P(i) s = _mm256_add_ps(s, _mm256_add_ps(p##i, q##i));
PAIR_KERNEL(fp32_avx, "avx", __m256, _mm256_set1_ps)
#undef DECLARE_P
#undef STEP_P
#undef SUM_P

/* ---- int8 ---- */

__attribute__((target("ssse3"))) static void int8_ssse3(uint64_t n, void *to)
{
    __m128i u = _mm_set1_epi8(1), v = _mm_set1_epi8(2), one = _mm_set1_epi16(1);
    __m128i x = v;
    KEEP(u);
    KEEP(one);
#define DECLARE_I(i) __m128i r##i = _mm_setzero_si128();
#define STEP_I(i) \
    x = v;        \
    KEEP(x);      \
    r##i = _mm_add_epi32(r##i, _mm_madd_epi16(_mm_maddubs_epi16(u, x), one));
#define SUM_I(i) v = _mm_add_epi32(v, r##i);
    EIGHT(DECLARE_I)
    for (; n; n--) {
        EIGHT(STEP_I)
    }
    EIGHT(SUM_I)
    memcpy(to, &v, sizeof v);
#undef DECLARE_I
#undef STEP_I
#undef SUM_I
}

__attribute__((target("avx2"))) static void int8_avx2(uint64_t n, void *to)
{
    __m256i u = _mm256_set1_epi8(1), v = _mm256_set1_epi8(2), one = _mm256_set1_epi16(1);
    __m256i x = v;
    KEEP(u);
    KEEP(one);
#define DECLARE_I(i) __m256i r##i = _mm256_setzero_si256();
#define STEP_I(i) \
    x = v;        \
    KEEP(x);      \
    r##i = _mm256_add_epi32(r##i, _mm256_madd_epi16(_mm256_maddubs_epi16(u, x), one));
#define SUM_I(i) v = _mm256_add_epi32(v, r##i);
    EIGHT(DECLARE_I)
    for (; n; n--) {
        EIGHT(STEP_I)
    }
    EIGHT(SUM_I)
    memcpy(to, &v, sizeof v);
#undef DECLARE_I
#undef STEP_I
#undef SUM_I
}

#undef KEEP
#define KEEP(r) __asm__ volatile("" : "+v"(r))
#define DOT_KERNEL(name, isa, vector, zero, ones, dot, add)             \
    __attribute__((target(isa))) static void name(uint64_t n, void *to) \
    {                                                                   \
        vector u = ones, v = u;                                         \
        KEEP(u);                                                        \
        KEEP(v);                                                        \
        vector r0 = zero, r1 = r0, r2 = r0, r3 = r0, r4 = r0, r5 = r0;  \
        vector r6 = r0, r7 = r0, r8 = r0, r9 = r0, r10 = r0, r11 = r0;  \
        for (; n; n--) {                                                \
            r0 = dot(r0, u, v);                                         \
            r1 = dot(r1, u, v);                                         \
            r2 = dot(r2, u, v);                                         \
            r3 = dot(r3, u, v);                                         \
            r4 = dot(r4, u, v);                                         \
            r5 = dot(r5, u, v);                                         \
            r6 = dot(r6, u, v);                                         \
            r7 = dot(r7, u, v);                                         \
            r8 = dot(r8, u, v);                                         \
            r9 = dot(r9, u, v);                                         \
            r10 = dot(r10, u, v);                                       \
            r11 = dot(r11, u, v);                                       \
            KEEP(u);                                                    \
        }                                                               \
        r0 = add(add(add(r0, r1), add(r2, r3)), add(r4, r5));           \
        r6 = add(add(add(r6, r7), add(r8, r9)), add(r10, r11));         \
        r0 = add(r0, r6);                                               \
        memcpy(to, &r0, sizeof r0);                                     \
    }

DOT_KERNEL(int8_vnni, "avx512f,avx512vnni", __m512i, _mm512_setzero_si512(), _mm512_set1_epi8(1),
           _mm512_dpbusd_epi32, _mm512_add_epi32)
DOT_KERNEL(int8_avx_vnni, "avx2,avxvnni", __m256i, _mm256_setzero_si256(), _mm256_set1_epi8(1),
           _mm256_dpbusd_avx_epi32, _mm256_add_epi32)

__attribute__((target("avx512f,avx512bf16"))) static void bf16_avx512(uint64_t n, void *to)
{
    union {
        __m512i bits;
        __m512bh bf;
    } f = {.bits = _mm512_set1_epi16(0x3f00)}; /* 0.5 */
    __m512 s = _mm512_setzero_ps();
#define DECLARE_B(i) \
    __m512 r##i = s; \
    KEEP(r##i);
#define STEP_B(i)                              \
    r##i = _mm512_dpbf16_ps(r##i, f.bf, f.bf); \
    KEEP(r##i);
#define SUM_B(i) s = _mm512_add_ps(s, r##i);
    TWELVE(DECLARE_B)
    for (; n; n--) {
        TWELVE(STEP_B)
    }
    TWELVE(SUM_B)
    memcpy(to, &s, sizeof s);
}

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
