/* assay graph: the static profile of a model in all requested formats. With --strict the result is still shown; only
 * the exit code differs. */
#include <stdio.h>
#include <string.h>

#include "cli/gate.h"

/* A ridge by hand leaves of the device only its memory, which recommendations look at. */
static int refuse_unused_device(const cli_args *a)
{
    const char *ridge = cli_given(a, "threshold");
    if (!ridge || !*ridge || ridge[strspn(ridge, "0123456789.")] || cli_given(a, "advice"))
        return ASSAY_OK;
    return cli_refuse_options(a, "hardware",
                              "--threshold N replaces its ridge; leave one out, or add --advice");
}

static int run_graph(cli_args *args)
{
    int code = refuse_unused_device(args);
    if (args->fell_back && !args->output.quiet)
        fprintf(stderr, "assay: no model given; analysing %s. Use `assay graph MODEL`.\n",
                args->command->fallback);
    if (code)
        return code;
    return args->sandbox ? cli_job_sandboxed(args) : cli_gate_static(args);
}

static const char *const graph_examples[] = {
    "assay model.onnx",
    "parameters, FLOPs, memory, layers",
    "assay graph model.onnx --batch 8 --top 20",
    "batch 8, with the 20 most expensive layers",
    "assay resnet50 --set num_classes=10 --input-shape 8,3,384,384",
    "a built-in model with other sizes",
    "assay model.onnx --dim seq_len=512 --strict",
    "set a symbolic dimension; fail if anything is assumed",
    "assay model.onnx -o result.json -o layers.csv",
    "console output and two files",
    "assay graph download.onnx --sandbox",
    "a model of unknown origin, analysed by a process that can do nothing else",
    "assay model.onnx --json | jq .total_macs",
    "one number for a script",
    NULL,
};

const cli_command command_graph = {
    CLI_COMMAND("graph", "[MODEL]", 1, 1, run_graph),
    .fallback = "resnet18",
    .classes = "model screen page result save",
    .formats = CLI_REPORT_FORMATS,
    .values = "@models",
    .examples = graph_examples,
    .about = "Analyse a model: parameters, FLOPs, MACs, memory, bottlenecks, layers.",
    .more = "MODEL is a file, - for an ONNX file on stdin, a .json that describes a model, or a "
            "built-in name such as resnet50 (`assay models` lists them). The model is not run, "
            "and weights are not read. `assay MODEL` is short for `assay graph MODEL`. Without "
            "MODEL, `assay graph` analyses resnet18."};
