/* Leaves: Intel SDM volume 2, CPUID; AMD APM volume 3, appendix E. HWCAP bits: the kernel's
 * Documentation/arch/arm64/elf_hwcaps. */
#include "device/isa.h"

#include <stddef.h>

static const struct isa_row {
    unsigned bit;
    const char *name;
} names[] = {
    {ISA_SSE2, "sse2"},
    {ISA_SSSE3, "ssse3"},
    {ISA_AVX, "avx"},
    {ISA_FMA, "avx2+fma"},
    {ISA_AVX512, "avx512"},
    {ISA_AVX512_VNNI, "avx512-vnni"},
    {ISA_AVX512_BF16, "avx512-bf16"},
    {ISA_AVX512_FP16, "avx512-fp16"},
    {ISA_AVX_VNNI, "avx-vnni"},
    {ISA_AMX_INT8, "amx-int8"},
    {ISA_AMX_BF16, "amx-bf16"},
    {ISA_NEON, "neon"},
    {ISA_NEON_FP16, "neon-fp16"},
    {ISA_NEON_DOT, "neon-dotprod"},
    {ISA_NEON_BF16, "neon-bf16"},
    {ISA_NEON_I8MM, "neon-i8mm"},
    {ISA_F16C, "f16c"},
};

const char *isa_name(unsigned bit)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].bit == bit)
            return names[i].name;
    return NULL;
}

#if defined(__x86_64__)
#include <cpuid.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { XCR0_AVX = 0x6, XCR0_AVX512 = 0xe6, XCR0_AMX = 0x60000 };
enum { ARCH_REQ_XCOMP_PERM_CALL = 0x1023, XFEATURE_XTILEDATA_NR = 18 };

static bool bit_of(unsigned word, int bit)
{
    return word >> bit & 1;
}

/* What the system saves when it switches threads. */
static uint64_t xcr0(void)
{
    uint32_t low, high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return (uint64_t)high << 32 | low;
}

static unsigned wide_bits(unsigned b, unsigned c, unsigned d, uint64_t saved)
{
    unsigned a1 = 0, b1, c1, d1, bits = 0;
    __get_cpuid_count(7, 1, &a1, &b1, &c1, &d1);
    if ((saved & XCR0_AVX) == XCR0_AVX)
        bits |= bit_of(a1, 4) ? ISA_AVX_VNNI : 0;
    if ((saved & XCR0_AVX512) == XCR0_AVX512 && bit_of(b, 16) && bit_of(b, 17) && bit_of(b, 30) &&
        bit_of(b, 31))
        bits |= ISA_AVX512 | (bit_of(c, 11) ? ISA_AVX512_VNNI : 0u) |
                (bit_of(a1, 5) ? ISA_AVX512_BF16 : 0u) | (bit_of(d, 23) ? ISA_AVX512_FP16 : 0u);
    if ((saved & XCR0_AMX) == XCR0_AMX && bit_of(d, 24))
        bits |= (bit_of(d, 25) ? ISA_AMX_INT8 : 0u) | (bit_of(d, 22) ? ISA_AMX_BF16 : 0u);
    return bits;
}

unsigned isa_here(void)
{
    unsigned a, b, c, d, bits = ISA_SSE2;
    if (!__get_cpuid(1, &a, &b, &c, &d))
        return bits;
    bool saves = bit_of(c, 27), fma = bit_of(c, 12);
    bits |= bit_of(c, 9) ? ISA_SSSE3 : 0;
    if (!saves || !bit_of(c, 28) || (xcr0() & XCR0_AVX) != XCR0_AVX)
        return bits;
    bits |= ISA_AVX | (bit_of(c, 29) ? ISA_F16C : 0u);
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d))
        return bits;
    bits |= fma && bit_of(b, 5) ? ISA_FMA : 0;
    return bits | wide_bits(b, c, d, xcr0());
}

bool isa_allow_amx(void)
{
    return syscall(SYS_arch_prctl, ARCH_REQ_XCOMP_PERM_CALL, XFEATURE_XTILEDATA_NR) == 0;
}

#elif defined(__aarch64__)
#include <sys/auxv.h>

unsigned isa_here(void)
{
    unsigned long one = getauxval(AT_HWCAP), two = getauxval(AT_HWCAP2);
    return ISA_NEON | (one >> 10 & 1 ? ISA_NEON_FP16 : 0u) | (one >> 20 & 1 ? ISA_NEON_DOT : 0u) |
           (two >> 13 & 1 ? ISA_NEON_I8MM : 0u) | (two >> 14 & 1 ? ISA_NEON_BF16 : 0u);
}

bool isa_allow_amx(void)
{
    return false;
}

#else
unsigned isa_here(void)
{
    return 0;
}

bool isa_allow_amx(void)
{
    return false;
}
#endif
