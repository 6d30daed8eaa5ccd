/* What a generation costs, as plain data: filled by study/pipeline.c, read by reports. All pointers live in
 * the arena that it was filled in. MACs and FLOPs of a component are those of one call for one image.
 */
#ifndef PROFILE_PIPELINE_H
#define PROFILE_PIPELINE_H

#include "base/notes.h"

enum { PIPELINE_COMPONENTS = 12, PIPELINE_POINTS = 64, PIPELINE_SWEEPS = 8, PIPELINES_MAX = 12 };

typedef enum pipeline_role {
    ROLE_TEXT_ENCODER,
    ROLE_VAE_ENCODER,
    ROLE_DENOISER,
    ROLE_VAE_DECODER,
    ROLE_OTHER,
} pipeline_role;

typedef struct pipeline_attention {
    uint64_t layers;
    uint64_t qk_macs, av_macs, projection_macs;
    uint64_t softmax_elements, softmax_flops;
} pipeline_attention;

typedef struct pipeline_component {
    str name;  /* "unet" */
    str model; /* what was built */
    pipeline_role role;
    str error; /* why it could not be counted; empty when it was */
    uint64_t parameters, weight_bytes;
    str precision; /* of the weights, and of activations; empty when the component is not known */
    uint64_t macs, flops, memory; /* of one call */
    uint64_t activations_peak_bytes;
    uint64_t calls; /* for one image */
    uint64_t total_macs, total_flops;
    double percent; /* of the pipeline's MACs */
    uint32_t part;  /* of the plan */
    double time_ms; /* of one call; negative: not measured */
    pipeline_attention self, cross;
} pipeline_component;

typedef struct pipeline_point {
    double value; /* pixels of a side, steps, guidance */
    int64_t height, width;
    uint64_t macs_per_pass, macs_per_step, vae_macs, text_encoder_macs, total_macs, total_flops;
    uint64_t attention_macs; /* of a pass: QK and AV */
    double relative;         /* of the total to the first point */
    double relative_denoiser;
} pipeline_point;

typedef struct pipeline_sweep {
    const char *over; /* "resolution", "steps", "guidance" */
    pipeline_point points[PIPELINE_POINTS];
    uint32_t n;
    bool
        fitted; /* exponents of cost over pixels (resolution) or steps, by least squares of logarithms */
    double total, denoiser, linear, attention, vae;
} pipeline_sweep;

typedef struct pipeline_shape {
    int rank;
    int64_t dims[8];
} pipeline_shape;

typedef struct pipeline_result {
    bool enabled; /* false: profiling was switched off and nothing but the model is filled */
    const char
        *off_kind; /* what was switched off: "diffusion", "language"; NULL: nobody knows it */
    str model, title;
    const char *model_component; /* "unet" or "transformer" */
    int64_t height, width, steps, steps_run, prompt_tokens, batch;
    double guidance_scale, strength; /* strength 0: from noise */
    bool distilled;                  /* guidance is an input of the denoiser: one pass */
    uint64_t passes_per_step, prompts;
    pipeline_component components[PIPELINE_COMPONENTS];
    uint32_t n_components;
    uint64_t denoiser_parameters, all_parameters;
    uint64_t macs_per_pass, flops_per_pass, macs_per_step, flops_per_step;
    uint64_t amortised_macs_per_step, amortised_flops_per_step;
    uint64_t vae_macs, vae_flops, text_encoder_macs, text_encoder_flops;
    uint64_t total_macs, total_flops; /* of the whole batch */
    pipeline_shape input_shape, latent_shape;
    double inference_time_s; /* negative: not measured */
    pipeline_sweep *sweeps;
    uint32_t n_sweeps;
    notes warnings;
} pipeline_result;

#endif
