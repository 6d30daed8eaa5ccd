/* What a model allocates and frees while it runs, in order, and who is alive at the peak.
 *
 *   cc allocations.c $(pkg-config --cflags --libs assay) -o allocations && ./allocations model.onnx
 */
#include <assay/assay.h>
#include <stdio.h>

/* A value of the index-th item of a list of the memory plan. */
static const char *path_of(char path[96], const char *list, size_t index, const char *key)
{
    snprintf(path, 96, "memory_plan.%s.%zu.%s", list, index, key);
    return path;
}

static void print_events(const assay_result *profile)
{
    char path[96];
    for (size_t i = 0; i < assay_result_count(profile, "memory_plan.events"); i++) {
        printf("%4.0f", assay_result_number(profile, path_of(path, "events", i, "step")));
        printf("  %-8s", assay_result_text(profile, path_of(path, "events", i, "kind")));
        printf("  %10.0f", assay_result_number(profile, path_of(path, "events", i, "bytes")));
        printf("  alive %10.0f",
               assay_result_number(profile, path_of(path, "events", i, "live_bytes")));
        printf("  %s\n", assay_result_text(profile, path_of(path, "events", i, "value")));
    }
}

static void print_peak(const assay_result *profile)
{
    char path[96];
    printf("%.0f bytes at most, while %s runs; a block of %.0f holds them all\n",
           assay_result_number(profile, "memory_plan.activations_peak_bytes"),
           assay_result_text(profile, "memory_plan.peak_node"),
           assay_result_number(profile, "memory_plan.planned_bytes"));
    for (size_t i = 0; i < assay_result_count(profile, "memory_plan.witnesses"); i++) {
        printf("  %10.0f", assay_result_number(profile, path_of(path, "witnesses", i, "bytes")));
        printf("  %s\n", assay_result_text(profile, path_of(path, "witnesses", i, "value")));
    }
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
