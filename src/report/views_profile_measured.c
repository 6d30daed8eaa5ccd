/* Views of measurements: configurations, their uncertainty, resources, cold start, verdicts; and the memory plan
 * compared with a run. */
#include "report/views_profile.h"

/* ---- configurations ---- */

uint32_t profile_order_ran(const view *v, const field_value *configs, uint32_t *index)
{
    const profile_config *c = configs->at;
    uint32_t n = 0;
    (void)v;
    for (uint32_t i = 0; i < configs->n; i++)
        if (c[i].latency.runs)
            index[n++] = i;
    return n;
}

/* A precision is chosen by its size too: the column is there when outputs were compared. */
static void put_disk(const view *v, sbuf *b, const field_value *row)
{
    const profile_measured *m = ((const profile *)v->root.at)->measured;
    bool compared = false;
    for (uint32_t i = 0; i < m->n_configs; i++)
        compared |= m->configs[i].output_error.present;
    if (compared)
        view_put(v, b, row, "{+file_bytes:bytes}|–");
}

static const view_column config_columns[] = {
    VIEW_NUMBER("batch", "{batch:whole}"),
    VIEW_TEXT("as", "{precision:text}", .keep = true, .tone = TONE_DIM),
    VIEW_NUMBER("mean", "{mean_ms:ms}", .keep = true, .tone = TONE_STRONG),
    VIEW_TEXT("", "± {std_ms:ms}", .drop = 4, .tone = TONE_DIM),
    VIEW_NUMBER("median", "{median_ms:ms}", .keep = true),
    VIEW_NUMBER("P95", "{p95_ms:ms}", .drop = 2),
    VIEW_NUMBER("P99", "{p99_ms:ms}", .drop = 3),
    VIEW_NUMBER("{throughput.unit:text}/s",
                "{samples_per_second*^throughput.units_per_sample:rate}", .keep = true,
                .tone = TONE_STRONG),
    VIEW_NUMBER("GFLOP/s", "{gflops_per_s:fixed1}", .drop = 6),
    VIEW_NUMBER("peak memory", "{peak_bytes:bytes}", .drop = 1),
    VIEW_NUMBER("CPU %", "{cpu_percent:fixed0}", .drop = 7, .tone = TONE_DIM),
    VIEW_NUMBER("on disk", NULL, .put = put_disk, .keep = true),
    VIEW_NUMBER("error", "[{output_error.relative:digits%}]", .keep = true),
};
static const view_table_row config_tables[] = {
    {.path = "configurations", VIEW_COLUMNS(config_columns), .order = profile_order_ran},
};

#define OUTPUT_ERROR                                                            \
    "Batch {batch:whole} {precision:text} against the model as stored: off by " \
    "{output_error.max_abs:digits} at most, {output_error.mean_abs:digits} on average, cosine "
#define NOT_FINITE                                                                                \
    "[; {+output_error.not_finite:whole} elements are not finite, {output_error.elements:whole} " \
    "were compared]."
static const view_line_row config_lines[] = {
    VIEW_LINE(OUTPUT_ERROR "{output_error.cosine:cosine}" NOT_FINITE "|" OUTPUT_ERROR
                           "undefined (all zeros)" NOT_FINITE,
              "output_error", DIM, .each = "configurations"),
    PROFILE_PARTIAL_LINE,
    VIEW_LINE("{context.engine.concurrency:whole} runs at once.", "context.engine.concurrency>1",
              PLAIN),
};

/* ---- details of the smallest batch ---- */

#define CPU_NOTE "{utilization.cpu_s:fixed2} s in {utilization.wall_s:fixed2} s"
static const view_fact_row detail_facts[] = {
    VIEW_FACT("Runs", "{latency.runs:whole}", "after {latency.warmup_runs:whole} of warm-up",
              "latency.steady=true"),
    VIEW_FACT("Runs", "{latency.runs:whole}",
              "after {latency.warmup_runs:whole} of warm-up, not steady", "latency.steady=false"),
    VIEW_FACT("Mean", "{latency.mean:ms}",
              "95 % interval {latency.ci95_low:ms} to {latency.ci95_high:ms} "
              "({latency.effective_runs:fixed0} independent runs)",
              "latency.ci95_high", .verdict = "bands.speed"),
    VIEW_FACT("Mean", "{latency.mean:ms}", "one run has no interval of the mean",
              "!latency.ci95_high,latency.runs=1", .verdict = "bands.speed"),
    VIEW_FACT("Mean", "{latency.mean:ms}",
              "too few or too scattered runs for an interval of the mean",
              "!latency.ci95_high,latency.runs>1", .verdict = "bands.speed"),
    VIEW_FACT("Fastest", "{latency.min:ms}", "slowest {latency.max:ms}", "latency.min"),
    VIEW_FACT("End to end", "{end_to_end.total_ms:ms}",
              "decoding, resizing and normalising {end_to_end.preprocess_ms:ms}, run "
              "{end_to_end.inference_ms:ms}[, softmax and top five {end_to_end.postprocess_ms:ms}]",
              "end_to_end"),
    VIEW_FACT("Memory", "{memory.peak:bytes}", "peak", "memory", .verdict = "bands.run_memory"),
    VIEW_FACT("", "{single_image.memory.before_mb:mib}",
              "before[, {memory.engine_bytes:bytes} of it the engine]; highest "
              "{single_image.memory.peak_mb:mib}",
              "memory,single_image.memory"),
    VIEW_FACT("", "{memory.average:bytes}",
              "average; peak anonymous {memory.anonymous_peak:bytes}, file-backed "
              "{memory.file_backed_peak:bytes}",
              "memory"),
    VIEW_FACT("Engine arena", "{memory.arena_peak:bytes}",
              "in use at most, of {memory.arena_held:bytes} held[ ({memory.fragmentation:share} "
              "unused)]",
              "memory.arena_held"),
    VIEW_FACT("Activations", "{memory.planned_activations:bytes}", "planned",
              "+memory.planned_activations"),
    VIEW_FACT("Processor", "{utilization.cpu_percent:percent0}", CPU_NOTE,
              "utilization.cpu_percent,2>utilization.threads/!utilization.threads"),
    VIEW_FACT("Processor", "{utilization.cpu_percent:percent0}",
              "{utilization.cpu_percent_per_thread:percent0} of each of "
              "{utilization.threads:whole thread}, " CPU_NOTE,
              "utilization.cpu_percent,utilization.threads>1"),
    VIEW_FACT("Processor", "–", "too short to tell, " CPU_NOTE,
              "utilization,!utilization.cpu_percent"),
    VIEW_FACT("Switches", "{utilization.voluntary_switches:whole}",
              "and {utilization.involuntary_switches:whole} forced[, waited "
              "{utilization.run_queue_wait_s:fixed2} s for a CPU]; page faults "
              "{utilization.minor_faults:whole}, from disk {utilization.major_faults:whole}",
              "utilization"),
    VIEW_FACT("Disk", "{io.read_bytes:bytes}", "read, {io.written_bytes:bytes} written",
              "io.read_bytes"),
    VIEW_FACT("Clock", "{utilization.frequency_mhz:whole} MHz", NULL, "utilization.frequency_mhz"),
    VIEW_FACT("Energy", "{utilization.energy_j:joule}", NULL, "utilization.energy_j"),
    VIEW_FACT("Energy", "–", "not available here", "utilization,!utilization.energy_j"),
    VIEW_FACT("Cold start", "{cold_start.first_run_ms:ms}",
              "first run[, engine {cold_start.engine_ms:ms}][, session {cold_start.session_ms:ms}]",
              "cold_start.first_run_ms"),
    VIEW_FACT("Cold start", "{cold_start.session_ms:ms}",
              "session[, engine {cold_start.engine_ms:ms}]",
              "!cold_start.first_run_ms,cold_start.session_ms"),
    VIEW_FACT("GPU", "{utilization.gpu_percent:percent0}",
              "busy, at most {utilization.gpu_percent_max:percent0}", "utilization.gpu_percent"),
    VIEW_FACT("GPU memory", "{utilization.gpu_memory_peak:bytes}",
              "of {utilization.gpu_memory_total:bytes}", "utilization.gpu_memory_peak"),
    VIEW_FACT("GPU power", "{utilization.gpu_power_w:watt}",
              "at most {utilization.gpu_power_max_w:watt}", "utilization.gpu_power_w"),
    VIEW_FACT("GPU temperature", "{utilization.gpu_temperature_max_c:whole} °C", "at most",
              "utilization.gpu_temperature_max_c"),
    VIEW_FACT("Achieved", "{throughput.gflops_per_s:fixed1} GFLOP/s",
              "{throughput.percent_of_peak:percent} of this machine's peak",
              "throughput.percent_of_peak"),
    VIEW_FACT("", "{throughput.gbytes_per_s:fixed1} GB/s",
              "[{throughput.percent_of_bandwidth:percent} of its memory's]",
              "throughput.percent_of_peak"),
};
static const view_line_row detail_lines[] = {
    VIEW_LINE("P99 of {latency.runs:whole run} is uncertain: {latency.p99_runs_needed:whole} are "
              "needed to bound it with 99 % confidence.",
              "latency.p99_runs_needed>latency.runs", DIM),
    VIEW_LINE("Slow run {run:whole}: {ms:ms}, cause {cause:text}.", NULL, DIM,
              .each = "latency.outliers", .limit = 4),
    {.text = "GPU: {gpu.name:name}", .when = "+gpu.available,gpu.ranges=false", .tone = TONE_DIM},
    VIEW_LINE("GPU: {gpu.name:name}; NVTX ranges are marked.", "+gpu.available,+gpu.ranges", DIM),
    {.text = "{gpu.why:text}", .when = "gpu.available=false,+gpu.why", .tone = TONE_DIM},
    VIEW_LINE("For throughput: {batch_choice.why:text}|For throughput: batch "
              "{recommended_batch:whole}.",
              "++configurations,recommended_batch,!interrupted/interrupted=false", GOOD),
};

static const view_column cold_columns[] = {
    VIEW_TEXT("part", "{part:text}"),
    VIEW_NUMBER("mean", "{mean_ms:ms}", .keep = true, .tone = TONE_STRONG),
    VIEW_TEXT("", "± {std_ms:ms}", .drop = 4, .tone = TONE_DIM),
    VIEW_NUMBER("fastest", "{min_ms:ms}", .drop = 2),
    VIEW_NUMBER("median", "{median_ms:ms}", .keep = true),
    VIEW_NUMBER("P95", "{p95_ms:ms}", .drop = 1),
    VIEW_NUMBER("slowest", "{max_ms:ms}", .drop = 3),
};
static const view_table_row cold_tables[] = {
    {.path = "cold_starts.parts", VIEW_COLUMNS(cold_columns)},
};

static const view_column generation_columns[] = {
    VIEW_NUMBER("batch", "{batch:whole}", .drop = 6),
    VIEW_TEXT("as", "{precision:text}", .keep = true, .tone = TONE_DIM),
    VIEW_NUMBER("prompt", "{prompt_tokens:whole}", .drop = 4),
    VIEW_NUMBER("prefill/s", "{prefill_tokens_per_second:rate}|–", .keep = true,
                .tone = TONE_STRONG),
    VIEW_NUMBER("first token", "[{+ttft.p50:ms}]", .keep = true),
    VIEW_NUMBER("context", "{context_depth:whole}", .keep = true),
    VIEW_NUMBER("decode/s", "{decode_tokens_per_second:rate}|–", .keep = true, .tone = TONE_STRONG),
    VIEW_NUMBER("token P50", "[{+token_latency.p50:ms}]", .keep = true),
    VIEW_NUMBER("P99", "[{+token_latency.p99:ms}]", .drop = 1),
    VIEW_NUMBER("predicted", "[{predicted_token_ms:ms}]", .drop = 3, .tone = TONE_DIM),
    VIEW_NUMBER("GB/s", "[{decode_gbytes_per_s:fixed1}]", .drop = 2),
    VIEW_NUMBER("of memory's", "[{decode_percent_of_bandwidth:percent0}]", .drop = 5),
    VIEW_NUMBER("J/token", "[{decode_joules_per_token:short}]", .drop = 7),
};
static const view_table_row generation_tables[] = {
    {.path = "generation", VIEW_COLUMNS(generation_columns)},
};
static const view_line_row generation_lines[] = {
    VIEW_LINE(
        "{precision:text}, batch {batch:whole}, context {context_depth:whole}: weights "
        "{planned_weight_bytes:bytes} planned[, {+model_bytes:bytes} loaded][, "
        "{+weight_bytes:bytes} mapped][, {+resident_weight_bytes:bytes} of the file resident][, "
        "{+repacked_bytes:bytes} copied to the layout of the "
        "kernels]; cache for "
        "{context:whole} tokens {planned_cache_bytes:bytes} planned[, {+cache_bytes:bytes} "
        "measured][; compute buffer {+planned_compute_bytes:bytes} planned][, "
        "{+compute_bytes:bytes} measured][; logits {+planned_output_bytes:bytes} planned][, "
        "{+output_bytes:bytes} measured][; resident {+resident_bytes:bytes} at most].",
        NULL, DIM, .each = "generation", .limit = 4),
};

static const view_section_row measured_rows[] = {
    {VIEW_SECTION("Generation",
                  "tokens per second of all sequences; {context.engine.title:text} "
                  "{context.engine.version:text} on {context.engine.device:text}[, "
                  "{+context.engine.threads:whole thread}]",
                  "all bench memory", "generation"),
     .first = true, VIEW_TABLES(generation_tables), VIEW_LINES(generation_lines)},
    {VIEW_SECTION("Measured",
                  "{context.engine.title:text} {context.engine.version:text} on "
                  "{context.engine.device:text}[, {+context.engine.threads:whole thread}][, "
                  "{+context.engine.rate:short} requests/s from when they were due]",
                  "all bench memory", "latency"),
     .first = true, VIEW_TABLES(config_tables), VIEW_LINES(config_lines)},
    {VIEW_SECTION(
         "Cold starts",
         "{cold_starts.starts:whole start}, each in a new process, batch {cold_starts.batch:whole} "
         "{cold_starts.precision:text}",
         "all bench", "cold_starts"),
     .first = true, VIEW_TABLES(cold_tables)},
    {VIEW_SECTION("Details", "of the smallest batch that ran", "all bench memory", "latency"),
     VIEW_FACTS(detail_facts), VIEW_LINES(detail_lines)},
};
const view_sections profile_measured_sections = VIEW_LIST(measured_rows);

/* ---- the plan against a run ---- */

static bool is_end(const plan_ledger_row *r, uint32_t index)
{
    return index == 0 || strcmp(r->cause, "measured") == 0;
}

/* A step that changes nothing is left out. */
static uint32_t order_steps(const view *v, const field_value *steps, uint32_t *index)
{
    const plan_ledger_row *r = steps->at;
    uint32_t n = 0;
    (void)v;
    for (uint32_t i = 0; i < steps->n; i++)
        if (is_end(&r[i], i) || r[i].bytes)
            index[n++] = i;
    return n;
}

static void put_step(const view *v, sbuf *b, const field_value *row)
{
    const plan_ledger_row *r = row->at;
    if (strcmp(r->cause, "planned") != 0 && strcmp(r->cause, "measured") != 0)
        view_put(v, b, row, "{bytes:+bytes}");
}

static const view_column step_columns[] = {
    VIEW_TEXT("peak of activations", "{text:text}", .min = 20),
    VIEW_NUMBER("step", NULL, .put = put_step, .keep = true),
    VIEW_NUMBER("in all", "{total_bytes:bytes}", .keep = true),
};
static const view_table_row step_tables[] = {
    {.path = "plan_check.ledger", VIEW_COLUMNS(step_columns), .order = order_steps},
};
static const view_spark_row plan_sparks[] = {
    {"planned", "memory_plan.timeline", "live_bytes"},
    {"measured", "plan_check.timeline", "live_bytes"},
};
static const view_line_row plan_lines[] = {
    VIEW_LINE("Measured against planned: {plan_check.excess_percent:+percent}[, at "
              "{plan_check.measured_peak_node:name}].|Measured: {plan_check.measured_peak:bytes}[, "
              "at {plan_check.measured_peak_node:name}].",
              NULL, PLAIN),
    VIEW_LINE(
        "Shapes: {plan_check.shapes_equal:whole} of {plan_check.shapes_checked:whole} outputs "
        "are as inferred.",
        "plan_check.shapes_equal=^plan_check.shapes_checked", GOOD),
    VIEW_LINE(
        "Shapes: {plan_check.shapes_equal:whole} of {plan_check.shapes_checked:whole} outputs "
        "are as inferred.",
        "plan_check.shapes_equal!=^plan_check.shapes_checked", FAIR),
};
static const view_section_row plan_rows[] = {
    {VIEW_SECTION("Plan and run", "activations over time, engine without optimisations",
                  "all memory", "plan_check"),
     .first = true, VIEW_SPARKS(plan_sparks), VIEW_TABLES(step_tables), VIEW_LINES(plan_lines)},
};
const view_sections profile_plan_sections = VIEW_LIST(plan_rows);
