/* Runs of a history, and figures over time, as bytes. */
#ifndef REPORT_HISTORIES_H
#define REPORT_HISTORIES_H

#include "profile/history.h"
#include "report/report.h"

/* Console, json (assay.runs/1) or csv; ASSAY_ERR_USAGE for another name. */
assay_status report_runs(const history_list *l, str format, const report_options *o, sbuf *out,
                         assay_error *err);
/* The models of a history, each with its newest run: assay.models/1. */
assay_status report_models(const history_models *m, str format, const report_options *o, sbuf *out,
                           assay_error *err);
/* assay.trend/1 (report_trend.c). */
assay_status report_trend(const history_trend *t, str format, const report_options *o, sbuf *out,
                          assay_error *err);

/* ---- shared ---- */
void history_put_minute(sbuf *b, int64_t epoch_s); /* "2026-11-15 19:06" */

#endif
