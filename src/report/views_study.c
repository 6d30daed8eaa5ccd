/* The view of comparisons. */
#include "profile/comparison.h"
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

static const view_section_row comparison_sections[] = {{VIEW_TABLES(comparison_tables)}};
const view_kind comparison_view = {
    .of = &comparison_kind,
    .title = "Comparison",
    .under = "ratios are to the first",
    VIEW_SECTIONS(comparison_sections),
    .begin = title_of_comparison,
};
