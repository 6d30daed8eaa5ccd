/* assay trend: a metric over the records of a model, with alerts. */
#include <string.h>

#include "cli/job.h"

/* Under the sentence the alert itself, with a mark at the place. */
static int complain_at(const cli_args *a, const assay_error *err)
{
    int code = cli_complain(err);
    for (int i = 0; i < a->history.alerts.n; i++)
        if (err->offset != ASSAY_NO_OFFSET && strstr(err->message, a->history.alerts.items[i]) &&
            err->offset <= strlen(a->history.alerts.items[i])) {
            fprintf(stderr, "  %s\n  %*s^\n", a->history.alerts.items[i], (int)err->offset, "");
            break;
        }
    return code;
}

static int run(cli_args *a, cli_job *j, assay_store *store)
{
    const assay_trend_request q = {.size = sizeof q,
                                   .model = a->words[0],
                                   .metric = a->history.metric,
                                   .tag = a->history.tags.n ? a->history.tags.items[0] : NULL,
                                   .since = a->history.since,
                                   .all = a->history.all,
                                   .limit = a->history.limit,
                                   .alerts = a->history.alerts.items,
                                   .n_alerts = (size_t)a->history.alerts.n};
    assay_result *trend = NULL;
    assay_error err;
    assay_status s = assay_store_trend(store, &q, &trend, &err);
    if (!trend)
        return complain_at(a, &err);
    int code = cli_view(j, trend);
    assay_result_free(trend);
    /* cron mails what is on stderr: with -q that is the alert alone. */
    if (!code && s != ASSAY_OK && (a->output.quiet || j->n_files))
        cli_complain(&err);
    return code ? code : (int)s;
}

static int run_trend(cli_args *args)
{
    cli_job j = {.args = args};
    assay_store *store = NULL;
    assay_error err;
    int code = ASSAY_OK;
    if (args->history.tags.n > 1)
        code = cli_complain_text(ASSAY_ERR_USAGE, "trend selects by one --tag");
    if (!code)
        code = cli_job_open_outputs(&j);
    if (!code && assay_store_open(args->history.db, false, &store, &err) != ASSAY_OK)
        code = cli_complain(&err);
    if (!code)
        code = run(args, &j, store);
    assay_store_close(store);
    cli_job_close(&j);
    return code;
}

static const char *const trend_examples[] = {
    "assay trend resnet50",
    "median latency of each record",
    "assay trend resnet50 --metric throughput --since 90d -f csv",
    "another metric, as CSV",
    "assay trend resnet50 -q --alert 'p95 > 1.2x median(30d)'",
    "for cron: exit 6 and a message if the newest record exceeds the limit",
    "assay trend resnet50 --alert 'memory > 2GB' --alert 'fps < 0.9x mean(20)'",
    "several alerts: against a value, against earlier records",
    NULL,
};

const cli_command command_trend = {
    CLI_COMMAND("trend", "MODEL", 1, 1, run_trend),
    .classes = "screen page result",
    .formats = CLI_VIEW_FORMATS,
    .values = "@models",
    .examples = trend_examples,
    .about = "Follow a metric over the records of a model: level, changes, alerts.",
    .more =
        "Records are compared with those of the same machine, batch, precision and shapes as "
        "the newest one. An alert is METRIC OP VALUE or METRIC OP [Nx] FUNC(WINDOW): > >= < "
        "<=, median mean min max last, and a window of 30d, 12h, 2w, a number of records, or "
        "all. Exit 6 if one fires, 7 if there is nothing to compare with. See docs/history.md."};
