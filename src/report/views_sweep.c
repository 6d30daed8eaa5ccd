/* Views of sweeps: the plan, its status and its report. */
#include "profile/sweep.h"
#include "report/views.h"

enum { SHOWN_TASKS = 60, MATRIX_MOST = 400 };

/* ---- the plan ---- */

static const view_fact_row plan_facts[] = {
    VIEW_FACT("Tasks", "{tasks.@count:whole}", "{models.@count:whole model}", NULL),
    VIEW_FACT("assay", "{tool_version:text}", NULL, NULL),
    VIEW_FACT("Engine", "{engine:text} {engine_version:text}|not found: tasks do not compare it",
              NULL, NULL),
};
static const view_column plan_columns[] = {
    VIEW_NUMBER("Task", "{task:text}"),
    VIEW_TEXT("Model", "{model:text}", .min = 12),
    VIEW_TEXT("Device", "{device:text}", .drop = 12),
    VIEW_TEXT("Class", "[{node_class:text}]", .drop = 13),
    VIEW_NUMBER("Batch", "{batch:text}"),
    VIEW_TEXT("Type", "{precision:text}"),
    VIEW_NUMBER("Threads", "[{+threads:text}]", .drop = 14),
    VIEW_NUMBER("Repeat", "{repeat:text}", .drop = 15),
    VIEW_NUMBER("Time limit", "{time_limit_s}", .drop = 16),
};
static const view_table_row plan_tables[] = {
    {.path = "tasks", VIEW_COLUMNS(plan_columns), .limit = SHOWN_TASKS},
};
static const view_section_row plan_sections[] = {
    {.first = true, VIEW_FACTS(plan_facts)},
    {.title = "Tasks", .remark = "time limits are predicted", VIEW_TABLES(plan_tables)},
};
static const view_csv_row plan_csv[] = {{.name = "tasks", .path = "tasks"}};

const view_kind sweep_view = {.of = &sweep_kind,
                              .title = "Sweep {id:text}",
                              VIEW_SECTIONS(plan_sections),
                              VIEW_CSV(plan_csv)};

/* ---- how far it is ---- */

static const view_fact_row status_facts[] = {
    VIEW_FACT("Done", "{done:whole} of {total:whole}", "[{+noisy:whole} from a busy machine]",
              NULL),
    VIEW_FACT("Running", "{running:whole}", NULL, "+running"),
    VIEW_FACT("Waiting", "{waiting:whole}", NULL, "+waiting"),
    VIEW_FACT("Missing", "{missing:whole}", NULL, "+missing"),
    VIEW_FACT("Expected end", "{expected_end:minute} UTC", NULL, "expected_end"),
};
static const view_column status_columns[] = {
    VIEW_NUMBER("Task", "{task:text}"),
    VIEW_TEXT("State", "{state:text}"),
    VIEW_TEXT("Model", "{model:text}", .min = 12),
    VIEW_TEXT("Configuration", "{config:text}", .drop = 14),
    VIEW_TEXT("Device", "{device:text}", .drop = 15),
    VIEW_TEXT("Class", "[{node_class:text}]", .drop = 16),
    VIEW_TEXT("Machine", "[{machine:text}]", .drop = 12),
    VIEW_NUMBER("Record", "[{record:text}]", .drop = 13),
    VIEW_TEXT("Reason", "[{reason:text}]", .drop = 17),
};
static const view_table_row status_tables[] = {
    {.path = "tasks", VIEW_COLUMNS(status_columns), .limit = SHOWN_TASKS},
};
static const view_section_row status_sections[] = {
    {.first = true, VIEW_FACTS(status_facts)},
    {.title = "Tasks", VIEW_TABLES(status_tables)},
};
static const view_csv_row status_csv[] = {{.name = "tasks", .path = "tasks"}};

const view_kind sweep_status_view = {.of = &sweep_status_kind,
                                     .title = "Sweep {id:text}",
                                     .under = "[asked: history and {scheduler:text}]",
                                     VIEW_SECTIONS(status_sections),
                                     VIEW_CSV(status_csv)};

/* ---- what came out ---- */

static const view_fact_row report_facts[] = {
    VIEW_FACT("Done", "{done:whole} of {total:whole}", "[{+noisy:whole} from a busy machine]",
              NULL),
};
static const view_column matrix_names[] = {
    VIEW_TEXT("Model", "{model:text}", .min = 12),
    VIEW_TEXT("Configuration", "{config:text}", .min = 16),
};
static const view_pivot matrix_pivot = {.path = "cells",
                                        .columns = matrix_names,
                                        .n_columns = 2,
                                        .across = "{place:text}",
                                        .value = "[{p50_ms}]"};
/* A large one is no help to a reader: the configurations follow. */
static void build_matrix(view *v)
{
    if (fields_get(&v->root, "cells").n <= MATRIX_MOST)
        view_add_pivot(v, &matrix_pivot);
    else
        view_add_line(v, TONE_DIM, STR("Too large to be shown here; CSV and JSON have all of it."));
}

static const view_column cell_columns[] = {
    VIEW_TEXT("Model", "{model:text}", .min = 12),
    VIEW_TEXT("Place", "{place:text}"),
    VIEW_TEXT("Configuration", "{config:text}", .min = 16),
    VIEW_NUMBER("P50", "[{p50_ms}]"),
    VIEW_NUMBER("P95", "[{p95_ms}]", .drop = 12),
    VIEW_NUMBER("Throughput", "[{throughput}]", .drop = 13),
    VIEW_NUMBER("Memory", "[{memory_bytes}]", .drop = 14),
    VIEW_NUMBER("Records", "{records:text} of {repeats:text}", .drop = 15),
    VIEW_TEXT("Pareto", "[{?+pareto:yes}]", .drop = 16),
};
static const view_table_row cell_tables[] = {{.path = "cells", VIEW_COLUMNS(cell_columns)}};
static const view_column best_columns[] = {
    VIEW_TEXT("Model", "{model:text}", .min = 12),
    VIEW_TEXT("Goal", "{goal:text}"),
    VIEW_TEXT("Place", "{place:text}"),
    VIEW_TEXT("Configuration", "{config:text}", .min = 16),
    VIEW_NUMBER("Value", "{value:unit}"),
};
static const view_table_row best_tables[] = {{.path = "best", VIEW_COLUMNS(best_columns)}};
static const view_column machine_columns[] = {
    VIEW_TEXT("Machine", "{machine:text}", .min = 12),
    VIEW_NUMBER("Records", "{records:whole}"),
    VIEW_NUMBER("Compared", "{compared:whole}"),
    VIEW_NUMBER("Slower", "{slower:whole}", .drop = 12),
    VIEW_NUMBER("Latency", "[{ratio}]"),
    VIEW_TEXT("Verdict", "{verdict:text}"),
};
static const view_table_row machine_tables[] = {
    {.path = "machines", VIEW_COLUMNS(machine_columns)},
};
static const view_section_row report_sections[] = {
    {.first = true, VIEW_FACTS(report_facts)},
    {.title = "Median latency", .when = "+cells", .first = true, .build = build_matrix},
    {.title = "Best per goal", .when = "+best", .first = true, VIEW_TABLES(best_tables)},
    {VIEW_SECTION("Configurations",
                  "Pareto: no other of the model is as good in latency, throughput and memory",
                  NULL, NULL),
     VIEW_TABLES(cell_tables)},
    {VIEW_SECTION("Machines", "latency relative to equal tasks on other machines", NULL,
                  "+machines"),
     VIEW_TABLES(machine_tables)},
};
static const view_csv_row report_csv[] = {{.name = "tasks", .path = "tasks"},
                                          {.name = "cells", .path = "cells"},
                                          {.name = "best", .path = "best"},
                                          {.name = "machines", .path = "machines"}};

static void say_missing(view *v)
{
    field_value missing = fields_get(&v->root, "missing");
    if (missing.n)
        view_add_banner(v, TONE_POOR,
                        str_printf(v->a, "%u task%s without a record: the report is incomplete.",
                                   missing.n, missing.n == 1 ? "" : "s"));
}

const view_kind sweep_report_view = {.of = &sweep_report_kind,
                                     .title = "Sweep {id:text}",
                                     VIEW_SECTIONS(report_sections),
                                     VIEW_CSV(report_csv),
                                     .begin = say_missing};
