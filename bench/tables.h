/* What the programs share that compare predictions with tables of public measurements: `PROGRAM [--rows] FILE...`, the
 * devices of the catalogue, and CSV files (also .gz) whose cells are found by the title of their column. */
#ifndef BENCH_TABLES_H
#define BENCH_TABLES_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/csv.h"
#include "device/devices.h"

enum { BENCH_COLUMNS = 40 };

typedef struct bench_run {
    arena *arena;
    device_list devices;
    bool rows;    /* --rows: print the rows of data/ and not the errors */
    char **files; /* n of them */
    int n;
} bench_run;

/* False when the arguments are not [--rows] and `least` to `most` files: usage and reason are printed. */
static inline bool bench_begin(bench_run *r, int argc, char **argv, int least, int most)
{
    assay_error err;
    err_clear(&err);
    r->rows = argc > 1 && strcmp(argv[1], "--rows") == 0;
    r->files = argv + 1 + r->rows;
    r->n = argc - 1 - r->rows;
    r->arena = arena_new((size_t)8 << 30);
    r->devices.arena = r->arena;
    bool ok = r->arena && r->n >= least && r->n <= most &&
              devices_builtin(&r->devices, &err) == ASSAY_OK;
    if (!ok)
        fprintf(stderr, "usage: %s [--rows] FILE%s\n%s\n", argv[0], most > 1 ? "..." : "",
                err.message);
    return ok;
}

static inline const device *bench_device(const bench_run *r, const char *id)
{
    for (uint32_t i = 0; i < r->devices.rows.n; i++)
        if (str_is(r->devices.rows.items[i].id, id))
            return &r->devices.rows.items[i];
    return NULL;
}

static inline str bench_read(const char *path, arena *a)
{
    gzFile f = gzopen(path, "rb");
    size_t room = 1u << 20, n = 0;
    char *text = malloc(room);
    for (int got = 1; f && text && got > 0; n += (size_t)got) {
        if (n + (1u << 19) > room)
            text = realloc(text, room *= 2);
        got = gzread(f, text + n, 1u << 19);
        got = got < 0 ? 0 : got;
    }
    if (f)
        gzclose(f);
    char *copy = arena_alloc(a, n + 1);
    if (copy && n)
        memcpy(copy, text, n);
    free(text);
    return (str){copy, (uint32_t)n};
}

/* A table while it is read line by line. */
typedef struct bench_table {
    csv lines;
    str titles[BENCH_COLUMNS], cells[BENCH_COLUMNS];
    int n;
} bench_table;

static inline bench_table bench_open(const char *path, arena *a)
{
    bench_table t = {.lines = csv_of(bench_read(path, a), a)};
    t.n = csv_more(&t.lines) ? csv_line(&t.lines, t.titles, BENCH_COLUMNS) : 0;
    return t;
}

/* The next whole line; false at the end. */
static inline bool bench_next(bench_table *t)
{
    while (csv_more(&t->lines))
        if (csv_line(&t->lines, t->cells, BENCH_COLUMNS) == t->n)
            return true;
    return false;
}

static inline bool bench_has(const bench_table *t, const char *title)
{
    return csv_column(t->titles, t->n, title) >= 0;
}

static inline str bench_cell(const bench_table *t, const char *title)
{
    int i = csv_column(t->titles, t->n, title);
    return i < 0 ? (str){0} : t->cells[i];
}

/* 0 where there is none. */
static inline double bench_number(const bench_table *t, const char *title)
{
    double v = 0;
    str s = bench_cell(t, title);
    return s.n && str_to_f64(s, &v) ? v : 0;
}

#endif
