/* Writes a language model of the zoo as a GGUF file (version 3, formats/gguf.h) with random weights that llama.cpp
 * loads: metadata of the architecture, a stub of a tokenizer, tensors in the types of a quantisation.
 *
 * The graph of the builder gives the tensors and their sizes, the parameters that the builder asked for give the keys,
 * both through the names of gguf_names.h. A matrix gets the type of the quantisation; vectors, biases, norms, routers
 * and tables of positions stay float32, and the output matrix of quantised files is Q6_K, as llama-quantize does it.
 * Rows that are no multiple of a block get the next coarser type. Weights depend on the seed and their names only; they
 * are made in pieces and never held.
 *
 * The tokenizer has the byte tokens of SentencePiece and invented words, so that texts become tokens and lengths are
 * right, but no tokens of the real model. Frequencies of scaled rotary positions are not written.
 */
#ifndef FORMATS_GGUF_WRITE_H
#define FORMATS_GGUF_WRITE_H

#include "formats/gguf.h"
#include "formats/gguf_names.h"
#include "zoo/zoo.h"

/* A row of --quant. Types are ggml's numbers. */
typedef struct gguf_quant {
    const char *name;   /* "q4_0" */
    uint32_t type;      /* of matrices */
    uint32_t output;    /* of the output matrix */
    uint32_t more;      /* of attn_v and ffn_down in some layers, as the mixtures "_M" have it */
    uint32_t experts;   /* of experts */
    uint32_t file_type; /* llama.cpp's number of the mixture */
} gguf_quant;
extern const gguf_quant gguf_quants[];
extern const uint32_t gguf_quants_n;
/* NULL when there is none of that name; case makes no difference. */
const gguf_quant *gguf_quant_find(str name);
/* "f32, f16, ... or mxfp4". */
#define GGUF_QUANTS \
    "f32, f16, bf16, q8_0, q4_0, q4_1, q5_0, q5_1, q4_k, q4_k_m, q5_k, q5_k_m, q6_k or mxfp4"

typedef struct gguf_out_tensor {
    str name;
    int rank;
    uint64_t ne[4]; /* fastest first */
    uint32_t type;
    uint64_t elems, bytes, offset; /* offset: from the begin of the data */
    float centre, spread;          /* uniform in centre +- spread */
} gguf_out_tensor;

typedef struct gguf_out_pair {
    const char *key; /* without the architecture's name */
    gguf_key_kind kind;
    double value;
} gguf_out_pair;

typedef struct gguf_plan {
    const gguf_arch *arch;
    const gguf_quant *quant;
    const char *model_type; /* of the names: gemma3_text for gemma3 */
    const char *name;       /* of the model */
    uint64_t vocab;
    VEC(gguf_out_pair) pairs;
    VEC(gguf_out_tensor) tensors;
    uint64_t parameters, data_bytes;
    uint64_t other_types; /* matrices whose rows did not fit the block of their type */
} gguf_plan;

/* `asked` was filled by building `m` (with `library`). Everything is in the arena. ASSAY_ERR_UNSUPPORTED: llama.cpp does
 * not know the architecture, or one of its tensors. */
assay_status gguf_plan_make(const ir_model *m, const zoo_row *row, const zoo_asked_list *asked,
                            const gguf_quant *quant, arena *a, gguf_plan *out, assay_error *err);

typedef struct gguf_write_options {
    uint64_t seed;
    bool (*cancelled)(void *ctx); /* asked between pieces; may be NULL */
    void *ctx;
} gguf_write_options;

/* The size of the file that will be written. */
assay_status gguf_plan_bytes(const gguf_plan *plan, uint64_t *bytes, assay_error *err);
/* Completely or not at all. */
assay_status gguf_write_file(const gguf_plan *plan, const char *path, const gguf_write_options *opt,
                             uint64_t *bytes, assay_error *err);

#endif
