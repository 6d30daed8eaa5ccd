/* SigLIP (transformers' modeling_siglip.py): a vision and a text model whose similarities go through a
 * sigmoid. Patches without a class token; the image is what one query of an attention of its own finds; the text is
 * its last token, and every token sees all.
 */
#include "zoo/clip.h"
#include "zoo/nn_impl.h"
#include "zoo/zoo.h"

/* ---- vision ---- */

static nn_t patches(nn *b, hf c, const clip_tower *m)
{
    int64_t side = hf_int(c, "image_size", 224, 1, HF_HEADS);
    int64_t channels = hf_int(c, "num_channels", 3, 1, HF_HEADS);
    int64_t patch = hf_int(c, "patch_size", 16, 1, HF_HEADS);
    nn_t x = nn_input(b, "pixel_values", IR_FLOAT32, 4, (const int64_t[]){1, channels, side, side});
    nn_push(b, "embeddings");
    x = NN_CONV(b, "patch_embedding", x, .out = m->width, .k = patch, .stride = patch);
    x = nn_swap(b, "transpose", nn_flatten(b, "flatten", x, 2));
    nn_t at = hf_positions(b, 0, x.d[1], x.d[1]);
    return nn_leave(
        b, nn_add(b, "add", x, nn_embedding(b, "position_embedding", at, x.d[1], m->width)));
}

/* torch's MultiheadAttention: one weight [3*width, width] of which the queries take the first third. */
static nn_t third(nn *b, const char *name, nn_t x, nn_t w, nn_t bias, int part)
{
    int64_t width = w.d[1], from = part * width;
    nn_t rows = nn_slice(b, arena_printf(b->scratch, "%s/weight", name), w, 0, from, from + width);
    nn_t add = nn_slice(b, arena_printf(b->scratch, "%s/bias", name), bias, 0, from, from + width);
    return hf_tied(b, name, x, rows, add);
}

static nn_t probe_attention(nn *b, nn_t x, const clip_tower *m)
{
    hf_text t = {.b = b, .mask = NN_ABSENT, .batch = x.d[0], .seq = 1};
    int64_t width = m->width, three = 3 * width;
    nn_t probe = nn_param(b, "probe", 3, (const int64_t[]){1, 1, width});
    probe = nn_expand(b, "probe/expand", probe, 3, (const int64_t[]){x.d[0], 1, width});
    nn_push(b, "attention");
    nn_t w = nn_param(b, "in_proj_weight", 2, (const int64_t[]){three, width});
    nn_t bias = nn_param(b, "in_proj_bias", 1, &three);
    nn_t q = nn_split_heads(b, "q", third(b, "q_proj", probe, w, bias, 0), m->heads);
    nn_t k = nn_split_heads(b, "k", third(b, "k_proj", x, w, bias, 1), m->heads);
    nn_t v = nn_split_heads(b, "v", third(b, "v_proj", x, w, bias, 2), m->heads);
    return nn_leave(
        b, nn_linear(b, "out_proj", hf_attend(&t, q, k, v, HF_ATTENTION(.layer = 0)), width, true));
}

static nn_t pooling_head(nn *b, nn_t x, const clip_tower *m)
{
    nn_push(b, "head");
    x = probe_attention(b, x, m);
    x = nn_add(b, "add", x, clip_mlp(b, nn_layernorm(b, "layernorm", x, m->eps), m));
    return nn_leave(b, nn_squeeze(b, "squeeze", x, 1));
}

nn_t siglip_vision(nn *b, hf c, nn_t *pooled)
{
    clip_tower m = clip_tower_read(c);
    nn_push(b, "vision_model");
    nn_t x = clip_encoder(b, patches(b, c, &m), &m, false);
    x = nn_layernorm(b, "post_layernorm", x, m.eps);
    *pooled = hf_bool(c, "vision_use_head", true) ? pooling_head(b, x, &m) : NN_ABSENT;
    return nn_leave(b, x);
}

/* ---- text ---- */

static nn_t text_model(nn *b, hf c, nn_t *pooled)
{
    clip_tower m = clip_tower_read(c);
    int64_t vocab = hf_int(c, "vocab_size", 32000, 1, HF_WIDTH);
    int64_t places = hf_int(c, "max_position_embeddings", 64, 1, HF_TOKENS);
    int64_t seq = nn_int_in(b, "seq_len", places, 1, HF_TOKENS);
    int64_t wide = hf_int(c, "projection_size", m.width, 1, HF_WIDTH);
    nn_t ids = nn_input(b, "input_ids", IR_INT64, 2, (const int64_t[]){1, seq});
    nn_push(b, "text_model");
    nn_t x = nn_embedding(b, "embeddings.token_embedding", ids, vocab, m.width);
    nn_t at = hf_positions(b, 0, ids.d[1], places);
    nn_t p = nn_embedding(b, "embeddings.position_embedding", at, places, m.width);
    x = clip_encoder(b, nn_add(b, "embeddings.add", x, p), &m, false);
    x = nn_layernorm(b, "final_layer_norm", x, m.eps);
    nn_t last = nn_slice(b, "last", x, 1, x.d[1] - 1, x.d[1]);
    *pooled = nn_linear(b, "head", nn_squeeze(b, "last/squeeze", last, 1), wide, true);
    return nn_leave(b, x);
}

/* ---- classes ---- */

static void build_text(nn *b)
{
    nn_t pooled;
    hf_ignore(b);
    hf_architecture(b, HF_MODEL);
    nn_output(b, text_model(b, (hf){b, NULL}, &pooled), "last_hidden_state");
    nn_output(b, pooled, "pooler_output");
}

static void build_vision(nn *b)
{
    nn_t pooled;
    hf_ignore(b);
    hf_architecture(b, HF_MODEL);
    nn_output(b, siglip_vision(b, (hf){b, NULL}, &pooled), "last_hidden_state");
    if (pooled.id != IR_NONE)
        nn_output(b, pooled, "pooler_output");
}

static void build_both(nn *b)
{
    nn_t text, image;
    int64_t one = 1;
    hf_ignore(b);
    if (hf_architecture(b, HF_MODEL) != HF_MODEL)
        nn_refuse(b, "unsupported SigLIP class. Use SiglipModel.");
    text_model(b, (hf){b, "text_config"}, &text);
    siglip_vision(b, (hf){b, "vision_config"}, &image);
    if (nn_ok(b) && image.id == IR_NONE)
        nn_fail(b, "parameter 'vision_config.vision_use_head' must be true");
    image = clip_unit(b, "image/unit", image);
    text = clip_unit(b, "text/unit", text);
    nn_t scale = nn_plain(b, "Exp", "logit_scale/exp", nn_param(b, "logit_scale", 1, &one));
    nn_t logits = nn_matmul(b, "similarity", text, nn_swap(b, "image/transpose", image));
    logits = nn_mul(b, "scale", logits, scale);
    logits = nn_add(b, "bias", logits, nn_param(b, "logit_bias", 1, &one));
    nn_output(b, nn_swap(b, "logits/transpose", logits), "logits_per_image");
    nn_output(b, logits, "logits_per_text");
    nn_output(b, text, "text_embeds");
    nn_output(b, image, "image_embeds");
}

#define TEXT(in)                                                                                \
    in "vocab_size=32000 " in "hidden_size=768 " in "intermediate_size=3072 " in                \
       "num_hidden_layers=12 " in "num_attention_heads=12 " in "max_position_embeddings=64 " in \
       "hidden_act=gelu_pytorch_tanh " in "layer_norm_eps=1e-6 "
#define BOTH "model_type=siglip " TEXT("text_config.") SIGLIP_VISION("vision_config.")
#define ROW(name_, alias, family_, task_, build_, set) \
    ZOO_ROW(name_, alias, family_, task_, build_, set)

static const zoo_row rows[] = {
    ROW("siglip-base-patch16-224", "siglip", "siglip", "image-text", build_both, BOTH),
};
const zoo_rows zoo_siglip_rows = ZOO_ROWS(rows);

static const zoo_row families[] = {
    ROW("siglip", NULL, "siglip", "image-text", build_both, BOTH),
    ROW("siglip_text_model", NULL, "siglip_text_model", "embedding", build_text, TEXT("")),
    ROW("siglip_vision_model", NULL, "siglip_vision_model", "embedding", build_vision,
        SIGLIP_VISION("")),
};
const zoo_rows zoo_siglip_families = ZOO_ROWS(families);
