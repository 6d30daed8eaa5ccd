/* The heads of the YOLO models, with the arithmetic that turns their outputs into boxes.
 *
 *   YOLOv5    per level one 1x1 to anchors * (classes + 5); sigmoid; boxes relative to grid and anchors
 *   YOLOv8 on per level a branch for boxes (4 distributions over 16 distances) and one for scores; the mean
 *             of each distribution (DFL) is the distance from the cell's centre to an edge
 * Segment adds mask coefficients and prototypes, Pose keypoints, OBB an angle. Outputs are those of a
 * model that was exported: [batch, values, places], YOLOv5 [batch, places, values]. Suppression of
 * overlapping boxes is not part of the graph.
 */
#include <stdio.h>

#include "zoo/yolo.h"

enum { DISTANCES = 16 };

#define CONV(y, name, x, ...) yolo_conv_block((y), (name), (x), (yolo_conv){__VA_ARGS__})

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* ---- places of the grid ---- */

/* [1, 2, places] centres of cells and [1, places] sizes, of all levels. */
typedef struct places {
    nn_t centres, sizes;
    int64_t n;
} places;

static void fill_level(float *centres, float *sizes, int64_t all, int64_t from, nn_t x, float cell)
{
    for (int64_t i = 0; i < x.d[2] * x.d[3]; i++) {
        centres[from + i] = (float)(i % x.d[3]) + 0.5F;
        centres[all + from + i] = (float)(i / x.d[3]) + 0.5F;
        sizes[from + i] = cell;
    }
}

static places grid_of(const yolo_layer *l)
{
    nn *b = l->y->b;
    const int64_t image = l->y->image;
    places p = {.n = 0};
    for (int i = 0; i < l->n_in; i++)
        p.n += l->in[i].d[2] * l->in[i].d[3];
    float *centres = p.n < 1 << 24 ? ARENA_ARRAY(nn_arena(b), float, 3 * (size_t)p.n + 1) : NULL;
    if (!centres) {
        nn_fail(b, "too many places in the grid of the head");
        return p;
    }
    for (int64_t i = 0, from = 0; i < l->n_in; from += l->in[i].d[2] * l->in[i].d[3], i++)
        fill_level(centres, centres + 2 * p.n, p.n, from, l->in[i],
                   (float)(image / (l->in[i].d[2] ? l->in[i].d[2] : 1)));
    p.centres = nn_table_of(b, "anchor_points", IR_FLOAT32, 3, (int64_t[]){1, 2, p.n}, centres);
    p.sizes = nn_table_of(b, "strides", IR_FLOAT32, 2, (int64_t[]){1, p.n}, centres + 2 * p.n);
    return p;
}

/* ---- branches ---- */

typedef struct branch {
    const char *name; /* "cv2" */
    int64_t hidden, out;
    bool light; /* depthwise 3x3 and 1x1 instead of 3x3 */
} branch;

static nn_t light_part(const yolo *y, const char *name, nn_t x, int64_t out)
{
    nn_push(y->b, "%s", name);
    x = CONV(y, "0", x, .k = 3, .groups = x.d[1]);
    return nn_leave(y->b, CONV(y, "1", x, .out = out));
}

static nn_t branch_level(const yolo *y, nn_t x, const branch *r)
{
    if (r->light) {
        x = light_part(y, "0", x, r->hidden);
        x = light_part(y, "1", x, r->hidden);
    } else {
        x = CONV(y, "0", x, .out = r->hidden, .k = 3);
        x = CONV(y, "1", x, .out = r->hidden, .k = 3);
    }
    return NN_CONV(y->b, "2", x, .out = r->out, .k = 1);
}

/* [batch, out, places of all levels]. */
static nn_t run_branch(const yolo_layer *l, const branch *r)
{
    nn_t parts[YOLO_LINKS];
    nn *b = l->y->b;
    for (int i = 0; i < l->n_in; i++) {
        nn_t x = NN_UNDER(b, branch_level(l->y, l->in[i], r), "%s.%d", r->name, i);
        parts[i] = nn_reshape(b, "view", x, 3, (int64_t[]){x.d[0], r->out, x.d[2] * x.d[3]});
    }
    return nn_concat(b, "cat", l->n_in, parts, 2);
}

/* ---- boxes ---- */

/* The mean of each of four distributions: [batch, 4, places]. */
static nn_t mean_distance(const yolo_layer *l, nn_t x)
{
    nn *b = l->y->b;
    int64_t batch = x.d[0], n = x.d[2];
    x = nn_reshape(b, "dfl.view", x, 4, (int64_t[]){batch, 4, DISTANCES, n});
    x = nn_softmax(b, "dfl.softmax", nn_transpose(b, "dfl.turn", x, (int64_t[]){0, 2, 1, 3}), 1);
    x = NN_CONV(b, "dfl.conv", x, .out = 1, .k = 1, .no_bias = true);
    return nn_reshape(b, "dfl.out", x, 3, (int64_t[]){batch, 4, n});
}

/* Distances to the edges become centre and size. */
static nn_t boxes_of(const yolo_layer *l, nn_t distance, const places *p)
{
    nn *b = l->y->b;
    nn_t low = nn_binary(b, "Sub", "lt", p->centres, nn_slice(b, "near", distance, 1, 0, 2));
    nn_t high = nn_add(b, "rb", p->centres, nn_slice(b, "far", distance, 1, 2, 4));
    nn_t parts[2];
    parts[0] = nn_scale(b, "centre", nn_add(b, "sum", low, high), 0.5);
    parts[1] = nn_binary(b, "Sub", "size", high, low);
    return nn_mul(b, "pixels", nn_concat(b, "boxes", 2, parts, 1), p->sizes);
}

/* The same of boxes that are turned by an angle. */
static nn_t turned_boxes(const yolo_layer *l, nn_t distance, nn_t angle, const places *p)
{
    nn *b = l->y->b;
    nn_t cosine = nn_act(b, "Cos", "cos", angle), sine = nn_act(b, "Sin", "sin", angle);
    nn_t near_edge = nn_slice(b, "near", distance, 1, 0, 2);
    nn_t far_edge = nn_slice(b, "far", distance, 1, 2, 4);
    nn_t half = nn_scale(b, "half", nn_binary(b, "Sub", "offset", far_edge, near_edge), 0.5);
    nn_t across = nn_slice(b, "xf", half, 1, 0, 1), down = nn_slice(b, "yf", half, 1, 1, 2);
    nn_t place[2], parts[2];
    nn_t ys = nn_mul(b, "ys", down, sine);
    place[0] = nn_binary(b, "Sub", "x", nn_mul(b, "xc", across, cosine), ys);
    nn_t yc = nn_mul(b, "yc", down, cosine);
    place[1] = nn_add(b, "y", nn_mul(b, "xs", across, sine), yc);
    parts[0] = nn_add(b, "centre", nn_concat(b, "xy", 2, place, 1), p->centres);
    parts[1] = nn_add(b, "size", near_edge, far_edge);
    return nn_mul(b, "pixels", nn_concat(b, "boxes", 2, parts, 1), p->sizes);
}

/* ---- the head of YOLOv8 and later ---- */

typedef struct detected {
    nn_t distance, scores;
    places at;
} detected;

static detected detect_parts(const yolo_layer *l)
{
    const yolo *y = l->y;
    int64_t first = l->in[0].d[1], classes = y->classes;
    const branch box = {"cv2", larger(larger(16, first / 4), 4 * DISTANCES), 4 * DISTANCES, false};
    const branch score = {"cv3", larger(first, classes < 100 ? classes : 100), classes,
                          !y->dense_scores};
    detected d;
    nn_t boxes = run_branch(l, &box);
    d.scores = nn_act(y->b, "Sigmoid", "sigmoid", run_branch(l, &score));
    d.distance = mean_distance(l, boxes);
    d.at = grid_of(l);
    return d;
}

static nn_t put_together(const yolo_layer *l, nn_t boxes, nn_t scores, nn_t more)
{
    const nn_t parts[] = {boxes, scores, more};
    nn_t x = nn_concat(l->y->b, "out", more.id == IR_NONE ? 2 : 3, parts, 1);
    nn_output(l->y->b, x, "output0");
    return x;
}

static nn_t extra_branch(const yolo_layer *l, int64_t values)
{
    return run_branch(l, &(branch){"cv4", larger(l->in[0].d[1] / 4, values), values, false});
}

static nn_t detect_free(const yolo_layer *l)
{
    detected d = detect_parts(l);
    return put_together(l, boxes_of(l, d.distance, &d.at), d.scores, NN_ABSENT);
}

static nn_t prototypes(const yolo_layer *l, int64_t hidden, int64_t masks)
{
    const yolo *y = l->y;
    nn_push(y->b, "proto");
    nn_t x = CONV(y, "cv1", l->in[0], .out = hidden, .k = 3);
    x = y->anchors ? nn_resize(y->b, "upsample", x, 2 * x.d[2], 2 * x.d[3], "nearest", false)
                   : nn_deconv(y->b, "upsample", x, hidden, 2, 2, 0, true);
    x = CONV(y, "cv2", x, .out = hidden, .k = 3);
    return nn_leave(y->b, CONV(y, "cv3", x, .out = masks));
}

static nn_t segment_free(const yolo_layer *l)
{
    int64_t masks = (int64_t)yolo_number(l, 1, 32);
    nn_t p = prototypes(l, yolo_scaled(l->y, yolo_number(l, 2, 256)), masks);
    nn_t coefficients = extra_branch(l, masks);
    detected d = detect_parts(l);
    nn_t x = put_together(l, boxes_of(l, d.distance, &d.at), d.scores, coefficients);
    nn_output(l->y->b, p, "output1");
    return x;
}

/* Keypoints: places relative to the cell, and how visible each is. */
static nn_t keypoints_of(const yolo_layer *l, nn_t raw, const places *p)
{
    nn *b = l->y->b;
    int64_t each = l->y->keypoint_values, n = l->y->keypoints, batch = raw.d[0];
    nn_t x = nn_reshape(b, "kpt.view", raw, 4, (int64_t[]){batch, n, each, p->n}), parts[2];
    nn_t place = nn_scale(b, "kpt.twice", nn_slice(b, "kpt.xy", x, 2, 0, 2), 2);
    nn_t corner = nn_binary(b, "Sub", "kpt.corner", p->centres, nn_float_const(b, "kpt.half", 0.5));
    parts[0] = nn_mul(b, "kpt.pixels", nn_add(b, "kpt.place", place, corner), p->sizes);
    if (each < 3)
        return nn_reshape(b, "kpt.out", parts[0], 3, (int64_t[]){batch, n * each, p->n});
    parts[1] = nn_act(b, "Sigmoid", "kpt.visible", nn_slice(b, "kpt.v", x, 2, 2, each));
    x = nn_concat(b, "kpt.cat", 2, parts, 2);
    return nn_reshape(b, "kpt.out", x, 3, (int64_t[]){batch, n * each, p->n});
}

static nn_t pose(const yolo_layer *l)
{
    nn_t raw = extra_branch(l, l->y->keypoints * l->y->keypoint_values);
    detected d = detect_parts(l);
    nn_t points = keypoints_of(l, raw, &d.at);
    return put_together(l, boxes_of(l, d.distance, &d.at), d.scores, points);
}

/* The angle is between -pi/4 and 3 pi/4. */
static nn_t obb(const yolo_layer *l)
{
    nn *b = l->y->b;
    nn_t angle = nn_act(b, "Sigmoid", "angle.sigmoid",
                        extra_branch(l, (int64_t)yolo_number(l, 1, 1)));
    angle = nn_binary(b, "Sub", "angle.shift", angle, nn_float_const(b, "angle.quarter", 0.25));
    angle = nn_scale(b, "angle", angle, 3.14159265358979323846);
    detected d = detect_parts(l);
    return put_together(l, turned_boxes(l, d.distance, angle, &d.at), d.scores, angle);
}

/* ---- the head of YOLOv5 ---- */

static nn_t grid_table(const yolo_layer *l, int level)
{
    nn_t x = l->in[level];
    char name[32];
    int64_t n = x.d[2] * x.d[3];
    float *g = n < 1 << 24 ? ARENA_ARRAY(nn_arena(l->y->b), float, 2 * (size_t)n + 1) : NULL;
    snprintf(name, sizeof name, "grid.%d", level);
    for (int64_t i = 0; g && i < n; i++) {
        g[2 * i] = (float)(i % x.d[3]) - 0.5F;
        g[2 * i + 1] = (float)(i / x.d[3]) - 0.5F;
    }
    if (!g)
        nn_fail(l->y->b, "too many places in the grid of the head");
    return g ? nn_table_of(l->y->b, name, IR_FLOAT32, 5, (int64_t[]){1, 1, x.d[2], x.d[3], 2}, g)
             : x;
}

typedef struct level {
    int index;
    int64_t anchors, values, masks;
    nn_t anchor_sizes; /* of all levels: a buffer */
} level;

/* [batch, anchors, rows, columns, values] to boxes in pixels. */
static nn_t anchored_boxes(const yolo_layer *l, nn_t x, const level *v, double cell)
{
    nn *b = l->y->b;
    nn_t parts[4], raw = x;
    int64_t all = x.d[4], end = all - v->masks;
    x = nn_act(b, "Sigmoid", "sigmoid", v->masks ? nn_slice(b, "boxes", x, 4, 0, end) : x);
    nn_t xy = nn_scale(b, "xy2", nn_slice(b, "xy", x, 4, 0, 2), 2);
    parts[0] = nn_scale(b, "xys", nn_add(b, "xyg", xy, grid_table(l, v->index)), cell);
    nn_t wh = nn_scale(b, "wh2", nn_slice(b, "wh", x, 4, 2, 4), 2);
    nn_t size = nn_slice(b, "anchor", v->anchor_sizes, 0, v->index, v->index + 1);
    size = nn_reshape(b, "anchor_grid", size, 5, (int64_t[]){1, v->anchors, 1, 1, 2});
    size = nn_scale(b, "anchor_pixels", size, cell);
    parts[1] = nn_mul(b, "whs", nn_mul(b, "whq", wh, wh), size);
    parts[2] = nn_slice(b, "conf", x, 4, 4, end);
    parts[3] = v->masks ? nn_slice(b, "mask", raw, 4, end, all) : NN_ABSENT;
    return nn_concat(b, "y", v->masks ? 4 : 3, parts, 4);
}

static nn_t anchored_level(const yolo_layer *l, const level *v)
{
    nn *b = l->y->b;
    char name[16];
    nn_t x = l->in[v->index];
    int64_t rows = x.d[2], columns = x.d[3], batch = x.d[0];
    double cell = (double)l->y->image / (double)(rows ? rows : 1);
    snprintf(name, sizeof name, "m.%d", v->index);
    x = NN_CONV(b, name, x, .out = v->anchors * v->values, .k = 1);
    x = nn_reshape(b, "view", x, 5, (int64_t[]){batch, v->anchors, v->values, rows, columns});
    x = nn_transpose(b, "permute", x, (int64_t[]){0, 1, 3, 4, 2});
    x = anchored_boxes(l, x, v, cell);
    return nn_reshape(b, "places", x, 3,
                      (int64_t[]){batch, v->anchors * rows * columns, v->values});
}

/* Numbers of anchors per level: those of the table, or 3. */
static int64_t anchor_count(const yolo *y)
{
    const json_value *first = y->anchors && y->anchors->kind == JSON_LIST && y->anchors->n
                                  ? &y->anchors->items[0]
                                  : NULL;
    int64_t n = first && first->kind == JSON_LIST            ? first->n / 2
                : y->anchors && y->anchors->kind == JSON_INT ? y->anchors->i
                                                             : 3;
    return n > 0 && n < 64 ? n : 3;
}

static nn_t detect_anchored(const yolo_layer *l, int64_t masks)
{
    nn *b = l->y->b;
    nn_t parts[YOLO_LINKS];
    level v = {.anchors = anchor_count(l->y), .values = l->y->classes + 5 + masks, .masks = masks};
    v.anchor_sizes = nn_buffer(b, "anchors", 3, (int64_t[]){l->n_in, v.anchors, 2});
    for (v.index = 0; v.index < l->n_in; v.index++)
        parts[v.index] = anchored_level(l, &v);
    nn_t x = nn_concat(b, "cat", l->n_in, parts, 1);
    nn_output(b, x, "output0");
    return x;
}

static nn_t detect(const yolo_layer *l)
{
    return l->y->anchors ? detect_anchored(l, 0) : detect_free(l);
}

static nn_t segment(const yolo_layer *l)
{
    if (!l->y->anchors)
        return segment_free(l);
    int64_t masks = (int64_t)yolo_number(l, 2, 32);
    nn_t p = prototypes(l, yolo_scaled(l->y, yolo_number(l, 3, 256)), masks);
    nn_t x = detect_anchored(l, masks);
    nn_output(l->y->b, p, "output1");
    return x;
}

/* ---- classification ---- */

static nn_t classify(const yolo_layer *l)
{
    enum { HIDDEN = 1280 };
    nn *b = l->y->b;
    nn_t x = CONV(l->y, "conv", l->in[0], .out = HIDDEN);
    x = nn_flatten(b, "flatten", nn_global_avgpool(b, "pool", x), 1);
    x = nn_linear(b, "linear", x, l->y->classes, true);
    x = nn_softmax(b, "softmax", x, 1);
    nn_output(b, x, "output0");
    return x;
}

static const yolo_module rows[] = {
    {"Detect", detect, false, false},     {"Segment", segment, false, false},
    {"Pose", pose, false, false},         {"OBB", obb, false, false},
    {"Classify", classify, false, false},
};
const yolo_modules yolo_head_modules = {rows, sizeof rows / sizeof *rows};
