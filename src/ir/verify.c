/* The invariants of ir/graph.h, in an order where each check may rely on those before it: ids are
 * in range; tensors and types are sound; every value has one maker; every node stands in one graph
 * and every subgraph in one node; then one walk in execution order, into subgraphs, that finds
 * every value made before it is read and visible where it is read.
 *
 * Linear in the size of the model. The walk keeps a separate stack: its depth is the file's. Unreferenced nodes and
 * graphs, which rewrites leave behind, are not checked.
 */
#include "ir/verify.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/num.h"

typedef struct frame {
    ir_id graph;
    uint32_t node; /* index in the graph's list */
    uint32_t attr; /* of that node */
    uint32_t item; /* of that attribute's list */
} frame;

typedef struct check {
    const ir_model *m;
    assay_error *err;
    uint8_t *made;   /* by value: it was made by now */
    uint8_t *claims; /* by value: a list of inputs, constants or outputs has it */
    uint8_t *open;   /* by graph: the walk is inside it */
    uint8_t *owned;  /* by graph: a node or a function has it */
    uint8_t *listed; /* by node: a graph has it */
    frame *stack;
    uint32_t depth;
} check;

/* A name for a sentence: short, and NUL-terminated whatever the str was. */
typedef struct shown {
    char s[128];
} shown;

static shown shown_name(str name)
{
    shown out;
    snprintf(out.s, sizeof out.s, "%.*s", (int)(name.n < 127 ? name.n : 127), name.p ? name.p : "");
    return out;
}

static assay_status bad_node(const check *c, ir_id id, const char *what)
{
    const ir_node *n = ir_node_at(c->m, id);
    return err_fail_node(c->err, ASSAY_ERR_MALFORMED, shown_name(n->name).s, "node '%s' (%s) %s",
                         shown_name(n->name).s, shown_name(n->op).s, what);
}

static assay_status bad_value(const check *c, ir_id id, const char *what)
{
    str name = id < c->m->values.n ? ir_value_at(c->m, id)->name : STR("?");
    return err_fail_node(c->err, ASSAY_ERR_MALFORMED, shown_name(name).s, "value '%s' %s",
                         shown_name(name).s, what);
}

static assay_status bad_graph(const check *c, ir_id id, const char *what)
{
    str name = id < c->m->graphs.n ? ir_graph_at(c->m, id)->name : STR("?");
    return err_fail(c->err, ASSAY_ERR_MALFORMED, "graph '%s' %s", shown_name(name).s, what);
}

/* ---- tensors and types ----------------------------------------------------------------------- */

static const char *tensor_fault(const ir_tensor *t)
{
    uint64_t n = 1;
    bool fits = true, zero = false;
    if (t->rank < 0 || t->rank > IR_MAX_RANK)
        return "has a constant with more than 64 dimensions";
    for (int i = 0; i < t->rank; i++) {
        if (t->dims[i] < 0)
            return "has a constant with a negative dimension";
        zero = zero || t->dims[i] == 0;
        fits = fits && num_mulu(n, (uint64_t)t->dims[i], &n);
    }
    if (!zero && (!fits || n >= NUM_SATURATED))
        return "has a constant with too many elements to count";
    if (t->n_elems != (zero ? 0 : n))
        return "has a constant whose element count is not the product of its dimensions";
    if (t->storage != IR_DATA_INLINE || t->dtype == IR_STRING || t->sparse)
        return NULL;
    if (t->size_bytes < ir_dtype_bytes(t->dtype, t->n_elems) || (t->size_bytes && !t->bytes))
        return "has a constant with too few bytes for its elements";
    return NULL;
}

enum { TYPE_DEPTH_MAX = 256 };

static const char *type_fault(const ir_type *t)
{
    for (int depth = 0; t; t = t->elem, depth++) {
        if (depth >= TYPE_DEPTH_MAX)
            return "has a type that is nested too deeply";
        if (t->rank > IR_MAX_RANK || (t->rank > 0 && !t->dims))
            return "has a declared type with more than 64 dimensions";
        for (int i = 0; i < t->rank; i++)
            if (t->dims[i].value < -1)
                return "has a declared type with a negative dimension";
    }
    return NULL;
}

static assay_status check_values(const check *c)
{
    for (ir_id id = 0; id < c->m->values.n; id++) {
        const ir_value *v = ir_value_at(c->m, id);
        if (v->graph >= c->m->graphs.n)
            return bad_value(c, id, "belongs to no graph");
        if (v->producer != IR_NONE && v->producer >= c->m->nodes.n)
            return bad_value(c, id, "is produced by a node that does not exist");
        const char *fault = v->constant ? tensor_fault(v->constant) : NULL;
        if (!fault)
            fault = type_fault(&v->declared);
        if (fault)
            return bad_value(c, id, fault);
    }
    return ASSAY_OK;
}

static const char *attr_fault(const ir_attr *a)
{
    if (a->ref.n)
        return NULL;
    if (a->kind == IR_ATTR_TENSOR || a->kind == IR_ATTR_SPARSE)
        return a->v.tensor ? tensor_fault(a->v.tensor) : "has a tensor attribute without a tensor";
    const char *fault = NULL;
    if (a->kind == IR_ATTR_TENSORS || a->kind == IR_ATTR_SPARSES)
        for (uint32_t i = 0; i < a->n && !fault; i++)
            fault = tensor_fault(a->v.tensors[i]);
    return fault;
}

/* ---- who holds what -------------------------------------------------------------------------- */

static assay_status check_outputs(const check *c, ir_id id)
{
    const ir_node *n = ir_node_at(c->m, id);
    for (uint32_t i = 0; i < n->n_outputs; i++) {
        ir_id out = n->outputs[i];
        if (out == IR_NONE)
            continue;
        if (out >= c->m->values.n)
            return bad_node(c, id, "produces a value that does not exist");
        const ir_value *v = ir_value_at(c->m, out);
        if (v->producer != id || c->claims[out]++)
            return bad_value(c, out, "is produced twice");
        if (v->graph != n->graph)
            return bad_node(c, id, "produces a value of another graph");
    }
    return ASSAY_OK;
}

static assay_status check_node(const check *c, ir_id id)
{
    const ir_node *n = ir_node_at(c->m, id);
    for (uint32_t i = 0; i < n->n_inputs; i++)
        if (n->inputs[i] != IR_NONE && n->inputs[i] >= c->m->values.n)
            return bad_node(c, id, "reads a value that does not exist");
    for (uint32_t i = 0; i < n->n_attrs; i++) {
        const char *fault = attr_fault(&n->attrs[i]);
        if (fault)
            return bad_node(c, id, fault);
    }
    return check_outputs(c, id);
}

/* Inputs and initialisers are made by nobody and stand in one list. */
static assay_status check_given(const check *c, ir_id graph, const ir_id *ids, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        if (ids[i] >= c->m->values.n)
            return bad_graph(c, graph, "has an input that does not exist");
        const ir_value *v = ir_value_at(c->m, ids[i]);
        if (v->producer != IR_NONE || c->claims[ids[i]]++)
            return bad_value(c, ids[i], "is produced twice");
        if (v->graph != graph)
            return bad_value(c, ids[i], "is an input or initialiser of another graph");
    }
    return ASSAY_OK;
}

static assay_status check_graph(const check *c, ir_id id)
{
    const ir_graph *g = ir_graph_at(c->m, id);
    if (g->parent != IR_NONE && g->parent >= c->m->graphs.n)
        return bad_graph(c, id, "belongs to a graph that does not exist");
    TRY(check_given(c, id, g->inputs.items, g->inputs.n));
    TRY(check_given(c, id, g->constants.items, g->constants.n));
    for (uint32_t i = 0; i < g->constants.n; i++)
        if (!ir_value_at(c->m, g->constants.items[i])->constant)
            return bad_value(c, g->constants.items[i], "is an initialiser without a tensor");
    for (uint32_t i = 0; i < g->outputs.n; i++)
        if (g->outputs.items[i] >= c->m->values.n)
            return bad_graph(c, id, "has an output that does not exist");
    for (uint32_t i = 0; i < g->nodes.n; i++) {
        ir_id node = g->nodes.items[i];
        if (node >= c->m->nodes.n || ir_node_at(c->m, node)->graph != id || c->listed[node]++)
            return bad_graph(c, id, "lists a node of another graph, or lists a node twice");
        TRY(check_node(c, node));
    }
    return ASSAY_OK;
}

/* ---- the walk -------------------------------------------------------------------------------- */

static assay_status enter_graph(check *c, ir_id graph)
{
    const ir_graph *g = ir_graph_at(c->m, graph);
    for (uint32_t i = 0; i < g->inputs.n; i++)
        c->made[g->inputs.items[i]] = 1;
    for (uint32_t i = 0; i < g->constants.n; i++)
        c->made[g->constants.items[i]] = 1;
    c->open[graph] = 1;
    c->stack[c->depth++] = (frame){.graph = graph};
    return ASSAY_OK;
}

/* A graph is entered once in the whole walk, so the stack never outgrows the number of graphs. */
static assay_status enter_sub(check *c, ir_id node, ir_id graph)
{
    if (graph >= c->m->graphs.n)
        return bad_node(c, node, "has a subgraph that does not exist");
    if (c->owned[graph]++ || graph == 0)
        return bad_node(c, node, "has a subgraph that is also used elsewhere");
    if (ir_graph_at(c->m, graph)->parent != ir_node_at(c->m, node)->graph)
        return bad_node(c, node, "has a subgraph of another graph");
    return enter_graph(c, graph);
}

static bool is_visible(const check *c, ir_id value)
{
    return c->made[value] && c->open[ir_value_at(c->m, value)->graph];
}

static const char *unseen_reason(const check *c, ir_id value)
{
    const ir_value *v = ir_value_at(c->m, value);
    if (!c->open[v->graph])
        return "is read outside its graph";
    return v->producer == IR_NONE ? "is read but never produced" : "is read before it is produced";
}

static assay_status bad_input(const check *c, const ir_node *n, ir_id value)
{
    return err_fail_node(c->err, ASSAY_ERR_MALFORMED, shown_name(n->name).s,
                         "value '%s', an input of node '%s' (%s), %s",
                         shown_name(ir_value_at(c->m, value)->name).s, shown_name(n->name).s,
                         shown_name(n->op).s, unseen_reason(c, value));
}

static assay_status check_inputs(const check *c, ir_id id)
{
    const ir_node *n = ir_node_at(c->m, id);
    for (uint32_t i = 0; i < n->n_inputs; i++)
        if (n->inputs[i] != IR_NONE && !is_visible(c, n->inputs[i]))
            return bad_input(c, n, n->inputs[i]);
    return ASSAY_OK;
}

/* The next subgraph of the node that the frame stands at; false when it has no more. */
static bool next_subgraph(const ir_node *n, frame *f, ir_id *graph)
{
    for (; f->attr < n->n_attrs; f->attr++, f->item = 0) {
        ir_graphs inner = ir_attr_graphs(&n->attrs[f->attr]);
        if (f->item < inner.n) {
            *graph = inner.ids[f->item++];
            return true;
        }
    }
    return false;
}

static assay_status leave_graph(check *c, const ir_graph *g)
{
    for (uint32_t i = 0; i < g->outputs.n; i++)
        if (!is_visible(c, g->outputs.items[i]))
            return bad_value(c, g->outputs.items[i], "is a graph output but never produced");
    c->open[c->stack[--c->depth].graph] = 0;
    return ASSAY_OK;
}

/* One step: into a subgraph, past a node, or out of a graph. */
static assay_status step_walk(check *c)
{
    frame *f = &c->stack[c->depth - 1];
    const ir_graph *g = ir_graph_at(c->m, f->graph);
    if (f->node >= g->nodes.n)
        return leave_graph(c, g);
    ir_id id = g->nodes.items[f->node], sub;
    const ir_node *n = ir_node_at(c->m, id);
    if (f->attr == 0 && f->item == 0)
        TRY(check_inputs(c, id));
    if (next_subgraph(n, f, &sub))
        return enter_sub(c, id, sub);
    for (uint32_t i = 0; i < n->n_outputs; i++)
        if (n->outputs[i] != IR_NONE)
            c->made[n->outputs[i]] = 1;
    *f = (frame){.graph = f->graph, .node = f->node + 1};
    return ASSAY_OK;
}

static assay_status walk_graph(check *c, ir_id root)
{
    TRY(enter_graph(c, root));
    while (c->depth > 0)
        TRY(step_walk(c));
    return ASSAY_OK;
}

static assay_status walk_function(check *c, const ir_function *f)
{
    if (f->body >= c->m->graphs.n || f->body == 0 || c->owned[f->body]++ ||
        ir_graph_at(c->m, f->body)->parent != IR_NONE)
        return err_fail(c->err, ASSAY_ERR_MALFORMED,
                        "function '%s' has a body that is also used elsewhere",
                        shown_name(f->name).s);
    return walk_graph(c, f->body);
}

static assay_status check_all(check *c)
{
    const ir_model *m = c->m;
    if (m->graphs.n == 0 || ir_graph_at(m, 0)->parent != IR_NONE)
        return err_fail(c->err, ASSAY_ERR_MALFORMED, "the model has no main graph");
    TRY(check_values(c));
    for (ir_id id = 0; id < m->graphs.n; id++)
        TRY(check_graph(c, id));
    TRY(walk_graph(c, 0));
    for (uint32_t i = 0; i < m->functions.n; i++)
        TRY(walk_function(c, &m->functions.items[i]));
    return ASSAY_OK;
}

assay_status ir_verify(const ir_model *m, assay_error *err)
{
    size_t values = m->values.n, graphs = m->graphs.n, nodes = m->nodes.n;
    uint8_t *bytes = memory_zeroed(2 * values + 2 * graphs + nodes + 1, 1);
    frame *stack = memory_zeroed(graphs + 1, sizeof *stack);
    assay_status status;
    if (bytes && stack) {
        check c = {
            .m = m,
            .err = err,
            .made = bytes,
            .claims = bytes + values,
            .open = bytes + 2 * values,
            .owned = bytes + 2 * values + graphs,
            .listed = bytes + 2 * values + 2 * graphs,
            .stack = stack,
        };
        status = check_all(&c);
    } else {
        status = err_no_memory(err);
    }
    free(bytes);
    free(stack);
    return status;
}
