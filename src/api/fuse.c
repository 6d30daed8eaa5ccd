/* Groups of layers that may run as one kernel, and the patterns in a file. */
#include "analyze/fuse.h"

#include "jobs/fuse.h"
#include "jobs/hooks.h"

/* Above this many layers graph does without advice on fusion, which would take longer than the rest. */
enum { ADVISED_MOST = 20000 };

assay_status job_fuse_study(infer_result *r, const counted *of, const assay_options *o, profile *p,
                            assay_error *err)
{
    flow f;
    pattern_list patterns;
    fuse_partition parts;
    bool advise = (o->analysis.advice || o->analysis.advise_later) && !o->analysis.no_advice &&
                  p->n_layers <= ADVISED_MOST;
    if (!o->fusion.wanted && !o->analysis.patterns && !advise)
        return ASSAY_OK;
    TRY(flow_build(r, of, p, o->model.precision, &f, err));
    TRY(pattern_find(&f, &patterns, err));
    if (advise)
        TRY(fuse_potential(&f, &patterns, &p->potential, err));
    if (o->analysis.patterns)
        TRY(pattern_fill(&f, &patterns, p, err));
    if (!o->fusion.wanted)
        return ASSAY_OK;
    TRY(fuse_run(&f, &patterns, (fuse_strategy)o->fusion.strategy, &parts, err));
    return fuse_figures(&f, &parts, (fuse_strategy)o->fusion.strategy, p, &p->fusion, err);
}

assay_status assay_fuse(assay_model *model, const assay_options *options, assay_profile **out,
                        assay_error *err)
{
    const assay_options none = api_default_options();
    assay_options o = options ? *options : none;
    o.fusion.wanted = o.analysis.patterns = true;
    if (model->ir && model->ir->inventory) {
        err_clear(err);
        *out = NULL;
        return job_no_graph(model, err);
    }
    o.analysis.no_advice = true;
    assay_error beside = {0};
    assay_status verdict = assay_analyze(model, &o, out, err);
    if (!*out || !o.fusion.against_engine)
        return verdict;
    assay_status s = job_stopped(&o, &beside);
    if (s == ASSAY_OK)
        s = job_fuse_engine(model, &o, (*out)->p, &beside);
    s = s == ASSAY_OK ? job_stopped(&o, &beside) : job_ended(o.hooks, s, &beside);
    if (s == ASSAY_OK)
        return verdict;
    if (s == ASSAY_ERR_INTERRUPTED) {
        assay_profile_free(*out);
        *out = NULL;
    }
    if (err)
        *err = beside;
    return s;
}

/* ---- walking ---- */

static const char *text(str s)
{
    return s.p ? s.p : "";
}

bool assay_profile_fusion(const assay_profile *of, assay_fusion *out)
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

bool assay_profile_group(const assay_profile *of, size_t index, assay_group *out)
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

const char *assay_profile_group_node(const assay_profile *of, size_t group, size_t index)
{
    const profile_fusion *f = of->p->fusion;
    if (!f || group >= f->n_groups || index >= f->groups[group].n_nodes)
        return NULL;
    return text(f->groups[group].nodes[index]);
}

bool assay_profile_pattern(const assay_profile *of, size_t index, assay_pattern *out)
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

const char *assay_profile_pattern_node(const assay_profile *of, size_t pattern, size_t index)
{
    if (pattern >= of->p->n_patterns || index >= of->p->patterns[pattern].n_nodes)
        return NULL;
    return text(of->p->patterns[pattern].nodes[index]);
}
