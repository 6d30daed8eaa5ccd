/* Folders of transformers and diffusers: configuration and weights of a model, or the components of a
 * pipeline.
 *
 *     config.json                                    the architecture
 *     model.safetensors, diffusion_pytorch_model.safetensors, or a set with *.safetensors.index.json
 *     model_index.json                               of a pipeline: {"unet": [library, class], ...}
 *     unet/ vae/ text_encoder/ ...                   its components, each a directory as above
 *
 * A pipeline without model_index.json is known by its component directories.
 */
#ifndef FORMATS_HF_FOLDER_H
#define FORMATS_HF_FOLDER_H

#include "formats/model_config.h"
#include "formats/weights.h"

typedef struct hf_component {
    str name;       /* "unet" */
    str class_name; /* "UNet2DConditionModel" */
    str path;       /* its folder, NUL-terminated */
    bool is_model;  /* has a config.json: no tokenizer, scheduler or feature extractor */
} hf_component;

typedef struct hf_folder {
    model_config config; /* row NULL: the architecture is not known, or there is no config.json */
    str kind;            /* model type or class; empty without config.json */
    str config_path;
    weight_set *weights; /* NULL: there are none */
    str pipeline;        /* class of the pipeline, "pipeline" when nobody says; empty: none */
    VEC(hf_component) components;
    notes notes;
} hf_folder;

/* Whether hf_folder_read() has something to read here. */
bool hf_folder_is(const char *path);

/* Everything is in the arena. A pipeline's config and weights are those of no component: read the component's own
 * folder. */
assay_status hf_folder_read(const char *path, arena *a, hf_folder *out, assay_error *err);

/* A file or index of weights: the directory it stands in, when there is a config.json beside it and the file is the
 * one that hf_folder_read() would take. Else out->weights is NULL. */
assay_status hf_folder_of(const char *file, arena *a, hf_folder *out, assay_error *err);

/* The component that does the work of a step (unet, transformer, prior), or the first that is a model; NULL if there
 * is none. */
const hf_component *hf_folder_denoiser(const hf_folder *f);

#endif
