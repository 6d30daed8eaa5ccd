/* A language model on devices by the roofline. No kernel reaches the peaks, so these are lower bounds.
 *
 *   phase = max(2 linear MACs / peak + other FLOPs / vector peak, (weights + activations) / bandwidth)
 *         + max(2 attention MACs / peak, cache / bandwidth)
 *
 * The prefill is the time to the first token: its logits are made for the last token only, as servers do. The time of
 * kernel launches is reported separately, because servers replay a step as one graph.
 */
#include "device/devices.h"
#include "study/language.h"

typedef struct limits {
    double peak, vector, bandwidth;
} limits;

typedef struct phase_time {
    double seconds;
    const char *bound;
} phase_time;

static double longer(double compute, double memory, double *bound_by_compute)
{
    if (compute > memory)
        *bound_by_compute += compute;
    return compute > memory ? compute : memory;
}

/* `less` are MACs of the linear layers that are not made: the logits of all tokens but the last. */
static phase_time time_of(const language_phase *p, double less, const limits *m)
{
    double linear = 2.0 * ((double)p->linear_macs - less) / m->peak;
    double macs = 2.0 * (double)p->macs, other = (double)p->flops - macs, compute = 0;
    if (other > 0 && m->vector > 0)
        linear += other / m->vector;
    double moved = ((double)p->weight_bytes + (double)p->activation_bytes) / m->bandwidth;
    double seconds = longer(linear, moved, &compute) +
                     longer(2.0 * (double)p->attention_macs / m->peak,
                            (double)p->cache_bytes / m->bandwidth, &compute);
    return (phase_time){seconds, compute * 2.0 > seconds ? "compute" : "memory"};
}

static void place_on_device(const device *d, const language_result *o, language_device *out)
{
    device_precision p = device_precision_on(d, str_of(o->weight_dtype));
    *out = (language_device){.id = d->id,
                             .name = d->name,
                             .memory_bytes = (uint64_t)d->memory_bytes,
                             .first_token_ms = NAN,
                             .average_ms = NAN,
                             .first_step_ms = NAN,
                             .last_step_ms = NAN,
                             .launch_ms = NAN,
                             .total_s = NAN,
                             .tokens_per_s = NAN,
                             .prefill_tokens_per_s = NAN};
    language_fit(o, (uint64_t)d->memory_bytes, &out->largest_context, &out->largest_batch);
    out->fits = (double)o->serve_bytes <= d->memory_bytes;
    if (p == DEVICE_PRECISIONS || d->bandwidth <= 0)
        return;
    const limits m = {d->peak[p], device_vector_peak(d, p), d->bandwidth};
    double all = (double)o->prefill.macs, last = (double)o->prefill_macs_last_logits;
    double batch = (double)o->batch, steps = (double)o->generate;
    phase_time prefill = time_of(&o->prefill, all - last, &m);
    phase_time first = time_of(&o->first, 0, &m), end = time_of(&o->last, 0, &m);
    out->precision = device_precision_name(p);
    double average = (first.seconds + end.seconds) / 2.0;
    out->first_token_ms = prefill.seconds * 1e3;
    out->first_step_ms = first.seconds * 1e3;
    out->last_step_ms = end.seconds * 1e3;
    out->average_ms = average * 1e3;
    out->total_s = prefill.seconds + average * steps;
    out->tokens_per_s = batch / average;
    out->prefill_tokens_per_s = batch * (double)o->prompt_tokens / prefill.seconds;
    out->launch_ms = (double)o->kernels * d->overhead_s * 1e3;
    out->prefill_bound = prefill.bound;
    out->decode_bound = first.bound;
}

assay_status language_on_devices(str hardware, arena *a, language_result *o, assay_error *err)
{
    device_list list = {.arena = a};
    TRY(devices_choose(hardware, &list, err));
    o->devices = ARENA_ARRAY(a, language_device, list.rows.n + 1u);
    if (!o->devices)
        return err_no_memory(err);
    for (uint32_t i = 0; i < list.rows.n; i++)
        place_on_device(&list.rows.items[i], o, &o->devices[i]);
    o->n_devices = list.rows.n;
    return ASSAY_OK;
}
