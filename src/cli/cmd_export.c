/* assay export: a model as an ONNX file, or a language model as a GGUF file. */
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

static bool has_suffix(const char *path, const char *suffix)
{
    size_t n = strlen(path), k = strlen(suffix);
    return n > k && strcasecmp(path + n - k, suffix) == 0;
}

/* What is no file of a name's own (stdout, a device, a pipe) may be called anything. */
static bool has_no_name(const char *path)
{
    return strcmp(path, "-") == 0 || strncmp(path, "/dev/", 5) == 0;
}

static int check_onnx(const cli_args *a)
{
    const char *precision = assay_options_get(a->options, "precision");
    int code = cli_refuse_options(a, "quant disk-limit", "it is for GGUF files (-o FILE.gguf)");
    if (code || (precision && strcmp(precision, "int8") == 0))
        return code;
    return cli_refuse_options(a, "engine-lib", "only --precision int8 runs the engine");
}

static int check_gguf(const cli_args *a)
{
    return cli_refuse_options(a,
                              "opset external-data holes precision weight-bits input-shape dim "
                              "batch engine-lib follow-symlinks ops",
                              "the output is a GGUF file, whose types --quant sets");
}

static int check_output(const cli_args *a)
{
    if (a->output.paths.n != 1)
        return cli_complain_text(ASSAY_ERR_USAGE,
                                 "export needs one output file. Use -o FILE.onnx or -o FILE.gguf.");
    const char *path = a->output.paths.items[0];
    bool quant = assay_options_get(a->options, "quant") != NULL;
    if (has_suffix(path, ".gguf") || (quant && has_no_name(path)))
        return check_gguf(a);
    if (has_suffix(path, ".onnx") || has_no_name(path))
        return check_onnx(a);
    return cli_complain_text(ASSAY_ERR_USAGE,
                             "export writes ONNX or GGUF, but '%.200s' does not end in .onnx or "
                             ".gguf. Use -o FILE.onnx, -o FILE.gguf, or -o - for stdout.",
                             path);
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
    "assay export llama-3.2-1b -o llama.gguf --quant q4_0",
    "random weights for llama.cpp, 4 bits",
    NULL,
};

const cli_command command_export = {
    CLI_COMMAND("export", "MODEL", 1, 1, run_export),
    .classes = "model",
    .values = "@models",
    .examples = export_examples,
    .about = "Write a model as an ONNX or GGUF file.",
    .more =
        "MODEL is as in graph. Weights of a file are copied. Weights of a built-in "
        "architecture are random, depend only on the seed, and are scaled to keep outputs "
        "finite. FILE.gguf is for built-in language models that llama.cpp knows: random weights "
        "in the types of --quant and a placeholder tokenizer."};
