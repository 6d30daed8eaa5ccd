/* Storing a record in PostgreSQL: one statement, so that a save is one transaction and one answer, and a role needs no
 * privilege but INSERT.
 *
 * The number of a record is taken first, from a sequence. When the connection breaks, nobody knows whether the statement
 * was done: it is sent again with the same number, and a conflict of that number says that it was. A program that saves
 * many gets the number of the next record with the answer, which saves a question.
 */
#include <stdio.h>
#include <time.h>

#include "base/clock.h"
#include "store/postgres_impl.h"

/* ---- patience ---- */

enum { FIRST_PAUSE_MS = 20, LONGEST_PAUSE_MS = 1000 };

typedef struct patience {
    uint64_t until_ns;
    int pause_ms;
} patience;

static patience patience_begin(void)
{
    return (patience){clock_mono_ns() + (uint64_t)store_wait_s() * 1000000000u, FIRST_PAUSE_MS};
}

/* Waits before the next attempt; false: the time is over. */
static bool patience_wait(patience *p)
{
    if (clock_mono_ns() >= p->until_ns)
        return false;
    nanosleep(&(struct timespec){p->pause_ms / 1000, p->pause_ms % 1000 * 1000000L}, NULL);
    p->pause_ms = p->pause_ms * 2 < LONGEST_PAUSE_MS ? p->pause_ms * 2 : LONGEST_PAUSE_MS;
    return true;
}

/* Before something is measured that is to be stored. */
assay_status postgres_reach_patiently(pg_store *s, assay_error *err)
{
    patience p = patience_begin();
    for (;;) {
        err_clear(err);
        assay_status status = postgres_reach(s, err);
        if (status == ASSAY_OK || !s->is.lost || !postgres_is_down(s) || !patience_wait(&p))
            return status;
    }
}

/* ---- the statement ---- */

static const char insert_sql[] =
    "WITH d AS (INSERT INTO documents(run, digest, encoding, size, body)"
    " VALUES(:id, :sha, :encoding, :size, :body)),"
    " f AS (INSERT INTO figures(run, metric, value, whole, base, likeness, created)"
    " SELECT :id, m, v, w, :base, k, :created FROM unnest(:metrics::text[], :reals::float8[],"
    " :wholes::int8[], :likes::int8[]) AS x(m, v, w, k)),"
    " t AS (INSERT INTO tags(run, tag, created) SELECT DISTINCT :id, tag, :created"
    " FROM unnest(:tags::text[]) AS y(tag))"
    " INSERT INTO runs(id, model, created, command, host, precision, device, batch, shape, setup,"
    " kind, base, model_sha256, machine, tool_version, sweep, task, setup_key, shape_key)"
    " VALUES(:id, :model, :created, :command, :host, :precision, :device, :batch, :shape, :setup,"
    " :kind, :base, :digest, :machine, :tool, :sweep, :task, :setup_key, :shape_key)"
    " RETURNING CASE WHEN :more > 0 THEN nextval('run_numbers') END";

/* {"a","b"}, as an array is written. */
static void put_quoted(sbuf *b, str text)
{
    sbuf_putc(b, '"');
    for (uint32_t i = 0; i < text.n; i++) {
        if (text.p[i] == '"' || text.p[i] == '\\')
            sbuf_putc(b, '\\');
        sbuf_putc(b, text.p[i]);
    }
    sbuf_putc(b, '"');
}

typedef struct pg_arrays {
    sbuf metrics, reals, wholes, likes, tags;
} pg_arrays;

static void put_figure(pg_arrays *x, const store_figure *f, const char *comma)
{
    const bool whole = f->v.whole && f->v.n <= INT64_MAX;
    sbuf_printf(&x->metrics, "%s\"%s\"", comma, f->metric);
    sbuf_printf(&x->reals, "%s%.17g", comma, f->v.v);
    sbuf_printf(&x->likes, "%s%lld", comma, (long long)f->likeness);
    if (whole)
        sbuf_printf(&x->wholes, "%s%lld", comma, (long long)f->v.n);
    else
        sbuf_printf(&x->wholes, "%sNULL", comma);
}

static void put_arrays(pg_arrays *x, const store_row *r)
{
    sbuf *const all[] = {&x->metrics, &x->reals, &x->wholes, &x->likes, &x->tags};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        sbuf_putc(all[i], '{');
    for (uint32_t i = 0; i < r->n_figures; i++)
        put_figure(x, &r->figures[i], i ? "," : "");
    for (uint32_t i = 0; i < r->tags.n; i++) {
        sbuf_puts(&x->tags, i ? "," : "");
        put_quoted(&x->tags, r->tags.items[i]);
    }
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        sbuf_putc(all[i], '}');
}

static void set_array(store_query *q, const char *name, const sbuf *b)
{
    if (b->failed && q->status == ASSAY_OK)
        q->status = err_no_memory(q->err);
    store_set_text(q, name, (str){b->p, (uint32_t)b->n});
}

/* The types of a statement that is kept are those of its first values: what may be missing is typed, too. */
static void type_missing(store_query *q)
{
    static const char *const numbers[] = {"batch", "task"};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        store_set_missing_int(q, numbers[i]);
}

static assay_status insert_row(pg_store *s, const store_row *r, bool more, assay_error *err)
{
    pg_arrays x = {0};
    store_query q;
    store_ask(&q, &s->is, insert_sql, err);
    q.kept = "assay_insert";
    put_arrays(&x, r);
    type_missing(&q);
    store_set_run(&q, r);
    store_set_document(&q, r);
    store_set_int(&q, "id", r->id);
    store_set_int(&q, "more", more);
    set_array(&q, "metrics", &x.metrics);
    set_array(&q, "reals", &x.reals);
    set_array(&q, "wholes", &x.wholes);
    set_array(&q, "likes", &x.likes);
    set_array(&q, "tags", &x.tags);
    int64_t next = store_next(&q) ? store_column_int(&q, 0) : 0;
    assay_status status = store_run(&q);
    s->next_id = status == ASSAY_OK ? next : 0;
    sbuf_free(&x.metrics);
    sbuf_free(&x.reals);
    sbuf_free(&x.wholes);
    sbuf_free(&x.likes);
    sbuf_free(&x.tags);
    return status;
}

static assay_status take_number(pg_store *s, store_row *row, assay_error *err)
{
    row->id = row->id ? row->id : s->next_id;
    s->next_id = 0;
    return row->id ? ASSAY_OK
                   : store_ask_number(&s->is, "SELECT nextval('run_numbers')", &row->id, err);
}

assay_status postgres_insert(store *base, store_row *row, bool *known, assay_error *err)
{
    int64_t id = 0;
    if (row->sweep.n)
        TRY(store_task_record(base, row->sweep, row->task, &id, err));
    *known = id != 0;
    row->id = id;
    if (id)
        return ASSAY_OK;
    TRY(take_number(postgres_of(base), row, err));
    return insert_row(postgres_of(base), row, false, err);
}

/* ---- a save ---- */

/* Without the privilege to read, the number of the other record stays unknown. */
static assay_status find_other(pg_store *s, store_row *row, bool *known, assay_error *err)
{
    err_clear(err);
    *known = true;
    assay_status status = store_task_record(&s->is, row->sweep, row->task, &row->id, err);
    if (status == ASSAY_OK || strcmp(s->sqlstate, "42501") != 0)
        return status;
    err_clear(err);
    row->id = 0;
    return ASSAY_OK;
}

static assay_status try_add(pg_store *s, store_row *row, bool again, bool *known, assay_error *err)
{
    TRY(postgres_reach(s, err));
    TRY(store_may_write(&s->is, err));
    TRY(take_number(s, row, err));
    assay_status status = insert_row(s, row, s->saved, err);
    bool conflict = status != ASSAY_OK && strcmp(s->sqlstate, "23505") == 0;
    if (conflict && again && strcmp(s->constraint, "runs_pkey") == 0) {
        err_clear(err);
        return ASSAY_OK; /* the first attempt had done it */
    }
    if (conflict && strcmp(s->constraint, "runs_by_task") == 0)
        return find_other(s, row, known, err);
    return status;
}

assay_status postgres_add(store *base, store_row *row, bool *known, assay_error *err)
{
    pg_store *s = postgres_of(base);
    patience p = patience_begin();
    *known = false;
    for (bool again = false;; again = true) {
        err_clear(err);
        assay_status status = try_add(s, row, again, known, err);
        s->saved = s->saved || status == ASSAY_OK;
        if (status == ASSAY_OK || !s->is.lost || !patience_wait(&p))
            return status;
    }
}
