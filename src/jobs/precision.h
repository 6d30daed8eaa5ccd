/* Shared by the files of this room: a model at another precision, and the ranges of its values. */
#ifndef JOBS_PRECISION_H
#define JOBS_PRECISION_H

#include "analyze/infer.h"
#include "engine/engine.h"
#include "measure/inputs.h"
#include "rewrite/precision.h"

#define CALIBRATION_RUNS 4

typedef struct job_precision {
    const precision_row *row;
    const infer_options *shapes; /* sizes of the inputs in a calibration; may be NULL */
    /* int8 is calibrated by running the model; NULL: an engine is opened when it is needed. */
    engine *engine;
    const engine_config *engine_config;
    const char *engine_name;
    /* What the inputs hold in a calibration; NULL: made up to fit. */
    const input_want *wants;
    uint32_t n_wants;
    uint64_t seed; /* of random weights and inputs */
    bool
        keep_opset; /* the caller chose it; else a model is raised to where the precision reaches all */
    bool holes;     /* random weights need no content */
    uint32_t runs; /* of the calibration, each with other random inputs; 0: CALIBRATION_RUNS */
    int8_options int8;
    /* Set when the model could not be raised and was converted in parts: what is in the way. May be NULL. */
    assay_error *held;
} job_precision;

/* Rewrites m, which must be verified, inlined and the caller's own: after a failure it is of no use. Its
 * opset is raised where the precision needs that and the graph allows it. *n_random counts constants that
 * got random content; may be NULL. */
assay_status job_make_precise(ir_model *m, const job_precision *q, uint64_t *n_random,
                              assay_error *err);

/* A model from a file at another opset, up or down. */
assay_status job_to_opset(ir_model *m, int opset, assay_error *err);
/* A model of another format as one of ONNX operators, at these sizes (NULL: its own); any other stays as it is. */
assay_status job_to_onnx(ir_model *m, const infer_options *shapes, assay_error *err);

/* Smallest and largest finite numbers of the points in runs of the model, which gets them as outputs for
 * the time. ranges: [n]. */
assay_status job_calibrate(ir_model *m, infer_result *r, const job_precision *q, engine *e,
                           const ir_id *points, uint32_t n, value_range *ranges, assay_error *err);

/* Whether int8 weights that are run here keep within 7 bits: as requested, else as this processor needs it. */
bool job_seven_bits(const assay_options *o);

/* What the inputs of the main graph must hold; in `a`, one per input. NULL if out of memory. */
input_want *job_wants_of(infer_result *r, arena *a);

#endif
