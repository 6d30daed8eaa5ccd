/* Pivot tables: items that share a name become one row, with one column per variant. For example read, write, copy
 * and triad of a cache level. */
#include "report/view.h"

enum { PIVOT_COLUMNS = 12 };

typedef struct pivot {
    const view *v;
    const view_pivot *of;
    field_value list;
    str across[PIVOT_COLUMNS];
    uint32_t n_across;
    uint32_t *rows; /* the first item of each */
    uint32_t n_rows;
} pivot;

/* ---- which row, which column ---- */

static bool in_one_row(const pivot *p, const field_value *a, const field_value *b)
{
    for (uint32_t k = 0; k < p->of->n_columns; k++)
        if (!str_eq(view_text(p->v, a, p->of->columns[k].cell),
                    view_text(p->v, b, p->of->columns[k].cell)))
            return false;
    return true;
}

static uint32_t row_of(pivot *p, uint32_t index)
{
    field_value item = fields_item(&p->list, index);
    for (uint32_t r = 0; r < p->n_rows; r++) {
        field_value first = fields_item(&p->list, p->rows[r]);
        if (in_one_row(p, &item, &first))
            return r;
    }
    p->rows[p->n_rows] = index;
    return p->n_rows++;
}

static uint32_t across_of(pivot *p, const field_value *item)
{
    str title = view_text(p->v, item, p->of->across);
    uint32_t i = 0;
    while (i < p->n_across && !str_eq(p->across[i], title))
        i++;
    if (i == p->n_across && i < PIVOT_COLUMNS)
        p->across[p->n_across++] = title;
    return i;
}

/* ---- the table ---- */

static uint32_t columns_each(const pivot *p)
{
    return p->of->spread_each ? 2 : 1;
}

static void fill_heads(const pivot *p, view_table *t)
{
    const view_pivot *of = p->of;
    const view_head spread = {.title = STR("Spread"), .right = true, .tone = TONE_DIM};
    for (uint32_t k = 0; k < of->n_columns; k++)
        t->heads[k] = (view_head){.title = view_text(p->v, &p->v->root, of->columns[k].title),
                                  .right = of->columns[k].right};
    for (uint32_t i = 0; i < p->n_across; i++) {
        view_head *head = &t->heads[of->n_columns + columns_each(p) * i];
        head[0] = (view_head){.title = p->across[i], .right = true};
        if (of->spread)
            head[1] = spread; /* which the next title replaces where there is one spread for all */
    }
}

/* The spread of the figure, or the largest of the row. */
static void fill_spread(const pivot *p, const field_value *item, str *cell, double *largest)
{
    field_value spread = fields_get(item, p->of->spread);
    double now = fields_number(&spread);
    if (!p->of->spread_each && !(now > *largest))
        return;
    *largest = now;
    *cell = view_text(p->v, &spread, "{:share1}");
}

static void fill_item(pivot *p, uint32_t index, view_table *t, double *largest)
{
    field_value item = fields_item(&p->list, index);
    uint32_t row = row_of(p, index), i = across_of(p, &item);
    uint32_t at = p->of->n_columns + columns_each(p) * i;
    str *cells = t->cells + (size_t)row * t->n_columns;
    for (uint32_t k = 0; k < p->of->n_columns; k++)
        cells[k] = view_text(p->v, &item, p->of->columns[k].cell);
    if (i == PIVOT_COLUMNS)
        return;
    cells[at] = view_text(p->v, &item, p->of->value);
    if (p->of->spread)
        fill_spread(p, &item, &cells[p->of->spread_each ? at + 1 : t->n_columns - 1],
                    &largest[row]);
}

static uint32_t plan_pivot(pivot *p)
{
    for (uint32_t i = 0; i < p->list.n; i++) {
        field_value item = fields_item(&p->list, i);
        row_of(p, i);
        across_of(p, &item);
    }
    return p->of->n_columns + columns_each(p) * p->n_across +
           (p->of->spread && !p->of->spread_each);
}

void view_add_pivot(view *v, const view_pivot *of)
{
    pivot p = {.v = v, .of = of, .list = fields_get(&v->root, of->path)};
    p.rows = ARENA_ARRAY(v->a, uint32_t, p.list.n);
    double *largest = ARENA_ARRAY(v->a, double, p.list.n);
    if (!p.list.n || !p.rows || !largest)
        return;
    uint32_t n_columns = plan_pivot(&p);
    view_table *t = view_add_table(v, n_columns, p.n_rows);
    if (!t)
        return;
    fill_heads(&p, t);
    for (uint32_t r = 0; r < p.n_rows; r++)
        largest[r] = -1;
    for (uint32_t i = 0; i < p.list.n; i++)
        fill_item(&p, i, t, largest);
}
