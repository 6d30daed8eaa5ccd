/* Writers of a profile: one file and one table row per format. Writers append to `out`, never print, and write only
 * what the profile contains. */
#ifndef REPORT_REPORT_H
#define REPORT_REPORT_H

#include "base/error.h"
#include "base/result.h"
#include "base/sbuf.h"
#include "profile/profile.h"
#include "profile/profile_text.h"

typedef struct report_options {
    int width;                  /* columns of the console; 0 is 80 */
    bool color;                 /* ANSI colours */
    bool ascii;                 /* no character outside ASCII */
    bool verbose;               /* every layer, every type, every warning */
    int top;                    /* layers of the table by FLOPs; 0 leaves it out */
    int depth;                  /* of the module tree; 0 leaves it out */
    const char *view;           /* what the console shows: "bench", "layers", "memory"; NULL: all */
    const char *rows;           /* of CSV (report_csv.c has their names); NULL: by the view */
    bool no_graphs, no_details; /* of HTML: without charts, without tables of layers and the like */
    const char *layer_patterns; /* timed layers to show: parts of names, comma separated; or NULL */
} report_options;

enum { REPORT_WIDTH = 80, REPORT_TOP = 10 }; /* when nobody says */
#define REPORT_DEFAULTS ((report_options){.width = REPORT_WIDTH, .top = REPORT_TOP})

typedef struct report_row {
    const char *name;
    const char *suffix; /* of file names that mean it, with the dot */
    const char *also;   /* another one; or NULL */
    const char *about;
    assay_status (*write)(const profile *p, const report_options *o, sbuf *out, assay_error *err);
} report_row;

extern const report_row report_table[];
extern const uint32_t report_table_n;

const report_row *report_find(str name);      /* NULL when unknown */
const report_row *report_by_suffix(str path); /* NULL when the suffix means nothing */

/* Any result in any format: what a command prints and what `assay report` prints of its file. `data` is a struct of
 * the kind. ASSAY_ERR_USAGE when the kind cannot be written so. */
struct result_kind;
assay_status report_result(const struct result_kind *kind, const void *data, str format,
                           const report_options *o, sbuf *out, assay_error *err);

/* ---- the rows' writers ---- */
assay_status report_trace(const profile *p, const report_options *o, sbuf *out, assay_error *err);
/* For programs that draw graphs (report_nodes.c). */
assay_status report_netron(const profile *p, const report_options *o, sbuf *out, assay_error *err);
assay_status report_modelexplorer(const profile *p, const report_options *o, sbuf *out,
                                  assay_error *err);
/* One file that opens in a browser without a network; see page.h. */
assay_status report_html(const profile *p, const report_options *o, sbuf *out, assay_error *err);
assay_status report_json(const profile *p, const report_options *o, sbuf *out, assay_error *err);

/* The times of the layers ([n_layers] of `ms`) on the first device that the model was placed on; a layer that it does
 * not execute, such as a view, takes 0. False if there is no prediction for these layers. */
bool report_predicted_ms(const profile *p, double *ms);
/* A number with that many decimals (0 to 3) and a dot, whatever the locale of the host program. */
void report_fixed(sbuf *b, double v, int decimals);
/* A CSV field, quoted where RFC 4180 asks for it. */
void report_csv_field(sbuf *out, str s);

/* A result as a view (report_result.c): console, md, csv, summary-html or view. ASSAY_ERR_USAGE for another. */
assay_status report_view(const result_kind *kind, const void *data, str format,
                         const report_options *o, sbuf *out, assay_error *err);
/* Of a `verdicts`: "junit", else annotations of a workflow ("github"). */
assay_status report_check_ci(const void *data, str format, const report_options *o, sbuf *out,
                             assay_error *err);

/* The record of a run over several image pipelines, which tools that generate images read. */
typedef struct report_run {
    str timestamp, prompt;
} report_run;

struct pipeline_result;
void report_generation(const struct pipeline_result *const *list, uint32_t n, const report_run *run,
                       sbuf *out);

#endif
