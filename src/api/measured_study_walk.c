/* What was studied beside the runs, as the public structs show it: the engine, memory over time, the ledger of
 * layers, the plan against a run. */
#include "api/api.h"
#include "profile/plan_ledger.h"

static const char *text(str s)
{
    return s.n ? s.p : "";
}

bool assay_profile_memory_sample(const assay_result *of, size_t config, size_t index,
                                 assay_memory_sample *out)
{
    const profile_measured *m = of->p->measured;
    if (!m || config >= m->n_configs || index >= m->configs[config].n_curve)
        return false;
    const profile_memory_sample *s = &m->configs[config].curve[index];
    assay_memory_sample x = {
        .ms = s->ms, .resident = s->resident, .anonymous = s->anon, .file_backed = s->file};
    HAND_OUT(out, x);
    return true;
}

bool assay_profile_engine(const assay_result *of, assay_engine_used *out)
{
    const profile_measured *m = of->p->measured;
    if (!m)
        return false;
    assay_engine_used x = {.name = text(m->engine.name),
                           .title = text(m->engine.title),
                           .version = text(m->engine.version),
                           .library = text(m->engine.library),
                           .device = text(m->engine.device),
                           .governor = text(m->governor),
                           .threads = m->engine.threads,
                           .opt_level = m->engine.opt_level,
                           .spin = m->engine.spin,
                           .concurrency = m->concurrency,
                           .seed = m->seed,
                           .rate = m->rate,
                           .n_provider_options = m->engine.n_settings};
    HAND_OUT(out, x);
    return true;
}

bool assay_profile_provider_option(const assay_result *of, size_t index, const char **key,
                                   const char **value)
{
    const profile_measured *m = of->p->measured;
    if (!m || !m->engine.settings || index >= m->engine.n_settings)
        return false;
    *key = text(m->engine.settings[index].key);
    *value = text(m->engine.settings[index].value);
    return true;
}

bool assay_profile_ledger(const assay_result *of, assay_ledger *out)
{
    const profile_ledger *l = of->p->measured ? &of->p->measured->ledger : NULL;
    if (!l || !l->present)
        return false;
    assay_ledger x = {.runs = l->runs,
                      .run_ms = l->run_ms,
                      .layers_ms = l->layers_ms,
                      .engine_ms = l->engine_ms,
                      .dispatch_ms = l->dispatch_ms,
                      .unexplained_ms = l->unexplained_ms,
                      .latency_ms = l->latency_ms,
                      .profiler_us_per_kernel = l->bias_us,
                      .profiler_us_between = l->overhead_us,
                      .kernels = l->kernels,
                      .fused_kernels = l->fused_kernels,
                      .layers_without_kernel = l->unmapped_layers};
    HAND_OUT(out, x);
    return true;
}

bool assay_profile_plan_check(const assay_result *of, assay_plan_check *out)
{
    const profile_plan_check *c = of->p->measured ? &of->p->measured->plan : NULL;
    if (!c || !c->present)
        return false;
    assay_plan_check x = {.planned_peak = c->planned_peak,
                          .planned_in_order = c->planned_in_order,
                          .planned_as_run = c->planned_as_run,
                          .measured_peak = c->measured_peak,
                          .planned_no_reuse = c->planned_no_reuse,
                          .measured_no_reuse = c->measured_no_reuse,
                          .workspace_bytes = c->workspace,
                          .measured_peak_node = text(c->peak_node),
                          .first_unequal = text(c->first_unequal),
                          .shapes_checked = c->shapes_checked,
                          .shapes_equal = c->shapes_equal,
                          .n_moments = c->n_moments,
                          .planned_expanded = c->planned_expanded,
                          .planned_with_kept = c->planned_with_kept};
    HAND_OUT(out, x);
    return true;
}

bool assay_profile_plan_step(const assay_result *of, size_t index, const char **cause,
                             int64_t *bytes, uint64_t *total_bytes)
{
    const profile_plan_check *c = of->p->measured ? &of->p->measured->plan : NULL;
    plan_ledger_row rows[PLAN_LEDGER_MAX];
    if (!c || !c->present || index >= plan_ledger(c, rows))
        return false;
    *cause = rows[index].cause;
    *bytes = rows[index].bytes;
    *total_bytes = rows[index].total;
    return true;
}

bool assay_profile_plan_moment(const assay_result *of, size_t index, const char **node,
                               uint64_t *live_bytes, uint64_t *planned_bytes)
{
    const profile_plan_check *c = of->p->measured ? &of->p->measured->plan : NULL;
    if (!c || !c->present || index >= c->n_moments)
        return false;
    *node = text(c->moments[index].node);
    *live_bytes = c->moments[index].requested;
    *planned_bytes = c->moments[index].planned;
    return true;
}
