/* A result becomes a view by the rows of its kind; see view.h. */
#include "report/view.h"

#include <math.h>
#include <string.h>

#include "base/text.h"

enum { INNER_MOST = 256 };

/* ---- facts ---- */

/* A verdict is a word, or an object with its word and tone. */
static void judge_fact(const view *v, const view_fact_row *row, view_fact *fact)
{
    field_value said = row->verdict ? view_look(v, &v->here, str_of(row->verdict))
                                    : (field_value){0};
    field_value word = said.type == VALUE_OBJECT ? fields_get(&said, "word") : said;
    field_value tone = fields_get(&said, "tone");
    fact->verdict = word.text;
    fact->range = fields_get(&said, "range").text;
    fact->tone = view_tone_of(word.text);
    for (view_tone t = TONE_PLAIN; tone.type == VALUE_TEXT && t <= TONE_DIM; t++)
        if (str_is(tone.text, view_tone_names[t]))
            fact->tone = t;
}

static void add_fact_row(view *v, const view_fact_row *row)
{
    view_fact fact = {0};
    if (!view_holds(v, &v->here, row->when))
        return;
    fact.name = view_text(v, &v->here, row->name);
    fact.value = view_text(v, &v->here, row->value);
    fact.note = view_text(v, &v->here, row->note);
    fact.exact = view_text(v, &v->here, row->exact);
    if (row->bar) {
        field_value share = view_look(v, &v->here, str_of(row->bar));
        fact.bar = view_bar(v, fields_number(&share));
    }
    judge_fact(v, row, &fact);
    view_add_fact(v, fact);
}

/* ---- sparklines, items, lines ---- */

static void add_spark_row(view *v, const view_spark_row *row)
{
    field_value list = view_look(v, &v->here, str_of(row->path));
    uint64_t *heights = list.n ? ARENA_ARRAY(v->a, uint64_t, list.n) : NULL;
    uint32_t n = 0;
    for (uint32_t i = 0; heights && i < list.n; i++) {
        field_value item = fields_item(&list, i), x = fields_get(&item, row->value);
        double height = fields_number(&x);
        if (height >= 0)
            heights[n++] = x.type == VALUE_WHOLE ? x.u : (uint64_t)(fmin(height, 1e9) * 1000);
    }
    if (n > 1)
        view_add_spark(v, str_of(row->label), heights, n);
}

static void add_items_row(view *v, const view_items_row *row)
{
    field_value list = view_look(v, &v->here, str_of(row->path));
    uint32_t shown = v->o->verbose || list.n <= row->limit ? list.n : row->limit;
    view_part *part = shown ? view_add_items(v) : NULL;
    for (uint32_t i = 0; part && i < shown; i++) {
        field_value item = fields_item(&list, i);
        (void)VEC_ADD(v->a, &part->items,
                      (view_item){.title = view_text(v, &item, row->title),
                                  .text = view_text(v, &item, row->text),
                                  .note = view_text(v, &item, row->note)});
    }
    if (part)
        part->n_listed = list.n;
}

enum { LINES_BACK = 4 };

/* Whether one of the last lines says the same. */
static bool is_said(view *v, str text)
{
    view_section *s = v->sections.n ? &v->sections.items[v->sections.n - 1] : NULL;
    for (uint32_t back = 1; s && back <= s->parts.n && back <= LINES_BACK; back++) {
        const view_part *part = &s->parts.items[s->parts.n - back];
        if (part->kind == PART_LINE && str_eq(part->line.text, text))
            return true;
    }
    return false;
}

static void put_line(view *v, const view_line_row *row, const field_value *of, str text)
{
    static const char *const marks[] = {[TONE_PLAIN] = "",  [TONE_GOOD] = "✓ ", [TONE_FAIR] = "? ",
                                        [TONE_POOR] = "⚠ ", [TONE_DIM] = "",    [TONE_COMPUTE] = "",
                                        [TONE_MEMORY] = "", [TONE_STRONG] = "", [TONE_BAR] = ""};
    view_tone tone = row->mark ? view_tone_of(fields_get(of, row->mark).text) : row->tone;
    if (row->mark)
        text = str_printf(v->a, "%s" STR_FMT, marks[tone], STR_ARG(text));
    view_add_line(v, tone, text);
}

/* Whether a line was, or would be, added. */
static bool add_line(view *v, const view_line_row *row, const field_value *of, bool hidden)
{
    str text = view_holds(v, of, row->when) ? view_text(v, of, row->text) : (str){0};
    if (!text.n || is_said(v, text))
        return false;
    if (!hidden)
        put_line(v, row, of, text);
    return true;
}

/* Lines of the rows that share a list. */
static void add_lines_each(view *v, const view_line_row *rows, uint32_t n)
{
    field_value list = view_look(v, &v->here, str_of(rows->each));
    uint32_t most = view_limit(v, rows->limit), shown = 0, more = 0;
    for (uint32_t i = 0; i < list.n; i++) {
        field_value item = fields_item(&list, i);
        bool hidden = shown >= most, any = false;
        for (uint32_t r = 0; r < n; r++)
            any |= add_line(v, &rows[r], &item, hidden);
        shown += any && !hidden;
        more += any && hidden;
    }
    if (more)
        view_add_line(
            v, TONE_DIM,
            str_printf(v->a, "%u more; %s", more,
                       v->o->verbose ? "JSON has all of them." : "--verbose shows them."));
}

static void add_lines(view *v, const view_line_row *rows, uint32_t n)
{
    for (uint32_t i = 0, to; i < n; i = to) {
        to = i + 1;
        while (rows[i].each && to < n && rows[to].each && !strcmp(rows[i].each, rows[to].each))
            to++;
        if (rows[i].each)
            add_lines_each(v, rows + i, to - i);
        else
            add_line(v, &rows[i], &v->here, false);
    }
}

/* ---- sections ---- */

static bool is_shown(const view *v, const view_section_row *row)
{
    const str name = str_of(v->o->view);
    if (row->only)
        return name.n && str_in_list(name, row->only, ' ');
    return !row->in || !name.n || str_in_list(name, row->in, ' ');
}

static void fill_section(view *v, const view_section_row *row)
{
    for (uint32_t i = 0; i < row->n_sparks; i++)
        add_spark_row(v, &row->sparks[i]);
    for (uint32_t i = 0; i < row->n_facts; i++)
        add_fact_row(v, &row->facts[i]);
    if (row->build)
        row->build(v);
    for (uint32_t i = 0; i < row->n_tables; i++)
        view_add_rows(v, &row->tables[i], &v->here);
    if (row->items)
        add_items_row(v, row->items);
    add_lines(v, row->lines, row->n_lines);
}

/* Of `v->here`. A section without parts is none. */
static void add_section(view *v, const view_section_row *row)
{
    uint32_t at = v->sections.n;
    if (!view_holds(v, &v->here, row->when))
        return;
    if (row->title) {
        view_section *s = view_add_section(v, view_text(v, &v->here, row->title),
                                           view_text(v, &v->here, row->remark));
        if (!s)
            return;
        s->first = row->first;
        s->beside = row->beside;
        s->head = row->head;
    }
    fill_section(v, row);
    bool empty = row->title && at + 1 == v->sections.n && !v->sections.items[at].parts.n;
    v->sections.n -= empty;
    if (!row->title && at < v->sections.n)
        v->sections.items[at].first |= row->first;
}

static void add_section_row(view *v, const view_section_row *row)
{
    field_value items = {0};
    for (uint32_t i = 0; row->of && i < row->of->n; i++)
        add_section_row(v, &row->of->rows[i]);
    if (row->of)
        return;
    v->here = v->root;
    if (!is_shown(v, row))
        return;
    if (row->each)
        items = view_look(v, &v->root, str_of(row->each));
    else
        add_section(v, row);
    for (uint32_t i = 0; i < items.n && i < INNER_MOST; i++) {
        v->here = fields_item(&items, i);
        add_section(v, row);
    }
    v->here = v->root;
}

/* ---- remarks and warnings ---- */

static void add_remarks(view *v)
{
    field_value list = fields_get(&v->root, v->kind->remarks ? v->kind->remarks : "remarks");
    for (uint32_t i = 0; i < list.n; i++) {
        str text = fields_item(&list, i).text;
        view_line *line = text.n ? VEC_PUSH(v->a, &v->remarks) : NULL;
        if (line)
            *line = (view_line){.text = text, .tone = TONE_DIM};
    }
}

static void add_warnings(view *v, const field_value *of)
{
    field_value list = fields_get(of, "warnings"), dropped = fields_get(of, "warnings_dropped");
    for (uint32_t i = 0; i < list.n; i++) {
        field_value w = fields_item(&list, i);
        (void)VEC_ADD(v->a, &v->warnings,
                      (view_warning){.node = fields_get(&w, "node").text,
                                     .text = fields_get(&w, "text").text,
                                     .advice = fields_get(&w, "advice").text});
    }
    if (dropped.type == VALUE_WHOLE)
        v->warnings_dropped += dropped.u;
}

/* ---- the whole ---- */

const view_kind *view_kind_of(const result_kind *kind)
{
    for (uint32_t i = 0; view_kinds[i]; i++)
        if (view_kinds[i]->of == kind)
            return view_kinds[i];
    return NULL;
}

static void add_sections(view *v)
{
    if (v->kind->begin)
        v->kind->begin(v);
    for (uint32_t i = 0; i < v->kind->n_sections; i++)
        add_section_row(v, &v->kind->sections[i]);
}

/* A result inside another one: its title, its sections, its warnings; none of it is of the summary. */
static void add_inner_result(view *v, const field_value *of)
{
    const field_value root = v->root;
    const view_kind *kind = v->kind;
    uint32_t from = v->sections.n;
    v->kind = of->result ? view_kind_of(of->result) : NULL;
    if (v->kind) {
        v->root = v->here = *of;
        view_add_section(v, view_text(v, of, v->kind->title), view_text(v, of, v->kind->under));
        view_add_line(v, TONE_STRONG, fields_get(of, "conclusion").text);
        add_sections(v);
        add_warnings(v, of);
    }
    for (uint32_t i = from; i < v->sections.n; i++)
        v->sections.items[i].first = false;
    v->root = v->here = root;
    v->kind = kind;
}

static field_value inner_results(const view *v)
{
    return v->kind->inner ? fields_get(&v->root, v->kind->inner) : (field_value){0};
}

static void add_inner(view *v)
{
    const field_value inner = inner_results(v);
    for (uint32_t i = 0; i < inner.n && i < INNER_MOST; i++) {
        field_value of = fields_item(&inner, i);
        add_inner_result(v, &of);
    }
}

static void fill_view(view *v)
{
    v->here = v->root;
    v->title = view_text(v, &v->root, v->kind->title);
    v->under = view_text(v, &v->root, v->kind->under);
    v->conclusion = fields_get(&v->root, "conclusion").text;
    add_inner(v);
    add_sections(v);
    add_remarks(v);
    add_warnings(v, &v->root);
}

bool view_make_inner(const view *v, uint32_t i, view *out)
{
    const field_value list = inner_results(v);
    const field_value of = i < list.n ? fields_item(&list, i) : (field_value){0};
    const view_kind *kind = of.result ? view_kind_of(of.result) : NULL;
    if (!kind)
        return false;
    *out = (view){.a = v->a, .o = v->o, .root = of, .kind = kind, .what = of.result->what};
    fill_view(out);
    return true;
}

assay_status view_make(const result_kind *kind, const void *data, const report_options *o, arena *a,
                       view *out, assay_error *err)
{
    const view_kind *k = view_kind_of(kind);
    if (!k)
        return err_fail(err, ASSAY_ERR_UNSUPPORTED, "%s has no view", kind->what);
    if (k->prepare)
        data = k->prepare(data, a);
    TRY_MEMORY(data, err);
    *out = (view){
        .a = a, .o = o, .root = fields_root(kind->of, data), .kind = k, .what = kind->what};
    fill_view(out);
    return arena_failed(a) ? err_no_memory(err) : ASSAY_OK;
}
