/* Vision Transformer (torchvision's vision_transformer.py).
 *
 *   conv_proj: patches of patch_size, [N, C, h, w] to [N, h*w, hidden_dim]
 *   class_token before them, encoder.pos_embedding added: as many positions as the image has
 *   patches, so another image size is another number of parameters (as torchvision's interpolated
 *   checkpoints have)
 *   num_layers times: x += self_attention(ln_1(x)); x += mlp(ln_2(x))
 *   encoder.ln, the class token, heads.head (with representation_size: heads.pre_logits and tanh
 *   before it)
 */
#include "zoo/nn_tokens.h"
#include "zoo/zoo.h"

typedef struct vit {
    int64_t patch, layers, heads, dim, hidden;
} vit;

static const double eps = 1e-6;

static vit read_vit(nn *b)
{
    return (vit){
        .patch = nn_int_in(b, "patch_size", 16, 1, 4096),
        .layers = nn_int_in(b, "num_layers", 12, 1, 10000),
        .heads = nn_int_in(b, "num_heads", 12, 1, 65536),
        .dim = nn_int_in(b, "hidden_dim", 768, 1, 1 << 20),
        .hidden = nn_int_in(b, "mlp_dim", 3072, 1, 1 << 24),
    };
}

/* nn.MultiheadAttention: q, k and v from one weight that is no module of its own. */
static nn_t self_attention(nn *b, nn_t x, const vit *v)
{
    nn_t parts[3];
    nn_push(b, "self_attention");
    nn_t weight = nn_param(b, "in_proj_weight", 2, (const int64_t[]){v->dim, 3 * v->dim});
    if (weight.id != IR_NONE)
        ir_value_at(nn_model(b), weight.id)->flags |= IR_VALUE_TRANSPOSED;
    nn_t qkv = nn_matmul(b, "in_proj", x, weight);
    qkv = nn_add(b, "in_proj/add", qkv, nn_param(b, "in_proj_bias", 1, &(int64_t){3 * v->dim}));
    nn_heads(b, qkv, v->heads, parts);
    x = nn_attention(b, "attention", parts[0], parts[1], parts[2], NN_ABSENT, 0.0, false);
    return nn_leave(b, nn_linear(b, "out_proj", nn_unheads(b, x), v->dim, true));
}

static nn_t encoder_layer(nn *b, nn_t x, const vit *v)
{
    static const nn_mlp_names names = {"0", "1", "3"};
    nn_t y = self_attention(b, nn_layernorm(b, "ln_1", x, eps), v);
    x = nn_add(b, "add_1", y, x);
    y = nn_mlp(b, &names, nn_layernorm(b, "ln_2", x, eps), v->hidden, v->dim);
    return nn_add(b, "add_2", x, y);
}

static nn_t encoder(nn *b, nn_t x, const vit *v)
{
    nn_push(b, "encoder");
    nn_t positions = nn_param(b, "pos_embedding", 3, (const int64_t[]){1, x.d[1], v->dim});
    x = nn_add(b, "add", x, positions);
    for (int64_t i = 0; i < v->layers; i++)
        x = NN_UNDER(b, encoder_layer(b, x, v), "layers.encoder_layer_%d", (int)i);
    return nn_leave(b, nn_layernorm(b, "ln", x, eps));
}

/* [N, C, H, W] to [N, 1 + h*w, dim]. */
static nn_t tokens(nn *b, nn_t x, const vit *v)
{
    if (nn_ok(b) && (x.d[2] % v->patch || x.d[3] % v->patch))
        nn_fail(b, "a %lldx%lld image is not divisible into patches of %lld", (long long)x.d[2],
                (long long)x.d[3], (long long)v->patch);
    x = NN_CONV(b, "conv_proj", x, .out = v->dim, .k = v->patch, .stride = v->patch);
    x = nn_flatten(b, "flatten", x, 2);
    x = nn_transpose(b, "transpose", x, (const int64_t[]){0, 2, 1});
    nn_t class = nn_param(b, "class_token", 3, (const int64_t[]){1, 1, v->dim});
    if (x.d[0] != 1)
        class = nn_expand(b, "expand", class, 3, (const int64_t[]){x.d[0], 1, v->dim});
    return nn_concat(b, "cat", 2, (const nn_t[]){class, x}, 1);
}

static nn_t head(nn *b, nn_t x)
{
    int64_t classes = nn_int(b, "num_classes", 1000);
    nn_push(b, "heads");
    if (nn_has(b, "representation_size")) {
        x = nn_linear(b, "pre_logits", x, nn_int_in(b, "representation_size", 768, 1, 1 << 20),
                      true);
        x = nn_act(b, "Tanh", "act", x);
    }
    return nn_leave(b, nn_linear(b, "head", x, classes, true));
}

static void build(nn *b)
{
    vit v = read_vit(b);
    nn_t x = encoder(b, tokens(b, nn_image(b, 224), &v), &v);
    x = nn_slice(b, "token", x, 1, 0, 1);
    x = nn_squeeze(b, "token/squeeze", x, 1);
    nn_output(b, head(b, x), "output");
}

#define ROW(name_, alias, set) ZOO_ROW(name_, alias, "vit", "classification", build, set)
#define BASE                   "num_layers=12 num_heads=12 hidden_dim=768 mlp_dim=3072"
#define LARGE                  "num_layers=24 num_heads=16 hidden_dim=1024 mlp_dim=4096"

static const zoo_row rows[] = {
    ROW("vit_b_16", "vit_base_patch16_224 vit_b16 vit", "patch_size=16 " BASE),
    ROW("vit_b_32", "vit_base_patch32_224 vit_b32", "patch_size=32 " BASE),
    ROW("vit_l_16", "vit_large_patch16_224 vit_l16", "patch_size=16 " LARGE),
    ROW("vit_l_32", "vit_large_patch32_224 vit_l32", "patch_size=32 " LARGE),
    ROW("vit_h_14", "vit_huge_patch14_224 vit_h14",
        "patch_size=14 num_layers=32 num_heads=16 hidden_dim=1280 mlp_dim=5120"),
};

const zoo_rows zoo_vit_rows = ZOO_ROWS(rows);
