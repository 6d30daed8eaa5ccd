/* Tables of a view: a list of the result as rows and columns; see view.h. */
#include <stdlib.h>

#include "report/console.h"
#include "report/view.h"
#include "report/view_units.h"

enum {
    TABLE_COLUMNS = 24,
    TABLE_ROWS = 10000, /* of a table, --verbose or not: JSON and CSV have all */
    ROWS_SHOWN = 40,
    INNER_MOST = 64,
    BAR_WIDTH = 16
};

/* ---- columns ---- */

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
        if (!view_holds(v, &v->here, c->when))
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
    *head = (view_head){.title = of->title ? view_text(v, &v->here, of->title)
                                           : str_copy(v->a, c->member),
                        .right = of->right,
                        .bar = of->bar,
                        .words = of->words,
                        .drop = of->keep   ? 0
                                : of->drop ? of->drop
                                           : (uint8_t)position,
                        .min = of->min,
                        .tone = of->tone};
}

str view_bar(const view *v, double percent)
{
    sbuf b = {0};
    console_bar(&b, percent > 0 ? percent / 100 : 0, BAR_WIDTH);
    str out = str_copy(v->a, (str){sbuf_cstr(&b), (uint32_t)b.n});
    sbuf_free(&b);
    return out;
}

/* Of a percentage, or of a quotient of two values. */
static str bar_cell(const view *v, const field_value *row, const char *path)
{
    field_value share = view_look(v, row, str_of(path));
    return view_bar(v, fields_number(&share) * (strchr(path, '/') ? 100 : 1));
}

str view_cell(const view *v, const view_column *c, const field_value *row)
{
    if (!c->put)
        return view_text(v, row, c->cell);
    sbuf b = {0};
    str out = {0};
    c->put(v, &b, row);
    if (b.n && !b.failed)
        out = str_copy(v->a, (str){b.p, (uint32_t)b.n});
    sbuf_free(&b);
    return out;
}

static str fill_cell(const view *v, const table_column *c, const field_value *row)
{
    if (c->of->put)
        return view_cell(v, c->of, row);
    if (c->of->bar)
        return bar_cell(v, row, c->of->cell);
    if (!c->of->each)
        return view_text(v, row, c->of->cell);
    field_value each = fields_get(row, c->of->each);
    field_value member = fields_member(&each, c->member);
    return view_text(v, &member, c->of->cell);
}

/* ---- a row for what is not shown ---- */

typedef struct table_rest {
    const field_value *list;
    const uint32_t *index;
    uint32_t from, n;
} table_rest;

static double sum_rest(const view *v, const table_rest *r, str path)
{
    double sum = 0;
    for (uint32_t i = r->from; i < r->n; i++) {
        field_value item = fields_item(r->list, r->index ? r->index[i] : i);
        field_value x = view_look(v, &item, path);
        sum += fields_is_number(&x) ? fields_number(&x) : 0;
    }
    return sum;
}

/* The cell is "{PATH:UNIT}" or, of a bar, PATH. */
static str rest_cell(const view *v, const table_rest *r, const view_column *c)
{
    const str cell = str_of(c->cell);
    sbuf b = {0};
    uint32_t colon = 0;
    if (c->bar)
        return view_bar(v, sum_rest(v, r, cell));
    while (colon < cell.n && cell.p[colon] != ':')
        colon++;
    if (!c->right || colon + 2 > cell.n)
        return (str){0};
    view_put_number(&b, sum_rest(v, r, (str){cell.p + 1, colon - 1}),
                    (str){cell.p + colon + 1, cell.n - colon - 2});
    str out = str_copy(v->a, (str){sbuf_cstr(&b), (uint32_t)b.n});
    sbuf_free(&b);
    return out;
}

/* ---- filling ---- */

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

static int heavier_first(const void *a, const void *b)
{
    const view_ranked *x = a, *y = b;
    if (x->weight != y->weight)
        return x->weight < y->weight ? 1 : -1;
    return x->index < y->index ? -1 : x->index > y->index;
}

/* The first `most` in order, by insertion: for a few of many. */
static void select_heaviest(view_ranked *list, uint32_t n, uint32_t most)
{
    for (uint32_t i = 1; i < n; i++) {
        const view_ranked x = list[i];
        uint32_t at = i;
        if (i >= most) {
            if (!(x.weight > list[most - 1].weight))
                continue;
            at = most - 1;
            list[i] = list[at];
        }
        for (; at > 0 && list[at - 1].weight < x.weight; at--)
            list[at] = list[at - 1];
        list[at] = x;
    }
}

uint32_t view_rank(view_ranked *list, uint32_t n, uint32_t most, uint32_t *index)
{
    enum { FEW = 64 };
    if (most > 0 && most < n && most <= FEW)
        select_heaviest(list, n, most);
    else if (n)
        qsort(list, n, sizeof *list, heavier_first);
    for (uint32_t i = 0; i < n; i++)
        index[i] = list[i].index;
    return n;
}

uint32_t view_limit(const view *v, uint32_t limit)
{
    bool top = limit == VIEW_TOP || limit == VIEW_TOP_ONLY;
    uint32_t most = v->o->verbose && limit != VIEW_TOP_ONLY ? TABLE_ROWS
                    : top   ? (uint32_t)(v->o->top > 0 ? v->o->top : 0)
                    : limit ? limit
                            : ROWS_SHOWN;
    return most < TABLE_ROWS ? most : TABLE_ROWS;
}

/* One more row needs no more space than the line that counts it. */
static uint32_t rows_to_show(const view *v, const view_table_row *row, uint32_t n)
{
    uint32_t most = view_limit(v, row->limit);
    return n <= most + (row->rest != NULL) ? n : most;
}

/* Room for the values of one row. */
typedef struct table_fill {
    const view_table_row *row;
    table_plan plan;
    const field_value *list;
    const uint32_t *index;
} table_fill;

static void fill_row(const view *v, view_table *t, const table_fill *f, uint32_t r)
{
    field_value item = fields_item(f->list, f->index ? f->index[r] : r);
    for (uint32_t c = 0; c < f->plan.n; c++)
        t->cells[(size_t)r * f->plan.n + c] = fill_cell(v, &f->plan.columns[c], &item);
    if (f->row->mark)
        t->marks[r] = (uint8_t)view_tone_of(fields_get(&item, f->row->mark).text);
}

static void fill_rest(const view *v, view_table *t, const table_fill *f, uint32_t shown, uint32_t n)
{
    const table_rest rest = {.list = f->list, .index = f->index, .from = shown, .n = n};
    for (uint32_t c = 0; c < f->plan.n; c++)
        t->cells[(size_t)shown * f->plan.n + c] = c ? rest_cell(v, &rest, f->plan.columns[c].of)
                                                    : str_of(f->row->rest);
}

static void fill_table(const view *v, view_table *t, const table_fill *f, uint32_t n)
{
    bool rest = f->row->rest && t->n_rows < n;
    uint32_t shown = t->n_rows - rest;
    for (uint32_t c = 0; c < f->plan.n; c++)
        fill_head(v, &t->heads[c], &f->plan.columns[c], c);
    for (uint32_t r = 0; r < shown; r++)
        fill_row(v, t, f, r);
    if (rest)
        fill_rest(v, t, f, shown, n);
    t->n_listed = rest ? t->n_rows : n;
    t->untitled = f->row->untitled;
    t->wraps = f->row->wraps;
    t->more = f->row->more;
    drop_empty_columns(t);
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
static void fill_across(const view *v, view_table *t, const table_fill *f)
{
    const table_plan *plan = &f->plan;
    t->n_rows = 0;
    t->wraps = true;
    fill_titles(v, t, f->row->across, f->list);
    for (uint32_t r = 0; r < plan->n; r++) {
        str *cells = t->cells + (size_t)t->n_rows * t->n_columns;
        bool filled = false;
        cells[0] = view_text(v, &v->here, plan->columns[r].of->title);
        for (uint32_t i = 0; i + 1 < t->n_columns; i++) {
            field_value item = fields_item(f->list, i);
            cells[i + 1] = cell_across(v, &plan->columns[r], &item, i == 0);
            filled |= !str_is(cells[i + 1], "–");
        }
        t->n_rows += filled;
    }
    t->n_listed = t->n_rows;
}

static void add_list(view *v, const view_table_row *row, const field_value *list)
{
    table_fill f = {.row = row, .list = list};
    uint32_t *index = NULL, n = list->n;
    if (!n || (list->type != VALUE_LIST && list->type != VALUE_OBJECT))
        return;
    if (row->order) {
        index = ARENA_ARRAY(v->a, uint32_t, n);
        n = index ? row->order(v, list, index) : 0;
    }
    f.index = index;
    uint32_t shown = rows_to_show(v, row, n);
    bool rest = row->rest && shown < n;
    plan_table(v, &f.plan, row, list);
    view_table *t = !f.plan.n || !shown ? NULL
                    : row->across       ? view_add_table(v, shown + 1, f.plan.n)
                                        : view_add_table(v, f.plan.n, shown + rest);
    if (t && row->across)
        fill_across(v, t, &f);
    else if (t)
        fill_table(v, t, &f, n);
}

/* A table with a title is a separate section; without rows it is none. */
static void add_titled(view *v, const view_table_row *row, const field_value *of,
                       const field_value *list)
{
    uint32_t at = v->sections.n;
    bool own = row->title && list->n;
    view_section *s = own ? view_add_section(v, view_text(v, of, row->title),
                                             view_text(v, of, row->remark))
                          : NULL;
    if (s)
        s->first = row->first;
    add_list(v, row, list);
    if (s && at < v->sections.n && !v->sections.items[at].parts.n)
        v->sections.n--;
}

void view_add_rows(view *v, const view_table_row *row, const field_value *of)
{
    field_value items = {0}, list;
    if (!view_holds(v, of, row->when))
        return;
    if (row->each)
        items = view_look(v, of, str_of(row->each));
    else {
        list = view_look(v, of, str_of(row->path));
        add_titled(v, row, of, &list);
    }
    for (uint32_t i = 0; i < items.n && i < INNER_MOST; i++) {
        field_value item = fields_item(&items, i);
        list = view_look(v, &item, str_of(row->path));
        add_titled(v, row, &item, &list);
    }
}
