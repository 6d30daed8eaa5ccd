/* Diffusion pipelines: a small program over components. A plan says which networks there are, how often
 * each is called and what the library's defaults are; running it with settings counts the work.
 *
 *   prompts x text encoders, [VAE encode], steps x passes x denoiser, VAE decode
 *
 * With a guidance above 1 every step has two passes (with and without the prompt) and a second, negative
 * prompt is encoded; a denoiser that takes the guidance as an input (distilled) has one. From an image
 * with strength s only the last s of the steps run.
 */
#ifndef STUDY_PIPELINE_H
#define STUDY_PIPELINE_H

#include "base/error.h"
#include "profile/pipeline.h"
#include "zoo/zoo.h"

typedef struct pipeline_part {
    str name;
    pipeline_role role;
    const zoo_row *row;   /* NULL: not known, see problem */
    const zoo_args *args; /* what its config says; NULL: the row's defaults */
    str model;            /* for reports */
    str problem;
    int64_t calls; /* of ROLE_OTHER */
} pipeline_part;

typedef struct pipeline_plan {
    str model, title;
    bool built_in; /* a component that cannot be built is an error, not a warning */
    pipeline_part parts[PIPELINE_COMPONENTS];
    uint32_t n;
    int64_t height, width, steps, prompt_tokens, vae_scale;
    double guidance;
    bool distilled;
    bool joins_clip; /* the denoiser's prompt is CLIP's 77 tokens and then T5's (SD3) */
} pipeline_plan;

typedef struct pipeline_settings { /* 0, and a negative guidance: the plan's own */
    int64_t height, width, steps, prompt_tokens, batch;
    double guidance, strength;
    size_t memory_limit; /* of a model, and of its analysis */
} pipeline_settings;

/* ---- plans (pipeline_rows.c) ---- */

uint32_t pipeline_count(void);
const char *pipeline_name_at(uint32_t index);
/* By name or alias, spelled as zoo_find() forgives; false when unknown. Nothing is allocated. */
bool pipeline_find(str name, pipeline_plan *out);
/* The plan of components that were read from a directory: roles by their names, defaults by the denoiser's family.
 * `parts` have name, row, args, model and problem. */
assay_status pipeline_of_parts(str model, const pipeline_part *parts, uint32_t n,
                               pipeline_plan *out, assay_error *err);
/* From a file (pipeline_file.c): ASSAY_ERR_MALFORMED names the key. Texts are in the arena. */
assay_status pipeline_read_file(const char *path, arena *a, pipeline_plan *out, assay_error *err);
/* Integer of a part's args or its row's defaults; `def` when neither says. */
int64_t pipeline_arg(const pipeline_part *part, const char *key, int64_t def);

/* ---- running (pipeline.c) ---- */

assay_status pipeline_run(const pipeline_plan *plan, const pipeline_settings *s, arena *a,
                          pipeline_result *out, assay_error *err);
/* The arguments that a component of the result was built with, leniently; in the arena. */
assay_status pipeline_component_args(const pipeline_plan *plan, const pipeline_result *r,
                                     const pipeline_component *c, arena *a, zoo_args *out,
                                     assay_error *err);
/* "resolution=512,768,1024", "steps=20,50", "guidance=1,7.5": one more sweep of the result. */
assay_status pipeline_sweep_over(const pipeline_plan *plan, const pipeline_settings *s, str what,
                                 arena *a, pipeline_result *out, assay_error *err);

#endif
