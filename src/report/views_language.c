/* View of a language model: prefill and decode, times, memory, formats, closed forms. */
#include "profile/language.h"
#include "report/view_units.h"
#include "report/views.h"

/* ---- what it costs ---- */

static const view_line_row off_lines[] = {
    {.text = "Profiling is switched off.", .when = "enabled=false"},
};
static const view_fact_row cost_facts[] = {
    VIEW_FACT("Parameters", "{total_params:si2}", "{weight_dtype:text}", "total_params"),
    VIEW_FACT("Active parameters", "{active_params:si2}",
              "{experts_per_token:text} of {experts:text} experts; distinct in a layer: prefill "
              "{prefill.expected_distinct_experts:fixed1}, step "
              "{decode.first.expected_distinct_experts:fixed1}",
              "+experts"),
    VIEW_FACT("Prefill", "{prefill.macs_str:text}", "logits of every token", "prefill.macs"),
    VIEW_FACT("Prefill, last logits", "{prefill_macs_last_logits:si2}MACs", "as servers do it",
              "prefill_macs_last_logits"),
    VIEW_FACT("Decode", "{decode.macs_str:text}",
              "{decode.steps:whole step}, on average {decode.average.macs:si2}MACs and "
              "{decode.average.arithmetic_intensity:intensity} FLOPs per byte",
              "decode.macs"),
    VIEW_FACT("Total MACs", "{total_macs_str:text}", NULL, "total_macs"),
    VIEW_FACT("Total FLOPs", "{total_flops_str:text}", NULL, "total_flops"),
};

static const view_column phase_columns[] = {
    VIEW_TEXT("Phase", NULL),
    VIEW_NUMBER("MACs", "{macs:si2}"),
    VIEW_NUMBER("Linear", "{linear_macs:si2}", .drop = 12, .tone = TONE_DIM),
    VIEW_NUMBER("Attention", "{attention_macs:si2}"),
    VIEW_NUMBER("Bytes", "{bytes:bytes}"),
    VIEW_NUMBER("Weights", "{weight_bytes:bytes}", .drop = 13, .tone = TONE_DIM),
    VIEW_NUMBER("Cache", "{cache_bytes:bytes}"),
    VIEW_NUMBER("FLOPs/byte", "{arithmetic_intensity:fixed1}"),
};

static void build_phases(view *v)
{
    static const char *const phases[][2] = {
        {"Prefill", "prefill"}, {"First token", "decode.first"}, {"Last token", "decode.last"}};
    enum {
        N = sizeof phases / sizeof *phases,
        COLUMNS = sizeof phase_columns / sizeof *phase_columns
    };
    field_value rows[N];
    for (int i = 0; i < N; i++)
        rows[i] = fields_get(&v->root, phases[i][1]);
    view_table *t = rows[0].type == VALUE_OBJECT
                        ? view_add_values(v, phase_columns, COLUMNS, rows, N)
                        : NULL;
    for (int i = 0; t && i < N; i++)
        t->cells[i * COLUMNS] = str_of(phases[i][0]);
}

/* ---- times ---- */

static void put_step_interval(const view *v, sbuf *b, const field_value *row)
{
    const language_device *d = row->at;
    (void)v;
    view_put_interval(b, d->average_low_ms, d->average_high_ms);
}

const view_column language_device_columns[LANGUAGE_DEVICE_COLUMNS] = {
    VIEW_TEXT("Device", "{name:text}"),
    VIEW_TEXT("At", "{precision:text}|no peak", .drop = 16, .tone = TONE_DIM),
    VIEW_NUMBER("First token", "{ttft_ms:ms}"),
    VIEW_NUMBER("Per token", "{time_per_token_ms:ms}"),
    VIEW_NUMBER("80 % within", NULL, .put = put_step_interval, .tone = TONE_DIM),
    VIEW_NUMBER("Limit", "[{time_per_token_limit_ms:ms}]", .drop = 10, .tone = TONE_DIM),
    VIEW_NUMBER("Tokens/s", "{tokens_per_second:fixed1}"),
    VIEW_TEXT("", "[{?+imprecise:imprecise}|{?+tie:tie}]", .tone = TONE_DIM),
    VIEW_TEXT("Bound", "[{prefill_bound:text}, {decode_bound:text}]", .drop = 15, .min = 16,
              .tone = TONE_DIM),
    VIEW_TEXT("Memory", "{verdict:text}"),
    VIEW_NUMBER("Batch", "{largest_batch:whole}|{?+fits:any}|none", .drop = 13, .tone = TONE_DIM),
    VIEW_NUMBER("Context", "{largest_context:whole}|{?+fits:any}|none", .drop = 14,
                .tone = TONE_DIM),
    VIEW_TEXT("Basis", "[{basis:text}]", .drop = 12, .tone = TONE_DIM),
};
static const view_table_row device_tables[] = {
    {.path = "devices", VIEW_COLUMNS(language_device_columns)},
};
static const view_line_row device_lines[] = {
    VIEW_LINE("Limit: the roofline, no kernel is faster. Batch and context: the most with 20 % of "
              "the memory free. Tokens/s are of the whole batch.",
              "+devices", DIM),
};

/* ---- users and sweeps ---- */

static void put_first_of_users(const view *v, sbuf *b, const field_value *row)
{
    const language_users *u = row->at;
    (void)v;
    view_put_interval(b, u->ttft_low_ms, u->ttft_high_ms);
}

static void put_step_of_users(const view *v, sbuf *b, const field_value *row)
{
    const language_users *u = row->at;
    (void)v;
    view_put_interval(b, u->itl_low_ms, u->itl_high_ms);
}

static void put_step_of_point(const view *v, sbuf *b, const field_value *row)
{
    const language_point *p = row->at;
    (void)v;
    view_put_interval(b, p->itl_low_ms, p->itl_high_ms);
}

static const view_column users_columns[] = {
    VIEW_NUMBER("Users", "{users:whole}"),
    VIEW_NUMBER("Running", "{running:whole}", .drop = 9),
    VIEW_NUMBER("First token", "{ttft_ms:ms}"),
    VIEW_NUMBER("P99", "{ttft_p99_ms:ms}"),
    VIEW_NUMBER("80 % within", NULL, .put = put_first_of_users, .drop = 11, .tone = TONE_DIM),
    VIEW_NUMBER("Per token", "{itl_ms:ms}"),
    VIEW_NUMBER("P99", "{itl_p99_ms:ms}"),
    VIEW_NUMBER("80 % within", NULL, .put = put_step_of_users, .drop = 10, .tone = TONE_DIM),
    VIEW_NUMBER("Tokens/s", "{tokens_per_second:fixed1}", .keep = true),
    VIEW_NUMBER("Per user", "{tokens_per_second_user:fixed1}", .drop = 12),
    VIEW_NUMBER("Requests/s", "{requests_per_second:fixed3}", .drop = 8),
    VIEW_TEXT("Within SLO", "{within_slo:text}", .when = "slo", .keep = true),
};
static const view_table_row users_tables[] = {
    {VIEW_TABLE("Users on {name:text}", "users", users_columns), .each = "devices"},
};
static const view_line_row users_lines[] = {
    VIEW_LINE(
        "{name:text}: {most_users.users:whole user} within {^slo.text:text}, "
        "{most_users.tokens_per_second:fixed1} tokens/s, "
        "{most_users.requests_per_second:fixed3} requests/s. At most {most_running:whole} run "
        "at once.",
        "+most_users.users", PLAIN, .each = "devices"),
    VIEW_LINE("{name:text}: not even one user is within {^slo.text:text}.",
              "+users,!most_users,+^slo.text", PLAIN, .each = "devices"),
};

static const view_column sweep_columns[] = {
    VIEW_NUMBER("Value", "{value:whole}"),
    VIEW_TEXT("Device", "{device:text}", .when = "devices"),
    VIEW_NUMBER("Total MACs", "{total_macs:si2}", .drop = 10),
    VIEW_NUMBER("Total", "{relative:ratio}", .drop = 11),
    VIEW_NUMBER("Cache", "{cache_bytes:bytes}", .drop = 9),
    VIEW_NUMBER("Memory", "{serve_bytes:bytes}"),
    VIEW_TEXT("Verdict", "[{verdict:text}]"),
    VIEW_NUMBER("First token", "{ttft_ms:ms}", .when = "devices"),
    VIEW_NUMBER("Per token", "{time_per_token_ms:ms}", .when = "devices"),
    VIEW_NUMBER("80 % within", NULL, .put = put_step_of_point, .when = "devices", .drop = 12,
                .tone = TONE_DIM),
    VIEW_NUMBER("Tokens/s", "{tokens_per_second:fixed1}", .when = "devices"),
};
static const view_table_row sweep_tables[] = {
    {VIEW_TABLE("Sweep over {over:text}", "points", sweep_columns), .each = "sweeps"},
};
static const view_fact_row measured_facts[] = {
    VIEW_FACT("First token", "{measured.ttft_ms:ms}",
              "{measured.prefill_tokens_per_second:fixed1} tokens/s · "
              "{measured.prefill_tflops_per_second:fixed3} TFLOP/s",
              "measured.ttft_ms"),
    VIEW_FACT("Per token", "{measured.time_per_token_ms:ms}",
              "{measured.tokens_per_second:fixed1} tokens/s · "
              "{measured.decode_tflops_per_second:fixed3} TFLOP/s",
              "measured.time_per_token_ms"),
    VIEW_FACT("Prefill and decode", "{measured.total_seconds:s}", NULL, "measured.total_seconds"),
};

/* ---- memory ---- */

static const view_fact_row memory_facts[] = {
    VIEW_FACT("Weights", "{memory.weight_bytes:bytes}", "{weight_dtype:text}",
              "memory.weight_bytes"),
    VIEW_FACT("Cache per token", "{kv_cache.bytes_per_token:bytes}", "{kv_cache.dtype:text}",
              "kv_cache.bytes_per_token"),
    VIEW_FACT("Cache", "{kv_cache.bytes:bytes}", "{batch:text} × {kv_cache.tokens:text} tokens",
              "kv_cache.bytes"),
    VIEW_FACT("Activation peak", "{memory.activation_peak_bytes:bytes}",
              "of the prefill, logits of every token", "memory.activation_peak_bytes"),
    VIEW_FACT("Together", "{memory.serve_bytes:bytes}", NULL, "memory.serve_bytes"),
    VIEW_FACT("Memory given", "{memory.limit_bytes:bytes}", "{memory.verdict:text}",
              "memory.limit_bytes"),
    VIEW_FACT("Largest context", "{memory.largest_context:whole}|{?+memory.fits:any}|none",
              "tokens per sequence at this batch", "memory.limit_bytes"),
    VIEW_FACT("Largest batch", "{memory.largest_batch:whole}|{?+memory.fits:any}|none",
              "sequences of this length", "memory.limit_bytes"),
};
static const view_line_row window_lines[] = {
    VIEW_LINE("{count:whole layer} see {window:whole token} at most.", "+window", DIM,
              .each = "kv_cache.layers"),
};
static const view_column format_columns[] = {
    VIEW_TEXT("Format", "{format:text}"),
    VIEW_NUMBER("Size", "{bytes:bytes}"),
    VIEW_NUMBER("Bits per weight", "{bits_per_weight:fixed2}"),
    VIEW_TEXT("Storage", "[{about:text}]", .min = 20, .tone = TONE_DIM),
};
static const view_table_row format_tables[] = {
    {.path = "weights", VIEW_COLUMNS(format_columns)},
};

/* ---- closed forms ---- */

static const view_fact_row form_facts[] = {
    VIEW_FACT("Prefill MACs", NULL, "{closed_forms.prefill_macs:text}",
              "closed_forms.prefill_macs"),
    VIEW_FACT("Step MACs", NULL, "{closed_forms.decode_macs:text}", "closed_forms.decode_macs"),
    VIEW_FACT("Cache bytes", NULL, "{closed_forms.cache_bytes:text}", "closed_forms.cache_bytes"),
};
static const view_line_row form_lines[] = {
    VIEW_LINE(
        "Attention costs more than the linear layers from "
        "{closed_forms.attention_exceeds_linear_at:whole} tokens on "
        "({closed_forms.attention_exceeds_linear_at_causal:whole} counting only what a causal "
        "mask leaves).",
        "+closed_forms.attention_exceeds_linear_at", DIM),
};

static const view_section_row language_sections[] = {
    {.first = true, VIEW_LINES(off_lines)},
    {.first = true, VIEW_FACTS(cost_facts)},
    {.title = "Prefill and decode", .first = true, .build = build_phases},
    {VIEW_SECTION("On devices", "expected times of a server ({devices.0.engine:text})", NULL, NULL),
     .first = true, VIEW_TABLES(device_tables), VIEW_LINES(device_lines)},
    {.first = true, VIEW_TABLES(users_tables), VIEW_LINES(users_lines)},
    {.first = true, VIEW_TABLES(sweep_tables)},
    {VIEW_SECTION("Measured", "on this machine's engine, float32, random weights", NULL, NULL),
     .first = true, VIEW_FACTS(measured_facts)},
    {VIEW_SECTION("Memory to serve", NULL, NULL, NULL), .first = true, .beside = true,
     VIEW_FACTS(memory_facts), VIEW_LINES(window_lines)},
    {.title = "Weights by number format", VIEW_TABLES(format_tables)},
    {VIEW_SECTION("Closed forms", "{closed_forms.variables:text}", NULL, NULL),
     VIEW_FACTS(form_facts), VIEW_LINES(form_lines)},
};

const view_column language_csv_columns[LANGUAGE_CSV_COLUMNS] = {
    VIEW_TEXT("model", "^model"),
    VIEW_TEXT("phase", "@key"),
    VIEW_TEXT("tokens", "tokens_per_sequence"),
    VIEW_TEXT("context", "context"),
    VIEW_TEXT("macs", "macs"),
    VIEW_TEXT("flops", "flops"),
    VIEW_TEXT("linear_macs", "linear_macs"),
    VIEW_TEXT("attention_macs", "attention_macs"),
    VIEW_TEXT("bytes", "bytes"),
    VIEW_TEXT("weight_bytes", "weight_bytes"),
    VIEW_TEXT("cache_bytes", "cache_bytes"),
    VIEW_TEXT("activation_bytes", "activation_bytes"),
};
static const view_csv_row language_csv[] = {
    {.name = "phases", .path = "", .inner = LANGUAGE_PHASES, VIEW_COLUMNS(language_csv_columns)},
};
const view_kind language_view = {
    .of = &language_kind,
    .title = "{model:text}",
    .under =
        "[{prompt_tokens:whole prompt token} · {generate:text} generated · batch {batch:text}]",
    VIEW_SECTIONS(language_sections),
    VIEW_CSV(language_csv),
};
