/* A view for programs: JSON for the page, and the document's own table as CSV (values as they are written, objects
 * within a row by dotted names, lists of plain values joined by ';'). */
#include "base/json_write.h"
#include "report/view.h"

/* ---- json ---- */

static void key_tone(json_writer *w, view_tone tone)
{
    key_cstr(w, "tone", view_tone_names[tone]);
}

static void json_facts(json_writer *w, const view_group *g)
{
    json_object(w);
    if (g->title)
        key_cstr(w, "title", g->title);
    json_key(w, "facts");
    json_array(w);
    for (uint32_t i = 0; i < g->facts.n; i++) {
        const view_fact *f = &g->facts.items[i];
        json_object(w);
        key_str(w, "name", f->name);
        key_str(w, "value", f->value);
        if (f->note.n)
            key_str(w, "note", f->note);
        if (f->verdict.n)
            key_str(w, "verdict", f->verdict);
        key_tone(w, f->tone);
        json_end(w);
    }
    json_end(w);
    json_end(w);
}

static void json_table(json_writer *w, const view_table *t)
{
    json_object(w);
    key_str(w, "title", t->title);
    key_bool(w, "first", t->first);
    json_key(w, "columns");
    json_array(w);
    for (uint32_t c = 0; c < t->n_columns; c++) {
        json_object(w);
        key_str(w, "name", t->heads[c]);
        key_bool(w, "number", t->right[c]);
        json_end(w);
    }
    json_end(w);
    json_key(w, "rows");
    json_array(w);
    for (uint32_t r = 0; r < t->n_rows; r++) {
        json_array(w);
        for (uint32_t c = 0; c < t->n_columns; c++)
            json_str(w, t->cells[(size_t)r * t->n_columns + c]);
        json_end(w);
    }
    json_end(w);
    json_key(w, "marks");
    json_array(w);
    for (uint32_t r = 0; r < t->n_rows; r++)
        json_cstr(w, view_tone_names[t->marks[r]]);
    json_end(w);
    json_end(w);
}

static void json_cut(json_writer *w, const view *v, const view_table *t)
{
    if (t->n_rows < t->n_listed)
        json_str(w, str_printf(v->a, STR_FMT ": the first %u of %u rows; JSON has all of them.",
                               STR_ARG(t->title), t->n_rows, t->n_listed));
}

static void json_sentences(json_writer *w, const view *v)
{
    json_key(w, "banners");
    json_array(w);
    for (uint32_t i = 0; i < v->banners.n; i++) {
        json_object(w);
        key_str(w, "text", v->banners.items[i].text);
        key_tone(w, v->banners.items[i].tone);
        json_end(w);
    }
    json_end(w);
    json_key(w, "remarks");
    json_array(w);
    for (uint32_t i = 0; i < v->remarks.n; i++)
        json_str(w, v->remarks.items[i]);
    for (uint32_t i = 0; i < v->tables.n; i++)
        json_cut(w, v, &v->tables.items[i]);
    json_end(w);
}

void view_write_json(const view *v, sbuf *out)
{
    json_writer w;
    json_begin(&w, out, 0);
    json_object(&w);
    key_str(&w, "title", v->title);
    key_str(&w, "under", v->under);
    json_sentences(&w, v);
    json_key(&w, "groups");
    json_array(&w);
    for (uint32_t i = 0; i < v->groups.n; i++)
        json_facts(&w, &v->groups.items[i]);
    json_end(&w);
    json_key(&w, "tables");
    json_array(&w);
    for (uint32_t i = 0; i < v->tables.n; i++)
        json_table(&w, &v->tables.items[i]);
    json_end(&w);
    json_end(&w);
}

/* ---- csv ---- */

enum { COLUMNS_MOST = 128 };

/* Keys from the row down to a value: a key may have dots in it, so that a name is no path. */
typedef struct csv_path {
    const struct csv_path *outer; /* NULL: the row */
    str key;
} csv_path;

typedef struct csv_columns {
    arena *a;
    VEC(csv_path) list;
} csv_columns;

static bool is_same_path(const csv_path *a, const csv_path *b)
{
    for (; a && b && str_eq(a->key, b->key); a = a->outer)
        b = b->outer;
    return !a && !b;
}

static bool is_known(const csv_columns *c, const csv_path *path)
{
    for (uint32_t i = 0; i < c->list.n; i++)
        if (is_same_path(&c->list.items[i], path))
            return true;
    return false;
}

static const csv_path *keep_path(arena *a, const csv_path *path)
{
    csv_path *kept = path ? ARENA_NEW(a, csv_path) : NULL;
    if (kept)
        *kept = (csv_path){.outer = keep_path(a, path->outer), .key = path->key};
    return kept;
}

static void add_column(csv_columns *c, const csv_path *path)
{
    csv_path *slot = c->list.n < COLUMNS_MOST && !is_known(c, path) ? VEC_PUSH(c->a, &c->list)
                                                                    : NULL;
    if (slot)
        *slot = (csv_path){.outer = keep_path(c->a, path->outer), .key = path->key};
}

static const json_value *value_at(const json_value *row, const csv_path *path)
{
    return view_member(path->outer ? value_at(row, path->outer) : row, path->key);
}

static void put_name(sbuf *b, const csv_path *path)
{
    if (path->outer) {
        put_name(b, path->outer);
        sbuf_putc(b, '.');
    }
    sbuf_str(b, path->key);
}

static bool is_plain_list(const json_value *v)
{
    for (uint32_t i = 0; i < v->n; i++)
        if (v->items[i].kind == JSON_LIST || v->items[i].kind == JSON_OBJECT)
            return false;
    return v->kind == JSON_LIST;
}

static void find_columns(csv_columns *c, const json_value *row, const csv_path *outer)
{
    for (uint32_t i = 0; i < row->n; i++) {
        const json_value *v = &row->items[i];
        const csv_path path = {.outer = outer, .key = v->key};
        if (v->kind == JSON_OBJECT)
            find_columns(c, v, &path);
        else if (v->kind != JSON_NULL && (v->kind != JSON_LIST || is_plain_list(v)))
            add_column(c, &path);
    }
}

/* Ends the field; a text may need quotes, a number must stay one. */
static void put_field(sbuf *out, sbuf *field, bool is_text)
{
    str s = {field->p, (uint32_t)field->n};
    if (is_text)
        report_csv_field(out, s);
    else
        sbuf_str(out, s);
    out->failed |= field->failed;
    sbuf_free(field);
}

static void put_plain(sbuf *b, const json_value *v)
{
    if (v->kind == JSON_BOOL)
        sbuf_puts(b, v->f != 0 ? "true" : "false");
    else
        sbuf_str(b, v->s);
}

static void put_cell(sbuf *out, const json_value *v)
{
    sbuf field = {0};
    if (v->kind != JSON_LIST)
        put_plain(&field, v);
    for (uint32_t i = 0; is_plain_list(v) && i < v->n; i++) {
        sbuf_puts(&field, i ? ";" : "");
        put_plain(&field, &v->items[i]);
    }
    put_field(out, &field, v->kind == JSON_TEXT || v->kind == JSON_LIST);
}

static void put_names(const csv_columns *n, bool keyed, sbuf *out)
{
    sbuf_puts(out, keyed ? "name" : "");
    for (uint32_t c = 0; c < n->list.n; c++) {
        sbuf name = {0};
        sbuf_puts(out, c || keyed ? "," : "");
        put_name(&name, &n->list.items[c]);
        put_field(out, &name, true);
    }
    sbuf_puts(out, "\r\n");
}

static void put_rows(const csv_columns *n, const json_value *list, bool keyed, sbuf *out)
{
    for (uint32_t r = 0; r < list->n; r++) {
        if (keyed)
            report_csv_field(out, list->items[r].key);
        for (uint32_t c = 0; c < n->list.n; c++) {
            sbuf_puts(out, c || keyed ? "," : "");
            put_cell(out, value_at(&list->items[r], &n->list.items[c]));
        }
        sbuf_puts(out, "\r\n");
    }
}

static const json_value *list_of(const view *v, const char *rows)
{
    const view_kind *k = v->kind;
    if (rows)
        return json_path(&v->document, rows);
    for (uint32_t i = 0; k && i < k->n_tables; i++) {
        const json_value *list = k->tables[i].each ? NULL
                                                   : json_path(&v->document, k->tables[i].path);
        if (list && list->n && list->items)
            return list;
    }
    for (uint32_t i = 0; !k && i < v->document.n; i++)
        if (v->document.items[i].kind == JSON_LIST)
            return &v->document.items[i];
    return json_path(&v->document, "rows");
}

assay_status view_write_csv(const view *v, const char *rows, sbuf *out, assay_error *err)
{
    const json_value *list = list_of(v, rows);
    csv_columns columns = {.a = v->a};
    bool keyed = list->kind == JSON_OBJECT;
    if (!list->items || list->items[0].kind != JSON_OBJECT)
        return err_fail(err, ASSAY_ERR_USAGE, "There is no table%s%.60s in %s that could be CSV.",
                        rows ? " " : "", rows ? rows : "", v->what ? v->what : "the document");
    for (uint32_t i = 0; i < list->n; i++)
        find_columns(&columns, &list->items[i], NULL);
    if (arena_failed(v->a))
        return err_no_memory(err);
    put_names(&columns, keyed, out);
    put_rows(&columns, list, keyed, out);
    return ASSAY_OK;
}
