/* The table of report writers, and functions that several of them use. */
#include "report/report.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/text.h"
#include "profile/profile_fields.h"
#include "report/console.h"

static assay_status write_profile_csv(const profile *p, const report_options *o, sbuf *out,
                                      assay_error *err)
{
    return report_view(&profile_kind, p, STR("csv"), o, out, err);
}

static assay_status write_profile_console(const profile *p, const report_options *o, sbuf *out,
                                          assay_error *err)
{
    return report_view(&profile_kind, p, STR("console"), o, out, err);
}

static assay_status write_profile_md(const profile *p, const report_options *o, sbuf *out,
                                     assay_error *err)
{
    return report_view(&profile_kind, p, STR("md"), o, out, err);
}

static assay_status write_profile_summary(const profile *p, const report_options *o, sbuf *out,
                                          assay_error *err)
{
    return report_view(&profile_kind, p, STR("summary-html"), o, out, err);
}

const report_row report_table[] = {
    {.name = "console",
     .suffix = ".txt",
     .about = "the screen, for people",
     .write = write_profile_console},
    {.name = "json",
     .suffix = ".json",
     .about = "the whole result, schema assay.profile/1",
     .write = report_json},
    {.name = "csv", .suffix = ".csv", .about = "one row per layer", .write = write_profile_csv},
    {.name = "md",
     .suffix = ".md",
     .also = ".markdown",
     .about = "Markdown, for a comment",
     .write = write_profile_md},
    {.name = "trace",
     .suffix = ".trace.json",
     .also = ".trace",
     .about = "layers and runs on a time axis, for Perfetto",
     .write = report_trace},
    {.name = "netron",
     .suffix = ".netron.json",
     .about = "costs of the nodes, an attachment for Netron",
     .write = report_netron},
    {.name = "modelexplorer",
     .suffix = ".modelexplorer.json",
     .about = "times or FLOPs of the nodes, node data for Model Explorer",
     .write = report_modelexplorer},
    {.name = "html",
     .suffix = ".html",
     .about = "a page with charts that opens without a network",
     .write = report_html},
    {.name = "summary-html",
     .suffix = ".summary.html",
     .about = "the summary alone, a piece of HTML for notebooks",
     .write = write_profile_summary},
};
const uint32_t report_table_n = sizeof report_table / sizeof *report_table;

const report_row *report_find(str name)
{
    for (uint32_t i = 0; i < report_table_n; i++)
        if (str_is(name, report_table[i].name))
            return &report_table[i];
    return NULL;
}

/* "x.trace.json" is a trace and not a result: the longest suffix counts. */
const report_row *report_by_suffix(str path)
{
    const report_row *best = NULL;
    size_t longest = 0;
    for (uint32_t i = 0; i < report_table_n; i++) {
        const char *const names[] = {report_table[i].suffix, report_table[i].also};
        for (int k = 0; k < 2; k++)
            if (names[k] && strlen(names[k]) > longest && str_ends(path, names[k])) {
                longest = strlen(names[k]);
                best = &report_table[i];
            }
    }
    return best;
}

bool report_predicted_ms(const profile *p, double *ms)
{
    const profile_mapping *m = p->mapping;
    uint32_t next = 0;
    for (uint32_t i = 0; m && i < p->n_layers; i++) {
        const bool runs = next < m->n_layers && str_eq(m->layers[next].name, p->layers[i].name);
        ms[i] = runs && m->layers[next].time_ms > 0 ? m->layers[next].time_ms : 0;
        next += runs;
    }
    return m && next && next == m->n_layers;
}

void report_fixed(sbuf *b, double v, int decimals)
{
    if (fabs(v) < 1e15)
        text_fixed(b, v, decimals);
    else
        sbuf_puts(b, isfinite(v) ? "huge" : "n/a");
}
