/* Recommendations that need no measurement, and the table of all. docs/advice.md names their sources. */
#include "analyze/advise.h"

#include <math.h>
#include <stdlib.h>

#include "analyze/count.h"
#include "base/map.h"
#include "base/memory.h"
#include "base/num.h"
#include "base/text.h"

/* ---- numbers ---- */

void advise_number(sbuf *b, double v, int decimals)
{
    static const double scale[] = {1, 10, 100, 1000};
    uint64_t n = (uint64_t)llround(fabs(v < 1e15 ? v : 1e15) * scale[decimals]);
    uint64_t unit = (uint64_t)scale[decimals];
    sbuf_printf(b, "%s%llu", v < 0 && n ? "-" : "", (unsigned long long)(n / unit));
    if (decimals)
        sbuf_printf(b, ".%0*llu", decimals, (unsigned long long)(n % unit));
}

void advise_percent(sbuf *b, double share)
{
    advise_number(b, 100 * share, fabs(share) < 0.995 ? 1 : 0);
    sbuf_puts(b, " %");
}

void advise_bytes(sbuf *b, uint64_t from, uint64_t to)
{
    text_bytes(b, from);
    sbuf_puts(b, " → ");
    text_bytes(b, to);
}

void advise_times(sbuf *b, double ratio)
{
    advise_number(b, ratio, ratio < 9.995 ? 2 : 1);
    sbuf_puts(b, " times");
}

static double saved_share(uint64_t before, uint64_t after)
{
    return before > after ? num_ratio(before - after, before) : 0;
}

/* ---- Amdahl ---- */

typedef struct timed { /* layers with a time each */
    const char *what;
    uint32_t n;
    double all;
    bool measured, mapped;
} timed;

static bool has_times(const profile *p)
{
    for (uint32_t i = 0; i < p->n_layers; i++)
        if (p->layers[i].time_ms > 0)
            return true;
    return false;
}

/* Measured, predicted on the requested device, or what a machine at the threshold's ridge would need, in a separate
 * unit. */
static double time_of(const profile *p, const timed *s, uint32_t i)
{
    const profile_layer *l = &p->layers[s->mapped ? 0 : i];
    if (s->mapped)
        return p->mapping->layers[i].time_ms;
    if (s->measured)
        return l->time_ms > 0 ? l->time_ms : 0;
    double flops = (double)count_flops(&l->ops) / p->bottlenecks.threshold;
    return flops > (double)l->memory ? flops : (double)l->memory;
}

static str type_at(const profile *p, const timed *s, uint32_t i)
{
    return s->mapped ? p->mapping->layers[i].type : p->layers[i].type;
}

static str name_at(const profile *p, const timed *s, uint32_t i)
{
    return s->mapped ? p->mapping->layers[i].name : p->layers[i].name;
}

static timed find_times(const profile *p)
{
    timed s = {.measured = has_times(p)};
    s.mapped = !s.measured && p->mapping && p->mapping->n_layers;
    s.n = s.mapped ? p->mapping->n_layers : p->n_layers;
    s.what = s.measured                      ? "measured"
             : s.mapped                      ? "predicted on "
             : p->bottlenecks.hardware.n > 0 ? "by a roofline with the ridge of "
                                             : "by a roofline with the threshold as its ridge";
    for (uint32_t i = 0; i < s.n; i++)
        s.all += time_of(p, &s, i);
    if (s.measured && p->measured && p->measured->ledger.run_ms > s.all)
        s.all = p->measured->ledger.run_ms; /* as the tables have it: of the run */
    return s;
}

typedef struct slowest {
    str type;
    double sum, top;
    uint32_t count, layer; /* of the type; the one of it that takes most */
} slowest;

static slowest one_type(const profile *p, const timed *s, str type)
{
    slowest x = {.type = type, .top = -1};
    for (uint32_t i = 0; i < s->n; i++) {
        if (!str_eq(type_at(p, s, i), type))
            continue;
        double t = time_of(p, s, i);
        x.sum += t;
        x.count++;
        if (t > x.top) {
            x.top = t;
            x.layer = i;
        }
    }
    return x;
}

static slowest slowest_type(const profile *p, const timed *s)
{
    slowest best = {0};
    for (uint32_t o = 0; o < p->n_operations; o++) {
        slowest x = one_type(p, s, p->operations[o].type);
        best = x.sum > best.sum ? x : best;
    }
    return best;
}

static bool say_rewrite(advise *a)
{
    const profile *p = a->p;
    timed s = find_times(p);
    slowest x = slowest_type(p, &s);
    double share = s.all > 0 ? x.sum / s.all : 0;
    if (share < 0.2)
        return false;
    sbuf_printf(&a->title, "Rewrite " STR_FMT " first", STR_ARG(x.type));
    sbuf_printf(&a->why, "%u of %u layer%s take%s ", x.count, s.n, TEXT_S(s.n),
                x.count == 1 ? "s" : "");
    advise_percent(&a->why, share);
    sbuf_printf(&a->why, " of the time (%s", s.what);
    if (!s.measured)
        text_safe(&a->why, s.mapped ? p->mapping->layers[0].device : p->bottlenecks.hardware);
    sbuf_puts(&a->why, "); the largest is ");
    text_safe(&a->why, name_at(p, &s, x.layer));
    sbuf_puts(&a->why, " with ");
    advise_percent(&a->why, x.top / s.all);
    sbuf_puts(&a->why, ".");
    sbuf_puts(&a->expected, "By Amdahl's law, halving its time gives ");
    advise_times(&a->expected, 1 / (1 - share / 2));
    sbuf_puts(&a->expected, " overall; optimising everything else gives at most ");
    advise_times(&a->expected, 1 / share);
    sbuf_puts(&a->expected, ".");
    a->gain = share / 2;
    return true;
}

/* ---- fusion ---- */

static void say_engine_fuses(advise *a)
{
    const profile_measured *m = a->p->measured;
    if (!m || !m->ledger.present)
        return;
    sbuf_printf(&a->why, " The engine already fuses some: it ran %llu kernel%s, %llu fused.",
                (unsigned long long)m->ledger.kernels, TEXT_S(m->ledger.kernels),
                (unsigned long long)m->ledger.fused_kernels);
}

static void say_fused_time(advise *a, uint64_t bytes, uint64_t launches)
{
    const profile_mapping *m = a->p->mapping;
    if (!m || !a->f->placed_alike || m->n_hardware != 1 || !m->n_rows ||
        !(m->hardware[0].bandwidth > 0))
        return;
    const mapping_hardware *h = &m->hardware[0];
    double ms = ((double)bytes / h->bandwidth + (double)launches * h->overhead_s) * 1000;
    sbuf_puts(&a->expected, "; up to ");
    advise_number(&a->expected, ms, 3);
    sbuf_printf(&a->expected, " ms of %s's ", h->id.p ? h->id.p : "the device");
    advise_number(&a->expected, m->rows[0].latency_ms, 3);
    sbuf_puts(&a->expected, " ms");
}

static bool say_fusion(advise *a)
{
    const profile_potential *f = &a->p->potential;
    double saved = saved_share(f->bytes[0], f->bytes[1]);
    if (!f->present || saved < 0.05)
        return false;
    sbuf_printf(&a->title, "Fuse %u layers into %u kernel%s", a->p->n_layers, f->groups[1],
                TEXT_S(f->groups[1]));
    text_bytes(&a->why, f->bytes[0] - f->bytes[1]);
    sbuf_puts(&a->why, " of ");
    text_bytes(&a->why, f->bytes[0]);
    sbuf_puts(&a->why, " moved are intermediate results that only the next layer reads. Engines "
                       "have fused kernels for these chains (`assay fuse`).");
    say_engine_fuses(a);
    advise_percent(&a->expected, saved);
    sbuf_printf(&a->expected, " fewer bytes, %llu → %llu launch%s",
                (unsigned long long)f->launches[0], (unsigned long long)f->launches[1],
                f->launches[1] == 1 ? "" : "es");
    say_fused_time(a, f->bytes[0] - f->bytes[1], f->launches[0] - f->launches[1]);
    sbuf_puts(&a->expected, ". With residual additions and operands fused as well: ");
    advise_percent(&a->expected, saved_share(f->bytes[0], f->bytes[2]));
    sbuf_printf(&a->expected, " and %llu.", (unsigned long long)f->launches[2]);
    a->gain = saved * 0.8;
    return true;
}

static bool say_branches(advise *a)
{
    const profile_potential *f = &a->p->potential;
    if (!f->present || f->concurrency < 1.15)
        return false;
    sbuf_puts(&a->title, "Run branches in parallel");
    sbuf_puts(&a->why, "The critical path has ");
    advise_percent(&a->why, 1 / f->concurrency);
    sbuf_printf(&a->why, " of the FLOPs. Up to %u kernels are independent of each other.",
                f->widest);
    sbuf_puts(&a->expected, "At most ");
    advise_times(&a->expected, f->concurrency);
    sbuf_puts(&a->expected, " as fast with several streams or inter-operator threads; no gain "
                            "where one kernel saturates the device.");
    a->gain = (1 - 1 / f->concurrency) / 2;
    return true;
}

/* ---- precision ---- */

enum { WEIGHTS_LEAST = 1 << 20 }; /* below, there is nothing to save */

static bool mostly_float32(const profile *p)
{
    uint64_t wide = 0;
    for (uint32_t i = 0; i < p->architecture.n_dtypes; i++)
        if (p->architecture.dtypes[i].dtype == IR_FLOAT32)
            wide += p->architecture.dtypes[i].bytes;
    return p->precision.n == 0 && wide >= WEIGHTS_LEAST && 2 * wide > p->architecture.weight_bytes;
}

static void say_precision_bytes(advise *a, const advise_case *c)
{
    sbuf_puts(&a->expected, "Weights ");
    advise_bytes(&a->expected, a->p->memory_plan.weights_bytes, c->weights_bytes);
    sbuf_puts(&a->expected, ", bytes moved ");
    advise_bytes(&a->expected, a->p->total_memory, c->memory);
    sbuf_puts(&a->expected, ", peak memory ");
    advise_bytes(&a->expected, a->p->memory_plan.peak_bytes, c->peak_bytes);
    sbuf_puts(&a->expected, ".");
}

static const mapping_row *place_at(const profile_mapping *m, const char *precision)
{
    for (uint32_t i = 0; m && i < m->n_rows; i++)
        if (m->rows[i].hardware == 0 && strcmp(m->rows[i].precision, precision) == 0)
            return &m->rows[i];
    return NULL;
}

static void put_interval(sbuf *out, const mapping_row *r)
{
    sbuf_puts(out, "[");
    advise_number(out, r->latency_low_ms, 3);
    sbuf_puts(out, ", ");
    advise_number(out, r->latency_high_ms, 3);
    sbuf_puts(out, "]");
}

/* " (80 % within [1.2, 1.9] and [0.8, 1.3] ms)"; whether they overlap. */
static bool say_intervals(advise *a, const mapping_row *now, const mapping_row *then)
{
    if (!(now->latency_high_ms > 0) || !(then->latency_high_ms > 0))
        return false;
    sbuf_puts(&a->why, " (80 % within ");
    put_interval(&a->why, now);
    sbuf_puts(&a->why, " and ");
    put_interval(&a->why, then);
    sbuf_puts(&a->why, " ms)");
    return now->latency_low_ms <= then->latency_high_ms &&
           then->latency_low_ms <= now->latency_high_ms;
}

/* On the first device, at the same batch. */
static bool say_precision_mapped(advise *a, const char *precision)
{
    const profile_mapping *m = a->p->mapping;
    const mapping_row *now = place_at(m, "fp32"), *then = place_at(m, precision);
    if (!now || !then || now->batch != then->batch || !(then->latency_ms > 0))
        return false;
    double ratio = now->latency_ms / then->latency_ms;
    sbuf_printf(&a->why, "On " STR_FMT " at batch %lld, expect ", STR_ARG(m->hardware[0].id),
                (long long)now->batch);
    advise_number(&a->why, now->latency_ms, 3);
    sbuf_puts(&a->why, " ms at fp32 and ");
    advise_number(&a->why, then->latency_ms, 3);
    sbuf_printf(&a->why, " ms at %s: ", precision);
    advise_times(&a->why, ratio);
    sbuf_puts(&a->why, " as fast");
    bool tie = say_intervals(a, now, then);
    sbuf_puts(&a->why, tie ? "; the intervals overlap, so that it may be a tie. " : ". ");
    a->gain = ratio > 1 ? (1 - 1 / ratio) * (tie ? 0.5 : 1) : 0;
    return true;
}

static bool say_precision(advise *a, const char *precision, const advise_case *c)
{
    if (advise_precision_measured(a, precision)) {
        if (c->present)
            say_precision_bytes(a, c);
        return true;
    }
    if (!c->present || !mostly_float32(a->p))
        return false;
    sbuf_printf(&a->title, "Use %s for weights and activations", precision);
    bool mapped = say_precision_mapped(a, precision);
    sbuf_puts(&a->why, "Most weights are float32");
    if (!mapped) {
        sbuf_printf(&a->why,
                    ". The effect on speed depends on the device: one without native support "
                    "converts first and gets slower. Measure speed and output error with `assay "
                    "bench --configs 1:fp32,1:%s`",
                    precision);
        a->gain = saved_share(a->p->total_memory, c->memory) / (strcmp(precision, "int8") ? 2 : 3);
    }
    sbuf_puts(&a->why, ".");
    say_precision_bytes(a, c);
    return true;
}

static bool say_half(advise *a)
{
    return say_precision(a, "fp16", &a->f->cases[ADVISE_HALF]);
}

static bool say_byte(advise *a)
{
    return say_precision(a, "int8", &a->f->cases[ADVISE_BYTE]);
}

/* ---- sizes ---- */

static void say_change(advise *a, const advise_case *c, bool parameters)
{
    const profile *p = a->p;
    sbuf_puts(&a->expected, "FLOPs ÷ ");
    advise_number(&a->expected, num_ratio(p->total_flops, c->flops), 2);
    sbuf_puts(&a->expected, ", bytes moved ÷ ");
    advise_number(&a->expected, num_ratio(p->total_memory, c->memory), 2);
    sbuf_puts(&a->expected, ", activation peak ÷ ");
    advise_number(&a->expected,
                  num_ratio(p->memory_plan.activations_peak_bytes, c->activations_bytes), 2);
    if (parameters) {
        sbuf_puts(&a->expected, ", parameters ÷ ");
        advise_number(&a->expected, num_ratio(p->total_parameters, c->parameters), 2);
    }
    sbuf_puts(&a->expected, ".");
    a->gain = saved_share(p->total_flops, c->flops) * 0.5;
}

static bool say_image(advise *a)
{
    const advise_case *c = &a->f->cases[ADVISE_IMAGE];
    if (!c->present || saved_share(a->p->total_flops, c->flops) < 0.1)
        return false;
    sbuf_puts(&a->title, "Smaller images: ");
    sbuf_str(&a->title, c->change);
    sbuf_puts(&a->why, "At half the image side, ");
    text_si_unit(&a->why, (double)a->p->total_flops, -1, "FLOPs");
    sbuf_puts(&a->why, " become ");
    text_si_unit(&a->why, (double)c->flops, -1, "FLOPs");
    sbuf_puts(&a->why, ". Costs that scale with the pixels fall to a quarter; the weights (");
    text_bytes(&a->why, a->p->memory_plan.weights_bytes);
    sbuf_puts(&a->why, ") stay the same.");
    say_change(a, c, false);
    return true;
}

static bool say_sequence(advise *a)
{
    const advise_case *c = &a->f->cases[ADVISE_SEQUENCE];
    if (!c->present || saved_share(a->p->total_flops, c->flops) < 0.1)
        return false;
    sbuf_puts(&a->title, "Shorter sequences: ");
    sbuf_str(&a->title, c->change);
    sbuf_puts(&a->why, "The attention matrix products are ");
    advise_percent(&a->why, num_ratio(a->p->ops.mac_qk + a->p->ops.mac_av, a->p->total_macs));
    sbuf_puts(&a->why, " of the MACs and fall to a quarter; the rest falls to half.");
    say_change(a, c, false);
    return true;
}

static bool say_smaller(advise *a, advise_change which, const char *title)
{
    const advise_case *c = &a->f->cases[which];
    if (!c->present || saved_share(a->p->total_flops, c->flops) < 0.05)
        return false;
    sbuf_puts(&a->title, title);
    sbuf_str(&a->title, c->change);
    sbuf_puts(&a->why, "The smaller architecture was built and counted. It needs retraining. ");
    text_si(&a->why, (double)a->p->total_parameters, -1);
    sbuf_puts(&a->why, " parameters become ");
    text_si(&a->why, (double)c->parameters, -1);
    sbuf_puts(&a->why, ".");
    say_change(a, c, true);
    a->gain *= 0.8;
    return true;
}

static bool say_narrower(advise *a)
{
    return say_smaller(a, ADVISE_NARROWER, "Narrower model: ");
}

static bool say_shallower(advise *a)
{
    return say_smaller(a, ADVISE_SHALLOWER, "Shallower model: ");
}

/* ---- batch ---- */

static bool say_batch(advise *a)
{
    const advise_case *c = &a->f->cases[ADVISE_BATCH];
    if (advise_batch_measured(a))
        return true;
    if (!c->present || a->p->measured)
        return false;
    double before = (double)a->p->total_memory / c->samples,
           after = (double)c->memory / c->times / c->samples;
    if (!(after < 0.95 * before))
        return false;
    sbuf_puts(&a->title, "Larger batches: ");
    sbuf_str(&a->title, c->change);
    sbuf_puts(&a->why, "Weights are ");
    advise_percent(&a->why, num_ratio(a->p->memory_plan.weights_bytes, a->p->total_memory));
    sbuf_puts(&a->why, " of the bytes moved and are read once per batch.");
    sbuf_puts(&a->expected, "Bytes per sample ");
    advise_bytes(&a->expected, (uint64_t)before, (uint64_t)after);
    sbuf_puts(&a->expected, ", intensity ");
    advise_number(&a->expected, a->p->arithmetic_intensity, 1);
    sbuf_puts(&a->expected, " → ");
    advise_number(&a->expected, c->intensity, 1);
    sbuf_puts(&a->expected, " FLOPs per byte; peak memory ");
    advise_bytes(&a->expected, a->p->memory_plan.peak_bytes, c->peak_bytes);
    sbuf_puts(&a->expected, ". The latency per batch grows.");
    a->gain = (1 - after / before) / 2;
    return true;
}

/* ---- memory ---- */

static bool say_pooling(advise *a)
{
    const profile_memory_plan *m = &a->p->memory_plan;
    uint64_t apart = a->p->potential.unpooled_bytes;
    if (!a->p->potential.present || saved_share(apart, m->planned_bytes) < 0.3)
        return false;
    sbuf_puts(&a->title, "Reuse activation memory");
    sbuf_printf(&a->why, "Without reuse, the activations of %u layers take ", a->p->n_layers);
    text_bytes(&a->why, apart);
    sbuf_puts(&a->why, "; at most ");
    text_bytes(&a->why, m->activations_peak_bytes);
    sbuf_puts(&a->why, " are live at the same time.");
    sbuf_puts(&a->expected, "In one pool: ");
    advise_bytes(&a->expected, apart, m->planned_bytes);
    sbuf_puts(&a->expected, "; the lower bound is ");
    text_bytes(&a->expected, m->lower_bound_bytes);
    sbuf_puts(&a->expected, ".");
    a->gain = 0.05;
    return true;
}

#define USUAL_CARD_BYTES (24.0 * 1073741824.0)

/* Devices so that each keeps its share of the weights and all activations within four fifths. */
static uint64_t devices_needed(uint64_t held, uint64_t activations, double memory)
{
    double room = 0.8 * memory - (double)activations;
    return room > 0 ? (uint64_t)ceil((double)held / room) : 0;
}

/* The device to fit into: the first that is mapped, the one that is named, or a usual card. */
static double sharding_device(const advise *a, const mapping_row *r, str *name)
{
    *name = r ? a->p->mapping->hardware[r->hardware].id : a->f->device;
    return r                         ? a->p->mapping->hardware[r->hardware].memory_bytes
           : a->f->device_memory > 0 ? a->f->device_memory
                                     : USUAL_CARD_BYTES;
}

static bool say_sharding(advise *a)
{
    const profile_mapping *m = a->p->mapping;
    const mapping_row *r = m && m->n_rows ? &m->rows[0] : NULL;
    uint64_t held = r ? r->weights_bytes : a->p->memory_plan.weights_bytes;
    uint64_t acts = r ? r->activations_bytes : a->p->memory_plan.activations_peak_bytes;
    str name;
    double memory = sharding_device(a, r, &name);
    uint64_t n = devices_needed(held, acts, memory);
    if ((double)(held + acts) <= 0.8 * memory || n < 2 || n > 4096)
        return false;
    sbuf_printf(&a->title, "Split the weights over %llu devices", (unsigned long long)n);
    text_bytes(&a->why, held);
    sbuf_puts(&a->why, " of weights and ");
    text_bytes(&a->why, acts);
    sbuf_puts(&a->why, " of activations do not fit ");
    text_bytes(&a->why, (uint64_t)(0.8 * memory));
    if (r || a->f->device_memory > 0)
        sbuf_printf(&a->why, ", 80 %% of the memory of " STR_FMT ".", STR_ARG(name));
    else
        sbuf_puts(&a->why, ", 80 % of a 24 GiB card. Use --hardware for another device.");
    sbuf_puts(&a->expected, "Each device stores ");
    text_bytes(&a->expected, held / n);
    sbuf_puts(&a->expected, " of weights. Every device also stores its activations, and devices "
                            "exchange results between layers.");
    a->gain = 0.9;
    return true;
}

/* ---- hardware ---- */

static bool say_hardware(advise *a)
{
    const profile_mapping *m = a->p->mapping;
    const mapping_row *r = m && m->n_rows ? &m->rows[0] : NULL;
    if (!r)
        return false;
    double flops = r->gain_flops_percent, bytes = r->gain_bandwidth_percent;
    bool memory = bytes > flops;
    sbuf_puts(&a->title, memory ? "Prefer bandwidth over FLOPS" : "Prefer FLOPS over bandwidth");
    sbuf_printf(&a->why, "On " STR_FMT " at %s and batch %lld, ",
                STR_ARG(m->hardware[r->hardware].id), r->precision, (long long)r->batch);
    advise_percent(&a->why, r->compute_percent / 100);
    sbuf_puts(&a->why, " of the time is compute-bound, ");
    advise_percent(&a->why, r->memory_percent / 100);
    sbuf_puts(&a->why, " memory-bound, ");
    advise_percent(&a->why, r->overhead_percent / 100);
    sbuf_puts(&a->why, " kernel launch overhead.");
    sbuf_puts(&a->expected, "10 % more bandwidth saves ");
    advise_percent(&a->expected, bytes / 100);
    sbuf_puts(&a->expected, " of the time, 10 % more FLOPS ");
    advise_percent(&a->expected, flops / 100);
    sbuf_puts(&a->expected, ".");
    a->gain = (memory ? bytes : flops) / 100;
    return flops > 0.5 || bytes > 0.5;
}

/* ---- the table ---- */

const advise_row advise_rows[] = {
    {"rewrite-first", "one operator takes 20 % of the time or more", say_rewrite},
    {"slow-layer", "layers were timed and one is much slower than others of its operator",
     advise_slow_layer},
    {"fusion", "fusion saves 5 % of the bytes moved", say_fusion},
    {"precision-fp16", "fp16 and another precision were measured, or weights are float32",
     say_half},
    {"precision-int8", "int8 and another precision were measured, or weights are float32",
     say_byte},
    {"batch-size", "a batch list was measured, or a larger batch moves 5 % fewer bytes per sample",
     say_batch},
    {"dynamic-batching", "a batch list was measured", advise_dynamic_batching},
    {"threads", "CPU time was measured", advise_threads},
    {"branches", "15 % of the FLOPs are off the critical path", say_branches},
    {"image-size", "the model has an image input and accepts half its side", say_image},
    {"sequence-length", "the model has a sequence input and accepts half its length", say_sequence},
    {"width", "the model is a built-in architecture with a smaller width", say_narrower},
    {"depth", "the model is a built-in architecture with a smaller depth", say_shallower},
    {"sharding", "weights and activations do not fit the device", say_sharding},
    {"memory-pool", "reusing memory saves 30 % of the activations", say_pooling},
    {"hardware", "the model was mapped to a device", say_hardware},
    {"checkpointing", "--training is set and recomputation saves 20 %", advise_checkpointing},
    {"optimizer", "--training is set", advise_optimizer},
};
const uint32_t advise_rows_n = sizeof advise_rows / sizeof *advise_rows;

typedef struct ranked {
    profile_advice advice;
    double gain;
    uint32_t row;
} ranked;

static int more_first(const void *a, const void *b)
{
    const ranked *x = a, *y = b;
    if (x->gain != y->gain)
        return x->gain < y->gain ? 1 : -1;
    return x->row < y->row ? -1 : 1;
}

static str keep_text(sbuf *b, arena *a)
{
    str s = str_copy(a, (str){b->p, (uint32_t)b->n});
    sbuf_free(b);
    return s;
}

assay_status advise_run(const advise_facts *f, profile *p, assay_error *err)
{
    ranked *list = memory_zeroed(advise_rows_n, sizeof *list);
    profile_advice *to = ARENA_ARRAY(p->arena, profile_advice, advise_rows_n);
    uint32_t n = 0;
    bool failed = !list || !to;
    for (uint32_t k = 0; !failed && k < advise_rows_n; k++) {
        advise a = {.p = p, .f = f};
        bool holds = advise_rows[k].say(&a);
        failed = a.title.failed || a.why.failed || a.expected.failed;
        profile_advice said = {.id = advise_rows[k].id,
                               .title = keep_text(&a.title, p->arena),
                               .why = keep_text(&a.why, p->arena),
                               .expected = keep_text(&a.expected, p->arena)};
        if (holds)
            list[n++] = (ranked){said, a.gain, k};
    }
    if (list && n)
        qsort(list, n, sizeof *list, more_first);
    for (uint32_t k = 0; !failed && k < n; k++)
        to[k] = list[k].advice;
    free(list);
    if (failed || arena_failed(p->arena))
        return err_no_memory(err);
    p->recommendations = to;
    p->n_recommendations = n;
    return ASSAY_OK;
}
