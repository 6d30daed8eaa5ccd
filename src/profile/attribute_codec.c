/* A layer's attributes in result files: numbers, texts, lists of either, and of a long list its hash. Unknown forms
 * (null, true, lists of lists) are skipped by the reader. */
#include <stdlib.h>

#include "profile/codecs.h"
#include "profile/profile.h"

typedef struct values {
    int64_t ints[ATTRIBUTE_ITEMS];
    double floats[ATTRIBUTE_ITEMS];
    str texts[ATTRIBUTE_ITEMS];
    uint32_t n;
    bool any_text, any_real;
} values;

/* The number that is here: whole unless it is written otherwise. */
static bool is_whole(const json_scan *s)
{
    const char *p = s->at;
    while (p < s->end && strchr("+-0123456789", *p))
        p++;
    return p == s->end || !strchr(".eE", *p);
}

/* One item of each list, so that they keep step whatever turns out to be the kind. Longer lists are hashed when
 * they are written. */
static bool read_value(field_reader *r, values *v)
{
    if (v->n == ATTRIBUTE_ITEMS)
        return scan_skip(&r->s);
    int64_t *i = &v->ints[v->n];
    double *f = &v->floats[v->n];
    str *t = &v->texts[v->n++];
    *i = 0;
    *f = 0;
    *t = (str){0};
    if (scan_is(&r->s, '"')) {
        v->any_text = true;
        return fields_read_text(r, t);
    }
    v->any_real = v->any_real || !is_whole(&r->s);
    if (!is_whole(&r->s))
        return scan_f64(&r->s, f);
    if (!scan_i64(&r->s, i))
        return false;
    *f = (double)*i;
    return true;
}

static bool read_hashed(field_reader *r, profile_attribute *out)
{
    str key, hex = {0};
    uint64_t n = 0;
    if (!scan_open(&r->s, '{'))
        return false;
    while (scan_key(&r->s, &key)) {
        if (str_is(key, "items")  ? !scan_u63(&r->s, &n)
            : str_is(key, "hash") ? !fields_read_text(r, &hex)
                                  : !scan_skip(&r->s))
            return false;
    }
    out->list = true;
    out->n = n < UINT32_MAX ? (uint32_t)n : UINT32_MAX;
    out->hash = hex.n ? strtoull(hex.p, NULL, 16) : 0;
    if (!out->hash)
        out->n = 0;
    return !r->s.failed;
}

static bool take_values(field_reader *r, const values *v, profile_attribute *out)
{
    out->n = v->n;
    out->kind = v->any_text ? ATTRIBUTE_TEXTS : v->any_real ? ATTRIBUTE_FLOATS : ATTRIBUTE_INTS;
    if (!v->n)
        return true;
    if (v->any_text)
        out->v.texts = arena_copy(r->arena, v->texts, sizeof *v->texts * v->n);
    else if (v->any_real)
        out->v.floats = arena_copy(r->arena, v->floats, sizeof *v->floats * v->n);
    else
        out->v.ints = arena_copy(r->arena, v->ints, sizeof *v->ints * v->n);
    return out->v.ints || fields_fail_memory(r);
}

static bool is_scalar(json_scan *s)
{
    return scan_is(s, '"') || (s->at < s->end && strchr("-0123456789", *s->at));
}

static bool read_list_value(field_reader *r, values *v)
{
    if (!scan_open(&r->s, '['))
        return false;
    while (scan_item(&r->s))
        if (is_scalar(&r->s) ? !read_value(r, v) : !scan_skip(&r->s))
            return false;
    return !r->s.failed;
}

static bool read_one(field_reader *r, profile_attribute *out)
{
    values v;
    v.n = 0;
    v.any_text = v.any_real = false;
    if (scan_is(&r->s, '{'))
        return read_hashed(r, out);
    out->list = scan_is(&r->s, '[');
    bool ok = out->list          ? read_list_value(r, &v)
              : is_scalar(&r->s) ? read_value(r, &v)
                                 : scan_skip(&r->s);
    return ok && take_values(r, &v, out);
}

/* Of one name the first stays. */
static uint32_t drop_repeated(profile_attribute *items, uint32_t n)
{
    uint32_t kept = n > 0;
    for (uint32_t i = 1; i < n; i++)
        if (!str_eq(items[i].name, items[kept - 1].name))
            items[kept++] = items[i];
    return kept;
}

static bool attributes_read(field_reader *r, void *at)
{
    profile_layer *l = at;
    profile_attribute *items = NULL;
    uint32_t n = 0, cap = 0;
    str key;
    if (!scan_open(&r->s, '{'))
        return false;
    while (scan_key(&r->s, &key)) {
        profile_attribute *a = fields_push(r, (void **)&items, &n, &cap, sizeof *a);
        if (!a)
            return false;
        *a = (profile_attribute){.name = str_copy(r->arena, key)};
        if (!a->name.p)
            return fields_fail_memory(r);
        if (!read_one(r, a))
            return false;
    }
    attribute_sort(items, n);
    l->attributes = (attribute_list){items, drop_repeated(items, n)};
    l->attributes_told = true;
    return !r->s.failed;
}

static bool attributes_known(const void *at)
{
    return ((const profile_layer *)at)->attributes_told;
}

static void attributes_write(json_writer *w, const void *at)
{
    const attribute_list *a = &((const profile_layer *)at)->attributes;
    json_flat_object(w);
    for (uint32_t i = 0; i < a->n; i++) {
        json_key_str(w, a->items[i].name);
        attribute_json(w, &a->items[i]);
    }
    json_end(w);
}

static void attributes_print(sbuf *b, const void *at)
{
    const attribute_list *a = &((const profile_layer *)at)->attributes;
    for (uint32_t i = 0; i < a->n; i++) {
        sbuf_printf(b, "%s" STR_FMT "=", i ? " " : "", STR_ARG(a->items[i].name));
        attribute_text(b, &a->items[i]);
    }
}

const field_codec attributes_codec = {.schema = "{\"type\": \"object\"}",
                                      .typescript = "Record<string, unknown>",
                                      .known = attributes_known,
                                      .write = attributes_write,
                                      .read = attributes_read,
                                      .print = attributes_print};

/* ---- one of them ---- */

static bool attribute_known(const void *at)
{
    return *(const profile_attribute *const *)at != NULL;
}

static void attribute_write(json_writer *w, const void *at)
{
    attribute_json(w, *(const profile_attribute *const *)at);
}

static bool attribute_read(field_reader *r, void *at)
{
    profile_attribute *a = ARENA_NEW(r->arena, profile_attribute);
    if (!a)
        return fields_fail_memory(r);
    *(const profile_attribute **)at = a;
    return read_one(r, a);
}

static void attribute_print(sbuf *b, const void *at)
{
    attribute_text(b, *(const profile_attribute *const *)at);
}

#define ATTRIBUTE_SCHEMA \
    "{\"type\": [\"integer\", \"number\", \"string\", \"array\", \"object\", \"null\"]}"
const field_codec attribute_codec = {.schema = ATTRIBUTE_SCHEMA,
                                     .typescript = "unknown",
                                     .known = attribute_known,
                                     .write = attribute_write,
                                     .read = attribute_read,
                                     .print = attribute_print};
