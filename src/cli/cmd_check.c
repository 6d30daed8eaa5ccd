/* assay check: checks a model or a saved result against limits and a baseline. The result contains the verdicts. Exit
 * code: 0 pass or improvement, 6 a limit missed or a regression, 7 inconclusive.
 *
 * The model is run only if a limit or the baseline needs a measurement, or with --measure. It is run with the
 * settings of the baseline unless options override them.
 */

#include "cli/gate.h"
#include "cli/run.h"

static int nothing_to_check(const cli_job *j)
{
    return cli_complain_text(ASSAY_ERR_USAGE,
                             "%.200s: no limits and no baseline. Use --threshold METRIC:LIMIT, "
                             "--baseline FILE, or --save-baseline FILE for the first one.",
                             j->args->words[0]);
}

static bool wants_runs(const cli_job *j, const cli_gate *g)
{
    return j->args->measure || assay_options_measured(j->args->options, g->baseline);
}

static int measure(cli_job *j, const cli_gate *g)
{
    cli_run r = {.job = j};
    return wants_runs(j, g) ? cli_run_measure(&r, 0) : ASSAY_OK;
}

/* Options that this check has no use for. */
static int refuse_useless(const cli_job *j, const cli_gate *g, bool result)
{
    const cli_args *a = j->args;
    int code = ASSAY_OK;
    if (result)
        code = cli_refuse_topics(a, "Model|Analysis|Measurement|Engine",
                                 "a saved result is checked as it is");
    if (!code && result)
        code = cli_refuse_options(a, "save tag", "the result is saved already");
    if (!code && !result && !wants_runs(j, g))
        code = cli_refuse_needing(a, "measure", "nothing is run; add --measure");
    if (!code && !g->baseline)
        code = cli_refuse_options(a, "tolerance", "there is no --baseline");
    return code;
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
    if (read >= 0)
        code = refuse_useless(j, g, read == 1);
    if (!code && read == 0)
        code = analyze_model(j, g);
    if (!code && read == 0)
        code = cli_job_keep(j);
    if (code)
        return code;
    cli_describe_screen(j->args);
    code = cli_gate_judge(g, j, true);
    return code ? code : (int)j->verdict;
}

static int run_check(cli_args *args)
{
    cli_job j = {.args = args};
    cli_gate g = {0};
    int code = run(&j, &g);
    cli_gate_close(&g);
    cli_job_close(&j);
    return code;
}

static const char *const check_examples[] = {
    "assay check model.onnx --threshold params:30M flops:5G size:100MB",
    "limits on counts; the model is not run",
    "assay check model.onnx --threshold latency:100ms 'throughput>=20'",
    "limits on measured metrics",
    "assay check model.onnx --measure --save-baseline base.json",
    "save a baseline",
    "assay check model.onnx --baseline base.json --junit check.xml",
    "compare with the baseline, also as JUnit",
    "assay check result.json --baseline base.json -o check.md",
    "check a saved result",
    NULL,
};

const cli_command command_check = {
    CLI_COMMAND("check", "MODEL|RESULT", 1, 1, run_check),
    .classes = "model run measures screen page result save limits",
    .formats = CLI_VIEW_FORMATS "|junit|github",
    .values = "@models",
    .examples = check_examples,
    .about = "Check a model or a result against limits and a baseline, for CI.",
    .more = "RESULT is a JSON file written by -o. A model is run only if a limit or the "
            "baseline needs a measurement, or with --measure. Exit 0: pass or improvement; 6: a "
            "limit missed or a regression; 7: inconclusive. docs/ci.md describes the metrics and "
            "the statistics."};
