/* Patterns and conditions on the values of a result; see view.h. */
#include "report/view.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/view_units.h"

#define DASH "–"

/* ---- values ---- */

/* "2026-11-15T19:06:00Z" -> "2026-11-15 19:06" */
static void put_minute(sbuf *b, str s)
{
    if (s.n < 16 || s.p[10] != 'T') {
        sbuf_str(b, s);
        return;
    }
    sbuf_put(b, s.p, 10);
    sbuf_putc(b, ' ');
    sbuf_put(b, s.p + 11, 5);
}

static void put_day(sbuf *b, str s)
{
    put_minute(b, s);
    if (s.n >= 16 && s.p[10] == 'T')
        sbuf_puts(b, " UTC");
}

enum { ITEMS_SHOWN = 20 };

static void put_list(sbuf *b, const field_value *v, const char *comma, uint32_t most);

static void put_plain(sbuf *b, const field_value *v)
{
    if (v->type == VALUE_NONE)
        sbuf_puts(b, DASH);
    else if (v->type == VALUE_BOOL)
        sbuf_puts(b, v->b ? "yes" : "no");
    else if (v->type == VALUE_LIST || v->type == VALUE_OBJECT)
        put_list(b, v, ", ", ITEMS_SHOWN);
    else
        fields_print(b, v);
}

static void put_list(sbuf *b, const field_value *v, const char *comma, uint32_t most)
{
    uint32_t shown = 0;
    for (uint32_t i = 0; i < v->n && shown < most; i++) {
        field_value item = fields_item(v, i);
        if (item.type == VALUE_NONE)
            continue;
        sbuf_puts(b, shown++ ? comma : "");
        if (v->type == VALUE_OBJECT || item.key.n) {
            sbuf_str(b, item.key);
            sbuf_putc(b, ' ');
        }
        put_plain(b, &item);
    }
    if (v->n > most)
        sbuf_puts(b, ", …");
}

enum { SIZES_SHOWN = 3 };

/* Items by their keys, with their bytes where there are several: "float32 97.5 MiB + int64 53 B". */
static void put_sizes(sbuf *b, const field_value *v)
{
    for (uint32_t i = 0; i < v->n && i < SIZES_SHOWN; i++) {
        field_value item = fields_item(v, i), bytes = fields_get(&item, "bytes");
        sbuf_puts(b, i ? " + " : "");
        sbuf_str(b, item.key);
        if (v->n > 1) {
            sbuf_putc(b, ' ');
            view_put_number(b, fields_number(&bytes), STR("bytes"));
        }
    }
}

/* The unit that the row, or the result, names for its figures. */
static str named_unit(const view *v, const field_value *row, bool exact)
{
    field_value own = fields_get(row, "unit"), all = fields_get(&v->root, "unit");
    str name = own.type == VALUE_TEXT ? own.text : all.text;
    return exact && str_is(name, "count") ? STR("whole") : name;
}

static str unit_of(const view *v, const field_value *value, const field_value *row, str unit)
{
    if (!unit.n && value->row)
        return view_unit_of(value->row->unit);
    bool exact = str_is(unit, "exact");
    return exact || str_is(unit, "unit") ? named_unit(v, row, exact) : unit;
}

/* Ways to write a text. */
static const struct text_unit {
    const char *name;
    void (*put)(sbuf *b, str s);
} text_units[] = {{"day", put_day}, {"minute", put_minute}, {"name", profile_put_name}};

static const struct text_unit *text_unit_of(str name)
{
    for (size_t i = 0; i < sizeof text_units / sizeof *text_units; i++)
        if (str_is(name, text_units[i].name))
            return &text_units[i];
    return NULL;
}

/* Ways to write all of a list: what stands between its items. */
static const char *list_unit_of(str name)
{
    static const char *const units[][2] = {{"list", ", "}, {"joined", ","}, {"shape", "×"}};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (str_is(name, units[i][0]))
            return units[i][1];
    return NULL;
}

static void put_value(const view *v, sbuf *b, const field_value *value, const field_value *row,
                      str unit)
{
    const char *between = value->type == VALUE_LIST ? list_unit_of(unit) : NULL;
    const struct text_unit *written = text_unit_of(unit);
    if (written) {
        sbuf text = {0};
        put_plain(&text, value);
        written->put(b, (str){sbuf_cstr(&text), (uint32_t)text.n});
        sbuf_free(&text);
    } else if (str_is(unit, "sizes")) {
        put_sizes(b, value);
    } else if (between) {
        put_list(b, value, between, UINT32_MAX);
    } else if (str_is(unit, "text") || !fields_is_number(value)) {
        put_plain(b, value);
    } else {
        view_put_number(b, fields_number(value), unit_of(v, value, row, unit));
    }
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

/* "plans.@best": the item that the result's own number "best" names; "@last", "@count" of any list. */
static field_value item_by_number(const view *v, const field_value *row, str path, uint32_t at)
{
    str rest = after(path, at + 1);
    uint32_t end = find(rest, '.');
    str name = {rest.p, end};
    field_value list = fields_at(row, (str){path.p, at ? at - 1 : 0});
    field_value index = fields_at(&v->root, name);
    double number = str_is(name, "last") ? (double)list.n - 1 : fields_number(&index);
    if (str_is(name, "count"))
        return (field_value){.type = VALUE_WHOLE, .u = list.n};
    if (list.type != VALUE_LIST || !(number >= 0 && number < list.n))
        return (field_value){0};
    field_value item = fields_item(&list, (uint32_t)number);
    return fields_at(&item, after(rest, end + 1));
}

/* A share of nothing is 0. */
static field_value quotient(const view *v, const field_value *row, str path, uint32_t slash)
{
    field_value a = view_look(v, row, (str){path.p, slash});
    field_value b = view_look(v, row, after(path, slash + 1));
    if (!fields_is_number(&a) || !fields_is_number(&b))
        return (field_value){0};
    double by = fields_number(&b);
    return (field_value){.type = VALUE_REAL, .d = by != 0 ? fields_number(&a) / by : 0};
}

static field_value product(const view *v, const field_value *row, str path, uint32_t star)
{
    field_value a = view_look(v, row, (str){path.p, star});
    field_value b = view_look(v, row, after(path, star + 1));
    if (!fields_is_number(&a))
        return a;
    double times = fields_is_number(&b) ? fields_number(&b) : 1;
    return (field_value){.type = VALUE_REAL, .d = fields_number(&a) * times, .row = a.row};
}

/* What a saved result has: a number rounded as its row says, nothing in place of a 0 that the file leaves out. */
static field_value as_saved(field_value v)
{
    char text[400];
    if (!v.row || !fields_is_number(&v))
        return v;
    if (v.type == VALUE_REAL && v.row->decimals && fabs(v.d) < 1e15) {
        snprintf(text, sizeof text, "%.*f", v.row->decimals - 1, v.d);
        v.d = strtod(text, NULL);
    }
    bool omits = v.row->absent == FIELD_OMIT_ZERO || v.row->absent == FIELD_NULL_ZERO;
    return omits && !fields_is_set(&v) ? (field_value){0} : v;
}

/* Keys and dots alone, as most paths are. */
static bool is_plain_path(str path)
{
    for (uint32_t i = 0; i < path.n; i++)
        if (path.p[i] == '*' || path.p[i] == '/' || path.p[i] == '@' || path.p[i] == '^')
            return false;
    return true;
}

field_value view_look(const view *v, const field_value *row, str path)
{
    if (is_plain_path(path))
        return as_saved(fields_at(row, path));
    uint32_t star = find(path, '*'), number = find(path, '@');
    if (str_is(path, "@key"))
        return (field_value){.type = row->key.n ? VALUE_TEXT : VALUE_NONE, .text = row->key};
    if (star < path.n)
        return product(v, row, path, star);
    if (find(path, '/') < path.n)
        return quotient(v, row, path, find(path, '/'));
    if (path.n && path.p[0] == '^')
        return view_look(v, &v->root, after(path, 1));
    return as_saved(number < path.n ? item_by_number(v, row, path, number) : fields_at(row, path));
}

/* ---- patterns ---- */

typedef struct filling {
    const view *v;
    sbuf *out;
    const field_value *row;
    bool missing;
} filling;

static bool look_alike(const filling *f, const field_value *a, const field_value *b, str unit)
{
    sbuf x = {0}, y = {0};
    put_value(f->v, &x, a, f->row, unit);
    put_value(f->v, &y, b, f->row, unit);
    bool alike = strcmp(sbuf_cstr(&x), sbuf_cstr(&y)) == 0;
    sbuf_free(&x);
    sbuf_free(&y);
    return alike;
}

/* "a..b" */
static void fill_range(filling *f, str path, uint32_t dots, str unit)
{
    field_value a = view_look(f->v, f->row, (str){path.p, dots});
    field_value b = view_look(f->v, f->row, after(path, dots + 2));
    f->missing |= a.type == VALUE_NONE || b.type == VALUE_NONE || look_alike(f, &a, &b, unit);
    put_value(f->v, f->out, &a, f->row, unit);
    sbuf_puts(f->out, " to ");
    put_value(f->v, f->out, &b, f->row, unit);
}

/* Counts that differ must not look the same: "417 k" and "417 k" are 416,520 and 417,360. */
static void fill_distinct(filling *f, const field_value *value, str unit, str other)
{
    field_value b = other.n ? view_look(f->v, f->row, other) : (field_value){0};
    bool whole = value->type == VALUE_WHOLE && b.type == VALUE_WHOLE && value->u != b.u;
    put_value(f->v, f->out, value, f->row,
              whole && look_alike(f, value, &b, unit) ? STR("whole") : unit);
}

static uint32_t find_dots(str s)
{
    uint32_t i = 0;
    while (i + 1 < s.n && (s.p[i] != '.' || s.p[i + 1] != '.'))
        i++;
    return i + 1 < s.n ? i : s.n;
}

static bool holds_any(const view *v, const field_value *row, str c);

/* "?condition:text" */
static void fill_if(filling *f, str inside)
{
    uint32_t colon = find(inside, ':');
    if (holds_any(f->v, f->row, (str){inside.p, colon}))
        sbuf_str(f->out, after(inside, colon + 1));
    else
        f->missing = true;
}

static void fill_value(filling *f, str inside)
{
    if (inside.n && inside.p[0] == '?') {
        fill_if(f, after(inside, 1));
        return;
    }
    bool nonzero = inside.n && inside.p[0] == '+';
    str rest = after(inside, nonzero);
    uint32_t colon = find(rest, ':'), dots = find_dots((str){rest.p, colon});
    str path = {rest.p, colon}, unit = after(rest, colon + 1);
    uint32_t blank = find(unit, ' ');
    str noun = after(unit, blank);
    unit.n = blank;
    uint32_t tilde = find(unit, '~');
    if (dots < colon) {
        fill_range(f, path, dots, unit);
        return;
    }
    field_value value = view_look(f->v, f->row, path);
    f->missing |= value.type == VALUE_NONE || (nonzero && !fields_is_set(&value));
    fill_distinct(f, &value, (str){unit.p, tilde}, after(unit, tilde + 1));
    sbuf_str(f->out, noun);
    if (noun.n && fields_number(&value) != 1)
        sbuf_putc(f->out, 's');
}

static void fill(filling *f, str pattern);

/* Brackets without a value in them are text: "[1/5]". */
static void fill_optional(filling *f, str inside)
{
    sbuf part = {0};
    filling inner = {.v = f->v, .out = &part, .row = f->row};
    bool plain = find(inside, '{') == inside.n;
    fill(&inner, inside);
    sbuf_puts(f->out, plain ? "[" : "");
    if (!inner.missing)
        sbuf_put(f->out, part.p ? part.p : "", part.n);
    sbuf_puts(f->out, plain ? "]" : "");
    f->out->failed |= part.failed;
    sbuf_free(&part);
}

static void fill(filling *f, str pattern)
{
    while (pattern.n) {
        uint32_t text = 0;
        while (text < pattern.n && pattern.p[text] != '{' && pattern.p[text] != '[')
            text++;
        sbuf_put(f->out, pattern.p, text);
        pattern = after(pattern, text);
        if (!pattern.n)
            return;
        bool value = pattern.p[0] == '{';
        uint32_t end = find(pattern, value ? '}' : ']');
        if (value)
            fill_value(f, (str){pattern.p + 1, end - 1});
        else
            fill_optional(f, (str){pattern.p + 1, end - 1});
        pattern = after(pattern, end + 1);
    }
}

void view_put(const view *v, sbuf *b, const field_value *row, const char *pattern)
{
    for (str rest = str_of(pattern); rest.n;) {
        uint32_t end = find(rest, '|');
        filling f = {.v = v, .out = b, .row = row};
        size_t from = b->n;
        fill(&f, (str){rest.p, end});
        rest = after(rest, end + 1);
        if (!f.missing)
            return;
        if (rest.n && !b->failed)
            b->n = from;
    }
}

str view_text(const view *v, const field_value *row, const char *pattern)
{
    sbuf b = {0};
    str out = {0};
    if (!pattern)
        return out;
    view_put(v, &b, row, pattern);
    if (b.n && !b.failed)
        out = str_copy(v->a, (str){b.p, (uint32_t)b.n});
    sbuf_free(&b);
    return out;
}

/* ---- conditions ---- */

static bool equals(const view *v, const field_value *value, str word)
{
    sbuf b = {0}, other = {0};
    if (word.n && word.p[0] == '^') {
        field_value to = view_look(v, &v->root, after(word, 1));
        fields_print(&other, &to);
        word = (str){sbuf_cstr(&other), (uint32_t)other.n};
    }
    fields_print(&b, value);
    bool same = value->type == VALUE_NONE || str_eq((str){sbuf_cstr(&b), (uint32_t)b.n}, word);
    sbuf_free(&b);
    sbuf_free(&other);
    return same;
}

static double number_or_path(const view *v, const field_value *row, str s)
{
    uint64_t whole;
    if (str_to_u64(s, &whole))
        return (double)whole;
    field_value value = view_look(v, row, s);
    return fields_number(&value);
}

static bool is_greater(const view *v, const field_value *row, str c, uint32_t at)
{
    return number_or_path(v, row, (str){c.p, at}) > number_or_path(v, row, after(c, at + 1));
}

static bool option_holds(const report_options *o, str name)
{
    return str_is(name, "verbose") ? o->verbose
           : str_is(name, "top")   ? o->top > 0
           : str_is(name, "depth") ? o->depth > 0
                                   : str_is(name, "patterns") && str_of(o->layer_patterns).n > 0;
}

static bool holds_one(const view *v, const field_value *row, str c)
{
    uint32_t is = find(c, '='), greater = find(c, '>');
    if (greater < is && is == c.n)
        return is_greater(v, row, c, greater);
    bool inverse = is && is < c.n && c.p[is - 1] == '!';
    if (c.p[0] == '$' || (c.n > 1 && c.p[1] == '$'))
        return option_holds(v->o, after(c, c.p[0] == '$' ? 1 : 2)) == (c.p[0] == '$');
    if (is < c.n) {
        field_value value = view_look(v, row, (str){c.p, is - inverse});
        return equals(v, &value, after(c, is + 1)) != inverse;
    }
    uint32_t plus = c.n > 1 && c.p[0] == '+' ? c.p[1] == '+' ? 2 : 1 : 0;
    bool absent = c.p[0] == '!';
    field_value value = view_look(v, row, after(c, plus + absent));
    if (absent)
        return value.type == VALUE_NONE;
    return plus == 2 ? value.n > 1 : plus ? fields_is_set(&value) : value.type != VALUE_NONE;
}

static bool holds_any(const view *v, const field_value *row, str c)
{
    while (c.n) {
        uint32_t end = find(c, '/');
        if (holds_one(v, row, (str){c.p, end}))
            return true;
        c = after(c, end + 1);
    }
    return false;
}

bool view_holds(const view *v, const field_value *row, const char *conditions)
{
    for (str rest = str_of(conditions); rest.n;) {
        uint32_t end = find(rest, ',');
        if (!holds_any(v, row, (str){rest.p, end}))
            return false;
        rest = after(rest, end + 1);
    }
    return true;
}
