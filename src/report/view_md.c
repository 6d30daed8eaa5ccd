/* A view as Markdown, for a pull request's comment: figures and short tables first, long ones in folds. */
#include "base/text.h"
#include "report/markdown.h"
#include "report/view.h"

enum { SHORT_TABLE = 12, ROWS_SHOWN = 50, WARNINGS_SHOWN = 5 };

static void put_facts(sbuf *out, const view_group *g)
{
    sbuf_puts(out, "\n| | | |\n|---|---:|---|\n");
    for (uint32_t i = 0; i < g->facts.n; i++) {
        const view_fact *f = &g->facts.items[i];
        sbuf_puts(out, "| ");
        md_text(out, f->name);
        sbuf_puts(out, " | ");
        md_text(out, f->value);
        sbuf_puts(out, " | ");
        md_text(out, f->note);
        sbuf_puts(out, f->note.n && f->verdict.n ? " · " : "");
        md_text(out, f->verdict);
        sbuf_puts(out, " |\n");
    }
}

static void put_row(sbuf *out, const view_table *t, uint32_t r)
{
    sbuf_puts(out, "|");
    for (uint32_t c = 0; c < t->n_columns; c++) {
        sbuf_putc(out, ' ');
        md_text(out, t->cells[(size_t)r * t->n_columns + c]);
        sbuf_puts(out, " |");
    }
    sbuf_putc(out, '\n');
}

static void put_head(sbuf *out, const view_table *t)
{
    sbuf_puts(out, "|");
    for (uint32_t c = 0; c < t->n_columns; c++) {
        sbuf_putc(out, ' ');
        md_text(out, t->heads[c]);
        sbuf_puts(out, " |");
    }
    sbuf_puts(out, "\n|");
    for (uint32_t c = 0; c < t->n_columns; c++)
        sbuf_puts(out, t->right[c] ? "---:|" : "---|");
    sbuf_putc(out, '\n');
}

static void put_table(sbuf *out, const view_table *t, bool all)
{
    uint32_t n = all || t->n_rows < ROWS_SHOWN ? t->n_rows : ROWS_SHOWN;
    bool fold = t->n_rows > SHORT_TABLE || !t->first;
    sbuf_puts(out, fold ? "\n<details><summary>" : "\n**");
    md_text(out, t->title);
    if (fold && n < t->n_listed)
        sbuf_printf(out, ": %u of %u", n, t->n_listed);
    sbuf_puts(out, fold ? "</summary>\n\n" : "**\n\n");
    put_head(out, t);
    for (uint32_t r = 0; r < n; r++)
        put_row(out, t, r);
    sbuf_puts(out, fold ? "\n</details>\n" : "");
}

static void put_warnings(sbuf *out, const view *v, bool all)
{
    uint32_t n = v->warnings.n, shown = all || n < WARNINGS_SHOWN ? n : WARNINGS_SHOWN;
    for (uint32_t i = 0; i < shown; i++) {
        sbuf_puts(out, i ? "- " : "\n- ");
        md_text(out, v->warnings.items[i].text);
        sbuf_putc(out, '\n');
    }
    uint64_t more = n - shown + v->warnings_dropped;
    if (more)
        sbuf_printf(out, "- %llu more warnings\n", (unsigned long long)more);
}

void view_write_md(const view *v, const report_options *o, sbuf *out)
{
    static const char *const marks[] = {
        [TONE_PLAIN] = "", [TONE_GOOD] = "✅ ", [TONE_FAIR] = "⚠️ ", [TONE_POOR] = "❌ "};
    sbuf_puts(out, "### assay: ");
    md_text(out, v->title);
    sbuf_putc(out, '\n');
    if (v->under.n) {
        sbuf_putc(out, '\n');
        md_text(out, v->under);
        sbuf_putc(out, '\n');
    }
    for (uint32_t i = 0; i < v->banners.n; i++) {
        sbuf_printf(out, "\n%s", marks[v->banners.items[i].tone]);
        md_text(out, v->banners.items[i].text);
        sbuf_putc(out, '\n');
    }
    for (uint32_t i = 0; i < v->groups.n; i++)
        put_facts(out, &v->groups.items[i]);
    for (uint32_t i = 0; i < v->tables.n; i++)
        put_table(out, &v->tables.items[i], o->verbose);
    put_warnings(out, v, o->verbose);
    for (uint32_t i = 0; i < v->remarks.n; i++) {
        sbuf_putc(out, '\n');
        md_text(out, v->remarks.items[i]);
        sbuf_putc(out, '\n');
    }
    sbuf_printf(out, "\n<sub>assay %s</sub>\n", assay_version());
}
