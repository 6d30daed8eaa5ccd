/* Objects by tables; see read_table.h. Keys mostly come in the order of the rows, because our own writer
 * wrote them, so the row behind the last one is tried first. */
#include "profile/read_table.h"

#include <assert.h>
#include <math.h>

#include "base/map.h"
#include "base/vec.h"
#include "profile/profile.h"

/* ---- where we are ---- */

bool read_enter(reader *r, str key, uint64_t index)
{
    if (r->s.failed || r->depth == READ_DEPTH)
        return read_fail(r, "The JSON is nested deeper than 64 levels.");
    r->path[r->depth].key = key;
    r->path[r->depth++].index = index;
    return true;
}

/* A failure keeps its place. */
void read_leave(reader *r)
{
    if (!r->s.failed)
        r->depth--;
}

bool read_fail(reader *r, const char *what)
{
    return scan_fail(&r->s, what);
}

bool read_no_memory(reader *r)
{
    r->no_memory = true;
    return read_fail(r, "Memory is out.");
}

void *read_push(reader *r, void **items, uint32_t *n, uint32_t *cap, size_t size)
{
    if (*n == *cap && !vec_grow(r->arena, items, *n, cap, size)) {
        read_no_memory(r);
        return NULL;
    }
    return (char *)*items + size * (*n)++;
}

/* ---- values ---- */

bool read_text(reader *r, str *out)
{
    str s;
    *out = (str){0};
    if (scan_null(&r->s))
        return true;
    if (!scan_str(&r->s, &s))
        return false;
    *out = str_copy(r->arena, s);
    return out->p || read_no_memory(r);
}

static bool read_word(reader *r, const char **out)
{
    str s;
    if (!read_text(r, &s))
        return false;
    if (s.p && strlen(s.p) != s.n)
        return read_fail(r, "This text may not hold a NUL.");
    *out = s.p;
    return true;
}

static bool read_dtype(reader *r, ir_dtype *out)
{
    str s = {0};
    if (!scan_null(&r->s) && !scan_str(&r->s, &s))
        return false;
    *out = s.n ? ir_dtype_by_name(s) : IR_UNDEFINED;
    return true;
}

static bool read_dim(reader *r, int64_t *out)
{
    uint64_t v;
    *out = -1;
    if (scan_null(&r->s))
        return true;
    if (!scan_u63(&r->s, &v))
        return false;
    *out = (int64_t)v;
    return true;
}

bool read_shape(reader *r, void *to)
{
    profile_shape *out = to;
    int64_t *dims = NULL;
    uint32_t n = 0, cap = 0;
    *out = (profile_shape){.rank = -1};
    if (scan_null(&r->s))
        return true;
    if (!scan_open(&r->s, '['))
        return false;
    while (scan_item(&r->s)) {
        int64_t *dim = read_push(r, (void **)&dims, &n, &cap, sizeof *dims);
        if (!dim || !read_dim(r, dim))
            return false;
    }
    if (n > INT32_MAX)
        return read_fail(r, "This shape has too many dimensions.");
    *out = (profile_shape){.rank = (int)n, .dims = dims};
    return !r->s.failed;
}

/* Doubles and whole numbers are of one size. */
static bool read_numbers(reader *r, const read_row *row, void *base)
{
    void *items = NULL;
    uint32_t n = 0, cap = 0;
    if (!scan_open(&r->s, '['))
        return false;
    while (scan_item(&r->s)) {
        void *to = read_push(r, &items, &n, &cap, sizeof(uint64_t));
        if (!to || !(row->kind == READ_F64S ? scan_f64(&r->s, to) : scan_u64(&r->s, to)))
            return false;
    }
    memcpy((char *)base + row->at, &items, sizeof items);
    memcpy((char *)base + row->count_at, &n, sizeof n);
    return !r->s.failed;
}

static bool narrow(reader *r, read_kind kind, void *to)
{
    uint64_t v;
    if (!scan_u63(&r->s, &v))
        return false;
    if (v > (kind == READ_INT ? (uint64_t)INT32_MAX : UINT32_MAX))
        return read_fail(r, "This number is too large.");
    if (kind == READ_INT)
        *(int *)to = (int)v;
    else
        *(uint32_t *)to = (uint32_t)v;
    return true;
}

static void not_known(const read_row *row, void *to)
{
    static const double doubles[] = {[NULL_MINUS_ONE] = -1, [NULL_NAN] = NAN, [NULL_NOT_TOLD] = -1};
    if (row->kind == READ_F64)
        *(double *)to = doubles[row->null];
    else if (row->kind == READ_I64)
        *(int64_t *)to = row->null == NULL_MINUS_ONE ? -1 : 0;
    else
        *(uint64_t *)to = row->null == NULL_NOT_TOLD ? PROFILE_NOT_TOLD : 0;
}

/* ---- objects ---- */

static bool read_item(reader *r, const read_table *t, void *to)
{
    if (t->start)
        memcpy(to, t->start, t->size);
    return read_object(r, t, to) && (!t->finish || t->finish(r, to));
}

bool read_list(reader *r, const read_table *t, void **items, uint32_t *n)
{
    uint32_t cap = 0;
    *items = NULL;
    *n = 0;
    if (!scan_open(&r->s, '['))
        return false;
    while (scan_item(&r->s)) {
        if (!read_enter(r, (str){0}, *n))
            return false;
        void *to = read_push(r, items, n, &cap, t->size);
        if (!to || !read_item(r, t, to))
            return false;
        read_leave(r);
    }
    return !r->s.failed;
}

/* A list whose items carry the key they stood under. */
static bool read_map(reader *r, const read_table *t, void **items, uint32_t *n)
{
    uint32_t cap = 0;
    map seen;
    str key;
    *items = NULL;
    *n = 0;
    if (!map_init(&seen, r->s.arena, 0))
        return read_no_memory(r);
    if (!scan_open(&r->s, '{'))
        return false;
    while (scan_key(&r->s, &key)) {
        if (!read_enter(r, key, 0))
            return false;
        void *to = read_push(r, items, n, &cap, t->size);
        str name = str_copy(r->arena, key);
        if (map_get(&seen, key) != MAP_NONE)
            return read_fail(r, "This key stands twice.");
        if (!to || !name.p || !map_put(&seen, name, *n))
            return read_no_memory(r);
        if (!read_item(r, t, to))
            return false;
        memcpy((char *)to + t->name_at, &name, sizeof name);
        read_leave(r);
    }
    return !r->s.failed;
}

static bool read_items(reader *r, const read_row *row, void *base)
{
    void *items;
    uint32_t n;
    if (!(row->kind == READ_LIST ? read_list : read_map)(r, row->of, &items, &n))
        return false;
    memcpy((char *)base + row->at, &items, sizeof items);
    memcpy((char *)base + row->count_at, &n, sizeof n);
    return true;
}

static bool read_value(reader *r, const read_row *row, void *base)
{
    void *to = (char *)base + row->at;
    if (row->null && scan_null(&r->s)) {
        not_known(row, to);
        return true;
    }
    switch (row->kind) {
    case READ_U64:
        return scan_u64(&r->s, to);
    case READ_I64:
        return scan_i64(&r->s, to);
    case READ_F64:
        return scan_f64(&r->s, to);
    case READ_U32:
    case READ_INT:
        return narrow(r, row->kind, to);
    case READ_BOOL:
        return scan_bool(&r->s, to);
    case READ_STR:
        return read_text(r, to);
    case READ_WORD:
        return read_word(r, to);
    case READ_DTYPE:
        return read_dtype(r, to);
    case READ_SHAPE:
        return read_shape(r, to);
    case READ_F64S:
    case READ_U64S:
        return read_numbers(r, row, base);
    case READ_OBJECT:
        return read_object(r, row->of, to);
    case READ_LIST:
    case READ_MAP:
        return read_items(r, row, base);
    case READ_CALL:
        return row->call(r, to);
    }
    return false;
}

static uint32_t find_row(const read_table *t, str key, uint32_t from)
{
    for (uint32_t i = 0; i < t->n; i++) {
        uint32_t k = (from + i) % t->n;
        if (str_is(key, t->rows[k].key))
            return k;
    }
    return t->n;
}

bool read_object(reader *r, const read_table *t, void *base)
{
    uint64_t seen = 0;
    uint32_t next = 0;
    str key;
    assert(t->n <= READ_ROWS);
    if (!scan_open(&r->s, '{'))
        return false;
    while (scan_key(&r->s, &key)) {
        uint32_t k = find_row(t, key, next);
        if (!read_enter(r, key, 0))
            return false;
        if (k < t->n && (seen & UINT64_C(1) << k))
            return read_fail(r, "This key stands twice.");
        if (!(k < t->n ? read_value(r, &t->rows[k], base) : scan_skip(&r->s)))
            return false;
        read_leave(r);
        if (k == t->n)
            continue;
        seen |= UINT64_C(1) << k;
        next = (k + 1) % t->n;
    }
    if (t->present)
        *((bool *)base + t->present - 1) = true;
    return !r->s.failed;
}
