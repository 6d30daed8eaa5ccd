/* The denoiser of Stable Diffusion 1.x, 2.x and XL (diffusers' UNet2DConditionModel), by the keys of its
 * config.json.
 *
 *   conv_in; down_blocks.N: resnets, each with an attention when the type says so, a downsampler but for the
 *   last; mid_block: resnet, attention, resnet; up_blocks.N: the same with the down path's maps joined, an
 *   upsampler but for the last; conv_norm_out, conv_out.
 *   Attention: norm, proj_in, transformer blocks (self, cross to the prompt, feed-forward), proj_out.
 *
 * attention_head_dim is the number of heads, as the library reads it. SDXL's micro-conditioning
 * (addition_embed_type text_time): six sizes as waves and the pooled prompt through add_embedding.
 */
#include "zoo/diffusion.h"

#include "zoo/nn_impl.h"
#include "zoo/zoo.h"
#include <assert.h>

enum { BLOCKS = 8, LAYERS = 32, SKIPS = BLOCKS * (LAYERS + 1) + 1 };

typedef struct unet {
    dx d;
    int n;
    int64_t width[BLOCKS], heads[BLOCKS], cross[BLOCKS], layers[BLOCKS];
    bool down_attends[BLOCKS], up_attends[BLOCKS], only_cross[BLOCKS];
    const json_value *depths, *up_depths; /* transformer_layers_per_block; NULL: 1 */
    int64_t groups;
    double eps;
    bool linear, scale_shift;
    nn_t time, context; /* [B, 4*width], [B, T, F] */
    nn_t skips[SKIPS];
    int n_skips;
} unet;

/* ---- keys ---- */

/* One number for all blocks, or one for each. */
static void each(nn *b, const char *key, int64_t def, int64_t *out, int n, int64_t max)
{
    int64_t list[BLOCKS];
    int k = nn_ints_in(b, key, &def, 1, list, BLOCKS, 1, max);
    if (nn_ok(b) && k != 1 && k != n)
        nn_fail(b, "parameter '%s' has %d numbers for %d blocks", key, k, n);
    for (int i = 0; i < n; i++)
        out[i] = nn_ok(b) ? list[k == 1 ? 0 : i] : 1;
}

static void types(nn *b, const char *key, const char *with, const char *without, bool *out, int n)
{
    const json_value *v = nn_raw(b, key);
    int items = v && v->kind == JSON_LIST ? (int)v->n : v ? 1 : 0;
    if (nn_ok(b) && items != n)
        nn_fail(b, "parameter '%s' has %d types for %d blocks", key, items, n);
    for (int i = 0; nn_ok(b) && i < n; i++) {
        assert(v); /* there are as many types as blocks */
        const json_value *one = v->kind == JSON_LIST ? &v->items[i] : v;
        str s = one->kind == JSON_TEXT ? one->s : STR("");
        out[i] = str_is(s, with);
        if (!out[i] && !str_is(s, without))
            nn_refuse(b, "unsupported block type '" STR_FMT "' of '%s'. Use %s or %s.", STR_ARG(s),
                      key, with, without);
    }
}

static void flags(nn *b, const char *key, bool *out, int n)
{
    const json_value *v = nn_raw(b, key);
    for (int i = 0; i < n; i++) {
        const json_value *one = v && v->kind == JSON_LIST && i < (int)v->n ? &v->items[i] : v;
        out[i] = one && one->kind == JSON_BOOL && one->i;
    }
}

/* Transformer blocks of one attention: a number, one per block, or a list per block. */
static int64_t depth_of(unet *u, const json_value *v, int block, int layer)
{
    if (v && v->kind == JSON_LIST)
        v = block < (int)v->n ? &v->items[block] : NULL;
    if (v && v->kind == JSON_LIST)
        v = layer < (int)v->n ? &v->items[layer] : NULL;
    int64_t n = v && v->kind == JSON_INT ? v->i : 1;
    if (n < 0 || n > 1000) {
        nn_fail(u->d.b, "parameter 'transformer_layers_per_block' must be 0 to 1000");
        return 0;
    }
    return n;
}

static void refuse_unknown(nn *b)
{
    static const struct {
        const char *key, *known;
    } keys[] = {
        {"time_embedding_type", "positional"},
        {"time_embedding_act_fn", ""},
        {"timestep_post_act", ""},
        {"cross_attention_norm", ""},
    };
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        str s = nn_has(b, keys[i].key) ? nn_word(b, keys[i].key, "") : STR("");
        if (s.n && !str_is(s, keys[i].known))
            nn_refuse(b, "unsupported value '" STR_FMT "' of '%s'", STR_ARG(s), keys[i].key);
    }
    if (nn_bool(b, "dual_cross_attention", false) || nn_bool(b, "class_embeddings_concat", false) ||
        nn_bool(b, "resnet_skip_time_act", false))
        nn_refuse(b, "dual_cross_attention, class_embeddings_concat and resnet_skip_time_act are "
                     "not supported");
}

static void read_blocks(nn *b, unet *u)
{
    static const int64_t widths[] = {320, 640, 1280, 1280};
    u->n = nn_ints_in(b, "block_out_channels", widths, 4, u->width, BLOCKS, 1, 1 << 20);
    if (u->n < 1) {
        u->n = 1;
        u->width[0] = 1;
    }
    types(b, "down_block_types", "CrossAttnDownBlock2D", "DownBlock2D", u->down_attends, u->n);
    types(b, "up_block_types", "CrossAttnUpBlock2D", "UpBlock2D", u->up_attends, u->n);
    flags(b, "only_cross_attention", u->only_cross, u->n);
    each(b, nn_has(b, "num_attention_heads") ? "num_attention_heads" : "attention_head_dim", 8,
         u->heads, u->n, 1 << 16);
    each(b, "cross_attention_dim", 1280, u->cross, u->n, 1 << 20);
    each(b, "layers_per_block", 2, u->layers, u->n, LAYERS);
}

static void read_unet(nn *b, unet *u)
{
    *u = (unet){.d = DX(b)};
    dx_ignore(b);
    refuse_unknown(b);
    read_blocks(b, u);
    u->depths = nn_raw(b, "transformer_layers_per_block");
    u->up_depths = nn_raw(b, "reverse_transformer_layers_per_block");
    u->groups = nn_int_in(b, "norm_num_groups", 32, 1, 1 << 16);
    u->eps = nn_real(b, "norm_eps", 1e-5);
    u->linear = nn_bool(b, "use_linear_projection", false);
    u->scale_shift = str_is(nn_word(b, "resnet_time_scale_shift", "default"), "scale_shift");
}

/* ---- conditions ---- */

static nn_t micro_conditions(nn *b, nn_t batch_of, int64_t time_dim, bool flip, double shift)
{
    int64_t wave = nn_int_in(b, "addition_time_embed_dim", 256, 2, 1 << 16), batch = batch_of.d[0];
    int64_t all = nn_int_in(b, "projection_class_embeddings_input_dim", 2816, 1, 1 << 20);
    int64_t sizes = nn_int_in(b, "n_time_ids", 6, 1, 64), text = all - sizes * wave;
    if (nn_ok(b) && text < 1)
        nn_fail(b, "projection_class_embeddings_input_dim leaves no room for the prompt");
    const int64_t text_dims[] = {batch, text}, id_dims[] = {batch, sizes};
    nn_t prompt = nn_input(b, "text_embeds", IR_FLOAT32, 2, text_dims);
    nn_t ids = nn_input(b, "time_ids", IR_FLOAT32, 2, id_dims);
    ids = nn_flatten(b, "add_time_proj/flatten",
                     dx_waves(b, "add_time_proj", ids, wave, flip, shift), 1);
    nn_t x = nn_concat(b, "add_embedding/cat", 2, (const nn_t[]){prompt, ids}, 1);
    return dx_mlp(b, "add_embedding", x, time_dim, time_dim, "silu");
}

/* A label that is no number of a class: a time, a vector through two layers or one, or as it is. */
static nn_t class_condition(nn *b, str kind, nn_t time, bool flip, double shift)
{
    int64_t dim = time.d[1], batch = time.d[0];
    bool is_time = str_is(kind, "timestep"), plain = str_is(kind, "identity");
    bool simple = str_is(kind, "simple_projection");
    if (!is_time && !plain && !simple && !str_is(kind, "projection"))
        nn_refuse(b, "unsupported class_embed_type '" STR_FMT "'", STR_ARG(kind));
    int64_t wide = plain ? dim : 0;
    if (!plain && !is_time)
        wide = nn_int_in(b, "projection_class_embeddings_input_dim", 1024, 1, 1 << 20);
    nn_t x = is_time ? dx_waves(b, "class_time_proj", dx_scalar_input(b, "class_labels", batch),
                                dim / 4, flip, shift)
                     : nn_input(b, "class_labels", IR_FLOAT32, 2, (const int64_t[]){batch, wide});
    if (plain)
        return x;
    return simple ? nn_linear(b, "class_embedding", x, dim, true)
                  : dx_mlp(b, "class_embedding", x, dim, dim, "silu");
}

static nn_t more_conditions(nn *b, nn_t time, int64_t dim, bool flip, double shift)
{
    str added = nn_has(b, "addition_embed_type") ? nn_word(b, "addition_embed_type", "") : STR("");
    str kind = nn_has(b, "class_embed_type") ? nn_word(b, "class_embed_type", "") : STR("");
    if (kind.n) {
        time = nn_add(b, "class_embedding/add", time, class_condition(b, kind, time, flip, shift));
    } else if (nn_has(b, "num_class_embeds")) {
        int64_t n = nn_int_in(b, "num_class_embeds", 1, 1, 1 << 24);
        nn_t label = nn_input(b, "class_labels", IR_INT64, 1, &time.d[0]);
        time = nn_add(b, "class_embedding/add", time,
                      nn_embedding(b, "class_embedding", label, n, dim));
    }
    if (str_is(added, "text_time"))
        return nn_add(b, "add_embedding/add", time, micro_conditions(b, time, dim, flip, shift));
    if (added.n)
        nn_refuse(b, "unsupported addition_embed_type '" STR_FMT "'. Use text_time.",
                  STR_ARG(added));
    return time;
}

static nn_t time_condition(nn *b, const unet *u, int64_t batch)
{
    bool flip = nn_bool(b, "flip_sin_to_cos", true);
    double shift = nn_real(b, "freq_shift", 0.0);
    int64_t dim = nn_int_in(b, "time_embedding_dim", 4 * u->width[0], 1, 1 << 22);
    nn_t t = dx_waves(b, "time_proj", dx_scalar_input(b, "timestep", batch), u->width[0], flip,
                      shift);
    if (nn_has(b, "time_cond_proj_dim")) {
        int64_t n = nn_int_in(b, "time_cond_proj_dim", 256, 1, 1 << 20);
        nn_t w = nn_input(b, "timestep_cond", IR_FLOAT32, 2, (const int64_t[]){t.d[0], n});
        w = nn_linear(b, "time_embedding.cond_proj", w, t.d[1], false);
        t = nn_add(b, "time_embedding/add", t, w);
    }
    t = dx_mlp(b, "time_embedding", t, dim, dim, "silu");
    return more_conditions(b, t, dim, flip, shift);
}

static nn_t prompt(nn *b, const unet *u, int64_t batch)
{
    bool projected = nn_has(b, "encoder_hid_dim");
    int64_t tokens = nn_int_in(b, "seq_len", 77, 1, 1 << 20);
    int64_t width = projected ? nn_int_in(b, "encoder_hid_dim", 768, 1, 1 << 20) : u->cross[0];
    const int64_t dims[] = {batch, tokens, width};
    nn_t x = nn_input(b, "encoder_hidden_states", IR_FLOAT32, 3, dims);
    str type = nn_has(b, "encoder_hid_dim_type") ? nn_word(b, "encoder_hid_dim_type", "")
                                                 : STR("text_proj");
    if (projected && !str_is(type, "text_proj"))
        nn_refuse(b, "unsupported encoder_hid_dim_type '" STR_FMT "'. Use text_proj.",
                  STR_ARG(type));
    return projected ? nn_linear(b, "encoder_hid_proj", x, u->cross[0], true) : x;
}

/* ---- blocks ---- */

static nn_t time_shift(unet *u, nn_t x, nn_t *scale)
{
    nn *b = u->d.b;
    int64_t width = x.d[1];
    nn_t t = nn_act(b, "Swish", "nonlinearity", u->time);
    t = nn_linear(b, "time_emb_proj", t, u->scale_shift ? 2 * width : width, true);
    t = nn_reshape(b, "time_emb_proj/reshape", t, 4, (const int64_t[]){t.d[0], t.d[1], 1, 1});
    if (!u->scale_shift)
        return t;
    nn_t parts[2];
    nn_split(b, "time_emb_proj/split", t, 1, 2, parts);
    *scale = parts[0];
    return parts[1];
}

static nn_t resnet(unet *u, const char *name, nn_t x, int64_t out)
{
    nn *b = u->d.b;
    nn_t in = x, scale = NN_ABSENT;
    nn_push(b, "%s", name);
    x = nn_act(b, "Swish", "nonlinearity", nn_groupnorm(b, "norm1", x, u->groups, u->eps));
    x = NN_CONV(b, "conv1", x, .out = out, .k = 3, .pad = 1);
    nn_t t = time_shift(u, x, &scale);
    if (!u->scale_shift)
        x = nn_add(b, "time_emb_proj/add", x, t);
    x = nn_groupnorm(b, "norm2", x, u->groups, u->eps);
    if (u->scale_shift)
        x = dx_modulate(b, "time_emb_proj/modulate", x, scale, t);
    x = nn_act(b, "Swish", "nonlinearity", x);
    x = NN_CONV(b, "conv2", x, .out = out, .k = 3, .pad = 1);
    if (in.d[1] != out)
        in = NN_CONV(b, "conv_shortcut", in, .out = out, .k = 1);
    return nn_leave(b, nn_add(b, "add", in, x));
}

static nn_t transformer_block(unet *u, nn_t x, int64_t heads, bool only_cross)
{
    nn *b = u->d.b;
    nn_t y = nn_layernorm(b, "norm1", x, 1e-5);
    x = nn_add(b, "add_1", x,
               dx_attention(b, "attn1", y, only_cross ? u->context : y, heads, false));
    y = nn_layernorm(b, "norm2", x, 1e-5);
    x = nn_add(b, "add_2", x, dx_attention(b, "attn2", y, u->context, heads, false));
    y = nn_layernorm(b, "norm3", x, 1e-5);
    return nn_add(b, "add_3", x, dx_feed_forward(b, "ff", y, STR("geglu")));
}

/* [B, C, H, W] as tokens [B, H*W, C], through transformer blocks, and back. */
static nn_t attention(unet *u, const char *name, nn_t x, int64_t heads, bool only_cross,
                      int64_t depth)
{
    nn *b = u->d.b;
    nn_t in = x;
    int64_t dims[4] = {x.d[0], x.d[1], x.d[2], x.d[3]};
    nn_push(b, "%s", name);
    x = nn_groupnorm(b, "norm", x, u->groups, 1e-6);
    if (!u->linear)
        x = NN_CONV(b, "proj_in", x, .out = x.d[1], .k = 1);
    x = nn_swap(b, "transpose", nn_flatten(b, "flatten", x, 2));
    if (u->linear)
        x = nn_linear(b, "proj_in", x, x.d[2], true);
    for (int i = 0; i < (int)depth && nn_ok(b); i++)
        x = NN_UNDER(b, transformer_block(u, x, heads, only_cross), "transformer_blocks.%d", i);
    if (u->linear)
        x = nn_linear(b, "proj_out", x, x.d[2], true);
    x = nn_reshape(b, "reshape", nn_swap(b, "transpose_back", x), 4, dims);
    if (!u->linear)
        x = NN_CONV(b, "proj_out", x, .out = x.d[1], .k = 1);
    return nn_leave(b, nn_add(b, "add", x, in));
}

static const char *numbered(unet *u, const char *what, int i)
{
    const char *s = arena_printf(u->d.b->scratch, "%s.%d", what, i);
    return s ? s : what;
}

static void keep_skip(unet *u, nn_t x)
{
    if (u->n_skips < SKIPS)
        u->skips[u->n_skips++] = x;
}

static nn_t down(unet *u, nn_t x)
{
    nn *b = u->d.b;
    keep_skip(u, x);
    for (int i = 0; i < u->n && nn_ok(b); i++) {
        nn_push(b, "down_blocks.%d", i);
        for (int k = 0; k < (int)u->layers[i]; k++) {
            x = resnet(u, numbered(u, "resnets", k), x, u->width[i]);
            if (u->down_attends[i])
                x = attention(u, numbered(u, "attentions", k), x, u->heads[i], u->only_cross[i],
                              depth_of(u, u->depths, i, k));
            keep_skip(u, x);
        }
        if (i + 1 < u->n) {
            x = NN_CONV(b, "downsamplers.0.conv", x, .out = u->width[i], .k = 3, .stride = 2,
                        .pad = nn_int_in(b, "downsample_padding", 1, 1, 1));
            keep_skip(u, x);
        }
        nn_pop(b);
    }
    return x;
}

static nn_t middle(unet *u, nn_t x)
{
    nn *b = u->d.b;
    int last = u->n - 1;
    str type = nn_has(b, "mid_block_type") ? nn_word(b, "mid_block_type", "") : STR("");
    bool attends = str_is(type, "UNetMidBlock2DCrossAttn");
    if (!type.n)
        return x;
    if (!attends && !str_is(type, "UNetMidBlock2D"))
        nn_refuse(b, "unsupported mid_block_type '" STR_FMT "'", STR_ARG(type));
    nn_push(b, "mid_block");
    x = resnet(u, "resnets.0", x, u->width[last]);
    if (attends) {
        /* only_cross_attention is not handed on to this block */
        x = attention(u, "attentions.0", x, u->heads[last], false, depth_of(u, u->depths, last, 0));
        x = resnet(u, "resnets.1", x, u->width[last]);
    }
    return nn_leave(b, x);
}

static nn_t up_block(unet *u, nn_t x, int i)
{
    nn *b = u->d.b;
    int at = u->n - 1 - i;
    for (int k = 0; k <= (int)u->layers[at] && u->n_skips > 0; k++) {
        nn_t skip = u->skips[--u->n_skips];
        x = nn_concat(b, numbered(u, "cat", k), 2, (const nn_t[]){x, skip}, 1);
        x = resnet(u, numbered(u, "resnets", k), x, u->width[at]);
        if (u->up_attends[i])
            x = attention(u, numbered(u, "attentions", k), x, u->heads[at], u->only_cross[at],
                          u->up_depths ? depth_of(u, u->up_depths, i, k)
                                       : depth_of(u, u->depths, at, k));
    }
    if (i + 1 == u->n || u->n_skips < 1)
        return x;
    const nn_t *next = &u->skips[u->n_skips - 1];
    x = nn_resize(b, "upsamplers.0/resize", x, next->d[2], next->d[3], "nearest", false);
    return NN_CONV(b, "upsamplers.0.conv", x, .out = u->width[at], .k = 3, .pad = 1);
}

static void build(nn *b)
{
    unet u;
    int64_t sides[2];
    read_unet(b, &u);
    dx_sides(b, 64, sides);
    int64_t in = nn_int_in(b, "in_channels", 4, 1, 1 << 16);
    int64_t out = nn_int_in(b, "out_channels", 4, 1, 1 << 16);
    int64_t k_in = nn_int_in(b, "conv_in_kernel", 3, 1, 63);
    int64_t k_out = nn_int_in(b, "conv_out_kernel", 3, 1, 63);
    nn_t x = nn_input(b, "sample", IR_FLOAT32, 4, (const int64_t[]){1, in, sides[0], sides[1]});
    u.time = time_condition(b, &u, x.d[0]);
    u.context = prompt(b, &u, x.d[0]);
    x = NN_CONV(b, "conv_in", x, .out = u.width[0], .k = k_in, .pad = (k_in - 1) / 2);
    x = middle(&u, down(&u, x));
    for (int i = 0; i < u.n && nn_ok(b); i++)
        x = NN_UNDER(b, up_block(&u, x, i), "up_blocks.%d", i);
    x = nn_act(b, "Swish", "conv_act", nn_groupnorm(b, "conv_norm_out", x, u.groups, u.eps));
    nn_output(b, NN_CONV(b, "conv_out", x, .out = out, .k = k_out, .pad = (k_out - 1) / 2),
              "out_sample");
}

/* ---- rows ---- */

#define DOWN3 "CrossAttnDownBlock2D,CrossAttnDownBlock2D,CrossAttnDownBlock2D,DownBlock2D"
#define UP3   "UpBlock2D,CrossAttnUpBlock2D,CrossAttnUpBlock2D,CrossAttnUpBlock2D"
#define UNET                                                                               \
    "sample_size=64 block_out_channels=320,640,1280,1280 down_block_types=" DOWN3          \
    " up_block_types=" UP3 " mid_block_type=UNetMidBlock2DCrossAttn attention_head_dim=8 " \
    "cross_attention_dim=1280 "
#define SD1 UNET "cross_attention_dim=768 "
#define SD2 \
    UNET "cross_attention_dim=1024 attention_head_dim=5,10,20,20 use_linear_projection=true "
#define SDXL                                                                                     \
    UNET "sample_size=128 block_out_channels=320,640,1280 cross_attention_dim=2048 "             \
         "down_block_types=DownBlock2D,CrossAttnDownBlock2D,CrossAttnDownBlock2D "               \
         "up_block_types=CrossAttnUpBlock2D,CrossAttnUpBlock2D,UpBlock2D "                       \
         "attention_head_dim=5,10,20 transformer_layers_per_block=1,2,10 "                       \
         "use_linear_projection=true addition_embed_type=text_time addition_time_embed_dim=256 " \
         "projection_class_embeddings_input_dim=2816 "
#define ROW(name_, alias, set) \
    ZOO_ROW(name_, alias, "UNet2DConditionModel", "diffusion", build, set)

static const zoo_row rows[] = {
    ROW("sd15-unet", "sd15 stable-diffusion-v1-5 sd14", SD1),
    ROW("sd21-unet", "sd21 stable-diffusion-2-1 sd20", SD2),
    ROW("sdxl-unet", "sdxl stable-diffusion-xl-base-1.0", SDXL),
    ROW("sdxl-refiner-unet", "sdxl-refiner",
        UNET "sample_size=128 block_out_channels=384,768,1536,1536 cross_attention_dim=1280 "
             "down_block_types=DownBlock2D,CrossAttnDownBlock2D,CrossAttnDownBlock2D,DownBlock2D "
             "up_block_types=UpBlock2D,CrossAttnUpBlock2D,CrossAttnUpBlock2D,UpBlock2D "
             "attention_head_dim=6,12,24,24 transformer_layers_per_block=4 "
             "use_linear_projection=true addition_embed_type=text_time addition_time_embed_dim=256 "
             "projection_class_embeddings_input_dim=2560 n_time_ids=5"),
};
const zoo_rows zoo_unet_rows = ZOO_ROWS(rows);

static const zoo_row families[] = {ROW("UNet2DConditionModel", NULL, UNET)};
const zoo_rows zoo_unet_families = ZOO_ROWS(families);
