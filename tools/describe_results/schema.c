/* JSON Schema of results (draft 2020-12). A property is one line. Keys that no row has are allowed: newer versions may
 * add some. */
#include "describe.h"

#include <string.h>

enum { LINE = 100 };

static void put_text(sbuf *b, const char *s)
{
    json_writer w;
    json_begin(&w, b, 0);
    json_cstr(&w, s);
}

/* ---- types: the inside of a schema object, without its braces ---- */

static void put_type(sbuf *b, const char *type, bool or_null)
{
    sbuf_printf(b, or_null ? "\"type\": [\"%s\", \"null\"]" : "\"type\": \"%s\"", type);
}

static void put_words(sbuf *b, const char *const *words, bool or_null)
{
    sbuf_puts(b, "\"enum\": [");
    for (uint32_t i = 0; words[i]; i++) {
        sbuf_puts(b, i ? ", " : "");
        put_text(b, words[i]);
    }
    sbuf_puts(b, or_null ? ", null]" : "]");
}

static void put_ref(sbuf *b, const char *name, bool or_null)
{
    sbuf_printf(b,
                or_null ? "\"anyOf\": [{\"$ref\": \"#/$defs/%s\"}, {\"type\": \"null\"}]"
                        : "\"$ref\": \"#/$defs/%s\"",
                name);
}

static void put_results(sbuf *b, const field *row)
{
    sbuf_puts(b, "\"anyOf\": [");
    for (uint32_t i = 0; row->results[i]; i++)
        sbuf_printf(b, "%s{\"$ref\": \"#/$defs/%s\"}", i ? ", " : "", row->results[i]->name);
    sbuf_puts(b, row_may_be_null(row) ? ", {\"type\": \"null\"}]" : "]");
}

static void put_codec(sbuf *b, const field_codec *codec)
{
    sbuf_put(b, codec->schema + 1, strlen(codec->schema) - 2);
}

static void put_row_type(sbuf *b, const field *row);

static void put_items(sbuf *b, const field *row)
{
    const field *bare = row_bare_item(row);
    sbuf_puts(b, row->kind == FIELD_MAP ? ", \"additionalProperties\": {" : ", \"items\": {");
    if (bare)
        put_row_type(b, bare);
    else if (row->of)
        put_ref(b, row->of->name, false);
    else
        put_type(b,
                 row->kind == FIELD_STRS   ? "string"
                 : row->kind == FIELD_F64S ? "number"
                                           : "integer",
                 row->flags & FIELD_HOLES);
    sbuf_puts(b, "}");
}

/* A number with a unit is not below 0, unless its row says so. */
static bool is_unsigned(const field *row)
{
    bool is_real = row->kind == FIELD_F64 || row->kind == FIELD_NUMBER;
    return row->kind == FIELD_U64 || row->kind == FIELD_U32 ||
           (is_real && row->unit != UNIT_NONE && !(row->flags & FIELD_SIGNED));
}

static void put_number(sbuf *b, const field *row, const char *type)
{
    put_type(b, type, row_may_be_null(row));
    sbuf_puts(b, is_unsigned(row) ? ", \"minimum\": 0" : "");
}

static void put_row_type(sbuf *b, const field *row)
{
    bool or_null = row_may_be_null(row);
    switch (row->kind) {
    case FIELD_U64:
    case FIELD_U32:
    case FIELD_I64:
    case FIELD_INT:
        put_number(b, row, "integer");
        break;
    case FIELD_F64:
    case FIELD_NUMBER:
        put_number(b, row, "number");
        break;
    case FIELD_BOOL:
        if (row->absent == FIELD_OMIT_ZERO)
            sbuf_puts(b, "\"const\": true");
        else
            put_type(b, "boolean", or_null);
        break;
    case FIELD_WORD:
    case FIELD_ENUM:
    case FIELD_EITHER:
    case FIELD_STR:
    case FIELD_CHARS:
        if (row->words)
            put_words(b, row->words, or_null);
        else
            put_type(b, "string", or_null);
        break;
    case FIELD_OBJECT:
        put_ref(b, row->of->name, or_null);
        break;
    case FIELD_RESULT:
        put_results(b, row);
        break;
    case FIELD_CODEC:
        put_codec(b, row->codec);
        break;
    case FIELD_MAP:
        put_type(b, "object", or_null);
        put_items(b, row);
        break;
    default:
        put_type(b, "array", or_null);
        put_items(b, row);
    }
}

/* ---- objects ---- */

typedef struct object_writer {
    sbuf *b;
    int indent;
    uint32_t n, column; /* required keys so far; where the line is */
    const result_kind *kind;
} object_writer;

static void put_property(void *context, const field *row, bool always)
{
    (void)always;
    object_writer *w = context;
    sbuf_printf(w->b, "%s\n%*s", w->n++ ? "," : "", w->indent + 2, "");
    put_text(w->b, row->key);
    sbuf_puts(w->b, ": {\"description\": ");
    put_text(w->b, row->about);
    sbuf_puts(w->b, ", ");
    if (fields_unit(row)) {
        sbuf_puts(w->b, "\"unit\": ");
        put_text(w->b, fields_unit(row));
        sbuf_puts(w->b, ", ");
    }
    if (w->kind && w->kind->word && strcmp(row->key, "kind") == 0)
        sbuf_printf(w->b, "\"const\": \"%s\"", w->kind->word);
    else
        put_row_type(w->b, row);
    sbuf_puts(w->b, "}");
}

static void put_required_key(object_writer *w, const char *key)
{
    uint32_t width = (uint32_t)strlen(key) + 4;
    bool wraps = w->column + width > LINE;
    sbuf_puts(w->b, w->n++ ? "," : "");
    if (wraps)
        sbuf_printf(w->b, "\n%*s", w->indent + 2, "");
    else
        sbuf_puts(w->b, w->n > 1 ? " " : "");
    w->column = (wraps ? (uint32_t)w->indent + 2 : w->column) + width;
    put_text(w->b, key);
}

static void put_required(void *context, const field *row, bool always)
{
    if (row_is_required(row, always))
        put_required_key(context, row->key);
}

/* "type", "properties" and "required" of a struct, or of a document with its "schema". */
static void put_object(sbuf *b, const fields *of, const result_kind *kind, int indent)
{
    object_writer w = {.b = b, .indent = indent, .kind = kind};
    sbuf_printf(b, "%*s\"type\": \"object\",\n%*s\"properties\": {", indent, "", indent, "");
    if (kind) {
        sbuf_printf(b, "\n%*s\"schema\": {\"const\": \"", indent + 2, "");
        put_schema_id(b, kind);
        sbuf_puts(b, "\"}");
        w.n = 1;
    }
    visit_rows(of, put_property, &w);
    sbuf_printf(b, "\n%*s},\n%*s\"required\": [", indent, "", indent, "");
    w.n = 0;
    w.column = (uint32_t)indent + 13;
    if (kind)
        put_required_key(&w, "schema");
    visit_rows(of, put_required, &w);
    sbuf_puts(b, "]");
}

static void put_definitions(sbuf *b, const definitions *d)
{
    if (!d->n)
        return;
    sbuf_puts(b, ",\n  \"$defs\": {");
    for (uint32_t i = 0; i < d->n; i++) {
        sbuf_printf(b, "%s\n    \"%s\": {\n", i ? "," : "", d->items[i].name);
        put_object(b, d->items[i].of, d->items[i].kind, 6);
        sbuf_puts(b, "\n    }");
    }
    sbuf_puts(b, "\n  }");
}

static void put_choice(sbuf *b, const result_kind *const *kinds, uint32_t n)
{
    sbuf_puts(b, "  \"anyOf\": [");
    for (uint32_t i = 0; i < n; i++)
        sbuf_printf(b, "%s{\"$ref\": \"#/$defs/%s\"}", i ? ", " : "", kinds[i]->name);
    sbuf_puts(b, "]");
}

static void put_head(sbuf *b, const result_kind *const *kinds, uint32_t n)
{
    sbuf_puts(b, "{\n  \"$schema\": \"https://json-schema.org/draft/2020-12/schema\",\n"
                 "  \"title\": \"");
    put_schema_id(b, kinds[0]);
    sbuf_puts(b, "\",\n  \"description\": \"Generated by tools/describe_results.");
    for (uint32_t i = 0; i < n; i++)
        sbuf_printf(b, "%s %s", i ? " or" : " The document is", kinds[i]->what);
    sbuf_puts(b, ".\",\n");
}

void put_schema(sbuf *b, const result_kind *const *kinds, uint32_t n)
{
    definitions d = {.n = 0};
    put_head(b, kinds, n);
    if (n == 1) {
        define_parts(&d, kinds[0]);
        put_object(b, kinds[0]->of, kinds[0], 2);
    } else {
        for (uint32_t i = 0; i < n; i++)
            define_kind(&d, kinds[i]);
        put_choice(b, kinds, n);
    }
    put_definitions(b, &d);
    sbuf_puts(b, "\n}\n");
}
