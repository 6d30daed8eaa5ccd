/* Language models on llama.cpp (engine/generate.h): a GGUF file as it is, or a built-in model exported in each
 * quantisation of --quant. */
#ifndef JOBS_MEASURE_LLAMA_H
#define JOBS_MEASURE_LLAMA_H

#include "jobs/measure.h"

/* Whether a model is measured on llama.cpp: it is a GGUF file, or --quant was given. */
bool job_runs_on_llama(const assay_model *m, const assay_options *o);
/* Adds to the profile: configurations (a run is a step of decoding), and `generation`; with ASSAY_MEASURE_LAYERS the
 * times of layers instead (a run is a pass over the input of the graph). */
assay_status job_measure_llama(assay_model *m, const assay_options *o, unsigned what,
                               const job_measure_hooks *hooks, assay_result *of, assay_error *err);

#endif
