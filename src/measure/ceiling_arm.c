/* Multiply-adds of arm64. NEON is always available; half precision, dot products, bf16 and the int8 matrix product
 * are detected. Sixteen chains: four cycles of latency, up to four pipes. */
#include "measure/ceiling_kernels.h"

#if defined(__aarch64__)
#include <arm_neon.h>
#include <string.h>

#include "device/isa.h"

#define SIXTEEN(X, ...) \
    X(0, __VA_ARGS__)   \
    X(1, __VA_ARGS__)   \
    X(2, __VA_ARGS__)   \
    X(3, __VA_ARGS__)   \
    X(4, __VA_ARGS__)   \
    X(5, __VA_ARGS__)   \
    X(6, __VA_ARGS__)   \
    X(7, __VA_ARGS__)   \
    X(8, __VA_ARGS__)   \
    X(9, __VA_ARGS__)   \
    X(10, __VA_ARGS__)  \
    X(11, __VA_ARGS__) X(12, __VA_ARGS__) X(13, __VA_ARGS__) X(14, __VA_ARGS__) X(15, __VA_ARGS__)

/* Hides a value from the optimiser and keeps it in a register: chains that it can prove equal become one. */
#define KEEP(r) __asm__ volatile("" : "+w"(r))

#define DECLARE(i, vector) \
    vector r##i = {0};     \
    KEEP(r##i);
#define STEP(i, step)        \
    r##i = step(r##i, f, s); \
    KEEP(r##i);
#define SUM(i, add) r0 = add(r0, r##i);

/* r + f·s, which is what one instruction does: s + r·f would need a copy of s for each step. Sums of the
 * same small product stop growing where the next one is lost in rounding. */
#define CHAINS(name, isa, vector, operand, f_is, s_is, step, add)       \
    __attribute__((target(isa))) static void name(uint64_t n, void *to) \
    {                                                                   \
        operand f = f_is, s = s_is;                                     \
        KEEP(f);                                                        \
        KEEP(s);                                                        \
        SIXTEEN(DECLARE, vector)                                        \
        for (; n; n--) {                                                \
            SIXTEEN(STEP, step)                                         \
        }                                                               \
        SIXTEEN(SUM, add)                                               \
        memcpy(to, &r0, sizeof r0);                                     \
    }

#define ONES    vdupq_n_s8(1)
#define HALF_H  vdupq_n_f16((float16_t)0.5f)
#define HALF_BF vreinterpretq_bf16_u16(vdupq_n_u16(0x3f00))

CHAINS(fp32_neon, "arch=armv8-a", float32x4_t, float32x4_t, vdupq_n_f32(0.5f), vdupq_n_f32(0.5f),
       vfmaq_f32, vaddq_f32)
CHAINS(fp64_neon, "arch=armv8-a", float64x2_t, float64x2_t, vdupq_n_f64(0.5), vdupq_n_f64(0.5),
       vfmaq_f64, vaddq_f64)
CHAINS(fp16_neon, "arch=armv8.2-a+fp16", float16x8_t, float16x8_t, HALF_H, HALF_H, vfmaq_f16,
       vaddq_f16)
CHAINS(bf16_mm, "arch=armv8.2-a+bf16", float32x4_t, bfloat16x8_t, HALF_BF, HALF_BF, vbfmmlaq_f32,
       vaddq_f32)
CHAINS(int8_dot, "arch=armv8.2-a+dotprod", int32x4_t, int8x16_t, ONES, ONES, vdotq_s32, vaddq_s32)
CHAINS(int8_mm, "arch=armv8.2-a+i8mm", int32x4_t, int8x16_t, ONES, ONES, vmmlaq_s32, vaddq_s32)

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
