/* A view on the console. Sections marked `beside` share the width of a wide terminal with the next one. */
#include "base/text.h"
#include "report/console.h"
#include "report/view.h"

enum { FIRST_WARNINGS = 4, TITLE_LEAST = 24, GAP = 2 };

static console_style style_of(view_tone tone)
{
    static const console_style styles[] = {[TONE_PLAIN] = STYLE_PLAIN,
                                           [TONE_GOOD] = STYLE_GOOD,
                                           [TONE_FAIR] = STYLE_WARN,
                                           [TONE_POOR] = STYLE_WARN,
                                           [TONE_DIM] = STYLE_DIM};
    return styles[tone];
}

/* ---- parts ---- */

/* Behind the value, in as many lines as it takes. */
static void put_note(console *k, const view_fact *f, unsigned column)
{
    sbuf b = {0};
    sbuf_str(&b, f->note);
    sbuf_puts(&b, f->note.n && f->verdict.n ? " · " : "");
    sbuf_str(&b, f->verdict);
    if (b.n)
        console_words(k, f->verdict.n ? style_of(f->tone) : STYLE_DIM, column, true,
                      (str){b.p, (uint32_t)b.n});
    else
        console_line(k);
    sbuf_free(&b);
}

static void put_facts(console *k, const view_part *p)
{
    unsigned name = 0, value = 0;
    for (uint32_t i = 0; i < p->facts.n; i++) {
        unsigned n = text_width(p->facts.items[i].name), w = text_width(p->facts.items[i].value);
        name = n > name ? n : name;
        value = w > value ? w : value;
    }
    for (uint32_t i = 0; i < p->facts.n; i++) {
        const view_fact *f = &p->facts.items[i];
        console_put(k, STYLE_PLAIN, "  ");
        console_safe(k, STYLE_PLAIN, f->name);
        sbuf_repeat(k->out, " ", GAP + name - text_width(f->name) + value - text_width(f->value));
        console_safe(k, STYLE_TITLE, f->value);
        sbuf_repeat(k->out, " ", f->note.n || f->verdict.n ? GAP : 0);
        put_note(k, f, 2 + name + GAP + value + GAP);
    }
}

static void put_rest(console *k, const view_table *t)
{
    if (t->n_rows < t->n_listed)
        console_putf(k, STYLE_DIM, "  %u more; %s\n", t->n_listed - t->n_rows,
                     t->more         ? t->more
                     : k->o->verbose ? "JSON has all of them."
                                     : "--verbose shows them.");
}

/* Columns of the terminal that a column needs: its cells are never cut, a long title may be. */
static unsigned width_needed(const view_table *t, uint32_t i)
{
    unsigned width = text_width(t->heads[i].title);
    width = width < TITLE_LEAST ? width : TITLE_LEAST;
    for (uint32_t r = 0; r < t->n_rows; r++) {
        unsigned cell = text_width(t->cells[(size_t)r * t->n_columns + i]);
        width = cell > width ? cell : width;
    }
    return width + GAP;
}

static console_column column_of(const view_table *t, uint32_t i)
{
    const view_head *h = &t->heads[i];
    return (console_column){.title = t->untitled  ? NULL
                                     : h->title.n ? h->title.p
                                                  : "",
                            .right = h->right,
                            .drop = h->drop,
                            .min = t->wraps             ? (uint8_t)(width_needed(t, i) - GAP)
                                   : h->right || h->bar ? 0
                                   : h->min             ? h->min
                                                        : 10};
}

static void put_cell(console_table *c, const view_table *t, uint32_t r, uint32_t i)
{
    static const char *const marks[] = {[TONE_PLAIN] = "  ",
                                        [TONE_GOOD] = "✓ ",
                                        [TONE_FAIR] = "⚠ ",
                                        [TONE_POOR] = "⚠ ",
                                        [TONE_DIM] = "  "};
    bool marked = i == 0 && view_has_marks(t);
    sbuf *b = table_cell(c, t->heads[i].bar             ? STYLE_BAR
                            : marked && t->marks[r] > 0 ? style_of(t->marks[r])
                                                        : style_of(t->heads[i].tone));
    sbuf_puts(b, marked ? marks[t->marks[r]] : "");
    sbuf_str(b, t->cells[(size_t)r * t->n_columns + i]);
}

/* The first column, and those from `from` to before `to`. */
static void put_columns(console *k, const view_table *t, uint32_t from, uint32_t to)
{
    console_column columns[TABLE_MAX_COLUMNS] = {{0}};
    uint32_t n = 1;
    console_table c;
    columns[0] = column_of(t, 0);
    for (uint32_t i = from; i < to && n < TABLE_MAX_COLUMNS; i++)
        columns[n++] = column_of(t, i);
    table_begin(&c, columns, n, 2);
    for (uint32_t r = 0; r < t->n_rows; r++)
        for (uint32_t i = 0; i < n; i++)
            put_cell(&c, t, r, i ? from + i - 1 : 0);
    table_print(&c, k);
}

static void put_wrapped(console *k, const view_table *t)
{
    for (uint32_t from = 1, to; from < t->n_columns; from = to) {
        unsigned used = width_needed(t, 0) + width_needed(t, from);
        to = from + 1;
        while (to < t->n_columns && used + width_needed(t, to) <= k->width)
            used += width_needed(t, to++);
        if (from > 1)
            console_line(k);
        put_columns(k, t, from, to);
    }
}

static void put_table(console *k, const view_table *t)
{
    if (t->wraps)
        put_wrapped(k, t);
    else
        put_columns(k, t, 1, t->n_columns);
    put_rest(k, t);
}

static void put_spark(console *k, const view_part *p)
{
    sbuf b = {0};
    console_spark(&b, p->spark, p->n_spark, k->width > 4 ? k->width - 4 : 1);
    console_put(k, STYLE_PLAIN, "  ");
    console_put(k, STYLE_BAR, sbuf_cstr(&b));
    console_line(k);
    sbuf_free(&b);
}

static void put_part(console *k, const view_part *p)
{
    switch (p->kind) {
    case PART_FACTS:
        put_facts(k, p);
        break;
    case PART_TABLE:
        put_table(k, &p->table);
        break;
    case PART_LINE:
        console_words(k, style_of(p->line.tone), 2, false, p->line.text);
        break;
    case PART_SPARK:
        put_spark(k, p);
        break;
    }
}

static void put_section(console *k, const view_section *s)
{
    if (s->title.n)
        console_heading(k, s->title.p, s->remark.n ? s->remark.p : NULL);
    for (uint32_t i = 0; i < s->parts.n; i++)
        put_part(k, &s->parts.items[i]);
}

static void put_left(console *k)
{
    put_section(k, k->of);
}

static void put_right(console *k)
{
    put_section(k, (const view_section *)k->of + 1);
}

static void put_sections(console *k, const view *v)
{
    for (uint32_t i = 0; i < v->sections.n; i++) {
        const view_section *s = &v->sections.items[i];
        bool pair = s->beside && i + 1 < v->sections.n;
        k->of = s;
        if (pair)
            console_pair(k, put_left, put_right);
        else
            put_section(k, s);
        i += pair;
    }
}

/* ---- sentences ---- */

static void put_sentence(console *k, console_style style, const char *mark, str text)
{
    sbuf b = {0};
    sbuf_puts(&b, mark);
    sbuf_str(&b, text);
    console_words(k, style, 2, false, (str){b.p, (uint32_t)b.n});
    sbuf_free(&b);
}

static void put_title(console *k, const view *v)
{
    console_words(k, STYLE_TITLE, 0, false, v->title);
    if (v->under.n)
        console_words(k, STYLE_DIM, 2, false, v->under);
    for (uint32_t i = 0; i < v->banners.n; i++) {
        const view_line *b = &v->banners.items[i];
        put_sentence(k, style_of(b->tone), b->tone == TONE_GOOD ? "✓ " : "⚠ ", b->text);
    }
}

static void put_warnings(console *k, const view *v)
{
    for (uint32_t i = 0; i < v->warnings.n; i++)
        put_sentence(k, STYLE_WARN, "⚠ ", v->warnings.items[i].text);
    if (v->warnings_dropped)
        put_sentence(
            k, STYLE_WARN, "⚠ ",
            str_printf(v->a, "%llu more warnings", (unsigned long long)v->warnings_dropped));
}

static void put_remarks(console *k, const view *v)
{
    if (v->remarks.n)
        console_heading(k, "Remarks", NULL);
    for (uint32_t i = 0; i < v->remarks.n; i++)
        put_sentence(k, STYLE_DIM, "", v->remarks.items[i].text);
}

void view_write_console(const view *v, sbuf *out)
{
    console k = {.o = v->o, .out = out, .width = (unsigned)(v->o->width ? v->o->width : 80)};
    size_t from = out->n;
    put_title(&k, v);
    if (v->warnings.n <= FIRST_WARNINGS)
        put_warnings(&k, v);
    put_sections(&k, v);
    if (v->warnings.n > FIRST_WARNINGS) {
        console_heading(&k, "Warnings", NULL);
        put_warnings(&k, v);
    }
    put_remarks(&k, v);
    if (v->o->ascii)
        console_to_ascii(out, from);
}
