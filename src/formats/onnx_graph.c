/* GraphProto and FunctionProto, and the queue of nested graphs. */
#include "formats/onnx_impl.h"

#include <assert.h>

#include "ir/verify.h"

/* ---- value infos ---- */

typedef struct info_in {
    onnx_scope *s;
    uint32_t symbol; /* ONNX_NO_NODE while there is no name */
    ir_type type;
} info_in;

static assay_status on_info_name(void *self, wire_field *f)
{
    info_in *v = self;
    str name = onnx_name(v->s->r, f);
    if (!str_empty(name))
        v->symbol = onnx_symbol_of(v->s, name);
    return onnx_memory(v->s->r);
}

static assay_status on_info_type(void *self, wire_field *f)
{
    info_in *v = self;
    return onnx_read_type(v->s->r, &f->body, &v->type);
}

static const wire_row info_rows[] = {
    [1] = {WIRE_IS_LEN, on_info_name},
    [2] = {WIRE_IS_LEN, on_info_type},
};
static const wire_message info_message = WIRE_MESSAGE("ValueInfoProto", info_rows);

/* *out is NULL for an entry without a name. */
static assay_status read_info(onnx_scope *s, wire_field *f, onnx_symbol **out)
{
    info_in v = {.s = s, .symbol = ONNX_NO_NODE, .type = {.rank = -1}};
    *out = NULL;
    TRY(wire_walk(&f->body, &info_message, &v));
    if (v.symbol == ONNX_NO_NODE)
        return ASSAY_OK;
    *out = &s->symbols.items[v.symbol];
    if (v.type.kind != IR_KIND_NONE)
        (*out)->declared = arena_copy(s->r->scratch, &v.type, sizeof v.type);
    return onnx_memory(s->r);
}

static assay_status fail_nameless(onnx_scope *s, const wire_field *f, const char *what)
{
    return err_fail_at(s->r->err, ASSAY_ERR_MALFORMED, f->start,
                       "damaged file: the %s at byte %llu has no name", what,
                       (unsigned long long)f->start);
}

static assay_status push_index(onnx_scope *s, const onnx_symbol *sym, bool output)
{
    uint32_t index = (uint32_t)(sym - s->symbols.items);
    uint32_t *slot = output ? VEC_PUSH(s->r->scratch, &s->outputs)
                            : VEC_PUSH(s->r->scratch, &s->inputs);
    TRY_MEMORY(slot, s->r->err);
    *slot = index;
    return ASSAY_OK;
}

static assay_status define_input(onnx_scope *s, onnx_symbol *sym)
{
    TRY(onnx_define(s, sym, ONNX_BY_INPUT));
    return push_index(s, sym, false);
}

static assay_status use_output(onnx_scope *s, onnx_symbol *sym)
{
    sym->roles |= ONNX_USED;
    return push_index(s, sym, true);
}

/* ---- graphs ---- */

static assay_status on_node(void *self, wire_field *f)
{
    return onnx_read_node(self, f);
}

static assay_status on_graph_name(void *self, wire_field *f)
{
    onnx_scope *s = self;
    ir_graph_at(s->r->m, s->graph)->name = onnx_string(s->r, f);
    return ASSAY_OK;
}

static assay_status add_initialiser(onnx_scope *s, const wire_field *f, const ir_tensor *t)
{
    if (str_empty(t->name))
        return fail_nameless(s, f, "initialiser");
    uint32_t symbol = onnx_symbol_of(s, t->name);
    TRY_MEMORY(symbol != IR_NONE, s->r->err);
    onnx_symbol *sym = &s->symbols.items[symbol];
    TRY(onnx_define(s, sym, ONNX_BY_INIT));
    return ir_add_constant(s->r->m, s->graph, sym->value, t) ? ASSAY_OK : err_no_memory(s->r->err);
}

static assay_status on_initialiser(void *self, wire_field *f)
{
    onnx_scope *s = self;
    ir_tensor *t;
    TRY(onnx_read_tensor(s->r, &f->body, &t));
    return add_initialiser(s, f, t);
}

static assay_status on_sparse_initialiser(void *self, wire_field *f)
{
    onnx_scope *s = self;
    ir_tensor *t;
    TRY(onnx_read_sparse(s->r, &f->body, &t));
    return add_initialiser(s, f, t);
}

static assay_status on_input(void *self, wire_field *f)
{
    onnx_symbol *sym;
    TRY(read_info(self, f, &sym));
    return sym ? define_input(self, sym) : fail_nameless(self, f, "graph input");
}

static assay_status on_output(void *self, wire_field *f)
{
    onnx_symbol *sym;
    TRY(read_info(self, f, &sym));
    return sym ? use_output(self, sym) : fail_nameless(self, f, "graph output");
}

static assay_status on_value_info(void *self, wire_field *f)
{
    onnx_symbol *sym;
    return read_info(self, f, &sym);
}

static const wire_row graph_rows[] = {
    [1] = {WIRE_IS_LEN, on_node},
    [2] = {WIRE_IS_LEN, on_graph_name},
    [5] = {WIRE_IS_LEN, on_initialiser},
    [11] = {WIRE_IS_LEN, on_input},
    [12] = {WIRE_IS_LEN, on_output},
    [13] = {WIRE_IS_LEN, on_value_info},
    [15] = {WIRE_IS_LEN, on_sparse_initialiser},
};
static const wire_message graph_message = WIRE_MESSAGE("GraphProto", graph_rows);

static assay_status read_scope(onnx_scope *s, cursor body)
{
    TRY(onnx_scope_reserve(s, wire_count_leading(body, 1))); /* exporters write the nodes first */
    TRY(wire_walk(&body, &graph_message, s));
    return onnx_scope_finish(s);
}

assay_status onnx_read_graph(onnx_reader *r, cursor body, ir_id graph)
{
    onnx_scope *s = onnx_scope_new(r, graph, NULL);
    return s ? read_scope(s, body) : err_no_memory(r->err);
}

/* ---- functions ---- */

typedef struct function_in {
    onnx_reader *r;
    onnx_scope *s;
    ir_function fn;
    map opsets;
    bool has_opsets;
    VEC(str) attr_names;
    VEC(ir_attr) attr_defaults;
} function_in;

ONNX_TEXT(on_function_name, function_in, fn.name, onnx_atom)
ONNX_TEXT(on_function_domain, function_in, fn.domain, onnx_domain)
ONNX_TEXT(on_function_overload, function_in, fn.overload, onnx_atom)

static assay_status read_formal(onnx_scope *s, wire_field *f, const char *what, onnx_symbol **out)
{
    *out = NULL;
    str name = onnx_name(s->r, f);
    if (f->body.failed)
        return wire_status(&f->body);
    if (str_empty(name))
        return fail_nameless(s, f, what);
    uint32_t symbol = onnx_symbol_of(s, name);
    TRY_MEMORY(symbol != IR_NONE, s->r->err);
    *out = &s->symbols.items[symbol];
    return ASSAY_OK;
}

static assay_status on_formal_input(void *self, wire_field *f)
{
    onnx_scope *s = ((function_in *)self)->s;
    onnx_symbol *sym;
    TRY(read_formal(s, f, "function input", &sym));
    assert(sym);
    return define_input(s, sym);
}

static assay_status on_formal_output(void *self, wire_field *f)
{
    onnx_scope *s = ((function_in *)self)->s;
    onnx_symbol *sym;
    TRY(read_formal(s, f, "function output", &sym));
    assert(sym);
    return use_output(s, sym);
}

static assay_status on_attr_name(void *self, wire_field *f)
{
    function_in *in = self;
    return VEC_ADD(in->s->r->scratch, &in->attr_names, onnx_atom(in->s->r, f))
               ? ASSAY_OK
               : err_no_memory(in->s->r->err);
}

static assay_status on_attr_default(void *self, wire_field *f)
{
    function_in *in = self;
    ir_attr *slot = VEC_PUSH(in->s->r->scratch, &in->attr_defaults);
    return slot ? onnx_read_attr(in->s, f, ONNX_NO_NODE, slot) : err_no_memory(in->s->r->err);
}

static assay_status on_function_node(void *self, wire_field *f)
{
    return onnx_read_node(((function_in *)self)->s, f);
}

static assay_status on_function_opset(void *self, wire_field *f)
{
    function_in *in = self;
    in->has_opsets = true;
    return onnx_read_opset(in->s->r, f, &in->opsets, NULL);
}

static assay_status on_function_info(void *self, wire_field *f)
{
    return on_value_info(((function_in *)self)->s, f);
}

static const wire_row function_rows[] = {
    [1] = {WIRE_IS_LEN, on_function_name},    [4] = {WIRE_IS_LEN, on_formal_input},
    [5] = {WIRE_IS_LEN, on_formal_output},    [6] = {WIRE_IS_LEN, on_attr_name},
    [7] = {WIRE_IS_LEN, on_function_node},    [9] = {WIRE_IS_LEN, on_function_opset},
    [10] = {WIRE_IS_LEN, on_function_domain}, [11] = {WIRE_IS_LEN, on_attr_default},
    [12] = {WIRE_IS_LEN, on_function_info},   [13] = {WIRE_IS_LEN, on_function_overload},
};
static const wire_message function_message = WIRE_MESSAGE("FunctionProto", function_rows);

static assay_status add_function(onnx_reader *r, function_in *in)
{
    arena *a = r->m->arena;
    ir_function *fn = VEC_PUSH(a, &r->m->functions);
    TRY_MEMORY(fn, r->err);
    *fn = in->fn;
    fn->body = in->s->graph;
    fn->n_attr_names = in->attr_names.n;
    fn->n_attr_defaults = in->attr_defaults.n;
    fn->attr_names = arena_copy(a, in->attr_names.items, in->attr_names.n * sizeof(str));
    fn->attr_defaults = arena_copy(a, in->attr_defaults.items,
                                   in->attr_defaults.n * sizeof(ir_attr));
    ir_graph_at(r->m, fn->body)->name = fn->name;
    return onnx_memory(r);
}

assay_status onnx_read_function(onnx_reader *r, cursor body)
{
    /* Nested graphs of the body keep a pointer to its imports. */
    function_in *in = ARENA_NEW(r->scratch, function_in);
    ir_id graph = ir_add_graph(r->m, STR(""), IR_NONE);
    if (!in || graph == IR_NONE || !map_init(&in->opsets, r->scratch, 0))
        return err_no_memory(r->err);
    in->r = r;
    in->s = onnx_scope_new(r, graph, NULL);
    TRY_MEMORY(in->s, r->err);
    TRY(wire_walk(&body, &function_message, in));
    if (in->has_opsets)
        in->s->opsets = &in->opsets;
    if (str_empty(in->fn.name))
        return err_fail(r->err, ASSAY_ERR_MALFORMED, "a function has no name");
    TRY(add_function(r, in));
    return onnx_scope_finish(in->s);
}

/* ---- nested graphs ---- */

static assay_status read_child(onnx_reader *r, onnx_scope *parent, const onnx_child *c)
{
    if (parent->depth >= ONNX_MAX_GRAPH_DEPTH)
        return err_fail_at(r->err, ASSAY_ERR_UNSUPPORTED, c->body.pos,
                           "graphs are nested too deeply%s", LIMIT_TEXT(LIMIT_ID_GRAPH_DEPTH));
    onnx_scope *s = onnx_scope_new(r, c->graph, parent);
    TRY_MEMORY(s, r->err);
    s->owner_index = c->node;
    s->attr = c->attr;
    return read_scope(s, c->body);
}

static assay_status sort_scope(onnx_reader *r, const onnx_scope *s)
{
    bool moved = false;
    str name = ir_graph_at(r->m, s->graph)->name;
    if (!s->unsorted)
        return ASSAY_OK;
    TRY(ir_sort_graph(r->m, s->graph, r->scratch, &moved, r->err));
    if (moved)
        notes_add(&r->m->notes, "unsorted", name, NULL,
                  "The nodes of graph " NAME_FMT
                  " are not stored in execution order. They were sorted.",
                  NAME_ARG(name));
    return ASSAY_OK;
}

assay_status onnx_read_nested(onnx_reader *r)
{
    for (uint32_t i = 0; i < r->scopes.n; i++) {
        onnx_scope *s = r->scopes.items[i];
        for (uint32_t k = 0; k < s->children.n; k++)
            TRY(read_child(r, s, &s->children.items[k]));
    }
    for (uint32_t i = 0; i < r->scopes.n; i++)
        TRY(sort_scope(r, r->scopes.items[i]));
    return ASSAY_OK;
}
