/* Measures the configurations in order, each with its own session. A failure is recorded, and the next configuration
 * is tried, except after out of memory, because larger sizes would fail as well. */
#include <assay/measure.h>

#include <assert.h>
#include <errno.h>

#include "analyze/axis_roles.h"
#include "analyze/training.h"
#include "base/num.h"
#include "base/sbuf.h"
#include "base/text.h"
#include "jobs/hooks.h"
#include "jobs/measure.h"
#include "jobs/measure_llama.h"
#include "jobs/precision.h"
#include "measure/busy.h"
#include "measure/shares.h"
#include "measure/system.h"
#include "profile/batch_choice.h"
#include "profile/layer_names.h"

enum { THREADS_MOST = 256 };
#define NS 1e9
/* The engine needs memory in addition to the plan: code, packed weights, kernel scratch. */
#define HEADROOM_BYTES ((uint64_t)64 << 20)

typedef struct job {
    assay_model *model;
    const assay_options *o;
    unsigned what;
    const assay_hooks *hooks;
    void (*measured)(const assay_hooks *caller, const profile_measured *m, const profile_config *c);
    profile *p;
    profile_measured *m;
    engine *engine;
    gpu_monitor *gpu; /* NULL: there is none */
    size_t index, count;
    bool stopped;          /* a hook said no */
    output_set outputs;    /* of the configuration at hand, when it is to be compared */
    output_set reference;  /* of the model as it is stored */
    uint64_t reference_at; /* its batch size; UINT64_MAX: there is none yet */
    uint64_t engine_bytes; /* that loading the engine and running a trivial model took */
    assay_error no_study;  /* the system's refusal of what `what` asks for, if any */
} job;

/* ---- hooks ---- */

static bool cancelled(void *ctx)
{
    return job_cancelled(((const job *)ctx)->hooks);
}

/* Time grows with the batch: a guess good enough for a line that says how long is left. */
static double work_after(const job *j)
{
    double all = 0, here = (double)j->m->configs[j->index].batch;
    for (size_t i = j->index + 1; i < j->count; i++)
        all += (double)j->m->configs[i].batch;
    return here > 0 ? all / here : (double)(j->count - j->index - 1);
}

static bool report_progress(job *j, const char *what, uint64_t done, uint64_t planned,
                            double fraction)
{
    const profile_config *c = &j->m->configs[j->index];
    const assay_progress p = {.size = sizeof p,
                              .what = what,
                              .batch = c->batch,
                              .precision = c->precision.p,
                              .index = j->index,
                              .count = j->count,
                              .done = done,
                              .planned = planned,
                              .fraction = fraction,
                              .work_after = work_after(j)};
    if (j->hooks && j->hooks->progress && !j->hooks->progress(j->hooks->ctx, &p))
        j->stopped = true;
    if (cancelled(j))
        j->stopped = true;
    return !j->stopped;
}

static bool go_on(void *ctx, bool warming, uint64_t done, uint64_t planned, double fraction)
{
    return report_progress(ctx, warming ? "warm-up" : "runs", done, planned, fraction);
}

static bool go_on_layers(void *ctx, uint64_t done, uint64_t planned, double fraction)
{
    return report_progress(ctx, "layers", done, planned, fraction);
}

static void keep_messages(void *ctx, engine_session *s)
{
    job_keep_messages(s, ((job *)ctx)->p);
}

/* ---- one configuration ---- */

/* The parts sum to what is said to be needed. */
static assay_status too_large(const job_runnable *x, uint64_t have, const char *of,
                              assay_error *err)
{
    const profile_memory_plan *plan = &x->p->memory_plan;
    sbuf b = {0};
    sbuf_printf(&b, "batch size %llu needs ", (unsigned long long)x->batch_shown);
    text_bytes(&b, job_runnable_need(x));
    sbuf_puts(&b, " (weights ");
    text_bytes(&b, plan->weights_bytes);
    sbuf_puts(&b, ", activations ");
    text_bytes(&b, plan->activations_peak_bytes);
    sbuf_puts(&b, ", inputs ");
    text_bytes(&b, x->input_bytes);
    sbuf_puts(&b, "), but ");
    text_bytes(&b, have);
    assay_status s = err_fail_errno(err, ASSAY_ERR_SYSTEM, ENOMEM, "%s %s", sbuf_cstr(&b), of);
    sbuf_free(&b);
    return s;
}

static assay_status check_memory(const job *j, const job_runnable *x, assay_error *err)
{
    uint64_t need = job_runnable_need(x), free_now = system_available("");
    if (j->o->measure.memory_limit && need > j->o->measure.memory_limit)
        return too_large(x, j->o->measure.memory_limit, "is the limit", err);
    if (free_now != PROFILE_NOT_TOLD && sat_add(need, HEADROOM_BYTES) > free_now)
        return too_large(x, free_now, "is free, and the engine itself needs 64 MiB", err);
    return ASSAY_OK;
}

static measure_request request_for(job *j, const job_runnable *x)
{
    const assay_options *o = j->o;
    measure_request q = {.engine = j->engine,
                         .model = x->model,
                         .options = job_engine_options(o, x->work),
                         .wants = x->wants,
                         .n_wants = x->n_wants,
                         .warmup = {.min_runs = (uint32_t)o->measure.warmup_runs},
                         .rule = {.runs = (uint64_t)o->measure.num_runs,
                                  .duration_ns = (uint64_t)(o->measure.duration * NS),
                                  .precision = o->measure.precision_target / 100},
                         .load = {.concurrency = (uint32_t)o->measure.concurrency,
                                  .rate = o->measure.rate,
                                  .seed = (uint64_t)o->model.seed},
                         .hooks = {.go_on = go_on, .cancelled = cancelled, .ctx = j},
                         .seed = (uint64_t)o->model.seed,
                         .gpu = j->gpu,
                         .batch = x->batch_shown,
                         .flops = x->p->total_flops,
                         .bytes = x->p->total_memory,
                         .engine_bytes = j->engine_bytes};
    return q;
}

assay_status job_find_precision(str name, const precision_row **out, assay_error *err)
{
    const precision_row *row = precision_find(name);
    *out = row && row->kind != PRECISION_FP32 ? row : NULL;
    if (row)
        return ASSAY_OK;
    return err_fail(err, ASSAY_ERR_UNSUPPORTED,
                    "cannot convert to " STR_FMT ". Use fp32, fp16, bf16, int8-dynamic or int8.",
                    STR_ARG(name));
}

str job_precision_name(const assay_options *o)
{
    return o->model.target                      ? str_of(o->model.target->name)
           : o->model.precision == IR_UNDEFINED ? STR(JOB_PRECISION)
                                                : str_of(ir_dtype_get(o->model.precision)->name);
}

/* A model whose weights are not there runs all the same; times that do not depend on them hold. */
static void note_made_up(job *j)
{
    const notes *n = &j->p->warnings;
    bool absent = false;
    for (size_t i = 0; i < n->list.n && !absent; i++)
        absent = strcmp(n->list.items[i].code, "external-missing") == 0 ||
                 strcmp(n->list.items[i].code, "external-short") == 0;
    if (absent)
        notes_add(&j->p->warnings, "made-up-weights", (str){0},
                  "Times are valid if they do not depend on the data. The outputs are meaningless.",
                  "Missing weights were replaced by random numbers.");
}

/* Data-dependent sizes were counted at their maximum; a run may do far less. */
static void note_bounds(job *j)
{
    uint64_t n = j->p->accounting.assumed;
    if (n)
        notes_add(&j->p->warnings, "rates-assumed", (str){0}, NULL,
                  "GFLOP/s and GB/s are upper bounds: the cost of %llu operators is assumed.",
                  (unsigned long long)n);
}

static void note_plan(const profile *p, profile_config *out)
{
    out->memory.plan_activations = p->memory_plan.activations_peak_bytes;
    out->plan_training = training_bytes(&p->training, "adamw");
    out->plan_training_activations = p->training.saved_activation_bytes;
}

static assay_status run_one(job *j, profile_config *c, job_runnable *x, assay_error *err)
{
    assay_model *m = j->model;
    const precision_row *precise;
    TRY(job_find_precision(c->precision, &precise, err));
    TRY(job_runnable_make(m, j->o, (int64_t)c->batch, x, err));
    x->precise = precise;
    x->engine = j->engine;
    c->batch = x->batch_shown;
    job_choose_unit(j->o, x, j->p);
    note_plan(x->p, c);
    TRY(check_memory(j, x, err));
    note_made_up(j);
    note_bounds(j);
    report_progress(j, "session", 0, 0, 0);
    TRY(job_runnable_export(m, j->o, x, err));
    if (!m->row && m->ir->foreign)
        notes_add(&j->p->warnings, "runs-as-onnx", (str){0}, NULL,
                  "The engine runs the model exported as ONNX, not the file itself.");
    if (x->rebatched)
        notes_add(&j->p->warnings, "rebatched", (str){0}, NULL,
                  "The file has a fixed batch size. Other sizes run from a modified copy.");
    assert(!x->held || precise);
    if (x->held)
        notes_add(&j->p->warnings, "precision-in-parts", (str){0},
                  "The rest stays in float32. Size, speed and error are those of the mixed model.",
                  "Only parts of the model run as %s: %s", precise->name, x->held);
    if (precise && precise->dtype == IR_INT8 && job_seven_bits(j->o))
        notes_add(
            &j->p->warnings, "seven-bit-weights", (str){0},
            "Use --weight-bits 8 for full int8 weights, and check the output error.",
            "int8 weights use 7 bits, because this CPU sums pairs of 8-bit products in 16 bits.");
    c->file_bytes = job_runnable_file_bytes(x);
    measure_request q = request_for(j, x);
    q.outputs = precise || x->pre_ms >= 0 || j->o->measure.save_outputs.n ? &j->outputs : NULL;
    assay_status s = measure_config(&q, j->p->arena, c, keep_messages, j, err);
    if (s == ASSAY_OK && j->o->measure.save_outputs.n && !c->partial)
        s = job_outputs_save(j->o, c, j->count > 1, &j->outputs, j->p, err);
    c->pre_ms = x->pre_ms;
    shares_set(j->o->engine.threads, j->m->engine.device, c, j->p->arena, &j->m->ceilings);
    if (s == ASSAY_OK && x->pre_ms >= 0)
        c->post_ms = outputs_time_classify(&j->outputs, c->batch);
    return s;
}

const char *job_failure_code(assay_status s, const assay_error *err)
{
    return err->os_error == ENOMEM      ? "memory"
           : s == ASSAY_ERR_SYSTEM      ? "system"
           : s == ASSAY_ERR_UNSUPPORTED ? "unsupported"
           : s == ASSAY_ERR_USAGE       ? "usage"
                                        : "engine";
}

static void record_failure(job *j, profile_config *c, assay_status s, const assay_error *err)
{
    c->code = c->code ? c->code : job_failure_code(s, err);
    c->error = str_copy(j->p->arena, str_of(err->message));
    notes_add(&j->p->warnings, "configuration-failed", (str){0}, NULL,
              "Batch size %llu, " STR_FMT ": %s", (unsigned long long)c->batch,
              STR_ARG(c->precision), err->message);
}

static void hand_over(const job *j, const profile_config *c)
{
    if (j->measured && j->hooks)
        j->measured(j->hooks, j->m, c);
}

typedef assay_status study_fn(const job_layers_request *q, profile *p, assay_error *err);

/* A failure here is a warning: the configuration itself was measured. Not so when the system failed (a disk that is
 * full): what was requested could be had, and is missing. */
static void run_study(job *j, job_runnable *x, double latency_ms, study_fn *f, const char *what)
{
    const job_layers_request q = {.engine = j->engine,
                                  .model = j->model,
                                  .o = j->o,
                                  .x = x,
                                  .hook = {.go_on = go_on_layers, .ctx = j},
                                  .latency_ms = latency_ms};
    assay_error err;
    err_clear(&err);
    assay_status s = f(&q, j->p, &err);
    j->stopped = j->stopped || cancelled(j);
    if (s == ASSAY_OK || j->stopped)
        return;
    if (s == ASSAY_ERR_SYSTEM)
        err_fail(&j->no_study, s, "%s: %s", what, err.message);
    else
        notes_add(&j->p->warnings, "study-failed", (str){0}, NULL, "%s: %s", what, err.message);
}

/* ---- how far off another precision is ---- */

static assay_status run_reference(job *j, const profile_config *c, job_runnable *x,
                                  assay_error *err)
{
    TRY(job_runnable_make(j->model, j->o, (int64_t)c->batch, x, err));
    TRY(check_memory(j, x, err));
    TRY(job_runnable_export(j->model, j->o, x, err));
    const measure_request q = request_for(j, x);
    return measure_outputs(&q, &j->reference, err);
}

/* The reference is kept until another batch size needs its own. */
static assay_status make_reference(job *j, const profile_config *c, assay_error *err)
{
    job_runnable x = {0};
    if (j->reference_at == c->batch)
        return ASSAY_OK;
    outputs_free(&j->reference);
    j->reference_at = UINT64_MAX;
    report_progress(j, "reference", 0, 0, 0);
    assay_status s = run_reference(j, c, &x, err);
    job_runnable_free(&x);
    if (s == ASSAY_OK)
        j->reference_at = c->batch;
    return s;
}

/* A failure here is a warning: the speed was measured. */
static void compare_outputs(job *j, profile_config *c)
{
    assay_error err;
    err_clear(&err);
    if (j->outputs.items && !j->stopped) {
        assay_status s = make_reference(j, c, &err);
        if (s == ASSAY_OK)
            outputs_compare(&j->reference, &j->outputs, &c->output_error);
        else if (!j->stopped)
            notes_add(&j->p->warnings, "no-output-error", (str){0}, NULL,
                      "The outputs of " STR_FMT " were not compared with fp32: %s",
                      STR_ARG(c->precision), err.message);
    }
}

static assay_status measure_one(job *j, profile_config *c, assay_error *err)
{
    job_runnable x = {0};
    assay_status s = run_one(j, c, &x, err);
    j->stopped = j->stopped || (s == ASSAY_OK && c->partial);
    bool first = s == ASSAY_OK && j->index == 0, precise = x.precise != NULL;
    if (first && !j->stopped && (j->what & ASSAY_MEASURE_LAYERS))
        run_study(j, &x, c->latency.median, job_measure_layers, "Layer times not measured");
    if (first && !j->stopped && (j->what & ASSAY_MEASURE_PLAN))
        run_study(j, &x, c->latency.median, job_measure_plan, "Memory plan not checked");
    job_runnable_free(&x);
    if (precise)
        compare_outputs(j, c);
    outputs_free(&j->outputs);
    return s;
}

/* ---- all configurations ---- */

static job_config_list list_of(job *j)
{
    return (job_config_list){.model = j->model,
                             .o = j->o,
                             .sweep = (j->what & ASSAY_MEASURE_SWEEP) != 0,
                             .p = j->p,
                             .m = j->m,
                             .count = &j->count};
}

/* Memory is looked at again: what the sessions took is free by now. */
static void recommend(job *j)
{
    uint64_t room = j->o->measure.memory_limit ? j->o->measure.memory_limit : system_available("");
    profile_choose_batch(j->m, room == PROFILE_NOT_TOLD ? 0 : room, j->p->arena);
}

/* None ran: why the first did not. The others' reasons are in the result. */
static assay_status complain(assay_status s, const assay_error *first, uint32_t failed,
                             assay_error *err)
{
    if (failed > 1)
        return err_fail(err, s, "%s (%u more configuration%s failed)", first->message, failed - 1,
                        TEXT_S(failed - 1));
    return err_fail(err, s, "%s", first->message);
}

static assay_status measure_all(job *j, assay_error *err)
{
    uint32_t good = 0, failed = 0;
    assay_error first, one;
    assay_status first_status = ASSAY_OK;
    err_clear(&first);
    const job_config_list list = list_of(j);
    TRY(job_list_configs(&list, err));
    TRY(job_list_samples(&list, err));
    for (j->index = 0; j->index < j->count && !j->stopped; j->index++) {
        profile_config *c = &j->m->configs[j->index];
        err_clear(&one);
        j->m->n_configs = (uint32_t)j->index + 1;
        assay_status s = job_ended(j->hooks, measure_one(j, c, &one), &one);
        if (s ==
            ASSAY_ERR_INTERRUPTED) { /* while the model was written for the engine, or loaded */
            c->partial = j->stopped = true;
        } else if (s != ASSAY_OK) {
            record_failure(j, c, s, &one);
            failed++;
            first = first_status == ASSAY_OK ? one : first;
            first_status = first_status == ASSAY_OK ? s : first_status;
        } else {
            measure_note_config(c, j->o->measure.precision_target, &j->p->warnings);
        }
        if (s == ASSAY_ERR_USAGE) /* it would be the same for every other */
            break;
        good += s == ASSAY_OK && c->latency.runs;
        hand_over(j, c);
        if (s != ASSAY_OK && c->code && strcmp(c->code, "memory") == 0 && j->index + 1 < j->count) {
            j->m->stopped = str_printf(j->p->arena, "The batch list stops at batch size %llu.",
                                       (unsigned long long)c->batch);
            break;
        }
    }
    j->m->interrupted = j->stopped;
    busy_note(j->m, &j->p->warnings);
    if (!j->stopped)
        recommend(j);
    if (j->stopped)
        return err_fail(err, ASSAY_ERR_INTERRUPTED, "interrupted: %s",
                        good ? "the result contains the measurements so far"
                             : "nothing was measured");
    if (j->no_study.message[0])
        return err_fail(err, ASSAY_ERR_SYSTEM, "%s", j->no_study.message);
    if (good || first_status == ASSAY_OK)
        return ASSAY_OK;
    return complain(first_status, &first, failed, err);
}

/* ---- the whole ---- */

/* Said before anything is run: all of the patterns are slips, or some are. */
static assay_status check_patterns(const job *j, assay_error *err)
{
    sbuf why = {0};
    if (!(j->what & ASSAY_MEASURE_LAYERS) || !j->o->measure.layer_patterns.n || !j->p->n_layers)
        return ASSAY_OK;
    layer_patterns_missed m = layer_patterns_check(j->p, j->o->measure.layer_patterns, &why);
    assay_status s = ASSAY_OK;
    if (m.missed && m.missed == m.n)
        s = err_fail(err, ASSAY_ERR_USAGE, "%s", sbuf_cstr(&why));
    else if (m.missed)
        notes_add(&j->p->warnings, "unused-pattern", (str){0}, NULL, "%s", sbuf_cstr(&why));
    sbuf_free(&why);
    return s;
}

/* An engine runs the graph's own types: bytes beside its times must be of these, and not of the native type that an
 * analysis weighs by default. What was handed out of the earlier profile stays valid. */
static assay_status analyse_as_run(job *j, assay_options *o, assay_result *of, assay_error *err)
{
    const ir_dtype native = j->model->ir ? j->model->ir->native : IR_UNDEFINED;
    assay_result *again = NULL;
    if (native == IR_UNDEFINED || o->model.precision != IR_UNDEFINED || of->saved || of->before)
        return ASSAY_OK;
    o->analysis.as_built = true;
    assay_options plain = *o;
    plain.analysis.advise_later = true;
    plain.model.strict = false;
    TRY(job_analyze(j->model, &plain, &again, err));
    of->before = of->p;
    j->p = of->p = again->p;
    again->p = NULL;
    handle_free(again);
    notes_add(&j->p->warnings, "not-native", (str){0},
              "Use `assay graph` for memory and bytes in the native type.",
              "The engine runs the model in float32, and all figures are for float32. Its native "
              "type is %s.",
              ir_dtype_get(native)->name);
    return arena_failed(j->p->arena) ? err_no_memory(err) : ASSAY_OK;
}

/* Before this process loads the engine. */
static assay_status measure_cold(job *j, assay_error *err)
{
    if (!j->o->measure.cold)
        return ASSAY_OK;
    const job_config_list list = list_of(j);
    TRY(job_list_configs(&list, err));
    assay_status s = job_ended(
        j->hooks, job_measure_cold(j->model, j->o, &j->m->configs[0], j->p, &j->m->cold, err), err);
    if (s != ASSAY_ERR_INTERRUPTED)
        return s;
    j->p->measured = j->m;
    j->m->interrupted = true;
    return err_fail(err, s, "interrupted: nothing was measured");
}

assay_status job_measure(assay_model *model, const assay_options *o, unsigned what,
                         const job_measure_hooks *hooks, assay_result *of, assay_error *err)
{
    assay_error own;
    if (!err)
        err = &own;
    /* What is made and written on the way looks at the same hooks. */
    assay_options hooked = *o;
    hooked.hooks = hooks->caller;
    job j = {.model = model,
             .o = &hooked,
             .what = what,
             .hooks = hooks->caller,
             .measured = hooks->measured,
             .p = of->p,
             .reference_at = UINT64_MAX};
    err_clear(err);
    if (o->measure.concurrency > THREADS_MOST)
        return err_fail(err, ASSAY_ERR_USAGE, "--concurrency must be 1 to %d where a model is run",
                        THREADS_MOST);
    if (job_runs_on_llama(model, o)) {
        TRY(check_patterns(&j, err));
        return job_measure_llama(model, &hooked, what, hooks, of, err);
    }
    TRY(analyse_as_run(&j, &hooked, of, err));
    TRY(check_patterns(&j, err));
    TRY(job_outputs_prepare(j.o, err));
    j.m = ARENA_NEW(of->p->arena, profile_measured);
    TRY_MEMORY(j.m, err);
    TRY(measure_cold(&j, err));
    TRY(job_engine_ready(j.o, &j.engine, &j.engine_bytes, err));
    of->p->measured = j.m;
    job_describe_engine(j.o, j.engine, of->p);
    j.gpu = job_look_for_gpu(j.o, of->p);
    assay_status s = measure_all(&j, err);
    of->p->device = j.m->engine.device;
    if (s == ASSAY_OK && (what & (ASSAY_MEASURE_SWEEP | ASSAY_MEASURE_LAYERS)))
        s = job_advise(model, j.o, NULL, of->p, err);
    outputs_free(&j.reference);
    gpu_monitor_close(j.gpu);
    engine_close(j.engine);
    return s;
}
