/* Views of checks and of capacity plans. */
#include "profile/capacity.h"
#include "profile/verdicts.h"
#include "report/views.h"

/* ---- checks ---- */

static const view_fact_row check_facts[] = {
    VIEW_FACT("Verdict", "{verdict:text}", "[{baseline:text}]", "verdict"),
    VIEW_FACT("Baseline of", "{baseline_timestamp:day}", NULL, "baseline_timestamp"),
    VIEW_FACT("Tolerance", "{tolerance_percent:percent}",
              "[and {allowance_percent:percent} between sessions]", "tolerance_percent"),
    VIEW_FACT("Layers that moved", "{layers_moved:whole}", NULL, "layers_moved"),
};
static const view_column check_columns[] = {
    VIEW_TEXT("Verdict", "{verdict:text}"),
    VIEW_TEXT("Metric", "{metric:text}"),
    VIEW_NUMBER("Value", "{value:unit}"),
    VIEW_NUMBER("Limit or baseline", "{operator:text} {limit:unit}|{baseline:unit}"),
    VIEW_NUMBER("Change", "[{ratio:fixed3}×]"),
    VIEW_TEXT("99 % interval", "[{ratio_ci99_low:fixed3} to {ratio_ci99_high:fixed3}]"),
    VIEW_TEXT("Why", "[{why:text}]"),
};
static const view_column moved_columns[] = {
    VIEW_TEXT("Change", "{change:text}"),   VIEW_TEXT("Layer", "{layer:text}"),
    VIEW_TEXT("Type", "{type:text}"),       VIEW_TEXT("Output", "{shapes:text}"),
    VIEW_NUMBER("MACs", "{macs:si}"),       VIEW_NUMBER("Parameters", "{parameters:si}"),
    VIEW_NUMBER("Bytes", "{memory:bytes}"), VIEW_NUMBER("Peak", "{peak_bytes:bytes}"),
    VIEW_NUMBER("Time", "[{time_ms:ms}]"),
};
static const view_column moved_type_columns[] = {VIEW_TEXT("Type", "{type:text}"),
                                                 VIEW_NUMBER("Layers", "{layers:whole}"),
                                                 VIEW_NUMBER("Count", "{count:si}"),
                                                 VIEW_NUMBER("MACs", "{macs:si}"),
                                                 VIEW_NUMBER("Parameters", "{parameters:si}"),
                                                 VIEW_NUMBER("Bytes", "{memory:bytes}")};
static const view_table_row check_tables[] = {
    {.title = "Checks",
     .path = "checks",
     VIEW_COLUMNS(check_columns),
     .first = true,
     .mark = "verdict"},
    {.title = "Layers that moved", .path = "moved", VIEW_COLUMNS(moved_columns)},
    {.title = "Operator types that moved", .path = "types_moved", VIEW_COLUMNS(moved_type_columns)},
};

static void say_verdict(view *v)
{
    static const struct {
        const char *word, *sentence;
    } said[] = {{"pass", "Every check passes."},
                {"improvement", "Nothing is worse than the baseline, and something is better."},
                {"regression", "Something is worse than the baseline."},
                {"missed", "A limit is missed."},
                {"inconclusive", "Noise hides the answer: the check is inconclusive."}};
    str verdict = fields_get(&v->root, "verdict").text;
    for (size_t i = 0; i < sizeof said / sizeof *said; i++)
        if (str_is(verdict, said[i].word))
            view_add_banner(v, view_tone_of(verdict), str_of(said[i].sentence));
}

/* ---- capacity ---- */

static const view_fact_row capacity_facts[] = {
    VIEW_FACT("Machines", "{plans.@best.machines:whole}",
              "batch {plans.@best.batch:text}, {plans.@best.concurrency:text} at a time",
              "plans.@best.machines"),
    VIEW_FACT("Asked for", "{target_requests_per_second:rate}",
              "requests per second[; {latency_limit_ms:ms} at the quantile {quantile:text}]",
              "target_requests_per_second"),
    VIEW_FACT("Latency", "{plans.@best.latency_quantile_ms:ms}",
              "at the quantile {quantile:text}; mean {plans.@best.latency_mean_ms:ms}",
              "plans.@best.latency_quantile_ms"),
    VIEW_FACT("Load", "{plans.@best.utilization:share}",
              "of each machine; {headroom:share} are kept free", "plans.@best.utilization"),
};
static const view_column capacity_columns[] = {
    VIEW_NUMBER("Batch", "{batch:text}"),
    VIEW_TEXT("Type", "{precision:text}"),
    VIEW_NUMBER("At once", "{concurrency:text}"),
    VIEW_NUMBER("Machines", "{machines:whole}"),
    VIEW_NUMBER("Load", "{utilization:share}"),
    VIEW_NUMBER("Latency", "{latency_quantile_ms:ms}"),
    VIEW_NUMBER("Forming", "{forming_mean_ms:ms}"),
    VIEW_NUMBER("Waiting", "{waiting_mean_ms:ms}"),
    VIEW_NUMBER("Running", "{service_mean_ms:ms}"),
    VIEW_NUMBER("Most of one machine", "{requests_per_second_most:rate}/s"),
    VIEW_TEXT("", "[{why:text}]"),
};
static const view_table_row capacity_tables[] = {
    {.title = "Configurations", .path = "plans", VIEW_COLUMNS(capacity_columns), .first = true},
};

static void say_capacity(view *v)
{
    if (fields_get(&v->root, "best").type == VALUE_NONE)
        view_add_banner(
            v, TONE_POOR,
            STR("None of the measured configurations can do it, with any number of machines."));
}

static const view_section_row check_sections[] = {
    {.first = true, VIEW_FACTS(check_facts), VIEW_TABLES(check_tables)},
};
const view_kind check_view = {
    .of = &check_kind,
    .title = "{model:text}",
    .under = "check",
    VIEW_SECTIONS(check_sections),
    .remarks = "notes",
    .begin = say_verdict,
};

static const view_section_row capacity_sections[] = {
    {.first = true, VIEW_FACTS(capacity_facts), VIEW_TABLES(capacity_tables)},
};
const view_kind capacity_view = {
    .of = &capacity_kind,
    .title = "{model:text}",
    .under = "capacity",
    VIEW_SECTIONS(capacity_sections),
    .remarks = "notes",
    .begin = say_capacity,
};
