/* assay scale: the cost of a model over a grid of sizes. */
#include "cli/job.h"

typedef struct scaling {
    assay_result *result;
    assay_status verdict;
} scaling;

static int scale_model(cli_args *a, scaling *s)
{
    assay_model *m = NULL;
    assay_error err;
    s->verdict = assay_model_open(a->words[0], &m, &err);
    if (s->verdict == ASSAY_OK)
        s->verdict = assay_scale(m, a->options, &s->result, &err);
    assay_model_free(m);
    if (s->verdict != ASSAY_OK)
        cli_complain(&err);
    return s->result ? ASSAY_OK : (int)s->verdict;
}

static int run_scale(cli_args *args)
{
    scaling s = {0};
    cli_job j = {.args = args};
    int code = cli_job_open_outputs(&j);
    if (!code)
        code = scale_model(args, &s);
    if (!code)
        code = cli_view(&j, s.result);
    cli_job_close(&j);
    assay_result_free(s.result);
    return code ? code : (int)s.verdict;
}

static const char *const scale_examples[] = {
    "assay scale resnet50 --dim batch=1..64 --dim height=224..1024",
    "a grid with closed forms and exponents",
    "assay scale resnet50 --dim batch=1..64 --solve 'memory<=24GB'",
    "the largest batch in 24 GB",
    "assay scale vit_b_16 --dim side=224..1024 --solve 'macs<=100G'",
    "the largest image under 100 GMACs",
    "assay scale gpt2 --dim seq=64..1024:9 --dim batch=1,8 -o gpt2.csv",
    "nine lengths and two batch sizes, as CSV",
    NULL,
};

const cli_command command_scale = {
    CLI_COMMAND("scale", "MODEL", 1, 1, run_scale),
    .classes = "model screen page result",
    .formats = CLI_VIEW_FORMATS,
    .values = "@models",
    .examples = scale_examples,
    .about =
        "Show cost over a grid of sizes: closed forms, exponents, largest size within a limit.",
    .more = "--dim names batch, height, width, side, seq, frames, a symbolic dimension of the "
            "file, a parameter of a built-in architecture, or INPUT[AXIS]; its values are A..B, "
            "A..B..STEP, A..B:COUNT or A,B,C. Every value is an analysis of the model. See "
            "docs/scaling.md for closed forms."};
