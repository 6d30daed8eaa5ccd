/* ViT and Swin as transformers has them (modeling_vit.py, modeling_swin.py): the networks of vit.c
 * and swin.c with q, k and v apart and other names.
 */
#include <math.h>

#include "zoo/hf_text.h"
#include "zoo/nn_windows.h"
#include "zoo/zoo.h"

typedef struct image_config {
    int64_t side, channels, patch;
    double eps;
    bool qkv_bias;
    str act;
} image_config;

/* Sizes may be written as a list of two; the first counts for both, which must be equal. */
static int64_t side_of(nn *b, const char *key, int64_t def)
{
    int64_t two[2] = {def, def};
    nn_ints_each(b, key, (const int64_t[]){def, def}, two, 2, 1, HF_HEADS);
    if (two[0] != two[1])
        nn_fail(b, "The parameter '%s' must be the same in both directions.", key);
    return two[0];
}

static image_config read_image(nn *b, int64_t patch, double eps)
{
    hf c = {b, NULL};
    return (image_config){.side = side_of(b, "image_size", 224),
                          .channels = hf_int(c, "num_channels", 3, 1, HF_HEADS),
                          .patch = side_of(b, "patch_size", patch),
                          .eps = hf_real(c, "layer_norm_eps", eps),
                          .qkv_bias = hf_bool(c, "qkv_bias", true),
                          .act = hf_word(c, "hidden_act", "gelu")};
}

static nn_t image_input(nn *b, const image_config *c)
{
    const int64_t dims[] = {1, c->channels, c->side, c->side};
    nn_t x = nn_input(b, "pixel_values", IR_FLOAT32, 4, dims);
    if (nn_ok(b) && (x.d[2] % c->patch || x.d[3] % c->patch))
        nn_fail(b, "An image of %lldx%lld cannot be cut into patches of %lld.", (long long)x.d[2],
                (long long)x.d[3], (long long)c->patch);
    return x;
}

static nn_t query_key_value(nn *b, nn_t x, int64_t heads, const char *name, const image_config *c)
{
    return hf_heads(b, name, nn_linear(b, name, x, x.d[x.rank - 1], c->qkv_bias), heads);
}

/* ---- ViT ---- */

static nn_t vit_tokens(nn *b, nn_t x, int64_t width, const image_config *c)
{
    nn_push(b, "embeddings");
    x = NN_CONV(b, "patch_embeddings.projection", x, .out = width, .k = c->patch,
                .stride = c->patch);
    x = nn_swap(b, "transpose", nn_flatten(b, "flatten", x, 2));
    nn_t class = nn_param(b, "cls_token", 3, (const int64_t[]){1, 1, width});
    class = nn_expand(b, "expand", class, 3, (const int64_t[]){x.d[0], 1, width});
    x = nn_concat(b, "cat", 2, (const nn_t[]){class, x}, 1);
    nn_t p = nn_param(b, "position_embeddings", 3, (const int64_t[]){1, x.d[1], width});
    x = nn_add(b, "add", x, p);
    nn_pop(b);
    return x;
}

static nn_t vit_layer(nn *b, nn_t x, int64_t heads, int64_t inner, const image_config *c)
{
    hf_text t = {.b = b, .mask = NN_ABSENT, .batch = x.d[0], .seq = x.d[1]};
    int64_t width = x.d[2];
    nn_t y = nn_layernorm(b, "layernorm_before", x, c->eps);
    nn_push(b, "attention.attention");
    nn_t q = query_key_value(b, y, heads, "query", c), k = query_key_value(b, y, heads, "key", c);
    nn_t v = query_key_value(b, y, heads, "value", c);
    y = hf_attend(&t, q, k, v, HF_ATTENTION(.layer = 0));
    nn_pop(b);
    x = nn_add(b, "add_1", x, nn_linear(b, "attention.output.dense", y, width, true));
    y = nn_linear(b, "intermediate.dense", nn_layernorm(b, "layernorm_after", x, c->eps), inner,
                  true);
    y = nn_linear(b, "output.dense", hf_act(b, "intermediate.act", y, c->act), width, true);
    return nn_add(b, "add_2", x, y);
}

static nn_t vit_pooler(nn *b, nn_t token, int64_t width)
{
    int64_t wide = hf_int((hf){b, NULL}, "pooler_output_size", width, 1, HF_WIDTH);
    nn_t x = nn_linear(b, "pooler.dense", token, wide, true);
    return hf_act(b, "pooler.activation", x, hf_word((hf){b, NULL}, "pooler_act", "tanh"));
}

static void build_vit(nn *b)
{
    hf c = {b, NULL};
    hf_ignore(b);
    image_config image = read_image(b, 16, 1e-12);
    int64_t width = hf_int(c, "hidden_size", 768, 1, HF_WIDTH);
    int64_t layers = hf_int(c, "num_hidden_layers", 12, 1, HF_LAYERS);
    int64_t heads = hf_int(c, "num_attention_heads", 12, 1, HF_HEADS);
    int64_t inner = hf_int(c, "intermediate_size", 3072, 1, HF_WIDTH);
    bool classify = hf_architecture(b, HF_CLASSIFY) != HF_MODEL;
    if (classify)
        nn_push(b, "vit");
    nn_t x = vit_tokens(b, image_input(b, &image), width, &image);
    for (int i = 0; i < (int)layers && nn_ok(b); i++) {
        nn_push(b, "encoder.layer.%d", i);
        x = vit_layer(b, x, heads, inner, &image);
        nn_pop(b);
    }
    x = nn_layernorm(b, "layernorm", x, image.eps);
    nn_t token = nn_squeeze(b, "token/squeeze", nn_slice(b, "token", x, 1, 0, 1), 1);
    if (classify) {
        nn_pop(b);
        hf_raw(c, "pooler_output_size|pooler_act");
        nn_output(b, nn_linear(b, "classifier", token, hf_labels(b), true), "logits");
        return;
    }
    nn_output(b, x, "last_hidden_state");
    nn_output(b, vit_pooler(b, token, width), "pooler_output");
}

/* ---- Swin ---- */

enum { STAGES = 8 };

typedef struct hf_swin {
    image_config image;
    int64_t width, window, depths[STAGES], heads[STAGES];
    int stages;
    double ratio;
    nn_window_tables tables;
} hf_swin;

static hf_swin read_swin(nn *b)
{
    static const int64_t depths[] = {2, 2, 6, 2}, heads[] = {3, 6, 12, 24};
    hf c = {b, NULL};
    hf_swin s = {.image = read_image(b, 4, 1e-5),
                 .width = hf_int(c, "embed_dim", 96, 1, HF_HEADS),
                 .window = hf_int(c, "window_size", 7, 1, NN_WINDOW_SIDE),
                 .ratio = nn_real_in(b, "mlp_ratio", 4.0, 0.001, 1000.0)};
    s.stages = nn_ints_in(b, "depths", depths, 4, s.depths, STAGES, 1, HF_LAYERS);
    int n = nn_ints_in(b, "num_heads", heads, 4, s.heads, STAGES, 1, HF_HEADS);
    if (nn_ok(b) && n != s.stages)
        nn_fail(b, "depths has %d items and num_heads %d; they must be as many.", s.stages, n);
    hf_raw(c, "num_layers|hidden_size");
    hf_raw(c, "num_layers");
    return s;
}

/* A map no larger than a window is one window, unshifted. */
static nn_windows windows_of(const hf_swin *s, nn_t x, bool shifted)
{
    int64_t small = x.d[1] < x.d[2] ? x.d[1] : x.d[2];
    int64_t size = small <= s->window ? small : s->window;
    nn_windows w = {.n = 2};
    for (int i = 0; i < 2; i++) {
        w.map[i] = x.d[1 + i];
        w.size[i] = size;
        w.whole[i] = s->window;
        w.shift[i] = shifted && small > s->window ? s->window / 2 : 0;
    }
    return w;
}

static nn_t swin_attention(nn *b, hf_swin *s, nn_t x, int64_t heads, bool shifted)
{
    nn_windows w = windows_of(s, x, shifted);
    int64_t batch = x.d[0], width = x.d[3];
    nn_push(b, "attention.self");
    x = nn_windows_cut(b, x, &w);
    nn_t q = query_key_value(b, x, heads, "query", &s->image);
    nn_t k = query_key_value(b, x, heads, "key", &s->image);
    nn_t v = query_key_value(b, x, heads, "value", &s->image);
    q = nn_scale(b, "scale", q, 1.0 / sqrt((double)q.d[3]));
    nn_t scores = nn_matmul(b, "scores", q, nn_swap(b, "key/swap", k));
    const int64_t dims[] = {nn_windows_offsets(&w), heads};
    nn_t table = nn_param(b, "relative_position_bias_table", 2, dims);
    scores = nn_add(b, "add_bias", scores, nn_windows_bias(b, table, &w, &s->tables));
    scores = nn_windows_masked(b, scores, batch, &w, &s->tables);
    scores = nn_one(b, "Softmax", "softmax", 1, &scores, scores, 1, &NN_INT("axis", -1));
    x = nn_unheads(b, nn_matmul(b, "attend", scores, v));
    nn_pop(b);
    return nn_windows_join(b, nn_linear(b, "attention.output.dense", x, width, true), batch, &w);
}

static nn_t swin_block(nn *b, hf_swin *s, nn_t x, int64_t heads, bool shifted)
{
    int64_t width = x.d[3];
    nn_t y = nn_layernorm(b, "layernorm_before", x, s->image.eps);
    x = nn_add(b, "add_1", x, swin_attention(b, s, y, heads, shifted));
    y = nn_layernorm(b, "layernorm_after", x, s->image.eps);
    y = nn_linear(b, "intermediate.dense", y, nn_times(width, s->ratio), true);
    y = nn_linear(b, "output.dense", hf_act(b, "intermediate.act", y, s->image.act), width, true);
    return nn_add(b, "add_2", x, y);
}

static nn_t swin_merge(nn *b, nn_t x, double eps)
{
    nn_t part[4];
    int64_t width = x.d[3], pads[8] = {0, 0, 0, 0, 0, x.d[1] % 2, x.d[2] % 2, 0};
    nn_push(b, "downsample");
    if (x.d[1] % 2 || x.d[2] % 2)
        x = nn_pad(b, "pad", x, pads, "constant");
    for (int i = 0; i < 4; i++) {
        nn_t rows = nn_slice_step(b, "rows", x, 1, i % 2, x.d[1], 2);
        part[i] = nn_slice_step(b, "columns", rows, 2, i / 2, x.d[2], 2);
    }
    x = nn_layernorm(b, "norm", nn_concat(b, "cat", 4, part, 3), eps);
    x = nn_linear(b, "reduction", x, 2 * width, false);
    nn_pop(b);
    return x;
}

static nn_t swin_embeddings(nn *b, const hf_swin *s)
{
    nn_t x = image_input(b, &s->image);
    nn_push(b, "embeddings");
    x = NN_CONV(b, "patch_embeddings.projection", x, .out = s->width, .k = s->image.patch,
                .stride = s->image.patch);
    x = nn_transpose(b, "transpose", x, (const int64_t[]){0, 2, 3, 1});
    x = nn_layernorm(b, "norm", x, s->image.eps);
    if (nn_bool(b, "use_absolute_embeddings", false)) {
        const int64_t n = x.d[1] * x.d[2], dims[] = {1, n, s->width};
        nn_t p = nn_param(b, "position_embeddings", 3, dims);
        p = nn_reshape(b, "positions", p, 4, (const int64_t[]){1, x.d[1], x.d[2], s->width});
        x = nn_add(b, "add", x, p);
    }
    nn_pop(b);
    return x;
}

static void build_swin(nn *b)
{
    hf_ignore(b);
    hf_swin s = read_swin(b);
    bool classify = hf_architecture(b, HF_CLASSIFY) != HF_MODEL;
    if (classify)
        nn_push(b, "swin");
    nn_t x = swin_embeddings(b, &s);
    for (int i = 0; i < s.stages && nn_ok(b); i++) {
        nn_push(b, "encoder.layers.%d", i);
        for (int k = 0; k < (int)s.depths[i] && nn_ok(b); k++) {
            nn_push(b, "blocks.%d", k);
            x = swin_block(b, &s, x, s.heads[i], k % 2 == 1);
            nn_pop(b);
        }
        x = i + 1 < s.stages ? swin_merge(b, x, s.image.eps) : x;
        nn_pop(b);
    }
    x = nn_reshape(b, "flatten", x, 3, (const int64_t[]){x.d[0], x.d[1] * x.d[2], x.d[3]});
    x = nn_layernorm(b, "layernorm", x, s.image.eps);
    nn_t pooled = nn_mean(b, "pooler", x, 1, (const int64_t[]){1}, false);
    if (classify) {
        nn_pop(b);
        nn_output(b, nn_linear(b, "classifier", pooled, hf_labels(b), true), "logits");
        return;
    }
    nn_output(b, x, "last_hidden_state");
    nn_output(b, pooled, "pooler_output");
}

static const zoo_row families[] = {
    {.name = "vit", .family = "vit", .task = "classification", .build = build_vit},
    {.name = "swin", .family = "swin", .task = "classification", .build = build_swin},
};
const zoo_rows zoo_hf_vision_families = ZOO_ROWS(families);
