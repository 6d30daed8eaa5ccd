/* See support/net.h. */
#include "support/net.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

net net_open(int version)
{
    net n = {.version = version, .scratch = arena_new(64u << 20)};
    assert_non_null(n.scratch);
    assert_int_equal(ir_model_new(256u << 20, &n.m, &n.err), ASSAY_OK);
    return n;
}

void net_close(net *n)
{
    ir_model_free(n->m);
    arena_free(n->scratch);
}

ir_id net_graph(net *n, ir_id parent)
{
    ir_id g = ir_add_graph(n->m, STR("g"), parent);
    assert_int_not_equal(g, IR_NONE);
    return g;
}

ir_id net_formal(net *n, ir_id graph, const char *name)
{
    ir_id id = ir_add_value(n->m, graph, str_of(name));
    assert_true(ir_add_input(n->m, graph, id));
    return id;
}

ir_id net_input(net *n, ir_id graph, const char *name, ir_dtype t, int rank, const int64_t *dims)
{
    ir_id id = net_formal(n, graph, name);
    net_declare(n, id, t, rank, dims);
    return id;
}

void net_declare(net *n, ir_id value, ir_dtype t, int rank, const int64_t *dims)
{
    ir_value_at(n->m, value)->declared = ir_tensor_type(n->m, t, rank, dims);
}

void net_call(net *n, ir_id value, int axis, const char *symbol)
{
    ir_dim *d = (ir_dim *)(uintptr_t)&ir_value_at(n->m, value)->declared.dims[axis];
    *d = (ir_dim){.value = -1, .symbol = str_of(symbol)};
}

void net_outputs(net *n, ir_id graph, uint32_t count, const ir_id *ids)
{
    for (uint32_t k = 0; k < count; k++)
        assert_true(ir_add_output(n->m, graph, ids[k]));
}

static ir_id constant(net *n, ir_id graph, ir_tensor *t)
{
    char name[32];
    snprintf(name, sizeof name, "const%u", (unsigned)n->m->values.n);
    ir_id id = ir_add_value(n->m, graph, str_of(name));
    assert_non_null(t);
    assert_true(ir_add_constant(n->m, graph, id, t));
    return id;
}

ir_id net_ints(net *n, ir_id graph, ir_dtype t, int rank, const int64_t *dims,
               const int64_t *content)
{
    ir_tensor *tensor = ir_make_tensor(n->m, STR("const"), t, rank, dims);
    assert_non_null(tensor);
    unsigned bytes = ir_dtype_get(t)->bits / 8;
    uint8_t *raw = arena_alloc(n->m->arena, tensor->size_bytes + 1);
    assert_non_null(raw);
    for (uint64_t k = 0; k < tensor->n_elems; k++)
        for (unsigned b = 0; b < bytes; b++)
            raw[k * bytes + b] = (uint8_t)((uint64_t)content[k] >> (8 * b));
    tensor->storage = IR_DATA_INLINE;
    tensor->bytes = raw;
    return constant(n, graph, tensor);
}

ir_id net_int(net *n, ir_id graph, int64_t content)
{
    return net_ints(n, graph, IR_INT64, SCALAR, &content);
}

ir_id net_bool(net *n, ir_id graph, bool content)
{
    int64_t v = content;
    return net_ints(n, graph, IR_BOOL, SCALAR, &v);
}

ir_id net_weight(net *n, ir_id graph, int rank, const int64_t *dims)
{
    return constant(n, graph, ir_make_tensor(n->m, STR("w"), IR_FLOAT32, rank, dims));
}

/* Lists too: a caller's literals end with its block. */
static const ir_attr *copied(net *n, uint32_t n_attrs, const ir_attr *attrs)
{
    arena *a = n->m->arena;
    ir_attr *own = n_attrs ? arena_copy(a, attrs, n_attrs * sizeof *attrs) : NULL;
    for (uint32_t i = 0; i < n_attrs; i++) {
        if (own[i].kind == IR_ATTR_INTS && own[i].n)
            own[i].v.ints = arena_copy(a, own[i].v.ints, own[i].n * sizeof(int64_t));
        if (own[i].kind == IR_ATTR_FLOATS && own[i].n)
            own[i].v.floats = arena_copy(a, own[i].v.floats, own[i].n * sizeof(double));
    }
    return own;
}

ir_id net_ops(net *n, ir_id graph, const char *op, uint32_t n_in, const ir_id *in, uint32_t n_attrs,
              const ir_attr *attrs, uint32_t outputs)
{
    ir_id out[16];
    char name[32];
    assert_true(outputs <= 16);
    for (uint32_t o = 0; o < outputs; o++) {
        snprintf(name, sizeof name, "v%u", (unsigned)n->m->values.n);
        out[o] = ir_add_value(n->m, graph, str_of(name));
    }
    snprintf(name, sizeof name, "node%u", n->m->nodes.n);
    const char *colon = strchr(op, ':');
    str domain = colon ? (str){op, (uint32_t)(colon - op)} : STR("");
    ir_node proto = {.name = str_copy(n->m->arena, str_of(name)),
                     .op = str_copy(n->m->arena, str_of(colon ? colon + 1 : op)),
                     .domain = str_copy(n->m->arena, domain),
                     .version = n->version,
                     .call = IR_NONE,
                     .inputs = in,
                     .n_inputs = n_in,
                     .outputs = out,
                     .n_outputs = outputs,
                     .n_attrs = n_attrs};
    proto.attrs = copied(n, n_attrs, attrs);
    assert_int_not_equal(ir_add_node(n->m, graph, &proto), IR_NONE);
    return out[0];
}

ir_id net_op(net *n, ir_id graph, const char *op, uint32_t n_in, const ir_id *in, uint32_t n_attrs,
             const ir_attr *attrs)
{
    return net_ops(n, graph, op, n_in, in, n_attrs, attrs, 1);
}

ir_attr at_int(const char *name, int64_t v)
{
    return (ir_attr){.name = str_of(name), .kind = IR_ATTR_INT, .n = 1, .v.i = v};
}

ir_attr at_str(const char *name, const char *v)
{
    return (ir_attr){.name = str_of(name), .kind = IR_ATTR_STRING, .n = 1, .v.s = str_of(v)};
}

ir_attr at_graph(const char *name, ir_id g)
{
    return (ir_attr){.name = str_of(name), .kind = IR_ATTR_GRAPH, .n = 1, .v.graph = g};
}

ir_attr at_ints(const char *name, int count, const int64_t *v)
{
    return (ir_attr){.name = str_of(name), .kind = IR_ATTR_INTS, .n = (uint32_t)count, .v.ints = v};
}

void net_infer(net *n)
{
    assay_status status = infer_run(n->m, NULL, n->scratch, &n->r, &n->err);
    if (status != ASSAY_OK)
        fail_msg("%s", n->err.message);
}

void net_infer_fails(net *n, const char *part_of_message)
{
    assert_int_equal(infer_run(n->m, NULL, n->scratch, &n->r, &n->err), ASSAY_ERR_UNSUPPORTED);
    if (!strstr(n->err.message, part_of_message))
        fail_msg("'%s' is not in: %s", part_of_message, n->err.message);
}

void net_is(const net *n, ir_id value, ir_dtype t, int rank, const int64_t *dims)
{
    const op_info *x = &n->r->info[value];
    assert_int_equal(x->kind, IR_KIND_TENSOR);
    assert_int_equal(x->dtype, t);
    assert_int_equal(x->rank, rank);
    for (int d = 0; d < rank; d++)
        assert_int_equal(x->dims[d], dims[d]);
}

void net_holds(const net *n, ir_id value, int64_t content)
{
    const op_val *v = n->r->info[value].val;
    assert_non_null(v);
    assert_int_equal(v->n, 1);
    assert_true(op_val_known(v, 0));
    assert_int_equal(v->cells[0].i, content);
}

bool net_assumed(const net *n, ir_id value)
{
    return n->r->info[value].assumed;
}
