/* See gguf_names.h. Names of llama.cpp are those of its gguf-py (constants.py, tensor_mapping.py). */
#include "formats/gguf_names.h"

#include <string.h>

const gguf_arch gguf_archs[] = {
    {"llama", "llama", GGUF_LLAMA, false},
    {"llama", "mistral", GGUF_LLAMA, false},
    {"llama", "mixtral", GGUF_LLAMA, false},
    {"mistral3", "mistral", GGUF_LLAMA, false},
    {"qwen2", "qwen2", GGUF_LLAMA, false},
    {"qwen2moe", "qwen2_moe", GGUF_LLAMA, false},
    {"qwen3", "qwen3", GGUF_LLAMA, false},
    {"qwen3moe", "qwen3_moe", GGUF_LLAMA, false},
    {"gemma", "gemma", GGUF_LLAMA, false},
    {"gemma2", "gemma2", GGUF_LLAMA, false},
    {"gemma3", "gemma3_text", GGUF_LLAMA, false},
    {"phi3", "phi3", GGUF_LLAMA, false},
    {"olmo", "olmo", GGUF_LLAMA, true},
    {"olmo2", "olmo2", GGUF_LLAMA, false},
    {"olmo2", "olmo3", GGUF_LLAMA, false},
    {"olmoe", "olmoe", GGUF_LLAMA, false},
    {"gpt-oss", "gpt_oss", GGUF_LLAMA, false},
    {"deepseek2", "deepseek_v2", GGUF_LLAMA, false},
    {"deepseek2", "deepseek_v3", GGUF_LLAMA, false},
    {"gpt2", "gpt2", GGUF_GPT2, true},
    {"gptneox", "gpt_neox", GGUF_NEOX, true},
    {"bloom", "bloom", GGUF_BLOOM, true},
    {"falcon", "falcon", GGUF_BLOOM, true},
    {"smollm3", "smollm3", GGUF_LLAMA, false},
    {"starcoder2", "starcoder2", GGUF_LLAMA, true},
    {"stablelm", "stablelm", GGUF_LLAMA, true},
    {"command-r", "cohere", GGUF_LLAMA, true},
    {"cohere2", "cohere2", GGUF_LLAMA, true},
    {"granite", "granite", GGUF_LLAMA, false},
    {"nemotron", "nemotron", GGUF_LLAMA, true},
    {"arcee", "arcee", GGUF_LLAMA, false},
    {"ernie4_5", "ernie4_5", GGUF_LLAMA, false},
    {"glm4", "glm4", GGUF_LLAMA, false},
};
const uint32_t gguf_archs_n = sizeof gguf_archs / sizeof *gguf_archs;

const gguf_key gguf_keys[] = {
    {"embedding_length", "hidden_size n_embd n_embed", true, GGUF_KEY_INT},
    {"block_count", "num_hidden_layers n_layer", true, GGUF_KEY_INT},
    {"attention.head_count", "num_attention_heads n_head", true, GGUF_KEY_INT},
    {"attention.head_count_kv", "num_key_value_heads num_kv_heads", false, GGUF_KEY_INT},
    {"attention.key_length", "head_dim", false, GGUF_KEY_INT},
    {"feed_forward_length", "intermediate_size n_inner ffn_hidden_size", false, GGUF_KEY_INT},
    {"context_length", "max_position_embeddings n_positions", false, GGUF_KEY_INT},
    {"vocab_size", "vocab_size", false, GGUF_KEY_INT},
    {"attention.layer_norm_rms_epsilon", "rms_norm_eps", false, GGUF_KEY_REAL},
    {"attention.layer_norm_epsilon", "layer_norm_epsilon layer_norm_eps", false, GGUF_KEY_REAL},
    {"attention.sliding_window", "sliding_window", false, GGUF_KEY_INT},
    {"rope.freq_base", "rope_theta", false, GGUF_KEY_REAL},
    {"attn_logit_softcapping", "attn_logit_softcapping", false, GGUF_KEY_REAL},
    {"final_logit_softcapping", "final_logit_softcapping", false, GGUF_KEY_REAL},
    {"use_parallel_residual", "use_parallel_residual", false, GGUF_KEY_BOOL},
    {"expert_count", "num_local_experts num_experts n_routed_experts", false, GGUF_KEY_INT},
    {"expert_used_count", "num_experts_per_tok", false, GGUF_KEY_INT},
    {"expert_feed_forward_length", "moe_intermediate_size", false, GGUF_KEY_INT},
    {"expert_shared_feed_forward_length", "shared_expert_intermediate_size", false, GGUF_KEY_INT},
    {"expert_shared_count", "n_shared_experts", false, GGUF_KEY_INT},
    {"expert_weights_scale", "routed_scaling_factor", false, GGUF_KEY_REAL},
    {"expert_weights_norm", "norm_topk_prob", false, GGUF_KEY_BOOL},
    {"expert_group_count", "n_group", false, GGUF_KEY_INT},
    {"expert_group_used_count", "topk_group", false, GGUF_KEY_INT},
    {"leading_dense_block_count", "first_k_dense_replace", false, GGUF_KEY_INT},
    {"attention.q_lora_rank", "q_lora_rank", false, GGUF_KEY_INT},
    {"attention.kv_lora_rank", "kv_lora_rank", false, GGUF_KEY_INT},
    {"logit_scale", "logit_scale logits_scaling", false, GGUF_KEY_REAL},
    {"residual_scale", "residual_multiplier", false, GGUF_KEY_REAL},
    {"embedding_scale", "embedding_multiplier", false, GGUF_KEY_REAL},
    {"attention.scale", "attention_multiplier", false, GGUF_KEY_REAL},
};
const uint32_t gguf_keys_n = sizeof gguf_keys / sizeof *gguf_keys;

static const gguf_stem outer[] = {
    {GGUF_LLAMA, NULL, "token_embd", "model.embed_tokens", false},
    {GGUF_LLAMA, NULL, "output_norm", "model.norm", false},
    {GGUF_LLAMA, NULL, "output", "lm_head", false},
    {GGUF_GPT2, NULL, "token_embd", "transformer.wte", false},
    {GGUF_GPT2, NULL, "position_embd", "transformer.wpe", false},
    {GGUF_GPT2, NULL, "output_norm", "transformer.ln_f", false},
    {GGUF_GPT2, NULL, "output", "lm_head", false},
    {GGUF_NEOX, NULL, "token_embd", "gpt_neox.embed_in", false},
    {GGUF_NEOX, NULL, "output_norm", "gpt_neox.final_layer_norm", false},
    {GGUF_NEOX, NULL, "output", "embed_out", false},
    {GGUF_BLOOM, NULL, "token_embd", "transformer.word_embeddings", false},
    {GGUF_BLOOM, NULL, "token_embd_norm", "transformer.word_embeddings_layernorm", false},
    {GGUF_BLOOM, NULL, "output_norm", "transformer.ln_f", false},
    {GGUF_BLOOM, NULL, "output", "lm_head", false},
};

const gguf_stems gguf_outer = {outer, sizeof outer / sizeof *outer};

/* Where several names of llama.cpp are one here, the first is the one that is written. */
static const gguf_stem inner[] = {
    {GGUF_LLAMA, "gemma2", "ffn_norm", "pre_feedforward_layernorm", false},
    {GGUF_LLAMA, "gemma3_text", "ffn_norm", "pre_feedforward_layernorm", false},
    {GGUF_LLAMA, "gemma2", "post_attention_norm", "post_attention_layernorm", false},
    {GGUF_LLAMA, "gemma3_text", "post_attention_norm", "post_attention_layernorm", false},
    {GGUF_LLAMA, "olmo2", "post_attention_norm", "post_attention_layernorm", false},
    {GGUF_LLAMA, "olmo3", "post_attention_norm", "post_attention_layernorm", false},
    {GGUF_LLAMA, "gpt_oss", "post_attention_norm", "post_attention_layernorm", false},
    {GGUF_LLAMA, "glm4", "post_attention_norm", "post_self_attn_layernorm", false},
    {GGUF_LLAMA, "glm4", "post_ffw_norm", "post_mlp_layernorm", false},
    {GGUF_LLAMA, "glm4", "ffn_up", "mlp.gate_up_proj", false},
    {GGUF_LLAMA, "phi3", "ffn_up", "mlp.gate_up_proj", false},
    {GGUF_LLAMA, "starcoder2", "ffn_up", "mlp.c_fc", false},
    {GGUF_LLAMA, "starcoder2", "ffn_down", "mlp.c_proj", false},
    {GGUF_LLAMA, "mixtral", "ffn_gate_inp", "block_sparse_moe.gate", false},
    {GGUF_LLAMA, "mixtral", "ffn_gate_exps", "block_sparse_moe.experts.*.w1", false},
    {GGUF_LLAMA, "mixtral", "ffn_up_exps", "block_sparse_moe.experts.*.w3", false},
    {GGUF_LLAMA, "mixtral", "ffn_down_exps", "block_sparse_moe.experts.*.w2", false},
    {GGUF_LLAMA, "gpt_oss", "ffn_gate_inp", "mlp.router", false},
    {GGUF_LLAMA, "gpt_oss", "ffn_gate_exps", "mlp.experts.gate_up_proj@", true},
    {GGUF_LLAMA, "gpt_oss", "ffn_up_exps", "mlp.experts.gate_up_proj@", true},
    {GGUF_LLAMA, "gpt_oss", "ffn_down_exps", "mlp.experts.down_proj@", true},
    {GGUF_LLAMA, "qwen2_moe", "ffn_gate_shexp", "mlp.shared_expert.gate_proj", false},
    {GGUF_LLAMA, "qwen2_moe", "ffn_up_shexp", "mlp.shared_expert.up_proj", false},
    {GGUF_LLAMA, "qwen2_moe", "ffn_down_shexp", "mlp.shared_expert.down_proj", false},
    {GGUF_LLAMA, NULL, "attn_norm", "input_layernorm", false},
    {GGUF_LLAMA, NULL, "attn_q", "self_attn.q_proj", false},
    {GGUF_LLAMA, NULL, "attn_k", "self_attn.k_proj", false},
    {GGUF_LLAMA, NULL, "attn_v", "self_attn.v_proj", false},
    {GGUF_LLAMA, NULL, "attn_qkv", "self_attn.qkv_proj", false},
    {GGUF_LLAMA, NULL, "attn_output", "self_attn.o_proj", false},
    {GGUF_LLAMA, NULL, "attn_q_norm", "self_attn.q_norm", false},
    {GGUF_LLAMA, NULL, "attn_k_norm", "self_attn.k_norm", false},
    {GGUF_LLAMA, NULL, "attn_sinks", "self_attn.sinks@", false},
    {GGUF_LLAMA, NULL, "attn_q_a", "self_attn.q_a_proj", false},
    {GGUF_LLAMA, NULL, "attn_q_a_norm", "self_attn.q_a_layernorm", false},
    {GGUF_LLAMA, NULL, "attn_q_b", "self_attn.q_b_proj", false},
    {GGUF_LLAMA, NULL, "attn_kv_a_mqa", "self_attn.kv_a_proj_with_mqa", false},
    {GGUF_LLAMA, NULL, "attn_kv_a_norm", "self_attn.kv_a_layernorm", false},
    {GGUF_LLAMA, NULL, "attn_kv_b", "self_attn.kv_b_proj", false},
    {GGUF_LLAMA, NULL, "attn_k_b", "self_attn.kv_b_proj", false},
    {GGUF_LLAMA, NULL, "attn_v_b", "self_attn.kv_b_proj", false},
    {GGUF_LLAMA, NULL, "ffn_norm", "post_attention_layernorm", false},
    {GGUF_LLAMA, NULL, "post_attention_norm", "post_attention_layernorm", false},
    {GGUF_LLAMA, NULL, "post_ffw_norm", "post_feedforward_layernorm", false},
    {GGUF_LLAMA, NULL, "ffn_gate", "mlp.gate_proj", false},
    {GGUF_LLAMA, NULL, "ffn_up", "mlp.up_proj", false},
    {GGUF_LLAMA, NULL, "ffn_down", "mlp.down_proj", false},
    {GGUF_LLAMA, NULL, "ffn_gate_inp", "mlp.gate", false},
    {GGUF_LLAMA, NULL, "ffn_gate_inp_shexp", "mlp.shared_expert_gate", false},
    {GGUF_LLAMA, NULL, "exp_probs_b", "mlp.gate.e_score_correction", false},
    {GGUF_LLAMA, NULL, "ffn_gate_exps", "mlp.experts.*.gate_proj", false},
    {GGUF_LLAMA, NULL, "ffn_up_exps", "mlp.experts.*.up_proj", false},
    {GGUF_LLAMA, NULL, "ffn_down_exps", "mlp.experts.*.down_proj", false},
    {GGUF_LLAMA, NULL, "ffn_gate_shexp", "mlp.shared_experts.gate_proj", false},
    {GGUF_LLAMA, NULL, "ffn_up_shexp", "mlp.shared_experts.up_proj", false},
    {GGUF_LLAMA, NULL, "ffn_down_shexp", "mlp.shared_experts.down_proj", false},
    {GGUF_GPT2, NULL, "attn_norm", "ln_1", false},
    {GGUF_GPT2, NULL, "attn_qkv", "attn.c_attn", true},
    {GGUF_GPT2, NULL, "attn_output", "attn.c_proj", true},
    {GGUF_GPT2, NULL, "ffn_norm", "ln_2", false},
    {GGUF_GPT2, NULL, "ffn_up", "mlp.c_fc", true},
    {GGUF_GPT2, NULL, "ffn_down", "mlp.c_proj", true},
    {GGUF_NEOX, NULL, "attn_norm", "input_layernorm", false},
    {GGUF_NEOX, NULL, "attn_qkv", "attention.query_key_value", false},
    {GGUF_NEOX, NULL, "attn_output", "attention.dense", false},
    {GGUF_NEOX, NULL, "ffn_norm", "post_attention_layernorm", false},
    {GGUF_NEOX, NULL, "ffn_up", "mlp.dense_h_to_4h", false},
    {GGUF_NEOX, NULL, "ffn_down", "mlp.dense_4h_to_h", false},
    {GGUF_BLOOM, NULL, "attn_norm", "input_layernorm", false},
    {GGUF_BLOOM, NULL, "attn_qkv", "self_attention.query_key_value", false},
    {GGUF_BLOOM, NULL, "attn_output", "self_attention.dense", false},
    {GGUF_BLOOM, NULL, "ffn_norm", "post_attention_layernorm", false},
    {GGUF_BLOOM, NULL, "ffn_up", "mlp.dense_h_to_4h", false},
    {GGUF_BLOOM, NULL, "ffn_down", "mlp.dense_4h_to_h", false},
    {GGUF_BLOOM, "falcon", "attn_norm", "ln_mlp", false},
    {GGUF_BLOOM, "falcon", "attn_norm_2", "ln_attn", false},
};

const gguf_stems gguf_inner = {inner, sizeof inner / sizeof *inner};

const char *const gguf_blocks[] = {
    [GGUF_LLAMA] = "model.layers",
    [GGUF_GPT2] = "transformer.h",
    [GGUF_NEOX] = "gpt_neox.layers",
    [GGUF_BLOOM] = "transformer.h",
};

bool gguf_stem_is(const gguf_stem *row, gguf_style style, const char *model_type)
{
    return row->style == style && (!row->model_type || strcmp(row->model_type, model_type) == 0);
}

const char *gguf_ending(const char *to, str part, size_t *n)
{
    bool bare = *to && to[strlen(to) - 1] == '@';
    *n = strlen(to) - bare;
    if (strstr(to, "e_score_correction"))
        return "_bias";
    return bare ? str_is(part, "bias") ? "_bias" : "" : str_is(part, "bias") ? ".bias" : ".weight";
}
