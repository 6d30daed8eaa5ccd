/* Values of TensorFlow's graphs, made on demand; see tf_impl.h.
 *
 * tf_build() walks from the outputs to the inputs with a stack of its own, so that a chain of a million nodes does not need
 * the stack of the program; only loops and branches, which become graphs within the graph, are read by recursion. */

#include "formats/tensorflow/tf_impl.h"

enum { MAX_SCOPES = 1 << 16 };

assay_status tf_failed(tf_reader *r)
{
    if (r->f.err->code != ASSAY_OK)
        return r->f.err->code;
    return arena_failed(r->f.scratch) || arena_failed(r->f.m->arena) ? err_no_memory(r->f.err)
                                                                     : ASSAY_OK;
}

static assay_status fail_graph(tf_reader *r, tf_ref ref, const char *what)
{
    const tf_node *n = &ref.s->g->nodes.items[ref.node];
    return err_fail(r->f.err, ASSAY_ERR_MALFORMED, "node '" STR_FMT "': %s", STR_ARG(n->name),
                    what);
}

/* ---- scopes ---- */

tf_scope *tf_scope_new(tf_reader *r, tf_graph *g, tf_scope *outer, str prefix)
{
    tf_scope *s = ARENA_NEW(r->f.scratch, tf_scope);
    tf_slot *slots = ARENA_ARRAY(r->f.scratch, tf_slot, (size_t)g->nodes.n + 1);
    if (!s || !slots)
        return NULL;
    *s = (tf_scope){.g = g, .outer = outer, .slots = slots, .prefix = prefix};
    s->graph = outer ? outer->graph : 0;
    s->depth = outer ? outer->depth + 1 : 0;
    s->loops = outer ? outer->loops : 0;
    if (s->depth > TF_MAX_DEPTH || ++r->n_scopes > MAX_SCOPES) {
        err_fail(r->f.err, ASSAY_ERR_UNSUPPORTED,
                 "functions are called too often, or deeper than %d levels", TF_MAX_DEPTH);
        return NULL;
    }
    return s;
}

tf_ref tf_input(tf_scope *s, uint32_t node, uint32_t in)
{
    const tf_node *n = &s->g->nodes.items[node];
    if (in >= n->n_in)
        return (tf_ref){.s = NULL};
    return (tf_ref){s, n->in[in].node, n->in[in].out};
}

tf_ref tf_in_ref(const tf_op *o, uint32_t in)
{
    return tf_input(o->s, o->at, in);
}

bool tf_bind(tf_reader *r, tf_scope *s, uint32_t node, ir_id value, uint32_t n_out)
{
    tf_slot *slot = &s->slots[node];
    slot->out = ARENA_ARRAY(r->f.scratch, ir_id, n_out);
    slot->lists = ARENA_ARRAY(r->f.scratch, tf_list, n_out);
    slot->n_out = n_out;
    slot->state = TF_DONE;
    for (uint32_t i = 0; slot->out && i < n_out; i++)
        slot->out[i] = value;
    return slot->out && slot->lists;
}

/* Layers of functions are named after the call: "dense/StatefulPartitionedCall" and "MatMul" are "dense/MatMul". */
static str call_prefix(tf_reader *r, const tf_scope *s, const tf_node *call)
{
    str name = call->name;
    static const char *const calls[] = {"StatefulPartitionedCall", "PartitionedCall"};
    const char *slash = NULL;
    for (uint32_t i = 0; i < name.n; i++)
        slash = name.p[i] == '/' ? name.p + i : slash;
    str last = slash ? (str){slash + 1, (uint32_t)(name.p + name.n - slash - 1)} : name;
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (str_starts(last, calls[i]))
            return slash ? str_printf(r->f.scratch, STR_FMT STR_FMT, STR_ARG(s->prefix),
                                      (int)(slash + 1 - name.p), name.p)
                         : s->prefix;
    return str_printf(r->f.scratch, STR_FMT STR_FMT "/", STR_ARG(s->prefix), STR_ARG(name));
}

tf_scope *tf_call_scope(tf_reader *r, tf_ref call, str function, uint32_t first_in)
{
    tf_slot *slot = &call.s->slots[call.node];
    const tf_node *n = &call.s->g->nodes.items[call.node];
    if (slot->inner)
        return slot->inner;
    tf_graph *g = tf_function(r, function);
    if (!g || g->n_args > n->n_in - (first_in < n->n_in ? first_in : n->n_in))
        return NULL;
    tf_scope *s = tf_scope_new(r, g, call.s, call_prefix(r, call.s, n));
    for (uint32_t i = 0; s && i < g->n_args; i++)
        s->slots[i].to = tf_input(call.s, call.node, first_in + i);
    slot->inner = s;
    return s;
}

str tf_name(tf_reader *r, const tf_scope *s, str name, uint32_t out)
{
    if (!s->prefix.n && out == 0)
        return name;
    if (out == 0)
        return str_printf(r->f.m->arena, STR_FMT STR_FMT, STR_ARG(s->prefix), STR_ARG(name));
    return str_printf(r->f.m->arena, STR_FMT STR_FMT ":%u", STR_ARG(s->prefix), STR_ARG(name), out);
}

/* ---- what stands for a node ---- */

/* The branch of an If whose condition is constant. */
static tf_scope *chosen_branch(tf_reader *r, tf_ref ref)
{
    int64_t v;
    const tf_node *n = &ref.s->g->nodes.items[ref.node];
    if (ref.s->slots[ref.node].inner)
        return ref.s->slots[ref.node].inner;
    if (!tf_fold_ref(r, tf_input(ref.s, ref.node, 0), &v))
        return NULL;
    return tf_call_scope(r, ref, tf_function_name(r, n, v ? "then_branch" : "else_branch"), 1);
}

static tf_ref return_of(tf_scope *inner, tf_ref call)
{
    if (!inner || call.out >= inner->g->n_ret || inner->g->ret[call.out].node == TF_NONE)
        return (tf_ref){.s = NULL};
    return (tf_ref){inner, inner->g->ret[call.out].node, inner->g->ret[call.out].out};
}

/* The function that a node calls: by its attribute, or by its operator, as in TensorFlow 1; empty: none. */
static str callee_of(tf_reader *r, const tf_node *n)
{
    if (n->row)
        return n->row->pass == TF_CALL ? tf_function_name(r, n, "f") : (str){0};
    return map_get(&r->by_function, n->op) == MAP_NONE ? (str){0} : n->op;
}

/* One step; the same reference: it stands for itself. */
static tf_ref step_from(tf_reader *r, tf_ref ref)
{
    const tf_node *n = &ref.s->g->nodes.items[ref.node];
    tf_scope *s = ref.s, *inner;
    str callee = callee_of(r, n);
    if (callee.n) {
        inner = tf_call_scope(r, ref, callee, 0);
        return inner ? return_of(inner, ref) : ref;
    }
    switch (n->row ? n->row->pass : TF_MAKES) {
    case TF_FIRST:
    case TF_SWITCH:
        return tf_input(s, ref.node, 0);
    case TF_SAME:
        return tf_input(s, ref.node, ref.out);
    case TF_ENTER: {
        tf_ref in = tf_input(s, ref.node, 0);
        in.s = in.s && s->frame ? s->outer : in.s;
        return in;
    }
    case TF_MERGE: {
        tf_ref alive = ref.out == 0 ? tf_alive(r, ref) : (tf_ref){.s = NULL};
        return alive.s ? alive : ref;
    }
    case TF_CHOICE:
        inner = chosen_branch(r, ref);
        return inner ? return_of(inner, ref) : ref;
    default:
        return ref;
    }
}

tf_ref tf_resolve(tf_reader *r, tf_ref ref)
{
    for (int step = 0; ref.s; step++) {
        const tf_slot *slot = &ref.s->slots[ref.node];
        tf_ref next = slot->to;
        if (slot->state == TF_DONE)
            return ref;
        if (!next.s && ref.s->depends && !tf_depends(r, ref.s, ref.node))
            next = (tf_ref){ref.s->outer, ref.node, ref.out};
        if (!next.s)
            next = step_from(r, ref);
        if (next.s == ref.s && next.node == ref.node && next.out == ref.out)
            return ref;
        if (step > TF_MAX_STEPS) {
            fail_graph(r, ref, "it refers to itself");
            break;
        }
        ref = next;
    }
    return (tf_ref){.s = NULL};
}

/* ---- values ---- */

ir_id tf_use(tf_reader *r, tf_ref ref)
{
    ref = tf_resolve(r, ref);
    const tf_slot *slot = ref.s ? &ref.s->slots[ref.node] : NULL;
    return slot && slot->state == TF_DONE && ref.out < slot->n_out ? slot->out[ref.out] : IR_NONE;
}

tf_list *tf_list_of(tf_reader *r, tf_ref ref)
{
    ref = tf_resolve(r, ref);
    tf_slot *slot = ref.s ? &ref.s->slots[ref.node] : NULL;
    tf_list *l = slot && slot->lists && ref.out < slot->n_out ? &slot->lists[ref.out] : NULL;
    return l && l->kind != TF_NO_LIST ? l : NULL;
}

bool tf_set_list(tf_op *o, uint32_t out, uint8_t kind, ir_id value)
{
    tf_slot *slot = &o->s->slots[o->at];
    if (!slot->lists || out >= slot->n_out)
        return false;
    slot->lists[out] = (tf_list){kind, value};
    return true;
}

bool tf_stand(tf_op *o, uint32_t out, ir_id value)
{
    tf_slot *slot = &o->s->slots[o->at];
    if (out >= slot->n_out || value == IR_NONE)
        return false;
    slot->out[out] = value;
    return true;
}

static ir_id new_value(tf_op *o, uint32_t out)
{
    tf_reader *r = o->r;
    str name = tf_name(r, o->s, o->n->name, out);
    ir_id id = name.p ? foreign_value(&r->f, name, IR_UNDEFINED, -1, NULL) : IR_NONE;
    return id;
}

/* How many outputs a node has at least, beside those that are read. */
static uint32_t count_outputs(tf_op *o)
{
    int64_t n = o->row && (o->row->map == tf_split || o->row->map == tf_split_v)
                    ? tf_int(o, "num_split", 1)
                : o->row && o->row->map == tf_unpack ? tf_int(o, "num", 1)
                                                     : 1;
    n = n < 1 || n > TF_MAX_ITEMS ? 1 : n;
    return o->n->n_out > (uint32_t)n ? o->n->n_out : (uint32_t)n;
}

static void add_unknown(tf_op *o)
{
    tf_slot *slot = &o->s->slots[o->at];
    int rank;
    int64_t dims[IR_MAX_RANK];
    ir_dtype t = tf_dtype(o, "T") != IR_UNDEFINED ? tf_dtype(o, "T") : tf_dtype(o, "dtype");
    for (uint32_t i = 0; i < slot->n_out; i++) {
        if (slot->out[i] == IR_NONE)
            slot->out[i] = new_value(o, i);
        if (slot->out[i] != IR_NONE && t != IR_UNDEFINED &&
            tf_static_shape(o->r, (tf_ref){o->s, o->at, i}, &rank, dims))
            ir_value_at(o->r->f.m, slot->out[i])->declared = ir_tensor_type(o->r->f.m, t, rank,
                                                                            dims);
    }
    layer_unknown(&o->l, arena_strdup(o->r->f.m->arena, o->n->op.p));
}

static bool map_by_row(tf_op *o)
{
    const tf_row *row = o->row;
    if (!row || o->l.n_in < row->least_in || (!row->map && !row->onnx))
        return false;
    for (uint32_t i = 0; i < row->least_in; i++)
        if (o->in[i] == IR_NONE)
            return false;
    if (row->map)
        return row->map(o);
    return layer_node_of(&o->l, NULL, row->onnx, o->in, o->l.n_in, NULL, 1) != IR_NONE;
}

static assay_status open_op(tf_op *o)
{
    tf_reader *r = o->r;
    tf_slot *slot = &o->s->slots[o->at];
    uint32_t n_out = count_outputs(o), n_in = o->n->n_in;
    o->in = ARENA_ARRAY(r->f.scratch, ir_id, (size_t)n_in + 1);
    TRY_MEMORY(o->in && tf_bind(r, o->s, o->at, IR_NONE, n_out), r->f.err);
    slot->state = TF_OPEN;
    for (uint32_t i = 0; i < n_in; i++)
        o->in[i] = tf_use(r, tf_in_ref(o, i));
    for (uint32_t i = 0; i < n_out && !(o->row && o->row->pass == TF_STANDS); i++)
        slot->out[i] = new_value(o, i);
    o->l = (foreign_layer){.f = &r->f,
                           .name = tf_name(r, o->s, o->n->name, 0),
                           .in = o->in,
                           .out = slot->out,
                           .n_in = n_in,
                           .n_out = n_out};
    return tf_failed(r);
}

/* ---- nodes ---- */

static assay_status map_node(tf_reader *r, tf_ref ref)
{
    tf_op o = {.r = r, .s = ref.s, .at = ref.node, .n = &ref.s->g->nodes.items[ref.node]};
    tf_slot *slot = &ref.s->slots[ref.node];
    ir_id outer = r->f.graph;
    o.row = o.n->row;
    uint8_t pass = o.row ? o.row->pass : TF_MAKES;
    if (pass == TF_RESOURCE || pass == TF_CONSTANT || pass == TF_VARIABLE) {
        ir_id id = pass == TF_CONSTANT   ? tf_constant(r, ref.s, o.n)
                   : pass == TF_VARIABLE ? tf_variable_of(r, ref)
                                         : IR_NONE;
        return tf_bind(r, ref.s, ref.node, id, o.n->n_out ? o.n->n_out : 1)
                   ? tf_failed(r)
                   : err_no_memory(r->f.err);
    }
    if (r->f.m->nodes.n > FOREIGN_MAX_NODES)
        return err_fail(r->f.err, ASSAY_ERR_UNSUPPORTED, "too many nodes");
    r->f.graph = ref.s->graph;
    assay_status status = open_op(&o);
    if (status == ASSAY_OK && !map_by_row(&o) && r->f.err->code == ASSAY_OK)
        add_unknown(&o);
    r->f.graph = outer;
    slot->state = TF_DONE;
    return status == ASSAY_OK ? tf_failed(r) : status;
}

assay_status tf_push(tf_reader *r, tf_ref ref)
{
    ref = tf_resolve(r, ref);
    if (!ref.s || ref.s->slots[ref.node].state == TF_DONE)
        return tf_failed(r);
    if (ref.s->slots[ref.node].state == TF_OPEN)
        return fail_graph(r, ref, "it depends on its own output");
    return VEC_ADD(r->f.scratch, &r->stack, ref) ? ASSAY_OK : err_no_memory(r->f.err);
}

static assay_status push_inputs(tf_reader *r, tf_ref ref)
{
    const tf_node *n = &ref.s->g->nodes.items[ref.node];
    if (n->row && n->row->map == tf_exit)
        return tf_push_exit(r, ref);
    if (n->row && (n->row->pass == TF_MERGE || n->row->pass == TF_RESOURCE))
        return ASSAY_OK;                   /* its branches make what they need */
    for (uint32_t i = n->n_in; i > 0; i--) /* the first is made first */
        TRY(tf_push(r, tf_input(ref.s, ref.node, i - 1)));
    return ASSAY_OK;
}

assay_status tf_build(tf_reader *r, const tf_ref *refs, uint32_t n)
{
    uint32_t base = r->stack.n;
    for (uint32_t i = 0; i < n; i++)
        TRY(tf_push(r, refs[i]));
    while (r->stack.n > base) {
        tf_ref top = r->stack.items[r->stack.n - 1];
        tf_slot *slot = &top.s->slots[top.node];
        if (slot->state == TF_NEW) {
            slot->state = TF_OPEN;
            TRY(push_inputs(r, top));
            continue;
        }
        if (slot->state == TF_OPEN)
            TRY(map_node(r, top));
        r->stack.n--;
    }
    return tf_failed(r);
}
