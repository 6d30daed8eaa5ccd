/* A comparison for scripts: assay.comparison/1, and CSV. */
#include <inttypes.h>

#include "base/text.h"
#include "report/compare_impl.h"

static bool is_real(const total_row *row)
{
    return row->kind == TOTAL_REAL || row->kind == TOTAL_MS;
}

void compare_write_json(const comparison *c, const report_options *o, sbuf *out)
{
    (void)o;
    result_write(&comparison_kind, c, 2, out);
}

/* ---- csv ---- */

static void csv_name(sbuf *out, str s)
{
    sbuf safe = {0};
    text_safe(&safe, s);
    report_csv_field(out, (str){safe.p, (uint32_t)safe.n});
    sbuf_free(&safe);
}

static void csv_totals(const comparison *c, sbuf *out)
{
    sbuf_puts(out, "model");
    for (int r = 0; r < compare_totals_n; r++)
        if (compare_has(c, &compare_totals[r]))
            sbuf_printf(out, ",%s", compare_totals[r].key);
    sbuf_puts(out, "\r\n");
    for (uint32_t i = 0; i < c->n_models; i++) {
        csv_name(out, c->models[i].label);
        for (int r = 0; r < compare_totals_n; r++) {
            double v = compare_total(&c->models[i], &compare_totals[r]);
            if (!compare_has(c, &compare_totals[r]))
                continue;
            sbuf_putc(out, ',');
            if (!isnan(v) && is_real(&compare_totals[r]))
                report_fixed(out, v, 3);
            else if (!isnan(v))
                sbuf_printf(out, "%" PRIu64, (uint64_t)v);
        }
        sbuf_puts(out, "\r\n");
    }
}

/* One row per layer that differs, of two. */
static void csv_layer(const comparison_layer *l, sbuf *out)
{
    const comparison_side *a = l->before, *b = l->after;
    sbuf_printf(out, "%s,", comparison_change_words[l->change]);
    csv_name(out, a ? a->name : (str){0});
    sbuf_putc(out, ',');
    csv_name(out, b ? b->name : (str){0});
    sbuf_putc(out, ',');
    csv_name(out, l->type);
    sbuf_printf(out, ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ",",
                (int64_t)(COMPARE_FIGURE(b, macs) - COMPARE_FIGURE(a, macs)),
                (int64_t)(COMPARE_FIGURE(b, flops) - COMPARE_FIGURE(a, flops)),
                (int64_t)(COMPARE_FIGURE(b, parameters) - COMPARE_FIGURE(a, parameters)),
                (int64_t)(COMPARE_FIGURE(b, memory) - COMPARE_FIGURE(a, memory)),
                (int64_t)(COMPARE_FIGURE(b, peak_bytes) - COMPARE_FIGURE(a, peak_bytes)));
    sbuf changes = {0};
    comparison_put_attributes(&changes, l);
    csv_name(out, (str){changes.p, (uint32_t)changes.n});
    sbuf_puts(out, "\r\n");
    sbuf_free(&changes);
}

void compare_write_csv(const comparison *c, const report_options *o, sbuf *out)
{
    if (!c->is_pair || !o->rows || strcmp(o->rows, "layers") != 0) {
        csv_totals(c, out);
        return;
    }
    sbuf_puts(out,
              "change,before,after,type,macs,flops,parameters,memory,peak_bytes,attributes\r\n");
    for (uint32_t i = 0; i < c->n_layers; i++)
        csv_layer(&c->layers[i], out);
}
