/* Lists that fit the screen: a table whose columns are dropped, the least needed first, until its lines do, and
 * whose last column may go on below itself. Into a pipe it is as wide as it is, so that a line stays a row;
 * COLUMNS, when it is set, counts there too. */
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
