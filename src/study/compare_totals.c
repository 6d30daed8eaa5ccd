/* The models of a comparison: labels, totals, ratios and times. */
#include <math.h>

#include "profile/metrics.h"
#include "study/compare.h"

/* ---- totals ---- */

static metric_value by_metric(const profile *p, const char *name)
{
    const metric_row *m = metric_find(str_of(name));
    metric_value v;
    return m && m->get(p, &v) ? v : (metric_value){.v = NAN};
}

static uint64_t memory_used(const profile *p)
{
    metric_value v = by_metric(p, "memory");
    return v.v > 0 ? (uint64_t)v.v : FIELD_UNKNOWN;
}

static comparison_model model_of(const profile *p, str label)
{
    comparison_model m = {.model = p->model,
                          .label = label,
                          .assumed = p->accounting.assumed,
                          .unknown = p->accounting.unknown,
                          .parameters = p->total_parameters,
                          .weight_bytes = p->architecture.weight_bytes,
                          .operators = p->total_operators,
                          .macs = p->total_macs,
                          .flops = p->total_flops,
                          .memory = p->total_memory,
                          .arithmetic_intensity = p->arithmetic_intensity,
                          .activations_peak_bytes = p->memory_plan.activations_peak_bytes,
                          .peak_bytes = p->memory_plan.peak_bytes,
                          .p50_ms = by_metric(p, "p50").v,
                          .samples_per_second = by_metric(p, "throughput").v,
                          .memory_used_bytes = memory_used(p)};
    m.flops_per_param = p->total_parameters ? (double)m.flops / (double)m.parameters : 0;
    if (p->inventory.alone) { /* weights without a graph: nothing but the weights is known */
        m.operators = m.macs = m.flops = m.memory = FIELD_UNKNOWN;
        m.activations_peak_bytes = m.peak_bytes = FIELD_UNKNOWN;
        m.flops_per_param = m.arithmetic_intensity = NAN;
    }
    return m;
}

/* ---- ratios ---- */

static double real_ratio(double v, double first)
{
    return isnan(v) || isnan(first) ? NAN : first > 0 ? v / first : 0.0;
}

static double ratio(uint64_t v, uint64_t first)
{
    bool known = v != FIELD_UNKNOWN && first != FIELD_UNKNOWN;
    return known ? real_ratio((double)v, (double)first) : NAN;
}

static comparison_ratios ratios_of(const comparison_model *m, const comparison_model *first)
{
    return (comparison_ratios){
        .parameters = ratio(m->parameters, first->parameters),
        .weight_bytes = ratio(m->weight_bytes, first->weight_bytes),
        .operators = ratio(m->operators, first->operators),
        .macs = ratio(m->macs, first->macs),
        .flops = ratio(m->flops, first->flops),
        .flops_per_param = real_ratio(m->flops_per_param, first->flops_per_param),
        .memory = ratio(m->memory, first->memory),
        .arithmetic_intensity = real_ratio(m->arithmetic_intensity, first->arithmetic_intensity),
        .activations_peak_bytes = ratio(m->activations_peak_bytes, first->activations_peak_bytes),
        .peak_bytes = ratio(m->peak_bytes, first->peak_bytes),
        .p50_ms = real_ratio(m->p50_ms, first->p50_ms),
        .samples_per_second = real_ratio(m->samples_per_second, first->samples_per_second),
        .memory_used_bytes = ratio(m->memory_used_bytes, first->memory_used_bytes)};
}

/* ---- all ---- */

static bool settle_times(const comparison_timing *timings, arena *a, comparison *out)
{
    comparison_timing *list = ARENA_ARRAY(a, comparison_timing, out->n_models);
    uint32_t n = 0;
    for (uint32_t i = 1; list && i < out->n_models; i++) {
        if (!timings[i].verdict)
            continue;
        list[n] = timings[i];
        list[n].model = out->models[i].model;
        list[n++].label = out->models[i].label;
    }
    out->measured = list;
    out->n_measured = n;
    return list != NULL;
}

/* Of the first model whose runs have such evidence. */
static str busy_among(const profile *const *profiles, const comparison *c, arena *a)
{
    for (uint32_t i = 0; i < c->n_models; i++) {
        const profile_config *config = profile_smallest(profiles[i]);
        if (config && config->use.busy.n)
            return str_printf(a, "while " STR_FMT " ran, " STR_FMT, STR_ARG(c->models[i].label),
                              STR_ARG(config->use.busy));
    }
    return (str){0};
}

bool compare_settle(const profile *const *profiles, uint32_t n, const comparison_timing *timings,
                    arena *a, comparison *out)
{
    str labels[COMPARISON_MAX];
    comparison_model *models = ARENA_ARRAY(a, comparison_model, n);
    compare_labels(profiles, n, a, labels);
    if (arena_failed(a))
        return false;
    for (uint32_t i = 0; i < n; i++) {
        models[i] = model_of(profiles[i], labels[i]);
        models[i].ratios = ratios_of(&models[i], &models[0]);
    }
    out->models = models;
    out->n_models = n;
    out->busy = busy_among(profiles, out, a);
    return settle_times(timings, a, out) && compare_place(profiles, a, out) &&
           (!out->budget || compare_rank(profiles, a, out));
}
