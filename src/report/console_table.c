/* Tables that fit the width. All widths are known before the first line is written. If the space is too small,
 * columns are dropped by priority, then text is wrapped. Nothing is truncated. */
#include <assert.h>
#include <string.h>

#include "base/text.h"
#include "report/console.h"

enum { GAP = 2, HARD_MIN = 5, TABLE_BYTES = 256 << 20 };

void table_begin(console_table *t, const console_column *columns, unsigned n, unsigned indent)
{
    *t = (console_table){.columns = columns, .n_columns = n, .indent = indent};
    t->arena = arena_new(TABLE_BYTES);
    t->text.failed = t->arena == NULL;
}

sbuf *table_cell(console_table *t, console_style s)
{
    console_cell *cell = t->arena ? VEC_PUSH(t->arena, &t->cells) : NULL;
    if (cell)
        *cell = (console_cell){.at = (uint32_t)t->text.n, .style = s};
    else
        t->text.failed = true;
    if (t->text.n > UINT32_MAX / 2)
        t->text.failed = true;
    return &t->text;
}

static str cell_text(const console_table *t, uint32_t i)
{
    uint32_t at = t->cells.items[i].at;
    uint32_t end = i + 1 < t->cells.n ? t->cells.items[i + 1].at : (uint32_t)t->text.n;
    return (str){t->text.p + at, end - at};
}

static bool has_titles(const console_table *t)
{
    for (unsigned k = 0; k < t->n_columns; k++)
        if (t->columns[k].title)
            return true;
    return false;
}

typedef struct layout {
    unsigned width[TABLE_MAX_COLUMNS]; /* 0: the column is not shown */
    bool shown[TABLE_MAX_COLUMNS];
} layout;

static void natural_widths(const console_table *t, layout *l)
{
    assert(t->n_columns > 0 && t->n_columns <= TABLE_MAX_COLUMNS);
    for (unsigned k = 0; k < t->n_columns; k++) {
        l->width[k] = t->columns[k].title ? text_width(str_of(t->columns[k].title)) : 0;
        l->shown[k] = true;
    }
    for (uint32_t i = 0; i < t->cells.n; i++) {
        unsigned k = i % t->n_columns, w = text_width(cell_text(t, i));
        if (w > l->width[k])
            l->width[k] = w;
    }
    for (unsigned k = 0; k < t->n_columns; k++)
        if (t->columns[k].max && l->width[k] > t->columns[k].max)
            l->width[k] = t->columns[k].max;
}

/* Columns the table takes; with `least`, when everything that may be cut is. */
static unsigned total_width(const console_table *t, const layout *l, bool least)
{
    unsigned sum = t->indent, gap = 0;
    for (unsigned k = 0; k < t->n_columns; k++) {
        unsigned min = t->columns[k].min;
        if (!l->shown[k])
            continue;
        sum += gap + (least && min && min < l->width[k] ? min : l->width[k]);
        gap = GAP;
    }
    return sum;
}

static bool drop_one(const console_table *t, layout *l)
{
    unsigned worst = t->n_columns;
    for (unsigned k = 0; k < t->n_columns; k++)
        if (l->shown[k] && t->columns[k].drop &&
            (worst == t->n_columns || t->columns[k].drop > t->columns[worst].drop))
            worst = k;
    if (worst == t->n_columns)
        return false;
    l->shown[worst] = false;
    return true;
}

/* Takes one column of width from the widest column that may be cut; `hard`, below its least. */
static bool cut_one(const console_table *t, layout *l, bool hard)
{
    unsigned widest = t->n_columns;
    for (unsigned k = 0; k < t->n_columns; k++) {
        unsigned min = hard ? HARD_MIN : t->columns[k].min;
        if (l->shown[k] && t->columns[k].min && l->width[k] > min &&
            (widest == t->n_columns || l->width[k] > l->width[widest]))
            widest = k;
    }
    if (widest == t->n_columns)
        return false;
    l->width[widest]--;
    return true;
}

static void fit_layout(const console_table *t, unsigned width, layout *l)
{
    natural_widths(t, l);
    while (total_width(t, l, true) > width && drop_one(t, l))
        ;
    for (int hard = 0; hard < 2; hard++)
        while (total_width(t, l, false) > width && cut_one(t, l, hard))
            ;
}

/* ---- rows ---- */

static bool is_break(char c)
{
    return c && strchr("/.,;:_-", c);
}

static uint32_t character_size(str s, uint32_t at)
{
    uint32_t n = 1;
    while (at + n < s.n && ((unsigned char)s.p[at + n] & 0xc0) == 0x80)
        n++;
    return n;
}

/* What fits into the width, up to a blank or another break that is not too far to the left. */
str console_piece(str *rest, unsigned width)
{
    uint32_t fits = text_width(*rest) <= width ? rest->n : 0, at_break = 0, at_blank = 0;
    while (fits < rest->n) {
        uint32_t n = character_size(*rest, fits);
        if (fits && text_width((str){rest->p, fits + n}) > width)
            break;
        fits += n;
        if (rest->p[fits - 1] == ' ')
            at_blank = fits;
        else if (is_break(rest->p[fits - 1]))
            at_break = fits;
    }
    uint32_t cut = fits == rest->n       ? fits
                   : at_blank > fits / 3 ? at_blank
                   : at_break > fits / 2 ? at_break
                                         : fits;
    str line = {rest->p, cut};
    *rest = (str){rest->p + cut, rest->n - cut};
    while (rest->n && rest->p[0] == ' ')
        *rest = (str){rest->p + 1, rest->n - 1};
    return line;
}

static void put_cell(console *c, str text, unsigned width, bool right, bool last)
{
    unsigned w = text_width(text);
    if (right && w < width)
        sbuf_repeat(c->out, " ", width - w);
    /* Blanks that keep units below each other are not needed at the end of a line. */
    while (last && text.n && text.p[text.n - 1] == ' ')
        text.n--, w--;
    text_fit(c->out, text, right || last ? (w < width ? w : width) : width);
}

static void print_line(const console_table *t, console *c, const layout *l, const str *texts,
                       const console_style *styles)
{
    assert(t->n_columns > 0);
    unsigned last = 0, gap = t->indent;
    for (unsigned k = 0; k < t->n_columns; k++)
        if (l->shown[k] && texts[k].n)
            last = k;
    for (unsigned k = 0; k <= last; k++) {
        if (!l->shown[k])
            continue;
        sbuf_repeat(c->out, " ", gap);
        if (styles[k] != STYLE_PLAIN)
            console_on(c, styles[k]);
        put_cell(c, texts[k], l->width[k], t->columns[k].right, k == last);
        if (styles[k] != STYLE_PLAIN)
            console_on(c, STYLE_PLAIN);
        gap = GAP;
    }
    console_line(c);
}

/* Text that is wider than its column goes on below: names stay whole, so that no two of them look equal. */
static void print_row(const console_table *t, console *c, const layout *l, str *texts,
                      const console_style *styles)
{
    str line[TABLE_MAX_COLUMNS];
    bool more = true;
    while (more) {
        more = false;
        for (unsigned k = 0; k < t->n_columns; k++) {
            line[k] = (str){0};
            if (l->shown[k] && texts[k].n)
                line[k] = t->columns[k].min ? console_piece(&texts[k], l->width[k]) : texts[k];
            if (!t->columns[k].min)
                texts[k] = (str){0};
            more |= l->shown[k] && texts[k].n;
        }
        print_line(t, c, l, line, styles);
    }
}

static void print_titles(const console_table *t, console *c, const layout *l)
{
    str texts[TABLE_MAX_COLUMNS];
    console_style styles[TABLE_MAX_COLUMNS];
    for (unsigned k = 0; k < t->n_columns; k++) {
        texts[k] = str_of(t->columns[k].title);
        styles[k] = STYLE_DIM;
    }
    print_row(t, c, l, texts, styles);
}

static void print_rows(const console_table *t, console *c)
{
    layout l;
    str texts[TABLE_MAX_COLUMNS];
    console_style styles[TABLE_MAX_COLUMNS];
    fit_layout(t, c->width, &l);
    if (has_titles(t))
        print_titles(t, c, &l);
    for (uint32_t i = 0; i + t->n_columns <= t->cells.n; i += t->n_columns) {
        for (unsigned k = 0; k < t->n_columns; k++) {
            texts[k] = cell_text(t, i + k);
            styles[k] = t->cells.items[i + k].style;
        }
        print_row(t, c, &l, texts, styles);
    }
}

void table_print(console_table *t, console *c)
{
    if (t->text.failed)
        c->out->failed = true;
    else
        print_rows(t, c);
    sbuf_free(&t->text);
    arena_free(t->arena);
}
