/* Llama and its relatives: what their libraries' configurations have as defaults, and well-known members. */
#include "zoo/clip.h"
#include "zoo/llama.h"
#include "zoo/zoo.h"

#define LLAMA                                                                     \
    "model_type=llama vocab_size=32000 hidden_size=4096 intermediate_size=11008 " \
    "num_hidden_layers=32 num_attention_heads=32 rms_norm_eps=1e-6 max_position_embeddings=2048"
#define LLAMA3                                                                \
    LLAMA " vocab_size=128256 intermediate_size=14336 num_key_value_heads=8 " \
          "rope_theta=500000 rms_norm_eps=1e-5 max_position_embeddings=8192"
#define LLAMA31                                                                                    \
    LLAMA3 " max_position_embeddings=131072 rope_scaling.rope_type=llama3 "                        \
           "rope_scaling.factor=8 rope_scaling.low_freq_factor=1 rope_scaling.high_freq_factor=4 " \
           "rope_scaling.original_max_position_embeddings=8192"
#define SEVENTY \
    " hidden_size=8192 intermediate_size=28672 num_hidden_layers=80 num_attention_heads=64"
#define MISTRAL                                                                     \
    "model_type=mistral vocab_size=32000 hidden_size=4096 intermediate_size=14336 " \
    "num_hidden_layers=32 num_attention_heads=32 num_key_value_heads=8 "            \
    "max_position_embeddings=131072 sliding_window=4096"
#define MIXTRAL                                                                            \
    "model_type=mixtral vocab_size=32000 hidden_size=4096 intermediate_size=14336 "        \
    "num_hidden_layers=32 num_attention_heads=32 num_key_value_heads=8 rms_norm_eps=1e-5 " \
    "max_position_embeddings=131072 rope_theta=1000000 num_experts_per_tok=2 num_local_experts=8"
#define QWEN2                                                                      \
    "model_type=qwen2 vocab_size=151936 hidden_size=4096 intermediate_size=22016 " \
    "num_hidden_layers=32 num_attention_heads=32 num_key_value_heads=32 "          \
    "max_position_embeddings=32768 sliding_window=4096 max_window_layers=28"
#define QWEN25 QWEN2 " rope_theta=1000000"
#define QWEN2_MOE                                                                            \
    "model_type=qwen2_moe vocab_size=151936 hidden_size=2048 intermediate_size=5632 "        \
    "num_hidden_layers=24 num_attention_heads=16 num_key_value_heads=16 "                    \
    "max_position_embeddings=32768 sliding_window=4096 max_window_layers=28 "                \
    "moe_intermediate_size=1408 shared_expert_intermediate_size=5632 num_experts_per_tok=4 " \
    "num_experts=60"
#define QWEN3                                                                          \
    "model_type=qwen3 vocab_size=151936 hidden_size=4096 intermediate_size=22016 "     \
    "num_hidden_layers=32 num_attention_heads=32 num_key_value_heads=32 head_dim=128 " \
    "max_position_embeddings=32768 sliding_window=4096 max_window_layers=28"
#define QWEN3_MOE                                                                     \
    "model_type=qwen3_moe vocab_size=151936 hidden_size=2048 intermediate_size=6144 " \
    "num_hidden_layers=24 num_attention_heads=32 num_key_value_heads=4 "              \
    "max_position_embeddings=32768 sliding_window=4096 moe_intermediate_size=768 "    \
    "num_experts_per_tok=8 num_experts=128"
#define QWEN3_ROPE " rope_theta=1000000 num_key_value_heads=8 max_position_embeddings=40960"
#define GEMMA                                                                          \
    "model_type=gemma vocab_size=256000 hidden_size=3072 intermediate_size=24576 "     \
    "num_hidden_layers=28 num_attention_heads=16 num_key_value_heads=16 head_dim=256 " \
    "max_position_embeddings=8192"
#define GEMMA2                                                                       \
    "model_type=gemma2 vocab_size=256000 hidden_size=2304 intermediate_size=9216 "   \
    "num_hidden_layers=26 num_attention_heads=8 num_key_value_heads=4 head_dim=256 " \
    "max_position_embeddings=8192 query_pre_attn_scalar=256 sliding_window=4096 "    \
    "final_logit_softcapping=30 attn_logit_softcapping=50"
#define GEMMA3                                                                          \
    "model_type=gemma3_text vocab_size=262208 hidden_size=2304 intermediate_size=9216 " \
    "num_hidden_layers=26 num_attention_heads=8 num_key_value_heads=4 head_dim=256 "    \
    "max_position_embeddings=131072 query_pre_attn_scalar=256 sliding_window=4096"
#define GEMMA3_IMAGES " model_type=gemma3 " SIGLIP_VISION("vision_config.")
#define GEMMA3_TOWER                                                                         \
    GEMMA3_IMAGES "vision_config.hidden_size=1152 vision_config.image_size=896 "             \
                  "vision_config.intermediate_size=4304 vision_config.patch_size=14 "        \
                  "vision_config.num_attention_heads=16 vision_config.num_hidden_layers=27 " \
                  "vision_config.vision_use_head=false sliding_window=1024 "
#define PHI3                                                                    \
    "model_type=phi3 vocab_size=32064 hidden_size=3072 intermediate_size=8192 " \
    "num_hidden_layers=32 num_attention_heads=32 rms_norm_eps=1e-5 max_position_embeddings=4096"
#define OLMO                                                                          \
    "vocab_size=50304 hidden_size=4096 intermediate_size=11008 num_hidden_layers=32 " \
    "num_attention_heads=32 max_position_embeddings=2048"
#define OLMO2 "model_type=olmo2 rms_norm_eps=1e-5 " OLMO
#define GPT_OSS                                                                                \
    "model_type=gpt_oss vocab_size=201088 hidden_size=2880 intermediate_size=2880 "            \
    "num_hidden_layers=36 num_attention_heads=64 num_key_value_heads=8 head_dim=64 "           \
    "sliding_window=128 rms_norm_eps=1e-5 max_position_embeddings=131072 attention_bias=true " \
    "num_local_experts=128 num_experts_per_tok=4 rope_theta=150000 "                           \
    "rope_scaling.rope_type=yarn rope_scaling.factor=32 rope_scaling.beta_fast=32 "            \
    "rope_scaling.beta_slow=1 rope_scaling.truncate=false "                                    \
    "rope_scaling.original_max_position_embeddings=4096"
#define MXFP4 " quantization_config.quant_method=mxfp4"

#define OLMO3 "model_type=olmo3 rms_norm_eps=1e-5 sliding_window=4096 rope_theta=500000 " OLMO
#define OLMOE                                                                    \
    "model_type=olmoe vocab_size=50304 hidden_size=2048 intermediate_size=2048 " \
    "num_hidden_layers=16 num_attention_heads=16 max_position_embeddings=4096 "  \
    "rms_norm_eps=1e-5 num_experts_per_tok=8 num_experts=64"
#define SMOLLM3                                                                      \
    "model_type=smollm3 vocab_size=128256 hidden_size=2048 intermediate_size=11008 " \
    "num_hidden_layers=36 num_attention_heads=16 num_key_value_heads=4 "             \
    "max_position_embeddings=32768 rope_theta=2000000"
#define STABLELM                                                                    \
    "model_type=stablelm vocab_size=50304 hidden_size=2560 intermediate_size=6912 " \
    "num_hidden_layers=32 num_attention_heads=32 num_key_value_heads=32 "           \
    "max_position_embeddings=4096 layer_norm_eps=1e-5"
#define STARCODER2                                                                     \
    "model_type=starcoder2 vocab_size=49152 hidden_size=3072 intermediate_size=12288 " \
    "num_hidden_layers=30 num_attention_heads=24 num_key_value_heads=2 "               \
    "hidden_act=gelu_pytorch_tanh max_position_embeddings=4096 norm_epsilon=1e-5"
#define COHERE                                                                      \
    "model_type=cohere vocab_size=256000 hidden_size=8192 intermediate_size=22528 " \
    "num_hidden_layers=40 num_attention_heads=64 max_position_embeddings=8192 "     \
    "layer_norm_eps=1e-5"
#define GRANITE LLAMA " model_type=granite"
#define NEMOTRON                                                                      \
    "model_type=nemotron vocab_size=256000 hidden_size=6144 intermediate_size=24576 " \
    "num_hidden_layers=32 num_attention_heads=48 hidden_act=relu2 "                   \
    "max_position_embeddings=4096 norm_eps=1e-5"
#define GLM                                                              \
    "vocab_size=151552 hidden_size=4096 intermediate_size=13696 "        \
    "num_hidden_layers=40 num_attention_heads=32 num_key_value_heads=2 " \
    "head_dim=128 max_position_embeddings=131072 rms_norm_eps=1.5625e-7"
#define ERNIE                                                                         \
    "model_type=ernie4_5 vocab_size=103424 hidden_size=1024 intermediate_size=3072 "  \
    "num_hidden_layers=18 num_attention_heads=16 num_key_value_heads=2 head_dim=128 " \
    "max_position_embeddings=131072 rms_norm_eps=1e-5 rope_theta=500000"
#define ARCEE                                                                     \
    "model_type=arcee vocab_size=32000 hidden_size=2560 intermediate_size=18432 " \
    "num_hidden_layers=32 num_attention_heads=32 hidden_act=relu2 "               \
    "max_position_embeddings=4096 rms_norm_eps=1e-5"

#define ROW(name_, alias, family_, set) ZOO_ROW(name_, alias, family_, "language", lm_build, set)

static const zoo_row rows[] = {
    ROW("llama-7b", "llama llama-1-7b", "llama", LLAMA ZOO_F16),
    ROW("llama-13b", NULL, "llama",
        LLAMA " hidden_size=5120 intermediate_size=13824 num_hidden_layers=40 "
              "num_attention_heads=40" ZOO_F16),
    ROW("llama-2-7b", "llama2-7b llama-2-7b-hf", "llama",
        LLAMA " rms_norm_eps=1e-5 max_position_embeddings=4096" ZOO_F16),
    ROW("llama-2-13b", "llama2-13b llama-2-13b-hf", "llama",
        LLAMA " hidden_size=5120 intermediate_size=13824 num_hidden_layers=40 "
              "num_attention_heads=40 rms_norm_eps=1e-5 max_position_embeddings=4096" ZOO_F16),
    ROW("llama-2-70b", "llama2-70b llama-2-70b-hf", "llama",
        LLAMA SEVENTY
        " num_key_value_heads=8 rms_norm_eps=1e-5 max_position_embeddings=4096" ZOO_F16),
    ROW("llama-3-8b", "llama3-8b meta-llama-3-8b", "llama", LLAMA3 ZOO_BF16),
    ROW("llama-3-70b", "llama3-70b meta-llama-3-70b", "llama", LLAMA3 SEVENTY ZOO_BF16),
    ROW("llama-3.1-8b", "llama-3.1-8b-instruct", "llama", LLAMA31 ZOO_BF16),
    ROW("llama-3.1-70b", "llama-3.1-70b-instruct llama-3.3-70b", "llama", LLAMA31 SEVENTY ZOO_BF16),
    ROW("llama-3.1-405b", "llama-3.1-405b-instruct", "llama",
        LLAMA31 " hidden_size=16384 intermediate_size=53248 num_hidden_layers=126 "
                "num_attention_heads=128" ZOO_BF16),
    ROW("llama-3.2-1b", "llama-3.2-1b-instruct", "llama",
        LLAMA31 " hidden_size=2048 intermediate_size=8192 num_hidden_layers=16 head_dim=64 "
                "tie_word_embeddings=true rope_scaling.factor=32" ZOO_BF16),
    ROW("llama-3.2-3b", "llama-3.2-3b-instruct", "llama",
        LLAMA31 " hidden_size=3072 intermediate_size=8192 num_hidden_layers=28 "
                "num_attention_heads=24 head_dim=128 tie_word_embeddings=true "
                "rope_scaling.factor=32" ZOO_BF16),
    ROW("tinyllama-1.1b", "tinyllama", "llama",
        LLAMA " hidden_size=2048 intermediate_size=5632 num_hidden_layers=22 "
              "num_key_value_heads=4 rms_norm_eps=1e-5" ZOO_BF16),
    ROW("smollm2-135m", NULL, "llama",
        LLAMA " vocab_size=49152 hidden_size=576 intermediate_size=1536 num_hidden_layers=30 "
              "num_attention_heads=9 num_key_value_heads=3 rms_norm_eps=1e-5 rope_theta=100000 "
              "max_position_embeddings=8192 tie_word_embeddings=true" ZOO_BF16),
    ROW("mistral-7b", "mistral-7b-v0.1 mistral", "mistral",
        MISTRAL " rms_norm_eps=1e-5 max_position_embeddings=32768" ZOO_BF16),
    ROW("mixtral-8x7b", "mixtral", "mixtral", MIXTRAL ZOO_BF16),
    ROW("mixtral-8x22b", NULL, "mixtral",
        MIXTRAL " hidden_size=6144 intermediate_size=16384 num_hidden_layers=56 "
                "num_attention_heads=48 max_position_embeddings=65536" ZOO_BF16),
    ROW("qwen2.5-0.5b", "qwen2-0.5b", "qwen2",
        QWEN25 " hidden_size=896 intermediate_size=4864 num_hidden_layers=24 "
               "num_attention_heads=14 num_key_value_heads=2 tie_word_embeddings=true" ZOO_BF16),
    ROW("qwen2.5-1.5b", "qwen2-1.5b", "qwen2",
        QWEN25 " hidden_size=1536 intermediate_size=8960 num_hidden_layers=28 "
               "num_attention_heads=12 num_key_value_heads=2 tie_word_embeddings=true" ZOO_BF16),
    ROW("qwen2.5-7b", "qwen2-7b", "qwen2",
        QWEN25 " vocab_size=152064 hidden_size=3584 intermediate_size=18944 "
               "num_hidden_layers=28 num_attention_heads=28 num_key_value_heads=4" ZOO_BF16),
    ROW("qwen2.5-72b", "qwen2-72b", "qwen2",
        QWEN25 " vocab_size=152064 hidden_size=8192 intermediate_size=29568 "
               "num_hidden_layers=80 num_attention_heads=64 num_key_value_heads=8" ZOO_BF16),
    ROW("qwen1.5-moe-a2.7b", NULL, "qwen2_moe", QWEN2_MOE " rope_theta=1000000" ZOO_BF16),
    ROW("qwen3-0.6b", NULL, "qwen3",
        QWEN3 QWEN3_ROPE " hidden_size=1024 intermediate_size=3072 num_hidden_layers=28 "
                         "num_attention_heads=16 tie_word_embeddings=true" ZOO_BF16),
    ROW("qwen3-1.7b", NULL, "qwen3",
        QWEN3 QWEN3_ROPE " hidden_size=2048 intermediate_size=6144 num_hidden_layers=28 "
                         "num_attention_heads=16 tie_word_embeddings=true" ZOO_BF16),
    ROW("qwen3-4b", NULL, "qwen3",
        QWEN3 QWEN3_ROPE " hidden_size=2560 intermediate_size=9728 num_hidden_layers=36 "
                         "tie_word_embeddings=true" ZOO_BF16),
    ROW("qwen3-8b", "qwen3", "qwen3",
        QWEN3 QWEN3_ROPE " intermediate_size=12288 num_hidden_layers=36" ZOO_BF16),
    ROW("qwen3-30b-a3b", NULL, "qwen3_moe",
        QWEN3_MOE " head_dim=128 num_hidden_layers=48 rope_theta=1000000 norm_topk_prob=true "
                  "max_position_embeddings=40960" ZOO_BF16),
    ROW("qwen3-235b-a22b", NULL, "qwen3_moe",
        QWEN3_MOE " head_dim=128 hidden_size=4096 intermediate_size=12288 num_hidden_layers=94 "
                  "num_attention_heads=64 moe_intermediate_size=1536 rope_theta=1000000 "
                  "norm_topk_prob=true max_position_embeddings=40960" ZOO_BF16),
    ROW("gemma-2b", "gemma", "gemma",
        GEMMA " hidden_size=2048 intermediate_size=16384 num_hidden_layers=18 "
              "num_attention_heads=8 num_key_value_heads=1" ZOO_BF16),
    ROW("gemma-7b", NULL, "gemma", GEMMA ZOO_BF16),
    ROW("gemma-2-2b", NULL, "gemma2", GEMMA2),
    ROW("gemma-2-9b", NULL, "gemma2",
        GEMMA2 " hidden_size=3584 intermediate_size=14336 num_hidden_layers=42 "
               "num_attention_heads=16 num_key_value_heads=8"),
    ROW("gemma-3-1b", NULL, "gemma3_text",
        GEMMA3 " vocab_size=262144 hidden_size=1152 intermediate_size=6912 num_attention_heads=4 "
               "num_key_value_heads=1 sliding_window=512 max_position_embeddings=32768" ZOO_BF16),
    ROW("gemma-3-4b", NULL, "gemma3",
        GEMMA3 GEMMA3_TOWER
        "hidden_size=2560 intermediate_size=10240 num_hidden_layers=34" ZOO_BF16),
    ROW("gemma-3-12b", NULL, "gemma3",
        GEMMA3 GEMMA3_TOWER "hidden_size=3840 intermediate_size=15360 num_hidden_layers=48 "
                            "num_attention_heads=16 num_key_value_heads=8" ZOO_BF16),
    ROW("gemma-3-27b", NULL, "gemma3",
        GEMMA3 GEMMA3_TOWER
        "hidden_size=5376 intermediate_size=21504 num_hidden_layers=62 num_attention_heads=32 "
        "num_key_value_heads=16 head_dim=128 query_pre_attn_scalar=168" ZOO_BF16),
    ROW("phi-3-mini-4k", "phi-3-mini phi-3-mini-4k-instruct", "phi3",
        PHI3 " sliding_window=2047" ZOO_BF16),
    ROW("phi-4", NULL, "phi3",
        PHI3 " vocab_size=100352 hidden_size=5120 intermediate_size=17920 num_hidden_layers=40 "
             "num_attention_heads=40 num_key_value_heads=10 rope_theta=250000 "
             "max_position_embeddings=16384" ZOO_BF16),
    ROW("olmo-1b", NULL, "olmo",
        "model_type=olmo " OLMO " hidden_size=2048 intermediate_size=8192 num_hidden_layers=16 "
        "num_attention_heads=16 tie_word_embeddings=true"),
    ROW("olmo-7b", "olmo", "olmo", "model_type=olmo " OLMO),
    ROW("olmo-2-7b", "olmo2-7b olmo-2-1124-7b", "olmo2",
        OLMO2 " vocab_size=100352 rope_theta=500000 rms_norm_eps=1e-6 "
              "max_position_embeddings=4096"),
    ROW("gpt-oss-20b", NULL, "gpt_oss",
        GPT_OSS " num_hidden_layers=24 num_local_experts=32" MXFP4 ZOO_BF16),
    ROW("gpt-oss-120b", "gpt-oss", "gpt_oss", GPT_OSS MXFP4 ZOO_BF16),
    ROW("smollm3-3b", NULL, "smollm3", SMOLLM3 ZOO_BF16),
    ROW("stablelm-3b-4e1t", NULL, "stablelm", STABLELM ZOO_BF16),
    ROW("starcoder2-3b", NULL, "starcoder2", STARCODER2 " sliding_window=4096"),
    ROW("starcoder2-7b", NULL, "starcoder2",
        STARCODER2 " hidden_size=4608 intermediate_size=18432 num_hidden_layers=32 "
                   "num_attention_heads=36 num_key_value_heads=4 sliding_window=4096"),
    ROW("command-r", "c4ai-command-r-v01", "cohere", COHERE ZOO_F16),
    ROW("olmoe-1b-7b", NULL, "olmoe", OLMOE " intermediate_size=1024" ZOO_BF16),
};
const zoo_rows zoo_llama_rows = ZOO_ROWS(rows);

static const zoo_row families[] = {
    ROW("llama", NULL, "llama", LLAMA),
    ROW("mistral", NULL, "mistral", MISTRAL),
    ROW("mixtral", NULL, "mixtral", MIXTRAL),
    ROW("qwen2", NULL, "qwen2", QWEN2),
    ROW("qwen2_moe", NULL, "qwen2_moe", QWEN2_MOE),
    ROW("qwen3", NULL, "qwen3", QWEN3),
    ROW("qwen3_moe", NULL, "qwen3_moe", QWEN3_MOE),
    ROW("gemma", NULL, "gemma", GEMMA),
    ROW("gemma2", NULL, "gemma2", GEMMA2),
    ROW("gemma3_text", NULL, "gemma3_text", GEMMA3),
    ROW("gemma3", NULL, "gemma3", GEMMA3 GEMMA3_IMAGES),
    ROW("phi3", NULL, "phi3", PHI3),
    ROW("olmo", NULL, "olmo", "model_type=olmo " OLMO),
    ROW("olmo2", NULL, "olmo2", OLMO2),
    ROW("gpt_oss", NULL, "gpt_oss", GPT_OSS),
    ROW("olmo3", NULL, "olmo3", OLMO3),
    ROW("olmoe", NULL, "olmoe", OLMOE),
    ROW("smollm3", NULL, "smollm3", SMOLLM3),
    ROW("stablelm", NULL, "stablelm", STABLELM),
    ROW("starcoder2", NULL, "starcoder2", STARCODER2),
    ROW("cohere", NULL, "cohere", COHERE),
    ROW("cohere2", NULL, "cohere2", COHERE " model_type=cohere2 sliding_window=4096"),
    ROW("granite", NULL, "granite", GRANITE),
    ROW("nemotron", NULL, "nemotron", NEMOTRON),
    ROW("glm", NULL, "glm", "model_type=glm " GLM),
    ROW("glm4", NULL, "glm4", "model_type=glm4 " GLM),
    ROW("ernie4_5", NULL, "ernie4_5", ERNIE),
    ROW("arcee", NULL, "arcee", ARCEE),
};
const zoo_rows zoo_llama_families = ZOO_ROWS(families);
