/* assay: studies of models and results: devices, fusion, scaling, pipelines, comparison, checks, capacity, validation.
 *
 * Predict the latency on two devices:
 *
 *     assay_options_set(options, "hardware", "rtx3090,a100-80", &err);
 *     assay_map(model, options, &result, &err);
 *     printf("%s: %.2f ms\n", assay_result_text(result, "devices.0.name"),
 *            assay_result_number(result, "devices.0.latency_ms"));
 *
 * Every function produces a result, which is read and written like any other. Long calls use the hooks of
 * assay_options_hooks(). Functions that take profiles also accept results of kind "load" and refuse other kinds:
 * ASSAY_ERR_USAGE.
 *
 * Compare two profiles of assay_analyze():
 *
 *     const assay_result *profiles[] = {first, second};
 *     assay_compare(profiles, 2, NULL, &comparison, &err);
 *     printf("%.2f times the FLOPs\n", assay_result_number(comparison, "models.1.ratios.flops"));
 *
 * Check a profile in CI against a limit and against an earlier result:
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

/* The profile of a model with predictions for devices: time, memory, bound and fit per device, precision and batch
 * (keys "devices" and "map"). Options: "hardware", "precision" (a list), "batch-sizes", "goal". Times follow the
 * roofline model. Those of `this` come from measured kernels, with an interval, if the machine was calibrated. */
ASSAY_API assay_status assay_map(assay_model *model, const assay_options *options,
                                 assay_result **out, assay_error *err);
/* The profile of a model with its layers partitioned into groups that can each run as one kernel, and the recognised
 * patterns (keys "groups", "fusion", "patterns"). Options: "strategy" ("none", "conventional", "aggressive"),
 * "against-engine". */
ASSAY_API assay_status assay_fuse(assay_model *model, const assay_options *options,
                                  assay_result **out, assay_error *err);
/* Cost as a function of sizes: points of a grid, closed forms, exponents, and the largest sizes within limits.
 * Options: "dim" with ranges ("batch=1..64", "height=224..1024..32", "seq=8,16"), "solve" ("memory<=24GB"). Every point
 * is an analysis of the model. A size that the model does not accept is listed with the reason. */
ASSAY_API assay_status assay_scale(assay_model *model, const assay_options *options,
                                   assay_result **out, assay_error *err);

/* ---- pipelines ------------------------------------------------------------------------------- */

/* The cost of one generation: an image pipeline by component (kind "pipeline"), or prefill, decode and cache of a
 * language model (kind "language"). `model` is a built-in pipeline or language model, or a directory of diffusers or
 * transformers; NULL with the option "pipeline-file". Options: "height", "image-width", "steps",
 * "guidance-scale", "strength", "prompt-tokens", "batch", "sweep"; of language models "generate", "precision",
 * "cache-dtype", "memory-limit", "set", "hardware". A component whose architecture is unknown does not fail the call:
 * it has an "error" and no counts. With "no-profiling" the result is empty. */
ASSAY_API assay_status assay_pipeline(const char *model, const assay_options *options,
                                      assay_result **out, assay_error *err);
/* Runs every component once, or the prefill and the first and last step of a language model, and adds the times to a
 * result of assay_pipeline(). Options as for assay_measure(). `hooks` may be NULL. ASSAY_ERR_USAGE: the result was read
 * from a file, or is not a pipeline. */
ASSAY_API assay_status assay_pipeline_measure(assay_result *pipeline, const assay_options *options,
                                              const assay_hooks *hooks, assay_error *err);
/* 1 to 12 pipelines of one kind side by side (kind "pipelines"). The pipelines must stay valid until the result is
 * freed. */
ASSAY_API assay_status assay_pipelines(const assay_result *const *pipelines, size_t n,
                                       assay_result **out, assay_error *err);
/* The name of the index-th built-in pipeline, from 0; false past the end. */
ASSAY_API bool assay_pipeline_at(size_t index, const char **name);

/* ---- comparison ------------------------------------------------------------------------------ */

/* Compares 2 to 12 profiles. Keys of the result: "models" (totals, with "ratios" to the first), "types" (operator
 * types), "layers" (of two profiles: the layers that differ), "measured" (of profiles with runs: each compared with the
 * first; "verdict" is "faster", "slower", "no difference" or "inconclusive"). Option "tolerance": the accepted
 * difference in per cent. Option "budget" ("flops:5G,memory:2GB") ranks the models by limits in "budget.ranking"; those
 * that fit come first. The profiles must stay valid until the result is freed. */
ASSAY_API assay_status assay_compare(const assay_result *const *profiles, size_t n,
                                     const assay_options *options, assay_result **out,
                                     assay_error *err);
/* Runs the models of a comparison alternately and compares each with the first. `models` has one model per profile, in
 * the same order. The measurements are added to the profiles. The option "precision" is one precision for all or a
 * list with one for each; with three or more models, the verdict of a model whose precision cannot be run is "not
 * run". `hooks` may be NULL. ASSAY_ERR_INCONCLUSIVE: a verdict is "inconclusive". */
ASSAY_API assay_status assay_compare_measure(assay_result *comparison, assay_model *const *models,
                                             size_t n, const assay_options *options,
                                             const assay_hooks *hooks, assay_error *err);

/* ---- checks ---------------------------------------------------------------------------------- */

/* A metric: a number of a profile that limits, alerts and trends refer to. Texts are static. */
typedef struct assay_metric_info {
    size_t size;
    const char *name, *title;
    const char *aliases; /* separated by spaces */
    const char *unit;    /* "ms", "bytes", "count", "1/s", "percent", "number" */
    const char *example; /* of a limit: "100ms" */
    bool more_is_better;
    bool measured; /* only measured profiles contain it */
} assay_metric_info;
/* The index-th metric, from 0; false past the end. */
ASSAY_API bool assay_metric_at(size_t index, assay_metric_info *out);
/* The value of a metric in a profile, by name or alias; false: the profile does not contain it. */
ASSAY_API bool assay_result_metric(const assay_result *profile, const char *metric, double *out);

/* Checks a profile against the limits of the option "threshold" ("latency:100ms", repeatable) and against a baseline,
 * which may be NULL. Counts must not be worse than those of the baseline. Measured metrics are compared by a
 * statistical test of the runs of both, with the option "tolerance" (docs/ci.md). `baseline_name` is its name in
 * reports. The result has the kind "check"; its "verdict" is "pass", "improvement", "inconclusive", "regression" or
 * "missed". *out is set with ASSAY_OK, ASSAY_ERR_THRESHOLD (a limit was missed, or a regression was found) and
 * ASSAY_ERR_INCONCLUSIVE. ASSAY_ERR_MALFORMED: the profile or the baseline has neither layers nor measurements. */
ASSAY_API assay_status assay_check(const assay_result *profile, const assay_result *baseline,
                                   const char *baseline_name, const assay_options *options,
                                   assay_result **out, assay_error *err);
/* Whether the options contain limits. */
ASSAY_API bool assay_options_limits(const assay_options *options);
/* Whether the limits, or the baseline (which may be NULL), require a measurement. */
ASSAY_API bool assay_options_measured(const assay_options *options, const assay_result *baseline);
/* Sets the options that are not set to those of the baseline's measurement: batch, precision, threads, concurrency,
 * optimisation, spinning. ASSAY_ERR_USAGE: the baseline lacks a metric of the option "metrics". */
ASSAY_API assay_status assay_options_follow(assay_options *options, const assay_result *baseline,
                                            assay_error *err);

/* ---- capacity -------------------------------------------------------------------------------- */

/* The number of machines that serve a request rate within a latency, computed from 1 to 64 measured profiles with a
 * queueing model (docs/capacity.md). Options: "target" ("5000rps", required), "latency" ("p99:50ms"), "headroom" (per
 * cent of each machine to keep free; default 20). `names` are the names of the profiles; NULL: their models. The result
 * has the kind "capacity". ASSAY_ERR_THRESHOLD: no configuration meets the target; *out is set. */
ASSAY_API assay_status assay_capacity(const assay_result *const *profiles, const char *const *names,
                                      size_t n, const assay_options *options, assay_result **out,
                                      assay_error *err);

/* The same for 1 to 64 language models (names, directories or files, as for assay_pipeline()) on the devices of the
 * option "hardware" (required), from predicted times; nothing is measured. Options: "target" and "headroom" as above,
 * "slo" ("ttft:500ms,itl:50ms"), "prompt-tokens", "generate", "precision", "cache-dtype", "set". The result has one
 * plan per model and device. */
ASSAY_API assay_status assay_capacity_models(const char *const *models, size_t n,
                                             const assay_options *options, assay_result **out,
                                             assay_error *err);

/* ---- validation ------------------------------------------------------------------------------ */

/* Compares the counts of models (paths or built-in names) with those of other tools. Options: "lens" ("fvcore" by
 * default, or "all"), "live" (also run the tool itself, if it is installed). n_models 0: a few well-known models. The
 * result has the kind "validation". */
ASSAY_API assay_status assay_validate(const char *const *models, size_t n_models,
                                      const assay_options *options, assay_result **out,
                                      assay_error *err);

/* ---- choosing a model ------------------------------------------------------------------------- */

/* A built-in model on a device, with its published accuracy. Texts are valid as long as the choices. */
typedef struct assay_choice {
    size_t size;
    const char *model, *device;
    const char *precision, *runtime;       /* of the latency */
    const char *metric, *weights, *source; /* of the accuracy: "top1", "box_ap" or "miou" */
    double accuracy;                       /* percent */
    double latency_ms, latency_low_ms, latency_high_ms; /* expected, and its 80 % interval */
    uint64_t memory_bytes, parameters;
    bool fits;      /* into the memory of the device and the budget */
    bool pareto;    /* fits, and no model that fits this device is both faster and more accurate */
    bool imprecise; /* the interval spans more than a factor of two; `pareto` is then false */
} assay_choice;

/* A list of choices. Freed by assay_choices_free(). */
typedef struct assay_choices assay_choices;

/* Maps the built-in models of a task ("classification", "detection", "segmentation") to the devices of the option
 * "hardware" (required). Sorted by device; models within the limits of "budget" come first, then by accuracy.
 * ASSAY_ERR_USAGE: no such task, or no devices. */
ASSAY_API assay_status assay_choose(const char *task, const assay_options *options,
                                    assay_choices **out, assay_error *err);
/* The number of choices. */
ASSAY_API size_t assay_choices_count(const assay_choices *choices);
/* The index-th choice, from 0; false past the end. */
ASSAY_API bool assay_choice_at(const assay_choices *choices, size_t index, assay_choice *out);
ASSAY_API void assay_choices_free(assay_choices *choices);

#ifdef __cplusplus
}
#endif
#endif
