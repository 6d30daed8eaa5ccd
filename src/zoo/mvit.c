/* Multiscale Vision Transformers for video, versions 1 and 2 (torchvision's video/mvit.py).
 *
 *   conv_proj 3x7x7 / (2,4,4) to embed_dim channels, tokens [B, 1 + t*h*w, C], class token first
 *   num_layers blocks; those in `pool_at` halve the queries' height and width and double the heads;
 *   keys and values are pooled by pool_kv at first, by half of it after each halving
 *   norm, the class token, head
 * Version 1 adds positions to the tokens and doubles the channels in the MLP of the block before a
 * halving; version 2 has its positions in the scores (rel_pos_*), pools the queries of every block
 * and adds them to what attention gives, and doubles the channels in the halving block's attention.
 */
#include <math.h>

#include "zoo/nn_tokens.h"
#include "zoo/zoo.h"

enum { HALVINGS = 8, T = 0, H = 1, W = 2 };

typedef struct mvit {
    bool v2;
    int64_t layers, dim, heads, kv, at[HALVINGS];
    int halvings;
} mvit;

typedef struct stage {          /* one block */
    int64_t in, out, heads, kv; /* kv: stride of keys and values in space */
    int64_t q;                  /* stride of the queries in space */
    int64_t thw[3];             /* of the tokens that come in */
    int64_t side;               /* the larger of h and w, had every halving rounded down */
} stage;

static const double eps = 1e-6;

static mvit read_mvit(nn *b)
{
    static const int64_t at[] = {1, 3, 14};
    mvit m = {.v2 = nn_int_in(b, "version", 1, 1, 2) == 2,
              .layers = nn_int_in(b, "num_layers", 16, 1, 1000),
              .dim = nn_int_in(b, "embed_dim", 96, 1, 1 << 14),
              .heads = nn_int_in(b, "num_heads", 1, 1, 1 << 14),
              .kv = nn_int_in(b, "pool_kv", 8, 1, 1024)};
    m.halvings = nn_ints_in(b, "pool_at", at, 3, m.at, HALVINGS, 1, 999);
    return m;
}

static bool halves(const mvit *m, int64_t block)
{
    for (int i = 0; i < m->halvings; i++)
        if (m->at[i] == block)
            return true;
    return false;
}

/* ---- pooling of [B, heads, 1 + t*h*w, D]: the class token stays ---- */

static nn_t rest(nn *b, const char *name, nn_t x)
{
    return nn_slice(b, name, x, 2, 1, x.d[2]);
}

static nn_t token(nn *b, const char *name, nn_t x)
{
    return nn_slice(b, name, x, 2, 0, 1);
}

/* Depthwise convolution, or the maximum; thw becomes the new sizes. */
static nn_t pool_map(nn *b, nn_t x, int64_t s, bool convolve)
{
    if (convolve)
        return NN_CONV(b, "pool", x, .out = x.d[1], .kernel = {3, 3, 3}, .strides = {1, s, s},
                       .pads = {1, 1, 1}, .groups = x.d[1], .no_bias = true);
    return nn_maxpool(b, "pool", x,
                      &(nn_pool){.kernel = {1, s + 1, s + 1},
                                 .strides = {1, s, s},
                                 .pads = {0, (s + 1) / 2, (s + 1) / 2}});
}

static nn_t pooled(nn *b, const char *name, nn_t x, int64_t s, bool convolve, int64_t thw[3])
{
    int64_t batch = x.d[0], heads = x.d[1], dim = x.d[3];
    nn_push(b, "%s", name);
    nn_t first = token(b, "token", x);
    nn_t y = nn_swap(b, "transpose", rest(b, "split", x));
    y = nn_reshape(b, "reshape", y, 5,
                   (const int64_t[]){batch * heads, dim, thw[T], thw[H], thw[W]});
    y = pool_map(b, y, s, convolve);
    for (int i = 0; i < 3; i++)
        thw[i] = y.d[2 + i];
    y = nn_reshape(b, "reshape", y, 4, (const int64_t[]){batch, heads, dim, -1});
    y = nn_concat(b, "cat", 2, (const nn_t[]){first, nn_swap(b, "transpose", y)}, 2);
    if (convolve)
        y = nn_layernorm(b, "norm_act.0", y, eps);
    return nn_leave(b, y);
}

/* ---- positions in the scores (version 2) ---- */

/* Row i, column k: how far key k is from query i, on the finer of both scales; from 0. */
static nn_t distances(nn *b, const char *name, int64_t q, int64_t k)
{
    int64_t *d = nn_ok(b) ? ARENA_ARRAY(nn_arena(b), int64_t, (size_t)(q * k)) : NULL;
    double q_step = k > q ? (double)k / (double)q : 1.0,
           k_step = q > k ? (double)q / (double)k : 1.0;
    for (int64_t i = 0; d && i < q; i++)
        for (int64_t j = 0; j < k; j++)
            d[i * k + j] = (int64_t)((double)i * q_step - (double)(j + 1 - k) * k_step);
    return nn_table_of(b, name, IR_INT64, 2, (const int64_t[]){q, k}, d);
}

/* rel_pos_x of `rows` positions, resized to the distances there are: [q, k, D]. */
static nn_t relative(nn *b, const char *name, int64_t rows, int64_t q, int64_t k, int64_t dim)
{
    int64_t needed = 2 * (q > k ? q : k) - 1;
    nn_t x = nn_param(b, name, 2, (const int64_t[]){rows, dim});
    if (needed != rows) {
        x = nn_resize(b, "interpolate", nn_swap(b, "interpolate", x), dim, needed, "linear", false);
        x = nn_swap(b, "interpolate", x);
    }
    return nn_gather(b, "rel_pos", x, distances(b, "rel_pos.distance", q, k), 0);
}

static nn_t along(nn *b, const char *name, const char *equation, nn_t q, nn_t r)
{
    nn_t out = q;
    out.d[5] = r.d[1];
    return nn_one(b, "Einsum", name, 2, (const nn_t[]){q, r}, out, 1,
                  &NN_TEXT("equation", equation));
}

/* The same along time, as a product of matrices per frame: [B, heads, t, h, w, kt]. */
static nn_t along_time(nn *b, nn_t q, nn_t r)
{
    const int64_t frames[] = {q.d[2], q.d[0] * q.d[1] * q.d[3] * q.d[4], q.d[5]};
    const int64_t back[] = {q.d[0], q.d[1], q.d[3], q.d[4], q.d[2], r.d[1]};
    nn_t x = nn_transpose(b, "rel_t", q, (const int64_t[]){2, 0, 1, 3, 4, 5});
    x = nn_reshape(b, "rel_t", x, 3, frames);
    x = nn_matmul(b, "rel_t", x, nn_swap(b, "rel_t", r));
    x = nn_transpose(b, "rel_t", x, (const int64_t[]){1, 0, 2});
    x = nn_reshape(b, "rel_t", x, 6, back);
    return nn_transpose(b, "rel_t", x, (const int64_t[]){0, 1, 4, 2, 3, 5});
}

/* [B, heads, t, h, w, n] with the n in one of three last places. */
static nn_t placed(nn *b, nn_t x, int place)
{
    int64_t dims[] = {x.d[0], x.d[1], x.d[2], x.d[3], x.d[4], 1, 1, 1};
    dims[5 + place] = x.d[5];
    return nn_reshape(b, "rel_pos/place", x, 8, dims);
}

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static nn_t add_positions(nn *b, nn_t scores, nn_t q, const stage *s, const int64_t qs[3],
                          const int64_t ks[3])
{
    int64_t dim = q.d[3], rows = 2 * larger(1, larger(s->side / s->q, s->side / s->kv)) - 1;
    nn_t rh = relative(b, "rel_pos_h", rows, qs[H], ks[H], dim);
    nn_t rw = relative(b, "rel_pos_w", rows, qs[W], ks[W], dim);
    nn_t rt = relative(b, "rel_pos_t", 2 * s->thw[T] - 1, qs[T], ks[T], dim);
    const int64_t sizes[] = {q.d[0], q.d[1], qs[T], qs[H], qs[W], dim};
    nn_t r = nn_reshape(b, "rel_pos/reshape", rest(b, "rel_pos/split", q), 6, sizes);
    nn_t h = along(b, "rel_h", "bythwc,hkc->bythwk", r, rh);
    nn_t w = along(b, "rel_w", "bythwc,wkc->bythwk", r, rw);
    nn_t t = along_time(b, r, rt);
    w = placed(b, w, W);
    nn_t all = nn_add(b, "rel_pos/add", placed(b, h, H), w);
    all = nn_add(b, "rel_pos/add", all, placed(b, t, T));
    const int64_t flat[] = {q.d[0], q.d[1], qs[T] * qs[H] * qs[W], ks[T] * ks[H] * ks[W]};
    all = nn_reshape(b, "rel_pos/flatten", all, 4, flat);
    const int64_t pads[] = {0, 0, 1, 1, 0, 0, 0, 0}; /* the class token has no place */
    return nn_add(b, "add_rel_pos", scores, nn_pad(b, "rel_pos/pad", all, pads, "constant"));
}

/* ---- blocks ---- */

static nn_t add_queries(nn *b, nn_t x, nn_t q)
{
    q = rest(b, "add_query/q", q);
    nn_t sum = nn_add(b, "add_query", rest(b, "add_query/x", x), q);
    return nn_concat(b, "add_query/cat", 2, (const nn_t[]){token(b, "add_query/token", x), sum}, 2);
}

/* qs goes in as the sizes of x and comes out as those of the queries. */
static nn_t attention(nn *b, const mvit *m, nn_t x, const stage *s, int64_t dim, int64_t qs[3])
{
    int64_t ks[3], vs[3];
    nn_t part[3];
    memcpy(ks, qs, sizeof ks);
    memcpy(vs, qs, sizeof vs);
    nn_push(b, "attn");
    nn_heads(b, nn_linear(b, "qkv", x, 3 * dim, true), s->heads, part);
    nn_t k = pooled(b, "pool_k", part[1], s->kv, true, ks);
    nn_t v = pooled(b, "pool_v", part[2], s->kv, true, vs);
    nn_t q = m->v2 || s->q > 1 ? pooled(b, "pool_q", part[0], s->q, true, qs) : part[0];
    nn_t scaled = nn_scale(b, "q/scale", q, 1.0 / sqrt((double)q.d[3]));
    nn_t scores = nn_matmul(b, "scores", scaled, nn_swap(b, "k/transpose", k));
    if (m->v2)
        scores = add_positions(b, scores, q, s, qs, ks);
    scores = nn_one(b, "Softmax", "softmax", 1, &scores, scores, 1, &NN_INT("axis", -1));
    x = nn_matmul(b, "attend", scores, v);
    if (m->v2)
        x = add_queries(b, x, q);
    return nn_leave(b, nn_linear(b, "project.0", nn_unheads(b, x), dim, true));
}

/* The residual of a halving block: the maximum of its neighbours. */
static nn_t pooled_skip(nn *b, nn_t x, const stage *s)
{
    int64_t thw[3];
    memcpy(thw, s->thw, sizeof thw);
    if (s->q == 1)
        return x;
    x = nn_unsqueeze(b, "unsqueeze", x, 1);
    return nn_squeeze(b, "squeeze", pooled(b, "pool_skip", x, s->q, false, thw), 1);
}

static nn_t block(nn *b, const mvit *m, nn_t x, const stage *s, int64_t thw[3])
{
    static const nn_mlp_names names = {"0", "1", "3"};
    int64_t dim = m->v2 ? s->out : s->in;
    bool wider = s->in != s->out;
    nn_t normed = nn_layernorm(b, "norm1", x, eps);
    nn_t y = attention(b, m, normed, s, dim, thw);
    if (wider && m->v2)
        x = nn_linear(b, "project", normed, s->out, true);
    x = nn_add(b, "add_1", pooled_skip(b, x, s), y);
    normed = nn_layernorm(b, "norm2", x, eps);
    if (wider && !m->v2)
        x = nn_linear(b, "project", normed, s->out, true);
    return nn_add(b, "add_2", x, nn_mlp(b, &names, normed, 4 * dim, s->out));
}

static nn_t blocks(nn *b, const mvit *m, nn_t x, int64_t thw[3])
{
    stage s = {.in = m->dim,
               .out = m->dim,
               .heads = m->heads,
               .kv = m->kv,
               .side = larger(thw[H], thw[W])};
    for (int64_t i = 0; i < m->layers; i++) {
        bool half = halves(m, i);
        s.q = half ? 2 : 1;
        s.heads *= half ? 2 : 1;
        s.kv = half && s.kv > 1 ? s.kv / 2 : s.kv;
        s.out *= halves(m, m->v2 ? i : i + 1) ? 2 : 1;
        memcpy(s.thw, thw, sizeof s.thw);
        x = NN_UNDER(b, block(b, m, x, &s, thw), "blocks.%d", (int)i);
        s.in = s.out;
        s.side /= s.q;
    }
    return nn_layernorm(b, "norm", x, eps);
}

/* ---- tokens ---- */

/* Version 1: a place in the image plus a place in time. */
static nn_t add_places(nn *b, nn_t x, const int64_t thw[3])
{
    int64_t dim = x.d[2], hw = thw[H] * thw[W];
    nn_t space = nn_param(b, "spatial_pos", 2, (const int64_t[]){hw, dim});
    nn_t time = nn_param(b, "temporal_pos", 2, (const int64_t[]){thw[T], dim});
    nn_t class = nn_param(b, "class_pos", 1, &dim);
    time = nn_reshape(b, "temporal_pos/reshape", time, 3, (const int64_t[]){thw[T], 1, dim});
    nn_t all = nn_add(b, "add_pos", time, space);
    all = nn_reshape(b, "pos/reshape", all, 2, (const int64_t[]){-1, dim});
    class = nn_reshape(b, "class_pos/reshape", class, 2, (const int64_t[]){1, dim});
    all = nn_concat(b, "pos/cat", 2, (const nn_t[]){class, all}, 0);
    return nn_add(b, "add", x, all);
}

static nn_t tokens(nn *b, const mvit *m, nn_t x, int64_t thw[3])
{
    x = NN_CONV(b, "conv_proj", x, .out = m->dim, .kernel = {3, 7, 7}, .strides = {2, 4, 4},
                .pads = {1, 3, 3});
    for (int i = 0; i < 3; i++)
        thw[i] = x.d[2 + i];
    x = nn_swap(b, "transpose", nn_flatten(b, "flatten", x, 2));
    nn_push(b, "pos_encoding");
    nn_t class = nn_param(b, "class_token", 1, &m->dim);
    class = nn_expand(b, "expand", class, 3, (const int64_t[]){x.d[0], 1, m->dim});
    x = nn_concat(b, "cat", 2, (const nn_t[]){class, x}, 1);
    return nn_leave(b, m->v2 ? x : add_places(b, x, thw));
}

static void build(nn *b)
{
    mvit m = read_mvit(b);
    int64_t thw[3];
    nn_t x = tokens(b, &m, nn_clip(b, 16, 224), thw);
    x = blocks(b, &m, x, thw);
    x = nn_slice(b, "token", x, 1, 0, 1);
    x = nn_squeeze(b, "token/squeeze", x, 1);
    x = nn_linear(b, "head.1", x, nn_int(b, "num_classes", 400), true);
    nn_output(b, x, "output");
}

#define ROW(name_, alias, set) ZOO_ROW(name_, alias, "mvit", "video", build, set)

static const zoo_row rows[] = {
    ROW("mvit_v1_b", "mvit_b", "version=1"),
    ROW("mvit_v2_s", "mvitv2_s", "version=2"),
};

const zoo_rows zoo_mvit_rows = ZOO_ROWS(rows);
