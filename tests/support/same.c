#include "support/same.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct pair {
    const ir_model *a, *b;
    char *why;
} pair;

static bool same_graph(pair *p, ir_id a, ir_id b);

static bool differ(pair *p, const char *what, str name)
{
    if (!p->why[0])
        snprintf(p->why, 256, "%s of '%.*s'", what, (int)(name.n < 150 ? name.n : 150),
                 name.p ? name.p : "");
    return false;
}

/* ---- tensors ---- */

static uint8_t *bytes_of(const ir_model *m, const ir_tensor *t)
{
    uint8_t *p = malloc(t->size_bytes + 1);
    assay_error err = {0};
    if (t->storage == IR_DATA_INLINE)
        memcpy(p, t->bytes, t->size_bytes);
    else if (m->reader.read(m->reader.ctx, t, p, &err) != ASSAY_OK)
        memset(p, 0xee, t->size_bytes);
    return p;
}

static bool same_content(pair *p, const ir_tensor *a, const ir_tensor *b)
{
    if (a->storage == IR_DATA_NONE) /* was made up */
        return true;
    if (a->size_bytes != b->size_bytes)
        return false;
    uint8_t *x = bytes_of(p->a, a), *y = bytes_of(p->b, b);
    bool same = memcmp(x, y, a->size_bytes) == 0;
    free(x);
    free(y);
    return same;
}

static bool same_tensor(pair *p, const ir_tensor *a, const ir_tensor *b, str name)
{
    if (!a || !b)
        return a == b || differ(p, "the presence of a tensor", name);
    if (a->dtype != b->dtype || a->rank != b->rank || a->sparse != b->sparse ||
        a->n_stored != b->n_stored || memcmp(a->dims, b->dims, (size_t)a->rank * 8) != 0)
        return differ(p, "the shape of a tensor", name);
    if (!same_content(p, a, b))
        return differ(p, "the content of a tensor", name);
    return !a->sparse || same_tensor(p, a->indices, b->indices, name);
}

/* ---- types ---- */

static bool same_type(const ir_type *a, const ir_type *b)
{
    if (a->kind != b->kind || a->dtype != b->dtype || a->rank != b->rank || !a->elem != !b->elem)
        return false;
    for (int i = 0; i < a->rank; i++)
        if (a->dims[i].value != b->dims[i].value || !str_eq(a->dims[i].symbol, b->dims[i].symbol))
            return false;
    return !a->elem || same_type(a->elem, b->elem);
}

/* ---- attributes ---- */

static bool same_item(pair *p, const ir_attr *a, const ir_attr *b, uint32_t i)
{
    switch (a->kind) {
    case IR_ATTR_FLOATS:
        return memcmp(&a->v.floats[i], &b->v.floats[i], sizeof(double)) == 0;
    case IR_ATTR_INTS:
        return a->v.ints[i] == b->v.ints[i];
    case IR_ATTR_STRINGS:
        return str_eq(a->v.strings[i], b->v.strings[i]);
    case IR_ATTR_TENSORS:
    case IR_ATTR_SPARSES:
        return same_tensor(p, a->v.tensors[i], b->v.tensors[i], a->name);
    case IR_ATTR_GRAPHS:
        return same_graph(p, a->v.graphs[i], b->v.graphs[i]);
    default:
        return same_type(a->v.types[i], b->v.types[i]);
    }
}

static bool same_attr(pair *p, const ir_attr *a, const ir_attr *b)
{
    bool same = str_eq(a->name, b->name) && a->kind == b->kind && a->n == b->n;
    switch (same ? a->kind : IR_ATTR_NONE) {
    case IR_ATTR_NONE:
        return same;
    case IR_ATTR_FLOAT:
        return memcmp(&a->v.f, &b->v.f, sizeof a->v.f) == 0;
    case IR_ATTR_INT:
        return a->v.i == b->v.i;
    case IR_ATTR_STRING:
        return str_eq(a->v.s, b->v.s);
    case IR_ATTR_TENSOR:
    case IR_ATTR_SPARSE:
        return same_tensor(p, a->v.tensor, b->v.tensor, a->name);
    case IR_ATTR_GRAPH:
        return same_graph(p, a->v.graph, b->v.graph);
    case IR_ATTR_TYPE:
        return same_type(a->v.type, b->v.type);
    default:
        for (uint32_t i = 0; same && i < a->n; i++)
            same = same_item(p, a, b, i);
        return same;
    }
}

/* ---- graphs ---- */

static str name_of(const ir_model *m, ir_id id)
{
    return id == IR_NONE ? STR("") : ir_value_at(m, id)->name;
}

static bool same_value(pair *p, ir_id a, ir_id b)
{
    str name = name_of(p->a, a);
    if (!str_eq(name, name_of(p->b, b)))
        return differ(p, "the name", name);
    if (a == IR_NONE)
        return b == IR_NONE;
    const ir_value *x = ir_value_at(p->a, a), *y = ir_value_at(p->b, b);
    const uint32_t kept = IR_VALUE_INPUT | IR_VALUE_OUTPUT | IR_VALUE_OVERRIDABLE;
    if (x->declared.kind != IR_KIND_NONE && !x->constant && !same_type(&x->declared, &y->declared))
        return differ(p, "the type", name);
    return (x->flags & kept) == (y->flags & kept) || differ(p, "the role", name);
}

static bool same_values(pair *p, const ir_id *a, uint32_t n_a, const ir_id *b, uint32_t n_b, str of)
{
    if (n_a != n_b)
        return differ(p, "the number of values", of);
    for (uint32_t i = 0; i < n_a; i++)
        if (!same_value(p, a[i], b[i]))
            return false;
    return true;
}

static bool same_node(pair *p, const ir_node *a, const ir_node *b)
{
    if (!str_eq(a->name, b->name) || !str_eq(a->op, b->op) || !str_eq(a->domain, b->domain) ||
        a->version != b->version || a->n_attrs != b->n_attrs)
        return differ(p, "the kind", a->name);
    if (!same_values(p, a->inputs, a->n_inputs, b->inputs, b->n_inputs, a->name) ||
        !same_values(p, a->outputs, a->n_outputs, b->outputs, b->n_outputs, a->name))
        return false;
    for (uint32_t i = 0; i < a->n_attrs; i++)
        if (!same_attr(p, &a->attrs[i], &b->attrs[i]))
            return differ(p, "an attribute", a->name);
    return true;
}

/* Initialisers in any order: sparse ones stand in a list of their own in a file. */
static bool same_constants(pair *p, const ir_graph *a, const ir_graph *b)
{
    if (a->constants.n != b->constants.n)
        return differ(p, "the number of initialisers", a->name);
    for (uint32_t i = 0; i < a->constants.n; i++) {
        const ir_value *v = ir_value_at(p->a, a->constants.items[i]), *w = NULL;
        for (uint32_t k = 0; k < b->constants.n && !w; k++)
            if (str_eq(v->name, name_of(p->b, b->constants.items[k])))
                w = ir_value_at(p->b, b->constants.items[k]);
        if (!w || !same_tensor(p, v->constant, w->constant, v->name))
            return differ(p, "an initialiser", v->name);
    }
    return true;
}

static bool same_graph(pair *p, ir_id a, ir_id b)
{
    const ir_graph *x = ir_graph_at(p->a, a), *y = ir_graph_at(p->b, b);
    if (x->nodes.n != y->nodes.n)
        return differ(p, "the number of nodes", x->name);
    for (uint32_t i = 0; i < x->nodes.n; i++)
        if (!same_node(p, ir_node_at(p->a, x->nodes.items[i]), ir_node_at(p->b, y->nodes.items[i])))
            return false;
    return same_values(p, x->inputs.items, x->inputs.n, y->inputs.items, y->inputs.n, x->name) &&
           same_values(p, x->outputs.items, x->outputs.n, y->outputs.items, y->outputs.n,
                       x->name) &&
           same_constants(p, x, y);
}

const char *same_models(const ir_model *a, const ir_model *b, char why[256])
{
    pair p = {.a = a, .b = b, .why = why};
    why[0] = 0;
    if (same_graph(&p, 0, 0))
        return NULL;
    return why[0] ? why : "something";
}
