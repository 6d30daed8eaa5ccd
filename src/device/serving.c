/* See serving.h. */
#include "device/serving.h"

#define SMALL_KERNELS  4.0    /* of a layer: norms, rotation, cache, activation, quantisation */
#define SMALL_KERNEL_S 2e-6   /* each, in a captured graph */
#define STEP_HOST_S    0.2e-3 /* scheduling, sampling and detokenising of a step */

/* Measured TTFT over the prefill alone, of engines that AIConfigurator's samples contain: wait + queue concurrency. */
typedef struct waits {
    const char *engine;
    double wait, queue;
} waits;
static const waits serving_waits[] = {
    {"trtllm 1.0", 3.6, 0.062}, {"trtllm", 1.5, 0.075}, {"vllm", 1.5, 0.08}, {"", 1.5, 0.075}};

static const waits *waits_of(str engine)
{
    const waits *w = serving_waits;
    while (*w->engine && !str_is(engine, w->engine))
        w++;
    return w;
}

typedef struct pass {
    const kernel_table *t;
    const device *d;
    const serving_model *m;
    const serving_load *l;
    bool measured;
} pass;

/* Tables of narrow types include a kernel that quantises the activations; engines do that in the norm before. */
static double gemm(pass *x, double rows, double columns, double depth)
{
    kernel_call c = {
        .family = KERNEL_GEMM, .dtype = x->l->weights, .m = rows, .n = columns, .k = depth};
    kernel_time k = kernel_predict(x->t, x->d, &c);
    double quantising = x->l->weights->launch_s - kernel_dtype_find(STR("bfloat16"))->launch_s;
    double s = k.seconds - (quantising > 0 ? quantising : 0);
    x->measured = x->measured && k.from && str_eq(k.from->device, x->d->id);
    return s > k.limit_s ? s : k.limit_s;
}

static double products(pass *x, double rows)
{
    const serving_model *m = x->m;
    double q = m->heads * m->head_size, kv = m->kv_heads * m->head_size;
    return gemm(x, rows, q + 2 * kv, m->hidden) + gemm(x, rows, m->hidden, q) +
           gemm(x, rows, 2 * m->inner, m->hidden) + gemm(x, rows, m->hidden, m->inner);
}

static double attention(pass *x, kernel_family f, double batch, double queries, double past)
{
    kernel_call c = {.family = f,
                     .dtype = kernel_dtype_find(x->l->kv_bytes < 2 ? STR("fp8") : STR("bfloat16")),
                     .batch = batch,
                     .queries = queries,
                     .past = past,
                     .heads = x->m->heads,
                     .kv_heads = x->m->kv_heads,
                     .head_size = x->m->head_size,
                     .kv_bytes = x->l->kv_bytes};
    return kernel_predict(x->t, x->d, &c).seconds;
}

static double forward(pass *x, double rows, double attended)
{
    kernel_call head = {.family = KERNEL_GEMM,
                        .dtype = kernel_dtype_find(STR("bfloat16")),
                        .m = attended,
                        .n = x->m->vocabulary,
                        .k = x->m->hidden};
    return x->m->layers * (products(x, rows) + SMALL_KERNELS * SMALL_KERNEL_S) +
           kernel_predict(x->t, x->d, &head).seconds + STEP_HOST_S;
}

serving_time serving_predict(const kernel_table *t, const device *d, const serving_model *m,
                             const serving_load *l)
{
    pass x = {t, d, m, l, true};
    const waits *w = waits_of(l->engine);
    double mean = l->input + l->output / 2, n = l->concurrency > 1 ? l->concurrency : 1;
    double prefill = forward(&x, l->input, 1) +
                     m->layers * attention(&x, KERNEL_PREFILL, 1, l->input, 0);
    double step = forward(&x, n, n) + m->layers * attention(&x, KERNEL_DECODE, n, 1, mean);
    return (serving_time){.prefill_s = prefill,
                          .step_s = step,
                          .tpot_s = step + (n - 1) * prefill / l->output,
                          .ttft_s = prefill * (n > 1 ? w->wait + w->queue * n : 1),
                          .measured = x.measured};
}
