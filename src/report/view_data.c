/* A view for programs: JSON for the page, and the document's own table as CSV (values as they are written, objects
 * within a row by dotted names, lists of plain values joined). */
#include "base/json_write.h"
#include "report/view.h"

/* ---- json ---- */

static void key_str(json_writer *w, const char *key, str s)
{
    json_key(w, key);
    json_str(w, s);
}

static void key_tone(json_writer *w, view_tone tone)
{
    json_key(w, "tone");
    json_cstr(w, view_tone_names[tone]);
}

static void json_facts(json_writer *w, const view_group *g)
{
    json_object(w);
    if (g->title) {
        json_key(w, "title");
        json_cstr(w, g->title);
    }
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
    json_key(w, "title");
    json_cstr(w, t->title);
    json_key(w, "first");
    json_bool(w, t->first);
    json_key(w, "columns");
    json_array(w);
    for (uint32_t c = 0; c < t->n_columns; c++) {
        json_object(w);
        key_str(w, "name", t->heads[c]);
        json_key(w, "number");
        json_bool(w, t->right[c]);
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

enum { COLUMNS_MOST = 128, NAME_BYTES = 160 };

typedef struct csv_names {
    arena *a;
    VEC(str) list;
} csv_names;

static bool is_known(const csv_names *n, str name)
{
    for (uint32_t i = 0; i < n->list.n; i++)
        if (str_eq(n->list.items[i], name))
            return true;
    return false;
}

static bool is_plain_list(const doc_value *v)
{
    for (uint32_t i = 0; i < v->n; i++)
        if (v->items[i].kind == DOC_LIST || v->items[i].kind == DOC_OBJECT)
            return false;
    return v->kind == DOC_LIST;
}

static void name_columns(csv_names *n, const doc_value *row, str prefix)
{
    for (uint32_t i = 0; i < row->n; i++) {
        const doc_value *v = &row->items[i];
        str name = str_printf(n->a, STR_FMT "%s" STR_FMT, STR_ARG(prefix), prefix.n ? "." : "",
                              STR_ARG(v->key));
        if (v->kind == DOC_OBJECT)
            name_columns(n, v, name);
        else if (v->kind != DOC_NONE && (v->kind != DOC_LIST || is_plain_list(v)) &&
                 n->list.n < COLUMNS_MOST && name.n < NAME_BYTES && !is_known(n, name)) {
            str *slot = VEC_PUSH(n->a, &n->list);
            if (slot)
                *slot = name;
        }
    }
}

static void put_cell(sbuf *out, const doc_value *v)
{
    sbuf joined = {0};
    if (v->kind == DOC_BOOL)
        sbuf_puts(out, v->number != 0 ? "true" : "false");
    else if (v->kind == DOC_NUMBER)
        sbuf_str(out, v->text);
    else if (v->kind == DOC_TEXT)
        report_csv_field(out, v->text);
    for (uint32_t i = 0; v->kind == DOC_LIST && i < v->n; i++)
        sbuf_printf(&joined, "%s" STR_FMT, i ? " " : "", STR_ARG(v->items[i].text));
    if (joined.n)
        report_csv_field(out, (str){joined.p, (uint32_t)joined.n});
    sbuf_free(&joined);
}

static void put_rows(const csv_names *n, const doc_value *list, bool keyed, sbuf *out)
{
    for (uint32_t c = 0; c < n->list.n; c++) {
        sbuf_puts(out, c || keyed ? "," : "");
        report_csv_field(out, n->list.items[c]);
    }
    sbuf_puts(out, "\r\n");
    for (uint32_t r = 0; r < list->n; r++) {
        if (keyed)
            report_csv_field(out, list->items[r].key);
        for (uint32_t c = 0; c < n->list.n; c++) {
            sbuf_puts(out, c || keyed ? "," : "");
            put_cell(out, doc_at(&list->items[r], n->list.items[c]));
        }
        sbuf_puts(out, "\r\n");
    }
}

static const doc_value *list_of(const view *v, const char *rows)
{
    const view_kind *k = v->kind;
    if (rows)
        return doc_get(&v->document, rows);
    for (uint32_t i = 0; k && i < k->n_tables; i++) {
        const doc_value *list = k->tables[i].each ? NULL : doc_get(&v->document, k->tables[i].path);
        if (list && list->n && list->items)
            return list;
    }
    for (uint32_t i = 0; !k && i < v->document.n; i++)
        if (v->document.items[i].kind == DOC_LIST)
            return &v->document.items[i];
    return doc_get(&v->document, "rows");
}

assay_status view_write_csv(const view *v, const char *rows, sbuf *out, assay_error *err)
{
    const doc_value *list = list_of(v, rows);
    csv_names names = {.a = v->a};
    bool keyed = list->kind == DOC_OBJECT;
    if (!list->items || list->items[0].kind != DOC_OBJECT)
        return err_fail(err, ASSAY_ERR_USAGE, "There is no table%s%.60s in %s that could be CSV.",
                        rows ? " " : "", rows ? rows : "", v->what ? v->what : "the document");
    for (uint32_t i = 0; i < list->n; i++)
        name_columns(&names, &list->items[i], (str){0});
    if (keyed)
        sbuf_puts(out, "name");
    put_rows(&names, list, keyed, out);
    return arena_failed(v->a) ? err_no_memory(err) : ASSAY_OK;
}
