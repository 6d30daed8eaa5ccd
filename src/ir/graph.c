/* Creates and frees a model, and the two look-ups that every room needs. */
#include "ir/graph.h"

#include <assert.h>

#include "ir/build.h"

assay_status ir_model_new(size_t limit_bytes, ir_model **out, assay_error *err)
{
    assert(out);
    arena *a = arena_new(limit_bytes);
    ir_model *m = a ? ARENA_NEW(a, ir_model) : NULL;
    *out = NULL;
    if (m) {
        m->arena = a;
        notes_init(&m->notes, a);
        ir_add_graph(m, STR(""), IR_NONE);
    }
    if (!m || arena_failed(a)) {
        arena_free(a);
        return err_no_memory(err);
    }
    assert(m->graphs.n == 1);
    *out = m;
    return ASSAY_OK;
}

void ir_model_free(ir_model *m)
{
    if (!m)
        return;
    if (m->reader.close)
        m->reader.close(m->reader.ctx);
    arena_free(m->arena);
}

const ir_attr *ir_attr_find(const ir_node *n, const char *name)
{
    assert(n->attrs || !n->n_attrs);
    size_t len = n->n_attrs > 0 ? strlen(name) : 0;
    for (uint32_t i = 0; i < n->n_attrs; i++) {
        str s = n->attrs[i].name;
        if (s.n == len && (len == 0 || memcmp(s.p, name, len) == 0))
            return &n->attrs[i];
    }
    return NULL;
}

static const ir_attr *find_own(const ir_node *n, const char *name, ir_attr_kind kind)
{
    const ir_attr *a = ir_attr_find(n, name);
    return a && a->kind == kind && !a->ref.n ? a : NULL;
}

int64_t ir_attr_int(const ir_node *n, const char *name, int64_t def)
{
    const ir_attr *a = find_own(n, name, IR_ATTR_INT);
    return a ? a->v.i : def;
}

double ir_attr_float(const ir_node *n, const char *name, double def)
{
    const ir_attr *a = find_own(n, name, IR_ATTR_FLOAT);
    return a ? a->v.f : def;
}

str ir_attr_str(const ir_node *n, const char *name, const char *def)
{
    const ir_attr *a = find_own(n, name, IR_ATTR_STRING);
    return a ? a->v.s : str_of(def);
}

static str plain_domain(str domain)
{
    return str_is(domain, "ai.onnx") ? STR("") : domain;
}

int ir_opset_version(const ir_model *m, str domain)
{
    domain = plain_domain(domain);
    for (uint32_t i = 0; i < m->opsets.n; i++) {
        const ir_opset *o = &m->opsets.items[i];
        if (str_eq(plain_domain(o->domain), domain))
            return o->version < 0 || o->version > INT32_MAX ? 0 : (int)o->version;
    }
    return 0;
}
