/* YOLO models from their table of layers, which is also what a checkpoint of Ultralytics carries.
 *
 *   [from, repeats, module, arguments]     from: one layer or several, -1 is the one before
 *
 * Repeats above 1 are multiplied by `depth_multiple`, channels by `width_multiple` (at most
 * `max_channels` before that) and rounded up to a multiple of 8. Modules are rows of yolo_blocks.c and
 * yolo_head.c; another module is refused by its name.
 *
 * Parameters: table (a built-in one) or backbone and head; num_classes, depth_multiple, width_multiple,
 * max_channels, scale (a letter), anchors, kpt_shape, activation, fused.
 */
#include <math.h>

#include "zoo/yolo.h"

/* ---- arguments ---- */

double yolo_number(const yolo_layer *l, uint32_t i, double def)
{
    const json_value *v = l->args && i < l->args->n ? &l->args->items[i] : NULL;
    bool fits = v && json_is_number(v) && v->f >= -1e6 && v->f <= 1e6;
    return fits ? v->f : def;
}

bool yolo_flag(const yolo_layer *l, uint32_t i, bool def)
{
    const json_value *v = l->args && i < l->args->n ? &l->args->items[i] : NULL;
    return v && (v->kind == JSON_BOOL || v->kind == JSON_INT) ? v->i != 0 : def;
}

int64_t yolo_scaled(const yolo *y, double channels)
{
    double most = (double)y->max_channels;
    double wide = (channels < most ? channels : most) * y->width;
    return (int64_t)ceil(wide / (double)y->multiple) * y->multiple;
}

static int64_t scaled_repeats(const yolo *y, int64_t n)
{
    double deep = n > 1 ? rint((double)n * y->depth) : (double)n;
    return deep < 1 ? 1 : (int64_t)deep;
}

/* ---- layers ---- */

static const yolo_module *find_module(str name)
{
    const yolo_modules *const tables[] = {&yolo_block_modules, &yolo_head_modules};
    for (size_t t = 0; t < sizeof tables / sizeof *tables; t++)
        for (uint32_t i = 0; i < tables[t]->n; i++)
            if (str_is(name, tables[t]->rows[i].name))
                return &tables[t]->rows[i];
    return NULL;
}

static bool link_layer(yolo_layer *l, const json_value *from, nn_t image)
{
    yolo *y = l->y;
    int64_t at = from->kind == JSON_INT ? from->i : INT64_MAX;
    at = at < 0 ? y->n + at : at;
    bool first = y->n == 0 && from->kind == JSON_INT && from->i == -1;
    if ((!first && (at < 0 || at >= y->n)) || l->n_in == YOLO_LINKS) {
        nn_fail(y->b, "layer %d reads a layer that is not before it", y->n);
        return false;
    }
    l->in[l->n_in++] = first ? image : y->made[at];
    return true;
}

static bool link_layers(yolo_layer *l, const json_value *from, nn_t image)
{
    if (from->kind != JSON_LIST)
        return link_layer(l, from, image);
    for (uint32_t i = 0; i < from->n; i++)
        if (!link_layer(l, &from->items[i], image))
            return false;
    return from->n > 0;
}

/* Modules that do not repeat inside are a sequence of `repeats`. */
static nn_t run_layer(yolo_layer *l, const yolo_module *m, int64_t repeats)
{
    nn *b = l->y->b;
    l->repeats = m->repeats ? repeats : 1;
    if (m->repeats || repeats <= 1)
        return NN_UNDER(b, m->build(l), "model.%d", l->y->n);
    nn_push(b, "model.%d", l->y->n);
    for (int64_t i = 0; i < repeats && nn_ok(b); i++)
        l->in[0] = NN_UNDER(b, m->build(l), "%d", (int)i);
    return nn_leave(b, l->in[0]);
}

/* Layers whose outputs nothing scales: as many channels as classes. */
static int64_t channels_of(const yolo_layer *l, const yolo_module *m)
{
    double given = yolo_number(l, 0, 0);
    if (!m->scales)
        return 0;
    return given == (double)l->y->classes ? l->y->classes : yolo_scaled(l->y, given);
}

static void add_layer(yolo *y, const json_value *row, nn_t image)
{
    enum { REPEATS_MAX = 200 };
    yolo_layer l = {.y = y};
    bool whole = row->kind == JSON_LIST && row->n >= 4 && row->items[1].kind == JSON_INT &&
                 row->items[2].kind == JSON_TEXT && row->items[3].kind == JSON_LIST;
    const yolo_module *m = whole ? find_module(row->items[2].s) : NULL;
    int64_t repeats = whole ? scaled_repeats(y, row->items[1].i) : 0;
    if (!whole || repeats > REPEATS_MAX || y->n == YOLO_LAYERS) {
        nn_fail(y->b, "layer %d is not [from, repeats, module, arguments]", y->n);
        return;
    }
    if (!m) {
        nn_refuse(y->b, "layer %d is a module of an unknown kind: " STR_FMT, y->n,
                  STR_ARG(row->items[2].s));
        return;
    }
    l.args = &row->items[3];
    l.channels = channels_of(&l, m);
    if (m->scales && l.channels < 1) {
        nn_fail(y->b, "layer %d has no number of output channels", y->n);
        return;
    }
    if (!link_layers(&l, &row->items[0], image))
        return;
    y->made[y->n] = run_layer(&l, m, repeats); /* it is called by its number */
    y->n++;
}

/* ---- the model ---- */

static const json_value *parse_table(nn *b, const char *text)
{
    json_value *v = ARENA_NEW(nn_arena(b), json_value);
    if (!text || !v ||
        json_tree_parse(str_of(text), "table", NULL, nn_arena(b), v, NULL) != ASSAY_OK)
        return NULL;
    return v;
}

typedef struct layers {
    const json_value *part[2]; /* backbone, head */
} layers;

static layers find_layers(yolo *y)
{
    nn *b = y->b;
    str name = nn_word(b, "table", "yolov8");
    const yolo_table *t = yolo_table_find(name);
    const json_value *given[2] = {nn_raw(b, "backbone"), nn_raw(b, "head")};
    const json_value *anchors = nn_raw(b, "anchors");
    layers l = {{0}};
    if (!given[0] && !given[1] && !t)
        nn_fail(b,
                "parameter 'table' is '" STR_FMT
                "'; it must be yolov5, yolov5u, yolov8 or yolo11, with -seg, "
                "-cls, -pose, -obb or -p6",
                STR_ARG(name));
    bool own = given[0] || given[1] || !t;
    l.part[0] = own ? given[0] : parse_table(b, t->backbone);
    l.part[1] = own ? given[1] : parse_table(b, t->head);
    y->anchors = anchors ? anchors : own ? NULL : parse_table(b, t->anchors);
    return l;
}

/* YOLO11 and later, known by its blocks, have a lighter branch for scores. */
static bool uses_module(const layers *l, const char *name)
{
    for (int p = 0; p < 2; p++)
        for (uint32_t i = 0; l->part[p] && i < l->part[p]->n; i++) {
            const json_value *row = &l->part[p]->items[i];
            if (row->kind == JSON_LIST && row->n > 2 && row->items[2].kind == JSON_TEXT &&
                str_is(row->items[2].s, name))
                return true;
        }
    return false;
}

static const char *activation_of(nn *b)
{
    static const struct {
        const char *theirs, *ours;
    } rows[] = {{"SiLU", "Swish"},
                {"ReLU", "Relu"},
                {"LeakyReLU", "LeakyRelu"},
                {"Mish", "Mish"},
                {"Hardswish", "HardSwish"}};
    str word = nn_word(b, "activation", "SiLU");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (str_contains(word, rows[i].theirs))
            return rows[i].ours;
    nn_refuse(b, "unknown activation '" STR_FMT "'", STR_ARG(word));
    return "Relu";
}

static void read_sizes(yolo *y)
{
    static const int64_t points[] = {17, 3};
    int64_t kpt[2] = {17, 3};
    nn *b = y->b;
    str scale = nn_word(b, "scale", "");
    y->scale = scale.n == 1 ? scale.p[0] : 0;
    y->classes = nn_int_in(b, "num_classes", 80, 1, 100000);
    y->depth = nn_real_in(b, "depth_multiple", 1, 0.01, 10);
    y->width = nn_real_in(b, "width_multiple", 1, 0.01, 16);
    y->max_channels = nn_int_in(b, "max_channels", 1 << 20, 1, 1 << 20);
    y->multiple = nn_int_in(b, "channel_multiple", 8, 1, 1024);
    y->fused = nn_bool(b, "fused", false);
    y->activation = activation_of(b);
    nn_ints(b, "kpt_shape", points, 2, kpt, 2);
    y->keypoints = kpt[0];
    y->keypoint_values = kpt[1];
    if (kpt[0] < 1 || kpt[0] > 10000 || kpt[1] < 2 || kpt[1] > 3)
        nn_fail(b, "parameter 'kpt_shape' must be a number of keypoints and 2 or 3");
}

void yolo_build(nn *b)
{
    yolo *y = ARENA_NEW(nn_arena(b), yolo);
    if (!y)
        return;
    y->b = b;
    read_sizes(y);
    layers l = find_layers(y);
    y->dense_scores = !uses_module(&l, "C3k2");
    nn_t image = nn_image(b, 640);
    y->image = image.d[2];
    for (int p = 0; p < 2 && nn_ok(b); p++)
        for (uint32_t i = 0; l.part[p] && i < l.part[p]->n && nn_ok(b); i++)
            add_layer(y, &l.part[p]->items[i], image);
    if (nn_ok(b) && !y->n)
        nn_fail(b, "the model has no layers");
    else if (nn_ok(b) && !uses_module(&l, "Detect") && !uses_module(&l, "Segment") &&
             !uses_module(&l, "Pose") && !uses_module(&l, "OBB") && !uses_module(&l, "Classify"))
        nn_output(b, y->made[y->n - 1], "output0");
}
