/* A GGUF file as llama_plan.h wants it: sizes from its keys and tensors. */
#ifndef JOBS_LLAMA_SHAPE_H
#define JOBS_LLAMA_SHAPE_H

#include "engine/llama_plan.h"
#include "formats/gguf.h"

/* In the arena. What the file does not have is 0. */
assay_status llama_shape_of(const gguf_file *g, arena *a, llama_shape *out, assay_error *err);

#endif
