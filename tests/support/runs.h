/* Models run on ONNX Runtime for tests: what comes out of a graph as it is now. Every function asserts that
 * it worked; where no engine is installed runs_engine() gives NULL and the test is to skip().
 */
#ifndef TESTS_SUPPORT_RUNS_H
#define TESTS_SUPPORT_RUNS_H

#include "analyze/infer.h"
#include "engine/engine.h"
#include "ir/graph.h"

#define RUNS_SEED 7 /* of weights and inputs that nobody has */

extern const engine_config runs_config;

typedef struct run_output {
    float *p; /* all float32 outputs of the model, one behind the other; free() it */
    size_t n;
    uint64_t file_bytes;
} run_output;

void must(assay_status s, const assay_error *err);
engine *runs_engine(void);
/* Writes the model, and runs it on inputs made to fit. */
run_output runs_model(engine *e, const ir_model *m);
/* The same with the sizes that were asked for, and a failure of the engine as status. */
assay_status runs_try(engine *e, const ir_model *m, const infer_options *shapes, run_output *out,
                      assay_error *err);
/* |a - b| / |b| over all numbers; both must be finite and of one size. */
double runs_difference(run_output a, run_output b);

#endif
