/* A PostgreSQL server that answers whatever it likes: libpq is replaced by functions whose results are the input. Every
 * question to the history is answered, or refused with a sentence, and every result of libpq is freed.
 *
 * The input: a byte for how the history is opened, then what each statement and connection meets, one after the other:
 *   r ROW... e    rows, each a list of columns that ends with a line break
 *   x SSSSS k     an error with this SQLSTATE; k = p, t: of the constraint runs_pkey, runs_by_task
 *   l             the connection breaks
 *   other, end    the answer of a server with an empty history
 * A column: i or I with a byte or eight (an int8), t or b with a length byte and so many bytes (text, bytea), q with a
 * byte (bool), n (NULL). */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "fuzz/ask_store.h"
#include "store/postgres_impl.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { COLUMNS = 24, CELL = 256, STATEMENTS = 2000 };

typedef struct cell {
    pg_oid type; /* 0: NULL */
    int n;
    char bytes[CELL];
} cell;

struct pg_result {
    int status, n_columns;
    char state[6];
    const char *constraint;
    cell cells[COLUMNS];
};

typedef enum reply { REPLY_USUAL, REPLY_ROWS, REPLY_ERROR } reply;

struct pg_conn {
    reply reply;
    bool broken, ended, busy, in_transaction;
    char sql[128];
};

static struct {
    const uint8_t *p, *end;
    int connections, results, statements, socket;
    int64_t number;
} script;

static uint8_t next_byte(void)
{
    return script.p < script.end ? *script.p++ : 0;
}

/* ---- results ---- */

static pg_result *new_result(int status)
{
    pg_result *r = calloc(1, sizeof *r);
    promise(r != NULL);
    r->status = status;
    script.results++;
    return r;
}

static void put_int(cell *c, int64_t v)
{
    c->type = 20;
    c->n = 8;
    for (int i = 0; i < 8; i++)
        c->bytes[i] = (char)((uint64_t)v >> (56 - 8 * i));
}

static void read_bytes(cell *c, pg_oid type, int n)
{
    c->type = type;
    c->n = n;
    for (int i = 0; i < n; i++)
        c->bytes[i] = (char)next_byte();
}

/* False: the row ends. */
static bool read_cell(cell *c)
{
    switch (next_byte()) {
    case 'i':
        put_int(c, (int8_t)next_byte());
        return true;
    case 'I':
        read_bytes(c, 20, 8);
        return true;
    case 't':
        read_bytes(c, 25, next_byte());
        return true;
    case 'b':
        read_bytes(c, 17, next_byte());
        return true;
    case 'q':
        read_bytes(c, 16, 1);
        return true;
    case 'n':
        return true;
    default:
        return false;
    }
}

static pg_result *scripted_row(pg_conn *c)
{
    if (script.p >= script.end || *script.p == 'e') {
        next_byte();
        c->ended = true;
        return new_result(PG_TUPLES_OK);
    }
    pg_result *r = new_result(PG_SINGLE_TUPLE);
    while (r->n_columns < COLUMNS && read_cell(&r->cells[r->n_columns]))
        r->n_columns++;
    return r;
}

static pg_result *scripted_error(pg_conn *c)
{
    pg_result *r = new_result(7);
    for (int i = 0; i < 5; i++)
        r->state[i] = (char)next_byte();
    const uint8_t k = next_byte();
    r->constraint = k == 'p' ? "runs_pkey" : k == 't' ? "runs_by_task" : NULL;
    c->ended = true;
    if (strncmp(c->sql, "BEGIN", 5) == 0 && !strchr(c->sql, ';'))
        c->in_transaction = false; /* of several statements, the first was done */
    return r;
}

/* What an empty history answers: its version and the time, the next number, or no rows. */
static pg_result *usual_row(pg_conn *c)
{
    const bool version = strstr(c->sql, "max(version)") != NULL,
               number = strstr(c->sql, "nextval") != NULL || strstr(c->sql, "WITH d") != NULL;
    if (!version && !number) {
        c->ended = true;
        return new_result(PG_COMMAND_OK);
    }
    pg_result *r = new_result(PG_SINGLE_TUPLE);
    put_int(&r->cells[0], version ? 1 : ++script.number);
    put_int(&r->cells[1], 1700000000);
    r->n_columns = 2;
    return r;
}

/* ---- libpq ---- */

static void begin_statement_of(pg_conn *c, const char *sql)
{
    const uint8_t k = ++script.statements > STATEMENTS ? 0 : next_byte();
    snprintf(c->sql, sizeof c->sql, "%s", sql);
    c->reply = k == 'r' ? REPLY_ROWS : k == 'x' ? REPLY_ERROR : REPLY_USUAL;
    c->broken = c->broken || k == 'l';
    c->ended = false;
    c->busy = true;
    c->in_transaction = strncmp(sql, "BEGIN", 5) == 0 ||
                        (c->in_transaction && strncmp(sql, "COMMIT", 6) != 0 &&
                         strncmp(sql, "ROLLBACK", 8) != 0);
}

static pg_conn *fake_connect(const char *const *keys, const char *const *values, int expand)
{
    (void)keys, (void)values, (void)expand;
    pg_conn *c = calloc(1, sizeof *c);
    promise(c != NULL);
    c->broken = next_byte() == 'l';
    script.connections++;
    return c;
}

static void fake_finish(pg_conn *c)
{
    script.connections--;
    free(c);
}

static int fake_ping(const char *const *keys, const char *const *values, int expand)
{
    (void)keys, (void)values, (void)expand;
    return next_byte() & 3;
}

static int fake_status(const pg_conn *c)
{
    return c->broken ? 1 : PG_CONNECTED;
}

static int fake_transaction(const pg_conn *c)
{
    return c->in_transaction ? 2 : PG_IDLE;
}

static char *fake_message(const pg_conn *c)
{
    static char text[] = "secret is wrong\n\tat the second line\n";
    (void)c;
    return text;
}

static int fake_socket(const pg_conn *c)
{
    (void)c;
    return script.socket;
}

static pg_option *fake_parse(const char *text, char **why)
{
    static char host[] = "host", name[] = "dbname", db[] = "x", key[] = "password", v[] = "secret";
    static pg_option options[] = {{.keyword = host, .val = db},
                                  {.keyword = name, .val = db},
                                  {.keyword = key, .val = v},
                                  {.keyword = NULL}};
    *why = NULL;
    return strstr(text, "bad") ? NULL : options;
}

static void fake_free_options(pg_option *o)
{
    (void)o;
}

static void fake_free(void *p)
{
    free(p);
}

static int fake_send(pg_conn *c, const char *sql)
{
    begin_statement_of(c, sql);
    return !c->broken;
}

static int fake_send_params(pg_conn *c, const char *sql, int n, const pg_oid *types,
                            const char *const *values, const int *lengths, const int *formats,
                            int format)
{
    (void)n, (void)types, (void)values, (void)lengths, (void)formats, (void)format;
    return fake_send(c, sql);
}

static int fake_prepare(pg_conn *c, const char *name, const char *sql, int n, const pg_oid *types)
{
    (void)name, (void)sql, (void)n, (void)types;
    return fake_send(c, "PREPARE");
}

static int fake_send_prepared(pg_conn *c, const char *name, int n, const char *const *values,
                              const int *lengths, const int *formats, int format)
{
    (void)name, (void)n, (void)values, (void)lengths, (void)formats, (void)format;
    return fake_send(c, "WITH d");
}

static int fake_single(pg_conn *c)
{
    (void)c;
    return 1;
}

static int fake_consume(pg_conn *c)
{
    c->busy = false;
    return !c->broken;
}

static int fake_busy(pg_conn *c)
{
    return c->busy;
}

static pg_result *fake_result(pg_conn *c)
{
    if (c->ended)
        return NULL;
    if (c->reply == REPLY_USUAL && c->sql[0] != 'S' && c->sql[0] != 'W') {
        c->ended = true;
        return new_result(PG_COMMAND_OK);
    }
    if (c->reply == REPLY_USUAL) {
        pg_result *r = usual_row(c);
        c->sql[0] = 'X'; /* then the end */
        return r;
    }
    return c->reply == REPLY_ROWS ? scripted_row(c) : scripted_error(c);
}

static int fake_result_status(const pg_result *r)
{
    return r->status;
}

static char *fake_field(const pg_result *r, int which)
{
    static char message[] = "history of secret", constraint[2][16] = {"runs_pkey", "runs_by_task"};
    static char state[6];
    if (which == PG_DIAG_MESSAGE)
        return message;
    if (which == PG_DIAG_CONSTRAINT)
        return !r->constraint ? NULL : constraint[strcmp(r->constraint, "runs_pkey") != 0];
    memcpy(state, r->state, sizeof state);
    return state[0] ? state : NULL;
}

static int fake_columns(const pg_result *r)
{
    return r->n_columns;
}

static pg_oid fake_type(const pg_result *r, int column)
{
    return r->cells[column].type;
}

static char *fake_value(const pg_result *r, int row, int column)
{
    (void)row;
    return (char *)(uintptr_t)r->cells[column].bytes;
}

static int fake_length(const pg_result *r, int row, int column)
{
    (void)row;
    return r->cells[column].n;
}

static int fake_null(const pg_result *r, int row, int column)
{
    (void)row;
    return r->cells[column].type == 0;
}

static char *fake_tuples(pg_result *r)
{
    static char none[] = "0";
    (void)r;
    return none;
}

static void fake_clear(pg_result *r)
{
    script.results -= r != NULL;
    free(r);
}

static pg_notice *fake_notice(pg_conn *c, pg_notice *to, void *ctx)
{
    (void)c;
    to(ctx, NULL);
    return NULL;
}

static pg_cancel *fake_get_cancel(pg_conn *c)
{
    return (pg_cancel *)c;
}

static int fake_cancel(pg_cancel *c, char *why, int size)
{
    (void)c, (void)why, (void)size;
    return 1;
}

static void fake_free_cancel(pg_cancel *c)
{
    (void)c;
}

static const pg_library fake = {.connectdbParams = fake_connect,
                                .pingParams = fake_ping,
                                .finish = fake_finish,
                                .status = fake_status,
                                .transactionStatus = fake_transaction,
                                .errorMessage = fake_message,
                                .socket = fake_socket,
                                .conninfoParse = fake_parse,
                                .conninfoFree = fake_free_options,
                                .freemem = fake_free,
                                .sendQuery = fake_send,
                                .sendQueryParams = fake_send_params,
                                .sendPrepare = fake_prepare,
                                .sendQueryPrepared = fake_send_prepared,
                                .setSingleRowMode = fake_single,
                                .consumeInput = fake_consume,
                                .isBusy = fake_busy,
                                .getResult = fake_result,
                                .resultStatus = fake_result_status,
                                .resultErrorField = fake_field,
                                .nfields = fake_columns,
                                .ftype = fake_type,
                                .getvalue = fake_value,
                                .getlength = fake_length,
                                .getisnull = fake_null,
                                .cmdTuples = fake_tuples,
                                .clear = fake_clear,
                                .setNoticeReceiver = fake_notice,
                                .getCancel = fake_get_cancel,
                                .cancel = fake_cancel,
                                .freeCancel = fake_free_cancel};

/* In place of store/postgres_library.c, which is then not taken from the library. */
assay_status postgres_load(pg_library *out, assay_error *err)
{
    (void)err;
    *out = fake;
    return ASSAY_OK;
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

/* ---- the history ---- */

static void ask(bool writes)
{
    assay_error err = {0};
    store *s = NULL;
    if (answered(store_open("host=x password=secret", writes, &s, &err), &err))
        ask_everything(s);
    store_close(s);
    promise(!strstr(err.message, "secret"));
}

static void make(void)
{
    assay_error err = {0};
    bool changed;
    char version[32];
    answered(store_init("host=x password=secret", &changed, version, &err), &err);
    promise(!strstr(err.message, "secret"));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const int socket = open("/dev/null", O_RDWR); /* always readable */
    setenv("ASSAY_DB_WAIT", "0", 1);
    memset(&script, 0, sizeof script);
    script.p = data;
    script.end = data + size;
    script.socket = socket;
    const uint8_t how = next_byte();
    if (how == 'm')
        make();
    else
        ask(how == 'w');
    promise(script.connections == 0 && script.results == 0);
    close(socket);
    return 0;
}
