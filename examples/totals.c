/* What a model costs, in forty lines: opens a model, analyses it at a batch size, prints the totals and the costliest
 * layer. Every figure is read by its path, which is the one of docs/json.md.
 *
 *   cc totals.c $(pkg-config --cflags --libs assay) -o totals && ./totals model.onnx 8
 */
#include <assay/assay.h>
#include <inttypes.h>
#include <stdio.h>

static int fail(const assay_error *err)
{
    fprintf(stderr, "totals: %s\n", err->message);
    return (int)err->code;
}

/* A value says its own label and unit. */
static void print_value(const assay_result *profile, const char *path)
{
    assay_value v = {.size = sizeof v};
    if (assay_result_get(profile, path, &v, NULL) == ASSAY_OK && v.type == ASSAY_WHOLE)
        printf("  %-16s %" PRIu64 " %s\n", v.label, v.whole, v.unit);
}

static void print_costliest(const assay_result *profile)
{
    char path[64];
    double most = -1;
    size_t at = 0, n = assay_result_count(profile, "layers");
    for (size_t i = 0; i < n; i++) {
        snprintf(path, sizeof path, "layers.%zu.flops", i);
        double flops = assay_result_number(profile, path);
        at = flops > most ? i : at;
        most = flops > most ? flops : most;
    }
    if (n == 0)
        return;
    snprintf(path, sizeof path, "layers.%zu.name", at);
    printf("  %-16s %s, %.0f FLOPs", "Costliest layer", assay_result_text(profile, path), most);
    snprintf(path, sizeof path, "layers.%zu.output_shapes", at);
    printf(", output %s\n", assay_result_text(profile, path));
}

int main(int argc, char **argv)
{
    assay_error err;
    assay_model *model = NULL;
    assay_result *profile = NULL;
    assay_options *options = assay_options_new();
    int code = 0;
    if (argc < 2 || !options)
        return 2;
    if (assay_model_open(argv[1], &model, &err) ||
        (argc > 2 && assay_options_set(options, "batch", argv[2], &err)) ||
        assay_analyze(model, options, &profile, &err)) {
        code = fail(&err);
    } else {
        printf("%s\n", assay_result_text(profile, "model"));
        print_value(profile, "total_parameters");
        print_value(profile, "total_macs");
        print_value(profile, "total_flops");
        print_value(profile, "memory_plan.peak_bytes");
        print_costliest(profile);
    }
    assay_result_free(profile);
    assay_model_free(model);
    assay_options_free(options);
    return code;
}
