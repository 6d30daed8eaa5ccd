/* Device events of the engine's trace, summed by name. */
#ifndef MEASURE_GPU_EVENTS_H
#define MEASURE_GPU_EVENTS_H

#include "engine/trace.h"
#include "profile/measured.h"

typedef enum gpu_wanted { GPU_ALL, GPU_KERNELS, GPU_COPIES, GPU_NONE } gpu_wanted;

/* Kernels and copies of the runs after the warm-up, and the engine's own nodes that copy to and from a
 * device. The list and its names are put in `keep`; `scratch` is used meanwhile. */
void gpu_events_sum(const trace *t, uint32_t warmup_runs, arena *scratch, arena *keep,
                    gpu_wanted wanted, profile_gpu *g);

#endif
