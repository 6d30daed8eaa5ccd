/* "assay.pipeline/1", kind "diffusion", and "assay.pipelines/1": the field tables of image pipelines
 * (docs/pipelines.md). language_fields.c has those of language models. */
#include "profile/conclusion.h"
#include "profile/language.h"
#include "profile/pipeline.h"
#include "profile/profile_fields.h"

const char *const pipeline_role_words[] = {[ROLE_TEXT_ENCODER] = "text_encoder",
                                           [ROLE_VAE_ENCODER] = "vae_encoder",
                                           [ROLE_DENOISER] = "denoiser",
                                           [ROLE_VAE_DECODER] = "vae_decoder",
                                           [ROLE_OTHER] = "other",
                                           [ROLE_OTHER + 1] = NULL};

/* A figure, and the same for display in "KEY_str". */
#define FIGURE(T, key_, member, unit_, label_, about_)     \
    FIELD_AS(T, key_, member, U64, unit_, label_, about_), \
        FIELD_AS(T, key_ "_str", member##_str, STR, NONE, NULL, "The same as text.")

/* ---- components ---- */

#define ATTENTION_SUMS(T)                                                                      \
    FIELD(T, qk_macs, U64, MACS, "QKᵀ", "MACs of queries times keys."),                        \
        FIELD(T, softmax_elements, U64, AMOUNT, "Softmax", "Elements that pass the softmax."), \
        FIELD(T, softmax_flops, U64, FLOPS, NULL, "FLOPs of the softmax."),                    \
        FIELD(T, av_macs, U64, MACS, "AV", "MACs of scores times values."),                    \
        FIELD(T, projection_macs, U64, MACS, "Projections",                                    \
              "MACs of the linear layers around it.")

static const field attention_rows[] = {
    FIELD(pipeline_attention, layers, U64, COUNT, "Layers", "Attention layers."),
    ATTENTION_SUMS(pipeline_attention),
    FIELD(pipeline_attention, percent, F64, PERCENT, "Share",
          "Share of both products in the call's MACs.", .decimals = 1 + 4),
};
static const fields attention_fields = FIELDS(pipeline_attention, attention_rows);

static const field attentions_rows[] = {
    ATTENTION_SUMS(pipeline_attentions),
    FIELD(pipeline_attentions, macs, U64, MACS, "MACs", "MACs of both products."),
    FIELD(pipeline_attentions, percent, F64, PERCENT, "Share", "Share of the call's MACs.",
          .decimals = 1 + 4),
    FIELD_STRUCT(pipeline_attentions, "self", self, attention_fields, "Self-attention.", ONE_LINE),
    FIELD_STRUCT(pipeline_attentions, "cross", cross, attention_fields, "Cross-attention.",
                 ONE_LINE),
};
static const fields attentions_fields = FIELDS(pipeline_attentions, attentions_rows);

static const field component_rows[] = {
    FIELD(pipeline_component, name, STR, NONE, "Component", "Name of the component."),
    FIELD(pipeline_component, role, ENUM, NONE, NULL, "Role of the component.",
          .words = pipeline_role_words),
    FIELD(pipeline_component, model, STR, NONE, "Model", "Model of the component."),
    FIELD(pipeline_component, error, STR, NONE, NULL, "Why it could not be counted.", OR_OMIT),
    FIELD(pipeline_component, parameters, U64, AMOUNT, "Parameters", "Parameters."),
    FIELD(pipeline_component, precision, STR, NONE, "Precision", "Type of the weights.", OR_OMIT),
    FIELD(pipeline_component, weight_bytes, U64, BYTES, "Weights", "Size of the weights."),
    FIELD(pipeline_component, activations_peak_bytes, U64, BYTES, "Activations",
          "Peak of the activations."),
    FIELD(pipeline_component, calls, U64, COUNT, "Calls", "Calls for one image."),
    FIGURE(pipeline_component, "macs_per_call", macs, MACS, "MACs per call", "MACs of one call."),
    FIGURE(pipeline_component, "flops_per_call", flops, FLOPS, "FLOPs per call",
           "FLOPs of one call."),
    FIELD_AS(pipeline_component, "linear_macs_per_call", linear_macs, U64, MACS, NULL,
             "MACs of one call outside of attention's products."),
    FIGURE(pipeline_component, "macs", total_macs, MACS, "MACs", "MACs of all calls."),
    FIGURE(pipeline_component, "flops", total_flops, FLOPS, "FLOPs", "FLOPs of all calls."),
    FIELD(pipeline_component, percent, F64, PERCENT, "Share", "Share of the pipeline's MACs.",
          .decimals = 1 + 4),
    FIELD(pipeline_component, time_ms, F64, MS, "Time per call", "Measured time of one call.",
          .decimals = 1 + 6, OR_OMIT),
    FIELD(pipeline_component, tflops_per_second, F64, NONE, "TFLOP/s",
          "TFLOPs per second of a call.", .decimals = 1 + 6, OR_OMIT),
    FIELD_STRUCT(pipeline_component, "attention", attention, attentions_fields,
                 "Attention within one call."),
};
static const fields component_fields = FIELDS(pipeline_component, component_rows);

/* ---- sweeps ---- */

static const field point_rows[] = {
    FIELD(pipeline_point, value, F64, NONE, "Value", "Pixels of a side, steps or guidance."),
    FIELD(pipeline_point, value_str, STR, NONE, NULL,
          "The same as text; of a resolution width and height."),
    FIELD(pipeline_point, height, I64, COUNT, NULL, "Height of the image."),
    FIELD(pipeline_point, width, I64, COUNT, NULL, "Width of the image."),
    FIELD(pipeline_point, macs_per_pass, U64, MACS, "MACs per pass",
          "MACs of one pass of the denoiser."),
    FIELD(pipeline_point, macs_per_step, U64, MACS, "MACs per step",
          "MACs of one step of the denoiser, guidance included."),
    FIELD_AS(pipeline_point, "attention_macs_per_pass", attention_macs, U64, MACS, NULL,
             "MACs of attention's products in a pass."),
    FIELD(pipeline_point, vae_macs, U64, MACS, "VAE", "MACs of the autoencoder."),
    FIELD(pipeline_point, text_encoder_macs, U64, MACS, "Text encoders",
          "MACs of the text encoders."),
    FIELD(pipeline_point, total_macs, U64, MACS, "Total MACs", "Total MACs."),
    FIELD(pipeline_point, total_flops, U64, FLOPS, "Total FLOPs", "Total FLOPs."),
    FIELD(pipeline_point, relative, F64, RATIO, "Total", "Total MACs relative to the first point.",
          .decimals = 1 + 6),
    FIELD(pipeline_point, relative_denoiser, F64, RATIO, "Denoiser",
          "MACs of a denoiser step relative to the first point.", .decimals = 1 + 6),
};
static const fields point_fields = FIELDS(pipeline_point, point_rows);

#define EXPONENT(key_, member, about_)                                                     \
    FIELD_AS(pipeline_exponents, key_, member, F64, NONE, NULL, about_, .decimals = 1 + 4, \
             OMIT_ZERO)

static const field exponent_rows[] = {
    FIELD(pipeline_exponents, of, WORD, NONE, NULL, "Size that the cost depends on."),
    FIELD(pipeline_exponents, total, F64, NONE, NULL, "Exponent of the total.", .decimals = 1 + 4),
    EXPONENT("denoiser", denoiser, "Exponent of a pass."),
    EXPONENT("denoiser_linear", linear, "Exponent of a pass without attention's products."),
    EXPONENT("denoiser_attention", attention, "Exponent of attention's products."),
    EXPONENT("vae", vae, "Exponent of the autoencoder."),
};
static const fields exponent_fields = FIELDS_IF_PRESENT(pipeline_exponents, exponent_rows);

static const field sweep_rows[] = {
    FIELD(pipeline_sweep, over, WORD, NONE, "Over", "resolution, steps or guidance."),
    FIELD_ITEMS(pipeline_sweep, LIST, "points", points, n, point_fields, "Points of the sweep.",
                .size = PIPELINE_POINTS, ONE_LINE),
    FIELD_STRUCT(pipeline_sweep, "exponents", exponents, exponent_fields,
                 "Growth of the cost, fitted in logarithms.", ONE_LINE),
};
static const fields sweep_fields = FIELDS(pipeline_sweep, sweep_rows);

/* ---- the pipeline ---- */

/* Of the step there are two names for the denoiser's kind. */
#define DENOISER_STEP(key_, has_)                                                               \
    FIELD_AS(pipeline_result, key_, macs_per_step, U64, MACS, NULL, "MACs of a denoiser step.", \
             .when_at = 1 + offsetof(pipeline_result, has_)),                                   \
        FIELD_AS(pipeline_result, key_ "_str", macs_per_step_str, STR, NONE, NULL,              \
                 "The same as text.", .when_at = 1 + offsetof(pipeline_result, has_))

static const field cost_rows[] = {
    FIELD(pipeline_result, title, STR, NONE, "Pipeline", "Name of the pipeline."),
    FIELD(pipeline_result, model_component, WORD, NONE, NULL, "The denoiser: unet or transformer."),
    FIELD_AS(pipeline_result, "total_params", denoiser_parameters, U64, AMOUNT, "Denoiser",
             "Parameters of the denoiser."),
    FIELD_AS(pipeline_result, "params_str", denoiser_parameters_str, STR, NONE, NULL,
             "The same as text."),
    FIELD_AS(pipeline_result, "pipeline_params", all_parameters, U64, AMOUNT, "Pipeline",
             "Parameters of all components."),
    FIGURE(pipeline_result, "macs_per_pass", macs_per_pass, MACS, "MACs per pass",
           "MACs of one pass of the denoiser."),
    FIGURE(pipeline_result, "flops_per_pass", flops_per_pass, FLOPS, "FLOPs per pass",
           "FLOPs of one pass of the denoiser."),
    FIGURE(pipeline_result, "macs_per_step", macs_per_step, MACS, "MACs per step",
           "MACs of one step of the denoiser, guidance included."),
    FIGURE(pipeline_result, "flops_per_step", flops_per_step, FLOPS, "FLOPs per step",
           "FLOPs of one step of the denoiser, guidance included."),
    DENOISER_STEP("unet_macs_per_step", has_unet),
    DENOISER_STEP("transformer_macs_per_step", has_transformer),
    FIGURE(pipeline_result, "amortised_macs_per_step", amortised_macs_per_step, MACS,
           "MACs per step, all", "Total MACs divided by the steps."),
    FIGURE(pipeline_result, "amortised_flops_per_step", amortised_flops_per_step, FLOPS,
           "FLOPs per step, all", "Total FLOPs divided by the steps."),
    FIGURE(pipeline_result, "vae_macs", vae_macs, MACS, "VAE", "MACs of the autoencoder."),
    FIGURE(pipeline_result, "vae_flops", vae_flops, FLOPS, NULL, "FLOPs of the autoencoder."),
    FIGURE(pipeline_result, "text_encoder_macs", text_encoder_macs, MACS, "Text encoders",
           "MACs of the text encoders."),
    FIGURE(pipeline_result, "text_encoder_flops", text_encoder_flops, FLOPS, NULL,
           "FLOPs of the text encoders."),
    FIGURE(pipeline_result, "total_macs", total_macs, MACS, "Total MACs", "MACs of the batch."),
    FIGURE(pipeline_result, "total_flops", total_flops, FLOPS, "Total FLOPs",
           "FLOPs of the batch."),
    FIELD_AS(pipeline_result, "num_inference_steps", steps, I64, COUNT, "Steps",
             "Steps asked for."),
    FIELD(pipeline_result, steps_run, I64, COUNT, "Steps run",
          "Steps that run; fewer from an image, by the strength."),
    FIELD(pipeline_result, guidance_scale, F64, NONE, "Guidance", "Guidance scale."),
    FIELD_AS(pipeline_result, "guidance_distilled", distilled, BOOL, NONE, NULL,
             "Whether guidance is an input of the denoiser, so that one pass is enough."),
    FIELD(pipeline_result, strength, F64, NONE, "Strength", "Strength, from an image.", OMIT_ZERO),
    FIELD(pipeline_result, passes_per_step, U64, COUNT, "Passes per step",
          "Passes of the denoiser per step."),
    FIELD(pipeline_result, prompts, U64, COUNT, "Prompts", "Prompts that are encoded."),
    FIELD(pipeline_result, prompt_tokens, I64, COUNT, "Prompt tokens", "Tokens of a prompt."),
    FIELD(pipeline_result, batch, I64, COUNT, "Batch", "Images at a time."),
    FIELD(pipeline_result, height, I64, COUNT, "Height", "Height of the image."),
    FIELD(pipeline_result, width, I64, COUNT, "Width", "Width of the image."),
    FIELD_VALUES(pipeline_result, U64S, "input_shape", input_shape.dims, input_shape.rank, COUNT,
                 "Shape of the image.", .size = 8),
    FIELD_VALUES(pipeline_result, U64S, "latent_shape", latent_shape.dims, latent_shape.rank, COUNT,
                 "Shape of the latents.", .size = 8),
    FIELD_AS(pipeline_result, "inference_time_seconds", inference_time_s, F64, S, "Inference time",
             "Measured time of the batch, from one call of each component.", .decimals = 1 + 6,
             OR_NULL),
    FIELD(pipeline_result, inference_time_str, STR, NONE, NULL, "The same as text."),
    FIELD(pipeline_result, tflops_per_second, F64, NONE, "TFLOP/s", "TFLOPs per second.",
          .decimals = 1 + 6, OR_OMIT),
    FIELD_ITEMS(pipeline_result, LIST, "components", components, n_components, component_fields,
                "Components of the pipeline.", .size = PIPELINE_COMPONENTS),
    FIELD_ITEMS(pipeline_result, LIST, "sweeps", sweeps, n_sweeps, sweep_fields,
                "Cost over a setting, of --sweep.", OR_OMIT),
    FIELD_ITEMS(pipeline_result, LIST, "warnings", warnings.list.items, warnings.list.n,
                note_fields, "Warnings about the numbers.", ONE_LINE),
};
static const fields cost_fields = FIELDS_AS(pipeline_result, "pipeline_cost", cost_rows);

static const field pipeline_rows[] = {
    FIELD(pipeline_result, kind, WORD, NONE, NULL, "diffusion; null: nobody knows the model.",
          OR_NULL),
    FIELD(pipeline_result, model, STR, NONE, "Model", "The pipeline as the user named it."),
    FIELD_CONCLUSION(pipeline_result),
    FIELD(pipeline_result, enabled, BOOL, NONE, NULL,
          "false: profiling was switched off and nothing follows, or a component is unknown."),
    FIELD(pipeline_result, partial, BOOL, NONE, NULL,
          "Whether a component is not counted. Totals are those of the other components.",
          OMIT_ZERO),
    FIELD(pipeline_result, error, STR, NONE, NULL, "What is not counted.", OR_OMIT),
    {.kind = FIELD_SPLICE, .of = &cost_fields, .when_at = 1 + offsetof(pipeline_result, counted)},
};

static bool finish_pipeline(field_reader *r, void *base)
{
    pipeline_result *p = base;
    (void)r;
    p->counted = p->enabled || p->partial;
    return true;
}
static const fields pipeline_fields = FIELDS(pipeline_result, pipeline_rows,
                                             .finish = finish_pipeline);
const result_kind diffusion_kind = {.schema = "assay.pipeline",
                                    .version = 1,
                                    .name = "pipeline",
                                    .what = "a pipeline's result",
                                    .of = &pipeline_fields,
                                    .conclude = diffusion_conclude,
                                    .conclusion_at = offsetof(pipeline_result, conclusion)};

/* ---- several ---- */

static const result_kind *const kinds_of_pipelines[] = {&language_kind, &diffusion_kind, NULL};
static const field item_rows[] = {
    {.kind = FIELD_RESULT, .results = kinds_of_pipelines, .about = "A pipeline's result."},
};
static const fields item_fields = FIELDS(field_result, item_rows, .bare = true);

static const field pipelines_rows[] = {
    FIELD_ITEMS(pipelines_result, LIST, "pipelines", list, n, item_fields,
                "One result per pipeline, in the order given."),
};
static const fields pipelines_fields = FIELDS(pipelines_result, pipelines_rows);
const result_kind pipelines_kind = {.schema = "assay.pipelines",
                                    .version = 1,
                                    .name = "pipelines",
                                    .what = "several pipelines' results",
                                    .of = &pipelines_fields};
