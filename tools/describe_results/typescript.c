/* web/src/types.ts: an interface per struct, formatted as prettier formats it. */
#include "describe.h"

#include <assert.h>
#include <ctype.h>
#include <string.h>

enum { LINE = 100 };

/* "profile_layer" is ProfileLayer. */
static void put_name(sbuf *b, const char *name)
{
    bool is_start = true;
    for (; *name; name++) {
        if (*name != '_')
            sbuf_putc(b, is_start ? (char)toupper((unsigned char)*name) : *name);
        is_start = *name == '_';
    }
}

/* ---- types: the members of a union ---- */

enum { MEMBERS_MAX = 64 };

typedef struct type_union {
    sbuf members[MEMBERS_MAX];
    uint32_t n;
} type_union;

static sbuf *add_member(type_union *t)
{
    assert(t->n < MEMBERS_MAX);
    return &t->members[t->n++];
}

static void add_text(type_union *t, const char *s)
{
    sbuf_puts(add_member(t), s);
}

static void add_words(type_union *t, const char *const *words)
{
    for (; *words; words++)
        sbuf_printf(add_member(t), "\"%s\"", *words);
}

static void add_row(type_union *t, const field *row);

static void put_union(sbuf *b, const type_union *t)
{
    for (uint32_t i = 0; i < t->n; i++) {
        sbuf_puts(b, i ? " | " : "");
        sbuf_put(b, t->members[i].p, t->members[i].n);
    }
}

static void free_union(type_union *t)
{
    for (uint32_t i = 0; i < MEMBERS_MAX; i++)
        sbuf_free(&t->members[i]);
}

static void add_items(type_union *items, const field *row)
{
    const field *bare = row_bare_item(row);
    if (bare)
        add_row(items, bare);
    else if (row->of)
        put_name(add_member(items), row->of->name);
    else
        add_text(items, row->kind == FIELD_STRS ? "string" : "number");
    if (row->flags & FIELD_HOLES)
        add_text(items, "null");
}

static void add_list(type_union *t, const field *row)
{
    type_union items = {.n = 0};
    sbuf *b = add_member(t);
    add_items(&items, row);
    bool is_map = row->kind == FIELD_MAP;
    sbuf_puts(b, is_map ? "Record<string, " : items.n > 1 ? "(" : "");
    put_union(b, &items);
    sbuf_puts(b, is_map ? ">" : items.n > 1 ? ")[]" : "[]");
    free_union(&items);
}

static void add_results(type_union *t, const field *row)
{
    for (uint32_t i = 0; row->results[i]; i++)
        put_name(add_member(t), row->results[i]->name);
}

static void add_value(type_union *t, const field *row)
{
    switch (row->kind) {
    case FIELD_U64:
    case FIELD_U32:
    case FIELD_I64:
    case FIELD_INT:
    case FIELD_F64:
    case FIELD_NUMBER:
        add_text(t, "number");
        break;
    case FIELD_BOOL:
        add_text(t, row->absent == FIELD_OMIT_ZERO ? "true" : "boolean");
        break;
    case FIELD_STR:
    case FIELD_CHARS:
    case FIELD_WORD:
    case FIELD_ENUM:
    case FIELD_EITHER:
        if (row->words)
            add_words(t, row->words);
        else
            add_text(t, "string");
        break;
    case FIELD_OBJECT:
        put_name(add_member(t), row->of->name);
        break;
    case FIELD_RESULT:
        add_results(t, row);
        break;
    case FIELD_CODEC: /* says itself whether it may be null */
        add_text(t, row->codec->typescript);
        break;
    default:
        add_list(t, row);
    }
}

static void add_row(type_union *t, const field *row)
{
    add_value(t, row);
    if (row_may_be_null(row) && row->kind != FIELD_CODEC)
        add_text(t, "null");
}

/* ---- interfaces ---- */

/* A union that is too long for its line has a line for each member. */
static void put_member_type(sbuf *b, const field *row, size_t start)
{
    type_union t = {.n = 0};
    size_t length = b->n - start + 2;
    add_row(&t, row);
    for (uint32_t i = 0; i < t.n; i++)
        length += t.members[i].n + (i ? 3 : 0);
    if (length <= LINE || t.n == 1) {
        sbuf_putc(b, ' ');
        put_union(b, &t);
    } else {
        for (uint32_t i = 0; i < t.n; i++) {
            sbuf_puts(b, "\n        | ");
            sbuf_put(b, t.members[i].p, t.members[i].n);
        }
    }
    sbuf_puts(b, ";\n");
    free_union(&t);
}

/* Words of a comment that does not fit into one line. */
static void put_wrapped(sbuf *b, const char *s)
{
    size_t column = LINE;
    while (*s) {
        size_t n = strcspn(s, " ");
        bool wraps = column + 1 + n > LINE;
        sbuf_puts(b, wraps ? "\n     * " : " ");
        column = (wraps ? 7 : column + 1) + n;
        sbuf_put(b, s, n);
        s += n + strspn(s + n, " ");
    }
}

static void put_comment(sbuf *b, const field *row)
{
    sbuf text = {0};
    sbuf_puts(&text, row->about);
    if (fields_unit(row))
        sbuf_printf(&text, " [%s]", fields_unit(row));
    if (text.n + 11 <= LINE) {
        sbuf_printf(b, "    /** %s */\n", sbuf_cstr(&text));
    } else {
        sbuf_puts(b, "    /**");
        put_wrapped(b, sbuf_cstr(&text));
        sbuf_puts(b, "\n     */\n");
    }
    sbuf_free(&text);
}

static void put_member(void *context, const field *row, bool always)
{
    sbuf *b = context;
    put_comment(b, row);
    size_t start = b->n;
    sbuf_printf(b, "    %s%s:", row->key, row_is_required(row, always) ? "" : "?");
    put_member_type(b, row, start);
}

static void put_interface(sbuf *b, const definition *d)
{
    sbuf_puts(b, "\nexport interface ");
    put_name(b, d->name);
    sbuf_puts(b, " {\n");
    if (d->kind) {
        sbuf_puts(b, "    schema: \"");
        put_schema_id(b, d->kind);
        sbuf_puts(b, "\";\n");
    }
    visit_rows(d->of, put_member, b);
    sbuf_puts(b, "}\n");
}

void put_typescript(sbuf *b, const result_kind *const *kinds, uint32_t n)
{
    definitions d = {.n = 0};
    for (uint32_t i = 0; i < n; i++)
        define_kind(&d, kinds[i]);
    sbuf_puts(
        b, "// Generated by tools/describe_results from the field tables of results; do not edit.\n"
           "// `make generate` writes it again. docs/json.md describes the keys.\n"
           "\n"
           "// null: a dimension that is not known, or a shape of unknown rank.\n"
           "export type Shape = (number | null)[] | null;\n");
    for (uint32_t i = 0; i < d.n; i++)
        put_interface(b, &d.items[i]);
}
