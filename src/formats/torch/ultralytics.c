/* What a checkpoint of Ultralytics says of its model: the table of layers, the classes, the size of the images.
 *
 *     model (or ema).yaml = {nc, depth_multiple, width_multiple, anchors, backbone, head}         YOLOv5
 *                           {nc, scales: {n: [depth, width, most channels]}, scale, backbone, head}  later
 *     model.names = {0: name} or [name]; train_args.imgsz, opt.imgsz: the size of images in training
 *
 * The table becomes the parameters of the row "yolo" (zoo/yolo.c).
 */
#include <inttypes.h>

#include "base/sbuf.h"
#include "formats/torch/torch_impl.h"

enum { JSON_DEPTH = 8, JSON_ITEMS = 4096, CLASSES_SHOWN = 200 };

/* ---- pickles as JSON ---- */

static json_value to_json(arena *a, const pickle_value *v, int depth);

static str key_text(arena *a, const pickle_value *key)
{
    return key->kind == PICKLE_INT ? str_printf(a, "%" PRId64, key->whole) : str_copy(a, key->text);
}

static json_value items_to_json(arena *a, const pickle_value *v, int depth)
{
    bool pairs = v->pairs;
    uint32_t n = pairs ? v->items.n / 2 : v->items.n;
    json_value *items = n <= JSON_ITEMS ? ARENA_ARRAY(a, json_value, (size_t)n + 1) : NULL;
    json_value out = {.kind = pairs ? JSON_OBJECT : JSON_LIST, .items = items, .n = items ? n : 0};
    for (uint32_t i = 0; i < out.n; i++) {
        items[i] = to_json(a, v->items.items[pairs ? 2 * i + 1 : i], depth + 1);
        if (pairs)
            items[i].key = key_text(a, v->items.items[2 * i]);
    }
    return out;
}

/* What JSON has no word for is null. */
static json_value to_json(arena *a, const pickle_value *v, int depth)
{
    switch (v->kind) {
    case PICKLE_BOOL:
        return json_of_bool(v->whole != 0);
    case PICKLE_INT:
        return json_of_int(v->whole);
    case PICKLE_FLOAT:
        return (json_value){.kind = JSON_REAL, .f = v->number};
    case PICKLE_TEXT:
        return json_of_text(str_copy(a, v->text));
    case PICKLE_TUPLE:
    case PICKLE_LIST:
    case PICKLE_DICT:
    case PICKLE_OBJECT:
        return depth < JSON_DEPTH ? items_to_json(a, v, depth) : (json_value){.kind = JSON_NULL};
    default:
        return (json_value){.kind = JSON_NULL};
    }
}

/* ---- the model ---- */

/* The part of a checkpoint that is a model with a table of layers. */
static const pickle_value *find_model(const pickle_value *root)
{
    static const char *const keys[] = {"model", "ema"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const pickle_value *v = pickle_get(root, keys[i]);
        if (v && v->kind == PICKLE_OBJECT && pickle_get(v, "yaml"))
            return v;
    }
    return root->kind == PICKLE_OBJECT && pickle_get(root, "yaml") ? root : NULL;
}

static str list_classes(arena *a, const pickle_value *names)
{
    sbuf b = {0};
    uint32_t step = names->pairs ? 2 : 1;
    for (uint32_t i = step - 1; i < names->items.n && i < CLASSES_SHOWN * step; i += step)
        if (names->items.items[i]->kind == PICKLE_TEXT)
            sbuf_printf(&b, b.n ? ", " STR_FMT : STR_FMT, STR_ARG(names->items.items[i]->text));
    str text = b.n ? str_copy(a, (str){b.p, (uint32_t)b.n}) : (str){0};
    sbuf_free(&b);
    return text;
}

/* Of training; images are enlarged to a multiple of the stride, as the trainer does it. */
static int64_t image_size(const pickle_value *root, const pickle_value *model)
{
    enum { STRIDE = 32 };
    const pickle_value *const where[] = {pickle_get(root, "train_args"), pickle_get(root, "opt"),
                                         pickle_get(model, "args")};
    for (size_t i = 0; i < sizeof where / sizeof *where; i++) {
        const pickle_value *v = where[i] ? pickle_get(where[i], "imgsz") : NULL;
        if (v && v->kind == PICKLE_INT && v->whole >= 32 && v->whole <= 8192)
            return (v->whole + STRIDE - 1) / STRIDE * STRIDE;
    }
    return 0;
}

assay_status torch_describe(torch_file *f, const pickle_value *root)
{
    arena *a = f->set->arena;
    const pickle_value *model = find_model(root);
    const pickle_value *names = model ? pickle_get(model, "names") : NULL;
    if (!model)
        return ASSAY_OK;
    json_value *yaml = ARENA_NEW(a, json_value);
    TRY_MEMORY(yaml, f->err);
    *yaml = to_json(a, pickle_get(model, "yaml"), 0);
    f->set->layers = yaml;
    f->set->classes = names ? list_classes(a, names) : (str){0};
    f->set->image_size = image_size(root, model);
    return ASSAY_OK;
}

/* ---- parameters ---- */

static bool put(zoo_args *to, const char *key, const json_value *v)
{
    return !v || v->kind == JSON_NULL || zoo_args_put(to, str_of(key), *v, false);
}

/* [depth, width, most channels] of the scale that the file names, or of the first. */
static bool put_scale(zoo_args *to, const json_value *yaml)
{
    static const char *const keys[] = {"depth_multiple", "width_multiple", "max_channels"};
    const json_value *scales = json_get(yaml, "scales"), *scale = json_get(yaml, "scale");
    const json_value *row = scales && scale && scale->kind == JSON_TEXT
                                ? json_member(scales, scale->s)
                                : NULL;
    if (!row && scales && scales->kind == JSON_OBJECT && scales->n)
        row = &scales->items[0];
    for (uint32_t i = 0; row && row->kind == JSON_LIST && i < row->n && i < 3; i++)
        if (!put(to, keys[i], &row->items[i]))
            return false;
    const json_value letter = row && row->key.n ? json_of_text(row->key)
                                                : (json_value){.kind = JSON_NULL};
    return put(to, "scale", scale && scale->kind == JSON_TEXT && scale->s.n ? scale : &letter);
}

bool ultralytics_args(const weight_set *w, zoo_args *to)
{
    static const struct {
        const char *theirs, *ours;
    } keys[] = {{"backbone", "backbone"},
                {"head", "head"},
                {"nc", "num_classes"},
                {"ch", "in_chans"},
                {"depth_multiple", "depth_multiple"},
                {"width_multiple", "width_multiple"},
                {"channel_multiple", "channel_multiple"},
                {"anchors", "anchors"},
                {"kpt_shape", "kpt_shape"},
                {"activation", "activation"}};
    if (!put_scale(to, w->layers))
        return false;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (!put(to, keys[i].ours, json_get(w->layers, keys[i].theirs)))
            return false;
    bool fused = true; /* normalisations are in the convolutions */
    for (uint32_t i = 0; i < w->items.n; i++)
        fused &= !str_contains(w->items.items[i].name, ".bn.");
    return !fused || zoo_args_put(to, STR("fused"), json_of_bool(true), false);
}
