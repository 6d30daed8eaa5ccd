/* The history of results: one SQLite file, the only code with SQL.
 *
 * Every result is kept whole, as the JSON document it is (blanks outside strings taken out, deflated), and
 * beside it what one searches by: the model, when, where, how, and every metric that the profile holds.
 *
 * The file is in WAL mode with synchronous = FULL: what store_add() has acknowledged is on the disk, readers
 * do not wait for a writer and writers wait for each other, up to STORE_BUSY_MS. The table `versions` says
 * which migrations were applied; an older file is brought forward when it is opened, in one transaction; a
 * newer one is refused. Numbers are never reused: `runs.id` is AUTOINCREMENT.
 *
 * A store is used by one thread at a time; several stores may have the same file open.
 */
#ifndef STORE_STORE_H
#define STORE_STORE_H

#include "base/error.h"
#include "base/sbuf.h"
#include "profile/history.h"

#define STORE_BUSY_MS   30000
#define STORE_TAG_BYTES 64
#define STORE_TAGS      32

typedef struct store store;

/* Opens the file, which is made (with its folders) when `create`. Without `create` a file that is not there
 * is ASSAY_ERR_SYSTEM; NULL is a history that is empty and nowhere. ASSAY_ERR_MALFORMED when it is no history,
 * ASSAY_ERR_UNSUPPORTED when a newer assay made it. */
assay_status store_open(const char *path, bool create, store **out, assay_error *err);
void store_close(store *s); /* NULL is fine */

/* ASSAY_ERR_USAGE with a sentence unless all may be tags of one run: each 1 to STORE_TAG_BYTES bytes of UTF-8
 * without commas and controls, and not more than STORE_TAGS that differ. */
assay_status store_check_tags(const str *tags, uint32_t n, assay_error *err);

/* Keeps a result. `p` is the document as a profile; `document` the JSON text. When it returns ASSAY_OK the run
 * is on the disk. */
assay_status store_add(store *s, const profile *p, str document, const str *tags, uint32_t n_tags,
                       int64_t *id, assay_error *err);

typedef struct store_filter {
    str query; /* in the model, the command, the machine or a tag; or empty */
    str model; /* whole name, or what stands behind its last '/' */
    str tag;
    int64_t since_s; /* 0: any */
    int64_t id;      /* 0: any */
    int64_t limit, offset;
} store_filter;

assay_status store_list(store *s, const store_filter *f, arena *a, history_list *out,
                        assay_error *err);
/* By name, each with its newest run. */
assay_status store_models(store *s, arena *a, history_models *out, assay_error *err);
/* Of the runs that match and hold the metric, those that can be compared with the newest: same shapes, and of
 * a measured metric the same machine and setup; `all` takes the others too. At most `limit`, the newest. */
assay_status store_series(store *s, const store_filter *f, const metric_row *metric, bool all,
                          arena *a, history_trend *out, assay_error *err);

/* The document of a run, NUL-terminated. ASSAY_ERR_USAGE when there is no such run. */
assay_status store_document(store *s, int64_t id, arena *a, str *out, assay_error *err);
/* Tags that are added and removed, in one transaction. */
assay_status store_tag(store *s, int64_t id, const str *add, uint32_t n_add, const str *remove,
                       uint32_t n_remove, assay_error *err);
assay_status store_delete(store *s, int64_t id, assay_error *err);

/* Lines of JSON: a header, then one run each with its tags and its document (store_move.c). */
assay_status store_export(store *s, const store_filter *f, sbuf *out, uint64_t *n,
                          assay_error *err);
/* Such lines, or one result. Runs that are here already (same document) are skipped. All or nothing. */
typedef struct store_imported {
    uint64_t added, known;
} store_imported;
assay_status store_import(store *s, str text, const char *shown, store_imported *out,
                          assay_error *err);

#endif
