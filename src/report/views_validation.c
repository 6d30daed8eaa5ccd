/* The view of validations: counts compared with another tool's, and the operators behind the difference. */
#include "profile/validation.h"
#include "report/views.h"

enum { TYPES_SHOWN = 5, ROWS_MOST = 1000 };

static const view_column count_columns[] = {
    VIEW_TEXT("Model", "{model:text}", .min = 24),
    VIEW_TEXT("Tool", "{lens:text}"),
    VIEW_TEXT("Unit", "{unit:text}", .drop = 9),
    VIEW_NUMBER("Ours", "{ours:whole}"),
    VIEW_NUMBER("Theirs", "{theirs:whole}"),
    VIEW_NUMBER("Difference", "{difference_percent:+percent2}", .drop = 2),
    VIEW_NUMBER("Accuracy", "{accuracy_percent:percent2}", .drop = 1),
    VIEW_TEXT("Verdict", "{verdict:text}", .drop = 8),
};
static const view_table_row count_tables[] = {
    {.path = "models", VIEW_COLUMNS(count_columns), .limit = ROWS_MOST},
};
static const view_line_row unit_lines[] = {
    VIEW_LINE("Differences below ±{tolerance_percent:short} % are acceptable. 5 to 10 % are common "
              "between tools with different rules.",
              "tolerance_percent", PLAIN),
    VIEW_LINE("{lens:text}: both counts are multiply-accumulates, which this tool calls FLOPs. One "
              "multiply and one add are 1 here and 2 in assay's FLOPs.",
              "unit=MAC", DIM, .each = "models"),
    VIEW_LINE("{lens:text}: both counts are FLOPs. One multiply-accumulate is 2; each tool has its "
              "own rule for everything else.",
              "unit=FLOP", DIM, .each = "models"),
    VIEW_LINE("{lens:text}: assay's count is multiply-accumulates; this tool adds a cost for every "
              "other function.",
              "unit!=MAC,unit!=FLOP", DIM, .each = "models"),
};

/* ---- what explains it: a line per model ---- */

static void put_reasons(const view *v, sbuf *b, const field_value *row)
{
    field_value types = fields_get(row, "operators");
    uint32_t shown = v->o->verbose || types.n < TYPES_SHOWN ? types.n : TYPES_SHOWN;
    for (uint32_t i = 0; i < shown; i++) {
        field_value type = fields_item(&types, i);
        sbuf_puts(b, i ? ", " : "");
        view_put(v, b, &type, "{type:text} {difference:+si}");
    }
    if (shown < types.n)
        sbuf_printf(b, ", %u more type%s", types.n - shown, types.n - shown == 1 ? "" : "s");
    sbuf_puts(b, types.n ? "." : "no operator is counted differently.");
}

static const struct {
    const char *text, *when;
} sentences[] = {
    {" Not exact: {assumed:whole operator} assumed, {unknown:whole} unknown and in neither count.",
     "+assumed/+unknown"},
    {" {lens:text} itself gave {recorded.count:whole} ({recorded.setup:text})", "recorded"},
    {"; the convention gives the same.", "recorded,recorded.equal=true"},
    {"; the convention is off by {recorded.difference:+whole}.", "recorded,recorded.equal=false"},
    {" Live: {live.error:text}", "live,live.error"},
    {" Live, it gives {live.count:whole} ({live.version:text})", "live.count"},
    {", the same as the convention.", "live.count,live.equal=true"},
    {", not the same as the convention.", "live.count,live.equal=false"},
};

static void explain_row(view *v, const field_value *row)
{
    sbuf b = {0};
    view_put(v, &b, row, "{model:text}, {lens:text}: ");
    put_reasons(v, &b, row);
    for (size_t i = 0; i < sizeof sentences / sizeof *sentences; i++)
        if (view_holds(v, row, sentences[i].when))
            view_put(v, &b, row, sentences[i].text);
    if (!b.failed)
        view_add_line(v, TONE_PLAIN, str_copy(v->a, (str){b.p, (uint32_t)b.n}));
    sbuf_free(&b);
}

static void explain(view *v)
{
    field_value rows = fields_get(&v->root, "models");
    for (uint32_t i = 0; i < rows.n && i < ROWS_MOST; i++) {
        field_value row = fields_item(&rows, i);
        explain_row(v, &row);
    }
}

static const view_section_row validation_sections[] = {
    {.first = true, VIEW_TABLES(count_tables), VIEW_LINES(unit_lines)},
    {VIEW_SECTION("What explains it", "what the tool counts more (+) or less (−)", NULL, NULL),
     .build = explain},
};

static const view_column csv_columns[] = {
    VIEW_TEXT("model", "model"),
    VIEW_TEXT("lens", "lens"),
    VIEW_TEXT("unit", "unit"),
    VIEW_TEXT("ours", "ours"),
    VIEW_TEXT("theirs", "theirs"),
    VIEW_TEXT("difference_percent", "difference_percent"),
    VIEW_TEXT("accuracy_percent", "accuracy_percent"),
    VIEW_TEXT("verdict", "verdict"),
    VIEW_TEXT("recorded", "recorded.count"),
};
static const view_csv_row validation_csv[] = {{"models", "models", VIEW_COLUMNS(csv_columns)}};

const view_kind validation_view = {
    .of = &validation_kind,
    .title = "Counts compared with other tools",
    VIEW_SECTIONS(validation_sections),
    VIEW_CSV(validation_csv),
};
