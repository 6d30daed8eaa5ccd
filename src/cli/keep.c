/* See keep.h. */
#include "cli/keep.h"

#include <stdlib.h>

/* Those that always measure, and those that do when they are asked to. */
enum {
    MEASURES = ON_PROFILE | ON_BENCH | ON_LAYERS | ON_CHECK | ON_WATCH,
    MEASURES_IF_ASKED = ON_MEMORY | ON_COMPARE | ON_PIPELINE
};

bool cli_keep_measures(const cli_args *a)
{
    unsigned bit = (unsigned)a->command->bit;
    return (bit & MEASURES) || (bit == ON_MACHINE && !a->show) ||
           ((bit & MEASURES_IF_ASKED) && a->measure);
}

int cli_keep_open(const cli_args *a, assay_store **out)
{
    const char *env = getenv("ASSAY_DB");
    bool by_itself = env && *env && cli_keep_measures(a);
    assay_error err;
    *out = NULL;
    if (!a->save && !by_itself && (a->n_tags || a->db))
        return cli_complain_text(ASSAY_ERR_USAGE,
                                 "--%s is of a run that is kept in the history: add --save.",
                                 a->n_tags ? "tag" : "db");
    if (!a->save && !by_itself)
        return ASSAY_OK;
    if (assay_tags_check(a->tags, (size_t)a->n_tags, &err) != ASSAY_OK ||
        assay_store_open(a->db, true, out, &err) != ASSAY_OK)
        return cli_complain(&err);
    return ASSAY_OK;
}

int cli_kept(const cli_args *a, assay_status s, int64_t id, const assay_error *err)
{
    if (s != ASSAY_OK)
        return cli_complain(err);
    if (!a->quiet)
        fprintf(stderr, "assay: Kept in the history as run %lld.\n", (long long)id);
    return ASSAY_OK;
}
