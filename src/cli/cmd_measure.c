/* assay bench, layers, memory: the static profile first, then the engine; when there is no engine, or it
 * fails, what is known without it is shown all the same. */
#include "cli/run.h"

static void warn_of(const assay_profile *p)
{
    assay_config c = {.size = sizeof c};
    for (size_t i = 0; assay_profile_config(p, i, &c); i++)
        if (*c.error)
            fprintf(stderr, "assay: batch %llu, %s: %s\n", (unsigned long long)c.batch, c.precision,
                    c.error);
}

static int measure_and_show(cli_job *j, unsigned what, const char *view)
{
    cli_run r = {.job = j};
    int code = cli_job_open(j);
    if (!code)
        code = cli_job_analyze(j);
    if (code)
        return code;
    int ran = cli_run_measure(&r, what);
    if (!ran)
        warn_of(j->profile);
    if (assay_profile_config_count(j->profile))
        assay_options_set(j->args->options, "view", view, NULL);
    cli_describe_screen(j->args);
    code = cli_job_write(j);
    int shown = cli_job_show(j);
    return code ? code : ran ? ran : shown ? shown : (int)j->verdict;
}

int cmd_bench(cli_args *args)
{
    cli_job j = {.args = args};
    int code = measure_and_show(&j, 0, "bench");
    cli_job_close(&j);
    return code;
}

int cmd_layers(cli_args *args)
{
    cli_job j = {.args = args};
    int code = measure_and_show(&j, ASSAY_MEASURE_LAYERS, "layers");
    cli_job_close(&j);
    return code;
}

static int show_plan(cli_job *j)
{
    int code = cli_job_open(j);
    if (!code)
        code = cli_job_analyze(j);
    if (code)
        return code;
    assay_options_set(j->args->options, "view", "memory", NULL);
    cli_describe_screen(j->args);
    code = cli_job_write(j);
    int shown = cli_job_show(j);
    return code ? code : shown ? shown : (int)j->verdict;
}

int cmd_memory(cli_args *args)
{
    cli_job j = {.args = args};
    int code = args->measure ? measure_and_show(&j, ASSAY_MEASURE_PLAN, "memory") : show_plan(&j);
    cli_job_close(&j);
    return code;
}
