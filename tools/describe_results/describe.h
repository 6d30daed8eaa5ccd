/* Writes what is derived from the field tables of results (base/fields.h): the JSON Schema files, the key tables of
 * docs/json.md and the types of the page.
 */
#ifndef DESCRIBE_RESULTS_DESCRIBE_H
#define DESCRIBE_RESULTS_DESCRIBE_H

#include "base/result.h"

/* ---- rows (rows.c) ---- */

/* Calls `visit` for every key of an object, with the rows of splices in their place. `always`: whether the row's
 * struct is always there. */
typedef void row_visit(void *context, const field *row, bool always);
void visit_rows(const fields *f, row_visit *visit, void *context);

/* Whether every document has the key, and whether its value may be null. */
bool row_is_required(const field *row, bool always);
bool row_may_be_null(const field *row);
/* The row that stands for the items of a list or map of bare structs; else NULL. */
const field *row_bare_item(const field *row);

/* ---- definitions (rows.c) ---- */

/* Struct tables that have a name in schema and types: each once, in the order of their first use. */
typedef struct definition {
    const char *name;
    const fields *of;
    const result_kind *kind; /* a whole document; else NULL */
} definition;

enum { DEFINITIONS_MAX = 512 };

typedef struct definitions {
    definition items[DEFINITIONS_MAX];
    uint32_t n;
    const char *clash; /* a name that two tables have */
} definitions;

/* Adds a document and all structs below it. */
void define_kind(definitions *d, const result_kind *kind);
/* The same without the document itself. */
void define_parts(definitions *d, const result_kind *kind);

/* ---- output ---- */

/* "assay.profile/1" */
void put_schema_id(sbuf *b, const result_kind *kind);
/* The JSON Schema of the `n` kinds that have one schema in common. */
void put_schema(sbuf *b, const result_kind *const *kinds, uint32_t n);
/* web/src/types.ts */
void put_typescript(sbuf *b, const result_kind *const *kinds, uint32_t n);
/* docs/json.md: `page` with the tables between its marks replaced; a kind without marks is added at the end. */
void put_markdown(sbuf *b, str page, const result_kind *const *kinds, uint32_t n);

/* The table of names of weights (names.c). */
assay_status put_zoo_names(sbuf *b, assay_error *err);

#endif
