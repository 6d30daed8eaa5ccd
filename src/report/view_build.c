/* Adds parts to a view: banners, sections, facts, lines, sparklines, tables. Out of memory is recorded in the arena,
 * and view_make() reports it. */
#include "report/view.h"

const char *const view_tone_names[] = {
    [TONE_PLAIN] = "plain",   [TONE_GOOD] = "good",     [TONE_FAIR] = "fair",
    [TONE_POOR] = "poor",     [TONE_DIM] = "dim",       [TONE_COMPUTE] = "compute",
    [TONE_MEMORY] = "memory", [TONE_STRONG] = "strong", [TONE_BAR] = "bar"};

view_tone view_tone_of(str word)
{
    static const struct {
        const char *word;
        view_tone tone;
    } words[] = {
        {"pass", TONE_GOOD},
        {"improvement", TONE_GOOD},
        {"faster", TONE_GOOD},
        {"better", TONE_GOOD},
        {"quiet", TONE_GOOD},
        {"found", TONE_GOOD},
        {"regression", TONE_POOR},
        {"missed", TONE_POOR},
        {"slower", TONE_POOR},
        {"worse", TONE_POOR},
        {"fired", TONE_POOR},
        {"inconclusive", TONE_FAIR},
        {"inconclusive", TONE_FAIR},
        {"none", TONE_FAIR},
        {"not run", TONE_FAIR},
        {"OOM", TONE_POOR},
        {"compute", TONE_COMPUTE},
        {"memory", TONE_MEMORY},
        {"compute-bound", TONE_COMPUTE},
        {"memory-bound", TONE_MEMORY},
        {"unknown", TONE_FAIR},
        {"free", TONE_DIM},
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (str_is(word, words[i].word))
            return words[i].tone;
    return TONE_PLAIN;
}

bool view_has_marks(const view_table *t)
{
    for (uint32_t r = 0; r < t->n_rows; r++)
        if (t->marks[r] != TONE_PLAIN)
            return true;
    return false;
}

void view_add_banner(view *v, view_tone tone, str text)
{
    view_line *line = text.n ? VEC_PUSH(v->a, &v->banners) : NULL;
    if (line)
        *line = (view_line){.text = text, .tone = tone};
}

view_section *view_add_section(view *v, str title, str remark)
{
    view_section *s = VEC_PUSH(v->a, &v->sections);
    if (s)
        *s = (view_section){.title = title, .remark = remark};
    return s;
}

static view_section *last_section(view *v)
{
    return v->sections.n ? &v->sections.items[v->sections.n - 1]
                         : view_add_section(v, (str){0}, (str){0});
}

static view_part *add_part(view *v, view_part_kind kind)
{
    view_section *s = last_section(v);
    view_part *part = s ? VEC_PUSH(v->a, &s->parts) : NULL;
    if (part)
        *part = (view_part){.kind = kind};
    return part;
}

/* Facts one after the other share a part, so that their columns line up. */
static view_part *facts_part(view *v)
{
    view_section *s = last_section(v);
    view_part *last = s && s->parts.n ? &s->parts.items[s->parts.n - 1] : NULL;
    return last && last->kind == PART_FACTS ? last : add_part(v, PART_FACTS);
}

void view_add_fact(view *v, view_fact fact)
{
    view_part *part = facts_part(v);
    view_fact *to = part ? VEC_PUSH(v->a, &part->facts) : NULL;
    if (to)
        *to = fact;
}

void view_add_line(view *v, view_tone tone, str text)
{
    view_part *part = text.n ? add_part(v, PART_LINE) : NULL;
    if (part)
        part->line = (view_line){.text = text, .tone = tone};
}

view_part *view_add_items(view *v)
{
    return add_part(v, PART_ITEMS);
}

void view_add_spark(view *v, str label, const uint64_t *heights, uint32_t n)
{
    view_part *part = n ? add_part(v, PART_SPARK) : NULL;
    if (!part)
        return;
    part->label = label;
    part->spark = heights;
    part->n_spark = n;
}

view_table *view_add_table(view *v, uint32_t n_columns, uint32_t n_rows)
{
    view_head *heads = ARENA_ARRAY(v->a, view_head, n_columns);
    str *cells = ARENA_ARRAY(v->a, str, (size_t)n_columns * n_rows);
    uint8_t *marks = ARENA_ARRAY(v->a, uint8_t, n_rows);
    view_part *part = heads && cells && marks ? add_part(v, PART_TABLE) : NULL;
    if (!part)
        return NULL;
    part->table = (view_table){.n_columns = n_columns,
                               .n_rows = n_rows,
                               .n_listed = n_rows,
                               .heads = heads,
                               .cells = cells,
                               .marks = marks};
    return &part->table;
}

view_table *view_add_values(view *v, const view_column *columns, uint32_t n_columns,
                            const field_value *rows, uint32_t n_rows)
{
    view_table *t = n_rows ? view_add_table(v, n_columns, n_rows) : NULL;
    for (uint32_t c = 0; t && c < n_columns; c++)
        t->heads[c] = (view_head){.title = view_text(v, &v->root, columns[c].title),
                                  .right = columns[c].right,
                                  .drop = columns[c].drop ? columns[c].drop : (uint8_t)c,
                                  .min = columns[c].min,
                                  .tone = columns[c].tone};
    for (uint32_t r = 0; t && r < n_rows; r++)
        for (uint32_t c = 0; c < n_columns; c++)
            t->cells[(size_t)r * n_columns + c] = view_cell(v, &columns[c], &rows[r]);
    return t;
}
