/* Patterns: texts with values in them; see view.h. Numbers are written as web/src/format.ts writes them, so that
 * a figure reads the same in the page, in Markdown and in a notebook. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "report/console.h"
#include "report/view.h"

#define DASH "–"

const char *const view_tone_names[] = {
    [TONE_PLAIN] = "plain", [TONE_GOOD] = "good", [TONE_FAIR] = "fair", [TONE_POOR] = "poor"};

/* ---- units ---- */

/* 0.0012 -> "1.2e-3". A double below 0.01 never lies half way between two such numbers. */
static void put_small(sbuf *b, double v)
{
    char text[32];
    snprintf(text, sizeof text, "%.1e", v);
    const char *e = strchr(text, 'e');
    bool negative = text[0] == '-';
    sbuf_printf(b, "%s%c.%ce%d", negative ? "-" : "", text[negative], e[-1], atoi(e + 1));
}

static void put_si(sbuf *b, double v)
{
    double a = fabs(v);
    if (a > 0 && a < 0.01)
        put_small(b, v);
    else
        text_si(b, v, -1);
}

static uint64_t whole(double v)
{
    double a = round(fabs(v));
    return a < 1.8e19 ? (uint64_t)a : UINT64_MAX;
}

static void put_sign(sbuf *b, double v)
{
    if (v < 0 && whole(v))
        sbuf_puts(b, "-");
}

static void put_whole(sbuf *b, double v)
{
    put_sign(b, v);
    text_thousands(b, whole(v));
}

static void put_bytes(sbuf *b, double v)
{
    put_sign(b, v);
    text_bytes(b, whole(v));
}

static void put_ms(sbuf *b, double v)
{
    if (v == 0)
        sbuf_puts(b, "0 ms");
    else if (v > 0)
        console_ms(b, v);
    else {
        sbuf_puts(b, "-");
        console_ms(b, -v);
    }
}

static void put_s(sbuf *b, double v)
{
    put_ms(b, 1000 * v);
}

static void put_ratio(sbuf *b, double v)
{
    report_fixed(b, v, v >= 100 ? 0 : 2);
    sbuf_puts(b, "×");
}

static void put_intensity(sbuf *b, double v)
{
    report_fixed(b, v, v >= 100 ? 0 : v >= 10 ? 1 : 2);
}

static void put_rate(sbuf *b, double v)
{
    if (v < 1000)
        report_fixed(b, v, v < 10 ? 2 : 1);
    else
        put_whole(b, v);
}

static void put_per_s(sbuf *b, double v)
{
    put_si(b, v);
    sbuf_puts(b, "/s");
}

static const struct unit {
    const char *name;
    void (*put)(sbuf *b,
                double v); /* NULL: `times` as large, with decimals and what stands behind */
    double times;
    int decimals;
    const char *behind;
} units[] = {
    {.name = "si", .put = put_si},
    {.name = "whole", .put = put_whole},
    {.name = "bytes", .put = put_bytes},
    {.name = "ms", .put = put_ms},
    {.name = "s", .put = put_s},
    {.name = "percent", .times = 1, .decimals = 1, .behind = " %"},
    {.name = "percent0", .times = 1, .decimals = 0, .behind = " %"},
    {.name = "percent2", .times = 1, .decimals = 2, .behind = " %"},
    {.name = "share", .times = 100, .decimals = 0, .behind = " %"},
    {.name = "ratio", .put = put_ratio},
    {.name = "intensity", .put = put_intensity},
    {.name = "rate", .put = put_rate},
    {.name = "fixed1", .times = 1, .decimals = 1, .behind = ""},
    {.name = "fixed2", .times = 1, .decimals = 2, .behind = ""},
    {.name = "fixed3", .times = 1, .decimals = 3, .behind = ""},
    {.name = "per-s", .put = put_per_s},
    /* units of metrics, as documents name them */
    {.name = "count", .put = put_si},
    {.name = "1/s", .put = put_rate},
    {.name = "number", .times = 1, .decimals = 2, .behind = ""},
};

/* 1234.5 -> "1,234.50" */
static void put_grouped(sbuf *b, double v, int decimals)
{
    sbuf plain = {0};
    report_fixed(&plain, v, decimals);
    const char *text = sbuf_cstr(&plain);
    size_t from = text[0] == '-', digits = strspn(text + from, "0123456789");
    for (size_t i = 0; i < plain.n; i++) {
        if (i > from && i < from + digits && (from + digits - i) % 3 == 0)
            sbuf_putc(b, ',');
        sbuf_putc(b, text[i]);
    }
    sbuf_free(&plain);
}

static void put_in(sbuf *b, double v, const struct unit *u)
{
    if (u->put) {
        u->put(b, v);
        return;
    }
    if (*u->behind)
        report_fixed(b, v * u->times, u->decimals);
    else
        put_grouped(b, v * u->times, u->decimals);
    sbuf_puts(b, u->behind);
}

static void put_number(sbuf *b, double v, str unit)
{
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (str_is(unit, units[i].name)) {
            put_in(b, v, &units[i]);
            return;
        }
    put_si(b, v);
}

/* "2026-11-15T19:06:00Z" -> "2026-11-15 19:06 UTC" */
static void put_day(sbuf *b, str s)
{
    if (s.n < 16 || s.p[10] != 'T') {
        sbuf_str(b, s);
        return;
    }
    sbuf_put(b, s.p, 10);
    sbuf_putc(b, ' ');
    sbuf_put(b, s.p + 11, 5);
    sbuf_puts(b, " UTC");
}

static void put_items(sbuf *b, const json_value *v);

static void put_plain(sbuf *b, const json_value *v)
{
    if (v->kind == JSON_TEXT || json_is_number(v))
        sbuf_str(b, v->s);
    else if (v->kind == JSON_BOOL)
        sbuf_puts(b, v->f != 0 ? "yes" : "no");
    else if (v->kind == JSON_LIST || v->kind == JSON_OBJECT)
        put_items(b, v);
    else
        sbuf_puts(b, DASH);
}

enum { ITEMS_SHOWN = 20 };
static void put_items(sbuf *b, const json_value *v)
{
    for (uint32_t i = 0; v->items && i < v->n && i < ITEMS_SHOWN; i++) {
        sbuf_puts(b, i ? ", " : "");
        if (v->kind == JSON_OBJECT) {
            sbuf_str(b, v->items[i].key);
            sbuf_puts(b, " ");
        }
        put_plain(b, &v->items[i]);
    }
    if (v->n > ITEMS_SHOWN)
        sbuf_puts(b, ", …");
}

/* What the row, or the document, says its figures are in. */
static str unit_of(const json_value *row, const json_value *root)
{
    const json_value *own = json_path(row, "unit");
    return own->kind == JSON_TEXT ? own->s : json_path(root, "unit")->s;
}

static void put_value(sbuf *b, const json_value *v, const json_value *row, const json_value *root,
                      str unit)
{
    if (str_is(unit, "day") && v->kind == JSON_TEXT)
        put_day(b, v->s);
    else if (str_is(unit, "text") || !json_is_number(v))
        put_plain(b, v);
    else if (str_is(unit, "unit"))
        put_number(b, v->f, unit_of(row, root));
    else
        put_number(b, v->f, unit);
}

/* ---- paths ---- */

static uint32_t find(str s, char c)
{
    uint32_t i = 0;
    while (i < s.n && s.p[i] != c)
        i++;
    return i;
}

static str after(str s, uint32_t n)
{
    n = n < s.n ? n : s.n;
    return (str){s.p + n, s.n - n};
}

/* "plans.@best": the item that the document's own number "best" names. */
static const json_value *by_number(const json_value *row, const json_value *root, str path,
                                   uint32_t at)
{
    str rest = after(path, at + 1);
    uint32_t end = find(rest, '.');
    const json_value *list = json_at(row, (str){path.p, at ? at - 1 : 0});
    const json_value *index = json_at(root, (str){rest.p, end});
    if (!list->items || !json_is_number(index) || !(index->f >= 0 && index->f < list->n))
        return &json_absent;
    return json_at(&list->items[(uint32_t)index->f], after(rest, end + 1));
}

static json_value look(const json_value *row, const json_value *root, str path)
{
    uint32_t star = find(path, '*'), number = find(path, '@');
    if (str_is(path, "@key"))
        return json_of_text(row->key);
    if (star < path.n) {
        json_value a = look(row, root, (str){path.p, star});
        json_value b = look(row, root, after(path, star + 1));
        a.f *= json_is_number(&b) ? b.f : 1;
        return a;
    }
    if (path.n && path.p[0] == '^')
        return *json_at(root, after(path, 1));
    return number < path.n ? *by_number(row, root, path, number) : *json_at(row, path);
}

static bool is_something(const json_value *v)
{
    return v->kind == JSON_TEXT                             ? v->s.n > 0
           : v->kind == JSON_LIST || v->kind == JSON_OBJECT ? v->n > 0
                                                            : v->f != 0;
}

/* ---- patterns ---- */

typedef struct filling {
    sbuf *out;
    const json_value *row, *root;
    bool missing;
} filling;

static void fill_value(filling *f, str inside)
{
    bool nonzero = inside.n && inside.p[0] == '+';
    str rest = after(inside, nonzero);
    uint32_t colon = find(rest, ':');
    json_value v = look(f->row, f->root, (str){rest.p, colon});
    f->missing |= v.kind == JSON_NULL || (nonzero && !is_something(&v));
    put_value(f->out, &v, f->row, f->root, after(rest, colon + 1));
}

static void fill(filling *f, str pattern);

static void fill_optional(filling *f, str inside)
{
    sbuf part = {0};
    filling inner = {.out = &part, .row = f->row, .root = f->root};
    fill(&inner, inside);
    if (!inner.missing)
        sbuf_put(f->out, part.p ? part.p : "", part.n);
    f->out->failed |= part.failed;
    sbuf_free(&part);
}

static void fill(filling *f, str pattern)
{
    while (pattern.n) {
        char c = pattern.p[0];
        uint32_t end = c == '{' ? find(pattern, '}') : c == '[' ? find(pattern, ']') : 0;
        if (c == '{')
            fill_value(f, (str){pattern.p + 1, end - 1});
        else if (c == '[')
            fill_optional(f, (str){pattern.p + 1, end - 1});
        else
            sbuf_putc(f->out, c);
        pattern = after(pattern, end + 1);
    }
}

void view_put(sbuf *b, const json_value *row, const json_value *root, const char *pattern)
{
    for (str rest = str_of(pattern); rest.n;) {
        uint32_t end = find(rest, '|');
        filling f = {.out = b, .row = row, .root = root};
        size_t from = b->n;
        fill(&f, (str){rest.p, end});
        rest = after(rest, end + 1);
        if (!f.missing)
            return;
        if (rest.n && !b->failed)
            b->n = from;
    }
}

str view_text(arena *a, const json_value *row, const json_value *root, const char *pattern)
{
    sbuf b = {0};
    str out = {0};
    if (!pattern)
        return out;
    view_put(&b, row, root, pattern);
    if (b.n && !b.failed)
        out = str_copy(a, (str){b.p, (uint32_t)b.n});
    sbuf_free(&b);
    return out;
}

/* ---- conditions ---- */

static bool equals(const json_value *v, str word)
{
    return v->kind == JSON_NULL || str_eq(v->s, word);
}

static bool holds_one(const json_value *row, const json_value *root, str c)
{
    uint32_t is = find(c, '=');
    bool inverse = is && is < c.n && c.p[is - 1] == '!';
    if (is < c.n) {
        json_value v = look(row, root, (str){c.p, is - inverse});
        return equals(&v, after(c, is + 1)) != inverse;
    }
    uint32_t plus = c.n > 1 && c.p[0] == '+' ? c.p[1] == '+' ? 2 : 1 : 0;
    bool absent = c.p[0] == '!';
    json_value v = look(row, root, after(c, plus + absent));
    if (absent)
        return v.kind == JSON_NULL;
    return plus == 2 ? v.n > 1 : plus ? is_something(&v) : v.kind != JSON_NULL;
}

static bool holds_any(const json_value *row, const json_value *root, str c)
{
    while (c.n) {
        uint32_t end = find(c, '/');
        if (holds_one(row, root, (str){c.p, end}))
            return true;
        c = after(c, end + 1);
    }
    return false;
}

bool view_holds(const json_value *row, const json_value *root, const char *conditions)
{
    for (str rest = str_of(conditions); rest.n;) {
        uint32_t end = find(rest, ',');
        if (!holds_any(row, root, (str){rest.p, end}))
            return false;
        rest = after(rest, end + 1);
    }
    return true;
}
