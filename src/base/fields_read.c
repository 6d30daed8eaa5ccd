/* Described structs from JSON: one reader for every result. See fields.h. */
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>

#include "base/fields_impl.h"
#include "base/map.h"
#include "base/result.h"
#include "base/vec.h"

/* ---- failures ---- */

bool fields_fail(field_reader *r, const char *what)
{
    return scan_fail(&r->s, what);
}

bool fields_fail_memory(field_reader *r)
{
    r->no_memory = true;
    return fields_fail(r, "out of memory");
}

static bool enter_path(field_reader *r, str key, uint64_t index)
{
    if (r->s.failed || r->depth == FIELD_DEPTH)
        return fields_fail(r, "JSON is nested deeper than 64 levels");
    r->path[r->depth].key = key;
    r->path[r->depth++].index = index;
    return true;
}

/* A failure keeps its position. */
static void leave_path(field_reader *r)
{
    if (!r->s.failed)
        r->depth--;
}

static void put_path(const field_reader *r, sbuf *b)
{
    for (uint32_t i = 0; i < r->depth; i++) {
        if (!r->path[i].key.p)
            sbuf_printf(b, "[%" PRIu64 "]", r->path[i].index);
        else
            sbuf_printf(b, "%s" STR_FMT, i ? "." : "", STR_ARG(r->path[i].key));
    }
    sbuf_puts(b, r->depth ? ": " : "");
}

assay_status fields_failed(const field_reader *r, const char *shown, assay_error *err)
{
    sbuf path = {0};
    if (r->no_memory || arena_failed(r->arena) || arena_failed(r->s.arena))
        return err_no_memory(err);
    put_path(r, &path);
    assay_status s = err_fail_at(err, ASSAY_ERR_MALFORMED, r->s.err->offset,
                                 "%s: %s%s (byte %" PRIu64 ")", shown, sbuf_cstr(&path),
                                 r->s.what ? r->s.what : "", r->s.err->offset);
    sbuf_free(&path);
    return s;
}

/* ---- reading values ---- */

void *fields_push(field_reader *r, void **items, uint32_t *n, uint32_t *cap, size_t size)
{
    if (*n == *cap && !vec_grow(r->arena, items, *n, cap, size)) {
        fields_fail_memory(r);
        return NULL;
    }
    return (char *)*items + size * (*n)++;
}

bool fields_read_text(field_reader *r, str *out)
{
    str s;
    *out = (str){0};
    if (scan_null(&r->s))
        return true;
    if (!scan_str(&r->s, &s))
        return false;
    *out = str_copy(r->arena, s);
    return out->p || fields_fail_memory(r);
}

static uint32_t word_index(const char *const *words, str s)
{
    uint32_t i = 0;
    while (words[i] && !str_is(s, words[i]))
        i++;
    return i;
}

static bool read_enum(field_reader *r, const field *f, uint32_t *out)
{
    str s;
    if (!scan_str(&r->s, &s))
        return false;
    *out = word_index(f->words, s);
    return f->words[*out] || fields_fail(r, "unknown word");
}

static bool read_either(field_reader *r, const field *f, bool *out)
{
    uint32_t index = 0;
    bool ok = read_enum(r, f, &index);
    *out = index == 1;
    return ok;
}

static bool read_word(field_reader *r, const field *f, const char **out)
{
    str s;
    if (!fields_read_text(r, &s))
        return false;
    if (s.p && strlen(s.p) != s.n)
        return fields_fail(r, "text contains a NUL");
    *out = s.p;
    return !s.p || !f->words || f->words[word_index(f->words, s)] || fields_fail(r, "unknown word");
}

static bool read_chars(field_reader *r, const field *f, char *out)
{
    str s = {0};
    if (!scan_null(&r->s) && !scan_str(&r->s, &s))
        return false;
    if (s.n >= f->size)
        return fields_fail(r, "text is too long");
    memset(out, 0, f->size);
    if (s.n)
        memcpy(out, s.p, s.n);
    return true;
}

static bool read_small(field_reader *r, field_kind kind, void *to)
{
    int64_t v;
    if (!scan_i64(&r->s, &v))
        return false;
    if (kind == FIELD_INT ? v < -INT_MAX || v > INT_MAX : v < 0 || v >= UINT32_MAX)
        return fields_fail(r, "number out of range");
    if (kind == FIELD_INT)
        *(int *)to = (int)v;
    else
        *(uint32_t *)to = (uint32_t)v;
    return true;
}

/* A time, a size, a rate: what has a unit is not below zero unless its row says so. */
static bool read_real(field_reader *r, const field *f, double *to)
{
    bool is_signed = f->unit == UNIT_NONE || f->flags & FIELD_SIGNED;
    return scan_f64(&r->s, to) && (is_signed || *to >= 0 || fields_fail(r, "negative number"));
}

/* Digits alone are exact up to 2^64 - 2. */
static bool read_number(field_reader *r, const field *f, field_number *to)
{
    assay_error ignored = {0};
    json_scan s = r->s;
    s.err = &ignored;
    if (!scan_u64(&s, &to->n) || to->n == FIELD_UNKNOWN) {
        *to = (field_number){.v = NAN};
        return read_real(r, f, &to->v);
    }
    s.err = r->s.err;
    r->s = s;
    to->whole = true;
    to->v = (double)to->n;
    return true;
}

static bool read_result(field_reader *r, const field *f, field_result *to)
{
    str rest = {r->s.at, (uint32_t)(r->s.end - r->s.at)};
    const result_kind *kind = result_choose(f->results, rest, r->s.arena);
    if (!kind)
        return fields_fail(r, "not one of the results allowed here");
    void *data = arena_alloc(r->arena, kind->of->size);
    if (!data)
        return fields_fail_memory(r);
    *to = (field_result){kind, data};
    return fields_read(r, kind->of, data);
}

static bool read_scalar(field_reader *r, const field *f, void *to)
{
    switch (f->kind) {
    case FIELD_U64:
        return scan_u64(&r->s, to);
    case FIELD_I64:
        return scan_i64(&r->s, to);
    case FIELD_U32:
    case FIELD_INT:
        return read_small(r, f->kind, to);
    case FIELD_F64:
        return read_real(r, f, to);
    case FIELD_NUMBER:
        return read_number(r, f, to);
    case FIELD_RESULT:
        return read_result(r, f, to);
    case FIELD_BOOL:
        return scan_bool(&r->s, to);
    case FIELD_STR:
        return fields_read_text(r, to);
    case FIELD_WORD:
        return read_word(r, f, to);
    case FIELD_ENUM:
        return read_enum(r, f, to);
    case FIELD_EITHER:
        return read_either(r, f, to);
    case FIELD_CHARS:
        return read_chars(r, f, to);
    default:
        return f->codec->read(r, to);
    }
}

/* ---- reading lists ---- */

static size_t item_size(const field *f)
{
    return f->of                   ? f->of->size
           : f->kind == FIELD_STRS ? sizeof(str)
           : f->kind == FIELD_U32S ? sizeof(uint32_t)
                                   : sizeof(uint64_t);
}

static bool read_struct(field_reader *r, const fields *f, void *base);

static bool read_item(field_reader *r, const field *f, void *to)
{
    switch (f->kind) {
    case FIELD_F64S:
        *(double *)to = NAN;
        return (f->flags & FIELD_HOLES && scan_null(&r->s)) || scan_f64(&r->s, to);
    case FIELD_U64S:
        *(uint64_t *)to = FIELD_UNKNOWN;
        return (f->flags & FIELD_HOLES && scan_null(&r->s)) || scan_u64(&r->s, to);
    case FIELD_U32S:
        return read_small(r, FIELD_U32, to);
    case FIELD_STRS:
        return fields_read_text(r, to);
    default:
        return fields_read(r, f->of, to);
    }
}

typedef struct list_reader {
    void *items;
    uint32_t n, cap;
    map seen; /* keys of a map */
} list_reader;

static void *push_item(field_reader *r, const field *f, void *base, list_reader *l)
{
    size_t size = item_size(f);
    if (!f->size)
        return fields_push(r, &l->items, &l->n, &l->cap, size);
    if (l->n == f->size) {
        fields_fail(r, "too many items");
        return NULL;
    }
    return (char *)base + f->at + size * l->n++;
}

static bool take_key(field_reader *r, const field *f, list_reader *l, void *item, str key)
{
    str name = str_copy(r->arena, key);
    if (map_get(&l->seen, key) != MAP_NONE)
        return fields_fail(r, "duplicate key");
    if (!name.p || !map_put(&l->seen, name, l->n))
        return fields_fail_memory(r);
    memcpy((char *)item + f->of->key_at, &name, sizeof name);
    return true;
}

static bool next_item(field_reader *r, const field *f, str *key)
{
    *key = (str){0};
    return f->kind == FIELD_MAP ? scan_key(&r->s, key) : scan_item(&r->s);
}

static bool read_list(field_reader *r, const field *f, void *base)
{
    list_reader l = {0};
    str key;
    if (f->kind == FIELD_MAP && !map_init(&l.seen, r->s.arena, 0))
        return fields_fail_memory(r);
    if (!scan_open(&r->s, f->kind == FIELD_MAP ? '{' : '['))
        return false;
    while (next_item(r, f, &key)) {
        if (!enter_path(r, key, l.n))
            return false;
        void *to = push_item(r, f, base, &l);
        if (!to || !read_item(r, f, to) || (f->kind == FIELD_MAP && !take_key(r, f, &l, to, key)))
            return false;
        leave_path(r);
    }
    if (!f->size)
        memcpy((char *)base + f->at, &l.items, sizeof l.items);
    memcpy((char *)base + f->count_at, &l.n, sizeof l.n);
    return !r->s.failed;
}

/* ---- reading objects ---- */

/* The struct of an OBJECT or SPLICE. A pointed-to one is created if its first key is read. */
static void *object_to_fill(field_reader *r, const field *f, void *base)
{
    void *at = (char *)base + f->at, *made;
    if (!f->by_pointer)
        return at;
    memcpy(&made, at, sizeof made);
    if (made)
        return made;
    made = arena_alloc(r->arena, f->of->size);
    if (!made) {
        fields_fail_memory(r);
        return NULL;
    }
    fields_clear(f->of, made);
    memcpy(at, &made, sizeof made);
    return made;
}

static bool read_object(field_reader *r, const field *f, void *base)
{
    void *to = object_to_fill(r, f, base);
    return to && read_struct(r, f->of, to);
}

static bool read_row(field_reader *r, const field *f, void *base)
{
    if (f->flags & FIELD_WRITE_ONLY)
        return scan_skip(&r->s);
    if (f->kind != FIELD_BOOL && scan_null(&r->s)) {
        if (f->absent != FIELD_NULL_ZERO && f->absent != FIELD_OMIT_ZERO)
            fields_clear_row(f, base);
        return true;
    }
    if (fields_is_list(f->kind))
        return read_list(r, f, base);
    if (f->kind == FIELD_OBJECT)
        return read_object(r, f, base);
    return read_scalar(r, f, (char *)base + f->at);
}

/* Where a key goes: the row, the struct that holds it, and the row's number among all rows of the object. */
typedef struct row_place {
    const field *row;
    void *base;
    uint32_t number;
} row_place;

/* Our own files have the keys in the order of the rows, so the row behind the last one is tried first. */
static uint32_t find_row(const fields *f, str key, uint32_t from)
{
    for (uint32_t i = 0; i < f->n; i++) {
        uint32_t k = (from + i) % f->n;
        if (f->rows[k].key && str_is(key, f->rows[k].key))
            return k;
    }
    return f->n;
}

static bool find_place(field_reader *r, const fields *f, void *base, str key, uint32_t *next,
                       row_place *out)
{
    uint32_t k = find_row(f, key, *next), before = f->n;
    if (k < f->n) {
        *next = k + 1;
        *out = (row_place){&f->rows[k], base, k};
        return true;
    }
    for (uint32_t i = 0; i < f->n; i++) {
        const field *splice = &f->rows[i];
        if (splice->kind != FIELD_SPLICE)
            continue;
        k = find_row(splice->of, key, 0);
        if (k < splice->of->n) {
            *out = (row_place){&splice->of->rows[k], object_to_fill(r, splice, base), before + k};
            return out->base != NULL;
        }
        before += splice->of->n;
    }
    *out = (row_place){0};
    return true;
}

static bool read_key(field_reader *r, const row_place *at, uint64_t *seen)
{
    if (!at->row)
        return scan_skip(&r->s);
    assert(at->number < FIELD_ROWS);
    if (seen[at->number / 64] >> at->number % 64 & 1)
        return fields_fail(r, "duplicate key");
    seen[at->number / 64] |= UINT64_C(1) << at->number % 64;
    if (at->row->when_at)
        ((bool *)at->base)[at->row->when_at - 1] = true;
    return read_row(r, at->row, at->base);
}

static bool check_needed(field_reader *r, const fields *f, const uint64_t *seen)
{
    for (uint32_t i = 0; i < f->n; i++) {
        if (!(f->rows[i].flags & FIELD_NEEDED) || (seen[i / 64] >> i % 64 & 1))
            continue;
        return enter_path(r, str_of(f->rows[i].key), 0) && fields_fail(r, "missing key");
    }
    return true;
}

/* Structs of splices are whole when the object that holds their keys is. */
static bool finish_struct(field_reader *r, const fields *f, void *base)
{
    for (uint32_t i = 0; i < f->n; i++) {
        void *spliced = (char *)base + f->rows[i].at;
        if (f->rows[i].kind != FIELD_SPLICE)
            continue;
        if (f->rows[i].by_pointer)
            memcpy(&spliced, spliced, sizeof spliced);
        if (spliced && !finish_struct(r, f->rows[i].of, spliced))
            return false;
    }
    return !f->finish || f->finish(r, base);
}

static bool read_struct(field_reader *r, const fields *f, void *base)
{
    uint64_t seen[FIELD_ROWS / 64] = {0};
    uint32_t next = 0;
    str key;
    if (!scan_open(&r->s, '{'))
        return false;
    while (scan_key(&r->s, &key)) {
        row_place at;
        if (!enter_path(r, key, 0) || !find_place(r, f, base, key, &next, &at) ||
            !read_key(r, &at, seen))
            return false;
        leave_path(r);
    }
    if (f->present_at)
        ((bool *)base)[f->present_at - 1] = true;
    return !r->s.failed && check_needed(r, f, seen) && finish_struct(r, f, base);
}

bool fields_read(field_reader *r, const fields *f, void *base)
{
    memset(base, 0, f->size);
    fields_clear(f, base);
    return f->bare ? read_row(r, f->rows, base) : read_struct(r, f, base);
}

assay_status fields_parse(str text, const char *shown, const fields *f, void *base, arena *a,
                          assay_error *err)
{
    assay_error own = {0};
    arena *scratch = arena_new(SIZE_MAX);
    TRY_MEMORY(scratch, err);
    field_reader r = {.s = scan_text(text, 0, shown, scratch, &own), .arena = a};
    assay_status status = ASSAY_OK;
    r.s.nul = true; /* names of models may hold anything */
    if (!fields_read(&r, f, base) || !scan_end(&r.s))
        status = fields_failed(&r, shown, err);
    arena_free(scratch);
    return status;
}
