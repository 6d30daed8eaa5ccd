#include "support/values.h"

#include <stdarg.h>
#include <stdio.h>

#define WHOLE_PATH(whole, path)               \
    char whole[160];                          \
    va_list ap;                               \
    va_start(ap, path);                       \
    vsnprintf(whole, sizeof whole, path, ap); \
    va_end(ap)

double number_at(const assay_result *r, const char *path, ...)
{
    WHOLE_PATH(whole, path);
    return assay_result_number(r, whole);
}

uint64_t whole_at(const assay_result *r, const char *path, ...)
{
    WHOLE_PATH(whole, path);
    assay_value v = {.size = sizeof v};
    return assay_result_get(r, whole, &v, NULL) == ASSAY_OK ? v.whole : 0;
}

const char *text_at(const assay_result *r, const char *path, ...)
{
    WHOLE_PATH(whole, path);
    return assay_result_text(r, whole);
}

size_t count_at(const assay_result *r, const char *path, ...)
{
    WHOLE_PATH(whole, path);
    return assay_result_count(r, whole);
}

totals totals_of(const assay_result *p)
{
    return (totals){.parameters = whole_at(p, "total_parameters"),
                    .flops = whole_at(p, "total_flops"),
                    .macs = whole_at(p, "total_macs"),
                    .memory_bytes = whole_at(p, "total_memory"),
                    .operators = whole_at(p, "total_operators"),
                    .weights_bytes = whole_at(p, "architecture.weight_bytes"),
                    .activations_peak_bytes = whole_at(p, "memory_plan.activations_peak_bytes"),
                    .peak_bytes = whole_at(p, "memory_plan.peak_bytes"),
                    .lower_bound_bytes = whole_at(p, "memory_plan.lower_bound_bytes"),
                    .nodes_exact = whole_at(p, "accounting.exact"),
                    .nodes_assumed = whole_at(p, "accounting.assumed"),
                    .nodes_unknown = whole_at(p, "accounting.unknown"),
                    .trainable_parameters = whole_at(p, "architecture.trainable_parameters"),
                    .buffers = whole_at(p, "architecture.buffers"),
                    .file_size_bytes = whole_at(p, "architecture.file_size_bytes")};
}

bool placed_at(const assay_result *p, size_t i, placed *out)
{
    *out = (placed){.device = text_at(p, "devices.%zu.name", i),
                    .precision = text_at(p, "devices.%zu.precision", i),
                    .verdict = text_at(p, "devices.%zu.verdict", i),
                    .batch = (int64_t)whole_at(p, "devices.%zu.batch", i),
                    .latency_ms = number_at(p, "devices.%zu.latency_ms", i),
                    .latency_low_ms = number_at(p, "devices.%zu.latency_low_ms", i),
                    .latency_high_ms = number_at(p, "devices.%zu.latency_high_ms", i),
                    .throughput = number_at(p, "devices.%zu.throughput", i),
                    .memory_bytes = whole_at(p, "devices.%zu.memory_bytes", i),
                    .training_memory_bytes = whole_at(p, "devices.%zu.training_memory_bytes", i),
                    .fits = number_at(p, "devices.%zu.fits", i) > 0,
                    .pareto = number_at(p, "devices.%zu.pareto", i) > 0,
                    .bound_percent = number_at(p, "devices.%zu.compute_bound_percent", i) +
                                     number_at(p, "devices.%zu.memory_bound_percent", i) +
                                     number_at(p, "devices.%zu.overhead_bound_percent", i)};
    return i < count_at(p, "devices");
}
