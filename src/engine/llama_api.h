/* The functions and structs of llama.cpp that are used here, and the loaded library.
 *
 * llama.cpp has no stable binary interface: the structs of parameters are passed by value and change between releases.
 * The layouts below are those of release 0.5 (include/llama.h), which tools/get_engine fetches. Another release is
 * refused by its version, and defaults that do not have the known values are refused too: a wrong layout would set
 * another parameter and abort later.
 */
#ifndef ENGINE_LLAMA_API_H
#define ENGINE_LLAMA_API_H

#include "base/arena.h"
#include "base/error.h"

#define LLAMA_RELEASE "0.5"

typedef struct llama_model llama_model;
typedef struct llama_context llama_context;
typedef struct llama_memory llama_memory;
typedef struct llama_vocab llama_vocab;

typedef struct llama_model_params {
    void *devices;
    const void *tensor_buft_overrides;
    int32_t n_gpu_layers;
    int split_mode, load_mode, lazy_mode;
    int32_t main_gpu;
    const float *tensor_split;
    void *progress_callback, *progress_callback_user_data;
    const void *kv_overrides;
    bool vocab_only, check_tensors, use_extra_bufts, no_host, no_alloc, load_mtp;
} llama_model_params;

/* A node of a computation (ggml.h), as far as its name. */
enum { LLAMA_NAME = 64 };
typedef struct ggml_tensor {
    int type;
    void *buffer;
    int64_t ne[4];
    size_t nb[4];
    int op;
    int32_t op_params[16];
    int32_t flags;
    struct ggml_tensor *src[10];
    struct ggml_tensor *view_src;
    size_t view_offs;
    void *data;
    char name[LLAMA_NAME];
} ggml_tensor;
/* Before a node: whether it is to be computed alone. After it: whether to go on. */
typedef bool llama_eval_fn(ggml_tensor *t, bool before, void *ctx);

typedef struct llama_context_params {
    uint32_t n_ctx, n_batch, n_ubatch, n_seq_max, n_rs_seq, n_outputs_max, n_outputs_max_per_seq;
    int32_t n_threads, n_threads_batch;
    int ctx_type, rope_scaling_type, pooling_type, attention_type, flash_attn_type;
    float rope_freq_base, rope_freq_scale, yarn_ext_factor, yarn_attn_factor, yarn_beta_fast,
        yarn_beta_slow;
    uint32_t yarn_orig_ctx;
    float defrag_thold;
    llama_eval_fn *cb_eval;
    void *cb_eval_user_data;
    int type_k, type_v;
    void *abort_callback, *abort_callback_data;
    bool embeddings, offload_kqv, no_perf, op_offload, swa_full, kv_unified;
    void *samplers;
    size_t n_samplers;
    void *ctx_other;
} llama_context_params;

typedef struct llama_batch {
    int32_t n_tokens;
    int32_t *token;
    float *embd;
    int32_t *pos;
    int32_t *n_seq_id;
    int32_t **seq_id;
    int8_t *logits;
} llama_batch;

/* The threads that compute (ggml.h); without a pool, ggml creates threads anew for every call. */
enum { LLAMA_THREADS_MOST = 512, LLAMA_DEVICE_CPU = 0 };
typedef struct llama_pool_params {
    bool cpumask[LLAMA_THREADS_MOST];
    int n_threads, prio;
    uint32_t poll;
    bool strict_cpu, paused;
} llama_pool_params;

enum { LLAMA_FLASH_AUTO = -1, LLAMA_FLASH_OFF = 0, LLAMA_FLASH_ON = 1 };
enum { LLAMA_LOG_ERROR = 4 };

typedef void llama_log_fn(int level, const char *text, void *ctx);

typedef struct llama_api {
    void *handle;
    const char *library; /* its path */
    const char *version; /* "0.5.0-dev" */
    const char *(*llama_version)(void);
    const char *(*system_info)(void);
    void (*log_set)(llama_log_fn *log, void *ctx);
    void (*load_backends)(const char *folder);
    void (*backend_init)(void);
    llama_model_params (*model_defaults)(void);
    llama_context_params (*context_defaults)(void);
    llama_model *(*model_load)(const char *path, llama_model_params params);
    llama_context *(*context_new)(llama_model *model, llama_context_params params);
    void (*context_free)(llama_context *c);
    void (*model_free)(llama_model *m);
    uint64_t (*model_parameters)(const llama_model *m);
    uint64_t (*model_size)(const llama_model *m);
    int32_t (*model_desc)(const llama_model *m, char *buf, size_t n);
    const llama_vocab *(*vocab)(const llama_model *m);
    int32_t (*vocab_tokens)(const llama_vocab *v);
    int32_t (*decode)(llama_context *c, llama_batch batch);
    void (*synchronize)(llama_context *c);
    llama_memory *(*memory)(const llama_context *c);
    void (*memory_clear)(llama_memory *m, bool data);
    void (*pool_defaults)(llama_pool_params *p, int n_threads);
    void (*pool_attach)(llama_context *c, void *pool, void *pool_of_prompts);
    void *(*device_by_type)(int type);
    void *(*device_backend)(void *device);
    void *(*backend_function)(void *backend, const char *name);
    const char *(*op_desc)(const ggml_tensor *t);
    const char *(*tensor_name)(const ggml_tensor *t);
} llama_api;

/* The library that `named` or ASSAY_LLAMA_LIB names, or the first that is found; paths and texts are in the arena.
 * ASSAY_ERR_ENGINE with what to do when there is none, or none of a known release. */
assay_status llama_api_load(const char *named, arena *a, llama_api *out, assay_error *err);

#endif
