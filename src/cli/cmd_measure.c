/* assay bench, layers, memory: the static profile first, then the engine; when there is no engine, or it
 * fails, what is known without it is shown all the same. */
#include "cli/gate.h"
#include "cli/run.h"

static void warn_of(const assay_profile *p)
{
    assay_config c = {.size = sizeof c};
    for (size_t i = 0; assay_profile_config(p, i, &c); i++)
        if (*c.error)
            fprintf(stderr, "assay: batch %llu, %s: %s\n", (unsigned long long)c.batch, c.precision,
                    c.error);
}

static int measure_and_show(cli_job *j, cli_gate *g, unsigned what, const char *view)
{
    cli_run r = {.job = j};
    int code = cli_job_open(j);
    if (!code)
        code = cli_gate_open(g, j->args);
    if (!code)
        code = cli_job_analyze(j);
    if (code)
        return code;
    int ran = cli_run_measure(&r, what);
    if (ran == ASSAY_ERR_USAGE)
        return ran;
    if (!ran)
        warn_of(j->profile);
    if (assay_profile_config_count(j->profile))
        assay_options_set(j->args->options, "view", view, NULL);
    cli_describe_screen(j->args);
    code = cli_job_write(j);
    int shown = cli_job_show(j);
    code = code ? code : ran ? ran : shown ? shown : (int)j->verdict;
    return code || !cli_gate_wanted(g, j->args) ? code : cli_gate_judge(g, j, false);
}

static int measure_as(cli_args *args, unsigned what, const char *view)
{
    cli_job j = {.args = args};
    cli_gate g = {0};
    int code = measure_and_show(&j, &g, what, view);
    cli_gate_close(&g);
    cli_job_close(&j);
    return code;
}

int cmd_bench(cli_args *args)
{
    return measure_as(args, 0, "bench");
}

int cmd_layers(cli_args *args)
{
    return measure_as(args, ASSAY_MEASURE_LAYERS, "layers");
}

static int show_plan(cli_job *j)
{
    cli_gate g = {0}; /* limits alone: no file is opened */
    int code = cli_job_open(j);
    if (!code)
        code = cli_job_analyze(j);
    if (code)
        return code;
    assay_options_set(j->args->options, "view", "memory", NULL);
    cli_describe_screen(j->args);
    code = cli_job_write(j);
    int shown = cli_job_show(j);
    code = code ? code : shown ? shown : (int)j->verdict;
    return code || !cli_gate_wanted(&g, j->args) ? code : cli_gate_judge(&g, j, false);
}

int cmd_memory(cli_args *args)
{
    cli_job j = {.args = args};
    assay_options_set(args->options, "allocations", NULL, NULL);
    if (args->measure)
        return measure_as(args, ASSAY_MEASURE_PLAN, "memory");
    int code = show_plan(&j);
    cli_job_close(&j);
    return code;
}
