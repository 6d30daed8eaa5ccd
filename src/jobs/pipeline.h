/* What stands behind an assay_pipeline, and running it. */
#ifndef JOBS_PIPELINE_H
#define JOBS_PIPELINE_H

#include "jobs/job.h"
#include "study/language.h"
#include "study/pipeline.h"

struct assay_pipeline {
    arena *arena;
    bool is_language;
    pipeline_plan plan;
    pipeline_result diffusion;
    language_settings asked;
    language_result language;
};

/* What the word or --pipeline-file means; p has its arena. */
assay_status job_pipeline_open(assay_pipeline *p, const char *word, const assay_options *o,
                               assay_error *err);
assay_status job_pipeline_diffusion(assay_pipeline *p, const assay_options *o, assay_error *err);
assay_status job_pipeline_language(assay_pipeline *p, const assay_options *o, assay_error *err);
/* Adds times of its components, or of prompt and steps; hooks may be NULL. */
assay_status job_pipeline_measure(assay_pipeline *pipeline, const assay_options *o,
                                  const assay_hooks *hooks, assay_error *err);

#endif
