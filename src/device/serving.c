/* See serving.h. */
#include "device/serving.h"

#include <math.h>

#define SMALL_KERNELS  4.0    /* of a layer: norms, rotation, cache, activation, quantisation */
#define SMALL_KERNEL_S 2e-6   /* each, in a captured graph */
#define STEP_HOST_S    0.2e-3 /* scheduling, sampling and detokenising of a step */
/* Of kernels of a type that no row is of. */
#define UNKNOWN_LOW  0.6
#define UNKNOWN_HIGH 1.7

/* ---- models ---- */

static double product_cost(const serving_product *p)
{
    return p->columns * p->depth;
}

void serving_add_product(serving_pass *p, double columns, double depth, double count)
{
    const serving_product added = {columns, depth, count};
    for (uint32_t i = 0; i < p->n_products; i++) {
        serving_product *q = &p->products[i];
        if (fabs(q->columns - columns) + fabs(q->depth - depth) < 0.5) {
            q->count += count;
            return;
        }
    }
    if (p->n_products < SERVING_PRODUCTS) {
        p->products[p->n_products++] = added;
        return;
    }
    serving_product *last = &p->products[SERVING_PRODUCTS - 1];
    last->count += count * product_cost(&added) / fmax(product_cost(last), 1);
}

void serving_dense(const serving_shape *s, serving_model *out)
{
    double q = s->heads * s->head_size, kv = s->kv_heads * s->head_size;
    serving_pass *p = &out->prefill;
    *out = (serving_model){.layers = s->layers, .hidden = s->hidden, .vocabulary = s->vocabulary};
    serving_add_product(p, q + 2 * kv, s->hidden, s->layers);
    serving_add_product(p, s->hidden, q, s->layers);
    serving_add_product(p, 2 * s->inner, s->hidden, s->layers);
    serving_add_product(p, s->hidden, s->inner, s->layers);
    p->attentions[0] = (serving_attention){s->layers, s->heads, s->kv_heads, s->head_size, 0};
    p->n_attentions = 1;
    out->step = out->prefill;
}

/* ---- one pass ---- */

typedef struct adding {
    const serving_on *on;
    serving_span sum;
} adding;

static void add_time(adding *x, const kernel_time *k, double seconds, double count)
{
    double scale = k->seconds > 0 ? seconds / k->seconds * count : 0;
    bool own = k->from && str_eq(k->from->device, x->on->device->id);
    x->sum.expected += seconds * count;
    x->sum.low += (k->from ? k->low_s : k->seconds * UNKNOWN_LOW) * scale;
    x->sum.high += (k->from ? k->high_s : k->seconds * UNKNOWN_HIGH) * scale;
    x->sum.measured = x->sum.measured && own;
}

/* Tables of narrow types include a kernel that quantises the activations; engines do that in the norm before. */
static void add_product(adding *x, const kernel_dtype *type, double rows, const serving_product *p)
{
    kernel_call c = {
        .family = KERNEL_GEMM, .dtype = type, .m = rows, .n = p->columns, .k = p->depth};
    kernel_time k = kernel_predict(&x->on->table->kernels, x->on->device, &c);
    double quantising = type->launch_s - kernel_dtype_find(STR("bfloat16"))->launch_s;
    double s = k.seconds - (quantising > 0 ? quantising : 0);
    add_time(x, &k, s > k.limit_s ? s : k.limit_s, p->count);
}

static void add_experts(adding *x, double tokens)
{
    const serving_model *m = x->on->model;
    kernel_call c = {.family = KERNEL_MOE,
                     .dtype = &x->on->types.experts,
                     .tokens = tokens,
                     .hidden = m->hidden,
                     .inner = m->inner,
                     .topk = m->experts_used,
                     .experts = m->experts,
                     .shares = 1};
    if (!(m->expert_layers > 0))
        return;
    kernel_time k = kernel_predict(&x->on->table->kernels, x->on->device, &c);
    add_time(x, &k, k.seconds, m->expert_layers);
}

static void add_attention(adding *x, kernel_family f, const serving_attention *a, double batch,
                          double tokens)
{
    bool decode = f == KERNEL_DECODE;
    kernel_call c = {
        .family = f,
        .dtype = kernel_dtype_find(x->on->types.kv_bytes < 2 ? STR("fp8") : STR("bfloat16")),
        .batch = batch,
        .queries = decode ? 1 : tokens,
        .past = decode ? tokens : 0,
        .heads = a->heads,
        .kv_heads = a->kv_heads,
        .head_size = a->head_size,
        .window = a->window,
        .kv_bytes = x->on->types.kv_bytes};
    kernel_time k = kernel_predict(&x->on->table->kernels, x->on->device, &c);
    add_time(x, &k, k.seconds, a->layers);
}

static void add_host(adding *x)
{
    double s = x->on->model->layers * SMALL_KERNELS * SMALL_KERNEL_S + STEP_HOST_S;
    x->sum.expected += s;
    x->sum.low += s;
    x->sum.high += s;
}

/* `rows` tokens go through the products, `batch` of them get logits. */
static serving_span pass_time(const serving_on *on, const serving_pass *p, double rows,
                              double batch, double context)
{
    adding x = {.on = on, .sum.measured = true};
    bool decode = p == &on->model->step;
    serving_product logits = {on->model->vocabulary, on->model->hidden, 1};
    for (uint32_t i = 0; i < p->n_products; i++)
        add_product(&x, &on->types.linear, rows, &p->products[i]);
    for (uint32_t i = 0; i < p->n_attentions; i++)
        add_attention(&x, decode ? KERNEL_DECODE : KERNEL_PREFILL, &p->attentions[i], batch,
                      context);
    add_experts(&x, rows);
    if (logits.columns > 0)
        add_product(&x, &on->types.logits, batch, &logits);
    add_host(&x);
    return x.sum;
}

/* Errors of kernels and of whole requests are independent: their logarithms add as squares. A device whose kernels were
 * measured has the interval of its requests. */
static void widen(serving_span *s, double low, double high)
{
    double below = log(low), above = log(high);
    if (!s->measured) {
        below = -hypot(below, log(s->low / s->expected));
        above = hypot(above, log(s->high / s->expected));
    }
    s->low = s->expected * exp(below < 0 ? below : 0);
    s->high = s->expected * exp(above > 0 ? above : 0);
}

static serving_span raw_prefill(const serving_on *on, double batch, double prompt)
{
    return pass_time(on, &on->model->prefill, batch * prompt, batch, prompt);
}

static serving_span raw_step(const serving_on *on, double batch, double context)
{
    return pass_time(on, &on->model->step, batch, batch, context);
}

serving_span serving_prefill(const serving_on *on, double batch, double prompt)
{
    serving_span s = raw_prefill(on, batch, prompt);
    widen(&s, on->engine->ttft_low, on->engine->ttft_high);
    return s;
}

serving_span serving_step(const serving_on *on, double batch, double context)
{
    serving_span s = raw_step(on, batch, context);
    widen(&s, on->engine->tpot_low, on->engine->tpot_high);
    return s;
}

/* ---- requests ---- */

static serving_span times(serving_span s, double by)
{
    return (serving_span){s.expected * by, s.low * by, s.high * by, s.measured};
}

static serving_span plus(serving_span a, serving_span b)
{
    return (serving_span){a.expected + b.expected, a.low + b.low, a.high + b.high,
                          a.measured && b.measured};
}

serving_time serving_predict(const serving_on *on, const serving_load *l)
{
    double users = l->users > 1 ? l->users : 1, output = l->output > 1 ? l->output : 1;
    double n = l->most > 0 && l->most < users ? l->most : users;
    serving_span prefill = raw_prefill(on, 1, l->input);
    serving_span step = raw_step(on, n, l->input + output / 2);
    serving_time t = {.prefill_s = prefill.expected, .step_s = step.expected, .running = n};
    t.tpot = plus(step, times(prefill, (n - 1) / output));
    t.ttft = times(prefill, n > 1 ? on->engine->wait + on->engine->queue * n : 1);
    widen(&t.tpot, on->engine->tpot_low, on->engine->tpot_high);
    widen(&t.ttft, on->engine->ttft_low, on->engine->ttft_high);
    double runs = t.ttft.expected + (output - 1) * t.tpot.expected;
    t.requests = n / runs;
    t.tokens = t.requests * output;
    t.wait_s = users > n ? users / t.requests - runs : 0;
    t.residence_s = runs + t.wait_s;
    double slower = (t.ttft.expected + t.wait_s) / t.ttft.expected;
    t.ttft = times(t.ttft, slower);
    return t;
}
