/* See llama_shape.h. Names are those of llama.cpp (gguf-py, constants.py). */
#include "jobs/llama_shape.h"

#include <stddef.h>

enum { BLOCKS_MOST = 4096 };

/* Tensors of a block, and where the number of their rows goes. */
static const struct {
    const char *name;
    size_t at;
} tensors[] = {
    {"attn_norm", offsetof(llama_layer, attn_norm)},
    {"attn_q", offsetof(llama_layer, q)},
    {"attn_k", offsetof(llama_layer, k)},
    {"attn_v", offsetof(llama_layer, v)},
    {"attn_qkv", offsetof(llama_layer, qkv)},
    {"attn_q_norm", offsetof(llama_layer, q_norm)},
    {"attn_k_norm", offsetof(llama_layer, k_norm)},
    {"attn_q_a", offsetof(llama_layer, q_a)},
    {"attn_q_b", offsetof(llama_layer, q_b)},
    {"attn_kv_a_mqa", offsetof(llama_layer, kv_a)},
    {"attn_k_b", offsetof(llama_layer, k_b)},
    {"attn_kv_b", offsetof(llama_layer, kv_b)},
    {"post_attention_norm", offsetof(llama_layer, attn_post_norm)},
    {"ffn_norm", offsetof(llama_layer, ffn_norm)},
    {"post_ffw_norm", offsetof(llama_layer, ffn_post_norm)},
    {"ffn_up", offsetof(llama_layer, up)},
    {"ffn_gate", offsetof(llama_layer, gate)},
    {"ffn_gate_inp", offsetof(llama_layer, router)},
    {"ffn_up_exps", offsetof(llama_layer, up_experts)},
    {"ffn_gate_exps", offsetof(llama_layer, gate_experts)},
    {"ffn_up_shexp", offsetof(llama_layer, up_shared)},
};

/* Rows of a matrix [rows, columns] or of several; of a vector its length. */
static uint64_t rows_of(const weight_item *w)
{
    int64_t n = w->rank > 1 ? w->dims[w->rank - 2] : w->rank ? w->dims[0] : 0;
    return n > 0 ? (uint64_t)n : 0;
}

static void set_tensor(llama_layer *l, str name, const weight_item *w)
{
    for (size_t i = 0; i < sizeof tensors / sizeof *tensors; i++)
        if (str_is(name, tensors[i].name))
            *(uint64_t *)(void *)((char *)l + tensors[i].at) = rows_of(w);
    if (str_is(name, "ffn_down") && w->rank > 1 && w->dims[w->rank - 1] > 0)
        l->down_in = (uint64_t)w->dims[w->rank - 1];
}

/* "blk.12.attn_q.weight" */
static void set_block(llama_layer *layers, uint32_t n, const weight_item *w)
{
    str rest = w->name, part;
    int64_t block;
    if (!str_split(&rest, '.', &part) || !str_is(part, "blk") || !str_split(&rest, '.', &part) ||
        !str_to_i64(part, &block) || block < 0 || block >= n || !str_split(&rest, '.', &part))
        return;
    if (str_is(rest, "weight"))
        set_tensor(&layers[block], part, w);
}

static bool has_tensor(const gguf_file *g, const char *name)
{
    for (uint32_t i = 0; i < g->weights->items.n; i++)
        if (str_is(g->weights->items.items[i].name, name))
            return true;
    return false;
}

static const gguf_value *find_key(const gguf_file *g, const char *key, arena *a)
{
    const char *whole = arena_printf(a, STR_FMT ".%s", STR_ARG(g->architecture), key);
    return whole ? gguf_get(g, whole) : NULL;
}

static uint64_t key_or(const gguf_file *g, const char *key, arena *a, uint64_t other)
{
    const gguf_value *v = find_key(g, key, a);
    return v && (v->kind == GGUF_INT || v->kind == GGUF_BOOL) && v->i >= 0 ? (uint64_t)v->i : other;
}

static uint64_t vocab_of(const gguf_file *g)
{
    for (uint32_t i = 0; i < g->weights->items.n; i++)
        if (str_is(g->weights->items.items[i].name, "token_embd.weight"))
            return rows_of(&g->weights->items.items[i]);
    return 0;
}

static void set_heads(const gguf_file *g, arena *a, llama_shape *m)
{
    m->heads = key_or(g, "attention.head_count", a, 0);
    m->heads_kv = key_or(g, "attention.head_count_kv", a, m->heads);
    uint64_t each = m->heads ? m->hidden / m->heads : 0;
    m->head_k = key_or(g, "attention.key_length_mla", a,
                       key_or(g, "attention.key_length", a, each));
    m->head_v = key_or(g, "attention.value_length_mla", a,
                       key_or(g, "attention.value_length", a, each));
    m->head_v_latent = m->head_v;
    m->latent = key_or(g, "attention.kv_lora_rank", a, 0);
    m->rope = key_or(g, "rope.dimension_count", a, 0);
}

assay_status llama_shape_of(const gguf_file *g, arena *a, llama_shape *out, assay_error *err)
{
    uint64_t blocks = key_or(g, "block_count", a, 0);
    llama_layer *layers = ARENA_ARRAY(a, llama_layer, blocks <= BLOCKS_MOST ? (size_t)blocks : 0);
    TRY_MEMORY(layers, err);
    *out = (llama_shape){.architecture = g->architecture,
                         .hidden = key_or(g, "embedding_length", a, 0),
                         .vocab = vocab_of(g),
                         .experts_used = key_or(g, "expert_used_count", a, 0),
                         .window = key_or(g, "attention.sliding_window", a, 0),
                         .period = key_or(g, "attention.sliding_window_pattern", a, 0),
                         .layer_norm = !find_key(g, "attention.layer_norm_rms_epsilon", a),
                         .embedding_norm = has_tensor(g, "token_embd_norm.weight"),
                         .positions = has_tensor(g, "position_embd.weight"),
                         .parallel = key_or(g, "use_parallel_residual", a, 0) != 0,
                         .layers = layers,
                         .n_layers = blocks <= BLOCKS_MOST ? (uint32_t)blocks : 0};
    set_heads(g, a, out);
    for (uint32_t i = 0; i < g->weights->items.n; i++)
        set_block(layers, out->n_layers, &g->weights->items.items[i]);
    return ASSAY_OK;
}
