/* Comparisons as bytes; formats are those of report/report.h by name. */
#ifndef REPORT_STUDIES_H
#define REPORT_STUDIES_H

#include "profile/comparison.h"
#include "report/report.h"

/* Console, json, csv, md; ASSAY_ERR_USAGE for another name. */
assay_status report_comparison(const comparison *c, str format, const report_options *o, sbuf *out,
                               assay_error *err);
/* Takes away the empty line that a heading puts before itself: nothing stands above it. */
void report_first_line(sbuf *out, size_t from);

#endif
