/* DiT, diffusion transformers over patches of latents for a class of ImageNet (facebookresearch/DiT,
 * models.py), under the names of its own checkpoints.
 *
 *   x_embedder, pos_embed (a parameter that is not trained), t_embedder, y_embedder; blocks.N: attention
 *   and MLP, each scaled, shifted and gated by adaLN_modulation of the condition; final_layer.
 *
 * diffusers holds the same network with an embedder in every block: see pixart.c, DiTTransformer2DModel.
 */
#include "zoo/diffusion.h"
#include "zoo/zoo.h"

typedef struct dit {
    dx d;
    int64_t patch, width, heads, depth, inner;
    nn_t condition; /* [B, width], after SiLU */
} dit;

static nn_t condition(nn *b, const dit *m, int64_t batch)
{
    int64_t classes = nn_int_in(b, "num_classes", 1000, 1, 1 << 24);
    bool dropped = nn_real(b, "class_dropout_prob", 0.1) > 0.0;
    nn_t t = dx_waves(b, "t_embedder/frequencies", dx_scalar_input(b, "t", batch), 256, true, 0.0);
    t = nn_act(b, "Swish", "t_embedder.mlp.1", nn_linear(b, "t_embedder.mlp.0", t, m->width, true));
    t = nn_linear(b, "t_embedder.mlp.2", t, m->width, true);
    nn_t y = nn_input(b, "y", IR_INT64, 1, &batch);
    y = nn_embedding(b, "y_embedder.embedding_table", y, classes + dropped, m->width);
    return nn_plain(b, "Swish", "condition/silu", nn_add(b, "condition", t, y));
}

static nn_t self_attention(nn *b, nn_t x, const dit *m)
{
    nn_t parts[3];
    nn_push(b, "attn");
    nn_heads(b, nn_linear(b, "qkv", x, 3 * m->width, true), m->heads, parts);
    x = nn_attention(b, "attention", parts[0], parts[1], parts[2], NN_ABSENT, 0.0, false);
    return nn_leave(b, nn_linear(b, "proj", nn_unheads(b, x), m->width, true));
}

static nn_t mlp(nn *b, nn_t x, const dit *m)
{
    nn_push(b, "mlp");
    x = nn_gelu(b, "act", nn_linear(b, "fc1", x, m->inner, true), true);
    return nn_leave(b, nn_linear(b, "fc2", x, m->width, true));
}

static nn_t block(nn *b, nn_t x, dit *m)
{
    nn_t c[6]; /* shift, scale, gate of attention, then of the MLP */
    nn_t all = nn_linear(b, "adaLN_modulation.1", m->condition, 6 * m->width, true);
    dx_chunks(b, "adaLN_modulation/chunk", all, 6, c);
    nn_t y = dx_modulate(b, "modulate_1", dx_norm(&m->d, "norm1", x, 1e-6), c[1], c[0]);
    x = dx_gated(b, "add_1", x, c[2], self_attention(b, y, m));
    y = dx_modulate(b, "modulate_2", dx_norm(&m->d, "norm2", x, 1e-6), c[4], c[3]);
    return dx_gated(b, "add_2", x, c[5], mlp(b, y, m));
}

static nn_t final_layer(nn *b, nn_t x, dit *m, int64_t out)
{
    nn_t c[2];
    nn_push(b, "final_layer");
    dx_chunks(b, "adaLN_modulation/chunk",
              nn_linear(b, "adaLN_modulation.1", m->condition, 2 * m->width, true), 2, c);
    x = dx_modulate(b, "modulate", dx_norm(&m->d, "norm_final", x, 1e-6), c[1], c[0]);
    return nn_leave(b, nn_linear(b, "linear", x, m->patch * m->patch * out, true));
}

static void build(nn *b)
{
    dit m = {.d = DX(b),
             .patch = nn_int_in(b, "patch_size", 2, 1, 64),
             .width = nn_int_in(b, "hidden_size", 1152, 1, 1 << 20),
             .heads = nn_int_in(b, "num_heads", 16, 1, 1 << 16),
             .depth = nn_int_in(b, "depth", 28, 1, 10000)};
    int64_t side = nn_int_in(b, "input_size", 32, 1, DX_SIDE);
    int64_t in = nn_int_in(b, "in_channels", 4, 1, 1 << 16);
    int64_t out = nn_bool(b, "learn_sigma", true) ? 2 * in : in;
    m.inner = nn_times(m.width, nn_real_in(b, "mlp_ratio", 4.0, 0.01, 64.0));
    int64_t sides[2] = {side, side};
    if (nn_has(b, "latent_size"))
        dx_sides(b, side, sides);
    nn_t x = nn_input(b, "x", IR_FLOAT32, 4, (const int64_t[]){1, in, sides[0], sides[1]});
    int64_t h = x.d[2] / m.patch, w = x.d[3] / m.patch;
    m.condition = condition(b, &m, x.d[0]);
    x = dx_patches(b, "x_embedder.proj", x, m.patch, m.width);
    nn_t places = nn_param(b, "pos_embed", 3, (const int64_t[]){1, x.d[1], m.width});
    x = nn_add(b, "add", x, places);
    for (int i = 0; i < (int)m.depth && nn_ok(b); i++)
        x = NN_UNDER(b, block(b, x, &m), "blocks.%d", i);
    nn_output(b, dx_unpatch(b, final_layer(b, x, &m, out), h, w, m.patch), "output");
}

#define S                      "depth=12 hidden_size=384 num_heads=6 "
#define B                      "depth=12 hidden_size=768 num_heads=12 "
#define L                      "depth=24 hidden_size=1024 num_heads=16 "
#define XL                     "depth=28 hidden_size=1152 num_heads=16 "
#define ROW(name_, alias, set) ZOO_ROW(name_, alias, "dit", "diffusion", build, set)

static const zoo_row rows[] = {
    ROW("dit-xl-2", "dit-xl/2 dit", XL "patch_size=2"),
    ROW("dit-xl-2-512", "dit-xl/2-512", XL "patch_size=2 input_size=64"),
    ROW("dit-xl-4", "dit-xl/4", XL "patch_size=4"),
    ROW("dit-xl-8", "dit-xl/8", XL "patch_size=8"),
    ROW("dit-l-2", "dit-l/2", L "patch_size=2"),
    ROW("dit-l-4", "dit-l/4", L "patch_size=4"),
    ROW("dit-l-8", "dit-l/8", L "patch_size=8"),
    ROW("dit-b-2", "dit-b/2", B "patch_size=2"),
    ROW("dit-b-4", "dit-b/4", B "patch_size=4"),
    ROW("dit-b-8", "dit-b/8", B "patch_size=8"),
    ROW("dit-s-2", "dit-s/2", S "patch_size=2"),
    ROW("dit-s-4", "dit-s/4", S "patch_size=4"),
    ROW("dit-s-8", "dit-s/8", S "patch_size=8"),
};
const zoo_rows zoo_dit_rows = ZOO_ROWS(rows);
