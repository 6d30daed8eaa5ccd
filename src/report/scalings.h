/* Scaling as bytes. */
#ifndef REPORT_SCALINGS_H
#define REPORT_SCALINGS_H

#include "profile/scaling.h"
#include "report/report.h"

/* Console, json or csv; ASSAY_ERR_USAGE for another name. */
assay_status report_scaling(const scaling *s, str format, const report_options *o, sbuf *out,
                            assay_error *err);
void report_scaling_json(const scaling *s, sbuf *out); /* schema assay.scaling/1 */

/* A size in its own unit: "224", "0.25". */
void scaling_put_size(sbuf *b, const scaling_axis *x, int64_t v);
/* "81,674,240·b·h² + 2,048,000·b", or plain "81674240*b*h^2 + 2048000*b"; coefficients that are not exact have
 * four digits. */
void scaling_put_form(sbuf *b, const scaling *s, const scaling_fit *f, bool plain);
/* "b = batch, h = height/32". */
void scaling_put_legend(sbuf *b, const scaling *s);

#endif
