/* What people are shown of a document, whatever wrote it: banners, figures with their verdicts, tables, remarks.
 * One view is made of a document by the rows of its kind (view_kinds.c, view_profile.c) and then written as
 * Markdown, for the console, as a fragment of HTML, or as JSON for the page; so that a new kind of document is
 * one row and has every format.
 *
 * Texts that rows give are patterns, see view_put().
 */
#ifndef REPORT_VIEW_H
#define REPORT_VIEW_H

#include "base/json_tree.h"
#include "base/vec.h"
#include "report/report.h"

typedef enum view_tone { TONE_PLAIN, TONE_GOOD, TONE_FAIR, TONE_POOR } view_tone;
extern const char *const view_tone_names[];

typedef struct view_fact {
    str name, value, note, verdict;
    view_tone tone;
} view_fact;

typedef struct view_group {
    const char *title; /* NULL: none */
    VEC(view_fact) facts;
} view_group;

typedef struct view_banner {
    str text;
    view_tone tone;
} view_banner;

typedef struct view_warning {
    str node, text, advice;
} view_warning;

typedef struct view_table {
    str title;  /* may be the document's own words */
    bool first; /* belongs to the summary */
    uint32_t n_columns, n_rows;
    uint32_t n_listed; /* rows of the document; above n_rows where there are too many to show */
    str *heads;
    bool *right;    /* by column: numbers */
    str *cells;     /* row by row */
    uint8_t *marks; /* view_tone, by row */
} view_table;

struct view_kind;
typedef struct view {
    arena *a;
    json_value document;
    const struct view_kind *kind; /* NULL: shown by its own keys */
    const char *what;             /* "a pipeline's result" */
    str title, under;
    VEC(view_banner) banners;
    VEC(view_group) groups;
    VEC(view_table) tables;
    VEC(view_warning) warnings;
    uint64_t warnings_dropped;
    VEC(str) remarks;
} view;

/* ---- patterns (view_text.c) ---- */

/* The member of that key, whatever characters are in it; json_absent if there is none. */
static inline const json_value *view_member(const json_value *v, str key)
{
    const json_value *member = json_member(v, key);
    return member ? member : &json_absent;
}

/* Text with {PATH:UNIT} in it, by the value at PATH of `row` ("@key" is the row's own key, "^x" is x of the
 * document, "a*b" a product, "" the row itself). "[...]" is left out when a value in it is missing; of
 * alternatives "A|B" the first whose values are all there is taken, the last in any case. {+PATH:UNIT}: 0 counts
 * as missing too. */
void view_put(sbuf *b, const json_value *row, const json_value *root, const char *pattern);
/* The same as a text of the arena. */
str view_text(arena *a, const json_value *row, const json_value *root, const char *pattern);
/* "a,b/c": a, and b or c. "x" is there, "+x" is not 0, false or empty, "++x" has more than one item, "!x" is
 * absent, "x=word", "x!=word" (what is absent equals). NULL: yes. */
bool view_holds(const json_value *row, const json_value *root, const char *conditions);

/* ---- rows ---- */

typedef struct view_verdict {
    const char *text; /* NULL: none */
    view_tone tone;
} view_verdict;
typedef view_verdict view_judge(const json_value *v);

typedef struct view_fact_row {
    const char *name, *value, *note; /* patterns */
    const char *when;                /* conditions */
    view_judge *judge;
    const char *judged; /* path */
} view_fact_row;

typedef struct view_column {
    const char *title; /* NULL: of `each` */
    const char *cell;  /* pattern */
    const char
        *each; /* an object of the row: a column for each of its members, which `cell` is of */
    const char *when; /* conditions on the document */
    bool right;
} view_column;

typedef struct view_table_row {
    const char *title, *path; /* of a list of objects, or of an object of them */
    const char *each; /* path of a list whose items have `path`: a table for each; or NULL */
    const view_column *columns;
    uint32_t n_columns;
    bool first;
    view_judge *mark; /* of a row; or NULL */
} view_table_row;

typedef struct view_group_row {
    const char *title; /* shown when there is another group with figures */
    const view_fact_row *facts;
    uint32_t n;
} view_group_row;

typedef struct view_kind {
    const char *schema;               /* "assay.scaling" */
    const char *title, *under, *when; /* patterns; conditions that tell kinds of one schema apart */
    const view_group_row *groups;
    uint32_t n_groups;
    const view_table_row *tables;
    uint32_t n_tables;
    const char *remarks;     /* path of a list of texts; or NULL */
    const char *inner;       /* path of a list of documents whose warnings are shown too; or NULL */
    const char *const *skip; /* members of the root that need not be read */
    void (*more)(view *v, const json_value *d); /* banners; or NULL */
} view_kind;

#define VIEW_COLUMNS(list) .columns = (list), .n_columns = sizeof(list) / sizeof *(list)
#define VIEW_FACTS(list)   .facts = (list), .n = sizeof(list) / sizeof *(list)

extern const view_kind view_profile_kind;
extern const view_kind view_kinds[];
extern const uint32_t view_kinds_n;

void view_banner_add(view *v, view_tone tone, str text);
/* Words that commands use for outcomes: "pass", "regression", "faster", ... */
view_verdict view_judge_word(const json_value *v);

/* ---- the view ---- */

#define VIEW_BYTES ((size_t)2 << 30) /* that a document and its view may take */

/* ASSAY_ERR_UNSUPPORTED, naming the schema, when no row shows it. */
assay_status view_make(str document, const char *shown, arena *a, view *out, assay_error *err);

void view_write_md(const view *v, const report_options *o, sbuf *out);
/* The document's own table, value by value: of `rows` (a list of the document), or of its first table.
 * ASSAY_ERR_USAGE when there is none. */
assay_status view_write_csv(const view *v, const char *rows, sbuf *out, assay_error *err);
void view_write_console(const view *v, const report_options *o, sbuf *out);
/* The summary alone: a <div> without script or link that stands in any page or notebook. */
void view_write_summary(const view *v, sbuf *out);
/* For the page, which draws it. */
void view_write_json(const view *v, sbuf *out);

#endif
