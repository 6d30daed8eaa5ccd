/* assay trend: a metric over the runs of a model, and alerts on it for cron. */
#include <string.h>

#include "cli/views.h"

static assay_status render(const void *ctx, const char *format, const assay_options *o, char **text,
                           size_t *n, assay_error *err)
{
    return assay_trend_report(ctx, format, o, text, n, err);
}

/* Under the sentence the alert itself, with a mark at the place. */
static int complain_at(const cli_args *a, const assay_error *err)
{
    int code = cli_complain(err);
    for (int i = 0; i < a->n_alerts; i++)
        if (err->offset != ASSAY_NO_OFFSET && strstr(err->message, a->alerts[i]) &&
            err->offset <= strlen(a->alerts[i])) {
            fprintf(stderr, "  %s\n  %*s^\n", a->alerts[i], (int)err->offset, "");
            break;
        }
    return code;
}

static int run(cli_args *a, cli_job *j, assay_store *store)
{
    const assay_trend_request q = {.size = sizeof q,
                                   .model = a->words[0],
                                   .metric = a->metric,
                                   .tag = a->n_tags ? a->tags[0] : NULL,
                                   .since = a->since,
                                   .all = a->all,
                                   .limit = a->limit,
                                   .alerts = a->alerts,
                                   .n_alerts = (size_t)a->n_alerts};
    assay_trend *trend = NULL;
    assay_error err;
    assay_status s = assay_store_trend(store, &q, &trend, &err);
    if (!trend)
        return complain_at(a, &err);
    int code = cli_views(j, render, trend);
    assay_trend_free(trend);
    /* cron mails what is on stderr: with -q that is the alert alone. */
    if (!code && s != ASSAY_OK && (a->quiet || j->n_files))
        cli_complain(&err);
    return code ? code : (int)s;
}

int cmd_trend(cli_args *args)
{
    cli_job j = {.args = args, .formats = cli_view_formats};
    assay_store *store = NULL;
    assay_error err;
    int code = cli_job_open_outputs(&j);
    if (!code && assay_store_open(args->db, false, &store, &err) != ASSAY_OK)
        code = cli_complain(&err);
    if (!code)
        code = run(args, &j, store);
    assay_store_close(store);
    cli_job_close(&j);
    return code;
}
