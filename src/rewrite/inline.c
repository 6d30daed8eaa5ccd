/* Values are renamed through one array, old id to new id: a function cannot be inside itself, so
 * the values of its body have one meaning at a time. Sources of copies are always graphs of the
 * file; their ids are below the array's size. Values of graphs that are not function bodies map
 * to themselves.
 */
#include "rewrite/inline.h"

#include "ir/build.h"
#include "ir/constant.h"
#include "ir/function.h"

#define SCRATCH_BYTES ((size_t)256 << 20)
/* Look-ups of attributes are linear, because operators have few; a file may say otherwise. */
#define MAX_COMPARED ((uint64_t)100000000)
#define NAME_FMT     "'%.*s'"
#define NAME_ARG(s)  (int)((s).n < 100 ? (s).n : 100), ((s).p ? (s).p : "")

typedef struct inliner {
    ir_model *m;
    arena *scratch;
    assay_error *err;
    ir_function_index index;
    ir_id *called; /* by node of the file: the function that it calls, or IR_NONE */
    ir_id *remap;
    uint8_t *active;     /* by function: it is being expanded, or measured */
    uint32_t *sizes;     /* by function: nodes and calls of its expansion; 0 while not known */
    uint32_t most;       /* nodes */
    uint32_t n_made;     /* calls and nodes, so that empty functions cannot multiply for free */
    uint64_t n_compared; /* attribute names */
    unsigned depth;
    VEC(ir_id) queue; /* graphs of the file that are reached */
} inliner;

/* What the attribute references of a function's body refer to. */
typedef struct environment {
    const ir_node *call;
    const ir_function *fn;
    const struct environment *outer; /* that of the call's own attributes */
} environment;

/* Where copies go and how they are called. */
typedef struct site {
    ir_id graph;
    ir_id origin; /* the outermost call */
    str prefix;
    const environment *env;
} site;

static assay_status expand_call(inliner *x, const ir_node *call, ir_id fn_id, const site *at);
static assay_status copy_graph(inliner *x, ir_id src, const site *at, ir_id *out);

static assay_status no_room(inliner *x)
{
    return err_fail(x->err, ASSAY_ERR_UNSUPPORTED,
                    "out of memory while expanding the model's functions. Inline them in the "
                    "exporter, or use --raise-limit model-memory=4GiB.");
}

static assay_status too_many(inliner *x)
{
    return err_fail(x->err, ASSAY_ERR_UNSUPPORTED,
                    "expanding the model's functions gives too many nodes%s",
                    LIMIT_TEXT(LIMIT_INLINED));
}

/* Measuring does not see graphs that are given to functions as attributes. */
static assay_status count_one(inliner *x)
{
    return ++x->n_made <= x->most ? ASSAY_OK : too_many(x);
}

static assay_status go_deeper(inliner *x)
{
    if (++x->depth <= INLINE_MAX_DEPTH)
        return ASSAY_OK;
    return err_fail(x->err, ASSAY_ERR_UNSUPPORTED,
                    "functions and subgraphs are nested deeper than %d levels", INLINE_MAX_DEPTH);
}

static assay_status calls_itself(inliner *x, const ir_node *call, ir_id fn)
{
    return err_fail_node(x->err, ASSAY_ERR_MALFORMED, call->name.p,
                         "function " NAME_FMT " calls itself, directly or through other functions",
                         NAME_ARG(x->m->functions.items[fn].name));
}

/* ---- measuring first: functions that multiply are refused before they have eaten the memory
 * ---- */

static assay_status measure_graph(inliner *x, ir_id graph, uint32_t *size);

static assay_status measure_call(inliner *x, const ir_node *n, ir_id fn, uint32_t *size)
{
    uint32_t own = 1;
    if (x->active[fn])
        return calls_itself(x, n, fn);
    if (x->sizes[fn] == 0) {
        x->active[fn] = 1;
        TRY(measure_graph(x, x->m->functions.items[fn].body, &own));
        x->active[fn] = 0;
        x->sizes[fn] = own;
    }
    *size += x->sizes[fn];
    return ASSAY_OK;
}

static assay_status measure_node(inliner *x, ir_id id, uint32_t *size)
{
    const ir_node *n = ir_node_at(x->m, id);
    ir_id fn = x->called[id];
    if (fn != IR_NONE)
        return measure_call(x, n, fn, size);
    ++*size;
    for (uint32_t i = 0; i < n->n_attrs; i++) {
        ir_graphs inner = ir_attr_graphs(&n->attrs[i]);
        for (uint32_t k = 0; k < inner.n; k++)
            TRY(measure_graph(x, inner.ids[k], size));
    }
    return ASSAY_OK;
}

/* Adds to *size, which stays below twice the limit: it is checked after every node. */
static assay_status measure_graph(inliner *x, ir_id graph, uint32_t *size)
{
    const ir_graph *g = ir_graph_at(x->m, graph);
    TRY(go_deeper(x));
    for (uint32_t i = 0; i < g->nodes.n; i++) {
        TRY(measure_node(x, g->nodes.items[i], size));
        if (*size > x->most)
            return too_many(x);
    }
    x->depth--;
    return ASSAY_OK;
}

/* ---- values ---- */

static str inner_name(inliner *x, const site *at, str name)
{
    return str_printf(x->scratch, "%.*s/%.*s", STR_ARG(at->prefix), STR_ARG(name));
}

static ir_id copy_value(inliner *x, ir_id old, const site *at)
{
    str name = inner_name(x, at, ir_value_at(x->m, old)->name);
    ir_id id = name.p ? ir_add_value(x->m, at->graph, name) : IR_NONE;
    if (id == IR_NONE)
        return IR_NONE;
    const ir_value *from = ir_value_at(x->m, old);
    ir_value *to = ir_value_at(x->m, id);
    to->declared = from->declared;
    to->flags = from->flags & ~(uint32_t)(IR_VALUE_INPUT | IR_VALUE_OUTPUT);
    return x->remap[old] = id;
}

/* Values made by the graph's nodes have no copy yet. */
static void forget_made(inliner *x, const ir_graph *g)
{
    for (uint32_t i = 0; i < g->nodes.n; i++) {
        const ir_node *n = ir_node_at(x->m, g->nodes.items[i]);
        for (uint32_t k = 0; k < n->n_outputs; k++)
            if (n->outputs[k] != IR_NONE)
                x->remap[n->outputs[k]] = IR_NONE;
    }
}

static ir_id *map_inputs(inliner *x, const ir_node *n)
{
    ir_id *ids = ARENA_ARRAY(x->scratch, ir_id, n->n_inputs);
    for (uint32_t i = 0; ids && i < n->n_inputs; i++)
        ids[i] = n->inputs[i] == IR_NONE ? IR_NONE : x->remap[n->inputs[i]];
    return ids;
}

static ir_id *map_outputs(inliner *x, const ir_node *n, const site *at)
{
    ir_id *ids = ARENA_ARRAY(x->scratch, ir_id, n->n_outputs);
    for (uint32_t i = 0; ids && i < n->n_outputs; i++) {
        ir_id old = n->outputs[i];
        ids[i] = old == IR_NONE ? IR_NONE : x->remap[old];
        if (old != IR_NONE && ids[i] == IR_NONE)
            ids[i] = copy_value(x, old, at);
        if (old != IR_NONE && ids[i] == IR_NONE)
            return NULL;
    }
    return ids;
}

/* ---- attributes ---- */

static const ir_attr *find_attr(inliner *x, const ir_attr *attrs, uint32_t n, str name)
{
    x->n_compared += n;
    for (uint32_t i = 0; i < n && x->n_compared <= MAX_COMPARED; i++)
        if (str_eq(attrs[i].name, name))
            return &attrs[i];
    return NULL;
}

/* Follows references outwards. *env becomes the environment that the found attribute was
 * written in; NULL when nobody supplies a value. */
static const ir_attr *resolve_attr(inliner *x, const ir_attr *a, const environment **env)
{
    while (a && !str_empty(a->ref)) {
        const environment *e = *env;
        if (!e)
            return NULL;
        const ir_attr *given = find_attr(x, e->call->attrs, e->call->n_attrs, a->ref);
        if (!given) {
            a = find_attr(x, e->fn->attr_defaults, e->fn->n_attr_defaults, a->ref);
            return a && str_empty(a->ref) ? a : NULL;
        }
        a = given;
        *env = e->outer;
    }
    return a;
}

static assay_status copy_graphs(inliner *x, const ir_attr *from, const site *at, ir_attr *to)
{
    if (from->kind == IR_ATTR_GRAPH)
        return copy_graph(x, from->v.graph, at, &to->v.graph);
    ir_id *ids = ARENA_ARRAY(x->m->arena, ir_id, from->n);
    if (!ids)
        return no_room(x);
    for (uint32_t i = 0; i < from->n; i++)
        TRY(copy_graph(x, from->v.graphs[i], at, &ids[i]));
    to->v.graphs = ids;
    return ASSAY_OK;
}

static bool is_graph(const ir_attr *a)
{
    return a->kind == IR_ATTR_GRAPH || a->kind == IR_ATTR_GRAPHS;
}

static bool is_plain(const ir_node *n)
{
    for (uint32_t i = 0; i < n->n_attrs; i++)
        if (!str_empty(n->attrs[i].ref) || is_graph(&n->attrs[i]))
            return false;
    return true;
}

/* Replaces n's attributes by copies that refer to nothing of the function. */
static assay_status copy_attrs(inliner *x, ir_node *n, const site *at)
{
    uint32_t kept = 0;
    if (is_plain(n))
        return ASSAY_OK;
    ir_attr *out = ARENA_ARRAY(x->m->arena, ir_attr, n->n_attrs);
    if (!out)
        return no_room(x);
    for (uint32_t i = 0; i < n->n_attrs; i++) {
        site from = *at;
        const ir_attr *a = resolve_attr(x, &n->attrs[i], &from.env);
        if (!a)
            continue;
        out[kept] = *a;
        out[kept].name = n->attrs[i].name;
        if (is_graph(a))
            TRY(copy_graphs(x, a, &from, &out[kept]));
        kept++;
    }
    n->attrs = out;
    n->n_attrs = kept;
    if (x->n_compared <= MAX_COMPARED)
        return ASSAY_OK;
    return err_fail(x->err, ASSAY_ERR_UNSUPPORTED,
                    "calls of the model's functions have too many attributes");
}

/* ---- nodes and graphs ---- */

static assay_status set_constant(inliner *x, ir_id id)
{
    const ir_node *n = ir_node_at(x->m, id);
    if (!ir_is_constant_node(n) || n->n_outputs == 0 || n->outputs[0] == IR_NONE)
        return ASSAY_OK;
    return ir_node_constant(x->m, n, &ir_value_at(x->m, n->outputs[0])->constant, x->err);
}

static assay_status add_node(inliner *x, ir_node *n, const site *at)
{
    TRY(count_one(x));
    n->call = at->origin;
    n->name = str_copy(x->m->arena, n->name);
    ir_id id = n->name.p ? ir_add_node(x->m, at->graph, n) : IR_NONE;
    return id == IR_NONE ? no_room(x) : set_constant(x, id);
}

static assay_status copy_node(inliner *x, ir_id src, const site *at)
{
    ir_node n = *ir_node_at(x->m, src);
    ir_id fn = x->called[src];
    n.inputs = map_inputs(x, &n);
    n.outputs = map_outputs(x, &n, at);
    n.name = inner_name(x, at, n.name);
    if (!n.inputs || !n.outputs || !n.name.p)
        return no_room(x);
    if (fn != IR_NONE)
        return expand_call(x, &n, fn, at);
    TRY(copy_attrs(x, &n, at));
    return add_node(x, &n, at);
}

static assay_status copy_nodes(inliner *x, const ir_graph *src, const site *at)
{
    for (uint32_t i = 0; i < src->nodes.n; i++)
        TRY(copy_node(x, src->nodes.items[i], at));
    return ASSAY_OK;
}

static assay_status copy_given(inliner *x, const ir_graph *src, const site *at)
{
    for (uint32_t i = 0; i < src->inputs.n; i++) {
        ir_id id = copy_value(x, src->inputs.items[i], at);
        if (id == IR_NONE || !ir_add_input(x->m, at->graph, id))
            return no_room(x);
    }
    for (uint32_t i = 0; i < src->constants.n; i++) {
        ir_id old = src->constants.items[i], id = copy_value(x, old, at);
        if (id == IR_NONE ||
            !ir_add_constant(x->m, at->graph, id, ir_value_at(x->m, old)->constant))
            return no_room(x);
    }
    return ASSAY_OK;
}

static assay_status copy_results(inliner *x, const ir_graph *src, const site *at)
{
    for (uint32_t i = 0; i < src->outputs.n; i++) {
        ir_id id = x->remap[src->outputs.items[i]];
        if (id == IR_NONE)
            return err_fail(x->err, ASSAY_ERR_MALFORMED,
                            "a subgraph of the function called by node " NAME_FMT
                            " returns an input that the call omits",
                            NAME_ARG(at->prefix));
        if (!ir_add_output(x->m, at->graph, id))
            return no_room(x);
    }
    return ASSAY_OK;
}

/* `at` is where the owner goes: the copy becomes a subgraph of that graph. */
static assay_status copy_graph(inliner *x, ir_id src_id, const site *at, ir_id *out)
{
    ir_graph src = *ir_graph_at(x->m, src_id);
    site in = *at;
    in.graph = ir_add_graph(x->m, src.name, at->graph);
    if (in.graph == IR_NONE)
        return no_room(x);
    TRY(go_deeper(x));
    forget_made(x, &src);
    TRY(copy_given(x, &src, &in));
    TRY(copy_nodes(x, &src, &in));
    TRY(copy_results(x, &src, &in));
    x->depth--;
    *out = in.graph;
    return ASSAY_OK;
}

/* ---- calls ---- */

static assay_status check_call(inliner *x, const ir_node *call, const ir_function *fn,
                               const ir_graph *body)
{
    bool more_in = call->n_inputs > body->inputs.n;
    if (!more_in && call->n_outputs <= body->outputs.n)
        return ASSAY_OK;
    return err_fail_node(
        x->err, ASSAY_ERR_MALFORMED, call->name.p,
        "node " NAME_FMT " calls function " NAME_FMT " with %u %s; the function has %u",
        NAME_ARG(call->name), NAME_ARG(fn->name), more_in ? call->n_inputs : call->n_outputs,
        more_in ? "inputs" : "outputs", more_in ? body->inputs.n : body->outputs.n);
}

/* Formal inputs mean the call's, and what makes a formal output makes the call's output. */
static void bind_call(inliner *x, const ir_node *call, const ir_graph *body)
{
    forget_made(x, body);
    for (uint32_t i = 0; i < body->inputs.n; i++)
        x->remap[body->inputs.items[i]] = i < call->n_inputs ? call->inputs[i] : IR_NONE;
    for (uint32_t i = 0; i < call->n_outputs; i++) {
        ir_id inner = body->outputs.items[i], out = call->outputs[i];
        if (out == IR_NONE)
            continue;
        ir_value_at(x->m, out)->producer = IR_NONE;
        if (x->remap[inner] == IR_NONE && ir_value_at(x->m, inner)->producer != IR_NONE)
            x->remap[inner] = out;
    }
}

static assay_status add_identity(inliner *x, const ir_node *call, uint32_t i, ir_id from,
                                 const site *at)
{
    int version = ir_opset_version(x->m, STR(""));
    ir_node n = {.op = STR("Identity"), .version = version ? version : 1};
    if (from == IR_NONE)
        return err_fail_node(
            x->err, ASSAY_ERR_MALFORMED, call->name.p,
            "node " NAME_FMT
            " uses output %u of a function, which returns an input that the call omits",
            NAME_ARG(call->name), i);
    n.name = str_printf(x->scratch, "%.*s/Identity_%u", STR_ARG(call->name), i);
    n.inputs = &from;
    n.outputs = &call->outputs[i];
    n.n_inputs = n.n_outputs = 1;
    return n.name.p ? add_node(x, &n, at) : no_room(x);
}

static assay_status add_identities(inliner *x, const ir_node *call, const ir_graph *body,
                                   const site *at)
{
    for (uint32_t i = 0; i < call->n_outputs; i++) {
        ir_id got = x->remap[body->outputs.items[i]];
        if (call->outputs[i] != IR_NONE && got != call->outputs[i])
            TRY(add_identity(x, call, i, got, at));
    }
    return ASSAY_OK;
}

/* `call` has new ids already; its attributes are those of the file, written in at->env. */
static assay_status expand_call(inliner *x, const ir_node *call, ir_id fn_id, const site *at)
{
    const ir_function *fn = &x->m->functions.items[fn_id];
    ir_graph body = *ir_graph_at(x->m, fn->body);
    environment env = {.call = call, .fn = fn, .outer = at->env};
    site in = {.graph = at->graph, .origin = at->origin, .prefix = call->name, .env = &env};
    if (x->active[fn_id])
        return calls_itself(x, call, fn_id);
    TRY(check_call(x, call, fn, &body));
    TRY(count_one(x));
    TRY(go_deeper(x));
    x->active[fn_id] = 1;
    bind_call(x, call, &body);
    TRY(copy_nodes(x, &body, &in));
    TRY(add_identities(x, call, &body, &in));
    x->active[fn_id] = 0;
    x->depth--;
    return ASSAY_OK;
}

/* ---- the graphs of the file ---- */

static assay_status enqueue_graph(inliner *x, ir_id graph)
{
    if (!VEC_ADD(x->scratch, &x->queue, graph))
        return no_room(x);
    return ASSAY_OK;
}

static assay_status enqueue_subgraphs(inliner *x, const ir_node *n)
{
    for (uint32_t i = 0; i < n->n_attrs; i++) {
        ir_graphs inner = ir_attr_graphs(&n->attrs[i]);
        for (uint32_t k = 0; k < inner.n; k++)
            TRY(enqueue_graph(x, inner.ids[k]));
    }
    return ASSAY_OK;
}

static assay_status keep_or_expand(inliner *x, ir_id graph, ir_id id)
{
    ir_node n = *ir_node_at(x->m, id);
    ir_id fn = x->called[id];
    if (fn != IR_NONE)
        return expand_call(x, &n, fn, &(site){.graph = graph, .origin = id});
    if (!VEC_ADD(x->m->arena, &ir_graph_at(x->m, graph)->nodes, id))
        return no_room(x);
    return enqueue_subgraphs(x, &n);
}

static assay_status rewrite_graph(inliner *x, ir_id graph)
{
    ir_graph *g = ir_graph_at(x->m, graph);
    uint32_t n = g->nodes.n;
    const ir_id *old = arena_copy(x->scratch, g->nodes.items, n * sizeof *old);
    if (!old)
        return no_room(x);
    g->nodes.n = 0;
    for (uint32_t i = 0; i < n; i++)
        TRY(keep_or_expand(x, graph, old[i]));
    return ASSAY_OK;
}

static assay_status inline_calls(inliner *x)
{
    uint32_t n = x->m->values.n;
    TRY(ir_function_index_init(&x->index, x->m, x->scratch, x->err));
    x->called = ARENA_ARRAY(x->scratch, ir_id, x->m->nodes.n);
    x->remap = ARENA_ARRAY(x->scratch, ir_id, n);
    x->active = ARENA_ARRAY(x->scratch, uint8_t, x->m->functions.n);
    x->sizes = ARENA_ARRAY(x->scratch, uint32_t, x->m->functions.n);
    if (!x->called || !x->remap || !x->active || !x->sizes)
        return no_room(x);
    for (uint32_t i = 0; i < x->m->nodes.n; i++)
        x->called[i] = ir_called_function(&x->index, ir_node_at(x->m, i));
    for (uint32_t i = 0; i < n; i++)
        x->remap[i] = i;
    uint32_t size = 0;
    TRY(measure_graph(x, 0, &size));
    TRY(enqueue_graph(x, 0));
    for (uint32_t i = 0; i < x->queue.n; i++)
        TRY(rewrite_graph(x, x->queue.items[i]));
    return arena_failed(x->scratch) || arena_failed(x->m->arena) ? no_room(x) : ASSAY_OK;
}

assay_status rewrite_inline(ir_model *m, assay_error *err)
{
    assay_error own;
    inliner x = {.m = m, .most = (uint32_t)limit_value(LIMIT_INLINED), .err = &own};
    if (m->functions.n == 0)
        return ASSAY_OK;
    err_clear(&own);
    x.scratch = arena_new(SCRATCH_BYTES);
    assay_status status = x.scratch ? inline_calls(&x) : err_no_memory(&own);
    arena_free(x.scratch);
    if (status != ASSAY_OK && err)
        *err = own;
    return status;
}
