/* Shared by the files of store/.
 *
 * A backend is one row of functions (store_backend). The queries above it are written once, in the SQL that SQLite and
 * PostgreSQL share, with parameters by name (":model"); store_query.c numbers them as the backend writes them. What the
 * two write differently is in store_dialect.
 */
#ifndef STORE_STORE_IMPL_H
#define STORE_STORE_IMPL_H

#include "store/store.h"

#define STORE_PROFILE_BYTES  ((size_t)256 << 20)
#define STORE_DOCUMENT_BYTES LIMIT_DOCUMENT_BYTES
#define STORE_ROW_BYTES      ((size_t)8 << 20) /* of what is computed for the columns of a record */

/* ---- queries (store_query.c) ---- */

typedef enum store_type { STORE_NULL, STORE_TEXT, STORE_INT, STORE_REAL, STORE_BYTES } store_type;

typedef struct store_value {
    store_type type;
    bool number; /* of STORE_NULL: it stands for a number, else for a text */
    str text;    /* of STORE_TEXT and STORE_BYTES; borrowed */
    int64_t whole;
    double real;
} store_value;

enum { STORE_PARAMETERS = 32, STORE_PARAMETER_NAME = 16 };

/* One statement: store_ask(), store_set_*(), store_next() until it is false, store_done(). What is set is borrowed until
 * store_done(). */
typedef struct store_query {
    store *s;
    assay_error *err;
    assay_status status; /* the first failure */
    sbuf sql;            /* as the backend reads it */
    char names[STORE_PARAMETERS][STORE_PARAMETER_NAME];
    store_value values[STORE_PARAMETERS];
    int n;
    const char *kept; /* a name: the server plans it once per connection. NULL: every time */
    bool started;
    bool fetched;    /* the first row is there already */
    void *running;   /* the backend's */
    int64_t changes; /* rows that the statement inserted or deleted, after store_done() */
} store_query;

void store_ask(store_query *q, store *s, const char *sql, assay_error *err);
/* The same; frees the text. */
void store_ask_text(store_query *q, store *s, sbuf *sql, assay_error *err);
/* A name that the statement does not use is ignored. */
void store_set_text(store_query *q, const char *name, str text);
void store_set_name(store_query *q, const char *name, str text); /* empty is NULL */
void store_set_int(store_query *q, const char *name, int64_t v);
void store_set_missing_int(store_query *q, const char *name); /* NULL, but a number */
void store_set_real(store_query *q, const char *name, double v);
void store_set_bytes(store_query *q, const char *name, str bytes);
/* Runs the statement at the first call. False: no more rows, or a failure that store_done() returns. */
bool store_next(store_query *q);
assay_status store_done(store_query *q);
/* All of it, for a statement without rows. */
assay_status store_run(store_query *q);
int64_t store_column_int(const store_query *q, int column); /* 0 when it is NULL */
str store_column_str(const store_query *q, int column, arena *a);
/* A figure as it was stored, whole or not; unknown when it is NULL. */
metric_value store_column_value(const store_query *q, int column);
/* Of the first row; 0 without one. */
assay_status store_ask_number(store *s, const char *sql, int64_t *out, assay_error *err);

/* ---- records as rows (store_row.c) ---- */

typedef struct store_figure {
    const char *metric;
    int64_t likeness; /* that of the setup for a measured metric, else that of the shape */
    metric_value v;
} store_figure;

typedef struct store_row {
    int64_t id; /* 0: the next number */
    int64_t created_s;
    str kind, model, base, command, host, precision, device, shape, setup;
    str model_sha256, tool_version, machine, sweep;
    int64_t task, batch, setup_key, shape_key;
    char digest[65];
    int encoding;
    uint32_t size; /* of the document */
    str body;      /* the document, packed */
    store_figure *figures;
    uint32_t n_figures;
    store_tags tags;
} store_row;

/* Computes the columns. `squeezed` is the document. The row lives in the arena. */
assay_status store_row_of(const profile *p, str squeezed, const store_label *label, arena *a,
                          store_row *out, assay_error *err);
enum { STORE_BASE_BYTES = 255 }; /* of what has an index */
typedef char store_base_text[65];
str store_base(str model, store_base_text room); /* what follows the last '/', or its digest */
bool store_has_folder(str model);
int64_t store_likeness(str text); /* of a setup or shape */
str store_kind(const profile *p); /* history_record.kind */
/* Refuses names that are too long to be listed, or contain a NUL. */
assay_status store_check_names(const profile *p, assay_error *err);
assay_status store_check_label(const store_label *label, assay_error *err);
/* ASSAY_ERR_USAGE with a sentence unless it may be a tag: 1 to 64 bytes of UTF-8 without commas and controls. */
assay_status store_check_tag(str tag, assay_error *err);

/* ---- backends ---- */

typedef struct store_dialect {
    char parameter;       /* '?' or '$', before its number */
    const char *contains; /* printf: a text holds :q, whatever the case of letters */
    const char *tags;     /* the tags of r.id in one text, separated by commas */
    const char *figure;   /* of a row of figures: a number, or its text */
    const char *read, *write,
        *take; /* begin a transaction; `take`: that checks before it inserts */
} store_dialect;

typedef enum store_mode { STORE_READS, STORE_WRITES, STORE_MAKES_SCHEMA } store_mode;

typedef struct store_backend {
    const char *name;
    bool (*takes)(const char *name); /* whether this names a history of the backend */
    store_dialect dialect;
    assay_status (*open)(const char *name, store_mode mode, store **out, assay_error *err);
    void (*close)(store *s);
    assay_status (*exec)(store *s, const char *sql, assay_error *err);
    bool (*in_transaction)(store *s);
    assay_status (*start)(store_query *q);
    int (*next)(store_query *q); /* 1: a row, 0: the end, -1: q->status says why */
    store_value (*column)(const store_query *q, int column);
    void (*finish)(store_query *q);
    /* In a transaction of the caller's. *known: the task has a record already, and row->id is its number; 0 when this
     * role may not read it. */
    assay_status (*insert)(store *s, store_row *row, bool *known, assay_error *err);
    /* A transaction of its own; tried again when the connection breaks. */
    assay_status (*add)(store *s, store_row *row, bool *known, assay_error *err);
} store_backend;

extern const store_backend store_sqlite, store_postgres;

struct store {
    const store_backend *backend;
    int reading;           /* pairs of store_read_begin() and store_read_end() that are open */
    int64_t clock_ahead_s; /* of the server's clock before ours; 0: less than it takes to ask */
    bool newer_schema;     /* this client may only read */
    bool schema_changed;   /* by STORE_MAKES_SCHEMA */
    bool lost;             /* the last failure was of the connection */
    char version[32];      /* of the schema, for sentences */
    char shown[256];       /* the file or the server, without a password, for sentences */
    void (*watch)(void *ctx,
                  const char *sql); /* sees every query before it runs; or NULL (tests) */
    void *watch_ctx;
};

assay_status store_run_sql(store *s, const char *sql, assay_error *err);

/* ASSAY_ERR_UNSUPPORTED if the schema is a newer one. */
assay_status store_may_write(const store *s, assay_error *err);
/* A transaction that writes. store_end() commits when `so_far` is ASSAY_OK, else rolls back and returns it. */
assay_status store_begin(store *s, assay_error *err);
/* The same for one that looks whether a record exists before it inserts it: two of them do not run at once. */
assay_status store_begin_taking(store *s, assay_error *err);
assay_status store_end(store *s, assay_status so_far, assay_error *err);

/* The values of a row, for statements that insert it. */
void store_set_run(store_query *q, const store_row *row);
void store_set_document(store_query *q, const store_row *row);
/* Every figure of a row, with statements of their own. */
assay_status store_insert_figures(store *s, const store_row *row, assay_error *err);
assay_status store_insert_rows(store *s, store_row *row, assay_error *err);
/* The record of a task; 0: none. */
assay_status store_task_record(store *s, str sweep, int64_t task, int64_t *id, assay_error *err);

/* ---- filters (store_list.c) ---- */

/* " WHERE ..." of the records r, and of t when a tag is requested: the caller joins tags t. */
void store_put_where(sbuf *b, const store *s, const store_filter *f);
void store_set_filter(store_query *q, const store_filter *f, store_base_text room);
/* The records without their total. */
assay_status store_list_only(store *s, const store_filter *f, arena *a, history_list *out,
                             assay_error *err);
/* store_done(), or the lack of memory. */
assay_status store_ended(store_query *q, arena *a);

/* ---- moving (store_move.c) ---- */

store_label store_label_of(const history_record *r);
/* How many records up to that number have this document. */
assay_status store_count_digest(store *s, const char *digest, int64_t to_id, int64_t *n,
                                assay_error *err);

/* ---- documents (store_pack.c) ---- */

/* Hex digest of a document as it is stored. */
void store_digest(str document, char hex[65]);
/* Deflated when that is smaller. *encoding is 0 (plain) or 1 (zlib). */
assay_status store_pack(str text, arena *a, str *out, int *encoding, assay_error *err);
assay_status store_unpack(store *s, str packed, int64_t encoding, int64_t size, arena *a, str *out,
                          assay_error *err);
assay_status store_damaged(store *s, assay_error *err);
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

#endif
