/* The documents that commands write beside results of one model, and what people are shown of each: pipelines,
 * comparisons, scalings, validations, checks, plans of capacity, runs, trends, machines. view.h explains the rows.
 * Pipelines show here what web/src/views/pipeline.ts shows first. */
#include "report/view.h"

#define TABLES(list) .tables = (list), .n_tables = sizeof(list) / sizeof *(list)
#define GROUPS(list) .groups = (list), .n_groups = sizeof(list) / sizeof *(list)
#define TEXT(title_, cell_)                \
    {                                      \
        .title = (title_), .cell = (cell_) \
    }
#define NUMBER(title_, cell_)                             \
    {                                                     \
        .title = (title_), .cell = (cell_), .right = true \
    }
#define NUMBER_IF(title_, cell_, when_)                                    \
    {                                                                      \
        .title = (title_), .cell = (cell_), .right = true, .when = (when_) \
    }

static view_verdict mark_verdict(const json_value *row)
{
    return view_judge_word(json_path(row, "verdict"));
}

/* ---- diffusion ---- */

static const view_fact_row diffusion_facts[] = {
    {"Total", "{total_macs:si}", "MACs; {total_flops:si} FLOPs", "total_macs", NULL, NULL},
    {"A step of the denoiser", "{macs_per_step:si}",
     "MACs, {passes_per_step:whole} × {macs_per_pass:si}", "macs_per_step", NULL, NULL},
    {"Everything, per step", "{amortised_macs_per_step:si}", "MACs, total divided by steps",
     "amortised_macs_per_step", NULL, NULL},
    {"Denoiser", "{total_params:si}", "parameters of the {model_component:text}", "total_params",
     NULL, NULL},
    {"Pipeline", "{pipeline_params:si}", "parameters", "pipeline_params", NULL, NULL},
    {"Steps", "{num_inference_steps:whole}",
     "guidance {guidance_scale:fixed1}, {width:text}×{height:text}, batch {batch:text}",
     "num_inference_steps", NULL, NULL},
    {"Inference time", "{inference_time_seconds:s}", "measured, call by call",
     "inference_time_seconds", NULL, NULL},
};
static const view_group_row diffusion_groups[] = {{NULL, VIEW_FACTS(diffusion_facts)}};

/* What is most asked for stands left: a narrow screen leaves out columns from the right. */
static const view_column component_columns[] = {
    TEXT("Component", "{name:text}"),
    NUMBER("Calls", "{calls:whole}"),
    NUMBER("MACs of a call", "{macs_per_call:si}"),
    NUMBER("MACs", "{macs:si}"),
    NUMBER("Share", "{percent:percent2}"),
    NUMBER("Parameters", "{parameters:si}"),
    NUMBER("Weights", "{weight_bytes:bytes}"),
    NUMBER("Activations", "{activations_peak_bytes:bytes}"),
    TEXT("Model", "{model:text}"),
    TEXT("", "[{error:text}][{time_ms:ms}]"),
};
static const view_column attention_columns[] = {
    TEXT("Component", "{name:text}"),
    NUMBER("QKᵀ", "{attention.qk_macs:si}"),
    NUMBER("Attention × V", "{attention.av_macs:si}"),
    NUMBER("Softmax elements", "{attention.softmax_elements:si}"),
    NUMBER("Projections", "{attention.projection_macs:si}"),
    NUMBER("Self layers", "{attention.self.layers:whole}"),
    NUMBER("Cross layers", "{attention.cross.layers:whole}"),
    NUMBER("Share of a call", "{attention.percent:percent}"),
};
static const view_column sweep_columns[] = {
    TEXT("Value", "{value:text}"),
    NUMBER("MACs of a pass", "{macs_per_pass:si}"),
    NUMBER("MACs of a step", "{macs_per_step:si}"),
    NUMBER("VAE", "{vae_macs:si}"),
    NUMBER("Text encoder", "{text_encoder_macs:si}"),
    NUMBER("Total MACs", "{total_macs:si}"),
    NUMBER("Relative", "{relative:ratio}"),
};
static const view_table_row diffusion_tables[] = {
    {.title = "Components", .path = "components", VIEW_COLUMNS(component_columns), .first = true},
    {.title = "Attention within a call", .path = "components", VIEW_COLUMNS(attention_columns)},
    {.title = "Over {over:text}", .path = "points", .each = "sweeps", VIEW_COLUMNS(sweep_columns)},
};

/* ---- language models ---- */

static const view_fact_row language_facts[] = {
    {"Parameters", "{total_params:si}", "{active_params:si} active per token, {weight_dtype:text}",
     "total_params", NULL, NULL},
    {"Prefill", "{prefill.macs:si}",
     "MACs for {prefill.tokens_per_sequence:whole} tokens; {prefill.arithmetic_intensity:intensity} "
     "FLOPs per byte",
     "prefill.macs", NULL, NULL},
    {"Decode, per token", "{decode.average.macs:si}",
     "MACs; {decode.average.arithmetic_intensity:intensity} FLOPs per byte", "decode.average.macs",
     NULL, NULL},
    {"Total", "{total_macs:si}", "MACs; {total_flops:si} FLOPs", "total_macs", NULL, NULL},
    {"Cache", "{kv_cache.bytes:bytes}", "{kv_cache.bytes_per_token:bytes} per token",
     "kv_cache.bytes", NULL, NULL},
    {"Memory to serve", "{memory.serve_bytes:bytes}", "batch {batch:text}", "memory.serve_bytes",
     NULL, NULL},
    {"Time to first token", "{measured.time_to_first_token_ms:ms}", "measured",
     "measured.time_to_first_token_ms", NULL, NULL},
    {"Time per token", "{measured.time_per_token_ms:ms}",
     "measured; {measured.tokens_per_second:rate} tokens per second", "measured.time_per_token_ms",
     NULL, NULL},
};
static const view_group_row language_groups[] = {{NULL, VIEW_FACTS(language_facts)}};

static const view_column format_columns[] = {TEXT("Format", "{format:text}"),
                                             NUMBER("Bits per weight", "{bits_per_weight:fixed2}"),
                                             NUMBER("Size", "{bytes:bytes}")};
static const view_column language_device_columns[] = {
    TEXT("Device", "{title:text}|{name:text}"),
    TEXT("Fits", "{fits:text}"),
    NUMBER("First token", "{time_to_first_token_ms:ms}"),
    NUMBER("Per token", "{time_per_token_ms:ms}"),
    NUMBER("Tokens/s", "{tokens_per_second:rate}"),
    TEXT("Prefill bound", "{prefill_bound:text}"),
    TEXT("Decode bound", "{decode_bound:text}"),
    NUMBER("Largest context", "{largest_context:whole}"),
    NUMBER("Largest batch", "{largest_batch:whole}"),
};
static const view_table_row language_tables[] = {
    {.title = "Weights by number format", .path = "weights", VIEW_COLUMNS(format_columns)},
    {.title = "On devices", .path = "devices", VIEW_COLUMNS(language_device_columns)},
};

/* ---- several pipelines ---- */

static const view_column pipelines_columns[] = {
    TEXT("Pipeline", "{title:text}|{model:text}"),
    NUMBER("Total MACs", "{total_macs:si}"),
    NUMBER("Total FLOPs", "{total_flops:si}"),
    NUMBER("Parameters", "{total_params:si}"),
    NUMBER_IF("MACs of a step", "{macs_per_step:si}", "pipelines.0.macs_per_step"),
    NUMBER_IF("Steps", "{num_inference_steps:whole}", "pipelines.0.macs_per_step"),
    NUMBER_IF("VAE MACs", "{vae_macs:si}", "pipelines.0.macs_per_step"),
    NUMBER_IF("Text encoder MACs", "{text_encoder_macs:si}", "pipelines.0.macs_per_step"),
    NUMBER_IF("Prefill MACs", "{prefill.macs:si}", "pipelines.0.prefill"),
    NUMBER_IF("Decode MACs", "{decode.macs:si}", "pipelines.0.prefill"),
    NUMBER_IF("Cache", "{kv_cache.bytes:bytes}", "pipelines.0.prefill"),
    NUMBER_IF("Memory to serve", "{memory.serve_bytes:bytes}", "pipelines.0.prefill"),
};
static const view_table_row pipelines_tables[] = {
    {.title = "Side by side", .path = "pipelines", VIEW_COLUMNS(pipelines_columns), .first = true},
};

/* ---- comparisons ---- */

static const view_column comparison_columns[] = {
    TEXT("Model", "{model:text}"),
    NUMBER("Parameters", "{parameters:si}[ ({ratios.parameters:ratio})]"),
    NUMBER("Size", "{weight_bytes:bytes}[ ({ratios.weight_bytes:ratio})]"),
    NUMBER("MACs", "{macs:si}[ ({ratios.macs:ratio})]"),
    NUMBER("FLOPs", "{flops:si}[ ({ratios.flops:ratio})]"),
    NUMBER("Bytes moved", "{memory:bytes}[ ({ratios.memory:ratio})]"),
    NUMBER("FLOPs per byte", "{arithmetic_intensity:intensity}"),
    NUMBER("Peak memory", "{peak_bytes:bytes}[ ({ratios.peak_bytes:ratio})]"),
    NUMBER_IF("Median latency", "{p50_ms:ms}[ ({ratios.p50_ms:ratio})]", "models.0.p50_ms"),
    NUMBER_IF("Samples/s", "{samples_per_second:rate}[ ({ratios.samples_per_second:ratio})]",
              "models.0.samples_per_second"),
};
static const view_column timing_columns[] = {
    TEXT("Model", "{model:text}"),
    TEXT("Verdict", "{verdict:text}"),
    NUMBER("Time beside the first", "{ratio:fixed3}×"),
    TEXT("99 % interval", "[{ratio_ci99_low:fixed3} to {ratio_ci99_high:fixed3}]"),
    NUMBER("Runs", "{runs:whole}"),
    TEXT("Why", "[{why:text}]"),
};
static const view_column change_columns[] = {
    TEXT("Change", "{change:text}"),
    TEXT("Layer", "{after.name:text}|{before.name:text}"),
    TEXT("Type", "{type:text}"),
    NUMBER("MACs before", "{before.macs:si}"),
    NUMBER("after", "{after.macs:si}"),
    NUMBER("Params before", "{before.parameters:si}"),
    NUMBER("after", "{after.parameters:si}"),
    NUMBER("Bytes before", "{before.memory:bytes}"),
    NUMBER("after", "{after.memory:bytes}"),
};
static const view_table_row comparison_tables[] = {
    {.title = "Verdicts of the runs",
     .path = "measured",
     VIEW_COLUMNS(timing_columns),
     .first = true,
     .mark = mark_verdict},
    {.title = "Side by side", .path = "models", VIEW_COLUMNS(comparison_columns), .first = true},
    {.title = "Layers that differ", .path = "layers", VIEW_COLUMNS(change_columns)},
};

static void title_of_comparison(view *v, const json_value *d)
{
    const json_value *list = json_path(d, "models");
    sbuf b = {0};
    for (uint32_t i = 0; list->items && i < list->n; i++) {
        sbuf_puts(&b, i ? " · " : "");
        sbuf_str(&b, json_path(&list->items[i], "model")->s);
    }
    if (b.n && !b.failed)
        v->title = str_copy(v->a, (str){b.p, (uint32_t)b.n});
    sbuf_free(&b);
}

/* ---- scalings ---- */

static const view_fact_row scaling_facts[] = {
    {"Points", "{evaluations:whole}", "sizes at which the model was evaluated", "evaluations", NULL,
     NULL},
    {"With assumptions", "{evaluations_with_assumptions:whole}", "of them",
     "+evaluations_with_assumptions", NULL, NULL},
    {"Precision", "{precision:text}", NULL, "precision", NULL, NULL},
    {"KV cache", "{kv_cache:text}", "in memory", "kv_cache", NULL, NULL},
};
static const view_group_row scaling_groups[] = {{NULL, VIEW_FACTS(scaling_facts)}};

static const view_column answer_columns[] = {
    TEXT("Question", "{question:text}"),
    TEXT("Axis", "{axis:text}"),
    TEXT("At", "{sizes:text}"),
    TEXT("Outcome", "{outcome:text}"),
    NUMBER("Largest size", "{value:whole}"),
    NUMBER("There", "{figure:si}"),
    NUMBER("Next size", "{next:whole}"),
    NUMBER("There", "{next_figure:si}"),
};
static const view_column form_columns[] = {
    TEXT("Figure", "{@key:text}"),
    TEXT("Closed form", "{form:text}"),
    TEXT("Exact", "{exact:text}"),
    NUMBER("Error", "{error_percent:percent2}"),
    {.cell = "{fitted:fixed2}", .each = "exponents", .right = true},
};
static const view_column point_columns[] = {
    {.cell = "{:text}", .each = "sizes", .right = true},
    NUMBER_IF("Parameters", "{parameters:si}", "points.0.parameters"),
    NUMBER_IF("MACs", "{macs:si}", "points.0.macs"),
    NUMBER_IF("FLOPs", "{flops:si}", "points.0.flops"),
    NUMBER_IF("Bytes moved", "{traffic_bytes:bytes}", "points.0.traffic_bytes"),
    NUMBER_IF("Activations at the peak", "{activations_peak_bytes:bytes}",
              "points.0.activations_peak_bytes"),
    NUMBER_IF("Peak memory", "{peak_bytes:bytes}", "points.0.peak_bytes"),
    NUMBER_IF("Training", "{training_bytes:bytes}", "points.0.training_bytes"),
    TEXT("", "[{refused:text}]"),
};
static view_verdict mark_outcome(const json_value *row)
{
    return view_judge_word(json_path(row, "outcome"));
}
static const view_table_row scaling_tables[] = {
    {.title = "Answers",
     .path = "answers",
     VIEW_COLUMNS(answer_columns),
     .first = true,
     .mark = mark_outcome},
    {.title = "Closed forms, with the exponent over each axis",
     .path = "forms",
     VIEW_COLUMNS(form_columns),
     .first = true},
    {.title = "Points", .path = "points", VIEW_COLUMNS(point_columns)},
};

/* ---- validations ---- */

static const view_column validation_columns[] = {
    TEXT("Model", "{model:text}"),
    TEXT("Counted as", "{lens:text}"),
    NUMBER("Ours", "{ours:si}"),
    NUMBER("Theirs", "{theirs:si}"),
    NUMBER("Difference", "{difference_percent:percent2}"),
    NUMBER("Accuracy", "{accuracy_percent:percent2}"),
    NUMBER("Recorded", "[{recorded.count:si}]"),
    TEXT("Asked live", "[{live.count:si} by {live.version:text}][{live.error:text}]"),
    NUMBER("Assumed", "{assumed:whole}"),
    NUMBER("Unknown", "{unknown:whole}"),
};
static const view_column validation_type_columns[] = {TEXT("Operator type", "{type:text}"),
                                                      NUMBER("Ours", "{ours:si}"),
                                                      NUMBER("Theirs", "{theirs:si}")};
static const view_table_row validation_tables[] = {
    {.title = "Counts beside those of other tools",
     .path = "models",
     VIEW_COLUMNS(validation_columns),
     .first = true},
    {.title = "{model:text}, {lens:text}: operators behind it",
     .path = "operators",
     .each = "models",
     VIEW_COLUMNS(validation_type_columns)},
};

/* ---- checks ---- */

static const view_fact_row check_facts[] = {
    {"Verdict", "{verdict:text}", "[{baseline:text}]", "verdict", NULL, NULL},
    {"Baseline of", "{baseline_timestamp:day}", NULL, "baseline_timestamp", NULL, NULL},
    {"Tolerance", "{tolerance_percent:percent}",
     "[and {allowance_percent:percent} between sessions]", "tolerance_percent", NULL, NULL},
    {"Layers that moved", "{layers_moved:whole}", NULL, "layers_moved", NULL, NULL},
};
static const view_group_row check_groups[] = {{NULL, VIEW_FACTS(check_facts)}};
static const view_column check_columns[] = {
    TEXT("Verdict", "{verdict:text}"),
    TEXT("Metric", "{metric:text}"),
    NUMBER("Value", "{value:unit}"),
    NUMBER("Limit or baseline", "{operator:text} {limit:unit}|{baseline:unit}"),
    NUMBER("Change", "[{ratio:fixed3}×]"),
    TEXT("99 % interval", "[{ratio_ci99_low:fixed3} to {ratio_ci99_high:fixed3}]"),
    TEXT("Why", "[{why:text}]"),
};
static const view_column moved_columns[] = {
    TEXT("Change", "{change:text}"),   TEXT("Layer", "{layer:text}"),
    TEXT("Type", "{type:text}"),       TEXT("Output", "{shapes:text}"),
    NUMBER("MACs", "{macs:si}"),       NUMBER("Parameters", "{parameters:si}"),
    NUMBER("Bytes", "{memory:bytes}"), NUMBER("Peak", "{peak_bytes:bytes}"),
    NUMBER("Time", "[{time_ms:ms}]"),
};
static const view_column moved_type_columns[] = {TEXT("Type", "{type:text}"),
                                                 NUMBER("Layers", "{layers:whole}"),
                                                 NUMBER("Count", "{count:si}"),
                                                 NUMBER("MACs", "{macs:si}"),
                                                 NUMBER("Parameters", "{parameters:si}"),
                                                 NUMBER("Bytes", "{memory:bytes}")};
static const view_table_row check_tables[] = {
    {.title = "Checks",
     .path = "checks",
     VIEW_COLUMNS(check_columns),
     .first = true,
     .mark = mark_verdict},
    {.title = "Layers that moved", .path = "moved", VIEW_COLUMNS(moved_columns)},
    {.title = "Operator types that moved", .path = "types_moved", VIEW_COLUMNS(moved_type_columns)},
};

static void say_verdict(view *v, const json_value *d)
{
    static const struct {
        const char *word, *sentence;
    } said[] = {{"pass", "Every check passes."},
                {"improvement", "Nothing is worse than the baseline, and something is better."},
                {"regression", "Something is worse than the baseline."},
                {"missed", "A limit is missed."},
                {"inconclusive", "Noise hides the answer: the check is inconclusive."}};
    const json_value *verdict = json_path(d, "verdict");
    for (size_t i = 0; verdict->kind == JSON_TEXT && i < sizeof said / sizeof *said; i++)
        if (str_is(verdict->s, said[i].word))
            view_banner_add(v, view_judge_word(verdict).tone, str_of(said[i].sentence));
}

/* ---- capacity ---- */

static const view_fact_row capacity_facts[] = {
    {"Machines", "{plans.@best.machines:whole}",
     "batch {plans.@best.batch:text}, {plans.@best.concurrency:text} at a time",
     "plans.@best.machines", NULL, NULL},
    {"Asked for", "{target_requests_per_second:rate}",
     "requests per second[; {latency_limit_ms:ms} at the quantile {quantile:text}]",
     "target_requests_per_second", NULL, NULL},
    {"Latency", "{plans.@best.latency_quantile_ms:ms}",
     "at the quantile {quantile:text}; mean {plans.@best.latency_mean_ms:ms}",
     "plans.@best.latency_quantile_ms", NULL, NULL},
    {"Load", "{plans.@best.utilization:share}", "of each machine; {headroom:share} are kept free",
     "plans.@best.utilization", NULL, NULL},
};
static const view_group_row capacity_groups[] = {{NULL, VIEW_FACTS(capacity_facts)}};
static const view_column capacity_columns[] = {
    NUMBER("Batch", "{batch:text}"),
    TEXT("Type", "{precision:text}"),
    NUMBER("At once", "{concurrency:text}"),
    NUMBER("Machines", "{machines:whole}"),
    NUMBER("Load", "{utilization:share}"),
    NUMBER("Latency", "{latency_quantile_ms:ms}"),
    NUMBER("Forming", "{forming_mean_ms:ms}"),
    NUMBER("Waiting", "{waiting_mean_ms:ms}"),
    NUMBER("Running", "{service_mean_ms:ms}"),
    NUMBER("Most of one machine", "{requests_per_second_most:rate}/s"),
    TEXT("", "[{why:text}]"),
};
static const view_table_row capacity_tables[] = {
    {.title = "Configurations", .path = "plans", VIEW_COLUMNS(capacity_columns), .first = true},
};

static void say_capacity(view *v, const json_value *d)
{
    if (!json_is_number(json_path(d, "best")))
        view_banner_add(
            v, TONE_POOR,
            STR("None of the measured configurations can do it, with any number of machines."));
}

/* ---- history ---- */

#define RUN_COLUMNS(at)                                                                     \
    TEXT("When", "{" at "created:day}"), TEXT("Command", "{" at "command:text}"),           \
        NUMBER("Batch", "{" at "batch:text}"), TEXT("Precision", "{" at "precision:text}"), \
        NUMBER("P50", "{" at "p50_ms:ms}"), NUMBER("P95", "{" at "p95_ms:ms}"),             \
        NUMBER("Samples/s", "{" at "throughput:rate}"),                                     \
        NUMBER("Memory", "{" at "memory_bytes:bytes}")

static const view_column runs_columns[] = {NUMBER("Run", "{id:text}"),
                                           TEXT("Model", "{model:text}"), RUN_COLUMNS(""),
                                           TEXT("Tags", "{tags:text}")};
static const view_table_row runs_tables[] = {
    {.title = "Runs", .path = "runs", VIEW_COLUMNS(runs_columns), .first = true},
};
static const view_column models_columns[] = {
    TEXT("Model", "{model:text}"), NUMBER("Runs", "{runs:whole}"),
    NUMBER("Newest", "{newest.id:text}"), RUN_COLUMNS("newest.")};
static const view_table_row models_tables[] = {
    {.title = "Models", .path = "models", VIEW_COLUMNS(models_columns), .first = true},
};

static const view_fact_row trend_facts[] = {
    {"Newest", "{newest:unit}", "{title:text}", "newest", NULL, NULL},
    {"Median", "{median:unit}", NULL, "median", NULL, NULL},
    {"Lowest", "{min:unit}", NULL, "min", NULL, NULL},
    {"Highest", "{max:unit}", NULL, "max", NULL, NULL},
};
static const view_group_row trend_groups[] = {{NULL, VIEW_FACTS(trend_facts)}};
static const view_column alert_columns[] = {
    TEXT("Alert", "{expression:text}"), TEXT("Verdict", "{verdict:text}"),
    NUMBER("Value", "{value:unit}"),    NUMBER("Limit", "{limit:unit}"),
    TEXT("Why", "{why:text}"),
};
static const view_column trend_change_columns[] = {
    NUMBER("Run", "{id:text}"),        TEXT("When", "{created:day}"),
    NUMBER("Before", "{before:unit}"), NUMBER("After", "{after:unit}"),
    NUMBER("Ratio", "{ratio:ratio}"),  TEXT("Verdict", "{verdict:text}"),
};
static const view_column trend_columns[] = {
    NUMBER("Run", "{id:text}"), TEXT("When", "{created:day}"), NUMBER("Value", "{value:unit}")};
static const view_table_row trend_tables[] = {
    {.title = "Alerts",
     .path = "alerts",
     VIEW_COLUMNS(alert_columns),
     .first = true,
     .mark = mark_verdict},
    {.title = "Changes of level",
     .path = "change_points",
     VIEW_COLUMNS(trend_change_columns),
     .first = true,
     .mark = mark_verdict},
    {.title = "Runs", .path = "points", VIEW_COLUMNS(trend_columns)},
};

/* ---- machines ---- */

static const view_fact_row machine_facts[] = {
    {"Processors", "{topology.usable_processors:text}",
     "usable; cores: {topology.cores:text}, sockets: {topology.sockets:text}",
     "topology.usable_processors", NULL, NULL},
    {"Memory", "{topology.memory_bytes:bytes}", NULL, "topology.memory_bytes", NULL, NULL},
    {"Between kernels", "{dispatch.seconds.value:s}", "{dispatch.engine:text}",
     "+dispatch.seconds.value", NULL, NULL},
    {"Error of predictions", "{calibration.median_error:share}", "median, of models left out",
     "+calibration.median_error", NULL, NULL},
};
static const view_group_row machine_groups[] = {{NULL, VIEW_FACTS(machine_facts)}};
static const view_column rate_columns[] = {
    TEXT("Number format", "{dtype:text}"),
    TEXT("Instructions", "{isa:text}"),
    NUMBER("Threads", "{threads:text}"),
    NUMBER("Operations", "{operations_per_second.value:per-s}"),
    NUMBER("Spread", "{operations_per_second.spread:share}"),
};
static const view_column flow_columns[] = {
    TEXT("Level", "{level:text}"),
    TEXT("Kind", "{kind:text}"),
    NUMBER("Threads", "{threads:text}"),
    NUMBER("Set of each", "{set_bytes:bytes}"),
    NUMBER("Bytes", "{bytes_per_second.value:per-s}"),
    NUMBER("Spread", "{bytes_per_second.spread:share}"),
};
static const view_column curve_columns[] = {NUMBER("Working set", "{set_bytes:bytes}"),
                                            NUMBER("Read", "{read:per-s}"),
                                            NUMBER("Triad", "{triad:per-s}")};
static const view_table_row machine_tables[] = {
    {.title = "Arithmetic", .path = "compute", VIEW_COLUMNS(rate_columns)},
    {.title = "Bandwidth", .path = "bandwidth", VIEW_COLUMNS(flow_columns)},
    {.title = "By working set, one thread",
     .path = "bandwidth_by_set",
     VIEW_COLUMNS(curve_columns)},
};

/* ---- the kinds ---- */

const view_kind view_kinds[] = {
    {.schema = "assay.pipeline",
     .title = "{title:text}|{model:text}",
     .under = "{width:text}×{height:text} · {num_inference_steps:text} steps · guidance "
              "{guidance_scale:fixed1}",
     .when = "kind=diffusion",
     GROUPS(diffusion_groups),
     TABLES(diffusion_tables)},
    {.schema = "assay.pipeline",
     .title = "{model:text}",
     .under =
         "{family:text} · {prompt_tokens:text} prompt tokens, {generate:text} generated, batch "
         "{batch:text}",
     GROUPS(language_groups),
     TABLES(language_tables)},
    {.schema = "assay.pipelines",
     .title = "Pipelines",
     TABLES(pipelines_tables),
     .inner = "pipelines"},
    {.schema = "assay.comparison",
     .title = "Comparison",
     .under = "ratios are to the first",
     TABLES(comparison_tables),
     .more = title_of_comparison},
    {.schema = "assay.scaling",
     .title = "{model:text}",
     .under = "cost over sizes",
     GROUPS(scaling_groups),
     TABLES(scaling_tables)},
    {.schema = "assay.validation", .title = "Validation", TABLES(validation_tables)},
    {.schema = "assay.check",
     .title = "{model:text}",
     .under = "check",
     GROUPS(check_groups),
     TABLES(check_tables),
     .remarks = "notes",
     .more = say_verdict},
    {.schema = "assay.capacity",
     .title = "{model:text}",
     .under = "capacity",
     GROUPS(capacity_groups),
     TABLES(capacity_tables),
     .remarks = "notes",
     .more = say_capacity},
    {.schema = "assay.runs", .title = "{total:whole} runs", TABLES(runs_tables)},
    {.schema = "assay.models", .title = "Models of the history", TABLES(models_tables)},
    {.schema = "assay.trend",
     .title = "{model:text}: {title:text}",
     .under = "[{setup:text}]",
     GROUPS(trend_groups),
     TABLES(trend_tables)},
    {.schema = "assay.machine",
     .title = "{topology.cpu:text}",
     .under = "{topology.host:text} · {topology.os:text} · measured {timestamp:day}",
     GROUPS(machine_groups),
     TABLES(machine_tables)},
};
const uint32_t view_kinds_n = sizeof view_kinds / sizeof *view_kinds;
