/* Rows and structs as schema, types and docs see them; see describe.h. */
#include "describe.h"

#include <string.h>

/* ---- rows ---- */

static bool struct_is_always_there(const field *row)
{
    return !row->when_at && !row->by_pointer && !row->of->present_at;
}

static void visit_rows_of(const fields *f, bool always, row_visit *visit, void *context)
{
    for (uint32_t i = 0; i < f->n; i++) {
        const field *row = &f->rows[i];
        if (row->kind == FIELD_SPLICE)
            visit_rows_of(row->of, always && struct_is_always_there(row), visit, context);
        else
            visit(context, row, always);
    }
}

void visit_rows(const fields *f, row_visit *visit, void *context)
{
    visit_rows_of(f, true, visit, context);
}

bool row_is_required(const field *row, bool always)
{
    if (!always || row->when_at || row->absent == FIELD_OMIT || row->absent == FIELD_OMIT_ZERO)
        return false;
    return row->kind != FIELD_OBJECT || row->absent == FIELD_NULL || struct_is_always_there(row);
}

bool row_may_be_null(const field *row)
{
    return row->absent == FIELD_NULL || row->absent == FIELD_NULL_ZERO;
}

const field *row_bare_item(const field *row)
{
    bool is_list = row->kind == FIELD_LIST || row->kind == FIELD_MAP;
    return is_list && row->of->bare ? row->of->rows : NULL;
}

/* ---- definitions ---- */

static bool add_definition(definitions *d, definition new)
{
    for (uint32_t i = 0; i < d->n; i++) {
        if (strcmp(d->items[i].name, new.name) != 0)
            continue;
        if (d->items[i].of != new.of)
            d->clash = new.name;
        return false;
    }
    if (d->n == DEFINITIONS_MAX) {
        d->clash = new.name;
        return false;
    }
    d->items[d->n++] = new;
    return true;
}

static void define_row(void *context, const field *row, bool always);

static void define_results(definitions *d, const field *row)
{
    for (const result_kind *const *k = row->results; k && *k; k++)
        define_kind(d, *k);
}

static void define_row(void *context, const field *row, bool always)
{
    (void)always;
    const field *bare = row_bare_item(row);
    if (bare)
        define_row(context, bare, true);
    else if (row->kind == FIELD_RESULT)
        define_results(context, row);
    else if (row->of && add_definition(context, (definition){row->of->name, row->of, NULL}))
        visit_rows(row->of, define_row, context);
}

void define_parts(definitions *d, const result_kind *kind)
{
    visit_rows(kind->of, define_row, d);
}

void define_kind(definitions *d, const result_kind *kind)
{
    if (add_definition(d, (definition){kind->name, kind->of, kind}))
        define_parts(d, kind);
}

void put_schema_id(sbuf *b, const result_kind *kind)
{
    sbuf_printf(b, "%s/%u", kind->schema, kind->version);
}
