/* Files that describe an architecture instead of holding one: training configurations, custom models, and
 * configurations of transformers and diffusers (formats/hf_config.h).
 *
 *   {"model": {"net_type": "swinir", "embed_dim": 60, ...}, ...}      a training configuration
 *   {"schema": "assay.model/1", "input": [...], "layers": [...]}      a custom model, docs/custom-models.md
 *   {"model_type": "llama", "hidden_size": 4096, ...}                 config.json of Hugging Face
 *
 * Of a training configuration only the section that describes the network is read: "model", or "netG" as
 * KAIR calls it. net_type is the name of a built-in architecture.
 */
#ifndef FORMATS_MODEL_CONFIG_H
#define FORMATS_MODEL_CONFIG_H

#include "base/notes.h"
#include "zoo/zoo.h"

typedef struct model_config {
    const zoo_row *row;
    str name;      /* what reports call it */
    zoo_args args; /* what the file says of it; lenient where unknown keys are harmless */
    notes said;    /* settings of the training that are not used */
} model_config;

/* Everything is in the arena. ASSAY_ERR_MALFORMED names the key ("model.depths[2]"). */
assay_status model_config_read(const char *path, arena *a, model_config *out, assay_error *err);
/* The same of what was read already; path is for sentences. */
assay_status model_config_of(const json_value *root, const char *path, arena *a, model_config *out,
                             assay_error *err);

#endif
