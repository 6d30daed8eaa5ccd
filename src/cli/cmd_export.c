/* assay export: a model as an ONNX file. */
#include <inttypes.h>
#include <string.h>
#include <strings.h>

#include "cli/cli.h"

static void put_size(uint64_t bytes)
{
    static const char *const units[] = {"bytes", "kB", "MB", "GB", "TB"};
    double v = (double)bytes;
    int unit = 0;
    for (; v >= 1000 && unit < 4; unit++)
        v /= 1000;
    printf(unit ? "%.1f %s" : "%.0f %s", v, units[unit]);
}

static void put_result(const char *path, const assay_export_info *got)
{
    printf("Wrote %s (", path);
    put_size(got->model_bytes);
    if (got->data_bytes) {
        printf(") and %s.data (", path);
        put_size(got->data_bytes);
    }
    printf("): %" PRIu64 " tensors", got->tensors);
    if (got->random_tensors)
        printf(", %" PRIu64 " of them random", got->random_tensors);
    printf(".\n");
}

/* What is no file of a name's own (stdout, a device, a pipe) may be called anything. */
static bool is_onnx_name(const char *path)
{
    size_t n = strlen(path);
    return strcmp(path, "-") == 0 || strncmp(path, "/dev/", 5) == 0 ||
           (n > 5 && strcasecmp(path + n - 5, ".onnx") == 0);
}

static int check_output(const cli_args *a)
{
    if (a->output.paths.n != 1)
        return cli_complain_text(ASSAY_ERR_USAGE,
                                 "export needs one output file. Use -o FILE.onnx.");
    if (!is_onnx_name(a->output.paths.items[0]))
        return cli_complain_text(ASSAY_ERR_USAGE,
                                 "export writes ONNX, but '%.200s' does not end in .onnx. Use -o "
                                 "FILE.onnx, or -o - for stdout.",
                                 a->output.paths.items[0]);
    const char *precision = assay_options_get(a->options, "precision");
    return precision && strcmp(precision, "int8") == 0
               ? ASSAY_OK
               : cli_refuse_options(a, "engine-lib", "only --precision int8 runs the engine");
}

static int run_export(cli_args *args)
{
    assay_export_info got = {.size = sizeof got};
    assay_model *model = NULL;
    assay_error err;
    int code = check_output(args);
    if (code)
        return code;
    bool to_stdout = strcmp(args->output.paths.items[0], "-") == 0;
    const char *path = to_stdout ? "/dev/stdout" : args->output.paths.items[0];
    assay_status s = assay_model_open(args->words[0], &model, &err);
    if (s == ASSAY_OK)
        s = assay_export(model, path, args->options, &got, &err);
    assay_model_free(model);
    if (s != ASSAY_OK)
        return cli_complain(&err);
    if (!args->output.quiet && !to_stdout)
        put_result(path, &got);
    return ASSAY_OK;
}

static const char *const export_examples[] = {
    "assay export resnet50 -o resnet50.onnx",
    "with random weights, opset 17",
    "assay export vit_b_16 -o vit.onnx --opset 23 --seed 7",
    "opset 23, which has an Attention operator",
    "assay export resnet50 -o resnet50-int8.onnx --precision int8",
    "8-bit weights and activations, calibrated with random inputs",
    "assay export model.onnx -o out/model.onnx --external-data",
    "weights of the file, in a second file",
    NULL,
};

const cli_command command_export = {
    CLI_COMMAND("export", "MODEL", 1, 1, run_export),
    .classes = "model",
    .values = "@models",
    .examples = export_examples,
    .about = "Write a model as an ONNX file.",
    .more = "MODEL is as in graph. Weights of a file are copied. Weights of a built-in "
            "architecture are random, depend only on the seed, and are scaled to keep outputs "
            "finite."};
