/* The cost of a generation: the result "assay.pipeline/1" of kind "diffusion" (pipeline_fields.c), filled by
 * study/pipeline.c; and "assay.pipelines/1", several of them or of language models. All pointers are in its arena.
 * MACs and FLOPs of a component are those of one call for one image. Members that end in _str are formatted numbers;
 * pipeline_settle() computes them and the other derived members.
 */
#ifndef PROFILE_PIPELINE_H
#define PROFILE_PIPELINE_H

#include "base/notes.h"
#include "base/result.h"

enum { PIPELINE_COMPONENTS = 12, PIPELINE_POINTS = 64, PIPELINE_SWEEPS = 8, PIPELINES_MAX = 12 };

typedef enum pipeline_role {
    ROLE_TEXT_ENCODER,
    ROLE_VAE_ENCODER,
    ROLE_DENOISER,
    ROLE_VAE_DECODER,
    ROLE_OTHER,
} pipeline_role;
extern const char *const pipeline_role_words[]; /* "text_encoder", ... */

typedef struct pipeline_attention {
    uint64_t layers;
    uint64_t qk_macs, av_macs, projection_macs;
    uint64_t softmax_elements, softmax_flops;
    double percent; /* QK and AV, of the call's MACs */
} pipeline_attention;

typedef struct pipeline_attentions {
    uint64_t qk_macs, av_macs, projection_macs; /* of both kinds */
    uint64_t softmax_elements, softmax_flops;
    uint64_t macs;  /* QK and AV */
    double percent; /* of the call's MACs */
    pipeline_attention self, cross;
} pipeline_attentions;

typedef struct pipeline_component {
    str name;  /* "unet" */
    str model; /* what was built */
    pipeline_role role;
    str error; /* why it could not be counted; empty when it was */
    uint64_t parameters, weight_bytes;
    str precision; /* of the weights, and of activations; empty when the component is not known */
    uint64_t macs, flops, memory; /* of one call */
    str macs_str, flops_str;
    uint64_t linear_macs; /* of one call: without QK and AV */
    uint64_t activations_peak_bytes;
    uint64_t calls; /* for one image */
    uint64_t total_macs, total_flops;
    str total_macs_str, total_flops_str;
    double percent; /* of the pipeline's MACs */
    uint32_t part;  /* of the plan */
    double time_ms; /* of one call; NaN: not measured */
    double tflops_per_second;
    pipeline_attentions attention;
} pipeline_component;

typedef struct pipeline_point {
    double value; /* pixels of a side, steps, guidance */
    str value_str;
    int64_t height, width;
    uint64_t macs_per_pass, macs_per_step, vae_macs, text_encoder_macs, total_macs, total_flops;
    uint64_t attention_macs; /* of a pass: QK and AV */
    double relative;         /* of the total to the first point */
    double relative_denoiser;
} pipeline_point;

/* Of cost over pixels (resolution) or steps, by least squares of logarithms; 0: not fitted. */
typedef struct pipeline_exponents {
    bool present;
    const char *of; /* "pixels", "steps" */
    double total, denoiser, linear, attention, vae;
} pipeline_exponents;

typedef struct pipeline_sweep {
    const char *over; /* "resolution", "steps", "guidance" */
    pipeline_point points[PIPELINE_POINTS];
    uint32_t n;
    pipeline_exponents exponents;
} pipeline_sweep;

typedef struct pipeline_shape {
    uint32_t rank;
    uint64_t dims[8];
} pipeline_shape;

typedef struct pipeline_result {
    str conclusion;   /* one or two sentences: result_conclude() */
    const char *kind; /* "diffusion"; disabled: the kind of the model, NULL if unknown */
    bool enabled;     /* false: profiling was switched off, or `partial` */
    bool partial;     /* a component is not counted: totals are those of the others */
    bool counted;     /* false: switched off, and nothing but the model is filled */
    str error;        /* what is not counted, in a sentence */
    str model, title;
    const char *model_component; /* "unet" or "transformer" */
    bool has_unet, has_transformer;
    int64_t height, width, steps, steps_run, prompt_tokens, batch;
    double guidance_scale, strength; /* strength 0: from noise */
    bool distilled;                  /* guidance is an input of the denoiser: one pass */
    uint64_t passes_per_step, prompts;
    pipeline_component components[PIPELINE_COMPONENTS];
    uint32_t n_components;
    uint64_t denoiser_parameters, all_parameters;
    str denoiser_parameters_str;
    uint64_t macs_per_pass, flops_per_pass, macs_per_step, flops_per_step;
    uint64_t amortised_macs_per_step, amortised_flops_per_step;
    uint64_t vae_macs, vae_flops, text_encoder_macs, text_encoder_flops;
    uint64_t total_macs, total_flops; /* of the whole batch */
    str macs_per_pass_str, flops_per_pass_str, macs_per_step_str, flops_per_step_str;
    str amortised_macs_per_step_str, amortised_flops_per_step_str;
    str vae_macs_str, vae_flops_str, text_encoder_macs_str, text_encoder_flops_str;
    str total_macs_str, total_flops_str;
    pipeline_shape input_shape, latent_shape;
    double inference_time_s; /* NaN: not measured */
    str inference_time_str;
    double tflops_per_second; /* NaN: not measured */
    pipeline_sweep *sweeps;
    uint32_t n_sweeps;
    notes warnings;
} pipeline_result;

/* Fills what follows from other members; false if out of memory (pipeline_settle.c). */
bool pipeline_settle(pipeline_result *r, arena *a);

typedef struct pipelines_result {
    const field_result *list;
    uint32_t n;
} pipelines_result;

extern const result_kind diffusion_kind, pipelines_kind;

#endif
