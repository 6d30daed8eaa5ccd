/* Llama and its relatives: Mistral, Mixtral, Qwen 2 and 3 and their mixtures, Gemma 1 to 3, Phi-3,
 * OLMo 1 to 3 and OLMoE, gpt-oss, SmolLM3, StableLM, StarCoder2, Cohere, Granite, Nemotron, GLM, ERNIE, Arcee. One
 * layer with the differences as a row of traits; names and defaults are in llama_rows.c.
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
    {"mistral", .windows = LM_ALL_WINDOWS},
    {"mixtral", .windows = LM_ALL_WINDOWS, .experts = LM_MIXTRAL},
    {"qwen2", .windows = LM_LATE_WINDOWS, .qkv_bias = "qkv_bias", .biased = true},
    {"qwen2_moe", .windows = LM_LATE_WINDOWS, .qkv_bias = "qkv_bias", .biased = true,
     .experts = LM_QWEN_MOE, .shared = true},
    {"qwen3", .windows = LM_LATE_WINDOWS, .head_norms = true},
    {"qwen3_moe", .windows = LM_LATE_WINDOWS, .head_norms = true, .experts = LM_QWEN_MOE},
    {"gemma", .norms = LM_RMS_PLUS_ONE, .tied = true},
    {"gemma2", .windows = LM_EVEN_WINDOWS, .norms = LM_RMS_PLUS_ONE, .sandwich = true,
     .tied = true},
    {"gemma3_text", .windows = LM_MOSTLY_WINDOWS, .pattern = 6, .local_rope = true,
     .norms = LM_RMS_PLUS_ONE, .sandwich = true, .head_norms = true, .tied = true},
    {"gemma3", .windows = LM_MOSTLY_WINDOWS, .pattern = 6, .local_rope = true,
     .norms = LM_RMS_PLUS_ONE, .sandwich = true, .head_norms = true, .images = true, .tied = true},
    {"phi3", .windows = LM_ALL_WINDOWS, .fused = true, .mlp = LM_FUSED},
    {"olmo", .norms = LM_LN_BARE},
    {"olmo2", .after_only = true, .wide_norms = true},
    {"olmo3", .windows = LM_MOSTLY_WINDOWS, .pattern = 4, .after_only = true, .wide_norms = true},
    {"olmoe", .wide_norms = true, .experts = LM_OLMOE},
    {"gpt_oss", .windows = LM_EVEN_WINDOWS, .sinks = true, .experts = LM_GPT_OSS},
    {"smollm3", .windows = LM_LATE_WINDOWS, .skips_rope = true, .tied = true},
    {"stablelm", .norms = LM_LN, .qkv_bias = "use_qkv_bias", .rope_part = 0.25,
     .maybe_parallel = true, .each_head_norms = "qk_layernorm"},
    {"starcoder2", .windows = LM_ALL_WINDOWS, .norms = LM_LN, .all_bias = "use_bias",
     .biased = true, .mlp = LM_PLAIN, .up = "c_fc", .down = "c_proj", .tied = true},
    {"cohere", .norms = LM_LN_WEIGHT, .parallel = true, .interleaved = true,
     .each_head_norms = "use_qk_norm", .logit_scale = true, .tied = true},
    {"cohere2", .windows = LM_MOSTLY_WINDOWS, .pattern = 4, .rope_in_windows = true,
     .norms = LM_LN_WEIGHT, .parallel = true, .interleaved = true, .logit_scale = true,
     .tied = true},
    {"granite", .multipliers = true},
    {"nemotron", .norms = LM_LN_PLUS_ONE, .rope_part = 0.5, .mlp = LM_PLAIN, .up = "up_proj",
     .down = "down_proj"},
    {"glm", .qkv_bias = "attention_bias", .biased = true, .rope_part = 0.5, .interleaved = true,
     .mlp = LM_FUSED},
    {"glm4", .qkv_bias = "attention_bias", .biased = true, .rope_part = 0.5, .interleaved = true,
     .mlp = LM_FUSED, .glm_norms = true},
    {"ernie4_5", .all_bias = "use_bias", .interleaved = true, .tied = true},
    {"arcee", .mlp = LM_PLAIN, .up = "up_proj", .down = "down_proj"},
};

static const lm_trait *trait_of(nn *b)
{
    str type = hf_word((hf){b, NULL}, "model_type", "llama");
    for (size_t i = 0; i < sizeof traits / sizeof *traits; i++)
        if (str_is(type, traits[i].model_type))
            return &traits[i];
    nn_fail(b, "model type '" STR_FMT "' does not belong to this family", STR_ARG(type));
    return &traits[0];
}

/* ---- parameters ---- */

static double score_scale(hf c, const lm *m)
{
    if (m->is->multipliers)
        return hf_real(c, "attention_multiplier", 1.0);
    double by = m->is->sandwich ? hf_real(c, "query_pre_attn_scalar", 256.0) : (double)m->head;
    if (!(by > 0.0))
        nn_fail(c.b, "parameter 'query_pre_attn_scalar' must be positive");
    return 1.0 / sqrt(by > 0.0 ? by : 1.0);
}

/* Of q, k and v; of the output; of the MLP. A family has one key for all of them, one for q, k and v, or
 * one for attention and one for the MLP. */
static void read_biases(hf c, lm *m)
{
    const lm_trait *is = m->is;
    const char *key = is->all_bias ? is->all_bias : is->qkv_bias;
    m->qkv_bias = hf_bool(c, key ? key : "attention_bias", is->biased);
    m->out_bias = is->qkv_bias ? false : m->qkv_bias;
    m->mlp_bias = is->all_bias ? m->qkv_bias : hf_bool(c, "mlp_bias", false);
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
    m.eps = hf_real(c, "rms_norm_eps|layer_norm_eps|norm_epsilon|norm_eps", 1e-6);
    read_biases(c, &m);
    m.act = m.is->norms == LM_RMS_PLUS_ONE ? hf_word(c, "hidden_activation", "gelu_pytorch_tanh")
                                           : hf_word(c, "hidden_act", "silu");
    hf_raw(c, "hidden_act");
    m.parallel = m.is->parallel ||
                 (m.is->maybe_parallel && hf_bool(c, "use_parallel_residual", false));
    m.residual = m.is->multipliers ? hf_real(c, "residual_multiplier", 1.0) : 1.0;
    m.scale = score_scale(c, &m);
    if (m.is->sandwich)
        m.softcap = hf_real(c, "attn_logit_softcapping", 0.0);
    if (m.is->windows != LM_NO_WINDOW)
        m.window = hf_int(c, "sliding_window", 0, 0, HF_TOKENS);
    return m;
}

static bool listed_as_sliding(nn *b, const json_value *list, int64_t i)
{
    if (list->kind == JSON_LIST && i < list->n && list->items[i].kind == JSON_TEXT)
        return str_is(list->items[i].s, "sliding_attention");
    nn_fail(b, "parameter 'layer_types' must have one item per layer");
    return false;
}

static bool slides(nn *b, const lm *m, int64_t i)
{
    hf c = {b, NULL};
    const json_value *list = hf_raw(c, "layer_types");
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
        return (i + 1) % hf_int(c, "sliding_window_pattern|_sliding_window_pattern", m->is->pattern,
                                1, HF_LAYERS) !=
               0;
    default:
        return false;
    }
}

/* ---- a layer ---- */

/* LayerNormalization without a bias, and with a weight that is given. */
static nn_t scaled_norm(nn *b, const char *name, nn_t x, nn_t scale, double eps)
{
    const nn_attr attrs[] = {NN_INT("axis", -1), NN_FLOAT("epsilon", eps)};
    return nn_one(b, "LayerNormalization", name, 2, (const nn_t[]){x, scale}, x, 2, attrs);
}

static nn_t bare_norm(nn *b, const char *name, nn_t x, double eps)
{
    int64_t n = x.d[x.rank - 1];
    double *ones = nn_ok(b) ? ARENA_ARRAY(b->scratch, double, (size_t)n) : NULL;
    if (!ones)
        return nn_harmless(x);
    for (int64_t i = 0; i < n; i++)
        ones[i] = 1.0;
    nn_t scale = nn_floats_const(b, arena_printf(b->scratch, "%s.ones", name), (int)n, ones);
    return scaled_norm(b, name, x, scale, eps);
}

/* Nemotron: by 1 + weight, and a bias. */
static nn_t plus_one_norm(nn *b, const char *name, nn_t x, double eps)
{
    int64_t n = x.d[x.rank - 1];
    nn_t weight = nn_param(b, arena_printf(b->scratch, "%s.weight", name), 1, &n);
    nn_t one = nn_float_const(b, arena_printf(b->scratch, "%s.one", name), 1.0);
    nn_t factor = nn_add(b, arena_printf(b->scratch, "%s.factor", name), weight, one);
    x = scaled_norm(b, name, x, factor, eps);
    return nn_add(b, arena_printf(b->scratch, "%s/bias", name), x,
                  nn_param(b, arena_printf(b->scratch, "%s.bias", name), 1, &n));
}

static nn_t norm(nn *b, const char *name, nn_t x, const lm *m)
{
    switch (m->is->norms) {
    case LM_RMS_PLUS_ONE:
        return hf_rms_plus_one(b, name, x, m->eps);
    case LM_LN:
        return nn_layernorm(b, name, x, m->eps);
    case LM_LN_WEIGHT:
        return scaled_norm(
            b, name, x,
            nn_param(b, arena_printf(b->scratch, "%s.weight", name), 1, &x.d[x.rank - 1]), m->eps);
    case LM_LN_PLUS_ONE:
        return plus_one_norm(b, name, x, m->eps);
    case LM_LN_BARE:
        return bare_norm(b, name, x, 1e-5);
    default:
        return nn_rmsnorm(b, name, x, m->eps);
    }
}

/* A norm of every head by a separate weight: [heads, size], or one tensor per head. x [B, H, S, D]. */
static nn_t each_head_norm(nn *b, const char *name, nn_t x, const lm *m)
{
    int64_t heads = x.d[1], size = x.d[3];
    nn_t parts[HF_EACH_HEAD], w;
    if (m->is->maybe_parallel && nn_ok(b) && heads <= HF_EACH_HEAD) { /* StableLM */
        for (int i = 0; i < (int)heads; i++)
            parts[i] = nn_param(b,
                                arena_printf(b->scratch, "%sorm.norms.%d.weight",
                                             *name == 'q' ? "q_layern" : "k_layern", i),
                                1, &size);
        w = nn_concat(b, arena_printf(b->scratch, "%s/weights", name), (int)heads, parts, 0);
    } else {
        w = nn_param(b, arena_printf(b->scratch, "%s.weight", name), 2,
                     (const int64_t[]){heads, size});
    }
    w = nn_reshape(b, arena_printf(b->scratch, "%s/weight", name), w, 4,
                   (const int64_t[]){1, heads, 1, size});
    return nn_mul(b, arena_printf(b->scratch, "%s/mul", name), bare_norm(b, name, x, m->eps), w);
}

/* OLMo bounds what its projections give. */
static nn_t bounded(nn *b, const char *name, nn_t x, const lm *m)
{
    bool olmo = m->is->norms == LM_LN_BARE || m->is->experts == LM_OLMOE;
    double most = olmo ? hf_real((hf){b, NULL}, "clip_qkv", 0.0) : 0.0;
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
    if (m->is->fused) {
        x = nn_linear(b, "qkv_proj", x, wide[0] + 2 * wide[1], false);
        hf_parts(b, "split", x, 3, wide, out);
        return;
    }
    for (int i = 0; i < 3; i++)
        out[i] = nn_linear(b, names[i], x, wide[i], m->qkv_bias);
    for (int i = 0; i < 3 && m->is->experts != LM_OLMOE; i++)
        out[i] = bounded(b, clips[i], out[i], m);
}

static nn_t heads_of(nn *b, const char *name, nn_t x, int64_t heads, const char *normed,
                     const lm *m)
{
    if (m->is->wide_norms && normed)
        x = nn_rmsnorm(b, normed, x, m->eps);
    if (m->is->experts == LM_OLMOE) /* bounds after its norms */
        x = bounded(b, arena_printf(b->scratch, "%s_clip", name), x, m);
    x = nn_split_heads(b, name, x, heads);
    if (normed && m->is->each_head_norms && hf_bool((hf){b, NULL}, m->is->each_head_norms, false))
        return each_head_norm(b, normed, x, m);
    return m->is->head_norms && normed ? norm(b, normed, x, m) : x;
}

/* SmolLM3: every fourth layer knows no positions. */
static bool no_rope(nn *b, int64_t i)
{
    hf c = {b, NULL};
    const json_value *list = hf_raw(c, "no_rope_layers");
    int64_t step = hf_int(c, "no_rope_layer_interval", 4, 1, HF_LAYERS);
    if (list && list->kind == JSON_LIST && i < list->n)
        return list->items[i].kind == JSON_INT && list->items[i].i == 0;
    return (i + 1) % step == 0;
}

static nn_t self_attention(nn *b, hf_text *t, nn_t x, const lm *m, int64_t i)
{
    nn_t p[3];
    bool sliding = m->window > 0 && slides(b, m, i);
    const hf_rope *rope = sliding && m->is->local_rope ? &m->local_rope : &m->rope;
    bool turned = !(m->is->rope_in_windows && !slides(b, m, i)) &&
                  !(m->is->skips_rope && no_rope(b, i));
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
    if (turned) {
        q = hf_rope_turn(b, "q/rotary", q, rope);
        k = hf_rope_turn(b, "k/rotary", k, rope);
    }
    k = hf_cache(t, a.layer, "key", k, a.window);
    v = hf_cache(t, a.layer, "value", v, a.window);
    if (m->is->sinks)
        a.sinks = nn_param(b, "sinks", 1, &m->heads);
    x = hf_attend(t, q, k, v, &a);
    return nn_leave(b, nn_linear(b, "o_proj", x, m->width, m->out_bias));
}

static nn_t joined(nn *b, const char *name, nn_t x, nn_t y, const lm *m)
{
    if (m->residual != 1.0)
        y = nn_scale(b, arena_printf(b->scratch, "%s/scale", name), y, m->residual);
    return nn_add(b, name, x, y);
}

/* Attention and MLP read the same norm. */
static nn_t parallel_layer(nn *b, hf_text *t, nn_t x, const lm *m, int64_t i)
{
    nn_t n = norm(b, "input_layernorm", x, m), y = self_attention(b, t, n, m, i);
    nn_t z = lm_feed_forward(b, n, m, i);
    return nn_add(b, "add_2", nn_add(b, "add_1", x, y), z);
}

static nn_t layer(nn *b, hf_text *t, nn_t x, const lm *m, int64_t i)
{
    bool after = m->is->after_only || m->is->sandwich;
    if (m->parallel)
        return parallel_layer(b, t, x, m, i);
    nn_t y = m->is->after_only ? x : norm(b, "input_layernorm", x, m);
    y = self_attention(b, t, y, m, i);
    if (after || m->is->glm_norms)
        y = norm(b, after ? "post_attention_layernorm" : "post_self_attn_layernorm", y, m);
    x = joined(b, "add_1", x, y, m);
    y = x;
    if (!m->is->after_only)
        y = norm(b, m->is->sandwich ? "pre_feedforward_layernorm" : "post_attention_layernorm", y,
                 m);
    y = lm_feed_forward(b, y, m, i);
    if (after || m->is->glm_norms)
        y = norm(b, after ? "post_feedforward_layernorm" : "post_mlp_layernorm", y, m);
    return joined(b, "add_2", x, y, m);
}

/* ---- the model ---- */

static void make_ropes(nn *b, const hf_text *t, lm *m)
{
    hf c = {b, NULL};
    double part = hf_real(c, "partial_rotary_factor|rope_pct",
                          m->is->rope_part > 0.0 ? m->is->rope_part : 1.0);
    if (nn_has(b, "rope_parameters"))
        part = hf_real((hf){b, "rope_parameters"}, "partial_rotary_factor", part);
    int64_t dim = part > 0.0 && part <= 1.0 ? (int64_t)((double)m->head * part) : m->head;
    m->rope = hf_rope_make(t, m->head, dim, m->is->local_rope ? 1e6 : 1e4, true);
    m->rope.interleaved = m->is->interleaved;
    if (m->is->local_rope)
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

/* The prompt of an image model has one, unless images=0 or a past says that it was read before. */
static bool with_images(nn *b)
{
    hf_lift(b, "text_config");
    return nn_int_in(b, "images", 1, 0, 1) > 0 && nn_int_in(b, "past", 0, 0, HF_TOKENS) == 0;
}

void lm_build(nn *b)
{
    hf_ignore(b);
    bool images = trait_of(b)->images && with_images(b);
    lm m = read_lm(b);
    nn_t image = images ? gemma3_images(b, m.width) : NN_ABSENT;
    if (m.is->images)
        nn_push(b, "language_model");
    lm_head head = lm_head_begin(b, "model", "lm_head", m.is->tied);
    if (m.is->sandwich)
        head.softcap = hf_real((hf){b, NULL}, "final_logit_softcapping", 0.0);
    if (m.is->multipliers)
        head.scale = 1.0 / hf_real((hf){b, NULL}, "logits_scaling", 1.0);
    if (m.is->logit_scale)
        head.scale = hf_real((hf){b, NULL}, "logit_scale", 0.0625);
    hf_text t = hf_text_prompt(b, images ? gemma3_seq_len(b) : 128);
    t.written_out = m.is->sinks;
    nn_t x = hf_embed(b, "embed_tokens", t.ids, m.vocab, m.width, &head.words);
    if (m.is->norms == LM_RMS_PLUS_ONE)
        x = nn_scale(b, "embed_scale", x, sqrt((double)m.width));
    if (images)
        x = gemma3_join(b, x, image);
    if (m.is->multipliers)
        x = nn_scale(b, "embed_scale", x, hf_real((hf){b, NULL}, "embedding_multiplier", 1.0));
    make_ropes(b, &t, &m);
    make_masks(b, &t, &m);
    for (int64_t i = 0; i < m.layers && nn_ok(b); i++)
        x = NN_UNDER(b, layer(b, &t, x, &m, i), "layers.%d", (int)i);
    x = norm(b, "norm", x, &m);
    if (m.is->images && !head.scoped)
        nn_pop(b);
    lm_head_end(b, x, &head);
}
