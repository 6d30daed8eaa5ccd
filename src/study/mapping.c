/* See mapping.h. */
#include "study/mapping.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/predict.h"
#include "analyze/roofline_take.h"
#include "base/limits.h"
#include "device/fit_user.h"
#include "device/machine.h"

static const int64_t usual_batches[] = {1, 2, 4, 8, 16, 32};
enum { BATCHES_MAX = 64 };
/* Above this many layers, chains are not looked for, and times are those of the roofline. */
enum { PLANNED_MOST = 20000 };

/* ---- figures of the model ---- */

/* A built-in architecture has its batch from the options. */
static model_options with_batch(const mapping_work *j, int64_t batch)
{
    model_options o = *j->s->options;
    o.precision = IR_UNDEFINED;
    o.batch = batch ? batch : o.batch;
    return o;
}

/* The model at a batch, inferred. A file that fixes its batch is rewritten for another, as for graph. */
static assay_status infer_at(const mapping_work *j, int64_t batch, arena *a, sized_model *x,
                             infer_result **r, assay_error *err)
{
    const model_options o = with_batch(j, batch);
    study_subject s = *j->s;
    s.options = &o;
    TRY(s.build(s.ctx, &o, err));
    TRY(sized_make(&s, o.batch, x, err));
    return infer_run(x->ir, &x->shapes, a, r, err);
}

/* The batch that an input has; -1: it has none. */
static int64_t batch_in(const mapping_work *j, const infer_result *r, uint32_t i)
{
    const op_info *x = &r->info[ir_graph_at(r->model, 0)->inputs.items[i]];
    int axis = batch_axis(j->rule, i, x->rank);
    return axis >= 0 ? x->dims[axis] : -1;
}

static int64_t own_batch(const mapping_work *j, const infer_result *r)
{
    for (uint32_t i = 0; j->rule->present && i < ir_graph_at(r->model, 0)->inputs.n; i++)
        if (batch_in(j, r, i) > 0)
            return batch_in(j, r, i);
    return 1;
}

static const term_plan *plan_of(const mapping_work *j)
{
    return j->plan.steps ? &j->plan : NULL;
}

static assay_status take_inferred(mapping_work *j, infer_result *r, int64_t batch, int64_t *own,
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

static assay_status take_graph(mapping_work *j, int64_t batch, int64_t *own, arena *a,
                               assay_error *err)
{
    sized_model x = {0};
    infer_result *r = NULL;
    assay_status s = infer_at(j, batch, a, &x, &r, err);
    if (s == ASSAY_OK) {
        infer_as_native(r);
        s = take_inferred(j, r, batch, own, err);
    }
    sized_free(&x);
    return s;
}

/* Whether the analysis of the model as it was requested is the one at batch 1: no input, and no size that was given,
 * would be another. */
static bool is_for_one(const mapping_work *j, const infer_result *r)
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

/* Called by the analysis with what it has inferred, which is then not inferred again. */
assay_status mapping_take_analysis(void *work, infer_result *r, const counted *of, const profile *p,
                                   assay_error *err)
{
    mapping_work *j = work;
    if (p->n_layers <= PLANNED_MOST)
        TRY(term_plan_make(r, of, p, j->work, &j->plan, err));
    TRY(subject_batch_rule(j->s, &j->rule, err));
    if (!is_for_one(j, r))
        return ASSAY_OK;
    return roofline_take(&j->single, r, of, &(roofline_about){&p->architecture, plan_of(j)}, 0,
                         j->work, err);
}

/* batch 0: whatever the model and the options say. */
static assay_status take_batch(mapping_work *j, int64_t batch, int64_t *own, assay_error *err)
{
    TRY(j->s->stopped(j->s->ctx, err));
    arena *a = arena_new(LIMIT_ANALYSIS_BYTES);
    TRY_MEMORY(a, err);
    assay_status s = take_graph(j, batch, own, a, err);
    arena_free(a);
    return s;
}

/* One size only: the one that the model has. */
static assay_status take_own(mapping_work *j, int64_t *own, assay_error *err)
{
    j->figures = (roofline_model){0};
    TRY(take_batch(j, 0, own, err));
    roofline_fix(&j->figures, *own);
    return ASSAY_OK;
}

static assay_status take_single_samples(mapping_work *j, profile *p, assay_error *err)
{
    int64_t own = 1;
    TRY(take_own(j, &own, err));
    notes_add(&p->warnings, "no-batch", (str){0}, "Change input sizes with --input-shape or --dim.",
              "The model has no batch dimension (" STR_FMT
              "). It is mapped for one sample at a time.",
              STR_ARG(j->rule->why));
    return ASSAY_OK;
}

static assay_status take_figures(mapping_work *j, profile *p, assay_error *err)
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

static void choose_batches(const mapping_work *j, const mapping_asked *q, map_options *m)
{
    if (j->figures.fixed_batch) {
        m->batches = &j->figures.fixed_batch;
        m->n_batches = 1;
    } else if (q->n_batches) {
        m->batches = q->batches;
        m->n_batches = q->n_batches < BATCHES_MAX ? q->n_batches : BATCHES_MAX;
    } else if (j->s->options->batch) {
        m->batches = &j->s->options->batch;
        m->n_batches = 1;
    } else {
        m->batches = usual_batches;
        m->n_batches = sizeof usual_batches / sizeof *usual_batches;
    }
}

/* ---- times from measured kernels ---- */

typedef struct predicting {
    mapping_work *j;
    const machine *m;
    const map_options *o;
    map_calibrated *out;
    mapping_calibration *said;
} predicting;

/* The static profile at a batch, in the types of the graph, as in the measured kernels of the predictions. */
static assay_status profile_at(mapping_work *j, int64_t batch, arena *a, profile *p,
                               assay_error *err)
{
    const count_options counting = {.precision = IR_UNDEFINED};
    sized_model x = {0};
    infer_result *r = NULL;
    counted of;
    assay_status s = infer_at(j, batch, a, &x, &r, err);
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
    TRY(x->j->s->stopped(x->j->s->ctx, err));
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
        arena *a = arena_new(LIMIT_ANALYSIS_BYTES);
        profile *p = profile_new(LIMIT_RESULT_BYTES);
        s = a && p ? predict_at(x, b, p, a, &seconds[b], err) : err_no_memory(err);
        profile_free(p);
        arena_free(a);
    }
    x->out->seconds = seconds;
    return s;
}

/* When a machine that was measured and calibrated is among the devices: of the first. */
static assay_status calibrated_times(mapping_work *j, map_options *o, map_calibrated *out,
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

/* ---- the whole ---- */

static bool complete_figures(mapping_work *j)
{
    bool ok = roofline_narrow(&j->figures, j->work) && roofline_group(&j->figures, j->work);
    return ok && (!j->figures.single ||
                  (roofline_narrow(&j->single, j->work) && roofline_group(&j->single, j->work)));
}

static assay_status choose_runtime(mapping_work *j, str name, runtime_table *runtimes,
                                   map_options *m, assay_error *err)
{
    TRY(runtime_table_read(j->work, runtimes, err));
    m->runtimes = runtimes;
    m->runtime = name.n ? runtime_find(name) : NULL;
    if (name.n && !m->runtime)
        return err_fail(err, ASSAY_ERR_USAGE,
                        "runtime must be eager, compiled, tensorrt or onnxruntime, got '%.*s'",
                        (int)(name.n < 60 ? name.n : 60), name.p);
    return ASSAY_OK;
}

/* Measurements are of one device: the one that is named. */
static assay_status fit_measurements(mapping_work *j, str fit, runtime_table *runtimes,
                                     const map_options *m, assay_error *err)
{
    str path = str_copy(j->work, fit);
    const device *d = m->devices->rows.items;
    if (!path.n)
        return ASSAY_OK;
    if (m->devices->rows.n != 1)
        return err_fail(err, ASSAY_ERR_USAGE,
                        "--fit needs one device in --hardware: the one that was measured");
    return fit_user_rows(path.p, d, m->runtime ? m->runtime : runtime_default(d), runtimes, j->work,
                         err);
}

static assay_status read_prices(const mapping_asked *q, price_list *out, assay_error *err)
{
    for (uint32_t i = 0; i < q->n_prices; i++)
        TRY(price_read(out, q->prices[i], err));
    return ASSAY_OK;
}

assay_status mapping_run(mapping_work *j, const mapping_asked *q, profile *p, assay_error *err)
{
    device_list devices = {.arena = j->work};
    map_calibrated calibrated = {0};
    mapping_calibration said = {0};
    price_list prices = {.arena = j->work};
    map_options m = {.devices = &devices, .prices = &prices};
    runtime_table runtimes = {0};
    if (!q->devices.n)
        return err_fail(err, ASSAY_ERR_USAGE,
                        "map needs --hardware with device names, all, or a file. List the devices "
                        "with `assay devices`.");
    TRY(devices_choose(q->devices, &devices, err));
    TRY(map_goal_parse(q->goal, &m.goal, &m.limit, err));
    TRY(read_prices(q, &prices, err));
    TRY(choose_runtime(j, q->runtime, &runtimes, &m, err));
    TRY(fit_measurements(j, q->fit, &runtimes, &m, err));
    if (q->precisions.n && !device_precisions_read(q->precisions, m.precisions))
        return err_fail(
            err, ASSAY_ERR_USAGE,
            "precision must be fp32, tf32, fp16, bf16, fp8 or int8 for map, got '" STR_FMT "'",
            STR_ARG(q->precisions));
    if (p->inventory.alone)
        return j->s->no_graph(j->s->ctx, err);
    TRY(subject_batch_rule(j->s, &j->rule, err));
    batch_describe(j->rule, p);
    TRY(take_figures(j, p, err));
    if (!j->figures.n_layers)
        return err_fail(err, ASSAY_ERR_UNSUPPORTED, "the model has no layers");
    TRY_MEMORY(complete_figures(j), err);
    advise_know_mapped(&j->figures, p, &j->known);
    choose_batches(j, q, &m);
    TRY(calibrated_times(j, &m, &calibrated, &said, err));
    TRY(map_run(&j->figures, &m, j->work, p, err));
    TRY(price_check_used(&prices, err));
    advise_know_asked(&j->figures, m.precisions, p, &j->known);
    said.device = str_copy(p->arena, said.device);
    said.engine = str_copy(p->arena, said.engine);
    p->mapping->calibration = said;
    return ASSAY_OK;
}

assay_status mapping_terms(mapping_work *j, int64_t batch, uint32_t width, profile *p, double *out,
                           assay_error *err)
{
    roofline_slice slice;
    TRY(take_figures(j, p, err));
    TRY_MEMORY(complete_figures(j), err);
    TRY_MEMORY(roofline_slice_make(&j->figures, batch, width, j->work, &slice), err);
    memcpy(out, slice.terms, sizeof slice.terms);
    return ASSAY_OK;
}
