/* "assay.capacity/1": the field table of a capacity plan (docs/capacity.md). */
#include "profile/capacity.h"

#include "profile/conclusion.h"

static const field plan_rows[] = {
    FIELD(capacity_plan, source, STR, NONE, "Result", "Result that the plan is based on."),
    FIELD(capacity_plan, batch, U64, COUNT, "Batch", "Batch size."),
    FIELD(capacity_plan, precision, STR, NONE, "Type", "Precision of the runs."),
    FIELD(capacity_plan, concurrency, U64, COUNT, "At once", "Runs at a time on one machine."),
    FIELD(capacity_plan, runs, U64, COUNT, "Runs", "Measured runs behind the service time."),
    FIELD(capacity_plan, best, BOOL, NONE, "Best", "Whether it needs the fewest machines."),
    FIELD(capacity_plan, feasible, BOOL, NONE, NULL, "Whether some number of machines is enough."),
    FIELD(capacity_plan, why, STR, NONE, "Why", "Reason if it is not feasible.",
          .absent = FIELD_OMIT),
    FIELD_AS(capacity_plan, "requests_per_second_most", most, F64, PER_SECOND, "Most",
             "Requests per second that one machine takes with the headroom kept."),
    FIELD(capacity_plan, machines, U64, COUNT, "Machines", "Machines needed.",
          .absent = FIELD_OMIT),
    FIELD_AS(capacity_plan, "requests_per_second", per_machine, F64, PER_SECOND, "Per machine",
             "Requests per second that reach one machine.", .absent = FIELD_OMIT),
    FIELD(capacity_plan, utilization, F64, NONE, "Load", "Share of a machine in use, from 0 to 1.",
          .absent = FIELD_OMIT),
    FIELD_AS(capacity_plan, "latency_quantile_ms", quantile_ms, F64, MS, "Latency",
             "Latency of a request at the quantile; the 99th percentile when the mean is limited.",
             .absent = FIELD_OMIT),
    FIELD_AS(capacity_plan, "latency_mean_ms", mean_ms, F64, MS, "Mean latency",
             "Mean latency of a request: forming, waiting and service together.",
             .absent = FIELD_OMIT),
    FIELD_AS(capacity_plan, "forming_mean_ms", forming_ms, F64, MS, "Forming",
             "Mean wait until the batch is full.", .absent = FIELD_OMIT),
    FIELD_AS(capacity_plan, "waiting_mean_ms", waiting_ms, F64, MS, "Waiting",
             "Mean wait of the batch for its turn.", .absent = FIELD_OMIT),
    FIELD_AS(capacity_plan, "service_mean_ms", service_ms, F64, MS, "Running",
             "Mean duration of a run.", .absent = FIELD_OMIT),
    FIELD(capacity_plan, in_flight, F64, COUNT, "In flight",
          "Requests in one machine on average, by Little's law.", .absent = FIELD_OMIT),
};
static const fields plan_fields = FIELDS(capacity_plan, plan_rows);

static const field capacity_rows[] = {
    FIELD(capacity, model, STR, NONE, "Model", "The model as the user named it."),
    FIELD_CONCLUSION(capacity),
    FIELD_AS(capacity, "target_requests_per_second", target, F64, PER_SECOND, "Target",
             "Requests per second to serve."),
    FIELD(capacity, quantile, F64, NONE, "Quantile",
          "Which quantile the latency limit is of, 0 to 1; null: the mean.", .absent = FIELD_NULL),
    FIELD_AS(capacity, "latency_limit_ms", limit_ms, F64, MS, "Limit", "Highest latency accepted.",
             .absent = FIELD_NULL),
    FIELD(capacity, limit_name, CHARS, NONE, NULL, "Statistic of the limit: mean, P99, P99.9.",
          .size = 16),
    FIELD(capacity, latency_name, CHARS, NONE, NULL,
          "Percentile of `latency_quantile_ms`: P99, P99.9.", .size = 16),
    FIELD(capacity, headroom, F64, NONE, "Headroom", "Share of a machine kept free, 0 to 1."),
    FIELD(capacity, best, U32, NONE, NULL,
          "Index of the plan with the fewest machines; null: none is feasible.",
          .absent = FIELD_NULL),
    FIELD_ITEMS(capacity, LIST, "plans", plans, n, plan_fields, "One plan per measured setup."),
    FIELD_VALUES(capacity, STRS, "notes", notes, n_notes, NONE, "Assumptions and extrapolations.",
                 .flags = FIELD_LINES),
};
static const fields capacity_fields = FIELDS(capacity, capacity_rows);
const result_kind capacity_kind = {.schema = "assay.capacity",
                                   .version = 1,
                                   .name = "capacity",
                                   .what = "a capacity plan",
                                   .of = &capacity_fields,
                                   .conclude = capacity_conclude,
                                   .conclusion_at = offsetof(capacity, conclusion)};
