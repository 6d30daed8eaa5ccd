/* Checks for the systems that run tests. */
#ifndef REPORT_CHECK_CI_H
#define REPORT_CHECK_CI_H

#include "profile/verdicts.h"
#include "report/report.h"

/* Of a `verdicts`: "junit", else annotations of a workflow ("github"). */
assay_status report_check_ci(const void *data, str format, const report_options *o, sbuf *out,
                             assay_error *err);

#endif
