/* NodeProto: kept as names of the scope until the graph is complete. */
#include "formats/onnx_impl.h"
#include "ir/constant.h"

typedef struct node_in {
    onnx_scope *s;
    onnx_reader *r;
    uint32_t index; /* of this node in the scope */
    ir_node *node;
    onnx_lists *l;
    cursor name; /* read last: that of a Constant is not needed */
} node_in;

/* The name as one more item of a list; *sym is NULL for an empty name, which is an absent tensor. */
static assay_status add_name(node_in *n, wire_field *f, onnx_ids *list, onnx_symbol **sym)
{
    str name = onnx_name(n->r, f);
    uint32_t *slot = VEC_PUSH(n->r->scratch, list);
    *sym = NULL;
    TRY_MEMORY(slot, n->r->err);
    *slot = IR_NONE;
    if (str_empty(name))
        return ASSAY_OK;
    *sym = onnx_symbol_of(n->s, name);
    TRY_MEMORY(*sym, n->r->err);
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

static assay_status on_name(void *self, wire_field *f)
{
    ((node_in *)self)->name = f->body;
    return ASSAY_OK;
}

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
    TRY_MEMORY(ids, in->r->err);
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

/* Whether the node is one whose only attribute and output make it a constant of the main graph. */
static assay_status take_constant(node_in *in, bool *taken)
{
    const onnx_lists *l = in->l;
    const ir_tensor *t = NULL;
    ir_node *n = in->node;
    *taken = false;
    if (in->s->graph != 0 || l->attrs.n != 1 || l->inputs.n > 0 || l->outputs.n != 1 ||
        l->outputs.items[0] == IR_NONE || l->attrs.items[0].kind == IR_ATTR_GRAPH ||
        l->attrs.items[0].kind == IR_ATTR_GRAPHS || !ir_is_constant_node(n))
        return ASSAY_OK;
    n->attrs = l->attrs.items;
    n->n_attrs = 1;
    TRY(ir_node_constant(in->r->m, n, &t, in->r->err));
    if (!t)
        return ASSAY_OK;
    onnx_symbol *sym = &in->s->symbols.items[l->outputs.items[0]];
    sym->roles = (sym->roles & ~(uint32_t)ONNX_BY_NODE) | ONNX_BY_CONSTANT;
    *taken = VEC_ADD(in->r->scratch, &in->s->constants, (onnx_constant){sym->value, t});
    return *taken ? ASSAY_OK : err_no_memory(in->r->err);
}

/* Takes the newest node back. */
static void drop_node(onnx_scope *s)
{
    ir_model *m = s->r->m;
    m->nodes.items[--m->nodes.n] = (ir_node){0};
    s->refs.n--;
    s->numbers.n--;
}

static assay_status finish_node(node_in *in, uint64_t at, ir_id **refs)
{
    ir_node *n = in->node;
    wire_field name = {.body = in->name};
    if (in->name.src)
        n->name = onnx_string(in->r, &name);
    if (name.body.failed)
        return wire_status(&name.body);
    if (str_empty(n->op))
        return err_fail_at(in->r->err, ASSAY_ERR_MALFORMED, at,
                           "node " NAME_FMT " (number %u of its graph) has no operator",
                           NAME_ARG(n->name), in->s->numbers.items[in->index]);
    return keep_lists(in, refs);
}

assay_status onnx_read_node(onnx_scope *s, wire_field *f)
{
    ir_model *m = s->r->m;
    bool is_constant;
    ir_node *n = VEC_PUSH(m->arena, &m->nodes);
    ir_id **refs = VEC_PUSH(s->r->scratch, &s->refs);
    TRY_MEMORY(n && refs && VEC_ADD(s->r->scratch, &s->numbers, s->n_read), s->r->err);
    s->n_read++;
    node_in in = {.s = s, .r = s->r, .index = s->refs.n - 1, .node = n, .l = &s->r->lists};
    in.l->inputs.n = in.l->outputs.n = in.l->attrs.n = 0;
    TRY(wire_walk(&f->body, &node_message, &in));
    TRY(take_constant(&in, &is_constant));
    if (!is_constant)
        return finish_node(&in, f->start, refs);
    drop_node(s);
    return onnx_memory(s->r);
}
