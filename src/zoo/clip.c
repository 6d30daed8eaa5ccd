/* CLIP (transformers' modeling_clip.py): the text model, the vision model, each with its
 * projection, and both together. Layers normalise before each part; the text sees only what came
 * before.
 *
 * clip_text_model and clip_vision_model have their keys at the top of config.json, clip has them in
 * text_config and vision_config.
 */
#include "zoo/clip.h"
#include "zoo/nn_impl.h"
#include "zoo/zoo.h"

clip_tower clip_tower_read(hf c)
{
    hf_raw(c, "projection_dim");
    return (clip_tower){.width = hf_int(c, "hidden_size", 512, 1, HF_WIDTH),
                        .inner = hf_int(c, "intermediate_size", 2048, 1, HF_WIDTH),
                        .layers = hf_int(c, "num_hidden_layers", 12, 1, HF_LAYERS),
                        .heads = hf_int(c, "num_attention_heads", 8, 1, HF_HEADS),
                        .eps = hf_real(c, "layer_norm_eps", 1e-5),
                        .act = hf_word(c, "hidden_act", "quick_gelu")};
}

/* ---- layers ---- */

static nn_t attention(nn *b, hf_text *t, nn_t x, const clip_tower *m)
{
    nn_push(b, "self_attn");
    nn_t k = nn_split_heads(b, "k", nn_linear(b, "k_proj", x, m->width, true), m->heads);
    nn_t v = nn_split_heads(b, "v", nn_linear(b, "v_proj", x, m->width, true), m->heads);
    nn_t q = nn_split_heads(b, "q", nn_linear(b, "q_proj", x, m->width, true), m->heads);
    return nn_leave(b, nn_linear(b, "out_proj", hf_attend(t, q, k, v, HF_ATTENTION(.layer = 0)),
                                 m->width, true));
}

nn_t clip_mlp(nn *b, nn_t x, const clip_tower *m)
{
    nn_push(b, "mlp");
    x = hf_act(b, "activation_fn", nn_linear(b, "fc1", x, m->inner, true), m->act);
    return nn_leave(b, nn_linear(b, "fc2", x, m->width, true));
}

static nn_t layer(nn *b, hf_text *t, nn_t x, const clip_tower *m)
{
    x = nn_add(b, "add_1", x, attention(b, t, nn_layernorm(b, "layer_norm1", x, m->eps), m));
    nn_t y = nn_layernorm(b, "layer_norm2", x, m->eps);
    return nn_add(b, "add_2", x, clip_mlp(b, y, m));
}

nn_t clip_encoder(nn *b, nn_t x, const clip_tower *m, bool causal)
{
    hf_text t = {.b = b, .mask = NN_ABSENT, .causal = causal, .batch = x.d[0], .seq = x.d[1]};
    for (int i = 0; i < (int)m->layers && nn_ok(b); i++)
        x = NN_UNDER(b, layer(b, &t, x, m), "encoder.layers.%d", i);
    return x;
}

/* ---- text ---- */

/* The row of the end of the text, which has the highest id. */
static nn_t at_end(nn *b, nn_t x, nn_t ids)
{
    const int64_t n[] = {x.d[0], 1, 1}, wide[] = {x.d[0], 1, x.d[2]};
    const nn_attr attrs[] = {NN_INT("axis", 1), NN_INT("keepdims", 1)};
    nn_t at = nn_one(b, "ArgMax", "end", 1, &ids, NN_I64(x.d[0], 1), 2, attrs);
    at = nn_expand(b, "end/expand", nn_reshape(b, "end/reshape", at, 3, n), 3, wide);
    nn_t out = x;
    out.d[1] = 1;
    x = nn_one(b, "GatherElements", "pooled", 2, (const nn_t[]){x, at}, out, 1, &NN_INT("axis", 1));
    return nn_squeeze(b, "pooled/squeeze", x, 1);
}

/* All tokens, and the one at the end in *pooled. */
static nn_t text_model(nn *b, hf c, nn_t *pooled)
{
    clip_tower m = clip_tower_read(c);
    int64_t vocab = hf_int(c, "vocab_size", 49408, 1, HF_WIDTH);
    int64_t places = hf_int(c, "max_position_embeddings", 77, 1, HF_TOKENS);
    int64_t seq = nn_int_in(b, "seq_len", places < 77 ? places : 77, 1, HF_TOKENS);
    nn_t ids = nn_input(b, "input_ids", IR_INT64, 2, (const int64_t[]){1, seq});
    nn_push(b, "text_model");
    nn_t x = nn_embedding(b, "embeddings.token_embedding", ids, vocab, m.width);
    nn_t at = hf_positions(b, 0, ids.d[1], places);
    nn_t p = nn_embedding(b, "embeddings.position_embedding", at, places, m.width);
    x = clip_encoder(b, nn_add(b, "embeddings.add", x, p), &m, true);
    x = nn_layernorm(b, "final_layer_norm", x, m.eps);
    *pooled = at_end(b, x, ids);
    return nn_leave(b, x);
}

/* ---- vision ---- */

static nn_t patches(nn *b, nn_t x, int64_t patch, const clip_tower *m)
{
    if (nn_ok(b) && (x.d[2] % patch || x.d[3] % patch))
        nn_fail(b, "a %lldx%lld image is not divisible into patches of %lld", (long long)x.d[2],
                (long long)x.d[3], (long long)patch);
    nn_push(b, "embeddings");
    x = NN_CONV(b, "patch_embedding", x, .out = m->width, .k = patch, .stride = patch,
                .no_bias = true);
    x = nn_swap(b, "transpose", nn_flatten(b, "flatten", x, 2));
    nn_t class = nn_param(b, "class_embedding", 1, &m->width);
    class = nn_expand(b, "expand", class, 3, (const int64_t[]){x.d[0], 1, m->width});
    x = nn_concat(b, "cat", 2, (const nn_t[]){class, x}, 1);
    nn_t p = nn_param(b, "position_embedding.weight", 2, (const int64_t[]){x.d[1], m->width});
    return nn_leave(b, nn_add(b, "position_embedding", x, p));
}

static nn_t vision_model(nn *b, hf c, nn_t *pooled)
{
    clip_tower m = clip_tower_read(c);
    int64_t side = hf_int(c, "image_size", 224, 1, HF_HEADS);
    int64_t channels = hf_int(c, "num_channels", 3, 1, HF_HEADS);
    int64_t patch = hf_int(c, "patch_size", 32, 1, HF_HEADS);
    nn_t x = nn_input(b, "pixel_values", IR_FLOAT32, 4, (const int64_t[]){1, channels, side, side});
    nn_push(b, "vision_model");
    x = nn_layernorm(b, "pre_layrnorm", patches(b, x, patch, &m),
                     m.eps); /* the library's spelling */
    x = clip_encoder(b, x, &m, false);
    nn_t first = nn_squeeze(b, "token/squeeze", nn_slice(b, "token", x, 1, 0, 1), 1);
    *pooled = nn_layernorm(b, "post_layernorm", first, m.eps);
    return nn_leave(b, x);
}

/* ---- classes ---- */

nn_t clip_unit(nn *b, const char *name, nn_t x)
{
    nn_t length = x;
    length.d[1] = 1;
    const nn_t in[] = {
        x, nn_ints_const(b, arena_printf(b->scratch, "%s.axes", name), 1, (const int64_t[]){1})};
    length = nn_one(b, "ReduceL2", arena_printf(b->scratch, "%s/length", name), 2, in, length, 1,
                    &NN_INT("keepdims", 1));
    return nn_binary(b, "Div", name, x, length);
}

static void build_both(nn *b)
{
    nn_t text, image;
    hf_ignore(b);
    if (hf_architecture(b, HF_MODEL) != HF_MODEL)
        nn_refuse(b, "unsupported CLIP class. Use CLIPModel, or the configuration of the text or "
                     "vision model.");
    int64_t wide = hf_int((hf){b, NULL}, "projection_dim", 512, 1, HF_WIDTH);
    text_model(b, (hf){b, "text_config"}, &text);
    vision_model(b, (hf){b, "vision_config"}, &image);
    hf_raw((hf){b, NULL}, "text_config_dict|vision_config_dict");
    image = clip_unit(b, "image/unit", nn_linear(b, "visual_projection", image, wide, false));
    text = clip_unit(b, "text/unit", nn_linear(b, "text_projection", text, wide, false));
    nn_t scale = nn_param(b, "logit_scale", 0, NULL);
    scale = nn_plain(b, "Exp", "logit_scale/exp", scale);
    nn_t logits = nn_matmul(b, "similarity", text, nn_swap(b, "image/transpose", image));
    logits = nn_mul(b, "scale", logits, scale);
    nn_output(b, nn_swap(b, "logits/transpose", logits), "logits_per_image");
    nn_output(b, logits, "logits_per_text");
    nn_output(b, text, "text_embeds");
    nn_output(b, image, "image_embeds");
}

static void finish(nn *b, nn_t x, nn_t pooled, const char *projection, const char *output)
{
    int64_t wide = hf_int((hf){b, NULL}, "projection_dim", 512, 1, HF_WIDTH);
    hf_class class = hf_architecture(b, HF_MODEL);
    if (class == HF_PROJECTION)
        nn_output(b, nn_linear(b, projection, pooled, wide, false), output);
    nn_output(b, x, "last_hidden_state");
    if (class != HF_PROJECTION)
        nn_output(b, pooled, "pooler_output");
}

static void build_text(nn *b)
{
    nn_t pooled;
    hf_ignore(b);
    nn_t x = text_model(b, (hf){b, NULL}, &pooled);
    finish(b, x, pooled, "text_projection", "text_embeds");
}

static void build_vision(nn *b)
{
    nn_t pooled;
    hf_ignore(b);
    nn_t x = vision_model(b, (hf){b, NULL}, &pooled);
    finish(b, x, pooled, "visual_projection", "image_embeds");
}

/* ---- rows ---- */

#define TEXT(in)                                                                 \
    in "vocab_size=49408 " in "hidden_size=512 " in "intermediate_size=2048 " in \
       "num_hidden_layers=12 " in "num_attention_heads=8 "
#define VISION(in)                                                                   \
    in "hidden_size=768 " in "intermediate_size=3072 " in "num_hidden_layers=12 " in \
       "num_attention_heads=12 " in "image_size=224 " in "patch_size=32 "
#define BOTH "model_type=clip projection_dim=512 " TEXT("text_config.") VISION("vision_config.")
#define LARGE                                                                            \
    "projection_dim=768 text_config.hidden_size=768 text_config.intermediate_size=3072 " \
    "text_config.num_attention_heads=12 vision_config.hidden_size=1024 "                 \
    "vision_config.intermediate_size=4096 vision_config.num_hidden_layers=24 "           \
    "vision_config.num_attention_heads=16 vision_config.patch_size=14 "
#define TEXT_L \
    TEXT("") "projection_dim=768 hidden_size=768 intermediate_size=3072 num_attention_heads=12"
#define TEXT_H                                         \
    "model_type=clip_text_model " TEXT(                \
        "") "hidden_size=1024 intermediate_size=4096 " \
            "num_hidden_layers=23 num_attention_heads=16 hidden_act=gelu"
#define TEXT_BIGG                                                                                 \
    "model_type=clip_text_model " TEXT(                                                           \
        "") "projection_dim=1280 hidden_size=1280 "                                               \
            "intermediate_size=5120 num_hidden_layers=32 num_attention_heads=20 hidden_act=gelu " \
            "architectures=CLIPTextModelWithProjection"
#define ROW(name_, alias, family_, task_, build_, set) \
    ZOO_ROW(name_, alias, family_, task_, build_, set)

static const zoo_row rows[] = {
    ROW("clip-vit-base-patch32", "clip", "clip", "image-text", build_both, BOTH),
    ROW("clip-vit-base-patch16", NULL, "clip", "image-text", build_both,
        BOTH "vision_config.patch_size=16"),
    ROW("clip-vit-large-patch14", "clip-l", "clip", "image-text", build_both, BOTH LARGE),
    ROW("clip-vit-large-patch14-336", NULL, "clip", "image-text", build_both,
        BOTH LARGE "vision_config.image_size=336"),
    ROW("clip-l-text", "clip-vit-large-patch14-text", "clip_text_model", "language", build_text,
        "model_type=clip_text_model " TEXT_L),
    ROW("clip-l-projected", NULL, "clip_text_model", "language", build_text,
        "model_type=clip_text_model " TEXT_L " architectures=CLIPTextModelWithProjection"),
    ROW("openclip-h-text", NULL, "clip_text_model", "language", build_text, TEXT_H),
    ROW("openclip-bigg-text", NULL, "clip_text_model", "language", build_text, TEXT_BIGG),
};
const zoo_rows zoo_clip_rows = ZOO_ROWS(rows);

static const zoo_row families[] = {
    ROW("clip", NULL, "clip", "image-text", build_both, BOTH),
    ROW("clip_text_model", NULL, "clip_text_model", "language", build_text, TEXT("")),
    ROW("clip_vision_model", NULL, "clip_vision_model", "embedding", build_vision, VISION("")),
};
const zoo_rows zoo_clip_families = ZOO_ROWS(families);
