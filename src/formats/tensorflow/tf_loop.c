/* Loops of TensorFlow, of both kinds, as Loop of ONNX.
 *
 * Where the condition compares a counter (a constant at first, to which the body adds a constant) with a limit that the body
 * does not change, the number of trips is the limit M of the Loop; several such comparisons joined by LogicalAnd give the
 * least. Otherwise the condition is computed before the loop and at the end of its body, and the analysis says what it
 * assumes. Variables that the body does not change are read from outside. A list to which the body adds an item in each
 * trip becomes an output that the Loop collects. */
#include "base/num.h"
#include "formats/tensorflow/tf_impl.h"

/* ---- scopes ---- */

static tf_scope *loop_scope(tf_loop *l, tf_graph *g, ir_id graph)
{
    tf_op *o = l->o;
    str prefix = l->frame ? o->s->prefix
                          : str_printf(o->r->f.scratch, STR_FMT STR_FMT "/", STR_ARG(o->s->prefix),
                                       STR_ARG(o->n->name));
    tf_scope *s = tf_scope_new(o->r, g, o->s, prefix);
    if (!s)
        return NULL;
    s->graph = graph;
    s->frame = l->frame;
    s->loops = o->s->loops + 1;
    return s;
}

/* Both nodes that have the variable: the Switch of a loop of TensorFlow 1 has two outputs. */
static bool bind_var(tf_loop *l, tf_scope *s, const tf_var *v, ir_id value)
{
    uint32_t node = s->g == l->cond && !l->frame ? v->cond_node : v->body_node;
    if (!tf_bind(l->o->r, s, node, value, 2))
        return false;
    return v->body_next == TF_NONE || tf_bind(l->o->r, s, v->body_next, value, 2);
}

static void point_var(tf_loop *l, tf_scope *s, const tf_var *v, tf_ref to)
{
    uint32_t node = s->g == l->cond && !l->frame ? v->cond_node : v->body_node;
    s->slots[node].to = to;
    if (v->body_next != TF_NONE)
        s->slots[v->body_next].to = to;
}

/* A scope that is looked at and never built: variables stand for themselves. */
static tf_scope *looked_at(tf_loop *l, tf_graph *g)
{
    tf_scope *s = loop_scope(l, g, l->o->s->graph);
    for (uint32_t i = 0; s && i < l->n; i++)
        if (!bind_var(l, s, &l->vars[i], IR_NONE))
            return NULL;
    return s;
}

static bool is_var(tf_ref ref, const tf_scope *s, uint32_t node, uint32_t other)
{
    return ref.s == s && (ref.node == node || (other != TF_NONE && ref.node == other));
}

/* ---- what the body does to a variable ---- */

/* The list to which a node adds an item; s NULL: it does not. */
static tf_ref list_added_to(const tf_scope *s, tf_ref ref)
{
    const tf_node *n = &ref.s->g->nodes.items[ref.node];
    bool array = n->row && n->row->map == tf_array_write;
    bool adds = array || (n->row && n->row->map == tf_list_set);
    (void)s;
    return adds ? tf_input(ref.s, ref.node, array ? 3 : 0) : (tf_ref){.s = NULL};
}

static void look_at_body(tf_loop *l, tf_scope *s)
{
    tf_reader *r = l->o->r;
    for (uint32_t i = 0; i < l->n; i++) {
        tf_var *v = &l->vars[i];
        tf_ref next = tf_resolve(r, (tf_ref){s, v->next.node, v->next.out});
        v->same = is_var(next, s, v->body_node, v->body_next);
        if (v->same || !next.s)
            continue;
        tf_ref list = tf_resolve(r, list_added_to(s, next));
        v->collects = is_var(list, s, v->body_node, v->body_next);
    }
}

/* What the body adds to variable i in a trip; 0: something else. */
static int64_t step_of(tf_loop *l, tf_scope *s, uint32_t i)
{
    tf_reader *r = l->o->r;
    const tf_var *v = &l->vars[i];
    tf_ref next = tf_resolve(r, (tf_ref){s, v->next.node, v->next.out});
    const tf_node *n = next.s ? &next.s->g->nodes.items[next.node] : NULL;
    int64_t by = 0;
    if (!n || !(str_is(n->op, "Add") || str_is(n->op, "AddV2")) || n->n_in != 2)
        return 0;
    for (uint32_t k = 0; k < 2; k++)
        if (is_var(tf_resolve(r, tf_input(next.s, next.node, k)), s, v->body_node, v->body_next) &&
            tf_fold_ref(r, tf_input(next.s, next.node, 1 - k), &by) && by > 0)
            return by;
    return 0;
}

/* ---- trips ---- */

typedef struct look {
    tf_loop *l;
    tf_scope *cond, *body;
} look;

static int64_t var_of(const look *k, tf_ref ref)
{
    for (uint32_t i = 0; i < k->l->n; i++)
        if (is_var(ref, k->cond, k->l->vars[i].cond_node,
                   k->l->frame ? k->l->vars[i].body_next : TF_NONE))
            return i;
    return -1;
}

/* counter < limit. */
static bool take_comparison(const look *k, tf_ref counter, tf_ref limit)
{
    tf_loop *l = k->l;
    tf_reader *r = l->o->r;
    int64_t at = var_of(k, counter), to = var_of(k, limit), by, start, end, n;
    if (at < 0 || (by = step_of(l, k->body, (uint32_t)at)) == 0 ||
        !tf_fold_ref(r, l->vars[at].init, &start) || (to >= 0 && !l->vars[to].same))
        return false;
    tf_ref bound = to >= 0 ? l->vars[to].init : limit;
    if (tf_fold_ref(r, bound, &end) && num_sub(end, start, &n)) {
        n = n <= 0 ? 0 : n / by + (n % by != 0);
        l->trips = l->trips < 0 || n < l->trips ? n : l->trips;
        return true;
    }
    /* A limit that comes from outside the loop, in the scope where the loop is. */
    tf_ref outside = tf_resolve(r, bound);
    if (start != 0 || by != 1 || !outside.s || outside.s == k->cond || outside.s == k->body)
        return false;
    if (tf_build(r, &outside, 1) != ASSAY_OK)
        return false;
    ir_id id = tf_use(r, outside);
    if (id == IR_NONE || l->n_limits == TF_MAX_LIMITS)
        return false;
    l->limits[l->n_limits++] = id;
    return true;
}

static bool take_condition(const look *k, tf_ref ref, int depth)
{
    tf_reader *r = k->l->o->r;
    ref = tf_resolve(r, ref);
    const tf_node *n = ref.s ? &ref.s->g->nodes.items[ref.node] : NULL;
    if (!n || depth > 4 || n->n_in < 1)
        return false;
    tf_ref a = tf_input(ref.s, ref.node, 0), b = tf_input(ref.s, ref.node, 1);
    if (str_is(n->op, "LoopCond"))
        return take_condition(k, a, depth + 1);
    if (str_is(n->op, "Less") && n->n_in == 2)
        return take_comparison(k, tf_resolve(r, a), tf_resolve(r, b));
    return str_is(n->op, "LogicalAnd") && n->n_in == 2 && take_condition(k, a, depth + 1) &&
           take_condition(k, b, depth + 1);
}

static ir_id trip_limit(tf_loop *l)
{
    const ir_attr_spec wide[] = {IR_SPEC_INT("to", IR_INT64), LAYER_END};
    const foreign_layer *f = &l->o->l;
    ir_id all[TF_MAX_LIMITS + 1];
    uint32_t n = 0;
    if (l->trips >= 0)
        all[n++] = layer_number(f, "trips", IR_INT64, (double)l->trips);
    for (uint32_t i = 0; i < l->n_limits; i++)
        all[n++] = layer_step(f, "Cast", &l->limits[i], 1, wide);
    return n == 1 ? all[0] : layer_step(f, "Min", all, n, NULL);
}

/* ---- conditions that are computed ---- */

/* The condition of these values of the variables, in f.graph. */
static ir_id computed_condition(tf_loop *l, const ir_id *values, ir_id graph)
{
    tf_reader *r = l->o->r;
    tf_scope *s = loop_scope(l, l->cond, graph);
    for (uint32_t i = 0; s && i < l->n; i++) {
        if (values[i] == IR_NONE)
            point_var(l, s, &l->vars[i], l->vars[i].init);
        else if (!bind_var(l, s, &l->vars[i], values[i]))
            return IR_NONE;
    }
    tf_ref ref = {s, l->condition.node, l->condition.out};
    if (!s || tf_build(r, &ref, 1) != ASSAY_OK)
        return IR_NONE;
    return tf_use(r, ref);
}

/* ---- the body ---- */

static bool is_carried(const tf_var *v)
{
    return !v->same && !v->collects;
}

static bool body_inputs(tf_loop *l, tf_scope *s, ir_id graph)
{
    tf_reader *r = l->o->r;
    for (uint32_t i = 0; i < l->n; i++) {
        tf_var *v = &l->vars[i];
        if (v->same) {
            point_var(l, s, v, v->init);
            continue;
        }
        ir_id id = IR_NONE;
        if (is_carried(v)) {
            ir_id init = tf_use(r, v->init);
            str name = tf_name(r, s, s->g->nodes.items[v->body_node].name, 0);
            id = init == IR_NONE ? IR_NONE : layer_formal(&r->f, graph, name, IR_UNDEFINED, init);
            if (id == IR_NONE)
                return false;
            ir_value_at(r->f.m, id)->declared = (ir_type){0}; /* its shape may change */
        }
        if (!bind_var(l, s, v, id))
            return false;
        for (int k = 0; k < 2 && v->collects; k++) {
            s->slots[v->body_node].lists[k].kind = TF_EMPTY;
            if (v->body_next != TF_NONE)
                s->slots[v->body_next].lists[k].kind = TF_EMPTY;
        }
    }
    return true;
}

static bool body_results(tf_loop *l, tf_scope *s, ir_id graph)
{
    tf_reader *r = l->o->r;
    for (uint32_t i = 0; i < l->n; i++) {
        tf_var *v = &l->vars[i];
        if (is_carried(v) &&
            !layer_result(&r->f, graph, tf_use(r, (tf_ref){s, v->next.node, v->next.out})))
            return false;
    }
    for (uint32_t i = 0; i < l->n; i++) {
        tf_var *v = &l->vars[i];
        if (!v->collects)
            continue;
        const tf_list *list = tf_list_of(r, (tf_ref){s, v->next.node, v->next.out});
        if (!list || list->kind != TF_COLLECTED || !layer_result(&r->f, graph, list->value))
            return false;
    }
    return true;
}

static bool build_next(tf_loop *l, tf_scope *s)
{
    for (uint32_t i = 0; i < l->n; i++) {
        tf_ref next = {s, l->vars[i].next.node, l->vars[i].next.out};
        if (!l->vars[i].same && tf_build(l->o->r, &next, 1) != ASSAY_OK)
            return false;
    }
    return true;
}

static bool body_condition(tf_loop *l, tf_scope *s, ir_id given, bool counted, ir_id graph)
{
    tf_reader *r = l->o->r;
    ir_id *values = ARENA_ARRAY(r->f.scratch, ir_id, (size_t)l->n + 1), cond = given;
    for (uint32_t i = 0; values && i < l->n; i++)
        values[i] = is_carried(&l->vars[i])
                        ? tf_use(r, (tf_ref){s, l->vars[i].next.node, l->vars[i].next.out})
                        : IR_NONE;
    if (!values)
        return false;
    if (!counted)
        cond = computed_condition(l, values, graph);
    return cond != IR_NONE && layer_result(&r->f, graph, cond);
}

static bool read_body(tf_loop *l, bool counted, ir_id graph)
{
    tf_reader *r = l->o->r;
    tf_scope *s = loop_scope(l, l->body, graph);
    if (!s)
        return false;
    layer_formal(&r->f, graph, STR("iteration"), IR_INT64, IR_NONE);
    ir_id cond = layer_formal(&r->f, graph, STR("condition"), IR_BOOL, IR_NONE);
    return cond != IR_NONE && body_inputs(l, s, graph) && build_next(l, s) &&
           body_condition(l, s, cond, counted, graph) && body_results(l, s, graph);
}

/* ---- the loop ---- */

static bool add_loop(tf_loop *l, ir_id limit, ir_id cond, ir_id body)
{
    tf_op *o = l->o;
    foreign *f = &o->r->f;
    ir_id *in = ARENA_ARRAY(f->scratch, ir_id, (size_t)l->n + 2);
    ir_id *out = ARENA_ARRAY(f->scratch, ir_id, (size_t)l->n + 1);
    uint32_t n_in = 2, n_out = 0;
    if (!in || !out)
        return false;
    in[0] = limit;
    in[1] = cond;
    for (uint32_t i = 0; i < l->n; i++)
        if (is_carried(&l->vars[i]))
            in[n_in++] = tf_use(o->r, l->vars[i].init);
    for (int lists = 0; lists < 2; lists++)
        for (uint32_t i = 0; i < l->n; i++) {
            tf_var *v = &l->vars[i];
            if (lists ? !v->collects : !is_carried(v))
                continue;
            if (v->out == IR_NONE)
                v->out = foreign_inner(f, o->l.name, "after");
            if (lists && v->list)
                *v->list = (tf_list){TF_WHOLE, v->out};
            out[n_out++] = v->out;
        }
    ir_id node = foreign_add(
        f,
        &(foreign_node){
            .op = "Loop", .name = o->l.name, .in = in, .n_in = n_in, .out = out, .n_out = n_out});
    return node != IR_NONE && foreign_attach_graph(f, node, "body", body);
}

static bool has_inits(tf_loop *l)
{
    for (uint32_t i = 0; i < l->n; i++)
        if (is_carried(&l->vars[i]) && tf_use(l->o->r, l->vars[i].init) == IR_NONE)
            return false;
    return true;
}

bool tf_build_loop(tf_loop *l)
{
    tf_reader *r = l->o->r;
    ir_id outer = r->f.graph, cond = IR_NONE;
    look k = {.l = l};
    if (l->o->s->loops >= TF_MAX_LOOPS)
        return false;
    k.body = looked_at(l, l->body);
    k.cond = l->frame ? k.body : looked_at(l, l->cond);
    if (!k.body || !k.cond)
        return false;
    look_at_body(l, k.body);
    if (!has_inits(l))
        return false;
    bool counted = take_condition(&k, (tf_ref){k.cond, l->condition.node, l->condition.out}, 0);
    ir_id *values = ARENA_ARRAY(r->f.scratch, ir_id, (size_t)l->n + 1);
    for (uint32_t i = 0; values && i < l->n; i++)
        values[i] = IR_NONE;
    if (!values)
        return false;
    if (!counted && (cond = computed_condition(l, values, outer)) == IR_NONE)
        return false;
    ir_id limit = counted ? trip_limit(l) : IR_NONE;
    ir_id body = r->f.graph = ir_add_graph(r->f.m, l->o->l.name, outer);
    bool made = body != IR_NONE && read_body(l, counted, body);
    r->f.graph = outer;
    return made && add_loop(l, limit, cond, body);
}
