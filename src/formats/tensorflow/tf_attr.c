/* Attributes of TensorFlow's nodes (AttrValue), element types and shapes.
 *
 *   AttrValue: 1 list (3 i, 7 shape), 2 s, 3 i, 4 f, 5 b, 6 type, 7 shape, 8 tensor, 10 func (1 name)
 *   TensorShapeProto: 2 dim (1 size), 3 unknown_rank */
#include "formats/tensorflow/tf_impl.h"

/* Graphs of earlier producers have an empty shape where the shape is unknown. */
enum { SCALARS = 24 };
enum { A_LIST = 1, A_S, A_I, A_F, A_B, A_TYPE, A_SHAPE, A_TENSOR, A_FUNC = 10 };

cursor tf_node_attr(tf_reader *r, const tf_node *n, const char *key)
{
    for (uint32_t i = 0; i < n->n_attrs; i++)
        if (str_is(n->attrs[i].key, key))
            return cursor_at(r->f.src, n->attrs[i].at, n->attrs[i].end - n->attrs[i].at, r->f.err);
    return (cursor){.src = NULL, .err = r->f.err};
}

cursor tf_attr_of(const tf_op *o, const char *key)
{
    return tf_node_attr(o->r, o->n, key);
}

bool tf_bool(const tf_op *o, const char *key, bool def)
{
    return wire_find_u64(tf_attr_of(o, key), A_B, def) != 0;
}

int64_t tf_int(const tf_op *o, const char *key, int64_t def)
{
    return (int64_t)wire_find_u64(tf_attr_of(o, key), A_I, (uint64_t)def);
}

double tf_float(const tf_op *o, const char *key, double def)
{
    return wire_find_f32(tf_attr_of(o, key), A_F, def);
}

static str text_of(tf_reader *r, cursor c)
{
    return c.src && cursor_left(&c)
               ? cursor_str(&c, cursor_left(&c), r->f.scratch, FOREIGN_MAX_NAME)
               : (str){0};
}

str tf_text(const tf_op *o, const char *key)
{
    return text_of(o->r, wire_sub(tf_attr_of(o, key), A_S));
}

bool tf_is(const tf_op *o, const char *key, const char *value)
{
    return str_is(tf_text(o, key), value);
}

str tf_function_name(tf_reader *r, const tf_node *n, const char *key)
{
    return text_of(r, wire_sub(wire_sub(tf_node_attr(r, n, key), A_FUNC), 1));
}

int tf_int_list(const tf_op *o, const char *key, int64_t *list)
{
    cursor c = wire_sub(tf_attr_of(o, key), A_LIST);
    wire_field f;
    uint64_t v;
    int n = 0;
    if (!c.src || !wire_has(tf_attr_of(o, key), A_LIST))
        return -1;
    while (wire_next(&c, &f)) {
        if (f.number != A_I || (f.type != WIRE_LEN && f.type != WIRE_VARINT))
            continue;
        while (n < TF_LIST && wire_scalar(&f, WIRE_VARINT, &v))
            list[n++] = (int64_t)v;
    }
    return n;
}

ir_dtype tf_dtype_of(uint64_t number)
{
    static const uint8_t rows[] = {
        [1] = IR_FLOAT32, [2] = IR_FLOAT64,     [3] = IR_INT32,         [4] = IR_UINT8,
        [5] = IR_INT16,   [6] = IR_INT8,        [7] = IR_STRING,        [8] = IR_COMPLEX64,
        [9] = IR_INT64,   [10] = IR_BOOL,       [11] = IR_INT8,         [12] = IR_UINT8,
        [13] = IR_INT32,  [14] = IR_BFLOAT16,   [15] = IR_INT16,        [16] = IR_UINT16,
        [17] = IR_UINT16, [18] = IR_COMPLEX128, [19] = IR_FLOAT16,      [22] = IR_UINT32,
        [23] = IR_UINT64, [24] = IR_FLOAT8E5M2, [25] = IR_FLOAT8E4M3FN, [29] = IR_INT4,
        [30] = IR_UINT4};
    number = number > 100 ? number - 100 : number; /* references of TensorFlow 1 */
    return number < sizeof rows ? (ir_dtype)rows[number] : IR_UNDEFINED;
}

ir_dtype tf_dtype(const tf_op *o, const char *key)
{
    return tf_dtype_of(wire_find_u64(tf_attr_of(o, key), A_TYPE, 0));
}

/* ---- shapes ---- */

bool tf_shape_of(cursor shape, int *rank, int64_t *dims)
{
    wire_field f;
    int n = 0;
    if (!shape.src || wire_find_u64(shape, 3, 0))
        return false;
    while (wire_next(&shape, &f)) {
        if (f.number != 2 || f.type != WIRE_LEN)
            continue;
        if (n == IR_MAX_RANK)
            return false;
        int64_t size = (int64_t)wire_find_u64(f.body, 1, 0);
        dims[n++] = size < 0 ? -1 : size;
    }
    *rank = n;
    return !shape.failed;
}

static bool attr_shape(tf_reader *r, const tf_node *n, const char *key, int *rank, int64_t *dims)
{
    cursor value = tf_node_attr(r, n, key);
    return value.src && wire_has(value, A_SHAPE) &&
           tf_shape_of(wire_sub(value, A_SHAPE), rank, dims);
}

/* Shape `out` of a list of them. */
static bool listed_shape(tf_reader *r, const tf_node *n, uint32_t out, int *rank, int64_t *dims)
{
    cursor list = wire_sub(tf_node_attr(r, n, "_output_shapes"), A_LIST);
    wire_field f;
    uint32_t k = 0;
    while (list.src && wire_next(&list, &f))
        if (f.number == A_SHAPE && f.type == WIRE_LEN && k++ == out)
            return tf_shape_of(f.body, rank, dims);
    return false;
}

bool tf_static_shape(tf_reader *r, tf_ref ref, int *rank, int64_t *dims)
{
    ref = tf_resolve(r, ref);
    if (!ref.s)
        return false;
    const tf_node *n = &ref.s->g->nodes.items[ref.node];
    ir_dtype t;
    tf_tensor c;
    if (n->row && n->row->pass == TF_CONSTANT &&
        tf_tensor_read(wire_sub(tf_node_attr(r, n, "value"), A_TENSOR), &c)) {
        *rank = c.rank;
        for (int d = 0; d < c.rank; d++)
            dims[d] = c.dims[d];
        return true;
    }
    if (n->row && n->row->pass == TF_VARIABLE)
        return tf_variable_shape(r, n, &t, rank, dims);
    if (n->row && n->row->map == tf_read_variable && n->n_in > 0) {
        tf_ref v = tf_resolve(r, tf_input(ref.s, ref.node, 0));
        return v.s && tf_variable_shape(r, &v.s->g->nodes.items[v.node], &t, rank, dims);
    }
    if (n->row && n->row->map == tf_placeholder && attr_shape(r, n, "shape", rank, dims) &&
        (*rank || r->version >= SCALARS))
        return true;
    return listed_shape(r, n, ref.out, rank, dims);
}

int tf_rank(const tf_op *o, uint32_t in)
{
    int rank;
    int64_t dims[IR_MAX_RANK];
    return in < o->n->n_in && tf_static_shape(o->r, tf_in_ref(o, in), &rank, dims) ? rank : -1;
}
