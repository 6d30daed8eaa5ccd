/* What a person is shown of a result, whatever its kind and whatever the format.
 *
 * A view is a list of sections; a section has facts (name, value, note, verdict), tables, lines of text and
 * sparklines. view_make() builds it from a result by the rows of its kind (views_*.c), which name paths of the
 * field tables (base/fields.h). The writers turn a view into console text, Markdown, an HTML fragment, or JSON for
 * the page. A result just computed and one read from a file take the same way, so they give the same bytes.
 *
 * Texts in rows are patterns, see view_put().
 */
#ifndef REPORT_VIEW_H
#define REPORT_VIEW_H

#include "base/fields.h"
#include "base/result.h"
#include "base/vec.h"
#include "report/report.h"

/* ---- the view ---- */

typedef enum view_tone {
    TONE_PLAIN,
    TONE_GOOD,
    TONE_FAIR,
    TONE_POOR,
    TONE_DIM,
    TONE_COMPUTE, /* bound by arithmetic */
    TONE_MEMORY,  /* bound by bandwidth */
    TONE_STRONG,  /* the figure of a row */
    TONE_BAR
} view_tone;
extern const char *const view_tone_names[];

typedef struct view_fact {
    str name, value, note, verdict;
    str range;      /* of the verdict: "below 10 GFLOPs"; the summary leaves it out */
    str bar;        /* drawn before the value; only the console shows it */
    str exact;      /* the value in full; the page shows it on request */
    view_tone tone; /* of the verdict */
} view_fact;

typedef struct view_line {
    str text;
    view_tone tone;
} view_line;

/* One of a list of advice: what, why, what it gains. */
typedef struct view_item {
    str title, text, note;
} view_item;

typedef struct view_head {
    str title;
    bool right;     /* numbers */
    bool words;     /* the word of a cell decides its colour */
    bool bar;       /* drawn with block characters; only the console shows it */
    uint8_t drop;   /* narrow console: columns with the highest number go first; 0: never */
    uint8_t min;    /* console: text may be cut to this width; 0: never */
    view_tone tone; /* of its cells */
} view_head;

typedef struct view_table {
    uint32_t n_columns, n_rows;
    uint32_t n_listed; /* rows of the result; above n_rows where not all are shown */
    bool untitled;     /* no line of column titles */
    bool wraps;        /* narrow console: columns that do not fit go below, no digit is lost */
    const char *more; /* how to see the rest: "--top N shows them"; NULL: --verbose; "": not said */
    view_head *heads;
    str *cells;     /* row by row */
    uint8_t *marks; /* view_tone of a row's first cell */
} view_table;

typedef enum view_part_kind {
    PART_FACTS,
    PART_TABLE,
    PART_LINE,
    PART_SPARK,
    PART_ITEMS
} view_part_kind;

typedef struct view_part {
    view_part_kind kind;
    VEC(view_fact) facts;
    view_table table;
    view_line line;
    str label;             /* of the sparkline */
    const uint64_t *spark; /* heights, one per column */
    uint32_t n_spark;
    VEC(view_item) items;
    uint32_t n_listed; /* items of the result */
} view_part;

typedef struct view_section {
    str title, remark; /* either may be empty */
    bool first;        /* belongs to the summary */
    bool head;         /* precedes the banners */
    bool beside;       /* wide console: next to the section after it */
    VEC(view_part) parts;
} view_section;

typedef struct view_warning {
    str node, text, advice;
} view_warning;

struct view_kind;
typedef struct view {
    arena *a;
    const report_options *o;
    field_value root;
    field_value here; /* what rows are of: the result, or an item of a section's `each` */
    const struct view_kind *kind;
    const char *what; /* "a pipeline's result" */
    str title, under;
    str conclusion;         /* one or two sentences, shown first; or empty */
    VEC(view_line) banners; /* what must be read first */
    VEC(view_section) sections;
    VEC(view_warning) warnings;
    uint64_t warnings_dropped;
    VEC(view_line) remarks;
} view;

/* ---- patterns (view_text.c) ---- */

/* Text with {PATH:UNIT} in it, by the value at PATH of `row`: "@key" is the row's own key, "^x" is x of the whole
 * result, "a*b" a product, "a/b" a quotient, "a..b" the text "A to B" (missing when both look equal), "plans.@best"
 * the item that the result's number "best" names, "plans.@last" the last, "plans.@count" how many there are, "" the
 * row itself. Without ":UNIT" the number is printed in the unit of its field; ":unit" is the unit that the row or
 * result names, ":exact" the same with counts in full. ":+UNIT" writes the sign of a difference; ":UNIT~PATH" writes
 * a whole number in full where it would look like the other one at PATH. A noun after the unit follows the number:
 * "{n:whole run}" is "1 run" or "2 runs". "[...]" is left out when a value in it is missing (without a value in it,
 * it is text); of alternatives "A|B" the first whose values are all present is taken, else the last. {+PATH}: 0
 * counts as missing. {?CONDITION:TEXT} is the text, and missing where the condition does not hold. Values are those
 * that a saved result has. */
void view_put(const view *v, sbuf *b, const field_value *row, const char *pattern);
/* The same as a text of the arena; empty if out of memory. */
str view_text(const view *v, const field_value *row, const char *pattern);
/* "a,b/c": a, and b or c. "x" is present, "+x" is not 0, false or empty, "++x" has more than one item, "!x" is
 * absent, "x=word", "x!=word" (absent equals any word), "x=^y" the same value as y of the result, "x>y"
 * compares two numbers, each a path or digits; "$verbose", "$top", "$depth" and "$patterns" are the options. NULL:
 * true. */
bool view_holds(const view *v, const field_value *row, const char *conditions);
/* The value at a path as patterns write it. */
field_value view_look(const view *v, const field_value *row, str path);

/* ---- rows ---- */

typedef struct view_fact_row {
    const char *name, *value, *note; /* patterns */
    const char *when;                /* conditions */
    const char *verdict;             /* path of a word such as "pass"; or NULL */
    const char *bar;                 /* path of a percentage that is drawn; or NULL */
    const char *exact;               /* pattern of the value in full; or NULL */
} view_fact_row;

typedef struct view_column {
    const char *title; /* pattern on the result; NULL: of `each` */
    const char *cell;  /* pattern on the row */
    const char *rest;  /* of tables across: more of the cell, of every item but the first */
    const char
        *each; /* a list or object of the row: a column for each member, which `cell` is of */
    const char *when;                                            /* conditions on the result */
    void (*put)(const view *v, sbuf *b, const field_value *row); /* what no pattern can say */
    bool right;
    bool bar;     /* `cell` is a path to a percentage, or a quotient "a/b" */
    bool words;   /* see view_head */
    bool keep;    /* never dropped */
    uint8_t drop; /* as in view_head; 0: by position from the right, the first column never */
    uint8_t min;
    view_tone tone;
} view_column;
/* What the column says of a row: by its function, or by its pattern. */
str view_cell(const view *v, const view_column *c, const field_value *row);

#define VIEW_TOP      UINT32_MAX       /* limit: --top */
#define VIEW_TOP_ONLY (UINT32_MAX - 1) /* the same, with --verbose too */

/* Fills `index` with the items of the list to show, best first; returns how many (at most list->n). */
typedef uint32_t view_order(const view *v, const field_value *list, uint32_t *index);

typedef struct view_table_row {
    const char *title, *path; /* a list or an object of objects; the title is a pattern on `each` */
    const char *remark;       /* behind the title */
    const char *each; /* path of a list whose items have `path`: a table for each; or NULL */
    const view_column *columns;
    uint32_t n_columns;
    const char *
        across; /* items become columns with this title (a pattern), columns become rows; or NULL */
    const char *mark;  /* path of a word that marks and colours the row; or NULL */
    view_order *order; /* NULL: all, in their order */
    uint32_t limit;    /* rows shown without --verbose; 0: 40 */
    const char *more;  /* see view_table */
    const char *rest;  /* name of a last row that sums what is not shown; or NULL */
    const char *when;  /* conditions */
    bool untitled;
    bool wraps; /* see view_table */
    bool first; /* with a title: see view_section */
} view_table_row;

typedef struct view_line_row {
    const char *text, *when; /* pattern, conditions */
    view_tone tone;
    /* A list: the line is of each of its items, as are the conditions. Rows with one list, one after the other, take
     * turns item by item. A line is not repeated near itself. */
    const char *each;
    uint32_t limit;   /* lines shown without --verbose; 0: 40 */
    const char *mark; /* path of a verdict's word: colours and marks the line; or NULL */
} view_line_row;

typedef struct view_spark_row {
    const char *label, *path, *value; /* a list, and the number of its items that is drawn */
} view_spark_row;

typedef struct view_items_row {
    const char *path, *title, *text, *note; /* a list, and patterns on its items */
    uint32_t limit;                         /* without --verbose */
} view_items_row;

/* Parts appear in the order sparks, facts, build, tables, items, lines. A row without a title adds to the section
 * before it. */
typedef struct view_section_row {
    const char *title, *remark; /* patterns */
    const char *when;           /* conditions */
    const char *in;             /* "bench layers": views (--view) that show it; NULL: every one */
    const char *only;           /* the same, and the view of everything does not; or NULL */
    const char *each;           /* path of a list: a section for each item, which all rows are of */
    bool first, beside, head;   /* see view_section */
    const view_spark_row *sparks;
    uint32_t n_sparks;
    const view_fact_row *facts;
    uint32_t n_facts;
    void (*build)(view *v); /* what no row can say */
    const view_table_row *tables;
    uint32_t n_tables;
    const view_items_row *items;
    const view_line_row *lines;
    uint32_t n_lines;
    const struct view_sections *of; /* nothing else then: the rows of another file stand here */
} view_section_row;

typedef struct view_sections {
    const view_section_row *rows;
    uint32_t n;
} view_sections;

/* A list that can be written as CSV. */
typedef struct view_csv_row {
    const char *name; /* --rows NAME */
    const char *path; /* of the list; "" is the result as the only item */
    const char *
        inner; /* a list of each item, or objects of it, blanks between: they are the rows; or NULL */
    const char *in;   /* views in which it is the default; NULL: every one */
    const char *when; /* conditions on an item; NULL: all */
    /* `when` is on the result, `each` a map of the items: a column for each of its keys. With `drop` it is left out when
     * no row fills it. */
    const view_column *
        columns; /* title, and `cell` as a path ("^x": of the outer item, "@index"), or as a pattern
                                   where it has braces; NULL: by the fields */
    uint32_t n_columns;
    void (*write)(const view *v, sbuf *out); /* rows that no path can give; or NULL */
} view_csv_row;

typedef struct view_kind {
    const result_kind *of;
    const char *title, *under; /* patterns */
    const view_section_row *sections;
    uint32_t n_sections;
    const view_csv_row *csv; /* NULL: the list of the first table */
    uint32_t n_csv;
    const char *remarks;    /* path of a list of texts; NULL: "remarks" */
    const char *formats;    /* that no other kind has, for messages: "junit, github"; or NULL */
    const char *inner;      /* path of a list of results whose sections come first; or NULL */
    bool ruled;             /* console: title and `under` on one line, above a rule */
    void (*begin)(view *v); /* banners, a separate title; or NULL */
    /* What is shown in place of the result: a copy in the arena with more to see; NULL: the result itself. */
    const void *(*prepare)(const void *data, arena *a);
} view_kind;

#define VIEW_COLUMNS(list) .columns = (list), .n_columns = sizeof(list) / sizeof *(list)
#define VIEW_FACTS(list)   .facts = (list), .n_facts = sizeof(list) / sizeof *(list)
#define VIEW_TABLES(list)  .tables = (list), .n_tables = sizeof(list) / sizeof *(list)
#define VIEW_SPARKS(list)  .sparks = (list), .n_sparks = sizeof(list) / sizeof *(list)
#define VIEW_LINES(list)   .lines = (list), .n_lines = sizeof(list) / sizeof *(list)
#define VIEW_LIST(list)                       \
    {                                         \
        (list), sizeof(list) / sizeof *(list) \
    }
/* The columns that most rows have. */
#define VIEW_SECTION(title_, remark_, in_, when_) \
    .title = (title_), .remark = (remark_), .in = (in_), .when = (when_)
#define VIEW_TABLE(title_, path_, columns_) \
    .title = (title_), .path = (path_), VIEW_COLUMNS(columns_)
/* A line and the columns that few have: VIEW_LINE(text, conditions, tone, ...). */
#define VIEW_LINE(text_, when_, tone_, ...)                                 \
    {                                                                       \
        .text = (text_), .when = (when_), .tone = TONE_##tone_, __VA_ARGS__ \
    }
#define VIEW_SECTIONS(list) .sections = (list), .n_sections = sizeof(list) / sizeof *(list)
#define VIEW_CSV(list)      .csv = (list), .n_csv = sizeof(list) / sizeof *(list)
#define VIEW_FACT(name_, value_, note_, when_, ...)                                         \
    {                                                                                       \
        .name = (name_), .value = (value_), .note = (note_), .when = (when_), ##__VA_ARGS__ \
    }
#define VIEW_TEXT(title_, cell_, ...)                     \
    {                                                     \
        .title = (title_), .cell = (cell_), ##__VA_ARGS__ \
    }
#define VIEW_NUMBER(title_, cell_, ...)                                  \
    {                                                                    \
        .title = (title_), .cell = (cell_), .right = true, ##__VA_ARGS__ \
    }

extern const view_kind *const view_kinds[]; /* NULL after the last (views.c) */

/* ---- building (view_build.c): for `begin` and `build` ---- */

void view_add_banner(view *v, view_tone tone, str text);
view_section *view_add_section(view *v, str title, str remark);
/* These add to the last section. */
void view_add_fact(view *v, view_fact fact);
void view_add_line(view *v, view_tone tone, str text);
void view_add_spark(view *v, str label, const uint64_t *heights, uint32_t n);
view_part *view_add_items(view *v);
/* Room for n_rows rows; the caller fills heads and cells. NULL if out of memory. */
view_table *view_add_table(view *v, uint32_t n_columns, uint32_t n_rows);
/* A table of values that no path lists; cells by the columns' patterns, which may be empty. */
view_table *view_add_values(view *v, const view_column *columns, uint32_t n_columns,
                            const field_value *rows, uint32_t n_rows);
/* A list whose items are (what, which, figure): a row for each what, a column for each which (view_pivot.c). */
typedef struct view_pivot {
    const char *path;           /* of the list */
    const view_column *columns; /* what: items in which they read alike share a row */
    uint32_t n_columns;
    const char *across;         /* which: a pattern on an item, the title of its column */
    const char *value, *spread; /* pattern of the figure; path of its spread, a share, or NULL */
    bool spread_each;           /* a spread behind every figure, else the largest of the row */
} view_pivot;
void view_add_pivot(view *v, const view_pivot *of);
/* What a verdict's word means: "pass" is good. */
view_tone view_tone_of(str word);
bool view_has_marks(const view_table *t); /* whether any row is marked */
/* A bar of a percentage. */
str view_bar(const view *v, double percent);

/* ---- tables (view_table.c) ---- */

/* For orders: fills `index` with those of the list, heaviest first, the earlier of equals first; returns n. Behind the
 * first `most`, which are all that is shown, the order is unspecified. */
typedef struct view_ranked {
    double weight;
    uint32_t index;
} view_ranked;
uint32_t view_rank(view_ranked *list, uint32_t n, uint32_t most, uint32_t *index);
/* How many of a list are shown by the limit of its row. */
uint32_t view_limit(const view *v, uint32_t limit);
/* Adds to the last section the list that a row shows of `of`. */
void view_add_rows(view *v, const view_table_row *row, const field_value *of);

/* ---- the whole ---- */

#define VIEW_MD_ROWS 50                /* a table folded in Markdown shows that many at least */
#define VIEW_BYTES   ((size_t)2 << 30) /* limit of a view's arena */

const view_kind *view_kind_of(const result_kind *kind); /* NULL if there is none */
/* Borrows the result and the options; both must outlive the view. */
assay_status view_make(const result_kind *kind, const void *data, const report_options *o, arena *a,
                       view *out, assay_error *err);

void view_write_console(const view *v, sbuf *out);
void view_write_md(const view *v, sbuf *out);
/* The list that o->rows names, or the kind's first. ASSAY_ERR_USAGE when there is none (view_csv.c). */
assay_status view_write_csv(const view *v, sbuf *out, assay_error *err);
/* The summary: a <div> without script or link that stands in any page or notebook. */
void view_write_summary(const view *v, sbuf *out);
/* For the page, which draws it: the view, and those of the results inside it as "inner". */
void view_write_json(const view *v, sbuf *out);
/* The view of the i-th result inside; false when there is none. */
bool view_make_inner(const view *v, uint32_t i, view *out);

#endif
