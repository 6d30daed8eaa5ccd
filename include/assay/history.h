/* assay: results over time, in an SQLite file or a PostgreSQL database (docs/history.md).
 *
 *     assay_store *store;
 *     const char *tags[] = {"nightly"};
 *     assay_record_options options = {.size = sizeof options, .tags = tags, .n_tags = 1};
 *     assay_store_open(NULL, true, &store, &err);
 *     assay_store_save(store, profile, &options, NULL, &err);
 *
 * A record is a stored result with a number and tags. It never changes, except for its tags. Several programs may use
 * one history at the same time; one handle may be used by one thread at a time. Lists and trends are results too, and
 * are read and written like any other:
 *
 *     assay_result *list;
 *     assay_store_list(store, NULL, &list, &err);
 *     for (size_t i = 0; i < assay_result_count(list, "records"); i++) {
 *         snprintf(path, sizeof path, "records.%zu.model", i);
 *         puts(assay_result_text(list, path));
 *     }
 *     assay_result_free(list);
 *
 *     assay_result *trend;
 *     assay_trend_request request = {.size = sizeof request, .model = "resnet50", .metric = "p95"};
 *     assay_store_trend(store, &request, &trend, &err);
 *     printf("newest %g, median %g\n", assay_result_number(trend, "newest"), assay_result_number(trend, "median"));
 *     assay_result_free(trend);
 *     assay_store_close(store);
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

/* The path of the history: `given`, else $ASSAY_DB, else assay/history.db in $XDG_DATA_HOME or ~/.local/share. Free
 * the text with assay_free(). ASSAY_ERR_USAGE: none of these is set. */
ASSAY_API assay_status assay_store_path(const char *given, char **path, assay_error *err);
/* Whether assay_store_path(path) names a PostgreSQL database: postgresql://USER@HOST/DATABASE, or a connection string
 * of libpq such as "service=team". libpq handles hosts, TLS and authentication. It is loaded when such a history is
 * opened. */
ASSAY_API bool assay_store_is_remote(const char *path);
/* Creates a history, or migrates its schema. Only this function creates or migrates the schema of a PostgreSQL
 * database. `changed` receives whether anything was created or migrated, and may be NULL. `version` receives the
 * version of the schema; free it with assay_free(). */
ASSAY_API assay_status assay_store_init(const char *path, bool *changed, char **version,
                                        assay_error *err);
/* Opens the history at assay_store_path(path). With `create`, a missing file and its directories are created. Without
 * it, a missing default file is an empty history, and any other missing file is ASSAY_ERR_SYSTEM. Files of older
 * versions are migrated. ASSAY_ERR_MALFORMED: not a history, or damaged. ASSAY_ERR_UNSUPPORTED: written by a newer
 * version. For a PostgreSQL database, ASSAY_ERR_SYSTEM: libpq, the server or the schema is missing. A database with a
 * newer schema can be read; writing to it is ASSAY_ERR_UNSUPPORTED. */
ASSAY_API assay_status assay_store_open(const char *path, bool create, assay_store **out,
                                        assay_error *err);
/* Closes the history. Results that came from it stay valid. */
ASSAY_API void assay_store_close(assay_store *store);

/* ---- records --------------------------------------------------------------------------------- */

/* Checks the tags of one record: at most 32, each 1 to 64 bytes of UTF-8 without commas and control characters.
 * Detects invalid tags (ASSAY_ERR_USAGE) before a long measurement. */
ASSAY_API assay_status assay_tags_check(const char *const *tags, size_t n, assay_error *err);
/* How a result is stored. NULL and 0 are the defaults. `options` are those that produced the result. The record of a
 * pipeline or a machine takes its command and engine from them; a profile contains both. */
typedef struct assay_record_options {
    size_t size;
    const char *const *tags;
    size_t n_tags;
    const char *name; /* of the result in error messages; NULL: its kind */
    const assay_options *options;
    const char *machine; /* name, at most 255 bytes; NULL: the name of this host */
    const char *sweep;   /* name, at most 255 bytes; NULL: none. A task has one record */
    int64_t task;        /* number of the task in the sweep, from 0 */
    bool
        *known; /* receives true if the task already had a record, so nothing was stored; or NULL */
} assay_record_options;

/* Stores a result of kind "profile", "pipeline", "language", "machine" or "load". The record is on disk when the call
 * returns ASSAY_OK. `options` may be NULL. `id` receives the number of the record and may be NULL. If the task already
 * has a record, it receives the number of that record, or 0 if the database role may not read it. If the connection to
 * a server breaks, the call reconnects for up to $ASSAY_DB_WAIT seconds (default 30). It never stores a record twice.
 * ASSAY_ERR_MALFORMED: results of this kind cannot be stored. ASSAY_ERR_USAGE: invalid tags. */
ASSAY_API assay_status assay_store_save(assay_store *store, const assay_result *result,
                                        const assay_record_options *options, int64_t *id,
                                        assay_error *err);
/* The record in the form that assay_store_import() reads. Write it to a file if storing the result failed. Free the
 * text with assay_free(). */
ASSAY_API assay_status assay_record_lines(const assay_result *result,
                                          const assay_record_options *options, char **text,
                                          size_t *n, assay_error *err);
/* The same as assay_store_save() for a result as JSON text of `n` bytes. Keys that this version does not know are
 * kept. */
ASSAY_API assay_status assay_store_add(assay_store *store, const void *json, size_t n,
                                       const assay_record_options *options, int64_t *id,
                                       assay_error *err);
/* The result of a record; `kind` as in assay_result_read(). ASSAY_ERR_USAGE: no such record. */
ASSAY_API assay_status assay_store_get(assay_store *store, int64_t id, const char *kind,
                                       assay_result **out, assay_error *err);
/* The stored JSON of a record. Free the text with assay_free(). */
ASSAY_API assay_status assay_store_document(assay_store *store, int64_t id, char **json, size_t *n,
                                            assay_error *err);
/* Sizes of a record's JSON: its bytes, and the bytes of memory that assay_document_open() takes. */
ASSAY_API assay_status assay_document_size(assay_store *store, int64_t id, uint64_t *size,
                                           uint64_t *memory, assay_error *err);
/* The same JSON piece by piece, for slow readers: only its compressed form is in memory. The document does not need the
 * store after assay_document_open(). Closed by assay_document_close(). */
typedef struct assay_document assay_document;
ASSAY_API assay_status assay_document_open(assay_store *store, int64_t id, assay_document **out,
                                           assay_error *err);
/* The next bytes, at most `cap`; *n is 0 at the end. */
ASSAY_API assay_status assay_document_read(assay_document *document, void *buf, size_t cap,
                                           size_t *n, assay_error *err);
ASSAY_API void assay_document_close(assay_document *document);
/* Tags to add and to remove. Adding a tag that the record has, or removing one that it does not have, has no
 * effect. */
typedef struct assay_tag_change {
    size_t size;
    const char *const *add;
    size_t n_add;
    const char *const *remove;
    size_t n_remove;
} assay_tag_change;

/* Changes the tags of a record. ASSAY_ERR_USAGE: there is no such record, a tag is invalid, or the record would have
 * more than 32 tags. */
ASSAY_API assay_status assay_store_tag(assay_store *store, int64_t id,
                                       const assay_tag_change *change, assay_error *err);
/* The same from JSON text: {"add": ["a"], "remove": ["b"]}. */
ASSAY_API assay_status assay_store_tag_json(assay_store *store, int64_t id, const void *json,
                                            size_t n, assay_error *err);
/* Deletes a record. Its number is not used again. ASSAY_ERR_USAGE: no such record. */
ASSAY_API assay_status assay_store_delete(assay_store *store, int64_t id, assay_error *err);

/* ---- lists ----------------------------------------------------------------------------------- */

/* Selects records. Texts may be NULL. */
typedef struct assay_record_filter {
    size_t size;
    const char *query; /* substring of the model, command, host or a tag */
    const char *model; /* whole name, or the part after its last '/' */
    const char *tag;   /* the whole tag */
    const char *since; /* "2026-11-15", "2026-11-15T19:06:00Z", "tuesday", "30d" or "12h" ago */
    int64_t id;        /* 0: any */
    int64_t limit;     /* 0: all */
    int64_t offset;    /* number of matching records to skip, from the newest */
    const char *sweep, *machine; /* the whole name */
} assay_record_filter;

/* Lists records, newest first: a result of kind "records" with the keys "total" (number of matching records) and
 * "records". `filter` may be NULL. */
ASSAY_API assay_status assay_store_list(assay_store *store, const assay_record_filter *filter,
                                        assay_result **out, assay_error *err);
/* Lists models by name, each with its newest record: a result of kind "models". */
ASSAY_API assay_status assay_store_models(assay_store *store, assay_result **out, assay_error *err);

/* Exports records with their tags as JSON lines. `filter` and `n_records` may be NULL. Free the text with
 * assay_free(). */
ASSAY_API assay_status assay_store_export(assay_store *store, const assay_record_filter *filter,
                                          char **text, size_t *n, uint64_t *n_records,
                                          assay_error *err);
/* Imports a file of such lines, or one result, completely or not at all. Records that already exist are skipped and
 * counted in `known`. Both counts may be NULL. */
ASSAY_API assay_status assay_store_import(assay_store *store, const char *path, uint64_t *added,
                                          uint64_t *known, assay_error *err);
/* The same, but skips invalid lines and imports the others. *left_out lists the number and the error of each skipped
 * line, one per line (the first 100); NULL if there is none. Free it with assay_free(). */
ASSAY_API assay_status assay_store_import_good(assay_store *store, const char *path,
                                               uint64_t *added, uint64_t *known, char **left_out,
                                               assay_error *err);

/* Copies the records that `to` does not have, with their tags, machine, sweep and task, in batches. After an
 * interruption, the next call continues. Both counts may be NULL. */
ASSAY_API assay_status assay_store_copy(assay_store *from, assay_store *to, uint64_t *added,
                                        uint64_t *known, assay_error *err);

typedef struct assay_prune_options {
    size_t size;
    const char *keep; /* age: "90d", "12h", "2w"; required. Older records are deleted */
    bool keep_tagged; /* keep records with a tag */
} assay_prune_options;

/* Deletes old records in batches, so that other programs can write meanwhile. `deleted` receives their number and may
 * be NULL. */
ASSAY_API assay_status assay_store_prune(assay_store *store, const assay_prune_options *options,
                                         uint64_t *deleted, assay_error *err);

/* ---- trends ---------------------------------------------------------------------------------- */

/* `metric` is a name or alias of assay_metric_at() (<assay/study.h>). NULL: p50; for records without one, the mean
 * latency, the memory or the FLOP rate. */
typedef struct assay_trend_request {
    size_t size;
    const char *model; /* as in assay_record_filter; required */
    const char *metric;
    const char *tag, *since;   /* as in assay_record_filter */
    bool all;                  /* include records of other machines and setups */
    int64_t limit;             /* number of newest records to use; 0: 5000 */
    const char *const *alerts; /* "p95 > 1.2x median(30d)" */
    size_t n_alerts;
} assay_trend_request;

/* A metric over the records of a model: a result of kind "trend". Keys: "points" (oldest first, each with "id",
 * "created" and "value"), "newest", "median", "mean", "min", "max", "change_points" (changes of the level), "alerts".
 * ASSAY_ERR_THRESHOLD: an alert fired. ASSAY_ERR_INCONCLUSIVE: there is nothing to compare with. *out is set in both
 * cases. ASSAY_ERR_USAGE: no such model or metric, or an invalid alert (err->offset is the position in it). */
ASSAY_API assay_status assay_store_trend(assay_store *store, const assay_trend_request *request,
                                         assay_result **out, assay_error *err);

/* ---- fleets ---------------------------------------------------------------------------------- */

/* A question about all machines. Texts may be NULL. */
typedef struct assay_fleet_request {
    size_t size;
    const char *model, *machine, *tag; /* as in assay_record_filter */
    const char *since;                 /* as in assay_record_filter */
    const char *metric;                /* of changes; NULL: p50 */
    const char *by;                    /* of changes: "model" (default), "machine", "version" */
    bool worse_only;                   /* of changes: only those for the worse */
    int64_t limit;             /* newest records to use; 0: the most, 200000 (drift: 2000) */
    const char *latency;       /* of the cheapest: "p99:50ms"; NULL: any */
    const char *const *prices; /* of the cheapest: "[CLASS=]USD-PER-HOUR,..." */
    size_t n_prices;
} assay_fleet_request;

/* What changed since a time: series (a model on a machine in one setup) whose level changed, the worst first, grouped
 * by model, machine or version of assay; and new models, machines and versions. Kind "changes"; keys "changes",
 * "groups", "new_models", ... ASSAY_ERR_THRESHOLD: worse_only is set and there are changes; *out is set. */
ASSAY_API assay_status assay_store_changes(assay_store *store, const assay_fleet_request *request,
                                           assay_result **out, assay_error *err);
/* The ceilings of machines over time, from their records of kind "machine": the newest compared with the median of the
 * earlier ones. Kind "drift"; key "ceilings". */
ASSAY_API assay_status assay_store_drift(assay_store *store, const assay_fleet_request *request,
                                         assay_result **out, assay_error *err);
/* Classes of machines that the model (required) ran on, sorted by the cost of a million samples within the latency. The
 * class of a record is its tag "class:NAME", which tasks of a sweep with a node class have; else its processor and
 * device. A price applies to classes whose name contains CLASS; a price without CLASS applies to all. A class without a
 * price whose name is a device of assay_devices_at() gets the list price of that device. Kind "cheapest"; key
 * "classes". ASSAY_ERR_THRESHOLD: no class meets the latency; *out is set. */
ASSAY_API assay_status assay_store_cheapest(assay_store *store, const assay_fleet_request *request,
                                            assay_result **out, assay_error *err);

#ifdef __cplusplus
}
#endif
#endif
