/* assay fuse: the layers of a model joined into kernels. */
#include "cli/job.h"

static int run(cli_job *j)
{
    assay_error err;
    int code = cli_job_open(j);
    if (code)
        return code;
    cli_job_record(j);
    j->verdict = assay_fuse(j->model, j->args->options, &j->profile, &err);
    if (j->verdict != ASSAY_OK)
        cli_complain(&err);
    if (!j->profile)
        return (int)j->verdict;
    assay_options_set(j->args->options, "view", "fuse", NULL);
    cli_describe_screen(j->args);
    code = cli_job_write(j);
    int shown = cli_job_show(j);
    return code ? code : shown ? shown : (int)j->verdict;
}

int cmd_fuse(cli_args *args)
{
    cli_job j = {.args = args};
    int code = run(&j);
    cli_job_close(&j);
    return code;
}
