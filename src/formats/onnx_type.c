/* TypeProto: tensors, sparse tensors, sequences, optionals, maps and opaque types.
 *
 * A dimension is a number, a name or nothing. Exporters write -1 for "unknown", so a negative
 * number is read as nothing; 0 stays 0.
 */
#include "formats/onnx_impl.h"

typedef struct type_in {
    onnx_reader *r;
    unsigned depth;
    ir_type *out;
    uint32_t n_dims;
    ir_dim dims[IR_MAX_RANK];
} type_in;

static assay_status read_type(onnx_reader *r, cursor *body, unsigned depth, ir_type *out);

/* ---- shapes ---- */

static assay_status on_dim_value(void *self, wire_field *f)
{
    ir_dim *d = &((type_in *)self)->dims[((type_in *)self)->n_dims];
    int64_t v = (int64_t)f->value;
    *d = (ir_dim){.value = v < 0 ? -1 : v};
    return ASSAY_OK;
}

static assay_status on_dim_param(void *self, wire_field *f)
{
    type_in *t = self;
    t->dims[t->n_dims] = (ir_dim){.value = -1, .symbol = onnx_atom(t->r, f)};
    return ASSAY_OK;
}

static const wire_row dim_rows[] = {
    [1] = {WIRE_IS_VARINT, on_dim_value},
    [2] = {WIRE_IS_LEN, on_dim_param},
};
static const wire_message dim_message = WIRE_MESSAGE("TensorShapeProto.Dimension", dim_rows);

static assay_status on_dim(void *self, wire_field *f)
{
    type_in *t = self;
    if (t->n_dims == IR_MAX_RANK)
        return err_fail_at(t->r->err, ASSAY_ERR_UNSUPPORTED, f->start,
                           "a declared shape has more than %d dimensions", IR_MAX_RANK);
    t->dims[t->n_dims] = (ir_dim){.value = -1};
    TRY(wire_walk(&f->body, &dim_message, t));
    t->n_dims++;
    return ASSAY_OK;
}

static const wire_row shape_rows[] = {[1] = {WIRE_IS_LEN, on_dim}};
static const wire_message shape_message = WIRE_MESSAGE("TensorShapeProto", shape_rows);

static assay_status on_shape(void *self, wire_field *f)
{
    type_in *t = self;
    t->n_dims = 0;
    TRY(wire_walk(&f->body, &shape_message, t));
    t->out->rank = (int)t->n_dims;
    t->out->dims = NULL;
    if (t->n_dims > 0) {
        t->out->dims = arena_copy(t->r->m->arena, t->dims, t->n_dims * sizeof *t->dims);
        TRY_MEMORY(t->out->dims, t->r->err);
    }
    return ASSAY_OK;
}

/* ---- kinds ---- */

static assay_status on_elem_type(void *self, wire_field *f)
{
    type_in *t = self;
    int64_t v = (int64_t)f->value;
    if (v != IR_UNDEFINED && !ir_dtype_valid(v))
        return err_fail_at(t->r->err, ASSAY_ERR_UNSUPPORTED, f->start,
                           "a declared type has the unknown element type %lld", (long long)v);
    t->out->dtype = (ir_dtype)v;
    return ASSAY_OK;
}

static assay_status on_elem(void *self, wire_field *f)
{
    type_in *t = self;
    ir_type *elem = ARENA_NEW(t->r->m->arena, ir_type);
    TRY_MEMORY(elem, t->r->err);
    t->out->elem = elem;
    return read_type(t->r, &f->body, t->depth + 1, elem);
}

static const wire_row tensor_type_rows[] = {
    [1] = {WIRE_IS_VARINT, on_elem_type},
    [2] = {WIRE_IS_LEN, on_shape},
};
static const wire_row elem_rows[] = {[1] = {WIRE_IS_LEN, on_elem}};
static const wire_row map_rows[] = {
    [1] = {WIRE_IS_VARINT, on_elem_type},
    [2] = {WIRE_IS_LEN, on_elem},
};
static const wire_message tensor_type_message = WIRE_MESSAGE("TypeProto.Tensor", tensor_type_rows);
static const wire_message sequence_message = WIRE_MESSAGE("TypeProto.Sequence", elem_rows);
static const wire_message optional_message = WIRE_MESSAGE("TypeProto.Optional", elem_rows);
static const wire_message map_message = WIRE_MESSAGE("TypeProto.Map", map_rows);

static assay_status on_kind(void *self, wire_field *f)
{
    static const struct {
        ir_kind kind;
        const wire_message *message;
    } kinds[] = {[1] = {IR_KIND_TENSOR, &tensor_type_message},
                 [4] = {IR_KIND_SEQUENCE, &sequence_message},
                 [5] = {IR_KIND_MAP, &map_message},
                 [7] = {IR_KIND_OPAQUE, NULL},
                 [8] = {IR_KIND_SPARSE, &tensor_type_message},
                 [9] = {IR_KIND_OPTIONAL, &optional_message}};
    type_in *t = self;
    const wire_message *message = kinds[f->number].message;
    *t->out = (ir_type){.kind = kinds[f->number].kind, .rank = -1};
    return message ? wire_walk(&f->body, message, t) : ASSAY_OK;
}

static const wire_row type_rows[] = {
    [1] = {WIRE_IS_LEN, on_kind}, [4] = {WIRE_IS_LEN, on_kind}, [5] = {WIRE_IS_LEN, on_kind},
    [7] = {WIRE_IS_LEN, on_kind}, [8] = {WIRE_IS_LEN, on_kind}, [9] = {WIRE_IS_LEN, on_kind},
};
static const wire_message type_message = WIRE_MESSAGE("TypeProto", type_rows);

static assay_status read_type(onnx_reader *r, cursor *body, unsigned depth, ir_type *out)
{
    type_in t; /* dims are written before they are read: 1.5 KB need no clearing per type */
    t.r = r;
    t.depth = depth;
    t.out = out;
    t.n_dims = 0;
    if (depth > ONNX_MAX_TYPE_DEPTH)
        return err_fail_at(r->err, ASSAY_ERR_UNSUPPORTED, body->pos,
                           "a declared type is nested deeper than %d levels", ONNX_MAX_TYPE_DEPTH);
    *out = (ir_type){.kind = IR_KIND_NONE, .rank = -1};
    return wire_walk(body, &type_message, &t);
}

assay_status onnx_read_type(onnx_reader *r, cursor *body, ir_type *out)
{
    return read_type(r, body, 0, out);
}
