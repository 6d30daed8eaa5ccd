/* The kit for building graphs; see kit.h. */
#include "ir/kit.h"

#include <assert.h>

bool ir_kit_begin(ir_kit *k, ir_model *m, arena *scratch, uint32_t more)
{
    assert(m && scratch);
    *k = (ir_kit){.m = m};
    if (!map_init(&k->names, scratch, m->values.n + more))
        return false;
    for (ir_id id = 0; id < m->values.n; id++)
        if (!map_put(&k->names, ir_value_at(m, id)->name, 1))
            return false;
    return true;
}

/* ---- names ---- */

/* Made by hand: names are a good part of what building a network costs. */
str ir_kit_numbered(const ir_kit *k, str base, const char *suffix, uint32_t n)
{
    char digits[12];
    uint32_t len = (uint32_t)strlen(suffix), at = sizeof digits;
    for (; n; n /= 10)
        digits[--at] = (char)('0' + n % 10);
    assert(at <= sizeof digits);
    uint32_t more = (uint32_t)sizeof digits - at;
    char *p = arena_alloc(k->m->arena, (size_t)base.n + len + more + 1);
    if (!p)
        return (str){NULL, 0};
    if (base.n)
        memcpy(p, base.p, base.n);
    memcpy(p + base.n, suffix, len);
    memcpy(p + base.n + len, digits + at, more);
    return (str){p, base.n + len + more};
}

/* The map holds the next number to try, so that many of one name cost no more than few. */
str ir_kit_name(ir_kit *k, str name)
{
    bool fresh;
    str tried = name;
    uint32_t *next = name.p ? map_at(&k->names, name, 1, &fresh) : NULL;
    uint32_t n = next ? *next : 0;
    if (!next || fresh)
        return next ? name : (str){NULL, 0};
    while (!fresh) {
        tried = ir_kit_numbered(k, name, "_", n++);
        if (!tried.p || !map_at(&k->names, tried, 1, &fresh))
            return (str){NULL, 0};
    }
    return map_put(&k->names, name, n) ? tried : (str){NULL, 0};
}

/* ---- values ---- */

ir_id ir_kit_value(const ir_kit *k, ir_id graph, str name, const ir_t *shape)
{
    ir_id id = name.p ? ir_add_value_borrowed(k->m, graph, name) : IR_NONE;
    if (id != IR_NONE && shape->dtype != IR_UNDEFINED)
        ir_value_at(k->m, id)->declared = ir_tensor_type(k->m, shape->dtype, shape->rank, shape->d);
    return id;
}

ir_id ir_kit_const_of(ir_model *m, ir_id graph, str name, const ir_tensor *t, uint32_t flags)
{
    assert(graph < m->graphs.n);
    ir_id id = name.p && t ? ir_add_value_borrowed(m, graph, name) : IR_NONE;
    if (id == IR_NONE || !ir_add_constant(m, graph, id, t))
        return IR_NONE;
    ir_value_at(m, id)->flags |= flags;
    return id;
}

ir_id ir_kit_const(ir_model *m, ir_id graph, str name, const ir_t *shape, const void *bytes,
                   uint32_t flags)
{
    ir_tensor *t = name.p ? ir_make_tensor_borrowed(m, name, shape->dtype, shape->rank, shape->d)
                          : NULL;
    if (t && bytes) {
        t->storage = IR_DATA_INLINE;
        t->bytes = arena_copy(m->arena, bytes, (size_t)t->size_bytes);
    }
    return arena_failed(m->arena) ? IR_NONE : ir_kit_const_of(m, graph, name, t, flags);
}

/* ---- nodes ---- */

ir_attr ir_kit_attr(ir_model *m, const ir_attr_spec *spec)
{
    arena *a = m->arena;
    ir_attr to = {.name = str_copy(a, str_of(spec->name)), .kind = spec->kind, .n = 1};
    size_t n = spec->n > 0 ? (size_t)spec->n : 0;
    switch (spec->kind) {
    case IR_ATTR_FLOAT:
        to.v.f = (double)(float)spec->f;
        break;
    case IR_ATTR_STRING:
        to.v.s = str_copy(a, str_of(spec->s));
        break;
    case IR_ATTR_INTS:
        to.n = (uint32_t)n;
        to.v.ints = n ? arena_copy(a, spec->ints, n * sizeof *spec->ints) : NULL;
        break;
    case IR_ATTR_FLOATS:
        to.n = (uint32_t)n;
        to.v.floats = n ? arena_copy(a, spec->floats, n * sizeof *spec->floats) : NULL;
        break;
    default:
        to.v.i = spec->i;
    }
    return to;
}

ir_id ir_kit_add(ir_model *m, const ir_kit_node *n)
{
    ir_node node = n->proto;
    ir_attr *attrs = n->n_attrs ? ARENA_ARRAY(m->arena, ir_attr, n->n_attrs) : NULL;
    for (uint32_t i = 0; attrs && i < n->n_attrs; i++)
        attrs[i] = ir_kit_attr(m, &n->attrs[i]);
    node.op = str_copy(m->arena, str_of(n->op));
    node.domain = n->domain && *n->domain ? str_copy(m->arena, str_of(n->domain)) : STR("");
    node.attrs = attrs;
    node.n_attrs = n->n_attrs;
    return arena_failed(m->arena) ? IR_NONE : ir_add_node(m, node.graph, &node);
}

/* ---- changing what is there ---- */

bool ir_kit_set_input(ir_model *m, ir_node *node, uint32_t slot, ir_id value)
{
    uint32_t n = slot + 1 > node->n_inputs ? slot + 1 : node->n_inputs;
    ir_id *ids = ARENA_ARRAY(m->arena, ir_id, n);
    if (!ids)
        return false;
    for (uint32_t i = 0; i < n; i++)
        ids[i] = i < node->n_inputs ? node->inputs[i] : IR_NONE;
    assert(slot < n);
    ids[slot] = value;
    node->inputs = ids;
    node->n_inputs = n;
    return true;
}

const ir_id *ir_kit_take_nodes(ir_model *m, ir_id graph, arena *scratch, uint32_t *n)
{
    ir_graph *g = ir_graph_at(m, graph);
    const ir_id *old = g->nodes.n ? arena_copy(scratch, g->nodes.items, g->nodes.n * sizeof *old)
                                  : NULL;
    *n = old ? g->nodes.n : 0;
    g->nodes.n = old ? 0 : g->nodes.n;
    return old;
}

bool ir_kit_put_node(ir_model *m, ir_id graph, ir_id node)
{
    ir_id *slot = VEC_PUSH(m->arena, &ir_graph_at(m, graph)->nodes);
    if (slot)
        *slot = node;
    return slot != NULL;
}

static void count_uses(const ir_model *m, const ir_graph *g, uint32_t *uses)
{
    for (uint32_t i = 0; i < g->nodes.n; i++) {
        const ir_node *n = ir_node_at(m, g->nodes.items[i]);
        for (uint32_t k = 0; k < n->n_inputs; k++)
            if (n->inputs[k] != IR_NONE) {
                assert(n->inputs[k] < m->values.n);
                uses[n->inputs[k]]++;
            }
    }
    for (uint32_t i = 0; i < g->outputs.n; i++)
        uses[g->outputs.items[i]]++;
}

uint32_t *ir_kit_uses(const ir_model *m, const ir_id *graphs, uint32_t n_graphs, arena *scratch)
{
    uint32_t *uses = ARENA_ARRAY(scratch, uint32_t, (size_t)m->values.n + 1);
    for (uint32_t i = 0; uses && i < n_graphs; i++)
        count_uses(m, ir_graph_at(m, graphs ? graphs[i] : i), uses);
    return uses;
}

void ir_kit_keep_constants(ir_model *m, ir_id graph, bool (*keep)(const void *ctx, ir_id value),
                           const void *ctx)
{
    ir_graph *g = ir_graph_at(m, graph);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < g->constants.n; i++) {
        ir_id id = g->constants.items[i];
        if (keep(ctx, id))
            g->constants.items[kept++] = id;
        else
            ir_value_at(m, id)->constant = NULL;
    }
    assert(kept <= g->constants.n);
    g->constants.n = kept;
}
