/* See capacity_language.h. */
#include "study/capacity_language.h"

#include <math.h>

#include "study/capacity.h"

#define MACHINES_MAX 1e9

static str why_not(const language_device *d, const language_result *o, arena *a)
{
    double gib = 1024.0 * 1024 * 1024;
    if (!d->precision)
        return str_printf(a, "the device has no peak at %s", o->weight_dtype);
    if (!d->most_running)
        return str_printf(a, "one request needs %.2f GiB, and 80 %% of the memory are %.2f GiB",
                          ((double)o->weight_bytes +
                           (double)(o->cache_bytes + o->activation_peak_bytes) / (double)o->batch) /
                              gib,
                          0.8 * (double)d->memory_bytes / gib);
    return STR("one user alone exceeds the objectives");
}

/* Requests per second at the slow or the fast end of the interval. */
static double rate_at(const language_users *u, double ttft_ms, double itl_ms, double output)
{
    double wait = u->latency_ms - (u->ttft_ms + (output - 1) * u->itl_ms);
    return 1e3 * (double)u->running / (ttft_ms + (output - 1) * itl_ms + fmax(wait, 0));
}

static uint64_t machines_for(double target, double rate)
{
    double n = rate > 0 ? ceil(target / rate - 1e-9) : INFINITY;
    return n < MACHINES_MAX ? (uint64_t)fmax(n, 1) : FIELD_UNKNOWN;
}

static void fill_plan(const capacity_language_request *q, const language_result *o,
                      const language_device *d, capacity_plan *p)
{
    const language_users *u = &d->best;
    double kept = 1 - q->headroom, output = (double)o->generate;
    p->most = kept * u->requests_per_s;
    p->machines = machines_for(q->target, p->most);
    if (p->machines == FIELD_UNKNOWN)
        return;
    p->machines_low = machines_for(q->target,
                                   kept * rate_at(u, u->ttft_low_ms, u->itl_low_ms, output));
    p->machines_high = machines_for(q->target,
                                    kept * rate_at(u, u->ttft_high_ms, u->itl_high_ms, output));
    p->feasible = true;
    p->concurrency = (uint64_t)u->users;
    p->batch = (uint64_t)u->running;
    p->per_machine = q->target / (double)p->machines;
    p->utilization = p->per_machine / u->requests_per_s;
    p->mean_ms = u->latency_ms;
    p->ttft_ms = u->ttft_ms;
    p->itl_ms = u->itl_ms;
    p->tokens_per_s = p->per_machine * output;
    p->in_flight = p->per_machine * u->latency_ms / 1000;
}

static capacity_plan plan_device(const capacity_language_request *q, const language_result *o,
                                 const language_device *d, arena *a)
{
    capacity_plan p = {.source = str_copy(a, o->model),
                       .device = str_copy(a, d->id),
                       .precision = str_copy(a, str_of(o->weight_dtype)),
                       .predicted = true,
                       .imprecise = d->imprecise,
                       CAPACITY_PLAN_UNKNOWN};
    if (d->has_best)
        fill_plan(q, o, d, &p);
    if (!p.feasible)
        p.why = d->has_best ? STR("the target needs too many devices") : why_not(d, o, a);
    capacity_put_price(&p, q->prices, d->id);
    return p;
}

/* The fewest devices; imprecise predictions only where there is no other. */
static uint32_t best_plan(const capacity_plan *plans, uint32_t n)
{
    uint32_t best = UINT32_MAX;
    for (uint32_t i = 0; i < n; i++) {
        const capacity_plan *b = best < n ? &plans[best] : NULL;
        bool precise = b && b->imprecise && !plans[i].imprecise;
        bool comparable = !b || b->imprecise == plans[i].imprecise;
        if (plans[i].feasible && (!b || precise || (comparable && plans[i].machines < b->machines)))
            best = i;
    }
    return best;
}

static const char *const language_notes[] = {
    "Predicted: times of a server that processes prompts between the steps of others (vLLM); "
    "nothing was measured here. Objectives are compared with predicted percentiles (P99 unless "
    "another is named).",
    "Assumed: equal requests; each machine keeps its number of users busy. 20 % of the memory of a "
    "device stay free.",
};

assay_status capacity_run_language(const capacity_language_request *q, arena *a, capacity *out,
                                   assay_error *err)
{
    uint32_t n = 0, most = 0;
    enum { NOTES = sizeof language_notes / sizeof *language_notes };
    for (uint32_t i = 0; i < q->n; i++)
        most += q->models[i]->n_devices;
    capacity_plan *plans = ARENA_ARRAY(a, capacity_plan, most + 1u);
    str *said = ARENA_ARRAY(a, str, NOTES);
    TRY_MEMORY(plans && said, err);
    for (uint32_t i = 0; i < q->n; i++)
        for (uint32_t d = 0; d < q->models[i]->n_devices; d++)
            plans[n++] = plan_device(q, q->models[i], &q->models[i]->devices[d], a);
    for (uint32_t i = 0; i < NOTES; i++)
        said[i] = str_of(language_notes[i]);
    *out = (capacity){.model = str_copy(a, q->models[0]->model),
                      .target = q->target,
                      .quantile = NAN,
                      .limit_ms = NAN,
                      .slo = str_copy(a, q->models[0]->slo.text),
                      .prompt_tokens = q->models[0]->prompt_tokens,
                      .generate = q->models[0]->generate,
                      .headroom = q->headroom,
                      .plans = plans,
                      .n = n,
                      .best = best_plan(plans, n),
                      .notes = said,
                      .n_notes = NOTES};
    if (out->best < n)
        plans[out->best].best = true;
    capacity_quantile_name(NAN, out->limit_name);
    capacity_quantile_name(NAN, out->latency_name);
    return arena_failed(a) ? err_no_memory(err) : ASSAY_OK;
}
