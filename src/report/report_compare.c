/* A comparison: totals with ratios to the first profile, operator types, and of two profiles the layers
 * that make the difference. */
#include <inttypes.h>
#include <stdio.h>

#include "base/json_write.h"
#include "base/text.h"
#include "report/console.h"
#include "report/studies.h"

enum { TYPES_SHOWN = 12 };

/* ---- totals: one row each ---- */

static double get_parameters(const profile *p)
{
    return (double)p->total_parameters;
}
static double get_size(const profile *p)
{
    return (double)p->architecture.weight_bytes;
}
static double get_operators(const profile *p)
{
    return (double)p->total_operators;
}
static double get_macs(const profile *p)
{
    return (double)p->total_macs;
}
static double get_flops(const profile *p)
{
    return (double)p->total_flops;
}
static double get_traffic(const profile *p)
{
    return (double)p->total_memory;
}
static double get_intensity(const profile *p)
{
    return p->arithmetic_intensity;
}
static double get_activations(const profile *p)
{
    return (double)p->memory_plan.activations_peak_bytes;
}
static double get_peak(const profile *p)
{
    return (double)p->memory_plan.peak_bytes;
}
static double get_per_parameter(const profile *p)
{
    return p->total_parameters ? (double)p->total_flops / (double)p->total_parameters : 0;
}

typedef enum total_kind { TOTAL_COUNT, TOTAL_SI, TOTAL_BYTES, TOTAL_REAL } total_kind;

static const struct total_row {
    const char *title, *key;
    total_kind kind;
    double (*get)(const profile *p);
} total_rows[] = {
    {"Parameters", "parameters", TOTAL_SI, get_parameters},
    {"Model size", "weight_bytes", TOTAL_BYTES, get_size},
    {"Operators", "operators", TOTAL_COUNT, get_operators},
    {"MACs", "macs", TOTAL_SI, get_macs},
    {"FLOPs", "flops", TOTAL_SI, get_flops},
    {"FLOPs per parameter", "flops_per_param", TOTAL_REAL, get_per_parameter},
    {"Memory traffic", "memory", TOTAL_BYTES, get_traffic},
    {"FLOPs per byte", "arithmetic_intensity", TOTAL_REAL, get_intensity},
    {"Activation peak", "activations_peak_bytes", TOTAL_BYTES, get_activations},
    {"Peak memory", "peak_bytes", TOTAL_BYTES, get_peak},
};
enum { N_TOTALS = sizeof total_rows / sizeof *total_rows };

static void put_total(sbuf *b, const struct total_row *row, double v)
{
    switch (row->kind) {
    case TOTAL_COUNT:
        text_thousands(b, (uint64_t)v);
        return;
    case TOTAL_SI:
        text_si(b, v, -1);
        return;
    case TOTAL_BYTES:
        text_bytes(b, (uint64_t)v);
        return;
    case TOTAL_REAL:
        report_fixed(b, v, 2);
        return;
    }
}

static void put_ratio(sbuf *b, double v, double first)
{
    if (first <= 0)
        return;
    report_fixed(b, v / first, 2);
    sbuf_puts(b, "×");
}

/* ---- console ---- */

/* A column for the titles, then for each profile its figures and its ratios. */
static unsigned columns_for(const comparison *c, console_column *columns, char titles[][40])
{
    unsigned n = 0;
    columns[n++] = (console_column){.title = "", .min = 12};
    for (uint32_t i = 0; i < c->n && n + 2 <= TABLE_MAX_COLUMNS; i++) {
        text_safe_into(titles[i], 40, c->profiles[i]->model);
        columns[n++] = (console_column){.title = titles[i], .right = true, .min = 8};
        if (i > 0 && c->n <= 5)
            columns[n++] = (console_column){.title = "", .right = true, .drop = 1};
    }
    return n;
}

static void console_totals(console *k, const comparison *c)
{
    console_column columns[TABLE_MAX_COLUMNS];
    char titles[COMPARISON_MAX][40];
    unsigned n = columns_for(c, columns, titles);
    console_table t;
    console_heading(k, "Comparison", "ratios are to the first");
    table_begin(&t, columns, n, 2);
    for (int r = 0; r < N_TOTALS; r++) {
        double first = total_rows[r].get(c->profiles[0]);
        sbuf_puts(table_cell(&t, STYLE_PLAIN), total_rows[r].title);
        for (uint32_t i = 0; i < c->n; i++) {
            double v = total_rows[r].get(c->profiles[i]);
            put_total(table_cell(&t, STYLE_PLAIN), &total_rows[r], v);
            if (i > 0 && c->n <= 5)
                put_ratio(table_cell(&t, STYLE_DIM), v, first);
        }
    }
    table_print(&t, k);
}

static void console_types(console *k, const comparison *c)
{
    console_column columns[TABLE_MAX_COLUMNS] = {{.title = "type", .min = 8}};
    char titles[COMPARISON_MAX][40];
    console_table t;
    for (uint32_t i = 0; i < c->n; i++) {
        text_safe_into(titles[i], 40, c->profiles[i]->model);
        columns[i + 1] = (console_column){.title = titles[i], .right = true, .min = 8};
    }
    uint32_t shown = k->o->verbose || c->n_types < TYPES_SHOWN ? c->n_types : TYPES_SHOWN;
    console_heading(k, "FLOPs by operator type", "and how many of it");
    table_begin(&t, columns, c->n + 1, 2);
    for (uint32_t i = 0; i < shown; i++) {
        table_str(&t, STYLE_PLAIN, c->types[i].type);
        for (uint32_t m = 0; m < c->n; m++) {
            sbuf *b = table_cell(&t, STYLE_PLAIN);
            if (c->types[i].count[m] == 0) {
                sbuf_puts(b, "–");
                continue;
            }
            text_si(b, (double)c->types[i].flops[m], -1);
            sbuf_printf(b, "  %4" PRIu64 "×", c->types[i].count[m]);
        }
    }
    table_print(&t, k);
}

static void put_signed(sbuf *b, uint64_t before, uint64_t after)
{
    sbuf_puts(b, after > before ? "+" : after < before ? "−" : "");
    text_si(b, (double)(after > before ? after - before : before - after), -1);
}

static const char *const change_words[] = {
    [CHANGE_REMOVED] = "removed", [CHANGE_ADDED] = "added", [CHANGE_CHANGED] = "changed"};

static void console_changes(console *k, const comparison *c)
{
    static const console_column columns[] = {
        {.title = ""},
        {.title = "layer", .min = 16},
        {.title = "type"},
        {.title = "first", .right = true},
        {.title = "second", .right = true},
        {.title = "difference", .right = true},
    };
    uint32_t top = (uint32_t)(k->o->top > 0 ? k->o->top : 0);
    uint32_t shown = k->o->verbose || c->n_layers < top ? c->n_layers : top;
    char remark[128];
    console_table t;
    snprintf(remark, sizeof remark, "%u are the same, %u more but for the name", c->same,
             c->renamed);
    console_heading(k, "Layers behind the difference", remark);
    table_begin(&t, columns, 6, 2);
    for (uint32_t i = 0; i < shown; i++) {
        const comparison_layer *l = &c->layers[i];
        const profile_layer *any = l->after ? l->after : l->before;
        uint64_t x = l->before ? l->before->flops : 0, y = l->after ? l->after->flops : 0;
        sbuf_puts(table_cell(&t, STYLE_DIM), change_words[l->change]);
        table_name(&t, STYLE_PLAIN, any->name);
        table_str(&t, STYLE_DIM, any->type);
        if (l->before)
            table_si(&t, STYLE_PLAIN, x);
        else
            sbuf_puts(table_cell(&t, STYLE_DIM), "–");
        if (l->after)
            table_si(&t, STYLE_PLAIN, y);
        else
            sbuf_puts(table_cell(&t, STYLE_DIM), "–");
        put_signed(table_cell(&t, STYLE_PLAIN), x, y);
    }
    table_print(&t, k);
    if (shown < c->n_layers) {
        console_putf(k, STYLE_DIM, "  %u more; --top N or --verbose shows them.",
                     c->n_layers - shown);
        console_line(k);
    }
}

/* Figures that are not exact must not stand beside others as if they were. */
static void console_doubts(console *k, const comparison *c)
{
    for (uint32_t i = 0; i < c->n; i++) {
        const profile_accounting *a = &c->profiles[i]->accounting;
        sbuf b = {0};
        if (!a->assumed && !a->unknown)
            continue;
        sbuf_printf(&b,
                    "⚠ " STR_FMT ": of %llu operators %llu assumed, %llu unknown and not counted.",
                    STR_ARG(c->profiles[i]->model), (unsigned long long)a->nodes,
                    (unsigned long long)a->assumed, (unsigned long long)a->unknown);
        console_words(k, STYLE_PLAIN, 2, false, (str){b.p, (uint32_t)b.n});
        sbuf_free(&b);
    }
}

static void write_console(const comparison *c, const report_options *o, sbuf *out)
{
    int width = o->width ? o->width : 80;
    console k = {.p = c->profiles[0], .o = o, .out = out, .width = (unsigned)width};
    console_totals(&k, c);
    console_doubts(&k, c);
    console_types(&k, c);
    if (c->n == 2)
        console_changes(&k, c);
}

/* ---- json and csv ---- */

static void json_model(json_writer *w, const comparison *c, uint32_t i)
{
    json_object(w);
    json_key(w, "model");
    json_str(w, c->profiles[i]->model);
    json_key(w, "assumed");
    json_u64(w, c->profiles[i]->accounting.assumed);
    json_key(w, "unknown");
    json_u64(w, c->profiles[i]->accounting.unknown);
    for (int r = 0; r < N_TOTALS; r++) {
        double v = total_rows[r].get(c->profiles[i]);
        json_key(w, total_rows[r].key);
        if (total_rows[r].kind == TOTAL_REAL)
            json_f64(w, v);
        else
            json_u64(w, (uint64_t)v);
    }
    json_key(w, "ratios");
    json_flat_object(w);
    for (int r = 0; r < N_TOTALS; r++) {
        double first = total_rows[r].get(c->profiles[0]);
        json_key(w, total_rows[r].key);
        json_f64(w, first > 0 ? total_rows[r].get(c->profiles[i]) / first : 0.0);
    }
    json_end(w);
    json_end(w);
}

static void json_numbers(json_writer *w, const char *key, const uint64_t *v, uint32_t n)
{
    json_key(w, key);
    json_flat_array(w);
    for (uint32_t i = 0; i < n; i++)
        json_u64(w, v[i]);
    json_end(w);
}

static void json_layer(json_writer *w, const char *key, const profile_layer *l)
{
    json_key(w, key);
    if (!l) {
        json_null(w);
        return;
    }
    json_flat_object(w);
    json_key(w, "name");
    json_str(w, l->name);
    json_key(w, "flops");
    json_u64(w, l->flops);
    json_key(w, "macs");
    json_u64(w, l->macs);
    json_key(w, "parameters");
    json_u64(w, l->parameters);
    json_key(w, "memory");
    json_u64(w, l->memory);
    json_end(w);
}

static void json_changes(json_writer *w, const comparison *c)
{
    json_key(w, "same_layers");
    json_u64(w, c->same);
    json_key(w, "renamed_layers");
    json_u64(w, c->renamed);
    json_key(w, "layers");
    json_array(w);
    for (uint32_t i = 0; i < c->n_layers; i++) {
        const comparison_layer *l = &c->layers[i];
        json_object(w);
        json_key(w, "change");
        json_cstr(w, change_words[l->change]);
        json_key(w, "type");
        json_str(w, (l->after ? l->after : l->before)->type);
        json_layer(w, "before", l->before);
        json_layer(w, "after", l->after);
        json_end(w);
    }
    json_end(w);
}

static void write_json(const comparison *c, sbuf *out)
{
    json_writer w;
    json_begin(&w, out, 2);
    json_object(&w);
    json_key(&w, "schema");
    json_cstr(&w, "assay.comparison/1");
    json_key(&w, "lens");
    json_str(&w, c->profiles[0]->lens);
    json_key(&w, "models");
    json_array(&w);
    for (uint32_t i = 0; i < c->n; i++)
        json_model(&w, c, i);
    json_end(&w);
    json_key(&w, "types");
    json_array(&w);
    for (uint32_t i = 0; i < c->n_types; i++) {
        json_object(&w);
        json_key(&w, "type");
        json_str(&w, c->types[i].type);
        json_numbers(&w, "count", c->types[i].count, c->n);
        json_numbers(&w, "flops", c->types[i].flops, c->n);
        json_numbers(&w, "macs", c->types[i].macs, c->n);
        json_end(&w);
    }
    json_end(&w);
    if (c->n == 2)
        json_changes(&w, c);
    json_end(&w);
    sbuf_putc(out, '\n');
}

static void csv_name(sbuf *out, str s)
{
    sbuf safe = {0};
    text_safe(&safe, s);
    report_csv_field(out, (str){safe.p, (uint32_t)safe.n});
    sbuf_free(&safe);
}

static void write_csv(const comparison *c, sbuf *out)
{
    sbuf_puts(out, "model");
    for (int r = 0; r < N_TOTALS; r++)
        sbuf_printf(out, ",%s", total_rows[r].key);
    sbuf_puts(out, "\r\n");
    for (uint32_t i = 0; i < c->n; i++) {
        csv_name(out, c->profiles[i]->model);
        for (int r = 0; r < N_TOTALS; r++) {
            sbuf_putc(out, ',');
            double v = total_rows[r].get(c->profiles[i]);
            if (total_rows[r].kind == TOTAL_REAL)
                report_fixed(out, v, 3);
            else
                sbuf_printf(out, "%" PRIu64, (uint64_t)v);
        }
        sbuf_puts(out, "\r\n");
    }
}

void report_first_line(sbuf *out, size_t from)
{
    if (out->failed || out->n <= from || out->p[from] != '\n')
        return;
    memmove(out->p + from, out->p + from + 1, out->n - from - 1);
    out->n--;
}

assay_status report_comparison(const comparison *c, str format, const report_options *o, sbuf *out,
                               assay_error *err)
{
    size_t from = out->n;
    if (str_is(format, "console"))
        write_console(c, o, out);
    else if (str_is(format, "json"))
        write_json(c, out);
    else if (str_is(format, "csv"))
        write_csv(c, out);
    else
        return err_fail(err, ASSAY_ERR_USAGE,
                        "A comparison can be written as console, json or csv, not as '" STR_FMT
                        "'.",
                        STR_ARG(format));
    if (str_is(format, "console"))
        report_first_line(out, from);
    if (str_is(format, "console") && o->ascii)
        console_to_ascii(out, from);
    return out->failed ? err_no_memory(err) : ASSAY_OK;
}
