/* PixArt-alpha and -sigma (diffusers' PixArtTransformer2DModel), and DiT as diffusers holds it
 * (DiTTransformer2DModel); older configs call both Transformer2DModel and tell them apart by norm_type.
 *
 *   pos_embed.proj, places added; transformer_blocks.N: self-attention, cross-attention to the prompt
 *   (PixArt), feed-forward. PixArt's condition is made once (adaln_single) and each block has a table that
 *   is added to it; DiT's is made in every block from time and class.
 */
#include "zoo/diffusion.h"
#include "zoo/nn_impl.h"
#include "zoo/zoo.h"

typedef struct pixart {
    dx d;
    int64_t patch, width, heads, layers, in, out, trained, condition_kinds, classes;
    bool bias, affine, single, sized;
    double eps;
    str act;
    nn_t prompt, mask; /* [B, T, width]; [B, 1, 1, T] added to scores */
    nn_t condition;    /* [B, 6, width] */
    nn_t time;         /* [B, width] of PixArt, [B, 256] waves of DiT */
    nn_t label;
} pixart;

static pixart read_pixart(nn *b)
{
    pixart m = {.d = DX(b), .prompt = NN_ABSENT, .mask = NN_ABSENT};
    int64_t sides[2];
    dx_ignore(b);
    dx_made_for(b, 64, sides);
    m.trained = sides[0];
    m.heads = nn_int_in(b, "num_attention_heads", 16, 1, 1 << 12);
    m.width = m.heads * nn_int_in(b, "attention_head_dim", 72, 1, 1 << 12);
    m.patch = nn_int_in(b, "patch_size", 2, 1, 64);
    m.layers = nn_int_in(b, "num_layers", 28, 1, 10000);
    m.in = nn_int_in(b, "in_channels", 4, 1, 1 << 16);
    m.out = nn_int_in(b, "out_channels", m.in, 1, 1 << 16);
    m.bias = nn_bool(b, "attention_bias", true);
    m.affine = nn_bool(b, "norm_elementwise_affine", false);
    m.eps = nn_real(b, "norm_eps", 1e-6);
    m.act = nn_word(b, "activation_fn", "gelu-approximate");
    m.classes = nn_int_in(b, "num_embeds_ada_norm", 1000, 1, 1 << 24);
    m.sized = nn_bool(b, "use_additional_conditions", m.trained == 128);
    str norm = nn_word(b, "norm_type", "ada_norm_single");
    m.single = str_is(norm, "ada_norm_single");
    if (!m.single && !str_is(norm, "ada_norm_zero"))
        nn_fail(b, "unsupported norm_type '" STR_FMT "'. Use ada_norm_single or ada_norm_zero.",
                STR_ARG(norm));
    nn_raw(b, "norm_num_groups");
    nn_raw(b, "double_self_attention");
    nn_raw(b, "only_cross_attention");
    nn_raw(b, "use_linear_projection");
    return m;
}

/* ---- conditions ---- */

/* Every number of [B, n] as waves through an MLP, beside each other: [B, n * size]. */
static nn_t size_condition(nn *b, const char *input, const char *name, int64_t batch, int64_t n,
                           int64_t size)
{
    nn_t x = nn_input(b, input, IR_FLOAT32, 2, (const int64_t[]){batch, n});
    x = dx_waves(b, arena_printf(b->scratch, "%s/waves", name), x, 256, true, 0.0);
    x = dx_mlp(b, name, x, size, size, "silu");
    return nn_flatten(b, arena_printf(b->scratch, "%s/flatten", name), x, 1);
}

static void single_condition(nn *b, pixart *m, int64_t batch)
{
    nn_push(b, "adaln_single");
    nn_push(b, "emb");
    nn_t t = dx_waves(b, "time_proj", dx_scalar_input(b, "timestep", batch), 256, true, 0.0);
    m->time = dx_mlp(b, "timestep_embedder", t, m->width, m->width, "silu");
    if (m->sized) {
        int64_t third = m->width / 3;
        const nn_t sizes[] = {
            size_condition(b, "resolution", "resolution_embedder", batch, 2, third),
            size_condition(b, "aspect_ratio", "aspect_ratio_embedder", batch, 1, third)};
        m->time = nn_add(b, "add", m->time, nn_concat(b, "cat", 2, sizes, 1));
    }
    nn_pop(b);
    t = nn_linear(b, "linear", nn_act(b, "Swish", "silu", m->time), 6 * m->width, true);
    m->condition = nn_reshape(b, "reshape", t, 3, (const int64_t[]){t.d[0], 6, m->width});
    nn_pop(b);
}

static void read_prompt(nn *b, pixart *m, int64_t batch)
{
    bool projected = nn_has(b, "caption_channels");
    int64_t tokens = nn_int_in(b, "seq_len", 120, 1, 1 << 20);
    int64_t from = nn_int_in(b, "cross_attention_dim", m->width, 1, 1 << 20);
    if (projected)
        from = nn_int_in(b, "caption_channels", 4096, 1, 1 << 20);
    nn_t x = nn_input(b, "encoder_hidden_states", IR_FLOAT32, 3,
                      (const int64_t[]){batch, tokens, from});
    nn_t seen = nn_input(b, "encoder_attention_mask", IR_FLOAT32, 2,
                         (const int64_t[]){batch, x.d[1]});
    m->prompt = projected ? dx_mlp(b, "caption_projection", x, m->width, m->width, "gelu_tanh") : x;
    seen = nn_binary(b, "Sub", "mask/sub", nn_float_const(b, "mask/one", 1.0), seen);
    seen = nn_scale(b, "mask/scale", seen, -10000.0);
    m->mask = nn_reshape(b, "mask", seen, 4, (const int64_t[]){seen.d[0], 1, 1, seen.d[1]});
}

/* CombinedTimestepLabelEmbeddings of the scope. */
static nn_t label_condition(nn *b, const pixart *m)
{
    nn_push(b, "emb");
    nn_t t = dx_mlp(b, "timestep_embedder", m->time, m->width, m->width, "silu");
    nn_t y = nn_embedding(b, "class_embedder.embedding_table", m->label, m->classes + 1, m->width);
    return nn_leave(b, nn_add(b, "add", t, y));
}

/* ---- blocks ---- */

static nn_t norm(nn *b, pixart *m, const char *name, nn_t x)
{
    return m->affine ? nn_layernorm(b, name, x, m->eps) : dx_norm(&m->d, name, x, m->eps);
}

/* Shift, scale, gate of attention, then of the feed-forward part. */
static void conditions(nn *b, pixart *m, nn_t c[6])
{
    if (m->single) {
        nn_t table = nn_param(b, "scale_shift_table", 2, (const int64_t[]){6, m->width});
        nn_split(b, "condition/chunk", nn_add(b, "condition", m->condition, table), 1, 6, c);
        return;
    }
    nn_push(b, "norm1");
    nn_t x = nn_act(b, "Swish", "silu", label_condition(b, m));
    dx_chunks(b, "chunk", nn_linear(b, "linear", x, 6 * m->width, true), 6, c);
    nn_pop(b);
}

static nn_t cross_attention(nn *b, pixart *m, nn_t x)
{
    nn_push(b, "attn2");
    nn_t q = nn_split_heads(b, "q", nn_linear(b, "to_q", x, m->width, m->bias), m->heads);
    nn_t k = nn_split_heads(b, "k", nn_linear(b, "to_k", m->prompt, m->width, m->bias), m->heads);
    nn_t v = nn_split_heads(b, "v", nn_linear(b, "to_v", m->prompt, m->width, m->bias), m->heads);
    x = nn_unheads(b, nn_attention(b, "attention", q, k, v, m->mask, 0.0, false));
    return nn_leave(b, nn_linear(b, "to_out.0", x, m->width, true));
}

static nn_t block(nn *b, pixart *m, nn_t x)
{
    nn_t c[6];
    conditions(b, m, c);
    nn_t y = m->single ? norm(b, m, "norm1", x) : dx_norm(&m->d, "norm1.norm", x, 1e-6);
    y = dx_modulate(b, "modulate_1", y, c[1], c[0]);
    x = dx_gated(b, "add_1", x, c[2], dx_attention(b, "attn1", y, y, m->heads, m->bias));
    if (m->single)
        x = nn_add(b, "add_2", x, cross_attention(b, m, x));
    y = norm(b, m, m->single ? "norm2" : "norm3", x);
    y = dx_modulate(b, "modulate_2", y, c[4], c[3]);
    return dx_gated(b, "add_3", x, c[5], dx_feed_forward(b, "ff", y, m->act));
}

static nn_t finish(nn *b, pixart *m, nn_t x)
{
    nn_t c[2]; /* shift, scale */
    int64_t out = m->patch * m->patch * m->out;
    if (m->single) {
        nn_t table = nn_param(b, "scale_shift_table", 2, (const int64_t[]){2, m->width});
        nn_t t = nn_add(b, "condition", nn_unsqueeze(b, "condition/unsqueeze", m->time, 1), table);
        nn_split(b, "condition/chunk", t, 1, 2, c);
    } else {
        nn_t t = NN_UNDER(b, label_condition(b, m), "transformer_blocks.0.norm1");
        t = nn_linear(b, "proj_out_1", nn_plain(b, "Swish", "silu", t), 2 * m->width, true);
        dx_chunks(b, "condition/chunk", t, 2, c);
    }
    x = dx_modulate(b, "modulate", dx_norm(&m->d, "norm_out", x, 1e-6), c[1], c[0]);
    return nn_linear(b, m->single ? "proj_out" : "proj_out_2", x, out, true);
}

static void build(nn *b)
{
    int64_t sides[2];
    pixart m = read_pixart(b);
    dx_sides(b, 64, sides);
    nn_t x = nn_input(b, "hidden_states", IR_FLOAT32, 4,
                      (const int64_t[]){1, m.in, sides[0], sides[1]});
    int64_t batch = x.d[0], h = x.d[2] / m.patch, w = x.d[3] / m.patch;
    double scale = nn_real_in(b, "interpolation_scale",
                              m.single && m.trained > 64 ? (double)(m.trained / 64) : 1.0, 1e-3,
                              1e6);
    if (m.single) {
        read_prompt(b, &m, batch);
        single_condition(b, &m, batch);
    } else {
        m.time = dx_waves(b, "time_proj", dx_scalar_input(b, "timestep", batch), 256, true, 1.0);
        m.label = nn_input(b, "class_labels", IR_INT64, 1, &batch);
    }
    x = dx_patches(b, "pos_embed.proj", x, m.patch, m.width);
    nn_t places = dx_places(b, h, w, m.width, (double)(m.trained / m.patch), scale);
    x = nn_add(b, "pos_embed/add", x, places);
    for (int i = 0; i < (int)m.layers && nn_ok(b); i++)
        x = NN_UNDER(b, block(b, &m, x), "transformer_blocks.%d", i);
    nn_output(b, dx_unpatch(b, finish(b, &m, x), h, w, m.patch), "output");
}

#define PIXART \
    "norm_type=ada_norm_single caption_channels=4096 cross_attention_dim=1152 out_channels=8 "
#define ROW(name_, alias, family_, set) ZOO_ROW(name_, alias, family_, "diffusion", build, set)

static const zoo_row rows[] = {
    ROW("pixart-512", "pixart-alpha-512 pixart-xl-2-512x512", "PixArtTransformer2DModel",
        PIXART "sample_size=64"),
    ROW("pixart-1024", "pixart-alpha pixart-alpha-1024 pixart-xl-2-1024-ms",
        "PixArtTransformer2DModel", PIXART "sample_size=128"),
    ROW("pixart-sigma-512", NULL, "PixArtTransformer2DModel",
        PIXART "sample_size=64 seq_len=300 use_additional_conditions=false"),
    ROW("pixart-sigma", "pixart-sigma-1024 pixart-sigma-xl-2-1024-ms", "PixArtTransformer2DModel",
        PIXART "sample_size=128 seq_len=300 use_additional_conditions=false"),
};
const zoo_rows zoo_pixart_rows = ZOO_ROWS(rows);

static const zoo_row families[] = {
    ROW("PixArtTransformer2DModel", NULL, "PixArtTransformer2DModel",
        "norm_type=ada_norm_single cross_attention_dim=1152 out_channels=8 sample_size=128"),
    ROW("DiTTransformer2DModel", NULL, "DiTTransformer2DModel",
        "norm_type=ada_norm_zero sample_size=32 norm_eps=1e-5"),
    ROW("Transformer2DModel", NULL, "Transformer2DModel",
        "norm_type=layer_norm norm_eps=1e-5 attention_bias=false activation_fn=geglu"),
};
const zoo_rows zoo_pixart_families = ZOO_ROWS(families);
