/* Values of a result by a path that is written as by printf, and the few that many tests ask for. */
#ifndef TESTS_SUPPORT_VALUES_H
#define TESTS_SUPPORT_VALUES_H

#include <assay/assay.h>

/* NaN, 0, "" and 0 when there is none. */
double number_at(const assay_result *r, const char *path, ...) ASSAY_PRINTF(2, 3);
uint64_t whole_at(const assay_result *r, const char *path, ...) ASSAY_PRINTF(2, 3);
const char *text_at(const assay_result *r, const char *path, ...) ASSAY_PRINTF(2, 3);
size_t count_at(const assay_result *r, const char *path, ...) ASSAY_PRINTF(2, 3);

typedef struct totals {
    uint64_t parameters, flops, macs, memory_bytes, operators, weights_bytes;
    uint64_t activations_peak_bytes, peak_bytes, lower_bound_bytes;
    uint64_t nodes_exact, nodes_assumed, nodes_unknown;
    uint64_t trainable_parameters, buffers, file_size_bytes;
} totals;
totals totals_of(const assay_result *profile);

/* A row of `devices` of a model that was placed. */
typedef struct placed {
    const char *device, *precision, *verdict;
    int64_t batch;
    double latency_ms, latency_low_ms, latency_high_ms, throughput;
    uint64_t memory_bytes, training_memory_bytes;
    bool fits, pareto;
    double bound_percent; /* all three bounds together */
} placed;
bool placed_at(const assay_result *profile, size_t index, placed *out);

#endif
