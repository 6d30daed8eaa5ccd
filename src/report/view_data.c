/* A view as JSON for the page. Sections become groups of facts and tables. */
#include "base/json_write.h"
#include "report/view.h"

static void key_tone(json_writer *w, view_tone tone)
{
    key_cstr(w, "tone", view_tone_names[tone]);
}

static void json_fact(json_writer *w, const view_fact *f)
{
    json_object(w);
    key_str(w, "name", f->name);
    key_str(w, "value", f->value);
    if (f->note.n)
        key_str(w, "note", f->note);
    if (f->verdict.n)
        key_str(w, "verdict", f->verdict);
    if (f->exact.n)
        key_str(w, "exact", f->exact);
    key_tone(w, f->tone);
    json_end(w);
}

static void json_facts(json_writer *w, const view_section *s, const view_part *p)
{
    json_object(w);
    if (s->title.n)
        key_str(w, "title", s->title);
    if (s->remark.n)
        key_str(w, "remark", s->remark);
    key_bool(w, "first", s->first);
    json_key(w, "facts");
    json_array(w);
    for (uint32_t i = 0; i < p->facts.n; i++)
        json_fact(w, &p->facts.items[i]);
    json_end(w);
    json_end(w);
}

static void json_columns(json_writer *w, const view_table *t)
{
    json_key(w, "columns");
    json_array(w);
    for (uint32_t c = 0; c < t->n_columns; c++) {
        if (t->heads[c].bar)
            continue;
        json_object(w);
        key_str(w, "name", t->heads[c].title);
        key_bool(w, "number", t->heads[c].right);
        json_end(w);
    }
    json_end(w);
}

static void json_row(json_writer *w, const view_table *t, uint32_t r)
{
    json_array(w);
    for (uint32_t c = 0; c < t->n_columns; c++)
        if (!t->heads[c].bar)
            json_str(w, t->cells[(size_t)r * t->n_columns + c]);
    json_end(w);
}

static void json_table(json_writer *w, const view_section *s, const view_part *p)
{
    const view_table *t = &p->table;
    json_object(w);
    key_str(w, "title", s->title);
    key_bool(w, "first", s->first);
    json_columns(w, t);
    json_key(w, "rows");
    json_array(w);
    for (uint32_t r = 0; r < t->n_rows; r++)
        json_row(w, t, r);
    json_end(w);
    json_key(w, "marks");
    json_array(w);
    for (uint32_t r = 0; r < t->n_rows; r++)
        json_cstr(w, view_tone_names[t->marks[r]]);
    json_end(w);
    json_end(w);
}

/* A list of every part of one kind. */
static void json_parts(json_writer *w, const view *v, const char *key, view_part_kind kind,
                       void (*write)(json_writer *w, const view_section *s, const view_part *p))
{
    json_key(w, key);
    json_array(w);
    for (uint32_t i = 0; i < v->sections.n; i++)
        for (uint32_t k = 0; k < v->sections.items[i].parts.n; k++)
            if (v->sections.items[i].parts.items[k].kind == kind)
                write(w, &v->sections.items[i], &v->sections.items[i].parts.items[k]);
    json_end(w);
}

static void json_line(json_writer *w, const view_section *s, const view_part *p)
{
    (void)s;
    json_str(w, p->line.text);
}

static void json_cut(json_writer *w, const view_section *s, const view_part *p)
{
    sbuf b = {0};
    if (p->table.n_rows < p->table.n_listed) {
        sbuf_printf(&b, STR_FMT ": the first %u of %u rows; JSON has all of them.",
                    STR_ARG(s->title), p->table.n_rows, p->table.n_listed);
        json_str(w, (str){sbuf_cstr(&b), (uint32_t)b.n});
    }
    sbuf_free(&b);
}

static void json_banners(json_writer *w, const view *v)
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
}

static void json_remarks(json_writer *w, const view *v)
{
    json_key(w, "remarks");
    json_array(w);
    for (uint32_t i = 0; i < v->remarks.n; i++)
        json_str(w, v->remarks.items[i].text);
    json_end(w);
}

static void json_inner(json_writer *w, const view *v);

static void json_view(json_writer *w, const view *v)
{
    json_object(w);
    key_str(w, "title", v->title);
    key_str(w, "under", v->under);
    if (v->conclusion.n)
        key_str(w, "conclusion", v->conclusion);
    json_banners(w, v);
    json_remarks(w, v);
    json_parts(w, v, "lines", PART_LINE, json_line);
    json_parts(w, v, "cut", PART_TABLE, json_cut);
    json_parts(w, v, "groups", PART_FACTS, json_facts);
    json_parts(w, v, "tables", PART_TABLE, json_table);
    if (v->kind->inner)
        json_inner(w, v);
    json_end(w);
}

static void json_inner(json_writer *w, const view *v)
{
    view inner;
    json_key(w, "inner");
    json_array(w);
    for (uint32_t i = 0; view_make_inner(v, i, &inner); i++)
        json_view(w, &inner);
    json_end(w);
}

void view_write_json(const view *v, sbuf *out)
{
    json_writer w;
    json_begin(&w, out, 0);
    json_view(&w, v);
}
