/* The engine's kernels of a model, and the layers that each executes. */
#ifndef JOBS_KERNELS_H
#define JOBS_KERNELS_H

#include "analyze/kernels.h"
#include "engine/trace.h"
#include "jobs/measure.h"

/* The kernels of the optimised graph that the engine wrote. */
assay_status job_read_kernels(const job_runnable *x, const char *path, arena *a, kernel_map *out,
                              assay_error *err);
/* [nodes of the trace] the kernel that each is; MAP_NONE: none. NULL if out of memory. */
uint32_t *job_kernels_of_trace(const kernel_map *m, const trace *t, arena *a);

#endif
