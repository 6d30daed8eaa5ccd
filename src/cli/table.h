/* Tables that fit the terminal. Columns are dropped by priority until the lines fit, and the last column may wrap. In
 * a pipe a table has its full width, so that each row is one line, unless COLUMNS is set. */
#ifndef CLI_TABLE_H
#define CLI_TABLE_H

#include <stdbool.h>
#include <stddef.h>

typedef struct cli_column {
    const char *title;
    bool right;
    int drop;  /* the highest goes first; 0: stays */
    bool wrap; /* of the last column: words go on in the next line */
} cli_column;

typedef struct cli_table {
    const cli_column *columns;
    size_t n_columns;
    char **cells; /* row by row */
    size_t n_cells, room;
    char **notes; /* [rows] lines below a row, or NULL */
    bool failed;
} cli_table;

void cli_table_begin(cli_table *t, const cli_column *columns, size_t n);
/* The next cell; bytes that a terminal would obey become dots. */
void cli_table_add(cli_table *t, const char *text);
/* A number with about three digits; "-" when it is not above zero. */
void cli_table_number(cli_table *t, double v);
/* A text below the row that was ended last, wrapped and indented. */
void cli_table_note(cli_table *t, const char *text);
/* Prints to stdout and frees. Names the columns that were left out. The exit code. */
int cli_table_print(cli_table *t);

#endif
