/* One task of a sweep: compared with the plan, measured on a machine that should be quiet, stored once. */
#include <stdio.h>
#include <stdlib.h>

#include <assay/measure.h>

#include "api/sweep.h"
#include "base/file.h"
#include "study/fleet.h"
#include "study/sweep.h"

enum { ATTEMPTS = 3 };
#define STEAL_MOST 1.0 /* percent of all processors' time */

typedef struct running {
    const sweep_plan *plan;
    const sweep_task *task;
    assay_store *store;
    const assay_options *given;
    const assay_hooks *hooks;
    assay_options *options; /* of the measurement */
    const sweep_model *model;
    assay_sweep_outcome *out;
    assay_error *err;
} running;

/* ---- what the plan needs ---- */

static assay_status refuse_other(const running *r, const char *what, str wanted, const char *here)
{
    return err_fail(
        r->err, ASSAY_ERR_UNSUPPORTED,
        "task %lld needs %s " STR_FMT ", and here it is %s. Make a new plan, or use the "
        "same %s.",
        (long long)r->task->task, what, STR_ARG(wanted), *here ? here : "missing", what);
}

static assay_status check_engine(const running *r)
{
    const sweep_plan *plan = r->plan;
    sweep_engine e;
    if (!plan->engine_version.n)
        return ASSAY_OK;
    if (!api_sweep_engine(r->options, &e)) {
        assay_engine_info info = {.size = sizeof info};
        return assay_engine_find(r->options, &info, r->err);
    }
    if (!str_is(plan->engine, e.name))
        return refuse_other(r, "the engine", plan->engine, e.name);
    if (!str_is(plan->engine_version, e.version))
        return refuse_other(r, "the engine's version", plan->engine_version, e.version);
    if (str_is(plan->architecture, e.architecture) && plan->engine_sha256.n &&
        !str_is(plan->engine_sha256, e.sha256))
        return refuse_other(r, "the engine's library with the SHA-256", plan->engine_sha256,
                            e.sha256);
    return ASSAY_OK;
}

static assay_status check_model(const running *r, const assay_model *m,
                                const assay_result *measured)
{
    sweep_hex hex;
    TRY(sweep_digest_model(m, r->model->name.p, measured->p, hex, r->err));
    return str_is(r->model->sha256, hex)
               ? ASSAY_OK
               : refuse_other(r, "the model with the SHA-256", r->model->sha256, hex);
}

static assay_status find_model(running *r)
{
    for (uint32_t i = 0; i < r->plan->n_models; i++)
        if (str_eq(r->plan->models[i].name, r->task->model))
            r->model = &r->plan->models[i];
    if (!r->model)
        return err_fail(r->err, ASSAY_ERR_MALFORMED, "task %lld has a model that the plan lacks",
                        (long long)r->task->task);
    return str_is(r->plan->tool_version, assay_version())
               ? ASSAY_OK
               : refuse_other(r, "assay", r->plan->tool_version, assay_version());
}

/* ---- the options of the measurement ---- */

static assay_status set_option(running *r, const char *name, str value)
{
    char text[256];
    snprintf(text, sizeof text, STR_FMT, STR_ARG(value));
    return assay_options_set(r->options, name, text, r->err);
}

static assay_status set_options(running *r)
{
    const sweep_task *t = r->task;
    char text[256];
    for (uint32_t i = 0; i < r->plan->n_settings; i++) {
        const sweep_setting *s = &r->plan->settings[i];
        bool known = false;
        for (size_t k = 0; sweep_settings[k]; k++)
            known = known || str_is(s->option, sweep_settings[k]);
        if (!known)
            return err_fail(r->err, ASSAY_ERR_MALFORMED,
                            "the plan has the setting '" STR_FMT "', which no task may have",
                            STR_ARG(s->option));
        TRY(assay_options_set(r->options, s->option.p, s->value.p, r->err));
    }
    snprintf(text, sizeof text, "%llu:" STR_FMT, (unsigned long long)t->batch,
             STR_ARG(t->precision));
    TRY(assay_options_set(r->options, "configs", text, r->err));
    snprintf(text, sizeof text, "%llu", (unsigned long long)t->threads);
    TRY(assay_options_set(r->options, "threads", text, r->err));
    snprintf(text, sizeof text, "assay sweep run %lld", (long long)t->task);
    TRY(assay_options_set(r->options, "command", text, r->err));
    const char *library = assay_options_get(r->given, "engine-lib");
    if (library)
        TRY(assay_options_set(r->options, "engine-lib", library, r->err));
    return set_option(r, "device", t->device);
}

/* ---- measuring ---- */

static assay_status check_device(const running *r, const assay_result *measured)
{
    const char *ran = assay_result_text(measured, "context.engine.device");
    return str_is(r->task->device, ran)
               ? ASSAY_OK
               : err_fail(r->err, ASSAY_ERR_ENGINE,
                          "task %lld is for " STR_FMT ", and the engine ran on %s",
                          (long long)r->task->task, STR_ARG(r->task->device), ran);
}

/* Why the machine was not quiet, into out->why; empty when it was. */
static void judge_quiet(running *r, const assay_result *measured)
{
    const char *busy = assay_result_text(measured, "utilization.busy");
    double steal = assay_result_number(measured, "utilization.steal_percent");
    sbuf why = {0};
    if (*busy)
        sbuf_puts(&why, busy);
    else if (steal > STEAL_MOST)
        sbuf_printf(&why, "%.1f %% of the time was stolen by other virtual machines", steal);
    else
        sweep_other_jobs(&why);
    r->out->noisy = why.n > 0;
    snprintf(r->out->why, sizeof r->out->why, "%s", sbuf_cstr(&why));
    sbuf_free(&why);
}

static assay_status measure_once(running *r, assay_result **out)
{
    assay_model *m = NULL;
    assay_result *measured = NULL;
    TRY(assay_model_open(r->model->name.p, &m, r->err));
    assay_status s = assay_analyze(m, r->options, &measured, r->err);
    if (s == ASSAY_OK)
        s = check_model(r, m, measured);
    if (s == ASSAY_OK)
        s = assay_measure(m, r->options, 0, r->hooks, measured, r->err);
    if (s == ASSAY_OK)
        s = check_device(r, measured);
    if (s == ASSAY_OK)
        measured->p->context.model_sha256 = str_copy(measured->p->arena, r->model->sha256);
    assay_model_free(m);
    if (s == ASSAY_OK)
        *out = measured;
    else
        assay_result_free(measured);
    return s;
}

/* Until the machine was quiet, at most three times. */
static assay_status measure_task(running *r)
{
    assay_sweep_outcome *out = r->out;
    do {
        assay_result_free(out->result);
        out->result = NULL;
        out->attempts++;
        TRY(measure_once(r, &out->result));
        judge_quiet(r, out->result);
    } while (out->noisy && out->attempts < ATTEMPTS);
    return ASSAY_OK;
}

/* ---- storing ---- */

/* Whether the task has a record; its number goes to the outcome. */
static assay_status find_record(running *r)
{
    const store_filter f = {.sweep = r->plan->id, .task = r->task->task + 1, .limit = 1};
    history_list list = {0};
    arena *a = arena_new((size_t)1 << 20);
    assay_status s = a ? store_list(r->store->s, &f, a, &list, r->err) : err_no_memory(r->err);
    if (s == ASSAY_OK && list.n) {
        r->out->known = true;
        r->out->record = list.records[0].id;
        r->out->noisy = sweep_is_noisy(&list.records[0]);
        snprintf(r->out->machine, sizeof r->out->machine, STR_FMT,
                 STR_ARG(list.records[0].machine));
    }
    arena_free(a);
    return s;
}

static assay_status save_task(running *r)
{
    const char *tags[2];
    char node_class[80];
    size_t n_tags = 0;
    bool known = false;
    snprintf(node_class, sizeof node_class, FLEET_CLASS_PREFIX STR_FMT,
             STR_ARG(r->task->node_class));
    if (r->task->node_class.n && strlen(node_class) <= STORE_TAG_BYTES)
        tags[n_tags++] = node_class;
    if (r->out->noisy)
        tags[n_tags++] = SWEEP_NOISY_TAG;
    const assay_record_options o = {.size = sizeof o,
                                    .tags = tags,
                                    .n_tags = n_tags,
                                    .options = r->options,
                                    .machine = r->out->machine,
                                    .sweep = r->plan->id.p,
                                    .task = r->task->task,
                                    .known = &known};
    TRY(assay_store_save(r->store, r->out->result, &o, &r->out->record, r->err));
    r->out->known = known;
    return ASSAY_OK;
}

static assay_status run_task(running *r)
{
    TRY(find_model(r));
    TRY(find_record(r));
    if (r->out->known)
        return ASSAY_OK;
    sweep_machine_name(r->out->machine);
    TRY(set_options(r));
    TRY(check_engine(r));
    TRY(measure_task(r));
    return save_task(r);
}

assay_status assay_sweep_run(const assay_result *plan, int64_t task, assay_store *db,
                             const assay_options *options, const assay_hooks *hooks,
                             assay_sweep_outcome *out, assay_error *err)
{
    assay_sweep_outcome whole = {0};
    const sweep_plan *of;
    assay_error own;
    err = err ? err : &own;
    api_begin(err);
    TRY(api_check_size(out, err));
    TRY(api_sweep_of(plan, &of, err));
    if (task < 0 || task >= of->n_tasks)
        return err_fail(err, ASSAY_ERR_USAGE, "the plan has tasks 0 to %u, and no task %lld",
                        of->n_tasks - 1, (long long)task);
    running r = {.plan = of,
                 .task = &of->tasks[task],
                 .store = db,
                 .given = options,
                 .hooks = hooks,
                 .options = assay_options_new(),
                 .out = &whole,
                 .err = err};
    assay_status s = r.options ? run_task(&r) : err_no_memory(err);
    assay_options_free(r.options);
    assay_status given = GIVE(out, whole, err);
    return s == ASSAY_OK ? given : s;
}

assay_status assay_sweep_task(const assay_result *plan, int64_t *task, assay_error *err)
{
    const sweep_plan *of;
    assay_error own;
    err = err ? err : &own;
    api_begin(err);
    *task = -1;
    TRY(api_sweep_of(plan, &of, err));
    return sweep_task_of_environment(of->n_tasks, task, err);
}
