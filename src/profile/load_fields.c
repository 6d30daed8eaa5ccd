/* "assay.load/1": the field table of a load (docs/load.md). */
#include "profile/load.h"

#include "profile/profile_fields.h"

#define TIME(member, label_, about_) \
    FIELD(load_times, member, F64, MS, label_, about_, OR_NULL, .decimals = 1 + 6)

static const field times_rows[] = {
    FIELD(load_times, runs, U64, COUNT, "Requests", "Values behind the statistics."),
    TIME(mean, "Mean", "Mean of good requests."),
    TIME(std, "Deviation", "Standard deviation of good requests."),
    TIME(min, "Lowest", "Lowest of good requests."),
    TIME(max, "Highest", "Highest of good requests."),
    TIME(p50, "P50", "Median; failed requests count as the slowest, as in all percentiles."),
    TIME(p90, "P90", "90th percentile."),
    TIME(p95, "P95", "95th percentile."),
    TIME(p99, "P99", "99th percentile."),
    TIME(p999, "P99.9", "99.9th percentile."),
    TIME(ci95_low, NULL, "Lower end of the 95 % interval of the mean."),
    TIME(ci95_high, NULL, "Upper end of the 95 % interval of the mean."),
    TIME(p50_low, NULL, "Lower end of the 95 % interval of the median."),
    TIME(p50_high, NULL, "Upper end of the 95 % interval of the median."),
    TIME(p99_low, NULL, "Lower end of the 95 % interval of P99."),
    TIME(p99_high, NULL, "Upper end of the 95 % interval of P99; null: too few requests."),
    FIELD_VALUES(load_times, F64S, "samples_ms", samples_ms, n_samples, MS,
                 "Good requests in order of their end; evenly thinned above 10,000.",
                 .decimals = 1 + 4, OMIT_ZERO),
};
static const fields times_fields = FIELDS_IF_PRESENT(load_times, times_rows);

static const field error_rows[] = {
    FIELD(load_error_count, n, U64, COUNT, NULL, "Requests that failed so."),
};
static const fields error_fields = FIELDS(load_error_count, error_rows, .bare = true,
                                          .key_at = offsetof(load_error_count, kind));
static const field cause_rows[] = {
    FIELD(load_error_cause, why, STR, NONE, NULL, "Cause of the first failure of this kind."),
};
static const fields cause_fields = FIELDS(load_error_cause, cause_rows, .bare = true,
                                          .key_at = offsetof(load_error_cause, kind));

static const field target_rows[] = {
    FIELD(load_endpoint, url, STR, NONE, "URL", "The URL, without user and password."),
    FIELD(load_endpoint, host, STR, NONE, "Host", "Host of the URL."),
    FIELD(load_endpoint, address, STR, NONE, "Address", "Address that was contacted."),
    FIELD(load_endpoint, port, U64, NONE, "Port", "Its port."),
    FIELD(load_endpoint, tls, BOOL, NONE, NULL, "Whether the connections use TLS."),
    FIELD(load_endpoint, loopback, BOOL, NONE, NULL, "Whether the address is of this machine."),
    FIELD(load_endpoint, protocol, STR, NONE, "Protocol",
          "http, openai-chat, openai-completions, kserve, torchserve or tfserving."),
    FIELD(load_endpoint, model, STR, NONE, "Model", "Model as the server calls it.", OR_OMIT),
};
static const fields target_fields = FIELDS(load_endpoint, target_rows);

static const field settings_rows[] = {
    FIELD(load_settings, mode, WORD, NONE, "Mode", "closed, open, replay or curve."),
    FIELD(load_settings, concurrency, U64, COUNT, "Connections",
          "Connections of a closed loop; most connections otherwise."),
    FIELD(load_settings, rate, F64, PER_SECOND, "Rate", "Requests per second of an open loop.",
          OR_OMIT),
    FIELD(load_settings, arrivals, WORD, NONE, "Arrivals", "poisson or constant.", OR_OMIT),
    FIELD(load_settings, duration_s, F64, S, "Duration", "Requested time of sending.", OR_OMIT),
    FIELD(load_settings, warmup_s, F64, S, "Warm-up", "Time before the measurement.", OMIT_ZERO),
    FIELD(load_settings, timeout_s, F64, S, "Time-out", "Longest wait for an answer."),
    FIELD(load_settings, seed, U64, NONE, NULL, "Seed of arrivals and prompts."),
    FIELD(load_settings, stream, BOOL, NONE, NULL, "Whether answers were requested as streams."),
    FIELD(load_settings, prompt_tokens, STR, NONE, "Prompt tokens", "Requested distribution.",
          OR_OMIT),
    FIELD(load_settings, output_tokens, STR, NONE, "Output tokens", "Requested distribution.",
          OR_OMIT),
    FIELD_VALUES(load_settings, STRS, "headers", headers, n_headers, NONE,
                 "Names of the headers that were added; values are not kept.", OMIT_ZERO),
    FIELD(load_settings, trace, STR, NONE, "Trace", "File that was replayed.", OR_OMIT),
    FIELD(load_settings, speed, F64, RATIO, "Speed", "Speed of the replay.", OR_OMIT),
};
static const fields settings_fields = FIELDS(load_settings, settings_rows);

static const field throughput_rows[] = {
    FIELD_AS(load_throughput, "requests_per_second", requests, F64, PER_SECOND,
             "Requests per second", "Good requests per second.", .flags = FIELD_HIGHER_IS_BETTER),
    FIELD_AS(load_throughput, "offered_requests_per_second", offered, F64, PER_SECOND, "Offered",
             "Requests that were due per second, of an open loop.", OR_OMIT),
    FIELD_AS(load_throughput, "tokens_per_second", tokens, F64, PER_SECOND, "Tokens per second",
             "Generated tokens per second.", OR_OMIT, .flags = FIELD_HIGHER_IS_BETTER),
    FIELD_AS(load_throughput, "input_tokens_per_second", in_tokens, F64, PER_SECOND,
             "Input tokens per second", "Prompt tokens per second, by the server's usage.",
             OR_OMIT),
};
static const fields throughput_fields = FIELDS(load_throughput, throughput_rows);

static const field limit_rows[] = {
    FIELD(load_limit, metric, STR, NONE, "Metric", "latency, ttft or itl."),
    FIELD(load_limit, quantile, F64, NONE, "Quantile", "Which quantile is limited, 0 to 1."),
    FIELD(load_limit, limit_ms, F64, MS, "Limit", "Highest value accepted."),
    FIELD(load_limit, value_ms, F64, MS, "Value", "Measured value.", OR_NULL),
    FIELD(load_limit, met, BOOL, NONE, "Met", "Whether the limit is met."),
};
static const fields limit_fields = FIELDS(load_limit, limit_rows);

static const field slo_rows[] = {
    FIELD(load_slo, text, STR, NONE, "SLO", "As requested."),
    FIELD(load_slo, met, BOOL, NONE, "Met", "Whether every limit is met."),
    FIELD_ITEMS(load_slo, LIST, "limits", limits, n_limits, limit_fields, "Its limits.", ONE_LINE),
    FIELD_AS(load_slo, "good_requests", good, U64, COUNT, "Good requests",
             "Requests within all limits."),
    FIELD_AS(load_slo, "goodput_requests_per_second", goodput, F64, PER_SECOND, "Goodput",
             "Requests within all limits, per second."),
    FIELD_AS(load_slo, "good_share", share, F64, NONE, NULL, "Share of all requests, 0 to 1."),
};
static const fields slo_fields = FIELDS_IF_PRESENT(load_slo, slo_rows);

#define DELAY(member, about_) \
    FIELD(load_client_use, member, F64, US, NULL, about_, OR_NULL, .decimals = 1 + 3)

static const field client_rows[] = {
    FIELD(load_client_use, cpu_percent, F64, PERCENT, "Client CPU",
          "CPU time of the load generator over the wall time; 100: its one thread was busy.",
          OR_NULL),
    FIELD(load_client_use, late_sends, U64, COUNT, "Late sends",
          "Requests sent more than 1 ms after they were due although a connection was free."),
    FIELD(load_client_use, late_percent, F64, PERCENT, NULL, "Share of all sends."),
    DELAY(send_delay_p50_us, "Median delay of a send, of an open loop."),
    DELAY(send_delay_p99_us, "99th percentile of that delay."),
    DELAY(send_delay_max_us, "Longest such delay."),
    DELAY(receive_delay_us, "Mean time that bytes waited for the load generator to read them."),
    FIELD(load_client_use, connections, U64, COUNT, "Connections", "Connections opened."),
    FIELD(load_client_use, reconnects, U64, COUNT, NULL,
          "Of them because the server had closed an idle one."),
    FIELD(load_client_use, in_flight_most, U64, COUNT, "In flight", "Most requests at one time."),
    FIELD_AS(load_client_use, "waited_for_connection", waited, U64, COUNT, NULL,
             "Requests that waited because all connections were in use."),
    FIELD(load_client_use, saturated, BOOL, NONE, NULL,
          "Whether the load generator, not the server, may limit the figures."),
    FIELD(load_client_use, why, STR, NONE, NULL, "The evidence.", OR_OMIT),
};
static const fields client_fields = FIELDS(load_client_use, client_rows);

static const field network_rows[] = {
    FIELD_AS(load_network, "received_bytes", in_bytes, U64, BYTES, "Received",
             "Bytes of answers, headers included; under TLS after decryption."),
    FIELD_AS(load_network, "sent_bytes", out_bytes, U64, BYTES, "Sent", "Bytes of requests."),
    FIELD_AS(load_network, "received_bytes_per_second", in_rate, F64, BYTES_PER_S, NULL,
             "The same per second."),
    FIELD_AS(load_network, "sent_bytes_per_second", out_rate, F64, BYTES_PER_S, NULL,
             "The same per second."),
};
static const fields network_fields = FIELDS(load_network, network_rows);

static const field moment_rows[] = {
    FIELD(load_moment, time_s, F64, S, "Time", "Beginning of the interval.", .decimals = 1 + 3),
    FIELD(load_moment, requests_per_second, F64, PER_SECOND, "Requests/s",
          "Good requests that ended, per second.", .decimals = 1 + 3),
    FIELD(load_moment, tokens_per_second, F64, PER_SECOND, "Tokens/s", "Their tokens per second.",
          OR_OMIT, .decimals = 1 + 3),
    FIELD(load_moment, p50, F64, MS, "P50", "Median latency of them.", OR_NULL, .decimals = 1 + 4),
    FIELD(load_moment, p99, F64, MS, "P99", "99th percentile.", OR_NULL, .decimals = 1 + 4),
    FIELD(load_moment, errors, U64, COUNT, "Errors", "Requests that failed."),
};
static const fields moment_fields = FIELDS(load_moment, moment_rows);

static const field share_rows[] = {
    FIELD(load_share, percent, F64, PERCENT, "Percent", "Share of the values at or below."),
    FIELD(load_share, latency, F64, MS, "Latency", "Latency.", OR_NULL, .decimals = 1 + 4),
    FIELD(load_share, ttft, F64, MS, "TTFT", "Time to first token.", OR_OMIT, .decimals = 1 + 4),
    FIELD(load_share, itl, F64, MS, "ITL", "Gap between tokens.", OR_OMIT, .decimals = 1 + 4),
};
static const fields share_fields = FIELDS(load_share, share_rows);

#define STEP_MS(member, label_, about_) \
    FIELD(load_curve_step, member, F64, MS, label_, about_, OR_NULL, .decimals = 1 + 4)
#define STEP_TOKEN_MS(member, label_, about_) \
    FIELD(load_curve_step, member, F64, MS, label_, about_, OR_OMIT, .decimals = 1 + 4)

static const field step_rows[] = {
    FIELD(load_curve_step, rate, F64, PER_SECOND, "Offered", "Requests due per second."),
    FIELD(load_curve_step, requests_per_second, F64, PER_SECOND, "Achieved",
          "Good requests per second."),
    FIELD(load_curve_step, goodput, F64, PER_SECOND, "Goodput",
          "Requests within the SLO per second.", OR_OMIT),
    FIELD(load_curve_step, tokens_per_second, F64, PER_SECOND, "Tokens/s",
          "Generated tokens per second.", OR_OMIT),
    STEP_MS(mean, "Mean", "Mean latency."),
    STEP_MS(mean_low, NULL, "Lower end of its 95 % interval."),
    STEP_MS(mean_high, NULL, "Upper end of its 95 % interval."),
    STEP_MS(p50, "P50", "Median latency."),
    STEP_MS(p90, "P90", "90th percentile."),
    STEP_MS(p95, "P95", "95th percentile."),
    STEP_MS(p99, "P99", "99th percentile."),
    STEP_MS(p99_low, NULL, "Lower end of its 95 % interval."),
    STEP_MS(p99_high, NULL, "Upper end of its 95 % interval; null: too few requests."),
    STEP_TOKEN_MS(ttft_p50, "TTFT P50", "Median time to first token."),
    STEP_TOKEN_MS(ttft_p99, "TTFT P99", "Its 99th percentile."),
    STEP_TOKEN_MS(itl_p50, "ITL P50", "Median gap between tokens."),
    STEP_TOKEN_MS(itl_p99, "ITL P99", "Its 99th percentile."),
    FIELD(load_curve_step, requests, U64, COUNT, "Requests", "Requests of the step."),
    FIELD(load_curve_step, errors, U64, COUNT, "Errors", "Failed requests."),
    FIELD(load_curve_step, error_rate, F64, NONE, NULL, "Share of failed requests, 0 to 1."),
    FIELD(load_curve_step, duration_s, F64, S, "Duration", "Time of sending."),
    FIELD(load_curve_step, steady, BOOL, NONE, "Steady",
          "Whether latency settled within the step."),
    FIELD(load_curve_step, steady_after_s, F64, S, NULL,
          "Beginning of the part that the figures are of.", OR_NULL),
    FIELD(load_curve_step, saturated, BOOL, NONE, "Saturated",
          "Whether the server did not keep up with the rate."),
    FIELD(load_curve_step, client_saturated, BOOL, NONE, NULL,
          "Whether the load generator may be the limit."),
    FIELD(load_curve_step, meets_slo, BOOL, NONE, "SLO", "Whether the step meets the SLO.",
          .when_at = 1 + offsetof(load_curve_step, has_slo)),
    FIELD(load_curve_step, knee, BOOL, NONE, NULL, "Whether it is the knee of the curve."),
    FIELD(load_curve_step, best, BOOL, NONE, NULL,
          "Whether it is the highest rate within the SLO."),
};
static const fields step_fields = FIELDS(load_curve_step, step_rows);

#define ANSWER_RATE(member, label_, about_) \
    FIELD(load_curve_answer, member, F64, PER_SECOND, label_, about_, OR_NULL)

static const field answer_rows[] = {
    ANSWER_RATE(max_rate, "Highest rate",
                "Highest rate tried that meets the SLO; without one, that the server sustains."),
    ANSWER_RATE(next_rate, NULL, "Lowest rate tried above it, which does not."),
    ANSWER_RATE(knee_rate, "Knee",
                "Rate of the step with the highest throughput divided by mean latency."),
    FIELD_AS(load_curve_answer, "saturation_requests_per_second", saturation, F64, PER_SECOND,
             "Highest throughput", "Highest throughput of any step.", OR_NULL),
    FIELD_AS(load_curve_answer, "complete", whole, BOOL, NONE, NULL,
             "Whether a step saturated the server."),
};
static const fields answer_fields = FIELDS_IF_PRESENT(load_curve_answer, answer_rows);

static const field load_rows[] = {
    FIELD(load_result, model, STR, NONE, "Endpoint", "The URL."),
    {.key = "context",
     .kind = FIELD_OBJECT,
     .at = (uint32_t)offsetof(load_result, about),
     .of = &context_fields,
     .by_pointer = true,
     .about = "Time, machine and command of the result."},
    FIELD_STRUCT(load_result, "target", target, target_fields, "The endpoint."),
    FIELD_STRUCT(load_result, "settings", settings, settings_fields, "How it was loaded."),
    FIELD(load_result, interrupted, BOOL, NONE, NULL, "Whether the run was interrupted."),
    FIELD(load_result, requests, U64, COUNT, "Requests", "Requests that ended."),
    FIELD_AS(load_result, "succeeded", good, U64, COUNT, "Succeeded", "Good ones."),
    FIELD(load_result, failed, U64, COUNT, "Failed", "Others."),
    FIELD(load_result, error_rate, F64, NONE, "Error rate", "Share of failed requests, 0 to 1.",
          OR_NULL),
    FIELD_AS(load_result, "duration_s", wall_s, F64, S, "Time", "Time of the run."),
    FIELD_STRUCT(load_result, "latency", latency, times_fields,
                 "From when a request was due to the end of its answer, in milliseconds."),
    FIELD_STRUCT(load_result, "ttft", ttft, times_fields,
                 "Time to first token, from when the request was due."),
    FIELD_STRUCT(load_result, "itl", itl, times_fields, "Gaps between tokens."),
    FIELD_STRUCT(load_result, "throughput", throughput, throughput_fields, "Rates."),
    FIELD_AS(load_result, "tokens_per_second", throughput.tokens, F64, PER_SECOND, NULL,
             "As throughput.tokens_per_second.", OR_OMIT, .flags = FIELD_WRITE_ONLY),
    FIELD_AS(load_result, "output_tokens", out_tokens, U64, COUNT, "Output tokens",
             "Tokens generated.", .when_at = 1 + offsetof(load_result, any_tokens)),
    FIELD_AS(load_result, "input_tokens", in_tokens, U64, COUNT, "Input tokens",
             "Tokens of prompts, by the server's usage.",
             .when_at = 1 + offsetof(load_result, any_tokens)),
    FIELD(load_result, tokens_source, WORD, NONE, "Tokens counted by",
          "usage: the server; chunks: events of the stream with text; mixed.", OR_OMIT),
    FIELD_ITEMS(load_result, MAP, "errors", errors, n_errors, error_fields,
                "Failed requests by kind."),
    FIELD_ITEMS(load_result, MAP, "error_causes", causes, n_causes, cause_fields,
                "Cause of the first failure of each kind."),
    FIELD_STRUCT(load_result, "slo", slo, slo_fields, "The service level objective."),
    FIELD_AS(load_result, "goodput", slo.goodput, F64, PER_SECOND, NULL,
             "As slo.goodput_requests_per_second.", OR_OMIT,
             .when_at = 1 + offsetof(load_result, slo.present), .flags = FIELD_WRITE_ONLY),
    FIELD_STRUCT(load_result, "client", client, client_fields, "The load generator itself."),
    FIELD_STRUCT(load_result, "network", network, network_fields, "Bytes in and out."),
    FIELD_ITEMS(load_result, LIST, "curve", curve, n_curve, step_fields,
                "Steps in order of their rate.", ONE_LINE, OMIT_ZERO),
    FIELD_STRUCT(load_result, "curve_summary", answer, answer_fields, "What the curve says."),
    FIELD_ITEMS(load_result, LIST, "timeline", timeline, n_timeline, moment_fields,
                "The run over time.", ONE_LINE),
    FIELD_ITEMS(load_result, LIST, "cdf", cdf, n_cdf, share_fields, "Distributions.", ONE_LINE),
    {.key = "server",
     .kind = FIELD_OBJECT,
     .at = (uint32_t)offsetof(load_result, server),
     .of = &watch_fields,
     .by_pointer = true,
     OR_OMIT,
     .about = "The server's process or control group, with --pid or --cgroup."},
    FIELD_SPLICED(load_result, warnings, warning_fields),
};

static bool finish_load(field_reader *r, void *base)
{
    load_result *l = base;
    if (!l->about) {
        l->about = ARENA_NEW(r->arena, profile);
        if (!l->about)
            return fields_fail_memory(r);
        fields_clear(&context_fields, l->about);
    }
    l->about->arena = r->arena;
    l->warnings.arena = r->arena;
    l->warnings.list.cap = l->warnings.list.n;
    return true;
}
static const fields load_fields = FIELDS(load_result, load_rows, .finish = finish_load);
const result_kind load_kind = {.schema = "assay.load",
                               .version = 1,
                               .name = "load",
                               .what = "a load on an endpoint",
                               .of = &load_fields};
