/* The view of checks: limits, baseline, and layers that differ. */
#include "profile/verdicts.h"
#include "report/views.h"

enum { TYPES_SHOWN = 5 };

/* ---- verdicts ---- */

static uint32_t list_checks(const field_value *checks, bool limits, uint32_t *index)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < checks->n; i++) {
        field_value check = fields_item(checks, i);
        if ((fields_get(&check, "operator").type != VALUE_NONE) == limits)
            index[n++] = i;
    }
    return n;
}

static uint32_t order_limits(const view *v, const field_value *checks, uint32_t *index)
{
    (void)v;
    return list_checks(checks, true, index);
}

static uint32_t order_baseline(const view *v, const field_value *checks, uint32_t *index)
{
    (void)v;
    return list_checks(checks, false, index);
}

static const view_column limit_columns[] = {
    VIEW_TEXT("Verdict", "{verdict:text}", .min = 15),
    VIEW_TEXT("Metric", "{title:text}", .min = 17, .drop = 1),
    VIEW_NUMBER("Value", "{value:unit}", .drop = 1),
    VIEW_NUMBER("Limit", "{operator:text} {limit:unit}", .drop = 1),
};
static const view_table_row limit_tables[] = {
    {.path = "checks", VIEW_COLUMNS(limit_columns), .mark = "verdict", .order = order_limits},
};

/* The interval is kept on narrow terminals, because the two values explain the rest. */
static const view_column baseline_columns[] = {
    VIEW_TEXT("Verdict", "{verdict:text}", .min = 15),
    VIEW_TEXT("Metric", "{title:text}", .min = 17, .drop = 1),
    VIEW_NUMBER("Value", "{value:unit~baseline}", .drop = 1),
    VIEW_NUMBER("Baseline", "{baseline:unit~value}", .drop = 1),
    VIEW_NUMBER("Change", "[{ratio:change}]", .drop = 3),
    VIEW_NUMBER("99 % interval", "[{ratio_ci99_low:change} to {ratio_ci99_high:change}]",
                .drop = 2),
};
static const view_table_row baseline_tables[] = {
    {.path = "checks", VIEW_COLUMNS(baseline_columns), .mark = "verdict", .order = order_baseline},
};
static const view_line_row why_lines[] = {
    VIEW_LINE("{title:text}: {why:text}.", "+why,verdict!=not checked/$verbose", PLAIN,
              .each = "checks"),
};

/* ---- what moved ---- */

static const view_column moved_columns[] = {
    VIEW_TEXT("Change", "{change:text}", .tone = TONE_DIM),
    VIEW_TEXT("Layer", "{layer:name}", .min = 16, .drop = 1),
    VIEW_TEXT("Output", "[{shapes:text}]", .drop = 9, .tone = TONE_DIM),
    VIEW_NUMBER("MACs", "{macs:+si}", .drop = 2),
    VIEW_NUMBER("Params", "{parameters:+si}", .drop = 3),
    VIEW_NUMBER("Bytes moved", "{memory:+bytes}", .drop = 4),
    VIEW_NUMBER("Time", "[{time_ms:+ms}]", .drop = 2),
};
static const view_table_row moved_tables[] = {
    {VIEW_TABLE(NULL, "moved", moved_columns), .limit = VIEW_TOP,
     .more = "--top N or --verbose shows them."},
};
static const view_line_row moved_lines[] = {
    VIEW_LINE("{layer:name}: {attributes:text}", "+attributes", DIM, .each = "moved",
              .limit = VIEW_TOP),
    VIEW_LINE("{layers_moved:whole layer} differ in all; `assay compare` lists them.",
              "layers_moved>moved.@count", DIM),
};

static const view_column type_columns[] = {
    VIEW_TEXT("Type", "{type:text}"),
    VIEW_NUMBER("Layers", "{layers:whole}", .drop = 2),
    VIEW_NUMBER("More of them", "{count:+whole}", .drop = 5),
    VIEW_NUMBER("MACs", "{macs:+si}", .drop = 1),
    VIEW_NUMBER("Params", "{parameters:+si}", .drop = 3),
    VIEW_NUMBER("Bytes moved", "{memory:+bytes}", .drop = 4),
};
static const view_table_row type_tables[] = {
    {.path = "types_moved", VIEW_COLUMNS(type_columns), .limit = TYPES_SHOWN},
};

/* ---- the whole ---- */

static void say_verdict(view *v)
{
    static const struct {
        const char *word, *sentence;
    } said[] = {
        {"pass", "Pass: every check passes."},
        {"improvement", "Improvement: nothing is worse than the baseline, something is better."},
        {"not checked", "Not checked: there is nothing to compare with."},
        {"inconclusive", "Inconclusive: at least one check cannot be decided."},
        {"regression", "Regression: something is worse than the baseline."},
        {"missed", "Missed: at least one limit is not met."}};
    str verdict = fields_get(&v->root, "verdict").text;
    if (view_holds(v, &v->root, "+machine_busy"))
        view_add_banner(v, TONE_FAIR,
                        view_text(v, &v->root, "Machine too busy: {machine_busy:text}."));
    for (size_t i = 0; i < sizeof said / sizeof *said; i++)
        if (str_is(verdict, said[i].word))
            view_add_banner(v, view_tone_of(verdict), str_of(said[i].sentence));
}

static const view_section_row check_sections[] = {
    {.title = "Limits", .first = true, VIEW_TABLES(limit_tables)},
    {.title = "Against the baseline", .first = true, VIEW_TABLES(baseline_tables)},
    {VIEW_LINES(why_lines)},
    {VIEW_SECTION("Layers that differ", "what each layer adds to the totals", NULL, NULL),
     VIEW_TABLES(moved_tables), VIEW_LINES(moved_lines)},
    {.title = "Differences by operator type", VIEW_TABLES(type_tables)},
};

static const view_column csv_columns[] = {
    VIEW_TEXT("metric", "metric"),
    VIEW_TEXT("unit", "unit"),
    VIEW_TEXT("verdict", "verdict"),
    VIEW_TEXT("value", "value"),
    VIEW_TEXT("operator", "operator"),
    VIEW_TEXT("limit", "limit"),
    VIEW_TEXT("baseline", "baseline"),
    VIEW_TEXT("ratio", "ratio"),
    VIEW_TEXT("ratio_ci99_low", "ratio_ci99_low"),
    VIEW_TEXT("ratio_ci99_high", "ratio_ci99_high"),
    VIEW_TEXT("why", "why"),
};
static const view_csv_row check_csv[] = {
    {.name = "checks", .path = "checks", VIEW_COLUMNS(csv_columns)}};

const view_kind check_view = {
    .of = &check_kind,
    .title = "Check of {model:text}: {verdict:text}",
    .under = "baseline {baseline:text} of {baseline_timestamp:day} · tolerance "
             "{tolerance_percent:percent}[, {+allowance_percent:percent} more between sessions]|"
             "[tolerance {tolerance_percent:percent}]",
    VIEW_SECTIONS(check_sections),
    VIEW_CSV(check_csv),
    .remarks = "notes",
    .formats = "junit, github",
    .begin = say_verdict,
};
