/* Prints a view on the console. Sections marked `beside` are placed next to the following one on a wide terminal. */

#include "base/text.h"
#include "report/console.h"
#include "report/view.h"

enum {
    FIRST_WARNINGS = 4,
    TITLE_LEAST = 24,
    GAP = 2,
    VIEW_COLUMNS_MOST = 256,
    WIDEST = 250,
    NOTE_LEAST = 20
};

static console_style style_of(view_tone tone)
{
    static const console_style styles[] = {
        [TONE_PLAIN] = STYLE_PLAIN,   [TONE_GOOD] = STYLE_GOOD,    [TONE_FAIR] = STYLE_WARN,
        [TONE_POOR] = STYLE_WARN,     [TONE_DIM] = STYLE_DIM,      [TONE_COMPUTE] = STYLE_COMPUTE,
        [TONE_MEMORY] = STYLE_MEMORY, [TONE_STRONG] = STYLE_TITLE, [TONE_BAR] = STYLE_BAR};
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
    sbuf_puts(&b, f->range.n ? ": " : "");
    sbuf_str(&b, f->range);
    if (b.n)
        console_words(k, f->verdict.n ? style_of(f->tone) : STYLE_DIM, column, true,
                      (str){b.p, (uint32_t)b.n});
    else
        console_line(k);
    sbuf_free(&b);
}

/* Columns of the terminal that names, bars and values need. */
typedef struct fact_widths {
    unsigned name, bar, value;
} fact_widths;

static fact_widths measure_facts(const view_part *p)
{
    fact_widths w = {0};
    for (uint32_t i = 0; i < p->facts.n; i++) {
        const view_fact *f = &p->facts.items[i];
        unsigned name = text_width(f->name), bar = text_width(f->bar), value = text_width(f->value);
        w.name = name > w.name ? name : w.name;
        w.bar = f->bar.n && bar + GAP > w.bar ? bar + GAP : w.bar;
        w.value = value > w.value ? value : w.value;
    }
    return w;
}

static void put_fact(console *k, const view_fact *f, fact_widths w)
{
    view_tone tone = view_tone_of(f->name);
    console_put(k, STYLE_PLAIN, "  ");
    console_safe(k, STYLE_PLAIN, f->name);
    sbuf_repeat(k->out, " ", GAP + w.name - text_width(f->name));
    if (w.bar) {
        console_put(k, tone ? style_of(tone) : STYLE_BAR, f->bar.n ? f->bar.p : "");
        sbuf_repeat(k->out, " ", w.bar - text_width(f->bar));
    }
    sbuf_repeat(k->out, " ", w.value - text_width(f->value));
    console_safe(k, STYLE_TITLE, f->value);
    bool noted = f->note.n || f->verdict.n;
    unsigned column = 2 + w.name + GAP + w.bar + w.value + GAP;
    bool below = noted && column + NOTE_LEAST > k->width;
    console_put(k, STYLE_PLAIN, below ? "\n    " : noted ? "  " : "");
    put_note(k, f, below ? 4 : column);
}

static void put_facts(console *k, const view_part *p)
{
    fact_widths w = measure_facts(p);
    if (2 + w.name + GAP + w.bar + w.value + GAP + NOTE_LEAST > k->width)
        w.bar = 0;
    for (uint32_t i = 0; i < p->facts.n; i++)
        put_fact(k, &p->facts.items[i], w);
}

static void put_rest(console *k, const view_table *t)
{
    if (t->n_rows < t->n_listed && (!t->more || *t->more))
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
    width += i == 0 && view_has_marks(t) ? 2 : 0;
    return (width < WIDEST ? width : WIDEST) + GAP;
}

static console_column column_of(const view_table *t, uint32_t i, bool wrapped)
{
    const view_head *h = &t->heads[i];
    return (console_column){.title = t->untitled  ? NULL
                                     : h->title.n ? h->title.p
                                                  : "",
                            .right = h->right,
                            .drop = h->drop,
                            .min = wrapped              ? (uint8_t)(width_needed(t, i) - GAP)
                                   : h->right || h->bar ? 0
                                   : h->min             ? h->min
                                                        : 10};
}

/* ---- units below each other ---- */

enum { UNIT_WIDTH = 4 };

/* Columns of the unit with its blank: 4 of "97.49 MiB", 0 of "512". A cell that is no number has none. */
static unsigned unit_width(str cell)
{
    uint32_t i = cell.n;
    if (!cell.n)
        return 0;
    while (i && cell.p[i - 1] != ' ')
        i--;
    str unit = {cell.p + i, cell.n - i};
    unsigned width = text_width(unit);
    bool number = i > 1 && cell.p[i - 2] >= '0' && cell.p[i - 2] <= '9';
    return number && width < UNIT_WIDTH && !(unit.p[0] >= '0' && unit.p[0] <= '9') ? width + 1 : 0;
}

static bool ends_in_digit(str cell)
{
    return cell.n && cell.p[cell.n - 1] >= '0' && cell.p[cell.n - 1] <= '9';
}

static unsigned widest_unit(const view_table *t, uint32_t column)
{
    unsigned widest = 0;
    for (uint32_t r = 0; t->heads[column].right && r < t->n_rows; r++) {
        unsigned w = unit_width(t->cells[(size_t)r * t->n_columns + column]);
        widest = w > widest ? w : widest;
    }
    return widest;
}

static console_style cell_style(const view_table *t, uint32_t r, uint32_t i, bool marked)
{
    const view_head *h = &t->heads[i];
    if (h->words)
        return style_of(view_tone_of(t->cells[(size_t)r * t->n_columns + i]));
    return h->bar                      ? STYLE_BAR
           : marked && t->marks[r] > 0 ? style_of(t->marks[r])
                                       : style_of(h->tone);
}

static void put_cell(console_table *c, const view_table *t, uint32_t r, uint32_t i)
{
    static const char *const marks[] = {[TONE_PLAIN] = "  ",
                                        [TONE_GOOD] = "✓ ",
                                        [TONE_FAIR] = "⚠ ",
                                        [TONE_POOR] = "⚠ ",
                                        [TONE_DIM] = "  "};
    bool marked = i == 0 && view_has_marks(t);
    sbuf *b = table_cell(c, cell_style(t, r, i, marked));
    sbuf_puts(b, marked && t->marks[r] <= TONE_DIM ? marks[t->marks[r]] : "");
    sbuf_str(b, t->cells[(size_t)r * t->n_columns + i]);
}

static void pad_unit(console_table *c, str cell, unsigned unit)
{
    unsigned own = unit_width(cell);
    if (unit > own && (own || ends_in_digit(cell)))
        sbuf_repeat(&c->text, " ", unit - own);
}

/* Columns of a table in their order. */
typedef struct column_list {
    uint32_t of[VIEW_COLUMNS_MOST];
    uint32_t n;
} column_list;

static void put_columns(console *k, const view_table *t, const column_list *list, bool wrapped)
{
    console_column columns[TABLE_MAX_COLUMNS] = {{0}};
    unsigned units[TABLE_MAX_COLUMNS];
    uint32_t n = list->n < TABLE_MAX_COLUMNS ? list->n : TABLE_MAX_COLUMNS;
    console_table c;
    for (uint32_t i = 0; i < n; i++) {
        columns[i] = column_of(t, list->of[i], wrapped);
        units[i] = wrapped ? 0 : widest_unit(t, list->of[i]);
    }
    table_begin(&c, columns, n, 2);
    for (uint32_t r = 0; r < t->n_rows; r++)
        for (uint32_t i = 0; i < n; i++) {
            put_cell(&c, t, r, list->of[i]);
            pad_unit(&c, t->cells[(size_t)r * t->n_columns + list->of[i]], units[i]);
        }
    table_print(&c, k);
}

/* All, or those that are never dropped. */
static column_list columns_of(const view_table *t, bool all)
{
    column_list list = {.n = 0};
    for (uint32_t i = 0; i < t->n_columns && list.n < VIEW_COLUMNS_MOST; i++)
        if (all || !t->heads[i].drop)
            list.of[list.n++] = i;
    return list;
}

/* As many columns as fit, the others below, each time behind the first column. */
static void put_wrapped(console *k, const view_table *t, const column_list *all)
{
    for (uint32_t from = 1; from < all->n;) {
        column_list some = {.of = {all->of[0]}, .n = 1};
        unsigned used = width_needed(t, all->of[0]);
        bool again = from > 1;
        do {
            used += width_needed(t, all->of[from]);
            some.of[some.n++] = all->of[from++];
        } while (from < all->n && some.n < TABLE_MAX_COLUMNS &&
                 used + width_needed(t, all->of[from]) <= k->width);
        if (again)
            console_line(k);
        put_columns(k, t, &some, true);
    }
}

/* Whether the columns that are never dropped have room beside each other. */
static bool has_room(const console *k, const view_table *t, const column_list *kept)
{
    unsigned sum = 0;
    for (uint32_t i = 0; i < kept->n; i++) {
        const view_head *h = &t->heads[kept->of[i]];
        unsigned needed = width_needed(t, kept->of[i]), least = (h->min ? h->min : 10) + GAP;
        sum += !h->right && !h->bar && least < needed ? least : needed;
    }
    return sum <= k->width;
}

static void put_table(console *k, const view_table *t)
{
    column_list all = columns_of(t, true), kept = columns_of(t, t->wraps);
    if (t->wraps || (kept.n > 1 && !has_room(k, t, &kept)))
        put_wrapped(k, t, &kept);
    else
        put_columns(k, t, &all, false);
    put_rest(k, t);
}

static void put_spark(console *k, const view_part *p)
{
    enum { LABEL = 12 };
    sbuf b = {0};
    unsigned taken = p->label.n ? LABEL + 4 : 4;
    console_spark(&b, p->spark, p->n_spark, k->width > taken + 14 ? k->width - taken : 14);
    console_put(k, STYLE_PLAIN, "  ");
    if (p->label.n)
        console_putf(k, STYLE_PLAIN, "%-*s", LABEL, p->label.p);
    console_put(k, STYLE_BAR, sbuf_cstr(&b));
    console_line(k);
    sbuf_free(&b);
}

static void put_items(console *k, const view_part *p)
{
    for (uint32_t i = 0; i < p->items.n; i++) {
        const view_item *x = &p->items.items[i];
        console_put(k, STYLE_GOOD, "  • ");
        console_words(k, STYLE_TITLE, 4, true, x->title);
        if (x->text.n)
            console_words(k, STYLE_PLAIN, 4, false, x->text);
        if (x->note.n)
            console_words(k, STYLE_DIM, 4, false, x->note);
    }
    if (p->items.n < p->n_listed)
        console_putf(k, STYLE_DIM, "  and %u more with --verbose\n", p->n_listed - p->items.n);
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
    case PART_ITEMS:
        put_items(k, p);
        break;
    }
}

static void put_section(console *k, const view_section *s)
{
    if (s->title.n)
        console_heading(k, s->title.p, s->remark.n ? s->remark.p : NULL);
    for (uint32_t i = 0; i < s->parts.n; i++) {
        bool tables = i && s->parts.items[i].kind == PART_TABLE &&
                      s->parts.items[i - 1].kind == PART_TABLE;
        if (tables) /* the titles of the second would look like a row */
            console_line(k);
        put_part(k, &s->parts.items[i]);
    }
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
        if (s->head)
            continue;
        k->of = s;
        if (pair)
            console_pair(k, put_left, put_right);
        else
            put_section(k, s);
        i += pair;
    }
}

/* ---- sentences ---- */

/* The mark, then words that are aligned behind it. */
static void put_sentence(console *k, console_style style, const char *mark, str text)
{
    console_put(k, style, "  ");
    console_put(k, style, mark);
    console_words(k, style, *mark ? 4 : 2, true, text);
}

/* Title left, the rest of the line right, and a rule below. */
static void put_ruled(console *k, const view *v)
{
    unsigned used = text_width(v->under);
    console_on(k, STYLE_TITLE);
    text_fit(k->out, v->title, k->width > used + 12 ? k->width - used - 2 : 10);
    console_on(k, STYLE_PLAIN);
    console_put(k, STYLE_PLAIN, v->under.n ? "  " : "");
    console_safe(k, STYLE_DIM, v->under);
    console_line(k);
    console_rule(k);
}

static void put_title(console *k, const view *v)
{
    if (v->kind->ruled) {
        put_ruled(k, v);
        return;
    }
    console_words(k, STYLE_TITLE, 0, false, v->title);
    if (v->under.n)
        console_words(k, STYLE_DIM, 2, false, v->under);
}

/* Whether what follows begins with an empty line of its own: a heading. */
static bool heading_follows(const view *v)
{
    if (v->banners.n || v->warnings.n)
        return false;
    for (uint32_t i = 0; i < v->sections.n; i++)
        if (v->sections.items[i].parts.n)
            return !v->sections.items[i].head && v->sections.items[i].title.n;
    return true;
}

static void put_conclusion(console *k, const view *v)
{
    if (!v->conclusion.n)
        return;
    console_words(k, STYLE_TITLE, 2, false, v->conclusion);
    if (!heading_follows(v))
        console_line(k);
}

static bool put_head(console *k, const view *v)
{
    bool any = false;
    for (uint32_t i = 0; i < v->sections.n; i++)
        for (uint32_t n = 0; v->sections.items[i].head && n < v->sections.items[i].parts.n; n++) {
            put_part(k, &v->sections.items[i].parts.items[n]);
            any = true;
        }
    return any;
}

static void put_banners(console *k, const view *v)
{
    for (uint32_t i = 0; i < v->banners.n; i++) {
        const view_line *b = &v->banners.items[i];
        put_sentence(k, style_of(b->tone), b->tone == TONE_GOOD ? "✓ " : "⚠ ", b->text);
    }
}

/* ---- warnings ---- */

static void put_warning(console *k, const view_warning *w, bool with_advice)
{
    console_warning(k, "  ⚠ ", &(note){.node = w->node, .text = w->text, .advice = w->advice},
                    with_advice);
}

static bool warnings_first(const view *v)
{
    return v->warnings.n <= FIRST_WARNINGS && v->warnings_dropped == 0;
}

/* The first screen has everything when it is little, else the beginning. */
static void put_first_warnings(console *k, const view *v)
{
    bool all = warnings_first(v);
    for (uint32_t i = 0; i < v->warnings.n && i < FIRST_WARNINGS; i++)
        put_warning(k, &v->warnings.items[i], all);
    if (!all)
        console_putf(k, STYLE_DIM, "  ⚠ and %llu more, listed at the end\n",
                     (unsigned long long)(v->warnings.n - FIRST_WARNINGS + v->warnings_dropped));
}

static void put_all_warnings(console *k, const view *v)
{
    if (warnings_first(v))
        return;
    console_heading(k, "Warnings", NULL);
    for (uint32_t i = 0; i < v->warnings.n; i++)
        put_warning(k, &v->warnings.items[i], true);
    if (v->warnings_dropped)
        console_putf(k, STYLE_DIM, "  and %llu more of the same kinds\n",
                     (unsigned long long)v->warnings_dropped);
}

static void put_remarks(console *k, const view *v)
{
    if (v->remarks.n)
        console_heading(k, "Remarks", NULL);
    for (uint32_t i = 0; i < v->remarks.n; i++)
        put_sentence(k, STYLE_DIM, "", v->remarks.items[i].text);
}

static unsigned width_of(const report_options *o)
{
    enum { WIDTH_MIN = 40, WIDTH_MAX = 1000 }; /* as the option --columns */
    int width = o->width ? o->width : 80;
    return (unsigned)(width < WIDTH_MIN ? WIDTH_MIN : width > WIDTH_MAX ? WIDTH_MAX : width);
}

void view_write_console(const view *v, sbuf *out)
{
    console k = {.o = v->o, .out = out, .width = width_of(v->o)};
    size_t from = out->n;
    put_title(&k, v);
    put_conclusion(&k, v);
    if (put_head(&k, v) && v->banners.n)
        console_line(&k);
    put_banners(&k, v);
    put_first_warnings(&k, v);
    put_sections(&k, v);
    put_all_warnings(&k, v);
    put_remarks(&k, v);
    if (v->o->ascii)
        console_to_ascii(out, from);
}
