/* The baseline of a check: a saved result, or the newest matching record of the history.
 *
 *     --baseline history:tag=main,since=30d,model=resnet50      --baseline history:id=12
 *
 * The history is that of --db or ASSAY_DB. Without model= or id=, records of the checked model are used.
 */
#include <stdlib.h>
#include <string.h>

#include "cli/gate.h"
#include "cli/values.h"

#define FROM_HISTORY "history:"
enum { SPEC = 256 };

bool cli_baseline_is_kept(const cli_args *a)
{
    return a->check.baseline && strncmp(a->check.baseline, FROM_HISTORY, strlen(FROM_HISTORY)) == 0;
}

static bool set_key(assay_record_filter *f, const char *key, const char *value)
{
    char *end;
    if (strcmp(key, "tag") == 0)
        f->tag = value;
    else if (strcmp(key, "model") == 0)
        f->model = value;
    else if (strcmp(key, "since") == 0)
        f->since = value;
    else if (strcmp(key, "id") != 0)
        return false;
    else
        return (f->id = strtoll(value, &end, 10)) > 0 && !*end;
    return *value != '\0';
}

/* Cuts the text into keys and values in place. */
static int read_filter(char *text, assay_record_filter *f)
{
    for (char *item = text, *next; *item; item = next) {
        next = item + strcspn(item, ",");
        if (*next)
            *next++ = '\0';
        char *value = strchr(item, '=');
        if (value)
            *value++ = '\0';
        if (!value || !set_key(f, item, value))
            return cli_complain_text(ASSAY_ERR_USAGE,
                                     "--baseline history: takes tag=, model=, since= and id=, "
                                     "separated by commas, got '%.100s'",
                                     item);
    }
    return ASSAY_OK;
}

/* Of a saved result the model that it is of; else the word itself. */
static int checked_model(const cli_args *a, char out[SPEC])
{
    const char *word = a->n_words ? a->words[0] : a->model.names.n ? a->model.names.items[0] : "";
    assay_result *r = NULL;
    int code = ASSAY_OK, read = cli_job_result(word, &r, &code);
    snprintf(out, SPEC, "%s", read == 1 ? cli_text(r, "model") : word);
    assay_result_free(r);
    return code;
}

static int newest_record(assay_store *store, const assay_record_filter *f, const char *spec,
                         int64_t *id)
{
    assay_result *records = NULL;
    assay_error err;
    if (assay_store_list(store, f, &records, &err) != ASSAY_OK)
        return cli_complain(&err);
    bool any = assay_result_count(records, "records") > 0;
    *id = any ? (int64_t)cli_number(records, "records.0.id") : 0;
    assay_result_free(records);
    if (any)
        return ASSAY_OK;
    return cli_complain_text(ASSAY_ERR_USAGE,
                             "the history has no record%s%.100s for '%.200s'. `assay history` "
                             "lists the records.",
                             f->model ? " of " : "", f->model ? f->model : "", spec);
}

static int open_record(cli_gate *g, const cli_args *a, const assay_record_filter *f)
{
    assay_store *store = NULL;
    assay_error err;
    int64_t id = 0;
    if (assay_store_open(a->history.db, false, &store, &err) != ASSAY_OK)
        return cli_complain(&err);
    int code = newest_record(store, f, a->check.baseline, &id);
    if (!code && assay_store_get(store, id, CLI_COMPARED_KINDS, &g->baseline, &err) != ASSAY_OK)
        code = cli_complain(&err);
    snprintf(g->name, sizeof g->name, "%.256s (record %lld)", a->check.baseline, (long long)id);
    assay_store_close(store);
    return code;
}

static int open_kept(cli_gate *g, const cli_args *a)
{
    char spec[SPEC], model[SPEC];
    assay_record_filter f = {.size = sizeof f, .limit = 1};
    snprintf(spec, sizeof spec, "%s", a->check.baseline + strlen(FROM_HISTORY));
    int code = read_filter(spec, &f);
    if (!code && !f.model && !f.id) {
        code = checked_model(a, model);
        f.model = model;
    }
    return code ? code : open_record(g, a, &f);
}

int cli_baseline_open(cli_gate *g, const cli_args *a)
{
    assay_error err;
    if (cli_baseline_is_kept(a))
        return open_kept(g, a);
    snprintf(g->name, sizeof g->name, "%.319s", a->check.baseline);
    return assay_result_read(a->check.baseline, CLI_COMPARED_KINDS, &g->baseline, &err) == ASSAY_OK
               ? ASSAY_OK
               : cli_complain(&err);
}
