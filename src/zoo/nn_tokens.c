/* What networks over tokens and clips share: see the header. */
#include "zoo/nn_tokens.h"

#include "zoo/nn_impl.h"

/* ---- parameters ---- */

nn_t nn_clip(nn *b, int64_t frames, int64_t size)
{
    int64_t side = nn_int(b, "image_size", size), channels = nn_int(b, "in_chans", 3);
    int64_t length = nn_int(b, "frames", frames);
    return nn_input(b, "input", IR_FLOAT32, 5, (const int64_t[]){1, channels, length, side, side});
}

int nn_ints_in(nn *b, const char *key, const int64_t *def, int n_def, int64_t *out, int max_items,
               int64_t min, int64_t max)
{
    int n = nn_ints(b, key, def, n_def, out, max_items);
    if (n == 0)
        nn_fail(b, "parameter '%s' is an empty list", key);
    for (int i = 0; i < n; i++)
        if (out[i] < min || out[i] > max)
            nn_fail(b, "parameter '%s' contains %lld; values must be %lld to %lld", key,
                    (long long)out[i], (long long)min, (long long)max);
    return nn_ok(b) ? n : 0;
}

void nn_ints_each(nn *b, const char *key, const int64_t *def, int64_t *out, int n, int64_t min,
                  int64_t max)
{
    int64_t got[NN_RANK];
    int n_got = nn_ints_in(b, key, def, n, got, NN_RANK, min, max);
    if (n_got != n && n_got != 1 && nn_ok(b))
        nn_fail(b, "parameter '%s' has %d items; it must have %d or 1", key, n_got, n);
    for (int i = 0; i < n; i++)
        out[i] = !nn_ok(b) ? def[i] : n_got == 1 ? got[0] : got[i];
}

int64_t nn_times(int64_t dim, double ratio)
{
    int64_t n = (int64_t)((double)dim * ratio);
    return n < 1 ? 1 : n;
}

/* ---- moving data ---- */

nn_t nn_plain(nn *b, const char *op, const char *name, nn_t x)
{
    return nn_one(b, op, name, 1, &x, x, 0, NULL);
}

nn_t nn_swap(nn *b, const char *name, nn_t x)
{
    int64_t perm[NN_RANK];
    for (int i = 0; i < x.rank; i++)
        perm[i] = i < x.rank - 2 ? i : 2 * x.rank - 3 - i;
    return nn_transpose(b, name, x, perm);
}

nn_t nn_roll(nn *b, const char *name, nn_t x, int axis, int64_t by)
{
    int64_t n = x.d[axis];
    by = n > 0 ? (by % n + n) % n : 0;
    if (by == 0)
        return x;
    const nn_t parts[] = {nn_slice(b, name, x, axis, by, n), nn_slice(b, name, x, axis, 0, by)};
    return nn_concat(b, name, 2, parts, axis);
}

/* ---- heads ---- */

void nn_heads(nn *b, nn_t qkv, int64_t heads, nn_t out[3])
{
    static const char *const names[] = {"q", "k", "v"};
    int64_t width = qkv.d[2] / 3;
    if (nn_ok(b) && (qkv.rank != 3 || heads < 1 || width % heads))
        nn_fail(b, "%lld features are not divisible into %lld heads", (long long)width,
                (long long)heads);
    if (!nn_ok(b)) {
        for (int i = 0; i < 3; i++)
            out[i] = nn_harmless(NN_F32(qkv.d[0], 1, qkv.d[1], width));
        return;
    }
    const int64_t parts[] = {qkv.d[0], qkv.d[1], 3, heads, width / heads};
    nn_t x = nn_reshape(b, "qkv/reshape", qkv, 5, parts);
    x = nn_transpose(b, "qkv/transpose", x, (const int64_t[]){2, 0, 3, 1, 4}); /* [3, B, H, S, D] */
    nn_split(b, "qkv/split", x, 0, 3, out); /* at once, so that x is not kept until v is taken */
    for (int i = 0; i < 3; i++)
        out[i] = nn_squeeze(b, names[i], out[i], 0);
}

nn_t nn_split_heads(nn *b, const char *name, nn_t x, int64_t heads)
{
    if (nn_ok(b) && (x.rank != 3 || heads < 1 || x.d[2] % heads))
        nn_fail(b, "%lld features are not divisible into %lld heads", (long long)x.d[2],
                (long long)heads);
    if (!nn_ok(b))
        return nn_harmless(NN_F32(x.d[0], 1, x.d[1], x.d[2]));
    const int64_t dims[] = {x.d[0], x.d[1], heads, x.d[2] / heads};
    x = nn_reshape(b, arena_printf(b->scratch, "%s/reshape", name), x, 4, dims);
    return nn_transpose(b, arena_printf(b->scratch, "%s/transpose", name), x,
                        (const int64_t[]){0, 2, 1, 3});
}

nn_t nn_unheads(nn *b, nn_t x)
{
    x = nn_transpose(b, "heads/transpose", x, (const int64_t[]){0, 2, 1, 3});
    return nn_reshape(b, "heads/reshape", x, 3, (const int64_t[]){x.d[0], x.d[1], -1});
}

nn_t nn_mlp(nn *b, const nn_mlp_names *n, nn_t x, int64_t hidden, int64_t out)
{
    nn_push(b, "mlp");
    x = nn_gelu(b, n->act, nn_linear(b, n->first, x, hidden, true), false);
    return nn_leave(b, nn_linear(b, n->second, x, out, true));
}
