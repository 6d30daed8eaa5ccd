/* config.json of transformers and diffusers: which architecture of the zoo it describes, and all its keys
 * as parameters. Keys that a builder does not know are ignored: the library's own defaults, settings of
 * training and of tokenizers stand there too.
 *
 * An architecture is found by zoo_find_family(): by "model_type", or by the "_class_name" of diffusers.
 */
#ifndef FORMATS_HF_CONFIG_H
#define FORMATS_HF_CONFIG_H

#include "formats/model_config.h"

/* Whether the JSON object is such a configuration. */
bool hf_config_is(const json_value *root);

/* out->row is NULL when the architecture is not known. *kind is the model type or class, borrowed from
 * root. ASSAY_ERR_MALFORMED names the key. */
assay_status hf_config_take(const json_value *root, const char *shown, arena *a, model_config *out,
                            str *kind, assay_error *err);

/* What the place of the file says: in a diffusers folder the text_encoder of a T5 is its encoder, also
 * where no class is written. */
void hf_config_place(model_config *c, const char *path);

/* ASSAY_ERR_UNSUPPORTED: no builder for `kind`, and what to do. */
assay_status hf_config_refuse(const char *shown, str kind, assay_error *err);

#endif
