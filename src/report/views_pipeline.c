/* Views of image pipelines, and of several pipelines side by side; views_language.c has those of language models. */
#include <string.h>

#include "profile/pipeline.h"
#include "report/views.h"

/* ---- diffusion ---- */

static const view_line_row off_lines[] = {
    {.text = "Profiling is switched off.", .when = "enabled=false,!partial"},
};

static const view_fact_row diffusion_facts[] = {
    VIEW_FACT(
        "Total MACs", "{total_macs_str:text}",
        "[{?+partial:partial · }]{steps_run:whole step}, {batch:whole image}, latents {latent_shape:shape}",
        "total_macs"),
    VIEW_FACT("Total FLOPs", "{total_flops_str:text}", "[{?+partial:partial}]", "total_flops"),
    VIEW_FACT("MACs per step", "{macs_per_step_str:text}",
              "the {model_component:text}, guidance included", "+macs_per_step/!partial"),
    VIEW_FACT("FLOPs per step", "{flops_per_step_str:text}", NULL, "+flops_per_step/!partial"),
    VIEW_FACT("MACs per pass", "{macs_per_pass_str:text}",
              "{?passes_per_step=1:one pass per step}|{passes_per_step:text} passes per step",
              "+macs_per_pass/!partial"),
    VIEW_FACT("MACs per step, all", "{amortised_macs_per_step_str:text}",
              "amortised: total divided by steps", "amortised_macs_per_step"),
    VIEW_FACT("Text encoders", "{text_encoder_macs_str:text}",
              "{?prompts=2:prompt and negative prompt}|{?prompts=1:one prompt}|none",
              "+text_encoder_macs/!partial"),
    VIEW_FACT("VAE", "{vae_macs_str:text}", "[{?+strength:encode and }]decode",
              "+vae_macs/!partial"),
    VIEW_FACT("Parameters", "{total_params:si2}",
              "of the {model_component:text}[; {pipeline_params:si2} in all components]",
              "+total_params/!partial"),
};
static const view_line_row untimed_lines[] = {
    VIEW_LINE("Inference time is not measured; --measure runs the components.",
              "+enabled,!inference_time_seconds", DIM),
};

static const view_column component_columns[] = {
    VIEW_TEXT("Component", "{name:text}", .min = 16),
    VIEW_TEXT("Model", "{model:text}", .drop = 12, .min = 10, .tone = TONE_DIM),
    VIEW_NUMBER("Parameters", "{?error:unknown}|{parameters:si}", .drop = 11),
    VIEW_NUMBER("MACs/call", "{?error:–}|{macs_per_call:si2}"),
    VIEW_NUMBER("Calls", "{?error:–}|{calls:whole}"),
    VIEW_NUMBER("MACs", "{?error:–}|{macs:si2}"),
    VIEW_NUMBER("FLOPs", "{?error:–}|{flops:si2}", .drop = 13, .tone = TONE_DIM),
    VIEW_NUMBER("Share", "{?error:–}|{percent:percent2}"),
    VIEW_NUMBER("Weights", "{?error:–}|{weight_bytes:bytes}", .drop = 14),
    VIEW_NUMBER("Activations", "{?error:–}|{activations_peak_bytes:bytes}", .drop = 15),
};
static const view_table_row component_tables[] = {
    {.path = "components", VIEW_COLUMNS(component_columns)},
};

/* ---- measured ---- */

static uint32_t measured_components(const view *v, const field_value *list, uint32_t *index)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < list->n; i++) {
        field_value component = fields_item(list, i);
        if (view_holds(v, &component, "time_ms"))
            index[n++] = i;
    }
    return n;
}

static const view_fact_row measured_facts[] = {
    VIEW_FACT("Inference time", "{inference_time_seconds:s}",
              "[{tflops_per_second:fixed3} TFLOP/s]", "inference_time_seconds"),
};
static const view_column time_columns[] = {
    VIEW_TEXT("Component", "{name:text}"),
    VIEW_NUMBER("Per call", "{time_ms:ms}"),
    VIEW_NUMBER("Calls", "{calls:whole}"),
    VIEW_NUMBER("All calls", "{time_ms*calls:ms}"),
    VIEW_NUMBER("TFLOP/s", "{tflops_per_second:fixed3}"),
};
static const view_table_row time_tables[] = {
    {.path = "components", VIEW_COLUMNS(time_columns), .order = measured_components},
};

/* ---- attention ---- */

static const view_column attention_columns[] = {
    VIEW_TEXT("Component", NULL, .min = 16),          VIEW_TEXT("Kind", NULL, .tone = TONE_DIM),
    VIEW_NUMBER("Layers", "{layers:whole}"),          VIEW_NUMBER("QKᵀ", "{qk_macs:si2}"),
    VIEW_NUMBER("Softmax", "{softmax_elements:si2}"), VIEW_NUMBER("AV", "{av_macs:si2}"),
    VIEW_NUMBER("Linear", "{projection_macs:si2}"),   VIEW_NUMBER("Share", "{percent:percent}"),
};

enum { ATTENTION_COLUMNS = sizeof attention_columns / sizeof *attention_columns };

/* Self- and cross-attention of every component, a row each. */
static void build_attention(view *v)
{
    static const char *const kinds[] = {"self", "cross"};
    field_value components = fields_get(&v->root, "components"), rows[2 * PIPELINE_COMPONENTS];
    str cells[2 * PIPELINE_COMPONENTS][2];
    uint32_t n = 0;
    for (uint32_t i = 0; i < components.n; i++)
        for (uint32_t k = 0; k < 2 && n < 2 * PIPELINE_COMPONENTS; k++) {
            field_value component = fields_item(&components, i);
            field_value attention = fields_get(&component, "attention");
            rows[n] = fields_get(&attention, kinds[k]);
            cells[n][0] = fields_get(&component, "name").text;
            cells[n][1] = str_of(kinds[k]);
            n += view_holds(v, &rows[n], "+layers");
        }
    view_table *t = view_add_values(v, attention_columns, ATTENTION_COLUMNS, rows, n);
    for (uint32_t r = 0; t && r < n; r++)
        memcpy(&t->cells[r * ATTENTION_COLUMNS], cells[r], sizeof cells[r]);
}

/* ---- sweeps ---- */

static const view_column sweep_columns[] = {
    VIEW_NUMBER("Value", "{value_str:text}"),
    VIEW_NUMBER("MACs per pass", "{macs_per_pass:si2}"),
    VIEW_NUMBER("MACs per step", "{macs_per_step:si2}"),
    VIEW_NUMBER("VAE", "{vae_macs:si2}", .drop = 11, .tone = TONE_DIM),
    VIEW_NUMBER("Text encoders", "{text_encoder_macs:si2}", .drop = 12, .tone = TONE_DIM),
    VIEW_NUMBER("Total MACs", "{total_macs:si2}"),
    VIEW_NUMBER("Total", "{relative:ratio}"),
    VIEW_NUMBER("Denoiser", "{relative_denoiser:ratio}"),
};
static const view_table_row sweep_tables[] = {
    {VIEW_TABLE("Sweep over {over:text}", "points", sweep_columns), .each = "sweeps"},
};
static const view_line_row sweep_lines[] = {
    VIEW_LINE("Total and Denoiser are relative to the first point.", "+sweeps", DIM),
    VIEW_LINE(
        "Cost grows as {exponents.of:text} to the power of: total {exponents.total:fixed2}"
        "[, denoiser {exponents.denoiser:fixed2}][ (linear and convolutions "
        "{exponents.denoiser_linear:fixed2}, attention {exponents.denoiser_attention:fixed2})]"
        "[, VAE {exponents.vae:fixed2}].",
        "exponents.total", DIM, .each = "sweeps"),
};

static const view_section_row diffusion_sections[] = {
    {.first = true, VIEW_LINES(off_lines)},
    {.first = true, VIEW_FACTS(diffusion_facts), VIEW_LINES(untimed_lines)},
    {.title = "Components", .first = true, VIEW_TABLES(component_tables)},
    {VIEW_SECTION("Measured", "one call of each component, times its calls", NULL,
                  "inference_time_seconds"),
     .first = true, VIEW_FACTS(measured_facts), VIEW_TABLES(time_tables)},
    {VIEW_SECTION("Attention in one call", "MACs, softmax elements; share: QKᵀ and AV of the call",
                  NULL, NULL),
     .build = build_attention},
    {VIEW_TABLES(sweep_tables), VIEW_LINES(sweep_lines)},
};

static const view_column component_csv_columns[] = {
    VIEW_TEXT("pipeline", "^model"),
    VIEW_TEXT("component", "name"),
    VIEW_TEXT("role", "role"),
    VIEW_TEXT("model", "model"),
    VIEW_TEXT("parameters", "parameters"),
    VIEW_TEXT("macs_per_call", "macs_per_call"),
    VIEW_TEXT("flops_per_call", "flops_per_call"),
    VIEW_TEXT("calls", "calls"),
    VIEW_TEXT("macs", "macs"),
    VIEW_TEXT("flops", "flops"),
    VIEW_TEXT("percent", "percent"),
    VIEW_TEXT("self_qk_macs", "attention.self.qk_macs"),
    VIEW_TEXT("self_softmax_elements", "attention.self.softmax_elements"),
    VIEW_TEXT("self_av_macs", "attention.self.av_macs"),
    VIEW_TEXT("self_projection_macs", "attention.self.projection_macs"),
    VIEW_TEXT("cross_qk_macs", "attention.cross.qk_macs"),
    VIEW_TEXT("cross_softmax_elements", "attention.cross.softmax_elements"),
    VIEW_TEXT("cross_av_macs", "attention.cross.av_macs"),
    VIEW_TEXT("cross_projection_macs", "attention.cross.projection_macs"),
};
static const view_csv_row diffusion_csv[] = {
    {.name = "components", .path = "components", VIEW_COLUMNS(component_csv_columns)}};

const view_kind diffusion_view = {
    .of = &diffusion_kind,
    .title = "{+title:text}|{model:text}",
    .under =
        "[{width:text}×{height:text} · {steps_run:whole step} · guidance {guidance_scale:fixed1}]"
        "[ ({?+guidance_distilled:distilled})]",
    VIEW_SECTIONS(diffusion_sections),
    VIEW_CSV(diffusion_csv),
    .formats = "generation-config",
};

/* ---- several pipelines ---- */

static const view_column side_columns[] = {
    VIEW_NUMBER("Denoiser parameters", "[{total_params:si}]", .when = "pipelines.0.macs_per_step"),
    VIEW_NUMBER("All parameters", "[{pipeline_params:si}]"),
    VIEW_NUMBER("Parameters", "[{total_params:si}]", .when = "pipelines.0.prefill"),
    VIEW_NUMBER("Active parameters", "[{active_params:si}]"),
    VIEW_NUMBER("Steps", "[{steps_run:whole}]"),
    VIEW_NUMBER("MACs per pass", "[{macs_per_pass:si}]"),
    VIEW_NUMBER("MACs per step", "[{macs_per_step:si}]"),
    VIEW_NUMBER("Text encoders", "[{text_encoder_macs:si}]"),
    VIEW_NUMBER("VAE", "[{vae_macs:si}]"),
    VIEW_NUMBER("Prefill MACs", "[{prefill.macs:si}]"),
    VIEW_NUMBER("Decode MACs", "[{decode.macs:si}]"),
    VIEW_NUMBER("Cache", "[{kv_cache.bytes:bytes}]"),
    VIEW_NUMBER("Memory to serve", "[{memory.serve_bytes:bytes}]"),
    VIEW_NUMBER("Total MACs", "[{total_macs:si}][{?+partial: (partial)}]"),
    VIEW_NUMBER("Total FLOPs", "[{total_flops:si}][{?+partial: (partial)}]"),
    VIEW_NUMBER("Relative to the first", "[{total_macs/^pipelines.0.total_macs:ratio}]"),
};
static const view_table_row side_tables[] = {
    {.path = "pipelines", VIEW_COLUMNS(side_columns), .across = "{model:text}"},
};
/* Models on devices, a row each: device by device, so that models stand below each other. */
static void build_side_devices(view *v)
{
    enum { ROWS = 256 };
    field_value models = fields_get(&v->root, "pipelines"), rows[ROWS];
    view_column columns[LANGUAGE_DEVICE_COLUMNS + 1] = {VIEW_TEXT("Model", NULL, .min = 14)};
    str names[ROWS];
    uint32_t n = 0, at = 0, more = 1;
    memcpy(&columns[1], language_device_columns, sizeof language_device_columns);
    for (at = 0; more; at++) {
        more = 0;
        for (uint32_t i = 0; i < models.n && n < ROWS; i++) {
            field_value model = fields_item(&models, i), list = fields_get(&model, "devices");
            if (list.type != VALUE_LIST || at >= list.n)
                continue;
            names[n] = fields_get(&model, "model").text;
            rows[n++] = fields_item(&list, at);
            more = 1;
        }
    }
    view_table *t = n ? view_add_values(v, columns, LANGUAGE_DEVICE_COLUMNS + 1, rows, n) : NULL;
    for (uint32_t r = 0; t && r < n; r++)
        t->cells[r * (LANGUAGE_DEVICE_COLUMNS + 1)] = names[r];
}

static const view_section_row pipelines_sections[] = {
    {.title = "Side by side", .first = true, VIEW_TABLES(side_tables)},
    {VIEW_SECTION("On devices", "expected times of a server", NULL, NULL), .first = true,
     .build = build_side_devices},
};
static const view_csv_row pipelines_csv[] = {
    {.name = "components",
     .path = "pipelines",
     .inner = "components",
     VIEW_COLUMNS(component_csv_columns)},
    {.name = "phases",
     .path = "pipelines",
     .inner = LANGUAGE_PHASES,
     .columns = language_csv_columns,
     .n_columns = LANGUAGE_CSV_COLUMNS},
};
const view_kind pipelines_view = {
    .of = &pipelines_kind,
    .title = "{pipelines.@count:whole pipeline}",
    VIEW_SECTIONS(pipelines_sections),
    VIEW_CSV(pipelines_csv),
    .formats = "generation-config",
    .inner = "pipelines",
};
