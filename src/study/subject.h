/* A model that is evaluated with other sizes and parameters, and its batch dimension, for all code that reads, sets or
 * divides by a batch size. How it is read, built and analysed is the caller's. */
#ifndef STUDY_SUBJECT_H
#define STUDY_SUBJECT_H

#include "base/sbuf.h"
#include "study/batch.h"
#include "study/model_options.h"
#include "study/sizes.h"

typedef struct study_subject {
    const model_options *options; /* as they were given */
    const zoo_row *row;           /* of a built-in architecture, or NULL */
    const zoo_args *config;       /* what its configuration says */
    ir_model *const *ir;          /* of a file; of a built-in architecture what was built last */
    const batch_rule **batch;     /* of a file, once somebody asked; kept by the caller */
    /* A second copy of a file's graph, for rewrites; *out may be set after a failure too. */
    assay_status (*again)(void *ctx, ir_model **out, assay_error *err);
    /* Makes *ir what the options ask for; a file stays as it is. */
    assay_status (*build)(void *ctx, const model_options *with, assay_error *err);
    /* The static profile, without advice; freed by profile_free(). */
    assay_status (*analyze)(void *ctx, const model_options *with, profile **out, assay_error *err);
    /* After `done` evaluations: ASSAY_ERR_INTERRUPTED when the user wants no more. */
    assay_status (*go_on)(void *ctx, uint64_t done, assay_error *err);
    /* The same question without a report of progress. */
    assay_status (*stopped)(void *ctx, assay_error *err);
    /* ASSAY_ERR_UNSUPPORTED: the model is an inventory of weights. */
    assay_status (*no_graph)(void *ctx, assay_error *err);
    void *ctx;
} study_subject;

/* ---- the batch (subject.c) ---- */

/* The rule of a model that was built or read, found when it is first asked for. The options give the other sizes. */
assay_status subject_batch_rule(const study_subject *s, const batch_rule **out, assay_error *err);

/* A model at a batch size, ready for inference. A file that fixes another is read again and rewritten. */
typedef struct sized_model {
    infer_options shapes;
    const ir_model *ir;
    ir_model *own;          /* the rewritten copy behind ir; or NULL */
    const batch_rule *rule; /* NULL: no batch size was requested */
    int64_t batch;          /* that was requested */
} sized_model;

/* batch 0: as the model and the options have it. Freed by sized_free() in any case. */
assay_status sized_make(const study_subject *s, int64_t batch, sized_model *out, assay_error *err);
void sized_free(sized_model *x);
/* What to make of a failed inference: of a copy for another batch, that the graph does not take it. */
assay_status sized_failed(const sized_model *x, assay_status s, assay_error *err);

/* The batch of a shape that was given, when the file fixes another: such a model is rewritten as --batch asks for.
 * Else *batch stays as it is. */
assay_status subject_implied_batch(const study_subject *s, int64_t *batch, assay_error *err);

/* ---- sizes by name (subject_sizes.c) ---- */

/* A symbolic dimension of the file, or what size_find() finds; `base` is the model's profile as the options have it. */
assay_status subject_size_find(const study_subject *s, const profile *base, str name,
                               size_binding *out, assay_error *err);
/* "batch, height, width, side, size, and INPUT[AXIS]": those that the model has. */
void subject_size_names(const study_subject *s, const profile *base, sbuf *out);

typedef struct size_setting {
    const size_binding *of;
    int64_t value; /* in 10^-decimals */
} size_setting;

/* The static profile with these sizes and otherwise as the options have it; freed by profile_free(). */
assay_status subject_size_run(const study_subject *s, const profile *base, const size_setting *set,
                              uint32_t n, profile **out, assay_error *err);

#endif
