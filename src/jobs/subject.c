/* See subject.h; and the studies that evaluate a model with other sizes: scaling, advice. */
#include "jobs/subject.h"

#include "jobs/hooks.h"
#include "study/advise_ask.h"
#include "study/scaling_ask.h"

static assay_status read_again(void *subject, ir_model **out, assay_error *err)
{
    return job_model_again(((const job_subject *)subject)->model, out, err);
}

static assay_status build_with(void *subject, const model_options *with, assay_error *err)
{
    const job_subject *s = subject;
    assay_options o = *s->o;
    o.model = *with;
    return job_model_build(s->model, &o, err);
}

static assay_status analyze_with(void *subject, const model_options *with, profile **out,
                                 assay_error *err)
{
    const job_subject *s = subject;
    assay_options o = *s->o;
    assay_result *r = NULL;
    o.model = *with;
    o.model.strict = o.view.verbose = false;
    o.analysis.no_advice = true;
    memset(&o.scaling.ranges, 0, sizeof o.scaling.ranges);
    assay_status status = job_analyze(s->model, &o, &r, err);
    *out = handle_take_profile(r);
    return status;
}

static assay_status go_on(void *subject, uint64_t done, assay_error *err)
{
    return job_go_on(((const job_subject *)subject)->o, "sizes", done, 0, err);
}

static assay_status stopped(void *subject, assay_error *err)
{
    return job_stopped(((const job_subject *)subject)->o, err);
}

static assay_status no_graph(void *subject, assay_error *err)
{
    return model_no_graph(((const job_subject *)subject)->model, err);
}

void job_subject_init(job_subject *s, assay_model *m, const assay_options *o)
{
    *s = (job_subject){.of = {.options = &o->model,
                              .row = m->row,
                              .config = &m->config,
                              .ir = &m->ir,
                              .batch = &m->batch,
                              .again = read_again,
                              .build = build_with,
                              .analyze = analyze_with,
                              .go_on = go_on,
                              .stopped = stopped,
                              .no_graph = no_graph,
                              .ctx = s},
                       .model = m,
                       .o = o};
}

/* ---- the batch ---- */

assay_status job_batch_rule(assay_model *m, const assay_options *o, const batch_rule **out,
                            assay_error *err)
{
    job_subject s;
    job_subject_init(&s, m, o);
    return subject_batch_rule(&s.of, out, err);
}

assay_status job_sized_make(assay_model *m, const assay_options *o, int64_t batch, sized_model *out,
                            assay_error *err)
{
    job_subject s;
    job_subject_init(&s, m, o);
    return sized_make(&s.of, batch, out, err);
}

assay_status job_implied_batch(assay_model *m, const assay_options *o, int64_t *batch,
                               assay_error *err)
{
    job_subject s;
    job_subject_init(&s, m, o);
    return subject_implied_batch(&s.of, batch, err);
}

/* ---- other sizes ---- */

assay_status job_scale(assay_model *m, const assay_options *o, arena *a, scaling *out,
                       assay_error *err)
{
    assay_options plain = *o;
    profile *base = NULL;
    job_subject s;
    memset(&plain.model.dims, 0, sizeof plain.model.dims);
    for (uint32_t i = 0; i < o->scaling.questions.n; i++)
        plain.analysis.training |= o->scaling.questions.items[i].metric == SCALING_TRAINING;
    job_subject_init(&s, m, &plain);
    TRY(analyze_with(&s, &plain.model, &base, err));
    const scaling_asked q = {.subject = &s.of,
                             .base = base,
                             .of = &o->scaling,
                             .dims = o->model.dims.items,
                             .n_dims = o->model.dims.n,
                             .training = o->analysis.training};
    assay_status status = base->inventory.alone ? model_no_graph(m, err)
                                                : scaling_study(&q, a, out, err);
    profile_free(base);
    return status;
}

assay_status job_advise(assay_model *model, const assay_options *o,
                        const struct advise_facts *known, profile *p, assay_error *err)
{
    assay_options plain = *o;
    job_subject s;
    if (o->analysis.no_advice || p->inventory.alone || !p->n_layers)
        return ASSAY_OK;
    plain.analysis.training = plain.fusion.wanted = plain.analysis.patterns = false;
    plain.hardware.names = (str){0};
    job_subject_init(&s, model, &plain);
    TRY(advise_ask(&s.of, o->hardware.names, known, p, err));
    return job_stopped(o, err);
}
