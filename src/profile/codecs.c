/* Shapes, dtypes and a layer's tensors in result files; see codecs.h. Attributes are in attribute_codec.c. */
#include "profile/codecs.h"

#include <inttypes.h>

#include "base/vec.h"
#include "profile/profile.h"

/* ---- shapes ---- */

static bool shape_known(const void *at)
{
    return ((const profile_shape *)at)->rank >= 0;
}

static void shape_write(json_writer *w, const void *at)
{
    const profile_shape *s = at;
    if (s->rank < 0) {
        json_null(w);
        return;
    }
    json_flat_array(w);
    for (int i = 0; i < s->rank; i++)
        if (s->dims[i] < 0)
            json_null(w);
        else
            json_i64(w, s->dims[i]);
    json_end(w);
}

static bool read_dim(field_reader *r, int64_t *out)
{
    uint64_t v;
    *out = -1;
    if (scan_null(&r->s))
        return true;
    if (!scan_u63(&r->s, &v))
        return false;
    *out = (int64_t)v;
    return true;
}

static bool shape_read(field_reader *r, void *at)
{
    profile_shape *out = at;
    int64_t *dims = NULL;
    uint32_t n = 0, cap = 0;
    *out = (profile_shape){.rank = -1};
    if (scan_null(&r->s))
        return true;
    if (!scan_open(&r->s, '['))
        return false;
    while (scan_item(&r->s)) {
        int64_t *dim = fields_push(r, (void **)&dims, &n, &cap, sizeof *dims);
        if (!dim || !read_dim(r, dim))
            return false;
    }
    if (n > INT32_MAX)
        return fields_fail(r, "too many dimensions");
    *out = (profile_shape){.rank = (int)n, .dims = dims};
    return !r->s.failed;
}

void shape_print(sbuf *b, const void *at)
{
    const profile_shape *s = at;
    if (s->rank == 0)
        sbuf_puts(b, "scalar");
    for (int i = 0; i < s->rank; i++) {
        sbuf_puts(b, i ? "×" : "");
        if (s->dims[i] < 0)
            sbuf_putc(b, '?');
        else
            sbuf_printf(b, "%" PRId64, s->dims[i]);
    }
    if (s->rank < 0)
        sbuf_putc(b, '?');
}

static uint32_t shape_count(const void *at)
{
    const profile_shape *s = at;
    return s->rank > 0 ? (uint32_t)s->rank : 0;
}

static int64_t shape_dim(const void *at, uint32_t index)
{
    const profile_shape *s = at;
    return s->dims[index] < 0 ? INT64_MIN : s->dims[index];
}

#define SHAPE_SCHEMA \
    "{\"type\": [\"array\", \"null\"], \"items\": {\"type\": [\"integer\", \"null\"]}}"
const field_codec shape_codec = {.schema = SHAPE_SCHEMA,
                                 .typescript = "Shape",
                                 .known = shape_known,
                                 .write = shape_write,
                                 .read = shape_read,
                                 .print = shape_print,
                                 .count = shape_count,
                                 .item = shape_dim};

/* ---- dtypes ---- */

static bool dtype_known(const void *at)
{
    return *(const ir_dtype *)at != IR_UNDEFINED;
}

static void dtype_write(json_writer *w, const void *at)
{
    if (dtype_known(at))
        json_cstr(w, ir_dtype_get(*(const ir_dtype *)at)->name);
    else
        json_null(w);
}

/* A name that this version does not have is unknown. */
static bool dtype_read(field_reader *r, void *at)
{
    str s = {0};
    if (!scan_null(&r->s) && !scan_str(&r->s, &s))
        return false;
    *(ir_dtype *)at = s.n ? ir_dtype_by_name(s) : IR_UNDEFINED;
    return true;
}

static void dtype_print(sbuf *b, const void *at)
{
    sbuf_puts(b, dtype_known(at) ? ir_dtype_get(*(const ir_dtype *)at)->name : "?");
}

#define TEXT_SCHEMA "{\"type\": [\"string\", \"null\"]}"
const field_codec dtype_codec = {.schema = TEXT_SCHEMA,
                                 .typescript = "string | null",
                                 .known = dtype_known,
                                 .write = dtype_write,
                                 .read = dtype_read,
                                 .print = dtype_print};

/* ---- kinds of values ---- */

static bool kind_known(const void *at)
{
    const char *kind = *(const char *const *)at;
    return kind && strcmp(kind, "tensor") != 0;
}

static void kind_write(json_writer *w, const void *at)
{
    json_cstr(w, *(const char *const *)at);
}

static bool kind_read(field_reader *r, void *at)
{
    str s;
    if (!fields_read_text(r, &s))
        return false;
    if (s.p && strlen(s.p) != s.n)
        return fields_fail(r, "this text must not contain a NUL");
    *(const char **)at = s.p ? s.p : "tensor";
    return true;
}

static void kind_print(sbuf *b, const void *at)
{
    sbuf_puts(b, *(const char *const *)at);
}

const field_codec tensor_kind_codec = {.schema = "{\"type\": \"string\"}",
                                       .typescript = "string",
                                       .known = kind_known,
                                       .write = kind_write,
                                       .read = kind_read,
                                       .print = kind_print};

/* ---- a layer's tensors ---- */

typedef enum tensor_part { PART_NAME, PART_SHAPE, PART_DTYPE } tensor_part;

static void write_part(json_writer *w, const profile_tensor *t, tensor_part part)
{
    if (part == PART_NAME)
        json_str(w, t->name);
    else if (part == PART_SHAPE)
        shape_write(w, &t->shape);
    else
        dtype_write(w, &t->dtype);
}

static void write_parts(json_writer *w, const profile_tensor *list, uint32_t n, tensor_part part)
{
    json_flat_array(w);
    for (uint32_t i = 0; i < n; i++)
        write_part(w, &list[i], part);
    json_end(w);
}

static bool read_part(field_reader *r, profile_tensor *t, tensor_part part)
{
    if (part == PART_NAME)
        return fields_read_text(r, &t->name);
    return part == PART_SHAPE ? shape_read(r, &t->shape) : dtype_read(r, &t->dtype);
}

/* The lists of one layer are of one length; the first of them makes the tensors. */
static bool read_parts(field_reader *r, const profile_tensor **list, uint32_t *n, tensor_part part)
{
    profile_tensor *items = (profile_tensor *)(uintptr_t)*list;
    uint32_t known = *n, cap = known, k = 0;
    if (!scan_open(&r->s, '['))
        return false;
    for (; scan_item(&r->s); k++) {
        if (known && k == known)
            return fields_fail(r, "more items here than in the layer's other lists");
        if (!known && !fields_push(r, (void **)&items, n, &cap, sizeof *items))
            return false;
        if (!known)
            items[k] = (profile_tensor){.kind = "tensor", .shape = {.rank = -1}};
        if (!read_part(r, &items[k], part))
            return false;
    }
    *list = items;
    if (r->s.failed || k == *n)
        return !r->s.failed;
    return fields_fail(r, "fewer items here than in the layer's other lists");
}

static void print_parts(sbuf *b, const profile_tensor *list, uint32_t n, tensor_part part)
{
    for (uint32_t i = 0; i < n; i++) {
        sbuf_puts(b, i ? ", " : "");
        if (part == PART_NAME)
            sbuf_str(b, list[i].name);
        else if (part == PART_SHAPE)
            shape_print(b, &list[i].shape);
        else
            dtype_print(b, &list[i].dtype);
    }
}

static bool always_known(const void *at)
{
    return at != NULL;
}

#define NAMES_SCHEMA  "{\"type\": \"array\", \"items\": {\"type\": \"string\"}}"
#define SHAPES_SCHEMA "{\"type\": \"array\", \"items\": " SHAPE_SCHEMA "}"
#define TYPES_SCHEMA  "{\"type\": \"array\", \"items\": " TEXT_SCHEMA "}"
#define LAYER_TENSORS(name, side, part, schema_, typescript_)    \
    static void name##_write(json_writer *w, const void *at)     \
    {                                                            \
        const profile_layer *l = at;                             \
        write_parts(w, l->side, l->n_##side, part);              \
    }                                                            \
    static bool name##_read(field_reader *r, void *at)           \
    {                                                            \
        profile_layer *l = at;                                   \
        return read_parts(r, &l->side, &l->n_##side, part);      \
    }                                                            \
    static void name##_print(sbuf *b, const void *at)            \
    {                                                            \
        const profile_layer *l = at;                             \
        print_parts(b, l->side, l->n_##side, part);              \
    }                                                            \
    const field_codec name##_codec = {.schema = schema_,         \
                                      .typescript = typescript_, \
                                      .known = always_known,     \
                                      .write = name##_write,     \
                                      .read = name##_read,       \
                                      .print = name##_print};

LAYER_TENSORS(layer_inputs, inputs, PART_NAME, NAMES_SCHEMA, "string[]")
LAYER_TENSORS(layer_outputs, outputs, PART_NAME, NAMES_SCHEMA, "string[]")
LAYER_TENSORS(layer_input_shapes, inputs, PART_SHAPE, SHAPES_SCHEMA, "Shape[]")
LAYER_TENSORS(layer_output_shapes, outputs, PART_SHAPE, SHAPES_SCHEMA, "Shape[]")
LAYER_TENSORS(layer_output_types, outputs, PART_DTYPE, TYPES_SCHEMA, "(string | null)[]")

/* ---- the size of an image ---- */

static bool image_known(const void *at)
{
    return ((const profile_image_size *)at)->height > 0;
}

static void image_write(json_writer *w, const void *at)
{
    const profile_image_size *s = at;
    if (s->height == s->width) {
        json_i64(w, s->height);
        return;
    }
    json_flat_array(w);
    json_i64(w, s->height);
    json_i64(w, s->width);
    json_end(w);
}

static bool image_read(field_reader *r, void *at)
{
    profile_image_size *s = at;
    if (!scan_is(&r->s, '[')) {
        bool ok = scan_i64(&r->s, &s->height);
        s->width = s->height;
        return ok;
    }
    if (!scan_open(&r->s, '[') || !scan_item(&r->s) || !scan_i64(&r->s, &s->height) ||
        !scan_item(&r->s) || !scan_i64(&r->s, &s->width))
        return fields_fail(r, "expected [height, width]");
    return !scan_item(&r->s) || fields_fail(r, "expected [height, width]");
}

static void image_print(sbuf *b, const void *at)
{
    const profile_image_size *s = at;
    sbuf_printf(b, "%" PRId64 "×%" PRId64, s->height, s->width);
}

const field_codec image_size_codec = {
    .schema = "{\"type\": [\"integer\", \"array\"], \"items\": {\"type\": \"integer\"}}",
    .typescript = "number | number[]",
    .known = image_known,
    .write = image_write,
    .read = image_read,
    .print = image_print};
