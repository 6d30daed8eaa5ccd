/* "assay.scaling/1": the field table of a scaling (docs/scaling.md). */
#include "profile/scaling.h"

#include "profile/conclusion.h"

const scaling_metric scaling_metrics[SCALING_METRICS] = {
    [SCALING_MACS] = {"macs", "MACs", "mac", false},
    [SCALING_FLOPS] = {"flops", "FLOPs", "flop", false},
    [SCALING_TRAFFIC] = {"traffic_bytes", "traffic", "traffic bytes", true},
    [SCALING_PARAMETERS] = {"parameters", "parameters", "params", false},
    [SCALING_ACTIVATIONS] = {"activations_peak_bytes", "activations", "activations activation",
                             true},
    [SCALING_PEAK] = {"peak_bytes", "peak memory", "memory peak", true},
    [SCALING_TRAINING] = {"training_bytes", "training", "training", true},
};

static const field axis_rows[] = {
    FIELD(scaling_axis, name, STR, NONE, "Size", "Name of the size that was varied."),
    FIELD(scaling_axis, kind, WORD, NONE, "Kind", "batch, input, dimension or parameter."),
    FIELD(scaling_axis, symbol, CHARS, NONE, NULL, "Its letter in closed forms.", .size = 8),
    FIELD(scaling_axis, from, F64, NONE, "From", "Lower end of the range."),
    FIELD(scaling_axis, to, F64, NONE, "To", "Upper end of the range."),
    FIELD(scaling_axis, granule, I64, COUNT, NULL,
          "Step of the size; closed forms are in this unit and hold at its multiples."),
    FIELD(scaling_axis, accepted, I64, COUNT, NULL, "The model accepts multiples of this."),
    FIELD_VALUES(scaling_axis, F64S, "values", values, n_values, NONE,
                 "Sizes of the grid, ascending."),
};
static const fields axis_fields = FIELDS(scaling_axis, axis_rows);

static const field size_rows[] = {
    FIELD(scaling_size, size, F64, NONE, NULL, "The size."),
};
static const fields size_fields = FIELDS(scaling_size, size_rows, .bare = true,
                                         .key_at = offsetof(scaling_size, axis));

#define FIGURE(key_, index_, unit_, label_, about_) \
    FIELD_AS(scaling_point, key_, figures[index_], U64, unit_, label_, about_, OR_OMIT)

static const field point_rows[] = {
    FIELD_ITEMS(scaling_point, MAP, "sizes", sizes, n_sizes, size_fields, "Size of each axis."),
    FIGURE("macs", SCALING_MACS, MACS, "MACs", "Multiply-accumulates."),
    FIGURE("flops", SCALING_FLOPS, FLOPS, "FLOPs", "Floating-point operations."),
    FIGURE("traffic_bytes", SCALING_TRAFFIC, BYTES, "Traffic", "Bytes read and written."),
    FIGURE("parameters", SCALING_PARAMETERS, AMOUNT, "Parameters", "Parameters."),
    FIGURE("activations_peak_bytes", SCALING_ACTIVATIONS, BYTES, "Activations",
           "Peak of the activations."),
    FIGURE("peak_bytes", SCALING_PEAK, BYTES, "Peak memory", "Peak of weights and activations."),
    FIGURE("training_bytes", SCALING_TRAINING, BYTES, "Training",
           "Memory of a training step with AdamW."),
    FIELD(scaling_point, refused, STR, NONE, "Refused", "Why the model does not accept the sizes.",
          OR_OMIT),
};
static const fields point_fields = FIELDS(scaling_point, point_rows);

static const field between_rows[] = {
    FIELD(scaling_between, checked, U32, COUNT, NULL, "Evaluations compared."),
    FIELD(scaling_between, error_percent, F64, PERCENT, NULL, "Largest relative error."),
};
static const fields between_fields = FIELDS(scaling_between, between_rows);

static const field exponent_rows[] = {
    FIELD(scaling_exponent, fitted, F64, NONE, NULL, "Slope of log cost over log size.",
          .decimals = 1 + 4),
    FIELD(scaling_exponent, first, F64, NONE, NULL, "Exponent at the lower end of the range.",
          .decimals = 1 + 4),
    FIELD(scaling_exponent, last, F64, NONE, NULL, "Exponent at the upper end of the range.",
          .decimals = 1 + 4),
};
static const fields exponent_fields = FIELDS(scaling_exponent, exponent_rows,
                                             .key_at = offsetof(scaling_exponent, axis));

static const field power_rows[] = {
    FIELD(scaling_power, power, U32, COUNT, NULL, "Power of the axis in the term."),
};
static const fields power_fields = FIELDS(scaling_power, power_rows, .bare = true,
                                          .key_at = offsetof(scaling_power, axis));

static const field term_rows[] = {
    FIELD(scaling_term, coefficient, F64, NONE, NULL, "Coefficient of the term."),
    FIELD(scaling_term, numerator, I64, NONE, NULL, "The same as a fraction, of an exact form.",
          OR_OMIT),
    FIELD(scaling_term, denominator, I64, NONE, NULL, "Denominator of the fraction.", OR_OMIT),
    FIELD_ITEMS(scaling_term, MAP, "powers", powers, n_powers, power_fields, "Power of each axis."),
};
static const fields term_fields = FIELDS(scaling_term, term_rows);

static const field form_rows[] = {
    FIELD(scaling_form, title, STR, NONE, "Metric", "Display name of the metric."),
    FIELD(scaling_form, form, STR, NONE, "Closed form", "The form as text; null: none was found.",
          OR_NULL),
    FIELD(scaling_form, exact, BOOL, NONE, "Exact",
          "Whether it equals the count at every multiple of the granules that was tried."),
    FIELD(scaling_form, checked, U32, COUNT, NULL,
          "Evaluations that verify the form; those that it was fitted to are excluded."),
    FIELD(scaling_form, error_percent, F64, PERCENT, NULL, "Largest relative error."),
    FIELD_STRUCT(scaling_form, "between_multiples", between, between_fields,
                 "The same at sizes that are no multiple of a granule.", ONE_LINE),
    FIELD_ITEMS(scaling_form, MAP, "exponents", exponents, n_exponents, exponent_fields,
                "Growth along each axis as size^exponent.", ONE_LINE),
    FIELD_ITEMS(scaling_form, LIST, "terms", terms, n_terms, term_fields,
                "Terms of the form, highest powers first.", ONE_LINE),
};
static const fields form_fields = FIELDS(scaling_form, form_rows,
                                         .key_at = offsetof(scaling_form, metric));

const char *const scaling_outcome_words[] = {
    [SCALING_FOUND] = "found", [SCALING_NONE] = "none", [SCALING_ALWAYS] = "always", NULL};

static const char *const answer_units[] = {"bytes", "count", NULL};

static const field answer_rows[] = {
    FIELD(scaling_answer, question, STR, NONE, "Question", "The question as asked."),
    FIELD(scaling_answer, metric, WORD, NONE, NULL, "The metric it limits."),
    FIELD(scaling_answer, unit, WORD, NONE, NULL, "Unit of the limit and the values.",
          .words = answer_units),
    FIELD(scaling_answer, limit, U64, NONE, "Limit", "The limit."),
    FIELD(scaling_answer, axis, STR, NONE, NULL, "Axis to solve for."),
    FIELD_ITEMS(scaling_answer, MAP, "sizes", sizes, n_sizes, size_fields,
                "Sizes of the other axes."),
    FIELD(scaling_answer, outcome, ENUM, NONE, NULL,
          "none: no size tried keeps the limit; always: all of them do.",
          .words = scaling_outcome_words),
    FIELD(scaling_answer, value, F64, NONE, "Answer", "The size; null: there is none.", OR_NULL),
    FIELD(scaling_answer, tried, F64, NONE, NULL, "The size, or the last one tried."),
    FIELD(scaling_answer, figure, U64, NONE, NULL, "Value of the metric."),
    FIELD(scaling_answer, next, F64, NONE, NULL, "The nearest size that breaks the limit.",
          OR_NULL),
    FIELD(scaling_answer, next_figure, U64, NONE, NULL,
          "Value of the metric; null: the model does not accept that size.", OR_NULL),
    FIELD_AS(scaling_answer, "outside_range", outside, BOOL, NONE, NULL,
             "Whether the answer is outside of the range given."),
};
static const fields answer_fields = FIELDS(scaling_answer, answer_rows);

static const field scaling_rows[] = {
    FIELD(scaling, model, STR, NONE, "Model", "The model as the user named it."),
    FIELD_CONCLUSION(scaling),
    FIELD(scaling, precision, STR, NONE, "Precision", "Type that bytes were counted at.", OR_OMIT),
    FIELD(scaling, kv_cache, WORD, NONE, NULL,
          "How a language model's cache was counted; mixed where evaluations differ.", OR_OMIT),
    FIELD(scaling, evaluations, U64, COUNT, "Evaluations", "Evaluations of the model."),
    FIELD_AS(scaling, "evaluations_with_assumptions", assumed, U64, COUNT, NULL,
             "Evaluations with assumed or unknown items."),
    FIELD_ITEMS(scaling, LIST, "axes", axes, n_axes, axis_fields, "Sizes that were varied.",
                ONE_LINE),
    FIELD_ITEMS(scaling, LIST, "points", points, n_points, point_fields, "The grid.", ONE_LINE),
    FIELD_ITEMS(scaling, MAP, "forms", forms, n_forms, form_fields, "Closed form of each metric."),
    FIELD_ITEMS(scaling, LIST, "answers", answers, n_answers, answer_fields, "Answers to --solve.",
                ONE_LINE),
};
static const fields scaling_fields = FIELDS(scaling, scaling_rows);
const result_kind scaling_kind = {.schema = "assay.scaling",
                                  .version = 1,
                                  .name = "scaling",
                                  .what = "a scaling",
                                  .of = &scaling_fields,
                                  .conclude = scaling_conclude,
                                  .conclusion_at = offsetof(scaling, conclusion)};
