/* What waits for what in a measured run, from the engine's trace.
 *
 * A layer waits for the layers that make its inputs: the one that ends last blocks it. From then on it is ready; until
 * it starts it is queued, because the engine runs other layers. The critical path is the chain of waiting layers
 * with the longest measured time: with any number of threads a run of branches in parallel takes no less.
 *
 * Threads wait too. The thread that runs the graph waits inside parallel sections for blocks of other threads, which
 * the engine reports. Of a worker the time outside of the sections that it took part in is known: it waits at least
 * so long. Starts and ends are those of profiled runs, with the cost of the profiler; times of layers are without. */
#ifndef MEASURE_BLOCKING_H
#define MEASURE_BLOCKING_H

#include "measure/layer_times.h"

/* Fills p->measured->blocking; the times of the layers of p are there. */
assay_status blocking_fill(const layer_times_request *q, arena *work, profile *p, assay_error *err);

#endif
