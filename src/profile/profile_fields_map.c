/* Field tables of predictions: `devices` (one row per device, precision and batch) and `map` (the inputs of the
 * predictions). */
#include "profile/profile_fields.h"

static const field row_rows[] = {
    FIELD_AS(mapping_row, "name", device, STR, NONE, "Device", "Id of the device.",
             .flags = FIELD_CSV | FIELD_NEEDED),
    FIELD(mapping_row, precision, WORD, NONE, "Precision", "Precision.", IN_CSV),
    FIELD(mapping_row, batch, I64, COUNT, "Batch", "Batch size.", IN_CSV),
    FIELD(mapping_row, latency_ms, F64, MS, "Latency",
          "Expected time of a run with the runtime of the device.", .decimals = 1 + 6, IN_CSV),
    FIELD(mapping_row, latency_low_ms, F64, MS, NULL, "Lower end of its 80 % interval.", OMIT_ZERO,
          .decimals = 1 + 6, IN_CSV),
    FIELD(mapping_row, latency_high_ms, F64, MS, NULL, "Its upper end.", OMIT_ZERO,
          .decimals = 1 + 6, IN_CSV),
    FIELD(mapping_row, throughput, F64, PER_SECOND, "Throughput", "Samples per second.",
          .decimals = 1 + 6, IN_CSV),
    FIELD(mapping_row, memory_bytes, U64, BYTES, "Memory", "Weights and activations.", IN_CSV),
    FIELD(mapping_row, percent_of_memory, F64, PERCENT, "Of memory",
          "Share of the device's memory.", .decimals = 1 + 2, .flags = FIELD_WRITE_ONLY),
    FIELD(mapping_row, fits, BOOL, NONE, "Fits", "Whether that fits the device.", IN_CSV),
    FIELD(mapping_row, verdict, WORD, NONE, "Verdict",
          "For inference: safe, good, maximum throughput, risk of OOM or OOM.", IN_CSV),
    FIELD(mapping_row, bound, WORD, NONE, "Bound", "Limit of the time.", IN_CSV),
    FIELD(mapping_row, weights_bytes, U64, BYTES, "Weights", "Weights.", IN_CSV),
    FIELD(mapping_row, activations_bytes, U64, BYTES, "Activations", "Peak of activations.",
          IN_CSV),
    FIELD_AS(mapping_row, "energy_j_per_sample", energy_j, F64, JOULE, "Energy",
             "Per sample; null: the device's power is unknown.", NULL_ZERO, IN_CSV),
    FIELD(mapping_row, cost_per_million, F64, USD, "Per million",
          "Price of a million samples at that throughput; omitted: the device has no price.",
          OR_OMIT, .decimals = 1 + 6, IN_CSV),
    FIELD(mapping_row, training_memory_bytes, U64, BYTES, "Training memory", "With AdamW.",
          .when_at = 1 + offsetof(mapping_row, trains), IN_CSV),
    FIELD(mapping_row, training_fits, BOOL, NONE, "Training fits", "Whether that fits.",
          .when_at = 1 + offsetof(mapping_row, trains), IN_CSV),
    FIELD(mapping_row, training_verdict, WORD, NONE, "For training",
          "For training: safe, good, optimal for training, risk of OOM or OOM.",
          .when_at = 1 + offsetof(mapping_row, trains), OR_OMIT, IN_CSV),
    FIELD(mapping_row, training_step_ms, F64, MS, "Training step", "Predicted time of a step.",
          .when_at = 1 + offsetof(mapping_row, trains), .decimals = 1 + 6, IN_CSV),
    FIELD_AS(mapping_row, "compute_bound_percent", compute_percent, F64, PERCENT, NULL,
             "Share of the time in compute-bound layers.", .decimals = 1 + 2, IN_CSV),
    FIELD_AS(mapping_row, "memory_bound_percent", memory_percent, F64, PERCENT, NULL,
             "Share of the time in memory-bound layers.", .decimals = 1 + 2, IN_CSV),
    FIELD_AS(mapping_row, "overhead_bound_percent", overhead_percent, F64, PERCENT, NULL,
             "Share of the time in layers bound by launch overhead.", .decimals = 1 + 2, IN_CSV),
    FIELD(mapping_row, percent_of_peak, F64, PERCENT, "Of peak",
          "Share of the device's peak arithmetic.", .decimals = 1 + 2, IN_CSV),
    FIELD_AS(mapping_row, "gain_from_10_percent_flops", gain_flops_percent, F64, PERCENT, NULL,
             "Time saved by 10 % more arithmetic.", .decimals = 1 + 2, IN_CSV),
    FIELD_AS(mapping_row, "gain_from_10_percent_bandwidth", gain_bandwidth_percent, F64, PERCENT,
             NULL, "Time saved by 10 % more bandwidth.", .decimals = 1 + 2, IN_CSV),
    FIELD(mapping_row, speed, WORD, NONE, "Speed", "Band of the latency.", IN_CSV),
    FIELD(mapping_row, memory_class, WORD, NONE, "Memory class", "Band of the memory.", IN_CSV),
    FIELD(mapping_row, pareto, BOOL, NONE, NULL, "On the Pareto front.", IN_CSV),
    FIELD(mapping_row, limit_ms, F64, MS, "Limit",
          "Roofline: the time at the peaks of the data sheet, which no kernel undercuts.",
          OMIT_ZERO, .decimals = 1 + 6, IN_CSV),
    FIELD(mapping_row, imprecise, BOOL, NONE, NULL,
          "The interval spans more than a factor of two; the row is left out of rankings.",
          OMIT_ZERO, IN_CSV),
    FIELD(mapping_row, tie, BOOL, NONE, NULL,
          "The interval overlaps that of the fastest row of the same batch on another device, or "
          "on the Pareto front that of the row before it.",
          OMIT_ZERO, IN_CSV),
};
static bool finish_row(field_reader *r, void *base)
{
    (void)r;
    mapping_row *m = base;
    const char **words[] = {&m->precision, &m->verdict, &m->bound, &m->speed, &m->memory_class};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        *words[i] = *words[i] ? *words[i] : "";
    return true;
}
static const fields row_fields = FIELDS(mapping_row, row_rows, .finish = finish_row);

static const field precision_rows[] = {
    FIELD_AS(mapping_precision, "precision", name, WORD, NONE, "Precision", "Its name.",
             .flags = FIELD_NEEDED),
    FIELD_AS(mapping_precision, "peak_ops_per_s", peak, F64, FLOPS_PER_S, "Peak",
             "Operations per second."),
    FIELD(mapping_precision, ridge, F64, INTENSITY, "Ridge",
          "Ridge: FLOPs per byte above which arithmetic is the limit.", .decimals = 1 + 2),
    FIELD(mapping_precision, largest_batch, I64, COUNT, "Largest batch",
          "Largest batch that leaves 20 % of the memory free; 0: none."),
    FIELD(mapping_precision, largest_training_batch, I64, COUNT, "Largest training batch",
          "The same for training; null: not trained at this precision.", OR_NULL),
};
static const fields precision_fields = FIELDS(mapping_precision, precision_rows);

static const field hardware_rows[] = {
    FIELD(mapping_hardware, id, STR, NONE, "Id", "Name for --hardware."),
    FIELD(mapping_hardware, name, STR, NONE, "Device", "Its full name."),
    FIELD_AS(mapping_hardware, "class", kind, STR, NONE, "Class", "gpu, cpu, edge, ..."),
    FIELD(mapping_hardware, memory_bytes, F64, BYTES, "Memory", "Its memory."),
    FIELD_AS(mapping_hardware, "bandwidth_bytes_per_s", bandwidth, F64, BYTES_PER_S, "Bandwidth",
             "Memory bandwidth."),
    FIELD_AS(mapping_hardware, "tdp_w", power_w, F64, WATT, "Power", "Design power.", NULL_ZERO),
    FIELD(mapping_hardware, overhead_us, F64, US, "Overhead", "Per kernel launch."),
    FIELD(mapping_hardware, price_per_hour, F64, USD, "Per hour", "Price of the device.", OR_OMIT),
    FIELD(mapping_hardware, price_basis, STR, NONE, "Price",
          "Where the price comes from: given, or the list price of a date with its source.",
          OR_OMIT),
    FIELD_AS(mapping_hardware, "widest_precision_that_fits", widest, WORD, NONE, NULL,
             "With head-room, at the smallest batch.", OR_NULL),
    FIELD_AS(mapping_hardware, "cheapest_precision_that_fits", cheapest, WORD, NONE, NULL,
             "The same.", OR_NULL),
    FIELD_ITEMS(mapping_hardware, LIST, "precisions", precisions, n_precisions, precision_fields,
                "Precisions that the device supports.", .size = MAPPING_PRECISIONS, ONE_LINE),
    FIELD(mapping_hardware, runtime, WORD, NONE, "Runtime",
          "Runtime that the times are for: eager, compiled, tensorrt or onnxruntime.", OR_OMIT),
    FIELD(mapping_hardware, basis, WORD, NONE, NULL,
          "Where the expectation comes from: measured (models measured on this device), class "
          "(transferred from measured devices), not validated, calibrated, or roofline.",
          OR_OMIT),
    FIELD(mapping_hardware, software, STR, NONE, NULL, "Software behind the coefficients.",
          OR_OMIT),
    FIELD(mapping_hardware, basis_rows, U64, COUNT, NULL, "Measured models behind them.",
          OMIT_ZERO),
    FIELD(mapping_hardware, basis_error, F64, RATIO, NULL,
          "Median error on what was left out of the fit.", OMIT_ZERO, .decimals = 1 + 4),
    FIELD(mapping_hardware, certainty, STR, NONE, NULL, "Certainty of the row."),
    FIELD(mapping_hardware, source, STR, NONE, NULL, "Where its figures come from."),
};
static bool finish_hardware(field_reader *r, void *base)
{
    (void)r;
    mapping_hardware *h = base;
    h->overhead_s = h->overhead_us / 1e6;
    return true;
}
static const fields hardware_fields = FIELDS(mapping_hardware, hardware_rows,
                                             .finish = finish_hardware);

static const field pareto_rows[] = {
    FIELD(profile_mapping, goal, WORD, NONE, NULL, "Metric that is optimised.", OR_NULL),
    FIELD(profile_mapping, against, WORD, NONE, NULL, "Metric of the other axis.", OR_NULL),
    FIELD(profile_mapping, limit, F64, NONE, NULL, "Limit of the goal.", NULL_ZERO),
    FIELD_AS(profile_mapping, "limit_unit", goal_unit, WORD, NONE, NULL, "Its unit.", OR_NULL),
    FIELD_AS(profile_mapping, "left_out_power_unknown", n_no_power, U32, COUNT, NULL,
             "Rows left out because the device's power, or its price, is unknown."),
    FIELD_VALUES(profile_mapping, U32S, "rows", pareto, n_pareto, COUNT,
                 "Indices into devices, best first."),
};
static const fields pareto_fields = FIELDS_AS(profile_mapping, "pareto", pareto_rows);

static const field skipped_rows[] = {
    FIELD_AS(mapping_skipped, "name", device, STR, NONE, "Device", "Id of the device."),
    FIELD(mapping_skipped, precision, WORD, NONE, "Precision",
          "Precision that it does not support.", .flags = FIELD_NEEDED),
};
static const fields skipped_fields = FIELDS(mapping_skipped, skipped_rows);

static const field map_layer_rows[] = {
    FIELD(mapping_layer, device, STR, NONE, "Device", "Id of the device."),
    FIELD(mapping_layer, name, STR, NONE, "Layer", "Name of the layer."),
    FIELD(mapping_layer, type, STR, NONE, "Type", "Family of its operator."),
    FIELD(mapping_layer, time_ms, F64, MS, "Time", "Predicted time.", .decimals = 1 + 6),
    FIELD(mapping_layer, bound, WORD, NONE, "Bound", "Limit of the layer.", .flags = FIELD_NEEDED),
    FIELD(mapping_layer, percent_of_peak, F64, PERCENT, "Of peak",
          "Share of the device's peak arithmetic.", .decimals = 1 + 2),
};
static const fields map_layer_fields = FIELDS(mapping_layer, map_layer_rows);

static const field calibration_rows[] = {
    FIELD(mapping_calibration, device, STR, NONE, NULL, "Whose times are calibrated."),
    FIELD(mapping_calibration, engine, STR, NONE, NULL, "Engine that was measured."),
    FIELD(mapping_calibration, median_error, F64, RATIO, NULL,
          "Median relative error over held-out models."),
    FIELD_AS(mapping_calibration, "interval_low", low, F64, RATIO, NULL,
             "Lower end of the 80 % interval of measured over predicted time."),
    FIELD_AS(mapping_calibration, "interval_high", high, F64, RATIO, NULL,
             "Upper end of the 80 % interval of measured over predicted time."),
    FIELD(mapping_calibration, runs, U64, COUNT, NULL, "Models and batch sizes measured."),
    FIELD(mapping_calibration, known_percent, F64, PERCENT, NULL,
          "Share of the time in operators that were measured.", .decimals = 1 + 2),
};
static const fields calibration_fields = FIELDS_IF_PRESENT(mapping_calibration, calibration_rows);

static const field map_rows[] = {
    FIELD(profile_mapping, prediction, WORD, NONE, NULL, "Method of prediction."),
    FIELD_STRUCT(profile_mapping, "calibration", calibration, calibration_fields,
                 "Basis of calibrated times."),
    FIELD(profile_mapping, price_basis, STR, NONE, NULL,
          "Prices behind the costs: given, or list prices of these dates.", OR_OMIT),
    FIELD(profile_mapping, fixed_batch, I64, COUNT, NULL,
          "The only batch size that the model accepts.", NULL_ZERO),
    FIELD_INLINE("pareto", pareto_fields, "The Pareto front."),
    FIELD_ITEMS(profile_mapping, LIST, "hardware", hardware, n_hardware, hardware_fields,
                "The devices."),
    FIELD_ITEMS(profile_mapping, LIST, "skipped", skipped, n_skipped, skipped_fields,
                "Precisions that a device does not support.", ONE_LINE),
    FIELD_ITEMS(profile_mapping, LIST, "layers", layers, n_all_layers, map_layer_fields,
                "Layers on the devices.", OR_OMIT, ONE_LINE),
};
static const fields map_fields = FIELDS_AS(profile_mapping, "device_map", map_rows);

static const field mapping_rows[] = {
    FIELD_ITEMS(profile_mapping, LIST, "devices", rows, n_rows, row_fields,
                "One row per device, precision and batch.", ONE_LINE),
    FIELD_INLINE("map", map_fields, "Inputs of the predictions."),
};

static bool find_hardware(const profile_mapping *m, mapping_row *row)
{
    for (row->hardware = 0; row->hardware < m->n_hardware; row->hardware++)
        if (str_eq(m->hardware[row->hardware].id, row->device))
            return true;
    return false;
}

static bool finish_mapping(field_reader *r, void *base)
{
    profile_mapping *m = base;
    for (uint32_t i = 0; i < m->n_rows; i++)
        if (!find_hardware(m, &m->rows[i]))
            return fields_fail(r, "\"devices\" names hardware that \"map\" does not describe");
    for (uint32_t i = 0; i < m->n_pareto; i++)
        if (m->pareto[i] >= m->n_rows)
            return fields_fail(r, "\"map.pareto.rows\" names a row that \"devices\" lacks");
    while (m->n_layers < m->n_all_layers &&
           str_eq(m->layers[m->n_layers].device, m->layers[0].device))
        m->n_layers++;
    return true;
}
const fields mapping_fields = FIELDS(profile_mapping, mapping_rows, .finish = finish_mapping);

const mapping_row *mapping_row_on(const profile_mapping *m, uint32_t device, const char *precision,
                                  bool best)
{
    const mapping_row *found = NULL;
    for (uint32_t i = 0; i < m->n_rows && (best || !found); i++) {
        const mapping_row *r = &m->rows[i];
        bool is_of = r->hardware == device && (!precision || strcmp(r->precision, precision) == 0);
        if (is_of && (!found || (r->fits && r->throughput > found->throughput)))
            found = r;
    }
    return found;
}
