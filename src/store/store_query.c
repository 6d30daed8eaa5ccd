/* Queries: a statement with parameters by name, its values and its rows, for every backend. */
#include <assert.h>
#include <math.h>
#include <stdio.h>

#include "store/store_impl.h"

/* ---- parameters ---- */

static bool is_name(char c)
{
    return (c >= 'a' && c <= 'z') || c == '_';
}

/* The number of a parameter, from 1; it is added when `add`. 0: the statement does not use it. */
static int number_of(store_query *q, str name, bool add)
{
    assert(name.n && name.n < STORE_PARAMETER_NAME);
    for (int i = 0; i < q->n; i++)
        if (str_is(name, q->names[i]))
            return i + 1;
    if (!add)
        return 0;
    assert(q->n < STORE_PARAMETERS);
    memcpy(q->names[q->n], name.p, name.n);
    q->names[q->n][name.n] = '\0';
    return ++q->n;
}

/* ":model" becomes "?1" or "$1"; "::text" (a cast of PostgreSQL) and what is in quotes stay. */
static void number_parameters(store_query *q, const char *sql)
{
    char quote = '\0';
    for (const char *at = sql; *at; at++) {
        if (quote ? *at == quote : *at == '\'' || *at == '"')
            quote = quote ? '\0' : *at;
        const char *end = at + 1;
        while (!quote && *at == ':' && is_name(*end))
            end++;
        if (end > at + 1) {
            int n = number_of(q, (str){at + 1, (uint32_t)(end - at - 1)}, true);
            sbuf_printf(&q->sql, "%c%d", q->s->backend->dialect.parameter, n);
        } else {
            sbuf_putc(&q->sql, *at);
            if (*at == ':' && *end == ':') {
                sbuf_putc(&q->sql, ':');
                end++;
            }
        }
        at = end - 1;
    }
}

void store_ask(store_query *q, store *s, const char *sql, assay_error *err)
{
    *q = (store_query){.s = s, .err = err};
    number_parameters(q, sql);
}

void store_ask_text(store_query *q, store *s, sbuf *sql, assay_error *err)
{
    store_ask(q, s, sbuf_cstr(sql), err);
    if (sql->failed)
        q->status = err_no_memory(err);
    sbuf_free(sql);
}

static void set_value(store_query *q, const char *name, store_value v)
{
    int n = number_of(q, str_of(name), false);
    if (n)
        q->values[n - 1] = v;
}

void store_set_text(store_query *q, const char *name, str text)
{
    set_value(q, name, (store_value){.type = STORE_TEXT, .text = text.n ? text : STR("")});
}

void store_set_name(store_query *q, const char *name, str text)
{
    set_value(q, name, (store_value){.type = text.n ? STORE_TEXT : STORE_NULL, .text = text});
}

void store_set_int(store_query *q, const char *name, int64_t v)
{
    set_value(q, name, (store_value){.type = STORE_INT, .whole = v});
}

void store_set_missing_int(store_query *q, const char *name)
{
    set_value(q, name, (store_value){.type = STORE_NULL, .number = true});
}

void store_set_real(store_query *q, const char *name, double v)
{
    set_value(q, name, (store_value){.type = STORE_REAL, .real = v});
}

void store_set_bytes(store_query *q, const char *name, str bytes)
{
    set_value(q, name, (store_value){.type = STORE_BYTES, .text = bytes});
}

/* ---- rows ---- */

bool store_next(store_query *q)
{
    if (q->status == ASSAY_OK && q->sql.failed)
        q->status = err_no_memory(q->err);
    if (q->status == ASSAY_OK && !q->started) {
        q->started = true;
        if (q->s->watch)
            q->s->watch(q->s->watch_ctx, sbuf_cstr(&q->sql));
        q->status = q->s->backend->start(q);
    }
    return q->status == ASSAY_OK && q->s->backend->next(q) > 0;
}

assay_status store_done(store_query *q)
{
    if (q->running)
        q->s->backend->finish(q);
    q->running = NULL;
    sbuf_free(&q->sql);
    return q->status;
}

assay_status store_run(store_query *q)
{
    while (store_next(q))
        continue;
    return store_done(q);
}

int64_t store_column_int(const store_query *q, int column)
{
    store_value v = q->s->backend->column(q, column);
    return v.type == STORE_INT ? v.whole : 0;
}

str store_column_str(const store_query *q, int column, arena *a)
{
    store_value v = q->s->backend->column(q, column);
    bool text = v.type == STORE_TEXT || v.type == STORE_BYTES;
    return text ? str_copy(a, v.text) : (str){"", 0};
}

/* PostgreSQL gives a figure as text: "12", or "~1.5" when it is not whole. */
metric_value store_column_value(const store_query *q, int column)
{
    store_value v = q->s->backend->column(q, column);
    double real;
    int64_t whole;
    if (v.type == STORE_TEXT && str_to_i64(v.text, &whole))
        v = (store_value){.type = STORE_INT, .whole = whole};
    else if (v.type == STORE_TEXT && v.text.n &&
             str_to_f64((str){v.text.p + 1, v.text.n - 1}, &real))
        v = (store_value){.type = STORE_REAL, .real = real};
    if (v.type == STORE_INT)
        return (metric_value){
            .v = (double)(uint64_t)v.whole, .whole = true, .n = (uint64_t)v.whole};
    return (metric_value){.v = v.type == STORE_REAL ? v.real : NAN};
}

assay_status store_ask_number(store *s, const char *sql, int64_t *out, assay_error *err)
{
    store_query q;
    store_ask(&q, s, sql, err);
    *out = store_next(&q) ? store_column_int(&q, 0) : 0;
    return store_done(&q);
}
