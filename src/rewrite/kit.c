#include "rewrite/kit.h"

#include "ir/made.h"

#define SCRATCH_BYTES ((size_t)512 << 20)

/* ---- beginning and end ---- */

static bool name_all(kit *k)
{
    if (!map_init(&k->names, k->scratch, k->m->values.n))
        return false;
    for (ir_id id = 0; id < k->m->values.n; id++)
        if (!map_put(&k->names, ir_value_at(k->m, id)->name, 1))
            return false;
    return true;
}

typedef VEC(ir_id) id_list;

static bool list_inner(kit *k, id_list *list, ir_id graph)
{
    const ir_graph *g = ir_graph_at(k->m, graph);
    for (uint32_t i = 0; i < g->nodes.n; i++) {
        const ir_node *n = ir_node_at(k->m, g->nodes.items[i]);
        for (uint32_t a = 0; a < n->n_attrs; a++) {
            ir_graphs inner = ir_attr_graphs(&n->attrs[a]);
            for (uint32_t j = 0; j < inner.n; j++) {
                ir_id *slot = VEC_PUSH(k->scratch, list);
                if (!slot)
                    return false;
                *slot = inner.ids[j];
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
    if (!k->scratch || !name_all(k) || !list_graphs(k))
        return err_no_memory(err);
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

int64_t kit_int(const ir_node *n, const char *name, int64_t def)
{
    const ir_attr *a = ir_attr_find(n, name);
    return a && a->kind == IR_ATTR_INT ? a->v.i : def;
}

double kit_float(const ir_node *n, const char *name, double def)
{
    const ir_attr *a = ir_attr_find(n, name);
    return a && a->kind == IR_ATTR_FLOAT ? a->v.f : def;
}

int kit_version(const kit *k, const ir_node *n)
{
    return n->version > 0 ? n->version : ir_opset_version(k->m, n->domain);
}

uint32_t *kit_uses(kit *k)
{
    uint32_t *uses = ARENA_ARRAY(k->scratch, uint32_t, (size_t)k->m->values.n + 1);
    for (uint32_t g = 0; uses && g < k->n_graphs; g++) {
        const ir_graph *graph = ir_graph_at(k->m, k->graphs[g]);
        for (uint32_t i = 0; i < graph->nodes.n; i++) {
            const ir_node *n = ir_node_at(k->m, graph->nodes.items[i]);
            for (uint32_t j = 0; j < n->n_inputs; j++)
                if (n->inputs[j] != IR_NONE)
                    uses[n->inputs[j]]++;
        }
        for (uint32_t i = 0; i < graph->outputs.n; i++)
            uses[graph->outputs.items[i]]++;
    }
    return uses;
}

/* ---- making ---- */

str kit_name(kit *k, str base, const char *suffix)
{
    str name = str_printf(k->m->arena, STR_FMT "%s", STR_ARG(base), suffix), tried = name;
    for (unsigned i = 1; tried.p && map_get(&k->names, tried) != MAP_NONE; i++)
        tried = str_printf(k->m->arena, STR_FMT "_%u", STR_ARG(name), i);
    if (tried.p && !map_put(&k->names, tried, 1))
        tried = (str){0};
    return tried;
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
    ir_id id = add_value(k, graph, kit_name(k, base, suffix));
    if (id != IR_NONE)
        ir_value_at(k->m, id)->declared = (ir_type){.kind = IR_KIND_TENSOR, .dtype = t, .rank = -1};
    return id;
}

ir_id kit_const(kit *k, ir_id graph, str name, const ir_tensor *t, ir_id of)
{
    const uint32_t kept = IR_VALUE_PARAM | IR_VALUE_BUFFER | IR_VALUE_NOT_PARAM |
                          IR_VALUE_TRANSPOSED;
    uint32_t flags = of == IR_NONE ? IR_VALUE_NOT_PARAM : ir_value_at(k->m, of)->flags & kept;
    ir_id id = t ? add_value(k, graph, name) : IR_NONE;
    if (id == IR_NONE || !ir_add_constant(k->m, graph, id, t))
        return IR_NONE;
    ir_value_at(k->m, id)->flags |= flags;
    return id;
}

ir_id kit_bytes(kit *k, ir_id graph, str base, const char *suffix, const ir_tensor *shape,
                const void *bytes)
{
    str name = kit_name(k, base, suffix);
    ir_tensor *t = name.p ? ir_make_tensor(k->m, name, shape->dtype, shape->rank, shape->dims)
                          : NULL;
    if (!t)
        return IR_NONE;
    t->storage = IR_DATA_INLINE;
    t->bytes = arena_copy(k->m->arena, bytes, t->size_bytes ? (size_t)t->size_bytes : 1);
    return t->bytes ? kit_const(k, graph, name, t, IR_NONE) : IR_NONE;
}

ir_id kit_node(kit *k, const kit_part *p)
{
    arena *a = k->m->arena;
    ir_node like = {.call = IR_NONE};
    if (p->like != IR_NONE)
        like = *ir_node_at(k->m, p->like);
    ir_node n = {.name = str_empty(like.name)
                             ? str_copy(a, str_of(p->part))
                             : str_printf(a, STR_FMT "/%s", STR_ARG(like.name), p->part),
                 .op = str_copy(a, str_of(p->op)),
                 .domain = STR(""),
                 .module = like.module,
                 .version = ir_opset_version(k->m, STR("")),
                 .call = like.call == IR_NONE ? p->like : like.call,
                 .inputs = p->in,
                 .outputs = p->out,
                 .n_inputs = p->n_in,
                 .n_outputs = p->n_out,
                 .n_attrs = p->n_attrs};
    n.attrs = p->n_attrs ? arena_copy(a, p->attrs, p->n_attrs * sizeof *p->attrs) : NULL;
    for (uint32_t i = 0; i < p->n_in; i++)
        if (p->in[i] != IR_NONE && p->in[i] >= k->m->values.n)
            return IR_NONE;
    if (arena_failed(a))
        return IR_NONE;
    for (uint32_t i = 0; i < p->n_out; i++)
        ir_value_at(k->m, p->out[i])->producer = IR_NONE;
    return ir_add_node(k->m, p->graph, &n);
}

ir_id kit_cast(kit *k, ir_id graph, ir_id like, ir_id from, ir_id to, ir_dtype t)
{
    const ir_attr attr = {.name = STR("to"), .kind = IR_ATTR_INT, .n = 1, .v.i = t};
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
    ir_graph *g = ir_graph_at(k->m, graph);
    const ir_id *old = g->nodes.n ? arena_copy(k->scratch, g->nodes.items, g->nodes.n * sizeof *old)
                                  : NULL;
    *n = old ? g->nodes.n : 0;
    g->nodes.n = old ? 0 : g->nodes.n;
    return old;
}

void kit_put_node(kit *k, ir_id graph, ir_id node)
{
    ir_id *slot = VEC_PUSH(k->m->arena, &ir_graph_at(k->m, graph)->nodes);
    if (slot)
        *slot = node;
}

void kit_drop_unused(kit *k, const uint32_t *uses_before, uint32_t n_before)
{
    const uint32_t *uses = kit_uses(k);
    for (uint32_t g = 0; uses && g < k->n_graphs; g++) {
        ir_graph *graph = ir_graph_at(k->m, k->graphs[g]);
        uint32_t kept = 0;
        for (uint32_t i = 0; i < graph->constants.n; i++) {
            ir_id id = graph->constants.items[i];
            if (uses[id] || id >= n_before || !uses_before[id])
                graph->constants.items[kept++] = id;
            else
                ir_value_at(k->m, id)->constant = NULL;
        }
        graph->constants.n = kept;
    }
}
