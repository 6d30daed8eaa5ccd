/* A view on the screen: what `assay report` shows of a document whose command is over. */
#include "report/console.h"
#include "report/view.h"

enum { ROWS_SHOWN = 40 };

static void put_facts(console *k, const view_group *g)
{
    static const console_column columns[] = {
        {.title = NULL}, {.title = NULL, .right = true}, {.title = NULL, .min = 20}};
    console_table t;
    table_begin(&t, columns, 3, 2);
    for (uint32_t i = 0; i < g->facts.n; i++) {
        const view_fact *f = &g->facts.items[i];
        table_str(&t, STYLE_PLAIN, f->name);
        table_str(&t, STYLE_TITLE, f->value);
        sbuf *remark = table_cell(&t, STYLE_DIM);
        sbuf_str(remark, f->note);
        sbuf_puts(remark, f->note.n && f->verdict.n ? " · " : "");
        sbuf_str(remark, f->verdict);
    }
    table_print(&t, k);
}

static console_style style_of(view_tone tone)
{
    return tone == TONE_GOOD ? STYLE_GOOD : tone == TONE_PLAIN ? STYLE_PLAIN : STYLE_WARN;
}

static void put_rest(console *k, const view_table *t, uint32_t shown)
{
    bool all = t->n_rows == t->n_listed;
    if (shown < t->n_listed)
        console_putf(k, STYLE_DIM, "  %u more; %s\n", t->n_listed - shown,
                     all ? "--verbose shows all" : "JSON has all");
}

/* Columns from the right go first where the screen is narrow, the first one never. */
static void put_table(console *k, const view_table *t)
{
    console_column columns[TABLE_MAX_COLUMNS] = {{0}};
    uint32_t n = t->n_columns < TABLE_MAX_COLUMNS ? t->n_columns : TABLE_MAX_COLUMNS;
    uint32_t rows = k->o->verbose || t->n_rows < ROWS_SHOWN ? t->n_rows : ROWS_SHOWN;
    console_table c;
    for (uint32_t i = 0; i < n; i++)
        columns[i] = (console_column){.title = t->heads[i].n ? t->heads[i].p : "",
                                      .right = t->right[i],
                                      .drop = (uint8_t)i,
                                      .min = t->right[i] ? 0 : 10,
                                      .max = t->right[i] ? 0 : 60};
    console_line(k);
    console_safe(k, STYLE_TITLE, t->title);
    console_line(k);
    table_begin(&c, columns, n, 2);
    for (uint32_t r = 0; r < rows; r++)
        for (uint32_t i = 0; i < n; i++)
            table_str(&c, i ? STYLE_PLAIN : style_of(t->marks[r]),
                      t->cells[(size_t)r * t->n_columns + i]);
    table_print(&c, k);
    put_rest(k, t, rows);
}

static void put_sentence(console *k, console_style style, const char *mark, str text)
{
    sbuf b = {0};
    sbuf_puts(&b, mark);
    sbuf_str(&b, text);
    console_words(k, style, 2, false, (str){b.p, (uint32_t)b.n});
    sbuf_free(&b);
}

void view_write_console(const view *v, const report_options *o, sbuf *out)
{
    console k = {.o = o, .out = out, .width = (unsigned)(o->width ? o->width : 80)};
    size_t from = out->n;
    console_words(&k, STYLE_TITLE, 0, false, v->title);
    if (v->under.n)
        console_words(&k, STYLE_DIM, 2, false, v->under);
    for (uint32_t i = 0; i < v->banners.n; i++)
        put_sentence(&k, style_of(v->banners.items[i].tone),
                     v->banners.items[i].tone == TONE_GOOD ? "✓ " : "⚠ ", v->banners.items[i].text);
    for (uint32_t i = 0; i < v->groups.n; i++)
        put_facts(&k, &v->groups.items[i]);
    for (uint32_t i = 0; i < v->tables.n; i++)
        put_table(&k, &v->tables.items[i]);
    if (v->warnings.n || v->remarks.n)
        console_heading(&k, "Remarks", NULL);
    for (uint32_t i = 0; i < v->warnings.n; i++)
        put_sentence(&k, STYLE_WARN, "⚠ ", v->warnings.items[i].text);
    if (v->warnings_dropped)
        put_sentence(
            &k, STYLE_WARN, "⚠ ",
            str_printf(v->a, "%llu more warnings", (unsigned long long)v->warnings_dropped));
    for (uint32_t i = 0; i < v->remarks.n; i++)
        put_sentence(&k, STYLE_DIM, "", v->remarks.items[i]);
    if (o->ascii)
        console_to_ascii(out, from);
}
