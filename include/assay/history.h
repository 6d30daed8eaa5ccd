/* assay: results over time, in an SQLite file (docs/history.md).
 *
 *     assay_store *store;
 *     assay_store_open(NULL, true, &store, &err);
 *     assay_store_save(store, profile, NULL, NULL, 0, NULL, &err);
 *     assay_store_close(store);
 *
 * A record is a result that is kept, with its number and its tags. Several programs may use one file at the same time.
 * A record is never changed except for its tags. Lists and trends are results too, and are read and written as such:
 *
 *     assay_result *list;
 *     assay_store_list(store, NULL, &list, &err);
 *     for (size_t i = 0; i < assay_result_count(list, "records"); i++) {
 *         snprintf(path, sizeof path, "records.%zu.model", i);
 *         puts(assay_result_text(list, path));
 *     }
 *     assay_result_free(list);
 */
#ifndef ASSAY_HISTORY_H
#define ASSAY_HISTORY_H

#include <assay/assay.h>

#ifdef __cplusplus
extern "C" {
#endif

/* An open history. Closed by assay_store_close(). */
typedef struct assay_store assay_store;

/* ---- opening --------------------------------------------------------------------------------- */

/* Where the history is: `given`, else $ASSAY_DB, else assay/history.db in $XDG_DATA_HOME or ~/.local/share. Free the
 * text with assay_free(). */
ASSAY_API assay_status assay_store_path(const char *given, char **path, assay_error *err);
/* Opens the history that assay_store_path() names. With `create` the file and its folders are made. Without it, a
 * default file that is not there is an empty history, and a named one is ASSAY_ERR_SYSTEM. Files of older versions
 * are brought up to date. ASSAY_ERR_MALFORMED: not a history, or damaged. ASSAY_ERR_UNSUPPORTED: a newer assay made
 * it. */
ASSAY_API assay_status assay_store_open(const char *path, bool create, assay_store **out,
                                        assay_error *err);
/* Closes the history. Results that came from it stay valid. */
ASSAY_API void assay_store_close(assay_store *store);

/* ---- records --------------------------------------------------------------------------------- */

/* ASSAY_ERR_USAGE unless all may be tags of one record: at most 32, each 1 to 64 bytes of UTF-8 without commas and
 * control characters. For callers that want to know before a long measurement. */
ASSAY_API assay_status assay_tags_check(const char *const *tags, size_t n, assay_error *err);
/* Saves a result: a profile, a pipeline, a language model or a machine. It is on the disk when the call returns
 * ASSAY_OK. `options` (or NULL) say by which command and engine a pipeline or a machine was made. `id` (or NULL) gets
 * the record's number. ASSAY_ERR_MALFORMED: a history does not keep this kind. */
ASSAY_API assay_status assay_store_save(assay_store *store, const assay_result *result,
                                        const assay_options *options, const char *const *tags,
                                        size_t n_tags, int64_t *id, assay_error *err);
/* The same for a result as JSON text. Keys that this version does not know are kept. `name` is what messages call
 * it. */
ASSAY_API assay_status assay_store_add(assay_store *store, const void *json, size_t n,
                                       const char *name, const char *const *tags, size_t n_tags,
                                       int64_t *id, assay_error *err);
/* The result of a record; `kind` as of assay_result_read(). ASSAY_ERR_USAGE: there is no such record. */
ASSAY_API assay_status assay_store_get(assay_store *store, int64_t id, const char *kind,
                                       assay_result **out, assay_error *err);
/* Its JSON as it is kept. Free the text with assay_free(). */
ASSAY_API assay_status assay_store_document(assay_store *store, int64_t id, char **json, size_t *n,
                                            assay_error *err);
/* Adds and removes tags of a record. Adding a tag that it has, or removing one that it lacks, does nothing.
 * ASSAY_ERR_USAGE: there is no such record, or it would have more than 32 tags. */
ASSAY_API assay_status assay_store_tag(assay_store *store, int64_t id, const char *const *add,
                                       size_t n_add, const char *const *remove, size_t n_remove,
                                       assay_error *err);
/* The same from JSON text: {"add": ["a"], "remove": ["b"]}. */
ASSAY_API assay_status assay_store_tag_json(assay_store *store, int64_t id, const void *json,
                                            size_t n, assay_error *err);
/* Deletes a record. Its number is not used again. ASSAY_ERR_USAGE: there is no such record. */
ASSAY_API assay_status assay_store_delete(assay_store *store, int64_t id, assay_error *err);

/* ---- lists ----------------------------------------------------------------------------------- */

/* Which records. Texts may be NULL. */
typedef struct assay_record_filter {
    size_t size;
    const char *query; /* part of the model, the command, the host or a tag */
    const char *model; /* its whole name, or what follows the last '/' of it */
    const char *tag;   /* the whole tag */
    const char *since; /* "2026-11-15", "2026-11-15T19:06:00Z", or "30d", "12h", "2w" ago */
    int64_t id;        /* 0: any */
    int64_t limit;     /* 0: all */
    int64_t offset;    /* matching records to skip, the newest first */
} assay_record_filter;

/* Lists records, newest first: a result of kind "records". `filter` may be NULL. "total" counts all that match. */
ASSAY_API assay_status assay_store_list(assay_store *store, const assay_record_filter *filter,
                                        assay_result **out, assay_error *err);
/* Lists models by name, each with its newest record: a result of kind "models". */
ASSAY_API assay_status assay_store_models(assay_store *store, assay_result **out, assay_error *err);

/* Writes records as lines of JSON, with tags. Free the text with assay_free(). `n_records` may be NULL. */
ASSAY_API assay_status assay_store_export(assay_store *store, const assay_record_filter *filter,
                                          char **text, size_t *n, uint64_t *n_records,
                                          assay_error *err);
/* Reads a file of such lines, or one result. All or nothing. Records that are there already are skipped and counted
 * in `known`. Both counts may be NULL. */
ASSAY_API assay_status assay_store_import(assay_store *store, const char *path, uint64_t *added,
                                          uint64_t *known, assay_error *err);
/* The same, but a line that is no good record is left out and the others are kept. *left_out names each such line
 * and what is wrong with it, one to a line (the first 100); NULL if there is none. Free it with assay_free(). */
ASSAY_API assay_status assay_store_import_good(assay_store *store, const char *path,
                                               uint64_t *added, uint64_t *known, char **left_out,
                                               assay_error *err);

/* ---- trends ---------------------------------------------------------------------------------- */

typedef struct assay_trend_request {
    size_t size;
    const char *model;         /* as in assay_record_filter; required */
    const char *metric;        /* by name or alias; NULL: p50, else what the records hold */
    const char *tag, *since;   /* as in assay_record_filter */
    bool all;                  /* also records of other machines and setups than the newest one's */
    int64_t limit;             /* newest records; 0: 5000 */
    const char *const *alerts; /* "p95 > 1.2x median(30d)" */
    size_t n_alerts;
} assay_trend_request;

/* A metric over the records of a model: its level, where the level changed, and alerts. The result is of kind
 * "trend". ASSAY_ERR_THRESHOLD: an alert fired; ASSAY_ERR_INCONCLUSIVE: one could not be judged; *out is set in both
 * cases. ASSAY_ERR_USAGE: no such model or metric, or an alert that cannot be read (err->offset is the place in it). */
ASSAY_API assay_status assay_store_trend(assay_store *store, const assay_trend_request *request,
                                         assay_result **out, assay_error *err);

#ifdef __cplusplus
}
#endif
#endif
