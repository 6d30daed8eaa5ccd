/* Are the ceilings of `assay machine` what this machine can do? Measured twice, they must agree; a hand-tuned
 * matrix product (OpenBLAS, loaded when Debian's libopenblas is there) must not beat the fp32 peak by more than
 * a tenth; loops in assembler, which no compiler can shorten, must reach the same rates; STREAM's triad, compiled
 * by the same rules, must find the same bandwidth. These yardsticks are run before, between and after the two
 * measurements, and the best of each counts. A triad that itself moves says that the machine was not quiet: then
 * bandwidths that differ prove nothing, and that is said.
 *
 *   ceilings [--quick]      5 %, 90 %, 5 %, 10 %; about a minute
 */
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "device/isa.h"
#include "measure/ceilings.h"

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static bool verdict(const char *what, double value, double limit, bool at_least)
{
    bool met = at_least ? value >= limit : value <= limit;
    printf("  %-44s %8.1f %%  target %s %g %%  %s\n", what, value * 100,
           at_least ? "at least" : "below", limit * 100, met ? "met" : "MISSED");
    return met;
}

/* ---- the yardsticks ---- */

typedef void sgemm_fn(int, int, int, int, int, int, float, const float *, int, const float *, int,
                      float, float *, int);

/* The best of many products of 1024 × 1024 matrices, in operations per second; 0: no OpenBLAS here. */
static double blas_peak(void)
{
    enum { N = 1024, ROUNDS = 25 };
    void *lib = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
    sgemm_fn *sgemm = NULL;
    void *at = lib ? dlsym(lib, "cblas_sgemm") : NULL;
    memcpy(&sgemm, &at, sizeof sgemm);
    float *m = sgemm ? calloc((size_t)3 * N * N, sizeof *m) : NULL;
    double best = 0;
    for (int i = 0; m && i < ROUNDS; i++) {
        double t = seconds();
        sgemm(101, 111, 111, N, N, N, 1, m, N, m + N * N, N, 0, m + 2 * N * N, N);
        t = 2.0 * N * N * N / (seconds() - t);
        best = t > best ? t : best;
    }
    free(m);
    return best;
}

/* On large pages where there are some, as ours. */
static double *array_of(size_t n)
{
    enum { PAGE = 2 << 20 };
    size_t bytes = (n * sizeof(double) + PAGE - 1) / PAGE * PAGE;
    double *a = aligned_alloc(PAGE, bytes);
    if (a)
        madvise(a, bytes, MADV_HUGEPAGE);
    return a;
}

/* a = b + 3 c, three arrays, one thread; the best of ten passes, as STREAM reports it. */
static double stream_triad(size_t set_bytes)
{
    size_t n = set_bytes / 3 / sizeof(double) / 8 * 8;
    double *a = array_of(n), *b = array_of(n), *c = array_of(n), best = 0;
    for (size_t i = 0; a && b && c && i < n; i++)
        a[i] = 0, b[i] = 1, c[i] = 2;
    for (int pass = 0; a && b && c && pass < 12; pass++) {
        double t = seconds();
        for (size_t i = 0; i < n; i++)
            a[i] = b[i] + 3.0 * c[i];
        __asm__ volatile("" : : "r"(a) : "memory");
        t = 3.0 * sizeof(double) * (double)n / (seconds() - t);
        best = t > best ? t : best;
    }
    free(a);
    free(b);
    free(c);
    return best;
}

/* ---- the same arithmetic in assembler ---- */

#if defined(__x86_64__)
#define CHAINS 12
#define ASSEMBLED(name, instruction)                                                              \
    static void name(uint64_t n)                                                                  \
    {                                                                                             \
        __asm__ volatile("vzeroall\n"                                                             \
                         "1:\n.irp r,3,4,5,6,7,8,9,10,11,12,13,14\n" instruction "\n.endr\n"      \
                         "dec %0\njnz 1b\nvzeroupper\n"                                           \
                         : "+r"(n)                                                                \
                         :                                                                        \
                         : "cc", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7",  \
                           "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15"); \
    }

ASSEMBLED(fp32_256, "vfmadd231ps %%ymm1,%%ymm2,%%ymm\\r")
ASSEMBLED(fp32_512, "vfmadd231ps %%zmm1,%%zmm2,%%zmm\\r")
ASSEMBLED(bf16_512, "vdpbf16ps %%zmm1,%%zmm2,%%zmm\\r")
ASSEMBLED(int8_256, "%{vex%} vpdpbusd %%ymm1,%%ymm2,%%ymm\\r")
ASSEMBLED(int8_512, "vpdpbusd %%zmm1,%%zmm2,%%zmm\\r")
#elif defined(__aarch64__)
#define CHAINS 16
#define ASSEMBLED(name, extension, instruction)                                                 \
    static void name(uint64_t n)                                                                \
    {                                                                                           \
        __asm__ volatile(extension                                                              \
                         "movi v1.4s,#0\nmovi v2.4s,#0\n"                                       \
                         "1:\n.irp r,3,4,5,6,7,16,17,18,19,20,21,22,23,24,25,26\n" instruction  \
                         "\n.endr\nsubs %0,%0,#1\nb.ne 1b\n"                                    \
                         : "+r"(n)                                                              \
                         :                                                                      \
                         : "cc", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v16", "v17", "v18", \
                           "v19", "v20", "v21", "v22", "v23", "v24", "v25", "v26");             \
    }

ASSEMBLED(fp32_128, "", "fmla v\\r\\().4s,v1.4s,v2.4s")
ASSEMBLED(int8_dot, ".arch_extension dotprod\n", "sdot v\\r\\().4s,v1.16b,v2.16b")
ASSEMBLED(int8_mm, ".arch_extension i8mm\n", "smmla v\\r\\().4s,v1.16b,v2.16b")
#endif

typedef struct assembled_row {
    const char *dtype, *isa; /* as the ceiling's row calls them */
    unsigned needs;
    double ops; /* of a round */
    void (*run)(uint64_t rounds);
} assembled_row;

static const assembled_row assembled[] = {
#if defined(__x86_64__)
    {"float32", "avx2+fma", ISA_FMA, CHAINS * 2 * 8, fp32_256},
    {"float32", "avx512", ISA_AVX512, CHAINS * 2 * 16, fp32_512},
    {"bfloat16", "avx512-bf16", ISA_AVX512_BF16, CHAINS * 2 * 32, bf16_512},
    {"int8", "avx-vnni", ISA_AVX_VNNI, CHAINS * 2 * 32, int8_256},
    {"int8", "avx512-vnni", ISA_AVX512_VNNI, CHAINS * 2 * 64, int8_512},
#elif defined(__aarch64__)
    {"float32", "neon", ISA_NEON, CHAINS * 2 * 4, fp32_128},
    {"int8", "neon-dotprod", ISA_NEON_DOT, CHAINS * 2 * 16, int8_dot},
    {"int8", "neon-i8mm", ISA_NEON_I8MM, CHAINS * 2 * 32, int8_mm},
#endif
    {0},
};
enum { ASSEMBLED_ROWS = sizeof assembled / sizeof *assembled };

/* Operations per second of one thread into best[], where they are more. */
static void run_assembled(double best[ASSEMBLED_ROWS])
{
    enum { ROUNDS = 50000, SAMPLES = 400 };
    for (int i = 0; assembled[i].run; i++)
        for (int k = 0; (isa_here() & assembled[i].needs) == assembled[i].needs && k < SAMPLES;
             k++) {
            double t = seconds();
            assembled[i].run(ROUNDS);
            t = assembled[i].ops * ROUNDS / (seconds() - t);
            best[i] = t > best[i] ? t : best[i];
        }
}

/* ---- the questions ---- */

static double off(double a, double b)
{
    double top = a > b ? a : b;
    return top > 0 ? fabs(a - b) / top : 0;
}

static bool twice(const machine *a, const machine *b, double unrest)
{
    double worst_rate = 0, worst_flow = 0;
    for (uint32_t i = 0; i < a->n_rates; i++) {
        double o = off(a->rates[i].ops.value, b->rates[i].ops.value);
        worst_rate = o > worst_rate ? o : worst_rate;
        printf("  %-10s %-12s %3u  %9.1f %9.1f G/s  %5.1f %%\n", a->rates[i].dtype, a->rates[i].isa,
               a->rates[i].threads, a->rates[i].ops.value / 1e9, b->rates[i].ops.value / 1e9,
               o * 100);
    }
    for (uint32_t i = 0; i < a->n_flows; i++) {
        double o = off(a->flows[i].bytes.value, b->flows[i].bytes.value);
        worst_flow = o > worst_flow ? o : worst_flow;
        printf("  %-10s %-12s %3u  %9.1f %9.1f GB/s %5.1f %%\n", a->flows[i].level,
               a->flows[i].kind, a->flows[i].threads, a->flows[i].bytes.value / 1e9,
               b->flows[i].bytes.value / 1e9, o * 100);
    }
    bool met = verdict("arithmetic, twice, the worst", worst_rate, 0.05, false);
    if (worst_flow >= 0.05 && unrest >= 0.05) {
        printf("  %-44s %8.1f %%  not judged: STREAM's triad itself moved by %.1f %%\n",
               "bandwidth, twice, the worst", worst_flow * 100, unrest * 100);
        return met;
    }
    return verdict("bandwidth, twice, the worst", worst_flow, 0.05, false) && met;
}

static bool beside_yardsticks(const machine *m, double blas, double triad)
{
    double peak = machine_peak(m, STR("float32"), UINT32_MAX),
           ours = machine_bandwidth(m, "DRAM", "triad", 1);
    bool met = true;
    printf("  fp32 peak %.1f GFLOP/s, OpenBLAS sgemm %.1f; triad %.2f GB/s, STREAM's %.2f\n",
           peak / 1e9, blas / 1e9, ours / 1e9, triad / 1e9);
    if (blas > 0)
        met = verdict("fp32 peak over OpenBLAS", peak / blas, 0.9, true);
    else
        puts("  libopenblas0 is not installed: the fp32 peak was not compared.");
    return verdict("triad away from STREAM's", off(ours, triad), 0.1, false) && met;
}

static double rate_of(const machine *m, const assembled_row *row)
{
    double best = 0;
    for (uint32_t i = 0; i < m->n_rates; i++)
        if (m->rates[i].threads == 1 && strcmp(m->rates[i].dtype, row->dtype) == 0 &&
            strcmp(m->rates[i].isa, row->isa) == 0)
            best = m->rates[i].ops.value;
    return best;
}

/* The better of the two measurements, as the best turn of the loops. */
static bool beside_assembler(const machine *both, const double best[ASSEMBLED_ROWS])
{
    bool met = true;
    for (int i = 0; assembled[i].run; i++) {
        double ours = fmax(rate_of(&both[0], &assembled[i]), rate_of(&both[1], &assembled[i]));
        char what[64];
        if (best[i] <= 0)
            continue;
        printf("  %-10s %-12s %9.1f G/s, in assembler %9.1f\n", assembled[i].dtype,
               assembled[i].isa, ours / 1e9, best[i] / 1e9);
        snprintf(what, sizeof what, "%s %s away from assembler", assembled[i].dtype,
                 assembled[i].isa);
        met = verdict(what, off(ours, best[i]), 0.05, false) && met;
    }
    return met;
}

enum { TURNS = 3 }; /* of the yardsticks: before, between and after */

static double best_of(const double *x)
{
    return fmax(x[0], fmax(x[1], x[2]));
}

static double unrest_of(const double *x)
{
    return off(best_of(x), fmin(x[0], fmin(x[1], x[2])));
}

int main(int argc, char **argv)
{
    enum { SET_BYTES = 128 << 20 };
    machine *both = calloc(2, sizeof *both);
    const ceiling_options o = {.quick = argc > 1 && strcmp(argv[1], "--quick") == 0};
    assay_error err = {0};
    double blas[TURNS], triad[TURNS], loops[ASSEMBLED_ROWS] = {0};
    assay_status s = both ? ASSAY_OK : ASSAY_ERR_SYSTEM;
    for (int i = 0; s == ASSAY_OK && i < TURNS; i++) {
        blas[i] = blas_peak();
        triad[i] = stream_triad(SET_BYTES);
        run_assembled(loops);
        if (i < 2)
            s = ceilings_measure(&o, &both[i], &err);
    }
    bool met = false;
    if (s == ASSAY_OK) {
        met = twice(&both[0], &both[1], unrest_of(triad));
        met = beside_yardsticks(&both[1], best_of(blas), best_of(triad)) && met;
        met = beside_assembler(both, loops) && met;
    } else {
        printf("%s\n", err.message);
    }
    free(both);
    return met ? 0 : 1;
}
