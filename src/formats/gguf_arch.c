/* What llama.cpp calls things, as Hugging Face calls them: architectures, keys and tensors.
 *
 * Keys of an architecture stand under its name ("llama.block_count"). Builders of the zoo take either of
 * two spellings for some parameters, and a default of theirs under one would hide what is given under the
 * other: both are set.
 */
#include <inttypes.h>
#include <stdio.h>

#include "formats/gguf.h"

typedef enum style { LLAMA, GPT2, NEOX, BLOOM } style;

static const struct {
    const char *arch, *model_type;
    style style;
} archs[] = {
    {"llama", "llama", LLAMA},        {"mistral3", "mistral", LLAMA},
    {"qwen2", "qwen2", LLAMA},        {"qwen2moe", "qwen2_moe", LLAMA},
    {"qwen3", "qwen3", LLAMA},        {"qwen3moe", "qwen3_moe", LLAMA},
    {"gemma", "gemma", LLAMA},        {"gemma2", "gemma2", LLAMA},
    {"gemma3", "gemma3_text", LLAMA}, {"phi3", "phi3", LLAMA},
    {"olmo", "olmo", LLAMA},          {"olmo2", "olmo2", LLAMA},
    {"gpt-oss", "gpt_oss", LLAMA},    {"deepseek2", "deepseek_v2", LLAMA},
    {"gpt2", "gpt2", GPT2},           {"gptneox", "gpt_neox", NEOX},
    {"bloom", "bloom", BLOOM},        {"falcon", "falcon", BLOOM},
    {"smollm3", "smollm3", LLAMA},    {"starcoder2", "starcoder2", LLAMA},
    {"stablelm", "stablelm", LLAMA},  {"command-r", "cohere", LLAMA},
    {"cohere2", "cohere2", LLAMA},    {"granite", "granite", LLAMA},
    {"olmoe", "olmoe", LLAMA},        {"nemotron", "nemotron", LLAMA},
    {"arcee", "arcee", LLAMA},        {"ernie4_5", "ernie4_5", LLAMA},
};

/* Parameters by key; those of which a builder knows several spellings are put under each. */
static const struct {
    const char *key, *parameters;
    bool needed;
} keys[] = {
    {"embedding_length", "hidden_size n_embd n_embed", true},
    {"block_count", "num_hidden_layers n_layer", true},
    {"attention.head_count", "num_attention_heads n_head", true},
    {"attention.head_count_kv", "num_key_value_heads num_kv_heads", false},
    {"attention.key_length", "head_dim", false},
    {"feed_forward_length", "intermediate_size n_inner ffn_hidden_size", false},
    {"context_length", "max_position_embeddings n_positions", false},
    {"vocab_size", "vocab_size", false},
    {"attention.layer_norm_rms_epsilon", "rms_norm_eps", false},
    {"attention.layer_norm_epsilon", "layer_norm_epsilon layer_norm_eps", false},
    {"attention.sliding_window", "sliding_window", false},
    {"rope.freq_base", "rope_theta", false},
    {"attn_logit_softcapping", "attn_logit_softcapping", false},
    {"final_logit_softcapping", "final_logit_softcapping", false},
    {"use_parallel_residual", "use_parallel_residual", false},
    {"expert_count", "num_local_experts num_experts n_routed_experts", false},
    {"expert_used_count", "num_experts_per_tok", false},
    {"expert_feed_forward_length", "moe_intermediate_size", false},
    {"expert_shared_feed_forward_length", "shared_expert_intermediate_size", false},
    {"expert_shared_count", "n_shared_experts", false},
    {"expert_weights_scale", "routed_scaling_factor", false},
    {"expert_weights_norm", "norm_topk_prob", false},
    {"expert_group_count", "n_group", false},
    {"expert_group_used_count", "topk_group", false},
    {"leading_dense_block_count", "first_k_dense_replace", false},
    {"attention.q_lora_rank", "q_lora_rank", false},
    {"attention.kv_lora_rank", "kv_lora_rank", false},
};

/* Tensors: outside of a block, or within "blk.N." For one family first, then for all of the style. */
static const struct {
    style style;
    const char *model_type; /* NULL: any */
    const char *from, *to;
} outer[] =
    {
        {LLAMA, NULL, "token_embd", "model.embed_tokens"},
        {LLAMA, NULL, "output_norm", "model.norm"},
        {LLAMA, NULL, "output", "lm_head"},
        {GPT2, NULL, "token_embd", "transformer.wte"},
        {GPT2, NULL, "position_embd", "transformer.wpe"},
        {GPT2, NULL, "output_norm", "transformer.ln_f"},
        {GPT2, NULL, "output", "lm_head"},
        {NEOX, NULL, "token_embd", "gpt_neox.embed_in"},
        {NEOX, NULL, "output_norm", "gpt_neox.final_layer_norm"},
        {NEOX, NULL, "output", "embed_out"},
        {BLOOM, NULL, "token_embd", "transformer.word_embeddings"},
        {BLOOM, NULL, "token_embd_norm", "transformer.word_embeddings_layernorm"},
        {BLOOM, NULL, "output_norm", "transformer.ln_f"},
        {BLOOM, NULL, "output", "lm_head"},
},
  inner[] = {
      {LLAMA, "gemma2", "ffn_norm", "pre_feedforward_layernorm"},
      {LLAMA, "gemma3_text", "ffn_norm", "pre_feedforward_layernorm"},
      {LLAMA, "phi3", "ffn_up", "mlp.gate_up_proj"},
      {LLAMA, "starcoder2", "ffn_up", "mlp.c_fc"},
      {LLAMA, "starcoder2", "ffn_down", "mlp.c_proj"},
      {LLAMA, "mixtral", "ffn_gate_inp", "block_sparse_moe.gate"},
      {LLAMA, "mixtral", "ffn_gate_exps", "block_sparse_moe.experts.*.w1"},
      {LLAMA, "mixtral", "ffn_up_exps", "block_sparse_moe.experts.*.w3"},
      {LLAMA, "mixtral", "ffn_down_exps", "block_sparse_moe.experts.*.w2"},
      {LLAMA, "gpt_oss", "ffn_gate_inp", "mlp.router"},
      {LLAMA, "gpt_oss", "ffn_gate_exps", "mlp.experts.gate_up_proj@"},
      {LLAMA, "gpt_oss", "ffn_up_exps", "mlp.experts.gate_up_proj@"},
      {LLAMA, "gpt_oss", "ffn_down_exps", "mlp.experts.down_proj@"},
      {LLAMA, "qwen2_moe", "ffn_gate_shexp", "mlp.shared_expert.gate_proj"},
      {LLAMA, "qwen2_moe", "ffn_up_shexp", "mlp.shared_expert.up_proj"},
      {LLAMA, "qwen2_moe", "ffn_down_shexp", "mlp.shared_expert.down_proj"},
      {LLAMA, NULL, "attn_norm", "input_layernorm"},
      {LLAMA, NULL, "attn_q", "self_attn.q_proj"},
      {LLAMA, NULL, "attn_k", "self_attn.k_proj"},
      {LLAMA, NULL, "attn_v", "self_attn.v_proj"},
      {LLAMA, NULL, "attn_qkv", "self_attn.qkv_proj"},
      {LLAMA, NULL, "attn_output", "self_attn.o_proj"},
      {LLAMA, NULL, "attn_q_norm", "self_attn.q_norm"},
      {LLAMA, NULL, "attn_k_norm", "self_attn.k_norm"},
      {LLAMA, NULL, "attn_sinks", "self_attn.sinks@"},
      {LLAMA, NULL, "attn_q_a", "self_attn.q_a_proj"},
      {LLAMA, NULL, "attn_q_a_norm", "self_attn.q_a_layernorm"},
      {LLAMA, NULL, "attn_q_b", "self_attn.q_b_proj"},
      {LLAMA, NULL, "attn_kv_a_mqa", "self_attn.kv_a_proj_with_mqa"},
      {LLAMA, NULL, "attn_kv_a_norm", "self_attn.kv_a_layernorm"},
      {LLAMA, NULL, "attn_kv_b", "self_attn.kv_b_proj"},
      {LLAMA, NULL, "attn_k_b", "self_attn.kv_b_proj"},
      {LLAMA, NULL, "attn_v_b", "self_attn.kv_b_proj"},
      {LLAMA, NULL, "post_attention_norm", "post_attention_layernorm"},
      {LLAMA, NULL, "ffn_norm", "post_attention_layernorm"},
      {LLAMA, NULL, "post_ffw_norm", "post_feedforward_layernorm"},
      {LLAMA, NULL, "ffn_gate", "mlp.gate_proj"},
      {LLAMA, NULL, "ffn_up", "mlp.up_proj"},
      {LLAMA, NULL, "ffn_down", "mlp.down_proj"},
      {LLAMA, NULL, "ffn_gate_inp", "mlp.gate"},
      {LLAMA, NULL, "ffn_gate_inp_shexp", "mlp.shared_expert_gate"},
      {LLAMA, NULL, "exp_probs_b", "mlp.gate.e_score_correction"},
      {LLAMA, NULL, "ffn_gate_exps", "mlp.experts.*.gate_proj"},
      {LLAMA, NULL, "ffn_up_exps", "mlp.experts.*.up_proj"},
      {LLAMA, NULL, "ffn_down_exps", "mlp.experts.*.down_proj"},
      {LLAMA, NULL, "ffn_gate_shexp", "mlp.shared_experts.gate_proj"},
      {LLAMA, NULL, "ffn_up_shexp", "mlp.shared_experts.up_proj"},
      {LLAMA, NULL, "ffn_down_shexp", "mlp.shared_experts.down_proj"},
      {GPT2, NULL, "attn_norm", "ln_1"},
      {GPT2, NULL, "attn_qkv", "attn.c_attn"},
      {GPT2, NULL, "attn_output", "attn.c_proj"},
      {GPT2, NULL, "ffn_norm", "ln_2"},
      {GPT2, NULL, "ffn_up", "mlp.c_fc"},
      {GPT2, NULL, "ffn_down", "mlp.c_proj"},
      {NEOX, NULL, "attn_norm", "input_layernorm"},
      {NEOX, NULL, "attn_qkv", "attention.query_key_value"},
      {NEOX, NULL, "attn_output", "attention.dense"},
      {NEOX, NULL, "ffn_norm", "post_attention_layernorm"},
      {NEOX, NULL, "ffn_up", "mlp.dense_h_to_4h"},
      {NEOX, NULL, "ffn_down", "mlp.dense_4h_to_h"},
      {BLOOM, NULL, "attn_norm", "input_layernorm"},
      {BLOOM, NULL, "attn_qkv", "self_attention.query_key_value"},
      {BLOOM, NULL, "attn_output", "self_attention.dense"},
      {BLOOM, NULL, "ffn_norm", "post_attention_layernorm"},
      {BLOOM, NULL, "ffn_up", "mlp.dense_h_to_4h"},
      {BLOOM, NULL, "ffn_down", "mlp.dense_4h_to_h"},
};

static const char *const blocks[] = {
    [LLAMA] = "model.layers",
    [GPT2] = "transformer.h",
    [NEOX] = "gpt_neox.layers",
    [BLOOM] = "transformer.h",
};

typedef struct mapping {
    gguf_file *g;
    const char *shown, *arch, *model_type;
    style style;
    arena *arena;
    model_config *out;
    assay_error *err;
    bool uneven; /* a list whose items differ where one number is needed */
} mapping;

/* ---- keys ---- */

static const gguf_value *get_key(const mapping *m, const char *key)
{
    char full[256];
    int n = snprintf(full, sizeof full, "%s.%s", m->arch, key);
    return n > 0 && (size_t)n < sizeof full ? gguf_get(m->g, full) : NULL;
}

/* One number, also when it is written once per layer. */
static bool number_of(mapping *m, const gguf_value *v, json_value *out)
{
    if (v->kind == GGUF_REAL) {
        *out = (json_value){.kind = JSON_REAL, .f = v->f};
        return true;
    }
    if (v->kind == GGUF_TEXT || (v->kind == GGUF_LIST && (!v->items || v->n == 0)))
        return false;
    int64_t i = v->kind == GGUF_LIST ? v->items[0] : v->i;
    for (uint64_t k = 1; v->kind == GGUF_LIST && k < v->n; k++)
        m->uneven = m->uneven || v->items[k] != i;
    *out = v->kind == GGUF_BOOL ? json_of_bool(i != 0) : json_of_int(i);
    return true;
}

static assay_status put_parameter(mapping *m, str name, json_value v)
{
    str key = str_copy(m->arena, name);
    if (!key.p || !zoo_args_put(&m->out->args, key, v, false))
        return err_no_memory(m->err);
    zoo_args_get(&m->out->args, key.p)->silent = true;
    return ASSAY_OK;
}

static assay_status put_int(mapping *m, const char *name, int64_t i)
{
    return put_parameter(m, str_of(name), json_of_int(i));
}

static assay_status put_bool(mapping *m, const char *name, bool yes)
{
    return put_parameter(m, str_of(name), json_of_bool(yes));
}

static assay_status put_each(mapping *m, const char *names, json_value v)
{
    for (str rest = str_of(names), name; str_split(&rest, ' ', &name);)
        TRY(put_parameter(m, name, v));
    return ASSAY_OK;
}

static assay_status put_keys(mapping *m)
{
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const gguf_value *v = get_key(m, keys[i].key);
        json_value number;
        if (!v && !keys[i].needed)
            continue;
        if (!v || !number_of(m, v, &number))
            return err_fail_node(m->err, ASSAY_ERR_MALFORMED, keys[i].key, "%s: key %s.%s %s",
                                 m->shown, m->arch, keys[i].key,
                                 v ? "must be a number" : "is missing");
        TRY(put_each(m, keys[i].parameters, number));
    }
    return ASSAY_OK;
}

static int64_t int_of(mapping *m, const char *key, int64_t otherwise)
{
    const gguf_value *v = get_key(m, key);
    json_value number;
    return v && number_of(m, v, &number) && number.kind == JSON_INT ? number.i : otherwise;
}

static bool has_tensor(const mapping *m, const char *name)
{
    return weight_set_get(m->g->weights, str_of(name)) != NULL;
}

static int64_t rows_of(const mapping *m, const char *tensor, int64_t otherwise)
{
    const weight_item *x = weight_set_get(m->g->weights, str_of(tensor));
    return x && x->rank == 2 ? x->dims[0] : otherwise;
}

/* A head's size, which llama.cpp takes as width / heads when nobody says. */
static assay_status put_head(mapping *m)
{
    int64_t heads = int_of(m, "attention.head_count", 0), width = int_of(m, "embedding_length", 0);
    if (get_key(m, "attention.key_length") || heads < 1 || width < heads)
        return ASSAY_OK;
    return put_int(m, "head_dim", width / heads);
}

/* Multi-head latent attention: newer files give the sizes of the compressed form as key_length, and
 * those of a head as key_length_mla. */
static assay_status put_latent(mapping *m)
{
    int64_t key = int_of(m, "attention.key_length_mla", int_of(m, "attention.key_length", 0));
    int64_t value = int_of(m, "attention.value_length_mla", int_of(m, "attention.value_length", 0));
    int64_t turned = int_of(m, "rope.dimension_count", 0);
    if (key <= turned || turned < 1 || value < 1)
        return err_fail_node(m->err, ASSAY_ERR_MALFORMED, "attention.key_length",
                             "%s: keys %s.attention.key_length, value_length and "
                             "rope.dimension_count are missing or inconsistent",
                             m->shown, m->arch);
    TRY(put_int(m, "qk_nope_head_dim", key - turned));
    TRY(put_int(m, "qk_rope_head_dim", turned));
    TRY(put_int(m, "v_head_dim", value));
    TRY(put_int(m, "q_lora_rank", int_of(m, "attention.q_lora_rank", 0)));
    return put_int(m, "num_hidden_layers",
                   int_of(m, "block_count", 1) - int_of(m, "nextn_predict_layers", 0));
}

static assay_status put_falcon(mapping *m)
{
    bool grouped = has_tensor(m, "blk.0.attn_norm_2.weight");
    TRY(put_bool(m, "new_decoder_architecture", grouped));
    return put_bool(m, "multi_query", !grouped && int_of(m, "attention.head_count_kv", 0) == 1);
}

/* Whether there are biases is seen at the tensors; each family has its own key for it. */
static assay_status put_biases(mapping *m)
{
    static const struct {
        const char *model_type, *key;
    } rows[] = {{"llama", "attention_bias"},  {"granite", "attention_bias"},
                {"cohere", "attention_bias"}, {"arcee", "attention_bias"},
                {"stablelm", "use_qkv_bias"}, {"starcoder2", "use_bias"},
                {"ernie4_5", "use_bias"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(m->model_type, rows[i].model_type) == 0)
            TRY(put_bool(m, rows[i].key, has_tensor(m, "blk.0.attn_q.bias")));
    if (strcmp(m->model_type, "stablelm") == 0)
        return put_bool(m, "use_parallel_residual", !has_tensor(m, "blk.0.ffn_norm.weight"));
    return ASSAY_OK;
}

static assay_status put_rest(mapping *m)
{
    const gguf_value *tokens = gguf_get(m->g, "tokenizer.ggml.tokens");
    int64_t vocab = rows_of(
        m, "token_embd.weight",
        int_of(m, "vocab_size", tokens && tokens->kind == GGUF_LIST ? (int64_t)tokens->n : 0));
    if (vocab < 1)
        return err_fail_node(
            m->err, ASSAY_ERR_MALFORMED, "token_embd.weight",
            "%s: unknown vocabulary size: no tensor token_embd.weight and no token list", m->shown);
    str type = str_of(m->model_type);
    TRY(put_parameter(m, STR("model_type"), json_of_text(type)));
    TRY(put_int(m, "vocab_size", vocab));
    TRY(put_bool(m, "tie_word_embeddings", !has_tensor(m, "output.weight")));
    TRY(put_biases(m));
    if (str_is(type, "gpt_oss"))
        TRY(put_int(m, "intermediate_size",
                    int_of(m, "expert_feed_forward_length", int_of(m, "feed_forward_length", 1))));
    if (str_is(type, "gpt2"))
        TRY(put_int(m, "n_positions", rows_of(m, "position_embd.weight", 1024)));
    if (str_is(type, "falcon"))
        TRY(put_falcon(m));
    return m->style == LLAMA && !get_key(m, "attention.kv_lora_rank") ? put_head(m) : ASSAY_OK;
}

/* ---- tensors ---- */

static const char *stem_of(const mapping *m, bool in_block, str stem)
{
    size_t n = in_block ? sizeof inner / sizeof *inner : sizeof outer / sizeof *outer;
    for (size_t i = 0; i < n; i++) {
        const char *from = in_block ? inner[i].from : outer[i].from;
        const char *type = in_block ? inner[i].model_type : outer[i].model_type;
        style of = in_block ? inner[i].style : outer[i].style;
        if (of == m->style && str_is(stem, from) && (!type || strcmp(type, m->model_type) == 0))
            return in_block ? inner[i].to : outer[i].to;
    }
    return NULL;
}

/* "@" marks those that PyTorch has as parameters without a module: no ".weight" behind them. */
static const char *tensor_ending(const char *to, str part, size_t *n)
{
    bool bare = *to && to[strlen(to) - 1] == '@';
    *n = strlen(to) - bare;
    if (strstr(to, "e_score_correction"))
        return "_bias";
    return bare ? str_is(part, "bias") ? "_bias" : "" : str_is(part, "bias") ? ".bias" : ".weight";
}

static bool split_name(str name, str *block, str *stem, str *part)
{
    const char *dot = memrchr(name.p, '.', name.n);
    *block = (str){0};
    if (!dot)
        return false;
    *part = (str){dot + 1, (uint32_t)(name.p + name.n - dot - 1)};
    *stem = (str){name.p, (uint32_t)(dot - name.p)};
    if (!str_starts(*stem, "blk."))
        return true;
    uint32_t at = 4;
    while (at < stem->n && stem->p[at] >= '0' && stem->p[at] <= '9')
        at++;
    *block = (str){stem->p + 4, at - 4};
    if (at == 4 || at >= stem->n || stem->p[at] != '.')
        return false;
    *stem = (str){stem->p + at + 1, stem->n - at - 1};
    return true;
}

static assay_status rename_tensors(mapping *m)
{
    weight_set *w = m->g->weights;
    for (uint32_t i = 0; i < w->items.n; i++) {
        str block, stem, part;
        size_t n;
        if (!split_name(w->items.items[i].name, &block, &stem, &part))
            continue;
        const char *to = stem_of(m, block.n > 0, stem);
        if (!to)
            continue;
        const char *end = tensor_ending(to, part, &n);
        str *as = &w->items.items[i].as;
        *as = block.n ? str_printf(m->arena, "%s." STR_FMT ".%.*s%s", blocks[m->style],
                                   STR_ARG(block), (int)n, to, end)
                      : str_printf(m->arena, "%.*s%s", (int)n, to, end);
        if (!as->p)
            return err_no_memory(m->err);
    }
    return ASSAY_OK;
}

/* ---- both ---- */

/* Families of one name in llama.cpp that are several here. */
static void refine_model_type(mapping *m)
{
    if (strcmp(m->model_type, "llama") == 0 && int_of(m, "expert_count", 0) > 0)
        m->model_type = "mixtral";
    if (strcmp(m->model_type, "deepseek_v2") == 0 && int_of(m, "expert_gating_func", 1) == 2)
        m->model_type = "deepseek_v3";
}

static assay_status fill_config(mapping *m)
{
    refine_model_type(m);
    TRY(put_keys(m));
    TRY(put_rest(m));
    if (str_starts(str_of(m->model_type), "deepseek"))
        TRY(put_latent(m));
    TRY(rename_tensors(m));
    m->out->row = m->uneven ? NULL : zoo_find_family(str_of(m->model_type));
    m->out->name = str_of(m->model_type);
    return ASSAY_OK;
}

assay_status gguf_configure(gguf_file *g, const char *shown, arena *a, model_config *out,
                            assay_error *err)
{
    mapping m = {.g = g, .shown = shown, .arena = a, .out = out, .err = err};
    *out = (model_config){0};
    zoo_args_init(&out->args, a);
    for (size_t i = 0; i < sizeof archs / sizeof *archs; i++) {
        if (!str_is(g->architecture, archs[i].arch))
            continue;
        m.arch = archs[i].arch;
        m.model_type = archs[i].model_type;
        m.style = archs[i].style;
        return fill_config(&m);
    }
    return ASSAY_OK;
}
