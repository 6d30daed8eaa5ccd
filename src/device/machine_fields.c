/* "assay.machine/1": the field table of a measured machine (docs/hardware.md). */
#include "device/machine.h"

#include "base/text.h"

static const field figure_rows[] = {
    FIELD(machine_figure, value, F64, NONE, NULL, "The ceiling."),
    FIELD(machine_figure, low, F64, NONE, NULL, "Lower end of its 95 % interval."),
    FIELD(machine_figure, high, F64, NONE, NULL, "Upper end of its 95 % interval."),
    FIELD(machine_figure, spread, F64, RATIO, NULL, "Interquartile range divided by the median."),
    FIELD(machine_figure, samples, U32, COUNT, NULL, "Samples measured."),
};
static const fields figure_fields = FIELDS(machine_figure, figure_rows);

static const field rate_rows[] = {
    FIELD(machine_rate, dtype, CHARS, NONE, "Type", "Type of the numbers.", .size = 12),
    FIELD(machine_rate, isa, CHARS, NONE, "Instructions", "Instruction set used.", .size = 24),
    FIELD(machine_rate, threads, U32, COUNT, "Threads", "Threads that computed."),
    FIELD_STRUCT(machine_rate, "operations_per_second", ops, figure_fields,
                 "Arithmetic operations per second; a multiply-add is two."),
};
static const fields rate_fields = FIELDS(machine_rate, rate_rows);

static const field flow_rows[] = {
    FIELD(machine_flow, level, CHARS, NONE, "Level", "L1, L2, L3 or DRAM.", .size = 8),
    FIELD(machine_flow, kind, CHARS, NONE, "Kind", "read, write, copy or triad.", .size = 8),
    FIELD(machine_flow, threads, U32, COUNT, "Threads", "Threads that moved data."),
    FIELD(machine_flow, set_bytes, U64, BYTES, "Working set", "All arrays of one thread."),
    FIELD_STRUCT(machine_flow, "bytes_per_second", bytes, figure_fields, "Bytes per second."),
};
static const fields flow_fields = FIELDS(machine_flow, flow_rows);

static const field point_rows[] = {
    FIELD(machine_point, set_bytes, U64, BYTES, "Working set", "All arrays of the thread."),
    FIELD(machine_point, read, F64, BYTES_PER_S, "Read", "Bandwidth of reading."),
    FIELD(machine_point, triad, F64, BYTES_PER_S, "Triad", "Bandwidth of a = b + s·c."),
};
static const fields point_fields = FIELDS(machine_point, point_rows);

static const field cache_rows[] = {
    FIELD(topology_cache, level, U32, COUNT, "Level", "1, 2 or 3."),
    FIELD(topology_cache, kind, CHARS, NONE, "Kind", "data, instruction or unified.", .size = 16),
    FIELD(topology_cache, size_bytes, U64, BYTES, "Size", "Size of one cache."),
    FIELD(topology_cache, line_bytes, U32, BYTES, "Line", "Size of a cache line."),
    FIELD(topology_cache, ways, U32, COUNT, "Ways", "Associativity."),
    FIELD(topology_cache, instances, U32, COUNT, "Number", "Caches of this kind."),
    FIELD(topology_cache, shared_by, U32, COUNT, "Shared by", "Processors that one cache serves."),
};
static const fields cache_fields = FIELDS(topology_cache, cache_rows);

static const field gap_rows[] = {
    FIELD(topology_gap, what, WORD, NONE, NULL, "In words."),
};
static const fields gap_fields = FIELDS(topology_gap, gap_rows, .bare = true);

static const field topology_rows[] = {
    FIELD(topology, cpu, CHARS, NONE, "Processor", "Model name of the processor.", .size = 80),
    FIELD(topology, machine, CHARS, NONE, "Architecture", "As uname reports it.", .size = 65),
    FIELD(topology, host, CHARS, NONE, "Host", "Host name.", .size = 65),
    FIELD(topology, os, CHARS, NONE, "System", "Operating system.", .size = 128),
    FIELD(topology, sockets, U32, COUNT, "Sockets", "Processor packages."),
    FIELD(topology, cores, U32, COUNT, "Cores", "Physical cores."),
    FIELD_AS(topology, "processors", cpus, U32, COUNT, "Processors", "Logical processors online."),
    FIELD(topology, threads_per_core, U32, COUNT, "Threads per core",
          "Hardware threads of a core."),
    FIELD_AS(topology, "usable_processors", usable, U32, COUNT, "Usable",
             "Processors this process may run on."),
    FIELD_AS(topology, "quota_processors", quota_cpus, F64, COUNT, "Quota",
             "CPU quota of the control group; null: none is set.", OR_NULL),
    FIELD(topology, numa_nodes, U32, COUNT, "NUMA nodes", "Memory nodes."),
    FIELD_ITEMS(topology, LIST, "caches", caches, n_caches, cache_fields, "Caches by level.",
                .size = TOPOLOGY_CACHES, ONE_LINE),
    FIELD(topology, memory_bytes, U64, BYTES, "Memory", "Main memory."),
    FIELD_AS(topology, "mhz", mhz_now, F64, MHZ, "Clock", "Clock when it was measured.", OR_NULL),
    FIELD(topology, mhz_min, F64, MHZ, NULL, "Lowest clock.", OR_NULL),
    FIELD(topology, mhz_max, F64, MHZ, NULL, "Highest clock.", OR_NULL),
    FIELD(topology, mhz_base, F64, MHZ, NULL, "Base clock.", OR_NULL),
    FIELD(topology, governor, CHARS, NONE, "Governor", "Frequency governor.", .size = 32),
    FIELD_AS(topology, "clock_driver", driver, CHARS, NONE, "Clock driver", "Frequency driver.",
             .size = 32),
    FIELD(topology, hypervisor, CHARS, NONE, "Hypervisor", "none on bare metal.", .size = 64),
    FIELD(topology, container, CHARS, NONE, "Container", "none outside of one.", .size = 32),
    FIELD_AS(topology, "steal_percent_since_boot", steal_percent, F64, PERCENT, "Steal since boot",
             "CPU steal.", OR_NULL),
    FIELD_ITEMS(topology, LIST, "not_reported", not_reported, n_not_reported, gap_fields,
                "Information that the system does not report.", .size = TOPOLOGY_GAPS, ONE_LINE),
};
static const fields topology_fields = FIELDS(topology, topology_rows);

static const field isa_rows[] = {
    FIELD(machine_isa, name, CHARS, NONE, NULL, "Name.", .size = 24),
};
static const fields isa_fields = FIELDS(machine_isa, isa_rows, .bare = true);

static const field dispatch_rows[] = {
    FIELD_AS(machine_dispatch, "measured", present, BOOL, NONE, NULL, "Whether it was measured."),
    FIELD(machine_dispatch, engine, CHARS, NONE, "Engine", "The engine, or why it is unknown.",
          .size = 96),
    FIELD_STRUCT(machine_dispatch, "seconds", seconds, figure_fields,
                 "Time from one kernel to the next if kernels are empty."),
};
static const fields dispatch_fields = FIELDS(machine_dispatch, dispatch_rows);

static const field family_rows[] = {
    FIELD(calibration_family, name, CHARS, NONE, "Family", "Family of operators.", .size = 32),
    FIELD_VALUES(calibration_family, F64S, "coefficients", c, n_terms, S,
                 "Seconds per unit of each term.", .size = CALIBRATION_TERMS),
    FIELD(calibration_family, samples, U32, COUNT, "Kernels", "Kernels measured."),
    FIELD_AS(calibration_family, "median_error", error, F64, RATIO, "Error",
             "Median relative error."),
};
static const fields family_fields = FIELDS(calibration_family, family_rows);

static const field fold_rows[] = {
    FIELD(calibration_fold, pair, U32, NONE, NULL, "Hash of two families."),
    FIELD(calibration_fold, seen, U32, COUNT, NULL, "Times the two were adjacent."),
    FIELD(calibration_fold, folded, U32, COUNT, NULL, "Times the engine fused them."),
};
static const fields fold_fields = FIELDS(calibration_fold, fold_rows);

static const field run_rows[] = {
    FIELD(calibration_run, model, CHARS, NONE, "Model", "Held-out model.", .size = 48),
    FIELD(calibration_run, batch, U32, COUNT, "Batch", "Batch size."),
    FIELD(calibration_run, measured_s, F64, S, "Measured", "Measured time."),
    FIELD(calibration_run, predicted_s, F64, S, "Predicted", "Time predicted without this model."),
};
static const fields run_fields = FIELDS(calibration_run, run_rows);

static const field calibration_rows[] = {
    FIELD(calibration, present, BOOL, NONE, NULL, "Whether kernels were calibrated."),
    FIELD(calibration, engine, CHARS, NONE, "Engine", "Engine that ran the kernels.", .size = 64),
    FIELD(calibration, threads, U32, COUNT, "Threads",
          "Threads of the engine; 0: the engine decides."),
    FIELD(calibration, seconds, F64, S, "Took", "Duration of the calibration."),
    FIELD(calibration, scale, F64, RATIO, NULL, "Factor of the sum of kernels."),
    FIELD(calibration, kernel_s, F64, S, NULL, "Additional seconds per kernel; may be negative.",
          .flags = FIELD_SIGNED),
    FIELD_AS(
        calibration, "interval_low", low, F64, RATIO, NULL,
        "Lower end of the 80 % interval of measured over predicted time, over held-out models."),
    FIELD_AS(
        calibration, "interval_high", high, F64, RATIO, NULL,
        "Upper end of the 80 % interval of measured over predicted time, over held-out models."),
    FIELD_AS(calibration, "median_error", error, F64, RATIO, "Median error",
             "Median relative error over held-out models."),
    FIELD(calibration, reference_s, F64, S, "Reference",
          "Usual time of the reference model that ran between the others.",
          .absent = FIELD_OMIT_ZERO),
    FIELD(calibration, drift, F64, RATIO, "Drift",
          "Slowest over fastest tenth of the reference's times; the others are corrected for it.",
          .absent = FIELD_OMIT_ZERO),
    FIELD_ITEMS(calibration, LIST, "left_out", runs, n_runs, run_fields, "Held-out models.",
                .size = CALIBRATION_RUNS, ONE_LINE),
    FIELD_ITEMS(calibration, LIST, "families", families, n_families, family_fields,
                "Fitted coefficients.", .size = CALIBRATION_FAMILIES, ONE_LINE),
    FIELD_ITEMS(calibration, LIST, "folds", folds, n_folds, fold_fields,
                "Neighbours that the engine fuses.", .size = CALIBRATION_FOLDS, ONE_LINE),
};
static const fields calibration_fields = FIELDS(calibration, calibration_rows);

static const field machine_rows[] = {
    FIELD_CONCLUSION(machine),
    FIELD(machine, timestamp, CHARS, NONE, "Measured", "When it was measured, UTC.", .size = 32),
    FIELD(machine, tool_version, CHARS, NONE, "Version", "Version of assay.", .size = 24),
    FIELD(machine, quick, BOOL, NONE, NULL, "Whether --quick was given."),
    FIELD(machine, seconds, F64, S, "Took", "Duration of the measurement."),
    FIELD(machine, steal_percent, F64, PERCENT, "Steal", "CPU steal during the measurement.",
          OR_NULL),
    FIELD_STRUCT(machine, "topology", where, topology_fields, "Topology reported by the system."),
    FIELD_ITEMS(machine, LIST, "instruction_sets", isas, n_isas, isa_fields,
                "Vector instruction sets of the processor.", .size = MACHINE_ISAS),
    FIELD_ITEMS(machine, LIST, "compute", rates, n_rates, rate_fields, "Arithmetic ceilings.",
                .size = MACHINE_RATES, ONE_LINE),
    FIELD_ITEMS(machine, LIST, "bandwidth", flows, n_flows, flow_fields, "Bandwidth ceilings.",
                .size = MACHINE_FLOWS, ONE_LINE),
    FIELD_ITEMS(machine, LIST, "bandwidth_by_set", curve, n_curve, point_fields,
                "Bandwidth of one thread by working set.", .size = MACHINE_POINTS, ONE_LINE),
    FIELD_STRUCT(machine, "dispatch", dispatch, dispatch_fields, "Cost of starting a kernel."),
    FIELD_STRUCT(machine, "calibration", calibrated, calibration_fields,
                 "Fitted times of the engine's kernels."),
};
static const fields machine_fields = FIELDS(machine, machine_rows);

/* "AMD EPYC reaches 141 GFLOP/s in float32 and reads 25 GB/s from memory with 2 threads. Layers below 5.6 FLOPs per byte
 * are limited by memory here." */
static void machine_conclude(const void *data, sbuf *out)
{
    const machine *m = data;
    unsigned threads = m->where.usable ? m->where.usable : 1;
    double peak = machine_peak(m, STR("float32"), threads);
    double bytes = machine_bandwidth(m, "DRAM", NULL, threads);
    char cpu[sizeof m->where.cpu];
    text_safe_into(cpu, sizeof cpu, str_of(m->where.cpu));
    if (!(peak > 0) || !(bytes > 0))
        return;
    sbuf_printf(out, "%s reaches ", *cpu ? cpu : "This machine");
    text_si_unit(out, peak, -1, "FLOP/s");
    sbuf_puts(out, " in float32 and ");
    text_si_unit(out, bytes, -1, "B/s");
    sbuf_printf(out, " from memory with %u thread%s. Layers below ", threads, TEXT_S(threads));
    text_fixed(out, peak / bytes, 1);
    sbuf_puts(out, " FLOPs per byte are limited by memory here.");
}

const result_kind machine_kind = {.schema = "assay.machine",
                                  .version = 1,
                                  .name = "machine",
                                  .what = "a measured machine",
                                  .of = &machine_fields,
                                  .conclude = machine_conclude,
                                  .conclusion_at = offsetof(machine, conclusion)};
