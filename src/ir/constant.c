#include "ir/constant.h"

static void put_le(uint8_t *p, uint64_t v, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        p[i] = (uint8_t)(v >> (8 * i));
}

/* An inline tensor of n elements: a scalar, or a list of rank 1. */
static ir_tensor *make_tensor(ir_model *m, ir_dtype dtype, const uint32_t *list, uint64_t size,
                              uint8_t **bytes)
{
    ir_tensor *t = ARENA_NEW(m->arena, ir_tensor);
    int64_t *dims = ARENA_NEW(m->arena, int64_t);
    *bytes = arena_alloc(m->arena, size ? (size_t)size : 1);
    if (!t || !dims || !*bytes)
        return NULL;
    *dims = list ? *list : 1;
    t->dtype = dtype;
    t->rank = list ? 1 : 0;
    t->dims = dims;
    t->n_elems = t->n_stored = (uint64_t)*dims;
    t->size_bytes = size;
    t->storage = IR_DATA_INLINE;
    t->bytes = *bytes;
    return t;
}

static ir_tensor *from_floats(ir_model *m, const double *v, uint32_t n, bool list)
{
    uint8_t *p;
    ir_tensor *t = make_tensor(m, IR_FLOAT32, list ? &n : NULL, (uint64_t)n * 4, &p);
    for (uint32_t i = 0; t && i < n; i++) {
        float f = (float)v[i];
        uint32_t bits;
        memcpy(&bits, &f, sizeof bits);
        put_le(p + (size_t)i * 4, bits, 4);
    }
    return t;
}

static ir_tensor *from_ints(ir_model *m, const int64_t *v, uint32_t n, bool list)
{
    uint8_t *p;
    ir_tensor *t = make_tensor(m, IR_INT64, list ? &n : NULL, (uint64_t)n * 8, &p);
    for (uint32_t i = 0; t && i < n; i++)
        put_le(p + (size_t)i * 8, (uint64_t)v[i], 8);
    return t;
}

static ir_tensor *from_strings(ir_model *m, const str *v, uint32_t n, bool list)
{
    uint8_t *p;
    uint64_t size = 0;
    for (uint32_t i = 0; i < n; i++)
        size += v[i].n;
    ir_tensor *t = make_tensor(m, IR_STRING, list ? &n : NULL, size, &p);
    for (uint32_t i = 0; t && i < n; i++) {
        if (v[i].n > 0)
            memcpy(p, v[i].p, v[i].n);
        p += v[i].n;
    }
    return t;
}

static const ir_tensor *from_attr(ir_model *m, const ir_attr *a)
{
    switch (a->kind) {
    case IR_ATTR_TENSOR:
    case IR_ATTR_SPARSE:
        return a->v.tensor;
    case IR_ATTR_FLOAT:
        return from_floats(m, &a->v.f, 1, false);
    case IR_ATTR_INT:
        return from_ints(m, &a->v.i, 1, false);
    case IR_ATTR_STRING:
        return from_strings(m, &a->v.s, 1, false);
    case IR_ATTR_FLOATS:
        return from_floats(m, a->v.floats, a->n, true);
    case IR_ATTR_INTS:
        return from_ints(m, a->v.ints, a->n, true);
    case IR_ATTR_STRINGS:
        return from_strings(m, a->v.strings, a->n, true);
    default:
        return NULL;
    }
}

static const struct {
    const char *name;
    ir_attr_kind kind;
} forms[] = {
    {"value", IR_ATTR_TENSOR},        {"sparse_value", IR_ATTR_SPARSE},
    {"value_float", IR_ATTR_FLOAT},   {"value_floats", IR_ATTR_FLOATS},
    {"value_int", IR_ATTR_INT},       {"value_ints", IR_ATTR_INTS},
    {"value_string", IR_ATTR_STRING}, {"value_strings", IR_ATTR_STRINGS},
};

static assay_status take_attr(ir_model *m, const ir_attr *a, const ir_tensor **out,
                              assay_error *err)
{
    *out = from_attr(m, a);
    return *out ? ASSAY_OK : err_no_memory(err);
}

assay_status ir_node_constant(ir_model *m, const ir_node *n, const ir_tensor **out,
                              assay_error *err)
{
    *out = NULL;
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        const ir_attr *a = ir_attr_find(n, forms[i].name);
        if (a && a->kind == forms[i].kind && str_empty(a->ref))
            return take_attr(m, a, out, err);
    }
    return ASSAY_OK;
}

assay_status ir_attr_constant(ir_model *m, const ir_attr *a, const ir_tensor **out,
                              assay_error *err)
{
    *out = NULL;
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (a->kind == forms[i].kind && str_empty(a->ref) && str_is(a->name, forms[i].name))
            return take_attr(m, a, out, err);
    return ASSAY_OK;
}
