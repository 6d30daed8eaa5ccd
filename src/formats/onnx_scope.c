/* Names to ids: interning, definitions, outer scopes, and the moment when a graph that was read as
 * names becomes nodes and values of the model.
 */
#include "formats/onnx_impl.h"
#include "ir/constant.h"

onnx_scope *onnx_scope_new(onnx_reader *r, ir_id graph, onnx_scope *parent)
{
    onnx_scope *s = ARENA_NEW(r->scratch, onnx_scope);
    onnx_scope **slot = VEC_PUSH(r->scratch, &r->scopes);
    if (!s || !slot || !map_init(&s->index, r->scratch, 0))
        return NULL;
    s->r = r;
    s->parent = parent;
    s->graph = graph;
    s->first_node = r->m->nodes.n;
    s->owner_index = ONNX_NO_NODE;
    s->depth = parent ? parent->depth + 1 : 0;
    s->opsets = parent ? parent->opsets : &r->opsets;
    *slot = s;
    return s;
}

/* Growing by doubling would touch twice the memory. Most nodes make one value, and a quarter more is room for
 * inputs and weights. */
assay_status onnx_scope_reserve(onnx_scope *s, uint32_t n_nodes)
{
    ir_model *m = s->r->m;
    arena *scratch = s->r->scratch;
    uint64_t names = n_nodes + (uint64_t)n_nodes / 4 + 64;
    if (n_nodes == 0)
        return ASSAY_OK;
    if (m->nodes.n + names >= IR_NONE || m->values.n + names >= IR_NONE)
        return err_no_memory(s->r->err);
    bool room = VEC_RESERVE(m->arena, &m->nodes, m->nodes.n + n_nodes) &&
                VEC_RESERVE(m->arena, &m->values, m->values.n + (uint32_t)names) &&
                VEC_RESERVE(m->arena, &ir_graph_at(m, s->graph)->nodes, n_nodes) &&
                VEC_RESERVE(scratch, &s->refs, n_nodes) &&
                VEC_RESERVE(scratch, &s->numbers, n_nodes) &&
                VEC_RESERVE(scratch, &s->symbols, (uint32_t)names) &&
                map_init(&s->index, scratch, (uint32_t)names);
    return room ? ASSAY_OK : err_no_memory(s->r->err);
}

ir_node *onnx_node_at(const onnx_scope *s, uint32_t index)
{
    return ir_node_at(s->r->m, s->first_node + index);
}

/* The place of a name among the recent ones. Names of exporters differ near their end: ".../Conv_2_output_0". */
static uint32_t recent_place(str name)
{
    uint64_t a, b;
    memcpy(&a, name.p + name.n - 2 * sizeof a, sizeof a);
    memcpy(&b, name.p + name.n - sizeof b, sizeof b);
    return (uint32_t)((a * UINT64_C(0x9e3779b97f4a7c15) + b * UINT64_C(0xff51afd7ed558ccd)) >>
                      (64 - ONNX_RECENT_BITS));
}

/* Names are in the model's arena: most become those of values. */
static uint32_t intern_name(onnx_scope *s, str name)
{
    uint32_t i = map_intern(&s->index, s->r->m->arena, &name, s->symbols.n);
    if (i < s->symbols.n || i == MAP_NONE)
        return i == MAP_NONE ? IR_NONE : i;
    const onnx_symbol fresh = {
        .name = name, .value = IR_NONE, .node = ONNX_NO_NODE, .user = ONNX_NO_NODE};
    return VEC_ADD(s->r->scratch, &s->symbols, fresh) ? i : IR_NONE;
}

uint32_t onnx_symbol_of(onnx_scope *s, str name)
{
    if (name.n < 2 * sizeof(uint64_t))
        return intern_name(s, name);
    uint32_t *recent = &s->recent[recent_place(name)];
    if (*recent >= s->symbols.n || !str_eq(s->symbols.items[*recent].name, name))
        *recent = intern_name(s, name);
    return *recent;
}

/* "the main graph", "the function 'f'", "the graph 'g'": for sentences. */
static str graph_name(const onnx_scope *s)
{
    str name = ir_graph_at(s->r->m, s->graph)->name;
    return str_empty(name) && s->graph == 0 ? STR("main graph") : name;
}

assay_status onnx_define(onnx_scope *s, onnx_symbol *sym, uint32_t role)
{
    static const uint32_t allowed[] = {
        [ONNX_BY_INPUT] = ONNX_BY_INIT, [ONNX_BY_INIT] = ONNX_BY_INPUT, [ONNX_BY_NODE] = 0};
    if (sym->roles & ONNX_DEFINED & ~allowed[role])
        return err_fail_node(s->r->err, ASSAY_ERR_MALFORMED, sym->name.p,
                             "value " NAME_FMT " is defined twice in graph " NAME_FMT,
                             NAME_ARG(sym->name), NAME_ARG(graph_name(s)));
    sym->roles |= role;
    if (sym->value == IR_NONE)
        sym->value = ir_add_value_borrowed(s->r->m, s->graph, sym->name);
    return sym->value == IR_NONE ? err_no_memory(s->r->err) : ASSAY_OK;
}

/* ---- outer scopes ---- */

/* The innermost definition outside of s. What a nested graph uses, its owner needs: a definition
 * that comes after the owner means that the outer graph is out of order. */
static ir_id find_outside(onnx_scope *s, str name)
{
    for (onnx_scope *in = s, *out = s->parent; out; in = out, out = out->parent) {
        uint32_t i = map_get(&out->index, name);
        if (i == MAP_NONE || !(out->symbols.items[i].roles & ONNX_DEFINED))
            continue;
        const onnx_symbol *sym = &out->symbols.items[i];
        if ((sym->roles & ONNX_BY_NODE) && in->owner_index != ONNX_NO_NODE &&
            sym->node >= in->owner_index)
            out->unsorted = true;
        return sym->value;
    }
    return IR_NONE;
}

static assay_status unknown_name(const onnx_scope *s, const onnx_symbol *sym)
{
    if (sym->user == ONNX_NO_NODE)
        return err_fail_node(s->r->err, ASSAY_ERR_MALFORMED, sym->name.p,
                             "graph " NAME_FMT " has the output " NAME_FMT
                             ", which no node produces",
                             NAME_ARG(graph_name(s)), NAME_ARG(sym->name));
    const ir_node *n = onnx_node_at(s, sym->user);
    return err_fail_node(s->r->err, ASSAY_ERR_MALFORMED, str_empty(n->name) ? "" : n->name.p,
                         "node " NAME_FMT " (%.*s, number %u of graph " NAME_FMT
                         ") reads the value " NAME_FMT ", which no node produces",
                         NAME_ARG(n->name), STR_ARG(n->op), s->numbers.items[sym->user],
                         NAME_ARG(graph_name(s)), NAME_ARG(sym->name));
}

static assay_status resolve_names(onnx_scope *s)
{
    for (uint32_t i = 0; i < s->symbols.n; i++) {
        onnx_symbol *sym = &s->symbols.items[i];
        if (sym->roles & ONNX_DEFINED) {
            if (sym->declared)
                ir_value_at(s->r->m, sym->value)->declared = *sym->declared;
            continue;
        }
        if (!(sym->roles & ONNX_USED))
            continue; /* value_info of nothing */
        sym->value = find_outside(s, sym->name);
        if (sym->value == IR_NONE)
            return unknown_name(s, sym);
    }
    return ASSAY_OK;
}

/* ---- nodes ---- */

static str name_prefix(const onnx_scope *s)
{
    if (s->owner_index == ONNX_NO_NODE)
        return STR("");
    const ir_node *owner = onnx_node_at(s->parent, s->owner_index);
    return str_printf(s->r->scratch, "%.*s/%.*s/", STR_ARG(owner->name), STR_ARG(s->attr));
}

static str free_name(onnx_scope *s, const map *taken, str prefix, uint32_t i)
{
    str op = onnx_node_at(s, i)->op;
    arena *a = s->r->m->arena;
    uint32_t number = s->numbers.items[i];
    str name = str_printf(a, "%.*s%.*s_%u", STR_ARG(prefix), STR_ARG(op), number);
    for (uint32_t k = 1; name.p && map_get(taken, name) != MAP_NONE; k++)
        name = str_printf(a, "%.*s%.*s_%u_%u", STR_ARG(prefix), STR_ARG(op), number, k);
    return name;
}

/* Nodes without a name get one like "Conv_12"; a nested graph's begin with the owner's name. */
static assay_status name_nodes(onnx_scope *s)
{
    map taken;
    uint32_t n = s->refs.n, n_unnamed = 0;
    for (uint32_t i = 0; i < n; i++)
        n_unnamed += str_empty(onnx_node_at(s, i)->name);
    if (n_unnamed == 0)
        return ASSAY_OK;
    TRY_MEMORY(map_init(&taken, s->r->scratch, n - n_unnamed), s->r->err);
    for (uint32_t i = 0; i < n; i++)
        if (!str_empty(onnx_node_at(s, i)->name))
            map_put(&taken, onnx_node_at(s, i)->name, i);
    str prefix = name_prefix(s);
    for (uint32_t i = 0; i < n; i++)
        if (str_empty(onnx_node_at(s, i)->name))
            onnx_node_at(s, i)->name = free_name(s, &taken, prefix, i);
    return onnx_memory(s->r);
}

static int version_of(const onnx_scope *s, str domain)
{
    uint32_t v = map_get(s->opsets, domain);
    return v == MAP_NONE ? 0 : (int)v;
}

/* Symbol numbers to value ids, in place. IR_NONE stays. */
static void to_values(onnx_scope *s, uint32_t *refs, uint32_t n, uint32_t node)
{
    for (uint32_t i = 0; i < n; i++) {
        if (refs[i] == IR_NONE)
            continue;
        const onnx_symbol *sym = &s->symbols.items[refs[i]];
        if ((sym->roles & ONNX_BY_NODE) && sym->node >= node)
            s->unsorted = true;
        refs[i] = sym->value;
    }
}

static assay_status set_constant(onnx_reader *r, const ir_node *n)
{
    if (!ir_is_constant_node(n) || n->n_outputs == 0 || n->outputs[0] == IR_NONE)
        return ASSAY_OK;
    return ir_node_constant(r->m, n, &ir_value_at(r->m, n->outputs[0])->constant, r->err);
}

static assay_status place_node(onnx_scope *s, uint32_t i, int plain_version)
{
    ir_node *n = onnx_node_at(s, i);
    bool was_unsorted = s->unsorted;
    to_values(s, s->refs.items[i] + n->n_inputs, n->n_outputs, i);
    s->unsorted = was_unsorted; /* its own outputs are no use of them */
    to_values(s, s->refs.items[i], n->n_inputs, i);
    n->version = str_empty(n->domain) ? plain_version : version_of(s, n->domain);
    n->call = IR_NONE;
    TRY_MEMORY(ir_place_node(s->r->m, s->graph, s->first_node + i), s->r->err);
    return set_constant(s->r, n);
}

static assay_status place_nodes(onnx_scope *s)
{
    int plain_version = version_of(s, STR(""));
    TRY(name_nodes(s));
    for (uint32_t i = 0; i < s->refs.n; i++)
        TRY(place_node(s, i, plain_version));
    return ASSAY_OK;
}

static assay_status place_constants(onnx_scope *s)
{
    for (uint32_t i = 0; i < s->constants.n; i++)
        if (!ir_add_constant(s->r->m, s->graph, s->constants.items[i].value,
                             s->constants.items[i].tensor))
            return err_no_memory(s->r->err);
    s->r->m->n_constant_nodes += s->constants.n;
    return ASSAY_OK;
}

/* ---- the graph's face ---- */

static assay_status add_interface(onnx_scope *s)
{
    ir_model *m = s->r->m;
    for (uint32_t i = 0; i < s->inputs.n; i++) {
        const onnx_symbol *sym = &s->symbols.items[s->inputs.items[i]];
        if (sym->roles & ONNX_BY_INIT)
            ir_value_at(m, sym->value)->flags |= IR_VALUE_OVERRIDABLE;
        else if (!ir_add_input(m, s->graph, sym->value))
            return err_no_memory(s->r->err);
    }
    for (uint32_t i = 0; i < s->outputs.n; i++)
        TRY_MEMORY(ir_add_output(m, s->graph, s->symbols.items[s->outputs.items[i]].value),
                   s->r->err);
    return ASSAY_OK;
}

assay_status onnx_scope_finish(onnx_scope *s)
{
    TRY(resolve_names(s));
    TRY(place_nodes(s));
    TRY(place_constants(s));
    TRY(add_interface(s));
    return onnx_memory(s->r);
}
