/* GGUF files of built-in language models (formats/gguf_write.h): planned, checked against the disk, written. */
#ifndef JOBS_EXPORT_GGUF_H
#define JOBS_EXPORT_GGUF_H

#include "formats/gguf_write.h"
#include "formats/onnx_write.h"
#include "jobs/job.h"

/* Whether an export to `path` is a GGUF file: by its suffix, or because --quant was given. */
bool job_is_gguf(const char *path, const assay_options *o);
assay_status job_export_gguf(assay_model *m, const char *path, const assay_options *o,
                             onnx_written *got, assay_error *err);

/* The parts of it. An empty quant is the type in which the weights are published. The plan is in the arena.
 * ASSAY_ERR_SYSTEM: more than is free on the disk of `path`, or than --disk-limit. */
assay_status job_gguf_plan(assay_model *m, const assay_options *o, str quant, arena *a,
                           gguf_plan *out, assay_error *err);
assay_status job_gguf_check_disk(const gguf_plan *plan, const char *path, const assay_options *o,
                                 assay_error *err);
assay_status job_gguf_write(const gguf_plan *plan, const char *path, const assay_options *o,
                            uint64_t *bytes, assay_error *err);

#endif
