/* assay capacity: how many machines a rate of requests takes, from results. */
#include <stdlib.h>
#include <string.h>

#include "cli/views.h"

typedef struct reading {
    assay_profile *profiles[CLI_MAX_WORDS];
    size_t n;
    assay_store *store; /* opened when a word is the number of a run */
} reading;

static bool is_number(const char *word)
{
    return *word && strspn(word, "0123456789") == strlen(word) && strlen(word) < 18;
}

static assay_status read_one(const cli_args *a, reading *r, const char *word, assay_error *err)
{
    assay_status s = ASSAY_OK;
    if (!is_number(word))
        return assay_profile_read(word, &r->profiles[r->n], err);
    if (!r->store)
        s = assay_store_open(a->db, false, &r->store, err);
    return s == ASSAY_OK
               ? assay_store_get(r->store, strtoll(word, NULL, 10), &r->profiles[r->n], err)
               : s;
}

static int read_all(const cli_args *a, reading *r)
{
    assay_error err;
    for (int i = 0; i < a->n_words; i++) {
        if (read_one(a, r, a->words[i], &err) != ASSAY_OK)
            return cli_complain(&err);
        r->n++;
    }
    return ASSAY_OK;
}

static assay_status render(const void *ctx, const char *format, const assay_options *o, char **text,
                           size_t *n, assay_error *err)
{
    return assay_capacity_report(ctx, format, o, text, n, err);
}

static int plan(cli_job *j, const reading *r)
{
    assay_capacity *c = NULL;
    assay_error err;
    assay_status s = assay_capacity_plan((const assay_profile *const *)r->profiles, j->args->words,
                                         r->n, j->args->options, &c, &err);
    if (!c)
        return cli_complain(&err);
    int code = cli_views(j, render, c);
    assay_capacity_free(c);
    if (!code && s != ASSAY_OK && j->args->quiet)
        cli_complain(&err);
    return code ? code : (int)s;
}

int cmd_capacity(cli_args *args)
{
    cli_job j = {.args = args, .formats = cli_view_formats};
    reading r = {0};
    int code = cli_job_open_outputs(&j);
    if (!code)
        code = read_all(args, &r);
    if (!code)
        code = plan(&j, &r);
    for (size_t i = 0; i < r.n; i++)
        assay_profile_free(r.profiles[i]);
    assay_store_close(r.store);
    cli_job_close(&j);
    return code;
}
