/* Are the ceilings of `assay machine` what this machine can do? Measured twice, they must agree; a hand-tuned
 * matrix product (OpenBLAS, loaded when Debian's libopenblas is there) must not beat the fp32 peak by more than
 * a tenth; STREAM's triad, compiled by the same rules, must find the same bandwidth. OpenBLAS and the triad are
 * run before, between and after the two measurements, and the best of each counts. A triad that itself moves
 * says that the machine was not quiet: then bandwidths that differ prove nothing, and that is said.
 *
 *   ceilings [--quick]      5 %, 90 %, 10 %; about a minute
 */
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

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
    double blas[TURNS], triad[TURNS];
    assay_status s = both ? ASSAY_OK : ASSAY_ERR_SYSTEM;
    for (int i = 0; s == ASSAY_OK && i < TURNS; i++) {
        blas[i] = blas_peak();
        triad[i] = stream_triad(SET_BYTES);
        if (i < 2)
            s = ceilings_measure(&o, &both[i], &err);
    }
    bool met = false;
    if (s == ASSAY_OK) {
        met = twice(&both[0], &both[1], unrest_of(triad));
        met = beside_yardsticks(&both[1], best_of(blas), best_of(triad)) && met;
    } else {
        printf("%s\n", err.message);
    }
    free(both);
    return met ? 0 : 1;
}
