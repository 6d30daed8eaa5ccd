/* The view of checks. */
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
