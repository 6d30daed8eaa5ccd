/* Recommendations from measurements: batch sweeps, precisions, CPU time and layer times. */
#include <math.h>

#include "analyze/advise.h"

#include "base/text.h"
#include "profile/batch_choice.h"
#include "profile/metrics.h"

static bool ran(const profile_config *c)
{
    return !c->error.n && c->latency.runs > 0 && c->latency.median > 0;
}

static const char *first_precision(const profile_measured *m)
{
    return m->n_configs && m->configs[0].precision.p ? m->configs[0].precision.p : "";
}

/* The smallest batch and the one with most throughput, of the precision that was measured first. */
static bool ends_of_sweep(const profile_measured *m, const profile_config **least,
                          const profile_config **best)
{
    *least = *best = NULL;
    for (uint32_t i = 0; m && i < m->n_configs; i++) {
        const profile_config *c = &m->configs[i];
        if (!ran(c) || !str_is(c->precision, first_precision(m)))
            continue;
        if (!*least || c->batch < (*least)->batch)
            *least = c;
    }
    *best = m ? profile_pick_batch(m, first_precision(m), m->choice.room_bytes).chosen : NULL;
    if (!*best || !*least || !((*least)->samples_per_second > 0))
        return false;
    for (uint32_t i = 0; i < m->n_configs; i++)
        if (ran(&m->configs[i]) && m->configs[i].batch != (*least)->batch)
            return true;
    return false;
}

bool advise_batch_measured(advise *a)
{
    const profile_config *least, *best;
    if (!ends_of_sweep(a->p->measured, &least, &best))
        return false;
    double gain = best->samples_per_second / least->samples_per_second;
    if (best == least || gain < 1.05) {
        sbuf_printf(&a->title, "Keep batch %llu", (unsigned long long)least->batch);
        sbuf_puts(&a->why, "No measured batch size gives 5 % more throughput.");
    } else {
        sbuf_printf(&a->title, "Batch %llu for throughput, %llu for latency",
                    (unsigned long long)best->batch, (unsigned long long)least->batch);
        sbuf_puts(&a->why, "Measured: ");
        advise_number(&a->why, best->samples_per_second, 1);
        sbuf_puts(&a->why, " instead of ");
        advise_number(&a->why, least->samples_per_second, 1);
        sbuf_puts(&a->why, " samples/s.");
    }
    advise_times(&a->expected, gain);
    sbuf_puts(&a->expected, " the throughput; latency ");
    advise_number(&a->expected, least->latency.median, 2);
    sbuf_puts(&a->expected, " → ");
    advise_number(&a->expected, best->latency.median, 2);
    sbuf_puts(&a->expected, " ms, memory ");
    advise_bytes(&a->expected, profile_used_bytes(least), profile_used_bytes(best));
    sbuf_puts(&a->expected, ".");
    a->gain = gain > 1 ? 1 - 1 / gain : 0;
    return true;
}

/* A server that collects requests: at batch b a request waits for its batch to fill and to run. */
bool advise_dynamic_batching(advise *a)
{
    const profile_config *least, *best;
    if (!ends_of_sweep(a->p->measured, &least, &best) || best == least)
        return false;
    double gain = best->samples_per_second / least->samples_per_second;
    if (gain < 1.1)
        return false;
    double fill_ms = (double)(best->batch - least->batch) / best->samples_per_second * 1000;
    sbuf_printf(&a->title, "Collect up to %llu requests into a batch",
                (unsigned long long)best->batch);
    sbuf_puts(&a->why, "Above ");
    advise_number(&a->why, least->samples_per_second, 1);
    sbuf_printf(&a->why, " requests/s, batch %llu falls behind; batch %llu sustains up to ",
                (unsigned long long)least->batch, (unsigned long long)best->batch);
    advise_number(&a->why, best->samples_per_second, 1);
    sbuf_puts(&a->why, ".");
    sbuf_puts(&a->expected, "At that rate a batch fills in ");
    advise_number(&a->expected, fill_ms, 1);
    sbuf_puts(&a->expected, " ms and runs in ");
    advise_number(&a->expected, best->latency.median, 1);
    sbuf_puts(&a->expected, ": at most ");
    advise_number(&a->expected, fill_ms + best->latency.median, 1);
    sbuf_puts(&a->expected, " ms per request instead of ");
    advise_number(&a->expected, least->latency.median, 1);
    sbuf_puts(&a->expected, ".");
    a->gain = (1 - 1 / gain) * 0.9;
    return true;
}

/* ---- precision ---- */

static const profile_config *at_precision(const profile_measured *m, const char *precision,
                                          uint64_t batch)
{
    for (uint32_t i = 0; m && i < m->n_configs; i++)
        if (ran(&m->configs[i]) && m->configs[i].batch == batch &&
            str_starts(m->configs[i].precision, precision))
            return &m->configs[i];
    return NULL;
}

static void say_error(advise *a, const profile_config *c)
{
    const profile_output_error *e = &c->output_error;
    if (!e->present || isnan(e->relative))
        return;
    sbuf_puts(&a->why, " The output error is ");
    advise_percent(&a->why, e->relative);
    sbuf_puts(&a->why, " (relative Euclidean, for these inputs).");
}

bool advise_precision_measured(advise *a, const char *precision)
{
    const profile_measured *m = a->p->measured;
    const profile_config *base = NULL;
    for (uint32_t i = 0; m && !base && i < m->n_configs; i++)
        if (ran(&m->configs[i]) && !str_starts(m->configs[i].precision, precision) &&
            at_precision(m, precision, m->configs[i].batch))
            base = &m->configs[i];
    if (!base)
        return false;
    const profile_config *c = at_precision(m, precision, base->batch);
    double ratio = base->latency.median / c->latency.median;
    if (ratio >= 1.02)
        sbuf_printf(&a->title, "Run at " STR_FMT, STR_ARG(c->precision));
    else
        sbuf_printf(&a->title, "Keep " STR_FMT " for speed: " STR_FMT " is not faster",
                    STR_ARG(base->precision), STR_ARG(c->precision));
    sbuf_printf(&a->why, "Measured at batch %llu: ", (unsigned long long)c->batch);
    advise_number(&a->why, c->latency.median, 2);
    sbuf_puts(&a->why, " ms instead of ");
    advise_number(&a->why, base->latency.median, 2);
    sbuf_puts(&a->why, ".");
    say_error(a, c);
    advise_times(&a->expected, ratio);
    sbuf_puts(&a->expected, " as fast. ");
    a->gain = ratio > 1 ? 1 - 1 / ratio : 0.01;
    return true;
}

/* ---- threads ---- */

static uint64_t cores_for(const advise *a, const profile_config *c)
{
    return c->use.threads > 0 ? (uint64_t)c->use.threads : a->f->cores;
}

bool advise_threads(advise *a)
{
    const profile_measured *m = a->p->measured;
    const profile_config *c = NULL;
    for (uint32_t i = 0; m && !c && i < m->n_configs; i++)
        if (ran(&m->configs[i]) && m->configs[i].use.cpu_percent > 0)
            c = &m->configs[i];
    uint64_t cores = c ? cores_for(a, c) : 0;
    if (cores < 2 || c->use.busy.n) /* other programs had the CPUs, or may have had them */
        return false;
    double busy = c->use.cpu_percent / 100 / (double)cores;
    if (busy > 0.85)
        return false;
    sbuf_puts(&a->title, "Threads wait for each other: use fewer threads or concurrent requests");
    sbuf_printf(&a->why, "At batch %llu ", (unsigned long long)c->batch);
    advise_number(&a->why, c->use.cpu_percent / 100, 2);
    sbuf_printf(&a->why, " of %llu threads were busy on average (including spinning).",
                (unsigned long long)cores);
    sbuf_printf(&a->expected, "Measure `--threads %llu --concurrency 2`: it can reach at most ",
                (unsigned long long)(cores / 2));
    advise_times(&a->expected, 1 / busy);
    sbuf_puts(&a->expected, " the throughput.");
    a->gain = (1 - busy) * 0.6;
    return true;
}

/* ---- a layer that is slower than others of its type ---- */

static double rate_of(const profile_layer *l)
{
    return l->time_ms > 0.01 && l->flops ? (double)l->flops / l->time_ms : 0;
}

/* The best rate that a layer of the type with at least a tenth of its FLOPs reaches. */
static double best_rate(const profile *p, const profile_layer *l)
{
    double best = 0;
    for (uint32_t i = 0; i < p->n_layers; i++) {
        const profile_layer *x = &p->layers[i];
        double r = str_eq(x->type, l->type) && x->flops * 10 >= l->flops ? rate_of(x) : 0;
        best = r > best ? r : best;
    }
    return best;
}

bool advise_slow_layer(advise *a)
{
    const profile *p = a->p;
    const profile_layer *worst = NULL;
    double all = 0, lost = 0;
    for (uint32_t i = 0; i < p->n_layers && p->n_layers <= 4000; i++) {
        const profile_layer *l = &p->layers[i];
        all += l->time_ms > 0 ? l->time_ms : 0;
        if (!(rate_of(l) > 0) || !l->macs)
            continue;
        double over = l->time_ms - (double)l->flops / best_rate(p, l);
        if (over > lost) {
            lost = over;
            worst = l;
        }
    }
    if (!worst || lost < 0.02 * all)
        return false;
    sbuf_puts(&a->title, "Speed up ");
    text_safe(&a->title, worst->name);
    sbuf_puts(&a->why, "It runs at ");
    advise_number(&a->why, rate_of(worst) / 1e6, 1);
    sbuf_puts(&a->why, " GFLOPs/s; another ");
    sbuf_str(&a->why, worst->type);
    sbuf_puts(&a->why, " reaches ");
    advise_number(&a->why, best_rate(p, worst) / 1e6, 1);
    sbuf_puts(&a->why, ".");
    sbuf_puts(&a->expected, "At that rate: ");
    advise_number(&a->expected, lost, 3);
    sbuf_puts(&a->expected, " ms less, ");
    advise_percent(&a->expected, lost / all);
    sbuf_puts(&a->expected, " of the run.");
    a->gain = lost / all;
    return true;
}
