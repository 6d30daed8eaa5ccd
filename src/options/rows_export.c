/* Options of written models, and those that only callers of the library set. */
#include "options/rows.h"

static const option_row rows[] = {
    {OPTION("opset", INT, export.opset, "export"), .value = "N", .min = 11, .max = 24,
     .about = "Set the operator set. Default: that of the file, 17 for built-in models."},
    {OPTION("external-data", FLAG, export.external_data, "export"),
     .about = "Write weights to a second file. Models above 2 GB always do."},
    {OPTION("holes", FLAG, export.holes, "export"),
     .about = "Write random weights as zeros of a sparse second file, which uses no disk space."},
    {OPTION("quant", WORD, export.quant, "export bench"), .value = "q4_0",
     .values = "f32|f16|bf16|q8_0|q4_0|q4_1|q5_0|q5_1|q4_k|q4_k_m|q5_k|q5_k_m|q6_k|mxfp4",
     .about =
         "Write GGUF in this quantisation. Default: the type that the weights are published in. "
         "bench: run a built-in language model on llama.cpp in each of these, with random "
         "weights."},
    {OPTION("disk-limit", BYTES, export.disk_limit, "export bench"), .value = "4GiB",
     .about = "Refuse to write larger GGUF files. Default: free disk space."},
};
OPTION_TOPIC(options_export, "Export", rows);

static const option_row caller[] = {
    {OPTION("command", WORD, command, NULL), .value = "TEXT",
     .about = "Record this command line in the context of the result."},
    {OPTION("color", FLAG, view.color, NULL), .about = "Use colours on the console."},
    {OPTION("dims-may-miss", FLAG, model.dims_may_miss, NULL),
     .about = "Warn instead of failing if the model lacks a dimension of --dim."},
};
OPTION_TOPIC(options_caller, "Library calls", caller);
