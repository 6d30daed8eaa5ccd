/* Tensors of a TFLite model: shapes, types, quantisation and where the data lies; and the values they become. */

#include "base/num.h"
#include "formats/tflite/tflite_impl.h"

enum {
    T_SHAPE,
    T_TYPE,
    T_BUFFER,
    T_NAME,
    T_QUANT,
    T_VARIABLE,
    T_SPARSITY,
    T_SIGNATURE,
    T_HAS_RANK
};
enum { B_DATA, B_OFFSET, B_SIZE };
enum { Q_SCALE = 2, Q_ZERO = 3, Q_AXIS = 6 };

/* RESOURCE and VARIANT have no elements. */
static ir_dtype dtype_of(uint64_t number)
{
    static const uint8_t types[] = {
        IR_FLOAT32,   IR_FLOAT16,   IR_INT32,  IR_UINT8,   IR_INT64,      IR_STRING, IR_BOOL,
        IR_INT16,     IR_COMPLEX64, IR_INT8,   IR_FLOAT64, IR_COMPLEX128, IR_UINT64, IR_UNDEFINED,
        IR_UNDEFINED, IR_UINT32,    IR_UINT16, IR_INT4,    IR_BFLOAT16,   IR_INT2,   IR_UINT4};
    return number < sizeof types ? (ir_dtype)types[number] : IR_UNDEFINED;
}

/* ---- reading ---- */

static const int64_t *read_dims(tfl_reader *r, flat_vector v)
{
    int64_t *dims = ARENA_ARRAY(r->f.scratch, int64_t, (size_t)v.n + 1);
    for (uint32_t d = 0; dims && d < v.n; d++) {
        int64_t size = flat_i32_at(r->flat, v, d);
        dims[d] = size < 0 ? -1 : size;
    }
    return dims;
}

static void read_shape(tfl_reader *r, flat_table t, tfl_tensor *x)
{
    flat_vector shape = flat_list(r->flat, t, T_SHAPE, 4);
    flat_vector open = flat_list(r->flat, t, T_SIGNATURE, 4);
    if (shape.n > IR_MAX_RANK) {
        flat_fail(r->flat, shape.at, "a shape has too many axes");
        return;
    }
    x->rank = (int)shape.n;
    x->dims = x->open = read_dims(r, shape);
    if (open.n == shape.n && open.n)
        x->open = read_dims(r, open);
    /* Files of the first years do not say whether an empty shape is that of a scalar. */
    if (shape.n == 0 && !flat_u8(r->flat, t, T_HAS_RANK, 0))
        x->rank = -1;
}

static void read_data(tfl_reader *r, flat_table t, tfl_tensor *x)
{
    uint64_t at = flat_u32(r->flat, t, T_BUFFER, 0);
    if (at == 0 && r->buffers.n == 0)
        return;
    if (at >= r->buffers.n) {
        flat_fail(r->flat, t.at, "a tensor names a buffer that does not exist");
        return;
    }
    flat_table buffer = flat_table_at(r->flat, r->buffers, (uint32_t)at);
    flat_vector data = flat_list(r->flat, buffer, B_DATA, 1);
    x->offset = data.at;
    x->length = data.n;
    uint64_t offset = flat_u64(r->flat, buffer, B_OFFSET, 0);
    if (offset <= 1)
        return;
    x->offset = offset;
    x->length = flat_u64(r->flat, buffer, B_SIZE, 0);
    uint64_t size = source_size(r->f.src);
    if (offset > size || x->length > size - offset)
        flat_fail(r->flat, buffer.at, "a buffer lies outside the file");
}

static const ir_tensor *quant_slice(tfl_reader *r, ir_dtype t, flat_vector v)
{
    int64_t n = v.n;
    ir_tensor *x = v.n ? ir_make_tensor_borrowed(r->f.m, STR(""), t, 1, &n) : NULL;
    if (!x)
        return NULL;
    x->storage = IR_DATA_SLICE;
    x->offset = v.at;
    x->length = x->size_bytes;
    return x;
}

/* The numbers stay where they are: they are slices of the file as the weights are. */
static void read_quant(tfl_reader *r, flat_table t, tfl_tensor *x)
{
    flat_table q = flat_sub(r->flat, t, T_QUANT);
    flat_vector scale = flat_list(r->flat, q, Q_SCALE, 4), zero = flat_list(r->flat, q, Q_ZERO, 8);
    ir_quant *to = scale.n ? ARENA_NEW(r->f.m->arena, ir_quant) : NULL;
    if (!to)
        return;
    to->scale = quant_slice(r, IR_FLOAT32, scale);
    to->zero = zero.n == scale.n ? quant_slice(r, IR_INT64, zero) : NULL;
    to->axis = (int)flat_i32(r->flat, q, Q_AXIS, 0);
    x->quant = to->scale ? to : NULL;
}

static void read_tensor(tfl_reader *r, flat_table t, tfl_tensor *x)
{
    x->name = flat_text(r->flat, t, T_NAME, r->f.m->arena, FOREIGN_MAX_NAME);
    x->dtype = dtype_of(flat_u8(r->flat, t, T_TYPE, 0));
    x->variable = flat_u8(r->flat, t, T_VARIABLE, 0) != 0;
    x->sparse = flat_sub(r->flat, t, T_SPARSITY).at != 0;
    read_shape(r, t, x);
    read_data(r, t, x);
    if (x->dtype != IR_FLOAT32 && x->dtype != IR_FLOAT16)
        read_quant(r, t, x);
}

void tfl_count_constant(tfl_reader *r, tfl_tensor *t)
{
    uint64_t n = 1;
    for (int d = 0; d < t->rank; d++)
        n = sat_mul(n, t->dims[d] < 0 ? 0 : (uint64_t)t->dims[d]);
    if (t->length && !t->counted)
        foreign_count(&r->f, n, t->length);
    t->counted = true;
}

assay_status tfl_read_tensors(tfl_reader *r, tfl_subgraph *s)
{
    flat_vector list = flat_list(r->flat, s->table, 0, 4);
    if (s->tensors)
        return ASSAY_OK;
    if (list.n > TFL_MAX_TENSORS)
        flat_fail(r->flat, list.at, "too many tensors");
    s->tensors = ARENA_ARRAY(r->f.scratch, tfl_tensor, (size_t)list.n + 1);
    TRY_MEMORY(s->tensors, r->f.err);
    s->n_tensors = list.n;
    for (uint32_t i = 0; i < list.n && !r->flat->failed; i++)
        read_tensor(r, flat_table_at(r->flat, list, i), &s->tensors[i]);
    return flat_status(r->flat);
}

/* ---- values ---- */

ir_id tfl_define(tfl_reader *r, tfl_scope *s, int64_t i, bool by_shape)
{
    if (i < 0 || i >= s->sub->n_tensors)
        return IR_NONE;
    const tfl_tensor *t = &s->sub->tensors[i];
    ir_id id = foreign_value(&r->f, t->name, t->dtype, t->rank, by_shape ? t->dims : t->open);
    if (id != IR_NONE)
        ir_value_at(r->f.m, id)->quant = t->quant;
    s->values[i] = id;
    return id;
}

static void note_no_data(tfl_reader *r, const tfl_tensor *t)
{
    if (!t->variable)
        notes_add(&r->f.m->notes, "no-data", t->name, NULL,
                  "This tensor is read, but no operator writes it and it has no data.");
}

/* Data of another size than the shape asks for: kept without its content, and noted. */
static void check_size(tfl_reader *r, const tfl_tensor *t, ir_tensor *x)
{
    if (t->dtype == IR_STRING)
        x->size_bytes = t->length;
    if (t->sparse) {
        unsigned bits = ir_dtype_get(t->dtype)->bits;
        x->sparse = true;
        x->n_stored = bits ? t->length * 8 / bits : 0;
        x->stored = str_of(ir_dtype_get(t->dtype)->name);
        x->stored_bytes = t->length;
    } else if (t->length != x->size_bytes) {
        notes_add(&r->f.m->notes, "constant-size", t->name, NULL,
                  "Its shape takes %llu bytes, but the file has %llu. The data is not used.",
                  (unsigned long long)x->size_bytes, (unsigned long long)t->length);
        x->storage = IR_DATA_NONE;
    }
}

/* A constant; state of a variable and values that nothing makes have no data. */
static ir_id make_constant(tfl_reader *r, const tfl_tensor *t)
{
    static const int64_t none[1];
    int rank = t->rank < 0 ? 0 : t->rank;
    bool data = t->length > 0;
    for (int d = 0; d < rank; d++)
        if (t->dims[d] < 0)
            flat_fail(r->flat, t->offset, "a tensor without data has an unknown size");
    if (r->flat->failed)
        return IR_NONE;
    ir_dtype dtype = t->dtype == IR_UNDEFINED ? IR_INT32 : t->dtype;
    ir_tensor *x = ir_make_tensor_borrowed(r->f.m, t->name, dtype, rank, rank ? t->dims : none);
    if (!x) {
        flat_fail(r->flat, t->offset, "a tensor is too large");
        return IR_NONE;
    }
    ir_tensor *own;
    ir_id id = foreign_slice_own(&r->f, t->name, x, t->offset, t->length, &own);
    if (id == IR_NONE)
        return id;
    ir_value *v = ir_value_at(r->f.m, id);
    v->quant = t->quant;
    if (data)
        check_size(r, t, own);
    else if (own->n_elems)
        note_no_data(r, t);
    if (!data) {
        own->storage = IR_DATA_NONE;
        v->flags |= IR_VALUE_NOT_PARAM;
    }
    return id;
}

ir_id tfl_use(tfl_reader *r, tfl_scope *s, int64_t i)
{
    if (i < 0 || i >= s->sub->n_tensors)
        return IR_NONE;
    if (s->values[i] == IR_NONE)
        s->values[i] = make_constant(r, &s->sub->tensors[i]);
    return s->values[i];
}

/* ---- what operators ask ---- */

const tfl_tensor *tfl_tensor_of(const tfl_op *o, bool output, uint32_t slot)
{
    const int64_t *at = output ? o->out_at : o->in_at;
    uint32_t n = output ? o->n_out : o->n_in;
    return slot < n && at[slot] >= 0 ? &o->scope->sub->tensors[at[slot]] : NULL;
}

int tfl_rank(const tfl_op *o, uint32_t slot)
{
    const tfl_tensor *t = tfl_tensor_of(o, false, slot);
    return t ? t->rank : -1;
}

ir_dtype tfl_dtype(const tfl_op *o, bool output, uint32_t slot)
{
    const tfl_tensor *t = tfl_tensor_of(o, output, slot);
    return t ? t->dtype : IR_UNDEFINED;
}

static unsigned int_bytes(ir_dtype t)
{
    return ir_is_integer(t) ? ir_dtype_get(t)->bits / 8u : 0;
}

static int64_t int_at(tfl_reader *r, const tfl_tensor *t, uint64_t i)
{
    unsigned n = int_bytes(t->dtype), shift = 64 - 8 * n;
    uint64_t v = flat_bytes(r->flat, t->offset + i * n, n) << shift;
    bool is_signed = ir_dtype_get(t->dtype)->cls == IR_CLASS_INT;
    return is_signed ? (int64_t)v >> shift : (int64_t)(v >> shift);
}

int tfl_ints(const tfl_op *o, uint32_t slot, int64_t *list, int max)
{
    const tfl_tensor *t = tfl_tensor_of(o, false, slot);
    unsigned bytes = t ? int_bytes(t->dtype) : 0;
    if (!t || !bytes)
        return -1;
    uint64_t n = t->length / bytes;
    bool empty = t->rank == 1 && t->dims[0] == 0;
    if ((n == 0 && !empty) || n > (uint64_t)max)
        return -1;
    for (uint64_t i = 0; i < n; i++)
        list[i] = int_at(o->r, t, i);
    return o->r->flat->failed ? -1 : (int)n;
}

bool tfl_first_int(tfl_reader *r, const tfl_tensor *t, int64_t *v)
{
    unsigned bytes = int_bytes(t->dtype);
    if (!bytes || t->length < bytes)
        return false;
    *v = int_at(r, t, 0);
    return !r->flat->failed;
}

/* The zero points, which the file has as int64, at the type of the tensor. */
static ir_id zero_points(tfl_op *o, const tfl_tensor *t)
{
    const ir_quant *q = t->quant;
    uint64_t n = q->scale->n_elems;
    unsigned bytes = int_bytes(t->dtype);
    uint8_t *p = bytes ? ARENA_ARRAY(o->f->m->arena, uint8_t, (size_t)(n * bytes)) : NULL;
    int64_t dim = (int64_t)n;
    if (!p)
        return IR_NONE;
    for (uint64_t i = 0; q->zero && i < n; i++)
        for (unsigned b = 0; b < bytes; b++)
            p[i * bytes + b] = (uint8_t)flat_bytes(o->r->flat, q->zero->offset + 8 * i + b, 1);
    ir_tensor *x = ir_make_tensor_borrowed(o->f->m, STR(""), t->dtype, n > 1, &dim);
    if (!x)
        return IR_NONE;
    x->storage = IR_DATA_INLINE;
    x->bytes = p;
    str name = ir_kit_name(&o->f->kit, ir_kit_numbered(&o->f->kit, t->name, "/zero_point", 0));
    x->name = name;
    return ir_kit_const_of(o->f->m, o->f->graph, name, x, IR_VALUE_NOT_PARAM);
}

bool tfl_quant_inputs(tfl_op *o, const tfl_tensor *t, ir_id *scale, ir_id *zero)
{
    if (!t || !t->quant || !int_bytes(t->dtype))
        return false;
    ir_tensor *x = arena_copy(o->f->m->arena, t->quant->scale, sizeof *x);
    if (!x)
        return false;
    if (x->n_elems == 1)
        x->rank = 0;
    str name = ir_kit_name(&o->f->kit, ir_kit_numbered(&o->f->kit, t->name, "/scale", 0));
    x->name = name;
    *scale = ir_kit_const_of(o->f->m, o->f->graph, name, x, IR_VALUE_NOT_PARAM);
    *zero = zero_points(o, t);
    return *scale != IR_NONE && *zero != IR_NONE;
}
