/* Views of comparisons and scalings. */
#include "profile/comparison.h"
#include "profile/scaling.h"
#include "report/views.h"

/* ---- comparisons ---- */

static const view_column comparison_columns[] = {
    VIEW_TEXT("Model", "{model:text}"),
    VIEW_NUMBER("Parameters", "{parameters:si}[ ({ratios.parameters:ratio})]"),
    VIEW_NUMBER("Size", "{weight_bytes:bytes}[ ({ratios.weight_bytes:ratio})]"),
    VIEW_NUMBER("MACs", "{macs:si}[ ({ratios.macs:ratio})]"),
    VIEW_NUMBER("FLOPs", "{flops:si}[ ({ratios.flops:ratio})]"),
    VIEW_NUMBER("Bytes moved", "{memory:bytes}[ ({ratios.memory:ratio})]"),
    VIEW_NUMBER("FLOPs per byte", "{arithmetic_intensity:intensity}"),
    VIEW_NUMBER("Peak memory", "{peak_bytes:bytes}[ ({ratios.peak_bytes:ratio})]"),
    VIEW_NUMBER("Median latency", "{p50_ms:ms}[ ({ratios.p50_ms:ratio})]",
                .when = "models.0.p50_ms"),
    VIEW_NUMBER("Samples/s", "{samples_per_second:rate}[ ({ratios.samples_per_second:ratio})]",
                .when = "models.0.samples_per_second"),
};
static const view_column timing_columns[] = {
    VIEW_TEXT("Model", "{model:text}"),
    VIEW_TEXT("Verdict", "{verdict:text}"),
    VIEW_NUMBER("Time beside the first", "{ratio:fixed3}×"),
    VIEW_TEXT("99 % interval", "[{ratio_ci99_low:fixed3} to {ratio_ci99_high:fixed3}]"),
    VIEW_NUMBER("Runs", "{runs:whole}"),
    VIEW_TEXT("Why", "[{why:text}]"),
};
static const view_column change_columns[] = {
    VIEW_TEXT("Change", "{change:text}"),
    VIEW_TEXT("Layer", "{after.name:text}|{before.name:text}"),
    VIEW_TEXT("Type", "{type:text}"),
    VIEW_NUMBER("MACs before", "{before.macs:si}"),
    VIEW_NUMBER("after", "{after.macs:si}"),
    VIEW_NUMBER("Params before", "{before.parameters:si}"),
    VIEW_NUMBER("after", "{after.parameters:si}"),
    VIEW_NUMBER("Bytes before", "{before.memory:bytes}"),
    VIEW_NUMBER("after", "{after.memory:bytes}"),
};
static const view_table_row comparison_tables[] = {
    {.title = "Verdicts of the runs",
     .path = "measured",
     VIEW_COLUMNS(timing_columns),
     .first = true,
     .mark = "verdict"},
    {.title = "Side by side", .path = "models", VIEW_COLUMNS(comparison_columns), .first = true},
    {.title = "Layers that differ", .path = "layers", VIEW_COLUMNS(change_columns)},
};

static void title_of_comparison(view *v)
{
    field_value list = fields_get(&v->root, "models");
    sbuf b = {0};
    for (uint32_t i = 0; i < list.n; i++) {
        field_value model = fields_item(&list, i);
        sbuf_puts(&b, i ? " · " : "");
        sbuf_str(&b, fields_get(&model, "model").text);
    }
    if (b.n && !b.failed)
        v->title = str_copy(v->a, (str){b.p, (uint32_t)b.n});
    sbuf_free(&b);
}

/* ---- scalings ---- */

static const view_fact_row scaling_facts[] = {
    VIEW_FACT("Points", "{evaluations:whole}", "sizes at which the model was evaluated",
              "evaluations"),
    VIEW_FACT("With assumptions", "{evaluations_with_assumptions:whole}", "of them",
              "+evaluations_with_assumptions"),
    VIEW_FACT("Precision", "{precision:text}", NULL, "precision"),
    VIEW_FACT("KV cache", "{kv_cache:text}", "in memory", "kv_cache"),
};

static const view_column answer_columns[] = {
    VIEW_TEXT("Question", "{question:text}"),
    VIEW_TEXT("Axis", "{axis:text}"),
    VIEW_TEXT("At", "{sizes:text}"),
    VIEW_TEXT("Outcome", "{outcome:text}"),
    VIEW_NUMBER("Largest size", "{value:whole}"),
    VIEW_NUMBER("There", "{figure:si}"),
    VIEW_NUMBER("Next size", "{next:whole}"),
    VIEW_NUMBER("There", "{next_figure:si}"),
};
static const view_column form_columns[] = {
    VIEW_TEXT("Figure", "{@key:text}"),
    VIEW_TEXT("Closed form", "{form:text}"),
    VIEW_TEXT("Exact", "{exact:text}"),
    VIEW_NUMBER("Error", "{error_percent:percent2}"),
    {.cell = "{fitted:fixed2}", .each = "exponents", .right = true},
};
static const view_column point_columns[] = {
    {.cell = "{:text}", .each = "sizes", .right = true},
    VIEW_NUMBER("Parameters", "{parameters:si}", .when = "points.0.parameters"),
    VIEW_NUMBER("MACs", "{macs:si}", .when = "points.0.macs"),
    VIEW_NUMBER("FLOPs", "{flops:si}", .when = "points.0.flops"),
    VIEW_NUMBER("Bytes moved", "{traffic_bytes:bytes}", .when = "points.0.traffic_bytes"),
    VIEW_NUMBER("Activations at the peak", "{activations_peak_bytes:bytes}",
                .when = "points.0.activations_peak_bytes"),
    VIEW_NUMBER("Peak memory", "{peak_bytes:bytes}", .when = "points.0.peak_bytes"),
    VIEW_NUMBER("Training", "{training_bytes:bytes}", .when = "points.0.training_bytes"),
    VIEW_TEXT("", "[{refused:text}]"),
};
static const view_table_row scaling_tables[] = {
    {.title = "Answers",
     .path = "answers",
     VIEW_COLUMNS(answer_columns),
     .first = true,
     .mark = "outcome"},
    {.title = "Closed forms, with the exponent over each axis",
     .path = "forms",
     VIEW_COLUMNS(form_columns),
     .first = true},
    {.title = "Points", .path = "points", VIEW_COLUMNS(point_columns)},
};

static const view_section_row comparison_sections[] = {{VIEW_TABLES(comparison_tables)}};
const view_kind comparison_view = {
    .of = &comparison_kind,
    .title = "Comparison",
    .under = "ratios are to the first",
    VIEW_SECTIONS(comparison_sections),
    .begin = title_of_comparison,
};

static const view_section_row scaling_sections[] = {
    {.first = true, VIEW_FACTS(scaling_facts), VIEW_TABLES(scaling_tables)},
};
const view_kind scaling_view = {
    .of = &scaling_kind,
    .title = "{model:text}",
    .under = "cost over sizes",
    VIEW_SECTIONS(scaling_sections),
};
