/* What a model costs, in twenty lines: opens a model, analyses it at a batch size, prints the totals and
 * the costliest layer.
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

static void print_totals(const assay_result *profile)
{
    assay_totals t = {.size = sizeof t};
    assay_profile_totals(profile, &t);
    printf("%s\n", assay_profile_model(profile));
    printf("  parameters       %" PRIu64 "\n", t.parameters);
    printf("  MACs             %" PRIu64 "\n", t.macs);
    printf("  FLOPs            %" PRIu64 "\n", t.flops);
    printf("  peak memory      %" PRIu64 " bytes\n", t.peak_bytes);
    printf("  counted exactly  %" PRIu64 " of %" PRIu64 " operators\n", t.nodes_exact, t.operators);
}

static void print_costliest(const assay_result *profile)
{
    assay_layer layer = {.size = sizeof layer}, most = {.size = sizeof most};
    assay_tensor out = {.size = sizeof out};
    size_t at = 0;
    for (size_t i = 0; assay_profile_layer(profile, i, &layer); i++)
        if (i == 0 || layer.flops > most.flops) {
            most = layer;
            at = i;
        }
    if (!assay_profile_layer_output(profile, at, 0, &out))
        return;
    printf("  costliest layer  %s (%s), %" PRIu64 " FLOPs, %s [", most.name, most.type, most.flops,
           out.dtype);
    for (int i = 0; i < out.rank; i++)
        printf("%s%" PRId64, i ? ", " : "", out.dims[i]);
    printf("]\n");
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
        print_totals(profile);
        print_costliest(profile);
    }
    assay_result_free(profile);
    assay_model_free(model);
    assay_options_free(options);
    return code;
}
