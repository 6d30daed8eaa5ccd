/* The history of results: an SQLite file, or a PostgreSQL database. This room holds all SQL.
 *
 * Every result is stored whole: its JSON document without blanks outside strings, deflated. Beside it are the columns
 * for searching (model, its digest, time, host, machine, setup, version of the tool, sweep and task) and every metric of
 * the profile, with an index for trends. The table `tallies` counts the records of each model and tag, so that a list
 * does not.
 *
 * When store_add() returns, the record is on disk. Readers do not wait for a writer. Numbers are never reused: the table
 * `runs` has one row per record.
 *
 * SQLite (sqlite.c): the file is in WAL mode with synchronous = FULL. Writers wait for each other, up to STORE_BUSY_MS.
 * An older file is migrated when it is opened, in one transaction; a newer one is refused.
 * PostgreSQL (postgres.c): everything is in the schema `assay`, which store_init() alone makes and migrates.
 *
 * A store is used by one thread at a time. Several stores may have the same history open.
 */
#ifndef STORE_STORE_H
#define STORE_STORE_H

#include "base/error.h"
#include "base/limits.h"
#include "base/sbuf.h"
#include "profile/fleet.h"
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

/* What a record has beside its document. */
typedef struct store_label {
    store_tags tags;
    str machine; /* that produced the result; or empty */
    str sweep;   /* empty: the record is of no sweep. A sweep and a task have one record */
    int64_t task;
    int64_t created_s; /* 0: the time in the document, by the clock of the history */
} store_label;

/* Whether a name is that of a server, not of a file. */
bool store_is_remote(const char *name);

/* Opens a history. `path` is a file, or names a PostgreSQL database: postgresql://..., or "service=..." and other
 * connection strings of libpq. The file: with `create` a missing file and its directories are created; without it, a missing file is
 * ASSAY_ERR_SYSTEM. A NULL path is an empty history without a file. ASSAY_ERR_MALFORMED: not a history.
 * ASSAY_ERR_UNSUPPORTED: written by a newer assay. The database: ASSAY_ERR_SYSTEM when libpq, the server or the schema is
 * missing. */
assay_status store_open(const char *path, bool create, store **out, assay_error *err);
void store_close(store *s); /* accepts NULL */
/* Makes the schema, or migrates it. *changed: there was something to do. `version` receives the schema's. */
assay_status store_init(const char *path, bool *changed, char version[32], assay_error *err);
/* Seconds since 1970 by the clock of the history: the server's, if it has one. */
int64_t store_now(const store *s);

/* What is read between the two is one snapshot: records that others add meanwhile are not in it. Pairs nest.
 * store_read_end() returns `so_far`, or why the reading failed. */
assay_status store_read_begin(store *s, assay_error *err);
assay_status store_read_end(store *s, assay_status so_far, assay_error *err);

/* ASSAY_ERR_USAGE unless all are valid tags of one record: each 1 to STORE_TAG_BYTES bytes of UTF-8
 * without commas and control characters, and at most STORE_TAGS distinct ones. */
assay_status store_check_tags(store_tags tags, assay_error *err);

typedef struct store_added {
    int64_t id;
    bool
        known; /* the task had a record already: nothing was stored, and `id` is its number (0: not readable) */
} store_added;

/* Stores a result. `p` is the document as a profile, `document` its JSON text. A broken connection is made again, for as
 * long as store_wait_s() says; a record is never stored twice by that. */
assay_status store_add(store *s, const profile *p, str document, const store_label *label,
                       store_added *out, assay_error *err);
int64_t store_wait_s(void); /* $ASSAY_DB_WAIT, else 30 */

typedef struct store_filter {
    str query; /* substring of the model, command, host or a tag; empty: any */
    str model; /* whole name, or the part after its last '/' */
    str tag;
    str sweep, machine; /* whole; empty: any */
    int64_t task;       /* 1 + its number, with a sweep; 0: any */
    int64_t since_s;    /* 0: any */
    int64_t id;         /* 0: any */
    int64_t after_id;   /* with by_id: larger ones only */
    bool by_id;         /* by number, ascending; else newest first */
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

/* The metric in all matching records, newest first, at most `limit`, with what a fleet is grouped by. */
assay_status store_points(store *s, const store_filter *f, const metric_row *metric, arena *a,
                          fleet_points *out, assay_error *err);

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
/* A document as it is stored: without blanks outside strings, and without secrets (base/redact.h). It is JSON. */
void store_squeeze(str text, sbuf *out);
/* One such line, of a result that could not be stored. */
void store_put_line(const store_label *label, str document, sbuf *out);
void store_put_header(sbuf *out);
/* Imports such lines, or one result. Records that exist already (same document) are skipped. All or nothing,
 * unless `bad` is given: then a line that is no good record is left out, and `bad` gets a sentence about it. */
typedef struct store_imported {
    uint64_t added, known, bad;
} store_imported;
assay_status store_import(store *s, str text, const char *shown, sbuf *bad, store_imported *out,
                          assay_error *err);

/* Copies the records that `to` does not have, with their tags, machine, sweep and task, oldest number first and in
 * batches: one that was stopped is continued by the next. `known`: they were there already. */
typedef struct store_copied {
    uint64_t added, known;
} store_copied;
assay_status store_copy(store *from, store *to, store_copied *out, assay_error *err);

/* Deletes the records created before that time, in batches with a pause after each, so that others can write. */
assay_status store_prune(store *s, int64_t before_s, bool keep_tagged, uint64_t *deleted,
                         assay_error *err);

#endif
