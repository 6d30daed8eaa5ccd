/* assay: studies of models and results: devices, fusion, scaling, pipelines, comparison, checks, capacity, validation.
 *
 *     assay_options_set(options, "hardware", "rtx3090,a100-80", &err);
 *     assay_map(model, options, &result, &err);
 *     printf("%s: %.2f ms\n", assay_result_text(result, "devices.0.name"),
 *            assay_result_number(result, "devices.0.latency_ms"));
 *
 * All of them give a result, which is read and written as any other. Long ones ask the hooks of
 * assay_options_hooks(). Functions that take profiles refuse results of other kinds: ASSAY_ERR_USAGE.
 *
 * A check in CI, against limits and against the result of an earlier run:
 *
 *     assay_options_set(options, "threshold", "latency:100ms", &err);
 *     assay_result_read("baseline.json", "profile", &baseline, &err);
 *     assay_status verdict = assay_check(profile, baseline, "baseline.json", options, &check, &err);
 *     assay_result_write(check, "junit", NULL, &text, &n, &err);
 */
#ifndef ASSAY_STUDY_H
#define ASSAY_STUDY_H

#include <assay/assay.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- one model ------------------------------------------------------------------------------- */

/* The profile of a model, placed on devices: time, memory, bound and fit per device, precision and batch (keys
 * "devices" and "map"). Options: "hardware", "precision" (a list), "batch-sizes", "goal". Times follow the roofline;
 * those of `this` come from measured kernels, with an interval, if the machine was calibrated. */
ASSAY_API assay_status assay_map(assay_model *model, const assay_options *options,
                                 assay_result **out, assay_error *err);
/* The profile of a model with its layers cut into groups that can each run as one kernel, and the patterns that were
 * found (keys "groups", "fusion", "patterns"). Options: "strategy" ("none", "conventional", "aggressive"),
 * "against-engine". */
ASSAY_API assay_status assay_fuse(assay_model *model, const assay_options *options,
                                  assay_result **out, assay_error *err);
/* How cost grows with sizes: points of a grid, closed forms, exponents, answers. Options: "dim" with ranges
 * ("batch=1..64", "height=224..1024..32", "seq=8,16"), "solve" ("memory<=24GB"). Every point is an evaluation of the
 * model. A size that the model refuses is listed with the reason. */
ASSAY_API assay_status assay_scale(assay_model *model, const assay_options *options,
                                   assay_result **out, assay_error *err);

/* ---- pipelines ------------------------------------------------------------------------------- */

/* What a whole generation costs: an image pipeline component by component (kind "pipeline"), or a language model's
 * prefill, decode and cache (kind "language"). `model` is a built-in pipeline or language model, or a folder of
 * diffusers or transformers; NULL with the option "pipeline-file". Options: "height", "image-width", "steps",
 * "guidance-scale", "strength", "prompt-tokens", "batch", "sweep"; of language models "generate", "precision",
 * "cache-dtype", "memory-limit", "set", "hardware". A component whose architecture is unknown does not fail the call:
 * it has an "error" and counts nothing. With "no-profiling" the result is empty. */
ASSAY_API assay_status assay_pipeline(const char *model, const assay_options *options,
                                      assay_result **out, assay_error *err);
/* Runs every component once, or the prefill and the first and last step of a language model, and adds the times to a
 * result of assay_pipeline(). Options as of assay_measure(). `hooks` may be NULL. */
ASSAY_API assay_status assay_pipeline_measure(assay_result *pipeline, const assay_options *options,
                                              const assay_hooks *hooks, assay_error *err);
/* From 1 to 12 pipelines of one kind side by side (kind "pipelines"). Borrows them until it is freed. */
ASSAY_API assay_status assay_pipelines(const assay_result *const *pipelines, size_t n,
                                       assay_result **out, assay_error *err);
/* The name of the index-th built-in pipeline, from 0; false past the end. */
ASSAY_API bool assay_pipeline_at(size_t index, const char **name);

/* ---- comparison ------------------------------------------------------------------------------ */

/* From 2 to 12 profiles side by side: totals with ratios to the first, operator types, and of two the layers behind
 * the difference. Where profiles hold runs, each is judged against the first ("faster", "slower", "no difference",
 * "cannot tell"). Option "tolerance": per cent that are no difference. Option "budget" ("flops:5G,memory:2GB"): limits
 * by which the models are ranked under "budget.ranking", what fits first. Borrows the profiles until it is freed. */
ASSAY_API assay_status assay_compare(const assay_result *const *profiles, size_t n,
                                     const assay_options *options, assay_result **out,
                                     assay_error *err);
/* Runs the models of a comparison, one per profile and in their order, turn by turn, and judges each against the
 * first. What was measured is added to the profiles. "precision" is one for all or a list with one for each; of three
 * and more models, one whose precision cannot be run is "not run". `hooks` may be NULL.
 * ASSAY_ERR_INCONCLUSIVE: some answer is "cannot tell". */
ASSAY_API assay_status assay_compare_measure(assay_result *comparison, assay_model *const *models,
                                             size_t n, const assay_options *options,
                                             const assay_hooks *hooks, assay_error *err);

/* ---- checks ---------------------------------------------------------------------------------- */

/* A figure that a limit can name. Texts are static. */
typedef struct assay_metric_info {
    size_t size;
    const char *name, *title;
    const char *aliases; /* separated by spaces */
    const char *unit;    /* "ms", "bytes", "count", "1/s", "percent", "number" */
    const char *example; /* of a limit: "100ms" */
    bool more_is_better;
    bool measured; /* only profiles that were measured hold it */
} assay_metric_info;
/* The index-th metric, from 0; false past the end. */
ASSAY_API bool assay_metric_at(size_t index, assay_metric_info *out);
/* The value of a metric in a profile, by name or alias; false: the profile does not hold it. */
ASSAY_API bool assay_result_metric(const assay_result *profile, const char *metric, double *out);

/* Judges a profile by the limits of the option "threshold" ("latency:100ms", repeatable) and by a baseline, or NULL,
 * that it must not be worse than: counts exactly, measured metrics by a test of the runs that both hold, with the
 * option "tolerance" (docs/ci.md has the statistics). `baseline_name` is what reports call it. The result is of kind
 * "check". ASSAY_OK, ASSAY_ERR_THRESHOLD and ASSAY_ERR_INCONCLUSIVE all set *out. */
ASSAY_API assay_status assay_check(const assay_result *profile, const assay_result *baseline,
                                   const char *baseline_name, const assay_options *options,
                                   assay_result **out, assay_error *err);
/* Whether the options hold limits. */
ASSAY_API bool assay_options_limits(const assay_options *options);
/* Whether the limits, or the baseline (or NULL), ask for measured figures. */
ASSAY_API bool assay_options_measured(const assay_options *options, const assay_result *baseline);
/* Makes the options measure as the baseline was measured (batch, precision, threads, concurrency, optimisation,
 * spinning), where they do not say otherwise. ASSAY_ERR_USAGE: the baseline lacks a metric of the option "metrics". */
ASSAY_API assay_status assay_options_follow(assay_options *options, const assay_result *baseline,
                                            assay_error *err);

/* ---- capacity -------------------------------------------------------------------------------- */

/* How many machines serve a rate of requests within a latency, from 1 to 64 measured profiles (docs/capacity.md has the
 * queueing model). Options: "target" ("5000rps", required), "latency" ("p99:50ms"), "headroom" (per cent of a machine
 * to keep free; 20). `names` says what the profiles are called; NULL: their models. The result is of kind "capacity".
 * ASSAY_ERR_THRESHOLD: no configuration can do it; *out is set. */
ASSAY_API assay_status assay_capacity(const assay_result *const *profiles, const char *const *names,
                                      size_t n, const assay_options *options, assay_result **out,
                                      assay_error *err);

/* ---- validation ------------------------------------------------------------------------------ */

/* Counts of models (paths or built-in names) beside those of other tools. Options: "lens" ("fvcore" by default, or
 * "all"), "live" (also run the tool itself, if it is installed). n_models 0: a few well-known models. The result is of
 * kind "validation". */
ASSAY_API assay_status assay_validate(const char *const *models, size_t n_models,
                                      const assay_options *options, assay_result **out,
                                      assay_error *err);

#ifdef __cplusplus
}
#endif
#endif
