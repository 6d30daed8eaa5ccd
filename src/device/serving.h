/* Time to the first token and time per token of a decoder that serves several requests at once on one device, from the
 * kernel model (kernel.h).
 *
 *   prefill    = all kernels of one forward pass over the prompt
 *   step       = all kernels of one token for `running` requests, at the mean length of the cache
 *   TPOT       = step + (running - 1) prefill / output   prompts of others are processed between steps
 *   TTFT       = prefill (wait + queue running)          wait, queue: fitted per engine, data/serving.csv
 *
 * Requests are equal and a new one follows each that ends (a closed loop of `users`). At most `most` of them run: the
 * memory holds no more caches. The others wait until one ends; by Little's law the wait is users / rate - residence:
 *
 *   residence  = TTFT + (output - 1) TPOT                of a request that runs
 *   rate       = running / residence                     requests per second
 *   TTFT      += users / rate - residence
 *
 * A model is a list of products (products of one input are one kernel), kinds of attention, and experts. Norms,
 * rotation, activation and the sampler are kernels of a fixed time. Several devices per model, speculative decoding and
 * shared prefixes are not modelled.
 */
#ifndef DEVICE_SERVING_H
#define DEVICE_SERVING_H

#include "device/kernel.h"

typedef struct serving_product {
    double columns, depth, count; /* out[m,columns] = x[m,depth] w: so often in a pass */
} serving_product;

typedef struct serving_attention {
    double layers, heads, kv_heads, head_size, window; /* window 0: none */
} serving_attention;

enum { SERVING_PRODUCTS = 24, SERVING_ATTENTIONS = 4 };

/* One pass through a model. Prefill and step of a model may differ (multi-head latent attention). */
typedef struct serving_pass {
    serving_product products[SERVING_PRODUCTS];
    uint32_t n_products;
    serving_attention attentions[SERVING_ATTENTIONS];
    uint32_t n_attentions;
} serving_pass;

typedef struct serving_model {
    serving_pass prefill, step;
    double layers;                                              /* with attention */
    double expert_layers, hidden, inner, experts_used, experts; /* expert_layers 0: none */
    double vocabulary;                                          /* columns of the logits */
} serving_model;

/* Adds a product; beyond SERVING_PRODUCTS it becomes as many of another as cost the same. */
void serving_add_product(serving_pass *p, double columns, double depth, double count);
/* A decoder whose layers are all alike: grouped heads and a gated MLP. */
typedef struct serving_shape {
    double layers, hidden, heads, kv_heads, head_size, inner, vocabulary;
} serving_shape;
void serving_dense(const serving_shape *s, serving_model *out);

/* One row of data/serving.csv: what an engine adds to the kernels, and how far off predictions are. */
typedef struct serving_engine {
    str name, version, source;
    double wait, queue;
    uint32_t rows;
    double tpot_error, tpot_low, tpot_high, ttft_error, ttft_low, ttft_high;
} serving_engine;

typedef struct serving_table {
    kernel_table kernels;
    VEC(serving_engine) engines; /* the first is the default */
} serving_table;
assay_status serving_table_read(arena *a, serving_table *out, assay_error *err);
assay_status serving_engines_csv(str text, arena *a, serving_table *out, assay_error *err);
const serving_engine *serving_engine_find(const serving_table *t, str name); /* NULL: unknown */

/* Number types of a model on a device. Weights may be wider or narrower than the type whose kernels are used. */
typedef struct serving_types {
    kernel_dtype linear, experts, logits;
    double kv_bytes; /* of a number in the cache */
} serving_types;

typedef struct serving_on {
    const serving_table *table;
    const device *device;
    const serving_model *model;
    const serving_engine *engine;
    serving_types types;
} serving_on;

typedef struct serving_span { /* seconds */
    double expected, low, high;
    bool measured; /* every kernel of the device and type was measured */
} serving_span;

/* `batch` prompts at once, logits of the last token of each; one token for `batch` sequences of `context` tokens. The
 * interval is of whole requests: never narrower than the engine's rows show. */
serving_span serving_prefill(const serving_on *on, double batch, double prompt);
serving_span serving_step(const serving_on *on, double batch, double context);

typedef struct serving_load {
    double input, output; /* tokens per request */
    double users;         /* requests at once, running or waiting */
    double most;          /* that run at once; 0: any number */
} serving_load;

typedef struct serving_time {
    serving_span ttft, tpot;
    double prefill_s, step_s, running;
    double wait_s;           /* of ttft: until another request ends */
    double residence_s;      /* of a request, wait included */
    double requests, tokens; /* per second, generated ones */
} serving_time;
serving_time serving_predict(const serving_on *on, const serving_load *l);

/* What an objective limits: the time of a request, to its first token, and the mean time between its tokens. */
typedef enum serving_metric { SERVING_LATENCY, SERVING_TTFT, SERVING_ITL } serving_metric;
/* The quantile (0.99) over requests, in seconds, of a prediction for this load (serving_tail.c). */
double serving_quantile(const serving_time *t, const serving_load *l, serving_metric m, double q);

#endif
