/* How long a language model takes: on devices by the roofline, and on the engine where it ran. */
#include <inttypes.h>
#include <stdio.h>

#include "base/text.h"
#include "report/console.h"
#include "report/pipelines.h"
#include "report/studies.h"

/* ---- json ---- */

static void key_count(json_writer *w, const char *key, int64_t v)
{
    json_key(w, key);
    if (v < 0 || v == INT64_MAX)
        json_null(w);
    else
        json_i64(w, v);
}

static void json_device(json_writer *w, const language_device *d)
{
    json_object(w);
    key_str(w, "name", d->id);
    key_str(w, "title", d->name);
    key_bool(w, "fits", d->fits);
    key_u64(w, "memory_bytes", (uint64_t)d->memory_bytes);
    key_count(w, "largest_context", d->largest_context);
    key_count(w, "largest_batch", d->largest_batch);
    if (*d->precision) {
        key_str(w, "precision", str_of(d->precision));
        key_fixed(w, "time_to_first_token_ms", d->first_token_s * 1e3, 4);
        key_fixed(w, "time_per_token_ms", d->average_s * 1e3, 4);
        key_fixed(w, "first_step_ms", d->first_step_s * 1e3, 4);
        key_fixed(w, "last_step_ms", d->last_step_s * 1e3, 4);
        key_fixed(w, "launch_ms_per_step", d->launch_s * 1e3, 4);
        key_fixed(w, "total_seconds", d->total_s, 6);
        key_fixed(w, "tokens_per_second", d->tokens_per_s, 2);
        key_fixed(w, "prefill_tokens_per_second", d->prefill_tokens_per_s, 2);
        key_str(w, "prefill_bound", str_of(d->prefill_bound));
        key_str(w, "decode_bound", str_of(d->decode_bound));
    }
    json_end(w);
}

static void json_measured(json_writer *w, const language_measured *m)
{
    json_key(w, "measured");
    json_object(w);
    key_fixed(w, "time_to_first_token_ms", m->prefill_ms, 4);
    key_fixed(w, "first_step_ms", m->first_step_ms, 4);
    key_fixed(w, "last_step_ms", m->last_step_ms, 4);
    key_fixed(w, "time_per_token_ms", (m->first_step_ms + m->last_step_ms) / 2.0, 4);
    key_fixed(w, "total_seconds", m->total_s, 6);
    key_fixed(w, "tokens_per_second", m->tokens_per_s, 2);
    key_fixed(w, "prefill_tokens_per_second", m->prefill_tokens_per_s, 2);
    key_fixed(w, "prefill_tflops_per_second", m->prefill_tflops, 6);
    key_fixed(w, "decode_tflops_per_second", m->decode_tflops, 6);
    json_end(w);
}

void report_language_times_json(json_writer *w, const language_result *r)
{
    if (r->n_devices) {
        json_key(w, "devices");
        json_array(w);
        for (uint32_t i = 0; i < r->n_devices; i++)
            json_device(w, &r->devices[i]);
        json_end(w);
    }
    if (r->measured.done)
        json_measured(w, &r->measured);
}

/* ---- console ---- */

static void count_cell(console_table *t, int64_t v)
{
    sbuf *b = table_cell(t, STYLE_DIM);
    if (v < 0)
        sbuf_puts(b, "none");
    else if (v == INT64_MAX)
        sbuf_puts(b, "any");
    else
        text_thousands(b, (uint64_t)v);
}

static void device_row(console_table *t, const language_device *d)
{
    text_safe(table_cell(t, STYLE_PLAIN), d->id);
    sbuf_puts(table_cell(t, STYLE_DIM), *d->precision ? d->precision : "no peak");
    console_ms(table_cell(t, STYLE_PLAIN), d->first_token_s * 1e3);
    console_ms(table_cell(t, STYLE_PLAIN), d->average_s * 1e3);
    report_fixed(table_cell(t, STYLE_PLAIN), d->tokens_per_s, 1);
    sbuf_printf(table_cell(t, STYLE_DIM), "%s, %s", d->prefill_bound, d->decode_bound);
    sbuf_puts(table_cell(t, d->fits ? STYLE_PLAIN : STYLE_WARN), d->fits ? "yes" : "no");
    count_cell(t, d->largest_batch);
    count_cell(t, d->largest_context);
}

static void devices(console *k, const language_result *r)
{
    static const console_column columns[] = {
        {.title = "device"},
        {.title = "at", .drop = 4},
        {.title = "first token", .right = true},
        {.title = "a token", .right = true},
        {.title = "tokens/s", .right = true},
        {.title = "bound", .drop = 3},
        {.title = "fits"},
        {.title = "batch", .right = true, .drop = 2},
        {.title = "context", .right = true, .drop = 1},
    };
    console_table t;
    console_heading(k, "On devices", "by the roofline: no kernel is faster");
    table_begin(&t, columns, sizeof columns / sizeof *columns, 2);
    for (uint32_t i = 0; i < r->n_devices; i++)
        device_row(&t, &r->devices[i]);
    table_print(&t, k);
    console_words(k, STYLE_DIM, 2, false,
                  STR("batch: the most sequences of this length; context: the most tokens per "
                      "sequence at this batch. Tokens/s are of the whole batch."));
}

static void measured_row(console *k, const char *title, double ms, double rate, double tflops)
{
    sbuf b = {0}, tokens = {0};
    console_ms(&b, ms);
    report_fixed(&tokens, rate, 1);
    console_putf(k, STYLE_PLAIN, "  %-22s %14s", title, sbuf_cstr(&b));
    console_putf(k, STYLE_DIM, "  %s tokens/s · %.3g TFLOP/s", sbuf_cstr(&tokens), tflops);
    console_line(k);
    sbuf_free(&b);
    sbuf_free(&tokens);
}

static void measured(console *k, const language_measured *m)
{
    char text[96];
    console_heading(k, "Measured", "on this machine's engine, float32, random weights");
    measured_row(k, "First token", m->prefill_ms, m->prefill_tokens_per_s, m->prefill_tflops);
    measured_row(k, "A token", (m->first_step_ms + m->last_step_ms) / 2.0, m->tokens_per_s,
                 m->decode_tflops);
    snprintf(text, sizeof text, "%.3g s", m->total_s);
    console_putf(k, STYLE_PLAIN, "  %-22s %14s", "All of it", text);
    console_line(k);
}

void report_language_times(console *k, const language_result *r)
{
    if (r->n_devices)
        devices(k, r);
    if (r->measured.done)
        measured(k, &r->measured);
}
