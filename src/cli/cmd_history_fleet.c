/* assay history changes, regressions, drift and cheapest: questions about a fleet. */
#include "cli/history.h"
#include "cli/job.h"

typedef assay_status fleet_fn(assay_store *store, const assay_fleet_request *request,
                              assay_result **out, assay_error *err);

static assay_fleet_request request_of(const cli_args *a)
{
    return (assay_fleet_request){.size = sizeof(assay_fleet_request),
                                 .model = a->model.names.n ? a->model.names.items[0] : NULL,
                                 .machine = a->history.machine,
                                 .metric = a->history.metric,
                                 .since = a->history.since,
                                 .tag = a->history.tags.n ? a->history.tags.items[0] : NULL,
                                 .by = a->history.by,
                                 .limit = a->history.limit};
}

static int answer(history_task *t, fleet_fn *ask, const assay_fleet_request *q)
{
    cli_job j = {.args = t->args};
    assay_result *result = NULL;
    assay_error err;
    int code = cli_job_open_outputs(&j);
    if (!code) {
        assay_status s = ask(t->store, q, &result, &err);
        code = result ? cli_view(&j, result) : cli_complain(&err);
        if (result && !code && s != ASSAY_OK)
            code = cli_complain(&err);
    }
    assay_result_free(result);
    cli_job_close(&j);
    return code;
}

int history_changes(history_task *t)
{
    const assay_fleet_request q = request_of(t->args);
    return answer(t, assay_store_changes, &q);
}

int history_regressions(history_task *t)
{
    assay_fleet_request q = request_of(t->args);
    q.worse_only = true;
    return answer(t, assay_store_changes, &q);
}

int history_drift(history_task *t)
{
    const assay_fleet_request q = request_of(t->args);
    return answer(t, assay_store_drift, &q);
}

int history_cheapest(history_task *t)
{
    assay_fleet_request q = request_of(t->args);
    q.model = t->words[0];
    q.latency = assay_options_get(t->args->options, "latency");
    const char *prices = assay_options_get(t->args->options, "price");
    q.prices = &prices;
    q.n_prices = prices ? 1 : 0;
    return answer(t, assay_store_cheapest, &q);
}
