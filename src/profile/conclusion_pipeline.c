/* Conclusions of generation pipelines and language models; see conclusion.h. */
#include <math.h>

#include "base/text.h"
#include "profile/conclusion.h"
#include "profile/language.h"
#include "profile/pipeline.h"

/* ---- images ---- */

static const pipeline_component *heaviest(const pipeline_result *r)
{
    const pipeline_component *best = NULL;
    for (uint32_t i = 0; i < r->n_components; i++)
        if (!best || r->components[i].total_flops > best->total_flops)
            best = &r->components[i];
    return best;
}

static void put_image(const pipeline_result *r, sbuf *out)
{
    conclude_name(out, r->title.n ? r->title : r->model);
    sbuf_puts(out, r->partial ? " needs at least " : " needs ");
    conclude_flops(out, (double)r->total_flops);
    sbuf_puts(out, " for ");
    conclude_count(out, r->batch > 0 ? (uint64_t)r->batch : 1, "image");
    sbuf_printf(out, " of %lld×%lld pixels in ", (long long)r->width, (long long)r->height);
    conclude_count(out, r->steps_run > 0 ? (uint64_t)r->steps_run : 0, "step");
}

void diffusion_conclude(const void *data, sbuf *out)
{
    const pipeline_result *r = data;
    const pipeline_component *most = heaviest(r);
    if (!r->counted || !r->total_flops)
        return;
    put_image(r, out);
    if (most && isfinite(most->percent)) {
        sbuf_puts(out, "; ");
        conclude_percent(out, most->percent);
        sbuf_puts(out, " of it is in ");
        conclude_name(out, most->name);
    }
    sbuf_puts(out, ".");
    if (r->inference_time_s > 0) {
        sbuf_puts(out, " It takes ");
        text_ms(out, 1000 * r->inference_time_s);
        sbuf_puts(out, " here.");
    }
}

/* ---- language models ---- */

static void put_serving(const language_result *r, sbuf *out)
{
    conclude_name(out, r->model);
    sbuf_puts(out, " needs ");
    text_bytes(out, r->serve_bytes);
    sbuf_puts(out, " to serve ");
    conclude_count(out, r->batch > 0 ? (uint64_t)r->batch : 1, "sequence");
    sbuf_puts(out, " of ");
    conclude_count(out, r->tokens > 0 ? (uint64_t)r->tokens : 0, "token");
    sbuf_puts(out, ": ");
    text_bytes(out, r->weight_bytes);
    sbuf_puts(out, " of weights and ");
    text_bytes(out, r->cache_bytes);
    sbuf_puts(out, " of KV cache.");
}

static void put_generation(double per_s, double first_ms, sbuf *out)
{
    conclude_rate(out, per_s);
    sbuf_puts(out, " tokens/s, the first token after ");
    text_ms(out, first_ms);
}

static const language_device *best_device(const language_result *r)
{
    const language_device *best = NULL;
    for (uint32_t i = 0; i < r->n_devices; i++)
        if (r->devices[i].fits && r->devices[i].tokens_per_s > 0 &&
            (!best || r->devices[i].tokens_per_s > best->tokens_per_s))
            best = &r->devices[i];
    return best;
}

static void put_device(const language_device *d, sbuf *out)
{
    sbuf_puts(out, " On ");
    conclude_name(out, d->name);
    sbuf_puts(out, " it is predicted to generate ");
    put_generation(d->tokens_per_s, d->first_token_ms, out);
    if (d->decode_bound)
        sbuf_printf(out, ", limited by %s", d->decode_bound);
    sbuf_puts(out, ".");
}

void language_conclude(const void *data, sbuf *out)
{
    const language_result *r = data;
    const language_device *device = best_device(r);
    if (!r->enabled || !r->serve_bytes)
        return;
    put_serving(r, out);
    if (r->measured.present && r->measured.tokens_per_s > 0) {
        sbuf_puts(out, " It generates ");
        put_generation(r->measured.tokens_per_s, r->measured.prefill_ms, out);
        sbuf_puts(out, " here.");
    } else if (device) {
        put_device(device, out);
    } else if (r->n_devices) {
        sbuf_puts(out, " It fits into the memory of none of the devices.");
    } else {
        sbuf_puts(out, " A generated token takes ");
        conclude_flops(out, (double)r->average.flops);
        sbuf_puts(out, ".");
    }
}
