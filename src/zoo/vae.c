/* The autoencoder of latent diffusion (diffusers' AutoencoderKL): part=encoder, decoder, or whole (the one
 * after the other, from an image to the mean of its latents and back).
 *
 *   encoder: conv_in, down_blocks.N (layers_per_block resnets, a downsampler but for the last), mid_block
 *   (resnet, attention of one head over all places, resnet), conv_norm_out, conv_out to mean and variance,
 *   quant_conv. The decoder is its mirror with one more resnet per block.
 *
 * sample_size is that of the image; the decoder's latents are 2^(blocks-1) times smaller.
 */
#include "zoo/diffusion.h"
#include "zoo/nn_impl.h"
#include "zoo/zoo.h"

enum { BLOCKS = 8, LAYERS = 32 };

typedef struct vae {
    nn *b;
    int n;
    int64_t width[BLOCKS], layers, groups, latents, image;
    bool attends, quant, post_quant;
} vae;

static const double eps = 1e-6;

static void check_types(nn *b, const char *key, const char *known, int n)
{
    const json_value *v = nn_raw(b, key);
    int items = v && v->kind == JSON_LIST ? (int)v->n : v ? 1 : n;
    if (nn_ok(b) && items != n)
        nn_fail(b, "parameter '%s' has %d types for %d blocks", key, items, n);
    for (int i = 0; v && nn_ok(b) && i < items; i++) {
        const json_value *one = v->kind == JSON_LIST ? &v->items[i] : v;
        if (one->kind != JSON_TEXT || !str_is(one->s, known))
            nn_fail(b, "unsupported block type of '%s'. Use %s.", key, known);
    }
}

static vae read_vae(nn *b)
{
    static const int64_t widths[] = {128, 256, 512, 512};
    vae v = {.b = b};
    dx_ignore(b);
    v.n = nn_ints_in(b, "block_out_channels", widths, 4, v.width, BLOCKS, 1, 1 << 20);
    if (v.n < 1) {
        v.n = 1;
        v.width[0] = 1;
    }
    check_types(b, "down_block_types", "DownEncoderBlock2D", v.n);
    check_types(b, "up_block_types", "UpDecoderBlock2D", v.n);
    v.layers = nn_int_in(b, "layers_per_block", 2, 1, LAYERS);
    v.groups = nn_int_in(b, "norm_num_groups", 32, 1, 1 << 16);
    v.latents = nn_int_in(b, "latent_channels", 4, 1, 1 << 16);
    v.image = nn_int_in(b, "in_channels", 3, 1, 1 << 16);
    v.attends = nn_bool(b, "mid_block_add_attention", true);
    v.quant = nn_bool(b, "use_quant_conv", true);
    v.post_quant = nn_bool(b, "use_post_quant_conv", true);
    return v;
}

static nn_t resnet(const vae *v, const char *name, int i, nn_t x, int64_t out)
{
    nn *b = v->b;
    nn_t in = x;
    nn_push(b, "%s.%d", name, i);
    x = nn_act(b, "Swish", "nonlinearity", nn_groupnorm(b, "norm1", x, v->groups, eps));
    x = NN_CONV(b, "conv1", x, .out = out, .k = 3, .pad = 1);
    x = nn_act(b, "Swish", "nonlinearity", nn_groupnorm(b, "norm2", x, v->groups, eps));
    x = NN_CONV(b, "conv2", x, .out = out, .k = 3, .pad = 1);
    if (in.d[1] != out)
        in = NN_CONV(b, "conv_shortcut", in, .out = out, .k = 1);
    return nn_leave(b, nn_add(b, "add", in, x));
}

static nn_t attention(const vae *v, nn_t x)
{
    nn *b = v->b;
    nn_t in = x;
    int64_t width = x.d[1], dims[4] = {x.d[0], x.d[1], x.d[2], x.d[3]};
    nn_push(b, "attentions.0");
    x = nn_groupnorm(b, "group_norm", x, v->groups, eps);
    x = nn_swap(b, "transpose", nn_flatten(b, "flatten", x, 2));
    nn_t q = nn_linear(b, "to_q", x, width, true);
    nn_t k = nn_linear(b, "to_k", x, width, true);
    nn_t to_v = nn_linear(b, "to_v", x, width, true);
    x = nn_linear(b, "to_out.0", dx_attend(b, q, k, to_v, 1), width, true);
    x = nn_reshape(b, "reshape", nn_swap(b, "transpose_back", x), 4, dims);
    return nn_leave(b, nn_add(b, "add", x, in));
}

static nn_t middle(const vae *v, nn_t x)
{
    int64_t width = v->width[v->n - 1];
    nn_push(v->b, "mid_block");
    x = resnet(v, "resnets", 0, x, width);
    if (v->attends)
        x = attention(v, x);
    x = resnet(v, "resnets", 1, x, width);
    nn_pop(v->b);
    return x;
}

static nn_t finish(const vae *v, nn_t x, int64_t out)
{
    x = nn_groupnorm(v->b, "conv_norm_out", x, v->groups, eps);
    return NN_CONV(v->b, "conv_out", nn_act(v->b, "Swish", "conv_act", x), .out = out, .k = 3,
                   .pad = 1);
}

/* The padding stands on one side: below and to the right. */
static nn_t halve(const vae *v, nn_t x, int64_t width)
{
    nn *b = v->b;
    const int64_t pads[] = {0, 0, 0, 0, 0, 0, 1, 1};
    x = nn_pad(b, "downsamplers.0/pad", x, pads, "constant");
    return NN_CONV(b, "downsamplers.0.conv", x, .out = width, .k = 3, .stride = 2);
}

static nn_t encoder(const vae *v, nn_t x)
{
    nn *b = v->b;
    nn_push(b, "encoder");
    x = NN_CONV(b, "conv_in", x, .out = v->width[0], .k = 3, .pad = 1);
    for (int i = 0; i < v->n && nn_ok(b); i++) {
        nn_push(b, "down_blocks.%d", i);
        for (int k = 0; k < (int)v->layers; k++)
            x = resnet(v, "resnets", k, x, v->width[i]);
        if (i + 1 < v->n)
            x = halve(v, x, v->width[i]);
        nn_pop(b);
    }
    x = finish(v, middle(v, x), 2 * v->latents);
    nn_pop(b);
    return v->quant ? NN_CONV(b, "quant_conv", x, .out = 2 * v->latents, .k = 1) : x;
}

static nn_t decoder(const vae *v, nn_t x)
{
    nn *b = v->b;
    int64_t out = nn_int_in(b, "out_channels", 3, 1, 1 << 16);
    if (v->post_quant)
        x = NN_CONV(b, "post_quant_conv", x, .out = v->latents, .k = 1);
    nn_push(b, "decoder");
    x = NN_CONV(b, "conv_in", x, .out = v->width[v->n - 1], .k = 3, .pad = 1);
    x = middle(v, x);
    for (int i = 0; i < v->n && nn_ok(b); i++) {
        int64_t width = v->width[v->n - 1 - i];
        nn_push(b, "up_blocks.%d", i);
        for (int k = 0; k <= (int)v->layers; k++)
            x = resnet(v, "resnets", k, x, width);
        if (i + 1 < v->n) {
            x = nn_resize(b, "upsamplers.0/resize", x, 2 * x.d[2], 2 * x.d[3], "nearest", false);
            x = NN_CONV(b, "upsamplers.0.conv", x, .out = width, .k = 3, .pad = 1);
        }
        nn_pop(b);
    }
    return nn_leave(b, finish(v, x, out));
}

static void build(nn *b)
{
    vae v = read_vae(b);
    int64_t sides[2], factor = (int64_t)1 << (v.n - 1);
    str part = nn_word(b, "part", "whole");
    dx_sides(b, 512, sides);
    if (str_is(part, "decoder")) {
        const int64_t dims[] = {1, v.latents, sides[0] / factor, sides[1] / factor};
        nn_output(b, decoder(&v, nn_input(b, "latent_sample", IR_FLOAT32, 4, dims)), "sample");
        return;
    }
    const int64_t dims[] = {1, v.image, sides[0], sides[1]};
    nn_t x = encoder(&v, nn_input(b, "sample", IR_FLOAT32, 4, dims));
    if (str_is(part, "encoder")) {
        nn_output(b, x, "latent_parameters");
        return;
    }
    if (!str_is(part, "whole"))
        nn_fail(b, "unknown part '" STR_FMT "'. Use encoder, decoder or whole.", STR_ARG(part));
    x = nn_slice(b, "mean", x, 1, 0, v.latents);
    nn_output(b, decoder(&v, x), "reconstruction");
}

#define VAE                    "sample_size=512 "
#define VAE16                  "sample_size=1024 latent_channels=16 use_quant_conv=false use_post_quant_conv=false "
#define ROW(name_, alias, set) ZOO_ROW(name_, alias, "AutoencoderKL", "autoencoder", build, set)

static const zoo_row rows[] = {
    ROW("sd-vae", NULL, VAE),
    ROW("sd-vae-encoder", NULL, VAE "part=encoder"),
    ROW("sd-vae-decoder", NULL, VAE "part=decoder"),
    ROW("sdxl-vae", NULL, VAE "sample_size=1024"),
    ROW("sdxl-vae-encoder", NULL, VAE "sample_size=1024 part=encoder"),
    ROW("sdxl-vae-decoder", NULL, VAE "sample_size=1024 part=decoder"),
    ROW("sd3-vae", "flux-vae", VAE16),
    ROW("sd3-vae-encoder", "flux-vae-encoder", VAE16 "part=encoder"),
    ROW("sd3-vae-decoder", "flux-vae-decoder", VAE16 "part=decoder"),
};
const zoo_rows zoo_vae_rows = ZOO_ROWS(rows);

static const zoo_row families[] = {
    ROW("AutoencoderKL", NULL, "sample_size=32 block_out_channels=64 layers_per_block=1")};
const zoo_rows zoo_vae_families = ZOO_ROWS(families);
