/* XML, event by event; see xml.h. */
#include "formats/xml.h"

#include <string.h>

#include "base/utf8.h"

void xml_fail(xml *x, const char *what)
{
    if (x->c.pos > 0 && !x->c.failed)
        x->c.pos--; /* the byte ahead is the one at fault */
    cursor_fail(&x->c, what);
    x->ahead = -1;
}

assay_status xml_status(const xml *x)
{
    return cursor_ok(&x->c) ? ASSAY_OK : x->c.err->code;
}

/* ---- bytes ---- */

static int advance(xml *x)
{
    int c = x->ahead;
    x->ahead = cursor_more(&x->c) ? cursor_u8(&x->c) : -1;
    if (x->c.failed)
        x->ahead = -1;
    return c;
}

static void keep(xml *x, int c)
{
    if (x->buffer.n >= XML_MAX_TEXT) {
        xml_fail(x, "a text is too long");
        return;
    }
    if (!VEC_ADD(x->scratch, &x->buffer, (char)c)) {
        err_no_memory(x->c.err);
        x->c.failed = true;
        x->ahead = -1;
    }
}

static bool is_blank(int c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static void skip_blanks(xml *x)
{
    while (is_blank(x->ahead))
        advance(x);
}

static bool is_name_byte(int c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '.' || c == ':' || c >= 0x80;
}

static xml_range take_name(xml *x)
{
    xml_range r = {.at = x->buffer.n};
    while (is_name_byte(x->ahead))
        keep(x, advance(x));
    r.n = x->buffer.n - r.at;
    if (r.n == 0)
        xml_fail(x, "a name is expected here");
    return r;
}

static str text_of(const xml *x, xml_range r)
{
    return (str){r.n ? x->buffer.items + r.at : "", r.n};
}

/* ---- entities ---- */

static void keep_code(xml *x, uint32_t code)
{
    char bytes[4];
    unsigned n = code && code < 0x110000 && (code < 0xd800 || code > 0xdfff)
                     ? utf8_encode(code, bytes)
                     : 0;
    if (n == 0)
        xml_fail(x, "a character reference names no character");
    for (unsigned i = 0; i < n; i++)
        keep(x, (uint8_t)bytes[i]);
}

static int digit_of(int c, unsigned base)
{
    int v = c >= '0' && c <= '9'   ? c - '0'
            : c >= 'a' && c <= 'f' ? c - 'a' + 10
            : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                   : -1;
    return v >= 0 && (unsigned)v < base ? v : -1;
}

static void take_reference(xml *x)
{
    unsigned base = x->ahead == 'x' ? 16 : 10;
    uint32_t code = 0;
    if (base == 16)
        advance(x);
    while (digit_of(x->ahead, base) >= 0 && code < 0x110000)
        code = code * base + (uint32_t)digit_of(advance(x), base);
    if (advance(x) != ';')
        xml_fail(x, "a character reference has no end");
    else
        keep_code(x, code);
}

static void take_entity(xml *x)
{
    static const struct {
        const char *name;
        char is;
    } rows[] = {{"lt", '<'}, {"gt", '>'}, {"amp", '&'}, {"quot", '"'}, {"apos", '\''}};
    char name[8] = {0};
    unsigned n = 0;
    advance(x);
    if (x->ahead == '#') {
        advance(x);
        take_reference(x);
        return;
    }
    while (n < sizeof name - 1 && is_name_byte(x->ahead))
        name[n++] = (char)advance(x);
    bool ended = advance(x) == ';';
    for (size_t i = 0; ended && i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i].name, name) == 0) {
            keep(x, rows[i].is);
            return;
        }
    xml_fail(x, "an entity is unknown");
}

/* ---- what is skipped ---- */

/* Up to and with the text `end`, which is kept when wanted. */
static void pass_until(xml *x, const char *end, bool wanted)
{
    size_t n = strlen(end), have = 0;
    char last[4] = {0};
    while (x->ahead >= 0 && have < n) {
        int c = advance(x);
        memmove(last, last + 1, n - 1);
        last[n - 1] = (char)c;
        if (wanted)
            keep(x, c);
        have = memcmp(last, end, n) == 0 ? n : 0;
    }
    if (have < n)
        xml_fail(x, "the file ends within a comment or an instruction");
    else if (wanted)
        x->buffer.n -= x->buffer.n < n ? x->buffer.n : (uint32_t)n;
}

static bool take_literal(xml *x, const char *literal)
{
    for (; *literal; literal++)
        if (advance(x) != *literal) {
            xml_fail(x, "markup of an unknown kind");
            return false;
        }
    return true;
}

/* Behind "<!": true when it was CDATA, whose text is in the buffer. */
static bool pass_declaration(xml *x)
{
    if (x->ahead == '[' && take_literal(x, "[CDATA[")) {
        pass_until(x, "]]>", true);
        return true;
    }
    if (x->ahead == '-' && take_literal(x, "--")) {
        pass_until(x, "-->", false);
    } else if (!x->c.failed) {
        err_fail_at(x->c.err, ASSAY_ERR_UNSUPPORTED, x->c.pos,
                    "the XML has a document type, which is not read");
        x->c.failed = true;
        x->ahead = -1;
    }
    return false;
}

/* ---- elements ---- */

static void push_name(xml *x, str name)
{
    if (x->depth >= XML_MAX_DEPTH) {
        xml_fail(x, "elements are nested too deeplyly");
        return;
    }
    x->starts[x->depth++] = x->names.n;
    for (uint32_t i = 0; i < name.n; i++)
        if (!VEC_ADD(x->scratch, &x->names, name.p[i])) {
            err_no_memory(x->c.err);
            x->c.failed = true;
            return;
        }
}

static str innermost(const xml *x)
{
    uint32_t at = x->starts[x->depth - 1];
    return (str){x->names.items + at, x->names.n - at};
}

static bool close_element(xml *x)
{
    x->event = XML_CLOSE;
    x->name = innermost(x);
    x->names.n = x->starts[--x->depth];
    x->n_attrs = 0;
    return true;
}

static void take_value(xml *x)
{
    int quote = advance(x);
    if (quote != '"' && quote != '\'') {
        xml_fail(x, "an attribute has no quoted value");
        return;
    }
    while (x->ahead >= 0 && x->ahead != quote && x->ahead != '<') {
        if (x->ahead == '&')
            take_entity(x);
        else
            keep(x, advance(x));
    }
    if (advance(x) != quote)
        xml_fail(x, "an attribute has no end");
}

static void take_attribute(xml *x)
{
    if (x->n_attrs >= XML_MAX_ATTRS) {
        xml_fail(x, "an element has too many attributes");
        return;
    }
    xml_range *r = x->ranges[x->n_attrs];
    r[0] = take_name(x);
    skip_blanks(x);
    if (!x->c.failed && advance(x) != '=')
        xml_fail(x, "an attribute has no value");
    skip_blanks(x);
    r[1].at = x->buffer.n;
    if (!x->c.failed)
        take_value(x);
    r[1].n = x->buffer.n - r[1].at;
    x->n_attrs++;
}

static bool open_element(xml *x)
{
    x->n_attrs = 0;
    xml_range name = take_name(x);
    skip_blanks(x);
    while (x->ahead >= 0 && x->ahead != '>' && x->ahead != '/') {
        take_attribute(x);
        skip_blanks(x);
    }
    x->closing = x->ahead == '/';
    if (x->closing)
        advance(x);
    if (!x->c.failed && advance(x) != '>')
        xml_fail(x, "an element has no end");
    if (!x->c.failed && x->depth == 0 && x->rooted)
        xml_fail(x, "there is more than one root element");
    x->rooted = true;
    x->event = XML_OPEN;
    x->name = text_of(x, name);
    for (uint32_t i = 0; i < x->n_attrs; i++)
        x->attrs[i] = (xml_attr){text_of(x, x->ranges[i][0]), text_of(x, x->ranges[i][1])};
    if (!x->c.failed)
        push_name(x, x->name);
    return !x->c.failed;
}

static bool end_tag(xml *x)
{
    xml_range r = take_name(x);
    skip_blanks(x);
    if (!x->c.failed &&
        (advance(x) != '>' || x->depth == 0 || !str_eq(text_of(x, r), innermost(x))))
        xml_fail(x, "an end tag does not match");
    return !x->c.failed && close_element(x);
}

/* ---- events ---- */

static bool only_blanks(str s)
{
    for (uint32_t i = 0; i < s.n; i++)
        if (!is_blank((uint8_t)s.p[i]))
            return false;
    return true;
}

static bool end_of_file(xml *x)
{
    x->event = XML_NOTHING;
    if (!x->c.failed && (x->depth || !x->rooted))
        xml_fail(x, x->depth ? "the file ends within an element" : "the file has no element");
    return false;
}

/* Text up to the next "<"; true when it is an event. */
static bool take_text(xml *x)
{
    while (x->ahead >= 0 && x->ahead != '<') {
        if (x->ahead == '&')
            take_entity(x);
        else
            keep(x, advance(x));
    }
    x->text = (str){x->buffer.items, x->buffer.n};
    if (only_blanks(x->text) || x->c.failed)
        return false;
    if (x->depth == 0)
        xml_fail(x, "text stands outside the root element");
    x->event = XML_TEXT;
    return !x->c.failed;
}

bool xml_next(xml *x)
{
    if (x->closing && !x->c.failed) {
        x->closing = false;
        return close_element(x);
    }
    while (!x->c.failed) {
        x->buffer.n = 0;
        if (take_text(x))
            return true;
        if (x->ahead < 0)
            return end_of_file(x);
        x->buffer.n = 0;
        advance(x);
        if (x->ahead == '/') {
            advance(x);
            return end_tag(x);
        }
        if (x->ahead == '?') {
            pass_until(x, "?>", false);
        } else if (x->ahead == '!') {
            advance(x);
            if (pass_declaration(x) && x->depth && !x->c.failed) {
                x->text = (str){x->buffer.items, x->buffer.n};
                x->event = XML_TEXT;
                return true;
            }
        } else {
            return open_element(x);
        }
    }
    return false;
}

void xml_begin(xml *x, source *src, arena *scratch, assay_error *err)
{
    memset(x, 0, sizeof *x);
    x->c = cursor_at(src, 0, source_size(src), err);
    x->scratch = scratch;
    advance(x);
    if (x->ahead == 0xef) { /* the mark of UTF-8 */
        advance(x);
        advance(x);
        advance(x);
    }
}

void xml_skip(xml *x)
{
    uint32_t outside = x->depth ? x->depth - 1 : 0;
    while (x->depth > outside && xml_next(x))
        ;
}

str xml_attr_of(const xml *x, const char *name)
{
    for (uint32_t i = 0; i < x->n_attrs; i++)
        if (str_is(x->attrs[i].name, name))
            return x->attrs[i].value;
    return (str){0};
}
