/* What was achieved, as shares of what `assay machine` measured here. */
#include <limits.h>

#include "api/measure_shares.h"
#include "device/machine.h"

void api_set_shares(const assay_options *o, str where, profile_config *c)
{
    assay_error ignored;
    machine *m = NULL;
    arena *a = arena_new((size_t)16 << 20);
    err_clear(&ignored);
    bool known = a && str_is(where, "cpu") && c->gflops_per_s > 0 &&
                 machine_this(a, &m, &ignored) == ASSAY_OK;
    unsigned threads = o->threads ? (unsigned)o->threads : UINT_MAX;
    double peak = known ? machine_peak(m, STR("float32"), threads) : 0;
    double bytes = known ? machine_bandwidth(m, "DRAM", NULL, threads) : 0;
    if (peak > 0)
        c->percent_of_peak = 100 * c->gflops_per_s * 1e9 / peak;
    if (bytes > 0)
        c->percent_of_bandwidth = 100 * c->gbytes_per_s * 1e9 / bytes;
    arena_free(a);
}
