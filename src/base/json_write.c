/* JSON as RFC 8259 writes it. Three layouts: compact (indent 0), one item per line, and flat,
 * which is one line with a space after each comma and colon. A flat container makes everything
 * inside flat.
 *
 * Doubles: the shortest of 15, 16 and 17 significant digits that reads back as the same number.
 */
#include "base/json_write.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/utf8.h"

enum { DEPTH_MAX = LIMIT_JSON_DEPTH };

void json_begin(json_writer *w, sbuf *out, int indent)
{
    *w = (json_writer){.out = out, .indent = indent};
    w->first[0] = true;
}

static void new_line(json_writer *w)
{
    static const char blanks[] = "                                ";
    int left = w->depth * w->indent, most = (int)sizeof blanks - 1;
    sbuf_putc(w->out, '\n');
    for (; left > most; left -= most)
        sbuf_put(w->out, blanks, (size_t)most);
    sbuf_put(w->out, blanks, (size_t)left);
}

/* What stands between the last item and the one to come. */
static void write_separator(json_writer *w)
{
    assert(w->depth >= 0 && w->depth < DEPTH_MAX);
    bool first = w->first[w->depth];
    w->first[w->depth] = false;
    if (w->after_key) {
        w->after_key = false;
        return;
    }
    if (w->depth == 0)
        return;
    if (!first)
        sbuf_putc(w->out, ',');
    if (w->indent == 0)
        return;
    if (!w->flat[w->depth])
        new_line(w);
    else if (!first)
        sbuf_putc(w->out, ' ');
}

static void open_container(json_writer *w, char opening, char closing, bool flat)
{
    assert(w->depth + 1 < DEPTH_MAX);
    if (w->depth + 1 >= DEPTH_MAX) {
        w->out->failed = true;
        return;
    }
    write_separator(w);
    sbuf_putc(w->out, opening);
    flat = flat || w->flat[w->depth];
    w->depth++;
    w->first[w->depth] = true;
    w->flat[w->depth] = flat;
    w->close[w->depth] = closing;
}

void json_object(json_writer *w)
{
    open_container(w, '{', '}', false);
}

void json_array(json_writer *w)
{
    open_container(w, '[', ']', false);
}

void json_flat_object(json_writer *w)
{
    open_container(w, '{', '}', true);
}

void json_flat_array(json_writer *w)
{
    open_container(w, '[', ']', true);
}

void json_end(json_writer *w)
{
    assert(w->depth > 0 && !w->after_key);
    if (w->depth == 0)
        return;
    char closing = w->close[w->depth];
    bool line = w->indent > 0 && !w->flat[w->depth] && !w->first[w->depth];
    w->depth--;
    if (line)
        new_line(w);
    sbuf_putc(w->out, closing);
}

static void put_escape(sbuf *b, unsigned char c)
{
    static const char letters[] = "\"\"\\\\\bb\ff\nn\rr\tt";
    for (size_t i = 0; i + 1 < sizeof letters; i += 2) {
        if ((unsigned char)letters[i] == c) {
            sbuf_putc(b, '\\');
            sbuf_putc(b, letters[i + 1]);
            return;
        }
    }
    sbuf_printf(b, "\\u%04x", c);
}

static bool is_plain(unsigned char c)
{
    return c >= 0x20 && c < 0x80 && c != '"' && c != '\\';
}

/* How many of the n bytes at p are plain, from the first on: eight at a time while all of them are.
 * A byte below k borrows into its highest bit when k is taken away; XOR makes a byte that is sought
 * zero, which is below 1. A borrow that runs on only marks bytes above one that is marked already. */
static size_t plain_run(const char *p, size_t n)
{
    const uint64_t ones = 0x0101010101010101u;
    size_t i = 0;
    for (; n - i >= 8; i += 8) {
        uint64_t x;
        memcpy(&x, p + i, 8);
        uint64_t quote = x ^ (ones * '"'), backslash = x ^ (ones * '\\');
        uint64_t low = ((x - ones * 0x20) & ~x) | ((quote - ones) & ~quote) |
                       ((backslash - ones) & ~backslash);
        if ((x | low) & (ones * 0x80))
            break;
    }
    while (i < n && is_plain((unsigned char)p[i]))
        i++;
    return i;
}

/* One character of s at i that is not plain; returns the bytes it took. */
static unsigned put_special(sbuf *b, str s, uint32_t i)
{
    uint32_t cp;
    unsigned len = utf8_next(s.p + i, s.n - i, &cp);
    if (len == 0)
        sbuf_puts(b, "\xef\xbf\xbd");
    else if (len == 1)
        put_escape(b, (unsigned char)s.p[i]);
    else
        sbuf_put(b, s.p + i, len);
    return len ? len : 1;
}

static void put_string(sbuf *b, str s)
{
    sbuf_putc(b, '"');
    for (uint32_t i = 0; i < s.n;) {
        uint32_t plain = (uint32_t)plain_run(s.p + i, s.n - i);
        sbuf_put(b, s.p + i, plain);
        i += plain;
        if (i < s.n)
            i += put_special(b, s, i);
    }
    sbuf_putc(b, '"');
}

void json_key_str(json_writer *w, str key)
{
    assert(!w->after_key && w->close[w->depth] == '}');
    write_separator(w);
    put_string(w->out, key);
    sbuf_putc(w->out, ':');
    if (w->indent > 0)
        sbuf_putc(w->out, ' ');
    w->after_key = true;
}

void json_key(json_writer *w, const char *key)
{
    json_key_str(w, str_of(key));
}

static void put_integer(sbuf *b, bool negative, uint64_t magnitude)
{
    char buf[24], *p = buf + sizeof buf;
    do
        *--p = (char)('0' + magnitude % 10);
    while ((magnitude /= 10) != 0);
    if (negative)
        *--p = '-';
    sbuf_put(b, p, (size_t)(buf + sizeof buf - p));
}

void json_u64(json_writer *w, uint64_t v)
{
    write_separator(w);
    put_integer(w->out, false, v);
}

void json_i64(json_writer *w, int64_t v)
{
    write_separator(w);
    put_integer(w->out, v < 0, v < 0 ? 0 - (uint64_t)v : (uint64_t)v);
}

/* A whole number that 15 digits hold exactly: no search for the shortest form. */
static bool put_whole(sbuf *b, double v)
{
    if (fabs(v) >= 1e15 || fabs(v - trunc(v)) > 0)
        return false;
    put_integer(b, v < 0, (uint64_t)fabs(v));
    return true;
}

static bool is_number_char(char c)
{
    return (c >= '0' && c <= '9') || c == '-' || c == '+' || c == 'e';
}

/* Makes one '.' of whatever the host program's locale uses for it. Returns the new length. */
static size_t plain_point(char *buf, size_t n)
{
    size_t out = 0;
    for (size_t i = 0; i < n; i++) {
        if (is_number_char(buf[i]))
            buf[out++] = buf[i];
        else if (out && buf[out - 1] != '.')
            buf[out++] = '.';
    }
    return out;
}

void json_f64(json_writer *w, double v)
{
    char buf[64];
    int n = 0;
    if (!isfinite(v)) {
        json_null(w);
        return;
    }
    write_separator(w);
    if (put_whole(w->out, v))
        return;
    for (int digits = 15; digits <= 17; digits++) {
        n = snprintf(buf, sizeof buf, "%.*g", digits, v);
        double back = strtod(buf, NULL);
        if (back >= v && back <= v)
            break;
    }
    sbuf_put(w->out, buf, plain_point(buf, (size_t)n));
}

void json_fixed(json_writer *w, double v, int decimals)
{
    char buf[400];
    if (!isfinite(v)) {
        json_null(w);
        return;
    }
    if (fabs(v) >= 1e15) {
        json_f64(w, v);
        return;
    }
    write_separator(w);
    if (put_whole(w->out, v))
        return;
    int printed = snprintf(buf, sizeof buf, "%.*f", decimals > 17 ? 17 : decimals, v);
    size_t n = plain_point(buf, (size_t)printed);
    if (memchr(buf, '.', n)) {
        while (buf[n - 1] == '0')
            n--;
        assert(n > 0);
        n -= buf[n - 1] == '.';
    }
    if (n == 2 && memcmp(buf, "-0", 2) == 0)
        sbuf_putc(w->out, '0');
    else
        sbuf_put(w->out, buf, n);
}

void json_bool(json_writer *w, bool v)
{
    write_separator(w);
    sbuf_puts(w->out, v ? "true" : "false");
}

void json_null(json_writer *w)
{
    write_separator(w);
    sbuf_puts(w->out, "null");
}

void json_str(json_writer *w, str s)
{
    write_separator(w);
    put_string(w->out, s);
}

void json_cstr(json_writer *w, const char *s)
{
    if (s)
        json_str(w, str_of(s));
    else
        json_null(w);
}

void json_raw(json_writer *w, str json)
{
    write_separator(w);
    sbuf_str(w->out, json);
}
