/* assay history init, copy and prune: what concerns a history as a whole. */
#include <string.h>

#include "cli/history.h"

int history_init(history_task *t)
{
    const cli_args *a = t->args;
    char *version = NULL;
    bool changed = false;
    assay_error err;
    if (assay_store_init(a->history.db, &changed, &version, &err) != ASSAY_OK)
        return cli_complain(&err);
    if (!a->output.quiet)
        printf("schema version %s: %s\n", version, changed ? "created" : "up to date");
    assay_free(version);
    return ASSAY_OK;
}

/* ---- copy ---- */

static int copy_between(const cli_args *a, assay_store *from, assay_store *to)
{
    uint64_t added = 0, known = 0;
    assay_error err;
    assay_status s = assay_store_copy(from, to, &added, &known, &err);
    if (!a->output.quiet)
        printf("%llu added, %llu already there\n", (unsigned long long)added,
               (unsigned long long)known);
    return s == ASSAY_OK ? ASSAY_OK : cli_complain(&err);
}

int history_copy(history_task *t)
{
    assay_store *from = NULL, *to = NULL;
    assay_error err;
    int code = ASSAY_OK;
    if (strcmp(t->words[0], t->words[1]) == 0)
        return cli_complain_text(ASSAY_ERR_USAGE, "history copy needs two different histories");
    if (assay_store_open(t->words[0], false, &from, &err) != ASSAY_OK ||
        assay_store_open(t->words[1], true, &to, &err) != ASSAY_OK)
        code = cli_complain(&err);
    if (!code)
        code = copy_between(t->args, from, to);
    assay_store_close(from);
    assay_store_close(to);
    return code;
}

/* ---- prune ---- */

int history_prune(history_task *t)
{
    const cli_args *a = t->args;
    const assay_prune_options o = {
        .size = sizeof o, .keep = a->history.keep, .keep_tagged = a->history.keep_tagged};
    uint64_t deleted = 0;
    assay_error err;
    if (!a->history.keep)
        return cli_complain_text(ASSAY_ERR_USAGE,
                                 "history prune needs --keep AGE: records that are older, such as "
                                 "90d, are deleted");
    assay_status s = assay_store_prune(t->store, &o, &deleted, &err);
    if (!a->output.quiet && (s == ASSAY_OK || deleted))
        printf("%llu record%s deleted\n", (unsigned long long)deleted, deleted == 1 ? "" : "s");
    return s == ASSAY_OK ? ASSAY_OK : cli_complain(&err);
}
