/* A view as Markdown, for pull request comments: values and short tables first, long tables folded. */
#include "base/text.h"
#include "report/markdown.h"
#include "report/view.h"

enum { SHORT_TABLE = 12, WARNINGS_SHOWN = 5 };

static const char *const tone_marks[] = {
    [TONE_PLAIN] = "",  [TONE_GOOD] = "✅ ", [TONE_FAIR] = "⚠️ ",
    [TONE_POOR] = "❌ ", [TONE_DIM] = "",    [TONE_COMPUTE] = "",
    [TONE_MEMORY] = "", [TONE_STRONG] = "", [TONE_BAR] = ""};

static void put_facts(sbuf *out, const view_part *p)
{
    sbuf_puts(out, "\n| | | |\n|---|---:|---|\n");
    for (uint32_t i = 0; i < p->facts.n; i++) {
        const view_fact *f = &p->facts.items[i];
        sbuf_puts(out, "| ");
        md_text(out, f->name);
        sbuf_puts(out, " | ");
        md_text(out, f->value);
        sbuf_puts(out, " | ");
        md_text(out, f->note);
        sbuf_puts(out, f->note.n && f->verdict.n ? " · " : "");
        md_text(out, f->verdict);
        sbuf_puts(out, f->range.n ? ": " : "");
        md_text(out, f->range);
        sbuf_puts(out, " |\n");
    }
}

static void put_row(sbuf *out, const view_table *t, uint32_t r)
{
    sbuf_puts(out, "|");
    for (uint32_t c = 0; c < t->n_columns; c++) {
        if (t->heads[c].bar)
            continue;
        sbuf_printf(out, " %s", c == 0 ? tone_marks[t->marks[r]] : "");
        md_text(out, t->cells[(size_t)r * t->n_columns + c]);
        sbuf_puts(out, " |");
    }
    sbuf_putc(out, '\n');
}

static void put_head(sbuf *out, const view_table *t)
{
    sbuf_puts(out, "|");
    for (uint32_t c = 0; c < t->n_columns; c++) {
        if (t->heads[c].bar)
            continue;
        sbuf_putc(out, ' ');
        md_text(out, t->heads[c].title);
        sbuf_puts(out, " |");
    }
    sbuf_puts(out, "\n|");
    for (uint32_t c = 0; c < t->n_columns; c++)
        sbuf_puts(out, t->heads[c].bar ? "" : t->heads[c].right ? "---:|" : "---|");
    sbuf_putc(out, '\n');
}

static void put_table(sbuf *out, const view_table *t)
{
    sbuf_putc(out, '\n');
    put_head(out, t);
    for (uint32_t r = 0; r < t->n_rows; r++)
        put_row(out, t, r);
    if (t->n_rows < t->n_listed)
        sbuf_printf(out, "\n%u of %u rows.\n", t->n_rows, t->n_listed);
}

static void put_line(sbuf *out, str text)
{
    sbuf_putc(out, '\n');
    md_text(out, text);
    sbuf_putc(out, '\n');
}

static void put_items(sbuf *out, const view_part *p)
{
    sbuf_putc(out, '\n');
    for (uint32_t i = 0; i < p->items.n; i++) {
        const view_item *x = &p->items.items[i];
        sbuf_puts(out, "- **");
        md_text(out, x->title);
        sbuf_puts(out, "**: ");
        md_text(out, x->text);
        sbuf_puts(out, x->text.n && x->note.n ? " " : "");
        md_text(out, x->note);
        sbuf_putc(out, '\n');
    }
}

static bool is_long(const view_section *s)
{
    for (uint32_t i = 0; i < s->parts.n; i++)
        if (s->parts.items[i].kind == PART_TABLE &&
            (s->parts.items[i].table.n_rows > SHORT_TABLE || !s->first))
            return true;
    return false;
}

static void put_section(sbuf *out, const view_section *s)
{
    bool fold = s->title.n && is_long(s);
    if (s->title.n || fold) {
        sbuf_puts(out, fold ? "\n<details><summary>" : "\n**");
        md_text(out, s->title);
        sbuf_puts(out, fold ? "" : "**");
        sbuf_puts(out, s->remark.n ? " · " : "");
        md_text(out, s->remark);
        sbuf_puts(out, fold ? "</summary>\n" : "\n");
    }
    for (uint32_t i = 0; i < s->parts.n; i++) {
        const view_part *p = &s->parts.items[i];
        if (p->kind == PART_FACTS)
            put_facts(out, p);
        else if (p->kind == PART_TABLE)
            put_table(out, &p->table);
        else if (p->kind == PART_LINE)
            put_line(out, p->line.text);
        else if (p->kind == PART_ITEMS)
            put_items(out, p);
    }
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
        sbuf_printf(out, "- %llu more warning%s\n", (unsigned long long)more, TEXT_S(more));
}

void view_write_md(const view *v, sbuf *out)
{
    sbuf_puts(out, "### assay: ");
    md_text(out, v->title);
    sbuf_putc(out, '\n');
    if (v->under.n) {
        sbuf_putc(out, '\n');
        md_text(out, v->under);
        sbuf_putc(out, '\n');
    }
    if (v->conclusion.n)
        put_line(out, v->conclusion);
    for (uint32_t i = 0; i < v->banners.n; i++) {
        sbuf_printf(out, "\n%s", tone_marks[v->banners.items[i].tone]);
        md_text(out, v->banners.items[i].text);
        sbuf_putc(out, '\n');
    }
    put_warnings(out, v, v->o->verbose);
    for (uint32_t i = 0; i < v->sections.n; i++)
        put_section(out, &v->sections.items[i]);
    for (uint32_t i = 0; i < v->remarks.n; i++)
        put_line(out, v->remarks.items[i].text);
    sbuf_printf(out, "\n<sub>assay %s</sub>\n", assay_version());
}
