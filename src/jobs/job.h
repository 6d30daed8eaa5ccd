/* The structs behind the handles that jobs work on, and steps that several jobs share.
 *
 * A job runs the steps of one command that need several rooms: read or build a model, analyse it, run it on an
 * engine, map it, compare it. It takes values of options (options.h) and leaves plain results; the public
 * functions in api/ check the caller's arguments and hand results out.
 */
#ifndef JOBS_JOB_H
#define JOBS_JOB_H

#include <assay/assay.h>

#include "base/limits.h"
#include "formats/model.h"
#include "options/options.h"
#include "profile/handle.h"

/* Together below 1 GB, whatever the file holds. */
#define JOB_MODEL_BYTES    LIMIT_MODEL_BYTES
#define JOB_ANALYSIS_BYTES LIMIT_ANALYSIS_BYTES
#define JOB_PROFILE_BYTES  LIMIT_RESULT_BYTES

/* ---- models ---- */

/* model_open() and model_from_bytes(), with the functions of the file inlined (builtin.c). */
assay_status job_model_open(const char *word, assay_model **out, assay_error *err);
assay_status job_model_from_bytes(const void *bytes, size_t n, const char *name, const char *folder,
                                  assay_model **out, assay_error *err);
/* Makes model->ir what the options ask for; a model from a file stays as it is. */
assay_status job_model_build(assay_model *model, const assay_options *o, assay_error *err);
/* A second copy of a model that came from a file with a graph, for rewrites; *out may be set after a failure too. */
assay_status job_model_again(const assay_model *m, ir_model **out, assay_error *err);

/* ---- one model, one profile ---- */

assay_status job_analyze(assay_model *model, const assay_options *o, assay_result **out,
                         assay_error *err);
/* Version, time and command of a run (analyze.c). */
void job_describe_context(const assay_options *o, profile *p);
/* Groups and patterns of a counted model, as the options ask (fuse.c). */
assay_status job_fuse_study(infer_result *r, const counted *of, const assay_options *o, profile *p,
                            assay_error *err);

/* Fills p->recommendations from what p holds by now, and from the model evaluated with other sizes, which may
 * leave a built-in one built otherwise (subject.c). Nothing when the options want none. */
struct advise_facts;
/* `known`: changes whose effect is known already; or NULL. */
assay_status job_advise(assay_model *model, const assay_options *o,
                        const struct advise_facts *known, profile *p, assay_error *err);

/* On the devices that the options name (map.c). */
assay_status job_map(assay_model *model, const assay_options *o, assay_result **out,
                     assay_error *err);

/* The models of a task on the devices that the options name, by published accuracy (study/choose.h; map.c). */
struct assay_choices;
assay_status job_choose(const char *task, const assay_options *o, struct assay_choices **out,
                        assay_error *err);

/* The terms of its time (a term_totals of analyze/terms.h) at a batch and a width (analyze/roofline.h), for fits
 * (map.c). */
assay_status job_terms(assay_model *model, const assay_options *o, int64_t batch, uint32_t width,
                       double *out, assay_error *err);

/* ---- jobs of one function each ---- */

struct machine;
struct onnx_written;
struct validation;

/* The model as an ONNX file. */
assay_status job_export(assay_model *m, const char *path, const assay_options *o,
                        struct onnx_written *got, assay_error *err);
/* The parts of an export as GGUF (formats/gguf_export.h), with the options of a command. */
struct gguf_plan;
assay_status job_gguf_plan(assay_model *m, const assay_options *o, str quant, arena *a,
                           struct gguf_plan *out, assay_error *err);
assay_status job_gguf_write(const struct gguf_plan *plan, const char *path, const assay_options *o,
                            uint64_t *bytes, assay_error *err);
/* How the cost of a model grows with its sizes: over the ranges of the options, of which there is at least
 * one; the result is in the arena. */
assay_status job_scale(assay_model *m, const assay_options *o, arena *a, scaling *out,
                       assay_error *err);
/* This machine, measured. Fills out; what was learnt before and still holds is read into the arena. */
assay_status job_machine_measure(const assay_options *o, const assay_hooks *hooks, arena *a,
                                 struct machine *out, assay_error *err);
/* Counts compared with those of other tools. Names or paths; none: a default list. Fills out, whose arena exists. */
assay_status job_validate(const char *const *models, size_t n_models, const assay_options *o,
                          struct validation *out, assay_error *err);
/* Groups and patterns; compared with the engine's kernels if the options request it. */
assay_status job_fuse(assay_model *model, const assay_options *options, assay_result **out,
                      assay_error *err);
/* Fills p->fusion->engine; ASSAY_ERR_ENGINE when there is none. */
assay_status job_fuse_engine(assay_model *model, const assay_options *o, profile *p,
                             assay_error *err);
#endif
