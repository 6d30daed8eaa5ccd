/* See tensor_file.h. */
#include "formats/tensor_file.h"

#include <assert.h>
#include <string.h>

#include "base/file.h"
#include "base/num.h"
#include "base/sbuf.h"
#include "formats/wire.h"

enum { RANK_MAX = 64 };

typedef struct reading {
    const char *path;
    arena *arena;
    tensor_file *out;
    assay_error *err;
} reading;

static assay_status fail_file(const reading *r, const char *what)
{
    return err_fail(r->err, ASSAY_ERR_MALFORMED, "%s: %s", FILE_NAME(r->path), what);
}

/* Whether the data is as long as type and shape say. */
static assay_status check_size(const reading *r)
{
    uint64_t n = 1;
    for (int i = 0; i < r->out->rank; i++)
        if (r->out->dims[i] < 0 || !num_mulu(n, (uint64_t)r->out->dims[i], &n))
            return fail_file(r, "invalid shape");
    if (ir_dtype_bytes(r->out->dtype, n) != r->out->size_bytes)
        return fail_file(r, "data size does not match the shape");
    return ASSAY_OK;
}

/* ---- numpy ---- */

typedef struct descr_row {
    const char *descr;
    ir_dtype dtype;
} descr_row;

static const descr_row descrs[] = {
    {"f4", IR_FLOAT32}, {"f8", IR_FLOAT64}, {"f2", IR_FLOAT16}, {"i1", IR_INT8},
    {"i2", IR_INT16},   {"i4", IR_INT32},   {"i8", IR_INT64},   {"u1", IR_UINT8},
    {"u2", IR_UINT16},  {"u4", IR_UINT32},  {"u8", IR_UINT64},  {"b1", IR_BOOL},
};

static const char *value_of(const char *header, const char *key)
{
    const char *at = strstr(header, key);
    at = at ? strchr(at, ':') : NULL;
    return at ? at + 1 + strspn(at + 1, " ") : NULL;
}

static ir_dtype npy_dtype(const char *descr)
{
    if (!descr || (*descr != '\'' && *descr != '"') || (descr[1] != '<' && descr[1] != '|'))
        return IR_UNDEFINED;
    for (size_t i = 0; i < sizeof descrs / sizeof *descrs; i++)
        if (strncmp(descr + 2, descrs[i].descr, 2) == 0)
            return descrs[i].dtype;
    return IR_UNDEFINED;
}

static assay_status npy_shape(const reading *r, const char *at)
{
    int64_t dims[RANK_MAX];
    int rank = 0;
    if (!at || *at != '(')
        return fail_file(r, "no shape in the header");
    for (at++; *at && *at != ')'; rank++) {
        str rest = str_of(at);
        uint64_t size;
        if (rank == RANK_MAX || !str_take_u64(&rest, &size) || size > INT64_MAX)
            return fail_file(r, "invalid shape");
        dims[rank] = (int64_t)size;
        at = rest.p + strspn(rest.p, ", ");
    }
    r->out->rank = rank;
    r->out->dims = arena_copy(r->arena, dims, sizeof *dims * (size_t)(rank ? rank : 1));
    return r->out->dims ? ASSAY_OK : err_no_memory(r->err);
}

static assay_status read_npy(const reading *r, str text)
{
    const unsigned char *p = (const unsigned char *)text.p;
    if (text.n < 12 || memcmp(p, "\x93NUMPY", 6) != 0)
        return fail_file(r, "not a .npy file");
    uint32_t at = p[6] == 1 ? 10 : 12;
    uint64_t n = p[6] == 1 ? (uint64_t)(p[8] | p[9] << 8)
                           : (uint64_t)p[8] | (uint64_t)p[9] << 8 | (uint64_t)p[10] << 16 |
                                 (uint64_t)p[11] << 24;
    if (n > text.n - at || n > 65536)
        return fail_file(r, "truncated header");
    char *header = arena_copy(r->arena, text.p + at, (size_t)n + 1);
    TRY_MEMORY(header, r->err);
    header[n] = '\0';
    const char *order = value_of(header, "fortran_order");
    r->out->dtype = npy_dtype(value_of(header, "descr"));
    if (r->out->dtype == IR_UNDEFINED)
        return fail_file(r, "unsupported element type. Save it as a plain number type.");
    if (!order || strncmp(order, "False", 5) != 0)
        return fail_file(r, "Fortran order is not supported. Save numpy.ascontiguousarray(x).");
    TRY(npy_shape(r, value_of(header, "shape")));
    r->out->data = text.p + at + n;
    r->out->size_bytes = text.n - at - n;
    return check_size(r);
}

static const char *descr_of(ir_dtype t)
{
    unsigned bits = ir_dtype_get(t)->bits;
    for (size_t i = 0; i < sizeof descrs / sizeof *descrs; i++)
        if (descrs[i].dtype == t)
            return descrs[i].descr;
    return t == IR_STRING ? NULL : bits == 16 ? "u2" : bits == 8 ? "u1" : NULL;
}

/* Padded so that the data is aligned, as numpy does. */
static assay_status put_npy_header(file_out *f, const char *descr, const tensor_file *t,
                                   assay_error *err)
{
    sbuf b = {0};
    sbuf_printf(&b, "{'descr': '%s%s', 'fortran_order': False, 'shape': (",
                descr[1] == '1' ? "|" : "<", descr);
    for (int i = 0; i < t->rank; i++)
        sbuf_printf(&b, "%s%lld", i ? ", " : "", (long long)t->dims[i]);
    sbuf_puts(&b, t->rank == 1 ? ",), }" : "), }");
    while ((b.n + 11) % 64 && !b.failed)
        sbuf_puts(&b, " ");
    sbuf_puts(&b, "\n");
    const unsigned char head[] = {0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, b.n & 255, b.n >> 8 & 255};
    assay_status s = b.failed ? err_no_memory(err) : file_out_write(f, head, sizeof head, err);
    if (s == ASSAY_OK)
        s = file_out_write(f, b.p, b.n, err);
    sbuf_free(&b);
    return s;
}

assay_status tensor_file_write(const char *path, const tensor_file *t, assay_error *err)
{
    const char *descr = descr_of(t->dtype);
    file_out *f = NULL;
    if (!descr)
        return err_fail(err, ASSAY_ERR_UNSUPPORTED,
                        "tensors of type %s cannot be written to a .npy file",
                        ir_dtype_get(t->dtype)->name);
    TRY(file_out_open(path, &f, err));
    assay_status s = put_npy_header(f, descr, t, err);
    if (s == ASSAY_OK)
        s = file_out_write(f, t->data, (size_t)t->size_bytes, err);
    if (s == ASSAY_OK)
        return file_out_commit(f, err);
    file_out_abandon(f);
    return s;
}

/* ---- TensorProto ---- */

typedef struct proto {
    int64_t dims[RANK_MAX];
    int rank;
    uint64_t dtype;
    const char *raw;
    uint64_t raw_bytes;
    uint8_t *typed;   /* elements of the typed fields, as raw bytes */
    uint64_t n_typed; /* a complex number is two */
    uint64_t room;
} proto;

/* Complex numbers are stored as two, the real one first. */
static uint64_t parts_of(uint64_t dtype)
{
    return dtype == IR_COMPLEX64 || dtype == IR_COMPLEX128 ? 2 : 1;
}

static void put_typed(proto *t, const uint64_t *bits)
{
    uint64_t size = ir_dtype_get((ir_dtype)t->dtype)->bits / 8 / parts_of(t->dtype);
    if (size == 0 || (t->n_typed + 1) * size > t->room)
        return;
    assert(t->typed);
    memcpy(t->typed + t->n_typed++ * size, bits, size);
}

static assay_status proto_field(const reading *r, proto *t, wire_field *f, str text)
{
    uint64_t v;
    switch (f->number) {
    case 1:
        while (wire_scalar(f, WIRE_VARINT, &v)) {
            if (t->rank == RANK_MAX)
                return fail_file(r, "too many dimensions");
            t->dims[t->rank++] = (int64_t)v;
        }
        return ASSAY_OK;
    case 2:
        t->dtype = f->value;
        return ASSAY_OK;
    case 9:
        t->raw = text.p + f->body.pos;
        t->raw_bytes = cursor_left(&f->body);
        return ASSAY_OK;
    case 4:
        while (wire_scalar(f, WIRE_FIXED32, &v))
            put_typed(t, &v);
        return ASSAY_OK;
    case 10:
        while (wire_scalar(f, WIRE_FIXED64, &v))
            put_typed(t, &v);
        return ASSAY_OK;
    case 5:
    case 7:
    case 11:
        while (wire_scalar(f, WIRE_VARINT, &v))
            put_typed(t, &v);
        return ASSAY_OK;
    default:
        return ASSAY_OK;
    }
}

/* Twice: the type stands anywhere in the message, and is needed to store the elements. */
static assay_status walk_proto(const reading *r, source *s, proto *t, str text)
{
    wire_field f;
    t->rank = 0;
    t->n_typed = 0;
    cursor c = cursor_at(s, 0, text.n, r->err);
    while (wire_next(&c, &f))
        TRY(proto_field(r, t, &f, text));
    return wire_status(&c);
}

static assay_status read_proto(const reading *r, str text)
{
    proto t = {0};
    source *s = NULL;
    TRY(source_memory(text.p, text.n, &s, r->err));
    assay_status status = walk_proto(r, s, &t, text);
    t.room = sat_mul(text.n, 8);
    t.typed = status == ASSAY_OK ? arena_alloc(r->arena, (size_t)t.room) : NULL;
    if (status == ASSAY_OK)
        status = t.typed ? walk_proto(r, s, &t, text) : err_no_memory(r->err);
    source_close(s);
    TRY(status);
    if (!ir_dtype_valid((int64_t)t.dtype) || t.dtype == IR_STRING)
        return fail_file(r, "not a TensorProto of numbers");
    r->out->dtype = (ir_dtype)t.dtype;
    r->out->rank = t.rank;
    r->out->dims = arena_copy(r->arena, t.dims, sizeof *t.dims * (size_t)(t.rank ? t.rank : 1));
    r->out->data = t.raw ? (const void *)t.raw : t.typed;
    r->out->size_bytes = t.raw ? t.raw_bytes
                               : ir_dtype_bytes(r->out->dtype, t.n_typed / parts_of(t.dtype));
    return r->out->dims ? check_size(r) : err_no_memory(r->err);
}

assay_status tensor_file_read(const char *path, arena *a, tensor_file *out, assay_error *err)
{
    const reading r = {.path = path, .arena = a, .out = out, .err = err};
    str text, name = str_of(path);
    *out = (tensor_file){.rank = -1};
    TRY(file_read_limited(path, LIMIT_TENSOR, a, &text, err));
    if (str_ends(name, ".npy"))
        return read_npy(&r, text);
    if (str_ends(name, ".pb"))
        return read_proto(&r, text);
    out->data = text.p;
    out->size_bytes = text.n;
    return ASSAY_OK;
}
