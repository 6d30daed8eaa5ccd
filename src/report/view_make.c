/* A result becomes a view by the rows of its kind; see view.h. */
#include "report/view.h"

#include <string.h>

#include "base/text.h"
#include "report/console.h"

enum {
    TABLE_COLUMNS = 24,
    TABLE_ROWS = 10000, /* of a table, --verbose or not: JSON and CSV have all */
    ROWS_SHOWN = 40,
    INNER_MOST = 64,
    BAR_WIDTH = 16
};

/* ---- facts ---- */

/* A verdict is a word, or an object with its word and tone. */
static void judge_fact(const view *v, const view_fact_row *row, view_fact *fact)
{
    field_value said = row->verdict ? fields_get(&v->root, row->verdict) : (field_value){0};
    field_value word = said.type == VALUE_OBJECT ? fields_get(&said, "word") : said;
    field_value tone = fields_get(&said, "tone");
    fact->verdict = word.text;
    fact->tone = view_tone_of(word.text);
    for (view_tone t = TONE_PLAIN; tone.type == VALUE_TEXT && t <= TONE_DIM; t++)
        if (str_is(tone.text, view_tone_names[t]))
            fact->tone = t;
}

static void add_fact_row(view *v, const view_fact_row *row)
{
    view_fact fact = {0};
    if (!view_holds(v, &v->root, row->when))
        return;
    fact.name = view_text(v, &v->root, row->name);
    fact.value = view_text(v, &v->root, row->value);
    fact.note = view_text(v, &v->root, row->note);
    judge_fact(v, row, &fact);
    view_add_fact(v, fact);
}

/* ---- tables ---- */

typedef struct table_column { /* one that the result has */
    const view_column *of;
    str member; /* of `each` */
} table_column;

typedef struct table_plan {
    table_column columns[TABLE_COLUMNS];
    uint32_t n;
} table_plan;

static void plan_column(table_plan *plan, const view_column *c, str member)
{
    if (plan->n < TABLE_COLUMNS)
        plan->columns[plan->n++] = (table_column){.of = c, .member = member};
}

static void plan_table(const view *v, table_plan *plan, const view_table_row *row,
                       const field_value *list)
{
    field_value first = fields_item(list, 0);
    plan->n = 0;
    for (uint32_t i = 0; i < row->n_columns; i++) {
        const view_column *c = &row->columns[i];
        field_value each = {0};
        if (!view_holds(v, &v->root, c->when))
            continue;
        if (c->each)
            each = fields_get(&first, c->each);
        else
            plan_column(plan, c, (str){0});
        for (uint32_t k = 0; k < each.n; k++)
            plan_column(plan, c, fields_item(&each, k).key);
    }
}

static void fill_head(const view *v, view_head *head, const table_column *c, uint32_t position)
{
    const view_column *of = c->of;
    *head = (view_head){.title = of->title ? view_text(v, &v->root, of->title)
                                           : str_copy(v->a, c->member),
                        .right = of->right,
                        .bar = of->bar,
                        .drop = of->drop ? of->drop : (uint8_t)position,
                        .min = of->min,
                        .tone = of->tone};
}

static str bar_cell(const view *v, const field_value *row, const char *path)
{
    sbuf b = {0};
    field_value share = view_look(v, row, str_of(path));
    double part = fields_number(&share) / 100;
    console_bar(&b, part > 0 ? part : 0, BAR_WIDTH);
    str out = str_copy(v->a, (str){sbuf_cstr(&b), (uint32_t)b.n});
    sbuf_free(&b);
    return out;
}

static str fill_cell(const view *v, const table_column *c, const field_value *row)
{
    if (c->of->bar)
        return bar_cell(v, row, c->of->cell);
    if (!c->of->each)
        return view_text(v, row, c->of->cell);
    field_value each = fields_get(row, c->of->each);
    field_value member = fields_member(&each, c->member);
    return view_text(v, &member, c->of->cell);
}

static bool is_empty_column(const view_table *t, uint32_t column)
{
    for (uint32_t r = 0; r < t->n_rows; r++)
        if (t->cells[(size_t)r * t->n_columns + column].n)
            return false;
    return true;
}

/* A column that is empty in every row is left out: reasons of failures, intervals of what was not tested. */
static void drop_empty_columns(view_table *t)
{
    uint32_t kept = 0;
    bool keep[TABLE_COLUMNS];
    size_t to = 0;
    for (uint32_t c = 0; c < t->n_columns; c++) {
        keep[c] = !is_empty_column(t, c);
        if (keep[c])
            t->heads[kept++] = t->heads[c];
    }
    for (uint32_t r = 0; r < t->n_rows; r++)
        for (uint32_t c = 0; c < t->n_columns; c++)
            if (keep[c])
                t->cells[to++] = t->cells[(size_t)r * t->n_columns + c];
    t->n_columns = kept;
}

static uint32_t most_shown(const view *v, uint32_t limit)
{
    uint32_t most = v->o->verbose       ? TABLE_ROWS
                    : limit == VIEW_TOP ? (uint32_t)(v->o->top > 0 ? v->o->top : 0)
                    : limit             ? limit
                                        : ROWS_SHOWN;
    return most < TABLE_ROWS ? most : TABLE_ROWS;
}

/* A cell of a table whose items are columns. */
static str cell_across(const view *v, const table_column *c, const field_value *item, bool first)
{
    str text = fill_cell(v, c, item);
    str rest = first ? (str){0} : view_text(v, item, c->of->rest);
    return !text.n   ? STR("–")
           : !rest.n ? text
                     : str_printf(v->a, STR_FMT STR_FMT, STR_ARG(text), STR_ARG(rest));
}

static void fill_titles(const view *v, view_table *t, const char *title, const field_value *list)
{
    for (uint32_t i = 0; i + 1 < t->n_columns; i++) {
        field_value item = fields_item(list, i);
        t->heads[i + 1] = (view_head){.title = view_text(v, &item, title), .right = true};
    }
}

/* Items are columns, columns are rows; a row that no item fills is left out. */
static void fill_across(const view *v, view_table *t, const table_plan *plan,
                        const field_value *list)
{
    t->n_rows = 0;
    for (uint32_t r = 0; r < plan->n; r++) {
        str *cells = t->cells + (size_t)t->n_rows * t->n_columns;
        bool filled = false;
        cells[0] = view_text(v, &v->root, plan->columns[r].of->title);
        for (uint32_t i = 0; i + 1 < t->n_columns; i++) {
            field_value item = fields_item(list, i);
            cells[i + 1] = cell_across(v, &plan->columns[r], &item, i == 0);
            filled |= !str_is(cells[i + 1], "–");
        }
        t->n_rows += filled;
    }
    t->n_listed = t->n_rows;
}

static void fill_table(const view *v, view_table *t, const view_table_row *row,
                       const table_plan *plan, const field_value *list, const uint32_t *index)
{
    for (uint32_t c = 0; c < plan->n; c++)
        fill_head(v, &t->heads[c], &plan->columns[c], c);
    for (uint32_t r = 0; r < t->n_rows; r++) {
        field_value item = fields_item(list, index ? index[r] : r);
        for (uint32_t c = 0; c < plan->n; c++)
            t->cells[(size_t)r * plan->n + c] = fill_cell(v, &plan->columns[c], &item);
        if (row->mark)
            t->marks[r] = (uint8_t)view_tone_of(fields_get(&item, row->mark).text);
    }
    drop_empty_columns(t);
}

static void add_list(view *v, const view_table_row *row, const field_value *list)
{
    table_plan plan;
    uint32_t *index = NULL, n = list->n;
    if (!n || (list->type != VALUE_LIST && list->type != VALUE_OBJECT))
        return;
    if (row->order) {
        index = ARENA_ARRAY(v->a, uint32_t, n);
        n = index ? row->order(v, list, index) : 0;
    }
    uint32_t most = most_shown(v, row->limit), shown = n < most ? n : most;
    plan_table(v, &plan, row, list);
    view_table *t = !plan.n || !shown ? NULL
                    : row->across     ? view_add_table(v, shown + 1, plan.n)
                                      : view_add_table(v, plan.n, shown);
    if (t && row->across) {
        t->wraps = true;
        fill_titles(v, t, row->across, list);
        fill_across(v, t, &plan, list);
    }
    if (!t || row->across)
        return;
    t->n_listed = n;
    t->untitled = row->untitled;
    t->more = row->more;
    fill_table(v, t, row, &plan, list, index);
}

/* A table with a title is a section of its own. */
static void add_titled(view *v, const view_table_row *row, const field_value *of,
                       const field_value *list)
{
    bool own = row->title && list->n;
    view_section *s = own ? view_add_section(v, view_text(v, of, row->title), (str){0}) : NULL;
    if (s)
        s->first = row->first;
    add_list(v, row, list);
}

static void add_table(view *v, const view_table_row *row)
{
    field_value items = {0}, list;
    if (row->each)
        items = fields_get(&v->root, row->each);
    else {
        list = fields_get(&v->root, row->path);
        add_titled(v, row, &v->root, &list);
    }
    for (uint32_t i = 0; i < items.n && i < INNER_MOST; i++) {
        field_value of = fields_item(&items, i);
        list = fields_get(&of, row->path);
        add_titled(v, row, &of, &list);
    }
}

/* ---- sections ---- */

static bool is_shown(const view *v, const view_section_row *row)
{
    bool here = !row->in || !v->o->view || str_in_list(str_of(v->o->view), row->in, ' ');
    return here && view_holds(v, &v->root, row->when);
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
    static const char *const marks[] = {[TONE_PLAIN] = "",
                                        [TONE_GOOD] = "✓ ",
                                        [TONE_FAIR] = "? ",
                                        [TONE_POOR] = "⚠ ",
                                        [TONE_DIM] = ""};
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
    field_value list = fields_get(&v->root, rows->each);
    uint32_t most = most_shown(v, rows->limit), shown = 0, more = 0;
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
            add_line(v, &rows[i], &v->root, false);
    }
}

static void fill_section(view *v, const view_section_row *row)
{
    for (uint32_t i = 0; i < row->n_facts; i++)
        add_fact_row(v, &row->facts[i]);
    if (row->build)
        row->build(v);
    for (uint32_t i = 0; i < row->n_tables; i++)
        add_table(v, &row->tables[i]);
    add_lines(v, row->lines, row->n_lines);
}

static void add_section(view *v, const view_section_row *row)
{
    uint32_t at = v->sections.n;
    if (!is_shown(v, row))
        return;
    if (row->title) {
        view_section *s = view_add_section(v, view_text(v, &v->root, row->title),
                                           view_text(v, &v->root, row->remark));
        if (!s)
            return;
        s->first = row->first;
        s->beside = row->beside;
    }
    fill_section(v, row);
    bool empty = row->title && at + 1 == v->sections.n && !v->sections.items[at].parts.n;
    v->sections.n -= empty;
    if (!row->title && at < v->sections.n)
        v->sections.items[at].first |= row->first;
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
        view_warning *to = VEC_PUSH(v->a, &v->warnings);
        if (to)
            *to = (view_warning){.node = fields_get(&w, "node").text,
                                 .text = fields_get(&w, "text").text,
                                 .advice = fields_get(&w, "advice").text};
    }
    if (dropped.type == VALUE_WHOLE)
        v->warnings_dropped += dropped.u;
}

static void add_inner_warnings(view *v)
{
    field_value inner = {0};
    if (v->kind->inner)
        inner = fields_get(&v->root, v->kind->inner);
    for (uint32_t i = 0; i < inner.n && i < INNER_MOST; i++) {
        field_value of = fields_item(&inner, i);
        add_warnings(v, &of);
    }
}

/* ---- the whole ---- */

const view_kind *view_kind_of(const result_kind *kind)
{
    for (uint32_t i = 0; view_kinds[i]; i++)
        if (view_kinds[i]->of == kind)
            return view_kinds[i];
    return NULL;
}

assay_status view_make(const result_kind *kind, const void *data, const report_options *o, arena *a,
                       view *out, assay_error *err)
{
    const view_kind *k = view_kind_of(kind);
    if (!k)
        return err_fail(err, ASSAY_ERR_UNSUPPORTED, "%s has no view", kind->what);
    if (k->prepare)
        data = k->prepare(data, a);
    if (!data)
        return err_no_memory(err);
    *out = (view){
        .a = a, .o = o, .root = fields_root(kind->of, data), .kind = k, .what = kind->what};
    out->title = view_text(out, &out->root, k->title);
    out->under = view_text(out, &out->root, k->under);
    if (k->begin)
        k->begin(out);
    for (uint32_t i = 0; i < k->n_sections; i++)
        add_section(out, &k->sections[i]);
    add_remarks(out);
    add_warnings(out, &out->root);
    add_inner_warnings(out);
    return arena_failed(a) ? err_no_memory(err) : ASSAY_OK;
}
