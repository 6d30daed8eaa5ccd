/* A list of a result as CSV (RFC 4180: a header row, CRLF, quotes where needed). Values are those of the JSON
 * document; objects within a row get dotted names, lists are joined by ';', sizes of a shape by 'x'.
 *
 * Columns come from the kind's row, else from the fields flagged FIELD_CSV, else from every plain field. A column
 * that JSON omits when unknown is left out when no row of the list has it.
 */
#include "report/view.h"

#include <string.h>

#include "base/json_tree.h"

enum { COLUMNS_MOST = 256 };

typedef struct csv_column {
    str name;
    str path;            /* from the row; "^x" from the item that the row belongs to, "@index" */
    const char *pattern; /* in place of the path; or NULL */
    str member;          /* of the map at the path; or empty */
} csv_column;

typedef struct csv_row {
    field_value of, outer;
    uint32_t index; /* of it in its list */
} csv_row;

typedef struct csv_table {
    arena *a;
    const fields *of; /* of the items */
    VEC(csv_column) columns;
    VEC(csv_row) rows;
} csv_table;

/* ---- columns ---- */

/* Unknown is also a 0 that JSON has no key or null for. */
static field_value value_at(const csv_row *row, str path)
{
    bool outer = path.n && path.p[0] == '^';
    if (str_is(path, "@index"))
        return (field_value){.type = VALUE_WHOLE, .u = row->index};
    if (str_is(path, "@key"))
        return (field_value){.type = VALUE_TEXT, .text = row->of.key};
    field_value v = outer ? fields_at(&row->outer, (str){path.p + 1, path.n - 1})
                          : fields_at(&row->of, path);
    bool zero = v.row && (v.row->absent == FIELD_OMIT_ZERO || v.row->absent == FIELD_NULL_ZERO);
    return zero && fields_is_number(&v) && !fields_is_set(&v) ? (field_value){0} : v;
}

static bool is_filled(const csv_table *t, str path)
{
    for (uint32_t i = 0; i < t->rows.n; i++)
        if (value_at(&t->rows.items[i], path).type != VALUE_NONE)
            return true;
    return false;
}

static void add_column(csv_table *t, str name, str path)
{
    bool known = t->columns.n == COLUMNS_MOST;
    for (uint32_t i = 0; i < t->columns.n && !known; i++)
        known = str_eq(t->columns.items[i].path, path);
    csv_column *c = known ? NULL : VEC_PUSH(t->a, &t->columns);
    if (c)
        *c = (csv_column){.name = name, .path = path};
}

static str join_path(arena *a, str outer, str key)
{
    return outer.n ? str_printf(a, STR_FMT "." STR_FMT, STR_ARG(outer), STR_ARG(key))
                   : str_copy(a, key);
}

static bool is_optional(const field *f)
{
    return f->absent == FIELD_OMIT || f->absent == FIELD_OMIT_ZERO || f->when_at;
}

static bool is_plain(const field *f)
{
    bool items = f->kind == FIELD_LIST || f->kind == FIELD_MAP;
    return f->kind != FIELD_RESULT && (!items || (f->of->bare && f->kind == FIELD_LIST));
}

static bool has_flags(const fields *f)
{
    for (uint32_t i = 0; i < f->n; i++)
        if (f->rows[i].flags & FIELD_CSV)
            return true;
    return false;
}

static void find_columns(csv_table *t, const fields *f, str outer);

/* Keys of a map are known by its rows alone. */
static void find_keys(csv_table *t, str path)
{
    field_value list = t->rows.n ? value_at(&t->rows.items[0], path) : (field_value){0};
    for (uint32_t i = 0; i < list.n; i++) {
        str name = join_path(t->a, path, fields_item(&list, i).key);
        if (list.of->bare)
            add_column(t, name, name);
        else
            find_columns(t, list.of, name);
    }
}

static void find_columns(csv_table *t, const fields *f, str outer)
{
    bool flagged = has_flags(f);
    for (uint32_t i = 0; i < f->n; i++) {
        const field *row = &f->rows[i];
        str path = row->key ? join_path(t->a, outer, str_of(row->key)) : outer;
        if (flagged && !(row->flags & FIELD_CSV))
            continue;
        if (row->kind == FIELD_OBJECT || row->kind == FIELD_SPLICE)
            find_columns(t, row->of, path);
        else if (row->kind == FIELD_MAP)
            find_keys(t, path);
        else if (is_plain(row) && (!(is_optional(row) || outer.n) || is_filled(t, path)))
            add_column(t, path, path);
    }
}

/* Items of a list may be results of several kinds. */
static void find_all_columns(csv_table *t, const fields *of)
{
    if (!of->bare)
        find_columns(t, of, (str){0});
    for (uint32_t i = 0; of->bare && i < t->rows.n; i++)
        if (i == 0 || t->rows.items[i].of.of != t->rows.items[i - 1].of.of)
            find_columns(t, t->rows.items[i].of.of, (str){0});
}

/* ---- values ---- */

static void put_scalar(sbuf *b, const json_value *v)
{
    if (v->kind == JSON_NULL)
        sbuf_putc(b, '?');
    else
        sbuf_str(b, v->s);
}

static void put_items(sbuf *b, const json_value *list, const char *between)
{
    for (uint32_t i = 0; i < list->n; i++) {
        sbuf_puts(b, i ? between : "");
        if (list->items[i].kind == JSON_LIST)
            put_items(b, &list->items[i], "x");
        else
            put_scalar(b, &list->items[i]);
    }
}

/* A shape, a list of shapes or of names: what its JSON has. */
static void put_codec(arena *a, sbuf *b, const field_value *v)
{
    static const json_tree_options lenient = {.lenient = true}; /* names may hold a NUL */
    json_writer w;
    json_value tree;
    assay_error ignored;
    sbuf text = {0};
    bool shape;
    json_begin(&w, &text, 0);
    v->row->codec->write(&w, v->at);
    const str json = {sbuf_cstr(&text), (uint32_t)text.n};
    if (json_tree_parse(json, "", &lenient, a, &tree, &ignored) != ASSAY_OK)
        b->failed = true;
    else if (tree.kind == JSON_LIST) {
        shape = tree.n && json_is_number(&tree.items[0]);
        put_items(b, &tree, shape ? "x" : ";");
    } else if (tree.kind != JSON_NULL) {
        put_scalar(b, &tree);
    }
    sbuf_free(&text);
}

static void put_value(arena *a, sbuf *b, const field_value *v)
{
    if (v->type == VALUE_CODEC) {
        put_codec(a, b, v);
        return;
    }
    for (uint32_t i = 0; v->type == VALUE_LIST && i < v->n; i++) {
        field_value item = fields_item(v, i);
        sbuf_puts(b, i ? ";" : "");
        fields_print(b, &item);
    }
    if (v->type != VALUE_LIST)
        fields_print(b, v);
}

/* A text may need quotes, a number must stay one. */
static void put_cell(arena *a, sbuf *out, const field_value *v)
{
    sbuf cell = {0};
    put_value(a, &cell, v);
    str s = {sbuf_cstr(&cell), (uint32_t)cell.n};
    if (fields_is_number(v) || v->type == VALUE_BOOL)
        sbuf_str(out, s);
    else
        report_csv_field(out, s);
    out->failed |= cell.failed;
    sbuf_free(&cell);
}

static void put_header(const csv_table *t, sbuf *out)
{
    for (uint32_t c = 0; c < t->columns.n; c++) {
        sbuf_puts(out, c ? "," : "");
        report_csv_field(out, t->columns.items[c].name);
    }
    sbuf_puts(out, "\r\n");
}

static void put_column(const view *v, const csv_column *c, const csv_row *row, sbuf *out)
{
    field_value value = value_at(row, c->path);
    if (c->member.n)
        value = fields_member(&value, c->member);
    if (c->pattern)
        report_csv_field(out, view_text(v, &row->of, c->pattern));
    else
        put_cell(v->a, out, &value);
}

static void put_row(const view *v, const csv_table *t, const csv_row *row, sbuf *out)
{
    for (uint32_t c = 0; c < t->columns.n; c++) {
        sbuf_puts(out, c ? "," : "");
        put_column(v, &t->columns.items[c], row, out);
    }
    sbuf_puts(out, "\r\n");
}

/* ---- which list ---- */

static bool is_asked_for(const view *v, const view_csv_row *row)
{
    if (v->o->rows)
        return str_is(str_of(v->o->rows), row->name);
    return !row->in || (v->o->view && str_in_list(str_of(v->o->view), row->in, ' '));
}

static bool has_rows(const view *v, const view_csv_row *row)
{
    field_value list = fields_get(&v->root, row->path);
    field_value item = *row->path ? fields_item(&list, 0) : list;
    str inner = str_of(row->inner), first;
    return list.n && (!str_split(&inner, ' ', &first) || fields_at(&item, first).n);
}

/* The first that the result holds; else the last by that name, or the first of all, for its header row. */
static const view_csv_row *choose_list(const view *v)
{
    const view_csv_row *empty = NULL;
    for (uint32_t i = 0; i < v->kind->n_csv; i++) {
        const view_csv_row *row = &v->kind->csv[i];
        if (!is_asked_for(v, row))
            continue;
        if (has_rows(v, row))
            return row;
        if (v->o->rows || (!empty && !row->in))
            empty = row;
    }
    return empty;
}

static const char *first_table(const view *v)
{
    for (uint32_t i = 0; i < v->kind->n_sections; i++)
        for (uint32_t k = 0; k < v->kind->sections[i].n_tables; k++) {
            const view_table_row *t = &v->kind->sections[i].tables[k];
            if (!t->each && fields_get(&v->root, t->path).n)
                return t->path;
        }
    return "";
}

static void add_row(csv_table *t, uint32_t index, field_value of, field_value outer)
{
    csv_row *row = of.type == VALUE_OBJECT ? VEC_PUSH(t->a, &t->rows) : NULL;
    if (row)
        *row = (csv_row){.of = of, .outer = outer, .index = index};
}

/* Items of a list of the item, or objects of it. */
static void add_inner_rows(csv_table *t, const field_value *item, const char *inner)
{
    str paths = str_of(inner), path;
    for (uint32_t n = 0; str_split(&paths, ' ', &path); n++) {
        field_value within = fields_at(item, path);
        if (within.type == VALUE_OBJECT)
            add_row(t, n, within, *item);
        for (uint32_t k = 0; within.type == VALUE_LIST && k < within.n; k++)
            add_row(t, k, fields_item(&within, k), *item);
    }
}

static void gather_rows(const view *v, csv_table *t, const field_value *list,
                        const view_csv_row *chosen)
{
    bool whole = chosen && !*chosen->path;
    for (uint32_t i = 0; i < (whole ? 1 : list->n); i++) {
        field_value item = whole ? *list : fields_item(list, i);
        if (chosen && !view_holds(v, &item, chosen->when))
            continue;
        if (chosen && chosen->inner)
            add_inner_rows(t, &item, chosen->inner);
        else
            add_row(t, i, item, v->root);
    }
}

/* A column for each key of a map. */
static void choose_members(csv_table *t, const char *each)
{
    field_value list = t->rows.n ? value_at(&t->rows.items[0], str_of(each)) : (field_value){0};
    for (uint32_t i = 0; i < list.n; i++) {
        csv_column *c = VEC_PUSH(t->a, &t->columns);
        str key = str_copy(t->a, fields_item(&list, i).key);
        if (c)
            *c = (csv_column){.name = key, .path = str_of(each), .member = key};
    }
}

static void choose_column(const view *v, csv_table *t, const view_column *of)
{
    if (!view_holds(v, &v->root, of->when) || (of->drop && !is_filled(t, str_of(of->cell))))
        return;
    if (of->each) {
        choose_members(t, of->each);
        return;
    }
    csv_column *c = VEC_PUSH(t->a, &t->columns);
    bool is_pattern = strchr(of->cell, '{') != NULL;
    if (c)
        *c = (csv_column){.name = view_text(v, &v->root, of->title),
                          .path = is_pattern ? (str){0} : str_of(of->cell),
                          .pattern = is_pattern ? of->cell : NULL};
}

static assay_status no_list(const view *v, assay_error *err)
{
    const char *rows = v->o->rows;
    return err_fail(err, ASSAY_ERR_USAGE, "%s has no list%s%.60s to write as CSV", v->what,
                    rows ? " " : "", rows ? rows : "");
}

assay_status view_write_csv(const view *v, sbuf *out, assay_error *err)
{
    const view_csv_row *chosen = choose_list(v);
    const char *path = chosen ? chosen->path : v->o->rows ? v->o->rows : first_table(v);
    const field *list_row = fields_find(v->root.of, str_of(path));
    field_value list = fields_get(&v->root, path);
    csv_table t = {.a = v->a};
    if (chosen && chosen->write) {
        chosen->write(v, out);
        return out->failed ? err_no_memory(err) : ASSAY_OK;
    }
    bool is_whole = chosen && !*chosen->path;
    if (!is_whole && (!list_row || !list_row->of))
        return no_list(v, err);
    bool keyed = !is_whole && (list_row->kind == FIELD_OBJECT || list_row->kind == FIELD_MAP);
    gather_rows(v, &t, &list, chosen);
    for (uint32_t i = 0; chosen && i < chosen->n_columns; i++)
        choose_column(v, &t, &chosen->columns[i]);
    if (!t.columns.n && keyed)
        add_column(&t, STR("name"), STR("@key"));
    if (!chosen || !chosen->n_columns)
        find_all_columns(&t, list_row->of);
    put_header(&t, out);
    for (uint32_t r = 0; r < t.rows.n && !out->failed; r++)
        put_row(v, &t, &t.rows.items[r], out);
    return arena_failed(v->a) || out->failed ? err_no_memory(err) : ASSAY_OK;
}
