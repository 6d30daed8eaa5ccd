/* TensorProto and SparseTensorProto.
 *
 * A tensor's data stands in one of: raw_data; the typed field of its element type; string_data;
 * an external file. What is short is decoded into the arena, the rest stays where it is. The
 * number of elements must be what the dimensions say; a tensor that declares elements and holds
 * no data at all is a graph-only export's and is kept without bytes.
 */
#include "base/num.h"
#include "base/text.h"
#include "formats/onnx_impl.h"

/* Varints have to be walked to be counted. Beyond this the count is only bounded (a varint
 * takes 1 to 10 bytes) and is checked when the data is really read: weights are never read in
 * static work. */
#define COUNTED_VARINT_BYTES ((uint64_t)1 << 20)

typedef struct tensor_in {
    onnx_reader *r;
    str name;
    int64_t dtype;
    int64_t location_kind;
    uint64_t raw_at, raw_len;
    uint8_t field;         /* the typed field that holds data, or 0 */
    bool mixed;            /* more than one does */
    uint64_t from, to;     /* range of its records */
    uint64_t n_min, n_max; /* its scalars */
    uint64_t string_bytes;
    bool has_location;
    str location, offset, length; /* external data */
    uint32_t rank;
    int64_t dims[IR_MAX_RANK]; /* of which `rank` are set: thousands of tensors have one or none */
} tensor_in;

static void begin_tensor(tensor_in *t, onnx_reader *r)
{
    memset(t, 0, offsetof(tensor_in, dims));
    t->r = r;
}

/* ---- fields ---- */

static assay_status push_dim(tensor_in *t, int64_t v)
{
    if (t->rank == IR_MAX_RANK)
        return err_fail(t->r->err, ASSAY_ERR_UNSUPPORTED,
                        "tensor " NAME_FMT " has more than %d dimensions", NAME_ARG(t->name),
                        IR_MAX_RANK);
    t->dims[t->rank++] = v;
    return ASSAY_OK;
}

static assay_status on_dims(void *self, wire_field *f)
{
    uint64_t v;
    while (wire_scalar(f, WIRE_VARINT, &v))
        TRY(push_dim(self, (int64_t)v));
    return ASSAY_OK;
}

ONNX_NUMBER(on_dtype, tensor_in, dtype)
ONNX_TEXT(on_name, tensor_in, name, onnx_string)

static assay_status on_raw(void *self, wire_field *f)
{
    tensor_in *t = self;
    t->raw_at = f->body.pos;
    t->raw_len = cursor_left(&f->body);
    return ASSAY_OK;
}

static void count_scalars(tensor_in *t, uint64_t min, uint64_t max)
{
    t->n_min += min;
    t->n_max += max;
}

static bool count_varints(tensor_in *t, wire_field *f)
{
    uint64_t bytes = cursor_left(&f->body), n = 0, v;
    if (bytes > COUNTED_VARINT_BYTES) {
        count_scalars(t, bytes / 10, bytes);
        return true;
    }
    while (wire_scalar(f, WIRE_VARINT, &v))
        n++;
    count_scalars(t, n, n);
    return !f->body.failed;
}

/* Notes one record of a typed field; the range grows over all records of it. */
static void take_record(tensor_in *t, const wire_field *f)
{
    if (t->field && t->field != f->number)
        t->mixed = true;
    if (!t->field)
        t->from = f->start;
    t->field = (uint8_t)f->number;
    t->to = f->body.end;
}

static assay_status on_typed(void *self, wire_field *f)
{
    tensor_in *t = self;
    wire_type scalar = onnx_scalar_type((uint8_t)f->number);
    bool packed = f->type == WIRE_LEN;
    uint64_t width = scalar == WIRE_FIXED32 ? 4 : 8;
    uint64_t bytes = packed ? cursor_left(&f->body) : 0;
    if (packed && bytes == 0)
        return ASSAY_OK;
    take_record(t, f);
    if (!packed)
        count_scalars(t, 1, 1);
    else if (scalar == WIRE_VARINT)
        count_varints(t, f);
    else if (bytes % width == 0)
        count_scalars(t, bytes / width, bytes / width);
    else
        cursor_fail(
            &f->body,
            "damaged file: the length of a packed list is not a multiple of its element size");
    return ASSAY_OK;
}

static assay_status on_string(void *self, wire_field *f)
{
    tensor_in *t = self;
    take_record(t, f);
    count_scalars(t, 1, 1);
    t->string_bytes += cursor_left(&f->body);
    return ASSAY_OK;
}

ONNX_NUMBER(on_location_kind, tensor_in, location_kind)

typedef struct entry_in {
    onnx_reader *r;
    str key, value;
} entry_in;

ONNX_TEXT(on_entry_key, entry_in, key, onnx_atom)

/* Interned, because thousands of tensors name the same file. */
ONNX_TEXT(on_entry_value, entry_in, value, onnx_atom)

static const wire_row entry_rows[] = {
    [1] = {WIRE_IS_LEN, on_entry_key},
    [2] = {WIRE_IS_LEN, on_entry_value},
};
static const wire_message entry_message = WIRE_MESSAGE("StringStringEntryProto", entry_rows);

static assay_status on_external(void *self, wire_field *f)
{
    tensor_in *t = self;
    entry_in e = {.r = t->r};
    TRY(wire_walk(&f->body, &entry_message, &e));
    if (str_is(e.key, "location")) {
        t->location = e.value;
        t->has_location = true;
    } else if (str_is(e.key, "offset")) {
        t->offset = e.value;
    } else if (str_is(e.key, "length")) {
        t->length = e.value;
    }
    return ASSAY_OK;
}

static const wire_row tensor_rows[] = {
    [1] = {WIRE_ARE_VARINTS, on_dims},   [2] = {WIRE_IS_VARINT, on_dtype},
    [4] = {WIRE_ARE_FIXED32, on_typed},  [5] = {WIRE_ARE_VARINTS, on_typed},
    [6] = {WIRE_IS_LEN, on_string},      [7] = {WIRE_ARE_VARINTS, on_typed},
    [8] = {WIRE_IS_LEN, on_name},        [9] = {WIRE_IS_LEN, on_raw},
    [10] = {WIRE_ARE_FIXED64, on_typed}, [11] = {WIRE_ARE_VARINTS, on_typed},
    [13] = {WIRE_IS_LEN, on_external},   [14] = {WIRE_IS_VARINT, on_location_kind},
};
static const wire_message tensor_message = WIRE_MESSAGE("TensorProto", tensor_rows);

/* ---- sizes ---- */

static assay_status check_dtype(const tensor_in *in)
{
    if (in->dtype == IR_UNDEFINED)
        return err_fail(in->r->err, ASSAY_ERR_MALFORMED,
                        "damaged file: tensor " NAME_FMT " has no element type",
                        NAME_ARG(in->name));
    if (!ir_dtype_valid(in->dtype))
        return err_fail(in->r->err, ASSAY_ERR_UNSUPPORTED,
                        "tensor " NAME_FMT " has the unknown element type %lld", NAME_ARG(in->name),
                        (long long)in->dtype);
    return ASSAY_OK;
}

/* The product of the dimensions, such that its size in bytes also fits 63 bits. */
static assay_status count_elements(onnx_reader *r, str name, const int64_t *dims, uint32_t rank,
                                   uint64_t *out)
{
    int64_t n = 1, room = INT64_MAX / 16;
    bool zero = false, fits = true;
    for (uint32_t i = 0; i < rank; i++) {
        if (dims[i] < 0)
            return err_fail(r->err, ASSAY_ERR_MALFORMED,
                            "tensor " NAME_FMT " has the negative dimension %lld", NAME_ARG(name),
                            (long long)dims[i]);
        zero = zero || dims[i] == 0;
        fits = fits && (zero || (num_mul(n, dims[i], &n) && n <= room));
    }
    if (!fits && !zero)
        return err_fail(r->err, ASSAY_ERR_MALFORMED,
                        "tensor " NAME_FMT " has too many elements for 63 bits", NAME_ARG(name));
    *out = zero ? 0 : (uint64_t)n;
    return ASSAY_OK;
}

static assay_status size_mismatch(const tensor_in *in, const ir_tensor *t, const char *unit,
                                  uint64_t expected, uint64_t found)
{
    return err_fail(in->r->err, ASSAY_ERR_MALFORMED,
                    "tensor " NAME_FMT " of type %s needs %llu %s but has %llu", NAME_ARG(t->name),
                    ir_dtype_get(t->dtype)->name, (unsigned long long)expected, unit,
                    (unsigned long long)found);
}

/* ---- storage ---- */

/* Takes n bytes into the arena, for short data. */
static assay_status make_inline(onnx_reader *r, ir_tensor *t)
{
    uint8_t *bytes = arena_alloc(r->m->arena, t->size_bytes ? (size_t)t->size_bytes : 1);
    TRY_MEMORY(bytes, r->err);
    if (t->size_bytes > 0 && t->encoding) {
        TRY(onnx_store_decode(r->store, t, bytes, r->err));
    } else if (t->size_bytes > 0) {
        cursor c = cursor_at(r->store->src, t->offset, t->size_bytes, r->err);
        cursor_copy(&c, bytes, t->size_bytes);
        TRY(wire_status(&c));
    }
    t->storage = IR_DATA_INLINE;
    t->bytes = bytes;
    t->encoding = 0;
    if (t->dtype != IR_STRING) /* whose borders only the records show */
        t->offset = t->length = 0;
    return ASSAY_OK;
}

static assay_status keep_data(onnx_reader *r, ir_tensor *t, uint8_t encoding, uint64_t at,
                              uint64_t len)
{
    t->storage = IR_DATA_SLICE;
    t->encoding = encoding;
    t->offset = at;
    t->length = len;
    return t->size_bytes <= ONNX_INLINE_BYTES ? make_inline(r, t) : ASSAY_OK;
}

static assay_status store_raw(const tensor_in *in, ir_tensor *t)
{
    if (t->dtype == IR_STRING)
        return err_fail(in->r->err, ASSAY_ERR_MALFORMED,
                        "tensor " NAME_FMT " stores strings as raw data, which ONNX does not allow",
                        NAME_ARG(t->name));
    if (in->raw_len != t->size_bytes)
        return size_mismatch(in, t, "bytes", t->size_bytes, in->raw_len);
    return keep_data(in->r, t, 0, in->raw_at, in->raw_len);
}

/* Scalars of the typed field that the elements take: complex numbers are pairs, sub-byte elements
 * share one. */
static uint64_t typed_scalars(const ir_tensor *t)
{
    unsigned bits = ir_dtype_get(t->dtype)->bits;
    if (t->dtype == IR_COMPLEX64 || t->dtype == IR_COMPLEX128)
        return t->n_elems * 2;
    return t->dtype != IR_STRING && bits < 8 ? t->size_bytes : t->n_elems;
}

static assay_status store_typed(const tensor_in *in, ir_tensor *t)
{
    uint64_t expected = typed_scalars(t);
    if (in->mixed || in->field != onnx_typed_field(t->dtype))
        return err_fail(in->r->err, ASSAY_ERR_MALFORMED,
                        "tensor " NAME_FMT " of type %s has data in a field for other types",
                        NAME_ARG(t->name), ir_dtype_get(t->dtype)->name);
    if (expected < in->n_min || expected > in->n_max)
        return size_mismatch(in, t, "numbers", expected, in->n_min);
    if (t->dtype == IR_STRING)
        t->size_bytes = in->string_bytes;
    return keep_data(in->r, t, in->field, in->from, in->to - in->from);
}

static bool parse_size(str s, uint64_t *out)
{
    uint64_t v = 0;
    for (uint32_t i = 0; i < s.n; i++) {
        if (s.p[i] < '0' || s.p[i] > '9' || !num_mulu(v, 10, &v) ||
            !num_addu(v, (uint64_t)(s.p[i] - '0'), &v))
            return false;
    }
    *out = v;
    return v <= INT64_MAX;
}

static const char *const missing_advice = "Put the external files next to the model if their data "
                                          "is needed. Static analysis does not need it.";

static void note_external(const tensor_in *in, const onnx_external *e, bool is_short)
{
    if (is_short)
        notes_add(&in->r->m->notes, "external-short", e->location, missing_advice,
                  "The external file " NAME_FMT " ends before the data that the model refers to.",
                  NAME_ARG(e->location));
    else
        notes_add(&in->r->m->notes, "external-missing", e->location, missing_advice,
                  e->path ? "The external weights file " NAME_FMT " is missing."
                          : "The external file " NAME_FMT
                            " is not available for a model passed as bytes.",
                  NAME_ARG(e->location));
}

static assay_status place_external(const tensor_in *in, ir_tensor *t)
{
    onnx_external *e;
    uint64_t end;
    TRY(onnx_store_find(in->r->store, t->name, in->location, &e, in->r->err));
    t->location = e->location;
    if (!num_addu(t->offset, t->length, &end))
        return err_fail(in->r->err, ASSAY_ERR_MALFORMED,
                        "the external data of tensor " NAME_FMT " has an offset out of range",
                        NAME_ARG(t->name));
    t->storage = e->exists && end <= e->size ? IR_DATA_EXTERNAL : IR_DATA_NONE;
    if (t->storage == IR_DATA_EXTERNAL)
        return ASSAY_OK;
    if (in->r->external_required)
        return err_fail(in->r->err, ASSAY_ERR_MALFORMED,
                        "tensor " NAME_FMT " needs the external file " NAME_FMT ", which %s",
                        NAME_ARG(t->name), NAME_ARG(e->location),
                        e->exists ? "is too short" : "is missing");
    note_external(in, e, e->exists);
    return ASSAY_OK;
}

static assay_status store_external(const tensor_in *in, ir_tensor *t)
{
    if (!in->has_location || t->dtype == IR_STRING)
        return err_fail(in->r->err, ASSAY_ERR_MALFORMED,
                        "tensor " NAME_FMT " has external data but %s", NAME_ARG(t->name),
                        in->has_location ? "its type is string" : "names no file");
    if (!parse_size(in->offset, &t->offset) || !parse_size(in->length, &t->length))
        return err_fail(in->r->err, ASSAY_ERR_MALFORMED,
                        "the external data of tensor " NAME_FMT
                        " has an offset or length that is not a number",
                        NAME_ARG(t->name));
    if (t->length == 0)
        t->length = t->size_bytes;
    if (t->length != t->size_bytes)
        return size_mismatch(in, t, "bytes", t->size_bytes, t->length);
    return place_external(in, t);
}

static assay_status store_nothing(const tensor_in *in, ir_tensor *t)
{
    t->size_bytes = t->dtype == IR_STRING ? 0 : t->size_bytes;
    if (t->n_elems == 0)
        return make_inline(in->r, t);
    if (in->r->n_absent++ == 0)
        in->r->first_absent = t->name;
    return ASSAY_OK;
}

static assay_status store_data(const tensor_in *in, ir_tensor *t)
{
    bool held = in->raw_len > 0 || in->field;
    if (in->raw_len > 0 && in->field)
        return err_fail(in->r->err, ASSAY_ERR_MALFORMED,
                        "tensor " NAME_FMT " has both raw and typed data", NAME_ARG(t->name));
    if (in->location_kind == 1 || (in->has_location && !held))
        return store_external(in, t);
    if (in->raw_len > 0)
        return store_raw(in, t);
    return in->field ? store_typed(in, t) : store_nothing(in, t);
}

/* ---- whole tensors ---- */

static assay_status make_tensor(const tensor_in *in, ir_tensor **out)
{
    arena *a = in->r->m->arena;
    ir_tensor *t = ARENA_NEW(a, ir_tensor);
    TRY(check_dtype(in));
    TRY_MEMORY(t, in->r->err);
    t->name = in->name;
    t->dtype = (ir_dtype)in->dtype;
    t->rank = (int)in->rank;
    TRY(count_elements(in->r, in->name, in->dims, in->rank, &t->n_elems));
    t->dims = arena_copy(a, in->dims, in->rank * sizeof *in->dims);
    t->size_bytes = ir_dtype_bytes(t->dtype, t->n_elems);
    t->n_stored = t->n_elems;
    *out = t;
    return store_data(in, t);
}

/* Whatever was wrong with it, the error names the tensor. */
static assay_status tensor_failed(const tensor_in *in, assay_status s)
{
    assay_error *err = in->r->err;
    if (err && !err->node[0])
        text_safe_into(err->node, sizeof err->node, in->name);
    return s;
}

assay_status onnx_read_tensor(onnx_reader *r, cursor *body, ir_tensor **out)
{
    tensor_in in;
    begin_tensor(&in, r);
    TRY(wire_walk(body, &tensor_message, &in));
    assay_status s = make_tensor(&in, out);
    return s == ASSAY_OK ? s : tensor_failed(&in, s);
}

typedef struct sparse_in {
    tensor_in shape; /* only its dimensions */
    ir_tensor *values, *indices;
} sparse_in;

static assay_status on_values(void *self, wire_field *f)
{
    sparse_in *s = self;
    return onnx_read_tensor(s->shape.r, &f->body, &s->values);
}

static assay_status on_indices(void *self, wire_field *f)
{
    sparse_in *s = self;
    return onnx_read_tensor(s->shape.r, &f->body, &s->indices);
}

static assay_status on_sparse_dims(void *self, wire_field *f)
{
    return on_dims(&((sparse_in *)self)->shape, f);
}

static const wire_row sparse_rows[] = {
    [1] = {WIRE_IS_LEN, on_values},
    [2] = {WIRE_IS_LEN, on_indices},
    [3] = {WIRE_ARE_VARINTS, on_sparse_dims},
};
static const wire_message sparse_message = WIRE_MESSAGE("SparseTensorProto", sparse_rows);

/* Indices are [stored] into the flattened tensor or [stored, rank]. */
static bool indices_fit(const sparse_in *s)
{
    const ir_tensor *v = s->values, *i = s->indices;
    if (!i)
        return v->n_elems == 0;
    if (i->dtype != IR_INT64 || i->rank < 1 || i->rank > 2 || (uint64_t)i->dims[0] != v->n_elems)
        return v->n_elems == 0 && i->n_elems == 0;
    return i->rank == 1 || i->dims[1] == (int64_t)s->shape.rank;
}

assay_status onnx_read_sparse(onnx_reader *r, cursor *body, ir_tensor **out)
{
    sparse_in s = {.values = NULL};
    uint64_t n = 0;
    begin_tensor(&s.shape, r);
    TRY(wire_walk(body, &sparse_message, &s));
    if (!s.values)
        return err_fail(r->err, ASSAY_ERR_MALFORMED, "a sparse tensor has no values");
    ir_tensor *t = s.values;
    TRY(count_elements(r, t->name, s.shape.dims, s.shape.rank, &n));
    if (t->rank != 1 || !indices_fit(&s) || t->n_elems > n)
        return err_fail(r->err, ASSAY_ERR_MALFORMED,
                        "the values and indices of sparse tensor " NAME_FMT
                        " do not match each other or its dimensions",
                        NAME_ARG(t->name));
    t->sparse = true;
    t->indices = s.indices;
    t->n_stored = t->n_elems;
    t->n_elems = n;
    t->rank = (int)s.shape.rank;
    t->dims = arena_copy(r->m->arena, s.shape.dims, s.shape.rank * sizeof *s.shape.dims);
    *out = t;
    return onnx_memory(r);
}
