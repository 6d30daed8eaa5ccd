/* Runs several models alternately in one process and compares their times. */
#include "jobs/race.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/num.h"
#include "jobs/hooks.h"
#include "jobs/measure.h"
#include "measure/compare_times.h"
#include "measure/judge.h"
#include "measure/system.h"

typedef struct race {
    job_comparison *c;
    const assay_options *o;
    const assay_hooks *hooks;
    engine *engine;
    job_runnable of[COMPARISON_MAX];
    measure_request subjects[COMPARISON_MAX];
    interleave_series series[COMPARISON_MAX];
    str precision[COMPARISON_MAX];
    uint32_t n;
    uint32_t lane[COMPARISON_MAX]; /* of a model among subjects and series; NO_LANE: not run */
    uint32_t n_lanes;
    char device[32];
} race;
#define NO_LANE UINT32_MAX

static bool race_cancelled(void *ctx)
{
    const race *r = ctx;
    return job_cancelled(r->hooks);
}

static bool race_go_on(void *ctx, bool warming, uint64_t done, uint64_t planned, double fraction)
{
    const race *r = ctx;
    const assay_progress p = {.size = sizeof p,
                              .what = warming ? "warm-up" : "turns",
                              .batch = r->of[0].batch_shown,
                              .precision = "",
                              .count = 1,
                              .done = done,
                              .planned = planned,
                              .fraction = fraction};
    return !r->hooks || !r->hooks->progress || r->hooks->progress(r->hooks->ctx, &p);
}

/* One for all of them, or a list with one for each: "fp32,int8". */
static assay_status precision_of(const race *r, uint32_t i, str *out, assay_error *err)
{
    str rest = r->o->model.precisions, item;
    uint32_t n = 0;
    *out = job_precision_name(r->o);
    if (!r->o->model.precision_list)
        return ASSAY_OK;
    for (; str_split(&rest, ',', &item); n++)
        if (n == i)
            *out = item;
    return n == r->c->c.n_models
               ? ASSAY_OK
               : err_fail(
                     err, ASSAY_ERR_USAGE,
                     "--precision has %u types for %u models. Name one for all, or one per model.",
                     n, r->c->c.n_models);
}

/* A converted model that the engine does not take is found out before the others wait for it. */
static assay_status try_converted(const race *r, const measure_request *q, const job_runnable *x,
                                  assay_error *err)
{
    engine_session *s;
    if (!x->precise)
        return ASSAY_OK;
    TRY(engine_session_open(r->engine, &q->model, &q->options, &s, err));
    engine_session_close(s);
    return ASSAY_OK;
}

static assay_status prepare(race *r, assay_model *m, uint32_t i, assay_error *err)
{
    job_runnable *x = &r->of[i];
    const assay_options *o = r->o;
    const struct precision_row *precise;
    TRY(precision_of(r, i, &r->precision[i], err));
    TRY(job_find_precision(r->precision[i], &precise, err));
    TRY(job_runnable_make(m, o, 0, x, err));
    x->precise = precise;
    x->engine = r->engine;
    TRY(job_runnable_export(m, o, x, err));
    measure_request *q = &r->subjects[r->n_lanes];
    *q = (measure_request){.engine = r->engine,
                           .model = x->model,
                           .options = job_engine_options(o, x->work),
                           .wants = x->wants,
                           .n_wants = x->n_wants,
                           .warmup = {.min_runs = (uint32_t)o->measure.warmup_runs},
                           .seed = (uint64_t)o->model.seed,
                           .batch = x->batch_shown};
    TRY(try_converted(r, q, x, err));
    r->lane[i] = r->n_lanes++;
    return ASSAY_OK;
}

/* A precision that a model or the engine does not have leaves that one out, unless it is the first, which
 * all are measured against, or the only other one. */
static assay_status prepare_or_leave(race *r, assay_model *m, uint32_t i, assay_error *err)
{
    assay_status s = prepare(r, m, i, err);
    bool converts = r->of[i].precise != NULL;
    if ((s != ASSAY_ERR_UNSUPPORTED && s != ASSAY_ERR_ENGINE) || !converts || i == 0 ||
        r->c->c.n_models < 3)
        return s;
    r->lane[i] = NO_LANE;
    r->c->timings[i] = COMPARISON_NO_TIMES;
    r->c->timings[i].verdict = "not run";
    r->c->timings[i].interleaved = true;
    r->c->timings[i].why = str_copy(r->c->arena, str_of(err->message));
    err_clear(err);
    return ASSAY_OK;
}

static assay_status fit_memory(const race *r, assay_error *err)
{
    uint64_t need = 0,
             have = r->o->measure.memory_limit ? r->o->measure.memory_limit : system_available("");
    for (uint32_t i = 0; i < r->n; i++)
        need = sat_add(need, r->lane[i] == NO_LANE ? 0 : job_runnable_need(&r->of[i]));
    if (have == PROFILE_NOT_TOLD || need <= have)
        return ASSAY_OK;
    return err_fail(err, ASSAY_ERR_SYSTEM,
                    "%u models together need %llu MiB, but %llu MiB are available. Compare fewer "
                    "models, or use a smaller --batch.",
                    r->n_lanes, (unsigned long long)(need >> 20), (unsigned long long)(have >> 20));
}

static assay_status keep_config(const race *r, uint32_t i, profile_config *c, assay_error *err)
{
    arena *a = r->c->own[i]->arena;
    *c = (profile_config)PROFILE_CONFIG_UNKNOWN;
    c->batch = r->of[i].batch_shown;
    c->precision = str_copy(a, r->precision[i]);
    c->file_bytes = job_runnable_file_bytes(&r->of[i]);
    return turns_describe(&r->series[r->lane[i]], r->of[i].p, a, c, err);
}

static profile_engine engine_used(const race *r, arena *a)
{
    profile_engine e = job_engine_used(r->o, engine_about(r->engine), a);
    e.device = str_copy(a, str_of(r->device));
    return e;
}

/* What was measured becomes a part of the profile, as after a bench. */
static assay_status keep_runs(race *r, uint32_t i, assay_error *err)
{
    profile *p = r->c->own[i];
    profile_measured *m = ARENA_NEW(p->arena, profile_measured);
    profile_config *c = ARENA_NEW(p->arena, profile_config);
    TRY_MEMORY(m && c, err);
    TRY(keep_config(r, i, c, err));
    *m = (profile_measured){.configs = c,
                            .n_configs = 1,
                            .concurrency = 1,
                            .seed = (uint64_t)r->o->model.seed,
                            .interleaved = true,
                            .unit = "samples",
                            .units_per_sample = 1,
                            .engine = engine_used(r, p->arena)};
    TRY_MEMORY(!arena_failed(p->arena), err);
    p->measured = m;
    p->device = m->engine.device;
    return ASSAY_OK;
}

static void judge_race(race *r, uint32_t i)
{
    comparison_timing *t = &r->c->timings[i];
    compare_turns(&r->series[0], &r->series[r->lane[i]], r->o->check.tolerance / 100, t);
    compare_instructions(r->c->list[0], r->c->list[i], t);
    if (t->instructions.present)
        t->opinion = judge_opinion(r->c->arena, t->instructions.ratio);
}

static void keep_device(void *ctx, engine_session *s)
{
    race *r = ctx;
    snprintf(r->device, sizeof r->device, "%s", engine_session_about(s)->device);
}

static assay_status run_race(race *r, assay_error *err)
{
    const interleave_request q = {
        .subjects = r->subjects,
        .n = r->n_lanes,
        .runs = (uint32_t)r->o->measure.num_runs,
        .hooks = {.go_on = race_go_on, .cancelled = race_cancelled, .ctx = r}};
    TRY(fit_memory(r, err));
    TRY(interleave_measure(&q, r->c->arena, r->series, keep_device, r, err));
    for (uint32_t i = 0; i < r->n; i++)
        if (r->lane[i] != NO_LANE)
            TRY(keep_runs(r, i, err));
    bool all_told = true;
    for (uint32_t i = 1; i < r->n; i++) {
        if (r->lane[i] == NO_LANE)
            continue;
        judge_race(r, i);
        all_told = all_told && strcmp(r->c->timings[i].verdict, "inconclusive") != 0;
    }
    return all_told ? ASSAY_OK
                    : err_fail(err, ASSAY_ERR_INCONCLUSIVE,
                               "inconclusive: no model is significantly faster");
}

assay_status job_race(job_comparison *c, assay_model *const *models, size_t n,
                      const assay_options *o, const assay_hooks *hooks, assay_error *err)
{
    if (n != c->c.n_models)
        return err_fail(err, ASSAY_ERR_USAGE, "%u profiles but %zu models to run", c->c.n_models,
                        n);
    race *r = memory_zeroed(1, sizeof *r);
    TRY_MEMORY(r, err);
    assay_options hooked = *o;
    hooked.hooks = hooks;
    *r = (race){.c = c, .o = &hooked, .hooks = hooks};
    assay_status s = job_engine_open(r->o, &r->engine, err);
    for (; s == ASSAY_OK && r->n < n; r->n++)
        s = prepare_or_leave(r, models[r->n], r->n, err);
    if (s == ASSAY_OK && r->n_lanes < 2)
        s = err_fail(err, ASSAY_ERR_ENGINE, "only the first model can be run: " STR_FMT,
                     STR_ARG(c->timings[n - 1].why));
    if (s == ASSAY_OK)
        s = run_race(r, err);
    if (!compare_settle(c->list, (uint32_t)n, c->timings, c->arena, &c->c))
        s = err_no_memory(err);
    s = job_ended(hooks, s, err);
    for (uint32_t i = 0; i < COMPARISON_MAX; i++)
        job_runnable_free(&r->of[i]);
    engine_close(r->engine);
    free(r);
    return s;
}
