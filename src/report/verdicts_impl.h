/* Shared by the writers of verdicts: rows and what moved, as text. */
#ifndef REPORT_VERDICTS_IMPL_H
#define REPORT_VERDICTS_IMPL_H

#include "report/verdicts.h"

/* "+5.1 %" */
void verdict_put_change(sbuf *b, double ratio);
/* One of the row's two values; as digits where the two would else look the same. */
void verdict_put_value(sbuf *b, const verdict_row *r, const metric_value *v);
void verdict_put_against(sbuf *b, const verdict_row *r); /* the limit, or the baseline's value */
/* "−1.80 … +51.9 %", of a row that was tested */
void verdict_put_interval(sbuf *b, const verdict_row *r);
bool verdict_has_moved(const verdict_row *r);
void verdict_put_moved(sbuf *b,
                       const verdict_row *r); /* with its interval; nothing when it has not */
/* One sentence of a row, for where there is no table. */
void verdict_put_sentence(sbuf *b, const verdict_row *r);
bool verdict_is_bad(const verdict_row *r);
void verdict_put_signed(sbuf *b, int64_t d, bool bytes); /* "+1.2 M", "−3.50 KiB" */
void verdict_put_time(sbuf *b, const verdict_move *m);   /* nothing unless both were measured */

typedef void verdict_writer_fn(const verdicts *v, const report_options *o, sbuf *out);
verdict_writer_fn verdict_write_console, verdict_write_json, verdict_write_csv, verdict_write_md,
    verdict_write_junit, verdict_write_github;

#endif
