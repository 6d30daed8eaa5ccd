/* A model at another precision, whose values an engine ranges where int8 needs it. */
#ifndef JOBS_PRECISION_H
#define JOBS_PRECISION_H

#include "analyze/infer.h"
#include "engine/engine.h"
#include "measure/inputs.h"
#include "study/convert.h"

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

/* convert_precision() with these. */
assay_status job_make_precise(ir_model *m, const job_precision *q, uint64_t *n_random,
                              assay_error *err);

/* Whether int8 weights that are run here keep within 7 bits: as requested, else as this processor needs it. */
bool job_seven_bits(const assay_options *o);

/* What the inputs of the main graph must hold; in `a`, one per input. NULL if out of memory. */
input_want *job_wants_of(infer_result *r, arena *a);

#endif
