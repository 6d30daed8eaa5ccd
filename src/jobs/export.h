/* Writing a model as an ONNX file. */
#ifndef JOBS_EXPORT_H
#define JOBS_EXPORT_H

#include "formats/onnx_write.h"
#include "jobs/job.h"

assay_status job_export(assay_model *m, const char *path, const assay_options *o, onnx_written *got,
                        assay_error *err);

#endif
