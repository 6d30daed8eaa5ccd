/* View of a measured machine. */
#include "profile/result_kinds.h"
#include "report/views.h"

/* ---- machines ---- */

static const view_fact_row machine_facts[] = {
    VIEW_FACT("Processors", "{topology.usable_processors:text}",
              "usable; cores: {topology.cores:text}, sockets: {topology.sockets:text}",
              "topology.usable_processors"),
    VIEW_FACT("Memory", "{topology.memory_bytes:bytes}", NULL, "topology.memory_bytes"),
    VIEW_FACT("Between kernels", "{dispatch.seconds.value:s}", "{dispatch.engine:text}",
              "+dispatch.seconds.value"),
    VIEW_FACT("Error of predictions", "{calibration.median_error:share}",
              "median, of models left out", "+calibration.median_error"),
};
static const view_column rate_columns[] = {
    VIEW_TEXT("Number format", "{dtype:text}"),
    VIEW_TEXT("Instructions", "{isa:text}"),
    VIEW_NUMBER("Threads", "{threads:text}"),
    VIEW_NUMBER("Operations", "{operations_per_second.value:per-s}"),
    VIEW_NUMBER("Spread", "{operations_per_second.spread:share}"),
};
static const view_column flow_columns[] = {
    VIEW_TEXT("Level", "{level:text}"),
    VIEW_TEXT("Kind", "{kind:text}"),
    VIEW_NUMBER("Threads", "{threads:text}"),
    VIEW_NUMBER("Set of each", "{set_bytes:bytes}"),
    VIEW_NUMBER("Bytes", "{bytes_per_second.value:per-s}"),
    VIEW_NUMBER("Spread", "{bytes_per_second.spread:share}"),
};
static const view_column curve_columns[] = {VIEW_NUMBER("Working set", "{set_bytes:bytes}"),
                                            VIEW_NUMBER("Read", "{read:per-s}"),
                                            VIEW_NUMBER("Triad", "{triad:per-s}")};
static const view_table_row machine_tables[] = {
    {.title = "Arithmetic", .path = "compute", VIEW_COLUMNS(rate_columns)},
    {.title = "Bandwidth", .path = "bandwidth", VIEW_COLUMNS(flow_columns)},
    {.title = "By working set, one thread",
     .path = "bandwidth_by_set",
     VIEW_COLUMNS(curve_columns)},
};

static const view_section_row machine_sections[] = {
    {.first = true, VIEW_FACTS(machine_facts), VIEW_TABLES(machine_tables)},
};
const view_kind machine_view = {
    .of = &machine_kind,
    .title = "{topology.cpu:text}",
    .under = "{topology.host:text} · {topology.os:text} · measured {timestamp:day}",
    VIEW_SECTIONS(machine_sections),
};
