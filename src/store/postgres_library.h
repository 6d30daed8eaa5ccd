/* The functions of libpq that the backend calls, loaded when a PostgreSQL history is named. Declared here as its manual
 * states them (https://www.postgresql.org/docs/15/libpq.html): the program is neither built with libpq's headers nor
 * linked with it. */
#ifndef STORE_POSTGRES_LIBRARY_H
#define STORE_POSTGRES_LIBRARY_H

#include "base/error.h"

typedef struct pg_conn pg_conn;     /* PGconn */
typedef struct pg_result pg_result; /* PGresult */
typedef struct pg_cancel pg_cancel; /* PGcancel */
typedef unsigned pg_oid;

typedef struct pg_option { /* PQconninfoOption */
    char *keyword, *envvar, *compiled, *val, *label, *dispchar;
    int dispsize;
} pg_option;

typedef void pg_notice(void *ctx, const pg_result *r);

enum { /* ConnStatusType, PGTransactionStatusType, PGPing, ExecStatusType, PG_DIAG_* */
       PG_CONNECTED = 0,
       PG_IDLE = 0,
       PG_PING_OK = 0,
       PG_PING_NO_ATTEMPT = 3,
       PG_EMPTY = 0,
       PG_COMMAND_OK = 1,
       PG_TUPLES_OK = 2,
       PG_SINGLE_TUPLE = 9,
       PG_DIAG_SQLSTATE = 'C',
       PG_DIAG_MESSAGE = 'M',
       PG_DIAG_CONSTRAINT = 'n'
};

#define PG_FUNCTIONS(X)                                                                        \
    X(pg_conn *, connectdbParams, (const char *const *keys, const char *const *values, int))   \
    X(int, pingParams, (const char *const *keys, const char *const *values, int expand))       \
    X(void, finish, (pg_conn *))                                                               \
    X(int, status, (const pg_conn *))                                                          \
    X(int, transactionStatus, (const pg_conn *))                                               \
    X(char *, errorMessage, (const pg_conn *))                                                 \
    X(int, socket, (const pg_conn *))                                                          \
    X(pg_option *, conninfoParse, (const char *text, char **why))                              \
    X(void, conninfoFree, (pg_option *))                                                       \
    X(void, freemem, (void *))                                                                 \
    X(int, sendQuery, (pg_conn *, const char *sql))                                            \
    X(int, sendQueryParams,                                                                    \
      (pg_conn *, const char *sql, int n, const pg_oid *types, const char *const *values,      \
       const int *lengths, const int *formats, int format))                                    \
    X(int, sendPrepare, (pg_conn *, const char *name, const char *sql, int n, const pg_oid *)) \
    X(int, sendQueryPrepared,                                                                  \
      (pg_conn *, const char *name, int n, const char *const *values, const int *lengths,      \
       const int *formats, int format))                                                        \
    X(int, setSingleRowMode, (pg_conn *))                                                      \
    X(int, consumeInput, (pg_conn *))                                                          \
    X(int, isBusy, (pg_conn *))                                                                \
    X(pg_result *, getResult, (pg_conn *))                                                     \
    X(int, resultStatus, (const pg_result *))                                                  \
    X(char *, resultErrorField, (const pg_result *, int field))                                \
    X(int, nfields, (const pg_result *))                                                       \
    X(pg_oid, ftype, (const pg_result *, int column))                                          \
    X(char *, getvalue, (const pg_result *, int row, int column))                              \
    X(int, getlength, (const pg_result *, int row, int column))                                \
    X(int, getisnull, (const pg_result *, int row, int column))                                \
    X(char *, cmdTuples, (pg_result *))                                                        \
    X(void, clear, (pg_result *))                                                              \
    X(pg_notice *, setNoticeReceiver, (pg_conn *, pg_notice *, void *ctx))                     \
    X(pg_cancel *, getCancel, (pg_conn *))                                                     \
    X(int, cancel, (pg_cancel *, char *why, int why_size))                                     \
    X(void, freeCancel, (pg_cancel *))

typedef struct pg_library {
#define PG_MEMBER(result, name, params) result(*name) params;
    PG_FUNCTIONS(PG_MEMBER)
#undef PG_MEMBER
} pg_library;

/* libpq.so.5, or the file that $ASSAY_LIBPQ names. ASSAY_ERR_SYSTEM: it is missing, or too old. */
assay_status postgres_load(pg_library *out, assay_error *err);

/* The calls that can fail because of the server; base/fault.c lets them. NULL and false: they failed. */
pg_conn *postgres_connect(const pg_library *pq, const char *const *keys, const char *const *values);
bool postgres_sent(const pg_library *pq, int sent); /* `sent` is what a send function returned */
bool postgres_received(const pg_library *pq, pg_conn *c);

#endif
