#include "rewrite/kit.h"

#include "ir/made.h"

#define SCRATCH_BYTES ((size_t)512 << 20)

/* ---- beginning and end ---- */

typedef VEC(ir_id) id_list;

static bool list_inner(kit *k, id_list *list, ir_id graph)
{
    const ir_graph *g = ir_graph_at(k->m, graph);
    for (uint32_t i = 0; i < g->nodes.n; i++) {
        const ir_node *n = ir_node_at(k->m, g->nodes.items[i]);
        for (uint32_t a = 0; a < n->n_attrs; a++) {
            ir_graphs inner = ir_attr_graphs(&n->attrs[a]);
            for (uint32_t j = 0; j < inner.n; j++) {
                if (!VEC_ADD(k->scratch, list, inner.ids[j]))
                    return false;
            }
        }
    }
    return true;
}

static bool list_graphs(kit *k)
{
    id_list list = {0};
    ir_id *first = VEC_PUSH(k->scratch, &list);
    bool good = first != NULL;
    if (first)
        *first = 0;
    for (uint32_t i = 0; good && i < list.n; i++)
        good = list_inner(k, &list, list.items[i]);
    k->graphs = list.items;
    k->n_graphs = list.n;
    return good;
}

assay_status kit_begin(kit *k, ir_model *m, value_facts facts, assay_error *err)
{
    *k = (kit){.m = m, .facts = facts, .err = err, .scratch = arena_new(SCRATCH_BYTES)};
    TRY_MEMORY(k->scratch && ir_kit_begin(&k->kit, m, k->scratch, 0) && list_graphs(k), err);
    return ir_reader_wrap(m, err);
}

assay_status kit_end(kit *k, assay_status s)
{
    bool failed = !k->scratch || arena_failed(k->scratch) || arena_failed(k->m->arena);
    arena_free(k->scratch);
    return s == ASSAY_OK && failed ? err_no_memory(k->err) : s;
}

/* ---- facts ---- */

const op_info *kit_info(const kit *k, ir_id value)
{
    return value < k->facts.n ? &k->facts.info[value] : NULL;
}

ir_dtype kit_dtype(const kit *k, ir_id value)
{
    const op_info *i = kit_info(k, value);
    const ir_value *v = ir_value_at(k->m, value);
    if (v->constant)
        return v->constant->dtype;
    return i && i->kind == IR_KIND_TENSOR ? i->dtype : IR_UNDEFINED;
}

const ir_tensor *kit_weight(const kit *k, ir_id value)
{
    const ir_tensor *t = value == IR_NONE ? NULL : ir_value_at(k->m, value)->constant;
    return t && t->dtype == IR_FLOAT32 && !t->sparse ? t : NULL;
}

int kit_version(const kit *k, const ir_node *n)
{
    return n->version > 0 ? n->version : ir_opset_version(k->m, n->domain);
}

uint32_t *kit_uses(kit *k)
{
    return ir_kit_uses(k->m, k->graphs, k->n_graphs, k->scratch);
}

/* ---- making ---- */

str kit_name(kit *k, str base, const char *suffix)
{
    return ir_kit_name(&k->kit, ir_kit_numbered(&k->kit, base, suffix, 0));
}

static ir_id add_value(kit *k, ir_id graph, str name)
{
    return name.p ? ir_add_value(k->m, graph, name) : IR_NONE;
}

ir_id kit_value_like(kit *k, ir_id of, const char *suffix, ir_dtype t)
{
    ir_value like = *ir_value_at(k->m, of);
    ir_id id = add_value(k, like.graph, kit_name(k, like.name, suffix));
    if (id == IR_NONE)
        return id;
    ir_value *v = ir_value_at(k->m, id);
    if (like.declared.kind == IR_KIND_TENSOR) {
        v->declared = like.declared;
        v->declared.dtype = t;
    }
    return id;
}

ir_id kit_value(kit *k, ir_id graph, str base, const char *suffix, ir_dtype t)
{
    return ir_kit_value(&k->kit, graph, kit_name(k, base, suffix), &(ir_t){.dtype = t, .rank = -1});
}

ir_id kit_const(kit *k, ir_id graph, str name, const ir_tensor *t, ir_id of)
{
    const uint32_t kept = IR_VALUE_PARAM | IR_VALUE_BUFFER | IR_VALUE_NOT_PARAM |
                          IR_VALUE_TRANSPOSED;
    uint32_t flags = of == IR_NONE ? IR_VALUE_NOT_PARAM : ir_value_at(k->m, of)->flags & kept;
    return ir_kit_const_of(k->m, graph, name, t, flags);
}

ir_id kit_bytes(kit *k, ir_id graph, str base, const char *suffix, const ir_t *shape,
                const void *bytes)
{
    return ir_kit_const(k->m, graph, kit_name(k, base, suffix), shape, bytes, IR_VALUE_NOT_PARAM);
}

ir_id kit_node(kit *k, const kit_part *p)
{
    arena *a = k->m->arena;
    ir_node like = {.call = IR_NONE};
    if (p->like != IR_NONE)
        like = *ir_node_at(k->m, p->like);
    ir_kit_node n = {
        .proto = {.graph = p->graph,
                  .name = str_empty(like.name)
                              ? str_copy(a, str_of(p->part))
                              : str_printf(a, STR_FMT "/%s", STR_ARG(like.name), p->part),
                  .module = like.module,
                  .version = ir_opset_version(k->m, STR("")),
                  .call = like.call == IR_NONE ? p->like : like.call,
                  .inputs = p->in,
                  .outputs = p->out,
                  .n_inputs = p->n_in,
                  .n_outputs = p->n_out},
        .op = p->op,
        .attrs = p->attrs,
        .n_attrs = p->n_attrs};
    for (uint32_t i = 0; i < p->n_in; i++)
        if (p->in[i] != IR_NONE && p->in[i] >= k->m->values.n)
            return IR_NONE;
    if (arena_failed(a))
        return IR_NONE;
    for (uint32_t i = 0; i < p->n_out; i++)
        ir_value_at(k->m, p->out[i])->producer = IR_NONE;
    return ir_kit_add(k->m, &n);
}

ir_id kit_cast(kit *k, ir_id graph, ir_id like, ir_id from, ir_id to, ir_dtype t)
{
    const ir_attr_spec attr = IR_SPEC_INT("to", t);
    if (from == IR_NONE || to == IR_NONE)
        return IR_NONE;
    str name = ir_value_at(k->m, to)->name;
    ir_id id = kit_node(k, &(kit_part){.graph = graph,
                                       .like = IR_NONE,
                                       .op = "Cast",
                                       .part = "cast",
                                       .n_in = 1,
                                       .in = &from,
                                       .n_out = 1,
                                       .out = &to,
                                       .n_attrs = 1,
                                       .attrs = &attr});
    if (id == IR_NONE)
        return id;
    ir_node_at(k->m, id)->name = str_printf(k->m->arena, STR_FMT "/cast", STR_ARG(name));
    if (like != IR_NONE)
        ir_node_at(k->m, id)->module = ir_node_at(k->m, like)->module;
    return id;
}

const ir_id *kit_take_nodes(kit *k, ir_id graph, uint32_t *n)
{
    return ir_kit_take_nodes(k->m, graph, k->scratch, n);
}

void kit_put_node(kit *k, ir_id graph, ir_id node)
{
    ir_kit_put_node(k->m, graph, node);
}

bool kit_copy_ports(kit *k, const ir_node *n, ir_id **in, ir_id **out)
{
    arena *a = k->m->arena;
    *in = n->n_inputs ? arena_copy(a, n->inputs, n->n_inputs * sizeof **in) : NULL;
    *out = n->n_outputs ? arena_copy(a, n->outputs, n->n_outputs * sizeof **out) : NULL;
    return (!n->n_inputs || *in) && (!n->n_outputs || *out);
}

typedef struct unused_search {
    const uint32_t *uses, *before;
    uint32_t n_before;
} unused_search;

static bool is_kept(const void *ctx, ir_id value)
{
    const unused_search *s = ctx;
    return s->uses[value] || value >= s->n_before || !s->before[value];
}

void kit_drop_unused(kit *k, const uint32_t *uses_before, uint32_t n_before)
{
    const unused_search s = {.uses = kit_uses(k), .before = uses_before, .n_before = n_before};
    for (uint32_t g = 0; s.uses && g < k->n_graphs; g++)
        ir_kit_keep_constants(k->m, k->graphs[g], is_kept, &s);
}
