/* Building blocks of the console: styles, headings, paragraphs, bars, panels side by side, tables.
 *
 * Everything is drawn in Unicode, with colours on request. console_to_ascii() converts the finished output to ASCII
 * column by column.
 */
#ifndef REPORT_CONSOLE_H
#define REPORT_CONSOLE_H

#include "base/vec.h"
#include "report/report.h"

typedef enum console_style {
    STYLE_PLAIN,
    STYLE_TITLE,   /* bold */
    STYLE_DIM,     /* what may be skipped */
    STYLE_GOOD,    /* green */
    STYLE_WARN,    /* yellow */
    STYLE_BAR,     /* blue */
    STYLE_COMPUTE, /* cyan */
    STYLE_MEMORY,  /* magenta */
} console_style;

typedef struct console {
    const report_options *o;
    sbuf *out;
    unsigned width;
    const void *of; /* what console_pair()'s sections show */
} console;

/* Switches the style on; STYLE_PLAIN switches everything off. Nothing without colour. */
void console_on(console *c, console_style s);
void console_put(console *c, console_style s, const char *text); /* as it is: our own words */
void console_putf(console *c, console_style s, const char *fmt, ...) ASSAY_PRINTF(3, 4);
void console_safe(console *c, console_style s, str text); /* a file's words, made safe */
void console_line(console *c);                            /* ends a line */
void console_rule(console *c);
/* An empty line, then a title with a remark behind it (NULL: none); both are made safe. */
void console_heading(console *c, const char *title, const char *remark);
/* Words wrapped into the width (at most 100 columns), every line indented; text is made safe. The
 * first line follows what already stands on it when `inlined`. */
void console_words(console *c, console_style s, unsigned indent, bool inlined, str text);
/* A warning behind a bullet of four columns; its node is named where the text does not. */
void console_warning(console *c, const char *bullet, const note *n, bool with_advice);
/* Appends a bar of `width` columns of which `part` (0 to 1) is filled, in eighths of a column. */
void console_bar(sbuf *b, double part, unsigned width);
/* Appends one column per item (or per group of items when there are more than `width`), its height
 * the largest of its group. */
void console_spark(sbuf *b, const uint64_t *items, uint32_t n, unsigned width);
/* Shows two sections side by side when there is room for it, else one after the other. */
typedef void console_section(console *c);
void console_pair(console *c, console_section *left, console_section *right);
/* Replaces what is not ASCII from byte `from` on, keeping every column where it is. */
void console_to_ascii(sbuf *out, size_t from);

/* ---- tables -------------------------------------------------------------------------------------
 * Cells are filled row by row; widths are chosen when all are there. When the room is too small,
 * columns with the highest `drop` go first, then those with `min` are made narrower and their text is wrapped.
 */
typedef struct console_column {
    const char *title; /* NULL in every column: no line of titles */
    bool right;
    uint8_t drop; /* 0: never */
    uint8_t min;  /* width from which its text is wrapped; 0: never wrapped */
    uint8_t max;  /* columns it takes at most; 0: any */
} console_column;

typedef struct console_cell {
    uint32_t at;
    console_style style;
} console_cell;

typedef struct console_table {
    const console_column *columns;
    unsigned n_columns;
    unsigned indent;
    arena *arena;
    sbuf text;
    VEC(console_cell) cells;
} console_table;

#define TABLE_MAX_COLUMNS 16

void table_begin(console_table *t, const console_column *columns, unsigned n, unsigned indent);
/* The next cell: append its text (raw, it is made safe later) to what is returned. */
sbuf *table_cell(console_table *t, console_style s);
/* Prints and frees. */
void table_print(console_table *t, console *c);
/* The part of a text that fits into a width, up to a blank or another break; *rest is what follows. */
str console_piece(str *rest, unsigned width);

#endif
