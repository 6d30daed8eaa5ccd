/* Pipelines as bytes: console, json, csv, and "generation-config", the record of a run over several models
 * (timestamp, prompt, models with their compute_profile). */
#ifndef REPORT_PIPELINES_H
#define REPORT_PIPELINES_H

#include "base/json_write.h"
#include "profile/language.h"
#include "profile/pipeline.h"
#include "report/report.h"

typedef struct report_run { /* of a generation-config */
    str timestamp, prompt;
} report_run;

/* ASSAY_ERR_USAGE for another format's name. */
assay_status report_pipelines(const pipeline_result *const *list, uint32_t n, str format,
                              const report_run *run, const report_options *o, sbuf *out,
                              assay_error *err);
/* Console, json or csv. */
assay_status report_languages(const language_result *const *list, uint32_t n, str format,
                              const report_options *o, sbuf *out, assay_error *err);

/* Times of a language model: on devices by the roofline, and measured (report_language_times.c). */
struct console;
void report_language_times(struct console *k, const language_result *r);
/* A largest context or batch: "4,096", "any", "none". */
void report_language_most(sbuf *b, int64_t v, bool fits);
/* One result as it is, several as "assay.pipelines/1" (report_pipeline.c). */
void report_results_json(const field_result *list, uint32_t n, sbuf *out);

#endif
