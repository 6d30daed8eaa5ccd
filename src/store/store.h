/* The history of results: one SQLite file. This room holds all SQL.
 *
 * Every result is stored whole: its JSON document without blanks outside strings, deflated. Beside it are the columns
 * for searching (model, time, host, setup) and every metric of the profile.
 *
 * The file is in WAL mode with synchronous = FULL: when store_add() returns, the record is on disk. Readers do not wait
 * for a writer. Writers wait for each other, up to STORE_BUSY_MS. The table `versions` lists the applied migrations. An
 * older file is migrated when it is opened, in one transaction; a newer one is refused. Numbers are never reused:
 * `runs.id` is AUTOINCREMENT (the table `runs` has one row per record).
 *
 * A store is used by one thread at a time. Several stores may have the same file open.
 */
#ifndef STORE_STORE_H
#define STORE_STORE_H

#include "base/error.h"
#include "base/limits.h"
#include "base/sbuf.h"
#include "profile/history.h"

#define STORE_BUSY_MS   30000
#define STORE_TAG_BYTES LIMIT_TAG_BYTES
#define STORE_TAGS      LIMIT_TAGS
#define STORE_NAME_BYTES \
    LIMIT_STORED_NAME_BYTES /* of a model's name and every other name that is listed */
#define STORE_TEXT_BYTES LIMIT_STORED_TEXT_BYTES /* of a command line, and of all inputs together */

typedef struct store store;

typedef struct store_tags {
    const str *items;
    uint32_t n;
} store_tags;

/* Opens the file. With `create` a missing file and its directories are created; without it, a missing file is
 * ASSAY_ERR_SYSTEM. A NULL path is an empty history without a file. ASSAY_ERR_MALFORMED: not a history.
 * ASSAY_ERR_UNSUPPORTED: written by a newer assay. */
assay_status store_open(const char *path, bool create, store **out, assay_error *err);
void store_close(store *s); /* accepts NULL */

/* What is read between the two is one snapshot: records that others add meanwhile are not in it. Pairs nest.
 * store_read_end() returns `so_far`, or why the reading failed. */
assay_status store_read_begin(store *s, assay_error *err);
assay_status store_read_end(store *s, assay_status so_far, assay_error *err);

/* ASSAY_ERR_USAGE unless all are valid tags of one record: each 1 to STORE_TAG_BYTES bytes of UTF-8
 * without commas and control characters, and at most STORE_TAGS distinct ones. */
assay_status store_check_tags(store_tags tags, assay_error *err);

/* Stores a result. `p` is the document as a profile, `document` its JSON text. */
assay_status store_add(store *s, const profile *p, str document, store_tags tags, int64_t *id,
                       assay_error *err);

typedef struct store_filter {
    str query; /* substring of the model, command, host or a tag; empty: any */
    str model; /* whole name, or the part after its last '/' */
    str tag;
    int64_t since_s; /* 0: any */
    int64_t id;      /* 0: any */
    int64_t limit, offset;
} store_filter;

assay_status store_list(store *s, const store_filter *f, arena *a, history_list *out,
                        assay_error *err);
/* By name, each with its newest record. */
assay_status store_models(store *s, arena *a, history_models *out, assay_error *err);
/* Of the matching records that contain the metric, those comparable with the newest: same shapes and, for a measured
 * metric, same machine and setup. `all` includes the others. At most `limit`, the newest. */
assay_status store_series(store *s, const store_filter *f, const metric_row *metric, bool all,
                          arena *a, history_trend *out, assay_error *err);

/* The document of a record, NUL-terminated. ASSAY_ERR_USAGE: no such record. */
assay_status store_document(store *s, int64_t id, arena *a, str *out, assay_error *err);
/* The bytes of its text, and those that store_stream_open() keeps in memory, which are fewer as a rule. */
assay_status store_document_size(store *s, int64_t id, uint64_t *size, uint64_t *memory,
                                 assay_error *err);
/* A document that is read piece by piece (store_stream.c). It does not need the store any more. */
typedef struct store_stream store_stream;
assay_status store_stream_open(store *s, int64_t id, store_stream **out, assay_error *err);
/* The next bytes, at most cap; 0 at the end. */
assay_status store_stream_read(store_stream *d, void *buf, size_t cap, size_t *n, assay_error *err);
void store_stream_close(store_stream *d); /* NULL is allowed */
/* Adds and removes tags in one transaction. */
assay_status store_tag(store *s, int64_t id, store_tags add, store_tags remove, assay_error *err);
assay_status store_delete(store *s, int64_t id, assay_error *err);

/* JSON lines: a header, then one record per line with its tags and its document (store_move.c). */
assay_status store_export(store *s, const store_filter *f, sbuf *out, uint64_t *n,
                          assay_error *err);
/* Imports such lines, or one result. Records that exist already (same document) are skipped. All or nothing,
 * unless `bad` is given: then a line that is no good record is left out, and `bad` gets a sentence about it. */
typedef struct store_imported {
    uint64_t added, known, bad;
} store_imported;
assay_status store_import(store *s, str text, const char *shown, sbuf *bad, store_imported *out,
                          assay_error *err);

#endif
