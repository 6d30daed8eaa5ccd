/* What stands behind an assay_pipeline: shared by pipeline.c, which makes and walks it, and
 * pipeline_measure.c, which runs it. */
#ifndef JOBS_PIPELINE_H
#define JOBS_PIPELINE_H

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

#endif
