/* Times of layers, summed over the events of a profiled session.
 *
 * The profiler costs some microseconds in each kernel's own time and some more between kernels. Both are
 * found on a chain of tiny nodes, run with and without it: with u the time per node without the
 * profiler, d the kernel time it reports and p the time per node of a profiled run, it adds d - u/2
 * inside a kernel (half of u is taken to be the kernel, half the dispatch) and p - u in all.
 *
 * Per run: layers + engine's own kernels + dispatch + unexplained = run - kernels * (p - u).
 */
#ifndef MEASURE_LAYER_TIMES_H
#define MEASURE_LAYER_TIMES_H

#include "engine/trace.h"
#include "profile/profile.h"

typedef struct profiler_bias {
    double inside_us, between_us, dispatch_us;
} profiler_bias;

/* From the trace of a chain of `nodes` tiny nodes that takes `plain_us` per node without the profiler. False: the trace
 * holds no kernels. */
bool profiler_bias_of(const trace *t, uint32_t warmup_runs, double plain_us, uint32_t nodes,
                      profiler_bias *out);

typedef struct layer_span {
    uint32_t first, n; /* in the list of layers; none: the engine's own */
} layer_span;

typedef struct layer_times_request {
    const trace *trace;
    uint32_t warmup_runs;
    profiler_bias bias;
    const profile *of;       /* the model as it was run */
    const layer_span *spans; /* [nodes of the trace] the layers that each stands for */
    const uint32_t *layers;
    str patterns;      /* of groups that are requested */
    double latency_ms; /* without the profiler; 0: not known */
} layer_times_request;

/* Fills time_ms of the layers of p and its ledger, except for the counts of kernels. */
assay_status layer_times_fill(const layer_times_request *q, arena *work, profile *p,
                              assay_error *err);

#endif
