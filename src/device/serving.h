/* Time to the first token and time per token of a decoder that serves several requests at once on one device, from the
 * kernel model (kernel.h).
 *
 *   prefill    = all kernels of one forward pass over the prompt
 *   step       = all kernels of one token for `concurrency` requests, at the mean length of the cache
 *   TPOT       = step + concurrency prefill / output     prompts of others are processed between steps
 *   TTFT       = prefill (wait + queue concurrency)      wait, queue: fitted per engine, serving_waits
 *
 * Requests are equal and a new one follows each that ends (a closed loop). Beyond the memory for caches requests queue
 * for whole generations, which this does not model. Norms, embeddings and the sampler are kernels of a fixed time.
 */
#ifndef DEVICE_SERVING_H
#define DEVICE_SERVING_H

#include "device/kernel.h"

typedef struct serving_model {
    double layers, hidden, heads, kv_heads, head_size, inner, vocabulary;
} serving_model;

typedef struct serving_load {
    double input, output, concurrency; /* tokens per request; requests at once */
    const kernel_dtype *weights;       /* of the products */
    double kv_bytes;
    str engine; /* "vllm", "trtllm", "trtllm 1.0" (of 2025), or empty */
} serving_load;

typedef struct serving_time {
    double ttft_s, tpot_s, prefill_s, step_s;
    bool measured; /* kernels of this device and type were measured */
} serving_time;

serving_time serving_predict(const kernel_table *t, const device *d, const serving_model *m,
                             const serving_load *l);

#endif
