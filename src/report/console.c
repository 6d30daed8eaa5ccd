/* Styles, headings, wrapped text, bars and the ASCII form. */
#include "report/console.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/text.h"
#include "base/utf8.h"

enum { PARAGRAPH_MAX = 100, LONG_WORD_LINES = 6, PAIR_MIN = 140, PAIR_GAP = 4 };

void console_on(console *c, console_style s)
{
    static const char *const code[] = {
        [STYLE_PLAIN] = "\033[0m",    [STYLE_TITLE] = "\033[1m",   [STYLE_DIM] = "\033[2m",
        [STYLE_GOOD] = "\033[32m",    [STYLE_WARN] = "\033[33m",   [STYLE_BAR] = "\033[34m",
        [STYLE_COMPUTE] = "\033[36m", [STYLE_MEMORY] = "\033[35m",
    };
    if (c->o->color)
        sbuf_puts(c->out, code[s]);
}

void console_put(console *c, console_style s, const char *text)
{
    if (s != STYLE_PLAIN)
        console_on(c, s);
    sbuf_puts(c->out, text);
    if (s != STYLE_PLAIN)
        console_on(c, STYLE_PLAIN);
}

void console_putf(console *c, console_style s, const char *fmt, ...)
{
    char text[512];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    console_put(c, s, text);
}

void console_line(console *c)
{
    sbuf_putc(c->out, '\n');
}

void console_rule(console *c)
{
    if (c->o->color)
        console_on(c, STYLE_DIM);
    sbuf_repeat(c->out, "─", c->width);
    if (c->o->color)
        console_on(c, STYLE_PLAIN);
    console_line(c);
}

void console_safe(console *c, console_style s, str text)
{
    sbuf safe = {0};
    text_safe(&safe, text);
    console_put(c, s, sbuf_cstr(&safe));
    c->out->failed |= safe.failed;
    sbuf_free(&safe);
}

void console_heading(console *c, const char *title, const char *remark)
{
    console_line(c);
    console_safe(c, STYLE_TITLE, str_of(title));
    bool beside = remark && text_width(str_of(title)) + 2 + text_width(str_of(remark)) <= c->width;
    if (beside) {
        sbuf_puts(c->out, "  ");
        console_safe(c, STYLE_DIM, str_of(remark));
    }
    console_line(c);
    if (remark && !beside)
        console_words(c, STYLE_DIM, 2, false, str_of(remark));
}

/* ---- words ---- */

static str next_word(str *text)
{
    uint32_t i = 0, n;
    if (text->n == 0)
        return (str){0};
    while (i < text->n && text->p[i] == ' ')
        i++;
    for (n = i; n < text->n && text->p[n] != ' ';)
        n++;
    str word = {text->p + i, n - i};
    *text = (str){text->p + n, text->n - n};
    return word;
}

static void put_word(sbuf *out, str word, unsigned room)
{
    if (text_width(word) > room)
        text_fit(out, word, room);
    else
        text_safe(out, word);
}

/* A word that is wider than a line goes on below; what is left of it for the last one. */
static str put_long_word(console *c, str word, unsigned indent, unsigned room)
{
    for (unsigned lines = 1; text_width(word) > room && lines < LONG_WORD_LINES; lines++) {
        put_word(c->out, console_piece(&word, room), room);
        console_line(c);
        sbuf_repeat(c->out, " ", indent);
    }
    return word;
}

void console_words(console *c, console_style s, unsigned indent, bool inlined, str text)
{
    unsigned limit = c->width < PARAGRAPH_MAX ? c->width : PARAGRAPH_MAX;
    unsigned room = limit > indent + 20 ? limit - indent : 20, used = 0;
    if (!inlined)
        sbuf_repeat(c->out, " ", indent);
    if (s != STYLE_PLAIN)
        console_on(c, s);
    for (str word = next_word(&text); word.n; word = next_word(&text)) {
        unsigned w = text_width(word);
        w = w > room ? room : w;
        if (used && used + 1 + w > room) {
            console_line(c);
            sbuf_repeat(c->out, " ", indent);
            used = 0;
        } else if (used) {
            sbuf_putc(c->out, ' ');
            used++;
        }
        if (w == room) { /* or wider */
            word = put_long_word(c, word, indent, room);
            w = text_width(word) > room ? room : text_width(word);
        }
        text_fit(c->out, word, w);
        used += w;
    }
    if (s != STYLE_PLAIN)
        console_on(c, STYLE_PLAIN);
    console_line(c);
}

static bool mentions(str text, str name)
{
    return name.n == 0 || (text.n >= name.n && memmem(text.p, text.n, name.p, name.n) != NULL);
}

void console_warning(console *c, const char *bullet, const note *n, bool with_advice)
{
    sbuf text = {0};
    console_put(c, STYLE_WARN, bullet);
    if (!mentions(n->text, n->node)) {
        profile_put_name(&text, n->node);
        sbuf_puts(&text, ": ");
    }
    sbuf_str(&text, n->text);
    console_words(c, STYLE_PLAIN, 4, true, (str){text.p, (uint32_t)text.n});
    if (with_advice && n->advice.n)
        console_words(c, STYLE_DIM, 4, false, n->advice);
    sbuf_free(&text);
}

/* ---- bars ---- */

void console_bar(sbuf *b, double part, unsigned width)
{
    static const char *const eighth[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    part = part > 0 ? (part < 1 ? part : 1) : 0; /* not a number: empty */
    unsigned eighths = (unsigned)(part * width * 8 + 0.5);
    if (part >= 0.0005 && eighths == 0)
        eighths = 1; /* what shows as 0.1 % is not nothing */
    sbuf_repeat(b, "█", eighths / 8);
    sbuf_puts(b, eighth[eighths % 8]);
    sbuf_repeat(b, " ", width - (eighths + 7) / 8);
}

void console_spark(sbuf *b, const uint64_t *items, uint32_t n, unsigned width)
{
    static const char *const level[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    unsigned columns = n < width ? n : width;
    uint64_t top = 1;
    for (uint32_t i = 0; i < n; i++)
        top = items[i] > top ? items[i] : top;
    for (unsigned k = 0; k < columns; k++) {
        uint32_t from = (uint32_t)((uint64_t)n * k / columns);
        uint32_t to = (uint32_t)((uint64_t)n * (k + 1) / columns);
        uint64_t most = 0;
        for (uint32_t i = from; i < to; i++)
            most = items[i] > most ? items[i] : most;
        sbuf_puts(b, level[(unsigned)((double)most / (double)top * 7.0 + 0.5)]);
    }
}

/* ---- side by side ---- */

/* Columns of a finished line: escape sequences take none. */
static unsigned shown_width(const char *p, size_t n)
{
    unsigned width = 0;
    for (size_t i = 0; i < n;) {
        uint32_t cp = 0;
        if (p[i] == '\033') {
            while (i < n && p[i] != 'm')
                i++;
            i++;
            continue;
        }
        unsigned len = utf8_next(p + i, n - i, &cp);
        int columns = len ? utf8_columns(cp) : 1;
        width += columns > 0 ? (unsigned)columns : 0;
        i += len ? len : 1;
    }
    return width;
}

static str take_line(const sbuf *b, size_t *at)
{
    const char *start = b->p + *at;
    const char *end = *at < b->n ? memchr(start, '\n', b->n - *at) : NULL;
    size_t n = end ? (size_t)(end - start) : b->n - *at;
    *at += n + (end != NULL);
    return (str){start, (uint32_t)n};
}

static void zip(console *c, const sbuf *left, const sbuf *right, unsigned half)
{
    for (size_t i = 0, j = 0; i < left->n || j < right->n;) {
        str a = i < left->n ? take_line(left, &i) : (str){0};
        str b = j < right->n ? take_line(right, &j) : (str){0};
        unsigned width = a.n ? shown_width(a.p, a.n) : 0;
        sbuf_str(c->out, a);
        if (b.n) {
            sbuf_repeat(c->out, " ", width < half ? half - width + PAIR_GAP : PAIR_GAP);
            sbuf_str(c->out, b);
        }
        console_line(c);
    }
}

static bool is_wide(const console *c)
{
    return c->width >= PAIR_MIN;
}

void console_pair(console *c, console_section *left, console_section *right)
{
    if (!is_wide(c)) {
        left(c);
        right(c);
        return;
    }
    sbuf a = {0}, b = {0};
    unsigned half = (c->width - PAIR_GAP) / 2;
    console ca = {.o = c->o, .out = &a, .width = half, .of = c->of};
    console cb = {.o = c->o, .out = &b, .width = half, .of = c->of};
    left(&ca);
    right(&cb);
    c->out->failed = c->out->failed || a.failed || b.failed;
    if (!c->out->failed)
        zip(c, &a, &b, half);
    sbuf_free(&a);
    sbuf_free(&b);
}

/* ---- ASCII ---- */

static const struct {
    uint32_t cp;
    char ascii;
} stand_ins[] = {
    {0x2500, '-'}, {0x2502, '|'}, {0x251c, '|'}, {0x2514, '`'}, {0x2588, '#'}, {0x2589, '#'},
    {0x258a, '#'}, {0x258b, '#'}, {0x258c, '='}, {0x258d, '='}, {0x258e, '-'}, {0x258f, '-'},
    {0x2581, '_'}, {0x2582, '_'}, {0x2583, '.'}, {0x2584, '-'}, {0x2585, '='}, {0x2586, '+'},
    {0x2587, '*'}, {0x2026, '~'}, {0x00d7, 'x'}, {0x00b7, '|'}, {0x26a0, '!'}, {0x2713, '*'},
    {0x2022, '*'}, {0x2212, '-'}, {0x2013, '-'}, {0x00b1, '~'}, {0x00b5, 'u'}, {0x1d40, 'T'},
    {0x2192, '>'}, {0x00f7, '/'},
};

static char stand_in(uint32_t cp)
{
    for (size_t i = 0; i < sizeof stand_ins / sizeof *stand_ins; i++)
        if (stand_ins[i].cp == cp)
            return stand_ins[i].ascii;
    return '?';
}

/* Writes over the text it reads: a character of n bytes never takes more than n columns. */
void console_to_ascii(sbuf *out, size_t from)
{
    size_t to = from;
    if (out->failed)
        return;
    for (size_t i = from; i < out->n;) {
        uint32_t cp = 0;
        unsigned len = utf8_next(out->p + i, out->n - i, &cp);
        if (len <= 1) {
            out->p[to++] = out->p[i];
            i++;
            continue;
        }
        for (int k = utf8_columns(cp); k > 0; k--)
            out->p[to++] = stand_in(cp);
        i += len;
    }
    out->n = to;
}
