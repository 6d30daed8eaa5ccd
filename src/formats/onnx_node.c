/* NodeProto: kept as names of the scope until the graph is complete. */
#include "formats/onnx_impl.h"
#include "ir/constant.h"

typedef struct node_in {
    onnx_scope *s;
    onnx_reader *r;
    onnx_lists *l;
    uint32_t index; /* of this node in the scope, unless it becomes a constant */
    cursor name;    /* read last: that of a Constant is not needed */
    str op, domain, overload;
} node_in;

/* The name as one more item of a list: the number of its symbol, or IR_NONE for an empty name, which is an absent
 * tensor. */
__attribute__((always_inline)) static inline assay_status add_name(node_in *n, wire_field *f,
                                                                   onnx_ids *list, uint32_t *symbol)
{
    str name = onnx_name(n->r, f);
    *symbol = str_empty(name) ? IR_NONE : onnx_symbol_of(n->s, name);
    if (*symbol == IR_NONE && !str_empty(name))
        return err_no_memory(n->r->err);
    return VEC_ADD(n->r->scratch, list, *symbol) ? ASSAY_OK : err_no_memory(n->r->err);
}

static assay_status on_input(void *self, wire_field *f)
{
    node_in *n = self;
    uint32_t symbol;
    TRY(add_name(n, f, &n->l->inputs, &symbol));
    if (symbol == IR_NONE)
        return ASSAY_OK;
    onnx_symbol *sym = &n->s->symbols.items[symbol];
    sym->roles |= ONNX_USED;
    if (sym->user == ONNX_NO_NODE)
        sym->user = n->index;
    return ASSAY_OK;
}

static assay_status on_output(void *self, wire_field *f)
{
    node_in *n = self;
    uint32_t symbol;
    TRY(add_name(n, f, &n->l->outputs, &symbol));
    if (symbol == IR_NONE)
        return ASSAY_OK;
    n->s->symbols.items[symbol].node = n->index;
    return onnx_define(n->s, &n->s->symbols.items[symbol], ONNX_BY_NODE);
}

static assay_status on_name(void *self, wire_field *f)
{
    ((node_in *)self)->name = f->body;
    return ASSAY_OK;
}

ONNX_TEXT(on_op, node_in, op, onnx_atom)

static assay_status on_attr(void *self, wire_field *f)
{
    node_in *n = self;
    ir_attr *slot = VEC_PUSH(n->r->scratch, &n->l->attrs);
    return slot ? onnx_read_attr(n->s, f, n->index, slot) : err_no_memory(n->r->err);
}

ONNX_TEXT(on_domain, node_in, domain, onnx_domain)
ONNX_TEXT(on_overload, node_in, overload, onnx_atom)

static const wire_row node_rows[] = {
    [1] = {WIRE_IS_LEN, on_input},    [2] = {WIRE_IS_LEN, on_output},
    [3] = {WIRE_IS_LEN, on_name},     [4] = {WIRE_IS_LEN, on_op},
    [5] = {WIRE_IS_LEN, on_attr},     [7] = {WIRE_IS_LEN, on_domain},
    [8] = {WIRE_IS_LEN, on_overload},
};
static const wire_message node_message = WIRE_MESSAGE("NodeProto", node_rows);

/* Moves what the lists have into the model. */
static assay_status keep_lists(const node_in *in, ir_node *n, ir_id **refs)
{
    const onnx_lists *l = in->l;
    arena *a = in->r->m->arena;
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
static assay_status take_constant(const node_in *in, bool *taken)
{
    const onnx_lists *l = in->l;
    const ir_tensor *t = NULL;
    *taken = false;
    if (in->s->graph != 0 || l->attrs.n != 1 || l->inputs.n > 0 || l->outputs.n != 1 ||
        l->outputs.items[0] == IR_NONE || l->attrs.items[0].kind == IR_ATTR_GRAPH ||
        l->attrs.items[0].kind == IR_ATTR_GRAPHS || !ir_is_constant_op(in->domain, in->op))
        return ASSAY_OK;
    TRY(ir_attr_constant(in->r->m, l->attrs.items, &t, in->r->err));
    if (!t)
        return ASSAY_OK;
    onnx_symbol *sym = &in->s->symbols.items[l->outputs.items[0]];
    sym->roles = (sym->roles & ~(uint32_t)ONNX_BY_NODE) | ONNX_BY_CONSTANT;
    *taken = VEC_ADD(in->r->scratch, &in->s->constants, (onnx_constant){sym->value, t});
    return *taken ? onnx_memory(in->r) : err_no_memory(in->r->err);
}

/* What identifies it. The name is that of the file, or empty. */
static assay_status read_names(const node_in *in, uint64_t at, uint32_t number, ir_node *n)
{
    wire_field name = {.body = in->name};
    if (in->name.src)
        n->name = onnx_string(in->r, &name);
    if (name.body.failed)
        return wire_status(&name.body);
    if (str_empty(in->op))
        return err_fail_at(in->r->err, ASSAY_ERR_MALFORMED, at,
                           "node " NAME_FMT " (number %u of its graph) has no operator",
                           NAME_ARG(n->name), number);
    n->op = in->op;
    n->domain = in->domain;
    n->overload = in->overload;
    return ASSAY_OK;
}

static assay_status add_node(const node_in *in, uint64_t at, uint32_t number)
{
    onnx_scope *s = in->s;
    ir_model *m = in->r->m;
    ir_node *n = VEC_PUSH(m->arena, &m->nodes);
    ir_id **refs = VEC_PUSH(in->r->scratch, &s->refs);
    TRY_MEMORY(n && refs && VEC_ADD(in->r->scratch, &s->numbers, number), in->r->err);
    TRY(read_names(in, at, number, n));
    return keep_lists(in, n, refs);
}

assay_status onnx_read_node(onnx_scope *s, wire_field *f)
{
    bool is_constant;
    uint32_t number = s->n_read++;
    node_in in = {.s = s, .r = s->r, .l = &s->r->lists, .index = s->refs.n};
    in.l->inputs.n = in.l->outputs.n = in.l->attrs.n = 0;
    TRY(wire_walk(&f->body, &node_message, &in));
    TRY(take_constant(&in, &is_constant));
    return is_constant ? ASSAY_OK : add_node(&in, f->start, number);
}
