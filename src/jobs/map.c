/* Maps a model on the devices of the options (study/mapping.h), and the models of a task. */
#include <stdlib.h>
#include <string.h>

#include "jobs/subject.h"
#include "study/choose.h"
#include "study/mapping.h"

/* A list of sizes is for models that have a batch; --batch says that there is one. */
static bool can_batch(const study_subject *s)
{
    const batch_rule *rule;
    assay_error unasked;
    err_clear(&unasked);
    if (!s->row && *s->ir && (*s->ir)->inventory)
        return false;
    return subject_batch_rule(s, &rule, &unasked) != ASSAY_OK || rule->present;
}

static assay_status place_model(mapping_work *j, const assay_options *o, profile *p,
                                assay_error *err)
{
    const mapping_asked q = {.devices = o->hardware.names,
                             .goal = o->hardware.goal,
                             .runtime = o->hardware.runtime,
                             .fit = o->hardware.fit,
                             .precisions = o->model.precisions,
                             .prices = o->hardware.prices.items,
                             .n_prices = o->hardware.prices.n,
                             .batches = o->measure.batch_sizes.items,
                             .n_batches = o->measure.batch_sizes.n};
    return mapping_run(j, &q, p, err);
}

assay_status job_map(assay_model *model, const assay_options *o, assay_result **out,
                     assay_error *err)
{
    job_subject subject;
    mapping_work j = {.s = &subject.of};
    assay_options plain = *o;
    assay_error placed = {0};
    plain.model.precision = IR_UNDEFINED;
    plain.model.precisions = plain.hardware.names = (str){0};
    plain.model.precision_list = false;
    plain.analysis.advise_later = true;
    *out = NULL;
    job_subject_init(&subject, model, o);
    if (!plain.model.batch && plain.measure.batch_sizes.n == 1 && can_batch(j.s))
        plain.model.batch = plain.measure.batch_sizes.items[0];
    j.work = arena_new(JOB_ANALYSIS_BYTES);
    TRY_MEMORY(j.work, err);
    plain.analysis.beside = (job_beside){mapping_take_analysis, &j};
    assay_status verdict = job_analyze(model, &plain, out, err);
    assay_status s = *out ? place_model(&j, o, (*out)->p, &placed) : verdict;
    arena_free(j.work);
    if (!*out)
        return verdict;
    plain.analysis.beside = (job_beside){
        0}; /* advice is about the profile: with the options it was made by */
    if (s == ASSAY_OK)
        s = job_advise(model, &plain, &j.known, (*out)->p, &placed);
    if (s == ASSAY_OK)
        return verdict;
    handle_free(*out);
    *out = NULL;
    if (err)
        *err = placed;
    return s;
}

assay_status job_terms(assay_model *model, const assay_options *o, int64_t batch, uint32_t width,
                       double *out, assay_error *err)
{
    job_subject subject;
    mapping_work j = {.s = &subject.of, .work = arena_new(JOB_ANALYSIS_BYTES)};
    assay_options plain = *o;
    assay_result *analysed = NULL;
    TRY_MEMORY(j.work, err);
    job_subject_init(&subject, model, o);
    plain.analysis.no_advice = true;
    plain.analysis.beside = (job_beside){mapping_take_analysis, &j};
    assay_status s = job_analyze(model, &plain, &analysed, err);
    if (s == ASSAY_OK)
        s = mapping_terms(&j, batch, width, analysed->p, out, err);
    handle_free(analysed);
    arena_free(j.work);
    return s;
}

/* ---- the models of a task ---- */

static assay_status map_row(void *options, const zoo_row *row, profile **out, assay_error *err)
{
    assay_model *m = NULL;
    assay_result *r = NULL;
    assay_status s = job_model_open(row->name, &m, err);
    if (s == ASSAY_OK)
        s = job_map(m, options, &r, err);
    if (s == ASSAY_OK && !handle_settle(r->p))
        s = err_no_memory(err);
    *out = handle_take_profile(r);
    model_free(m);
    return s;
}

assay_status job_choose(const char *task, const assay_options *o, assay_choices **out,
                        assay_error *err)
{
    assay_options of_map = *o;
    const choose_request q = {.task = task,
                              .budget = o->check.budget.items,
                              .n_budget = o->check.budget.n,
                              .map = map_row,
                              .ctx = &of_map};
    of_map.analysis.no_advice = true;
    if (!o->model.precisions.n) /* published figures are of floating-point weights */
        of_map.model.precisions = STR("fp32,tf32,fp16,bf16");
    if (!o->measure.batch_sizes.n && !o->model.batch)
        of_map.model.batch = 1;
    return choose_models(&q, out, err);
}
