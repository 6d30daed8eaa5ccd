/* What other files of this room need of devices. */
#ifndef JOBS_MAP_H
#define JOBS_MAP_H

#include "jobs/job.h"

/* Whether a value of --precision is a list of precisions of devices: "fp32,tf32,int8". */
bool job_is_precision_list(str value);
/* The ridge of the device that the options name, at their precision or the model's native one; nothing when they
 * name none. */
assay_status job_ridge(const assay_model *m, const assay_options *o, arena *work, double *threshold,
                       str *name, assay_error *err);
/* The one device that the options name: its id, in `work`, and its memory in bytes. 0 when there is none. */
double job_named_device(const assay_options *o, arena *work, str *id);

#endif
