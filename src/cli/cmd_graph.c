/* assay graph: the static profile of a model, in every view that was asked for. With --strict the result
 * is shown all the same; only the exit code differs. */
#include "cli/gate.h"

static int run(cli_job *j)
{
    cli_gate g = {0}; /* limits alone: no file is opened */
    int code = cli_job_open(j);
    if (!code)
        code = cli_job_analyze(j);
    if (code)
        return code;
    cli_describe_screen(j->args);
    code = cli_job_write(j);
    int shown = cli_job_show(j);
    code = code ? code : shown ? shown : (int)j->verdict;
    return code || !cli_gate_wanted(&g, j->args) ? code : cli_gate_judge(&g, j, false);
}

int cmd_graph(cli_args *args)
{
    cli_job j = {.args = args};
    int code = run(&j);
    cli_job_close(&j);
    return code;
}
