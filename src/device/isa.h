/* Instruction sets of this processor that arithmetic can be done with, asked at run time: cpuid and xgetbv
 * on x86 (the system must save the registers too), the auxiliary vector on arm64. */
#ifndef DEVICE_ISA_H
#define DEVICE_ISA_H

#include <stdbool.h>

typedef enum isa_bit {
    ISA_SSE2 = 1 << 0,
    ISA_SSSE3 = 1 << 1,
    ISA_AVX = 1 << 2,
    ISA_FMA = 1 << 3,    /* with AVX2 */
    ISA_AVX512 = 1 << 4, /* F, BW, DQ and VL */
    ISA_AVX512_VNNI = 1 << 5,
    ISA_AVX512_BF16 = 1 << 6,
    ISA_AVX512_FP16 = 1 << 7,
    ISA_AVX_VNNI = 1 << 8,
    ISA_AMX_INT8 = 1 << 9,
    ISA_AMX_BF16 = 1 << 10,
    ISA_NEON = 1 << 11,
    ISA_NEON_FP16 = 1 << 12,
    ISA_NEON_DOT = 1 << 13,
    ISA_NEON_BF16 = 1 << 14,
    ISA_NEON_I8MM = 1 << 15,
    ISA_F16C = 1 << 16,
} isa_bit;

/* The bits of this processor; 0 on one we do not know how to ask. */
unsigned isa_here(void);
/* "avx2+fma" for a single bit; NULL when it is none. */
const char *isa_name(unsigned bit);
/* AMX needs the kernel's leave for the process: asks for it. False when it is refused. */
bool isa_allow_amx(void);

#endif
