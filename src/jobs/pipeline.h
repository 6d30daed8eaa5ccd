/* A pipeline while it is opened, counted and measured. */
#ifndef JOBS_PIPELINE_H
#define JOBS_PIPELINE_H

#include "jobs/job.h"
#include "study/language.h"
#include "study/pipeline.h"

typedef struct job_pipeline {
    arena *arena;
    bool is_language;
    bool most_users; /* of a language model: look for the most users of each device */
    pipeline_plan plan;
    pipeline_result diffusion;
    language_settings asked;
    language_result language;
} job_pipeline;

/* What the word or --pipeline-file means; p has its arena. */
assay_status job_pipeline_open(job_pipeline *p, const char *word, const assay_options *o,
                               assay_error *err);
assay_status job_pipeline_diffusion(job_pipeline *p, const assay_options *o, assay_error *err);
assay_status job_pipeline_language(job_pipeline *p, const assay_options *o, assay_error *err);
/* Adds times of its components, or of prompt and steps; hooks may be NULL. */
assay_status job_pipeline_measure(job_pipeline *pipeline, const assay_options *o,
                                  const assay_hooks *hooks, assay_error *err);

#endif
