/* The tree over json_scan. Values of a list or object that is still open are on one stack; when it closes
 * they are copied to an array of the right size, so little of the arena is lost to growth.
 */
#include "base/json_tree.h"

#include <assert.h>
#include <inttypes.h>

#include "base/file.h"
#include "base/json_scan.h"
#include "base/limits.h"
#include "base/map.h"
#include "base/vec.h"

/* Objects of more members look for repeated keys in a map. */
enum { LINEAR_MAX = 16 };

const json_value json_absent = {0};

typedef struct tree_reader {
    json_scan s;
    arena *a;
    const json_tree_options *how;
    VEC(json_value) open;
    bool no_memory;
} tree_reader;

static bool read_value(tree_reader *r, json_value *out);

static bool out_of_memory(tree_reader *r)
{
    r->no_memory = true;
    return false;
}

static bool push_value(tree_reader *r, const json_value *v)
{
    if (!VEC_ADD(r->a, &r->open, *v))
        return out_of_memory(r);
    return true;
}

/* Takes what was pushed from `first` on as the items of out. */
static bool close_items(tree_reader *r, uint32_t first, json_value *out)
{
    assert(first <= r->open.n);
    if (r->s.failed)
        return false;
    out->n = r->open.n - first;
    if (!out->n)
        return true;
    const json_value *items = r->open.items + first;
    out->items = arena_copy(r->a, items, sizeof *items * out->n);
    r->open.n = first;
    return out->items || out_of_memory(r);
}

static bool copy_text(tree_reader *r, str *s)
{
    *s = str_copy(r->a, *s);
    return s->p || out_of_memory(r);
}

/* Strings with escapes were decoded into the arena; others are borrowed from the text. */
static bool keep_string(tree_reader *r, str *s)
{
    return r->s.decoded || copy_text(r, s);
}

/* ---- objects ---- */

static bool fail_repeated(tree_reader *r, str key)
{
    const char *what = arena_printf(r->a, "duplicate key '%.*s'", (int)(key.n < 60 ? key.n : 60),
                                    key.p);
    r->s.at = r->s.string;
    return what ? scan_fail(&r->s, what) : out_of_memory(r);
}

static bool index_keys(tree_reader *r, uint32_t first, map *seen)
{
    bool ok = map_init(seen, r->a, 4 * LINEAR_MAX);
    for (uint32_t i = first; ok && i < r->open.n; i++)
        ok = map_put(seen, r->open.items[i].key, i);
    return ok || out_of_memory(r);
}

/* Fails if the object whose members begin at `first` has the key already. */
static bool check_key(tree_reader *r, uint32_t first, map *seen, str key)
{
    assert(first <= r->open.n);
    uint32_t n = r->open.n - first;
    for (uint32_t i = first; n <= LINEAR_MAX && i < r->open.n; i++)
        if (str_eq(r->open.items[i].key, key))
            return fail_repeated(r, key);
    if (n < LINEAR_MAX)
        return true;
    if (n == LINEAR_MAX && !index_keys(r, first, seen))
        return false;
    bool is_new;
    if (!map_at(seen, key, n, &is_new))
        return out_of_memory(r);
    return is_new || fail_repeated(r, key);
}

static bool is_only_counted(const tree_reader *r, str key)
{
    const char *const *names = r->s.depth == 1 ? r->how->count_only : NULL;
    for (int i = 0; names && names[i]; i++)
        if (str_is(key, names[i]))
            return true;
    return false;
}

static bool count_items(tree_reader *r, json_value *out)
{
    if (!scan_is(&r->s, '['))
        return scan_skip(&r->s);
    out->kind = JSON_LIST;
    scan_open(&r->s, '[');
    while (scan_item(&r->s)) {
        out->n++;
        scan_skip(&r->s);
    }
    return !r->s.failed;
}

static bool read_object(tree_reader *r, json_value *out)
{
    uint32_t first = r->open.n;
    map seen;
    str key;
    out->kind = JSON_OBJECT;
    scan_open(&r->s, '{');
    while (scan_key(&r->s, &key)) {
        json_value v = {0};
        if (!keep_string(r, &key) || !(r->how->lenient || check_key(r, first, &seen, key)))
            return false;
        if (!(is_only_counted(r, key) ? count_items(r, &v) : read_value(r, &v)))
            return false;
        v.key = key;
        if (!push_value(r, &v))
            return false;
    }
    return close_items(r, first, out);
}

/* ---- other values ---- */

static bool read_list(tree_reader *r, json_value *out)
{
    uint32_t first = r->open.n;
    out->kind = JSON_LIST;
    scan_open(&r->s, '[');
    while (scan_item(&r->s)) {
        json_value v = {0};
        if (!read_value(r, &v) || !push_value(r, &v))
            return false;
    }
    return close_items(r, first, out);
}

static bool is_written_whole(str number)
{
    for (uint32_t i = 0; i < number.n; i++)
        if (number.p[i] == '.' || (number.p[i] | 32) == 'e')
            return false;
    return true;
}

static bool read_number(tree_reader *r, json_value *out)
{
    const char *from = r->s.at; /* scan_is() went over the blanks */
    if (!scan_f64(&r->s, &out->f))
        return false;
    out->kind = JSON_REAL;
    out->s = (str){from, (uint32_t)(r->s.at - from)};
    if (is_written_whole(out->s)) {
        if (str_to_i64(out->s, &out->i))
            out->kind = JSON_INT;
        else if (!r->how->lenient)
            return scan_fail(&r->s, "whole number does not fit 64 bits");
    }
    return copy_text(r, &out->s);
}

static bool read_bool(tree_reader *r, json_value *out)
{
    bool yes = false;
    if (!scan_bool(&r->s, &yes))
        return false;
    *out = json_of_bool(yes);
    return true;
}

/* Recursion is as deep as scan_open() allows. */
static bool read_value(tree_reader *r, json_value *out)
{
    if (scan_is(&r->s, '{'))
        return read_object(r, out);
    if (scan_is(&r->s, '['))
        return read_list(r, out);
    if (scan_is(&r->s, '"')) {
        out->kind = JSON_TEXT;
        return scan_str(&r->s, &out->s) && keep_string(r, &out->s);
    }
    if (scan_is(&r->s, 't') || scan_is(&r->s, 'f'))
        return read_bool(r, out);
    bool number = scan_is(&r->s, '-') || (r->s.at < r->s.end && *r->s.at >= '0' && *r->s.at <= '9');
    return number ? read_number(r, out) : scan_skip(&r->s); /* a null, or a mistake */
}

/* ---- documents ---- */

/* Lines and columns count from 1; a column is a character. */
static assay_status fail_with_place(const tree_reader *r, const char *shown, uint64_t offset,
                                    const char *what, assay_error *err)
{
    uint64_t line = 1, column = 1;
    assert(offset >= r->s.base && offset - r->s.base <= (uint64_t)(r->s.end - r->s.start));
    const char *at = r->s.start + (offset - r->s.base);
    for (const char *p = r->s.start; p < at; p++) {
        column = *p == '\n' ? 1 : column + ((*p & 0xc0) != 0x80);
        line += *p == '\n';
    }
    return err_fail_at(err, ASSAY_ERR_MALFORMED, offset,
                       "%s: invalid JSON at line %" PRIu64 ", column %" PRIu64 " (byte %" PRIu64
                       "): %s",
                       shown, line, column, offset, what);
}

assay_status json_tree_parse(str text, const char *shown, const json_tree_options *how, arena *a,
                             json_value *out, assay_error *err)
{
    static const json_tree_options strict = {0};
    tree_reader r = {.a = a, .how = how ? how : &strict};
    assay_error own = {0};
    uint32_t mark = text.n >= 3 && memcmp(text.p, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    r.s = scan_text((str){text.p ? text.p + mark : "", text.n - mark}, mark, shown, a, &own);
    r.s.nul = r.how->lenient;
    assert(a && out && shown);
    *out = json_absent;
    if (read_value(&r, out) && scan_end(&r.s))
        return ASSAY_OK;
    if (r.no_memory || own.code == ASSAY_ERR_SYSTEM)
        return err_no_memory(err);
    return fail_with_place(&r, shown, own.offset, r.s.what, err);
}

assay_status json_tree_read(const char *path, arena *a, json_value *out, assay_error *err)
{
    str text;
    TRY(file_read_limited(path, LIMIT_JSON, a, &text, err));
    return json_tree_parse(text, FILE_NAME(path), NULL, a, out, err);
}

/* ---- access ---- */

const json_value *json_member(const json_value *object, str key)
{
    for (uint32_t i = 0; object && object->kind == JSON_OBJECT && i < object->n; i++)
        if (str_eq(object->items[i].key, key))
            return &object->items[i];
    return NULL;
}

const json_value *json_get(const json_value *object, const char *key)
{
    return json_member(object, str_of(key));
}

static const json_value *item_at(const json_value *list, str index)
{
    uint64_t at;
    return str_to_u64(index, &at) && list->items && at < list->n ? &list->items[at] : NULL;
}

const json_value *json_at(const json_value *v, str path)
{
    while (path.n) {
        str name = str_cut(&path, '.');
        v = v->kind == JSON_LIST ? item_at(v, name) : json_member(v, name);
        if (!v)
            return &json_absent;
    }
    return v;
}

const json_value *json_path(const json_value *v, const char *path)
{
    return json_at(v, str_of(path));
}

const char *json_kind_name(json_kind kind)
{
    static const char *const names[] = {
        [JSON_NULL] = "null",        [JSON_BOOL] = "true or false", [JSON_INT] = "a whole number",
        [JSON_REAL] = "a number",    [JSON_TEXT] = "a string",      [JSON_LIST] = "a list",
        [JSON_OBJECT] = "an object",
    };
    return names[kind];
}
