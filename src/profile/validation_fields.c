/* "assay.validation/1": the field table of a validation (docs/lenses.md). */
#include "profile/validation.h"

#include "profile/conclusion.h"

static const field type_rows[] = {
    FIELD(validation_type, type, STR, NONE, "Type", "Type of the operators."),
    FIELD(validation_type, ours, U64, AMOUNT, "Ours",
          "Count of assay for these operators, in the tool's unit."),
    FIELD(validation_type, theirs, U64, AMOUNT, "Theirs", "Count by the convention of the tool."),
    FIELD(validation_type, difference, I64, AMOUNT, "Difference",
          "Count of the tool minus this count."),
};
static const fields type_fields = FIELDS(validation_type, type_rows);

static const field recorded_rows[] = {
    FIELD(validation_recorded, count, U64, AMOUNT, "Count", "Count of the tool."),
    FIELD(validation_recorded, setup, STR, NONE, "Setup", "Versions of the tool."),
    FIELD(validation_recorded, equal, BOOL, NONE, NULL, "Whether the lens gives the same."),
    FIELD(validation_recorded, difference, I64, AMOUNT, "Difference",
          "Count by the convention minus the count of the tool."),
};
static const fields recorded_fields = FIELDS_IF_PRESENT(validation_recorded, recorded_rows);

static const field live_rows[] = {
    FIELD(validation_live, count, U64, AMOUNT, "Count", "Count of the tool.", OR_OMIT),
    FIELD(validation_live, version, STR, NONE, "Version", "Versions of the tool.",
          .when_at = 1 + offsetof(validation_live, answered)),
    FIELD(validation_live, equal, BOOL, NONE, NULL, "Whether the lens gives the same.",
          .when_at = 1 + offsetof(validation_live, answered)),
    FIELD(validation_live, error, STR, NONE, "Error", "Why there is no answer.", OR_OMIT),
};
static const fields live_fields = FIELDS_IF_PRESENT(validation_live, live_rows);

static const field model_rows[] = {
    FIELD(validation_row, model, STR, NONE, "Model", "The model as the user named it."),
    FIELD(validation_row, lens, WORD, NONE, "Tool", "The tool whose convention was applied."),
    FIELD(validation_row, unit, WORD, NONE, "Unit",
          "What the tool counts: MAC, FLOP or instruction."),
    FIELD(validation_row, ours, U64, AMOUNT, "Ours", "Count of assay, in the tool's unit."),
    FIELD(validation_row, theirs, U64, AMOUNT, "Theirs", "Count by the convention of the tool."),
    FIELD(validation_row, difference_percent, F64, PERCENT, "Difference",
          "Difference divided by the count of the tool.", .decimals = 1 + 6, .flags = FIELD_SIGNED),
    FIELD(validation_row, accuracy_percent, F64, PERCENT, "Accuracy",
          "100 minus the absolute difference in per cent, at least 0.", .decimals = 1 + 6),
    FIELD(validation_row, verdict, WORD, NONE, "Verdict",
          "equal, acceptable (the difference is below tolerance_percent) or too large."),
    FIELD(validation_row, parameters, U64, AMOUNT, "Parameters", "Parameters of the model."),
    FIELD(validation_row, assumed, U64, COUNT, "Assumed", "Operators with assumed sizes."),
    FIELD(validation_row, unknown, U64, COUNT, "Unknown", "Operators that neither count includes."),
    FIELD_STRUCT(validation_row, "recorded", recorded, recorded_fields,
                 "Recorded count of the tool; null: none.", OR_NULL, ONE_LINE),
    FIELD_STRUCT(validation_row, "live", live, live_fields,
                 "Count of the tool when run with --live.", ONE_LINE),
    FIELD_ITEMS(validation_row, LIST, "operators", types, n_types, type_fields,
                "Operator types with different counts, largest difference first.", ONE_LINE),
};
static const fields model_fields = FIELDS(validation_row, model_rows);

static const field validation_rows[] = {
    FIELD_CONCLUSION(validation),
    FIELD(validation, tolerance_percent, F64, PERCENT, "Tolerance",
          "Differences below this, of either sign, are acceptable.", OR_OMIT),
    FIELD_ITEMS(validation, LIST, "models", rows.items, rows.n, model_fields,
                "One item per tool and model."),
};
static const fields validation_fields = FIELDS(validation, validation_rows);
const result_kind validation_kind = {.schema = "assay.validation",
                                     .version = 1,
                                     .name = "validation",
                                     .what = "a validation",
                                     .of = &validation_fields,
                                     .conclude = validation_conclude,
                                     .conclusion_at = offsetof(validation, conclusion)};
