/* Achieved rates as shares of the ceilings measured by `assay machine`. */
#include "measure/shares.h"

#include <limits.h>

#include "device/machine.h"

static uint64_t threads_measured(const machine *m, const char *dtype, unsigned at_most)
{
    unsigned most = 0;
    for (uint32_t i = 0; i < m->n_rates; i++)
        if (strcmp(m->rates[i].dtype, dtype) == 0 && m->rates[i].threads <= at_most &&
            m->rates[i].threads > most)
            most = m->rates[i].threads;
    return most;
}

static void set_levels(const machine *m, unsigned threads, arena *a, profile_ceilings *out)
{
    static const char *const names[] = {"L1", "L2", "L3", "DRAM"};
    profile_level *levels = ARENA_ARRAY(a, profile_level, 4);
    out->levels = levels;
    for (int i = 0; levels && i < 4; i++) {
        double bytes = machine_bandwidth(m, names[i], NULL, threads);
        if (bytes > 0)
            levels[out->n_levels++] = (profile_level){str_of(names[i]), bytes};
    }
}

static void set_ceilings(const machine *m, unsigned threads, arena *a, profile_ceilings *out)
{
    if (out->present)
        return;
    *out = (profile_ceilings){.name = str_copy(a, str_of(m->where.cpu)),
                              .measured = str_copy(a, str_of(m->timestamp)),
                              .dtype = STR("float32"),
                              .threads = threads_measured(m, "float32", threads),
                              .ops_per_s = machine_peak(m, STR("float32"), threads)};
    set_levels(m, threads, a, out);
    out->present = out->ops_per_s > 0 && out->n_levels > 0;
}

void shares_set(int64_t for_threads, str where, profile_config *c, arena *keep,
                profile_ceilings *ceilings)
{
    assay_error ignored;
    machine *m = NULL;
    arena *a = arena_new((size_t)16 << 20);
    err_clear(&ignored);
    bool known = a && str_is(where, "cpu") && c->gflops_per_s > 0 &&
                 machine_this(a, &m, &ignored) == ASSAY_OK;
    unsigned threads = for_threads ? (unsigned)for_threads : UINT_MAX;
    double peak = known ? machine_peak(m, STR("float32"), threads) : 0;
    double bytes = known ? machine_bandwidth(m, "DRAM", NULL, threads) : 0;
    if (peak > 0)
        c->percent_of_peak = 100 * c->gflops_per_s * 1e9 / peak;
    if (bytes > 0)
        c->percent_of_bandwidth = 100 * c->gbytes_per_s * 1e9 / bytes;
    if (known)
        set_ceilings(m, threads, keep, ceilings);
    arena_free(a);
}
