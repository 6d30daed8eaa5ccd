/* One model, one profile: shapes, counts, memory plan, training. */
#include <assert.h>
#include <stdlib.h>

#include "analyze/axis_roles.h"
#include "analyze/infer.h"
#include "analyze/inventory.h"
#include "analyze/memory.h"
#include "analyze/training.h"
#include "base/clock.h"
#include "base/memory.h"
#include "base/redact.h"
#include "device/devices.h"
#include "formats/weights.h"
#include "jobs/hooks.h"
#include "jobs/job.h"
#include "jobs/subject.h"
#include "profile/profile_fields.h"
#include "study/language.h"

void job_describe_context(const assay_options *o, profile *p)
{
    char now[32];
    clock_timestamp(now);
    p->context.tool_version = str_of(assay_version());
    p->context.timestamp = str_copy(p->arena, str_of(now));
    p->context.command = redact_copy(p->arena, o->command);
    p->context.view = str_copy(p->arena, o->view.part);
}

static assay_status take_inventory(const assay_model *m, const assay_options *o, profile *p,
                                   assay_error *err)
{
    TRY(inventory_run(m->ir, p, err));
    job_describe_context(o, p);
    return arena_failed(p->arena) ? err_no_memory(err) : ASSAY_OK;
}

/* The tensors of a file whose architecture was recognised, beside the graph. */
static assay_status add_inventory(const assay_model *m, profile *p, assay_error *err)
{
    ir_model *ir = NULL;
    TRY(weights_inventory(m->weights, JOB_MODEL_BYTES, &ir, err));
    assay_status s = inventory_beside(ir, p, err);
    ir_model_free(ir);
    return s;
}

static assay_status study_ir(const ir_model *ir, const infer_options *shapes,
                             const assay_options *o, const count_options *counting, arena *work,
                             profile *p, assay_error *err)
{
    infer_result *r = NULL;
    counted of;
    uint32_t *at;
    TRY(infer_run(ir, shapes, work, &r, err));
    if (!o->analysis.as_built)
        infer_as_native(r);
    TRY(count_run(r, counting, p, &of, err));
    TRY(memory_steps_at(p, o->analysis.at.items, o->analysis.at.n, work, &at, err));
    const memory_detail detail = {.slots = o->view.verbose,
                                  .events = o->analysis.allocations || o->analysis.at.n,
                                  .at = at,
                                  .n_at = o->analysis.at.n};
    TRY(memory_run(r, &of, o->model.precision, &detail, p, err));
    if (o->analysis.training)
        TRY(training_run(r, &of, p, err));
    if (o->analysis.beside.take)
        TRY(o->analysis.beside.take(o->analysis.beside.ctx, r, &of, p, err));
    return job_fuse_study(r, &of, o, p, err);
}

/* A file that fixes its batch is analysed as the same model for the requested batch. */
static assay_status study_at(assay_model *m, const assay_options *o, int64_t batch,
                             const count_options *counting, arena *work, profile *p,
                             assay_error *err)
{
    sized_model x = {0};
    assay_status s = job_sized_make(m, o, batch, &x, err);
    if (s == ASSAY_OK)
        s = sized_failed(&x, study_ir(x.ir, &x.shapes, o, counting, work, p, err), err);
    if (s == ASSAY_OK && x.rule)
        batch_describe(x.rule, p);
    sized_free(&x);
    return s;
}

/* A shape that does not fit as it was given may be one of another batch. */
static assay_status analyze_graph(assay_model *m, const assay_options *o,
                                  const count_options *counting, arena *work, profile *p,
                                  assay_error *err)
{
    int64_t batch = 0;
    assay_error other;
    assay_status s = study_at(m, o, o->model.batch, counting, work, p, err);
    if (s != ASSAY_ERR_UNSUPPORTED || o->model.batch || !o->model.shapes.n || p->n_layers)
        return s;
    err_clear(&other);
    if (job_implied_batch(m, o, &batch, &other) != ASSAY_OK || !batch ||
        study_at(m, o, batch, counting, work, p, &other) != ASSAY_OK)
        return s;
    err_clear(err);
    return ASSAY_OK;
}

static bool hands_cache_on(const profile *p)
{
    for (uint32_t i = 0; i < p->n_outputs; i++)
        if (str_starts(p->outputs[i].name, "present"))
            return true;
    return false;
}

static bool takes_cache(const profile *p)
{
    for (uint32_t i = 0; i < p->n_inputs; i++)
        if (axis_names_cache(p->inputs[i].name))
            return true;
    return false;
}

/* Outputs are part of the peak, and so is a cache that a step hands on; inputs are the caller's. NULL: no decoder. */
static const char *kv_cache_of(const assay_model *m, const profile *p)
{
    if (hands_cache_on(p))
        return "included";
    bool decoder = (m->row && language_is(m->row)) || takes_cache(p);
    return decoder ? "excluded" : NULL;
}

static assay_status find_ridge(const assay_model *m, const assay_options *o, arena *work,
                               double *threshold, str *hardware, assay_error *err)
{
    ir_dtype native = m->ir ? m->ir->native : IR_UNDEFINED;
    const ridge_question q = {
        .device = o->hardware.names,
        .precision = o->model.precisions,
        .native = native == IR_UNDEFINED ? (str){0} : str_of(ir_dtype_get(native)->name)};
    return device_named_ridge(&q, work, threshold, hardware, err);
}

static assay_status analyze_model(assay_model *m, const assay_options *o, arena *work, profile *p,
                                  assay_error *err)
{
    count_options counting = {.lens = o->analysis.lens,
                              .precision = o->model.precision,
                              .threshold = o->analysis.threshold,
                              .verbose = o->view.verbose};
    str hardware = {0};
    if (o->analysis.all_lenses)
        return err_fail(err, ASSAY_ERR_USAGE,
                        "--lens all works with validate only. Name one convention.");
    if (o->scaling.ranges.n)
        return err_fail(err, ASSAY_ERR_USAGE,
                        "--dim " STR_FMT
                        " has several values, which works with scale only. Set one value.",
                        STR_ARG(o->scaling.ranges.items[0].name));
    if (o->model.precision_list)
        return err_fail(err, ASSAY_ERR_USAGE,
                        "precision '" STR_FMT
                        "' works with map and compare only. Name one number type.",
                        STR_ARG(o->model.precisions));
    bool inventory = m->ir && m->ir->inventory;
    if (!inventory)
        TRY(job_model_build(m, o, err));
    if (!(counting.threshold > 0))
        TRY(find_ridge(m, o, work, &counting.threshold, &hardware, err));
    if (inventory)
        return take_inventory(m, o, p, err);
    TRY(analyze_graph(m, o, &counting, work, p, err));
    p->bottlenecks.hardware = str_copy(p->arena, hardware);
    job_describe_context(o, p);
    p->config_file = str_copy(p->arena, m->config_file);
    p->recognised = str_copy(p->arena, m->recognised);
    if (m->recognised.n || (m->weights && !m->row))
        TRY(add_inventory(m, p, err));
    p->memory_plan.kv_cache = kv_cache_of(m, p);
    return arena_failed(p->arena) ? err_no_memory(err) : ASSAY_OK;
}

static assay_status judge_strictly(const profile *p, assay_error *err)
{
    const profile_accounting *a = &p->accounting;
    if (!p->anything_assumed)
        return ASSAY_OK;
    if (p->inventory.alone)
        return err_fail(err, ASSAY_ERR_UNSUPPORTED,
                        "strict: the architecture of these weights is unknown");
    if (p->weights_differ)
        return err_fail(err, ASSAY_ERR_UNSUPPORTED,
                        "strict: the weights do not match the configuration (see the warnings)");
    if (p->architecture_changed)
        return err_fail(err, ASSAY_ERR_UNSUPPORTED,
                        "strict: the input size changes the architecture (see the warnings)");
    if (a->unknown == 0 && a->assumed == 0)
        return err_fail(
            err, ASSAY_ERR_UNSUPPORTED,
            "strict: an input shape is assumed or unknown. Set it with --input-shape or --dim.");
    return err_fail(
        err, ASSAY_ERR_UNSUPPORTED,
        "strict: of %llu operators, %llu are assumed and %llu unknown (see the warnings)",
        (unsigned long long)a->nodes, (unsigned long long)a->assumed,
        (unsigned long long)a->unknown);
}

assay_status job_analyze(assay_model *model, const assay_options *o, assay_result **out,
                         assay_error *err)
{
    err_clear(err);
    *out = NULL;
    TRY(job_stopped(o, err));
    arena *work = arena_new(JOB_ANALYSIS_BYTES);
    assay_result *result = memory_zeroed(1, sizeof *result);
    profile *p = profile_new(JOB_PROFILE_BYTES);
    assay_status s = work && result && p ? analyze_model(model, o, work, p, err)
                                         : err_no_memory(err);
    arena_free(work);
    assert(s != ASSAY_OK || (result && p));
    if (s != ASSAY_OK) {
        profile_free(p);
        free(result);
        return s;
    }
    *result = (assay_result){.kind = &profile_kind, .p = p};
    *out = result;
    assay_status advised = !o->analysis.advice || o->analysis.advise_later
                               ? ASSAY_OK
                               : job_advise(model, o, NULL, p, err);
    if (advised != ASSAY_OK) {
        handle_free(result);
        *out = NULL;
        return advised;
    }
    return o->model.strict ? judge_strictly(p, err) : ASSAY_OK;
}
