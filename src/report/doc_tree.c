/* See doc_tree.h. */
#include "report/doc_tree.h"

#include "base/json_scan.h"
#include "base/vec.h"

static const doc_value nothing = {0};

typedef struct doc_reader {
    json_scan s;
    arena *a;
    const char *const *skip;
    bool no_memory;
} doc_reader;

typedef VEC(doc_value) doc_values;

static bool read_value(doc_reader *r, doc_value *out);

static bool out_of_memory(doc_reader *r)
{
    r->no_memory = true;
    return false;
}

static bool is_skipped(const doc_reader *r, str key)
{
    for (int i = 0; r->s.depth == 1 && r->skip && r->skip[i]; i++)
        if (str_is(key, r->skip[i]))
            return true;
    return false;
}

/* Whether there are any is all that a view asks. */
static bool count_only(doc_reader *r, doc_value *out)
{
    if (!scan_is(&r->s, '['))
        return scan_skip(&r->s);
    out->kind = DOC_LIST;
    scan_open(&r->s, '[');
    while (scan_item(&r->s)) {
        out->n++;
        scan_skip(&r->s);
    }
    return !r->s.failed;
}

static bool read_members(doc_reader *r, doc_value *out)
{
    doc_values list = {0};
    str key;
    out->kind = DOC_OBJECT;
    scan_open(&r->s, '{');
    while (scan_key(&r->s, &key)) {
        doc_value *v = VEC_PUSH(r->a, &list);
        if (!v)
            return out_of_memory(r);
        v->key = key;
        if (!(is_skipped(r, key) ? count_only(r, v) : read_value(r, v)))
            return false;
    }
    out->items = list.items;
    out->n = list.n;
    return !r->s.failed;
}

static bool read_items(doc_reader *r, doc_value *out)
{
    doc_values list = {0};
    out->kind = DOC_LIST;
    scan_open(&r->s, '[');
    while (scan_item(&r->s)) {
        doc_value *v = VEC_PUSH(r->a, &list);
        if (!v)
            return out_of_memory(r);
        if (!read_value(r, v))
            return false;
    }
    out->items = list.items;
    out->n = list.n;
    return !r->s.failed;
}

static bool read_number(doc_reader *r, doc_value *out)
{
    const char *from = r->s.at; /* blanks are behind: scan_is() went over them */
    if (!scan_f64(&r->s, &out->number))
        return false;
    out->kind = DOC_NUMBER;
    out->text = (str){from, (uint32_t)(r->s.at - from)};
    return true;
}

static bool read_value(doc_reader *r, doc_value *out)
{
    bool truth = false;
    if (scan_is(&r->s, '{'))
        return read_members(r, out);
    if (scan_is(&r->s, '['))
        return read_items(r, out);
    if (scan_is(&r->s, '"')) {
        out->kind = DOC_TEXT;
        return scan_str(&r->s, &out->text);
    }
    if (scan_is(&r->s, 't') || scan_is(&r->s, 'f')) {
        out->kind = DOC_BOOL;
        bool read = scan_bool(&r->s, &truth);
        out->number = truth;
        return read;
    }
    return scan_null(&r->s) || read_number(r, out);
}

assay_status doc_parse(str text, const char *shown, const char *const *skip, arena *a,
                       doc_value *out, assay_error *err)
{
    doc_reader r = {.a = a, .skip = skip};
    assay_error own = {0};
    if (text.n >= 3 && memcmp(text.p, "\xef\xbb\xbf", 3) == 0)
        text = (str){text.p + 3, text.n - 3};
    r.s = scan_text(text, 0, shown, a, &own);
    r.s.nul = true;
    *out = nothing;
    if (!scan_is(&r.s, '{'))
        return err_fail(err, ASSAY_ERR_MALFORMED, "'%s' is not a JSON object.", shown);
    if (read_value(&r, out) && scan_end(&r.s))
        return ASSAY_OK;
    if (r.no_memory || own.code == ASSAY_ERR_SYSTEM)
        return err_no_memory(err);
    return err_fail_at(err, own.code, own.offset, "%s", own.message);
}

const doc_value *doc_member(const doc_value *v, str key)
{
    for (uint32_t i = 0; v->kind == DOC_OBJECT && i < v->n; i++)
        if (str_eq(v->items[i].key, key))
            return &v->items[i];
    return &nothing;
}

static const doc_value *child(const doc_value *v, str name)
{
    uint32_t index = 0;
    if (v->kind != DOC_LIST || !v->items)
        return doc_member(v, name);
    for (uint32_t i = 0; i < name.n; i++) {
        if (name.p[i] < '0' || name.p[i] > '9' || index > v->n)
            return &nothing;
        index = index * 10 + (uint32_t)(name.p[i] - '0');
    }
    return index < v->n ? &v->items[index] : &nothing;
}

const doc_value *doc_at(const doc_value *v, str path)
{
    while (path.n) {
        uint32_t end = 0;
        while (end < path.n && path.p[end] != '.')
            end++;
        v = child(v, (str){path.p, end});
        end += end < path.n;
        path = (str){path.p + end, path.n - end};
    }
    return v;
}

const doc_value *doc_get(const doc_value *v, const char *path)
{
    return doc_at(v, str_of(path));
}

bool doc_is_true(const doc_value *v)
{
    return v->kind == DOC_BOOL && v->number != 0;
}
