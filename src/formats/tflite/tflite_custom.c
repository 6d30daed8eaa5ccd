/* Custom operators of TFLite files that have a row, and their options, which are a FlexBuffer: a map from names to numbers.
 *
 *   ... root value (W bytes) | type of the root (1 byte) | W (1 byte)
 *   map: distance back to its keys, width of a key, number of entries, entries, a byte with the type of each entry
 *   keys: their number, distances back to texts that end with NUL
 *
 * A type is in the upper six bits of its byte; the lower two are the binary logarithm of the width of what it refers to. */
#include "formats/tflite/tflite_impl.h"

enum { FLEX_INT = 1, FLEX_UINT = 2, FLEX_MAP = 9, FLEX_MOST = 256 };

typedef struct flex {
    flat *f;
    uint64_t start, end; /* in the file */
    bool failed;
} flex;

/* n bytes at a place that must be within the options. */
static uint64_t flex_read(flex *x, uint64_t at, uint64_t n)
{
    x->failed |= at < x->start || at > x->end || n > x->end - at ||
                 (n != 1 && n != 2 && n != 4 && n != 8);
    return x->failed ? 0 : flat_bytes(x->f, at, (unsigned)n);
}

/* What the distance at `at` leads back to. */
static uint64_t flex_back(flex *x, uint64_t at, uint64_t width)
{
    uint64_t distance = flex_read(x, at, width);
    x->failed |= distance > at - x->start;
    return x->failed ? x->start : at - distance;
}

static bool flex_key_is(flex *x, uint64_t at, const char *name)
{
    size_t i = 0;
    while (!x->failed && name[i] && flex_read(x, at + i, 1) == (uint8_t)name[i])
        i++;
    return !x->failed && !name[i] && flex_read(x, at + i, 1) == 0;
}

/* A whole number of the map that a FlexBuffer is; false: there is none of that name. */
static bool flex_int(flat *f, flat_vector v, const char *name, int64_t *out)
{
    flex x = {.f = f, .start = v.at, .end = v.at + v.n, .failed = v.n < 3};
    uint64_t root = flex_read(&x, x.end - 1, 1), type = flex_read(&x, x.end - 2, 1);
    if (x.failed || type >> 2 != FLEX_MAP || root > v.n - 2)
        return false;
    uint64_t items = flex_back(&x, x.end - 2 - root, root), width = UINT64_C(1) << (type & 3);
    if (items - x.start < 3 * width)
        return false;
    uint64_t n = flex_read(&x, items - width, width);
    uint64_t key_width = flex_read(&x, items - 2 * width, width);
    uint64_t keys = flex_back(&x, items - 3 * width, width);
    for (uint64_t i = 0; i < n && n <= FLEX_MOST && !x.failed; i++) {
        uint64_t kind = flex_read(&x, items + n * width + i, 1) >> 2;
        if (!flex_key_is(&x, flex_back(&x, keys + i * key_width, key_width), name))
            continue;
        *out = (int64_t)flex_read(&x, items + i * width, width);
        return !x.failed && (kind == FLEX_INT || kind == FLEX_UINT);
    }
    return false;
}

/* in: boxes, scores, anchors. */
assay_status tfl_detections(tfl_op *o, bool *mapped)
{
    int64_t most = 0, classes = 1;
    *mapped = flex_int(o->r->flat, o->custom, "max_detections", &most) && most > 0;
    if (!*mapped)
        return flat_status(o->r->flat);
    flex_int(o->r->flat, o->custom, "max_classes_per_detection", &classes);
    const ir_attr_spec attrs[] = {IR_SPEC_INT("max_detections", most),
                                  IR_SPEC_INT("max_classes_per_detection", classes)};
    tfl_make(o, &(foreign_node){.op = o->row->name,
                                .domain = "tflite",
                                .name = o->name,
                                .in = o->in,
                                .n_in = o->n_in,
                                .out = o->out,
                                .n_out = o->n_out,
                                .attrs = attrs,
                                .n_attrs = 2});
    return flat_status(o->r->flat);
}
