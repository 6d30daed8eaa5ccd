/* GGUF files of built-in language models (gguf_write.h): planned, checked against the disk, written. */
#ifndef FORMATS_GGUF_EXPORT_H
#define FORMATS_GGUF_EXPORT_H

#include "formats/gguf_write.h"
#include "formats/model.h"

/* Whether an export to `path` is a GGUF file: by its suffix, or because a quantisation was given. */
bool gguf_export_wanted(const char *path, str quant);
/* Refuses a model that is not built in, and an unknown quantisation. */
assay_status gguf_export_check(const assay_model *m, str quant, assay_error *err);
/* `set` goes over the parameters of the model. An empty quant is the type in which the weights are published. The plan
 * is in the arena. */
assay_status gguf_export_plan(const assay_model *m, const zoo_args *set, str quant, arena *a,
                              gguf_plan *out, assay_error *err);
/* ASSAY_ERR_SYSTEM: more than is free on the disk of `path`, or than the limit (0: none). */
assay_status gguf_export_write(const gguf_plan *plan, const char *path, uint64_t limit,
                               const gguf_write_options *o, uint64_t *bytes, assay_error *err);

#endif
