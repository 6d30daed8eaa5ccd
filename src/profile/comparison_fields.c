/* "assay.comparison/1": the field table of a comparison (docs/json.md). */
#include "profile/comparison.h"

#include "profile/codecs.h"
#include "profile/conclusion.h"

const char *const comparison_change_words[] = {
    [CHANGE_REMOVED] = "removed",   [CHANGE_ADDED] = "added", [CHANGE_CHANGED] = "changed",
    [CHANGE_RESHAPED] = "reshaped", [CHANGE_NONE] = "same",   [CHANGE_NONE + 1] = NULL};

/* ---- models ---- */

#define RATIO(member)                                  \
    FIELD(comparison_ratios, member, F64, RATIO, NULL, \
          "Divided by that of the first; 0 if that is 0.", OR_OMIT)

static const field ratio_rows[] = {
    RATIO(parameters),
    RATIO(weight_bytes),
    RATIO(operators),
    RATIO(macs),
    RATIO(flops),
    RATIO(flops_per_param),
    RATIO(memory),
    RATIO(arithmetic_intensity),
    RATIO(activations_peak_bytes),
    RATIO(peak_bytes),
    RATIO(p50_ms),
    RATIO(samples_per_second),
    RATIO(memory_used_bytes),
};
static const fields ratio_fields = FIELDS(comparison_ratios, ratio_rows);

static const field model_rows[] = {
    FIELD(comparison_model, model, STR, NONE, "Model", "The model as the user named it."),
    FIELD(
        comparison_model, label, STR, NONE, NULL,
        "The model, with what distinguishes it from others of the same name: batch, precision, shape, file or time."),
    FIELD(comparison_model, assumed, U64, COUNT, "Assumed", "Operators with assumed sizes."),
    FIELD(comparison_model, unknown, U64, COUNT, "Unknown", "Operators that are not counted."),
    FIELD(comparison_model, parameters, U64, AMOUNT, "Parameters", "Parameters of the model."),
    FIELD(comparison_model, weight_bytes, U64, BYTES, "Model size", "Size of the weights."),
    FIELD(comparison_model, operators, U64, COUNT, "Operators",
          "Nodes that run. null, as the figures below, for weights without a graph.", OR_NULL),
    FIELD(comparison_model, macs, U64, MACS, "MACs", "Multiply-accumulates.", OR_NULL),
    FIELD(comparison_model, flops, U64, FLOPS, "FLOPs", "FLOPs by the chosen convention.", OR_NULL),
    FIELD(comparison_model, flops_per_param, F64, NONE, "FLOPs per parameter",
          "FLOPs divided by parameters.", OR_OMIT),
    FIELD(comparison_model, memory, U64, BYTES, "Memory traffic", "Bytes that all layers move.",
          OR_NULL),
    FIELD(comparison_model, arithmetic_intensity, F64, INTENSITY, "FLOPs per byte",
          "FLOPs per byte moved.", OR_OMIT),
    FIELD(comparison_model, activations_peak_bytes, U64, BYTES, "Activation peak",
          "Peak of the activations.", OR_NULL),
    FIELD(comparison_model, peak_bytes, U64, BYTES, "Peak memory",
          "Peak of weights and activations.", OR_NULL),
    FIELD(comparison_model, p50_ms, F64, MS, "Median latency", "Median latency.", OR_OMIT),
    FIELD(comparison_model, samples_per_second, F64, PER_SECOND, "Throughput /s",
          "Samples, images, tokens or requests per second.", OR_OMIT),
    FIELD(comparison_model, memory_used_bytes, U64, BYTES, "Memory used",
          "Peak of resident memory above that before the session.", OR_OMIT),
    FIELD_STRUCT(comparison_model, "ratios", ratios, ratio_fields,
                 "Totals divided by those of the first.", ONE_LINE),
};
static const fields model_fields = FIELDS(comparison_model, model_rows);

static const field type_rows[] = {
    FIELD(comparison_type, type, STR, NONE, "Type", "Type of the operators."),
    FIELD_VALUES(comparison_type, U64S, "count", count, n, COUNT, "Operators, by model.",
                 .size = COMPARISON_MAX),
    FIELD_VALUES(comparison_type, U64S, "flops", flops, n, FLOPS, "Their FLOPs, by model.",
                 .size = COMPARISON_MAX),
    FIELD_VALUES(comparison_type, U64S, "macs", macs, n, MACS, "Their MACs, by model.",
                 .size = COMPARISON_MAX),
};
static const fields type_fields = FIELDS(comparison_type, type_rows);

/* ---- times ---- */

static const field instruction_rows[] = {
    FIELD(comparison_instructions, ratio, F64, RATIO, NULL, "Ratio of the medians."),
    FIELD(comparison_instructions, low, F64, RATIO, NULL,
          "Ratio of the fewest to the most instructions."),
    FIELD(comparison_instructions, high, F64, RATIO, NULL,
          "Ratio of the most to the fewest instructions."),
};
static const fields instruction_fields = FIELDS_IF_PRESENT(comparison_instructions,
                                                           instruction_rows);

static const char *const timing_words[] = {"faster",       "slower",  "no difference",
                                           "inconclusive", "not run", NULL};

static const field timing_rows[] = {
    FIELD(comparison_timing, model, STR, NONE, "Model", "The model as the user named it."),
    FIELD(comparison_timing, label, STR, NONE, NULL, "Label of the model, as in `models`."),
    FIELD(comparison_timing, verdict, WORD, NONE, "Verdict",
          "not run: the model or the engine does not have the precision.", .words = timing_words),
    FIELD(comparison_timing, interleaved, BOOL, NONE, NULL,
          "Whether the models ran alternately in one process; else stored runs were compared."),
    FIELD(comparison_timing, ratio, F64, RATIO, "Time", "Time divided by that of the first.",
          OR_OMIT),
    FIELD_AS(comparison_timing, "ratio_ci99_low", low, F64, RATIO, NULL,
             "Lower end of its 99 % interval.", OR_OMIT),
    FIELD_AS(comparison_timing, "ratio_ci99_high", high, F64, RATIO, NULL,
             "Upper end of that interval.", OR_OMIT),
    FIELD(comparison_timing, runs, U32, COUNT, "Runs", "Measured runs."),
    FIELD(comparison_timing, why, STR, NONE, "Why", "Why it cannot be told, and what differs.",
          OR_OMIT),
    FIELD_STRUCT(comparison_timing, "instructions", instructions, instruction_fields,
                 "Instructions of a run over those of the first, where the kernel counts them.",
                 ONE_LINE),
    FIELD(comparison_timing, opinion, STR, NONE, NULL, "Interpretation of the instruction counts.",
          OR_OMIT),
};
static const fields timing_fields = FIELDS(comparison_timing, timing_rows);

/* ---- layers of two ---- */

static const field shape_rows[] = {
    {.kind = FIELD_CODEC, .codec = &shape_codec, OR_NULL, .about = "The shape."},
};
static const profile_shape unknown_shape = {.rank = -1};
static const fields shape_fields = FIELDS(profile_shape, shape_rows, .bare = true,
                                          .start = &unknown_shape);

static const field side_rows[] = {
    FIELD(comparison_side, name, STR, NONE, "Layer", "Name of the layer."),
    FIELD_ITEMS(comparison_side, LIST, "output_shapes", output_shapes, n_output_shapes,
                shape_fields, "Shape of each output."),
    FIELD(comparison_side, flops, U64, FLOPS, "FLOPs", "FLOPs."),
    FIELD(comparison_side, macs, U64, MACS, "MACs", "Multiply-accumulates."),
    FIELD(comparison_side, parameters, U64, AMOUNT, "Parameters", "Parameters."),
    FIELD(comparison_side, memory, U64, BYTES, "Bytes moved", "Bytes read and written."),
    FIELD(comparison_side, peak_bytes, U64, BYTES, "At the peak",
          "Bytes of its outputs that are live at the peak."),
    FIELD(comparison_side, time_ms, F64, MS, "Time", "Measured time.", OR_OMIT),
};
static const fields side_fields = FIELDS(comparison_side, side_rows);

static const field attribute_rows[] = {
    FIELD(comparison_attribute, before, CODEC, NONE, NULL, "In the first; null: the default.",
          .codec = &attribute_codec, OR_NULL),
    FIELD(comparison_attribute, after, CODEC, NONE, NULL, "In the second; null: the default.",
          .codec = &attribute_codec, OR_NULL),
};
static const fields attribute_fields = FIELDS(comparison_attribute, attribute_rows,
                                              .key_at = offsetof(comparison_attribute, name));

static const field difference_rows[] = {
    FIELD(comparison_difference, macs, I64, MACS, "MACs",
          "MACs of the second minus those of the first."),
    FIELD(comparison_difference, flops, I64, FLOPS, "FLOPs", "Difference of FLOPs."),
    FIELD(comparison_difference, parameters, I64, AMOUNT, "Parameters",
          "Difference of parameters."),
    FIELD(comparison_difference, memory, I64, BYTES, "Bytes moved",
          "Difference of bytes read and written."),
    FIELD(comparison_difference, peak_bytes, I64, BYTES, "At the peak",
          "Difference of bytes live at the peak."),
    FIELD(comparison_difference, time_ms, F64, MS, "Time", "Difference of measured time.", OR_OMIT,
          .flags = FIELD_SIGNED),
};
static const fields difference_fields = FIELDS(comparison_difference, difference_rows);

static const field layer_rows[] = {
    FIELD(comparison_layer, change, ENUM, NONE, "Change", "Kind of change.",
          .words = comparison_change_words),
    FIELD(comparison_layer, name, STR, NONE, "Layer",
          "Name in the second, or in the first where it was removed."),
    FIELD(comparison_layer, type, STR, NONE, "Type", "Type of its operator."),
    FIELD(comparison_layer, op, STR, NONE, NULL, "The operator."),
    FIELD(comparison_layer, shapes, STR, NONE, "Output",
          "Shape of its first output, before and after.", OR_OMIT),
    FIELD(comparison_layer, changes, STR, NONE, "Attributes", "`attributes` as text.", OR_OMIT),
    FIELD_STRUCT(comparison_layer, "difference", difference, difference_fields,
                 "Difference of the totals.", ONE_LINE),
    FIELD_STRUCT(comparison_layer, "before", before, side_fields,
                 "The layer in the first; null: it was added.", .by_pointer = true, OR_NULL,
                 ONE_LINE),
    FIELD_STRUCT(comparison_layer, "after", after, side_fields,
                 "The layer in the second; null: it was removed.", .by_pointer = true, OR_NULL,
                 ONE_LINE),
    FIELD_ITEMS(comparison_layer, MAP, "attributes", attributes, n_attributes, attribute_fields,
                "Attributes with other values, by name.", OR_OMIT, ONE_LINE),
};
static const fields layer_fields = FIELDS(comparison_layer, layer_rows);

/* ---- devices ---- */

static const field place_rows[] = {
    FIELD(comparison_place, model, STR, NONE, NULL, "The model as the user named it."),
    FIELD(comparison_place, label, STR, NONE, "Model", "The same as in `models`."),
    FIELD(comparison_place, device, STR, NONE, "Device", "The device."),
    FIELD(comparison_place, precision, WORD, NONE, "Precision",
          "The fastest that fits; of a device that none fits, its first."),
    FIELD(comparison_place, batch, I64, COUNT, "Batch", "The smallest batch that was looked at."),
    FIELD(comparison_place, latency_ms, F64, MS, "Latency", "Expected time of that batch."),
    FIELD(comparison_place, latency_low_ms, F64, MS, NULL, "80 % interval, lower end.", OMIT_ZERO),
    FIELD(comparison_place, latency_high_ms, F64, MS, NULL, "80 % interval, upper end.", OMIT_ZERO),
    FIELD(comparison_place, limit_ms, F64, MS, "Limit", "Roofline: no kernel is faster.",
          OMIT_ZERO),
    FIELD(comparison_place, imprecise, BOOL, NONE, NULL,
          "The interval spans more than a factor of two.", OMIT_ZERO),
    FIELD(comparison_place, tie, BOOL, NONE, NULL,
          "The interval overlaps that of the fastest model on the device.", OMIT_ZERO),
    FIELD(comparison_place, throughput, F64, PER_SECOND, "Samples/s", "Samples per second."),
    FIELD(comparison_place, memory_bytes, U64, BYTES, "Memory", "Memory of that batch."),
    FIELD(comparison_place, fits, BOOL, NONE, NULL, "Whether it fits into the memory."),
    FIELD(comparison_place, verdict, WORD, NONE, "Verdict", "How comfortably."),
    FIELD(comparison_place, bound, WORD, NONE, "Bound", "What limits most of the time."),
    FIELD(comparison_place, best_batch, I64, COUNT, NULL,
          "The batch with most samples per second."),
    FIELD(comparison_place, best_throughput, F64, PER_SECOND, NULL, "Samples per second at it."),
};
static const fields place_fields = FIELDS(comparison_place, place_rows);

/* ---- a budget ---- */

static const char *const operator_words[] = {"<=", ">=", NULL};

static const field limit_rows[] = {
    FIELD(comparison_limit, metric, WORD, NONE, "Metric", "Name of the metric."),
    FIELD(comparison_limit, title, WORD, NONE, NULL, "Display name of the metric."),
    FIELD(comparison_limit, unit, ENUM, NONE, NULL, "Unit of the limit.",
          .words = metric_unit_words),
    FIELD_AS(comparison_limit, "operator", op, WORD, NONE, NULL, "Operator of the limit.",
             .words = operator_words),
    FIELD(comparison_limit, limit, F64, NONE, "Limit", "The limit."),
};
static const fields limit_fields = FIELDS(comparison_limit, limit_rows);

static const field use_rows[] = {
    FIELD(comparison_use, metric, WORD, NONE, NULL,
          "Metric that was read: `plan` where `memory` was not measured."),
    FIELD(comparison_use, unit, ENUM, NONE, NULL, "Unit of the value.", .words = metric_unit_words),
    FIELD(comparison_use, value, NUMBER, NONE, "Value", "The model's value.", OR_NULL),
    FIELD(comparison_use, share, F64, RATIO, "Share",
          "Share of the limit; above 1 the limit is missed.", OR_NULL),
};
static const fields use_fields = FIELDS(comparison_use, use_rows);

static const field rank_rows[] = {
    FIELD(comparison_rank, index, U32, COUNT, NULL, "The model's place in `models`, from 0."),
    FIELD(comparison_rank, model, STR, NONE, NULL, "The model as the user named it."),
    FIELD(comparison_rank, label, STR, NONE, "Model", "Label of the model, as in `models`."),
    FIELD(comparison_rank, verdict, WORD, NONE, "Verdict",
          "unknown: a value is missing, or only a lower bound.", .words = comparison_fit_words),
    FIELD(comparison_rank, tightest, WORD, NONE, NULL, "Limit with the highest use.", OR_OMIT),
    FIELD(comparison_rank, share, F64, RATIO, "Budget used", "Share of that limit."),
    FIELD(comparison_rank, why, STR, NONE, "Why", "Why the verdict is unknown.", OR_OMIT),
    FIELD_ITEMS(comparison_rank, LIST, "uses", uses, n_uses, use_fields,
                "Use of each limit, in the order of `limits`."),
};
static const fields rank_fields = FIELDS(comparison_rank, rank_rows);

static const field budget_rows[] = {
    FIELD_ITEMS(comparison_budget, LIST, "limits", limits, n_limits, limit_fields, "The limits."),
    FIELD(comparison_budget, fits, U32, COUNT, "Fit", "Models within all limits."),
    FIELD(comparison_budget, planned, BOOL, NONE, NULL,
          "Whether planned memory stands for memory that was not measured."),
    FIELD_ITEMS(
        comparison_budget, LIST, "ranking", ranking, n_ranking, rank_fields,
        "The models: those that fit, highest use first; then unknown; then those over the budget, nearest first."),
};
static const fields budget_fields = FIELDS(comparison_budget, budget_rows);

/* ---- all ---- */

#define OF_TWO .when_at = 1 + offsetof(comparison, is_pair)

static const field comparison_rows[] = {
    FIELD(comparison, lens, STR, NONE, "Convention", "Convention that FLOPs follow."),
    FIELD_CONCLUSION(comparison),
    FIELD_ITEMS(comparison, LIST, "models", models, n_models, model_fields,
                "The models; ratios are to the first."),
    FIELD_ITEMS(comparison, LIST, "placements", places, n_places, place_fields,
                "Of models that were mapped: each on each device.", OR_OMIT),
    FIELD_STRUCT(comparison, "budget", budget, budget_fields,
                 "With `--budget`: the models by how they meet its limits.", .by_pointer = true,
                 OR_OMIT),
    FIELD_ITEMS(comparison, LIST, "measured", measured, n_measured, timing_fields,
                "Comparison of each measured model with the first.", OR_OMIT),
    FIELD_AS(comparison, "machine_busy", busy, STR, NONE, NULL,
             "Evidence that the machine was too busy during the runs.", OR_OMIT),
    FIELD_ITEMS(comparison, LIST, "types", types, n_types, type_fields,
                "Operator types, most FLOPs first."),
    FIELD_AS(comparison, "same_layers", same, U32, COUNT, NULL,
             "Of two: layers that are the same under the same name.", OF_TWO),
    FIELD_AS(comparison, "renamed_layers", renamed, U32, COUNT, NULL,
             "Of two: layers that are the same under another name.", OF_TWO),
    FIELD_ITEMS(comparison, LIST, "layers", layers, n_layers, layer_fields,
                "Of two: layers that differ, by the difference of their FLOPs.", OF_TWO),
    FIELD_ITEMS(comparison, LIST, "peak", peak, n_peak, layer_fields,
                "Of two: layers whose outputs make the peaks differ.", OF_TWO),
    FIELD_ITEMS(comparison, LIST, "times", timed, n_timed, layer_fields,
                "Of two with times of layers: all of them, by the difference.", OR_OMIT),
};
static const fields comparison_fields = FIELDS(comparison, comparison_rows);
const result_kind comparison_kind = {.schema = "assay.comparison",
                                     .version = 1,
                                     .name = "comparison",
                                     .what = "a comparison",
                                     .of = &comparison_fields,
                                     .conclude = comparison_conclude,
                                     .conclusion_at = offsetof(comparison, conclusion)};
