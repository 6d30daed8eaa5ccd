/* Time limits of the tasks of a sweep.
 *
 *     limit = ATTEMPTS * (START_S + margin * runs * time of a run), in whole minutes, at least LEAST_S
 *
 * A plan predicts the time of a run as `map` does: on the device that the node class names; if it names none, on the
 * built-in device of its kind (CPU or GPU) with the lowest peak. The upper end of the interval counts. On fewer threads than a CPU has
 * cores, the time is that many times longer. A model that cannot be mapped is assumed to run at SLOW_FLOPS and SLOW_BYTES.
 *
 * When tasks are submitted, records of the model at the same batch, precision and device replace the prediction: those of
 * the node class if there are any, else of all machines; the slowest mean counts.
 */
#include <math.h>

#include "device/devices.h"
#include "jobs/sweep.h"
#include "profile/mapping.h"
#include "study/sweep.h"

enum { START_S = 60, ATTEMPTS = 3, LEAST_S = 300, RECORDS_MOST = 1000 };
#define PREDICTED_MARGIN 4.0
#define RECORDED_MARGIN  2.0
#define SLOW_FLOPS       2e9
#define SLOW_BYTES       2e9
#define DEVICES_BYTES    ((size_t)16 << 20)
#define RECORDS_BYTES    ((size_t)64 << 20) /* of one model */

static double limit_of(const measure_options *o, double run_s)
{
    double runs = fmax(run_s * (double)(o->num_runs + o->warmup_runs), o->duration);
    return fmax(LEAST_S, ceil(ATTEMPTS * (START_S + runs) / 60) * 60);
}

/* ---- predicted ---- */

static double slowest_row(const profile_mapping *m)
{
    double slowest_ms = 0;
    for (uint32_t i = 0; m && i < m->n_rows; i++)
        slowest_ms = fmax(slowest_ms, fmax(m->rows[i].latency_ms, m->rows[i].latency_high_ms));
    return slowest_ms / 1e3;
}

/* Seconds of a run on the device; 0: it cannot be mapped. */
static double map_task(assay_model *model, const assay_options *plain, const sweep_task *t,
                       const device *d)
{
    int64_t batch = (int64_t)t->batch;
    assay_options o = *plain;
    assay_result *r = NULL;
    assay_error err = {0};
    o.analysis.no_advice = true;
    o.hardware.names = d->id;
    o.model.precisions = t->precision;
    o.measure.batch_sizes.items = &batch;
    o.measure.batch_sizes.n = 1;
    assay_status s = job_map(model, &o, &r, &err);
    double run_s = s == ASSAY_OK ? slowest_row(r->p->mapping) : 0;
    handle_free(r);
    const bool fewer = str_is(d->kind, "cpu") && t->threads && d->units > (double)t->threads;
    return fewer ? run_s * d->units / (double)t->threads : run_s;
}

/* The device that the node class names, if it is of the kind that the task runs on; else the built-in one of that kind with
 * the lowest peak. NULL: none. */
static const device *choose_device(const sweep_task *t, device_list *named, device_list *all)
{
    const bool cpu = str_is(t->device, "cpu");
    assay_error err = {0};
    const device *slowest = NULL;
    if (t->node_class.n && devices_choose(t->node_class, named, &err) == ASSAY_OK &&
        named->rows.n == 1 && str_is(named->rows.items[0].kind, "cpu") == cpu)
        return &named->rows.items[0];
    err = (assay_error){0};
    if (devices_choose(cpu ? STR("cpu") : STR("gpu"), all, &err) != ASSAY_OK)
        return NULL;
    for (uint32_t i = 0; i < all->rows.n; i++) {
        const device *d = &all->rows.items[i];
        if (!slowest || d->peak[DEVICE_FP32] < slowest->peak[DEVICE_FP32])
            slowest = d;
    }
    return slowest;
}

static double predict_run(assay_model *model, const assay_options *plain, const sweep_task *t,
                          arena *a)
{
    device_list named = {.arena = a}, all = {.arena = a};
    const device *d = choose_device(t, &named, &all);
    return d ? map_task(model, plain, t, d) : 0;
}

double sweep_time_limit(assay_model *model, const sweep_model *counts, const sweep_request *q,
                        const sweep_task *t)
{
    arena *a = arena_new(DEVICES_BYTES);
    double run_s = a ? predict_run(model, q->plain, t, a) : 0;
    arena_free(a);
    if (!(run_s > 0))
        run_s = (counts->flops / SLOW_FLOPS + counts->bytes / SLOW_BYTES) * (double)t->batch;
    return limit_of(&q->options->measure, PREDICTED_MARGIN * run_s);
}

/* ---- recorded ---- */

assay_status sweep_limits(const sweep_submission *q, store *db, const measure_options *o,
                          double **out, assay_error *err)
{
    const sweep_plan *plan = q->plan;
    double *limits = ARENA_ARRAY(q->arena, double, plan->n_tasks + 1);
    TRY_MEMORY(limits, err);
    for (uint32_t m = 0; m < plan->n_models; m++) {
        const store_filter f = {.model = plan->models[m].name, .limit = RECORDS_MOST};
        history_list records = {0};
        arena *own = arena_new(RECORDS_BYTES);
        TRY_MEMORY(own, err);
        assay_status s = store_list(db, &f, own, &records, err);
        for (uint32_t i = 0; s == ASSAY_OK && i < plan->n_tasks; i++) {
            const sweep_task *t = &plan->tasks[i];
            if (!str_eq(t->model, plan->models[m].name))
                continue;
            double run_s = sweep_recorded_run(&records, t);
            limits[i] = run_s > 0 ? limit_of(o, RECORDED_MARGIN * run_s) : t->time_limit_s;
        }
        arena_free(own);
        TRY(s);
    }
    *out = limits;
    return ASSAY_OK;
}
