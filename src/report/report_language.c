/* A language model on the screen, as JSON ("assay.pipeline/1", kind "language") and as CSV: prefill and
 * decode apart, the cache, weights by number format, memory to serve, closed forms. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/text.h"
#include "report/console.h"
#include "report/pipelines.h"
#include "report/studies.h"

/* ---- json ---- */

static void write_json(const language_result *const *list, uint32_t n, sbuf *out)
{
    field_result all[PIPELINES_MAX];
    for (uint32_t i = 0; i < n; i++)
        all[i] = (field_result){&language_kind, list[i]};
    report_results_json(all, n, out);
}

/* ---- console ---- */

static void phases(console *k, const language_result *r)
{
    static const console_column columns[] = {
        {.title = ""},
        {.title = "MACs", .right = true},
        {.title = "linear", .right = true, .drop = 2},
        {.title = "attention", .right = true},
        {.title = "bytes", .right = true},
        {.title = "weights", .right = true, .drop = 3},
        {.title = "cache", .right = true},
        {.title = "FLOPs/byte", .right = true},
    };
    const struct {
        const char *title;
        const language_phase *p;
    } rows[] = {{"Prefill", &r->prefill}, {"First token", &r->first}, {"Last token", &r->last}};
    console_table t;
    table_begin(&t, columns, 8, 2);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const language_phase *p = rows[i].p;
        sbuf_puts(table_cell(&t, STYLE_PLAIN), rows[i].title);
        text_si(table_cell(&t, STYLE_PLAIN), (double)p->macs, 2);
        text_si(table_cell(&t, STYLE_DIM), (double)p->linear_macs, 2);
        text_si(table_cell(&t, STYLE_PLAIN), (double)p->attention_macs, 2);
        text_bytes(table_cell(&t, STYLE_PLAIN), p->bytes);
        text_bytes(table_cell(&t, STYLE_DIM), p->weight_bytes);
        text_bytes(table_cell(&t, STYLE_PLAIN), p->cache_bytes);
        report_fixed(table_cell(&t, STYLE_PLAIN), p->arithmetic_intensity, 1);
    }
    table_print(&t, k);
}

static void row(console *k, const char *title, str value, const char *remark)
{
    console_putf(k, STYLE_PLAIN, "  %-22s %14.*s", title, STR_ARG(value));
    if (remark && *remark)
        console_putf(k, STYLE_DIM, "  %s", remark);
    console_line(k);
}

static void row_si(console *k, const char *title, double v, const char *unit, const char *remark)
{
    sbuf b = {0};
    text_si_unit(&b, v, 2, unit);
    row(k, title, (str){b.p, b.failed ? 0 : (uint32_t)b.n}, remark);
    sbuf_free(&b);
}

static void row_bytes(console *k, const char *title, uint64_t v, const char *remark)
{
    sbuf b = {0};
    text_bytes(&b, v);
    row(k, title, (str){b.p, b.failed ? 0 : (uint32_t)b.n}, remark);
    sbuf_free(&b);
}

static void experts(console *k, const language_result *r)
{
    char remark[160];
    sbuf p = {0}, d = {0};
    if (!r->experts)
        return;
    report_fixed(&p, r->prefill.experts_per_layer, 1);
    report_fixed(&d, r->first.experts_per_layer, 1);
    snprintf(remark, sizeof remark,
             "%" PRId64 " of %" PRId64 " experts; distinct in a layer: prefill %s, step %s",
             r->experts_active, r->experts, sbuf_cstr(&p), sbuf_cstr(&d));
    row_si(k, "Active parameters", (double)r->active_parameters, "", remark);
    sbuf_free(&p);
    sbuf_free(&d);
}

static void windows(const language_result *r, char *buf, size_t n)
{
    size_t at = (size_t)snprintf(buf, n, "%s", r->cache_dtype);
    for (uint32_t i = 0; i < r->n_attention && at + 64 < n; i++)
        if (r->attention[i].window)
            at += (size_t)snprintf(buf + at, n - at, " · %" PRIu64 " layers see %" PRId64 " tokens",
                                   r->attention[i].layers, r->attention[i].window);
}

void report_language_most(sbuf *b, int64_t v, bool fits)
{
    if (v >= 0)
        text_thousands(b, (uint64_t)v);
    else
        sbuf_puts(b, fits ? "any" : "none");
}

static void largest(console *k, const char *title, int64_t v, bool fits, const char *unit)
{
    sbuf b = {0};
    report_language_most(&b, v, fits);
    row(k, title, (str){b.p, b.failed ? 0 : (uint32_t)b.n}, unit);
    sbuf_free(&b);
}

static void memory(console *k, const language_result *r)
{
    char remark[200];
    console_heading(k, "Memory to serve", NULL);
    row_bytes(k, "Weights", r->weight_bytes, r->weight_dtype);
    windows(r, remark, sizeof remark);
    row_bytes(k, "Cache per token", r->cache_bytes_per_token, remark);
    snprintf(remark, sizeof remark, "%" PRId64 " × %" PRId64 " tokens", r->batch, r->tokens);
    row_bytes(k, "Cache", r->cache_bytes, remark);
    row_bytes(k, "Activation peak", r->activation_peak_bytes,
              "of the prefill, logits of every token");
    row_bytes(k, "Together", r->serve_bytes, NULL);
    if (!r->has_limit)
        return;
    row_bytes(k, "Memory given", r->memory_limit, r->fits ? "fits" : "does not fit");
    largest(k, "Largest context", r->largest_context, r->fits, "tokens per sequence at this batch");
    largest(k, "Largest batch", r->largest_batch, r->fits, "sequences of this length");
}

static void formats(console *k, const language_result *r)
{
    console_heading(k, "Weights by number format", NULL);
    for (uint32_t i = 0; i < r->n_formats; i++)
        row_bytes(k, r->formats[i].name, r->formats[i].bytes, r->formats[i].about);
}

static void forms(console *k, const language_result *r)
{
    char text[160];
    console_heading(k, "Closed forms", "B batch, S prompt tokens, N tokens in the cache");
    console_put(k, STYLE_PLAIN, "  Prefill MACs  ");
    console_words(k, STYLE_PLAIN, 16, true, r->prefill_form);
    console_put(k, STYLE_PLAIN, "  Step MACs     ");
    console_words(k, STYLE_PLAIN, 16, true, r->decode_form);
    console_put(k, STYLE_PLAIN, "  Cache bytes   ");
    console_words(k, STYLE_PLAIN, 16, true, r->cache_form);
    if (r->crossing_tokens <= 0)
        return;
    snprintf(
        text, sizeof text,
        "Attention costs more than the linear layers from %.0f tokens on (%.0f counting only what "
        "a causal mask leaves).",
        ceil(r->crossing_tokens), ceil(r->crossing_causal_tokens));
    console_words(k, STYLE_DIM, 2, false, str_of(text));
}

static void one(console *k, const language_result *r)
{
    char title[96], remark[160];
    text_safe_into(title, sizeof title, r->model);
    snprintf(remark, sizeof remark,
             "%" PRId64 " prompt tokens · %" PRId64 " generated · batch %" PRId64, r->prompt_tokens,
             r->generate, r->batch);
    console_heading(k, title, remark);
    phases(k, r);
    console_line(k);
    row_si(k, "Parameters", (double)r->parameters, "", NULL);
    experts(k, r);
    row_si(k, "Prefill", (double)r->prefill.macs, "MACs", "logits of every token");
    row_si(k, "Prefill, last logits", (double)r->prefill_macs_last_logits, "MACs",
           "as servers do it");
    row_si(k, "All steps", (double)r->decode_macs, "MACs", NULL);
    row_si(k, "Total", (double)r->total_macs, "MACs", NULL);
    report_language_times(k, r);
    memory(k, r);
    formats(k, r);
    forms(k, r);
}

/* ---- csv ---- */

static void write_csv(const language_result *const *list, uint32_t n, sbuf *out)
{
    sbuf_puts(out,
              "model,phase,tokens,context,macs,flops,linear_macs,attention_macs,bytes,weight_bytes,"
              "cache_bytes,activation_bytes\r\n");
    for (uint32_t i = 0; i < n; i++) {
        const struct {
            const char *name;
            const language_phase *p;
        } rows[] = {
            {"prefill", &list[i]->prefill}, {"first", &list[i]->first}, {"last", &list[i]->last}};
        for (size_t m = 0; m < 3; m++) {
            const language_phase *p = rows[m].p;
            const uint64_t v[] = {p->tokens,      (uint64_t)p->context, p->macs,  p->flops,
                                  p->linear_macs, p->attention_macs,    p->bytes, p->weight_bytes,
                                  p->cache_bytes, p->activation_bytes};
            sbuf safe = {0};
            text_safe(&safe, list[i]->model);
            report_csv_field(out, (str){safe.p, (uint32_t)safe.n});
            sbuf_free(&safe);
            sbuf_printf(out, ",%s", rows[m].name);
            for (size_t c = 0; c < sizeof v / sizeof *v; c++)
                sbuf_printf(out, ",%" PRIu64, v[c]);
            sbuf_puts(out, "\r\n");
        }
    }
}

assay_status report_languages(const language_result *const *list, uint32_t n, str format,
                              const report_options *o, sbuf *out, assay_error *err)
{
    size_t from = out->n;
    console k = {.o = o, .out = out, .width = (unsigned)(o->width ? o->width : 80)};
    if (str_is(format, "console"))
        for (uint32_t i = 0; i < n; i++)
            one(&k, list[i]);
    else if (str_is(format, "json"))
        write_json(list, n, out);
    else if (str_is(format, "csv"))
        write_csv(list, n, out);
    else
        return err_fail(
            err, ASSAY_ERR_USAGE,
            "A language model can be written as console, json, csv, md, html or summary-html, not as "
            "'" STR_FMT "'.",
            STR_ARG(format));
    if (str_is(format, "console"))
        report_first_line(out, from);
    if (str_is(format, "console") && o->ascii)
        console_to_ascii(out, from);
    return out->failed ? err_no_memory(err) : ASSAY_OK;
}
