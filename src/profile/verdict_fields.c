/* "assay.check/1": the field table of a check (docs/ci.md). */
#include "profile/verdicts.h"

#include "profile/conclusion.h"

const char *const verdict_words[] = {[VERDICT_PASS] = "pass",
                                     [VERDICT_IMPROVEMENT] = "improvement",
                                     [VERDICT_SHOWN] = "not checked",
                                     [VERDICT_INCONCLUSIVE] = "inconclusive",
                                     [VERDICT_REGRESSION] = "regression",
                                     [VERDICT_MISSED] = "missed",
                                     [VERDICT_MISSED + 1] = NULL};

static const char *const operator_words[] = {VERDICT_AT_MOST, VERDICT_AT_LEAST, NULL};

static const field row_rows[] = {
    FIELD(verdict_row, metric, WORD, NONE, "Metric", "Name of the metric."),
    FIELD(verdict_row, title, WORD, NONE, NULL, "Display name of the metric."),
    FIELD(verdict_row, unit, ENUM, NONE, NULL, "Unit of the values.", .words = metric_unit_words),
    FIELD(verdict_row, verdict, ENUM, NONE, "Verdict",
          "not checked: there is one value per side, so no comparison is possible.",
          .words = verdict_words),
    FIELD_AS(verdict_row, "value", now, NUMBER, NONE, "Value", "Value of the result."),
    FIELD_AS(verdict_row, "operator", op, WORD, NONE, NULL, "Operator of the limit.",
             .words = operator_words, OR_OMIT),
    FIELD(verdict_row, limit, F64, NONE, "Limit", "The limit.", OR_OMIT),
    FIELD_AS(verdict_row, "baseline", base, NUMBER, NONE, "Baseline", "Value of the baseline.",
             OR_OMIT),
    FIELD(verdict_row, ratio, F64, RATIO, "Change", "value divided by baseline.", OR_OMIT),
    FIELD_AS(verdict_row, "ratio_ci99_low", low, F64, RATIO, NULL,
             "Lower end of the ratio's 99 % interval, from the runs.", OR_OMIT),
    FIELD_AS(verdict_row, "ratio_ci99_high", high, F64, RATIO, NULL, "Upper end of that interval.",
             OR_OMIT),
    FIELD(verdict_row, tolerance_percent, F64, PERCENT, NULL,
          "Its own tolerance, from metric-tolerance.", OR_OMIT),
    FIELD(verdict_row, why, STR, NONE, "Why", "The reason.", OR_OMIT),
};
static const fields row_fields = FIELDS(verdict_row, row_rows);

static const field move_rows[] = {
    FIELD(verdict_move, change, ENUM, NONE, NULL, "Kind of change.",
          .words = comparison_change_words),
    FIELD_AS(verdict_move, "layer", name, STR, NONE, "Layer", "Name of the layer."),
    FIELD(verdict_move, type, STR, NONE, "Type", "Type of its operator."),
    FIELD(verdict_move, shapes, STR, NONE, "Output",
          "Shape of its first output, before and after."),
    FIELD(verdict_move, attributes, STR, NONE, NULL, "Attributes whose values differ.", OR_OMIT),
    FIELD(verdict_move, macs, I64, MACS, "MACs", "MACs minus those of the baseline."),
    FIELD(verdict_move, parameters, I64, AMOUNT, "Parameters", "Difference of parameters."),
    FIELD_AS(verdict_move, "memory", bytes, I64, BYTES, "Bytes moved",
             "Difference of bytes read and written."),
    FIELD(verdict_move, peak_bytes, I64, BYTES, NULL, "Difference of bytes live at the peak."),
    FIELD(verdict_move, time_ms, F64, MS, "Time", "Difference of measured time.", OR_OMIT,
          .flags = FIELD_SIGNED),
};
static const fields move_fields = FIELDS(verdict_move, move_rows);

static const field type_rows[] = {
    FIELD(verdict_type, type, STR, NONE, "Type", "Type of the operators."),
    FIELD(verdict_type, layers, U32, COUNT, "Layers", "Layers of this type that differ."),
    FIELD(verdict_type, count, I64, COUNT, NULL, "Layers minus those of the baseline."),
    FIELD(verdict_type, macs, I64, MACS, "MACs", "MACs minus those of the baseline."),
    FIELD(verdict_type, parameters, I64, AMOUNT, "Parameters", "Difference of parameters."),
    FIELD_AS(verdict_type, "memory", bytes, I64, BYTES, "Bytes moved",
             "Difference of bytes read and written."),
};
static const fields type_fields = FIELDS(verdict_type, type_rows);

#define WITH_BASELINE .when_at = 1 + offsetof(verdicts, has_baseline)

static const field verdicts_rows[] = {
    FIELD(verdicts, model, STR, NONE, "Model", "The model as the user named it."),
    FIELD_CONCLUSION(verdicts),
    FIELD_AS(verdicts, "verdict", overall, ENUM, NONE, "Verdict", "The worst of all verdicts.",
             .words = verdict_words),
    FIELD(verdicts, baseline, STR, NONE, "Baseline", "The baseline as the user named it.", OR_OMIT),
    FIELD(verdicts, baseline_timestamp, STR, NONE, NULL, "When the baseline was produced, UTC.",
          WITH_BASELINE),
    FIELD(verdicts, tolerance_percent, F64, PERCENT, "Tolerance",
          "Measured differences up to this are accepted.", WITH_BASELINE),
    FIELD(verdicts, allowance_percent, F64, PERCENT, "Allowance",
          "Added to the tolerance: the difference between two sessions of one model.",
          WITH_BASELINE),
    FIELD_ITEMS(verdicts, LIST, "checks", rows, n, row_fields, "One item per limit and metric.",
                ONE_LINE),
    FIELD_AS(verdicts, "layers_moved", n_moved, U32, COUNT, "Layers moved",
             "Layers that differ from the baseline.", WITH_BASELINE),
    FIELD_ITEMS(verdicts, LIST, "moved", moves, n_moves, move_fields,
                "The layers with the largest differences.", WITH_BASELINE, ONE_LINE),
    FIELD_ITEMS(verdicts, LIST, "types_moved", types, n_types, type_fields,
                "Layers that differ, by operator type.", WITH_BASELINE, ONE_LINE),
    FIELD_AS(verdicts, "machine_busy", busy, STR, NONE, NULL,
             "Evidence that the machine was too busy during the runs.", OR_OMIT),
    FIELD_VALUES(verdicts, STRS, "notes", notes, n_notes, NONE,
                 "Differences between the two contexts.", .flags = FIELD_LINES),
};
static const fields verdicts_fields = FIELDS(verdicts, verdicts_rows);
const result_kind check_kind = {.schema = "assay.check",
                                .version = 1,
                                .name = "check",
                                .what = "a check's verdict",
                                .of = &verdicts_fields,
                                .conclude = check_conclude,
                                .conclusion_at = offsetof(verdicts, conclusion)};
