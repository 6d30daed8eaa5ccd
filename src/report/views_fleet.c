/* Views of a fleet: changes, drift, the cheapest class of machines. */
#include "profile/fleet.h"
#include "report/views.h"

/* ---- what changed ---- */

static const view_fact_row changes_facts[] = {
    VIEW_FACT("Records", "{records:whole}", "{series:whole} series", NULL),
    VIEW_FACT("New models", "{new_models:joined}", NULL, "+new_models"),
    VIEW_FACT("New machines", "{new_machines:joined}", NULL, "+new_machines"),
    VIEW_FACT("New versions", "{new_versions:joined}", NULL, "+new_versions"),
};
static const view_line_row changes_lines[] = {
    {.text = "{older:whole older record} not examined.", .when = "+older", .tone = TONE_DIM},
};
static const view_column group_columns[] = {
    VIEW_TEXT("{by:text}", "{key:text}", .min = 12),
    VIEW_NUMBER("Worse", "{worse:whole}"),
    VIEW_NUMBER("Better", "{better:whole}"),
    VIEW_NUMBER("Worst", "[{worst:change}]"),
};
static const view_table_row group_tables[] = {{.path = "groups", VIEW_COLUMNS(group_columns)}};
static const view_column change_columns[] = {
    VIEW_TEXT("Model", "{model:text}", .min = 12),
    VIEW_TEXT("Machine", "[{machine:text}]"),
    VIEW_NUMBER("From record", "{id:text}", .drop = 13),
    VIEW_TEXT("When (UTC)", "{created:minute}", .tone = TONE_DIM),
    VIEW_NUMBER("Before", "{before:exact}"),
    VIEW_NUMBER("After", "{after:exact}"),
    VIEW_NUMBER("Change", "[{ratio:change}]"),
    VIEW_TEXT("Verdict", "{verdict:text}"),
    VIEW_TEXT("Version", "[{version:text}]", .drop = 14),
};
static const view_table_row change_tables[] = {
    {.path = "changes", VIEW_COLUMNS(change_columns), .mark = "verdict"},
};
static const view_section_row changes_sections[] = {
    {.first = true, VIEW_FACTS(changes_facts), VIEW_LINES(changes_lines)},
    {.title = "By {by:text}", .first = true, .when = "+groups", VIEW_TABLES(group_tables)},
    {.title = "Changes of level", .first = true, .when = "+changes", VIEW_TABLES(change_tables)},
};
static const view_csv_row changes_csv[] = {{.name = "changes", .path = "changes"},
                                           {.name = "groups", .path = "groups"}};

const view_kind changes_view = {.of = &changes_kind,
                                .title = "{title:text} of the fleet",
                                .under = "[since {since:minute} UTC]",
                                VIEW_SECTIONS(changes_sections),
                                VIEW_CSV(changes_csv)};

/* ---- drift ---- */

static const view_column drift_columns[] = {
    VIEW_TEXT("Machine", "{machine:text}", .min = 12),
    VIEW_TEXT("Ceiling", "{ceiling:text}"),
    VIEW_NUMBER("Records", "{records:whole}", .drop = 12),
    VIEW_NUMBER("Median", "[{median:si} {unit:text}]", .drop = 13),
    VIEW_NUMBER("Newest", "{newest:si} {unit:text}"),
    VIEW_NUMBER("Change", "[{ratio:change}]"),
    VIEW_TEXT("Verdict", "{verdict:text}"),
};
static const view_table_row drift_tables[] = {
    {.path = "ceilings", VIEW_COLUMNS(drift_columns), .limit = 100},
};
static const view_section_row drift_sections[] = {{.first = true, VIEW_TABLES(drift_tables)}};
static const view_csv_row drift_csv[] = {{.name = "ceilings", .path = "ceilings"}};

const view_kind drift_view = {.of = &drift_kind,
                              .title = "Ceilings of {n_machines:whole machine}",
                              VIEW_SECTIONS(drift_sections),
                              VIEW_CSV(drift_csv)};

/* ---- the cheapest ---- */

static const view_column class_columns[] = {
    VIEW_TEXT("Class", "{class:text}", .min = 12),
    VIEW_TEXT("Cheapest", "[{?+cheapest:yes}]"),
    VIEW_TEXT("Meets", "{?+meets:yes}|no"),
    VIEW_NUMBER("{statistic:text}", "{latency_ms:ms}"),
    VIEW_NUMBER("Throughput", "[{throughput}]"),
    VIEW_NUMBER("Per hour", "[{price_per_hour:fixed2}]"),
    VIEW_NUMBER("Per million", "[{cost_per_million}]"),
    VIEW_TEXT("Price", "[{price_basis:text}]", .drop = 14, .tone = TONE_DIM),
    VIEW_NUMBER("Record", "{record:text}", .drop = 12),
    VIEW_NUMBER("Records", "{records:whole}", .drop = 13),
};
static const view_table_row class_tables[] = {{.path = "classes", VIEW_COLUMNS(class_columns)}};
static const view_section_row cheapest_sections[] = {{.first = true, VIEW_TABLES(class_tables)}};
static const view_csv_row cheapest_csv[] = {{.name = "classes", .path = "classes"}};

const view_kind cheapest_view = {.of = &cheapest_kind,
                                 .title = "{model:text} · cost by class of machines",
                                 .under = "[{statistic:text} within {limit_ms:ms}]",
                                 VIEW_SECTIONS(cheapest_sections),
                                 VIEW_CSV(cheapest_csv)};
