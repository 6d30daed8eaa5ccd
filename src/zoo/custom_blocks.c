/* The larger pieces of custom models: blocks of the built-in families, attention, tokens. */
#include "zoo/blocks.h"
#include "zoo/custom_impl.h"
#include "zoo/nn_tokens.h"
#include "zoo/resnet.h"

static const struct {
    const char *word, *op; /* op NULL: no activation */
} activations[] = {
    {"relu", "Relu"},           {"relu6", "Relu6"},
    {"silu", "Swish"},          {"sigmoid", "Sigmoid"},
    {"hardswish", "HardSwish"}, {"hardsigmoid", "HardSigmoid"},
    {"gelu", "Gelu"},           {"none", NULL},
};

static const char *activation(const custom_layer *l, const char *key, const char *def)
{
    str word = custom_word(l, key, def);
    for (size_t i = 0; i < sizeof activations / sizeof *activations; i++)
        if (str_is(word, activations[i].word))
            return activations[i].op;
    custom_fail(l->c, "unknown activation '" STR_FMT "'", STR_ARG(word));
    return NULL;
}

/* ---- convolutional ---- */

static nn_t build_conv_norm_act(const custom_layer *l, nn_t x)
{
    nn_conv c = {.out = custom_int(l, "out", CUSTOM_NEEDED, 1, CUSTOM_MAX),
                 .k = custom_int(l, "kernel", 3, 1, 4096),
                 .stride = custom_int(l, "stride", 1, 1, 4096),
                 .dilation = custom_int(l, "dilation", 1, 1, 4096),
                 .groups = custom_int(l, "groups", 1, 1, CUSTOM_MAX)};
    const char *act = activation(l, "act", "relu");
    return custom_rank(l, x, 4, 4) ? zoo_conv_norm_act(l->c->b, l->name, x, c, act, 1e-5) : x;
}

static nn_t build_squeeze_excite(const custom_layer *l, nn_t x)
{
    int64_t squeeze = custom_int(l, "squeeze", CUSTOM_NEEDED, 1, CUSTOM_MAX);
    const char *act = activation(l, "act", "relu"), *gate = activation(l, "gate", "sigmoid");
    if (!custom_rank(l, x, 4, 4) || !act || !gate)
        return x;
    return zoo_squeeze_excite(l->c->b, l->name, x, squeeze, act, gate);
}

/* MobileNet's block: widen, depthwise, narrow; a shortcut where nothing changes its shape. */
static nn_t build_inverted_residual(const custom_layer *l, nn_t x)
{
    nn *b = l->c->b;
    int64_t out = custom_int(l, "out", CUSTOM_NEEDED, 1, CUSTOM_MAX);
    int64_t expand = custom_int(l, "expand", 6, 1, 64), k = custom_int(l, "kernel", 3, 1, 4096);
    int64_t stride = custom_int(l, "stride", 1, 1, 4096);
    int64_t squeeze = custom_int(l, "squeeze", 0, 0, CUSTOM_MAX);
    const char *act = activation(l, "act", "relu6");
    if (!custom_rank(l, x, 4, 4) || !act)
        return x;
    int64_t in = x.d[1], mid = in * expand;
    nn_t y = x;
    nn_push(b, "%s", l->name);
    if (expand != 1)
        y = zoo_conv_norm_act(b, "expand", y, (nn_conv){.out = mid, .k = 1}, act, 1e-5);
    y = zoo_conv_norm_act(b, "depthwise", y,
                          (nn_conv){.out = mid, .k = k, .stride = stride, .groups = mid}, act,
                          1e-5);
    if (squeeze)
        y = zoo_squeeze_excite(b, "se", y, squeeze, "Relu", "Sigmoid");
    y = zoo_conv_norm_act(b, "project", y, (nn_conv){.out = out, .k = 1}, NULL, 1e-5);
    if (stride == 1 && in == out)
        y = nn_add(b, "add", y, x);
    return nn_leave(b, y);
}

static nn_t build_resnet_stage(const custom_layer *l, nn_t x)
{
    resnet_stage s = {.name = l->name,
                      .planes = custom_int(l, "planes", CUSTOM_NEEDED, 1, 1 << 20),
                      .blocks = custom_int(l, "blocks", 1, 1, 1000),
                      .stride = custom_int(l, "stride", 1, 1, 64),
                      .groups = custom_int(l, "groups", 1, 1, 1 << 20),
                      .base_width = custom_int(l, "width_per_group", 64, 1, 1 << 20),
                      .dilation = 1,
                      .next_dilation = 1,
                      .bottleneck = custom_bool(l, "bottleneck", false)};
    return custom_rank(l, x, 4, 4) ? resnet_layer(l->c->b, x, &s) : x;
}

/* ---- tokens ---- */

/* [N, C, H, W] to [N, H*W, C]. */
static nn_t build_tokens(const custom_layer *l, nn_t x)
{
    if (!custom_rank(l, x, 4, 4))
        return x;
    x = nn_reshape(l->c->b, l->name, x, 3, (const int64_t[]){x.d[0], x.d[1], x.d[2] * x.d[3]});
    return nn_swap(l->c->b, l->name, x);
}

static nn_t build_class_token(const custom_layer *l, nn_t x)
{
    nn *b = l->c->b;
    if (!custom_rank(l, x, 3, 3))
        return x;
    nn_t token = nn_param(b, l->name, 3, (const int64_t[]){1, 1, x.d[2]});
    token = nn_expand(b, l->name, token, 3, (const int64_t[]){x.d[0], 1, x.d[2]});
    return nn_concat(b, l->name, 2, (const nn_t[]){token, x}, 1);
}

static nn_t build_positions(const custom_layer *l, nn_t x)
{
    if (!custom_rank(l, x, 3, 3))
        return x;
    nn_t table = nn_param(l->c->b, l->name, 3, (const int64_t[]){1, x.d[1], x.d[2]});
    return nn_add(l->c->b, l->name, x, table);
}

static nn_t build_select(const custom_layer *l, nn_t x)
{
    if (!custom_rank(l, x, 3, 3))
        return x;
    int64_t i = custom_int(l, "index", 0, 0, x.d[1] - 1);
    x = nn_slice(l->c->b, l->name, x, 1, i, i + 1);
    return nn_squeeze(l->c->b, l->name, x, 1);
}

static nn_t attend(const custom_layer *l, nn_t x, int64_t heads, bool bias, bool causal)
{
    nn *b = l->c->b;
    int64_t dim = x.d[2];
    nn_t parts[3];
    if (dim % heads != 0) {
        custom_fail(l->c, "%lld channels are not divisible into %lld heads", (long long)dim,
                    (long long)heads);
        return x;
    }
    nn_heads(b, nn_linear(b, "in_proj", x, 3 * dim, bias), heads, parts);
    x = nn_attention(b, "attention", parts[0], parts[1], parts[2], NN_ABSENT, 0.0, causal);
    return nn_linear(b, "out_proj", nn_unheads(b, x), dim, bias);
}

/* Multi-head self-attention on [N, S, C]. */
static nn_t build_attention(const custom_layer *l, nn_t x)
{
    int64_t heads = custom_int(l, "heads", CUSTOM_NEEDED, 1, 65536);
    bool bias = custom_bool(l, "bias", true), causal = custom_bool(l, "causal", false);
    if (!custom_rank(l, x, 3, 3))
        return x;
    nn_push(l->c->b, "%s", l->name);
    x = attend(l, x, heads, bias, causal);
    nn_pop(l->c->b);
    return x;
}

static nn_t build_mlp(const custom_layer *l, nn_t x)
{
    static const nn_mlp_names names = {"fc1", "act", "fc2"};
    int64_t hidden = custom_int(l, "hidden", CUSTOM_NEEDED, 1, CUSTOM_MAX);
    int64_t out = custom_int(l, "out", x.rank ? x.d[x.rank - 1] : 1, 1, CUSTOM_MAX);
    if (!custom_rank(l, x, 2, NN_RANK))
        return x;
    nn_push(l->c->b, "%s", l->name);
    x = nn_mlp(l->c->b, &names, x, hidden, out);
    nn_pop(l->c->b);
    return x;
}

/* x += attention(norm(x)); x += mlp(norm(x)). */
static nn_t build_transformer_layer(const custom_layer *l, nn_t x)
{
    static const nn_mlp_names names = {"mlp.fc1", "mlp.act", "mlp.fc2"};
    nn *b = l->c->b;
    int64_t heads = custom_int(l, "heads", CUSTOM_NEEDED, 1, 65536);
    bool bias = custom_bool(l, "bias", true), causal = custom_bool(l, "causal", false);
    if (!custom_rank(l, x, 3, 3))
        return x;
    int64_t dim = x.d[2], hidden = custom_int(l, "mlp", 4 * dim, 1, CUSTOM_MAX);
    nn_push(b, "%s", l->name);
    nn_t y = attend(l, nn_layernorm(b, "norm1", x, 1e-5), heads, bias, causal);
    x = nn_add(b, "add1", x, y);
    return nn_leave(
        b, nn_add(b, "add2", x, nn_mlp(b, &names, nn_layernorm(b, "norm2", x, 1e-5), hidden, dim)));
}

static const custom_row rows[] = {
    {.name = "conv_norm_act",
     .keys = "out kernel stride dilation groups act",
     .build = build_conv_norm_act},
    {.name = "squeeze_excite", .keys = "squeeze act gate", .build = build_squeeze_excite},
    {.name = "inverted_residual",
     .keys = "out expand kernel stride squeeze act",
     .build = build_inverted_residual},
    {.name = "resnet_stage",
     .keys = "planes blocks stride groups width_per_group bottleneck",
     .build = build_resnet_stage},
    {.name = "tokens", .keys = "", .build = build_tokens},
    {.name = "class_token", .keys = "", .build = build_class_token},
    {.name = "positions", .keys = "", .build = build_positions},
    {.name = "select", .keys = "index", .build = build_select},
    {.name = "attention", .keys = "heads bias causal", .build = build_attention},
    {.name = "mlp", .keys = "hidden out", .build = build_mlp},
    {.name = "transformer_layer",
     .keys = "heads mlp bias causal",
     .build = build_transformer_layer},
};
const custom_rows custom_block_rows = {rows, sizeof rows / sizeof *rows};
