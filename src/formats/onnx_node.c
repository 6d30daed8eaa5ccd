/* NodeProto: kept as names of the scope until the graph is complete. */
#include "formats/onnx_impl.h"

typedef struct node_in {
    onnx_scope *s;
    onnx_reader *r;
    uint32_t index; /* of this node in the scope */
    ir_node *node;
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

ONNX_TEXT(on_name, node_in, node->name, onnx_string)
ONNX_TEXT(on_op, node_in, node->op, onnx_atom)

static assay_status on_attr(void *self, wire_field *f)
{
    node_in *n = self;
    ir_attr *slot = VEC_PUSH(n->r->scratch, &n->l->attrs);
    return slot ? onnx_read_attr(n->s, f, n->index, slot) : err_no_memory(n->r->err);
}

ONNX_TEXT(on_domain, node_in, node->domain, onnx_domain)
ONNX_TEXT(on_overload, node_in, node->overload, onnx_atom)

static const wire_row node_rows[] = {
    [1] = {WIRE_IS_LEN, on_input},    [2] = {WIRE_IS_LEN, on_output},
    [3] = {WIRE_IS_LEN, on_name},     [4] = {WIRE_IS_LEN, on_op},
    [5] = {WIRE_IS_LEN, on_attr},     [7] = {WIRE_IS_LEN, on_domain},
    [8] = {WIRE_IS_LEN, on_overload},
};
static const wire_message node_message = WIRE_MESSAGE("NodeProto", node_rows);

/* Moves what the lists have into the model. */
static assay_status keep_lists(node_in *in, ir_id **refs)
{
    const onnx_lists *l = in->l;
    arena *a = in->r->m->arena;
    ir_node *n = in->node;
    ir_id *ids = ARENA_ARRAY(a, ir_id, (size_t)l->inputs.n + l->outputs.n);
    if (!ids)
        return err_no_memory(in->r->err);
    for (uint32_t i = 0; i < l->inputs.n; i++)
        ids[i] = l->inputs.items[i];
    for (uint32_t i = 0; i < l->outputs.n; i++)
        ids[l->inputs.n + i] = l->outputs.items[i];
    *refs = ids;
    n->n_inputs = l->inputs.n;
    n->n_outputs = l->outputs.n;
    n->n_attrs = l->attrs.n;
    n->inputs = n->n_inputs > 0 ? ids : NULL;
    n->outputs = n->n_outputs > 0 ? ids + n->n_inputs : NULL;
    if (l->attrs.n > 0)
        n->attrs = arena_copy(a, l->attrs.items, l->attrs.n * sizeof(ir_attr));
    return onnx_memory(in->r);
}

assay_status onnx_read_node(onnx_scope *s, wire_field *f)
{
    ir_model *m = s->r->m;
    ir_node *n = VEC_PUSH(m->arena, &m->nodes);
    ir_id **refs = VEC_PUSH(s->r->scratch, &s->refs);
    if (!n || !refs)
        return err_no_memory(s->r->err);
    node_in in = {.s = s, .r = s->r, .index = s->refs.n - 1, .node = n, .l = &s->r->lists};
    in.l->inputs.n = in.l->outputs.n = in.l->attrs.n = 0;
    TRY(wire_walk(&f->body, &node_message, &in));
    if (str_empty(n->op))
        return err_fail_at(s->r->err, ASSAY_ERR_MALFORMED, f->start,
                           "node " NAME_FMT " (number %u of its graph) has no operator",
                           NAME_ARG(n->name), in.index);
    return keep_lists(&in, refs);
}
