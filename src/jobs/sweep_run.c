/* One task of a sweep: compared with the plan, measured on a machine that should be quiet, stored once. */
#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"
#include "device/node.h"
#include "jobs/sweep.h"
#include "study/sweep.h"

enum { ATTEMPTS = 3 };
#define STEAL_MOST 1.0 /* percent of all processors' time */

typedef sweep_running running;

/* ---- what the plan needs ---- */

static assay_status refuse_other(const running *r, const char *what, str wanted, const char *here)
{
    return err_fail(r->err, ASSAY_ERR_UNSUPPORTED,
                    "task %lld needs %s " STR_FMT ", found %s. Make a new plan, or use the "
                    "same %s.",
                    (long long)r->task->task, what, STR_ARG(wanted), *here ? here : "missing",
                    what);
}

static assay_status check_engine(const running *r)
{
    const sweep_plan *plan = r->plan;
    sweep_engine e;
    if (!plan->engine_version.n)
        return ASSAY_OK;
    TRY(sweep_engine_here(r->options, &e, r->err));
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
    digest_hex hex;
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

/* ---- measuring ---- */

static assay_status check_device(const running *r, const assay_result *measured)
{
    const profile_measured *m = measured->p->measured;
    const str ran = m ? m->engine.device : (str){0};
    return str_eq(r->task->device, ran)
               ? ASSAY_OK
               : err_fail(r->err, ASSAY_ERR_ENGINE,
                          "task %lld is for " STR_FMT ", and the engine ran on " STR_FMT,
                          (long long)r->task->task, STR_ARG(r->task->device), STR_ARG(ran));
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
        sbuf_printf(&why, "CPU steal was %.1f %%", steal);
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
    TRY(job_model_open(r->model->name.p, &m, r->err));
    assay_status s = job_analyze(m, r->options, &measured, r->err);
    if (s == ASSAY_OK)
        s = check_model(r, m, measured);
    if (s == ASSAY_OK)
        s = job_measure(m, r->options, 0, r->hooks, measured, r->err);
    if (s == ASSAY_OK)
        s = check_device(r, measured);
    if (s == ASSAY_OK)
        measured->p->context.model_sha256 = str_copy(measured->p->arena, r->model->sha256);
    if (s == ASSAY_OK && !handle_settle(measured->p))
        s = err_no_memory(r->err);
    model_free(m);
    if (s == ASSAY_OK)
        *out = measured;
    else
        handle_free(measured);
    return s;
}

/* Until the machine was quiet, at most three times. */
static assay_status measure_task(running *r)
{
    assay_sweep_outcome *out = r->out;
    do {
        handle_free(out->result);
        out->result = NULL;
        out->attempts++;
        TRY(measure_once(r, &out->result));
        judge_quiet(r, out->result);
    } while (out->noisy && out->attempts < ATTEMPTS);
    return ASSAY_OK;
}

/* ---- one task ---- */

/* Whether the task has a record; its number goes to the outcome. */
static assay_status find_record(running *r)
{
    const store_filter f = {.sweep = r->plan->id, .task = r->task->task + 1, .limit = 1};
    history_list list = {0};
    arena *a = arena_new((size_t)1 << 20);
    assay_status s = a ? store_list(r->store, &f, a, &list, r->err) : err_no_memory(r->err);
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

assay_status sweep_task_run(sweep_running *r)
{
    TRY(find_model(r));
    TRY(find_record(r));
    if (r->out->known)
        return ASSAY_OK;
    node_name(r->out->machine);
    TRY(check_engine(r));
    return measure_task(r);
}
