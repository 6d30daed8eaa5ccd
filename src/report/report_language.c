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

static void human(json_writer *w, const char *key, uint64_t v, const char *unit)
{
    char twin[64];
    sbuf b = {0};
    snprintf(twin, sizeof twin, "%s_str", key);
    key_u64(w, key, v);
    if (unit)
        text_si_unit(&b, (double)v, 2, unit);
    else
        text_bytes(&b, v);
    json_key(w, twin);
    json_str(w, (str){b.p, b.failed ? 0 : (uint32_t)b.n});
    sbuf_free(&b);
}

static void json_phase(json_writer *w, const char *key, const language_phase *p)
{
    json_key(w, key);
    json_object(w);
    key_u64(w, "tokens_per_sequence", p->tokens);
    key_i64(w, "context", p->context);
    human(w, "macs", p->macs, "MACs");
    human(w, "flops", p->flops, "FLOPs");
    key_u64(w, "linear_macs", p->linear_macs);
    key_u64(w, "attention_macs", p->attention_macs);
    key_u64(w, "causal_macs", p->causal_macs);
    human(w, "bytes", p->bytes, NULL);
    key_u64(w, "weight_bytes", p->weight_bytes);
    key_u64(w, "cache_bytes", p->cache_bytes);
    key_u64(w, "activation_bytes", p->activation_bytes);
    key_fixed(w, "arithmetic_intensity", p->arithmetic_intensity, 4);
    if (p->experts_per_layer > 0)
        key_fixed(w, "expected_distinct_experts", p->experts_per_layer, 4);
    json_end(w);
}

static void json_decode(json_writer *w, const language_result *r)
{
    json_key(w, "decode");
    json_object(w);
    key_i64(w, "steps", r->generate);
    human(w, "macs", r->decode_macs, "MACs");
    human(w, "flops", r->decode_flops, "FLOPs");
    human(w, "bytes", r->decode_bytes, NULL);
    json_phase(w, "first", &r->first);
    json_phase(w, "last", &r->last);
    json_key(w, "average");
    json_flat_object(w);
    key_u64(w, "macs", r->average.macs);
    key_u64(w, "flops", r->average.flops);
    key_u64(w, "bytes", r->average.bytes);
    key_fixed(w, "arithmetic_intensity", r->average.arithmetic_intensity, 4);
    json_end(w);
    json_end(w);
}

static void json_cache(json_writer *w, const language_result *r)
{
    json_key(w, "kv_cache");
    json_object(w);
    key_cstr(w, "dtype", r->cache_dtype);
    key_u64(w, "elements_per_token", r->cache_elements_per_token);
    human(w, "bytes_per_token", r->cache_bytes_per_token, NULL);
    human(w, "bytes", r->cache_bytes, NULL);
    key_u64(w, "bytes_without_windows", r->cache_bytes_without_windows);
    key_i64(w, "tokens", r->prompt_tokens + r->generate);
    json_key(w, "layers");
    json_array(w);
    for (uint32_t i = 0; i < r->n_attention; i++) {
        const language_attention *a = &r->attention[i];
        json_flat_object(w);
        key_u64(w, "count", a->layers);
        json_key(w, "window");
        if (a->window)
            json_i64(w, a->window);
        else
            json_null(w);
        key_u64(w, "elements_per_token", a->cache_elements);
        key_u64(w, "prefill_macs_per_pair", a->prefill_macs);
        key_u64(w, "decode_macs_per_key", a->decode_macs);
        json_end(w);
    }
    json_end(w);
    json_end(w);
}

static void json_formats(json_writer *w, const language_result *r)
{
    json_key(w, "weights");
    json_array(w);
    for (uint32_t i = 0; i < r->n_formats; i++) {
        json_flat_object(w);
        key_cstr(w, "format", r->formats[i].name);
        key_f64(w, "bits_per_weight", r->formats[i].bits);
        key_u64(w, "bytes", r->formats[i].bytes);
        json_end(w);
    }
    json_end(w);
}

static void json_largest(json_writer *w, const char *key, int64_t v)
{
    json_key(w, key);
    if (v < 0 || v == INT64_MAX)
        json_null(w);
    else
        json_i64(w, v);
}

static void json_memory(json_writer *w, const language_result *r)
{
    json_key(w, "memory");
    json_object(w);
    human(w, "weight_bytes", r->weight_bytes, NULL);
    human(w, "cache_bytes", r->cache_bytes, NULL);
    human(w, "activation_peak_bytes", r->activation_peak_bytes, NULL);
    human(w, "serve_bytes", r->serve_bytes, NULL);
    if (r->memory_limit) {
        key_u64(w, "limit_bytes", r->memory_limit);
        key_bool(w, "fits", r->serve_bytes <= r->memory_limit);
        json_largest(w, "largest_context", r->largest_context);
        json_largest(w, "largest_batch", r->largest_batch);
    }
    json_end(w);
}

static void json_forms(json_writer *w, const language_result *r)
{
    json_key(w, "closed_forms");
    json_object(w);
    key_cstr(w, "variables", "B: batch, S: prompt tokens, N: tokens in the cache");
    key_str(w, "prefill_macs", r->prefill_form);
    key_str(w, "decode_macs", r->decode_form);
    key_str(w, "cache_bytes", r->cache_form);
    key_u64(w, "prefill_linear_macs_per_token", r->prefill_linear_macs);
    key_u64(w, "decode_linear_macs_per_token", r->decode_linear_macs);
    key_u64(w, "head_macs_per_token", r->head_macs);
    key_fixed(w, "crossing_tokens", r->crossing_tokens, 1);
    key_fixed(w, "crossing_tokens_causal", r->crossing_causal_tokens, 1);
    json_end(w);
}

static void json_one(json_writer *w, const language_result *r)
{
    json_object(w);
    key_cstr(w, "schema", "assay.pipeline/1");
    key_cstr(w, "kind", "language");
    key_str(w, "model", r->model);
    key_str(w, "family", r->family);
    key_bool(w, "enabled", true);
    key_i64(w, "prompt_tokens", r->prompt_tokens);
    key_i64(w, "generate", r->generate);
    key_i64(w, "batch", r->batch);
    key_cstr(w, "weight_dtype", r->weight_dtype);
    human(w, "total_params", r->parameters, "");
    human(w, "active_params", r->active_parameters, "");
    if (r->experts) {
        key_u64(w, "expert_params", r->expert_parameters);
        key_i64(w, "experts", r->experts);
        key_i64(w, "experts_per_token", r->experts_active);
    }
    json_phase(w, "prefill", &r->prefill);
    key_u64(w, "prefill_macs_last_logits", r->prefill_macs_last_logits);
    json_decode(w, r);
    human(w, "total_macs", r->prefill.macs + r->decode_macs, "MACs");
    human(w, "total_flops", r->prefill.flops + r->decode_flops, "FLOPs");
    json_cache(w, r);
    json_memory(w, r);
    json_formats(w, r);
    json_forms(w, r);
    report_language_times_json(w, r);
    json_end(w);
}

static void write_json(const language_result *const *list, uint32_t n, sbuf *out)
{
    json_writer w;
    json_begin(&w, out, 2);
    if (n == 1) {
        json_one(&w, list[0]);
    } else {
        json_object(&w);
        key_cstr(&w, "schema", "assay.pipelines/1");
        json_key(&w, "pipelines");
        json_array(&w);
        for (uint32_t i = 0; i < n; i++)
            json_one(&w, list[i]);
        json_end(&w);
        json_end(&w);
    }
    sbuf_putc(out, '\n');
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

static void largest(console *k, const char *title, int64_t v, const char *unit)
{
    sbuf b = {0};
    if (v < 0)
        sbuf_puts(&b, "none");
    else if (v == INT64_MAX)
        sbuf_puts(&b, "any");
    else
        text_thousands(&b, (uint64_t)v);
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
    snprintf(remark, sizeof remark, "%" PRId64 " × %" PRId64 " tokens", r->batch,
             r->prompt_tokens + r->generate);
    row_bytes(k, "Cache", r->cache_bytes, remark);
    row_bytes(k, "Activation peak", r->activation_peak_bytes,
              "of the prefill, logits of every token");
    row_bytes(k, "Together", r->serve_bytes, NULL);
    if (!r->memory_limit)
        return;
    row_bytes(k, "Memory given", r->memory_limit,
              r->serve_bytes <= r->memory_limit ? "fits" : "does not fit");
    largest(k, "Largest context", r->largest_context, "tokens per sequence at this batch");
    largest(k, "Largest batch", r->largest_batch, "sequences of this length");
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
    row_si(k, "Total", (double)r->prefill.macs + (double)r->decode_macs, "MACs", NULL);
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
