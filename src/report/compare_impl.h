/* Shared by the writers of comparisons: the totals, one row each. */
#ifndef REPORT_COMPARE_IMPL_H
#define REPORT_COMPARE_IMPL_H

#include "report/studies.h"

typedef enum total_kind { TOTAL_COUNT, TOTAL_SI, TOTAL_BYTES, TOTAL_REAL, TOTAL_MS } total_kind;

typedef struct total_row {
    const char *title, *key;
    total_kind kind;
    uint32_t
        at; /* offset in comparison_model: of a double where the kind is real, else a uint64_t */
} total_row;

extern const total_row compare_totals[];
extern const int compare_totals_n;

/* The total of a model; NaN when it is unknown. */
double compare_total(const comparison_model *m, const total_row *row);
/* Whether any of the models has it. */
bool compare_has(const comparison *c, const total_row *row);
void compare_put_total(sbuf *b, const total_row *row, double v); /* "–" of NaN */
void compare_put_ratio(sbuf *b, double v, double first);

/* What a layer, or the lack of it, adds to a total: "+1.2 M", "−3.50 KiB"; "0" for nothing. */
void compare_put_delta(sbuf *b, uint64_t before, uint64_t after, bool bytes);
void compare_put_delta_ms(sbuf *b, double before, double after);

/* Figures of a layer that may be missing. */
#define COMPARE_FIGURE(layer, field) ((layer) ? (layer)->field : 0)

void compare_write_console(const comparison *c, const report_options *o, sbuf *out);
void compare_write_md(const comparison *c, const report_options *o, sbuf *out);
void compare_write_json(const comparison *c, const report_options *o, sbuf *out);
void compare_write_csv(const comparison *c, const report_options *o, sbuf *out);

#endif
