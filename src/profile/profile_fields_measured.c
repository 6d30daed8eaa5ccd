/* Field tables of measurements: the values of the smallest batch at the top of the document (`latency`, `throughput`,
 * `memory`, ...), every configuration, the time ledger, and the comparison of the memory plan with a run.
 *
 * The smallest batch is a copy of its configuration (profile_measured.top), whose sections the list of configurations
 * does not repeat; profile_settle() makes it, and reading puts the two together again.
 */
#include "profile/codecs.h"
#include "profile/plan_ledger.h"
#include "profile/profile_fields.h"

/* Members of profile_config. */
#define CONFIG(key_, member, kind_, unit_, label_, about_, ...) \
    FIELD_AS(profile_config, key_, member, kind_, unit_, label_, about_, __VA_ARGS__)

/* ---- the shapes scripts rely on ---- */

static const field timing_rows[] = {
    CONFIG("mean_ms", latency.mean, F64, MS, "Mean", "Mean of the runs."),
    CONFIG("std_ms", latency.std, F64, MS, "Std", "Standard deviation."),
    CONFIG("min_ms", latency.min, F64, MS, "Fastest", "Fastest run."),
    CONFIG("max_ms", latency.max, F64, MS, "Slowest", "Slowest run."),
    CONFIG("median_ms", latency.median, F64, MS, "Median", "Median of the runs."),
    CONFIG("fps", fps, F64, PER_SECOND, "Samples per second", "Batch · 1000 / mean_ms.", OR_OMIT),
};
static const fields timing_fields = FIELDS_AS(profile_config, "timing", timing_rows);

static const field resident_mb_rows[] = {
    CONFIG("before_mb", memory.before_mb, F64, MIB, "Before",
           "Resident before the session, with the engine loaded and used once."),
    CONFIG("after_mb", memory.after_mb, F64, MIB, "After", "Resident after the runs."),
    CONFIG("peak_mb", memory.peak_mb, F64, MIB, "Peak",
           "Highest of this configuration, its session included."),
    CONFIG("activation_mb", memory.activation_mb, F64, MIB, "Activations",
           "Peak during the runs minus resident memory before them."),
};
static const fields resident_mb_fields = FIELDS_AS(
    profile_config, "resident_mb", resident_mb_rows,
    .present_at = 1 + offsetof(profile_config, memory.has_mb));

static const field single_rows[] = {
    FIELD_AS(profile_measured, "input_shape", single_shape, CODEC, NONE, "Input",
             "Shape of the first input at this batch.", .codec = &shape_codec, OR_NULL),
    FIELD_STRUCT(profile_measured, "timing", top, timing_fields, "Times of the runs.", ONE_LINE),
    FIELD_STRUCT(profile_measured, "memory", top, resident_mb_fields, "Resident memory, in MiB.",
                 ONE_LINE),
};
static const fields single_fields = FIELDS_AS(profile_measured, "single_image", single_rows,
                                              .present_at = 1 +
                                                            offsetof(profile_measured, has_top));

static const field batch_rows[] = {
    CONFIG("error", error, STR, NONE, "Error", "Why it did not run.", OR_OMIT),
    CONFIG("code", code, WORD, NONE, NULL, "memory, engine, precision or shape.", OR_OMIT),
    FIELD_INLINE("timing", timing_fields, "Times of the runs.", ONE_LINE,
                 .when_at = 1 + offsetof(profile_config, ran)),
    FIELD_INLINE("memory", resident_mb_fields, "Resident memory, in MiB.", ONE_LINE),
    CONFIG("throughput", samples_per_second, F64, PER_SECOND, "Samples per second", "Throughput.",
           OR_OMIT),
};
static const fields batch_fields = FIELDS_AS(profile_config, "batch_profile", batch_rows,
                                             .key_at = offsetof(profile_config, batch_key));

/* ---- sections of one configuration ---- */

static const field outlier_rows[] = {
    FIELD(profile_outlier, run, U64, COUNT, "Run", "Number of the run, from 1."),
    FIELD(profile_outlier, ms, F64, MS, "Time", "Duration."),
    FIELD(profile_outlier, cause, WORD, NONE, "Cause", "Cause, or unknown."),
};
FINISH_WORD(finish_outlier, profile_outlier, cause, "unknown")
static const fields outlier_fields = FIELDS(profile_outlier, outlier_rows,
                                            .finish = finish_outlier);

static const field latency_rows[] = {
    CONFIG("mean", latency.mean, F64, MS, "Mean", "Arithmetic mean of the runs.",
           .flags = FIELD_LOWER_IS_BETTER),
    CONFIG("std", latency.std, F64, MS, "Std", "Standard deviation."),
    CONFIG("min", latency.min, F64, MS, "Fastest", "Fastest run."),
    CONFIG("max", latency.max, F64, MS, "Slowest", "Slowest run."),
    CONFIG("p50", latency.p50, F64, MS, "p50", "Median, nearest rank.",
           .flags = FIELD_LOWER_IS_BETTER),
    CONFIG("p90", latency.p90, F64, MS, "p90", "90th percentile, nearest rank.",
           .flags = FIELD_LOWER_IS_BETTER),
    CONFIG("p95", latency.p95, F64, MS, "p95", "95th percentile, nearest rank.",
           .flags = FIELD_LOWER_IS_BETTER),
    CONFIG("p99", latency.p99, F64, MS, "p99", "99th percentile, nearest rank.",
           .flags = FIELD_LOWER_IS_BETTER),
    CONFIG("runs", latency.runs, U64, COUNT, "Runs", "Measured runs."),
    CONFIG("ci95_low", latency.ci95_low, F64, MS, NULL,
           "Lower end of the 95 % interval of the mean; correlated runs count less.", OR_NULL),
    CONFIG("ci95_high", latency.ci95_high, F64, MS, NULL, "Its upper end.", OR_NULL),
    CONFIG("ci95_absent", latency.ci95_absent, WORD, NONE, NULL,
           "Why there is no interval: few-runs or scattered.", OR_OMIT),
    CONFIG("effective_runs", latency.effective_runs, F64, COUNT, NULL,
           "Number of independent runs with the same information.", OR_NULL),
    CONFIG("p99_runs_needed", latency.p99_runs_needed, U64, COUNT, NULL,
           "Runs needed to bound p99 with 99 % confidence."),
    CONFIG("warmup_runs", warmup_runs, U64, COUNT, "Warm-up", "Runs before the measured ones."),
    CONFIG("steady_after", steady_after, U64, COUNT, NULL,
           "Warm-up runs until timings were steady.", OMIT_ZERO),
    CONFIG("steady", steady, BOOL, NONE, NULL,
           "Whether the warm-up ended because timings were steady."),
    CONFIG("partial", partial, BOOL, NONE, NULL, "Whether the measurement was interrupted.",
           OMIT_ZERO),
    FIELD_ITEMS(profile_config, LIST, "outliers", outliers, n_outliers, outlier_fields,
                "Runs far from the others.", ONE_LINE),
    FIELD_VALUES(profile_config, F64S, "warmup_ms", warmup_ms, n_warmup_ms, MS,
                 "Every warm-up run, in order.", OR_OMIT, .decimals = 1 + 6),
    FIELD_VALUES(profile_config, F64S, "samples_ms", samples_ms, n_samples, MS,
                 "Every measured run, in order; evenly thinned above 100,000.", .decimals = 1 + 6),
};
static const fields latency_fields = FIELDS_AS(profile_config, "latency", latency_rows);

static const field throughput_rows[] = {
    CONFIG("samples_per_second", samples_per_second, F64, PER_SECOND, "Samples per second",
           "Batch · runs / time.", OR_OMIT, .flags = FIELD_HIGHER_IS_BETTER),
    CONFIG("images_per_second", units.images, F64, PER_SECOND, "Images per second",
           "Throughput if a sample is an image.", OR_OMIT),
    CONFIG("tokens_per_second", units.tokens, F64, PER_SECOND, "Tokens per second",
           "Throughput in tokens.", OR_OMIT),
    CONFIG("requests_per_second", units.requests, F64, PER_SECOND, "Requests per second",
           "Throughput in requests.", OR_OMIT),
    CONFIG("unit", units.name, WORD, NONE, NULL, "images, tokens, requests or samples."),
    CONFIG("units_per_sample", units.per_sample, F64, COUNT, NULL, "Units of one sample."),
    CONFIG("gflops_per_s", gflops_per_s, F64, GFLOPS_PER_S, "Achieved", "FLOPs over the median.",
           OR_OMIT),
    CONFIG("gbytes_per_s", gbytes_per_s, F64, GBYTES_PER_S, "Achieved bandwidth",
           "Bytes moved over the median.", OR_OMIT),
    CONFIG("percent_of_peak", percent_of_peak, F64, PERCENT, "Of peak",
           "Share of the machine's measured arithmetic ceiling.", OR_NULL),
    CONFIG("percent_of_bandwidth", percent_of_bandwidth, F64, PERCENT, "Of bandwidth",
           "Share of the machine's measured memory bandwidth.", OR_NULL),
};
static const fields throughput_fields = FIELDS_AS(profile_config, "throughput", throughput_rows);

static const field curve_rows[] = {
    FIELD(profile_memory_sample, ms, F64, MS, "Time", "Since the session began.",
          .decimals = 1 + 3),
    FIELD(profile_memory_sample, resident, U64, BYTES, "Resident", "Resident memory."),
    FIELD_AS(profile_memory_sample, "anonymous", anon, U64, BYTES, "Anonymous", "Heap and stack."),
    FIELD_AS(profile_memory_sample, "file_backed", file, U64, BYTES, "File-backed",
             "Mapped files."),
};
static const fields curve_fields = FIELDS(profile_memory_sample, curve_rows);

static const field memory_rows[] = {
    CONFIG("peak", memory.used_peak, U64, BYTES, "Peak memory",
           "Peak of resident memory above the start: peak_mb minus before_mb.",
           .flags = FIELD_LOWER_IS_BETTER),
    CONFIG("engine_bytes", memory.engine_bytes, U64, BYTES, "Engine",
           "Memory of the loaded engine after a trivial run; not part of the peak.", OMIT_ZERO),
    CONFIG("average", memory.used_average, U64, BYTES, "Average memory",
           "Average resident memory above the start."),
    CONFIG("activations", memory.used_run, U64, BYTES, "Activations",
           "Peak during the runs above the start.", OR_OMIT),
    CONFIG("per_sample", memory.per_sample, U64, BYTES, "Per sample",
           "Peak divided by the batch size.", OR_OMIT),
    CONFIG("fragmentation", memory.fragmentation, F64, RATIO, "Fragmentation",
           "Unused share of the engine's arena.", OR_NULL),
    CONFIG("resident_before_session", memory.before_session, U64, BYTES, NULL,
           "Resident memory before the session was created."),
    CONFIG("resident_before", memory.before, U64, BYTES, NULL, "Resident before the runs."),
    CONFIG("resident_after", memory.after, U64, BYTES, NULL, "Resident after the runs."),
    CONFIG("resident_run_peak", memory.run_peak, U64, BYTES, NULL, "Highest during the runs."),
    CONFIG("resident_peak", memory.peak, U64, BYTES, NULL, "Highest of this configuration."),
    CONFIG("anonymous_peak", memory.used_anon, U64, BYTES, NULL,
           "Peak of anonymous memory above the start."),
    CONFIG("file_backed_peak", memory.used_file, U64, BYTES, NULL,
           "Peak of file-backed memory above the start."),
    CONFIG("arena_in_use", memory.arena_in_use, U64, BYTES, NULL,
           "Bytes in use in the engine's arena.", OR_NULL),
    CONFIG("arena_requested", memory.arena_requested, U64, BYTES, NULL,
           "Bytes requested from the arena.", OR_NULL),
    CONFIG("arena_peak", memory.arena_peak, U64, BYTES, NULL, "Highest use of the arena.", OR_NULL),
    CONFIG("arena_held", memory.arena_held, U64, BYTES, NULL, "Bytes reserved by the arena.",
           OR_NULL),
    CONFIG("planned_activations", memory.plan_activations, U64, BYTES, NULL,
           "Activations of the static plan at this size."),
    CONFIG("planned_training", plan_training, U64, BYTES, NULL,
           "A training step of this size with AdamW in float32.", OMIT_ZERO),
    CONFIG("planned_training_activations", plan_training_activations, U64, BYTES, NULL,
           "Activations of that step.", OMIT_ZERO),
    FIELD_ITEMS(profile_config, LIST, "curve", curve, n_curve, curve_fields,
                "Resident memory over time.", ONE_LINE),
};
/* The file has what was used above the beginning. */
static bool finish_memory(field_reader *r, void *base)
{
    (void)r;
    profile_resident *m = &((profile_config *)base)->memory;
    uint64_t room = UINT64_MAX - m->before_session;
    m->average = m->before_session + (m->used_average < room ? m->used_average : 0);
    m->peak_anon = m->used_anon;
    m->peak_file = m->used_file;
    return true;
}
static const fields memory_fields = FIELDS_AS(
    profile_config, "memory", memory_rows, .finish = finish_memory,
    .present_at = 1 + offsetof(profile_config, memory.present));

#define USE(key_, member, kind_, unit_, label_, about_, ...) \
    CONFIG(key_, use.member, kind_, unit_, label_, about_, __VA_ARGS__)
static const field use_rows[] = {
    USE("cpu_percent", cpu_percent, F64, PERCENT, "CPU", "CPU time over wall time; 200: two cores.",
        OR_NULL),
    USE("threads", threads, INT, COUNT, "Threads", "Threads that could work.", OMIT_ZERO),
    USE("cpu_percent_per_thread", cpu_percent_per_thread, F64, PERCENT, NULL,
        "CPU utilisation per thread.", OR_OMIT),
    USE("wall_s", wall_s, F64, S, NULL, "Duration of the runs."),
    USE("cpu_s", cpu_s, F64, S, NULL, "CPU time of the runs."),
    USE("voluntary_switches", voluntary_switches, U64, COUNT, NULL, "Voluntary context switches."),
    USE("involuntary_switches", involuntary_switches, U64, COUNT, NULL,
        "Context switches forced by the scheduler."),
    USE("run_queue_wait_s", run_queue_wait_s, F64, S, "Waiting for a CPU",
        "Time that the measuring thread was ready and waited for a CPU.", OR_NULL),
    USE("load", load, F64, NONE, "Load", "Load average of the last minute.", OR_NULL),
    USE("busy", busy, STR, NONE, NULL, "Evidence that the machine was too busy; present only then.",
        OR_OMIT),
    USE("minor_faults", minor_faults, U64, COUNT, NULL, "Page faults without disk access."),
    USE("major_faults", major_faults, U64, COUNT, NULL, "Page faults with disk access."),
    USE("steal_percent", steal_percent, F64, PERCENT, "Steal", "CPU steal.", OR_NULL),
    USE("energy_j", energy_j, F64, JOULE, "Energy", "Energy of the CPU package (RAPL).", OR_NULL),
    USE("frequency_mhz", frequency_mhz, F64, MHZ, "Clock", "Average clock.", OR_NULL),
    USE("frequency_min_mhz", frequency_min_mhz, F64, MHZ, NULL, "Lowest clock seen.", OR_NULL),
    USE("gpu_percent", gpu.percent, F64, PERCENT, "GPU", "Time that a kernel ran.", OR_NULL),
    USE("gpu_percent_max", gpu.percent_max, F64, PERCENT, NULL, "Highest utilisation.", OR_NULL),
    USE("gpu_memory_percent", gpu.memory_percent, F64, PERCENT, NULL,
        "Time that GPU memory was accessed.", OR_NULL),
    USE("gpu_power_w", gpu.power_w, F64, WATT, NULL, "Average power.", OR_NULL),
    USE("gpu_power_max_w", gpu.power_max_w, F64, WATT, NULL, "Highest power.", OR_NULL),
    USE("gpu_temperature_max_c", gpu.temperature_max_c, F64, CELSIUS, NULL, "Highest temperature.",
        OR_NULL),
    USE("gpu_memory_peak", gpu.memory_peak, U64, BYTES, NULL, "Highest memory in use.", OR_NULL),
    USE("gpu_memory_total", gpu.memory_total, U64, BYTES, NULL, "Memory of the GPU.", OR_NULL),
    USE("gpu_process_peak", gpu.process_peak, U64, BYTES, NULL, "Highest memory of this process.",
        OR_NULL),
    USE("instructions", instructions, F64, COUNT, "Instructions", "Median of a run.", OMIT_ZERO),
    USE("instructions_min", instructions_min, F64, COUNT, NULL, "Minimum of the runs.", OMIT_ZERO),
    USE("instructions_max", instructions_max, F64, COUNT, NULL, "Maximum of the runs.", OMIT_ZERO),
    USE("pulse_us", pulse_us, F64, US, NULL, "Time of a fixed loop before and after the runs.",
        OMIT_ZERO),
};
static const fields use_fields = FIELDS_AS(profile_config, "utilization", use_rows,
                                           .present_at = 1 + offsetof(profile_config, use.present));

/* Linux counts traffic by network namespace, not by process. */
static bool scope_known(const void *counter)
{
    return *(const uint64_t *)counter != PROFILE_NOT_TOLD;
}

static void scope_write(json_writer *w, const void *counter)
{
    (void)counter;
    json_cstr(w, "namespace");
}

static void scope_print(sbuf *b, const void *counter)
{
    (void)counter;
    sbuf_puts(b, "namespace");
}
static const field_codec scope_codec = {.schema = "{\"const\": \"namespace\"}",
                                        .typescript = "string",
                                        .known = scope_known,
                                        .write = scope_write,
                                        .print = scope_print};

static const field io_rows[] = {
    USE("read_bytes", io.read_bytes, U64, BYTES, "Read", "Read from disk.", OR_NULL),
    USE("written_bytes", io.written_bytes, U64, BYTES, "Written", "Written to disk.", OR_NULL),
    USE("read_chars", io.read_chars, U64, BYTES, NULL, "Read through system calls.", OR_NULL),
    USE("written_chars", io.written_chars, U64, BYTES, NULL, "Written through system calls.",
        OR_NULL),
    USE("network_rx_bytes", io.network_rx_bytes, U64, BYTES, "Received",
        "Received on all interfaces but loopback.", OR_NULL),
    USE("network_tx_bytes", io.network_tx_bytes, U64, BYTES, "Sent",
        "Sent on all interfaces but loopback.", OR_NULL),
    USE("network_scope", io.network_rx_bytes, CODEC, NONE, NULL,
        "namespace: the traffic of every process of the network namespace.", .codec = &scope_codec,
        OR_OMIT, .flags = FIELD_WRITE_ONLY),
};
static const fields io_fields = FIELDS_AS(profile_config, "io", io_rows,
                                          .present_at = 1 + offsetof(profile_config, use.present));

static const field cold_rows[] = {
    CONFIG("engine_ms", load_ms, F64, MS, "Engine", "Time to load the engine.", OR_OMIT),
    CONFIG("session_ms", session_ms, F64, MS, "Session", "Time to create the session.", OR_OMIT),
    CONFIG("first_run_ms", first_run_ms, F64, MS, "First run", "Time of the first run.", OR_OMIT),
};
static const fields cold_fields = FIELDS_AS(profile_config, "cold_start", cold_rows);

static const field end_rows[] = {
    CONFIG("preprocess_ms", pre_ms, F64, MS, "Preprocess", "Time to decode and scale the image."),
    CONFIG("inference_ms", latency.median, F64, MS, "Inference", "Median of the runs.",
           .flags = FIELD_WRITE_ONLY),
    CONFIG("postprocess_ms", post_ms, F64, MS, "Postprocess", "Time to read the outputs.", OR_NULL),
    CONFIG("total_ms", end_to_end_ms, F64, MS, "Total", "Total time."),
};
static const fields end_fields = FIELDS_AS(profile_config, "end_to_end", end_rows,
                                           .present_at = 1 +
                                                         offsetof(profile_config, has_end_to_end));

static const field error_rows[] = {
    FIELD(profile_output_error, max_abs, F64, NONE, "Largest", "Largest absolute difference.",
          OR_NULL),
    FIELD(profile_output_error, mean_abs, F64, NONE, "Mean", "Mean absolute difference.", OR_NULL),
    FIELD(profile_output_error, relative, F64, RATIO, "Relative",
          "Euclidean distance divided by the norm of the reference; null: the reference is zero.",
          OR_NULL),
    FIELD(profile_output_error, cosine, F64, NONE, "Cosine", "Cosine similarity.", OR_NULL),
    FIELD(profile_output_error, elements, U64, COUNT, NULL, "Elements compared."),
    FIELD(profile_output_error, not_finite, U64, COUNT, NULL,
          "Excluded elements: NaN or infinite."),
    FIELD_AS(profile_output_error, "outputs_left_out", left_out, U32, COUNT, NULL,
             "Outputs that could not be compared."),
};
static const fields error_fields = FIELDS_IF_PRESENT(profile_output_error, error_rows);

#define WHEN_RAN  .when_at = 1 + offsetof(profile_config, ran)
#define IN_DETAIL .when_at = 1 + offsetof(profile_config, detailed)
static const field config_rows[] = {
    CONFIG("batch", batch, U64, COUNT, "Batch", "Batch size."),
    CONFIG("precision", precision, STR, NONE, "Precision", "Precision it ran at."),
    CONFIG("file_bytes", file_bytes, U64, BYTES, "File", "Size of the model that ran, on disk.",
           OMIT_ZERO),
    CONFIG("error", error, STR, NONE, "Error", "Why it did not run.", OR_OMIT),
    CONFIG("code", code, WORD, NONE, NULL, "memory, engine, precision or shape.", OR_OMIT),
    CONFIG("partial", partial, BOOL, NONE, NULL, "Whether the measurement was interrupted.",
           OMIT_ZERO),
    CONFIG("runs", latency.runs, U64, COUNT, "Runs", "Measured runs.", WHEN_RAN),
    CONFIG("mean_ms", latency.mean, F64, MS, "Mean", "Mean of the runs.", WHEN_RAN),
    CONFIG("std_ms", latency.std, F64, MS, "Std", "Standard deviation.", WHEN_RAN),
    CONFIG("median_ms", latency.median, F64, MS, "Median", "Median of the runs.", WHEN_RAN),
    CONFIG("p95_ms", latency.p95, F64, MS, "p95", "95th percentile.", WHEN_RAN),
    CONFIG("p99_ms", latency.p99, F64, MS, "p99", "99th percentile.", WHEN_RAN),
    CONFIG("samples_per_second", samples_per_second, F64, PER_SECOND, "Samples per second",
           "Throughput.", OR_OMIT),
    CONFIG("peak_bytes", memory.used_peak, U64, BYTES, "Peak memory",
           "Peak memory, as `memory.peak`.",
           .when_at = 1 + offsetof(profile_config, memory.present)),
    CONFIG("cpu_percent", use.cpu_percent, F64, PERCENT, "CPU", "CPU time over wall time.",
           .when_at = 1 + offsetof(profile_config, use.present), OR_NULL),
    CONFIG("gflops_per_s", gflops_per_s, F64, GFLOPS_PER_S, "Achieved", "FLOPs over the median.",
           OR_OMIT),
    FIELD_STRUCT(profile_config, "output_error", output_error, error_fields,
                 "Outputs compared with those of the stored precision.", ONE_LINE),
    FIELD_STRUCT(profile_config, "bands", bands, config_band_fields, "Ratings of its values.",
                 .flags = FIELD_FLAT | FIELD_WRITE_ONLY),
    FIELD_INLINE("end_to_end", end_fields, "With pre- and postprocessing.", ONE_LINE),
    FIELD_INLINE("latency", latency_fields, "As latency at the top.", IN_DETAIL),
    FIELD_INLINE("throughput", throughput_fields, "As throughput at the top.", IN_DETAIL),
    FIELD_INLINE("memory", memory_fields, "As memory at the top.", IN_DETAIL),
    FIELD_INLINE("utilization", use_fields, "As utilization at the top.", IN_DETAIL),
    FIELD_INLINE("io", io_fields, "As io at the top.", IN_DETAIL),
    FIELD_INLINE("cold_start", cold_fields, "As cold_start at the top.", IN_DETAIL, ONE_LINE),
};
static const profile_config config_start = PROFILE_CONFIG_UNKNOWN;

static bool finish_config(field_reader *r, void *base)
{
    (void)r;
    profile_config *c = base;
    c->ran = !c->error.n;
    c->code = c->error.n && !c->code ? "engine" : c->code;
    return true;
}
const fields configuration_fields = FIELDS(profile_config, config_rows, .start = &config_start,
                                           .finish = finish_config);

/* ---- where the time went ---- */

static const field kernel_rows[] = {
    FIELD(profile_kernel, name, STR, NONE, "Kernel", "Its name."),
    FIELD(profile_kernel, op, STR, NONE, "Operator", "Its operator."),
    FIELD(profile_kernel, time_ms, F64, MS, "Time", "Time in one run."),
};
static const fields kernel_fields = FIELDS(profile_kernel, kernel_rows);

static const char *const by_words[] = {"type", "module", "pattern", NULL};
static const field group_rows[] = {
    FIELD(profile_time_group, by, WORD, NONE, "By", "type, module or pattern.", .words = by_words,
          .flags = FIELD_NEEDED | FIELD_CSV),
    FIELD(profile_time_group, name, STR, NONE, "Name", "Name of the group.", IN_CSV),
    FIELD(profile_time_group, layers, U64, COUNT, "Layers", "Layers timed.", IN_CSV),
    FIELD(profile_time_group, time_ms, F64, MS, "Time", "Time in one run.", IN_CSV),
    FIELD(profile_time_group, time_std_ms, F64, MS, "Time ±", "Standard deviation.", OR_OMIT,
          IN_CSV),
    FIELD(profile_time_group, percent, F64, PERCENT, "Share", "Share of a run.", IN_CSV),
    FIELD(profile_time_group, flops, U64, FLOPS, "FLOPs", "Their FLOPs.", IN_CSV),
    FIELD(profile_time_group, memory, U64, BYTES, "Memory", "Bytes they move.", IN_CSV),
    FIELD(profile_time_group, gflops_per_s, F64, GFLOPS_PER_S, "GFLOP/s", "Achieved rate.", OR_OMIT,
          IN_CSV),
    FIELD(profile_time_group, gbytes_per_s, F64, GBYTES_PER_S, "GB/s", "Achieved bandwidth.",
          OR_OMIT, IN_CSV),
    FIELD_AS(profile_time_group, "bottleneck", compute_bound, EITHER, NONE, "Bottleneck",
             "compute-bound or memory-bound.", .words = bound_words, IN_CSV),
};
static const fields group_fields = FIELDS(profile_time_group, group_rows);

static const field ledger_rows[] = {
    FIELD(profile_ledger, runs, U64, COUNT, "Runs", "Profiled runs."),
    FIELD(profile_ledger, run_ms, F64, MS, "Run",
          "Time of a run without the overhead of the profiler."),
    FIELD(profile_ledger, layers_ms, F64, MS, "Layers", "Time in layers of the model."),
    FIELD(profile_ledger, engine_ms, F64, MS, "Engine's own kernels",
          "Time in kernels without a layer: layout changes, copies."),
    FIELD(profile_ledger, dispatch_ms, F64, MS, "Dispatch", "Time between kernels."),
    FIELD(profile_ledger, unexplained_ms, F64, MS, "Unexplained", "Unexplained remainder.",
          .flags = FIELD_SIGNED),
    FIELD(profile_ledger, latency_ms, F64, MS, "Without profiler",
          "Median of the runs without the profiler."),
    FIELD_AS(profile_ledger, "profiler_us_per_kernel", bias_us, F64, US, NULL,
             "Overhead of the profiler per kernel; subtracted."),
    FIELD_AS(profile_ledger, "profiler_us_between", overhead_us, F64, US, NULL,
             "Overhead of the profiler between kernels; subtracted."),
    FIELD(profile_ledger, kernels, U64, COUNT, "Kernels", "Kernels of a run."),
    FIELD(profile_ledger, fused_kernels, U64, COUNT, NULL, "Kernels that execute several layers."),
    FIELD_AS(profile_ledger, "layers_without_kernel", unmapped_layers, U64, COUNT, NULL,
             "Layers without a kernel."),
    FIELD_ITEMS(profile_ledger, LIST, "engine_kernels", engine_kernels, n_engine_kernels,
                kernel_fields, "Kernels of the engine's own.", ONE_LINE),
    FIELD_ITEMS(profile_ledger, LIST, "groups", groups, n_groups, group_fields,
                "Times by type, module and pattern.", OR_OMIT, ONE_LINE),
};
static const fields ledger_fields = FIELDS_IF_PRESENT(profile_ledger, ledger_rows);

/* ---- the plan against the run ---- */

static const field step_rows[] = {
    FIELD(plan_ledger_row, cause, WORD, NONE, "Cause", "Why the two differ."),
    FIELD(plan_ledger_row, text, WORD, NONE, "Cause", "Description of the cause."),
    FIELD(plan_ledger_row, bytes, I64, BYTES, "Bytes", "Bytes added; negative: bytes saved."),
    FIELD_AS(plan_ledger_row, "total_bytes", total, U64, BYTES, "Total",
             "With all causes before it."),
};
static const fields step_fields = FIELDS(plan_ledger_row, step_rows);

static const field run_moment_rows[] = {
    FIELD(profile_moment_measured, node, STR, NONE, "Layer", "The layer that ran."),
    FIELD_AS(profile_moment_measured, "live_bytes", requested, U64, BYTES, "Measured",
             "Activations in use after the kernel."),
    FIELD_AS(profile_moment_measured, "planned_bytes", planned, U64, BYTES, "Planned",
             "By the plan over the same order.", OR_NULL),
};
static const fields run_moment_fields = FIELDS(profile_moment_measured, run_moment_rows);

static const field plan_rows[] = {
    FIELD(profile_plan_check, planned_peak, U64, BYTES, "Planned peak", "Peak of the plan."),
    FIELD(profile_plan_check, planned_expanded, U64, BYTES, NULL,
          "With operators as the engine has them.", OMIT_ZERO),
    FIELD(profile_plan_check, planned_in_order, U64, BYTES, NULL,
          "Planned peak in the engine's order.", OMIT_ZERO),
    FIELD(profile_plan_check, planned_as_run, U64, BYTES, NULL,
          "Planned peak with in-place reuse only where the engine does it.", OMIT_ZERO),
    FIELD(profile_plan_check, planned_with_kept, U64, BYTES, NULL,
          "With dead buffers that the engine keeps.", OMIT_ZERO),
    FIELD(profile_plan_check, measured_peak, U64, BYTES, "Measured peak", "Peak of the run."),
    FIELD_AS(profile_plan_check, "measured_peak_node", peak_node, STR, NONE, NULL,
             "Layer at that peak.", OR_NULL),
    FIELD(profile_plan_check, excess_percent, F64, PERCENT, NULL,
          "Measured peak above the planned one.", OR_NULL, .decimals = 1 + 2,
          .flags = FIELD_WRITE_ONLY | FIELD_SIGNED),
    FIELD(profile_plan_check, planned_no_reuse, U64, BYTES, NULL, "Plan without work in place."),
    FIELD(profile_plan_check, measured_no_reuse, U64, BYTES, NULL, "Run without work in place."),
    FIELD_AS(profile_plan_check, "workspace_bytes", workspace, U64, BYTES, NULL,
             "Workspace of kernels.", OR_NULL),
    FIELD_ITEMS(profile_plan_check, LIST, "ledger", steps, n_steps, step_fields,
                "Causes that lead from the planned to the measured peak.", .size = PLAN_LEDGER_MAX,
                .flags = FIELD_FLAT | FIELD_WRITE_ONLY),
    FIELD(profile_plan_check, shapes_checked, U64, COUNT, NULL, "Outputs of known size."),
    FIELD(profile_plan_check, shapes_equal, U64, COUNT, NULL,
          "Outputs whose shape is as inferred."),
    FIELD(profile_plan_check, first_unequal, STR, NONE, NULL, "First node that differs.", OR_NULL),
    FIELD_ITEMS(profile_plan_check, LIST, "timeline", moments, n_moments, run_moment_fields,
                "Memory after each kernel.", ONE_LINE),
};
static const fields plan_fields = FIELDS_IF_PRESENT(profile_plan_check, plan_rows);

/* ---- ceilings, GPU ---- */

static const field level_rows[] = {
    FIELD(profile_level, name, STR, NONE, "Level", "L1, L2, L3 or DRAM."),
    FIELD(profile_level, bytes_per_s, F64, BYTES_PER_S, "Bandwidth", "Its bandwidth."),
};
static const fields level_fields = FIELDS(profile_level, level_rows);

static const field ceiling_rows[] = {
    FIELD(profile_ceilings, name, STR, NONE, "Processor", "Its name."),
    FIELD(profile_ceilings, measured, STR, NONE, "Measured", "When."),
    FIELD(profile_ceilings, dtype, STR, NONE, "Type", "Type of the arithmetic."),
    FIELD(profile_ceilings, threads, U64, COUNT, "Threads", "Threads."),
    FIELD_AS(profile_ceilings, "operations_per_s", ops_per_s, F64, FLOPS_PER_S, "Arithmetic",
             "Operations per second."),
    FIELD_ITEMS(profile_ceilings, LIST, "levels", levels, n_levels, level_fields,
                "Bandwidth by level, fastest first.", ONE_LINE),
};
static const fields ceiling_fields = FIELDS_IF_PRESENT(profile_ceilings, ceiling_rows);

static const char *const gpu_event_words[] = {"kernel", "copy", NULL};
static const field gpu_event_rows[] = {
    FIELD(profile_gpu_event, name, STR, NONE, "Name", "Name of the kernel or copy."),
    FIELD_AS(profile_gpu_event, "kind", copy, EITHER, NONE, "Kind", "kernel or copy.",
             .words = gpu_event_words),
    FIELD(profile_gpu_event, count, U64, COUNT, "Count", "Number in all profiled runs."),
    FIELD(profile_gpu_event, time_ms, F64, MS, "Time", "Time in one run."),
};
static const fields gpu_event_fields = FIELDS(profile_gpu_event, gpu_event_rows);

static const field gpu_rows[] = {
    FIELD(profile_gpu, available, BOOL, NONE, NULL, "Whether there is one."),
    FIELD(profile_gpu, name, STR, NONE, "GPU", "Its name.", OR_NULL),
    FIELD(profile_gpu, driver, STR, NONE, NULL, "Version of its driver.", OR_NULL),
    FIELD(profile_gpu, why, STR, NONE, NULL, "Why there is none.", OR_NULL),
    FIELD(profile_gpu, devices, U64, COUNT, NULL, "Devices found."),
    FIELD(profile_gpu, ranges, BOOL, NONE, NULL, "NVTX ranges are marked."),
    FIELD_ITEMS(profile_gpu, LIST, "events", events, n_events, gpu_event_fields,
                "Kernels and copies of a run.", ONE_LINE),
};
static const fields gpu_fields = FIELDS_IF_PRESENT(profile_gpu, gpu_rows);

/* ---- the recommended batch ---- */

static const field choice_rows[] = {
    FIELD(profile_batch_choice, batch, U64, COUNT, "Batch", "Recommended batch size."),
    FIELD(profile_batch_choice, precision, STR, NONE, NULL, "Precision of the recommended batch."),
    FIELD(profile_batch_choice, samples_per_second, F64, PER_SECOND, NULL, "Its throughput."),
    FIELD(profile_batch_choice, fastest_batch, U64, COUNT, NULL, "Fastest device that fits."),
    FIELD(profile_batch_choice, fastest_precision, STR, NONE, NULL, "Its precision."),
    FIELD(profile_batch_choice, fastest_samples_per_second, F64, PER_SECOND, NULL,
          "Its throughput."),
    FIELD(profile_batch_choice, tie_percent, U64, PERCENT, NULL,
          "Throughputs that differ by less are equal."),
    FIELD_AS(profile_batch_choice, "memory_available_bytes", room_bytes, U64, BYTES, NULL,
             "Available memory.", OMIT_ZERO),
    FIELD(profile_batch_choice, why, STR, NONE, NULL, "The reason."),
};
static const fields choice_fields = FIELDS_IF_PRESENT(profile_batch_choice, choice_rows);

/* ---- all ---- */

#define TOP(key_, of_, about_, ...)                        \
    FIELD_STRUCT(profile_measured, key_, top, of_, about_, \
                 .when_at = 1 + offsetof(profile_measured, has_top), __VA_ARGS__)
static const field measured_rows[] = {
    FIELD_INLINE("single_image", single_fields, "The smallest batch, in MiB and milliseconds.",
                 .flags = FIELD_WRITE_ONLY),
    FIELD_ITEMS(profile_measured, MAP, "batch_profiling", batches, n_batches, batch_fields,
                "By batch size.", .flags = FIELD_WRITE_ONLY),
    TOP("latency", latency_fields, "Latency of the smallest batch, in milliseconds."),
    TOP("throughput", throughput_fields, "Throughput of the smallest batch."),
    TOP("memory", memory_fields, "Memory of the smallest batch, in bytes."),
    TOP("utilization", use_fields, "Use of the machine during the runs of the smallest batch."),
    TOP("io", io_fields, "Input and output during these runs."),
    TOP("cold_start", cold_fields, "Time from the start to the first result.", ONE_LINE),
    TOP("end_to_end", end_fields, "With pre- and postprocessing.", ONE_LINE),
    FIELD_STRUCT(profile_measured, "cold_starts", cold, cold_starts_fields,
                 "Cold starts in new processes, with --cold."),
    FIELD_ITEMS(profile_measured, LIST, "generation", generation, n_generation, generation_fields,
                "Prefill and decode of a language model on llama.cpp."),
    FIELD_STRUCT(profile_measured, "ledger", ledger, ledger_fields,
                 "Where the time of a run went."),
    FIELD_STRUCT(profile_measured, "blocking", blocking, blocking_fields,
                 "What waits for what in a profiled run, with the critical path."),
    FIELD_STRUCT(profile_measured, "plan_check", plan, plan_fields,
                 "The memory plan against a run without optimisations."),
    FIELD_STRUCT(profile_measured, "ceilings", ceilings, ceiling_fields,
                 "Measured ceilings of the machine."),
    FIELD_STRUCT(profile_measured, "gpu", gpu, gpu_fields, "The GPU."),
    FIELD_ITEMS(profile_measured, LIST, "configurations", configs, n_configs, configuration_fields,
                "Every batch size and precision.", ONE_LINE),
    FIELD_AS(profile_measured, "recommended_batch", choice.batch, U64, COUNT, "Recommended batch",
             "Batch size with the highest throughput.", OMIT_ZERO),
    FIELD_STRUCT(profile_measured, "batch_choice", choice, choice_fields,
                 "Why that batch is recommended."),
    FIELD(profile_measured, interrupted, BOOL, NONE, NULL, "Whether the user interrupted it.",
          OMIT_ZERO),
    FIELD(profile_measured, stopped, STR, NONE, NULL, "Why it ended early.", OR_OMIT),
};
static const profile_measured measured_start = {.top = PROFILE_CONFIG_UNKNOWN,
                                                .single_shape = {.rank = -1}};

/* The sections at the top belong to the configuration that lacks them. */
static bool finish_measured(field_reader *r, void *base)
{
    profile_measured *m = base;
    if (!m->n_configs && m->top.latency.runs) { /* sections without a list of configurations */
        m->configs = arena_copy(r->arena, &m->top, sizeof m->top);
        if (!m->configs)
            return fields_fail_memory(r);
        m->n_configs = 1;
        m->configs->batch = 1;
        m->configs->latency.median = m->top.latency.p50;
    }
    for (uint32_t i = 0; i < m->n_configs; i++) {
        profile_config *c = &m->configs[i], own = *c;
        if (!c->ran || c->detailed || !m->top.latency.runs)
            continue;
        *c = m->top;
        c->batch = own.batch;
        c->precision = own.precision;
        c->file_bytes = own.file_bytes;
        c->output_error = own.output_error;
        c->latency.median = own.latency.median;
        c->ran = true;
        break;
    }
    m->unit = m->top.units.name ? m->top.units.name : "samples";
    m->units_per_sample = isnan(m->top.units.per_sample) ? 1 : m->top.units.per_sample;
    return true;
}
const fields measured_fields = FIELDS(profile_measured, measured_rows, .start = &measured_start,
                                      .finish = finish_measured);
