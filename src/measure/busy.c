/* See busy.h. */
#include "measure/busy.h"

#include <math.h>
#include <unistd.h>

#include "base/clock.h"
#include "measure/system.h"

static bool waits_too_long(const busy_evidence *e)
{
    return e->wait_s > BUSY_WAIT_SHARE * e->wall_s;
}

/* Beyond what these runs put on it themselves, there is work for every CPU. */
static bool is_loaded(const busy_evidence *e)
{
    double own = e->wall_s > 0 ? e->cpu_s / e->wall_s : 0;
    return e->cpus && e->load - own > (double)e->cpus;
}

static bool is_preempted(const busy_evidence *e)
{
    return isnan(e->wait_s) && e->cpu_s > 0 &&
           (double)e->forced > BUSY_SWITCHES_PER_CPU_S * e->cpu_s + 1;
}

bool busy_judge(const busy_evidence *e, sbuf *why)
{
    if (!(waits_too_long(e) || is_loaded(e) || is_preempted(e)))
        return false;
    if (e->wait_s >= 0 && e->wall_s > 0)
        sbuf_printf(why, "the runs waited %.0f %% of the time for a CPU, ",
                    100 * e->wait_s / fmax(e->wall_s, e->wait_s)); /* it is read a little outside */
    if (!isnan(e->load) && e->cpus)
        sbuf_printf(why, "the load was %.1f on %llu CPUs, ", e->load, (unsigned long long)e->cpus);
    sbuf_printf(why, "the scheduler forced %llu context switches", (unsigned long long)e->forced);
    return true;
}

double busy_probe(const char *root, double seconds)
{
    double before = system_run_queue_wait(root), waited;
    uint64_t began = clock_mono_ns(), now = began;
    while ((double)(now - began) < seconds * 1e9)
        now = clock_mono_ns();
    waited = system_run_queue_wait(root) - before;
    return waited / ((double)(now - began) / 1e9);
}

bool busy_for_calibration(double wait_share)
{
    return wait_share > BUSY_CALIBRATION_SHARE;
}

void busy_describe(profile_use *use, const char *root, arena *a)
{
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    sbuf why = {0};
    use->load = system_load(root);
    const busy_evidence e = {.wall_s = use->wall_s,
                             .cpu_s = use->cpu_s,
                             .wait_s = use->run_queue_wait_s,
                             .load = use->load,
                             .forced = use->involuntary_switches,
                             .cpus = cpus > 0 ? (uint64_t)cpus : 0};
    if (busy_judge(&e, &why))
        use->busy = str_copy(a, str_of(sbuf_cstr(&why)));
    sbuf_free(&why);
}

void busy_note(const profile_measured *m, notes *n)
{
    for (uint32_t i = 0; i < m->n_configs; i++) {
        const profile_config *c = &m->configs[i];
        if (!c->use.busy.n)
            continue;
        notes_add(n, "machine-busy", (str){0},
                  "Stop other programs and measure again. Times, and what follows from them, are "
                  "unreliable.",
                  "The machine was too busy: while batch size %llu ran, " STR_FMT ".",
                  (unsigned long long)c->batch, STR_ARG(c->use.busy));
        notes_put_first(n, "machine-busy");
        return;
    }
}
