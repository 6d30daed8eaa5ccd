/* assay fuse: fuses the layers of a model into kernels. */
#include "cli/job.h"

static int run_fuse(cli_args *args)
{
    return cli_job_view(args, assay_fuse, "fuse");
}

static const char *const fuse_examples[] = {
    "assay fuse resnet50",
    "convolutions with batch norm and activation",
    "assay fuse resnet50 --strategy aggressive",
    "residual additions as well",
    "assay fuse model.onnx --json | jq '.groups[] | select(.critical) | .nodes'",
    "the layers on the critical path",
    NULL,
};

const cli_command command_fuse = {
    CLI_COMMAND("fuse", "MODEL", 1, 1, run_fuse),
    .classes = "model screen page result save",
    .formats = CLI_REPORT_FORMATS,
    .values = "@models",
    .examples = fuse_examples,
    .about = "Fuse layers into kernels: groups, saved bytes and launches, levels, critical path.",
    .more = "Every layer is in exactly one group, and every group has one output. See "
            "docs/fusion.md for the rules of each strategy."};
