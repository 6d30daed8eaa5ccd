/* Looking up a row by domain and name: a hash over op_table, built once per analysis. */
#include "base/map.h"
#include "ops/op.h"

struct op_index {
    map by_name;         /* name -> place of its newest row */
    const op_row **rows; /* by place */
    uint32_t *
        older; /* by place: of the row before with that name, of this or another domain; or MAP_NONE */
};

static str canonical_domain(str domain)
{
    return str_is(domain, "ai.onnx") ? (str){"", 0} : domain;
}

static uint32_t count_rows(void)
{
    uint32_t n = 0;
    for (uint32_t f = 0; f < op_table_n; f++)
        n += op_table[f]->n;
    return n;
}

static bool add_rows(op_index *x, uint32_t *place, const op_rows *rows)
{
    for (uint32_t r = 0; r < rows->n; r++, ++*place) {
        bool is_new;
        uint32_t *newest = map_at(&x->by_name, str_of(rows->rows[r].name), MAP_NONE, &is_new);
        if (!newest)
            return false;
        x->rows[*place] = &rows->rows[r];
        x->older[*place] = *newest;
        *newest = *place;
    }
    return true;
}

op_index *op_index_new(arena *a, const op_rows *more)
{
    uint32_t n = count_rows() + (more ? more->n : 0), place = 0;
    op_index *x = ARENA_NEW(a, op_index);
    if (!x || !(x->rows = ARENA_ARRAY(a, const op_row *, n)) ||
        !(x->older = ARENA_ARRAY(a, uint32_t, n)) || !map_init(&x->by_name, a, n))
        return NULL;
    for (uint32_t f = 0; f < op_table_n; f++)
        if (!add_rows(x, &place, op_table[f]))
            return NULL;
    return !more || add_rows(x, &place, more) ? x : NULL;
}

const op_row *op_find(const op_index *x, str domain, str name)
{
    uint32_t place = map_get(&x->by_name, name);
    domain = canonical_domain(domain);
    while (place != MAP_NONE && !str_eq(domain, canonical_domain(str_of(x->rows[place]->domain))))
        place = x->older[place];
    return place == MAP_NONE ? NULL : x->rows[place];
}
