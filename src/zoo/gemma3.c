/* Gemma 3 with images (transformers' modeling_gemma3.py): a SigLIP tower whose patches are averaged down to
 * mm_tokens_per_image tokens, normed and projected into the words' space. They stand at the front of the prompt, in
 * place of as many of its tokens.
 */
#include <assert.h>
#include <math.h>

#include "zoo/clip.h"
#include "zoo/llama.h"
#include "zoo/nn_impl.h"

static int64_t image_tokens(nn *b)
{
    return hf_int((hf){b, NULL}, "mm_tokens_per_image", 256, 1, HF_TOKENS);
}

/* [B, patches, W] as a map, averaged into tokens [B, tokens, W]. */
static nn_t averaged(nn *b, nn_t x, int64_t tokens)
{
    int64_t side = (int64_t)sqrt((double)x.d[1]), few = (int64_t)sqrt((double)tokens);
    int64_t k = few > 0 ? side / few : 0;
    if (nn_ok(b) && (side * side != x.d[1] || k < 1 || side / k * (side / k) != tokens))
        nn_fail(b, "%lld patches are not divisible into %lld tokens", (long long)x.d[1],
                (long long)tokens);
    if (!nn_ok(b))
        return nn_harmless(NN_F32(x.d[0], tokens, x.d[2]));
    assert(k > 0);
    x = nn_swap(b, "transpose", x);
    x = nn_reshape(b, "map", x, 4, (const int64_t[]){x.d[0], x.d[1], side, side});
    const int64_t kernel[] = {k, k};
    const nn_attr attrs[] = {NN_LIST("kernel_shape", 2, kernel), NN_LIST("strides", 2, kernel)};
    nn_t out = NN_F32(x.d[0], x.d[1], side / k, side / k);
    x = nn_one(b, "AveragePool", "avg_pool", 1, &x, out, 2, attrs);
    return nn_swap(b, "transpose_back", nn_flatten(b, "flatten", x, 2));
}

static nn_t project(nn *b, nn_t x, int64_t width)
{
    hf c = {b, "vision_config"};
    nn_push(b, "multi_modal_projector");
    x = averaged(b, x, image_tokens(b));
    x = hf_rms_plus_one(b, "mm_soft_emb_norm", x, hf_real(c, "layer_norm_eps", 1e-6));
    nn_t w = nn_param(b, "mm_input_projection_weight", 2, (const int64_t[]){x.d[2], width});
    return nn_leave(b, nn_matmul(b, "project", x, w));
}

nn_t gemma3_images(nn *b, int64_t width)
{
    nn_t pooled;
    nn_t x = NN_UNDER(b, siglip_vision(b, (hf){b, "vision_config"}, &pooled), "vision_tower");
    return project(b, x, width);
}

nn_t gemma3_join(nn *b, nn_t x, nn_t images)
{
    if (nn_ok(b) && (x.d[1] <= images.d[1] || x.d[0] != images.d[0]))
        nn_fail(b,
                "a prompt of %lld tokens has no room for an image of %lld. Use images=0 to omit "
                "the image.",
                (long long)x.d[1], (long long)images.d[1]);
    if (!nn_ok(b))
        return nn_harmless(x);
    nn_t text = nn_slice(b, "text", x, 1, images.d[1], x.d[1]);
    return nn_concat(b, "with_image", 2, (const nn_t[]){images, text}, 1);
}

int64_t gemma3_seq_len(nn *b)
{
    return image_tokens(b) + 128;
}
