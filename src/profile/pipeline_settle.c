/* Derived members of a pipeline result: formatted numbers, sums, shares, rates. Computed once, when the others are
 * known, and stored in the file. */
#include <math.h>

#include "base/text.h"
#include "profile/language.h"
#include "profile/pipeline.h"

/* ---- figures as text ---- */

typedef struct twin {
    uint32_t value, text; /* offsets of a uint64_t and of the str */
    const char *unit;     /* NULL: bytes */
} twin;

#define TWIN(T, member, unit_)                                                                \
    {                                                                                         \
        (uint32_t) offsetof(T, member), (uint32_t)offsetof(T, member##_str), .unit = (unit_), \
    }

static str copy_text(sbuf *b, arena *a)
{
    str s = b->failed ? (str){0} : str_copy(a, (str){b->p, (uint32_t)b->n});
    sbuf_free(b);
    return s;
}

static str figure_text(uint64_t v, const char *unit, arena *a)
{
    sbuf b = {0};
    if (unit)
        text_si_unit(&b, (double)v, 2, unit);
    else
        text_bytes(&b, v);
    return copy_text(&b, a);
}

static void write_twins(void *base, const twin *list, size_t n, arena *a)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t v;
        memcpy(&v, (char *)base + list[i].value, sizeof v);
        str s = figure_text(v, list[i].unit, a);
        memcpy((char *)base + list[i].text, &s, sizeof s);
    }
}
#define WRITE_TWINS(base, list, a) write_twins((base), (list), sizeof(list) / sizeof *(list), (a))

static const twin component_twins[] = {
    TWIN(pipeline_component, macs, "MACs"),
    TWIN(pipeline_component, flops, "FLOPs"),
    TWIN(pipeline_component, total_macs, "MACs"),
    TWIN(pipeline_component, total_flops, "FLOPs"),
};

static const twin pipeline_twins[] = {
    TWIN(pipeline_result, macs_per_pass, "MACs"),
    TWIN(pipeline_result, flops_per_pass, "FLOPs"),
    TWIN(pipeline_result, macs_per_step, "MACs"),
    TWIN(pipeline_result, flops_per_step, "FLOPs"),
    TWIN(pipeline_result, amortised_macs_per_step, "MACs"),
    TWIN(pipeline_result, amortised_flops_per_step, "FLOPs"),
    TWIN(pipeline_result, vae_macs, "MACs"),
    TWIN(pipeline_result, vae_flops, "FLOPs"),
    TWIN(pipeline_result, text_encoder_macs, "MACs"),
    TWIN(pipeline_result, text_encoder_flops, "FLOPs"),
    TWIN(pipeline_result, total_macs, "MACs"),
    TWIN(pipeline_result, total_flops, "FLOPs"),
};

static const twin phase_twins[] = {
    TWIN(language_phase, macs, "MACs"),
    TWIN(language_phase, flops, "FLOPs"),
    TWIN(language_phase, bytes, NULL),
};

static const twin language_twins[] = {
    TWIN(language_result, parameters, ""),
    TWIN(language_result, active_parameters, ""),
    TWIN(language_result, decode_macs, "MACs"),
    TWIN(language_result, decode_flops, "FLOPs"),
    TWIN(language_result, decode_bytes, NULL),
    TWIN(language_result, total_macs, "MACs"),
    TWIN(language_result, total_flops, "FLOPs"),
    TWIN(language_result, cache_bytes_per_token, NULL),
    TWIN(language_result, cache_bytes, NULL),
    TWIN(language_result, weight_bytes, NULL),
    TWIN(language_result, activation_peak_bytes, NULL),
    TWIN(language_result, serve_bytes, NULL),
};

/* ---- images ---- */

static double share_of_call(const pipeline_component *c, uint64_t macs)
{
    return c->macs ? 100.0 * (double)macs / (double)c->macs : 0.0;
}

static void settle_attention(pipeline_component *c)
{
    pipeline_attentions *all = &c->attention;
    pipeline_attention *s = &all->self, *x = &all->cross;
    s->percent = share_of_call(c, s->qk_macs + s->av_macs);
    x->percent = share_of_call(c, x->qk_macs + x->av_macs);
    all->qk_macs = s->qk_macs + x->qk_macs;
    all->av_macs = s->av_macs + x->av_macs;
    all->projection_macs = s->projection_macs + x->projection_macs;
    all->softmax_elements = s->softmax_elements + x->softmax_elements;
    all->softmax_flops = s->softmax_flops + x->softmax_flops;
    all->macs = all->qk_macs + all->av_macs;
    all->percent = share_of_call(c, all->macs);
}

static double tflops(uint64_t flops, double seconds)
{
    return (double)flops / seconds / 1e12;
}

static void settle_component(pipeline_component *c, arena *a)
{
    settle_attention(c);
    c->linear_macs = c->macs - c->attention.macs;
    c->tflops_per_second = isnan(c->time_ms) ? NAN
                           : c->time_ms > 0  ? (double)c->flops / c->time_ms / 1e9
                                             : 0.0;
    WRITE_TWINS(c, component_twins, a);
}

/* "865.91M", as the key has always been written. */
static str short_amount(uint64_t n, arena *a)
{
    sbuf b = {0}, joined = {0};
    text_si(&b, (double)n, 2);
    for (size_t i = 0; i < b.n; i++)
        if (b.p[i] != ' ')
            sbuf_putc(&joined, b.p[i]);
    sbuf_free(&b);
    return copy_text(&joined, a);
}

static str time_text(double seconds, arena *a)
{
    sbuf b = {0};
    if (isnan(seconds))
        return STR("not measured");
    text_fixed(&b, seconds, 2);
    sbuf_putc(&b, 's');
    return copy_text(&b, a);
}

bool pipeline_settle(pipeline_result *r, arena *a)
{
    if (!r->counted)
        return true;
    r->has_unet = r->model_component && strcmp(r->model_component, "unet") == 0;
    r->has_transformer = !r->has_unet;
    for (uint32_t i = 0; i < r->n_components; i++)
        settle_component(&r->components[i], a);
    WRITE_TWINS(r, pipeline_twins, a);
    r->denoiser_parameters_str = short_amount(r->denoiser_parameters, a);
    r->inference_time_str = time_text(r->inference_time_s, a);
    r->tflops_per_second = r->inference_time_s > 0 ? tflops(r->total_flops, r->inference_time_s)
                                                   : NAN;
    return !arena_failed(a);
}

/* ---- language ---- */

bool language_settle(language_result *r, arena *a)
{
    language_phase *const phases[] = {&r->prefill, &r->first, &r->last};
    if (!r->enabled)
        return true;
    r->tokens = r->prompt_tokens + r->generate;
    r->has_experts = r->experts > 0;
    r->has_limit = r->memory_limit > 0;
    r->fits = r->serve_bytes <= r->memory_limit;
    r->attention_exceeds = (uint64_t)ceil(r->crossing_tokens);
    r->attention_exceeds_causal = (uint64_t)ceil(r->crossing_causal_tokens);
    r->total_macs = r->prefill.macs + r->decode_macs;
    r->total_flops = r->prefill.flops + r->decode_flops;
    r->measured.step_ms = (r->measured.first_step_ms + r->measured.last_step_ms) / 2.0;
    r->form_variables = "B: batch, S: prompt tokens, N: tokens in the cache";
    for (size_t i = 0; i < sizeof phases / sizeof *phases; i++)
        WRITE_TWINS(phases[i], phase_twins, a);
    WRITE_TWINS(r, language_twins, a);
    return !arena_failed(a);
}
