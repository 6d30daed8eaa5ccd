/* Capacity from a measured load curve (`assay load --curve`): the latency of a machine at a rate is what was measured
 * there, interpolated between steps on a logarithmic scale of latency. The queue, the batching and the caches of the
 * real server are in the curve, so nothing of them is assumed. */
#ifndef STUDY_CAPACITY_CURVE_H
#define STUDY_CAPACITY_CURVE_H

#include "profile/load.h"
#include "study/capacity.h"

/* Fills the plan; it is not feasible when the quantile is none of the curve's, or no rate meets the limit. */
void capacity_plan_curve(const capacity_request *q, const load_result *r, arena *a,
                         capacity_plan *out);
/* The latency at a rate; below the first step its own. NaN above the last step that the server sustained. */
double capacity_curve_at(const load_result *r, double rate, double quantile);

#endif
