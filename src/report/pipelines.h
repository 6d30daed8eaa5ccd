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
void report_language_times_json(json_writer *w, const language_result *r);

/* The fields of CHECKLIST 002-05 and 004-05 with their human strings (report_pipeline_json.c). */
void report_pipeline_json(json_writer *w, const pipeline_result *r);
void report_pipeline_list_json(const pipeline_result *const *list, uint32_t n, sbuf *out);
void report_generation_config(const pipeline_result *const *list, uint32_t n, const report_run *run,
                              sbuf *out);

#endif
