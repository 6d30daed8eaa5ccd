/* Device events of the engine's trace, added up by name. */
#ifndef JOBS_MEASURE_GPU_H
#define JOBS_MEASURE_GPU_H

#include "engine/trace.h"
#include "profile/measured.h"

typedef enum job_gpu_wanted {
    JOB_GPU_ALL,
    JOB_GPU_KERNELS,
    JOB_GPU_COPIES,
    JOB_GPU_NONE
} job_gpu_wanted;

/* Kernels and copies of the runs after the warm-up, and the engine's own nodes that copy to and from a
 * device. The list and its names are put in `keep`; `scratch` is used meanwhile. */
void job_gpu_events(const trace *t, uint32_t warmup_runs, arena *scratch, arena *keep,
                    job_gpu_wanted wanted, profile_gpu *g);

#endif
