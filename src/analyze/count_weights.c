/* Which constants are parameters, which are buffers, which are neither (docs/counting.md).
 *
 * A constant is looked at where it is finally used: through Identity, Cast, Transpose, Reshape and
 * DequantizeLinear the walk goes on (infer_result.origin), then the slot it reaches decides. Every
 * node of the file is looked at, also those of a branch that is not taken: its weights are in the file
 * all the same. A builder's own mark beats every rule.
 */
#include "analyze/count.h"
#include "base/num.h"

typedef struct weigher {
    infer_result *r;
    profile *p;
    weights *w;
    uint8_t *read; /* [n_values] whether anything reads the constant */
    ir_id *reach;  /* [n_values] a layer that uses the value as data, folded nodes seen through */
    VEC(profile_item) items;
} weigher;

static bool is_weight_type(ir_dtype t, bool wide_ints)
{
    const ir_dtype_row *row = ir_dtype_get(t);
    if (row->cls == IR_CLASS_FLOAT || row->cls == IR_CLASS_COMPLEX)
        return true;
    return ir_is_integer(t) && (row->bits <= 8 || (wide_ints && row->bits <= 32));
}

static weight_class by_mark(const ir_value *v)
{
    if (v->flags & IR_VALUE_PARAM)
        return WEIGHT_PARAM;
    if (v->flags & IR_VALUE_BUFFER)
        return WEIGHT_BUFFER;
    return v->flags & IR_VALUE_NOT_PARAM ? WEIGHT_AUX : WEIGHT_NONE;
}

/* What the slot says; WEIGHT_NONE: it cannot be classified. */
static weight_class by_slot(const op_row *row, uint32_t slot, const ir_tensor *t, bool dequantised)
{
    uint32_t bit = slot < 32 ? UINT32_C(1) << slot : 0;
    bool contraction = row->backward == OP_BW_CONTRACTION;
    if (row->aux & bit)
        return WEIGHT_AUX;
    if (row->buffers & bit)
        return WEIGHT_BUFFER;
    if (!is_weight_type(t->dtype, dequantised || contraction))
        return WEIGHT_AUX;
    bool operand = (row->flags & OPF_ELEMENTWISE) ||
                   ((row->weights & bit) && !contraction && (row->flags & OPF_DATA_MOVE));
    if (operand)
        return t->n_elems > 1 ? WEIGHT_PARAM : WEIGHT_AUX;
    if (row->weights & bit)
        return WEIGHT_PARAM;
    return t->n_elems > 1 ? WEIGHT_NONE : WEIGHT_AUX;
}

static void list_item(weigher *x, str node, const char *op, const char *reason)
{
    (void)VEC_ADD(x->p->arena, &x->items,
                  (profile_item){.node = node, .op = str_of(op), .reason = str_of(reason)});
}

static uint64_t elems_of(weigher *x, ir_id node, uint32_t slot, const ir_tensor *t)
{
    const op_row *row = x->r->rows[node];
    const ir_node *n = ir_node_at(x->r->model, node);
    if (!row || !row->weight_elems || n->n_inputs > 64 || n->n_outputs > 64)
        return t->n_elems;
    const op_info *in[64];
    op_info out[64];
    op_ctx c;
    infer_context(x->r, node, in, out, &c);
    return row->weight_elems(&c, slot, t);
}

/* Parameter beats buffer beats neither when a constant is used in several slots. */
static void book(weigher *x, ir_id id, weight_class cls, ir_id node, uint32_t slot, ir_id owner)
{
    static const uint8_t rank[] = {
        [WEIGHT_NONE] = 0, [WEIGHT_AUX] = 1, [WEIGHT_BUFFER] = 2, [WEIGHT_PARAM] = 3};
    if (rank[cls] <= rank[x->w->cls[id]])
        return;
    x->w->cls[id] = (uint8_t)cls;
    x->w->owner[id] = owner;
    x->w->elems[id] = elems_of(x, node, slot, ir_value_at(x->r->model, id)->constant);
}

static ir_id reach_of_outputs(const weigher *x, const ir_node *n)
{
    for (uint32_t o = 0; o < n->n_outputs; o++)
        if (n->outputs[o] != IR_NONE && x->reach[n->outputs[o]] != IR_NONE)
            return x->reach[n->outputs[o]];
    return IR_NONE;
}

/* A slot for scales, shapes and the like, or one of which only the shape is read. */
static bool is_data_slot(const op_row *row, uint32_t slot)
{
    return !row || !((row->flags & OPF_SHAPE_ONLY) || (slot < 32 && (row->aux >> slot & 1)));
}

/* Against the execution order. A small weight may be folded on its way (exp of a logit scale is known
 * before the run) and is a weight all the same when what comes of it is data; a scale that ends as a
 * shape is not. */
static void find_reach(weigher *x, ir_id graph)
{
    const ir_graph *g = ir_graph_at(x->r->model, graph);
    for (uint32_t k = g->nodes.n; k-- > 0;) {
        ir_id node = g->nodes.items[k];
        const ir_node *n = ir_node_at(x->r->model, node);
        bool in_advance = x->r->state[node] & (INFER_FOLDED | INFER_LOADED);
        ir_id owner = in_advance ? reach_of_outputs(x, n) : node;
        for (uint32_t i = 0; i < n->n_inputs && owner != IR_NONE; i++)
            if (n->inputs[i] != IR_NONE && is_data_slot(x->r->rows[node], i))
                x->reach[n->inputs[i]] = owner;
        for (uint32_t a = 0; a < n->n_attrs; a++) {
            ir_graphs inner = ir_attr_graphs(&n->attrs[a]);
            for (uint32_t i = 0; i < inner.n; i++)
                find_reach(x, inner.ids[i]);
        }
    }
}

static void look_at_slot(weigher *x, ir_id node, uint32_t slot)
{
    const ir_node *n = ir_node_at(x->r->model, node);
    const op_row *row = x->r->rows[node];
    ir_id used = n->inputs[slot], id = used == IR_NONE ? IR_NONE : x->r->origin[used];
    if (id == IR_NONE)
        return;
    const ir_value *v = ir_value_at(x->r->model, id);
    x->read[id] = 1;
    if (row && (row->flags & OPF_PASS) && slot == 0)
        return; /* its consumers decide */
    ir_id owner = node;
    if (x->r->state[node] & (INFER_FOLDED | INFER_LOADED))
        owner = reach_of_outputs(x, n);
    if (owner == IR_NONE)
        return book(x, id, WEIGHT_AUX, node, slot, node);
    weight_class cls = by_mark(v);
    if (cls == WEIGHT_NONE && row)
        cls = by_slot(row, slot, v->constant, used != id);
    if (cls == WEIGHT_NONE && is_weight_type(v->constant->dtype, false)) {
        if (x->w->cls[id] != WEIGHT_PARAM)
            list_item(x, v->name, "initializer",
                      "This constant may not be a weight. It is counted as parameters.");
        cls = WEIGHT_PARAM;
    }
    book(x, id, cls, node, slot, owner);
}

static void look_at_graph(weigher *x, ir_id graph)
{
    const ir_graph *g = ir_graph_at(x->r->model, graph);
    for (uint32_t k = 0; k < g->nodes.n; k++) {
        ir_id node = g->nodes.items[k];
        const ir_node *n = ir_node_at(x->r->model, node);
        for (uint32_t i = 0; i < n->n_inputs; i++)
            look_at_slot(x, node, i);
        for (uint32_t a = 0; a < n->n_attrs; a++) {
            ir_graphs inner = ir_attr_graphs(&n->attrs[a]);
            for (uint32_t i = 0; i < inner.n; i++)
                look_at_graph(x, inner.ids[i]);
        }
    }
    for (uint32_t k = 0; k < g->outputs.n; k++)
        if (x->r->origin[g->outputs.items[k]] != IR_NONE)
            x->read[x->r->origin[g->outputs.items[k]]] = 1;
}

count_stored count_stored_as(const infer_result *r, const ir_tensor *t)
{
    if (t->stored.n)
        return (count_stored){t->stored, ir_dtype_by_name(t->stored), t->stored_bytes, false};
    bool native = r && r->native != IR_UNDEFINED && t->dtype == IR_FLOAT32;
    ir_dtype type = native ? r->native : t->dtype;
    if (native && t->native)
        return (count_stored){str_of(t->native->name), t->native->element,
                              ir_packed_bytes(t->native, t->n_elems), false};
    return (count_stored){.name = str_of(ir_dtype_get(type)->name),
                          .dtype = type,
                          .bytes = native ? ir_dtype_bytes(type, t->n_elems) : t->size_bytes,
                          .as_declared = !native};
}

void count_dtype(dtype_sums *sums, const count_stored *s, uint64_t elems)
{
    profile_bytes_by_dtype *rows = sums->rows;
    uint32_t k = 0, n = sums->n;
    while (k < n && !str_eq(rows[k].name, s->name))
        k++;
    if (k == n && n < COUNT_DTYPES_MAX) {
        rows[k].name = str_copy(sums->arena, s->name);
        rows[k].dtype = s->dtype;
        sums->n++;
    }
    k = k < COUNT_DTYPES_MAX ? k : COUNT_DTYPES_MAX - 1;
    rows[k].elements = sat_add(rows[k].elements, elems);
    rows[k].bytes = sat_add(rows[k].bytes, s->bytes);
}

bool count_dtypes_begin(dtype_sums *sums, arena *a)
{
    *sums = (dtype_sums){.arena = a};
    sums->rows = ARENA_ARRAY(a, profile_bytes_by_dtype, COUNT_DTYPES_MAX);
    return sums->rows != NULL;
}

static void total_up(weigher *x, dtype_sums *sums)
{
    profile_architecture *arch = &x->p->architecture;
    const ir_model *m = x->r->model;
    uint64_t frozen = 0;
    for (ir_id id = 0; id < m->values.n; id++) {
        const ir_value *v = ir_value_at(m, id);
        if (!v->constant)
            continue;
        if (v->flags & IR_VALUE_UNREAD) {
            x->w->cls[id] = (uint8_t)by_mark(v);
            x->w->elems[id] = v->constant->n_elems;
        } else if (!x->read[id] && v->producer == IR_NONE && x->r->origin[id] == id)
            list_item(x, v->name, "initializer", "This constant is unused and not counted.");
        if (x->w->cls[id] != WEIGHT_PARAM && x->w->cls[id] != WEIGHT_BUFFER)
            continue;
        uint64_t *slot = x->w->cls[id] == WEIGHT_PARAM ? &arch->total_parameters : &arch->buffers;
        sat_add_to(slot, x->w->elems[id]);
        if (x->w->cls[id] == WEIGHT_PARAM && !(v->flags & IR_VALUE_UNREAD))
            sat_add_to(&x->w->booked[x->w->owner[id]], x->w->elems[id]);
        if (x->w->cls[id] == WEIGHT_PARAM && v->flags & IR_VALUE_FROZEN)
            sat_add_to(&frozen, x->w->elems[id]);
        const count_stored stored = count_stored_as(x->r, v->constant);
        sat_add_to(&arch->weight_bytes, stored.bytes);
        count_dtype(sums, &stored, x->w->elems[id]);
    }
    arch->trainable_parameters = arch->total_parameters - frozen;
    arch->dtypes = sums->rows;
    arch->n_dtypes = sums->n;
}

assay_status count_weights(infer_result *r, profile *p, weights *w, assay_error *err)
{
    uint32_t n = r->model->values.n + 1;
    arena *a = r->arena;
    weigher x = {.r = r, .p = p, .w = w, .read = ARENA_ARRAY(a, uint8_t, n)};
    x.reach = ARENA_ARRAY(a, ir_id, n);
    uint8_t *of_weight = ARENA_ARRAY(a, uint8_t, n);
    w->cls = ARENA_ARRAY(a, uint8_t, n);
    w->fixed = ARENA_ARRAY(a, uint8_t, n);
    w->elems = ARENA_ARRAY(a, uint64_t, n);
    w->owner = ARENA_ARRAY(a, ir_id, n);
    w->booked = ARENA_ARRAY(a, uint64_t, r->model->nodes.n + 1);
    dtype_sums sums;
    if (!count_dtypes_begin(&sums, p->arena) || !x.read || !x.reach || !of_weight || !w->cls ||
        !w->fixed || !w->elems || !w->owner || !w->booked)
        return err_no_memory(err);
    for (uint32_t v = 0; v < n; v++)
        x.reach[v] = IR_NONE;
    count_mark_loaded(r, w->fixed);
    find_reach(&x, 0);
    look_at_graph(&x, 0);
    count_unfold_weights(r, w, of_weight);
    total_up(&x, &sums);
    p->accounting.items = x.items.items;
    p->accounting.n_items = x.items.n;
    return arena_failed(p->arena) ? err_no_memory(err) : ASSAY_OK;
}
