/* A profile as Markdown, for a pull request's comment: totals, what was measured, where the work is, and the
 * layers in a fold. A comment holds 65,536 characters, so the fold has the costliest layers unless all are
 * asked for with --verbose. */
#include <math.h>

#include <inttypes.h>
#include <stdlib.h>

#include "base/text.h"
#include "report/console.h"
#include "report/markdown.h"

enum { LAYERS_SHOWN = 50, TYPES_SHOWN = 5, WARNINGS_SHOWN = 5, ADVICE_SHOWN = 5 };

/* ---- totals ---- */

static void begin_row(sbuf *out, const char *title)
{
    sbuf_printf(out, "| %s | ", title);
}

static void count_row(sbuf *out, const char *title, uint64_t v)
{
    begin_row(out, title);
    text_thousands(out, v);
    if (v >= 1000) {
        sbuf_puts(out, " (");
        text_si(out, (double)v, -1);
        sbuf_putc(out, ')');
    }
    sbuf_puts(out, " |\n");
}

static void bytes_row(sbuf *out, const char *title, uint64_t v)
{
    begin_row(out, title);
    text_bytes(out, v);
    sbuf_puts(out, " |\n");
}

static void put_totals(const profile *p, sbuf *out)
{
    sbuf_puts(out, "| | |\n|---|---:|\n");
    count_row(out, "Parameters", p->total_parameters);
    bytes_row(out, "Model size", p->architecture.weight_bytes);
    count_row(out, "Operators", p->total_operators);
    count_row(out, "MACs", p->total_macs);
    count_row(out, "FLOPs", p->total_flops);
    bytes_row(out, "Memory traffic", p->total_memory);
    begin_row(out, "FLOPs per byte");
    report_fixed(out, p->arithmetic_intensity, 2);
    sbuf_puts(out, " |\n");
    bytes_row(out, "Activation peak", p->memory_plan.activations_peak_bytes);
    bytes_row(out, "Peak memory, weights included", p->memory_plan.peak_bytes);
}

static void put_doubts(const profile *p, sbuf *out)
{
    const profile_accounting *a = &p->accounting;
    if (a->assumed || a->unknown)
        sbuf_printf(out,
                    "⚠️ Of %" PRIu64 " operators %" PRIu64 " assumed, %" PRIu64
                    " unknown and not counted.\n\n",
                    a->nodes, a->assumed, a->unknown);
}

/* ---- what was measured ---- */

static void put_ms(sbuf *out, double ms)
{
    console_ms(out, ms);
    sbuf_puts(out, " | ");
}

static void put_config(const profile_config *c, sbuf *out)
{
    if (!c->error.n && !c->latency.runs)
        return;
    sbuf_printf(out, "| %" PRIu64 " | ", c->batch);
    md_text(out, c->precision);
    sbuf_puts(out, " | ");
    if (!c->latency.runs) {
        md_text(out, c->error);
        sbuf_puts(out, " | | | | | |\n");
        return;
    }
    put_ms(out, c->latency.mean);
    put_ms(out, c->latency.p50);
    put_ms(out, c->latency.p95);
    put_ms(out, c->latency.p99);
    if (isnan(c->samples_per_second))
        sbuf_puts(out, "–");
    else
        report_fixed(out, c->samples_per_second, c->samples_per_second < 100 ? 2 : 0);
    sbuf_puts(out, " | ");
    if (c->memory.peak)
        text_bytes(out, c->memory.peak > c->memory.before_session
                            ? c->memory.peak - c->memory.before_session
                            : 0);
    else
        sbuf_puts(out, "–");
    sbuf_puts(out, " |\n");
}

static void put_measured(const profile_measured *m, sbuf *out)
{
    if (!m || !m->n_configs)
        return;
    sbuf_puts(out, "\n**Measured** with ");
    md_text(out, m->engine.title);
    sbuf_putc(out, ' ');
    md_text(out, m->engine.version);
    sbuf_puts(out, "\n\n| batch | precision | mean | P50 | P95 | P99 | samples/s | memory |\n"
                   "|---:|---|---:|---:|---:|---:|---:|---:|\n");
    for (uint32_t i = 0; i < m->n_configs; i++)
        put_config(&m->configs[i], out);
}

/* ---- where the work is ---- */

static void put_types(const profile *p, sbuf *out)
{
    if (!p->n_operations || !p->total_flops)
        return;
    sbuf_puts(out, "\n**Where the FLOPs are**: ");
    for (uint32_t i = 0; i < p->n_operations && i < TYPES_SHOWN; i++) {
        sbuf_puts(out, i ? ", " : "");
        md_text(out, p->operations[i].type);
        sbuf_putc(out, ' ');
        report_fixed(out, p->operations[i].percent, 1);
        sbuf_puts(out, " %");
    }
    sbuf_puts(out, p->n_operations > TYPES_SHOWN ? ", …\n" : "\n");
}

static void put_warnings(const profile *p, sbuf *out)
{
    uint32_t n = p->warnings.list.n;
    for (uint32_t i = 0; i < n && i < WARNINGS_SHOWN; i++) {
        sbuf_puts(out, i ? "- " : "\n- ");
        md_text(out, p->warnings.list.items[i].text);
        sbuf_putc(out, '\n');
    }
    if (n > WARNINGS_SHOWN)
        sbuf_printf(out, "- %" PRIu32 " more warnings\n", n - WARNINGS_SHOWN);
}

static void put_advice(const profile *p, sbuf *out)
{
    if (p->n_recommendations)
        sbuf_puts(out, "\n**Recommendations**\n\n");
    for (uint32_t i = 0; i < p->n_recommendations && i < ADVICE_SHOWN; i++) {
        const profile_advice *a = &p->recommendations[i];
        sbuf_puts(out, "- ");
        md_text(out, a->title);
        sbuf_puts(out, ": ");
        md_text(out, a->expected);
        sbuf_putc(out, '\n');
    }
}

/* ---- the fold ---- */

static bool is_timed(const profile *p)
{
    return p->measured && p->measured->ledger.present;
}

typedef struct ranked {
    const profile_layer *l;
    double weight;
} ranked;

static int by_weight(const void *a, const void *b)
{
    const ranked *x = a, *y = b;
    if (x->weight != y->weight)
        return x->weight < y->weight ? 1 : -1;
    return x->l < y->l ? -1 : x->l > y->l;
}

static int by_place(const void *a, const void *b)
{
    const ranked *x = a, *y = b;
    return x->l < y->l ? -1 : x->l > y->l;
}

static void put_layer(const profile_layer *l, bool timed, sbuf *out)
{
    sbuf_puts(out, "| ");
    md_code(out, l->name);
    sbuf_puts(out, " | ");
    md_text(out, l->type);
    sbuf_puts(out, " | ");
    if (l->n_outputs)
        profile_put_shape(out, &l->outputs[0].shape, "×");
    sbuf_puts(out, " | ");
    text_si(out, (double)l->parameters, -1);
    sbuf_puts(out, " | ");
    text_si(out, (double)l->macs, -1);
    sbuf_puts(out, " | ");
    text_si(out, (double)l->flops, -1);
    sbuf_puts(out, " | ");
    text_bytes(out, l->memory);
    sbuf_puts(out, timed ? " | " : "");
    if (timed && l->time_ms >= 0)
        console_ms(out, l->time_ms);
    sbuf_puts(out, " |\n");
}

static void put_table(const profile *p, const ranked *list, uint32_t n, sbuf *out)
{
    bool timed = is_timed(p);
    sbuf_printf(out, "\n<details><summary>Layers: %" PRIu32 " of %" PRIu32 "%s</summary>\n\n", n,
                p->n_layers,
                n == p->n_layers ? ""
                : timed          ? ", those that take most time"
                                 : ", those with most FLOPs");
    sbuf_printf(out,
                "| layer | type | output | params | MACs | FLOPs | memory |%s\n"
                "|---|---|---|---:|---:|---:|---:|%s\n",
                timed ? " time |" : "", timed ? "---:|" : "");
    for (uint32_t i = 0; i < n; i++)
        put_layer(list[i].l, timed, out);
    sbuf_puts(out, "\n</details>\n");
}

static assay_status put_layers(const profile *p, const report_options *o, sbuf *out,
                               assay_error *err)
{
    uint32_t n = p->n_layers, most = o->verbose ? n : LAYERS_SHOWN;
    ranked *list = malloc(sizeof *list * (n + 1u));
    if (!list)
        return err_no_memory(err);
    for (uint32_t i = 0; i < n; i++)
        list[i] = (ranked){&p->layers[i],
                           is_timed(p) ? p->layers[i].time_ms : (double)p->layers[i].flops};
    if (n > most) {
        qsort(list, n, sizeof *list, by_weight);
        qsort(list, most, sizeof *list, by_place);
        n = most;
    }
    if (n)
        put_table(p, list, n, out);
    free(list);
    return ASSAY_OK;
}

assay_status report_md(const profile *p, const report_options *o, sbuf *out, assay_error *err)
{
    sbuf_puts(out, "### assay: ");
    md_code(out, p->model);
    sbuf_puts(out, "\n\n");
    put_doubts(p, out);
    put_totals(p, out);
    put_measured(p->measured, out);
    put_types(p, out);
    put_warnings(p, out);
    put_advice(p, out);
    TRY(put_layers(p, o, out, err));
    report_md_memory(&p->memory_plan, o, out);
    sbuf_puts(out, "\n<sub>assay ");
    md_text(out, p->context.tool_version);
    sbuf_puts(out, ", FLOPs by lens ");
    md_text(out, p->lens);
    sbuf_puts(out, "</sub>\n");
    return out->failed ? err_no_memory(err) : ASSAY_OK;
}
