/* Windowed attention: cutting, joining, relative positions, masks. See the header. */
#include "zoo/nn_windows.h"

#include "base/num.h"
#include "zoo/nn_impl.h"

static int64_t padded(const nn_windows *w, int i)
{
    return num_ceil_div(w->map[i], w->size[i]) * w->size[i];
}

static int64_t product(const int64_t *v, int64_t n)
{
    int64_t all = 1;
    for (int i = 0; i < n; i++)
        all *= v[i];
    return all;
}

/* Tokens of one window. */
static int64_t nn_windows_tokens(const nn_windows *w)
{
    return product(w->size, w->n);
}

int64_t nn_windows_offsets(const nn_windows *w)
{
    int64_t all = 1;
    for (int i = 0; i < w->n; i++)
        all *= 2 * w->whole[i] - 1;
    return all;
}

/* Sizes are the user's: tables of N*N must stay sane. */
static bool windows_fit(nn *b, nn_t x, const nn_windows *w)
{
    bool fit = x.rank == (int)w->n + 2;
    for (int i = 0; i < w->n; i++)
        fit = fit && w->size[i] >= 1 && w->size[i] <= w->whole[i] &&
              w->whole[i] <= NN_WINDOW_SIDE && w->shift[i] < w->size[i];
    if (nn_ok(b) && (!fit || product(w->whole, w->n) > NN_WINDOW_TOKENS))
        nn_fail(b, "invalid windows of %lld tokens for %s; the limit is %d tokens",
                (long long)product(w->whole, w->n), nn_dims_text(b, x), NN_WINDOW_TOKENS);
    return nn_ok(b);
}

/* ---- cutting and joining ---- */

static nn_t pad_map(nn *b, nn_t x, const nn_windows *w)
{
    int64_t pads[2 * NN_RANK] = {0};
    bool any = false;
    for (int i = 0; i < w->n; i++) {
        pads[x.rank + 1 + i] = padded(w, i) - w->map[i];
        any = any || pads[x.rank + 1 + i] != 0;
    }
    return any ? nn_pad(b, "pad", x, pads, "constant") : x;
}

static nn_t roll_map(nn *b, nn_t x, const nn_windows *w, int sign)
{
    for (int i = 0; i < w->n; i++)
        x = nn_roll(b, sign > 0 ? "shift" : "unshift", x, 1 + i, sign * w->shift[i]);
    return x;
}

nn_t nn_windows_cut(nn *b, nn_t x, const nn_windows *w)
{
    int64_t dims[NN_RANK], perm[NN_RANK], channels = x.d[x.rank - 1];
    int n = (int)w->n, last = 2 * n + 1;
    if (!windows_fit(b, x, w))
        return nn_harmless(NN_F32(x.d[0], 1, channels));
    x = roll_map(b, pad_map(b, x, w), w, 1);
    dims[0] = x.d[0];
    dims[last] = channels;
    perm[0] = 0;
    perm[last] = last;
    for (int i = 0; i < n; i++) {
        dims[1 + 2 * i] = x.d[1 + i] / w->size[i];
        dims[2 + 2 * i] = w->size[i];
        perm[1 + i] = 1 + 2 * i;
        perm[1 + n + i] = 2 + 2 * i;
    }
    x = nn_reshape(b, "windows", x, last + 1, dims); /* [B, h/wh, wh, w/ww, ww, C] */
    x = nn_transpose(b, "windows", x, perm);
    return nn_reshape(b, "windows", x, 3, (const int64_t[]){-1, nn_windows_tokens(w), channels});
}

static nn_t crop_map(nn *b, nn_t x, const nn_windows *w)
{
    for (int i = 0; i < w->n; i++)
        if (x.d[1 + i] > w->map[i])
            x = nn_slice(b, "unpad", x, 1 + i, 0, w->map[i]);
    return x;
}

nn_t nn_windows_join(nn *b, nn_t x, int64_t batch, const nn_windows *w)
{
    int64_t dims[NN_RANK], perm[NN_RANK], sizes[NN_RANK], channels = x.d[x.rank - 1];
    int n = (int)w->n, last = 2 * n + 1;
    dims[0] = sizes[0] = batch;
    dims[last] = sizes[n + 1] = channels;
    perm[0] = 0;
    perm[last] = last;
    for (int i = 0; i < n; i++) {
        sizes[1 + i] = padded(w, i);
        dims[1 + i] = sizes[1 + i] / w->size[i];
        dims[1 + n + i] = w->size[i];
        perm[1 + 2 * i] = 1 + i;
        perm[2 + 2 * i] = 1 + n + i;
    }
    x = nn_reshape(b, "unwindows", x, last + 1, dims); /* [B, h/wh, w/ww, wh, ww, C] */
    x = nn_transpose(b, "unwindows", x, perm);
    x = nn_reshape(b, "unwindows", x, n + 2, sizes);
    return crop_map(b, roll_map(b, x, w, -1), w);
}

/* ---- relative positions ---- */

/* The place that comes after `at` in a box of these sizes, the last dimension first. */
static void step_index(int64_t *at, const int64_t *sizes, int64_t n)
{
    for (int64_t i = n - 1; i >= 0 && ++at[i] == sizes[i]; i--)
        at[i] = 0;
}

/* A row of the bias table is the offset p - q, each coordinate moved to start at 0. As a sum over
 * the coordinates it is key(p) - key(q) + key(whole - 1), where key weighs them like digits. */
static void fill_index(int64_t *index, int64_t *keys, int64_t tokens, const nn_windows *w)
{
    int64_t at[NN_WINDOW_DIMS] = {0}, middle = 0;
    for (int64_t t = 0; t < tokens; t++, step_index(at, w->whole, w->n)) {
        keys[t] = 0;
        for (int i = 0; i < w->n; i++)
            keys[t] = keys[t] * (2 * w->whole[i] - 1) + at[i];
    }
    for (int i = 0; i < w->n; i++)
        middle = middle * (2 * w->whole[i] - 1) + w->whole[i] - 1;
    for (int64_t p = 0; p < tokens; p++)
        for (int64_t q = 0; q < tokens; q++)
            index[p * tokens + q] = keys[p] - keys[q] + middle;
}

/* A window smaller than the table's takes the first N of its places, as in torchvision. */
static nn_t index_table(nn *b, const nn_windows *w, nn_window_tables *t)
{
    nn_windows key = {.n = w->n};
    int64_t tokens = nn_windows_tokens(w);
    memcpy(key.size, w->size, sizeof key.size);
    memcpy(key.whole, w->whole, sizeof key.whole);
    if (t->index_for.n && memcmp(&key, &t->index_for, sizeof key) == 0)
        return t->index;
    int64_t *index = ARENA_ARRAY(b->scratch, int64_t, (size_t)(tokens * tokens));
    int64_t *keys = ARENA_ARRAY(b->scratch, int64_t, (size_t)tokens);
    if (!index || !keys)
        return nn_harmless(NN_I64(tokens, tokens));
    fill_index(index, keys, tokens, w);
    t->index_for = key;
    t->index = nn_table_of(b, "relative_position_index", IR_INT64, 2,
                           (const int64_t[]){tokens, tokens}, index);
    return t->index;
}

nn_t nn_windows_bias(nn *b, nn_t table, const nn_windows *w, nn_window_tables *t)
{
    if (!nn_ok(b))
        return nn_harmless(NN_F32(1, 1, 1));
    nn_t x = nn_gather(b, "bias", table, index_table(b, w, t), 0); /* [N, N, H] */
    return nn_transpose(b, "bias", x, (const int64_t[]){2, 0, 1});
}

/* ---- masks ---- */

/* In the last row of windows the places before and after the seam are strangers. */
static int32_t region(const nn_windows *w, const int64_t *place)
{
    int32_t id = 0;
    for (int i = 0; i < w->n; i++) {
        int64_t size = padded(w, i);
        bool tail = place[i] >= size - w->size[i], seam = place[i] >= size - w->shift[i];
        id = 3 * id + (w->shift[i] == 0 ? 0 : tail + seam);
    }
    return id;
}

static void fill_regions(int32_t *out, const int64_t *grid, const nn_windows *w)
{
    int64_t window[NN_WINDOW_DIMS] = {0}, at[NN_WINDOW_DIMS] = {0}, place[NN_WINDOW_DIMS] = {0};
    int64_t tokens = nn_windows_tokens(w), all = product(grid, w->n) * tokens;
    for (int64_t k = 0; k < all; k++) {
        for (int i = 0; i < w->n; i++)
            place[i] = window[i] * w->size[i] + at[i];
        out[k] = region(w, place);
        step_index(at, w->size, w->n);
        if ((k + 1) % tokens == 0)
            step_index(window, grid, w->n);
    }
}

static nn_t regions_table(nn *b, const nn_windows *w, int64_t n_windows, const int64_t *grid)
{
    int64_t tokens = nn_windows_tokens(w);
    const int64_t dims[] = {n_windows, 1, 1, tokens};
    int32_t *ids = ARENA_ARRAY(b->scratch, int32_t, (size_t)(n_windows * tokens));
    if (!ids)
        return nn_harmless(nn_shape(IR_INT32, 4, dims));
    fill_regions(ids, grid, w);
    return nn_table_of(b, "attn_mask.region", IR_INT32, 4, dims, ids);
}

/* [nW, 1, N, N]. */
static nn_t mask_of(nn *b, const nn_windows *w, nn_window_tables *t)
{
    int64_t grid[NN_WINDOW_DIMS] = {1, 1, 1}, tokens = nn_windows_tokens(w);
    if (t->mask_for.n && memcmp(w, &t->mask_for, sizeof *w) == 0)
        return t->mask;
    for (int i = 0; i < w->n; i++)
        grid[i] = padded(w, i) / w->size[i];
    int64_t n_windows = product(grid, w->n);
    nn_t columns = regions_table(b, w, n_windows, grid);
    nn_t rows = nn_reshape(b, "attn_mask/rows", columns, 4,
                           (const int64_t[]){n_windows, 1, tokens, 1});
    nn_t same = nn_shape(IR_BOOL, 4, (const int64_t[]){n_windows, 1, tokens, tokens}), mask = same;
    same = nn_one(b, "Equal", "attn_mask/equal", 2, (const nn_t[]){columns, rows}, same, 0, NULL);
    mask.dtype = IR_FLOAT32;
    const nn_t in[] = {same, nn_float_const(b, "attn_mask.open", 0.0),
                       nn_float_const(b, "attn_mask.closed", -100.0)};
    t->mask_for = *w;
    t->mask = nn_one(b, "Where", "attn_mask", 3, in, mask, 0, NULL);
    return t->mask;
}

nn_t nn_windows_masked(nn *b, nn_t scores, int64_t batch, const nn_windows *w, nn_window_tables *t)
{
    bool shifted = false;
    for (int i = 0; i < w->n; i++)
        shifted = shifted || w->shift[i] != 0;
    if (!shifted || !nn_ok(b))
        return scores;
    nn_t mask = mask_of(b, w, t);
    if (batch == 1)
        return nn_add(b, "add_mask", scores, mask);
    const int64_t split[] = {batch, mask.d[0], scores.d[1], scores.d[2], scores.d[3]};
    nn_t x = nn_add(b, "add_mask", nn_reshape(b, "add_mask/split", scores, 5, split), mask);
    return nn_reshape(b, "add_mask/join", x, 4, scores.d);
}
