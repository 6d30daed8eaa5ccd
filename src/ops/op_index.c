/* Looking up a row by domain and name: a hash over op_table, built once per analysis. */
#include "base/map.h"
#include "ops/op.h"

struct op_index {
    map by_name; /* "domain\0name" -> place in rows */
    const op_row **rows;
};

static str canonical_domain(str domain)
{
    return str_is(domain, "ai.onnx") ? (str){"", 0} : domain;
}

/* The map's key in buf: names longer than it cannot be ours, so they are cut and will not match. */
static str key_of(char buf[160], str domain, str name)
{
    domain = canonical_domain(domain);
    if (domain.n + 1 + (size_t)name.n > 160)
        return (str){"?", 1};
    if (domain.n)
        memcpy(buf, domain.p, domain.n);
    buf[domain.n] = '\0';
    if (name.n)
        memcpy(buf + domain.n + 1, name.p, name.n);
    return (str){buf, domain.n + 1 + name.n};
}

static uint32_t count_rows(void)
{
    uint32_t n = 0;
    for (uint32_t f = 0; f < op_table_n; f++)
        n += op_table[f]->n;
    return n;
}

static bool add_row(op_index *x, arena *a, uint32_t place, const op_row *row)
{
    char buf[160];
    str key = str_copy(a, key_of(buf, str_of(row->domain), str_of(row->name)));
    x->rows[place] = row;
    return key.p && map_put(&x->by_name, key, place);
}

op_index *op_index_new(arena *a, const op_rows *more)
{
    uint32_t n = count_rows() + (more ? more->n : 0), place = 0;
    op_index *x = ARENA_NEW(a, op_index);
    if (!x || !(x->rows = ARENA_ARRAY(a, const op_row *, n)) || !map_init(&x->by_name, a, n))
        return NULL;
    for (uint32_t f = 0; f < op_table_n; f++)
        for (uint32_t r = 0; r < op_table[f]->n; r++)
            if (!add_row(x, a, place++, &op_table[f]->rows[r]))
                return NULL;
    for (uint32_t r = 0; more && r < more->n; r++)
        if (!add_row(x, a, place++, &more->rows[r]))
            return NULL;
    return x;
}

const op_row *op_find(const op_index *x, str domain, str name)
{
    char buf[160];
    uint32_t place = map_get(&x->by_name, key_of(buf, domain, name));
    return place == MAP_NONE ? NULL : x->rows[place];
}
