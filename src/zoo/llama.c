/* Llama and its relatives: Mistral, Mixtral, Qwen 2 and 3 and their mixtures, Gemma 1 to 3, Phi-3,
 * OLMo 1 and 2, gpt-oss. One layer with the differences as a row of traits.
 *
 *   embed_tokens; num_hidden_layers times:
 *     x += self_attn(input_layernorm(x));  x += mlp(post_attention_layernorm(x));  norm;  lm_head
 *   self_attn: q_proj, k_proj, v_proj (fewer key and value heads, a head size of their own), rotary
 *   positions on q and k, attention within the window, o_proj
 */
#include "zoo/llama.h"

#include <math.h>

#include "zoo/nn_impl.h"
#include "zoo/zoo.h"

static const lm_trait traits[] = {
    {.model_type = "llama"},
    {.model_type = "mistral", .windows = LM_ALL_WINDOWS},
    {.model_type = "mixtral", .windows = LM_ALL_WINDOWS, .experts = LM_MIXTRAL},
    {.model_type = "qwen2", .windows = LM_LATE_WINDOWS, .qkv_bias = true},
    {.model_type = "qwen2_moe",
     .windows = LM_LATE_WINDOWS,
     .qkv_bias = true,
     .experts = LM_QWEN_MOE},
    {.model_type = "qwen3", .windows = LM_LATE_WINDOWS, .head_norms = true},
    {.model_type = "qwen3_moe",
     .windows = LM_LATE_WINDOWS,
     .head_norms = true,
     .experts = LM_QWEN_MOE},
    {.model_type = "gemma", .plus_one = true, .tied = true},
    {.model_type = "gemma2",
     .windows = LM_EVEN_WINDOWS,
     .plus_one = true,
     .sandwich = true,
     .tied = true},
    {.model_type = "gemma3_text",
     .windows = LM_MOSTLY_WINDOWS,
     .plus_one = true,
     .sandwich = true,
     .head_norms = true,
     .tied = true},
    {.model_type = "phi3", .windows = LM_ALL_WINDOWS, .fused = true},
    {.model_type = "olmo", .no_weights = true},
    {.model_type = "olmo2", .after_only = true, .wide_norms = true},
    {.model_type = "gpt_oss", .windows = LM_EVEN_WINDOWS, .sinks = true, .experts = LM_GPT_OSS},
};

static const lm_trait *trait_of(nn *b)
{
    str type = hf_word((hf){b, NULL}, "model_type", "llama");
    for (size_t i = 0; i < sizeof traits / sizeof *traits; i++)
        if (str_is(type, traits[i].model_type))
            return &traits[i];
    nn_fail(b, "The model type '" STR_FMT "' is not one of this family.", STR_ARG(type));
    return &traits[0];
}

/* ---- parameters ---- */

static double score_scale(hf c, const lm *m)
{
    double by = m->is->sandwich ? hf_real(c, "query_pre_attn_scalar", 256.0) : (double)m->head;
    if (!(by > 0.0))
        nn_fail(c.b, "The parameter 'query_pre_attn_scalar' must be positive.");
    return 1.0 / sqrt(by > 0.0 ? by : 1.0);
}

static lm read_lm(nn *b)
{
    hf c = {b, NULL};
    lm m = {.is = trait_of(b)};
    m.vocab = hf_int(c, "vocab_size", 32000, 1, HF_WIDTH);
    m.width = hf_int(c, "hidden_size", 4096, 1, HF_WIDTH);
    m.layers = hf_int(c, "num_hidden_layers", 32, 1, HF_LAYERS);
    m.heads = hf_int(c, "num_attention_heads", 32, 1, HF_HEADS);
    m.kv_heads = hf_int(c, "num_key_value_heads", m.heads, 1, HF_HEADS);
    m.head = hf_int(c, "head_dim", m.width / m.heads, 1, HF_HEADS);
    m.inner = hf_int(c, "intermediate_size", 4 * m.width, 1, 4 * (int64_t)HF_WIDTH);
    m.eps = hf_real(c, "rms_norm_eps", 1e-6);
    m.attention_bias = hf_bool(c, "attention_bias", false);
    m.mlp_bias = hf_bool(c, "mlp_bias", false);
    m.act = m.is->plus_one ? hf_word(c, "hidden_activation", "gelu_pytorch_tanh")
                           : hf_word(c, "hidden_act", "silu");
    hf_raw(c, "hidden_act");
    m.scale = score_scale(c, &m);
    if (m.is->sandwich)
        m.softcap = hf_real(c, "attn_logit_softcapping", 0.0);
    if (m.is->windows != LM_NO_WINDOW)
        m.window = hf_int(c, "sliding_window", 0, 0, HF_TOKENS);
    return m;
}

static bool listed_as_sliding(nn *b, const zoo_value *list, int64_t i)
{
    if (list->kind == ZOO_LIST && i < list->n && list->items[i].kind == ZOO_STR)
        return str_is(list->items[i].s, "sliding_attention");
    nn_fail(b, "The parameter 'layer_types' must have a word for every layer.");
    return false;
}

static bool slides(nn *b, const lm *m, int64_t i)
{
    hf c = {b, NULL};
    const zoo_value *list = hf_raw(c, "layer_types");
    if (list)
        return listed_as_sliding(b, list, i);
    switch (m->is->windows) {
    case LM_ALL_WINDOWS:
        return true;
    case LM_LATE_WINDOWS:
        return hf_bool(c, "use_sliding_window", false) &&
               i >= hf_int(c, "max_window_layers", 28, 0, HF_LAYERS);
    case LM_EVEN_WINDOWS:
        return i % 2 == 0;
    case LM_MOSTLY_WINDOWS:
        return (i + 1) %
                   hf_int(c, "sliding_window_pattern|_sliding_window_pattern", 6, 1, HF_LAYERS) !=
               0;
    default:
        return false;
    }
}

/* ---- a layer ---- */

static nn_t norm(nn *b, const char *name, nn_t x, const lm *m)
{
    if (m->is->plus_one)
        return hf_rms_plus_one(b, name, x, m->eps);
    if (!m->is->no_weights)
        return nn_rmsnorm(b, name, x, m->eps);
    int64_t n = x.d[x.rank - 1];
    double *ones = nn_ok(b) ? ARENA_ARRAY(b->scratch, double, (size_t)n) : NULL;
    if (!ones)
        return nn_harmless(x);
    for (int64_t i = 0; i < n; i++)
        ones[i] = 1.0;
    nn_t scale = nn_floats_const(b, arena_printf(b->scratch, "%s.ones", name), (int)n, ones);
    const nn_attr attrs[] = {NN_INT("axis", -1), NN_FLOAT("epsilon", 1e-5)};
    return nn_one(b, "LayerNormalization", name, 2, (const nn_t[]){x, scale}, x, 2, attrs);
}

/* OLMo bounds what its projections give. */
static nn_t bounded(nn *b, const char *name, nn_t x, const lm *m)
{
    double most = m->is->no_weights ? hf_real((hf){b, NULL}, "clip_qkv", 0.0) : 0.0;
    if (most <= 0.0)
        return x;
    const nn_t in[] = {x, nn_float_const(b, arena_printf(b->scratch, "%s.min", name), -most),
                       nn_float_const(b, arena_printf(b->scratch, "%s.max", name), most)};
    return nn_one(b, "Clip", name, 3, in, x, 0, NULL);
}

static void project(nn *b, nn_t x, const lm *m, nn_t out[3])
{
    static const char *const names[] = {"q_proj", "k_proj", "v_proj"};
    static const char *const clips[] = {"q_clip", "k_clip", "v_clip"};
    const int64_t wide[] = {m->heads * m->head, m->kv_heads * m->head, m->kv_heads * m->head};
    bool bias = m->is->qkv_bias ? hf_bool((hf){b, NULL}, "qkv_bias", true) : m->attention_bias;
    if (m->is->fused) {
        x = nn_linear(b, "qkv_proj", x, wide[0] + 2 * wide[1], false);
        hf_parts(b, "split", x, 3, wide, out);
        return;
    }
    for (int i = 0; i < 3; i++)
        out[i] = bounded(b, clips[i], nn_linear(b, names[i], x, wide[i], bias), m);
}

static nn_t heads_of(nn *b, const char *name, nn_t x, int64_t heads, const char *normed,
                     const lm *m)
{
    if (m->is->wide_norms && normed)
        x = nn_rmsnorm(b, normed, x, m->eps);
    x = hf_heads(b, name, x, heads);
    return m->is->head_norms && normed ? norm(b, normed, x, m) : x;
}

static nn_t self_attention(nn *b, hf_text *t, nn_t x, const lm *m, int64_t i)
{
    nn_t p[3];
    bool sliding = m->window > 0 && slides(b, m, i);
    const hf_rope *rope = sliding && m->is->windows == LM_MOSTLY_WINDOWS ? &m->local_rope
                                                                         : &m->rope;
    hf_attention a = {.layer = (int)i,
                      .window = sliding ? m->window : 0,
                      .scale = m->scale,
                      .softcap = m->softcap,
                      .bias = NN_ABSENT,
                      .sinks = NN_ABSENT};
    nn_push(b, "self_attn");
    project(b, x, m, p);
    nn_t q = heads_of(b, "q", p[0], m->heads, "q_norm", m);
    nn_t k = heads_of(b, "k", p[1], m->kv_heads, "k_norm", m);
    nn_t v = heads_of(b, "v", p[2], m->kv_heads, NULL, m);
    q = hf_rope_turn(b, "q/rotary", q, rope);
    k = hf_cache(t, a.layer, "key", hf_rope_turn(b, "k/rotary", k, rope), a.window);
    v = hf_cache(t, a.layer, "value", v, a.window);
    if (m->is->sinks)
        a.sinks = nn_param(b, "sinks", 1, &m->heads);
    x = hf_attend(t, q, k, v, &a);
    x = nn_linear(b, "o_proj", x, m->width, m->is->qkv_bias ? false : m->attention_bias);
    nn_pop(b);
    return x;
}

static nn_t layer(nn *b, hf_text *t, nn_t x, const lm *m, int64_t i)
{
    nn_t y = m->is->after_only ? x : norm(b, "input_layernorm", x, m);
    y = self_attention(b, t, y, m, i);
    if (m->is->after_only || m->is->sandwich)
        y = norm(b, "post_attention_layernorm", y, m);
    x = nn_add(b, "add_1", x, y);
    y = x;
    if (m->is->sandwich)
        y = norm(b, "pre_feedforward_layernorm", y, m);
    else if (!m->is->after_only)
        y = norm(b, "post_attention_layernorm", y, m);
    y = lm_feed_forward(b, y, m, i);
    if (m->is->after_only || m->is->sandwich)
        y = norm(b, "post_feedforward_layernorm", y, m);
    return nn_add(b, "add_2", x, y);
}

/* ---- the model ---- */

static void make_ropes(nn *b, const hf_text *t, lm *m)
{
    hf c = {b, NULL};
    double part = hf_real(c, "partial_rotary_factor", 1.0);
    if (nn_has(b, "rope_parameters"))
        part = hf_real((hf){b, "rope_parameters"}, "partial_rotary_factor", part);
    int64_t dim = part > 0.0 && part <= 1.0 ? (int64_t)((double)m->head * part) : m->head;
    double theta = m->is->windows == LM_MOSTLY_WINDOWS ? 1e6 : 1e4;
    m->rope = hf_rope_make(t, m->head, dim, theta, true);
    if (m->is->windows == LM_MOSTLY_WINDOWS)
        m->local_rope = hf_rope_make(t, m->head, dim, hf_real(c, "rope_local_base_freq", 1e4),
                                     false);
}

static void make_masks(nn *b, hf_text *t, const lm *m)
{
    bool done[2] = {false, false};
    for (int64_t i = 0; i < m->layers && nn_ok(b) && !(done[0] && done[1]); i++) {
        bool sliding = m->window > 0 && slides(b, m, i);
        if (!done[sliding])
            hf_mask(t, sliding ? m->window : 0);
        done[sliding] = true;
        if (m->window == 0 || m->is->windows == LM_ALL_WINDOWS)
            return;
    }
}

static void build(nn *b)
{
    hf_ignore(b);
    lm m = read_lm(b);
    lm_head head = lm_head_begin(b, "model", "lm_head", m.is->tied);
    if (m.is->sandwich)
        head.softcap = hf_real((hf){b, NULL}, "final_logit_softcapping", 0.0);
    hf_text t = hf_text_input(b, true, 0);
    t.written_out = m.is->sinks;
    nn_t x = hf_embed(b, "embed_tokens", t.ids, m.vocab, m.width, &head.words);
    if (m.is->plus_one)
        x = nn_scale(b, "embed_scale", x, sqrt((double)m.width));
    make_ropes(b, &t, &m);
    make_masks(b, &t, &m);
    for (int64_t i = 0; i < m.layers && nn_ok(b); i++) {
        nn_push(b, "layers.%d", (int)i);
        x = layer(b, &t, x, &m, i);
        nn_pop(b);
    }
    lm_head_end(b, norm(b, "norm", x, &m), &head);
}

/* ---- rows ---- */

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

#define ROW(name_, alias, family_, set)                                                         \
    {                                                                                           \
        .name = name_, .aliases = alias, .family = family_, .task = "language", .build = build, \
        .defaults = set                                                                         \
    }

static const zoo_row rows[] = {
    ROW("llama-7b", "llama llama-1-7b", "llama", LLAMA),
    ROW("llama-13b", NULL, "llama",
        LLAMA " hidden_size=5120 intermediate_size=13824 num_hidden_layers=40 "
              "num_attention_heads=40"),
    ROW("llama-2-7b", "llama2-7b llama-2-7b-hf", "llama",
        LLAMA " rms_norm_eps=1e-5 max_position_embeddings=4096"),
    ROW("llama-2-13b", "llama2-13b llama-2-13b-hf", "llama",
        LLAMA " hidden_size=5120 intermediate_size=13824 num_hidden_layers=40 "
              "num_attention_heads=40 rms_norm_eps=1e-5 max_position_embeddings=4096"),
    ROW("llama-2-70b", "llama2-70b llama-2-70b-hf", "llama",
        LLAMA SEVENTY " num_key_value_heads=8 rms_norm_eps=1e-5 max_position_embeddings=4096"),
    ROW("llama-3-8b", "llama3-8b meta-llama-3-8b", "llama", LLAMA3),
    ROW("llama-3-70b", "llama3-70b meta-llama-3-70b", "llama", LLAMA3 SEVENTY),
    ROW("llama-3.1-8b", "llama-3.1-8b-instruct", "llama", LLAMA31),
    ROW("llama-3.1-70b", "llama-3.1-70b-instruct llama-3.3-70b", "llama", LLAMA31 SEVENTY),
    ROW("llama-3.1-405b", "llama-3.1-405b-instruct", "llama",
        LLAMA31 " hidden_size=16384 intermediate_size=53248 num_hidden_layers=126 "
                "num_attention_heads=128"),
    ROW("llama-3.2-1b", "llama-3.2-1b-instruct", "llama",
        LLAMA31 " hidden_size=2048 intermediate_size=8192 num_hidden_layers=16 head_dim=64 "
                "tie_word_embeddings=true rope_scaling.factor=32"),
    ROW("llama-3.2-3b", "llama-3.2-3b-instruct", "llama",
        LLAMA31 " hidden_size=3072 intermediate_size=8192 num_hidden_layers=28 "
                "num_attention_heads=24 head_dim=128 tie_word_embeddings=true "
                "rope_scaling.factor=32"),
    ROW("tinyllama-1.1b", "tinyllama", "llama",
        LLAMA " hidden_size=2048 intermediate_size=5632 num_hidden_layers=22 "
              "num_key_value_heads=4 rms_norm_eps=1e-5"),
    ROW("smollm2-135m", NULL, "llama",
        LLAMA " vocab_size=49152 hidden_size=576 intermediate_size=1536 num_hidden_layers=30 "
              "num_attention_heads=9 num_key_value_heads=3 rms_norm_eps=1e-5 rope_theta=100000 "
              "max_position_embeddings=8192 tie_word_embeddings=true"),
    ROW("mistral-7b", "mistral-7b-v0.1 mistral", "mistral",
        MISTRAL " rms_norm_eps=1e-5 max_position_embeddings=32768"),
    ROW("mixtral-8x7b", "mixtral", "mixtral", MIXTRAL),
    ROW("mixtral-8x22b", NULL, "mixtral",
        MIXTRAL " hidden_size=6144 intermediate_size=16384 num_hidden_layers=56 "
                "num_attention_heads=48 max_position_embeddings=65536"),
    ROW("qwen2.5-0.5b", "qwen2-0.5b", "qwen2",
        QWEN25 " hidden_size=896 intermediate_size=4864 num_hidden_layers=24 "
               "num_attention_heads=14 num_key_value_heads=2 tie_word_embeddings=true"),
    ROW("qwen2.5-1.5b", "qwen2-1.5b", "qwen2",
        QWEN25 " hidden_size=1536 intermediate_size=8960 num_hidden_layers=28 "
               "num_attention_heads=12 num_key_value_heads=2 tie_word_embeddings=true"),
    ROW("qwen2.5-7b", "qwen2-7b", "qwen2",
        QWEN25 " vocab_size=152064 hidden_size=3584 intermediate_size=18944 "
               "num_hidden_layers=28 num_attention_heads=28 num_key_value_heads=4"),
    ROW("qwen2.5-72b", "qwen2-72b", "qwen2",
        QWEN25 " vocab_size=152064 hidden_size=8192 intermediate_size=29568 "
               "num_hidden_layers=80 num_attention_heads=64 num_key_value_heads=8"),
    ROW("qwen1.5-moe-a2.7b", NULL, "qwen2_moe", QWEN2_MOE " rope_theta=1000000"),
    ROW("qwen3-0.6b", NULL, "qwen3",
        QWEN3 QWEN3_ROPE " hidden_size=1024 intermediate_size=3072 num_hidden_layers=28 "
                         "num_attention_heads=16 tie_word_embeddings=true"),
    ROW("qwen3-1.7b", NULL, "qwen3",
        QWEN3 QWEN3_ROPE " hidden_size=2048 intermediate_size=6144 num_hidden_layers=28 "
                         "num_attention_heads=16 tie_word_embeddings=true"),
    ROW("qwen3-4b", NULL, "qwen3",
        QWEN3 QWEN3_ROPE " hidden_size=2560 intermediate_size=9728 num_hidden_layers=36 "
                         "tie_word_embeddings=true"),
    ROW("qwen3-8b", "qwen3", "qwen3",
        QWEN3 QWEN3_ROPE " intermediate_size=12288 num_hidden_layers=36"),
    ROW("qwen3-30b-a3b", NULL, "qwen3_moe",
        QWEN3_MOE " head_dim=128 num_hidden_layers=48 rope_theta=1000000 norm_topk_prob=true "
                  "max_position_embeddings=40960"),
    ROW("qwen3-235b-a22b", NULL, "qwen3_moe",
        QWEN3_MOE " head_dim=128 hidden_size=4096 intermediate_size=12288 num_hidden_layers=94 "
                  "num_attention_heads=64 moe_intermediate_size=1536 rope_theta=1000000 "
                  "norm_topk_prob=true max_position_embeddings=40960"),
    ROW("gemma-2b", "gemma", "gemma",
        GEMMA " hidden_size=2048 intermediate_size=16384 num_hidden_layers=18 "
              "num_attention_heads=8 num_key_value_heads=1"),
    ROW("gemma-7b", NULL, "gemma", GEMMA),
    ROW("gemma-2-2b", NULL, "gemma2", GEMMA2),
    ROW("gemma-2-9b", NULL, "gemma2",
        GEMMA2 " hidden_size=3584 intermediate_size=14336 num_hidden_layers=42 "
               "num_attention_heads=16 num_key_value_heads=8"),
    ROW("gemma-3-1b", NULL, "gemma3_text",
        GEMMA3 " vocab_size=262144 hidden_size=1152 intermediate_size=6912 num_attention_heads=4 "
               "num_key_value_heads=1 sliding_window=512 max_position_embeddings=32768"),
    ROW("phi-3-mini-4k", "phi-3-mini phi-3-mini-4k-instruct", "phi3", PHI3 " sliding_window=2047"),
    ROW("phi-4", NULL, "phi3",
        PHI3 " vocab_size=100352 hidden_size=5120 intermediate_size=17920 num_hidden_layers=40 "
             "num_attention_heads=40 num_key_value_heads=10 rope_theta=250000 "
             "max_position_embeddings=16384"),
    ROW("olmo-1b", NULL, "olmo",
        "model_type=olmo " OLMO " hidden_size=2048 intermediate_size=8192 num_hidden_layers=16 "
        "num_attention_heads=16 tie_word_embeddings=true"),
    ROW("olmo-7b", "olmo", "olmo", "model_type=olmo " OLMO),
    ROW("olmo-2-7b", "olmo2-7b olmo-2-1124-7b", "olmo2",
        OLMO2 " vocab_size=100352 rope_theta=500000 rms_norm_eps=1e-6 "
              "max_position_embeddings=4096"),
    ROW("gpt-oss-20b", NULL, "gpt_oss", GPT_OSS " num_hidden_layers=24 num_local_experts=32"),
    ROW("gpt-oss-120b", "gpt-oss", "gpt_oss", GPT_OSS),
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
    ROW("phi3", NULL, "phi3", PHI3),
    ROW("olmo", NULL, "olmo", "model_type=olmo " OLMO),
    ROW("olmo2", NULL, "olmo2", OLMO2),
    ROW("gpt_oss", NULL, "gpt_oss", GPT_OSS),
};
const zoo_rows zoo_llama_families = ZOO_ROWS(families);
