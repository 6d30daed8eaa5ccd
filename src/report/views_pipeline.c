/* Views of image pipelines, language models and several of them side by side. */
#include "profile/language.h"
#include "profile/pipeline.h"
#include "report/views.h"

/* ---- diffusion ---- */

static const view_fact_row diffusion_facts[] = {
    VIEW_FACT("Total", "{total_macs:si}", "MACs; {total_flops:si} FLOPs", "total_macs"),
    VIEW_FACT("A step of the denoiser", "{macs_per_step:si}",
              "MACs, {passes_per_step:whole} × {macs_per_pass:si}", "macs_per_step"),
    VIEW_FACT("Everything, per step", "{amortised_macs_per_step:si}",
              "MACs, total divided by steps", "amortised_macs_per_step"),
    VIEW_FACT("Denoiser", "{total_params:si}", "parameters of the {model_component:text}",
              "total_params"),
    VIEW_FACT("Pipeline", "{pipeline_params:si}", "parameters", "pipeline_params"),
    VIEW_FACT("Steps", "{num_inference_steps:whole}",
              "guidance {guidance_scale:fixed1}, {width:text}×{height:text}, batch {batch:text}",
              "num_inference_steps"),
    VIEW_FACT("Inference time", "{inference_time_seconds:s}", "measured, call by call",
              "inference_time_seconds"),
};

/* What is most asked for stands left: a narrow screen leaves out columns from the right. */
static const view_column component_columns[] = {
    VIEW_TEXT("Component", "{name:text}"),
    VIEW_NUMBER("Calls", "{calls:whole}"),
    VIEW_NUMBER("MACs of a call", "{macs_per_call:si}"),
    VIEW_NUMBER("MACs", "{macs:si}"),
    VIEW_NUMBER("Share", "{percent:percent2}"),
    VIEW_NUMBER("Parameters", "{parameters:si}"),
    VIEW_NUMBER("Weights", "{weight_bytes:bytes}"),
    VIEW_NUMBER("Activations", "{activations_peak_bytes:bytes}"),
    VIEW_TEXT("Model", "{model:text}"),
    VIEW_TEXT("", "[{error:text}][{time_ms:ms}]"),
};
static const view_column attention_columns[] = {
    VIEW_TEXT("Component", "{name:text}"),
    VIEW_NUMBER("QKᵀ", "{attention.qk_macs:si}"),
    VIEW_NUMBER("Attention × V", "{attention.av_macs:si}"),
    VIEW_NUMBER("Softmax elements", "{attention.softmax_elements:si}"),
    VIEW_NUMBER("Projections", "{attention.projection_macs:si}"),
    VIEW_NUMBER("Self layers", "{attention.self.layers:whole}"),
    VIEW_NUMBER("Cross layers", "{attention.cross.layers:whole}"),
    VIEW_NUMBER("Share of a call", "{attention.percent:percent}"),
};
static const view_column sweep_columns[] = {
    VIEW_TEXT("Value", "{value:text}"),
    VIEW_NUMBER("MACs of a pass", "{macs_per_pass:si}"),
    VIEW_NUMBER("MACs of a step", "{macs_per_step:si}"),
    VIEW_NUMBER("VAE", "{vae_macs:si}"),
    VIEW_NUMBER("Text encoder", "{text_encoder_macs:si}"),
    VIEW_NUMBER("Total MACs", "{total_macs:si}"),
    VIEW_NUMBER("Relative", "{relative:ratio}"),
};
static const view_table_row diffusion_tables[] = {
    {.title = "Components", .path = "components", VIEW_COLUMNS(component_columns), .first = true},
    {.title = "Attention within a call", .path = "components", VIEW_COLUMNS(attention_columns)},
    {.title = "Over {over:text}", .path = "points", .each = "sweeps", VIEW_COLUMNS(sweep_columns)},
};

/* ---- language models ---- */

static const view_fact_row language_facts[] = {
    VIEW_FACT("Parameters", "{total_params:si}",
              "{active_params:si} active per token, {weight_dtype:text}", "total_params"),
    VIEW_FACT(
        "Prefill", "{prefill.macs:si}",
        "MACs for {prefill.tokens_per_sequence:whole} tokens; {prefill.arithmetic_intensity:intensity} "
        "FLOPs per byte",
        "prefill.macs"),
    VIEW_FACT("Decode, per token", "{decode.average.macs:si}",
              "MACs; {decode.average.arithmetic_intensity:intensity} FLOPs per byte",
              "decode.average.macs"),
    VIEW_FACT("Total", "{total_macs:si}", "MACs; {total_flops:si} FLOPs", "total_macs"),
    VIEW_FACT("Cache", "{kv_cache.bytes:bytes}", "{kv_cache.bytes_per_token:bytes} per token",
              "kv_cache.bytes"),
    VIEW_FACT("Memory to serve", "{memory.serve_bytes:bytes}", "batch {batch:text}",
              "memory.serve_bytes"),
    VIEW_FACT("Time to first token", "{measured.time_to_first_token_ms:ms}", "measured",
              "measured.time_to_first_token_ms"),
    VIEW_FACT("Time per token", "{measured.time_per_token_ms:ms}",
              "measured; {measured.tokens_per_second:rate} tokens per second",
              "measured.time_per_token_ms"),
};

static const view_column format_columns[] = {
    VIEW_TEXT("Format", "{format:text}"),
    VIEW_NUMBER("Bits per weight", "{bits_per_weight:fixed2}"),
    VIEW_NUMBER("Size", "{bytes:bytes}")};
static const view_column language_device_columns[] = {
    VIEW_TEXT("Device", "{title:text}|{name:text}"),
    VIEW_TEXT("Fits", "{fits:text}"),
    VIEW_NUMBER("First token", "{time_to_first_token_ms:ms}"),
    VIEW_NUMBER("Per token", "{time_per_token_ms:ms}"),
    VIEW_NUMBER("Tokens/s", "{tokens_per_second:rate}"),
    VIEW_TEXT("Prefill bound", "{prefill_bound:text}"),
    VIEW_TEXT("Decode bound", "{decode_bound:text}"),
    VIEW_NUMBER("Largest context", "{largest_context:whole}"),
    VIEW_NUMBER("Largest batch", "{largest_batch:whole}"),
};
static const view_table_row language_tables[] = {
    {.title = "Weights by number format", .path = "weights", VIEW_COLUMNS(format_columns)},
    {.title = "On devices", .path = "devices", VIEW_COLUMNS(language_device_columns)},
};

/* ---- several pipelines ---- */

static const view_column pipelines_columns[] = {
    VIEW_TEXT("Pipeline", "{title:text}|{model:text}"),
    VIEW_NUMBER("Total MACs", "{total_macs:si}"),
    VIEW_NUMBER("Total FLOPs", "{total_flops:si}"),
    VIEW_NUMBER("Parameters", "{total_params:si}"),
    VIEW_NUMBER("MACs of a step", "{macs_per_step:si}", .when = "pipelines.0.macs_per_step"),
    VIEW_NUMBER("Steps", "{num_inference_steps:whole}", .when = "pipelines.0.macs_per_step"),
    VIEW_NUMBER("VAE MACs", "{vae_macs:si}", .when = "pipelines.0.macs_per_step"),
    VIEW_NUMBER("Text encoder MACs", "{text_encoder_macs:si}", .when = "pipelines.0.macs_per_step"),
    VIEW_NUMBER("Prefill MACs", "{prefill.macs:si}", .when = "pipelines.0.prefill"),
    VIEW_NUMBER("Decode MACs", "{decode.macs:si}", .when = "pipelines.0.prefill"),
    VIEW_NUMBER("Cache", "{kv_cache.bytes:bytes}", .when = "pipelines.0.prefill"),
    VIEW_NUMBER("Memory to serve", "{memory.serve_bytes:bytes}", .when = "pipelines.0.prefill"),
};
static const view_table_row pipelines_tables[] = {
    {.title = "Side by side", .path = "pipelines", VIEW_COLUMNS(pipelines_columns), .first = true},
};

static const view_section_row diffusion_sections[] = {
    {.first = true, VIEW_FACTS(diffusion_facts), VIEW_TABLES(diffusion_tables)},
};
const view_kind diffusion_view = {
    .of = &diffusion_kind,
    .title = "{title:text}|{model:text}",
    .under = "{width:text}×{height:text} · {num_inference_steps:text} steps · guidance "
             "{guidance_scale:fixed1}",
    VIEW_SECTIONS(diffusion_sections),
};

static const view_section_row language_sections[] = {
    {.first = true, VIEW_FACTS(language_facts), VIEW_TABLES(language_tables)},
};
const view_kind language_view = {
    .of = &language_kind,
    .title = "{model:text}",
    .under = "{family:text} · {prompt_tokens:text} prompt tokens, {generate:text} generated, batch "
             "{batch:text}",
    VIEW_SECTIONS(language_sections),
};

static const view_section_row pipelines_sections[] = {{VIEW_TABLES(pipelines_tables)}};
const view_kind pipelines_view = {
    .of = &pipelines_kind,
    .title = "Pipelines",
    VIEW_SECTIONS(pipelines_sections),
    .inner = "pipelines",
};
