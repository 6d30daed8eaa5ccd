/* See attribute.h. */
#include "profile/attribute.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- comparing ---- */

static int by_name(const void *x, const void *y)
{
    const profile_attribute *a = x, *b = y;
    return str_cmp(a->name, b->name);
}

void attribute_sort(profile_attribute *items, uint32_t n)
{
    if (n > 1)
        qsort(items, n, sizeof *items, by_name);
}

static bool same_items(const profile_attribute *a, const profile_attribute *b)
{
    for (uint32_t i = 0; i < a->n; i++) {
        if (a->kind == ATTRIBUTE_TEXTS ? !str_eq(a->v.texts[i], b->v.texts[i])
            : a->kind == ATTRIBUTE_INTS && b->kind == ATTRIBUTE_INTS
                ? a->v.ints[i] != b->v.ints[i]
                : (float)(a->kind == ATTRIBUTE_INTS ? (double)a->v.ints[i] : a->v.floats[i]) !=
                      (float)(b->kind == ATTRIBUTE_INTS ? (double)b->v.ints[i] : b->v.floats[i]))
            return false;
    }
    return true;
}

/* A number is one however it was written: 1 and 1.0. */
bool attribute_same(const profile_attribute *a, const profile_attribute *b)
{
    bool texts = a->kind == ATTRIBUTE_TEXTS;
    if (a->n != b->n || a->list != b->list || a->hash != b->hash)
        return false;
    if (a->hash) /* of which a file does not tell the kind */
        return true;
    return texts == (b->kind == ATTRIBUTE_TEXTS) && same_items(a, b);
}

static uint64_t mix(uint64_t h, uint64_t v)
{
    h = (h ^ v) * UINT64_C(0x9e3779b97f4a7c15);
    return h ^ h >> 29;
}

uint64_t attribute_hash(uint64_t h, const profile_attribute *a)
{
    h = mix(mix(h, str_hash(a->name)), a->n);
    for (uint32_t i = 0; !a->hash && i < a->n; i++) {
        float f = a->kind == ATTRIBUTE_INTS     ? (float)a->v.ints[i]
                  : a->kind == ATTRIBUTE_FLOATS ? (float)a->v.floats[i]
                                                : 0;
        uint32_t bits;
        memcpy(&bits, &f, sizeof bits);
        h = mix(h, a->kind == ATTRIBUTE_TEXTS ? str_hash(a->v.texts[i]) : bits);
    }
    return mix(h, a->hash);
}

static int name_order(const profile_attribute *a, const profile_attribute *b)
{
    return !a ? 1 : !b ? -1 : str_cmp(a->name, b->name);
}

bool attribute_next(attribute_list a, attribute_list b, uint32_t *i, uint32_t *k,
                    attribute_pair *out)
{
    while (*i < a.n || *k < b.n) {
        const profile_attribute *x = *i < a.n ? &a.items[*i] : NULL;
        const profile_attribute *y = *k < b.n ? &b.items[*k] : NULL;
        int order = name_order(x, y);
        *out = (attribute_pair){order <= 0 ? x : NULL, order >= 0 ? y : NULL};
        *i += order <= 0;
        *k += order >= 0;
        if (!out->before || !out->after || !attribute_same(out->before, out->after))
            return true;
    }
    return false;
}

/* ---- writing ---- */

/* The shortest digits that are this float32 again. */
static void put_float(char out[32], double v)
{
    for (int digits = 1; digits <= 9; digits++) {
        snprintf(out, 32, "%.*g", digits, v);
        if (strtof(out, NULL) == (float)v)
            return;
    }
}

static void json_item(json_writer *w, const profile_attribute *a, uint32_t i)
{
    char digits[32];
    if (a->kind == ATTRIBUTE_INTS)
        json_i64(w, a->v.ints[i]);
    else if (a->kind == ATTRIBUTE_TEXTS)
        json_str(w, a->v.texts[i]);
    else {
        put_float(digits, a->v.floats[i]);
        json_f64(w, strtod(digits, NULL));
    }
}

void attribute_json(json_writer *w, const profile_attribute *a)
{
    char hex[20];
    if (a->hash) {
        snprintf(hex, sizeof hex, "%016llx", (unsigned long long)a->hash);
        json_flat_object(w);
        key_u64(w, "items", a->n);
        key_cstr(w, "hash", hex);
        json_end(w);
        return;
    }
    if (a->list)
        json_flat_array(w);
    for (uint32_t i = 0; i < a->n; i++)
        json_item(w, a, i);
    if (!a->list && !a->n) /* of a file: something that is not known here */
        json_null(w);
    if (a->list)
        json_end(w);
}

void attribute_text(sbuf *b, const profile_attribute *a)
{
    json_writer w;
    json_begin(&w, b, 0);
    if (a->hash)
        sbuf_printf(b, "%u items #%08x", a->n, (unsigned)(a->hash >> 32));
    else
        attribute_json(&w, a);
}
