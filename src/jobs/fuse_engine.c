/* Compares the groups with the fusions of the engine. The engine optimises the model and writes its optimised graph;
 * its kernels are mapped to layers (analyze/kernels.h) and compared with the partition (analyze/fuse_compare.c). The
 * model is not run. */
#include <stdlib.h>

#include "analyze/fuse.h"
#include "base/file.h"
#include "jobs/job.h"
#include "jobs/kernels.h"

typedef struct beside {
    const job_runnable *x;
    flow f;
    fuse_partition g;
    kernel_map map;
    profile *p; /* of the caller */
    profile_fusion *out;
} beside;

static assay_status optimise(beside *b, const assay_options *o, engine *e, assay_error *err)
{
    engine_options options = job_engine_options(o, b->x->work);
    engine_session *session = NULL;
    char *folder = NULL;
    TRY(file_temp_folder(&folder, err));
    options.optimised_path = arena_printf(b->x->work, "%s/optimised.onnx", folder);
    assay_status s = engine_session_open(e, &b->x->model, &options, &session, err);
    engine_session_close(session);
    if (s == ASSAY_OK)
        s = job_read_kernels(b->x, options.optimised_path, b->x->work, &b->map, err);
    file_drop_folder(folder);
    return s;
}

/* The partition again, on the graph as it is before it is lowered for the engine. */
static assay_status cut(beside *b, const assay_options *o, assay_error *err)
{
    pattern_list patterns;
    fuse_strategy s = (fuse_strategy)o->fusion.strategy;
    TRY(flow_build(b->x->r, &b->x->of, b->x->p, o->model.precision, &b->f, err));
    TRY(pattern_find(&b->f, &patterns, err));
    TRY(fuse_run(&b->f, &patterns, s, &b->g, err));
    if (b->f.n != b->p->n_layers || b->g.n_groups != b->out->n_groups)
        return err_fail(err, ASSAY_ERR_UNSUPPORTED,
                        "the graph passed to the engine is split differently from the model's");
    return ASSAY_OK;
}

static assay_status with_engine(beside *b, assay_model *model, const assay_options *o,
                                job_runnable *x, assay_error *err)
{
    engine *e = NULL;
    TRY(job_engine_open(o, &e, err));
    const engine_info *about = engine_about(e);
    b->out->engine.name = str_printf(b->p->arena, "%s %s", about->title, about->version);
    assay_status s = job_runnable_make(model, o, 0, x, err);
    if (s == ASSAY_OK)
        s = cut(b, o, err);
    if (s == ASSAY_OK)
        s = job_runnable_export(model, o, x, err);
    if (s == ASSAY_OK)
        s = optimise(b, o, e, err);
    if (s == ASSAY_OK)
        s = fuse_compare(&b->f, &b->g, &b->map, b->x->work, b->p, err);
    engine_close(e);
    return s;
}

assay_status job_fuse_engine(assay_model *model, const assay_options *o, profile *p,
                             assay_error *err)
{
    job_runnable x = {0};
    beside b = {.x = &x, .p = p, .out = p->fusion};
    assay_status s = with_engine(&b, model, o, &x, err);
    job_runnable_free(&x);
    return s;
}
