/* Results as views, by the name of the format (report_result.c). */
#ifndef REPORT_REPORT_VIEW_H
#define REPORT_REPORT_VIEW_H

#include "base/result.h"
#include "report/report.h"

/* Console, md, csv, summary-html or view. ASSAY_ERR_USAGE for another. */
assay_status report_view(const result_kind *kind, const void *data, str format,
                         const report_options *o, sbuf *out, assay_error *err);

#endif
