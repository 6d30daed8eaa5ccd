/* A list of a result as CSV: values as JSON has them, objects within a row by dotted names, lists of plain values
 * joined by ';'. Columns come from the kind's rows, else from the field tables; a column that no row fills is left
 * out. */
#include <string.h>

#include "report/view.h"

enum { COLUMNS_MOST = 256 };

typedef struct csv_column {
    str name;
    str path;            /* from the row */
    const char *pattern; /* in place of the path; or NULL */
} csv_column;

typedef struct csv_table {
    arena *a;
    field_value list;
    VEC(csv_column) columns;
} csv_table;

/* ---- columns ---- */

static bool is_plain_list(const field_value *v)
{
    return v->type == VALUE_LIST && v->row->kind != FIELD_MAP && (!v->of || v->of->bare);
}

static bool is_filled(const csv_table *t, str path)
{
    for (uint32_t i = 0; i < t->list.n; i++) {
        field_value row = fields_item(&t->list, i);
        if (fields_at(&row, path).type != VALUE_NONE)
            return true;
    }
    return false;
}

static str join_path(arena *a, str outer, str key)
{
    return outer.n ? str_printf(a, STR_FMT "." STR_FMT, STR_ARG(outer), STR_ARG(key))
                   : str_copy(a, key);
}

static void add_column(csv_table *t, str name, str path)
{
    bool known = false;
    for (uint32_t i = 0; i < t->columns.n; i++)
        known |= str_eq(t->columns.items[i].path, path);
    csv_column *c = known || t->columns.n == COLUMNS_MOST || !is_filled(t, path)
                        ? NULL
                        : VEC_PUSH(t->a, &t->columns);
    if (c)
        *c = (csv_column){.name = name, .path = path};
}

static void find_columns(csv_table *t, const field_value *v, str path);

static void find_members(csv_table *t, const field_value *v, str outer)
{
    for (uint32_t i = 0; i < v->n; i++) {
        field_value member = fields_item(v, i);
        bool spliced = member.row && member.row->kind == FIELD_SPLICE;
        find_columns(t, &member, spliced ? outer : join_path(t->a, outer, member.key));
    }
}

/* Of one row; the columns of a list are those of all its rows, in the order in which they appear. */
static void find_columns(csv_table *t, const field_value *v, str path)
{
    bool is_map = v->type == VALUE_LIST && v->row->kind == FIELD_MAP;
    if (v->type == VALUE_OBJECT || is_map)
        find_members(t, v, path);
    else if (v->type != VALUE_NONE && (v->type != VALUE_LIST || is_plain_list(v)))
        add_column(t, path, path);
}

/* ---- rows ---- */

static void put_value(sbuf *cell, const field_value *v)
{
    for (uint32_t i = 0; is_plain_list(v) && i < v->n; i++) {
        field_value item = fields_item(v, i);
        sbuf_puts(cell, i ? ";" : "");
        fields_print(cell, &item);
    }
    if (v->type != VALUE_LIST)
        fields_print(cell, v);
}

/* A text may need quotes, a number must stay one. */
static void put_cell(sbuf *out, const field_value *v)
{
    sbuf cell = {0};
    put_value(&cell, v);
    str s = {sbuf_cstr(&cell), (uint32_t)cell.n};
    if (fields_is_number(v) || v->type == VALUE_BOOL)
        sbuf_str(out, s);
    else
        report_csv_field(out, s);
    out->failed |= cell.failed;
    sbuf_free(&cell);
}

static void put_names(const csv_table *t, bool keyed, sbuf *out)
{
    sbuf_puts(out, keyed ? "name" : "");
    for (uint32_t c = 0; c < t->columns.n; c++) {
        sbuf_puts(out, c || keyed ? "," : "");
        report_csv_field(out, t->columns.items[c].name);
    }
    sbuf_puts(out, "\r\n");
}

static void put_column(const view *v, const csv_column *c, const field_value *row, sbuf *out)
{
    sbuf text = {0};
    field_value value = fields_at(row, c->path);
    if (!c->pattern) {
        put_cell(out, &value);
        return;
    }
    view_put(v, &text, row, c->pattern);
    report_csv_field(out, (str){sbuf_cstr(&text), (uint32_t)text.n});
    out->failed |= text.failed;
    sbuf_free(&text);
}

static void put_rows(const view *v, const csv_table *t, bool keyed, sbuf *out)
{
    for (uint32_t r = 0; r < t->list.n; r++) {
        field_value row = fields_item(&t->list, r);
        if (keyed)
            report_csv_field(out, row.key);
        for (uint32_t c = 0; c < t->columns.n; c++) {
            sbuf_puts(out, c || keyed ? "," : "");
            put_column(v, &t->columns.items[c], &row, out);
        }
        sbuf_puts(out, "\r\n");
    }
}

/* ---- which list ---- */

static const view_csv_row *named_list(const view_kind *k, const char *name)
{
    for (uint32_t i = 0; i < k->n_csv; i++)
        if (!name || str_is(str_of(name), k->csv[i].name))
            return &k->csv[i];
    return NULL;
}

static const char *first_table(const view *v)
{
    for (uint32_t i = 0; i < v->kind->n_sections; i++)
        for (uint32_t k = 0; k < v->kind->sections[i].n_tables; k++) {
            const view_table_row *t = &v->kind->sections[i].tables[k];
            if (!t->each && fields_get(&v->root, t->path).n)
                return t->path;
        }
    return "rows";
}

static void choose_column(const view *v, csv_table *t, const view_column *of)
{
    csv_column *c = VEC_PUSH(t->a, &t->columns);
    bool is_pattern = strchr(of->cell, '{') != NULL;
    if (c)
        *c = (csv_column){.name = view_text(v, &v->root, of->title),
                          .path = is_pattern ? (str){0} : str_of(of->cell),
                          .pattern = is_pattern ? of->cell : NULL};
}

static void choose_columns(const view *v, csv_table *t, const view_csv_row *row)
{
    for (uint32_t i = 0; row && i < row->n_columns; i++)
        choose_column(v, t, &row->columns[i]);
    for (uint32_t i = 0; !(row && row->n_columns) && i < t->list.n; i++) {
        field_value item = fields_item(&t->list, i);
        find_columns(t, &item, (str){0});
    }
}

assay_status view_write_csv(const view *v, sbuf *out, assay_error *err)
{
    const char *rows = v->o->rows;
    const view_csv_row *named = named_list(v->kind, rows);
    csv_table t = {.a = v->a};
    t.list = fields_get(&v->root, named ? named->path : rows ? rows : first_table(v));
    bool keyed = t.list.type == VALUE_OBJECT || (t.list.row && t.list.row->kind == FIELD_MAP);
    bool is_table = t.list.n && fields_item(&t.list, 0).type == VALUE_OBJECT;
    if (!is_table && !(named && named->n_columns))
        return err_fail(err, ASSAY_ERR_USAGE, "%s has no table%s%.60s to write as CSV", v->what,
                        rows ? " " : "", rows ? rows : "");
    choose_columns(v, &t, named);
    if (arena_failed(v->a))
        return err_no_memory(err);
    put_names(&t, keyed, out);
    put_rows(v, &t, keyed, out);
    return ASSAY_OK;
}
