/* Relative positions in buckets, as T5 and MPNet have them. */
#include <math.h>

#include "zoo/hf_text.h"
#include "zoo/nn_impl.h"

static int64_t bucket(const hf_buckets *by, int64_t distance)
{
    int64_t n = by->both_ways ? by->buckets / 2 : by->buckets, from = 0;
    if (by->both_ways && distance > 0)
        from = n;
    int64_t far = distance < 0 ? -distance : by->both_ways ? distance : 0;
    int64_t exact = n / 2;
    if (far < exact)
        return from + far;
    double share = log((double)far / (double)exact) / log((double)by->farthest / (double)exact);
    int64_t at = exact + (int64_t)(share * (double)(n - exact));
    return from + (at < n - 1 ? at : n - 1);
}

/* Buckets of all distances, their rows, and for each pair the place of its distance. */
nn_t hf_relative_bias(const hf_text *t, const hf_buckets *by)
{
    nn *b = t->b;
    int64_t seq = t->seq, keys = t->past + seq, n = keys + seq - 1;
    int64_t *of = nn_ok(b) ? ARENA_ARRAY(b->scratch, int64_t, (size_t)n) : NULL;
    for (int64_t i = 0; of && i < n; i++)
        of[i] = bucket(by, i - (keys - 1));
    nn_t x = nn_table_of(b, "buckets", IR_INT64, 1, &n, of);
    x = nn_embedding(b, by->table, x, by->buckets, by->heads);
    x = nn_transpose(b, "bias/transpose", x, (const int64_t[]){1, 0});
    nn_t to = nn_reshape(b, "bias/keys", hf_positions(b, seq - 1, keys, keys + seq), 2,
                         (const int64_t[]){1, keys});
    nn_t from = nn_reshape(b, "bias/queries", hf_positions(b, 0, seq, seq), 2,
                           (const int64_t[]){seq, 1});
    x = nn_gather(b, "bias/gather", x, nn_binary(b, "Sub", "bias/distance", to, from), 1);
    return nn_unsqueeze(b, "bias", x, 0);
}
