/* Terms of attention: pairs of queries and keys that the mask leaves, the cache of keys and values, blocks of 128
 * queries on the units. In decoding, a kernel that does not split the cache walks it with one block per head: such
 * kernels exist for plain heads and for windows, so that the walk is a term of its own for them.
 */
#include <math.h>

#include "device/kernel.h"

#define LAUNCH_S      7e-6
#define BLOCK_QUERIES 128.0
#define WALK_BYTES    10.0           /* of the cache that one block takes in a cycle */
#define BLOCK_CYCLES  (4e-6 * 2.6e9) /* that a block lives at least */

/* Of sums, in cycles where no unit is given. */
#define SUM_LAUNCH_S     8e-6 /* of the kernel that writes the cache and the first of attention */
#define SUM_OLDER_S      3e-6 /* more on GPUs before 4-bit tensor cores */
#define SUM_KERNEL       9e3  /* of a further kernel that waits for the one before */
#define SUM_OVERLAP      3e3  /* of one that is launched while the one before ends */
#define SUM_BLOCK        4e3
#define SUM_BLOCK_S      2e-6  /* of a block of decoding: it waits for memory, not for the clock */
#define SUM_ROW          60.0  /* of one head of one new token that is written to the cache */
#define SPLIT            2.5e3 /* for each doubling of the parts of a cache */
#define SPLIT_KEYS       256.0
#define REACHES          0.7  /* of the peak, as FlashAttention 2 publishes */
#define REACHES_ASYNC    0.75 /* FlashAttention 3 */
#define HALF_HIDDEN      0.5  /* of the exponentials, behind products */
#define SPECIAL_UNIT     16.0 /* exponentials of a unit in a cycle */
#define SPECIAL_ASYNC    0.9  /* of the exponentials, beside products */
#define HEAD_MULTIPLE    32.0 /* head sizes are padded to it */
#define ENCODER_LAUNCH_S 2e-6
#define ENCODER_LAUNCH   1e4
#define ENCODER_REACHES  0.6

typedef struct attention {
    double pairs, keys; /* per head and sequence */
    double repeats;     /* heads that share keys */
    bool unsplit;       /* plain heads or a window */
} attention;

/* Keys that queries past+1 ... past+queries see, each at most a window of them. */
static double causal_pairs(double queries, double past, double window)
{
    double growing = window > 0 ? fmin(fmax(window - past, 0), queries) : queries;
    double full = window > 0 ? (queries - growing) * window : 0;
    return growing * past + growing * (growing + 1) / 2 + full;
}

static attention attention_of(const kernel_call *c)
{
    attention a = {.repeats = c->heads / c->kv_heads, .keys = c->past + c->queries};
    a.unsplit = a.repeats <= 1 || c->window > 0;
    if (c->family == KERNEL_ENCODER) {
        a.pairs = c->queries * c->queries;
        a.keys = c->queries;
        return a;
    }
    if (c->family == KERNEL_DECODE) {
        a.keys = c->window > 0 && c->window < a.keys ? c->window : a.keys;
        a.pairs = a.keys * c->queries;
        return a;
    }
    a.pairs = causal_pairs(c->queries, c->past, c->window);
    a.keys = c->window > 0 ? fmin(a.keys, c->window + c->queries) : a.keys;
    return a;
}

/* ---- sums ---- */

/* Which kernels serving frameworks launch follows from the tensor cores: FlashAttention 3 where groups of warps share
 * them, those of TensorRT-LLM where they have memory of their own, else FlashAttention 2, which has no fp8 cache
 * (FlashInfer then). They differ in how many kernels one call takes and whether the heads of a cache are split. */
typedef enum attention_kernels { FLASH2, FLASH3, FLASHINFER, TENSORRT } attention_kernels;

static attention_kernels kernels_on(const kernel_call *c, const kernel_machine *m)
{
    if (m->tensor_rate > KERNEL_TENSOR_MEMORY)
        return TENSORRT;
    if (m->tensor_rate > KERNEL_WARP_GROUPS)
        return FLASH3;
    return c->kv_bytes > 0 && c->kv_bytes < 2 ? FLASHINFER : FLASH2;
}

typedef struct decode_plan {
    bool splits, walks; /* the cache of a head is split; one block walks all of it */
    double further;     /* kernels after the first */
    bool overlapped;    /* one more, which starts early */
    double blocks;
} decode_plan;

/* FlashAttention 2 treats the heads of a group as queries (a copy, unless that is a view) and splits the cache only
 * then; a second kernel adds the parts up. FlashAttention 3 and FlashInfer always add up, FlashAttention 3 under a
 * window after the first kernel has ended. The kernels of TensorRT-LLM add up inside the first. */
static decode_plan plan_decode(const kernel_call *c, const kernel_machine *m, const attention *a)
{
    attention_kernels k = kernels_on(c, m);
    bool window = c->window > 0, grouped = a->repeats > 1 && !window;
    decode_plan p = {.walks = k == FLASH2 && !grouped,
                     .overlapped = (k == FLASH3 && !window) || k == FLASHINFER,
                     .blocks = c->batch * (k == FLASH2 && window ? c->heads : c->kv_heads)};
    p.splits = !p.walks && a->keys >= SPLIT_KEYS && c->batch * c->kv_heads < m->units;
    p.further = (k == FLASH2 && grouped && c->kv_heads > 1 && c->batch > 1) +
                (k == FLASH2 && p.splits) + (k == FLASH3 && window && c->past >= c->window);
    return p;
}

static void launch_parts(const kernel_machine *m, kernel_terms *t)
{
    kernel_part(t, SUM_LAUNCH_S);
    kernel_part(t, m->fp4 ? 0 : SUM_OLDER_S);
}

static void decode_parts(const kernel_call *c, const kernel_machine *m, const attention *a,
                         kernel_terms *t)
{
    decode_plan p = plan_decode(c, m, a);
    double cycle = 1 / m->clock, waves = p.blocks / m->units;
    double walk = a->keys * c->head_size * 2 * c->kv_bytes / WALK_BYTES * cycle;
    double doublings = p.splits && !(c->window > 0) ? 1 + fmin(log2(a->keys / SPLIT_KEYS), 3) : 0;
    launch_parts(m, t);
    kernel_part(t, fmax(kernel_moving(m, t->bytes), p.walks ? walk : 0));
    kernel_part(t, p.further * SUM_KERNEL * cycle);
    kernel_part(t, p.overlapped ? SUM_OVERLAP * cycle : 0);
    kernel_part(t, waves * SUM_BLOCK_S);
    kernel_part(t, fmax(waves - 1, 0) * SUM_BLOCK_S);
    kernel_part(t, doublings * SPLIT * cycle);
}

/* What blocks of queries do, in seconds. */
typedef struct block_work {
    double products, exponentials; /* on units that are busy all the time */
    double starting, walking;      /* of blocks; of one block over the keys */
    double idle;                   /* factor: whole waves of blocks */
} block_work;

static block_work block_work_of(const kernel_call *c, const kernel_machine *m, const attention *a,
                                double flops)
{
    double blocks = ceil(c->queries / BLOCK_QUERIES) * c->heads * c->batch, cycle = 1 / m->clock;
    double padded = ceil(c->head_size / HEAD_MULTIPLE) * HEAD_MULTIPLE / c->head_size;
    double walk = c->window > 0 ? fmin(a->keys, c->window + BLOCK_QUERIES) : a->keys;
    return (block_work){
        .products = flops / m->peak * padded,
        .exponentials = a->pairs * c->heads * c->batch / m->units / SPECIAL_UNIT * cycle,
        .starting = blocks / m->units * SUM_BLOCK * cycle,
        .walking = walk * c->head_size / WALK_BYTES * cycle,
        .idle = fmin(ceil(blocks / m->units) * m->units / blocks, 1 + m->units / blocks)};
}

/* Products and exponentials run on different units of a multiprocessor: kernels for asynchronous tensor cores hide the
 * shorter behind the longer, others half of the exponentials. An fp8 cache takes fp8 queries on kernels that compute in
 * fp8: one more pass over them. New keys and values are written to the cache token by token and head by head. */
static void prefill_parts(const kernel_call *c, const kernel_machine *m, const attention *a,
                          kernel_terms *t)
{
    attention_kernels k = kernels_on(c, m);
    bool async = k == FLASH3 || k == TENSORRT;
    block_work w = block_work_of(c, m, a, t->flops);
    double passes = c->kv_bytes < 2 && async ? 3 * c->batch * c->queries * c->heads * c->head_size
                                             : 0;
    double arithmetic = async ? fmax(w.products / REACHES_ASYNC, w.exponentials / SPECIAL_ASYNC)
                              : w.products / REACHES + HALF_HIDDEN * w.exponentials;
    launch_parts(m, t);
    kernel_part(t, arithmetic * w.idle);
    kernel_part(t, kernel_moving(m, t->bytes + passes));
    kernel_part(t, c->batch * c->queries * c->kv_heads / m->units * SUM_ROW / m->clock);
    kernel_part(t, w.starting);
    kernel_part(t, w.walking);
}

/* One kernel, without a cache. */
static void encoder_parts(const kernel_call *c, const kernel_machine *m, const attention *a,
                          kernel_terms *t)
{
    block_work w = block_work_of(c, m, a, t->flops);
    kernel_part(t, ENCODER_LAUNCH_S + ENCODER_LAUNCH / m->clock);
    kernel_part(t, w.products / ENCODER_REACHES * w.idle);
    kernel_part(t, kernel_moving(m, t->bytes));
    kernel_part(t, w.exponentials * w.idle);
    kernel_part(t, w.starting);
    kernel_part(t, w.walking);
}

/* ---- factors ---- */

static void decode_terms(const kernel_call *c, const kernel_machine *m, const attention *a,
                         kernel_terms *t)
{
    double walk = log2(1 + a->keys * c->head_size * 2 * c->kv_bytes / (WALK_BYTES * m->clock) /
                               t->base);
    double block = BLOCK_CYCLES / m->clock / t->base;
    double all = log2(1 + c->batch * c->heads / m->units * block);
    double shared = log2(1 + c->batch * c->kv_heads / m->units * block);
    double lr = log2(a->repeats), lb = log2(c->batch);
    kernel_put(t, a->unsplit ? walk : 0);
    kernel_put(t, a->unsplit ? 0 : walk);
    kernel_put(t, a->unsplit ? all : 0);
    kernel_put(t, a->unsplit ? 0 : all);
    kernel_put(t, a->unsplit ? 0 : shared);
    kernel_put(t, lb);
    KERNEL_HINGES(t, lb, 3, 6);
    KERNEL_HINGES(t, lr, 1, 2, 3);
}

static void prefill_terms(const kernel_call *c, const kernel_machine *m, double work, double keys,
                          kernel_terms *t)
{
    double ls = log2(c->queries);
    double blocks = ceil(c->queries / BLOCK_QUERIES) * c->heads * c->batch;
    double idle = ceil(blocks / m->units) * m->units / blocks - 1, one = c->queries <= 1 ? 1 : 0;
    kernel_put(t, ls);
    KERNEL_HINGES(t, ls, 4, 6, 7, 8, 10, 12);
    kernel_put(t, idle < 2 ? idle : 2);
    kernel_put(t, c->queries > BLOCK_QUERIES
                      ? log2(ceil(c->queries / BLOCK_QUERIES) * BLOCK_QUERIES / c->queries)
                      : 0);
    if (c->family == KERNEL_ENCODER)
        return;
    kernel_put(t, c->past > 0 ? 1 : 0);
    kernel_put(t, one);
    kernel_put(t, one * work);
    kernel_put(t, one * log2(keys));
}

void kernel_attention(const kernel_call *c, const kernel_machine *m, kernel_terms *t)
{
    attention a = attention_of(c);
    bool decodes = c->family == KERNEL_DECODE;
    t->flops = 4 * c->head_size * c->heads * c->batch * a.pairs;
    t->bytes = 4 * c->batch * c->queries * c->heads * c->head_size +
               2 * c->batch * a.keys * c->kv_heads * c->head_size * c->kv_bytes;
    double arithmetic = t->flops / m->peak, moving = kernel_moving(m, t->bytes);
    double work = log2((arithmetic + moving) / LAUNCH_S), lk = log2(a.keys);
    double blocks = decodes ? c->batch * c->kv_heads
                            : ceil(c->queries / BLOCK_QUERIES) * c->heads * c->batch;
    double waves = log2(blocks / m->units), balance = log2(arithmetic / moving);
    kernel_begin(t, m, LAUNCH_S, arithmetic);
    kernel_put(t, log2(a.repeats));
    kernel_put(t, log2(c->head_size / 128));
    kernel_put(t, c->head_size > 128 ? 1 : 0);
    KERNEL_HINGES(t, work, -4, -2, -1, 0, 1, 2, 4);
    kernel_put(t, balance);
    KERNEL_HINGES(t, balance, -2, 0, 2);
    kernel_put(t, waves);
    KERNEL_HINGES(t, waves, -4, -2, 0, 2, 4);
    KERNEL_HINGES(t, log2(t->bytes / m->cache_bytes), -4, -2, -1, 0, 0.5, 1, 3);
    t->n_ratios = t->n;
    kernel_put(t, lk);
    KERNEL_HINGES(t, lk, 8, 10, 12, 14);
    kernel_put(t, c->window > 0 ? 1 : 0);
    if (decodes) {
        decode_parts(c, m, &a, t);
        decode_terms(c, m, &a, t);
        return;
    }
    if (c->family == KERNEL_ENCODER)
        encoder_parts(c, m, &a, t);
    else
        prefill_parts(c, m, &a, t);
    prefill_terms(c, m, work, a.keys, t);
}
