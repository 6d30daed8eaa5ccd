/* Scaling as bytes. */
#ifndef REPORT_SCALINGS_H
#define REPORT_SCALINGS_H

#include "profile/scaling.h"
#include "report/report.h"

/* Console, json (assay.scaling/1) or csv; ASSAY_ERR_USAGE for another name. */
assay_status report_scaling(const scaling *s, str format, const report_options *o, sbuf *out,
                            assay_error *err);

#endif
