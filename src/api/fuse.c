/* Groups of layers that may run as one kernel, and the patterns in a file. */
#include "jobs/fuse.h"

#include "api/result.h"

assay_status assay_fuse(assay_model *model, const assay_options *options, assay_result **out,
                        assay_error *err)
{
    assay_options none;
    return api_settle(job_fuse(model, api_options(options, &none), out, err), out, err);
}

static const char *text(str s)
{
    return s.p ? s.p : "";
}

bool assay_profile_fusion(const assay_result *of, assay_fusion *out)
{
    const profile_fusion *f = of->p->fusion;
    if (!f)
        return false;
    assay_fusion x = {.strategy = f->strategy,
                      .groups = f->n_groups,
                      .levels = f->levels,
                      .widest_level_groups = f->widest_groups,
                      .critical_groups = f->critical_groups,
                      .launches_before = f->launches_before,
                      .launches_after = f->launches_after,
                      .bytes_before = f->bytes_before,
                      .bytes_after = f->bytes_after,
                      .critical_flops = f->critical_flops,
                      .intensity_before = f->intensity_before,
                      .intensity_after = f->intensity_after,
                      .concurrency = f->concurrency,
                      .engine_kernels = f->engine.kernels,
                      .compared_groups = f->engine.groups,
                      .same_groups = f->engine.same_groups};
    HAND_OUT(out, x);
    return true;
}

bool assay_profile_group(const assay_result *of, size_t index, assay_group *out)
{
    const profile_fusion *f = of->p->fusion;
    if (!f || index >= f->n_groups)
        return false;
    const fusion_group *g = &f->groups[index];
    assay_group x = {.kind = text(g->kind),
                     .n_nodes = g->n_nodes,
                     .n_depends_on = g->n_depends_on,
                     .depends_on = g->depends_on,
                     .flops = g->flops,
                     .macs = g->macs,
                     .memory = g->memory,
                     .boundary_bytes = g->boundary_bytes,
                     .launches = g->launches,
                     .level = g->level,
                     .critical = g->critical,
                     .arithmetic_intensity = g->arithmetic_intensity,
                     .intensity_before = g->intensity_before};
    HAND_OUT(out, x);
    return true;
}

const char *assay_profile_group_node(const assay_result *of, size_t group, size_t index)
{
    const profile_fusion *f = of->p->fusion;
    if (!f || group >= f->n_groups || index >= f->groups[group].n_nodes)
        return NULL;
    return text(f->groups[group].nodes[index]);
}

bool assay_profile_pattern(const assay_result *of, size_t index, assay_pattern *out)
{
    if (index >= of->p->n_patterns)
        return false;
    const profile_pattern *p = &of->p->patterns[index];
    assay_pattern x = {.name = p->name,
                       .form = p->form,
                       .output = text(p->output),
                       .n_nodes = p->n_nodes,
                       .native = p->native,
                       .flops = p->flops,
                       .macs = p->macs};
    HAND_OUT(out, x);
    return true;
}

const char *assay_profile_pattern_node(const assay_result *of, size_t pattern, size_t index)
{
    if (pattern >= of->p->n_patterns || index >= of->p->patterns[pattern].n_nodes)
        return NULL;
    return text(of->p->patterns[pattern].nodes[index]);
}
