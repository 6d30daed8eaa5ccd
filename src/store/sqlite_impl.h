/* Shared by sqlite.c and sqlite_schema.c. */
#ifndef STORE_SQLITE_IMPL_H
#define STORE_SQLITE_IMPL_H

#include <sqlite3.h>

#include "store/store_impl.h"

enum {
    SQLITE_QUERY_S =
        LIMIT_QUERY_S, /* a statement of ours takes milliseconds: a file that makes it take longer means harm */
    SQLITE_STEPS = 100000 /* of SQLite's machine between two looks at the clock */
};

typedef struct sqlite_store {
    store is;
    sqlite3 *db;
    int code;          /* of the last failure */
    uint64_t until_ns; /* when the statement is late */
} sqlite_store;

/* What went wrong, as a sentence; code is SQLite's. */
assay_status sqlite_fail(sqlite_store *s, int code, assay_error *err);
/* Makes an empty file a history, and an older one of this version. */
assay_status sqlite_migrate(sqlite_store *s, assay_error *err);

#endif
