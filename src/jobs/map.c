/* A model on devices. The graph is inferred at batch 1, 2 and 3 and counted at four and at two bytes per number; all
 * other batches are interpolated (analyze/roofline.h). Results that the analysis of the model has anyway, mostly
 * batch 1, are reused. A model that accepts only one batch size is mapped at that one.
 */
#include <stdlib.h>
#include <string.h>

#include "analyze/advise.h"
#include "analyze/infer.h"
#include "analyze/map.h"
#include "analyze/predict.h"
#include "analyze/roofline_take.h"
#include "device/fit_user.h"
#include "device/machine.h"
#include "jobs/hooks.h"
#include "jobs/job.h"
#include "jobs/subject.h"
#include "study/choose.h"

static const int64_t usual_batches[] = {1, 2, 4, 8, 16, 32};
enum { BATCHES_MAX = 64 };
/* Above this many layers, chains are not looked for, and times are those of the roofline. */
enum { PLANNED_MOST = 20000 };

/* ---- figures of the model ---- */

typedef struct mapping_job {
    assay_model *model;
    const assay_options *o;
    const batch_rule *rule;
    roofline_model single, figures; /* at batch 1; from 2 on */
    term_plan plan;                 /* of the analysed graph; no steps: it is too large for one */
    arena *work;                    /* of the figures */
    advise_facts known;             /* by them, without another evaluation */
} mapping_job;

/* A built-in architecture has its batch from the options. */
static assay_options with_batch(const mapping_job *j, int64_t batch)
{
    assay_options o = *j->o;
    o.model.precision = IR_UNDEFINED;
    o.hardware.names = (str){0};
    o.model.batch = batch ? batch : o.model.batch;
    return o;
}

/* The batch that an input has; -1: it has none. */
static int64_t batch_in(const mapping_job *j, const infer_result *r, uint32_t i)
{
    const op_info *x = &r->info[ir_graph_at(r->model, 0)->inputs.items[i]];
    int axis = batch_axis(j->rule, i, x->rank);
    return axis >= 0 ? x->dims[axis] : -1;
}

static int64_t own_batch(const mapping_job *j, const infer_result *r)
{
    for (uint32_t i = 0; j->rule->present && i < ir_graph_at(r->model, 0)->inputs.n; i++)
        if (batch_in(j, r, i) > 0)
            return batch_in(j, r, i);
    return 1;
}

static const term_plan *plan_of(const mapping_job *j)
{
    return j->plan.steps ? &j->plan : NULL;
}

static assay_status take_inferred(mapping_job *j, infer_result *r, int64_t batch, int64_t *own,
                                  assay_error *err)
{
    profile weighed = {.arena = r->arena};
    roofline_model *into = batch == 1 ? &j->single : &j->figures;
    counted of;
    TRY(count_steps(r, &weighed, &of, err));
    *own = own_batch(j, r);
    uint32_t point = batch > 2 ? (uint32_t)(batch - 2) : 0;
    return roofline_take(into, r, &of, &(roofline_about){&weighed.architecture, plan_of(j)}, point,
                         j->work, err);
}

/* A file that fixes its batch is rewritten for another, as for graph. */
static assay_status take_graph(mapping_job *j, const assay_options *o, int64_t batch, int64_t *own,
                               arena *a, assay_error *err)
{
    sized_model x = {0};
    infer_result *r = NULL;
    TRY(job_model_build(j->model, o, err));
    assay_status s = job_sized_make(j->model, o, o->model.batch, &x, err);
    if (s == ASSAY_OK)
        s = infer_run(x.ir, &x.shapes, a, &r, err);
    if (s == ASSAY_OK) {
        infer_as_native(r);
        s = take_inferred(j, r, batch, own, err);
    }
    sized_free(&x);
    return s;
}

/* Whether the analysis of the model as it was requested is the one at batch 1: no input, and no size that was given,
 * would be another. */
static bool is_for_one(const mapping_job *j, const infer_result *r)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < ir_graph_at(r->model, 0)->inputs.n; i++) {
        int64_t batch = batch_in(j, r, i);
        if (batch >= 0 && batch != 1)
            return false;
        n += batch == 1;
    }
    return j->rule->present && n > 0;
}

/* The analysis comes by here with what it has inferred: no need to do it again. */
static assay_status take_first(void *ctx, infer_result *r, const counted *of, const profile *p,
                               assay_error *err)
{
    mapping_job *j = ctx;
    if (p->n_layers <= PLANNED_MOST)
        TRY(term_plan_make(r, of, p, j->work, &j->plan, err));
    TRY(job_batch_rule(j->model, j->o, &j->rule, err));
    if (!is_for_one(j, r))
        return ASSAY_OK;
    return roofline_take(&j->single, r, of, &(roofline_about){&p->architecture, plan_of(j)}, 0,
                         j->work, err);
}

/* batch 0: whatever the model and the options say. */
static assay_status take_batch(mapping_job *j, int64_t batch, int64_t *own, assay_error *err)
{
    TRY(job_stopped(j->o, err));
    arena *a = arena_new(JOB_ANALYSIS_BYTES);
    TRY_MEMORY(a, err);
    assay_options o = with_batch(j, batch);
    assay_status s = take_graph(j, &o, batch, own, a, err);
    arena_free(a);
    return s;
}

/* One size only: the one that the model has. */
static assay_status take_own(mapping_job *j, int64_t *own, assay_error *err)
{
    j->figures = (roofline_model){0};
    TRY(take_batch(j, 0, own, err));
    roofline_fix(&j->figures, *own);
    return ASSAY_OK;
}

static assay_status take_single_samples(mapping_job *j, profile *p, assay_error *err)
{
    int64_t own = 1;
    TRY(take_own(j, &own, err));
    notes_add(&p->warnings, "no-batch", (str){0}, "Change input sizes with --input-shape or --dim.",
              "The model has no batch dimension (" STR_FMT
              "). It is mapped for one sample at a time.",
              STR_ARG(j->rule->why));
    return ASSAY_OK;
}

static assay_status take_figures(mapping_job *j, profile *p, assay_error *err)
{
    assay_error why = {0};
    int64_t own = 1;
    assay_status s = ASSAY_OK;
    if (!j->rule->present)
        return take_single_samples(j, p, err);
    for (int64_t b = j->single.layers ? 2 : 1; b < 2 + ROOFLINE_POINTS && s == ASSAY_OK; b++)
        s = take_batch(j, b, &own, &why);
    if (s == ASSAY_OK && !roofline_grows(&j->figures))
        s = err_fail(&why, ASSAY_ERR_UNSUPPORTED, "its sizes are not known at other batch sizes");
    if (s == ASSAY_OK) {
        roofline_fix(&j->single, 1);
        j->figures.single = &j->single;
        return ASSAY_OK;
    }
    if (s == ASSAY_ERR_SYSTEM || s == ASSAY_ERR_INTERRUPTED)
        return err_fail(err, s, "%s", why.message);
    TRY(take_own(j, &own, err));
    notes_add(
        &p->warnings, "fixed-batch", (str){0}, "Export the model with a symbolic batch dimension.",
        "The model is mapped at its own batch size of %lld only: %s", (long long)own, why.message);
    return ASSAY_OK;
}

static void choose_batches(const mapping_job *j, map_options *m)
{
    if (j->figures.fixed_batch) {
        m->batches = &j->figures.fixed_batch;
        m->n_batches = 1;
    } else if (j->o->measure.batch_sizes.n) {
        m->batches = j->o->measure.batch_sizes.items;
        m->n_batches = j->o->measure.batch_sizes.n < BATCHES_MAX ? j->o->measure.batch_sizes.n
                                                                 : BATCHES_MAX;
    } else if (j->o->model.batch) {
        m->batches = &j->o->model.batch;
        m->n_batches = 1;
    } else {
        m->batches = usual_batches;
        m->n_batches = sizeof usual_batches / sizeof *usual_batches;
    }
}

/* ---- times from measured kernels ---- */

typedef struct predicting {
    mapping_job *j;
    const machine *m;
    const map_options *o;
    map_calibrated *out;
    mapping_calibration *said;
} predicting;

/* The static profile at a batch, in the types of the graph, as in the measured kernels of the predictions. */
static assay_status profile_at(mapping_job *j, int64_t batch, arena *a, profile *p,
                               assay_error *err)
{
    const count_options counting = {.precision = IR_UNDEFINED};
    const assay_options o = with_batch(j, batch);
    sized_model x = {0};
    infer_result *r = NULL;
    counted of;
    TRY(job_model_build(j->model, &o, err));
    assay_status s = job_sized_make(j->model, &o, o.model.batch, &x, err);
    if (s == ASSAY_OK)
        s = infer_run(x.ir, &x.shapes, a, &r, err);
    if (s == ASSAY_OK)
        s = count_run(r, &counting, p, &of, err);
    sized_free(&x);
    return s;
}

static assay_status predict_at(predicting *x, uint32_t b, profile *p, arena *a, double *seconds,
                               assay_error *err)
{
    int64_t batch = x->j->figures.fixed_batch ? 0 : x->o->batches[b];
    predict_time t;
    TRY(job_stopped(x->j->o, err));
    TRY(profile_at(x->j, batch, a, p, err));
    TRY_MEMORY(predict_run(p, &x->m->calibrated, a, &t), err);
    *seconds = t.seconds;
    if (b > 0)
        return ASSAY_OK;
    x->out->layers = arena_copy(x->j->work, t.layers, sizeof *t.layers * p->n_layers);
    x->out->n_layers = x->out->layers ? p->n_layers : 0;
    x->said->known_percent = t.known * 100;
    return ASSAY_OK;
}

static assay_status predict_all(predicting *x, assay_error *err)
{
    double *seconds = ARENA_ARRAY(x->j->work, double, (size_t)x->o->n_batches + 1);
    assay_status s = seconds ? ASSAY_OK : err_no_memory(err);
    for (uint32_t b = 0; s == ASSAY_OK && b < x->o->n_batches; b++) {
        arena *a = arena_new(JOB_ANALYSIS_BYTES);
        profile *p = profile_new(JOB_PROFILE_BYTES);
        s = a && p ? predict_at(x, b, p, a, &seconds[b], err) : err_no_memory(err);
        profile_free(p);
        arena_free(a);
    }
    x->out->seconds = seconds;
    return s;
}

/* When a machine that was measured and calibrated is among the devices: of the first. */
static assay_status calibrated_times(mapping_job *j, map_options *o, map_calibrated *out,
                                     mapping_calibration *said, assay_error *err)
{
    uint32_t i = 0;
    const device *d = o->devices->rows.items;
    while (i < o->devices->rows.n && !(d[i].measured && d[i].measured->calibrated.present))
        i++;
    if (i == o->devices->rows.n)
        return ASSAY_OK;
    const machine *m = d[i].measured;
    const calibration *c = &m->calibrated;
    *out = (map_calibrated){.hardware = i, .low = c->low, .high = c->high};
    *said = (mapping_calibration){.present = true,
                                  .device = d[i].id,
                                  .engine = str_of(c->engine),
                                  .median_error = c->error,
                                  .low = c->low,
                                  .high = c->high,
                                  .runs = c->n_runs};
    predicting x = {.j = j, .m = m, .o = o, .out = out, .said = said};
    TRY(predict_all(&x, err));
    o->calibrated = out;
    return ASSAY_OK;
}

/* ---- terms alone, for fitting ---- */

static bool complete_figures(mapping_job *j)
{
    bool ok = roofline_narrow(&j->figures, j->work) && roofline_group(&j->figures, j->work);
    return ok && (!j->figures.single ||
                  (roofline_narrow(&j->single, j->work) && roofline_group(&j->single, j->work)));
}

assay_status job_terms(assay_model *model, const assay_options *o, int64_t batch, uint32_t width,
                       double *out, assay_error *err)
{
    mapping_job j = {.model = model, .o = o, .work = arena_new(JOB_ANALYSIS_BYTES)};
    assay_options plain = *o;
    assay_result *ignored = NULL;
    roofline_slice slice;
    TRY_MEMORY(j.work, err);
    plain.analysis.no_advice = true;
    plain.analysis.beside = (job_beside){take_first, &j};
    assay_status s = job_analyze(model, &plain, &ignored, err);
    if (s == ASSAY_OK)
        s = take_figures(&j, ignored->p, err);
    if (s == ASSAY_OK && !complete_figures(&j))
        s = err_no_memory(err);
    if (s == ASSAY_OK && !roofline_slice_make(&j.figures, batch, width, j.work, &slice))
        s = err_no_memory(err);
    if (s == ASSAY_OK)
        memcpy(out, slice.terms, sizeof slice.terms);
    handle_free(ignored);
    arena_free(j.work);
    return s;
}

/* ---- the whole ---- */

static assay_status choose_runtime(mapping_job *j, runtime_table *runtimes, map_options *m,
                                   assay_error *err)
{
    str name = j->o->hardware.runtime;
    TRY(runtime_table_read(j->work, runtimes, err));
    m->runtimes = runtimes;
    m->runtime = name.n ? runtime_find(name) : NULL;
    if (name.n && !m->runtime)
        return err_fail(err, ASSAY_ERR_USAGE,
                        "runtime must be eager, compiled, tensorrt or onnxruntime, not '%.*s'",
                        (int)(name.n < 60 ? name.n : 60), name.p);
    return ASSAY_OK;
}

/* Measurements are of one device: the one that is named. */
static assay_status fit_measurements(mapping_job *j, runtime_table *runtimes, const map_options *m,
                                     assay_error *err)
{
    str path = str_copy(j->work, j->o->hardware.fit);
    const device *d = m->devices->rows.items;
    if (!path.n)
        return ASSAY_OK;
    if (m->devices->rows.n != 1)
        return err_fail(err, ASSAY_ERR_USAGE,
                        "--fit needs one device in --hardware: the one that was measured");
    return fit_user_rows(path.p, d, m->runtime ? m->runtime : runtime_default(d), runtimes, j->work,
                         err);
}

static assay_status read_prices(const mapping_job *j, price_list *out, assay_error *err)
{
    for (uint32_t i = 0; i < j->o->hardware.prices.n; i++)
        TRY(price_read(out, j->o->hardware.prices.items[i], err));
    return ASSAY_OK;
}

static assay_status map_devices(mapping_job *j, profile *p, assay_error *err)
{
    device_list devices = {.arena = j->work};
    map_calibrated calibrated = {0};
    mapping_calibration said = {0};
    price_list prices = {.arena = j->work};
    map_options m = {.devices = &devices, .prices = &prices};
    runtime_table runtimes = {0};
    if (!j->o->hardware.names.n)
        return err_fail(err, ASSAY_ERR_USAGE,
                        "map needs --hardware with device names, all, or a file. List the devices "
                        "with `assay devices`.");
    TRY(devices_choose(j->o->hardware.names, &devices, err));
    TRY(map_goal_parse(j->o->hardware.goal, &m.goal, &m.limit, err));
    TRY(read_prices(j, &prices, err));
    TRY(choose_runtime(j, &runtimes, &m, err));
    TRY(fit_measurements(j, &runtimes, &m, err));
    if (j->o->model.precisions.n && !device_precisions_read(j->o->model.precisions, m.precisions))
        return err_fail(
            err, ASSAY_ERR_USAGE,
            "precision must be fp32, tf32, fp16, bf16, fp8 or int8 for map, not '" STR_FMT "'",
            STR_ARG(j->o->model.precisions));
    if (p->inventory.alone)
        return model_no_graph(j->model, err);
    TRY(job_batch_rule(j->model, j->o, &j->rule, err));
    batch_describe(j->rule, p);
    TRY(take_figures(j, p, err));
    if (!j->figures.n_layers)
        return err_fail(err, ASSAY_ERR_UNSUPPORTED, "the model has no layers");
    TRY_MEMORY(complete_figures(j), err);
    advise_know_mapped(&j->figures, p, &j->known);
    choose_batches(j, &m);
    TRY(calibrated_times(j, &m, &calibrated, &said, err));
    TRY(map_run(&j->figures, &m, j->work, p, err));
    TRY(price_check_used(&prices, err));
    advise_know_asked(&j->figures, m.precisions, p, &j->known);
    said.device = str_copy(p->arena, said.device);
    said.engine = str_copy(p->arena, said.engine);
    p->mapping->calibration = said;
    return ASSAY_OK;
}

/* A list of sizes is for models that have a batch; --batch says that there is one. */
static bool can_batch(mapping_job *j)
{
    assay_error unasked;
    err_clear(&unasked);
    if (!j->model->row && j->model->ir && j->model->ir->inventory)
        return false;
    return job_batch_rule(j->model, j->o, &j->rule, &unasked) != ASSAY_OK || j->rule->present;
}

assay_status job_map(assay_model *model, const assay_options *o, assay_result **out,
                     assay_error *err)
{
    mapping_job j = {.model = model, .o = o};
    assay_options plain = *j.o;
    assay_error placed = {0};
    plain.model.precision = IR_UNDEFINED;
    plain.model.precisions = plain.hardware.names = (str){0};
    plain.model.precision_list = false;
    plain.analysis.advise_later = true;
    *out = NULL;
    if (!plain.model.batch && plain.measure.batch_sizes.n == 1 && can_batch(&j))
        plain.model.batch = plain.measure.batch_sizes.items[0];
    j.work = arena_new(JOB_ANALYSIS_BYTES);
    TRY_MEMORY(j.work, err);
    plain.analysis.beside = (job_beside){take_first, &j};
    assay_status verdict = job_analyze(model, &plain, out, err);
    assay_status s = *out ? map_devices(&j, (*out)->p, &placed) : verdict;
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
