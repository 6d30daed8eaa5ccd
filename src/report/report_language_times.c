/* How long a language model takes: on devices by the roofline, and on the engine where it ran. */
#include <inttypes.h>
#include <stdio.h>

#include "base/text.h"
#include "report/console.h"
#include "report/pipelines.h"
#include "report/studies.h"

static void device_times(console_table *t, const language_device *d)
{
    sbuf_puts(table_cell(t, STYLE_DIM), d->precision ? d->precision : "no peak");
    if (!d->precision) {
        for (int i = 0; i < 4; i++)
            sbuf_puts(table_cell(t, STYLE_DIM), "-");
        return;
    }
    console_ms(table_cell(t, STYLE_PLAIN), d->first_token_ms);
    console_ms(table_cell(t, STYLE_PLAIN), d->average_ms);
    report_fixed(table_cell(t, STYLE_PLAIN), d->tokens_per_s, 1);
    sbuf_printf(table_cell(t, STYLE_DIM), "%s, %s", d->prefill_bound, d->decode_bound);
}

static void device_row(console_table *t, const language_device *d)
{
    text_safe(table_cell(t, STYLE_PLAIN), d->id);
    device_times(t, d);
    sbuf_puts(table_cell(t, d->fits ? STYLE_PLAIN : STYLE_WARN), d->fits ? "yes" : "no");
    report_language_most(table_cell(t, STYLE_DIM), d->largest_batch, d->fits);
    report_language_most(table_cell(t, STYLE_DIM), d->largest_context, d->fits);
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
    measured_row(k, "A token", m->step_ms, m->tokens_per_s, m->decode_tflops);
    snprintf(text, sizeof text, "%.3g s", m->total_s);
    console_putf(k, STYLE_PLAIN, "  %-22s %14s", "All of it", text);
    console_line(k);
}

void report_language_times(console *k, const language_result *r)
{
    if (r->n_devices)
        devices(k, r);
    if (r->measured.present)
        measured(k, &r->measured);
}
