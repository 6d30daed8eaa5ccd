/* assay validate: our counts beside those of other tools. */
#include "cli/views.h"

static assay_status render_validation(const void *ctx, const char *format, const assay_options *o,
                                      char **text, size_t *n, assay_error *err)
{
    const cli_args *a = ctx;
    return assay_validate(a->words, (size_t)a->n_words, format, o, text, n, err);
}

static int run_validate(cli_args *args)
{
    cli_job j = {.args = args};
    int code = cli_job_open_outputs(&j);
    if (!code)
        code = cli_views(&j, render_validation, args);
    cli_job_close(&j);
    return code;
}

static const char *const validate_examples[] = {
    "assay validate --models resnet18,resnet50,mobilenet_v2,vit_b_16",
    "beside fvcore",
    "assay validate resnet50 --lens all",
    "beside every tool that is known",
    "assay validate resnet50 --live",
    "asks the fvcore of this machine's Python too",
    NULL,
};

const cli_command command_validate = {
    .name = "validate",
    .words = "[MODEL ...]",
    .about = "Compare our counts with those of fvcore and other tools, and explain differences.",
    .more = "A tool that counts a multiply-accumulate as one FLOP is compared with our "
            "multiply-accumulates. Without MODEL, a few well-known models are used.",
    .examples = validate_examples,
    .max_words = CLI_MAX_WORDS,
    .classes = "model screen page result",
    .formats = CLI_VIEW_FORMATS,
    .values = "@models",
    .run = run_validate,
};
