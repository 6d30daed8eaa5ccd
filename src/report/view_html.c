/* The summary as an HTML fragment for notebooks and other pages: one <div> with inline styles, without scripts, links
 * or classes. Boxes use the colour of the surrounding text, and verdicts are words, so the fragment fits any colour
 * scheme. */
#include "base/text.h"
#include "report/view.h"

enum { WARNINGS_SHOWN = 5, ROWS_SHOWN = 12 };

/* ---- text ---- */

static const char *entity_of(char c)
{
    return c == '<'    ? "&lt;"
           : c == '>'  ? "&gt;"
           : c == '&'  ? "&amp;"
           : c == '"'  ? "&quot;"
           : c == '\'' ? "&#39;"
                       : NULL;
}

/* Text is text: no byte of it can begin or end an element or an attribute. */
static void put_text(sbuf *out, str s)
{
    sbuf safe = {0};
    text_safe(&safe, s);
    for (size_t i = 0; i < safe.n; i++) {
        const char *entity = entity_of(safe.p[i]);
        if (entity)
            sbuf_puts(out, entity);
        else
            sbuf_putc(out, safe.p[i]);
    }
    out->failed |= safe.failed;
    sbuf_free(&safe);
}

static void put_element(sbuf *out, const char *tag, const char *style, str text)
{
    sbuf_printf(out, *style ? "<%s style=\"%s\">" : "<%s%s>", tag, style);
    put_text(out, text);
    sbuf_printf(out, "</%s>", tag);
}

/* ---- parts ---- */

#define BOX "border:1px solid rgba(128,128,128,.45);border-radius:8px;padding:8px 12px"

static void put_banner(sbuf *out, const view_line *b)
{
    static const char *const edges[] = {[TONE_PLAIN] = "rgb(128,128,128)",
                                        [TONE_GOOD] = "rgb(0,158,115)",
                                        [TONE_FAIR] = "rgb(230,159,0)",
                                        [TONE_POOR] = "rgb(213,94,0)",
                                        [TONE_DIM] = "rgb(128,128,128)"};
    sbuf_printf(out, "<p style=\"margin:8px 0;padding:4px 10px;border-left:4px solid %s\">%s",
                edges[b->tone], b->tone == TONE_GOOD ? "✓ " : "! ");
    put_text(out, b->text);
    sbuf_puts(out, "</p>\n");
}

static void put_fact(sbuf *out, const view_fact *f)
{
    sbuf_puts(out, "<div style=\"" BOX ";min-width:130px\">");
    put_element(out, "dt", "font-size:12px;font-weight:normal;opacity:.75;margin:0", f->name);
    sbuf_puts(out, "<dd style=\"margin:0\">");
    put_element(out, "span", "font-size:20px;font-weight:600", f->value);
    if (f->verdict.n) {
        sbuf_puts(out, " ");
        put_element(out, "span", "font-size:12px;border:1px solid;border-radius:10px;padding:0 7px",
                    f->verdict);
    }
    if (f->note.n)
        put_element(out, "div", "font-size:12px;opacity:.75", f->note);
    sbuf_puts(out, "</dd></div>\n");
}

static void put_facts(sbuf *out, const view_part *p)
{
    sbuf_puts(out, "<dl style=\"display:flex;flex-wrap:wrap;gap:8px;margin:8px 0\">\n");
    for (uint32_t i = 0; i < p->facts.n; i++)
        put_fact(out, &p->facts.items[i]);
    sbuf_puts(out, "</dl>\n");
}

static void put_cell(sbuf *out, const char *tag, bool right, str text)
{
    put_element(out, tag,
                right ? "text-align:right;padding:2px 10px" : "text-align:left;padding:2px 10px",
                text);
}

static void put_table(sbuf *out, const view_table *t)
{
    uint32_t n = t->n_rows < ROWS_SHOWN ? t->n_rows : ROWS_SHOWN;
    sbuf_puts(out, "<div style=\"overflow-x:auto;margin:10px 0\"><table style=\"border-collapse:"
                   "collapse;font-size:13px;margin:0\">");
    sbuf_puts(out, "<thead><tr>");
    for (uint32_t c = 0; c < t->n_columns; c++)
        if (!t->heads[c].bar)
            put_cell(out, "th", t->heads[c].right, t->heads[c].title);
    sbuf_puts(out, "</tr></thead><tbody>\n");
    for (uint32_t r = 0; r < n; r++) {
        sbuf_puts(out, "<tr>");
        for (uint32_t c = 0; c < t->n_columns; c++)
            if (!t->heads[c].bar)
                put_cell(out, "td", t->heads[c].right, t->cells[(size_t)r * t->n_columns + c]);
        sbuf_puts(out, "</tr>\n");
    }
    sbuf_puts(out, "</tbody></table></div>\n");
    if (n < t->n_listed)
        sbuf_printf(out, "<p>%u of %u rows.</p>\n", n, t->n_listed);
}

static void put_section(sbuf *out, const view_section *s)
{
    if (s->title.n)
        put_element(out, "div", "margin:10px 0 4px;font-weight:600", s->title);
    if (s->remark.n)
        put_element(out, "div", "margin:0 0 4px;opacity:.7", s->remark);
    for (uint32_t i = 0; i < s->parts.n; i++) {
        const view_part *p = &s->parts.items[i];
        if (p->kind == PART_FACTS)
            put_facts(out, p);
        else if (p->kind == PART_TABLE)
            put_table(out, &p->table);
        else if (p->kind == PART_LINE)
            put_element(out, "p", "margin:6px 0", p->line.text);
        for (uint32_t k = 0; k < p->items.n; k++)
            put_element(out, "p", "margin:6px 0", p->items.items[k].title);
    }
}

static void put_warning(sbuf *out, const view_warning *w)
{
    sbuf_puts(out, "<li>");
    if (w->node.n) {
        put_element(out, "code", "", w->node);
        sbuf_putc(out, ' ');
    }
    put_text(out, w->text);
    if (w->advice.n) {
        sbuf_putc(out, ' ');
        put_element(out, "span", "opacity:.75", w->advice);
    }
    sbuf_puts(out, "</li>\n");
}

static void put_warnings(sbuf *out, const view *v)
{
    uint64_t all = v->warnings.n + v->warnings_dropped;
    uint32_t shown = v->warnings.n < WARNINGS_SHOWN ? v->warnings.n : WARNINGS_SHOWN;
    if (!v->warnings.n)
        return;
    sbuf_puts(out, "<div style=\"" BOX ";margin:10px 0;border-left:4px solid rgb(230,159,0)\">"
                   "<div style=\"font-weight:600\">");
    text_thousands(out, all);
    sbuf_printf(out, " warning%s</div><ul style=\"margin:4px 0;padding-left:18px\">\n",
                all == 1 ? "" : "s");
    for (uint32_t i = 0; i < shown; i++)
        put_warning(out, &v->warnings.items[i]);
    if (shown < all)
        sbuf_printf(out, "<li>and %llu more</li>\n", (unsigned long long)(all - shown));
    sbuf_puts(out, "</ul></div>\n");
}

void view_write_summary(const view *v, sbuf *out)
{
    sbuf_puts(out, "<div class=\"assay-summary\" style=\"font-family:system-ui,sans-serif;"
                   "font-size:14px;line-height:1.45;max-width:1100px\">\n");
    put_element(out, "div", "font-size:17px;font-weight:600;overflow-wrap:anywhere", v->title);
    if (v->under.n)
        put_element(out, "div", "font-size:12px;opacity:.75", v->under);
    if (v->conclusion.n)
        put_element(out, "p", "margin:8px 0;font-size:15px;overflow-wrap:anywhere", v->conclusion);
    sbuf_putc(out, '\n');
    for (uint32_t i = 0; i < v->banners.n; i++)
        put_banner(out, &v->banners.items[i]);
    for (uint32_t i = 0; i < v->sections.n; i++)
        if (v->sections.items[i].first)
            put_section(out, &v->sections.items[i]);
    put_warnings(out, v);
    sbuf_puts(out, "</div>\n");
}
