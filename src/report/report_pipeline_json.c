/* A pipeline as JSON ("assay.pipeline/1"): the fields that scripts read, each count with its human string
 * beside it; and the same inside a generation-config. */
#include <stdio.h>

#include "base/json_write.h"
#include "base/text.h"
#include "report/pipelines.h"

static void human(json_writer *w, const char *key, double v, const char *unit)
{
    sbuf b = {0};
    text_si_unit(&b, v, 2, unit);
    key_str(w, key, (str){b.p, b.failed ? 0 : (uint32_t)b.n});
    sbuf_free(&b);
}

/* "key" and "key_str". */
static void figure(json_writer *w, const char *key, uint64_t v, const char *unit)
{
    char twin[64];
    snprintf(twin, sizeof twin, "%s_str", key);
    key_u64(w, key, v);
    human(w, twin, (double)v, unit);
}

/* "865.91M", as the field has always been written. */
static void params_str(json_writer *w, uint64_t n)
{
    sbuf b = {0}, joined = {0};
    text_si(&b, (double)n, 2);
    for (size_t i = 0; i < b.n; i++)
        if (b.p[i] != ' ')
            sbuf_putc(&joined, b.p[i]);
    key_str(w, "params_str", (str){joined.p, joined.failed ? 0 : (uint32_t)joined.n});
    sbuf_free(&b);
    sbuf_free(&joined);
}

static void shape(json_writer *w, const char *key, const pipeline_shape *s)
{
    json_key(w, key);
    json_flat_array(w);
    for (int i = 0; i < s->rank; i++)
        json_i64(w, s->dims[i]);
    json_end(w);
}

static void attention_kind(json_writer *w, const char *key, const pipeline_attention *a)
{
    json_key(w, key);
    json_flat_object(w);
    key_u64(w, "layers", a->layers);
    key_u64(w, "qk_macs", a->qk_macs);
    key_u64(w, "softmax_elements", a->softmax_elements);
    key_u64(w, "softmax_flops", a->softmax_flops);
    key_u64(w, "av_macs", a->av_macs);
    key_u64(w, "projection_macs", a->projection_macs);
    json_end(w);
}

static void attention(json_writer *w, const pipeline_component *c)
{
    const pipeline_attention *s = &c->self, *x = &c->cross;
    uint64_t sdpa = s->qk_macs + s->av_macs + x->qk_macs + x->av_macs;
    json_key(w, "attention");
    json_object(w);
    key_u64(w, "qk_macs", s->qk_macs + x->qk_macs);
    key_u64(w, "softmax_elements", s->softmax_elements + x->softmax_elements);
    key_u64(w, "softmax_flops", s->softmax_flops + x->softmax_flops);
    key_u64(w, "av_macs", s->av_macs + x->av_macs);
    key_u64(w, "projection_macs", s->projection_macs + x->projection_macs);
    key_u64(w, "macs", sdpa);
    key_fixed(w, "percent", c->macs ? 100.0 * (double)sdpa / (double)c->macs : 0.0, 4);
    attention_kind(w, "self", s);
    attention_kind(w, "cross", x);
    json_end(w);
}

static void component(json_writer *w, const pipeline_component *c)
{
    uint64_t sdpa = c->self.qk_macs + c->self.av_macs + c->cross.qk_macs + c->cross.av_macs;
    json_object(w);
    key_str(w, "name", c->name);
    key_cstr(w, "role", pipeline_role_name(c->role));
    key_str(w, "model", c->model);
    if (c->error.n)
        key_str(w, "error", c->error);
    key_u64(w, "parameters", c->parameters);
    if (c->precision.n)
        key_str(w, "precision", c->precision);
    key_u64(w, "weight_bytes", c->weight_bytes);
    key_u64(w, "activations_peak_bytes", c->activations_peak_bytes);
    key_u64(w, "calls", c->calls);
    figure(w, "macs_per_call", c->macs, "MACs");
    figure(w, "flops_per_call", c->flops, "FLOPs");
    key_u64(w, "linear_macs_per_call", c->macs - sdpa);
    figure(w, "macs", c->total_macs, "MACs");
    figure(w, "flops", c->total_flops, "FLOPs");
    key_fixed(w, "percent", c->percent, 4);
    if (c->time_ms >= 0) {
        key_fixed(w, "time_ms", c->time_ms, 6);
        key_fixed(w, "tflops_per_second",
                  c->time_ms > 0 ? (double)c->flops / c->time_ms / 1e9 : 0.0, 6);
    }
    attention(w, c);
    json_end(w);
}

static void point(json_writer *w, const pipeline_point *p)
{
    json_flat_object(w);
    key_f64(w, "value", p->value);
    key_i64(w, "height", p->height);
    key_i64(w, "width", p->width);
    key_u64(w, "macs_per_pass", p->macs_per_pass);
    key_u64(w, "macs_per_step", p->macs_per_step);
    key_u64(w, "attention_macs_per_pass", p->attention_macs);
    key_u64(w, "vae_macs", p->vae_macs);
    key_u64(w, "text_encoder_macs", p->text_encoder_macs);
    key_u64(w, "total_macs", p->total_macs);
    key_u64(w, "total_flops", p->total_flops);
    key_fixed(w, "relative", p->relative, 6);
    key_fixed(w, "relative_denoiser", p->relative_denoiser, 6);
    json_end(w);
}

static void exponents(json_writer *w, const pipeline_sweep *s)
{
    const struct {
        const char *key;
        double v;
    } list[] = {{"total", s->total},
                {"denoiser", s->denoiser},
                {"denoiser_linear", s->linear},
                {"denoiser_attention", s->attention},
                {"vae", s->vae}};
    json_key(w, "exponents");
    json_flat_object(w);
    key_cstr(w, "of", strcmp(s->over, "resolution") == 0 ? "pixels" : s->over);
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        if (i > 0 && list[i].v == 0)
            continue;
        json_key(w, list[i].key);
        json_fixed(w, list[i].v, 4);
    }
    json_end(w);
}

static void sweeps(json_writer *w, const pipeline_result *r)
{
    json_key(w, "sweeps");
    json_array(w);
    for (uint32_t i = 0; i < r->n_sweeps; i++) {
        const pipeline_sweep *s = &r->sweeps[i];
        json_object(w);
        key_cstr(w, "over", s->over);
        json_key(w, "points");
        json_array(w);
        for (uint32_t k = 0; k < s->n; k++)
            point(w, &s->points[k]);
        json_end(w);
        if (s->fitted)
            exponents(w, s);
        json_end(w);
    }
    json_end(w);
}

static void warnings(json_writer *w, const pipeline_result *r)
{
    json_key(w, "warnings");
    json_array(w);
    for (uint32_t i = 0; i < r->warnings.list.n; i++) {
        const note *n = &r->warnings.list.items[i];
        json_object(w);
        key_cstr(w, "code", n->code);
        key_str(w, "node", n->node);
        key_str(w, "text", n->text);
        key_str(w, "advice", n->advice);
        json_end(w);
    }
    json_end(w);
}

static void settings(json_writer *w, const pipeline_result *r)
{
    key_i64(w, "num_inference_steps", r->steps);
    key_i64(w, "steps_run", r->steps_run);
    key_f64(w, "guidance_scale", r->guidance_scale);
    key_bool(w, "guidance_distilled", r->distilled);
    if (r->strength > 0)
        key_f64(w, "strength", r->strength);
    key_u64(w, "passes_per_step", r->passes_per_step);
    key_u64(w, "prompts", r->prompts);
    key_i64(w, "prompt_tokens", r->prompt_tokens);
    key_i64(w, "batch", r->batch);
    key_i64(w, "height", r->height);
    key_i64(w, "width", r->width);
    shape(w, "input_shape", &r->input_shape);
    shape(w, "latent_shape", &r->latent_shape);
}

static void time_fields(json_writer *w, const pipeline_result *r)
{
    sbuf text = {0};
    json_key(w, "inference_time_seconds");
    if (r->inference_time_s < 0)
        json_null(w);
    else
        json_fixed(w, r->inference_time_s, 6);
    if (r->inference_time_s >= 0) {
        report_fixed(&text, r->inference_time_s, 2);
        sbuf_putc(&text, 's');
    }
    key_cstr(w, "inference_time_str", text.n ? sbuf_cstr(&text) : "not measured");
    sbuf_free(&text);
    if (r->inference_time_s > 0)
        key_fixed(w, "tflops_per_second", (double)r->total_flops / r->inference_time_s / 1e12, 6);
}

static void totals(json_writer *w, const pipeline_result *r)
{
    bool unet = strcmp(r->model_component, "unet") == 0;
    key_u64(w, "total_params", r->denoiser_parameters);
    params_str(w, r->denoiser_parameters);
    key_u64(w, "pipeline_params", r->all_parameters);
    figure(w, "macs_per_pass", r->macs_per_pass, "MACs");
    figure(w, "flops_per_pass", r->flops_per_pass, "FLOPs");
    figure(w, "macs_per_step", r->macs_per_step, "MACs");
    figure(w, "flops_per_step", r->flops_per_step, "FLOPs");
    figure(w, unet ? "unet_macs_per_step" : "transformer_macs_per_step", r->macs_per_step, "MACs");
    figure(w, "amortised_macs_per_step", r->amortised_macs_per_step, "MACs");
    figure(w, "amortised_flops_per_step", r->amortised_flops_per_step, "FLOPs");
    figure(w, "vae_macs", r->vae_macs, "MACs");
    figure(w, "vae_flops", r->vae_flops, "FLOPs");
    figure(w, "text_encoder_macs", r->text_encoder_macs, "MACs");
    figure(w, "text_encoder_flops", r->text_encoder_flops, "FLOPs");
    figure(w, "total_macs", r->total_macs, "MACs");
    figure(w, "total_flops", r->total_flops, "FLOPs");
}

void report_pipeline_json(json_writer *w, const pipeline_result *r)
{
    json_object(w);
    key_cstr(w, "schema", "assay.pipeline/1");
    json_key(w, "kind");
    if (r->enabled || r->off_kind)
        json_cstr(w, r->enabled ? "diffusion" : r->off_kind);
    else
        json_null(w);
    key_str(w, "model", r->model);
    key_bool(w, "enabled", r->enabled);
    if (r->enabled) {
        key_str(w, "title", r->title);
        key_cstr(w, "model_component", r->model_component);
        totals(w, r);
        settings(w, r);
        time_fields(w, r);
        json_key(w, "components");
        json_array(w);
        for (uint32_t i = 0; i < r->n_components; i++)
            component(w, &r->components[i]);
        json_end(w);
        if (r->n_sweeps)
            sweeps(w, r);
        warnings(w, r);
    }
    json_end(w);
}

void report_pipeline_list_json(const pipeline_result *const *list, uint32_t n, sbuf *out)
{
    json_writer w;
    json_begin(&w, out, 2);
    if (n == 1) {
        report_pipeline_json(&w, list[0]);
    } else {
        json_object(&w);
        key_cstr(&w, "schema", "assay.pipelines/1");
        json_key(&w, "pipelines");
        json_array(&w);
        for (uint32_t i = 0; i < n; i++)
            report_pipeline_json(&w, list[i]);
        json_end(&w);
        json_end(&w);
    }
    sbuf_putc(out, '\n');
}

void report_generation_config(const pipeline_result *const *list, uint32_t n, const report_run *run,
                              sbuf *out)
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
        json_null(&w); /* nothing was generated: the cost is counted, not run */
        json_key(&w, "compute_profile");
        report_pipeline_json(&w, list[i]);
        json_end(&w);
    }
    json_end(&w);
    json_end(&w);
    sbuf_putc(out, '\n');
}
