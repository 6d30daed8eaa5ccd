/* Groups of layers that can run as one kernel, and patterns. */
#include "jobs/job.h"

#include "analyze/fuse.h"
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

assay_status job_fuse(assay_model *model, const assay_options *options, assay_result **out,
                      assay_error *err)
{
    assay_options o = *options;
    o.fusion.wanted = o.analysis.patterns = true;
    if (model->ir && model->ir->inventory) {
        err_clear(err);
        *out = NULL;
        return model_no_graph(model, err);
    }
    o.analysis.no_advice = true;
    assay_error beside = {0};
    assay_status verdict = job_analyze(model, &o, out, err);
    if (!*out || !o.fusion.against_engine)
        return verdict;
    assay_status s = job_stopped(&o, &beside);
    if (s == ASSAY_OK)
        s = job_fuse_engine(model, &o, (*out)->p, &beside);
    s = s == ASSAY_OK ? job_stopped(&o, &beside) : job_ended(o.hooks, s, &beside);
    if (s == ASSAY_OK)
        return verdict;
    if (s == ASSAY_ERR_INTERRUPTED) {
        handle_free(*out);
        *out = NULL;
    }
    if (err)
        *err = beside;
    return s;
}
