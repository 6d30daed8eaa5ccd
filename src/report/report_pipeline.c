/* A pipeline on the screen and as CSV: what each component costs, how attention divides, sweeps, and several
 * pipelines side by side. */
#include <inttypes.h>
#include <stdio.h>

#include "base/text.h"
#include "report/console.h"
#include "report/pipelines.h"
#include "report/studies.h"

/* 804.26 GMACs: two decimals and a unit. */
static void put_unit(sbuf *b, uint64_t v, const char *unit)
{
    text_si_unit(b, (double)v, 2, unit);
}

/* ---- one pipeline ---- */

static void heading(console *k, const pipeline_result *r)
{
    char title[96], remark[160], guidance[32];
    sbuf g = {0};
    report_fixed(&g, r->guidance_scale, 1);
    snprintf(guidance, sizeof guidance, "%s", sbuf_cstr(&g));
    sbuf_free(&g);
    text_safe_into(title, sizeof title, r->title);
    snprintf(remark, sizeof remark, "%" PRId64 "×%" PRId64 " · %" PRId64 " steps · guidance %s%s",
             r->width, r->height, r->steps_run, guidance,
             r->distilled              ? " (distilled: one pass)"
             : r->passes_per_step == 2 ? " (two passes a step)"
                                       : " (one pass a step)");
    console_heading(k, title, remark);
}

static void components(console *k, const pipeline_result *r)
{
    static const console_column columns[] = {
        {.title = "component"},
        {.title = "model", .drop = 2, .min = 14},
        {.title = "parameters", .right = true, .drop = 1},
        {.title = "MACs a call", .right = true},
        {.title = "calls", .right = true},
        {.title = "MACs", .right = true},
        {.title = "FLOPs", .right = true, .drop = 3},
        {.title = "share", .right = true},
    };
    console_table t;
    table_begin(&t, columns, 8, 2);
    for (uint32_t i = 0; i < r->n_components; i++) {
        const pipeline_component *c = &r->components[i];
        table_str(&t, STYLE_PLAIN, c->name);
        table_str(&t, STYLE_DIM, c->model);
        if (c->error.n) {
            for (int n = 0; n < 6; n++)
                sbuf_puts(table_cell(&t, STYLE_WARN), n ? "–" : "unknown");
            continue;
        }
        table_si(&t, STYLE_PLAIN, c->parameters);
        text_si(table_cell(&t, STYLE_PLAIN), (double)c->macs, 2);
        text_thousands(table_cell(&t, STYLE_PLAIN), c->calls);
        text_si(table_cell(&t, STYLE_PLAIN), (double)c->total_macs, 2);
        text_si(table_cell(&t, STYLE_DIM), (double)c->total_flops, 2);
        sbuf *b = table_cell(&t, STYLE_PLAIN);
        report_fixed(b, c->percent, 2);
        sbuf_puts(b, " %");
    }
    table_print(&t, k);
}

static void line(console *k, const char *title, uint64_t v, const char *unit, const char *remark)
{
    sbuf b = {0};
    put_unit(&b, v, unit);
    console_putf(k, STYLE_PLAIN, "  %-22s %14s", title, sbuf_cstr(&b));
    if (remark)
        console_putf(k, STYLE_DIM, "  %s", remark);
    console_line(k);
    sbuf_free(&b);
}

static void shape_words(const pipeline_shape *s, char *buf, size_t n)
{
    size_t at = 0;
    buf[0] = 0;
    for (uint32_t i = 0; i < s->rank && at + 24 < n; i++)
        at += (size_t)snprintf(buf + at, n - at, "%s%" PRId64, i ? "×" : "", (int64_t)s->dims[i]);
}

static void totals(console *k, const pipeline_result *r)
{
    char latent[96], remark[160];
    shape_words(&r->latent_shape, latent, sizeof latent);
    console_line(k);
    line(k, "Parameters", r->denoiser_parameters, "", "of the denoiser");
    line(k, "MACs per pass", r->macs_per_pass, "MACs", NULL);
    line(k, "MACs per step", r->macs_per_step, "MACs", "the denoiser's, guidance included");
    line(k, "FLOPs per step", r->flops_per_step, "FLOPs", NULL);
    line(k, "MACs per step, all", r->amortised_macs_per_step, "MACs",
         "amortised: everything, over the steps");
    line(k, "Text encoders", r->text_encoder_macs, "MACs",
         r->prompts == 2 ? "prompt and negative prompt"
         : r->prompts    ? "one prompt"
                         : "none");
    line(k, "VAE", r->vae_macs, "MACs", r->strength > 0 ? "encode and decode" : "decode");
    snprintf(remark, sizeof remark, "%" PRId64 " step%s, %" PRId64 " image%s, latents %s",
             r->steps_run, r->steps_run == 1 ? "" : "s", r->batch, r->batch == 1 ? "" : "s",
             latent);
    line(k, "MACs total", r->total_macs, "MACs", remark);
    line(k, "FLOPs total", r->total_flops, "FLOPs", NULL);
    if (isnan(r->inference_time_s)) {
        console_put(k, STYLE_DIM,
                    "  Inference time is not measured; --measure runs the components.");
        console_line(k);
    }
}

static void times(console *k, const pipeline_result *r)
{
    static const console_column columns[] = {
        {.title = "component"},
        {.title = "ms a call", .right = true},
        {.title = "calls", .right = true},
        {.title = "seconds", .right = true},
        {.title = "TFLOP/s", .right = true},
    };
    double all = r->inference_time_s;
    console_table t;
    console_heading(k, "Measured", "one call of each component, times its calls");
    table_begin(&t, columns, 5, 2);
    for (uint32_t i = 0; i < r->n_components; i++) {
        const pipeline_component *c = &r->components[i];
        if (isnan(c->time_ms))
            continue;
        table_str(&t, STYLE_PLAIN, c->name);
        report_fixed(table_cell(&t, STYLE_PLAIN), c->time_ms, 3);
        text_thousands(table_cell(&t, STYLE_PLAIN), c->calls);
        report_fixed(table_cell(&t, STYLE_PLAIN), c->time_ms * (double)c->calls / 1e3, 3);
        report_fixed(table_cell(&t, STYLE_PLAIN), c->tflops_per_second, 3);
    }
    sbuf_puts(table_cell(&t, STYLE_TITLE), "all");
    sbuf_puts(table_cell(&t, STYLE_PLAIN), "");
    sbuf_puts(table_cell(&t, STYLE_PLAIN), "");
    report_fixed(table_cell(&t, STYLE_TITLE), all, 3);
    report_fixed(table_cell(&t, STYLE_TITLE),
                 isnan(r->tflops_per_second) ? 0 : r->tflops_per_second, 3);
    table_print(&t, k);
}

static void attention_row(console_table *t, const pipeline_component *c, const char *kind,
                          const pipeline_attention *a)
{
    if (!a->layers)
        return;
    table_str(t, STYLE_PLAIN, c->name);
    sbuf_puts(table_cell(t, STYLE_DIM), kind);
    text_thousands(table_cell(t, STYLE_PLAIN), a->layers);
    text_si(table_cell(t, STYLE_PLAIN), (double)a->qk_macs, 2);
    text_si(table_cell(t, STYLE_PLAIN), (double)a->softmax_elements, 2);
    text_si(table_cell(t, STYLE_PLAIN), (double)a->av_macs, 2);
    text_si(table_cell(t, STYLE_PLAIN), (double)a->projection_macs, 2);
    table_percent(t, STYLE_PLAIN, (double)(a->qk_macs + a->av_macs), (double)c->macs);
}

static void attention(console *k, const pipeline_result *r)
{
    static const console_column columns[] = {
        {.title = "component", .min = 8},        {.title = ""},
        {.title = "layers", .right = true},      {.title = "QKᵀ", .right = true},
        {.title = "softmax", .right = true},     {.title = "AV", .right = true},
        {.title = "projections", .right = true}, {.title = "share", .right = true},
    };
    console_table t;
    console_heading(k, "Attention of one call",
                    "MACs; softmax in elements; share: QKᵀ and AV of the call");
    table_begin(&t, columns, 8, 2);
    for (uint32_t i = 0; i < r->n_components; i++) {
        attention_row(&t, &r->components[i], "self", &r->components[i].attention.self);
        attention_row(&t, &r->components[i], "cross", &r->components[i].attention.cross);
    }
    table_print(&t, k);
}

static void exponent_words(console *k, const pipeline_sweep *s)
{
    const pipeline_exponents *e = &s->exponents;
    bool area = strcmp(s->over, "resolution") == 0;
    sbuf b = {0};
    sbuf_puts(&b, "Cost grows as the ");
    sbuf_puts(&b, area ? "number of pixels" : s->over);
    sbuf_puts(&b, " to the power of: total ");
    report_fixed(&b, e->total, 2);
    if (area) {
        sbuf_puts(&b, ", denoiser ");
        report_fixed(&b, e->denoiser, 2);
        sbuf_puts(&b, " (linear and convolutions ");
        report_fixed(&b, e->linear, 2);
        sbuf_puts(&b, ", attention ");
        report_fixed(&b, e->attention, 2);
        sbuf_puts(&b, "), VAE ");
        report_fixed(&b, e->vae, 2);
    }
    sbuf_putc(&b, '.');
    console_words(k, STYLE_DIM, 2, false, (str){b.p, b.failed ? 0 : (uint32_t)b.n});
    sbuf_free(&b);
}

static void sweep(console *k, const pipeline_sweep *s)
{
    static const console_column columns[] = {
        {.title = ""},
        {.title = "MACs a pass", .right = true},
        {.title = "MACs a step", .right = true},
        {.title = "VAE", .right = true, .drop = 1},
        {.title = "total MACs", .right = true},
        {.title = "total", .right = true},
        {.title = "denoiser", .right = true},
    };
    char title[48];
    console_table t;
    snprintf(title, sizeof title, "Sweep over %s", s->over);
    console_heading(k, title, "ratios are to the first");
    table_begin(&t, columns, 7, 2);
    for (uint32_t i = 0; i < s->n; i++) {
        const pipeline_point *p = &s->points[i];
        sbuf *b = table_cell(&t, STYLE_PLAIN);
        if (strcmp(s->over, "resolution") == 0)
            sbuf_printf(b, "%" PRId64 "×%" PRId64, p->width, p->height);
        else
            report_fixed(b, p->value, strcmp(s->over, "guidance") == 0 ? 1 : 0);
        text_si(table_cell(&t, STYLE_PLAIN), (double)p->macs_per_pass, 2);
        text_si(table_cell(&t, STYLE_PLAIN), (double)p->macs_per_step, 2);
        text_si(table_cell(&t, STYLE_DIM), (double)p->vae_macs, 2);
        text_si(table_cell(&t, STYLE_PLAIN), (double)p->total_macs, 2);
        report_fixed(b = table_cell(&t, STYLE_PLAIN), p->relative, 2);
        sbuf_puts(b, "×");
        report_fixed(b = table_cell(&t, STYLE_DIM), p->relative_denoiser, 2);
        sbuf_puts(b, "×");
    }
    table_print(&t, k);
    if (s->exponents.present)
        exponent_words(k, s);
}

static void one(console *k, const pipeline_result *r)
{
    if (!r->enabled) {
        console_put(k, STYLE_PLAIN, "Profiling is switched off.");
        console_line(k);
        return;
    }
    heading(k, r);
    components(k, r);
    totals(k, r);
    if (!isnan(r->inference_time_s))
        times(k, r);
    attention(k, r);
    for (uint32_t i = 0; i < r->n_sweeps; i++)
        sweep(k, &r->sweeps[i]);
    for (uint32_t i = 0; i < r->warnings.list.n; i++)
        console_warning(k, "!", &r->warnings.list.items[i], true);
}

/* ---- several ---- */

static uint64_t get_params(const pipeline_result *r)
{
    return r->denoiser_parameters;
}
static uint64_t get_all(const pipeline_result *r)
{
    return r->all_parameters;
}
static uint64_t get_pass(const pipeline_result *r)
{
    return r->macs_per_pass;
}
static uint64_t get_step(const pipeline_result *r)
{
    return r->macs_per_step;
}
static uint64_t get_text(const pipeline_result *r)
{
    return r->text_encoder_macs;
}
static uint64_t get_vae(const pipeline_result *r)
{
    return r->vae_macs;
}
static uint64_t get_total(const pipeline_result *r)
{
    return r->total_macs;
}
static uint64_t get_flops(const pipeline_result *r)
{
    return r->total_flops;
}
static uint64_t get_steps(const pipeline_result *r)
{
    return (uint64_t)r->steps_run;
}

static const struct {
    const char *title;
    uint64_t (*get)(const pipeline_result *r);
} compared[] = {
    {"Denoiser parameters", get_params},
    {"All parameters", get_all},
    {"Steps", get_steps},
    {"MACs per pass", get_pass},
    {"MACs per step", get_step},
    {"Text encoders", get_text},
    {"VAE", get_vae},
    {"Total MACs", get_total},
    {"Total FLOPs", get_flops},
};
enum { N_COMPARED = sizeof compared / sizeof *compared };

static void side_by_side(console *k, const pipeline_result *const *list, uint32_t n)
{
    console_column columns[TABLE_MAX_COLUMNS] = {{.title = "", .min = 12}};
    char titles[PIPELINES_MAX][40];
    console_table t;
    for (uint32_t i = 0; i < n; i++) {
        text_safe_into(titles[i], 40, list[i]->model);
        columns[i + 1] = (console_column){.title = titles[i], .right = true, .min = 8};
    }
    console_heading(k, "Side by side", NULL);
    table_begin(&t, columns, n + 1, 2);
    for (int r = 0; r < N_COMPARED; r++) {
        sbuf_puts(table_cell(&t, STYLE_PLAIN), compared[r].title);
        for (uint32_t i = 0; i < n; i++)
            text_si(table_cell(&t, STYLE_PLAIN), (double)compared[r].get(list[i]), -1);
    }
    sbuf_puts(table_cell(&t, STYLE_PLAIN), "To the first");
    for (uint32_t i = 0; i < n; i++) {
        sbuf *b = table_cell(&t, STYLE_PLAIN);
        double first = (double)list[0]->total_macs;
        report_fixed(b, first > 0 ? (double)list[i]->total_macs / first : 0, 2);
        sbuf_puts(b, "×");
    }
    table_print(&t, k);
}

static void write_console(const pipeline_result *const *list, uint32_t n, const report_options *o,
                          sbuf *out)
{
    console k = {.o = o, .out = out, .width = (unsigned)(o->width ? o->width : 80)};
    for (uint32_t i = 0; i < n; i++)
        one(&k, list[i]);
    if (n > 1)
        side_by_side(&k, list, n);
}

/* ---- csv: a row per component ---- */

static void csv_name(sbuf *out, str s)
{
    sbuf safe = {0};
    text_safe(&safe, s);
    report_csv_field(out, (str){safe.p, (uint32_t)safe.n});
    sbuf_free(&safe);
}

static void write_csv(const pipeline_result *const *list, uint32_t n, sbuf *out)
{
    sbuf_puts(
        out,
        "pipeline,component,role,model,parameters,macs_per_call,flops_per_call,calls,macs,flops,"
        "percent,self_qk_macs,self_softmax_elements,self_av_macs,self_projection_macs,"
        "cross_qk_macs,cross_softmax_elements,cross_av_macs,cross_projection_macs\r\n");
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < list[i]->n_components; k++) {
            const pipeline_component *c = &list[i]->components[k];
            csv_name(out, list[i]->model);
            sbuf_putc(out, ',');
            csv_name(out, c->name);
            sbuf_printf(out, ",%s,", pipeline_role_words[c->role]);
            csv_name(out, c->model);
            const uint64_t v[] = {c->parameters, c->macs,       c->flops,
                                  c->calls,      c->total_macs, c->total_flops};
            for (size_t m = 0; m < sizeof v / sizeof *v; m++)
                sbuf_printf(out, ",%" PRIu64, v[m]);
            sbuf_putc(out, ',');
            report_fixed(out, c->percent, 3);
            const uint64_t a[] = {c->attention.self.qk_macs,  c->attention.self.softmax_elements,
                                  c->attention.self.av_macs,  c->attention.self.projection_macs,
                                  c->attention.cross.qk_macs, c->attention.cross.softmax_elements,
                                  c->attention.cross.av_macs, c->attention.cross.projection_macs};
            for (size_t m = 0; m < sizeof a / sizeof *a; m++)
                sbuf_printf(out, ",%" PRIu64, a[m]);
            sbuf_puts(out, "\r\n");
        }
}

/* ---- json ---- */

void report_results_json(const field_result *list, uint32_t n, sbuf *out)
{
    const pipelines_result all = {.list = list, .n = n};
    if (n == 1)
        result_write(list[0].kind, list[0].data, 2, out);
    else
        result_write(&pipelines_kind, &all, 2, out);
}

static void write_json(const pipeline_result *const *list, uint32_t n, sbuf *out)
{
    field_result all[PIPELINES_MAX];
    for (uint32_t i = 0; i < n; i++)
        all[i] = (field_result){&diffusion_kind, list[i]};
    report_results_json(all, n, out);
}

/* The record of a run over several models. Nothing was generated: the cost is counted, not run. */
static void write_generation_config(const pipeline_result *const *list, uint32_t n,
                                    const report_run *run, sbuf *out)
{
    json_writer w;
    json_begin(&w, out, 2);
    json_object(&w);
    key_str(&w, "timestamp", run->timestamp);
    key_str(&w, "prompt", run->prompt);
    json_key(&w, "models");
    json_array(&w);
    for (uint32_t i = 0; i < n; i++) {
        json_object(&w);
        key_str(&w, "model_id", list[i]->model);
        key_str(&w, "model_name", list[i]->title);
        json_key(&w, "image_path");
        json_null(&w);
        json_key(&w, "compute_profile");
        result_write_inside(&w, &diffusion_kind, list[i]);
        json_end(&w);
    }
    json_end(&w);
    json_end(&w);
    sbuf_putc(out, '\n');
}

assay_status report_pipelines(const pipeline_result *const *list, uint32_t n, str format,
                              const report_run *run, const report_options *o, sbuf *out,
                              assay_error *err)
{
    size_t from = out->n;
    if (str_is(format, "console"))
        write_console(list, n, o, out);
    else if (str_is(format, "json"))
        write_json(list, n, out);
    else if (str_is(format, "csv"))
        write_csv(list, n, out);
    else if (str_is(format, "generation-config"))
        write_generation_config(list, n, run, out);
    else
        return err_fail(
            err, ASSAY_ERR_USAGE,
            "A pipeline can be written as console, json, csv, md, html, summary-html or "
            "generation-config, not as '" STR_FMT "'.",
            STR_ARG(format));
    if (str_is(format, "console"))
        report_first_line(out, from);
    if (str_is(format, "console") && o->ascii)
        console_to_ascii(out, from);
    return out->failed ? err_no_memory(err) : ASSAY_OK;
}
