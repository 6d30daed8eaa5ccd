/* Loading libpq. Other commands do not: the library is opened when a history is named that needs it. */
#include "store/postgres_library.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

static assay_status missing(const char *why, assay_error *err)
{
    return err_fail(err, ASSAY_ERR_SYSTEM,
                    "a PostgreSQL history needs libpq: %.200s. Install it (Debian: libpq5).", why);
}

/* ISO C has no cast from an object pointer to a function pointer. */
static bool find_function(void *library, const char *name, void *function)
{
    void *symbol = dlsym(library, name);
    memcpy(function, &symbol, sizeof symbol);
    return symbol != NULL;
}

assay_status postgres_load(pg_library *out, assay_error *err)
{
    const char *named = secure_getenv("ASSAY_LIBPQ");
    void *library = dlopen(named && *named ? named : "libpq.so.5",
                           RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    const char *why = library ? NULL : dlerror();
    if (!library)
        return missing(why ? why : "it cannot be loaded", err);
    bool all = true;
#define PG_FIND(result, name, params) \
    all = find_function(library, "PQ" #name, (void *)&out->name) && all;
    PG_FUNCTIONS(PG_FIND)
#undef PG_FIND
    dlclose(library); /* it stays: RTLD_NODELETE */
    return all ? ASSAY_OK : missing("the installed one lacks functions", err);
}

pg_conn *postgres_connect(const pg_library *pq, const char *const *keys, const char *const *values)
{
    return pq->connectdbParams(keys, values, 1);
}

bool postgres_sent(const pg_library *pq, int sent)
{
    (void)pq;
    return sent == 1;
}

bool postgres_received(const pg_library *pq, pg_conn *c)
{
    return pq->consumeInput(c) == 1;
}
