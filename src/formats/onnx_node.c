/* NodeProto: kept as names of the scope until the graph is complete. */
#include "formats/onnx_impl.h"

typedef struct node_in {
    onnx_scope *s;
    onnx_reader *r;
    uint32_t index; /* of this node in the scope */
    ir_node proto;
    onnx_lists *l;
} node_in;

/* The name as one more item of a list; *sym is NULL for an empty name, which is an absent tensor. */
static assay_status add_name(node_in *n, wire_field *f, onnx_ids *list, onnx_symbol **sym)
{
    str name = onnx_name(n->r, f);
    uint32_t *slot = VEC_PUSH(n->r->scratch, list);
    *sym = NULL;
    if (!slot)
        return err_no_memory(n->r->err);
    *slot = IR_NONE;
    if (str_empty(name))
        return ASSAY_OK;
    *sym = onnx_symbol_of(n->s, name);
    if (!*sym)
        return err_no_memory(n->r->err);
    *slot = onnx_symbol_index(n->s, *sym);
    return ASSAY_OK;
}

static assay_status on_input(void *self, wire_field *f)
{
    node_in *n = self;
    onnx_symbol *sym;
    TRY(add_name(n, f, &n->l->inputs, &sym));
    if (!sym)
        return ASSAY_OK;
    sym->roles |= ONNX_USED;
    if (sym->user == ONNX_NO_NODE)
        sym->user = n->index;
    return ASSAY_OK;
}

static assay_status on_output(void *self, wire_field *f)
{
    node_in *n = self;
    onnx_symbol *sym;
    TRY(add_name(n, f, &n->l->outputs, &sym));
    if (!sym)
        return ASSAY_OK;
    sym->node = n->index;
    return onnx_define(n->s, sym, ONNX_BY_NODE);
}

ONNX_TEXT(on_name, node_in, proto.name, onnx_string)
ONNX_TEXT(on_op, node_in, proto.op, onnx_atom)

static assay_status on_attr(void *self, wire_field *f)
{
    node_in *n = self;
    ir_attr *slot = VEC_PUSH(n->r->scratch, &n->l->attrs);
    return slot ? onnx_read_attr(n->s, f, n->index, slot) : err_no_memory(n->r->err);
}

ONNX_TEXT(on_domain, node_in, proto.domain, onnx_domain)
ONNX_TEXT(on_overload, node_in, proto.overload, onnx_atom)

static const wire_row node_rows[] = {
    [1] = {WIRE_IS_LEN, on_input},    [2] = {WIRE_IS_LEN, on_output},
    [3] = {WIRE_IS_LEN, on_name},     [4] = {WIRE_IS_LEN, on_op},
    [5] = {WIRE_IS_LEN, on_attr},     [7] = {WIRE_IS_LEN, on_domain},
    [8] = {WIRE_IS_LEN, on_overload},
};
static const wire_message node_message = WIRE_MESSAGE("NodeProto", node_rows);

/* Moves a list of symbol numbers into the scope's pool; returns where it begins. */
static uint32_t pool_indices(onnx_scope *s, const uint32_t *items, uint32_t n)
{
    uint32_t at = s->refs.n;
    for (uint32_t i = 0; i < n; i++) {
        if (!VEC_ADD(s->r->scratch, &s->refs, items[i]))
            return 0;
    }
    return at;
}

assay_status onnx_read_node(onnx_scope *s, wire_field *f)
{
    node_in in = {.s = s, .r = s->r, .index = s->nodes.n, .l = &s->r->lists};
    in.l->inputs.n = in.l->outputs.n = in.l->attrs.n = 0;
    TRY(wire_walk(&f->body, &node_message, &in));
    if (str_empty(in.proto.op))
        return err_fail_at(s->r->err, ASSAY_ERR_MALFORMED, f->start,
                           "node " NAME_FMT " (number %u of its graph) has no operator",
                           NAME_ARG(in.proto.name), in.index);
    onnx_node *n = VEC_PUSH(s->r->scratch, &s->nodes);
    if (!n)
        return err_no_memory(s->r->err);
    n->proto = in.proto;
    n->proto.n_inputs = in.l->inputs.n;
    n->proto.n_outputs = in.l->outputs.n;
    n->proto.n_attrs = in.l->attrs.n;
    n->inputs_at = pool_indices(s, in.l->inputs.items, in.l->inputs.n);
    n->outputs_at = pool_indices(s, in.l->outputs.items, in.l->outputs.n);
    if (in.l->attrs.n > 0)
        n->proto.attrs = arena_copy(s->r->m->arena, in.l->attrs.items,
                                    in.l->attrs.n * sizeof(ir_attr));
    return onnx_memory(s->r);
}
