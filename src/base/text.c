/* Text for output. Names come from files and may contain anything. They are split into pieces (one character, or the
 * visible escape of an unsafe one), and all functions work on pieces, so that width, truncation and escaping agree. */
#include "base/text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/utf8.h"

void text_thousands(sbuf *b, uint64_t v)
{
    char digits[24];
    int n = snprintf(digits, sizeof digits, "%" PRIu64, v);
    for (int i = 0; i < n; i++) {
        if (i > 0 && (n - i) % 3 == 0)
            sbuf_putc(b, ',');
        sbuf_putc(b, digits[i]);
    }
}

/* A double lies half way between two decimals exactly when v * 10^decimals is an odd number of halves, which is when
 * v * 2^(decimals + 1) is odd: the powers of five are. */
double text_tie_away(double v, int decimals)
{
    double halves = ldexp(fabs(v), decimals + 1);
    return fmod(halves, 2) == 1 ? nextafter(v, v < 0 ? -INFINITY : INFINITY) : v;
}

/* v is m / 2^shift. Of the sizes that reports have, m * 10^decimals fits 64 bits and is rounded exactly. */
static bool round_exactly(double v, int decimals, uint64_t *out)
{
    static const uint64_t tens[] = {1, 10, 100, 1000};
    int exponent;
    if (decimals < 0 || decimals > 3 || !(v >= 0 && v < 0x1p40))
        return false;
    int shift = 53 - (frexp(v, &exponent), exponent);
    uint64_t scaled = (uint64_t)ldexp(v, shift) * tens[decimals];
    *out = shift > 63 ? 0 : (scaled >> shift) + (shift > 0 ? scaled >> (shift - 1) & 1 : 0);
    return true;
}

static void put_digits(sbuf *b, uint64_t v, int decimals)
{
    char buf[32];
    int at = sizeof buf;
    do {
        buf[--at] = (char)('0' + v % 10);
        v /= 10;
        if (--decimals == 0)
            buf[--at] = '.';
    } while (v > 0 || decimals >= 0);
    sbuf_put(b, buf + at, sizeof buf - (size_t)at);
}

/* printf writes the decimal point of the host program's locale; people and scripts get a dot. */
void text_fixed(sbuf *b, double v, int decimals)
{
    char buf[400];
    uint64_t exact;
    if (round_exactly(fabs(v), decimals, &exact)) {
        sbuf_puts(b, v < 0 && exact ? "-" : "");
        put_digits(b, exact, decimals);
        return;
    }
    int n = snprintf(buf, sizeof buf, "%.*f", decimals, text_tie_away(v, decimals));
    int whole = n - (decimals > 0 ? decimals : 0);
    if (n < 0 || n >= (int)sizeof buf)
        return;
    bool zero = strcspn(buf, "123456789") == (size_t)n;
    for (int i = zero && buf[0] == '-'; i < n; i++)
        if (buf[i] == '-' || (buf[i] >= '0' && buf[i] <= '9'))
            sbuf_putc(b, buf[i]);
        else if (i == whole - 1)
            sbuf_putc(b, '.');
}

static int decimals_of(double v, int decimals)
{
    return decimals >= 0 ? (decimals > 15 ? 15 : decimals) : v < 9.995 ? 2 : v < 99.95 ? 1 : 0;
}

/* Whether v with its decimals would be printed as `base` or more. */
static bool rounds_to(double v, double base, int decimals)
{
    return v >= base - 0.5 * pow(10.0, -decimals_of(v, decimals));
}

static const char *put_si(sbuf *b, double v, int decimals)
{
    static const char *const prefix[] = {"", "k", "M", "G", "T", "P", "E", "Z", "Y"};
    size_t i = 0, last = sizeof prefix / sizeof *prefix - 1;
    double a = fabs(v);
    if (!isfinite(v)) {
        sbuf_puts(b, "n/a");
        return "";
    }
    if (a == floor(a) && a < 1000.0) {
        text_fixed(b, v, 0);
        return "";
    }
    for (; i < last && rounds_to(a, 1000.0, decimals); i++)
        a /= 1000.0;
    text_fixed(b, v < 0 ? -a : a, decimals_of(a, decimals));
    return prefix[i];
}

void text_si(sbuf *b, double v, int decimals)
{
    text_si_unit(b, v, decimals, "");
}

void text_si_unit(sbuf *b, double v, int decimals, const char *unit)
{
    const char *prefix = put_si(b, v, decimals);
    if (*prefix || *unit)
        sbuf_putc(b, ' ');
    sbuf_puts(b, prefix);
    sbuf_puts(b, unit);
}

void text_bytes(sbuf *b, uint64_t v)
{
    static const char *const unit[] = {" KiB", " MiB", " GiB", " TiB", " PiB", " EiB"};
    size_t i = 0;
    if (v < 1024) {
        sbuf_printf(b, "%" PRIu64 " B", v);
        return;
    }
    double a = (double)v / 1024.0;
    for (; i < 5 && rounds_to(a, 1024.0, 2); i++)
        a /= 1024.0;
    text_fixed(b, a, 2);
    sbuf_puts(b, unit[i]);
}

void text_ms(sbuf *b, double ms)
{
    if (ms < 0.1) {
        text_fixed(b, ms * 1000, ms < 0.01 ? 2 : 1);
        sbuf_puts(b, " µs");
    } else if (ms < 10000) {
        text_fixed(b, ms, ms < 1 ? 3 : ms < 100 ? 2 : 1);
        sbuf_puts(b, " ms");
    } else {
        text_fixed(b, ms / 1000, 2);
        sbuf_puts(b, " s");
    }
}

/* ---- names --------------------------------------------------------------------------------- */

typedef struct piece {
    char text[16];
    unsigned n;       /* bytes of text */
    unsigned columns; /* of text */
    unsigned taken;   /* bytes of the name */
} piece;

static piece escape(const char *fmt, unsigned value, unsigned taken)
{
    piece p = {.taken = taken};
    p.n = p.columns = (unsigned)snprintf(p.text, sizeof p.text, fmt, value);
    return p;
}

static piece piece_at(str s, uint32_t i)
{
    uint32_t cp = 0;
    unsigned len = utf8_next(s.p + i, s.n - i, &cp);
    if (len == 0)
        return escape("\\x%02x", (unsigned char)s.p[i], 1);
    int columns = utf8_columns(cp);
    if (columns == UTF8_HIDDEN)
        return escape(cp < 0x80 ? "\\x%02x" : cp < 0x10000 ? "\\u%04x" : "\\U%08x", cp, len);
    piece p = {.n = len, .columns = (unsigned)columns, .taken = len};
    memcpy(p.text, s.p + i, len);
    return p;
}

/* The length of the printable ASCII that s starts with at i: almost always all of it. */
static uint32_t plain_run(str s, uint32_t i)
{
    uint32_t j = i;
    while (j < s.n && s.p[j] >= 0x20 && s.p[j] < 0x7f)
        j++;
    return j - i;
}

void text_safe(sbuf *b, str name)
{
    for (uint32_t i = 0; i < name.n;) {
        uint32_t run = plain_run(name, i);
        sbuf_put(b, name.p + i, run);
        i += run;
        if (i < name.n) {
            piece p = piece_at(name, i);
            sbuf_put(b, p.text, p.n);
            i += p.taken;
        }
    }
}

#define ELLIPSIS "\xe2\x80\xa6"

void text_safe_into(char *buf, size_t cap, str name)
{
    size_t n = 0, cut = 0, more = sizeof ELLIPSIS - 1;
    if (cap == 0)
        return;
    for (uint32_t i = 0; i < name.n;) {
        piece p = piece_at(name, i);
        if (n + p.n >= cap) {
            n = cut;
            if (n + more < cap) {
                memcpy(buf + n, ELLIPSIS, more);
                n += more;
            }
            break;
        }
        memcpy(buf + n, p.text, p.n);
        n += p.n;
        i += p.taken;
        if (n + more < cap)
            cut = n;
    }
    buf[n] = '\0';
}

unsigned text_width(str name)
{
    unsigned width = 0;
    for (uint32_t i = 0; i < name.n;) {
        uint32_t run = plain_run(name, i);
        width += run;
        i += run;
        if (i < name.n) {
            piece p = piece_at(name, i);
            width += p.columns;
            i += p.taken;
        }
    }
    return width;
}

/* Writes pieces of name from *i on while they fit into `room` columns; returns the columns used. */
static unsigned put_head(sbuf *b, str name, uint32_t *i, unsigned room)
{
    unsigned used = 0;
    while (*i < name.n) {
        piece p = piece_at(name, *i);
        if (used + p.columns > room)
            break;
        sbuf_put(b, p.text, p.n);
        used += p.columns;
        *i += p.taken;
    }
    return used;
}

/* Skips pieces from *i on until what is left takes at most `room` of its `left` columns; a mark
 * that would combine with the ellipsis is skipped too. */
static void skip_to_tail(str name, uint32_t *i, unsigned left, unsigned room)
{
    while (*i < name.n) {
        piece p = piece_at(name, *i);
        if (left <= room && p.columns > 0)
            return;
        left -= p.columns;
        *i += p.taken;
    }
}

void text_fit(sbuf *b, str name, unsigned width)
{
    unsigned whole = text_width(name), used;
    uint32_t i = 0;
    if (whole <= width) {
        text_safe(b, name);
        sbuf_repeat(b, " ", width - whole);
        return;
    }
    if (width == 0)
        return;
    used = put_head(b, name, &i, width / 2);
    sbuf_puts(b, ELLIPSIS);
    skip_to_tail(name, &i, whole - used, width - 1 - used);
    used += 1 + put_head(b, name, &i, width - 1 - used);
    sbuf_repeat(b, " ", width - used);
}

bool text_is_utf8(str s)
{
    uint32_t cp;
    for (uint32_t i = 0; i < s.n;) {
        unsigned len = utf8_next(s.p + i, s.n - i, &cp);
        if (len == 0)
            return false;
        i += len;
    }
    return true;
}

void text_did_you_mean(sbuf *b, str word, const char *const *names, uint32_t n)
{
    const char *best = NULL;
    unsigned least = word.n < 4 ? 1 : word.n < 8 ? 2 : 3;
    for (uint32_t i = 0; i < n; i++) {
        unsigned d = str_distance(word, str_of(names[i]), least);
        if (d <= least && (!best || d < least)) {
            best = names[i];
            least = d;
        }
    }
    if (best)
        sbuf_printf(b, " Did you mean '%s'?", best);
}
