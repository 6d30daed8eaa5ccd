/* assay validate: compares counts with those of other tools. */
#include "cli/job.h"

static int run_validate(cli_args *args)
{
    cli_job j = {.args = args};
    assay_result *result = NULL;
    assay_error err;
    int code = cli_job_open_outputs(&j);
    if (!code && assay_validate(args->words, (size_t)args->n_words, args->options, &result, &err) !=
                     ASSAY_OK)
        code = cli_complain(&err);
    if (!code)
        code = cli_view(&j, result);
    assay_result_free(result);
    cli_job_close(&j);
    return code;
}

static const char *const validate_examples[] = {
    "assay validate --models resnet18,resnet50,mobilenet_v2,vit_b_16",
    "compare with fvcore",
    "assay validate resnet50 --lens all",
    "compare with all conventions",
    "assay validate resnet50 --live",
    "also run fvcore in the installed Python",
    NULL,
};

const cli_command command_validate = {
    CLI_COMMAND("validate", "[MODEL ...]", 0, CLI_MAX_WORDS, run_validate),
    .classes = "model screen page result",
    .formats = CLI_VIEW_FORMATS,
    .values = "@models",
    .examples = validate_examples,
    .about = "Compare the counts with those of fvcore and other tools, and explain differences.",
    .more = "A tool that counts a multiply-accumulate as one FLOP is compared with "
            "multiply-accumulates. Without MODEL, a few well-known models are used."};
