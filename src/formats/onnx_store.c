#include "formats/onnx_store.h"

#include <assert.h>
#include <string.h>

#include "base/file.h"
#include "base/num.h"
#include "formats/wire.h"

#define NAME_FMT    "'%.*s'"
#define NAME_ARG(s) (int)((s).n < 100 ? (s).n : 100), ((s).p ? (s).p : "")

enum {
    FLOAT_DATA = 4,
    INT32_DATA = 5,
    STRING_DATA = 6,
    INT64_DATA = 7,
    DOUBLE_DATA = 10,
    UINT64_DATA = 11
};

/* ---- locations ---- */

static assay_status bad_location(str tensor, str location, const char *why, assay_error *err)
{
    return err_fail(err, ASSAY_ERR_MALFORMED,
                    "external data of tensor " NAME_FMT ": the path " NAME_FMT
                    " %s. Only paths inside the model's folder are read.",
                    NAME_ARG(tensor), NAME_ARG(location), why);
}

/* Drops empty and "." components; "" for `..`, which leaves the directory. */
static str normalise_path(arena *a, str s)
{
    char *out = arena_alloc(a, (size_t)s.n + 1);
    uint32_t n = 0, i = 0;
    if (!out)
        return (str){NULL, 0};
    while (i < s.n) {
        uint32_t from = i;
        while (i < s.n && s.p[i] != '/')
            i++;
        str part = {s.p + from, i - from};
        i++;
        if (str_is(part, ".."))
            return (str){out, 0};
        if (str_empty(part) || str_is(part, "."))
            continue;
        if (n > 0)
            out[n++] = '/';
        memcpy(out + n, part.p, part.n);
        n += part.n;
    }
    out[n] = '\0';
    return (str){out, n};
}

static assay_status check_location(arena *a, str tensor, str location, str *out, assay_error *err)
{
    if (str_empty(location))
        return bad_location(tensor, location, "is empty", err);
    if (memchr(location.p, '\0', location.n))
        return bad_location(tensor, location, "contains a NUL", err);
    if (memchr(location.p, '\\', location.n))
        return bad_location(tensor, location, "contains a backslash", err);
    if (location.p[0] == '/')
        return bad_location(tensor, location, "is an absolute path", err);
    *out = normalise_path(a, location);
    TRY_MEMORY(out->p, err);
    if (str_empty(*out))
        return bad_location(tensor, location, "leaves the folder", err);
    return ASSAY_OK;
}

static void look_up(onnx_store *st, onnx_external *e)
{
    if (!st->folder)
        return;
    e->path = arena_printf(st->arena, "%s%.*s", st->folder, (int)e->location.n, e->location.p);
    if (!e->path)
        return;
    file_info info = file_stat(e->path);
    e->exists = info.exists && info.is_regular;
    e->size = e->exists ? info.size : 0;
    e->leaves = e->exists && file_leaves_folder(st->folder, e->path);
}

static assay_status refuse_link(const onnx_external *e, assay_error *err)
{
    return err_fail(err, ASSAY_ERR_UNSUPPORTED,
                    "external data " NAME_FMT " is a link to a file outside the model's directory. "
                    "Use --follow-symlinks if you trust the model.",
                    NAME_ARG(e->location));
}

assay_status onnx_store_follow(const ir_reader *r, bool follow, assay_error *err)
{
    onnx_store *st = onnx_store_is_reader(r) ? r->ctx : NULL;
    if (!st)
        return ASSAY_OK;
    st->follows = follow;
    for (uint32_t i = 0; i < st->files.n && !follow; i++)
        if (st->files.items[i].leaves)
            return refuse_link(&st->files.items[i], err);
    return ASSAY_OK;
}

assay_status onnx_store_find(onnx_store *st, str tensor, str location, onnx_external **out,
                             assay_error *err)
{
    uint32_t i = map_get(&st->index, location);
    if (i == MAP_NONE) {
        str name = {0};
        TRY(check_location(st->arena, tensor, location, &name, err));
        i = map_get(&st->index, name);
        if (i == MAP_NONE) {
            onnx_external *e = VEC_PUSH(st->arena, &st->files);
            i = st->files.n - 1;
            TRY_MEMORY(e && map_put(&st->index, name, i), err);
            e->location = name;
            look_up(st, e);
        }
    }
    *out = &st->files.items[i];
    return ASSAY_OK;
}

uint64_t onnx_store_size(const onnx_store *st)
{
    uint64_t total = source_size(st->src);
    for (uint32_t i = 0; i < st->files.n; i++)
        if (!str_eq(st->files.items[i].location, st->own_name))
            total = sat_add(total, st->files.items[i].size);
    return total;
}

/* ---- typed fields ---- */

uint8_t onnx_typed_field(ir_dtype t)
{
    static const uint8_t fields[IR_N_DTYPES] = {
        [IR_FLOAT32] = FLOAT_DATA,      [IR_COMPLEX64] = FLOAT_DATA,
        [IR_UINT8] = INT32_DATA,        [IR_INT8] = INT32_DATA,
        [IR_UINT16] = INT32_DATA,       [IR_INT16] = INT32_DATA,
        [IR_INT32] = INT32_DATA,        [IR_BOOL] = INT32_DATA,
        [IR_FLOAT16] = INT32_DATA,      [IR_BFLOAT16] = INT32_DATA,
        [IR_FLOAT8E4M3FN] = INT32_DATA, [IR_FLOAT8E4M3FNUZ] = INT32_DATA,
        [IR_FLOAT8E5M2] = INT32_DATA,   [IR_FLOAT8E5M2FNUZ] = INT32_DATA,
        [IR_FLOAT8E8M0] = INT32_DATA,   [IR_UINT4] = INT32_DATA,
        [IR_INT4] = INT32_DATA,         [IR_FLOAT4E2M1] = INT32_DATA,
        [IR_UINT2] = INT32_DATA,        [IR_INT2] = INT32_DATA,
        [IR_INT64] = INT64_DATA,        [IR_STRING] = STRING_DATA,
        [IR_FLOAT64] = DOUBLE_DATA,     [IR_COMPLEX128] = DOUBLE_DATA,
        [IR_UINT32] = UINT64_DATA,      [IR_UINT64] = UINT64_DATA,
    };
    return (unsigned)t < IR_N_DTYPES ? fields[t] : 0;
}

wire_type onnx_scalar_type(uint8_t field)
{
    return field == FLOAT_DATA ? WIRE_FIXED32 : field == DOUBLE_DATA ? WIRE_FIXED64 : WIRE_VARINT;
}

/* Bytes that one scalar of a typed field becomes: complex types are two scalars per element,
 * sub-byte types are packed bytes. */
static uint64_t unit_bytes(const ir_tensor *t)
{
    unsigned bits = ir_dtype_get(t->dtype)->bits;
    if (t->encoding == FLOAT_DATA)
        return 4;
    return t->encoding == DOUBLE_DATA ? 8 : bits < 8 ? 1 : bits / 8;
}

typedef struct decoder {
    const ir_tensor *t;
    uint8_t *out;
    uint64_t left;
    bool overflow;
} decoder;

static void put_scalar(decoder *d, uint64_t v, uint64_t unit)
{
    if (d->left < unit) {
        d->overflow = true;
        return;
    }
    if (d->t->dtype == IR_BOOL)
        v = v != 0;
    for (uint64_t i = 0; i < unit; i++)
        d->out[i] = (uint8_t)(v >> (8 * i));
    d->out += unit;
    d->left -= unit;
}

/* Strings, and packed floats as they lie in the file: little-endian. */
static void put_bytes(decoder *d, cursor *c)
{
    uint64_t n = cursor_left(c);
    if (d->left < n) {
        d->overflow = true;
        return;
    }
    cursor_copy(c, d->out, n);
    d->out += n;
    d->left -= n;
}

static void put_record(decoder *d, wire_field *f)
{
    wire_type scalar = onnx_scalar_type(d->t->encoding);
    uint64_t unit = unit_bytes(d->t), v;
    if (f->type == WIRE_LEN && (d->t->encoding == STRING_DATA || scalar != WIRE_VARINT)) {
        put_bytes(d, &f->body);
        return;
    }
    while (!d->overflow && wire_scalar(f, scalar, &v))
        put_scalar(d, v, unit);
}

assay_status onnx_store_decode(onnx_store *st, const ir_tensor *t, void *buf, assay_error *err)
{
    cursor c = cursor_at(st->src, t->offset, t->length, err);
    decoder d = {.t = t, .out = buf, .left = t->size_bytes};
    wire_field f = {.number = 0};
    while (!d.overflow && wire_next(&c, &f)) {
        if (f.number == t->encoding)
            put_record(&d, &f);
        if (f.body.failed)
            return wire_status(&f.body);
    }
    TRY(wire_status(&c));
    if (d.overflow || d.left > 0)
        return err_fail_at(
            err, ASSAY_ERR_MALFORMED, t->offset,
            "tensor " NAME_FMT " has %s data than its dimensions require (%llu bytes)",
            NAME_ARG(t->name), d.overflow ? "more" : "less", (unsigned long long)t->size_bytes);
    return ASSAY_OK;
}

/* ---- the ir_reader ---- */

static assay_status read_external(onnx_store *st, const ir_tensor *t, void *buf, assay_error *err)
{
    onnx_external *e = NULL;
    TRY(onnx_store_find(st, t->name, t->location, &e, err));
    assert(e);
    if (!e->path)
        return err_fail(err, ASSAY_ERR_MALFORMED,
                        "tensor " NAME_FMT " is in the external file " NAME_FMT
                        ", which is not available for a model passed as bytes",
                        NAME_ARG(t->name), NAME_ARG(e->location));
    if (e->leaves && !st->follows)
        return refuse_link(e, err);
    if (!e->src)
        TRY(source_open(e->path, &e->src, err));
    return source_read(e->src, t->offset, buf, t->size_bytes, err);
}

static assay_status read_tensor(void *ctx, const ir_tensor *t, void *buf, assay_error *err)
{
    onnx_store *st = ctx;
    assay_error ignored;
    if (!err)
        err = &ignored;
    err_clear(err);
    switch (t->storage) {
    case IR_DATA_INLINE:
        if (t->size_bytes > 0)
            memcpy(buf, t->bytes, t->size_bytes);
        return ASSAY_OK;
    case IR_DATA_SLICE:
        return t->encoding ? onnx_store_decode(st, t, buf, err)
                           : source_read(st->src, t->offset, buf, t->size_bytes, err);
    case IR_DATA_EXTERNAL:
        return read_external(st, t, buf, err);
    case IR_DATA_MADE:
    case IR_DATA_NONE:
        break;
    }
    return err_fail(err, ASSAY_ERR_MALFORMED,
                    "tensor " NAME_FMT
                    " has no data: the model was saved without it, or its external file is missing",
                    NAME_ARG(t->name));
}

static void close_store(void *ctx)
{
    onnx_store *st = ctx;
    for (uint32_t i = 0; i < st->files.n; i++)
        source_close(st->files.items[i].src);
    source_close(st->src);
}

ir_reader onnx_store_reader(onnx_store *st)
{
    return (ir_reader){.ctx = st, .read = read_tensor, .close = close_store};
}

bool onnx_store_is_reader(const ir_reader *r)
{
    return r->read == read_tensor;
}

assay_status onnx_store_strings(onnx_store *st, const ir_tensor *t, void (*each)(void *ctx, str s),
                                void *ctx, assay_error *err)
{
    assay_error own;
    err_clear(&own);
    arena *a = arena_new((size_t)1 << 30);
    cursor c = cursor_at(st->src, t->offset, t->length, &own);
    wire_field f = {.number = 0};
    while (a && wire_next(&c, &f)) {
        if (f.number != STRING_DATA || f.type != WIRE_LEN)
            continue;
        str s = cursor_str(&f.body, cursor_left(&f.body), a, UINT32_MAX / 2);
        if (!s.p)
            break;
        each(ctx, s);
    }
    assay_status status = !a || arena_failed(a) ? err_no_memory(&own) : wire_status(&c);
    if (status == ASSAY_OK && f.body.failed)
        status = wire_status(&f.body);
    arena_free(a);
    if (status != ASSAY_OK && err)
        *err = own;
    return status;
}

onnx_store *onnx_store_new(arena *a, source *src, const char *path)
{
    onnx_store *st = ARENA_NEW(a, onnx_store);
    if (!st || !map_init(&st->index, a, 0))
        return NULL;
    st->arena = a;
    st->src = src;
    if (path) {
        const char *slash = strrchr(path, '/');
        size_t n = slash ? (size_t)(slash - path) + 1 : 0;
        st->folder = arena_printf(a, "%.*s", (int)n, path);
        st->own_name = str_of(arena_strdup(a, path + n));
        if (!st->folder || !st->own_name.p)
            return NULL;
    }
    return st;
}
