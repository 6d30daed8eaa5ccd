/* Sizes of a model by name: what `batch`, `height` or `seq_len` stand for in it, and the profile of the same
 * model with other ones. */
#ifndef JOBS_SIZES_H
#define JOBS_SIZES_H

#include "base/sbuf.h"
#include "jobs/job.h"

enum { SIZE_PLACES = 16 };

typedef enum size_kind { SIZE_BATCH, SIZE_INPUT, SIZE_SYMBOL, SIZE_PARAMETER } size_kind;

typedef struct size_place {
    uint32_t input;
    int axis;
} size_place;

typedef struct size_binding {
    size_kind kind;
    str key;                        /* SIZE_SYMBOL, SIZE_PARAMETER */
    size_place places[SIZE_PLACES]; /* SIZE_INPUT */
    uint32_t n_places;
    int decimals; /* of values; 0 unless SIZE_PARAMETER */
    int64_t own;  /* what the model has by itself; 0: not known */
} size_binding;

const char *job_size_kind_name(size_kind k);

/* `base` is the model's profile as the options have it. ASSAY_ERR_USAGE with what there is when the model has
 * no such size: batch, height, width, side (or size), seq (or sequence, tokens), frames, a symbolic dimension of
 * the file, a parameter of a built-in architecture, or INPUT[AXIS]. */
assay_status job_size_find(assay_model *m, const assay_options *o, const profile *base, str name,
                           size_binding *out, assay_error *err);

/* "batch, height, width, side, size, and INPUT[AXIS]": those that the model has. */
void job_size_names(assay_model *m, const assay_options *o, const profile *base, sbuf *out);

typedef struct size_setting {
    const size_binding *of;
    int64_t value; /* in 10^-decimals */
} size_setting;

/* The static profile with these sizes and otherwise as the options have it. */
assay_status job_size_run(assay_model *m, const assay_options *o, const profile *base,
                          const size_setting *set, uint32_t n, assay_profile **out,
                          assay_error *err);

#endif
