/* assay report: results that were saved, rendered again: one in any format, several side by side. */
#include "cli/job.h"

static int read_one(const char *path, assay_profile **out)
{
    assay_error err;
    return assay_profile_read(path, out, &err) == ASSAY_OK ? ASSAY_OK : cli_complain(&err);
}

static int report_single(cli_job *j)
{
    int code = read_one(j->args->words[0], &j->profile);
    if (code)
        return code;
    cli_describe_screen(j->args);
    code = cli_job_write(j);
    int shown = cli_job_show(j);
    return code ? code : shown;
}

int cmd_report(cli_args *args)
{
    cli_job j = {.args = args};
    if (args->n_words > 1)
        return cmd_compare(args);
    int code = cli_job_open_outputs(&j);
    if (!code)
        code = report_single(&j);
    cli_job_close(&j);
    return code;
}
