/* Values of described structs: by row, by key, by path. See fields.h. */
#include "base/fields_impl.h"
#include "base/result.h"

#include <assert.h>

static const void *member_at(const field *f, const void *base)
{
    assert(base);
    return (const char *)base + f->at;
}

static uint32_t items_count(const field *f, const void *base)
{
    uint32_t n;
    memcpy(&n, (const char *)base + f->count_at, sizeof n);
    assert(!f->size || n <= f->size);
    return n;
}

/* Of lists and maps: inside the struct, or where its pointer points. */
static const void *items_of(const field *f, const void *base)
{
    return f->size ? member_at(f, base) : *(const void *const *)member_at(f, base);
}

static const void *object_of(const field *f, const void *base)
{
    const void *at = member_at(f, base);
    if (f->by_pointer)
        at = *(const void *const *)at;
    assert(f->of);
    bool there = at && (!f->of->present_at || ((const bool *)at)[f->of->present_at - 1]);
    return there ? at : NULL;
}

static size_t words_count(const char *const *words)
{
    size_t n = 0;
    while (words[n])
        n++;
    return n;
}

/* ---- one row ---- */

static field_value whole(uint64_t v, uint64_t unknown)
{
    return (field_value){.type = v == unknown ? VALUE_NONE : VALUE_WHOLE, .u = v};
}

static field_value integer(int64_t v, int64_t unknown)
{
    if (v >= 0)
        return whole((uint64_t)v, FIELD_UNKNOWN);
    return (field_value){.type = v == unknown ? VALUE_NONE : VALUE_INTEGER, .i = v};
}

static field_value text(str s)
{
    return (field_value){.type = s.n ? VALUE_TEXT : VALUE_NONE, .text = s};
}

static field_value list(const field *f, const void *base)
{
    uint32_t n = items_count(f, base);
    const void *items = items_of(f, base);
    return (field_value){
        .type = n && items ? VALUE_LIST : VALUE_NONE, .n = n, .at = items, .of = f->of};
}

static field_value real(double d)
{
    return (field_value){.type = isnan(d) ? VALUE_NONE : VALUE_REAL, .d = d};
}

static field_value number(const field_number *x)
{
    return x->whole && !isnan(x->v) ? whole(x->n, FIELD_UNKNOWN) : real(x->v);
}

static field_value codec(const field *f, const void *at)
{
    return (field_value){.type = f->codec->known(at) ? VALUE_CODEC : VALUE_NONE, .at = at};
}

static field_value word(const field *f, const void *at)
{
    if (f->kind == FIELD_WORD)
        return text(str_of(*(const char *const *)at));
    uint32_t index = f->kind == FIELD_EITHER ? *(const bool *)at : *(const uint32_t *)at;
    return index < words_count(f->words) ? text(str_of(f->words[index])) : (field_value){0};
}

static field_value object(const fields *of, const void *at)
{
    return (field_value){
        .type = at ? VALUE_OBJECT : VALUE_NONE, .n = at ? of->n : 0, .at = at, .of = of};
}

static field_value result(const field_result *r)
{
    field_value v = {0};
    if (r->kind)
        v = object(r->kind->of, r->data);
    v.result = r->kind;
    return v;
}

static field_value value_of(const field *f, const void *base)
{
    const void *at = member_at(f, base);
    switch (f->kind) {
    case FIELD_U64:
        return whole(*(const uint64_t *)at, FIELD_UNKNOWN);
    case FIELD_U32:
        return whole(*(const uint32_t *)at, UINT32_MAX);
    case FIELD_I64:
        return integer(*(const int64_t *)at, INT64_MIN);
    case FIELD_INT:
        return integer(*(const int *)at, INT_MIN);
    case FIELD_F64:
        return real(*(const double *)at);
    case FIELD_NUMBER:
        return number(at);
    case FIELD_BOOL:
        return (field_value){.type = VALUE_BOOL, .b = *(const bool *)at};
    case FIELD_STR:
        return text(*(const str *)at);
    case FIELD_WORD:
    case FIELD_ENUM:
    case FIELD_EITHER:
        return word(f, at);
    case FIELD_CHARS:
        return text((str){at, (uint32_t)strnlen(at, f->size)});
    case FIELD_F64S:
    case FIELD_U64S:
    case FIELD_U32S:
    case FIELD_STRS:
    case FIELD_LIST:
    case FIELD_MAP:
        return list(f, base);
    case FIELD_OBJECT:
    case FIELD_SPLICE:
        return object(f->of, object_of(f, base));
    case FIELD_RESULT:
        return result(at);
    case FIELD_CODEC:
        return codec(f, at);
    }
    return (field_value){0};
}

bool fields_is_written(const field *f, const void *base)
{
    return !f->when_at || ((const bool *)base)[f->when_at - 1];
}

field_value fields_value(const field *f, const void *base)
{
    field_value v = {0};
    if (fields_is_written(f, base))
        v = value_of(f, base);
    v.row = f;
    v.key = str_of(f->key);
    return v;
}

const char *fields_unit(const field *row)
{
    static const char *const units[] = {
        [UNIT_FLOPS] = "FLOPs",
        [UNIT_MACS] = "MACs",
        [UNIT_BYTES] = "bytes",
        [UNIT_MIB] = "MiB",
        [UNIT_MS] = "ms",
        [UNIT_US] = "µs",
        [UNIT_S] = "s",
        [UNIT_PERCENT] = "%",
        [UNIT_RATIO] = "ratio",
        [UNIT_PER_SECOND] = "1/s",
        [UNIT_FLOPS_PER_S] = "FLOP/s",
        [UNIT_GFLOPS_PER_S] = "GFLOP/s",
        [UNIT_BYTES_PER_S] = "bytes/s",
        [UNIT_GBYTES_PER_S] = "GB/s",
        [UNIT_INTENSITY] = "FLOP/byte",
        [UNIT_MHZ] = "MHz",
        [UNIT_WATT] = "W",
        [UNIT_JOULE] = "J",
        [UNIT_CELSIUS] = "°C",
        [UNIT_USD] = "USD",
    };
    return row->unit < sizeof units / sizeof *units ? units[row->unit] : NULL;
}

/* ---- paths ---- */

field_value fields_root(const fields *f, const void *base)
{
    return object(f, base);
}

static str map_key(const field_value *v, uint32_t index)
{
    assert(v->of && index < v->n);
    return *(const str *)((const char *)v->at + (size_t)v->of->size * index + v->of->key_at);
}

static field_value list_item(const field_value *v, uint32_t index)
{
    const void *at = v->at;
    assert(at && v->row && index < v->n);
    if (v->of) {
        const void *base = (const char *)at + (size_t)v->of->size * index;
        field_value item = v->of->bare ? value_of(v->of->rows, base) : object(v->of, base);
        item.key = v->row->kind == FIELD_MAP ? map_key(v, index) : (str){0};
        item.row = v->of->bare ? v->of->rows : v->row;
        return item;
    }
    if (v->row->kind == FIELD_STRS)
        return (field_value){.type = VALUE_TEXT, .text = ((const str *)at)[index], .row = v->row};
    field_value item = v->row->kind == FIELD_F64S ? real(((const double *)at)[index])
                       : v->row->kind == FIELD_U32S
                           ? whole(((const uint32_t *)at)[index], UINT32_MAX)
                           : whole(((const uint64_t *)at)[index], FIELD_UNKNOWN);
    item.row = v->row;
    return item;
}

static field_value codec_item(const field_value *v, uint32_t index)
{
    const field_codec *c = v->row->codec;
    if (!c->item || index >= c->count(v->at))
        return (field_value){0};
    field_value item = integer(c->item(v->at, index), INT64_MIN);
    item.row = v->row;
    return item;
}

field_value fields_item(const field_value *v, uint32_t index)
{
    if (v->type == VALUE_CODEC)
        return codec_item(v, index);
    if (index >= v->n)
        return (field_value){0};
    if (v->type == VALUE_OBJECT)
        return fields_value(&v->of->rows[index], v->at);
    if (v->type != VALUE_LIST)
        return (field_value){0};
    return list_item(v, index);
}

static bool parse_index(str key, uint32_t *out)
{
    uint64_t v;
    if (!str_to_u64(key, &v) || v > UINT32_MAX)
        return false;
    *out = (uint32_t)v;
    return true;
}

/* str_is() with the first letter looked at before anything is called: rows are many, and few begin alike. */
static bool has_key(const field *f, str key)
{
    return f->key && key.n && f->key[0] == key.p[0] && str_is(key, f->key);
}

static field_value object_member(const field_value *v, str key)
{
    for (uint32_t i = 0; i < v->n; i++) {
        const field *f = &v->of->rows[i];
        if (has_key(f, key))
            return fields_value(f, v->at);
        if (f->kind != FIELD_SPLICE)
            continue;
        field_value spliced = fields_value(f, v->at), found = {0};
        if (spliced.type == VALUE_OBJECT)
            found = object_member(&spliced, key);
        if (found.row)
            return found;
    }
    return (field_value){0};
}

field_value fields_member(const field_value *v, str key)
{
    uint32_t index;
    if (v->type == VALUE_OBJECT)
        return object_member(v, key);
    if (v->type == VALUE_LIST && v->row->kind == FIELD_MAP)
        for (uint32_t i = 0; i < v->n; i++)
            if (str_eq(key, map_key(v, i)))
                return fields_item(v, i);
    bool by_number = v->type == VALUE_CODEC || (v->type == VALUE_LIST && v->row->kind != FIELD_MAP);
    if (by_number && parse_index(key, &index))
        return fields_item(v, index);
    return (field_value){0};
}

/* The first part of a path, which is left with the rest. */
static str cut_path(str *path)
{
    const char *dot = memchr(path->p, '.', path->n);
    uint32_t n = dot ? (uint32_t)(dot - path->p) : path->n;
    str key = {path->p, n};
    *path = dot ? (str){dot + 1, path->n - n - 1} : (str){0};
    return key;
}

field_value fields_at(const field_value *v, str path)
{
    field_value at = *v;
    while (path.n && at.type != VALUE_NONE)
        at = fields_member(&at, cut_path(&path));
    return at;
}

field_value fields_get(const field_value *v, const char *path)
{
    return fields_at(v, str_of(path));
}

static const field *find_key(const fields *f, str key)
{
    const field *found = NULL;
    for (uint32_t i = 0; f && i < f->n && !found; i++) {
        const field *row = &f->rows[i];
        if (row->key && str_is(key, row->key))
            found = row;
        else if (row->kind == FIELD_SPLICE)
            found = find_key(row->of, key);
    }
    return found;
}

static bool has_items(const field *row)
{
    bool values = row->kind >= FIELD_F64S && row->kind <= FIELD_STRS;
    bool structs = row->kind == FIELD_LIST || row->kind == FIELD_MAP;
    return values || structs || (row->kind == FIELD_CODEC && row->codec->item);
}

/* Of whichever kind has it. */
static const field *find_in_results(const struct result_kind *const *kinds, str path)
{
    const field *row = NULL;
    for (; *kinds && !row; kinds++)
        row = fields_find((*kinds)->of, path);
    return row;
}

const field *fields_find(const fields *f, str path)
{
    const field *row = NULL;
    bool of_item = false; /* the next key is of an item of `row` */
    for (str key; str_split(&path, '.', &key);) {
        if (!of_item)
            row = f ? find_key(f, key) : NULL;
        else if (f && f->bare)
            row = f->rows;
        if (!row)
            return NULL;
        if (row->kind == FIELD_RESULT && path.n)
            return find_in_results(row->results, path);
        f = row->of;
        of_item = !of_item && has_items(row);
    }
    return row;
}

double fields_number(const field_value *v)
{
    switch (v->type) {
    case VALUE_BOOL:
        return v->b;
    case VALUE_WHOLE:
        return (double)v->u;
    case VALUE_INTEGER:
        return (double)v->i;
    case VALUE_REAL:
        return v->d;
    default:
        return NAN;
    }
}

bool fields_is_set(const field_value *v)
{
    switch (v->type) {
    case VALUE_NONE:
        return false;
    case VALUE_BOOL:
        return v->b;
    case VALUE_WHOLE:
        return v->u != 0;
    case VALUE_REAL:
        return v->d != 0;
    default:
        return true;
    }
}

/* ---- unknown ---- */

void fields_clear_row(const field *f, void *base)
{
    char *at = (char *)base + f->at;
    switch (f->kind) {
    case FIELD_U64:
        *(uint64_t *)(void *)at = FIELD_UNKNOWN;
        break;
    case FIELD_U32:
        *(uint32_t *)(void *)at = UINT32_MAX;
        break;
    case FIELD_I64:
        *(int64_t *)(void *)at = INT64_MIN;
        break;
    case FIELD_INT:
        *(int *)(void *)at = INT_MIN;
        break;
    case FIELD_F64:
        *(double *)(void *)at = NAN;
        break;
    case FIELD_NUMBER:
        *(field_number *)(void *)at = (field_number){.v = NAN};
        break;
    case FIELD_OBJECT:
    case FIELD_SPLICE:
        if (!f->by_pointer)
            fields_clear(f->of, at);
        break;
    default: /* the struct was zeroed */
        break;
    }
}

/* What a row requires is never unknown: a file without it has 0, or no number where that is one too. */
static bool starts_unknown(const field *f)
{
    bool has_unknown = f->absent == FIELD_NULL || f->absent == FIELD_OMIT;
    return has_unknown || (f->absent == FIELD_REQUIRED &&
                           (f->kind == FIELD_F64 || f->kind == FIELD_NUMBER || f->of));
}

static void clear_rows(const fields *f, void *base)
{
    for (uint32_t i = 0; i < f->n; i++)
        if (starts_unknown(&f->rows[i]))
            fields_clear_row(&f->rows[i], base);
}

void fields_clear(const fields *f, void *base)
{
    assert(base && f->size > 0);
    if (f->start)
        memcpy(base, f->start, f->size);
    else
        clear_rows(f, base);
}
