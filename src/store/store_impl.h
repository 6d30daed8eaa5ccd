/* Shared by the files of store/. */
#ifndef STORE_STORE_IMPL_H
#define STORE_STORE_IMPL_H

#include <sqlite3.h>

#include "store/store.h"

#define STORE_PROFILE_BYTES  ((size_t)256 << 20)
#define STORE_DOCUMENT_BYTES ((uint64_t)256 << 20)

enum {
    STORE_QUERY_S =
        LIMIT_QUERY_S, /* a statement of ours takes milliseconds: a file that makes it take longer means harm */
    STORE_STEPS = 100000 /* of SQLite's machine between two looks at the clock */
};

struct store {
    sqlite3 *db;
    int code;          /* of the last failure */
    int bind_code;     /* the first that is not SQLITE_OK, of the values of a statement */
    uint64_t until_ns; /* when the statement is late */
    int reading;       /* pairs of store_read_begin() and store_read_end() that are open */
    char shown[256];   /* the file, for sentences */
};

/* What went wrong, as a sentence; code is SQLite's. */
assay_status store_fail(store *s, int code, assay_error *err);
int store_exec(store *s, const char *sql); /* returns SQLite's code */
int store_is_late(void *store);            /* for sqlite3_progress_handler() */
assay_status store_run_sql(store *s, const char *sql, assay_error *err);
assay_status store_prepare(store *s, const char *sql, sqlite3_stmt **out, assay_error *err);
/* Runs a statement that gives no rows, and finalizes it. */
assay_status store_finish(store *s, sqlite3_stmt *q, assay_error *err);

/* A transaction that writes. store_end() commits when `so_far` is ASSAY_OK, else rolls back and returns it. */
assay_status store_begin(store *s, assay_error *err);
assay_status store_end(store *s, assay_status so_far, assay_error *err);

/* Values of a statement. One that cannot be bound makes store_step() fail. */
void store_bind_str(store *s, sqlite3_stmt *q, int at, str text);  /* copies; empty is NULL */
void store_bind_text(store *s, sqlite3_stmt *q, int at, str text); /* copies; never NULL */
void store_bind_int(store *s, sqlite3_stmt *q, int at, int64_t v);
void store_bind_real(store *s, sqlite3_stmt *q, int at, double v);
void store_bind_bytes(store *s, sqlite3_stmt *q, int at, const void *p, size_t n); /* copies */
int store_step(store *s, sqlite3_stmt *q); /* sqlite3_step() */
str store_column_str(sqlite3_stmt *q, int column, arena *a);
/* A figure as it was stored, whole or not; unknown when it is NULL. */
metric_value store_column_value(sqlite3_stmt *q, int column);

/* A packed document as the database has it. */
typedef struct store_packing {
    int64_t encoding, size; /* 0: as it is, 1: deflated; bytes of the text */
    uint64_t n;             /* bytes of the body */
    void *body;             /* freed by free(); NULL: not read */
} store_packing;
/* ASSAY_ERR_USAGE: no such record. */
assay_status store_packed(store *s, int64_t id, bool with_body, store_packing *out,
                          assay_error *err);
/* Copies the n bytes of the body. */
assay_status store_keep_packed(store_packing *p, const void *body, assay_error *err);

/* Inside a transaction of the caller's; the document is squeezed. */
assay_status store_insert(store *s, const profile *p, str document, store_tags tags, int64_t *id,
                          assay_error *err);
/* Refuses names that are too long to be listed, or contain a NUL. */
assay_status store_check_names(const profile *p, assay_error *err);
str store_kind(const profile *p); /* history_record.kind */
assay_status store_insert_figures(store *s, int64_t id, const profile *p, assay_error *err);
/* ASSAY_ERR_USAGE with a sentence unless it may be a tag: 1 to 64 bytes of UTF-8 without commas and controls. */
assay_status store_check_tag(str tag, assay_error *err);

/* Hex digest of a document as it is stored. */
void store_digest(str document, char hex[65]);
/* Takes blanks outside strings and secrets (base/redact.h) away; the text is JSON already. */
void store_squeeze(str text, sbuf *out);
/* Deflated when that is smaller. *encoding is 0 (plain) or 1 (zlib). */
assay_status store_pack(str text, sbuf *out, int *encoding, assay_error *err);
assay_status store_unpack(store *s, const void *p, size_t n, int encoding, uint64_t size, arena *a,
                          str *out, assay_error *err);

/* ---- schema (store_schema.c) ---- */
assay_status store_migrate(store *s, assay_error *err);

#endif
