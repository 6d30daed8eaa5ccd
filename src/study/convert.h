/* A model as another one: at another precision (content for missing weights, types of all values, the rewrite, ranges
 * for int8), at another opset, or of ONNX operators. All need the inferred types and shapes of its values. */
#ifndef STUDY_CONVERT_H
#define STUDY_CONVERT_H

#include "analyze/infer.h"
#include "rewrite/precision.h"

typedef struct convert_request {
    const precision_row *row;
    const infer_options *shapes; /* sizes of the inputs; may be NULL */
    uint64_t seed;               /* of random weights */
    bool
        keep_opset; /* the caller chose it; else a model is raised to where the precision reaches all */
    bool holes;     /* random weights need no content */
    int8_options int8;
    /* Gives constants without content random numbers, and counts them; `n` may be NULL. */
    assay_status (*fill)(ir_model *m, uint64_t seed, uint64_t *n, assay_error *err);
    /* For int8: smallest and largest finite numbers of the points in runs of the model. ranges: [n]. */
    assay_status (*ranges)(void *ctx, ir_model *m, infer_result *r, const ir_id *points, uint32_t n,
                           value_range *ranges, assay_error *err);
    void *ctx;
    /* Set when the model could not be raised and was converted in parts: what is in the way. May be NULL. */
    assay_error *held;
} convert_request;

/* Rewrites m, which must be verified, inlined and the caller's own: after a failure it is of no use. Its
 * opset is raised where the precision needs that and the graph allows it. *n_random counts constants that
 * got random content; may be NULL. */
assay_status convert_precision(ir_model *m, const convert_request *q, uint64_t *n_random,
                               assay_error *err);

/* A model from a file at another opset, up or down. */
assay_status convert_to_opset(ir_model *m, int opset, assay_error *err);
/* A model of another format as one of ONNX operators, at these sizes (NULL: its own); any other stays as it is. */
assay_status convert_to_onnx(ir_model *m, const infer_options *shapes, assay_error *err);

#endif
