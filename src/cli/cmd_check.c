/* assay check: a model, or a result that was saved, before its judges. The verdicts are the result; the exit
 * code is theirs: 0 pass or improvement, 6 a limit missed or a regression, 7 inconclusive.
 *
 * A model is run only when a limit or the baseline asks for what a clock tells, or with --measure; it is then
 * run as the baseline was, where the command line does not say otherwise. */
#include <string.h>

#include "cli/gate.h"
#include "cli/run.h"

static const char *const formats[] = {"console",      "json",  "csv",    "md", "html",
                                      "summary-html", "junit", "github", NULL};

static int nothing_to_check(const cli_job *j)
{
    return cli_complain_text(
        ASSAY_ERR_USAGE,
        "There is nothing to check '%.200s' against: give --threshold "
        "METRIC:LIMIT, --baseline FILE, or --save-baseline FILE to begin with.",
        j->args->words[0]);
}

static int measure(cli_job *j, const cli_gate *g)
{
    cli_run r = {.job = j};
    assay_options *o = j->args->options;
    if (!j->args->measure && !assay_options_measured(o, g->baseline))
        return ASSAY_OK;
    return cli_run_measure(&r, 0);
}

static int analyze_model(cli_job *j, cli_gate *g)
{
    assay_error err;
    if (g->baseline && assay_options_follow(j->args->options, g->baseline, &err) != ASSAY_OK)
        return cli_complain(&err);
    int code = cli_job_model(j);
    if (!code)
        code = cli_job_analyze(j);
    return code ? code : measure(j, g);
}

static int run(cli_job *j, cli_gate *g)
{
    int code = cli_job_open_outputs(j);
    if (!code)
        code = cli_gate_open(g, j->args);
    if (!code && !cli_gate_wanted(g, j->args))
        code = nothing_to_check(j);
    if (!code)
        code = cli_job_open_store(j);
    if (code)
        return code;
    int read = cli_job_result(j->args->words[0], &j->profile, &code);
    if (read == 0)
        code = analyze_model(j, g);
    if (!code && read == 0)
        code = cli_job_keep(j);
    if (code)
        return code;
    cli_describe_screen(j->args);
    code = cli_gate_judge(g, j, true);
    return code ? code : (int)j->verdict;
}

int cmd_check(cli_args *args)
{
    cli_job j = {.args = args, .formats = formats};
    cli_gate g = {0};
    int code = run(&j, &g);
    cli_gate_close(&g);
    cli_job_close(&j);
    return code;
}
