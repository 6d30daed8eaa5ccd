/* How far a sweep is, by the history and a scheduler, and handing its missing tasks to a scheduler. */
#include "jobs/sweep.h"
#include "store/store.h"
#include "study/sweep.h"

static assay_status list_records(const sweep_plan *plan, store *db, arena *a, history_list *out,
                                 assay_error *err)
{
    const store_filter f = {.sweep = plan->id};
    return store_list(db, &f, a, out, err);
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

assay_status sweep_status_make(const sweep_plan *plan, store *db, const sweep_place *place,
                               arena *a, sweep_status *out, assay_error *err)
{
    history_list records = {0};
    const history_record **of;
    sweep_progress *tasks = ARENA_ARRAY(a, sweep_progress, plan->n_tasks + 1);
    TRY_MEMORY(tasks, err);
    TRY(list_records(plan, db, a, &records, err));
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
    out->expected_end_s = sweep_expected_end(&records, plan->n_tasks - out->done, store_now(db));
    return arena_failed(a) ? err_no_memory(err) : ASSAY_OK;
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
    TRY_MEMORY(items && wanted, err);
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

assay_status sweep_put_missing(const sweep_plan *plan, store *db, arena *a, sbuf *text, uint64_t *n,
                               assay_error *err)
{
    sweep_status status;
    sweep_tasks tasks;
    TRY(sweep_status_make(plan, db, NULL, a, &status, err));
    TRY(tasks_missing(&status, NULL, a, &tasks, err));
    sweep_put_tasks(text, &tasks, 0);
    *n = tasks.n;
    return ASSAY_OK;
}

assay_status sweep_submit(const sweep_place *place, store *db, const char *list,
                          sweep_submission *q, const measure_options *o, assay_error *err)
{
    sweep_status status;
    /* Of Kubernetes, a manifest may be wanted where there is no cluster to ask. */
    const bool asks = place == &sweep_place_slurm;
    TRY(sweep_status_make(q->plan, db, asks ? place : NULL, q->arena, &status, err));
    TRY(tasks_missing(&status, list, q->arena, &q->tasks, err));
    if (q->tasks.n) {
        double *limits;
        TRY(sweep_limits(q, db, o, &limits, err));
        q->limits_s = limits;
        return place->submit(q, err);
    }
    sbuf_puts(q->said, "nothing to submit: every task has a record or is in the queue\n");
    return ASSAY_OK;
}

assay_status sweep_report_read(const sweep_plan *plan, store *db, arena *a, sweep_report *out,
                               assay_error *err)
{
    history_list records = {0};
    TRY(list_records(plan, db, a, &records, err));
    return sweep_report_make(plan, &records, a, out, err);
}
