/* assay fuse: the layers of a model joined into kernels. */
#include "cli/job.h"

static int run_fuse(cli_args *args)
{
    return cli_job_view(args, assay_fuse, "fuse");
}

static const char *const fuse_examples[] = {
    "assay fuse resnet50",
    "convolutions with batch norm and activation",
    "assay fuse resnet50 --strategy aggressive",
    "the residual add folded in too",
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
    .about = "Join layers into kernels: groups, bytes and launches saved, levels, critical path.",
    .more = "Every layer is in exactly one group, and a group has one exit: forks and outputs "
            "stay, and there are no cycles. docs/fusion.md has the rules of each strategy."};
