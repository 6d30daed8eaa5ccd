/* Views of the history: its records, its models, a figure over time. */
#include "profile/history.h"
#include "report/views.h"

/* ---- history ---- */

#define RUN_COLUMNS(at)                                                                            \
    VIEW_TEXT("When", "{" at "created:day}"), VIEW_TEXT("Command", "{" at "command:text}"),        \
        VIEW_NUMBER("Batch", "{" at "batch:text}"),                                                \
        VIEW_TEXT("Precision", "{" at "precision:text}"), VIEW_NUMBER("P50", "{" at "p50_ms:ms}"), \
        VIEW_NUMBER("P95", "{" at "p95_ms:ms}"),                                                   \
        VIEW_NUMBER("Samples/s", "{" at "throughput:rate}"),                                       \
        VIEW_NUMBER("Memory", "{" at "memory_bytes:bytes}")

static const view_column runs_columns[] = {VIEW_NUMBER("Run", "{id:text}"),
                                           VIEW_TEXT("Model", "{model:text}"), RUN_COLUMNS(""),
                                           VIEW_TEXT("Tags", "{tags:text}")};
static const view_table_row runs_tables[] = {
    {.title = "Runs", .path = "runs", VIEW_COLUMNS(runs_columns), .first = true},
};
static const view_column models_columns[] = {
    VIEW_TEXT("Model", "{model:text}"), VIEW_NUMBER("Runs", "{runs:whole}"),
    VIEW_NUMBER("Newest", "{newest.id:text}"), RUN_COLUMNS("newest.")};
static const view_table_row models_tables[] = {
    {.title = "Models", .path = "models", VIEW_COLUMNS(models_columns), .first = true},
};

static const view_fact_row trend_facts[] = {
    VIEW_FACT("Newest", "{newest:unit}", "{title:text}", "newest"),
    VIEW_FACT("Median", "{median:unit}", NULL, "median"),
    VIEW_FACT("Lowest", "{min:unit}", NULL, "min"),
    VIEW_FACT("Highest", "{max:unit}", NULL, "max"),
};
static const view_column alert_columns[] = {
    VIEW_TEXT("Alert", "{expression:text}"), VIEW_TEXT("Verdict", "{verdict:text}"),
    VIEW_NUMBER("Value", "{value:unit}"),    VIEW_NUMBER("Limit", "{limit:unit}"),
    VIEW_TEXT("Why", "{why:text}"),
};
static const view_column trend_change_columns[] = {
    VIEW_NUMBER("Run", "{id:text}"),        VIEW_TEXT("When", "{created:day}"),
    VIEW_NUMBER("Before", "{before:unit}"), VIEW_NUMBER("After", "{after:unit}"),
    VIEW_NUMBER("Ratio", "{ratio:ratio}"),  VIEW_TEXT("Verdict", "{verdict:text}"),
};
static const view_column trend_columns[] = {VIEW_NUMBER("Run", "{id:text}"),
                                            VIEW_TEXT("When", "{created:day}"),
                                            VIEW_NUMBER("Value", "{value:unit}")};
static const view_table_row trend_tables[] = {
    {.title = "Alerts",
     .path = "alerts",
     VIEW_COLUMNS(alert_columns),
     .first = true,
     .mark = "verdict"},
    {.title = "Changes of level",
     .path = "change_points",
     VIEW_COLUMNS(trend_change_columns),
     .first = true,
     .mark = "verdict"},
    {.title = "Runs", .path = "points", VIEW_COLUMNS(trend_columns)},
};

static const view_section_row runs_sections[] = {{VIEW_TABLES(runs_tables)}};
const view_kind runs_view = {
    .of = &runs_kind, .title = "{total:whole} runs", VIEW_SECTIONS(runs_sections)};

static const view_section_row models_sections[] = {{VIEW_TABLES(models_tables)}};
const view_kind models_view = {
    .of = &models_kind, .title = "Models of the history", VIEW_SECTIONS(models_sections)};

static const view_section_row trend_sections[] = {
    {.first = true, VIEW_FACTS(trend_facts), VIEW_TABLES(trend_tables)},
};
const view_kind trend_view = {
    .of = &trend_kind,
    .title = "{model:text}: {title:text}",
    .under = "[{setup:text}]",
    VIEW_SECTIONS(trend_sections),
};
