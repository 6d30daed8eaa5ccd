/* What stands behind an assay_pipeline: shared by pipeline.c, which makes and walks it, and
 * pipeline_measure.c, which runs it. */
#ifndef API_PIPELINE_H
#define API_PIPELINE_H

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

/* Adds copies of the arguments, over those that are there; NULL adds none. False when memory is out. */
bool api_args_add(zoo_args *to, const zoo_args *from);

#endif
