/* Comparisons: profiles side by side, and models that run alternately. */
#include <assay/study.h>

#include "api/result.h"
#include "jobs/race.h"
#include "measure/compare_times.h"

/* ---- a comparison ---- */

assay_status assay_compare(const assay_result *const *profiles, size_t n,
                           const assay_options *options, assay_result **out, assay_error *err)
{
    const assay_options none = options_default();
    const check_options *check = &(options ? options : &none)->check;
    double tolerance = check->tolerance / 100;
    api_begin(err);
    *out = NULL;
    TRY(api_need_profiles(profiles, n < COMPARISON_MAX ? n : COMPARISON_MAX, "a comparison", err));
    assay_result *r = handle_new(&comparison_kind, JOB_ANALYSIS_BYTES);
    job_comparison *c = r ? ARENA_NEW(r->arena, job_comparison) : NULL;
    if (!c) {
        handle_free(r);
        return err_no_memory(err);
    }
    r->comparison = c;
    r->data = &c->c;
    c->arena = r->arena;
    for (size_t i = 0; i < n && i < COMPARISON_MAX; i++) {
        c->list[i] = c->own[i] = api_profile_of(profiles[i]);
        c->given[i] = profiles[i];
    }
    for (uint32_t i = 0; i < COMPARISON_MAX; i++)
        c->timings[i] = COMPARISON_NO_TIMES;
    uint32_t count = n > COMPARISON_MAX ? COMPARISON_MAX + 1 : (uint32_t)n;
    assay_status s = compare_run(c->list, count, c->arena, &c->c, err);
    if (s == ASSAY_OK && check->budget.n)
        s = compare_set_budget(check->budget.items, check->budget.n, c->arena, &c->c, err);
    for (uint32_t i = 1; s == ASSAY_OK && i < count; i++)
        s = compare_saved_times(c->list[0], c->list[i], tolerance, c->arena, &c->timings[i], err);
    if (s == ASSAY_OK && !compare_settle(c->list, count, c->timings, c->arena, &c->c))
        s = err_no_memory(err);
    return api_hand_result(s, r, out, err);
}

/* ---- run turn by turn ---- */

assay_status assay_compare_measure(assay_result *of, assay_model *const *models, size_t n,
                                   const assay_options *options, const assay_hooks *hooks,
                                   assay_error *err)
{
    assay_options none;
    api_begin(err);
    TRY(api_check_size(hooks, err));
    if (!of->comparison)
        return err_fail(err, ASSAY_ERR_USAGE, "only a comparison of models can be measured, not %s",
                        of->kind->what);
    assay_status s = job_race(of->comparison, models, n, options_or_default(options, &none), hooks,
                              err);
    for (uint32_t i = 0; i < of->comparison->c.n_models; i++)
        profile_settle(of->comparison->own[i]);
    bool whole = result_conclude(of->kind, of->data, of->arena);
    return s == ASSAY_OK && !whole ? err_no_memory(err) : s;
}
