/* A document becomes a view by the rows of its kind. What has no rows is shown by its own keys, as long as the
 * schema is one of ours: a later version's document is better shown plainly than not at all. */
#include "report/view.h"

#include "base/text.h"
#include "profile/profile_read.h"
#include "profile/result_kinds.h"

enum { TABLE_COLUMNS = 24, TABLE_ROWS = 10000, INNER_MOST = 64 };

void view_banner_add(view *v, view_tone tone, str text)
{
    view_banner *b = VEC_PUSH(v->a, &v->banners);
    if (b && text.n)
        *b = (view_banner){.tone = tone, .text = text};
    else if (b)
        v->banners.n--;
}

view_verdict view_judge_word(const json_value *v)
{
    static const struct {
        const char *word;
        view_tone tone;
    } words[] = {
        {"pass", TONE_GOOD},        {"improvement", TONE_GOOD}, {"faster", TONE_GOOD},
        {"better", TONE_GOOD},      {"quiet", TONE_GOOD},       {"found", TONE_GOOD},
        {"regression", TONE_POOR},  {"missed", TONE_POOR},      {"slower", TONE_POOR},
        {"worse", TONE_POOR},       {"fired", TONE_POOR},       {"inconclusive", TONE_FAIR},
        {"cannot tell", TONE_FAIR}, {"none", TONE_FAIR},        {"not run", TONE_FAIR},
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (v->kind == JSON_TEXT && str_is(v->s, words[i].word))
            return (view_verdict){words[i].word, words[i].tone};
    return (view_verdict){NULL, TONE_PLAIN};
}

/* ---- figures ---- */

static void add_fact(view *v, view_group *g, const view_fact_row *r, const json_value *d)
{
    if (!view_holds(d, d, r->when))
        return;
    view_fact *f = VEC_PUSH(v->a, &g->facts);
    if (!f)
        return;
    view_verdict said = {NULL, TONE_PLAIN};
    if (r->judge)
        said = r->judge(json_path(d, r->judged));
    *f = (view_fact){.name = view_text(v->a, d, d, r->name),
                     .value = view_text(v->a, d, d, r->value),
                     .note = view_text(v->a, d, d, r->note),
                     .verdict = str_of(said.text),
                     .tone = said.tone};
}

static void add_group(view *v, const view_group_row *r, const json_value *d)
{
    view_group *g = VEC_PUSH(v->a, &v->groups);
    if (!g)
        return;
    g->title = r->title;
    for (uint32_t i = 0; i < r->n; i++)
        add_fact(v, g, &r->facts[i], d);
    if (!g->facts.n)
        v->groups.n--;
}

/* ---- tables ---- */

typedef struct table_column { /* one that is really there */
    const view_column *of;
    str member; /* of `each` */
    str title;
} table_column;

typedef struct table_plan {
    table_column columns[TABLE_COLUMNS];
    uint32_t n;
} table_plan;

static void plan_column(table_plan *t, const view_column *c, str member)
{
    if (t->n < TABLE_COLUMNS)
        t->columns[t->n++] = (table_column){
            .of = c, .member = member, .title = c->title ? str_of(c->title) : member};
}

static void plan_table(table_plan *t, const view_table_row *r, const json_value *list,
                       const json_value *root)
{
    t->n = 0;
    for (uint32_t i = 0; i < r->n_columns; i++) {
        const view_column *c = &r->columns[i];
        const json_value *each = c->each ? json_path(&list->items[0], c->each) : NULL;
        if (!view_holds(root, root, c->when))
            continue;
        if (!c->each)
            plan_column(t, c, (str){0});
        for (uint32_t k = 0; each && each->kind == JSON_OBJECT && k < each->n; k++)
            plan_column(t, c, each->items[k].key);
    }
}

static void fill_row(view *v, view_table *t, const table_plan *plan, const json_value *row,
                     const json_value *root)
{
    str *cells = t->cells + (size_t)t->n_rows * t->n_columns;
    for (uint32_t i = 0; i < plan->n; i++) {
        const table_column *c = &plan->columns[i];
        const json_value *of = c->of->each ? view_member(json_path(row, c->of->each), c->member)
                                           : row;
        cells[i] = view_text(v->a, of, root, c->of->cell);
    }
    t->n_rows++;
}

static bool make_room(view *v, view_table *t, const table_plan *plan, uint32_t n_rows)
{
    t->n_columns = plan->n;
    t->heads = ARENA_ARRAY(v->a, str, plan->n);
    t->right = ARENA_ARRAY(v->a, bool, plan->n);
    t->cells = ARENA_ARRAY(v->a, str, (size_t)plan->n * n_rows);
    t->marks = ARENA_ARRAY(v->a, uint8_t, n_rows);
    for (uint32_t i = 0; !arena_failed(v->a) && i < plan->n; i++) {
        t->heads[i] = str_copy(v->a, plan->columns[i].title); /* a member's key has no NUL */
        t->right[i] = plan->columns[i].of->right;
    }
    return !arena_failed(v->a);
}

static bool is_empty_column(const view_table *t, uint32_t column)
{
    for (uint32_t r = 0; r < t->n_rows; r++)
        if (t->cells[(size_t)r * t->n_columns + column].n)
            return false;
    return true;
}

/* A column that says nothing in any row is left out: reasons of failures, intervals of what was not tested. */
static void drop_empty_columns(view_table *t)
{
    uint32_t kept = 0;
    bool keep[TABLE_COLUMNS];
    size_t to = 0;
    for (uint32_t c = 0; c < t->n_columns; c++) {
        keep[c] = !is_empty_column(t, c);
        if (!keep[c])
            continue;
        t->heads[kept] = t->heads[c];
        t->right[kept++] = t->right[c];
    }
    for (uint32_t r = 0; r < t->n_rows; r++)
        for (uint32_t c = 0; c < t->n_columns; c++)
            if (keep[c])
                t->cells[to++] = t->cells[(size_t)r * t->n_columns + c];
    t->n_columns = kept;
}

static void add_list(view *v, const view_table_row *r, str title, const json_value *list,
                     const json_value *d)
{
    uint32_t n = list->n < TABLE_ROWS ? list->n : TABLE_ROWS;
    table_plan plan;
    if (!list->items || !n)
        return;
    plan_table(&plan, r, list, d);
    view_table *t = plan.n ? VEC_PUSH(v->a, &v->tables) : NULL;
    if (!t || !make_room(v, t, &plan, n))
        return;
    t->title = title;
    t->first = r->first;
    t->n_listed = list->n;
    for (uint32_t i = 0; i < n; i++) {
        if (r->mark)
            t->marks[i] = (uint8_t)r->mark(&list->items[i]).tone;
        fill_row(v, t, &plan, &list->items[i], d);
    }
    drop_empty_columns(t);
    if (!t->n_columns)
        v->tables.n--;
}

static void add_table(view *v, const view_table_row *r, const json_value *d)
{
    const json_value *items = r->each ? json_path(d, r->each) : NULL;
    if (!r->each)
        add_list(v, r, str_of(r->title), json_path(d, r->path), d);
    for (uint32_t i = 0; items && items->items && i < items->n && i < INNER_MOST; i++) {
        const json_value *of = &items->items[i];
        add_list(v, r, view_text(v->a, of, d, r->title), json_path(of, r->path), d);
    }
}

/* ---- remarks and warnings ---- */

static void add_remark(view *v, str text)
{
    str *s = text.n ? VEC_PUSH(v->a, &v->remarks) : NULL;
    if (s)
        *s = text;
}

static void add_warnings(view *v, const json_value *d)
{
    const json_value *list = json_path(d, "warnings");
    for (uint32_t i = 0; list->items && i < list->n; i++) {
        const json_value *w = &list->items[i];
        view_warning *to = VEC_PUSH(v->a, &v->warnings);
        if (to)
            *to = (view_warning){.node = json_path(w, "node")->s,
                                 .text = json_path(w, "text")->s,
                                 .advice = json_path(w, "advice")->s};
    }
    double dropped = json_path(d, "warnings_dropped")->f;
    if (dropped > 0 && dropped < 1e15)
        v->warnings_dropped += (uint64_t)dropped;
}

/* ---- what no row describes ---- */

static bool is_plain(const json_value *v)
{
    return v->kind == JSON_BOOL || json_is_number(v) || v->kind == JSON_TEXT;
}

static void add_plain(view *v, const json_value *d)
{
    view_group *g = VEC_PUSH(v->a, &v->groups);
    for (uint32_t i = 0; g && i < d->n; i++) {
        view_fact *f = is_plain(&d->items[i]) && !str_is(d->items[i].key, "schema")
                           ? VEC_PUSH(v->a, &g->facts)
                           : NULL;
        if (f)
            *f = (view_fact){.name = d->items[i].key,
                             .value = view_text(v->a, &d->items[i], d, "{:text}")};
    }
}

static void add_plain_table(view *v, const json_value *member, const json_value *d)
{
    static const view_column all = {.cell = "{:text}", .each = ""};
    const view_table_row row = {.columns = &all, .n_columns = 1};
    if (member->items && member->items[0].kind == JSON_OBJECT)
        add_list(v, &row, member->key, member, d);
}

static void show_plainly(view *v, const json_value *d)
{
    v->title = json_path(d, "model")->s;
    add_plain(v, d);
    for (uint32_t i = 0; i < d->n; i++)
        if (d->items[i].kind == JSON_LIST)
            add_plain_table(v, &d->items[i], d);
}

/* ---- all ---- */

static void show(view *v, const view_kind *k, const json_value *d)
{
    if (!v->title.n)
        v->title = view_text(v->a, d, d, k->title);
    if (!v->under.n)
        v->under = view_text(v->a, d, d, k->under);
    if (k->more)
        k->more(v, d);
    for (uint32_t i = 0; i < k->n_groups; i++)
        add_group(v, &k->groups[i], d);
    for (uint32_t i = 0; i < k->n_tables; i++)
        add_table(v, &k->tables[i], d);
    const json_value *remarks = json_path(d, k->remarks ? k->remarks : "remarks");
    for (uint32_t i = 0; remarks->items && i < remarks->n; i++)
        add_remark(v, remarks->items[i].s);
    add_warnings(v, d);
}

static const view_kind *kind_of(str name, const json_value *d)
{
    if (str_is(name, view_profile_kind.schema))
        return &view_profile_kind;
    for (uint32_t i = 0; i < view_kinds_n; i++)
        if (str_is(name, view_kinds[i].schema) && (!d || view_holds(d, d, view_kinds[i].when)))
            return &view_kinds[i];
    return NULL;
}

static assay_status refuse(const result_identity *is, const char *shown, assay_error *err)
{
    char name[64];
    text_safe_into(name, sizeof name, is->schema);
    if (!is->schema.n)
        return err_fail(err, ASSAY_ERR_MALFORMED,
                        "'%s' is JSON but no document of assay: it has no \"schema\". Results are "
                        "written with -o FILE.json.",
                        shown);
    return err_fail(err, ASSAY_ERR_UNSUPPORTED,
                    "'%s' is a document of the schema \"%s\", which this assay does not know how "
                    "to show.",
                    shown, name);
}

static void show_any(view *v, const view_kind *k, const json_value *d)
{
    const json_value *inner = k && k->inner ? json_path(d, k->inner) : NULL;
    if (k)
        show(v, k, d);
    else
        show_plainly(v, d);
    for (uint32_t i = 0; inner && inner->items && i < inner->n && i < INNER_MOST; i++)
        add_warnings(v, &inner->items[i]);
}

assay_status view_make(str document, const char *shown, arena *a, view *out, assay_error *err)
{
    result_identity is;
    *out = (view){.a = a};
    TRY(result_identify(document, shown, a, &is, err));
    if (!str_starts(is.schema, "assay."))
        return refuse(&is, shown, err);
    const view_kind *first = kind_of(is.schema, NULL);
    const json_tree_options how = {.lenient = true, .count_only = first ? first->skip : NULL};
    TRY(json_tree_parse(document, shown, &how, a, &out->document, err));
    out->what = result_what(is.schema);
    out->kind = kind_of(is.schema, &out->document);
    show_any(out, out->kind, &out->document);
    return arena_failed(a) ? err_no_memory(err) : ASSAY_OK;
}
