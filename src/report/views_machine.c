/* View of a measured machine. */
#include "profile/result_kinds.h"
#include "report/views.h"

/* ---- what the system reports ---- */

static const view_line_row quick_lines[] = {
    VIEW_LINE("Measured with --quick: the ceilings are less certain.", "+quick", FAIR),
};
static const view_fact_row topology_facts[] = {
    VIEW_FACT(
        "Processors", "{topology.usable_processors:text}",
        "usable[ of {+topology.processors:text}][ · {+topology.sockets:whole socket}][ · "
        "{+topology.cores:whole core}][ · {+topology.threads_per_core:whole thread} per core]",
        "topology.usable_processors"),
    VIEW_FACT("Quota", "{topology.quota_processors:fixed2}", "processors, by the control group",
              "topology.quota_processors"),
    VIEW_FACT("Memory", "{topology.memory_bytes:bytes}",
              "[{+topology.numa_nodes:whole memory node}]", "+topology.memory_bytes"),
    VIEW_FACT("Clock", "{topology.mhz:whole} MHz", "[highest {topology.mhz_max:whole} MHz]",
              "topology.mhz"),
    VIEW_FACT("Highest clock", "{topology.mhz_max:whole} MHz", NULL,
              "!topology.mhz,topology.mhz_max"),
    VIEW_FACT("Governor", "{topology.governor:text}", NULL, "+topology.governor"),
    VIEW_FACT("Hypervisor", "{topology.hypervisor:text}", NULL, "+topology.hypervisor"),
    VIEW_FACT("Container", "{topology.container:text}", NULL, "+topology.container"),
    VIEW_FACT("CPU steal", "{steal_percent:percent}", "while this was measured", "steal_percent"),
    VIEW_FACT("Steal since boot", "{topology.steal_percent_since_boot:percent}", NULL,
              "topology.steal_percent_since_boot"),
    VIEW_FACT("Instructions", NULL, "{instruction_sets:list}", "+instruction_sets"),
    VIEW_FACT("Not reported", NULL, "{topology.not_reported:list}", "+topology.not_reported"),
};
static const view_column cache_columns[] = {
    VIEW_TEXT("Cache", "L{level:text}"),
    VIEW_TEXT("Holds", "{kind:text}"),
    VIEW_NUMBER("Size", "{size_bytes:bytes}"),
    VIEW_NUMBER("Number", "{instances:text}"),
    VIEW_NUMBER("Shared by", "[{+shared_by:whole processor}]"),
    VIEW_NUMBER("Line", "[{+line_bytes:bytes}]", .tone = TONE_DIM),
    VIEW_NUMBER("Ways", "[{+ways:text}]", .tone = TONE_DIM),
};
static const view_table_row cache_tables[] = {
    {.path = "topology.caches", VIEW_COLUMNS(cache_columns)},
};

/* ---- ceilings ---- */

static void build_compute(view *v)
{
    static const view_column columns[] = {VIEW_TEXT("Type", "{dtype:text}"),
                                          VIEW_TEXT("Instructions", "{isa:text}")};
    static const view_pivot table = {.path = "compute",
                                     VIEW_COLUMNS(columns),
                                     .across = "{threads:whole thread}",
                                     .value = "{operations_per_second.value:per-s}",
                                     .spread = "operations_per_second.spread",
                                     .spread_each = true};
    view_add_pivot(v, &table);
}

static void build_bandwidth(view *v)
{
    static const view_column columns[] = {VIEW_TEXT("Level", "{level:text}"),
                                          VIEW_NUMBER("Threads", "{threads:text}"),
                                          VIEW_NUMBER("Set of each", "{set_bytes:bytes}")};
    static const view_pivot table = {.path = "bandwidth",
                                     VIEW_COLUMNS(columns),
                                     .across = "{kind:text}",
                                     .value = "{bytes_per_second.value:per-s}",
                                     .spread = "bytes_per_second.spread"};
    view_add_pivot(v, &table);
}

static const view_line_row ceiling_lines[] = {
    VIEW_LINE(
        "A ceiling is the best of short samples taken in turn; of L3 and DRAM, which others "
        "share, it is their 90th percentile. Spread is the distance of the samples' quartiles "
        "relative to their median.",
        "+compute/+bandwidth", DIM),
};
static const view_column curve_columns[] = {VIEW_NUMBER("Working set", "{set_bytes:bytes}"),
                                            VIEW_NUMBER("Read", "{read:per-s}"),
                                            VIEW_NUMBER("Triad", "{triad:per-s}")};
static const view_table_row curve_tables[] = {
    {.path = "bandwidth_by_set", VIEW_COLUMNS(curve_columns)},
};

/* ---- engine ---- */

static const view_fact_row engine_facts[] = {
    VIEW_FACT("Dispatch", "{dispatch.seconds.value:s}",
              "between kernels[, {dispatch.seconds.low..dispatch.seconds.high:s}][, "
              "{+dispatch.engine:text}]",
              "+dispatch.seconds.value"),
    VIEW_FACT("Dispatch", NULL, "not measured: {+dispatch.engine:text}|not measured: no engine",
              "dispatch.seconds.value=0"),
    VIEW_FACT("Predictions", NULL,
              "by the roofline; `assay machine --calibrate` fits them to measured kernels",
              "calibration.present!=true"),
    VIEW_FACT("Calibration", "{calibration.seconds:s}",
              "{calibration.left_out.@count:whole run} of models with {calibration.engine:text}",
              "+calibration.present"),
    VIEW_FACT("Median error", "{calibration.median_error:share}", "of models left out",
              "+calibration.present"),
    VIEW_FACT("80 % interval", "{calibration.interval_low..calibration.interval_high:fixed2}",
              "times the prediction, of models left out", "+calibration.present"),
    VIEW_FACT("Drift", "{calibration.drift:fixed2}",
              "slowest over fastest tenth of the reference runs; times are corrected for it",
              "+calibration.drift"),
};
static const view_line_row engine_lines[] = {
    {.text = "The device `this` (--hardware this) uses these values.", .tone = TONE_DIM},
};

static const view_section_row machine_sections[] = {
    {.first = true, VIEW_LINES(quick_lines)},
    {VIEW_FACTS(topology_facts)},
    {.title = "Caches", .first = true, .beside = true, VIEW_TABLES(cache_tables)},
    {.title = "Engine", .first = true, VIEW_FACTS(engine_facts), VIEW_LINES(engine_lines)},
    {VIEW_SECTION("Arithmetic", "operations per second; a multiply-add is two", NULL, NULL),
     .beside = true, .build = build_compute},
    {VIEW_SECTION("Bandwidth", "bytes per second, as the program sees them", NULL, NULL),
     .build = build_bandwidth},
    {VIEW_LINES(ceiling_lines)},
    {VIEW_SECTION("By working set", "one thread, bytes per second", NULL, NULL),
     VIEW_TABLES(curve_tables)},
};
static const view_csv_row machine_csv[] = {
    {.name = "compute", .path = "compute"},
    {.name = "bandwidth", .path = "bandwidth"},
    {.name = "bandwidth_by_set", .path = "bandwidth_by_set"},
};
const view_kind machine_view = {
    .of = &machine_kind,
    .title = "{+topology.cpu:text}|This machine",
    .under = "[{+topology.host:text} · ][{+topology.machine:text} · ][{+topology.os:text} · ]"
             "measured {timestamp:day} in {seconds:s}",
    VIEW_SECTIONS(machine_sections),
    VIEW_CSV(machine_csv),
};
