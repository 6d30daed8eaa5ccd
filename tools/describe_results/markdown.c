/* The key tables of docs/json.md, each between "<!-- generated: KIND -->" and "<!-- end -->". */
#include "describe.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

/* ---- cells ---- */

static void put_cell(sbuf *b, const char *s)
{
    for (; *s; s++) {
        if (*s == '|')
            sbuf_putc(b, '\\');
        sbuf_putc(b, *s);
    }
}

static void put_words(sbuf *b, const char *const *words)
{
    for (uint32_t i = 0; words[i]; i++)
        sbuf_printf(b, "%s`%s`", i ? ", " : "", words[i]);
}

static const char *type_name(const field *row)
{
    static const char *const names[] = {
        [FIELD_U64] = "integer",        [FIELD_U32] = "integer",
        [FIELD_I64] = "integer",        [FIELD_INT] = "integer",
        [FIELD_F64] = "number",         [FIELD_NUMBER] = "number",
        [FIELD_BOOL] = "boolean",       [FIELD_STR] = "string",
        [FIELD_WORD] = "string",        [FIELD_ENUM] = "string",
        [FIELD_EITHER] = "string",      [FIELD_CHARS] = "string",
        [FIELD_F64S] = "numbers",       [FIELD_U64S] = "integers",
        [FIELD_U32S] = "integers",      [FIELD_STRS] = "strings",
        [FIELD_OBJECT] = "object",      [FIELD_LIST] = "list",
        [FIELD_MAP] = "object by name", [FIELD_SPLICE] = "",
        [FIELD_RESULT] = "result",      [FIELD_CODEC] = "",
    };
    return row->kind == FIELD_CODEC ? row->codec->typescript : names[row->kind];
}

static void put_type(sbuf *b, const field *row)
{
    const field *bare = row_bare_item(row);
    const bool of_words = row->kind != FIELD_CODEC && row->kind != FIELD_RESULT;
    if (of_words && row->words) {
        put_words(b, row->words);
        return;
    }
    put_cell(b, type_name(row));
    if (bare) {
        sbuf_puts(b, " of ");
        put_type(b, bare);
    }
    for (uint32_t i = 0; row->kind == FIELD_RESULT && row->results[i]; i++)
        sbuf_printf(b, "%s`%s`", i ? ", " : ": ", row->results[i]->schema);
}

static const char *zero_of(const field *row)
{
    switch (row->kind) {
    case FIELD_BOOL:
        return "false";
    case FIELD_U64:
    case FIELD_U32:
    case FIELD_I64:
    case FIELD_INT:
    case FIELD_F64:
    case FIELD_NUMBER:
        return "0";
    default:
        return "empty";
    }
}

static void put_absent(sbuf *b, const field *row, bool always)
{
    if (row->absent == FIELD_NULL)
        sbuf_puts(b, "null if unknown");
    else if (row->absent == FIELD_NULL_ZERO)
        sbuf_printf(b, "null if %s", zero_of(row));
    else if (row->absent == FIELD_OMIT_ZERO)
        sbuf_printf(b, "omitted if %s", zero_of(row));
    else if (row->absent == FIELD_OMIT)
        sbuf_puts(b, "omitted if unknown");
    if (row_is_required(row, always) || row->absent == FIELD_OMIT || row->absent == FIELD_OMIT_ZERO)
        return;
    sbuf_puts(b,
              row_may_be_null(row) ? "; omitted if not applicable" : "omitted if not applicable");
}

/* ---- tables ---- */

enum { DEPTH_MAX = 32, LISTED_MAX = 512, KINDS_MAX = 64 };

typedef struct table_writer {
    sbuf *b;
    const char *path[DEPTH_MAX]; /* "latency", "layers[]" are "latency.", "layers[]." */
    const char *joint[DEPTH_MAX];
    uint32_t depth;
    struct {
        const fields *of;
        char path[120];
    } listed[LISTED_MAX]; /* structs whose rows stand in the table, and where */
    uint32_t n_listed;
} table_writer;

static void put_path(const table_writer *t, sbuf *b)
{
    for (uint32_t i = 0; i < t->depth; i++)
        sbuf_printf(b, "%s%s", t->path[i], t->joint[i]);
}

static const char *joint_of(const field *row)
{
    return row->kind == FIELD_LIST ? "[]." : row->kind == FIELD_MAP ? ".*." : ".";
}

/* Where the rows of the struct stand already; NULL: nowhere, and from now on here. */
static const char *find_listed(table_writer *t, const field *row)
{
    for (uint32_t i = 0; i < t->n_listed; i++)
        if (t->listed[i].of == row->of)
            return t->listed[i].path;
    assert(t->n_listed < LISTED_MAX && t->depth < DEPTH_MAX);
    sbuf path = {0};
    put_path(t, &path);
    snprintf(t->listed[t->n_listed].path, sizeof t->listed->path, "%s%s%.*s", sbuf_cstr(&path),
             row->key, (int)strlen(joint_of(row)) - 1, joint_of(row));
    sbuf_free(&path);
    t->listed[t->n_listed++].of = row->of;
    return NULL;
}

static void put_row(void *context, const field *row, bool always)
{
    table_writer *t = context;
    bool has_rows = row->of && !row_bare_item(row);
    sbuf_puts(t->b, "| `");
    put_path(t, t->b);
    sbuf_printf(t->b, "%s` | ", row->key);
    put_type(t->b, row);
    sbuf_printf(t->b, " | %s | ", fields_unit(row) ? fields_unit(row) : "");
    put_absent(t->b, row, always);
    sbuf_puts(t->b, " | ");
    put_cell(t->b, row->about);
    const char *listed = has_rows ? find_listed(t, row) : NULL;
    if (listed)
        sbuf_printf(t->b, " Keys as in `%s`.", listed);
    sbuf_puts(t->b, " |\n");
    if (!has_rows || listed)
        return;
    t->path[t->depth] = row->key;
    t->joint[t->depth++] = joint_of(row);
    visit_rows(row->of, put_row, t);
    t->depth--;
}

static void put_table(sbuf *b, const result_kind *kind)
{
    table_writer t = {.b = b};
    sbuf_puts(b, "\n| key | type | unit | if absent | meaning |\n|---|---|---|---|---|\n"
                 "| `schema` | `");
    put_schema_id(b, kind);
    sbuf_puts(b, "` | | | Name and version of the format. |\n");
    visit_rows(kind->of, put_row, &t);
    sbuf_puts(b, "\n");
}

/* ---- the page ---- */

static const result_kind *marked_kind(str line, const result_kind *const *kinds, uint32_t n)
{
    char mark[80];
    for (uint32_t i = 0; i < n; i++) {
        snprintf(mark, sizeof mark, "<!-- generated: %s -->", kinds[i]->name);
        if (str_is(line, mark))
            return kinds[i];
    }
    return NULL;
}

static str next_line(str *rest)
{
    const char *end = memchr(rest->p, '\n', rest->n);
    uint32_t n = end ? (uint32_t)(end - rest->p) : rest->n;
    str line = {rest->p, n};
    n += end != NULL;
    *rest = (str){rest->p + n, rest->n - n};
    return line;
}

static void skip_table(str *rest)
{
    while (rest->n && !str_is(next_line(rest), "<!-- end -->"))
        continue;
}

static void put_marked_table(sbuf *b, const result_kind *kind)
{
    sbuf_printf(b, "<!-- generated: %s -->\n", kind->name);
    put_table(b, kind);
    sbuf_puts(b, "<!-- end -->\n");
}

static void put_new_kinds(sbuf *b, const bool *seen, const result_kind *const *kinds, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        if (seen[i])
            continue;
        sbuf_printf(b, "\n## `");
        put_schema_id(b, kinds[i]);
        sbuf_printf(b, "`: %s\n\n", kinds[i]->what);
        put_marked_table(b, kinds[i]);
    }
}

void put_markdown(sbuf *b, str page, const result_kind *const *kinds, uint32_t n)
{
    bool seen[KINDS_MAX] = {false};
    assert(n <= KINDS_MAX);
    while (page.n) {
        str line = next_line(&page);
        const result_kind *kind = marked_kind(line, kinds, n);
        if (!kind) {
            sbuf_str(b, line);
            sbuf_putc(b, '\n');
            continue;
        }
        put_marked_table(b, kind);
        skip_table(&page);
        for (uint32_t i = 0; i < n; i++)
            seen[i] = seen[i] || kinds[i] == kind;
    }
    put_new_kinds(b, seen, kinds, n);
}
