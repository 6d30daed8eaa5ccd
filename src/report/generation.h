/* The record of a run over several image pipelines, which tools that generate images read. */
#ifndef REPORT_GENERATION_H
#define REPORT_GENERATION_H

#include "profile/pipeline.h"
#include "report/report.h"

typedef struct report_run {
    str timestamp, prompt;
} report_run;

void report_generation(const pipeline_result *const *list, uint32_t n, const report_run *run,
                       sbuf *out);

#endif
