/* Views of the history: records, models and the trend of a metric. */
#include "profile/history.h"
#include "report/views.h"

/* ---- records ---- */

enum { ALL_ROWS = 1 << 20 }; /* --limit has chosen them */

static const view_column records_columns[] = {
    VIEW_NUMBER("Record", "{id:text}"),
    VIEW_TEXT("When (UTC)", "{created:minute}", .tone = TONE_DIM),
    VIEW_TEXT("Model", "{model:text}|(none)", .min = 12),
    VIEW_NUMBER("Batch", "[{batch:text}]"),
    VIEW_TEXT("Type", "[{precision:text}]", .drop = 13),
    VIEW_NUMBER("P50", "[{p50_ms}]"),
    VIEW_NUMBER("Throughput", "[{throughput}]", .drop = 14),
    VIEW_NUMBER("Memory", "[{memory_bytes}]", .drop = 15),
    VIEW_NUMBER("MACs", "[{macs}]", .drop = 12),
    VIEW_TEXT("Tags", "[{tags:text}]", .drop = 11, .min = 16, .tone = TONE_DIM),
};
static const view_table_row records_tables[] = {
    {.path = "records", VIEW_COLUMNS(records_columns), .limit = ALL_ROWS},
};
static const view_line_row records_lines[] = {
    VIEW_LINE("{records.@count:whole} of {total:whole record} shown; --limit N shows more.",
              "total>records.@count", DIM),
};
static const view_section_row records_sections[] = {
    {.first = true, VIEW_TABLES(records_tables), VIEW_LINES(records_lines)},
};

static const view_column records_csv_columns[] = {
    VIEW_TEXT("id", "id"),
    VIEW_TEXT("created", "created"),
    VIEW_TEXT("model", "model"),
    VIEW_TEXT("batch", "batch"),
    VIEW_TEXT("precision", "precision"),
    VIEW_TEXT("device", "device"),
    VIEW_TEXT("host", "host"),
    VIEW_TEXT("command", "command"),
    VIEW_TEXT("p50_ms", "p50_ms"),
    VIEW_TEXT("p95_ms", "p95_ms"),
    VIEW_TEXT("mean_ms", "mean_ms"),
    VIEW_TEXT("throughput", "throughput"),
    VIEW_TEXT("memory_bytes", "memory_bytes"),
    VIEW_TEXT("macs", "macs"),
    VIEW_TEXT("parameters", "parameters"),
    VIEW_TEXT("tags", "[{tags:joined}]"),
    VIEW_TEXT("kind", "kind"),
};
static const view_csv_row records_csv[] = {
    {.name = "records", .path = "records", VIEW_COLUMNS(records_csv_columns)}};

const view_kind records_view = {.of = &records_kind,
                                .title = "{total:whole record}",
                                VIEW_SECTIONS(records_sections),
                                VIEW_CSV(records_csv)};

/* ---- models ---- */

static const view_column models_columns[] = {
    VIEW_TEXT("Model", "{model:text}|(none)", .min = 12),
    VIEW_NUMBER("Records", "{records:whole}"),
    VIEW_NUMBER("Newest", "{newest.id:text}", .drop = 11),
    VIEW_TEXT("When (UTC)", "{newest.created:minute}", .tone = TONE_DIM),
    VIEW_NUMBER("P50", "[{newest.p50_ms}]"),
    VIEW_NUMBER("Throughput", "[{newest.throughput}]", .drop = 12),
    VIEW_NUMBER("Memory", "[{newest.memory_bytes}]", .drop = 14),
    VIEW_NUMBER("MACs", "[{newest.macs}]", .drop = 13),
};
static const view_table_row models_tables[] = {
    {.path = "models", VIEW_COLUMNS(models_columns), .limit = ALL_ROWS},
};
static const view_section_row models_sections[] = {{.first = true, VIEW_TABLES(models_tables)}};

static const view_column models_csv_columns[] = {
    VIEW_TEXT("model", "model"),
    VIEW_TEXT("records", "records"),
    VIEW_TEXT("newest_id", "newest.id"),
    VIEW_TEXT("newest", "newest.created"),
};
static const view_csv_row models_csv[] = {
    {.name = "models", .path = "models", VIEW_COLUMNS(models_csv_columns)}};

const view_kind models_view = {.of = &models_kind,
                               .title = "{models.@count:whole model} of the history",
                               VIEW_SECTIONS(models_sections),
                               VIEW_CSV(models_csv)};

/* ---- trend ---- */

enum { SPARK_TOP = 1000 };

/* Scales the values to block heights. The lowest value is the lowest block. */
static void build_series(view *v)
{
    field_value points = fields_get(&v->root, "points"), min = fields_get(&v->root, "min"),
                max = fields_get(&v->root, "max");
    double low = fields_number(&min), span = fields_number(&max) - low;
    uint64_t *heights = ARENA_ARRAY(v->a, uint64_t, points.n);
    for (uint32_t i = 0; heights && i < points.n; i++) {
        field_value point = fields_item(&points, i), value = fields_get(&point, "value");
        double part = (fields_number(&value) - low) / span;
        heights[i] = part >= 0 && part <= 1 ? (uint64_t)(SPARK_TOP * part) : SPARK_TOP / 2;
    }
    if (heights)
        view_add_spark(v, (str){0}, heights, points.n);
}

static const view_line_row setup_lines[] = {{.text = "[{+setup:text}]", .tone = TONE_DIM}};
static const view_fact_row trend_facts[] = {
    VIEW_FACT("Newest", "{newest:exact}", NULL, "newest"),
    VIEW_FACT("Median", "{median:exact}", NULL, "median"),
    VIEW_FACT("Lowest", "{min:exact}", NULL, "min"),
    VIEW_FACT("Highest", "{max:exact}", NULL, "max"),
};
static const view_line_row trend_lines[] = {
    VIEW_LINE("{left_out:whole record} with another setup left out; --all includes them.",
              "+left_out", DIM),
    {.text = "{older:whole older record} not examined.", .when = "+older", .tone = TONE_DIM},
    VIEW_LINE("Counts stop at 10000 records: there may be more.", "+at_least", DIM),
};
static const view_column change_columns[] = {
    VIEW_NUMBER("From record", "{id:text}"),
    VIEW_TEXT("When (UTC)", "{created:minute}", .tone = TONE_DIM),
    VIEW_NUMBER("Before", "{before:exact}"),
    VIEW_NUMBER("After", "{after:exact}"),
    VIEW_NUMBER("Change", "{ratio:change}"),
    VIEW_TEXT("Verdict", "{verdict:text}"),
    VIEW_NUMBER("Chance", "{p:chance}", .tone = TONE_DIM),
};
static const view_table_row change_tables[] = {
    {.path = "change_points", VIEW_COLUMNS(change_columns), .mark = "verdict"},
};
static const view_line_row alert_lines[] = {
    VIEW_LINE("{expression:text}: {why:text}", NULL, PLAIN, .each = "alerts", .limit = ALL_ROWS,
              .mark = "verdict"),
};
static const view_column point_columns[] = {
    VIEW_NUMBER("Record", "{id:text}"),
    VIEW_TEXT("When (UTC)", "{created:minute}", .tone = TONE_DIM),
    VIEW_NUMBER("Value", "{value:exact}"),
    VIEW_TEXT("Change", "[{change:text}]"),
};
static const view_table_row point_tables[] = {
    {.path = "points", VIEW_COLUMNS(point_columns), .mark = "change"},
};
static const view_section_row trend_sections[] = {
    {.first = true, VIEW_LINES(setup_lines)},
    {.build = build_series},
    {VIEW_FACTS(trend_facts), VIEW_LINES(trend_lines)},
    {.title = "Changes of level", .first = true, VIEW_TABLES(change_tables)},
    {.title = "Alerts", .first = true, VIEW_LINES(alert_lines)},
    {.title = "Records", .when = "$verbose", VIEW_TABLES(point_tables)},
};

static const view_column trend_csv_columns[] = {
    VIEW_TEXT("id", "id"),
    VIEW_TEXT("created", "created"),
    VIEW_TEXT("{metric:text}", "value"),
    VIEW_TEXT("change", "change"),
};
static const view_csv_row trend_csv[] = {
    {.name = "points", .path = "points", VIEW_COLUMNS(trend_csv_columns)}};

const view_kind trend_view = {
    .of = &trend_kind,
    .title = "{model:text} · {title:text}",
    .under = "{points.@count:whole record}, {points.0.created..points.@last.created:minute} UTC|"
             "{points.@count:whole record}, {points.0.created:minute} UTC|No records",
    VIEW_SECTIONS(trend_sections),
    VIEW_CSV(trend_csv),
};
