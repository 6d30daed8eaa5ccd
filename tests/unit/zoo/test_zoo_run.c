/* Every family that a config.json may name, in a small size, on the engine: it runs, and its outputs have
 * the shapes and types that were predicted; decoders also with a past. Skipped where no engine is. */
#include <assay/measure.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/file.h"
#include "formats/tensor_file.h"
#include "jobs/job.h"
#include "support/runs.h"
#include "support/skip.h"
#include "zoo/zoo.h"

typedef struct small {
    const char *family, *config; /* what config.json holds beside its model_type or _class_name */
    bool decoder;                /* runs with a past too */
} small;

#define PLAIN                                                              \
    "\"vocab_size\": 64, \"hidden_size\": 32, \"intermediate_size\": 48, " \
    "\"num_hidden_layers\": 2, \"num_attention_heads\": 4, \"max_position_embeddings\": 64"
#define GROUPED PLAIN ", \"num_key_value_heads\": 2"
#define GPT                                                               \
    "\"vocab_size\": 64, \"n_embd\": 32, \"n_layer\": 2, \"n_head\": 4, " \
    "\"n_positions\": 64"
#define PICTURE                                                                  \
    "\"hidden_size\": 32, \"intermediate_size\": 48, \"num_hidden_layers\": 2, " \
    "\"num_attention_heads\": 4, \"image_size\": 32, \"patch_size\": 8"
#define SEQUENCES                                                                         \
    "\"vocab_size\": 64, \"d_model\": 32, \"encoder_layers\": 2, \"decoder_layers\": 2, " \
    "\"encoder_attention_heads\": 4, \"decoder_attention_heads\": 4, "                    \
    "\"encoder_ffn_dim\": 48, \"decoder_ffn_dim\": 48, \"max_position_embeddings\": 64"
#define ENCODER(x) PLAIN ", \"architectures\": [\"" x "\"]"

static const small families[] = {
    {"bert", ENCODER("BertForMaskedLM"), false},
    {"roberta", ENCODER("RobertaForSequenceClassification"), false},
    {"xlm-roberta", ENCODER("XLMRobertaModel"), false},
    {"camembert", ENCODER("CamembertForMaskedLM"), false},
    {"distilbert",
     "\"vocab_size\": 64, \"dim\": 32, \"hidden_dim\": 48, \"n_layers\": 2, \"n_heads\": 4, "
     "\"max_position_embeddings\": 64",
     false},
    {"gpt2", GPT, true},
    {"gpt_neox", PLAIN ", \"rotary_pct\": 0.25", true},
    {"phi", GROUPED, true},
    {"bloom", "\"vocab_size\": 64, \"hidden_size\": 32, \"n_layer\": 2, \"n_head\": 4", true},
    {"falcon",
     "\"vocab_size\": 64, \"hidden_size\": 32, \"num_hidden_layers\": 2, "
     "\"num_attention_heads\": 4, \"num_kv_heads\": 2, \"new_decoder_architecture\": true",
     true},
    {"llama", GROUPED, true},
    {"mistral", GROUPED ", \"sliding_window\": 4", true},
    {"mixtral", GROUPED ", \"num_local_experts\": 4", true},
    {"qwen2", GROUPED, true},
    {"qwen2_moe",
     GROUPED ", \"moe_intermediate_size\": 16, \"shared_expert_intermediate_size\": 24, "
             "\"num_experts\": 4, \"num_experts_per_tok\": 2",
     true},
    {"qwen3", GROUPED ", \"head_dim\": 16", true},
    {"qwen3_moe",
     GROUPED ", \"head_dim\": 16, \"moe_intermediate_size\": 16, \"num_experts\": 4, "
             "\"num_experts_per_tok\": 2",
     true},
    {"gemma", GROUPED ", \"head_dim\": 16", true},
    {"gemma2", GROUPED ", \"head_dim\": 16, \"sliding_window\": 4", true},
    {"gemma3_text",
     GROUPED ", \"head_dim\": 16, \"sliding_window\": 4, \"sliding_window_pattern\": 2", true},
    {"phi3", GROUPED, true},
    {"olmo", GROUPED, true},
    {"olmo2", GROUPED, true},
    {"gpt_oss",
     GROUPED ", \"head_dim\": 16, \"sliding_window\": 4, \"num_local_experts\": 4, "
             "\"num_experts_per_tok\": 2",
     true},
    {"electra", ENCODER("ElectraForPreTraining") ", \"embedding_size\": 16", false},
    {"albert", ENCODER("AlbertForMaskedLM") ", \"embedding_size\": 16", false},
    {"mpnet", ENCODER("MPNetForMaskedLM"), false},
    {"bart", SEQUENCES, false},
    {"mbart", SEQUENCES, false},
    {"umt5",
     "\"vocab_size\": 64, \"d_model\": 32, \"d_kv\": 8, \"d_ff\": 48, \"num_layers\": 2, "
     "\"num_heads\": 4",
     true},
    {"deit", PICTURE ", \"architectures\": [\"DeiTForImageClassificationWithTeacher\"]", false},
    {"dinov2", PICTURE ", \"use_swiglu_ffn\": true", false},
    {"siglip", "\"text_config\": {" PLAIN "}, \"vision_config\": {" PICTURE "}", false},
    {"siglip_text_model", PLAIN, false},
    {"siglip_vision_model", PICTURE, false},
    {"gemma3",
     "\"mm_tokens_per_image\": 4, \"text_config\": {" GROUPED
     ", \"head_dim\": 16}, \"vision_config\": {" PICTURE ", \"vision_use_head\": false}",
     true},
    {"olmo3", GROUPED ", \"sliding_window\": 4", true},
    {"olmoe", GROUPED ", \"num_experts\": 4, \"num_experts_per_tok\": 2", true},
    {"smollm3", GROUPED ", \"no_rope_layer_interval\": 2", true},
    {"stablelm", GROUPED ", \"qk_layernorm\": true, \"use_parallel_residual\": true", true},
    {"starcoder2", GROUPED, true},
    {"cohere", GROUPED ", \"use_qk_norm\": true", true},
    {"cohere2", GROUPED ", \"sliding_window\": 4, \"sliding_window_pattern\": 2", true},
    {"granite", GROUPED ", \"residual_multiplier\": 0.5, \"logits_scaling\": 4.0", true},
    {"nemotron", GROUPED, true},
    {"glm", GROUPED ", \"head_dim\": 16", true},
    {"glm4", GROUPED ", \"head_dim\": 16", true},
    {"ernie4_5", GROUPED ", \"head_dim\": 16, \"use_bias\": true", true},
    {"arcee", GROUPED, true},
    {"gptj", GPT ", \"rotary_dim\": 4", true},
    {"gpt_neo",
     "\"vocab_size\": 64, \"hidden_size\": 32, \"num_layers\": 2, \"num_heads\": 4, "
     "\"max_position_embeddings\": 64, \"window_size\": 4, "
     "\"attention_types\": [[[\"global\", \"local\"], 1]]",
     true},
    {"gpt_bigcode", GPT, true},
    {"opt", PLAIN ", \"ffn_dim\": 48, \"word_embed_proj_dim\": 16", true},
    {"mpt", "\"vocab_size\": 64, \"d_model\": 32, \"n_layers\": 2, \"n_heads\": 4", true},
    {"deepseek_v2",
     PLAIN ", \"q_lora_rank\": null, \"kv_lora_rank\": 16, \"qk_nope_head_dim\": 8, "
           "\"qk_rope_head_dim\": 8, \"v_head_dim\": 8, \"moe_intermediate_size\": 16, "
           "\"n_routed_experts\": 4, \"num_experts_per_tok\": 2, \"n_shared_experts\": 1, "
           "\"first_k_dense_replace\": 1",
     true},
    {"deepseek_v3",
     PLAIN ", \"q_lora_rank\": 24, \"kv_lora_rank\": 16, \"qk_nope_head_dim\": 8, "
           "\"qk_rope_head_dim\": 8, \"v_head_dim\": 8, \"moe_intermediate_size\": 16, "
           "\"n_routed_experts\": 8, \"num_experts_per_tok\": 2, \"n_shared_experts\": 1, "
           "\"n_group\": 4, \"topk_group\": 2, \"first_k_dense_replace\": 1",
     true},
    {"t5",
     "\"vocab_size\": 64, \"d_model\": 32, \"d_kv\": 8, \"d_ff\": 48, \"num_layers\": 2, "
     "\"num_heads\": 4, \"feed_forward_proj\": \"gated-gelu\"",
     true},
    {"mt5",
     "\"vocab_size\": 64, \"d_model\": 32, \"d_kv\": 8, \"d_ff\": 48, \"num_layers\": 2, "
     "\"num_heads\": 4",
     true},
    {"whisper",
     "\"vocab_size\": 64, \"num_mel_bins\": 8, \"d_model\": 32, \"encoder_layers\": 2, "
     "\"decoder_layers\": 2, \"encoder_attention_heads\": 4, \"decoder_attention_heads\": 4, "
     "\"encoder_ffn_dim\": 48, \"decoder_ffn_dim\": 48, \"max_source_positions\": 20, "
     "\"max_target_positions\": 64",
     true},
    {"clip",
     "\"projection_dim\": 16, \"text_config\": {" PLAIN
     "}, \"vision_config\": {\"hidden_size\": 32, \"intermediate_size\": 48, "
     "\"num_hidden_layers\": 2, \"num_attention_heads\": 4, \"image_size\": 32, "
     "\"patch_size\": 8}",
     false},
    {"clip_text_model", PLAIN, false},
    {"clip_vision_model",
     "\"hidden_size\": 32, \"intermediate_size\": 48, \"num_hidden_layers\": 2, "
     "\"num_attention_heads\": 4, \"image_size\": 32, \"patch_size\": 8",
     false},
    {"vit",
     "\"hidden_size\": 32, \"intermediate_size\": 48, \"num_hidden_layers\": 2, "
     "\"num_attention_heads\": 4, \"image_size\": 32, \"patch_size\": 8",
     false},
    {"swin",
     "\"image_size\": 32, \"patch_size\": 4, \"embed_dim\": 16, \"depths\": [2, 2], "
     "\"num_heads\": [2, 4], \"window_size\": 4",
     false},
    {"UNet2DConditionModel",
     "\"sample_size\": 8, \"block_out_channels\": [32, 64], \"layers_per_block\": 1, "
     "\"cross_attention_dim\": 32, \"attention_head_dim\": 8, "
     "\"down_block_types\": [\"CrossAttnDownBlock2D\", \"DownBlock2D\"], "
     "\"up_block_types\": [\"UpBlock2D\", \"CrossAttnUpBlock2D\"]",
     false},
    {"AutoencoderKL", "\"sample_size\": 32, \"block_out_channels\": [32, 64]", false},
    {"PixArtTransformer2DModel",
     "\"num_attention_heads\": 2, \"attention_head_dim\": 16, \"num_layers\": 2, "
     "\"sample_size\": 8, \"cross_attention_dim\": 32, \"caption_channels\": 24",
     false},
    {"DiTTransformer2DModel",
     "\"num_attention_heads\": 2, \"attention_head_dim\": 16, \"num_layers\": 2, "
     "\"sample_size\": 8, \"num_embeds_ada_norm\": 10",
     false},
    {"Transformer2DModel",
     "\"num_attention_heads\": 2, \"attention_head_dim\": 16, \"num_layers\": 2, "
     "\"sample_size\": 8, \"in_channels\": 4, \"out_channels\": 8, \"patch_size\": 2, "
     "\"norm_type\": \"ada_norm_zero\", \"num_embeds_ada_norm\": 10",
     false},
    {"SD3Transformer2DModel",
     "\"sample_size\": 8, \"num_layers\": 2, \"attention_head_dim\": 16, "
     "\"num_attention_heads\": 2, \"joint_attention_dim\": 24, \"caption_projection_dim\": 32, "
     "\"pooled_projection_dim\": 16, \"pos_embed_max_size\": 8",
     false},
    {"FluxTransformer2DModel",
     "\"num_layers\": 1, \"num_single_layers\": 1, \"attention_head_dim\": 16, "
     "\"num_attention_heads\": 2, \"joint_attention_dim\": 24, \"pooled_projection_dim\": 16, "
     "\"in_channels\": 16, \"axes_dims_rope\": [4, 6, 6]",
     false},
    {"yolo",
     "\"table\": \"yolo11\", \"scale\": \"n\", \"depth_multiple\": 0.5, "
     "\"width_multiple\": 0.25, \"image_size\": 64",
     false},
};

static const small *small_of(const char *family)
{
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        if (strcmp(families[i].family, family) == 0)
            return &families[i];
    return NULL;
}

static void every_family_is_here(void **state)
{
    (void)state;
    for (uint32_t i = 0; zoo_family_at(i); i++)
        if (!small_of(zoo_family_at(i)->family))
            fail_msg("'%s' has no small size in this test", zoo_family_at(i)->family);
}

/* ---- running one ---- */

static void write_config(const char *folder, const small *s)
{
    char path[512], text[2048];
    assay_error err;
    file_out *f;
    bool diffusers = strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZ", s->family[0]) != NULL;
    snprintf(path, sizeof path, "%s/config.json", folder);
    int n = snprintf(text, sizeof text, "{\"%s\": \"%s\", %s}\n",
                     diffusers ? "_class_name" : "model_type", s->family, s->config);
    assert_int_equal(file_out_open(path, &f, &err), ASSAY_OK);
    assert_int_equal(file_out_write(f, text, (size_t)n, &err), ASSAY_OK);
    assert_int_equal(file_out_commit(f, &err), ASSAY_OK);
}

static void check_outputs(const char *folder, const small *s, const profile *p)
{
    arena *a = arena_new(1 << 28);
    assert_true(p->n_outputs > 0);
    for (uint32_t i = 0; i < p->n_outputs; i++) {
        const profile_tensor *want = &p->outputs[i];
        char path[512];
        tensor_file got;
        assay_error err;
        snprintf(path, sizeof path, "%s/" STR_FMT ".npy", folder, STR_ARG(want->name));
        if (tensor_file_read(path, a, &got, &err) != ASSAY_OK)
            fail_msg("%s: %s", s->family, err.message);
        bool same = got.dtype == want->dtype && got.rank == want->shape.rank;
        for (int d = 0; same && d < got.rank; d++)
            same = got.dims[d] == want->shape.dims[d];
        if (!same)
            fail_msg("%s: output '" STR_FMT "' has another shape or type than predicted", s->family,
                     STR_ARG(want->name));
        for (uint64_t k = 0; got.dtype == IR_FLOAT32 && k < got.size_bytes / 4; k++)
            if (!(((const float *)got.data)[k] < 1e30f && ((const float *)got.data)[k] > -1e30f))
                fail_msg("%s: output '" STR_FMT "' is not finite", s->family, STR_ARG(want->name));
    }
    arena_free(a);
}

static assay_options *options_for(const char *folder, bool past)
{
    assay_options *o = assay_options_new();
    assay_error err;
    assert_int_equal(assay_options_set(o, "save-outputs", folder, &err), ASSAY_OK);
    assert_int_equal(assay_options_set(o, "num-runs", "1", &err), ASSAY_OK);
    assert_int_equal(assay_options_set(o, "warmup-runs", "1", &err), ASSAY_OK);
    assert_int_equal(assay_options_set(o, "threads", "1", &err), ASSAY_OK);
    if (past)
        assert_int_equal(assay_options_set(o, "set", "past=6", &err), ASSAY_OK);
    return o;
}

static void run_family(const small *s, bool past)
{
    char *folder = NULL;
    assay_error err;
    assay_model *m = NULL;
    assay_result *p = NULL;
    assert_int_equal(file_temp_folder(&folder, &err), ASSAY_OK);
    assay_options *o = options_for(folder, past);
    write_config(folder, s);
    if (assay_model_open(folder, &m, &err) != ASSAY_OK || assay_analyze(m, o, &p, &err) != ASSAY_OK)
        fail_msg("%s: %s", s->family, err.message);
    if (assay_measure(m, o, 0, NULL, p, &err) != ASSAY_OK)
        fail_msg("%s%s: %s", s->family, past ? " with a past" : "", err.message);
    check_outputs(folder, s, p->p);
    assay_result_free(p);
    assay_model_free(m);
    assay_options_free(o);
    file_remove_folder(folder);
    free(folder);
}

static bool engine_is_here(void)
{
    engine *e = runs_engine();
    engine_close(e);
    return e != NULL;
}

static void families_run(void **state)
{
    (void)state;
    if (!engine_is_here())
        SKIP_BECAUSE("no engine");
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        run_family(&families[i], false);
}

static void decoders_run_with_a_past(void **state)
{
    (void)state;
    if (!engine_is_here())
        SKIP_BECAUSE("no engine");
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        if (families[i].decoder)
            run_family(&families[i], true);
}

int run_test_zoo_run(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_family_is_here),
        cmocka_unit_test(families_run),
        cmocka_unit_test(decoders_run_with_a_past),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
