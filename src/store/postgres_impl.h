/* Shared by the files of the backend `postgres`. */
#ifndef STORE_POSTGRES_IMPL_H
#define STORE_POSTGRES_IMPL_H

#include "store/postgres_library.h"
#include "store/store_impl.h"

typedef struct pg_store {
    store is;
    pg_library pq;
    pg_conn *conn; /* NULL: lost, or not made yet */
    char *name;    /* as given: it may hold a password */
    char *secrets[2];
    store_mode mode;
    bool saved;                       /* a record: more may follow */
    int64_t next_id;                  /* the number of the next record; 0: not known */
    bool prepared;                    /* the statement that inserts, on this connection */
    uint64_t until_ns;                /* when the statement is late */
    char sqlstate[6], constraint[64]; /* of the last failure */
} pg_store;

pg_store *postgres_of(store *s);

/* ---- connections (postgres_connect.c) ---- */

/* Makes the connection unless there is one, and looks at the schema. */
assay_status postgres_reach(pg_store *s, assay_error *err);
void postgres_drop(pg_store *s); /* the connection */
/* Whether trying again may help: the server does not answer, or not yet. */
bool postgres_is_down(const pg_store *s);
/* Parses the name: what is shown of it, and its secrets. */
assay_status postgres_describe(pg_store *s, assay_error *err);
/* "***" in place of passwords. */
void postgres_put_clean(const pg_store *s, const char *text, sbuf *out);

/* ---- statements (postgres.c) ---- */

assay_status postgres_exec(store *s, const char *sql, assay_error *err);

/* ---- storing (postgres_add.c) ---- */

/* postgres_reach(), again and again for store_wait_s() while the server is down. */
assay_status postgres_reach_patiently(pg_store *s, assay_error *err);
assay_status postgres_insert(store *s, store_row *row, bool *known, assay_error *err);
assay_status postgres_add(store *s, store_row *row, bool *known, assay_error *err);

/* ---- schema (postgres_schema.c) ---- */

/* What a new connection is told first. */
extern const char postgres_settings[];
/* Compares the version and the clock; with STORE_MAKES_SCHEMA, migrates. */
assay_status postgres_check_schema(pg_store *s, assay_error *err);

#endif
