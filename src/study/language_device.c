/* A language model on devices: the time that a server is expected to need (device/serving.h), and the roofline as its
 * limit.
 *
 *   limit of a phase = max(2 linear MACs / peak, weights / bandwidth) + max(2 attention MACs / peak, cache / bandwidth)
 *
 * Activations are not part of the limit, because kernels keep them in caches, and a causal mask halves attention. The
 * prefill is the time to the first token: its logits are made for the last token only, as servers do. The time of
 * kernel launches is reported separately, because servers replay a step as one graph.
 */
#include <math.h>

#include "analyze/map.h"
#include "device/serving.h"
#include "study/language_impl.h"

typedef struct limits {
    double peak, bandwidth;
} limits;

typedef struct phase_time {
    double seconds;
    const char *bound;
} phase_time;

typedef struct placing {
    const language_result *o;
    const language_settings *s;
    const language_users_asked *users;
    const serving_table *table;
    arena *arena;
} placing;

/* ---- limits ---- */

/* Milliseconds with the four decimals of a saved result: what is shown live and from a file rounds from the same number. */
static double stored_ms(double seconds)
{
    return round(seconds * 1e7) / 1e4;
}

static double longer(double compute, double memory, double *bound_by_compute)
{
    if (compute > memory)
        *bound_by_compute += compute;
    return compute > memory ? compute : memory;
}

/* `less` are MACs of the linear layers that are not made: the logits of all tokens but the last. */
static phase_time limit_of(const language_phase *p, double less, const limits *m)
{
    double compute = 0, linear = 2.0 * ((double)p->linear_macs - less) / m->peak;
    double attended = fmax((double)p->causal_macs - (double)p->linear_macs, 0);
    attended = fmin(attended, (double)p->attention_macs);
    double seconds = longer(linear, (double)p->weight_bytes / m->bandwidth, &compute) +
                     longer(2.0 * attended / m->peak, (double)p->cache_bytes / m->bandwidth,
                            &compute);
    return (phase_time){seconds, compute * 2.0 > seconds ? "compute" : "memory"};
}

/* ---- number types ---- */

/* The kernels of weights with so many bits: of the same type, or of one that widens them. */
static kernel_dtype type_of(const device *d, const char *compute, double bits)
{
    bool fp8 = d->peak[DEVICE_FP8] > 0;
    const char *name = bits <= 4.4         ? "w4a16_mxfp4"
                       : bits <= 6         ? "int4_wo"
                       : bits > 10         ? "bfloat16"
                       : fp8 && bits < 8.1 ? "fp8_block"
                                           : "int8_wo";
    kernel_dtype t = *kernel_dtype_find(str_of(name));
    if (bits > 20)
        t = *kernel_dtype_find(STR("float32"));
    else if (bits > 10 && strcmp(compute, "float16") == 0)
        t.peak = DEVICE_FP16;
    t.weight_bytes = bits / 8;
    return t;
}

static serving_types types_of(const device *d, const language_result *o)
{
    ir_dtype cache = ir_dtype_by_name(str_of(o->cache_dtype));
    unsigned wide = ir_dtype_get(ir_dtype_by_name(str_of(o->compute_dtype)))->bits;
    return (serving_types){
        .linear = type_of(d, o->compute_dtype, o->linear_weight_bits),
        .experts = type_of(d, o->compute_dtype, o->expert_weight_bits),
        .logits = type_of(d, o->compute_dtype, wide < 16 ? 16 : wide),
        .kv_bytes = (double)ir_dtype_bytes(cache, 1024) / 1024,
    };
}

/* ---- users ---- */

static serving_metric metric_of(const char *word)
{
    return strcmp(word, "ttft") == 0  ? SERVING_TTFT
           : strcmp(word, "itl") == 0 ? SERVING_ITL
                                      : SERVING_LATENCY;
}

static bool is_within(const language_slo *slo, const serving_time *t, const serving_load *l)
{
    for (uint32_t i = 0; i < slo->n_limits; i++) {
        const language_limit *x = &slo->limits[i];
        double s = serving_quantile(t, l, metric_of(x->metric), x->percentile / 100);
        if (s * 1e3 > x->limit_ms)
            return false;
    }
    return true;
}

static language_users users_at(const placing *x, const serving_on *on, int64_t users, int64_t most)
{
    const serving_load l = {.input = (double)x->o->prompt_tokens,
                            .output = (double)x->o->generate,
                            .users = (double)users,
                            .most = (double)most};
    serving_time t = serving_predict(on, &l);
    language_users u = {
        .users = users,
        .running = (int64_t)t.running,
        .ttft_ms = stored_ms(t.ttft.expected),
        .ttft_low_ms = stored_ms(t.ttft.low),
        .ttft_high_ms = stored_ms(t.ttft.high),
        .itl_ms = stored_ms(t.tpot.expected),
        .itl_low_ms = stored_ms(t.tpot.low),
        .itl_high_ms = stored_ms(t.tpot.high),
        .latency_ms = stored_ms(t.residence_s),
        .ttft_p99_ms = stored_ms(serving_quantile(&t, &l, SERVING_TTFT, 0.99)),
        .itl_p99_ms = stored_ms(serving_quantile(&t, &l, SERVING_ITL, 0.99)),
        .latency_p99_ms = stored_ms(serving_quantile(&t, &l, SERVING_LATENCY, 0.99)),
        .tokens_per_s = t.tokens,
        .requests_per_s = t.requests,
        .tokens_per_s_user = t.tokens / (double)users,
        .has_slo = x->users->slo.present};
    u.within_slo = u.has_slo && is_within(&x->users->slo, &t, &l);
    return u;
}

/* All times grow with the number of users, so that the most within the objectives is found by halving. */
static void find_most_users(const placing *x, const serving_on *on, language_device *out)
{
    enum { USUAL_MOST = 256 }; /* of engines, without objectives */
    int64_t low = 1, high = 1 << 16;
    if (!x->users->slo.present)
        low = high = USUAL_MOST;
    else if (!users_at(x, on, 1, out->most_running).within_slo)
        return;
    while (low + 1 < high) {
        int64_t middle = low + (high - low) / 2;
        if (users_at(x, on, middle, out->most_running).within_slo)
            low = middle;
        else
            high = middle;
    }
    /* more users than can run only wait: they add nothing */
    low = low > out->most_running ? out->most_running : low;
    out->best = users_at(x, on, low, out->most_running);
    out->has_best = true;
}

static assay_status take_users(const placing *x, const serving_on *on, language_device *out,
                               assay_error *err)
{
    const language_users_asked *u = x->users;
    if (!out->most_running || (!u->n && !u->slo.present && !u->most))
        return ASSAY_OK;
    out->users = ARENA_ARRAY(x->arena, language_users, LANGUAGE_USERS);
    TRY_MEMORY(out->users, err);
    for (uint32_t i = 0; i < u->n; i++)
        out->users[out->n_users++] = users_at(x, on, u->users[i], out->most_running);
    for (int64_t n = 1; !u->n && u->slo.present && n <= 256; n *= 2)
        out->users[out->n_users++] = users_at(x, on, n, out->most_running);
    if (u->slo.present || u->most)
        find_most_users(x, on, out);
    return ASSAY_OK;
}

/* ---- one device ---- */

static serving_span at_least(serving_span s, double limit)
{
    return (serving_span){fmax(s.expected, limit), fmax(s.low, limit), fmax(s.high, limit),
                          s.measured};
}

static void put_span(serving_span s, double *expected, double *low, double *high)
{
    *expected = stored_ms(s.expected);
    *low = stored_ms(s.low);
    *high = stored_ms(s.high);
}

static void put_times(const placing *x, const serving_on *on, const limits *m, language_device *out)
{
    const language_result *o = x->o;
    double all = (double)o->prefill.macs, last = (double)o->prefill_macs_last_logits;
    double batch = (double)o->batch, begin = (double)o->prompt_tokens, end = (double)o->tokens;
    phase_time prefill = limit_of(&o->prefill, all - last, m);
    phase_time first = limit_of(&o->first, 0, m), done = limit_of(&o->last, 0, m);
    double limit = (first.seconds + done.seconds) / 2;
    serving_span ttft = at_least(serving_prefill(on, batch, begin), prefill.seconds);
    serving_span step = at_least(serving_step(on, batch, (begin + end) / 2), limit);
    put_span(ttft, &out->first_token_ms, &out->first_token_low_ms, &out->first_token_high_ms);
    put_span(step, &out->average_ms, &out->average_low_ms, &out->average_high_ms);
    out->first_step_ms = stored_ms(fmax(serving_step(on, batch, begin).expected, first.seconds));
    out->last_step_ms = stored_ms(fmax(serving_step(on, batch, end).expected, done.seconds));
    out->first_token_limit_ms = stored_ms(prefill.seconds);
    out->average_limit_ms = stored_ms(limit);
    out->total_s = ttft.expected + step.expected * (double)o->generate;
    out->tokens_per_s = batch / step.expected;
    out->prefill_tokens_per_s = batch * begin / ttft.expected;
    out->prefill_bound = prefill.bound;
    out->decode_bound = first.bound;
    out->basis = ttft.measured && step.measured ? "measured" : "class";
    out->imprecise = step.high > step.low * MAP_PRECISE;
}

static assay_status place_on_device(const placing *x, const device *d, language_device *out,
                                    assay_error *err)
{
    const language_result *o = x->o;
    device_precision p = device_precision_on(d, str_of(o->weight_dtype));
    *out = (language_device){.id = d->id,
                             .name = d->name,
                             .memory_bytes = (uint64_t)d->memory_bytes,
                             .first_token_ms = NAN,
                             .first_token_low_ms = NAN,
                             .first_token_high_ms = NAN,
                             .first_token_limit_ms = NAN,
                             .average_ms = NAN,
                             .average_low_ms = NAN,
                             .average_high_ms = NAN,
                             .average_limit_ms = NAN,
                             .first_step_ms = NAN,
                             .last_step_ms = NAN,
                             .launch_ms = NAN,
                             .total_s = NAN,
                             .tokens_per_s = NAN,
                             .prefill_tokens_per_s = NAN};
    language_fit(o, out->memory_bytes, &out->largest_context, &out->largest_batch);
    out->most_running = language_most_running(o, out->memory_bytes);
    out->fits = (double)o->serve_bytes <= d->memory_bytes;
    out->verdict = map_verdict((double)o->serve_bytes / d->memory_bytes, false);
    if (p == DEVICE_PRECISIONS || d->bandwidth <= 0)
        return ASSAY_OK;
    const limits m = {d->peak[p], d->bandwidth};
    const serving_on on = {.table = x->table,
                           .device = d,
                           .model = x->s->serving,
                           .engine = &x->table->engines.items[0],
                           .types = types_of(d, o)};
    out->precision = device_precision_name(p);
    out->engine = str_copy(x->arena, on.engine->name);
    out->launch_ms = (double)o->kernels * d->overhead_s * 1e3;
    put_times(x, &on, &m, out);
    return take_users(x, &on, out, err);
}

/* ---- ties ---- */

/* Of the devices that hold the model, one has the shortest expected step; others tie with it where intervals overlap. */
static void mark_ties(language_result *o)
{
    const language_device *best = NULL;
    for (uint32_t i = 0; i < o->n_devices; i++) {
        const language_device *d = &o->devices[i];
        if (d->fits && !d->imprecise && d->average_ms > 0 &&
            (!best || d->average_ms < best->average_ms))
            best = d;
    }
    for (uint32_t i = 0; best && i < o->n_devices; i++) {
        language_device *d = &o->devices[i];
        d->tie = d != best && d->fits && !d->imprecise && d->average_low_ms < best->average_high_ms;
    }
}

assay_status language_on_devices(str hardware, const language_settings *s,
                                 const language_users_asked *users, arena *a, language_result *o,
                                 assay_error *err)
{
    device_list list = {.arena = a};
    serving_table *table = ARENA_NEW(a, serving_table);
    TRY_MEMORY(table, err);
    TRY(devices_choose(hardware, &list, err));
    TRY(serving_table_read(a, table, err));
    o->devices = ARENA_ARRAY(a, language_device, list.rows.n + 1u);
    TRY_MEMORY(o->devices, err);
    const placing x = {o, s, users, table, a};
    for (uint32_t i = 0; i < list.rows.n; i++)
        TRY(place_on_device(&x, &list.rows.items[i], &o->devices[i], err));
    o->n_devices = list.rows.n;
    o->slo = users->slo;
    mark_ties(o);
    return ASSAY_OK;
}
