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

/* Of sums: launch, and what a block does at least, a split of the cache, a walk of a window. */
#define SUM_LAUNCH_S    5e-6
#define SUM_LAUNCH      1e4 /* cycles */
#define SUM_BLOCK       4e3
#define SUM_HEAD        60.0
#define SPLIT_S         1.5e-6
#define SPLIT_KEYS      256.0
#define WALK_FAST       100.0 /* bytes in a cycle */
#define ENCODER_WALK    8.0
#define ENCODER_BLOCK   6e3
#define ENCODER_REACHES 0.6 /* of the peak */
#define ENCODER_MOVES   0.2 /* of the bytes, beside the arithmetic */

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

/* Blocks that do not fill the units split the cache: a second kernel adds up. */
static double split_steps(const kernel_call *c, const kernel_machine *m, double keys)
{
    bool splits = keys >= SPLIT_KEYS && c->batch * c->kv_heads < m->units;
    return splits ? 1 + fmin(log2(keys / SPLIT_KEYS), 3) : 0;
}

static void decode_parts(const kernel_call *c, const kernel_machine *m, const attention *a,
                         kernel_terms *t)
{
    double cycle = 1 / m->clock;
    kernel_part(t, SUM_LAUNCH_S + SUM_LAUNCH * cycle);
    kernel_part(t, kernel_moving(m, t->bytes));
    kernel_part(t, c->batch * c->kv_heads / m->units * SUM_BLOCK * cycle);
    kernel_part(t, c->batch * c->heads / m->units * SUM_HEAD * cycle);
    kernel_part(t, SPLIT_S * split_steps(c, m, a->keys));
    kernel_part(t,
                c->window > 0 ? a->keys * c->head_size * 2 * c->kv_bytes / WALK_FAST * cycle : 0);
}

static void encoder_parts(const kernel_call *c, const kernel_machine *m, kernel_terms *t)
{
    double rows = ceil(c->queries / BLOCK_QUERIES), blocks = rows * c->heads * c->batch;
    double idle = ceil(blocks / m->units) * m->units / blocks;
    double padded = fmin(rows * BLOCK_QUERIES / c->queries, 8);
    kernel_part(t, SUM_LAUNCH_S + SUM_LAUNCH / m->clock);
    kernel_part(t,
                t->flops / m->peak / ENCODER_REACHES * padded * fmin(idle, 1 + m->units / blocks));
    kernel_part(t, kernel_moving(m, t->bytes) * ENCODER_MOVES);
    kernel_part(t, blocks / m->units * ENCODER_BLOCK / m->clock);
    kernel_part(t, c->queries * c->head_size / ENCODER_WALK / m->clock);
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
    if (decodes)
        decode_parts(c, m, &a, t);
    if (c->family == KERNEL_ENCODER)
        encoder_parts(c, m, t);
    if (decodes)
        decode_terms(c, m, &a, t);
    else
        prefill_terms(c, m, work, a.keys, t);
}
