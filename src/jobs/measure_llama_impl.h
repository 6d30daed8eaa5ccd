/* What the files of measure_llama share. */
#ifndef JOBS_MEASURE_LLAMA_IMPL_H
#define JOBS_MEASURE_LLAMA_IMPL_H

#include "engine/generate.h"
#include "jobs/llama_shape.h"
#include "jobs/measure_llama.h"
#include "study/language.h"

typedef struct llama_job {
    assay_model *m;
    const assay_options *o;
    const job_measure_hooks *hooks;
    engine *engine;
    profile *p;
    profile_measured *measured;
    arena *work;
    VEC(profile_config) configs;
    VEC(profile_generation) list;
    bool random;    /* weights */
    bool as_stored; /* some file was run without copies of its weights (generate.h) */
    bool sweep;     /* batches of ASSAY_BATCH_SIZES unless options name others */
    bool layers;    /* times of operators instead of decoding */
} llama_job;

/* One file to run. */
typedef struct llama_file {
    str precision;
    const char *path;
    char *folder; /* temporary, or NULL */
    uint64_t file_bytes, tensor_bytes;
    llama_shape shape;
} llama_file;

/* A number type of the KV cache that llama.cpp has. */
typedef struct llama_cache {
    ir_dtype dtype;
    int type; /* ggml's number */
    const char *name;
} llama_cache;

assay_status llama_find_cache(const assay_options *o, const llama_cache **out, assay_error *err);
/* The cost of generating after `context` tokens. */
assay_status llama_plan_at(const llama_job *j, const llama_file *f, const generate_request *q,
                           uint64_t context, language_result *out, assay_error *err);
/* Cache, activations and logits of a request; 0 where the architecture is not known. */
llama_memory_plan llama_plan_buffers(const llama_job *j, const llama_file *f,
                                     const generate_request *q);
/* A configuration and its entries of `generation`. */
assay_status llama_add_results(llama_job *j, const llama_file *f, const generate_request *q,
                               const generate_answer *a, assay_error *err);
/* A configuration whose run is a pass over the prompt. */
assay_status llama_add_pass(llama_job *j, const llama_file *f, const generate_request *q,
                            const generate_answer *a, assay_error *err);
/* Times of the profile's layers and its ledger (measure_llama_layers.c). */
assay_status llama_fill_layers(llama_job *j, const generate_answer *a, assay_error *err);

#endif
