/* Device events of the engine's trace, added up by name. */
#ifndef API_MEASURE_GPU_H
#define API_MEASURE_GPU_H

#include "engine/trace.h"
#include "profile/measured.h"

typedef enum api_gpu_wanted {
    API_GPU_ALL,
    API_GPU_KERNELS,
    API_GPU_COPIES,
    API_GPU_NONE
} api_gpu_wanted;

/* Kernels and copies of the runs after the warm-up, and the engine's own nodes that copy to and from a
 * device. The list and its names are put in `keep`; `scratch` is used meanwhile. */
void api_gpu_events(const trace *t, uint32_t warmup_runs, arena *scratch, arena *keep,
                    api_gpu_wanted wanted, profile_gpu *g);

#endif
