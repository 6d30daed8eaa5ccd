/* A history of SQLite whose rows a stranger wrote: the input is SQL that inserts and changes rows of any type and value
 * in an empty history. Every question is then answered, or refused with a sentence. */
#include <stdint.h>
#include <string.h>

#include "fuzz/ask_store.h"
#include "store/sqlite_impl.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { STEPS = 100000, SIZE_MAX_BYTES = 1 << 14 };

/* Rows and what SQLite computes; no files, no settings, no statements that change the schema. */
static int allow_rows(void *ctx, int action, const char *a, const char *b, const char *c,
                      const char *d)
{
    static const int allowed[] = {SQLITE_INSERT, SQLITE_UPDATE, SQLITE_DELETE,
                                  SQLITE_SELECT, SQLITE_READ,   SQLITE_FUNCTION};
    (void)ctx, (void)a, (void)b, (void)c, (void)d;
    for (size_t i = 0; i < sizeof allowed / sizeof *allowed; i++)
        if (action == allowed[i])
            return SQLITE_OK;
    return SQLITE_DENY;
}

static int stop(void *ctx)
{
    (void)ctx;
    return 1;
}

static void change_rows(sqlite_store *s, const uint8_t *data, size_t size)
{
    char sql[SIZE_MAX_BYTES + 1];
    memcpy(sql, data, size);
    sql[size] = '\0';
    sqlite3_limit(s->db, SQLITE_LIMIT_LENGTH, 1 << 20);
    sqlite3_set_authorizer(s->db, allow_rows, NULL);
    sqlite3_progress_handler(s->db, STEPS, stop, NULL);
    sqlite3_exec(s->db, sql, NULL, NULL, NULL);
    sqlite3_set_authorizer(s->db, NULL, NULL);
    sqlite3_progress_handler(s->db, 0, NULL, NULL);
    if (!sqlite3_get_autocommit(s->db))
        sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
    sqlite3_limit(s->db, SQLITE_LIMIT_LENGTH, 1 << 30);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    store *s = NULL;
    if (size > SIZE_MAX_BYTES)
        return 0;
    promise(store_open(NULL, true, &s, NULL) == ASSAY_OK);
    change_rows((sqlite_store *)s, data, size);
    ask_everything(s);
    store_close(s);
    return 0;
}
