/* See table.h. */
#include "cli/table.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"

enum { GAP = 2, INDENT = 4, COLUMNS_MAX = 24, WRAP_LEAST = 24 };

void cli_table_begin(cli_table *t, const cli_column *columns, size_t n)
{
    *t = (cli_table){.columns = columns, .n_columns = n};
}

static char *clean_copy(cli_table *t, const char *text)
{
    char *copy = strdup(text);
    t->failed = t->failed || !copy;
    for (char *c = copy; c && *c; c++) {
        unsigned char first = (unsigned char)c[0], second = (unsigned char)c[1];
        if (first == 0xc2 && second >= 0x80 && second < 0xa0) /* C1 controls, as UTF-8 has them */
            *c = c[1] = '.';
        if (first < ' ' || first == 0x7f)
            *c = '.';
    }
    return copy;
}

/* One note for each row, in an array as long as that of the cells: simple, and lists are short. */
static bool make_room(cli_table *t)
{
    if (t->n_cells < t->room)
        return true;
    size_t more = t->room ? t->room * 2 : 256;
    char **cells = realloc(t->cells, more * sizeof *cells);
    if (cells)
        t->cells = cells;
    char **notes = realloc(t->notes, more * sizeof *notes);
    if (notes)
        t->notes = notes;
    t->failed = t->failed || !cells || !notes;
    if (t->failed)
        return false;
    memset(notes + t->room, 0, (more - t->room) * sizeof *notes);
    t->room = more;
    return true;
}

void cli_table_add(cli_table *t, const char *text)
{
    if (!t->failed && make_room(t))
        t->cells[t->n_cells++] = clean_copy(t, text);
}

void cli_table_number(cli_table *t, double v)
{
    char text[32] = "-";
    if (v > 0)
        snprintf(text, sizeof text, "%.*f", v < 10 ? 2 : v < 100 ? 1 : 0, v);
    cli_table_add(t, text);
}

void cli_table_note(cli_table *t, const char *text)
{
    size_t row = t->n_cells / t->n_columns;
    if (!t->failed && row > 0 && !t->notes[row - 1])
        t->notes[row - 1] = clean_copy(t, text);
}

/* ---- fitting ---- */

typedef struct layout {
    size_t width[COLUMNS_MAX];
    bool shown[COLUMNS_MAX];
} layout;

/* 0: no limit. */
static size_t width_of_lines(void)
{
    const char *columns = getenv("COLUMNS");
    return (columns && *columns) || isatty(STDOUT_FILENO) ? cli_width() : 0;
}

/* Characters, not bytes. */
static size_t columns_of(const char *text)
{
    size_t n = 0;
    for (; *text; text++)
        n += ((unsigned char)*text & 0xc0) != 0x80;
    return n;
}

static void natural(const cli_table *t, layout *l)
{
    for (size_t k = 0; k < t->n_columns; k++) {
        l->width[k] = columns_of(t->columns[k].title);
        l->shown[k] = true;
    }
    assert(t->n_columns > 0 || t->n_cells == 0);
    for (size_t i = 0; i < t->n_cells; i++) {
        size_t k = i % t->n_columns, n = columns_of(t->cells[i]);
        l->width[k] = n > l->width[k] ? n : l->width[k];
    }
}

static size_t total(const cli_table *t, const layout *l)
{
    size_t sum = 0;
    for (size_t k = 0; k < t->n_columns; k++)
        if (l->shown[k] && !t->columns[k].wrap) /* which finds room below the others */
            sum += (sum ? GAP : 0) + l->width[k];
    return sum;
}

static bool drop_one(const cli_table *t, layout *l)
{
    size_t worst = t->n_columns;
    for (size_t k = 0; k < t->n_columns; k++)
        if (l->shown[k] && t->columns[k].drop &&
            (worst == t->n_columns || t->columns[k].drop > t->columns[worst].drop))
            worst = k;
    if (worst < t->n_columns)
        l->shown[worst] = false;
    return worst < t->n_columns;
}

/* ---- printing ---- */

static void put_row(const cli_table *t, const layout *l, char *const *cells, size_t width)
{
    size_t at = 0, last = 0;
    for (size_t k = 0; k < t->n_columns; k++)
        last = l->shown[k] ? k : last;
    for (size_t k = 0; k <= last; k++) {
        size_t n = cells[k] ? columns_of(cells[k]) : 0, pad = l->width[k] - n;
        if (!l->shown[k] || !cells[k])
            continue;
        if (at)
            at += (size_t)printf("%*s", GAP, "");
        if (k == last && t->columns[k].wrap && width && at + n > width) {
            bool below = at + WRAP_LEAST > width; /* no room beside the rest */
            if (below)
                printf("\n%*s", INDENT, "");
            unsigned from = below ? INDENT : (unsigned)at;
            cli_wrap(cells[k], from, from, (unsigned)width);
            return;
        }
        printf("%*s%s%*s", t->columns[k].right ? (int)pad : 0, "", cells[k],
               t->columns[k].right || k == last ? 0 : (int)pad, "");
        at += l->width[k];
    }
    putchar('\n');
}

static void put_left_out(const cli_table *t, const layout *l, size_t width)
{
    char text[512] = "Left out at this width:";
    size_t n = strlen(text), none = n;
    for (size_t k = 0; k < t->n_columns; k++)
        if (!l->shown[k] && n + 40 < sizeof text)
            n += (size_t)snprintf(text + n, sizeof text - n, "%s %.30s", n > none ? "," : "",
                                  t->columns[k].title);
    if (n == none)
        return;
    snprintf(text + n, sizeof text - n, "; a wider screen and --json have %s.",
             strchr(text, ',') ? "them" : "it");
    putchar('\n');
    cli_wrap(text, 0, 0, (unsigned)width);
}

static void put_table(const cli_table *t)
{
    char *titles[COLUMNS_MAX];
    size_t width = width_of_lines();
    layout l;
    assert(t->n_columns > 0 && t->n_columns <= COLUMNS_MAX);
    natural(t, &l);
    while (width && total(t, &l) > width && drop_one(t, &l))
        ;
    for (size_t k = 0; k < t->n_columns; k++)
        titles[k] = (char *)(uintptr_t)t->columns[k].title;
    put_row(t, &l, titles, width);
    for (size_t i = 0; i + t->n_columns <= t->n_cells; i += t->n_columns) {
        const char *note = t->notes[i / t->n_columns];
        put_row(t, &l, t->cells + i, width);
        if (note) {
            printf("%*s", INDENT, "");
            cli_wrap(note, INDENT, INDENT, cli_width());
        }
    }
    put_left_out(t, &l, width);
}

int cli_table_print(cli_table *t)
{
    bool failed = t->failed || t->n_columns > COLUMNS_MAX;
    if (!failed && t->n_cells)
        put_table(t);
    for (size_t i = 0; i < t->n_cells; i++)
        free(t->cells[i]);
    for (size_t i = 0; i < t->room && t->notes; i++)
        free(t->notes[i]);
    free(t->cells);
    free(t->notes);
    *t = (cli_table){0};
    return failed ? cli_complain_text(ASSAY_ERR_SYSTEM, "out of memory") : ASSAY_OK;
}
