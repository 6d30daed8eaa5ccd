/* Constants of TensorFlow (TensorProto).
 *
 *   1 dtype, 2 tensor_shape, 4 tensor_content (raw bytes); or a list of one type: 5 float, 6 double, 7 int (also of the
 *   smaller types), 8 string, 10 int64, 11 bool, 13 half (bits), 16 uint32, 17 uint64
 *
 * The last item of such a list is repeated to the end: a constant of a million equal numbers has one. Content stays in the
 * file; only lists of small or repeated numbers are decoded. */
#include <string.h>

#include "base/num.h"
#include "formats/tensorflow/tf_impl.h"

enum { T_DTYPE = 1, T_SHAPE, T_CONTENT = 4, T_FLOAT, T_DOUBLE, T_INT };
enum { T_INT64 = 10, T_BOOL, T_HALF = 13, T_UINT32 = 16, T_UINT64 };
enum { A_TENSOR = 8 };

bool tf_tensor_read(cursor proto, tf_tensor *t)
{
    wire_field f;
    *t = (tf_tensor){.proto = proto, .elements = 1};
    t->dtype = tf_dtype_of(wire_find_u64(proto, T_DTYPE, 0));
    if (wire_has(proto, T_SHAPE) && !tf_shape_of(wire_sub(proto, T_SHAPE), &t->rank, t->dims))
        return false;
    for (int d = 0; d < t->rank; d++) {
        if (t->dims[d] < 0)
            return false;
        t->elements = sat_mul(t->elements, (uint64_t)t->dims[d]);
    }
    if (wire_find(proto, T_CONTENT, &f) && f.type == WIRE_LEN) {
        t->content = f.body.pos;
        t->n_content = cursor_left(&f.body);
    }
    return t->dtype != IR_UNDEFINED;
}

/* The field that lists elements of a type, and how one is written. */
static uint32_t list_field(ir_dtype t, wire_type *scalar)
{
    *scalar = t == IR_FLOAT32 ? WIRE_FIXED32 : t == IR_FLOAT64 ? WIRE_FIXED64 : WIRE_VARINT;
    switch (t) {
    case IR_FLOAT32:
        return T_FLOAT;
    case IR_FLOAT64:
        return T_DOUBLE;
    case IR_INT64:
        return T_INT64;
    case IR_BOOL:
        return T_BOOL;
    case IR_FLOAT16:
    case IR_BFLOAT16:
        return T_HALF;
    case IR_UINT32:
        return T_UINT32;
    case IR_UINT64:
        return T_UINT64;
    default:
        return T_INT;
    }
}

/* At most `room` elements of the list as raw bytes; how many there are. */
static uint64_t decode_list(const tf_tensor *t, uint8_t *out, uint64_t room)
{
    wire_type scalar;
    uint32_t field = list_field(t->dtype, &scalar);
    unsigned size = ir_dtype_get(t->dtype)->bits / 8u;
    uint64_t n = 0, v;
    wire_field f;
    cursor c = t->proto;
    while (n < room && wire_next(&c, &f)) {
        if (f.number != field)
            continue;
        while (n < room && wire_scalar(&f, scalar, &v)) {
            memcpy(out + n * size, &v, size);
            n++;
        }
    }
    return n;
}

/* ---- constants with content ---- */

static ir_tensor *made_tensor(tf_reader *r, const tf_tensor *t)
{
    static const int64_t none[1];
    return ir_make_tensor_borrowed(r->f.m, STR(""), t->dtype, t->rank, t->rank ? t->dims : none);
}

/* The whole list, its last number repeated. */
static bool set_list(tf_reader *r, const tf_tensor *t, ir_tensor *as)
{
    unsigned size = ir_dtype_get(t->dtype)->bits / 8u;
    uint8_t *bytes = arena_alloc(r->f.m->arena, (size_t)as->size_bytes + 1);
    if (!bytes)
        return false;
    uint64_t n = decode_list(t, bytes, t->elements);
    for (; n > 0 && n < t->elements; n++)
        memcpy(bytes + n * size, bytes + (n - 1) * size, size);
    as->storage = IR_DATA_INLINE;
    as->bytes = bytes;
    return true;
}

/* Packed numbers of full width are as good as raw bytes; false: there is no such list of all elements. */
static bool set_slice(const tf_tensor *t, ir_tensor *as)
{
    wire_type scalar;
    uint32_t field = list_field(t->dtype, &scalar);
    wire_field f;
    uint64_t at = t->content, n = t->n_content;
    if (!n && scalar != WIRE_VARINT && wire_find(t->proto, field, &f) && f.type == WIRE_LEN) {
        at = f.body.pos;
        n = cursor_left(&f.body);
    }
    if (n == 0 || n != as->size_bytes)
        return false;
    as->storage = IR_DATA_SLICE;
    as->offset = at;
    as->length = n;
    return true;
}

static bool set_copy(tf_reader *r, ir_tensor *as)
{
    uint8_t *bytes = arena_alloc(r->f.m->arena, (size_t)as->size_bytes + 1);
    if (!bytes || source_read(r->f.src, as->offset, bytes, as->size_bytes, r->f.err) != ASSAY_OK)
        return false;
    as->storage = IR_DATA_INLINE;
    as->bytes = bytes;
    return true;
}

/* Small constants are copied, because the graph is computed with them. */
static bool set_content(tf_reader *r, const tf_tensor *t, ir_tensor *as)
{
    unsigned bits = ir_dtype_get(t->dtype)->bits;
    uint8_t two[2 * 8] = {0};
    if (t->dtype == IR_STRING || bits < 8 || bits > 64 || as->size_bytes == 0)
        return true;
    if (set_slice(t, as))
        return as->size_bytes > FOREIGN_INLINE || set_copy(r, as);
    if (t->n_content)
        return true; /* of another size than the shape: no content */
    uint64_t n = decode_list(t, two, 2);
    return n < 2 ? foreign_splat(&r->f, as, two) : set_list(r, t, as);
}

static ir_id refuse_constant(tf_reader *r, const tf_node *n)
{
    if (r->f.err->code == ASSAY_OK)
        err_fail(r->f.err, ASSAY_ERR_MALFORMED,
                 "constant '" STR_FMT "' has an invalid type, shape or content", STR_ARG(n->name));
    return IR_NONE;
}

ir_id tf_constant(tf_reader *r, tf_scope *s, tf_node *n)
{
    tf_tensor t;
    if (n->constant != IR_NONE)
        return n->constant;
    if (!tf_tensor_read(wire_sub(tf_node_attr(r, n, "value"), A_TENSOR), &t))
        return refuse_constant(r, n);
    ir_tensor *as = made_tensor(r, &t);
    str name = tf_name(r, s, n->name, 0);
    str own = as && name.p ? ir_kit_name(&r->f.kit, name) : (str){0};
    if (!own.p || !set_content(r, &t, as))
        return arena_failed(r->f.m->arena) ? IR_NONE : refuse_constant(r, n);
    as->name = own;
    if (!n->counted)
        foreign_count(&r->f, t.elements, ir_dtype_bytes(t.dtype, t.elements));
    n->counted = true;
    n->constant = ir_kit_const_of(r->f.m, 0, own, as, r->has_variables ? IR_VALUE_NOT_PARAM : 0);
    return n->constant;
}

/* ---- as numbers and texts ---- */

static int64_t int_at(const tf_tensor *t, const uint8_t *p)
{
    unsigned size = ir_dtype_get(t->dtype)->bits / 8u;
    uint64_t v = 0;
    for (unsigned i = 0; i < size; i++)
        v |= (uint64_t)p[i] << 8 * i;
    if (ir_dtype_get(t->dtype)->cls == IR_CLASS_INT && size < 8 && v >> (8 * size - 1))
        v |= ~(uint64_t)0 << 8 * size;
    return (int64_t)v;
}

bool tf_tensor_ints(tf_reader *r, cursor proto, tf_ints *out)
{
    tf_tensor t;
    uint8_t bytes[TF_LIST * 8];
    if (!tf_tensor_read(proto, &t) || t.elements > TF_LIST ||
        (!ir_is_integer(t.dtype) && t.dtype != IR_BOOL) || ir_dtype_get(t.dtype)->bits < 8)
        return false;
    unsigned size = ir_dtype_get(t.dtype)->bits / 8u;
    uint64_t n = t.n_content / size;
    if (t.n_content && (t.n_content != t.elements * size ||
                        source_read(r->f.src, t.content, bytes, t.n_content, r->f.err) != ASSAY_OK))
        return false;
    if (!t.n_content)
        n = decode_list(&t, bytes, t.elements);
    *out = (tf_ints){.n = (int)t.elements, .scalar = t.rank == 0};
    for (uint64_t i = 0; i < t.elements; i++)
        out->v[i] = n == 0 ? 0 : int_at(&t, bytes + size * (i < n ? i : n - 1));
    return true;
}
