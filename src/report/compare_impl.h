/* Shared by the writers of comparisons: the totals, one row each. */
#ifndef REPORT_COMPARE_IMPL_H
#define REPORT_COMPARE_IMPL_H

#include "report/studies.h"

typedef enum total_kind { TOTAL_COUNT, TOTAL_SI, TOTAL_BYTES, TOTAL_REAL, TOTAL_MS } total_kind;

typedef struct total_row {
    const char *title, *key;
    total_kind kind;
    double (*get)(const profile *p); /* negative: the profile does not hold it */
} total_row;

extern const total_row compare_totals[];
extern const int compare_totals_n;

/* What a profile is called: its model, and what tells it from others of the same name (compare_labels.c). */
enum { COMPARE_TITLE = 160 };
void compare_title(const comparison *c, uint32_t i, char *buf, size_t cap);
/* Whether any of the profiles holds it. */
bool compare_has(const comparison *c, const total_row *row);
void compare_put_total(sbuf *b, const total_row *row, double v); /* "–" when negative */
void compare_put_ratio(sbuf *b, double v, double first);

/* What a layer, or the lack of it, adds to a total: "+1.2 M", "−3.50 KiB"; "0" for nothing. */
void compare_put_delta(sbuf *b, uint64_t before, uint64_t after, bool bytes);
void compare_put_delta_ms(sbuf *b, double before, double after);

/* "strides [1,1] → [2,2]"; nothing when they agree or one does not say. */
void compare_put_attributes(sbuf *b, const comparison_layer *l);

/* Figures of a layer that may be missing. */
#define COMPARE_FIGURE(layer, field) ((layer) ? (layer)->field : 0)

void compare_write_console(const comparison *c, const report_options *o, sbuf *out);
void compare_write_md(const comparison *c, const report_options *o, sbuf *out);
void compare_write_json(const comparison *c, const report_options *o, sbuf *out);
void compare_write_csv(const comparison *c, const report_options *o, sbuf *out);

#endif
