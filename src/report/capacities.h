/* Capacity as bytes. */
#ifndef REPORT_CAPACITIES_H
#define REPORT_CAPACITIES_H

#include "profile/capacity.h"
#include "report/report.h"

/* Console, json (assay.capacity/1) or csv; ASSAY_ERR_USAGE for another name. */
assay_status report_capacity(const capacity *c, str format, const report_options *o, sbuf *out,
                             assay_error *err);

#endif
