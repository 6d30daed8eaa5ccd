/* See keep.h. */
#include "cli/keep.h"
#include "cli/gate.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

bool cli_keep_measures(const cli_args *a)
{
    bool machine = strcmp(a->command->name, "machine") == 0;
    return cli_command_is(a->command, "measures") || (machine && !a->machine_show) ||
           (cli_command_is(a->command, "asked") && a->measure);
}

int cli_keep_open(const cli_args *a, assay_store **out)
{
    const char *env = getenv("ASSAY_DB");
    bool by_itself = env && *env && cli_keep_measures(a);
    assay_error err;
    *out = NULL;
    bool db_is_read = cli_baseline_is_kept(a);
    if (!a->history.save && !by_itself && (a->history.tags.n || (a->history.db && !db_is_read)))
        return cli_complain_text(ASSAY_ERR_USAGE,
                                 "--%s is for results stored in the history. Add --save.",
                                 a->history.tags.n ? "tag" : "db");
    if (!a->history.save && !by_itself)
        return ASSAY_OK;
    if (assay_tags_check(a->history.tags.items, (size_t)a->history.tags.n, &err) != ASSAY_OK ||
        assay_store_open(a->history.db, true, out, &err) != ASSAY_OK)
        return cli_complain(&err);
    return ASSAY_OK;
}

/* ---- what could not be stored ---- */

static void file_of_unsaved(char path[128])
{
    char now[32];
    time_t t = time(NULL);
    struct tm tm;
    if (!gmtime_r(&t, &tm) || !strftime(now, sizeof now, "%Y%m%dT%H%M%SZ", &tm))
        now[0] = '\0';
    snprintf(path, 128, "assay-unsaved-%s-%ld.jsonl", now, (long)getpid());
}

/* Appended to: a command may have several results. */
static bool write_unsaved(const assay_result *result, const assay_record_options *options,
                          const char *path, assay_error *err)
{
    char *text = NULL;
    size_t n;
    bool good = assay_record_lines(result, options, &text, &n, err) == ASSAY_OK &&
                assay_output_append(path, text, n, err) == ASSAY_OK;
    assay_free(text);
    return good;
}

int cli_rescue(const cli_args *a, const assay_result *result, const assay_record_options *o,
               const assay_error *why)
{
    char path[128];
    assay_error err;
    cli_complain(why);
    if (why->code != ASSAY_ERR_SYSTEM || !assay_store_is_remote(a->history.db))
        return (int)why->code;
    file_of_unsaved(path);
    if (!write_unsaved(result, o, path, &err))
        return cli_complain(&err);
    fprintf(stderr, "assay: the result is in %s. Store it with `assay history import %s%s`.\n",
            path, path, a->history.db ? " --db DATABASE" : "");
    return (int)why->code;
}

int cli_keep(const cli_args *a, assay_store *store, const assay_result *result)
{
    const assay_record_options options = {.size = sizeof options,
                                          .tags = a->history.tags.items,
                                          .n_tags = (size_t)a->history.tags.n,
                                          .options = a->options};
    int64_t id;
    assay_error err;
    if (assay_store_save(store, result, &options, &id, &err) != ASSAY_OK)
        return cli_rescue(a, result, &options, &err);
    if (!a->output.quiet)
        fprintf(stderr, "assay: stored in the history as record %lld\n", (long long)id);
    return ASSAY_OK;
}
