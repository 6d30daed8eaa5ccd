/* assay sweep run: tasks of a sweep on this machine, one after the other. */
#include <stdlib.h>
#include <string.h>

#include "cli/keep.h"
#include "cli/run.h"
#include "cli/sweep.h"
#include "cli/values.h"

/* "assay: task 3 (lenet, batch 1, fp32): record 12" */
static void tell_outcome(const sweep_job *s, int64_t task, const assay_sweep_outcome *done)
{
    if (s->args->output.quiet)
        return;
    const size_t i = (size_t)task;
    fprintf(stderr, "assay: task %zu (%s, batch %.0f, %s): ", i,
            cli_text(s->plan, "tasks.%zu.model", i), cli_number(s->plan, "tasks.%zu.batch", i),
            cli_text(s->plan, "tasks.%zu.precision", i));
    if (done->known)
        fprintf(stderr, "has record %lld already\n", (long long)done->record);
    else
        fprintf(stderr, "stored as record %lld%s%s%s\n", (long long)done->record,
                done->noisy ? ", noisy: " : "", done->noisy ? done->why : "",
                done->attempts > 1 && !done->noisy ? ", after a repetition" : "");
}

/* What was measured is not lost with the server. */
static int rescue(const sweep_job *s, int64_t task, const assay_sweep_outcome *done,
                  const assay_error *why)
{
    static const char *const tags[] = {"noisy"};
    const assay_record_options o = {.size = sizeof o,
                                    .tags = tags,
                                    .n_tags = done->noisy,
                                    .machine = done->machine,
                                    .sweep = assay_result_text(s->plan, "id"),
                                    .task = task};
    return cli_rescue(s->args, done->result, &o, why);
}

int sweep_run_task(sweep_job *s, int64_t task)
{
    cli_run run = {.job = &s->job};
    const assay_hooks hooks = cli_run_hooks(&run);
    assay_sweep_outcome done = {.size = sizeof done};
    assay_error err;
    cli_catch_interrupt();
    assay_status status = assay_sweep_run(s->plan, task, s->store, s->args->options, &hooks, &done,
                                          &err);
    cli_run_clear(&run);
    int code = ASSAY_OK;
    if (status == ASSAY_OK)
        tell_outcome(s, task, &done);
    else
        code = done.result ? rescue(s, task, &done, &err) : cli_complain(&err);
    assay_result_free(done.result);
    return code;
}

/* A task that failed does not keep the others from running. */
static int run_list(sweep_job *s, char *list, size_t *failed)
{
    for (char *rest = NULL, *item = strtok_r(list, ",", &rest); item;
         item = strtok_r(NULL, ",", &rest)) {
        char *end;
        long first = strtol(item, &end, 10), last = *end ? strtol(end + 1, NULL, 10) : first;
        for (long t = first; t <= last; t++) {
            int code = sweep_run_task(s, t);
            if (cli_interrupted(NULL))
                return ASSAY_ERR_INTERRUPTED;
            *failed += code != ASSAY_OK;
        }
    }
    return ASSAY_OK;
}

int sweep_run_missing(sweep_job *s, const char *given)
{
    char *list = NULL;
    uint64_t n = 0;
    size_t failed = 0;
    assay_error err;
    if (!given && assay_sweep_missing(s->plan, s->store, &list, &n, &err) != ASSAY_OK)
        return cli_complain(&err);
    if (given)
        list = strdup(given);
    if (!list)
        return cli_complain_text(ASSAY_ERR_SYSTEM, "out of memory");
    int code = run_list(s, list, &failed);
    free(list);
    if (code || !failed)
        return code;
    return cli_complain_text(ASSAY_ERR_ENGINE, "%zu task%s could not be measured", failed,
                             failed == 1 ? "" : "s");
}
