/* One row per layer as RFC 4180 has it: a header row, CRLF, fields with a comma, a quote or a line
 * break in quotes. Columns are the keys of a layer in the JSON document; lists are joined by ';' and
 * the sizes of a shape by 'x'.
 *
 * Control bytes and broken UTF-8 in names become visible escapes (\x1b), so that the file can be shown
 * in a terminal. A text that begins with = + - or @ would be a formula to a spreadsheet: it gets an
 * apostrophe before it, which spreadsheets take for "this is text". Numbers are written by other hands.
 */
#include "report/report.h"

#include <inttypes.h>

#include "base/text.h"

static void put_field(sbuf *out, str s)
{
    bool quote = false, formula = s.n && strchr("=+-@", s.p[0]);
    for (uint32_t i = 0; i < s.n && !quote; i++)
        quote = s.p[i] == ',' || s.p[i] == '"' || s.p[i] == '\n' || s.p[i] == '\r';
    if (!quote) {
        sbuf_puts(out, formula ? "'" : "");
        sbuf_str(out, s);
        return;
    }
    sbuf_puts(out, formula ? "\"'" : "\"");
    for (uint32_t i = 0; i < s.n; i++) {
        if (s.p[i] == '"')
            sbuf_putc(out, '"');
        sbuf_putc(out, s.p[i]);
    }
    sbuf_putc(out, '"');
}

void report_csv_field(sbuf *out, str s)
{
    sbuf safe = {0};
    text_safe(&safe, s);
    put_field(out, (str){safe.p, (uint32_t)safe.n});
    out->failed = out->failed || safe.failed;
    sbuf_free(&safe);
}

typedef void column_fn(const profile_layer *l, sbuf *cell);

static void col_name(const profile_layer *l, sbuf *b)
{
    text_safe(b, l->name);
}
static void col_type(const profile_layer *l, sbuf *b)
{
    text_safe(b, l->type);
}
static void col_op(const profile_layer *l, sbuf *b)
{
    text_safe(b, l->op);
}
static void col_module(const profile_layer *l, sbuf *b)
{
    text_safe(b, l->module);
}

static void join_names(const profile_tensor *t, uint32_t n, sbuf *b)
{
    for (uint32_t i = 0; i < n; i++) {
        if (i > 0)
            sbuf_putc(b, ';');
        text_safe(b, t[i].name);
    }
}
static void join_shapes(const profile_tensor *t, uint32_t n, sbuf *b)
{
    for (uint32_t i = 0; i < n; i++) {
        if (i > 0)
            sbuf_putc(b, ';');
        profile_put_shape(b, &t[i].shape, "x");
    }
}
static void col_inputs(const profile_layer *l, sbuf *b)
{
    join_names(l->inputs, l->n_inputs, b);
}
static void col_outputs(const profile_layer *l, sbuf *b)
{
    join_names(l->outputs, l->n_outputs, b);
}
static void col_input_shapes(const profile_layer *l, sbuf *b)
{
    join_shapes(l->inputs, l->n_inputs, b);
}
static void col_output_shapes(const profile_layer *l, sbuf *b)
{
    join_shapes(l->outputs, l->n_outputs, b);
}
static void col_output_types(const profile_layer *l, sbuf *b)
{
    for (uint32_t i = 0; i < l->n_outputs; i++) {
        if (i > 0)
            sbuf_putc(b, ';');
        if (l->outputs[i].dtype == IR_UNDEFINED)
            sbuf_putc(b, '?');
        else
            sbuf_puts(b, ir_dtype_get(l->outputs[i].dtype)->name);
    }
}

#define NUMBER_COLUMN(field)                                 \
    static void col_##field(const profile_layer *l, sbuf *b) \
    {                                                        \
        sbuf_printf(b, "%" PRIu64, l->field);                \
    }
NUMBER_COLUMN(parameters)
NUMBER_COLUMN(flops)
NUMBER_COLUMN(macs)
NUMBER_COLUMN(memory)
NUMBER_COLUMN(weight_bytes)
NUMBER_COLUMN(read_bytes)
NUMBER_COLUMN(written_bytes)
NUMBER_COLUMN(times)

static void col_intensity(const profile_layer *l, sbuf *b)
{
    report_csv_number(b, l->arithmetic_intensity);
}
static void col_bottleneck(const profile_layer *l, sbuf *b)
{
    sbuf_puts(b, l->compute_bound ? "compute-bound" : "memory-bound");
}
static void col_band(const profile_layer *l, sbuf *b)
{
    sbuf_puts(b, l->band ? l->band : "");
}
static void col_certainty(const profile_layer *l, sbuf *b)
{
    sbuf_puts(b, profile_certainty_name(l->certainty));
}

static void col_time(const profile_layer *l, sbuf *b)
{
    if (l->time_ms >= 0)
        report_csv_number(b, l->time_ms);
}
static void col_time_std(const profile_layer *l, sbuf *b)
{
    if (l->time_ms >= 0)
        report_csv_number(b, l->time_std_ms);
}
static void col_gflops(const profile_layer *l, sbuf *b)
{
    if (l->time_ms > 0)
        report_csv_number(b, (double)l->flops / l->time_ms / 1e6);
}
static void col_gbytes(const profile_layer *l, sbuf *b)
{
    if (l->time_ms > 0)
        report_csv_number(b, (double)l->memory / l->time_ms / 1e6);
}

static const struct {
    const char *name;
    column_fn *put;
} columns[] = {
    {"name", col_name},
    {"type", col_type},
    {"op", col_op},
    {"module", col_module},
    {"inputs", col_inputs},
    {"outputs", col_outputs},
    {"input_shapes", col_input_shapes},
    {"output_shapes", col_output_shapes},
    {"output_types", col_output_types},
    {"parameters", col_parameters},
    {"flops", col_flops},
    {"macs", col_macs},
    {"memory", col_memory},
    {"weight_bytes", col_weight_bytes},
    {"read_bytes", col_read_bytes},
    {"written_bytes", col_written_bytes},
    {"arithmetic_intensity", col_intensity},
    {"bottleneck", col_bottleneck},
    {"band", col_band},
    {"certainty", col_certainty},
    {"times", col_times},
    {"time_ms", col_time},
    {"time_std_ms", col_time_std},
    {"gflops_per_s", col_gflops},
    {"gbytes_per_s", col_gbytes},
};
/* The last ones are there when times of layers were measured. */
enum { N_COLUMNS = sizeof columns / sizeof *columns, N_STATIC = N_COLUMNS - 4 };

static void put_row(const profile_layer *l, int n, sbuf *cell, sbuf *out)
{
    for (int i = 0; i < n; i++) {
        cell->n = 0;
        columns[i].put(l, cell);
        if (i > 0)
            sbuf_putc(out, ',');
        report_csv_field(out, (str){cell->p, (uint32_t)cell->n});
    }
    sbuf_puts(out, "\r\n");
}

static assay_status put_layers(const profile *p, sbuf *out, assay_error *err)
{
    int n = p->measured && p->measured->ledger.present ? N_COLUMNS : N_STATIC;
    sbuf cell = {0};
    for (int i = 0; i < n; i++)
        sbuf_printf(out, "%s%s", i > 0 ? "," : "", columns[i].name);
    sbuf_puts(out, "\r\n");
    for (uint32_t i = 0; i < p->n_layers && !out->failed; i++)
        put_row(&p->layers[i], n, &cell, out);
    bool failed = out->failed || cell.failed;
    sbuf_free(&cell);
    return failed ? err_no_memory(err) : ASSAY_OK;
}

typedef assay_status csv_fn(const profile *p, sbuf *out, assay_error *err);

static assay_status put_groups(const profile *p, sbuf *out, assay_error *err)
{
    return (p->fusion ? report_fuse_csv : report_csv_groups)(p, out, err);
}

/* By --rows. */
static const struct {
    const char *name;
    csv_fn *put;
} kinds[] = {
    {"layers", put_layers},
    {"runs", report_csv_runs},
    {"batches", report_csv_batches},
    {"groups", put_groups},
    {"events", report_csv_events},
    {"timeline", report_csv_timeline},
    {"snapshots", report_csv_snapshots},
    {"slots", report_csv_slots},
    {"curve", report_csv_curve},
};

static bool is_view(const report_options *o, const char *view)
{
    return o->view && strcmp(o->view, view) == 0;
}

/* What a command is about, unless rows are named. */
static csv_fn *by_view(const profile *p, const report_options *o)
{
    if (p->mapping && is_view(o, "map"))
        return report_map_csv;
    if (p->fusion && is_view(o, "fuse"))
        return report_fuse_csv;
    if (p->memory_plan.n_events && is_view(o, "memory"))
        return report_csv_events;
    return put_layers;
}

assay_status report_csv(const profile *p, const report_options *o, sbuf *out, assay_error *err)
{
    bool of_runs = o->rows && strcmp(o->rows, "layers") != 0;
    if (p->watch && !of_runs)
        return report_csv_watch(p, out, err);
    for (size_t i = 0; o->rows && i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(o->rows, kinds[i].name) == 0)
            return kinds[i].put(p, out, err);
    return by_view(p, o)(p, out, err);
}
