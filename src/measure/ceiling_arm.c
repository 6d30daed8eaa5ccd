/* Multiply-adds of arm64: NEON is always there, half precision, dot products, bf16 and the int8 matrix
 * product are asked for. Sixteen chains: four cycles of latency, up to four pipes. */
#include "measure/ceiling_kernels.h"

#if defined(__aarch64__)
#include <arm_neon.h>
#include <string.h>

#include "device/isa.h"

#define SIXTEEN(X) \
    X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11) X(12) X(13) X(14) X(15)
#define KEEP(r) __asm__ volatile("" : "+w"(r))

#define FMA_KERNEL(name, isa, vector, f_is, s_is)                       \
    __attribute__((target(isa))) static void name(uint64_t n, void *to) \
    {                                                                   \
        vector f = f_is, s = s_is;                                      \
        KEEP(f);                                                        \
        KEEP(s);                                                        \
        SIXTEEN(DECLARE)                                                \
        for (; n; n--) {                                                \
            SIXTEEN(STEP)                                               \
        }                                                               \
        SIXTEEN(SUM)                                                    \
        memcpy(to, &s, sizeof s);                                       \
    }

#define DECLARE(i)        \
    float32x4_t r##i = f; \
    KEEP(r##i);
#define STEP(i)                   \
    r##i = vfmaq_f32(s, r##i, f); \
    KEEP(r##i);
#define SUM(i) s = vaddq_f32(s, r##i);
FMA_KERNEL(fp32_neon, "arch=armv8-a", float32x4_t, vdupq_n_f32(0.999f), vdupq_n_f32(0.001f))
#undef DECLARE
#undef STEP
#undef SUM

#define DECLARE(i)        \
    float64x2_t r##i = f; \
    KEEP(r##i);
#define STEP(i)                   \
    r##i = vfmaq_f64(s, r##i, f); \
    KEEP(r##i);
#define SUM(i) s = vaddq_f64(s, r##i);
FMA_KERNEL(fp64_neon, "arch=armv8-a", float64x2_t, vdupq_n_f64(0.999), vdupq_n_f64(0.001))
#undef DECLARE
#undef STEP
#undef SUM

#define DECLARE(i)        \
    float16x8_t r##i = f; \
    KEEP(r##i);
#define STEP(i)                   \
    r##i = vfmaq_f16(s, r##i, f); \
    KEEP(r##i);
#define SUM(i) s = vaddq_f16(s, r##i);
FMA_KERNEL(fp16_neon, "arch=armv8.2-a+fp16", float16x8_t, vdupq_n_f16((float16_t)0.5f),
           vdupq_n_f16((float16_t)0.5f))
#undef DECLARE
#undef STEP
#undef SUM

#define DECLARE(i) int32x4_t r##i = vdupq_n_s32(0);
#define STEP(i)                                                               \
    r##i = vdotq_s32(r##i, vreinterpretq_s8_s32(f), vreinterpretq_s8_s32(f)); \
    KEEP(r##i);
#define SUM(i) s = vaddq_s32(s, r##i);
FMA_KERNEL(int8_dot, "arch=armv8.2-a+dotprod", int32x4_t, vdupq_n_s32(0x01010101), vdupq_n_s32(0))
#undef DECLARE
#undef STEP
#undef SUM

#define DECLARE(i) int32x4_t r##i = vdupq_n_s32(0);
#define STEP(i)                                                                \
    r##i = vmmlaq_s32(r##i, vreinterpretq_s8_s32(f), vreinterpretq_s8_s32(f)); \
    KEEP(r##i);
#define SUM(i) s = vaddq_s32(s, r##i);
FMA_KERNEL(int8_mm, "arch=armv8.2-a+i8mm", int32x4_t, vdupq_n_s32(0x01010101), vdupq_n_s32(0))
#undef DECLARE
#undef STEP
#undef SUM

__attribute__((target("arch=armv8.2-a+bf16"))) static void bf16_mm(uint64_t n, void *to)
{
    bfloat16x8_t f = vreinterpretq_bf16_u16(vdupq_n_u16(0x3f00)); /* 0.5 */
    float32x4_t s = vdupq_n_f32(0);
#define DECLARE(i)        \
    float32x4_t r##i = s; \
    KEEP(r##i);
#define STEP(i)                      \
    r##i = vbfmmlaq_f32(r##i, f, f); \
    KEEP(r##i);
#define SUM(i) s = vaddq_f32(s, r##i);
    SIXTEEN(DECLARE)
    for (; n; n--) {
        SIXTEEN(STEP)
    }
    SIXTEEN(SUM)
    memcpy(to, &s, sizeof s);
}

const ceiling_fma_row ceiling_fma_arm[] = {
    {"float64", "neon", ISA_NEON, 16 * 2 * 2, fp64_neon},
    {"float32", "neon", ISA_NEON, 16 * 2 * 4, fp32_neon},
    {"float16", "neon-fp16", ISA_NEON_FP16, 16 * 2 * 8, fp16_neon},
    {"bfloat16", "neon-bf16", ISA_NEON_BF16, 16 * 2 * 16, bf16_mm},
    {"int8", "neon-dotprod", ISA_NEON_DOT, 16 * 2 * 16, int8_dot},
    {"int8", "neon-i8mm", ISA_NEON_I8MM, 16 * 2 * 32, int8_mm},
    {0},
};
#else
const ceiling_fma_row ceiling_fma_arm[] = {{0}};
#endif
