/* "assay.pipeline/1", kind "language": the field table of a language model (docs/pipelines.md). */
#include "profile/language.h"

#include "profile/conclusion.h"

/* A figure, and the same for display in "KEY_str". */
#define FIGURE(T, key_, member, unit_, label_, about_)     \
    FIELD_AS(T, key_, member, U64, unit_, label_, about_), \
        FIELD_AS(T, key_ "_str", member##_str, STR, NONE, NULL, "The same as text.")

#define RESULT(key_, member, kind_, unit_, label_, ...) \
    FIELD_AS(language_result, key_, member, kind_, unit_, label_, __VA_ARGS__)
#define RESULT_FIGURE(key_, member, unit_, label_, about_) \
    FIGURE(language_result, key_, member, unit_, label_, about_)

/* ---- prefill and decode ---- */

static const field phase_rows[] = {
    FIELD_AS(language_phase, "tokens_per_sequence", tokens, U64, COUNT, "Tokens",
             "Tokens processed per sequence."),
    FIELD(language_phase, context, I64, COUNT, "Context", "Tokens in the cache when it ends."),
    FIGURE(language_phase, "macs", macs, MACS, "MACs", "MACs of the batch."),
    FIGURE(language_phase, "flops", flops, FLOPS, "FLOPs", "FLOPs of the batch."),
    FIELD(language_phase, linear_macs, U64, MACS, "Linear", "MACs of the linear layers."),
    FIELD(language_phase, attention_macs, U64, MACS, "Attention", "MACs of attention's products."),
    FIELD(language_phase, causal_macs, U64, MACS, NULL, "MACs with causal masks counted."),
    FIGURE(language_phase, "bytes", bytes, BYTES, "Bytes", "Bytes read and written."),
    FIELD(language_phase, weight_bytes, U64, BYTES, "Weights", "Bytes of weights read."),
    FIELD(language_phase, cache_bytes, U64, BYTES, "Cache", "Bytes of the cache read and written."),
    FIELD(language_phase, activation_bytes, U64, BYTES, NULL, "Bytes of activations."),
    FIELD(language_phase, arithmetic_intensity, F64, INTENSITY, "FLOPs per byte",
          "FLOPs per byte moved.", .decimals = 1 + 4),
    FIELD_AS(language_phase, "expected_distinct_experts", experts_per_layer, F64, COUNT, NULL,
             "Distinct experts expected to be chosen in a layer.", .decimals = 1 + 4, OMIT_ZERO),
};
static const fields phase_fields = FIELDS(language_phase, phase_rows);

static const field average_rows[] = {
    FIELD(language_phase, macs, U64, MACS, "MACs", "MACs of a step on average."),
    FIELD(language_phase, flops, U64, FLOPS, "FLOPs", "FLOPs of a step on average."),
    FIELD(language_phase, bytes, U64, BYTES, "Bytes", "Bytes moved by a step on average."),
    FIELD(language_phase, arithmetic_intensity, F64, INTENSITY, "FLOPs per byte",
          "FLOPs per byte moved.", .decimals = 1 + 4),
};
static const fields average_fields = FIELDS_AS(language_phase, "language_average", average_rows);

static const field decode_rows[] = {
    RESULT("steps", generate, I64, COUNT, "Steps", "Tokens generated."),
    RESULT_FIGURE("macs", decode_macs, MACS, "MACs", "MACs of all steps."),
    RESULT_FIGURE("flops", decode_flops, FLOPS, "FLOPs", "FLOPs of all steps."),
    RESULT_FIGURE("bytes", decode_bytes, BYTES, "Bytes", "Bytes moved by all steps."),
    FIELD_STRUCT(language_result, "first", first, phase_fields, "The first step."),
    FIELD_STRUCT(language_result, "last", last, phase_fields, "The last step."),
    FIELD_STRUCT(language_result, "average", average, average_fields, "Average step.", ONE_LINE),
};
static const fields decode_fields = FIELDS_AS(language_result, "language_decode", decode_rows);

/* ---- memory ---- */

static const field attention_rows[] = {
    FIELD_AS(language_attention, "count", layers, U64, COUNT, "Layers", "Layers of this kind."),
    FIELD(language_attention, window, I64, COUNT, "Window",
          "Tokens that a layer attends to; null: all.", NULL_ZERO),
    FIELD_AS(language_attention, "elements_per_token", cache_elements, U64, COUNT, NULL,
             "Elements cached per token, of one layer."),
    FIELD_AS(language_attention, "prefill_macs_per_pair", prefill_macs, U64, MACS, NULL,
             "MACs per query and key in the prefill, of one layer."),
    FIELD_AS(language_attention, "decode_macs_per_key", decode_macs, U64, MACS, NULL,
             "MACs per key in a step, of one layer."),
};
static const fields attention_fields = FIELDS(language_attention, attention_rows);

static const field cache_rows[] = {
    RESULT("dtype", cache_dtype, WORD, NONE, "Type", "Type of the cache."),
    RESULT("elements_per_token", cache_elements_per_token, U64, COUNT, NULL,
           "Elements cached per token."),
    RESULT_FIGURE("bytes_per_token", cache_bytes_per_token, BYTES, "Per token",
                  "Bytes cached per token."),
    RESULT_FIGURE("bytes", cache_bytes, BYTES, "Cache", "Size of the cache in the end."),
    RESULT("bytes_without_windows", cache_bytes_without_windows, U64, BYTES, NULL,
           "Size without sliding windows."),
    RESULT("tokens", tokens, I64, COUNT, "Tokens", "Tokens of a sequence in the end."),
    FIELD_ITEMS(language_result, LIST, "layers", attention, n_attention, attention_fields,
                "Attention layers by kind.", .size = LANGUAGE_ATTENTIONS, ONE_LINE),
};
static const fields cache_fields = FIELDS_AS(language_result, "language_cache", cache_rows);

#define WITH_LIMIT .when_at = 1 + offsetof(language_result, has_limit)

static const field memory_rows[] = {
    RESULT_FIGURE("weight_bytes", weight_bytes, BYTES, "Weights", "Size of the weights."),
    RESULT_FIGURE("cache_bytes", cache_bytes, BYTES, "Cache", "Size of the cache in the end."),
    RESULT_FIGURE("activation_peak_bytes", activation_peak_bytes, BYTES, "Activation peak",
                  "Peak of the activations, of the prefill."),
    RESULT_FIGURE("serve_bytes", serve_bytes, BYTES, "Together", "Memory to serve."),
    RESULT("limit_bytes", memory_limit, U64, BYTES, "Memory given", "The memory given.",
           WITH_LIMIT),
    RESULT("fits", fits, BOOL, NONE, "Fits", "Whether it fits.", WITH_LIMIT),
    RESULT("verdict", verdict, WORD, NONE, NULL,
           "Verdict on the share of the memory given, as of map.", WITH_LIMIT, OR_OMIT),
    RESULT("largest_context", largest_context, I64, COUNT, "Largest context",
           "Most tokens per sequence at this batch; null: any number where it fits, else none.",
           WITH_LIMIT, OR_NULL),
    RESULT("largest_batch", largest_batch, I64, COUNT, "Largest batch",
           "Most sequences of this length; null as above.", WITH_LIMIT, OR_NULL),
};
static const fields memory_fields = FIELDS_AS(language_result, "language_memory", memory_rows);

static const field format_rows[] = {
    FIELD_AS(language_format, "format", name, WORD, NONE, "Format", "Number format."),
    FIELD_AS(language_format, "bits_per_weight", bits, F64, NONE, "Bits per weight",
             "Bits per weight, scales included."),
    FIELD(language_format, bytes, U64, BYTES, "Size", "Size of the weights."),
    FIELD(language_format, about, WORD, NONE, NULL, "Storage of the weights."),
};
static const fields format_fields = FIELDS(language_format, format_rows);

/* ---- closed forms ---- */

static const field form_rows[] = {
    RESULT("variables", form_variables, WORD, NONE, NULL, "Meaning of the letters."),
    RESULT("prefill_macs", prefill_form, STR, NONE, "Prefill MACs", "MACs of the prefill."),
    RESULT("decode_macs", decode_form, STR, NONE, "Step MACs", "MACs of a step."),
    RESULT("cache_bytes", cache_form, STR, NONE, "Cache bytes", "Size of the cache."),
    RESULT("prefill_linear_macs_per_token", prefill_linear_macs, U64, MACS, NULL,
           "MACs of the linear layers per token of the prompt."),
    RESULT("decode_linear_macs_per_token", decode_linear_macs, U64, MACS, NULL,
           "MACs of the linear layers per token generated."),
    RESULT("head_macs_per_token", head_macs, U64, MACS, NULL, "MACs of the logits per token."),
    RESULT("crossing_tokens", crossing_tokens, F64, COUNT, NULL,
           "Tokens above which attention costs more than the linear layers; 0: never.",
           .decimals = 1 + 1),
    RESULT("crossing_tokens_causal", crossing_causal_tokens, F64, COUNT, NULL,
           "The same with causal masks counted.", .decimals = 1 + 1),
    RESULT("attention_exceeds_linear_at", attention_exceeds, U64, COUNT, NULL,
           "crossing_tokens as a whole number of tokens, rounded up; 0: never."),
    RESULT("attention_exceeds_linear_at_causal", attention_exceeds_causal, U64, COUNT, NULL,
           "crossing_tokens_causal as a whole number of tokens, rounded up; 0: never."),
};
static const fields form_fields = FIELDS_AS(language_result, "language_forms", form_rows);

/* ---- times ---- */

#define DEVICE_TIME(key_, member, kind_, unit_, label_, about_, ...) \
    FIELD_AS(language_device, key_, member, kind_, unit_, label_, about_, OR_OMIT, __VA_ARGS__)

#define USERS_MS(key_, member, label_, about_) \
    FIELD_AS(language_users, key_, member, F64, MS, label_, about_, .decimals = 1 + 4)

static const field users_rows[] = {
    FIELD(language_users, users, I64, COUNT, "Users", "Requests at once, running or waiting."),
    FIELD(language_users, running, I64, COUNT, "Running",
          "Requests that run; the others wait for memory."),
    USERS_MS("ttft_ms", ttft_ms, "First token", "Expected time to the first token."),
    USERS_MS("ttft_low_ms", ttft_low_ms, NULL, "80 % interval, lower end."),
    USERS_MS("ttft_high_ms", ttft_high_ms, NULL, "80 % interval, upper end."),
    USERS_MS("itl_ms", itl_ms, "Per token", "Expected time between tokens."),
    USERS_MS("itl_low_ms", itl_low_ms, NULL, "80 % interval, lower end."),
    USERS_MS("itl_high_ms", itl_high_ms, NULL, "80 % interval, upper end."),
    USERS_MS("latency_ms", latency_ms, "Request", "Expected time of a whole request."),
    USERS_MS("ttft_p99_ms", ttft_p99_ms, "First token P99",
             "Predicted 99th percentile of the time to the first token."),
    USERS_MS("itl_p99_ms", itl_p99_ms, "Per token P99",
             "Predicted 99th percentile of a request's mean time between tokens."),
    USERS_MS("latency_p99_ms", latency_p99_ms, "Request P99",
             "Predicted 99th percentile of the time of a request."),
    FIELD_AS(language_users, "tokens_per_second", tokens_per_s, F64, PER_SECOND, "Tokens/s",
             "Tokens generated per second, of all users.", .decimals = 1 + 2),
    FIELD_AS(language_users, "tokens_per_second_user", tokens_per_s_user, F64, PER_SECOND,
             "Tokens/s per user", "The same of one user.", .decimals = 1 + 3),
    FIELD_AS(language_users, "requests_per_second", requests_per_s, F64, PER_SECOND, "Requests/s",
             "Requests that end per second.", .decimals = 1 + 4),
    FIELD(language_users, within_slo, BOOL, NONE, "Within SLO",
          "Whether the predicted percentiles are within the objectives.",
          .when_at = 1 + offsetof(language_users, has_slo)),
};
static const fields users_fields = FIELDS(language_users, users_rows);

static const field device_rows[] = {
    FIELD_AS(language_device, "name", id, STR, NONE, "Device", "Short name of the device."),
    FIELD_AS(language_device, "title", name, STR, NONE, NULL, "Its full name."),
    FIELD(language_device, fits, BOOL, NONE, "Fits", "Whether its memory is enough."),
    FIELD(language_device, verdict, WORD, NONE, "Memory verdict",
          "Verdict on the share of its memory, as of map."),
    FIELD(language_device, memory_bytes, U64, BYTES, "Memory", "Its memory."),
    FIELD(language_device, largest_context, I64, COUNT, "Context",
          "Most tokens per sequence at this batch, 20 % of the memory kept free; null: any number "
          "where it fits, else none.",
          OR_NULL),
    FIELD(language_device, largest_batch, I64, COUNT, "Batch",
          "Most sequences of this length; null as above.", OR_NULL),
    FIELD(language_device, most_running, I64, COUNT, "Running",
          "Most requests that run at once when prompts are processed one at a time."),
    DEVICE_TIME("precision", precision, WORD, NONE, "Precision", "Peak used for the prediction."),
    DEVICE_TIME("basis", basis, WORD, NONE, NULL,
                "measured: kernels of this device were; class: coefficients of all devices."),
    DEVICE_TIME("engine", engine, STR, NONE, NULL, "Engine whose rows the interval rests on."),
    DEVICE_TIME("ttft_ms", first_token_ms, F64, MS, "First token", "Expected time of the prefill.",
                .decimals = 1 + 4),
    DEVICE_TIME("ttft_low_ms", first_token_low_ms, F64, MS, NULL, "80 % interval, lower end.",
                .decimals = 1 + 4),
    DEVICE_TIME("ttft_high_ms", first_token_high_ms, F64, MS, NULL, "80 % interval, upper end.",
                .decimals = 1 + 4),
    DEVICE_TIME("ttft_limit_ms", first_token_limit_ms, F64, MS, NULL,
                "Roofline: no kernel is faster.", .decimals = 1 + 4),
    DEVICE_TIME("time_per_token_ms", average_ms, F64, MS, "Per token",
                "Expected time of a step on average.", .decimals = 1 + 4),
    DEVICE_TIME("time_per_token_low_ms", average_low_ms, F64, MS, NULL, "80 % interval, lower end.",
                .decimals = 1 + 4),
    DEVICE_TIME("time_per_token_high_ms", average_high_ms, F64, MS, NULL,
                "80 % interval, upper end.", .decimals = 1 + 4),
    DEVICE_TIME("time_per_token_limit_ms", average_limit_ms, F64, MS, NULL,
                "Roofline: no kernel is faster.", .decimals = 1 + 4),
    FIELD(language_device, imprecise, BOOL, NONE, NULL,
          "The interval of a step spans more than a factor of two.", OMIT_ZERO),
    FIELD(language_device, tie, BOOL, NONE, NULL,
          "The interval of a step overlaps that of the fastest device.", OMIT_ZERO),
    DEVICE_TIME("first_step_ms", first_step_ms, F64, MS, NULL, "Expected time of the first step.",
                .decimals = 1 + 4),
    DEVICE_TIME("last_step_ms", last_step_ms, F64, MS, NULL, "Expected time of the last step.",
                .decimals = 1 + 4),
    DEVICE_TIME("launch_ms_per_step", launch_ms, F64, MS, NULL,
                "Time to launch every operator of a step as a separate kernel.", .decimals = 1 + 4),
    DEVICE_TIME("total_seconds", total_s, F64, S, "Total", "Prefill and all steps.",
                .decimals = 1 + 6),
    DEVICE_TIME("tokens_per_second", tokens_per_s, F64, PER_SECOND, "Tokens/s",
                "Tokens generated per second, of the batch.", .decimals = 1 + 2),
    DEVICE_TIME("prefill_tokens_per_second", prefill_tokens_per_s, F64, PER_SECOND, NULL,
                "Tokens of prompts per second, of the batch.", .decimals = 1 + 2),
    DEVICE_TIME("prefill_bound", prefill_bound, WORD, NONE, "Prefill bound",
                "Limit of the prefill: compute or memory."),
    DEVICE_TIME("decode_bound", decode_bound, WORD, NONE, "Decode bound",
                "Limit of a step: compute or memory."),
    FIELD_ITEMS(language_device, LIST, "users", users, n_users, users_fields,
                "Requests of so many users at once.", OR_OMIT),
    FIELD_STRUCT(language_device, "most_users", best, users_fields,
                 "The most users within the objectives.",
                 .when_at = 1 + offsetof(language_device, has_best)),
};
static const fields device_fields = FIELDS(language_device, device_rows);

/* ---- sweeps ---- */

#define POINT_TIME(key_, member, unit_, label_, about_) \
    FIELD_AS(language_point, key_, member, F64, unit_, label_, about_, OR_OMIT, .decimals = 1 + 4)

static const field point_rows[] = {
    FIELD(language_point, value, I64, COUNT, "Value", "Value of the setting."),
    FIELD(language_point, device, STR, NONE, "Device", "Short name of the device.", OR_OMIT),
    FIELD(language_point, prompt_tokens, I64, COUNT, "Prompt", "Tokens of a prompt."),
    FIELD(language_point, generate, I64, COUNT, "Generated", "Tokens generated."),
    FIELD(language_point, batch, I64, COUNT, "Batch", "Sequences at a time."),
    FIELD(language_point, prefill_macs, U64, MACS, NULL, "MACs of the prefill."),
    FIELD(language_point, total_macs, U64, MACS, "Total MACs", "MACs of prefill and decode."),
    FIELD(language_point, relative, F64, RATIO, "Total", "Total MACs relative to the first value.",
          .decimals = 1 + 6),
    FIELD(language_point, cache_bytes, U64, BYTES, "Cache", "Size of the cache in the end."),
    FIELD(language_point, serve_bytes, U64, BYTES, "Memory", "Memory to serve."),
    FIELD(language_point, verdict, WORD, NONE, "Verdict", "Verdict on the share of the memory.",
          OR_OMIT),
    POINT_TIME("ttft_ms", ttft_ms, MS, "First token", "Expected time of the prefill."),
    POINT_TIME("ttft_low_ms", ttft_low_ms, MS, NULL, "80 % interval, lower end."),
    POINT_TIME("ttft_high_ms", ttft_high_ms, MS, NULL, "80 % interval, upper end."),
    POINT_TIME("time_per_token_ms", itl_ms, MS, "Per token", "Expected time of a step on average."),
    POINT_TIME("time_per_token_low_ms", itl_low_ms, MS, NULL, "80 % interval, lower end."),
    POINT_TIME("time_per_token_high_ms", itl_high_ms, MS, NULL, "80 % interval, upper end."),
    POINT_TIME("tokens_per_second", tokens_per_s, PER_SECOND, "Tokens/s",
               "Tokens generated per second, of the batch."),
};
static const fields point_fields = FIELDS(language_point, point_rows);

static const field sweep_rows[] = {
    FIELD(language_sweep, over, WORD, NONE, "Over", "batch, context, prompt or generate."),
    FIELD_ITEMS(language_sweep, LIST, "points", points, n, point_fields,
                "One point per value, or per value and device."),
};
static const fields sweep_fields = FIELDS(language_sweep, sweep_rows);

static const field limit_rows[] = {
    FIELD(language_limit, metric, WORD, NONE, NULL, "latency, ttft or itl."),
    FIELD(language_limit, percentile, F64, NONE, NULL, "Percentile over requests: 99."),
    FIELD(language_limit, limit_ms, F64, MS, NULL, "Its limit."),
};
static const fields limit_fields = FIELDS(language_limit, limit_rows);

static const field slo_rows[] = {
    FIELD(language_slo, text, STR, NONE, NULL, "The objectives as given."),
    FIELD_ITEMS(language_slo, LIST, "limits", limits, n_limits, limit_fields,
                "Their limits, each of a percentile.", .size = LANGUAGE_LIMITS, ONE_LINE),
};
static const fields slo_fields = FIELDS_IF_PRESENT(language_slo, slo_rows);

static const field measured_rows[] = {
    FIELD_AS(language_measured, "ttft_ms", prefill_ms, F64, MS, "First token",
             "Time of the prefill.", .decimals = 1 + 4),
    FIELD(language_measured, first_step_ms, F64, MS, NULL, "Time of the first step.",
          .decimals = 1 + 4),
    FIELD(language_measured, last_step_ms, F64, MS, NULL, "Time of the last step.",
          .decimals = 1 + 4),
    FIELD_AS(language_measured, "time_per_token_ms", step_ms, F64, MS, "Per token",
             "Mean of the two.", .decimals = 1 + 4),
    FIELD_AS(language_measured, "total_seconds", total_s, F64, S, "Total",
             "Prefill and all steps, from these.", .decimals = 1 + 6),
    FIELD_AS(language_measured, "tokens_per_second", tokens_per_s, F64, PER_SECOND, "Tokens/s",
             "Tokens generated per second, of the batch.", .decimals = 1 + 2),
    FIELD_AS(language_measured, "prefill_tokens_per_second", prefill_tokens_per_s, F64, PER_SECOND,
             NULL, "Tokens of prompts per second, of the batch.", .decimals = 1 + 2),
    FIELD_AS(language_measured, "prefill_tflops_per_second", prefill_tflops, F64, NONE, NULL,
             "TFLOPs per second of the prefill.", .decimals = 1 + 6),
    FIELD_AS(language_measured, "decode_tflops_per_second", decode_tflops, F64, NONE, NULL,
             "TFLOPs per second of a step.", .decimals = 1 + 6),
};
static const fields measured_fields = FIELDS_IF_PRESENT(language_measured, measured_rows);

/* ---- all ---- */

#define WITH_EXPERTS .when_at = 1 + offsetof(language_result, has_experts)
#define WHEN_ENABLED .when_at = 1 + offsetof(language_result, enabled)

static const field cost_rows[] = {
    FIELD(language_result, prompt_tokens, I64, COUNT, "Prompt tokens", "Tokens of a prompt."),
    FIELD(language_result, generate, I64, COUNT, "Generated", "Tokens generated."),
    FIELD(language_result, batch, I64, COUNT, "Batch", "Sequences at a time."),
    FIELD(language_result, weight_dtype, WORD, NONE, "Type", "Type of the weights."),
    RESULT_FIGURE("total_params", parameters, AMOUNT, "Parameters", "Parameters."),
    RESULT_FIGURE("active_params", active_parameters, AMOUNT, "Active parameters",
                  "Parameters used by a token."),
    RESULT("expert_params", expert_parameters, U64, AMOUNT, NULL, "Parameters of all experts.",
           WITH_EXPERTS),
    RESULT("experts", experts, I64, COUNT, "Experts", "Experts of a layer.", WITH_EXPERTS),
    RESULT("experts_per_token", experts_active, I64, COUNT, NULL, "Experts used by a token.",
           WITH_EXPERTS),
    FIELD_STRUCT(language_result, "prefill", prefill, phase_fields, "Processing of the prompt."),
    FIELD(language_result, prefill_macs_last_logits, U64, MACS, "Prefill, last logits",
          "MACs of the prefill with logits of the last token only."),
    FIELD_INLINE("decode", decode_fields, "Generation token by token."),
    RESULT_FIGURE("total_macs", total_macs, MACS, "Total MACs", "MACs of prefill and decode."),
    RESULT_FIGURE("total_flops", total_flops, FLOPS, "Total FLOPs", "FLOPs of prefill and decode."),
    FIELD_INLINE("kv_cache", cache_fields, "The cache of keys and values."),
    FIELD_INLINE("memory", memory_fields, "Memory to serve."),
    FIELD_ITEMS(language_result, LIST, "weights", formats, n_formats, format_fields,
                "Size of the weights by number format.", .size = LANGUAGE_FORMATS, ONE_LINE),
    FIELD_INLINE("closed_forms", form_fields, "Cost as formulas."),
    FIELD_ITEMS(language_result, LIST, "devices", devices, n_devices, device_fields,
                "Expected times on devices.", OR_OMIT),
    FIELD_STRUCT(language_result, "slo", slo, slo_fields, "Service level objectives."),
    FIELD_ITEMS(language_result, LIST, "sweeps", sweeps, n_sweeps, sweep_fields,
                "Cost over a setting, of --sweep.", OR_OMIT),
    FIELD_STRUCT(language_result, "measured", measured, measured_fields, "Times on the engine."),
};
static const fields cost_fields = FIELDS_AS(language_result, "language_cost", cost_rows);

static const char *const kind_words[] = {"language", NULL};

static const field language_rows[] = {
    FIELD(language_result, kind, WORD, NONE, NULL, "Kind of the result.", .words = kind_words),
    FIELD(language_result, model, STR, NONE, "Model", "The model as the user named it."),
    FIELD_CONCLUSION(language_result),
    FIELD(language_result, family, STR, NONE, "Family", "Architecture of the model.", WHEN_ENABLED),
    FIELD(language_result, enabled, BOOL, NONE, NULL,
          "false: profiling was switched off, and nothing follows."),
    {.kind = FIELD_SPLICE, .of = &cost_fields, WHEN_ENABLED},
};
static const fields language_fields = FIELDS(language_result, language_rows);
const result_kind language_kind = {.schema = "assay.pipeline",
                                   .version = 1,
                                   .name = "language",
                                   .word = "language",
                                   .what = "a language model's result",
                                   .of = &language_fields,
                                   .conclude = language_conclude,
                                   .conclusion_at = offsetof(language_result, conclusion)};
