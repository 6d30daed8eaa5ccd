/* A comparison as Markdown, for a pull request's comment: totals, and of two the layers in a fold. */
#include <inttypes.h>

#include "report/compare_impl.h"
#include "report/markdown.h"

enum { LAYERS_SHOWN = 50 };

static void md_head(const comparison *c, sbuf *out)
{
    sbuf_puts(out, "### assay: ");
    for (uint32_t i = 0; i < c->n_models; i++) {
        sbuf_puts(out, i ? " · " : "");
        md_code(out, c->models[i].label);
    }
    sbuf_puts(out, "\n\n| |");
    for (uint32_t i = 0; i < c->n_models; i++) {
        sbuf_putc(out, ' ');
        md_code(out, c->models[i].label);
        sbuf_puts(out, i ? " | |" : " |");
    }
    sbuf_puts(out, "\n|---|");
    for (uint32_t i = 0; i < c->n_models; i++)
        sbuf_puts(out, i ? "---:|---:|" : "---:|");
    sbuf_putc(out, '\n');
}

static void md_total(const comparison *c, const total_row *row, sbuf *out)
{
    double first = compare_total(&c->models[0], row);
    sbuf_printf(out, "| %s |", row->title);
    for (uint32_t i = 0; i < c->n_models; i++) {
        double v = compare_total(&c->models[i], row);
        sbuf_putc(out, ' ');
        compare_put_total(out, row, v);
        sbuf_puts(out, " |");
        if (i == 0)
            continue;
        sbuf_putc(out, ' ');
        compare_put_ratio(out, v, first);
        sbuf_puts(out, " |");
    }
    sbuf_putc(out, '\n');
}

static void md_layer(const comparison_layer *l, sbuf *out)
{
    const comparison_side *a = l->before, *b = l->after;
    sbuf_printf(out, "| %s | ", comparison_change_words[l->change]);
    md_code(out, comparison_name(l));
    sbuf_puts(out, " | ");
    md_text(out, l->type);
    sbuf_puts(out, " | ");
    comparison_put_shapes(out, l);
    sbuf_puts(out, " | ");
    compare_put_delta(out, COMPARE_FIGURE(a, macs), COMPARE_FIGURE(b, macs), false);
    sbuf_puts(out, " | ");
    compare_put_delta(out, COMPARE_FIGURE(a, parameters), COMPARE_FIGURE(b, parameters), false);
    sbuf_puts(out, " | ");
    compare_put_delta(out, COMPARE_FIGURE(a, memory), COMPARE_FIGURE(b, memory), true);
    sbuf_puts(out, " | ");
    sbuf changes = {0};
    comparison_put_attributes(&changes, l);
    md_text(out, (str){changes.p, (uint32_t)changes.n});
    sbuf_free(&changes);
    sbuf_puts(out, " |\n");
}

static void md_layers(const comparison *c, const report_options *o, sbuf *out)
{
    uint32_t n = o->verbose || c->n_layers < LAYERS_SHOWN ? c->n_layers : LAYERS_SHOWN;
    if (!c->n_layers) {
        sbuf_puts(out, "\nNo layer differs.\n");
        return;
    }
    sbuf_printf(
        out,
        "\n<details><summary>Layers that differ: %" PRIu32 " of %" PRIu32
        "</summary>\n\n| | layer | type | output | MACs | params | bytes moved | attributes |\n"
        "|---|---|---|---|---:|---:|---:|---|\n",
        n, c->n_layers);
    for (uint32_t i = 0; i < n; i++)
        md_layer(&c->layers[i], out);
    sbuf_puts(out, "\n</details>\n");
}

static void md_sentence(sbuf *out, str s)
{
    if (s.n)
        sbuf_putc(out, ' ');
    md_text(out, s);
}

static void md_timings(const comparison *c, sbuf *out)
{
    for (uint32_t i = 0; i < c->n_measured; i++) {
        const comparison_timing *t = &c->measured[i];
        sbuf_puts(out, "\n");
        md_code(out, t->label);
        sbuf_printf(out, " beside the first: **%s**", t->verdict);
        if (isnan(t->ratio)) {
            sbuf_putc(out, '.');
            md_sentence(out, t->why);
            sbuf_putc(out, '\n');
            continue;
        }
        sbuf_puts(out, ", time ");
        report_fixed(out, t->ratio, 3);
        sbuf_puts(out, "×");
        if (!isnan(t->low)) {
            sbuf_puts(out, " (99 % interval ");
            report_fixed(out, t->low, 3);
            sbuf_puts(out, " … ");
            report_fixed(out, t->high, 3);
            sbuf_puts(out, ")");
        }
        sbuf_puts(out, t->interleaved ? ", run turn by turn." : ", by saved runs.");
        md_sentence(out, t->why);
        md_sentence(out, t->opinion);
        sbuf_putc(out, '\n');
    }
}

void compare_write_md(const comparison *c, const report_options *o, sbuf *out)
{
    md_head(c, out);
    for (int r = 0; r < compare_totals_n; r++)
        if (compare_has(c, &compare_totals[r]))
            md_total(c, &compare_totals[r], out);
    md_timings(c, out);
    if (c->is_pair)
        md_layers(c, o, out);
}
