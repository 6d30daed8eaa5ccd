/* RAFT, optical flow between two images (torchvision/models/optical_flow/raft.py).
 *
 *   feature_encoder  both images to an eighth of their size
 *   corr_block       every place of the one times every place of the other (a matrix product), averaged
 *                    into a pyramid of four levels
 *   context_encoder  the first image: the recurrent unit's first state, and its context
 *   `num_flow_updates` times (12): look up the correlations around where each place is thought to have
 *                    gone (GridSample), let update_block correct the flow, enlarge it by 8: by a convex
 *                    combination of neighbours that mask_predictor weighs, or (small) bilinearly
 *
 * All flows are outputs, as in PyTorch, flow_1 being the first. The published counts are of two images
 * of 512x512, the default; sides must be multiples of 8 and at least 128.
 */
#include <math.h>
#include <stdio.h>

#include "zoo/fpn.h"
#include "zoo/nn_impl.h"

enum { LEVELS = 4, FACTOR = 8 };

typedef struct raft {
    bool small;
    int64_t feature[5], context[5]; /* channels of the encoders */
    norm_kind feature_norm, context_norm;
    int64_t radius;                   /* of the lookup */
    int64_t corr[2], flow[2], motion; /* channels of the motion encoder; corr[1] 0: one layer */
    int64_t hidden, flow_head;
} raft;

static const raft large = {.feature = {64, 64, 96, 128, 256},
                           .context = {64, 64, 96, 128, 256},
                           .feature_norm = NORM_INSTANCE,
                           .context_norm = NORM_BATCH,
                           .radius = 4,
                           .corr = {256, 192},
                           .flow = {128, 64},
                           .motion = 128,
                           .hidden = 128,
                           .flow_head = 256};

static const raft small = {.small = true,
                           .feature = {32, 32, 64, 96, 128},
                           .context = {32, 32, 64, 96, 160},
                           .feature_norm = NORM_INSTANCE,
                           .context_norm = NORM_NONE,
                           .radius = 3,
                           .corr = {96, 0},
                           .flow = {64, 32},
                           .motion = 82,
                           .hidden = 96,
                           .flow_head = 128};

/* ---- encoders ---- */

static nn_t block(nn *b, const char *name, nn_t x, nn_conv c, norm_kind norm, bool relu)
{
    return conv_block_layers(b, name, x,
                             &(conv_block){.conv = c, .norm = norm, .bias = true, .relu = relu});
}

static nn_t residual(nn *b, nn_t x, int64_t out, int64_t stride, norm_kind norm, bool bottleneck)
{
    nn_t y = x;
    if (bottleneck) {
        y = block(b, "convnormrelu1", y, (nn_conv){.out = out / 4, .k = 1}, norm, true);
        y = block(b, "convnormrelu2", y, (nn_conv){.out = out / 4, .k = 3, .stride = stride}, norm,
                  true);
        y = block(b, "convnormrelu3", y, (nn_conv){.out = out, .k = 1}, norm, true);
    } else {
        y = block(b, "convnormrelu1", y, (nn_conv){.out = out, .k = 3, .stride = stride}, norm,
                  true);
        y = block(b, "convnormrelu2", y, (nn_conv){.out = out, .k = 3}, norm, true);
    }
    if (stride != 1)
        x = block(b, "downsample", x, (nn_conv){.out = out, .k = 1, .stride = stride}, norm, false);
    return nn_act(b, "Relu", "relu", nn_add(b, "add", x, y));
}

static nn_t encoder(nn *b, const char *name, nn_t x, const int64_t *widths, norm_kind norm,
                    bool bottleneck)
{
    nn_push(b, "%s", name);
    x = block(b, "convnormrelu", x, (nn_conv){.out = widths[0], .k = 7, .stride = 2}, norm, true);
    for (int layer = 1; layer <= 3; layer++)
        for (int i = 0; i < 2; i++)
            x = NN_UNDER(
                b, residual(b, x, widths[layer], layer > 1 && i == 0 ? 2 : 1, norm, bottleneck),
                "layer%d.%d", layer, i);
    return nn_leave(b, NN_CONV(b, "conv", x, .out = widths[4], .k = 1));
}

/* ---- correlation ---- */

/* [B, C, h, w] twice to [B*h*w, 1, h, w], then halved and halved. */
static void pyramid(nn *b, nn_t first, nn_t second, nn_t level[LEVELS])
{
    int64_t batch = first.d[0], c = first.d[1], h = first.d[2], w = first.d[3];
    const int64_t flat[] = {batch, c, h * w};
    nn_push(b, "corr_block");
    first = nn_transpose(b, "first", nn_reshape(b, "first", first, 3, flat),
                         (const int64_t[]){0, 2, 1});
    nn_t x = nn_matmul(b, "matmul", first, nn_reshape(b, "second", second, 3, flat));
    x = nn_binary(b, "Div", "div", x, nn_float_const(b, "sqrt", sqrt((double)c)));
    level[0] = nn_reshape(b, "volume", x, 4, (const int64_t[]){batch * h * w, 1, h, w});
    for (int i = 1; i < LEVELS; i++)
        level[i] = nn_avgpool(b, "pool", level[i - 1], &(nn_pool){.k = 2, .stride = 2});
    nn_pop(b);
}

/* Offsets (row, column) of the neighbourhood, added to (x, y) in this order as PyTorch does, in places
 * of the finest level: `step` apart. */
static nn_t neighbours(nn *b, int64_t radius, int64_t step)
{
    enum { SIDE_MAX = 33 };
    float at[SIDE_MAX * SIDE_MAX * 2];
    int64_t side = 2 * radius + 1, n = 0;
    for (int64_t i = 0; i < side; i++)
        for (int64_t j = 0; j < side; j++) {
            at[n++] = (float)((i - radius) * step);
            at[n++] = (float)((j - radius) * step);
        }
    return nn_table_of(b, "delta", IR_FLOAT32, 4, (const int64_t[]){1, side, side, 2}, at);
}

/* The level's values [R, 1, s, s] around places [R, 1, 1, 2] of the finest level. PyTorch halves the
 * places from level to level and adds the same offsets; (place + step * offset) / step is that. */
static nn_t sample(nn *b, nn_t level, nn_t at, nn_t delta, int64_t step)
{
    const double unit[] = {2.0 / (double)((level.d[3] - 1) * step),
                           2.0 / (double)((level.d[2] - 1) * step)};
    nn_t grid = nn_add(b, "around", at, delta);
    grid = nn_mul(b, "unit", grid, nn_floats_const(b, "unit.size", 2, unit));
    grid = nn_binary(b, "Sub", "grid", grid, nn_float_const(b, "one", 1.0));
    nn_t out = NN_F32(level.d[0], 1, delta.d[1], delta.d[2]);
    return nn_one(b, "GridSample", "grid_sample", 2, (const nn_t[]){level, grid}, out, 1,
                  &NN_INT("align_corners", 1));
}

/* Correlation features [B, levels*s*s, h, w] at coordinates [B, 2, h, w]. */
static nn_t look_up(nn *b, const nn_t level[LEVELS], nn_t coords, const nn_t delta[LEVELS])
{
    int64_t batch = coords.d[0], h = coords.d[2], w = coords.d[3], n = delta->d[1] * delta->d[2];
    nn_t part[LEVELS];
    nn_push(b, "corr_block");
    nn_t at = nn_transpose(b, "centroids", coords, (const int64_t[]){0, 2, 3, 1});
    at = nn_reshape(b, "centroids", at, 4, (const int64_t[]){batch * h * w, 1, 1, 2});
    for (int i = 0; i < LEVELS; i++) {
        nn_t x = sample(b, level[i], at, delta[i], INT64_C(1) << i);
        part[i] = nn_reshape(b, "indexed", x, 4, (const int64_t[]){batch, h, w, n});
    }
    nn_t x = nn_concat(b, "cat", LEVELS, part, 3);
    return nn_leave(b, nn_transpose(b, "features", x, (const int64_t[]){0, 3, 1, 2}));
}

/* ---- update ---- */

static nn_t conv_relu(nn *b, const char *name, nn_t x, int64_t out, int64_t k)
{
    return block(b, name, x, (nn_conv){.out = out, .k = k}, NORM_NONE, true);
}

static nn_t motion_encoder(nn *b, const raft *r, nn_t flow, nn_t corr)
{
    nn_push(b, "motion_encoder");
    corr = conv_relu(b, "convcorr1", corr, r->corr[0], 1);
    if (r->corr[1])
        corr = conv_relu(b, "convcorr2", corr, r->corr[1], 3);
    nn_t x = conv_relu(b, "convflow1", flow, r->flow[0], 7);
    x = conv_relu(b, "convflow2", x, r->flow[1], 3);
    x = nn_concat(b, "cat", 2, (const nn_t[]){corr, x}, 1);
    x = conv_relu(b, "conv", x, r->motion - 2, 3);
    return nn_leave(b, nn_concat(b, "cat", 2, (const nn_t[]){x, flow}, 1));
}

static nn_t gate(nn *b, const char *op, const char *name, nn_t x, nn_conv c)
{
    x = nn_convolve(b, name, x, &c);
    return nn_one(b, op, op, 1, &x, x, 0, NULL);
}

/* h = (1 - z) * h + z * q */
static nn_t conv_gru(nn *b, const char *name, nn_t h, nn_t x, nn_conv c)
{
    c.out = h.d[1];
    nn_push(b, "%s", name);
    nn_t hx = nn_concat(b, "cat", 2, (const nn_t[]){h, x}, 1);
    nn_t z = gate(b, "Sigmoid", "convz", hx, c), r = gate(b, "Sigmoid", "convr", hx, c);
    nn_t rx = nn_concat(b, "cat", 2, (const nn_t[]){nn_mul(b, "reset", r, h), x}, 1);
    nn_t q = gate(b, "Tanh", "convq", rx, c);
    nn_t keep = nn_binary(b, "Sub", "keep", nn_float_const(b, "one", 1.0), z);
    nn_t new = nn_mul(b, "new", z, q);
    return nn_leave(b, nn_add(b, "add", nn_mul(b, "old", keep, h), new));
}

static nn_t recurrent(nn *b, const raft *r, nn_t h, nn_t x)
{
    nn_push(b, "recurrent_block");
    if (r->small) {
        h = conv_gru(b, "convgru1", h, x, (nn_conv){.k = 3, .pad = 1});
    } else {
        h = conv_gru(b, "convgru1", h, x, (nn_conv){.kernel = {1, 5}, .pads = {0, 2}});
        h = conv_gru(b, "convgru2", h, x, (nn_conv){.kernel = {5, 1}, .pads = {2, 0}});
    }
    return nn_leave(b, h);
}

/* The correction of the flow [B, 2, h, w]; *hidden moves on. */
static nn_t update(nn *b, const raft *r, nn_t *hidden, nn_t context, nn_t corr, nn_t flow)
{
    nn_push(b, "update_block");
    nn_t motion = motion_encoder(b, r, flow, corr);
    nn_t x = nn_concat(b, "cat", 2, (const nn_t[]){context, motion}, 1);
    *hidden = recurrent(b, r, *hidden, x);
    nn_push(b, "flow_head");
    x = NN_CONV(b, "conv1", *hidden, .out = r->flow_head, .k = 3, .pad = 1);
    x = NN_CONV(b, "conv2", nn_act(b, "Relu", "relu", x), .out = 2, .k = 3, .pad = 1);
    nn_pop(b);
    return nn_leave(b, x);
}

/* ---- enlarging ---- */

/* The nine neighbours of every place: [B, 2, 9, 1, 1, h, w]. */
static nn_t unfold(nn *b, nn_t flow)
{
    const int64_t h = flow.d[2], w = flow.d[3];
    nn_t part[9];
    nn_t wide = nn_pad(b, "unfold", flow, (const int64_t[]){0, 0, 1, 1, 0, 0, 1, 1}, "constant");
    for (int i = 0; i < 3; i++) {
        nn_t row = nn_slice(b, "unfold", wide, 2, i, i + h);
        for (int j = 0; j < 3; j++)
            part[3 * i + j] = nn_unsqueeze(b, "unfold", nn_slice(b, "unfold", row, 3, j, j + w), 2);
    }
    nn_t x = nn_concat(b, "unfold", 9, part, 2);
    return nn_reshape(b, "unfold", x, 7, (const int64_t[]){flow.d[0], 2, 9, 1, 1, h, w});
}

static nn_t weights_of(nn *b, nn_t hidden)
{
    nn_push(b, "mask_predictor");
    nn_t x = conv_relu(b, "convrelu", hidden, 256, 3);
    x = NN_CONV(b, "conv", x, .out = FACTOR * FACTOR * 9, .k = 1);
    x = nn_scale(b, "multiplier", x, 0.25);
    nn_pop(b);
    const int64_t dims[] = {x.d[0], 1, 9, FACTOR, FACTOR, x.d[2], x.d[3]};
    x = nn_reshape(b, "up_mask", x, 7, dims);
    return nn_one(b, "Softmax", "softmax", 1, &x, x, 1, &NN_INT("axis", 2));
}

static nn_t enlarged(nn *b, const raft *r, nn_t flow, nn_t hidden)
{
    int64_t h = flow.d[2] * FACTOR, w = flow.d[3] * FACTOR;
    if (r->small)
        return nn_scale(b, "upsample", nn_resize(b, "upsample", flow, h, w, "linear", true),
                        FACTOR);
    nn_t mask = weights_of(b, hidden);
    nn_t x = nn_mul(b, "convex", mask, nn_scale(b, "upsample", unfold(b, flow), FACTOR));
    nn_t sum = NN_F32(flow.d[0], 2, FACTOR, FACTOR, flow.d[2], flow.d[3]);
    const nn_t in[] = {x, nn_ints_const(b, "sum.axes", 1, &(int64_t){2})};
    sum = nn_one(b, "ReduceSum", "sum", 2, in, sum, 1, &NN_INT("keepdims", 0));
    sum = nn_transpose(b, "upsampled", sum, (const int64_t[]){0, 1, 4, 2, 5, 3});
    return nn_reshape(b, "upsampled", sum, 4, (const int64_t[]){flow.d[0], 2, h, w});
}

/* ---- the whole ---- */

/* (x, y) of every place: [1, 2, h, w]. */
static nn_t coordinates(nn *b, int64_t h, int64_t w)
{
    const int64_t dims[] = {1, 2, h, w};
    float *at = ARENA_ARRAY(b->scratch, float, (size_t)(2 * h * w));
    for (int64_t i = 0; at && i < h * w; i++) {
        at[i] = (float)(i % w);
        at[h * w + i] = (float)(i / w);
    }
    return nn_table_of(b, "coords", IR_FLOAT32, 4, dims, at);
}

static bool fits(nn *b, nn_t first, nn_t second)
{
    enum { LEAST = 128, MOST = 1 << 14 };
    bool same = true, good = true;
    for (int i = 0; i < 4; i++)
        same = same && first.d[i] == second.d[i];
    for (int i = 2; i < 4; i++)
        good = good && first.d[i] % FACTOR == 0 && first.d[i] >= LEAST && first.d[i] <= MOST;
    if (!same)
        nn_fail(b, "inputs 'image1' and 'image2' must have the same shape");
    if (!good)
        nn_fail(b, "image sides must be multiples of %d, %d to %d, not %lldx%lld", FACTOR, LEAST,
                MOST, (long long)first.d[2], (long long)first.d[3]);
    return nn_ok(b);
}

typedef struct state {
    nn_t level[LEVELS], delta[LEVELS], start, hidden, context;
} state;

static void encode(nn *b, const raft *r, nn_t first, nn_t second, state *s)
{
    nn_t half[2];
    nn_t both = nn_concat(b, "images", 2, (const nn_t[]){first, second}, 0);
    both = encoder(b, "feature_encoder", both, r->feature, r->feature_norm, r->small);
    nn_split(b, "chunk", both, 0, 2, half);
    pyramid(b, half[0], half[1], s->level);
    nn_t x = encoder(b, "context_encoder", first, r->context, r->context_norm, r->small);
    nn_t hidden = nn_slice(b, "hidden", x, 1, 0, r->hidden);
    nn_t context = nn_slice(b, "context", x, 1, r->hidden, x.d[1]);
    s->hidden = nn_one(b, "Tanh", "tanh", 1, &hidden, hidden, 0, NULL);
    s->context = nn_one(b, "Relu", "relu", 1, &context, context, 0, NULL);
    s->start = coordinates(b, x.d[2], x.d[3]);
    for (int i = 0; i < LEVELS; i++)
        s->delta[i] = neighbours(b, r->radius, INT64_C(1) << i);
}

static void build(nn *b, const raft *r)
{
    int64_t side = nn_int(b, "image_size", 512);
    int64_t steps = nn_int_in(b, "num_flow_updates", 12, 1, 1000);
    const int64_t dims[] = {1, 3, side, side};
    nn_t first = nn_input(b, "image1", IR_FLOAT32, 4, dims);
    nn_t second = nn_input(b, "image2", IR_FLOAT32, 4, dims);
    state s;
    char name[24];
    if (!nn_ok(b) || !fits(b, first, second))
        return;
    encode(b, r, first, second, &s);
    nn_t coords = nn_expand(b, "coords", s.start, 4,
                            (const int64_t[]){first.d[0], 2, s.start.d[2], s.start.d[3]});
    for (int64_t i = 1; i <= steps && nn_ok(b); i++) {
        nn_t corr = look_up(b, s.level, coords, s.delta);
        nn_t flow = nn_binary(b, "Sub", "moved", coords, s.start);
        coords = nn_add(b, "coords", coords, update(b, r, &s.hidden, s.context, corr, flow));
        flow = nn_binary(b, "Sub", "moved", coords, s.start);
        snprintf(name, sizeof name, "flow_%d", (int)i);
        nn_output(b, enlarged(b, r, flow, s.hidden), name);
    }
}

static void build_large(nn *b)
{
    build(b, &large);
}

static void build_small(nn *b)
{
    build(b, &small);
}

static const zoo_row rows[] = {
    ZOO_ROW("raft_large", "raft", "raft", "optical_flow", build_large, NULL),
    ZOO_ROW("raft_small", NULL, "raft", "optical_flow", build_small, NULL),
};

const zoo_rows zoo_raft_rows = ZOO_ROWS(rows);
