/* AttributeProto, all fourteen kinds.
 *
 * `type` says which field counts; files older than IR version 2 leave it out, then the field that
 * is there says. Protobuf does not write zeros, so an absent scalar is 0 and an absent list is
 * empty. Graphs are only noted here and read when their outer scope is complete.
 */
#include "formats/onnx_impl.h"

typedef struct attr_in {
    onnx_scope *scope;
    onnx_reader *r;
    uint32_t node_index;
    str name, ref, s;
    int64_t type;
    ir_attr_kind seen; /* kind of the last value field met */
    double f;
    int64_t i;
    onnx_lists *l;
} attr_in;

/* ---- fields ---- */

enum { SPARSE = 22 };
static const ir_attr_kind kinds[] = {
    [2] = IR_ATTR_FLOAT,       [3] = IR_ATTR_INT,     [4] = IR_ATTR_STRING, [5] = IR_ATTR_TENSOR,
    [6] = IR_ATTR_GRAPH,       [7] = IR_ATTR_FLOATS,  [8] = IR_ATTR_INTS,   [9] = IR_ATTR_STRINGS,
    [10] = IR_ATTR_TENSORS,    [11] = IR_ATTR_GRAPHS, [14] = IR_ATTR_TYPE,  [15] = IR_ATTR_TYPES,
    [SPARSE] = IR_ATTR_SPARSE, [23] = IR_ATTR_SPARSES};

ONNX_TEXT(on_name, attr_in, name, onnx_atom)
ONNX_TEXT(on_ref, attr_in, ref, onnx_atom)
ONNX_NUMBER(on_type, attr_in, type)

static assay_status on_f(void *self, wire_field *f)
{
    attr_in *a = self;
    a->seen = kinds[f->number];
    a->f = (double)wire_f32(f->value);
    return ASSAY_OK;
}

static assay_status on_i(void *self, wire_field *f)
{
    attr_in *a = self;
    a->seen = kinds[f->number];
    a->i = (int64_t)f->value;
    return ASSAY_OK;
}

static assay_status on_s(void *self, wire_field *f)
{
    attr_in *a = self;
    a->seen = kinds[f->number];
    a->s = onnx_string(a->r, f);
    return ASSAY_OK;
}

static assay_status on_floats(void *self, wire_field *f)
{
    attr_in *a = self;
    uint64_t v;
    a->seen = kinds[f->number];
    while (wire_scalar(f, WIRE_FIXED32, &v)) {
        TRY_MEMORY(VEC_ADD(a->r->scratch, &a->l->floats, (double)wire_f32(v)), a->r->err);
    }
    return ASSAY_OK;
}

static assay_status on_ints(void *self, wire_field *f)
{
    attr_in *a = self;
    uint64_t v;
    a->seen = kinds[f->number];
    while (wire_scalar(f, WIRE_VARINT, &v)) {
        TRY_MEMORY(VEC_ADD(a->r->scratch, &a->l->ints, (int64_t)v), a->r->err);
    }
    return ASSAY_OK;
}

static assay_status on_strings(void *self, wire_field *f)
{
    attr_in *a = self;
    str *slot = VEC_PUSH(a->r->scratch, &a->l->strings);
    a->seen = kinds[f->number];
    TRY_MEMORY(slot, a->r->err);
    *slot = onnx_string(a->r, f);
    return ASSAY_OK;
}

static assay_status on_tensor(void *self, wire_field *f)
{
    attr_in *a = self;
    bool sparse = f->number >= SPARSE;
    ir_tensor **slot = VEC_PUSH(a->r->scratch, &a->l->tensors);
    a->seen = kinds[f->number];
    TRY_MEMORY(slot, a->r->err);
    return sparse ? onnx_read_sparse(a->r, &f->body, slot) : onnx_read_tensor(a->r, &f->body, slot);
}

static assay_status on_graph(void *self, wire_field *f)
{
    attr_in *a = self;
    cursor *slot = VEC_PUSH(a->r->scratch, &a->l->graphs);
    a->seen = kinds[f->number];
    TRY_MEMORY(slot, a->r->err);
    *slot = f->body;
    return ASSAY_OK;
}

static assay_status on_type_value(void *self, wire_field *f)
{
    attr_in *a = self;
    const ir_type **slot = VEC_PUSH(a->r->scratch, &a->l->types);
    ir_type *t = ARENA_NEW(a->r->m->arena, ir_type);
    a->seen = kinds[f->number];
    TRY_MEMORY(slot && t, a->r->err);
    *slot = t;
    return onnx_read_type(a->r, &f->body, t);
}

static const wire_row attr_rows[] = {
    [1] = {WIRE_IS_LEN, on_name},        [2] = {WIRE_IS_FIXED32, on_f},
    [3] = {WIRE_IS_VARINT, on_i},        [4] = {WIRE_IS_LEN, on_s},
    [5] = {WIRE_IS_LEN, on_tensor},      [6] = {WIRE_IS_LEN, on_graph},
    [7] = {WIRE_ARE_FIXED32, on_floats}, [8] = {WIRE_ARE_VARINTS, on_ints},
    [9] = {WIRE_IS_LEN, on_strings},     [10] = {WIRE_IS_LEN, on_tensor},
    [11] = {WIRE_IS_LEN, on_graph},      [14] = {WIRE_IS_LEN, on_type_value},
    [15] = {WIRE_IS_LEN, on_type_value}, [20] = {WIRE_IS_VARINT, on_type},
    [21] = {WIRE_IS_LEN, on_ref},        [22] = {WIRE_IS_LEN, on_tensor},
    [23] = {WIRE_IS_LEN, on_tensor},
};
static const wire_message attr_message = WIRE_MESSAGE("AttributeProto", attr_rows);

/* ---- values ---- */

static assay_status add_child(attr_in *a, cursor body, ir_id *out)
{
    onnx_child *c = VEC_PUSH(a->r->scratch, &a->scope->children);
    *out = ir_add_graph(a->r->m, STR(""), a->scope->graph);
    if (!c || *out == IR_NONE)
        return err_no_memory(a->r->err);
    *c = (onnx_child){.graph = *out, .body = body, .node = a->node_index, .attr = a->name};
    return ASSAY_OK;
}

static assay_status add_children(attr_in *a, ir_attr *out)
{
    ir_id *ids = ARENA_ARRAY(a->r->m->arena, ir_id, a->l->graphs.n);
    if (!ids && a->l->graphs.n > 0)
        return err_no_memory(a->r->err);
    for (uint32_t i = 0; i < a->l->graphs.n; i++)
        TRY(add_child(a, a->l->graphs.items[i], &ids[i]));
    out->v.graphs = ids;
    out->n = a->l->graphs.n;
    return ASSAY_OK;
}

static assay_status no_value(const attr_in *a, const char *what)
{
    return err_fail(a->r->err, ASSAY_ERR_MALFORMED, "attribute " NAME_FMT " has no %s",
                    NAME_ARG(a->name), what);
}

static assay_status set_single(attr_in *a, ir_attr *out)
{
    out->n = 1;
    switch (out->kind) {
    case IR_ATTR_FLOAT:
        out->v.f = a->f;
        return ASSAY_OK;
    case IR_ATTR_INT:
        out->v.i = a->i;
        return ASSAY_OK;
    case IR_ATTR_STRING:
        out->v.s = a->s;
        return ASSAY_OK;
    case IR_ATTR_TENSOR:
    case IR_ATTR_SPARSE:
        if (a->l->tensors.n == 0)
            return no_value(a, "tensor");
        out->v.tensor = a->l->tensors.items[a->l->tensors.n - 1];
        return ASSAY_OK;
    case IR_ATTR_GRAPH:
        return a->l->graphs.n == 0
                   ? no_value(a, "graph")
                   : add_child(a, a->l->graphs.items[a->l->graphs.n - 1], &out->v.graph);
    default:
        if (a->l->types.n == 0)
            return no_value(a, "type");
        out->v.type = a->l->types.items[a->l->types.n - 1];
        return ASSAY_OK;
    }
}

static assay_status set_list(attr_in *a, ir_attr *out)
{
    arena *m = a->r->m->arena;
    switch (out->kind) {
    case IR_ATTR_FLOATS:
        out->n = a->l->floats.n;
        out->v.floats = arena_copy(m, a->l->floats.items, a->l->floats.n * sizeof(double));
        return ASSAY_OK;
    case IR_ATTR_INTS:
        out->n = a->l->ints.n;
        out->v.ints = arena_copy(m, a->l->ints.items, a->l->ints.n * sizeof(int64_t));
        return ASSAY_OK;
    case IR_ATTR_STRINGS:
        out->n = a->l->strings.n;
        out->v.strings = arena_copy(m, a->l->strings.items, a->l->strings.n * sizeof(str));
        return ASSAY_OK;
    case IR_ATTR_TENSORS:
    case IR_ATTR_SPARSES:
        out->n = a->l->tensors.n;
        out->v.tensors = arena_copy(m, a->l->tensors.items, a->l->tensors.n * sizeof(ir_tensor *));
        return ASSAY_OK;
    case IR_ATTR_GRAPHS:
        return add_children(a, out);
    default:
        out->n = a->l->types.n;
        out->v.types = arena_copy(m, a->l->types.items, a->l->types.n * sizeof(ir_type *));
        return ASSAY_OK;
    }
}

static assay_status read_attr(onnx_scope *s, wire_field *f, uint32_t node_index, ir_attr *out)
{
    attr_in a = {.scope = s, .r = s->r, .node_index = node_index, .l = &s->r->lists};
    a.l->floats.n = a.l->ints.n = a.l->strings.n = 0;
    a.l->tensors.n = a.l->types.n = a.l->graphs.n = 0;
    TRY(wire_walk(&f->body, &attr_message, &a));
    if (a.type < 0 || a.type > IR_ATTR_TYPES)
        return err_fail_at(a.r->err, ASSAY_ERR_UNSUPPORTED, f->start,
                           "attribute " NAME_FMT " has the unknown kind %lld", NAME_ARG(a.name),
                           (long long)a.type);
    *out = (ir_attr){.name = a.name, .ref = a.ref};
    out->kind = a.type ? (ir_attr_kind)a.type : a.seen;
    if (!str_empty(a.ref) || out->kind == IR_ATTR_NONE)
        return ASSAY_OK;
    TRY(ir_attr_is_list(out->kind) ? set_list(&a, out) : set_single(&a, out));
    return onnx_memory(s->r);
}

/* ---- repetitions ---- */

/* Whether the value hangs on nothing but the bytes: graphs are scopes of their own, and data that stays in the file
 * or is absent has its place. */
static bool is_repeatable(const ir_attr *a)
{
    if (a->kind == IR_ATTR_TENSOR)
        return str_empty(a->ref) && a->v.tensor->storage == IR_DATA_INLINE &&
               a->v.tensor->dtype != IR_STRING;
    return a->kind >= IR_ATTR_FLOAT && a->kind <= IR_ATTR_STRINGS && a->kind != IR_ATTR_GRAPH;
}

/* The place of an attribute of few bytes; *bytes is where they are in the window. NULL for any other, and if they
 * cannot be read: f->body has failed then. */
static onnx_seen_attr *seen_place(onnx_reader *r, wire_field *f, str *bytes)
{
    cursor c = f->body;
    uint64_t n = cursor_left(&c);
    const uint8_t *p = n && n <= ONNX_SEEN_BYTES ? cursor_view(&c, n) : NULL;
    f->body.failed = c.failed;
    if (!p)
        return NULL;
    *bytes = (str){(const char *)p, (uint32_t)n};
    return &r->seen[str_hash_table(*bytes, r->atoms.seed) % ONNX_SEEN_ATTRS];
}

assay_status onnx_read_attr(onnx_scope *s, wire_field *f, uint32_t node_index, ir_attr *out)
{
    onnx_reader *r = s->r;
    str bytes = {0};
    onnx_seen_attr *seen = seen_place(r, f, &bytes);
    if (seen && str_eq(seen->bytes, bytes)) {
        *out = seen->attr;
        return ASSAY_OK;
    }
    if (f->body.failed)
        return wire_status(&f->body);
    if (seen)
        bytes = str_copy(r->scratch, bytes); /* reading may move the window */
    TRY(read_attr(s, f, node_index, out));
    if (seen && is_repeatable(out))
        *seen = (onnx_seen_attr){bytes, *out};
    return ASSAY_OK;
}
