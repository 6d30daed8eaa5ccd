/* Compares counts with those of other tools. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "jobs/hooks.h"
#include "jobs/job.h"
#include "jobs/subject.h"
#include "profile/validation.h"
#include "study/live.h"
#include "study/validate.h"

static const char *const usual_models[] = {"resnet18", "resnet50", "mobilenet_v2", "vit_b_16"};

/* The tools that are not ourselves. */
static bool is_peer(const lens *l)
{
    return strcmp(l->name, "assay") != 0;
}

static bool as_catalogued(const assay_model *m, const assay_options *o)
{
    return m->row && !m->config.list.n && !o->model.set.list.n;
}

static assay_status validate_one(assay_model *m, const lens *by, const assay_options *o,
                                 validation *v, assay_error *err)
{
    TRY(job_stopped(o, err));
    str built_in = as_catalogued(m, o) ? str_of(m->row->name) : (str){0};
    sized_model x = {0};
    assay_status s = job_sized_make(m, o, o->model.batch, &x, err);
    x.shapes.dims_must_exist = false; /* of several models, one may not have it */
    if (s == ASSAY_OK)
        s = sized_failed(&x, validate_model(x.ir, &x.shapes, m->ir->name, built_in, by, v, err),
                         err);
    sized_free(&x);
    TRY(s);
    validation_row *row = &v->rows.items[v->rows.n - 1];
    if (o->analysis.live) {
        live_ask(m->ir, built_in, by, v->arena, &row->live);
        row->live.equal = row->live.count == row->theirs;
    }
    return ASSAY_OK;
}

typedef struct validating {
    const char *const *words;
    assay_model **models;
    size_t n;
    const assay_options *o;
    validation *v;
} validating;

static assay_status open_all(validating *g, assay_error *err)
{
    for (size_t i = 0; i < g->n; i++) {
        TRY(job_stopped(g->o, err));
        TRY(job_model_open(g->words[i], &g->models[i], err));
        if (!g->models[i]->row && g->o->analysis.live &&
            (g->o->model.shapes.n || g->o->model.dims.n || g->o->model.batch))
            return err_fail(err, ASSAY_ERR_USAGE,
                            "--live does not resize model files. Use --input-shape, --dim and "
                            "--batch with built-in models only.");
        TRY(job_model_build(g->models[i], g->o, err));
    }
    return ASSAY_OK;
}

static assay_status ask_all(validating *g, assay_error *err)
{
    assert(g->models || !g->n);
    const lens *chosen = g->o->analysis.lens ? g->o->analysis.lens : lens_find(STR("fvcore"));
    for (uint32_t k = 0; k < lens_table_n; k++) {
        const lens *by = &lens_table[k];
        if (g->o->analysis.all_lenses ? !is_peer(by) : by != chosen)
            continue;
        for (size_t i = 0; i < g->n; i++)
            TRY(validate_one(g->models[i], by, g->o, g->v, err));
    }
    return ASSAY_OK;
}

assay_status job_validate(const char *const *models, size_t n_models, const assay_options *o,
                          validation *out, assay_error *err)
{
    validating g = {.words = n_models ? models : usual_models,
                    .n = n_models ? n_models : sizeof usual_models / sizeof *usual_models,
                    .o = o,
                    .v = out};
    g.models = memory_zeroed(g.n, sizeof *g.models);
    assay_status s = g.models ? open_all(&g, err) : err_no_memory(err);
    if (s == ASSAY_OK)
        s = ask_all(&g, err);
    for (size_t i = 0; g.models && i < g.n; i++)
        model_free(g.models[i]);
    free(g.models);
    return s;
}
