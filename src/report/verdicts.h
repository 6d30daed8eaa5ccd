/* Verdicts as bytes, and metrics as people read them. */
#ifndef REPORT_VERDICTS_H
#define REPORT_VERDICTS_H

#include "profile/verdicts.h"
#include "report/report.h"

/* "12.50 ms", "97.49 MiB", "4.09 G", "812.3 /s". */
void report_metric(sbuf *b, metric_unit unit, double v);
/* "console", "json" (assay.check/1), "csv", "md", "junit", "github" (annotations of a workflow);
 * ASSAY_ERR_USAGE for another name. */
assay_status report_verdicts(const verdicts *v, str format, const report_options *o, sbuf *out,
                             assay_error *err);

#endif
