/* Adds nodes and values to a model. The arguments are not validated (ir/verify.h does that), but nothing is written
 * outside the model, whatever the ids are. */
#include "ir/build.h"

#include <assert.h>

#include "base/num.h"

ir_id ir_add_graph(ir_model *m, str name, ir_id parent)
{
    ir_graph *g = VEC_PUSH(m->arena, &m->graphs);
    if (!g)
        return IR_NONE;
    g->name = str_copy(m->arena, name);
    g->parent = parent;
    return m->graphs.n - 1;
}

ir_id ir_add_value(ir_model *m, ir_id graph, str name)
{
    str copy = str_copy(m->arena, name);
    return copy.p ? ir_add_value_borrowed(m, graph, copy) : IR_NONE;
}

ir_id ir_add_value_borrowed(ir_model *m, ir_id graph, str name)
{
    assert(name.p || !name.n);
    ir_value *v = VEC_PUSH(m->arena, &m->values);
    if (!v)
        return IR_NONE;
    v->name = name;
    v->declared.rank = -1;
    v->producer = IR_NONE;
    v->graph = graph;
    return m->values.n - 1;
}

static const ir_id *copy_ids(ir_model *m, const ir_id *ids, uint32_t n)
{
    assert(ids || !n);
    return n ? arena_copy(m->arena, ids, n * sizeof *ids) : NULL;
}

/* A value that has a producer keeps it, so that verify sees that two nodes claim it. */
bool ir_place_node(ir_model *m, ir_id graph, ir_id node)
{
    ir_node *n = ir_node_at(m, node);
    if (graph >= m->graphs.n || !VEC_ADD(m->arena, &ir_graph_at(m, graph)->nodes, node))
        return false;
    n->graph = graph;
    assert(n->outputs || !n->n_outputs);
    for (uint32_t i = 0; i < n->n_outputs; i++) {
        ir_id id = n->outputs[i];
        if (id < m->values.n && ir_value_at(m, id)->producer == IR_NONE)
            ir_value_at(m, id)->producer = node;
    }
    return true;
}

ir_id ir_add_node(ir_model *m, ir_id graph, const ir_node *proto)
{
    ir_node copy = *proto;
    if (graph >= m->graphs.n)
        return IR_NONE;
    copy.inputs = copy_ids(m, proto->inputs, proto->n_inputs);
    copy.outputs = copy_ids(m, proto->outputs, proto->n_outputs);
    ir_node *n = arena_failed(m->arena) ? NULL : VEC_PUSH(m->arena, &m->nodes);
    if (!n)
        return IR_NONE;
    *n = copy;
    return ir_place_node(m, graph, m->nodes.n - 1) ? m->nodes.n - 1 : IR_NONE;
}

static bool add_port(ir_model *m, ir_id graph, ir_id value, uint32_t flag)
{
    if (graph >= m->graphs.n || value >= m->values.n)
        return false;
    ir_graph *g = ir_graph_at(m, graph);
    ir_id *place = flag == IR_VALUE_INPUT ? VEC_PUSH(m->arena, &g->inputs)
                                          : VEC_PUSH(m->arena, &g->outputs);
    if (!place)
        return false;
    *place = value;
    ir_value_at(m, value)->flags |= flag;
    return true;
}

bool ir_add_input(ir_model *m, ir_id graph, ir_id value)
{
    return add_port(m, graph, value, IR_VALUE_INPUT);
}

bool ir_add_output(ir_model *m, ir_id graph, ir_id value)
{
    return add_port(m, graph, value, IR_VALUE_OUTPUT);
}

bool ir_add_constant(ir_model *m, ir_id graph, ir_id value, const ir_tensor *t)
{
    if (graph >= m->graphs.n || value >= m->values.n || !t)
        return false;
    if (!VEC_ADD(m->arena, &ir_graph_at(m, graph)->constants, value))
        return false;
    ir_value_at(m, value)->constant = t;
    return true;
}

bool ir_set_opset(ir_model *m, str domain, int64_t version)
{
    if (str_is(domain, "ai.onnx"))
        domain = STR("");
    for (uint32_t i = 0; i < m->opsets.n; i++) {
        if (str_eq(m->opsets.items[i].domain, domain)) {
            m->opsets.items[i].version = version;
            return true;
        }
    }
    str copy = str_copy(m->arena, domain);
    ir_opset *o = copy.p ? VEC_PUSH(m->arena, &m->opsets) : NULL;
    if (!o)
        return false;
    *o = (ir_opset){copy, version};
    return true;
}

static bool count_elems(int rank, const int64_t *dims, uint64_t *n)
{
    assert(rank >= 0 && (dims || !rank));
    *n = 1;
    bool has_zero = false;
    for (int i = 0; i < rank; i++) {
        if (dims[i] < 0)
            return false;
        has_zero = has_zero || dims[i] == 0;
    }
    if (has_zero) {
        *n = 0;
        return true;
    }
    for (int i = 0; i < rank; i++)
        if (!num_mulu(*n, (uint64_t)dims[i], n) || *n >= NUM_SATURATED)
            return false;
    return true;
}

ir_tensor *ir_make_tensor(ir_model *m, str name, ir_dtype t, int rank, const int64_t *dims)
{
    str copy = str_copy(m->arena, name);
    return copy.p ? ir_make_tensor_borrowed(m, copy, t, rank, dims) : NULL;
}

ir_tensor *ir_make_tensor_borrowed(ir_model *m, str name, ir_dtype t, int rank, const int64_t *dims)
{
    uint64_t n;
    if (rank < 0 || rank > IR_MAX_RANK || !count_elems(rank, dims, &n))
        return NULL;
    if (ir_dtype_bytes(t, n) >= NUM_SATURATED)
        return NULL;
    ir_tensor *tensor = ARENA_NEW(m->arena, ir_tensor);
    if (!tensor)
        return NULL;
    *tensor = (ir_tensor){
        .name = name,
        .dtype = t,
        .rank = rank,
        .dims = rank ? arena_copy(m->arena, dims, (size_t)rank * sizeof *dims) : NULL,
        .n_elems = n,
        .n_stored = n,
        .size_bytes = ir_dtype_bytes(t, n),
    };
    return arena_failed(m->arena) ? NULL : tensor;
}

ir_type ir_tensor_type(ir_model *m, ir_dtype t, int rank, const int64_t *dims)
{
    ir_type type = {.kind = IR_KIND_TENSOR, .dtype = t, .rank = -1};
    if (rank < 0 || rank > IR_MAX_RANK)
        return type;
    ir_dim *copy = rank ? ARENA_ARRAY(m->arena, ir_dim, (size_t)rank) : NULL;
    if (rank && !copy)
        return type;
    for (int i = 0; i < rank; i++)
        copy[i].value = dims[i] < 0 ? -1 : dims[i];
    type.rank = rank;
    type.dims = copy;
    return type;
}
