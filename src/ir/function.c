#include "ir/function.h"

#include <assert.h>

enum { KEY_ON_STACK = 256 };

typedef struct key_parts {
    str domain, name, overload;
} key_parts;

static uint64_t key_size(const key_parts *k)
{
    return 2 * sizeof k->domain.n + (uint64_t)k->domain.n + k->name.n + k->overload.n;
}

static char *copy_bytes(char *p, const void *from, size_t n)
{
    if (n > 0)
        memcpy(p, from, n);
    return p + n;
}

/* Lengths first, so that no two triples make the same key whatever bytes they hold. */
static str write_key(char *buf, const key_parts *k)
{
    char *p = copy_bytes(buf, &k->domain.n, sizeof k->domain.n);
    p = copy_bytes(p, &k->name.n, sizeof k->name.n);
    p = copy_bytes(p, k->domain.p, k->domain.n);
    p = copy_bytes(p, k->name.p, k->name.n);
    p = copy_bytes(p, k->overload.p, k->overload.n);
    assert((uint64_t)(p - buf) == key_size(k));
    return (str){buf, (uint32_t)(p - buf)};
}

static str make_key(arena *a, const key_parts *k)
{
    uint64_t n = key_size(k);
    char *buf = n < UINT32_MAX ? arena_alloc(a, (size_t)n) : NULL;
    return buf ? write_key(buf, k) : (str){NULL, 0};
}

static assay_status add_function(ir_function_index *x, const ir_function *f, uint32_t i,
                                 assay_error *err)
{
    str key = make_key(x->arena, &(key_parts){f->domain, f->name, f->overload});
    TRY_MEMORY(key.p, err);
    if (map_get(&x->keys, key) != MAP_NONE)
        return err_fail(err, ASSAY_ERR_MALFORMED, "duplicate function '%.100s' of domain '%.100s'",
                        f->name.p ? f->name.p : "", f->domain.p ? f->domain.p : "");
    return map_put(&x->keys, key, i) && map_put(&x->names, f->name, i) ? ASSAY_OK
                                                                       : err_no_memory(err);
}

assay_status ir_function_index_init(ir_function_index *x, const ir_model *m, arena *a,
                                    assay_error *err)
{
    x->arena = a;
    TRY_MEMORY(map_init(&x->names, a, m->functions.n) && map_init(&x->keys, a, m->functions.n),
               err);
    for (uint32_t i = 0; i < m->functions.n; i++)
        TRY(add_function(x, &m->functions.items[i], i, err));
    return ASSAY_OK;
}

ir_id ir_called_function(ir_function_index *x, const ir_node *n)
{
    char stack[KEY_ON_STACK];
    key_parts k = {n->domain, n->op, n->overload};
    if (x->keys.n == 0 || map_get(&x->names, n->op) == MAP_NONE)
        return IR_NONE;
    str key = key_size(&k) <= sizeof stack ? write_key(stack, &k) : make_key(x->arena, &k);
    uint32_t i = key.p ? map_get(&x->keys, key) : MAP_NONE;
    return i == MAP_NONE ? IR_NONE : i;
}
