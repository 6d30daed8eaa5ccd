/* Sweeps in the public API: status, report and schedulers. Plans are in sweep_plan.c and sweep_open.c, tasks in
 * sweep_run.c. */
#include <stdlib.h>

#include "api/sweep.h"
#include "base/clock.h"
#include "base/file.h"
#include "study/sweep.h"

assay_status api_sweep_of(const assay_result *of, const sweep_plan **out, assay_error *err)
{
    *out = NULL;
    if (!of || of->kind != &sweep_kind)
        return err_fail(err, ASSAY_ERR_USAGE, "a plan of a sweep is needed, not %s",
                        of ? of->kind->what : "nothing");
    *out = of->data;
    return ASSAY_OK;
}

assay_status api_sweep_records(assay_store *db, const sweep_plan *plan, arena *a, history_list *out,
                               assay_error *err)
{
    const store_filter f = {.sweep = plan->id};
    return store_list(db->s, &f, a, out, err);
}

/* ---- status ---- */

static sweep_progress progress_of(const sweep_task *t, const history_record *r, arena *a)
{
    return (sweep_progress){.task = t->task,
                            .model = t->model,
                            .config = sweep_config_text(t, a),
                            .device = t->device,
                            .node_class = t->node_class,
                            .state = !r                  ? SWEEP_MISSING
                                     : sweep_is_noisy(r) ? SWEEP_NOISY
                                                         : SWEEP_DONE,
                            .machine = r ? r->machine : (str){0},
                            .record = r ? r->id : INT64_MIN};
}

static void count_states(sweep_status *s)
{
    for (uint32_t i = 0; i < s->n_tasks; i++) {
        sweep_state is = s->tasks[i].state;
        s->done += is == SWEEP_DONE || is == SWEEP_NOISY;
        s->noisy += is == SWEEP_NOISY;
        s->running += is == SWEEP_RUNNING;
        s->waiting += is == SWEEP_WAITING;
        s->missing += is == SWEEP_MISSING;
    }
}

static assay_status find_place(const char *on, const sweep_place **out, assay_error *err)
{
    *out = on ? sweep_find_place(on) : NULL;
    return !on || *out ? ASSAY_OK
                       : err_fail(err, ASSAY_ERR_USAGE,
                                  "there is no scheduler '%s'. Use slurm or kubernetes.", on);
}

/* The status of all tasks, in the arena. */
static assay_status fill_status(const sweep_plan *plan, assay_store *db, const sweep_place *place,
                                arena *a, sweep_status *out, assay_error *err)
{
    history_list records = {0};
    const history_record **of;
    sweep_progress *tasks = ARENA_ARRAY(a, sweep_progress, plan->n_tasks + 1);
    if (!tasks)
        return err_no_memory(err);
    TRY(api_sweep_records(db, plan, a, &records, err));
    TRY(sweep_match(plan, &records, a, &of, err));
    for (uint32_t i = 0; i < plan->n_tasks; i++)
        tasks[i] = progress_of(&plan->tasks[i], of[i], a);
    if (place)
        TRY(place->states(plan, tasks, a, err));
    *out = (sweep_status){.id = str_copy(a, plan->id),
                          .scheduler = str_of(place ? place->name : NULL),
                          .total = plan->n_tasks,
                          .tasks = tasks,
                          .n_tasks = plan->n_tasks};
    count_states(out);
    out->expected_end_s = sweep_expected_end(&records, plan->n_tasks - out->done, store_now(db->s));
    return arena_failed(a) ? err_no_memory(err) : ASSAY_OK;
}

assay_status assay_sweep_status(const assay_result *plan, assay_store *db, const char *on,
                                assay_result **out, assay_error *err)
{
    const sweep_plan *of;
    const sweep_place *place;
    api_begin(err);
    *out = NULL;
    TRY(api_sweep_of(plan, &of, err));
    TRY(find_place(on, &place, err));
    assay_result *r = job_result_new(&sweep_status_kind, SWEEP_BYTES);
    assay_status s = r ? fill_status(of, db, place, r->arena, r->data, err) : err_no_memory(err);
    return api_hand_result(s, r, out, err);
}

/* ---- what is missing ---- */

/* Tasks in this state, of those that the list names (all: NULL). */
static assay_status tasks_missing(const sweep_status *of, const char *list, arena *a,
                                  sweep_tasks *out, assay_error *err)
{
    int64_t *items = ARENA_ARRAY(a, int64_t, of->n_tasks + 1);
    bool *wanted = ARENA_ARRAY(a, bool, of->n_tasks + 1);
    sweep_tasks named = {0};
    uint32_t n = 0;
    if (!items || !wanted)
        return err_no_memory(err);
    if (list)
        TRY(sweep_parse_tasks(str_of(list), of->n_tasks, "--tasks", a, &named, err));
    for (uint32_t i = 0; i < (list ? named.n : of->n_tasks); i++)
        wanted[list ? named.items[i] : i] = true;
    for (uint32_t i = 0; i < of->n_tasks; i++)
        if (wanted[i] && of->tasks[i].state == SWEEP_MISSING)
            items[n++] = i;
    *out = (sweep_tasks){items, n};
    return ASSAY_OK;
}

static assay_status put_missing(const sweep_plan *plan, assay_store *db, arena *a, sbuf *text,
                                uint64_t *n, assay_error *err)
{
    sweep_status status;
    sweep_tasks tasks;
    TRY(fill_status(plan, db, NULL, a, &status, err));
    TRY(tasks_missing(&status, NULL, a, &tasks, err));
    sweep_put_tasks(text, &tasks, 0);
    *n = tasks.n;
    return ASSAY_OK;
}

assay_status assay_sweep_missing(const assay_result *plan, assay_store *db, char **tasks,
                                 uint64_t *n, assay_error *err)
{
    const sweep_plan *of;
    sbuf text = {0};
    size_t length;
    uint64_t own;
    api_begin(err);
    *tasks = NULL;
    TRY(api_sweep_of(plan, &of, err));
    arena *a = arena_new(SWEEP_BYTES);
    assay_status s = a ? put_missing(of, db, a, &text, n ? n : &own, err) : err_no_memory(err);
    arena_free(a);
    return api_hand_text(s, &text, tasks, &length, err);
}

/* ---- schedulers ---- */

static assay_status submit_missing(const assay_result *plan, assay_store *db,
                                   const assay_sweep_submission *q, sweep_submission *to,
                                   assay_error *err)
{
    const sweep_place *place;
    sweep_status status;
    sbuf document = {0};
    TRY(find_place(q->on, &place, err));
    if (!place)
        return err_fail(err, ASSAY_ERR_USAGE, "no scheduler. Use slurm or kubernetes.");
    /* Of Kubernetes, a manifest may be wanted where there is no cluster to ask. */
    const bool asks = place == &sweep_place_slurm;
    TRY(fill_status(to->plan, db, asks ? place : NULL, to->arena, &status, err));
    TRY(tasks_missing(&status, q->tasks, to->arena, &to->tasks, err));
    if (!to->tasks.n) {
        sbuf_puts(to->said, "nothing to submit: every task has a record or is in the queue\n");
        return ASSAY_OK;
    }
    assay_status s = api_result_json(plan, 0, &document, err);
    to->plan_text = (str){document.p, (uint32_t)document.n};
    if (s == ASSAY_OK)
        s = place->submit(to, err);
    sbuf_free(&document);
    return s;
}

assay_status assay_sweep_submit(const assay_result *plan, assay_store *db,
                                const assay_sweep_submission *submission, uint64_t *n_tasks,
                                char **said, assay_error *err)
{
    assay_sweep_submission q;
    const sweep_plan *of;
    sbuf text = {0};
    size_t n;
    api_begin(err);
    *said = NULL;
    TRY(TAKE(submission, q, err));
    TRY(api_sweep_of(plan, &of, err));
    if (!q.plan_path || !q.program)
        return err_fail(err, ASSAY_ERR_USAGE, "no file of the plan, or no program");
    sweep_submission to = {.plan = of,
                           .plan_path = q.plan_path,
                           .program = q.program,
                           .throttle = q.throttle > 0 ? q.throttle : 0,
                           .time_limit_s = q.time_limit_s > 0 ? q.time_limit_s : 0,
                           .image = q.image,
                           .secret = q.secret,
                           .manifest = q.manifest,
                           .arena = arena_new(SWEEP_BYTES),
                           .said = &text};
    assay_status s = to.arena ? submit_missing(plan, db, &q, &to, err) : err_no_memory(err);
    if (n_tasks)
        *n_tasks = s == ASSAY_OK ? to.tasks.n : 0;
    arena_free(to.arena);
    return api_hand_text(s, &text, said, &n, err);
}

assay_status assay_sweep_cancel(const assay_result *plan, const char *on, char **said,
                                assay_error *err)
{
    const sweep_plan *of;
    const sweep_place *place;
    sbuf text = {0};
    size_t n;
    api_begin(err);
    *said = NULL;
    TRY(api_sweep_of(plan, &of, err));
    TRY(find_place(on, &place, err));
    if (!place)
        return err_fail(err, ASSAY_ERR_USAGE, "no scheduler. Use slurm or kubernetes.");
    return api_hand_text(place->cancel(of, &text, err), &text, said, &n, err);
}

/* ---- the report ---- */

static assay_status fill_report(const sweep_plan *plan, assay_store *db, assay_result *r,
                                assay_error *err)
{
    history_list records = {0};
    TRY(api_sweep_records(db, plan, r->arena, &records, err));
    return sweep_report_make(plan, &records, r->arena, r->data, err);
}

assay_status assay_sweep_report(const assay_result *plan, assay_store *db, assay_result **out,
                                assay_error *err)
{
    const sweep_plan *of;
    assay_error own;
    err = err ? err : &own;
    api_begin(err);
    *out = NULL;
    TRY(api_sweep_of(plan, &of, err));
    assay_result *r = job_result_new(&sweep_report_kind, SWEEP_BYTES);
    assay_status s = r ? fill_report(of, db, r, err) : err_no_memory(err);
    TRY(api_hand_result(s, r, out, err));
    const sweep_report *made = (*out)->data;
    return made->n_missing ? err_fail(err, ASSAY_ERR_ENGINE, "%u of %u tasks have no record",
                                      made->n_missing, made->total)
                           : ASSAY_OK;
}
