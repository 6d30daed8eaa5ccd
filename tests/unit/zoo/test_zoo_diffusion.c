/* Denoisers and autoencoders of the zoo against counts worked out from diffusers' source: parameters equal to
 * the unit, MACs equal, linear and attention apart; names of weights as in the checkpoints; other sizes, and
 * what users may get wrong.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "analyze/count.h"
#include "analyze/infer.h"
#include "ir/verify.h"
#include "zoo/zoo.h"

enum { LIMIT = 1 << 30 };

typedef struct built {
    ir_model *m;
    arena *a;
    profile *p;
    infer_result *r;
} built;

static assay_status make(const zoo_row *row, const char *set, ir_model **m, assay_error *err)
{
    arena *a = arena_new(LIMIT);
    zoo_args args;
    const zoo_request q = {.row = row, .set = &args};
    err_clear(err);
    assert_non_null(row);
    zoo_args_init(&args, a);
    assert_int_equal(zoo_args_parse(&args, str_of(set), false, err), ASSAY_OK);
    assay_status s = zoo_build(&q, m, err);
    arena_free(a);
    return s;
}

/* Builds and counts; inference must have nothing to say and know every operator. */
static built count_row(const zoo_row *row, const char *set)
{
    assay_error err;
    counted of;
    built x = {.a = arena_new(LIMIT), .p = profile_new(LIMIT)};
    if (make(row, set, &x.m, &err) != ASSAY_OK || ir_verify(x.m, &err) != ASSAY_OK ||
        infer_run(x.m, NULL, x.a, &x.r, &err) != ASSAY_OK ||
        count_run(x.r, NULL, x.p, &of, &err) != ASSAY_OK)
        fail_msg("%s %s: %s", row->name, set, err.message);
    for (uint32_t i = 0; i < x.r->notes.list.n; i++)
        fail_msg("%s %s: note " STR_FMT, row->name, set, STR_ARG(x.r->notes.list.items[i].text));
    assert_int_equal(x.p->accounting.n_items, 0);
    return x;
}

static built count_of(const char *name, const char *set)
{
    return count_row(zoo_find(str_of(name)), set);
}

static void drop(built *x)
{
    profile_free(x->p);
    arena_free(x->a);
    ir_model_free(x->m);
}

static uint64_t attention_of(const built *x)
{
    uint64_t macs = 0;
    for (uint32_t i = 0; i < x->p->n_layers; i++)
        macs += x->p->layers[i].ops.mac_qk + x->p->layers[i].ops.mac_av;
    return macs;
}

/* ---- counts ---- */

static const struct {
    const char *name, *set;
    uint64_t parameters, macs, attention; /* 0: not asked */
} facts[] = {
    {"sd21-unet", "", 865910724, 402128732160, 63026135040},
    {"sd21-unet", "sample_size=128", 865910724, 2337495121920, 987072430080},
    {"sd21-unet", "latent_size=128", 865910724, 2337495121920, 987072430080},
    {"sd15-unet", "", 859520964, 0, 0},
    {"sdxl-unet", "", 2567463684, 0, 0},
    {"sdxl-unet", "sample_size=64", 2567463684, 0, 0},
    {"sd-vae", "", 83653863, 0, 0},
    {"sd-vae-decoder", "", 49490199, 1257259466752, 17179869184},
    {"sd-vae-decoder", "sample_size=1024", 49490199, 0, 0},
    {"sd-vae-encoder", "", 34163664, 0, 0},
    {"sd3-vae", "", 83819683, 0, 0},
    {"sd3-vae-decoder", "sample_size=512", 49545475, 0, 0},
    {"dit-s-2", "", 32963360, 0, 0},
    {"dit-s-4", "", 32945024, 0, 0},
    {"dit-s-8", "", 33148160, 0, 0},
    {"dit-b-2", "", 130512416, 0, 0},
    {"dit-b-4", "", 130475648, 0, 0},
    {"dit-b-8", "", 130881536, 0, 0},
    {"dit-l-2", "", 458102816, 0, 0},
    {"dit-l-4", "", 458053760, 0, 0},
    {"dit-l-8", "", 458594816, 0, 0},
    {"dit-xl-2", "", 675129632, 118621421568, 0},
    {"dit-xl-4", "", 675074432, 29043671040, 0},
    {"dit-xl-8", "", 675683072, 7392411648, 0},
    {"pixart-512", "", 610856096, 0, 0},
    {"pixart-1024", "", 611349152, 0, 0},
    {"pixart-1024", "latent_size=64", 611349152, 0, 0},
    {"sd3-medium", "", 2028328000, 0, 0},
    {"sd3-medium", "latent_size=64", 2028328000, 0, 0},
    {"flux-dev", "", 11901408320, 0, 0},
    {"flux-schnell", "", 11891178560, 0, 0},
};

static void counts_are_exact(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++) {
        built x = count_of(facts[i].name, facts[i].set);
        if (x.p->total_parameters != facts[i].parameters ||
            (facts[i].macs && x.p->total_macs != facts[i].macs) ||
            (facts[i].attention && attention_of(&x) != facts[i].attention))
            fail_msg("%s %s: %llu parameters, %llu MACs, %llu of them attention", facts[i].name,
                     facts[i].set, (unsigned long long)x.p->total_parameters,
                     (unsigned long long)x.p->total_macs, (unsigned long long)attention_of(&x));
        drop(&x);
    }
}

/* ---- names ---- */

static const struct {
    const char *model, *name;
    int64_t dims[4]; /* of the constant; [in, out] for linear layers on tokens */
} names[] = {
    {"sd15-unet", "time_embedding.linear_1.weight", {1280, 320}},
    {"sd15-unet", "down_blocks.0.resnets.0.time_emb_proj.weight", {320, 1280}},
    {"sd15-unet", "down_blocks.1.resnets.0.conv_shortcut.weight", {640, 320, 1, 1}},
    {"sd15-unet", "down_blocks.0.attentions.0.proj_in.weight", {320, 320, 1, 1}},
    {"sd15-unet", "down_blocks.0.attentions.0.transformer_blocks.0.attn2.to_k.weight", {768, 320}},
    {"sd15-unet",
     "down_blocks.0.attentions.0.transformer_blocks.0.ff.net.0.proj.weight",
     {320, 2560}},
    {"sd15-unet", "mid_block.attentions.0.transformer_blocks.0.attn1.to_out.0.bias", {1280}},
    {"sd15-unet", "up_blocks.1.upsamplers.0.conv.weight", {1280, 1280, 3, 3}},
    {"sd15-unet", "up_blocks.3.resnets.2.conv1.weight", {320, 640, 3, 3}},
    {"sdxl-unet", "add_embedding.linear_1.weight", {1280, 2816}},
    {"sd-vae", "encoder.mid_block.attentions.0.group_norm.weight", {512}},
    {"sd-vae", "decoder.up_blocks.2.resnets.0.conv_shortcut.weight", {256, 512, 1, 1}},
    {"sd-vae", "post_quant_conv.weight", {4, 4, 1, 1}},
    {"dit-xl-2", "blocks.0.adaLN_modulation.1.weight", {6912, 1152}},
    {"pixart-1024", "adaln_single.emb.resolution_embedder.linear_1.weight", {256, 384}},
    {"pixart-512", "transformer_blocks.27.scale_shift_table", {6, 1152}},
    {"sd3-medium", "transformer_blocks.0.attn.add_q_proj.weight", {1536, 1536}},
    {"sd3-medium", "transformer_blocks.23.norm1_context.linear.weight", {3072, 1536}},
    {"sd3-medium", "pos_embed.pos_embed", {1, 36864, 1536}},
    {"flux-dev", "time_text_embed.guidance_embedder.linear_1.weight", {3072, 256}},
    {"flux-dev", "single_transformer_blocks.37.proj_out.weight", {15360, 3072}},
    {"flux-dev", "transformer_blocks.0.attn.norm_added_k.weight", {128}},
};

static bool has(const ir_model *m, const char *name, const int64_t dims[4])
{
    for (uint32_t i = 0; i < m->values.n; i++) {
        const ir_value *v = &m->values.items[i];
        if (!v->constant || !str_is(v->name, name))
            continue;
        for (int k = 0; k < v->constant->rank; k++)
            if (k >= 4 || v->constant->dims[k] != dims[k])
                return false;
        return true;
    }
    return false;
}

static void weights_are_named_as_in_checkpoints(void **state)
{
    assay_error err;
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        ir_model *m = NULL;
        assert_int_equal(make(zoo_find(str_of(names[i].model)), "", &m, &err), ASSAY_OK);
        if (!has(m, names[i].name, names[i].dims))
            fail_msg("%s has no %s of that shape", names[i].model, names[i].name);
        ir_model_free(m);
    }
}

/* ---- families ---- */

static void families_are_found_by_class(void **state)
{
    static const char *const classes[] = {"UNet2DConditionModel",     "AutoencoderKL",
                                          "PixArtTransformer2DModel", "DiTTransformer2DModel",
                                          "SD3Transformer2DModel",    "FluxTransformer2DModel"};
    (void)state;
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++) {
        built x = count_row(zoo_find_family(str_of(classes[i])), "");
        assert_true(x.p->total_parameters > 0);
        drop(&x);
    }
}

/* diffusers' DiT has an embedder of time and class in every block. */
static void dit_of_diffusers_repeats_its_embedders(void **state)
{
    (void)state;
    built x = count_row(zoo_find_family(STR("DiTTransformer2DModel")), "out_channels=8");
    uint64_t embedder = 256 * 1152 + 1152 + 1152 * 1152 + 1152 + 1001 * 1152;
    assert_int_equal(x.p->total_parameters, 675129632 - 256 * 1152 + 27 * embedder);
    drop(&x);
}

/* ---- mistakes ---- */

static void mistakes_are_named(void **state)
{
    static const struct {
        const char *model, *set, *says;
        bool valid; /* diffusers has it, we do not */
    } bad[] = {
        {"sd15-unet", "down_block_types=AttnDownBlock2D,DownBlock2D,DownBlock2D,DownBlock2D",
         "AttnDownBlock2D", true},
        {"sd15-unet", "block_out_channels=320,640", "down_block_types", false},
        {"sd15-unet", "attention_head_dim=7", "heads", false},
        {"sd15-unet", "addition_embed_type=image", "addition_embed_type", true},
        {"sd15-unet", "sample_size=0", "sample_size", false},
        {"sd-vae", "part=half", "half", false},
        {"sd-vae", "norm_num_groups=7", "groups", false},
        {"sd3-medium", "latent_size=1024", "pos_embed_max_size", false},
        {"sd3-medium", "caption_projection_dim=100", "caption_projection_dim", false},
        {"flux-dev", "axes_dims_rope=16,56", "axes_dims_rope", false},
        {"dit-xl-2", "input_size=33", "patches", false},
        {"pixart-512", "activation_fn=tanh", "tanh", false},
    };
    assay_error err;
    ir_model *m = NULL;
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assay_status s = make(zoo_find(str_of(bad[i].model)), bad[i].set, &m, &err);
        assay_status expected = bad[i].valid ? ASSAY_ERR_UNSUPPORTED : ASSAY_ERR_USAGE;
        if (s != expected || !strstr(err.message, bad[i].says))
            fail_msg("%s %s: %d %s", bad[i].model, bad[i].set, (int)s, err.message);
    }
}

int run_test_zoo_diffusion(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_are_exact),
        cmocka_unit_test(weights_are_named_as_in_checkpoints),
        cmocka_unit_test(families_are_found_by_class),
        cmocka_unit_test(dit_of_diffusers_repeats_its_embedders),
        cmocka_unit_test(mistakes_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
