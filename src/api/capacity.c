/* assay_capacity(): reads the request from the options and plans capacity from the caller's results. */
#include <assay/study.h>
#include <assert.h>

#include "jobs/pipeline.h"
#include "study/capacity.h"
#include "study/capacity_language.h"

#include "api/result.h"
#include "profile/capacity.h"
#include "profile/load.h"

#define CAPACITY_BYTES ((size_t)256 << 20)

/* ---- the work ---- */

/* What is given, and the list prices of devices. */
static assay_status read_prices(const assay_options *o, arena *a, price_list *out, assay_error *err)
{
    device_list *rows = ARENA_NEW(a, device_list);
    TRY_MEMORY(rows, err);
    rows->arena = a;
    *out = (price_list){.devices = rows, .arena = a};
    for (uint32_t i = 0; i < o->hardware.prices.n; i++)
        TRY(price_read(out, o->hardware.prices.items[i], err));
    return devices_builtin(rows, err);
}

static assay_status run_capacity(const assay_result *const *profiles, const char *const *names,
                                 size_t n, const assay_options *o, assay_result *out,
                                 assay_error *err)
{
    const profile **list = ARENA_ARRAY(out->arena, const profile *, n);
    const load_result **loads = ARENA_ARRAY(out->arena, const load_result *, n);
    str *sources = ARENA_ARRAY(out->arena, str, n);
    price_list prices;
    TRY_MEMORY(list && sources && loads, err);
    TRY(read_prices(o, out->arena, &prices, err));
    for (size_t i = 0; i < n; i++) {
        list[i] = api_profile_of(profiles[i]);
        loads[i] = profiles[i]->kind == &load_kind ? profiles[i]->data : NULL;
        sources[i] = names ? str_of(names[i]) : list[i]->model;
    }
    const capacity_request q = {
        .profiles = list,
        .loads = loads,
        .sources = sources,
        .n = (uint32_t)n,
        .target = o->capacity.target_rate,
        .quantile = o->capacity.latency_ms > 0 ? o->capacity.latency_quantile : 0.99,
        .limit_ms = o->capacity.latency_ms,
        .headroom = o->capacity.headroom / 100,
        .prices = &prices};
    TRY(capacity_run(&q, out->arena, out->data, err));
    return price_check_used(&prices, err);
}

/* ---- of language models ---- */

static assay_status predict_models(const char *const *models, size_t n, const assay_options *o,
                                   assay_result *out, assay_error *err)
{
    const language_result **list = ARENA_ARRAY(out->arena, const language_result *, n);
    price_list prices;
    TRY_MEMORY(list, err);
    TRY(read_prices(o, out->arena, &prices, err));
    for (size_t i = 0; i < n; i++) {
        job_pipeline *p = ARENA_NEW(out->arena, job_pipeline);
        TRY_MEMORY(p, err);
        *p = (job_pipeline){.arena = out->arena, .most_users = true};
        TRY(job_pipeline_open(p, models[i], o, err));
        if (!p->is_language)
            return err_fail(
                err, ASSAY_ERR_USAGE,
                "'%s' is not a language model. Measure it with `assay profile` and plan "
                "from its result.",
                models[i]);
        TRY(job_pipeline_language(p, o, err));
        list[i] = &p->language;
    }
    const capacity_language_request q = {.models = list,
                                         .n = (uint32_t)n,
                                         .target = o->capacity.target_rate,
                                         .headroom = o->capacity.headroom / 100,
                                         .prices = &prices};
    TRY(capacity_run_language(&q, out->arena, out->data, err));
    return price_check_used(&prices, err);
}

static assay_status check_target(const assay_options *o, size_t n, const char *what,
                                 assay_error *err)
{
    if (!o || o->capacity.target_rate <= 0)
        return err_fail(err, ASSAY_ERR_USAGE,
                        "no target rate. Set it, for example --target 5000rps.");
    if (n == 0 || n > 64)
        return err_fail(err, ASSAY_ERR_USAGE, "a capacity plan needs 1 to 64 %s", what);
    return ASSAY_OK;
}

static assay_status judge_plan(const assay_result *r, const char *what, assay_error *err)
{
    return ((const capacity *)r->data)->best != UINT32_MAX
               ? ASSAY_OK
               : err_fail(err, ASSAY_ERR_THRESHOLD,
                          "no %s meets the limits, with any number of machines", what);
}

assay_status assay_capacity_models(const char *const *models, size_t n,
                                   const assay_options *options, assay_result **out,
                                   assay_error *err)
{
    assay_error own;
    err = err ? err : &own;
    api_begin(err);
    *out = NULL;
    TRY(check_target(options, n, "models", err));
    if (!options->hardware.names.n)
        return err_fail(err, ASSAY_ERR_USAGE, "a plan for models needs --hardware");
    if (options->capacity.latency_ms > 0)
        return err_fail(err, ASSAY_ERR_USAGE,
                        "--latency is for measured results. Use --slo ttft:500ms,itl:50ms here.");
    TRY(api_refuse_drawn(options, err));
    assay_result *r = handle_new(&capacity_kind, CAPACITY_BYTES);
    assay_status s = r ? predict_models(models, n, options, r, err) : err_no_memory(err);
    TRY(api_hand_result(s, r, out, err));
    assert(r);
    return judge_plan(r, "device", err);
}

assay_status assay_capacity(const assay_result *const *profiles, const char *const *names, size_t n,
                            const assay_options *options, assay_result **out, assay_error *err)
{
    assay_error own;
    err = err ? err : &own;
    api_begin(err);
    *out = NULL;
    TRY(check_target(options, n, "results", err));
    TRY(api_need_profiles(profiles, n, "a capacity plan", err));
    assay_result *r = handle_new(&capacity_kind, CAPACITY_BYTES);
    assay_status s = r ? run_capacity(profiles, names, n, options, r, err) : err_no_memory(err);
    TRY(api_hand_result(s, r, out, err));
    assert(r);
    return judge_plan(r, "measured configuration", err);
}
