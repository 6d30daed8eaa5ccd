/* What a model allocates and frees while it runs, in order, and who is alive at the peak.
 *
 *   cc allocations.c $(pkg-config --cflags --libs assay) -o allocations && ./allocations model.onnx
 */
#include <assay/assay.h>
#include <inttypes.h>
#include <stdio.h>

static void print_events(const assay_result *profile)
{
    assay_memory_event e = {.size = sizeof e};
    for (size_t i = 0; assay_profile_memory_event(profile, i, &e); i++)
        printf("%4zu  %-8s  %10" PRIu64 "  at %10" PRIu64 "  alive %10" PRIu64 "  %s\n", e.step,
               e.kind, e.bytes, e.offset, e.live_bytes, e.value);
}

static void print_peak(const assay_result *profile)
{
    assay_memory_plan plan = {.size = sizeof plan};
    assay_live_value v = {.size = sizeof v};
    if (!assay_profile_memory_plan(profile, &plan))
        return;
    printf("%" PRIu64 " bytes at most, while %s runs; a block of %" PRIu64 " holds them all\n",
           plan.activations_peak_bytes, plan.peak_node, plan.planned_bytes);
    for (size_t i = 0; assay_profile_memory_witness(profile, i, &v); i++)
        printf("  %10" PRIu64 "  %s, made by %s\n", v.bytes, v.value, v.producer);
}

int main(int argc, char **argv)
{
    assay_error err = {0};
    assay_model *model = NULL;
    assay_result *profile = NULL;
    assay_options *options = assay_options_new();
    if (argc < 2 || !options)
        return 2;
    if (assay_model_open(argv[1], &model, &err) ||
        assay_options_set(options, "allocations", NULL, &err) ||
        assay_analyze(model, options, &profile, &err)) {
        fprintf(stderr, "allocations: %s\n", err.message);
    } else {
        print_events(profile);
        print_peak(profile);
    }
    assay_result_free(profile);
    assay_model_free(model);
    assay_options_free(options);
    return (int)err.code;
}
