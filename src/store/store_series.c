/* A metric over time: the records of a model that can be compared with its newest.
 *
 * The rows of `figures` hold what a trend asks for (base name of the model, metric, likeness of the setup, time), in an
 * index of that order, so that a trend reads as many rows as it has points. How many records are left out is counted up
 * to COUNT_MOST.
 */
#include <assert.h>

#include "base/vec.h"
#include "store/store_impl.h"

enum { COUNT_MOST = 10000 };

typedef struct series {
    store *s;
    const store_filter *f;
    const metric_row *metric;
    bool all;
    int64_t likeness; /* of the newest record */
    history_trend *out;
    arena *arena;
    assay_error *err;
    store_base_text room;
} series;

/* Whether the rows of `figures` alone do not say which records are requested. */
static bool needs_runs(const store_filter *f)
{
    return f->query.n || f->sweep.n || f->machine.n || store_has_folder(f->model);
}

static void put_figures(series *x, sbuf *b, bool same)
{
    const store_filter *f = x->f;
    sbuf_puts(b, " FROM figures g");
    if (needs_runs(f))
        sbuf_puts(b, " JOIN runs r ON r.id = g.run");
    if (f->tag.n)
        sbuf_puts(b, " JOIN tags t ON t.run = g.run");
    if (needs_runs(f))
        store_put_where(b, x->s, f);
    else
        sbuf_puts(b, f->tag.n ? " WHERE t.tag = :tag" : " WHERE 1 = 1");
    sbuf_puts(b, " AND g.metric = :metric");
    sbuf_puts(b, f->model.n ? " AND g.base = :base" : "");
    sbuf_puts(b, f->since_s ? " AND g.created >= :since" : "");
    sbuf_puts(b, f->id ? " AND g.run = :id" : "");
    sbuf_puts(b, same ? " AND g.likeness = :likeness" : "");
}

static void ask_series(series *x, store_query *q, sbuf *sql)
{
    store_ask_text(q, x->s, sql, x->err);
    store_set_filter(q, x->f, x->room);
    store_set_text(q, "metric", str_of(x->metric->name));
    store_set_int(q, "likeness", x->likeness);
}

/* The newest record that contains the metric says what the others are compared with. */
static assay_status find_setup(series *x)
{
    const char *what = x->metric->measured ? "setup" : "shape";
    sbuf sql = {0};
    store_query q;
    sbuf_printf(&sql, "SELECT r.%s, r.model, r.%s_key FROM runs r", what, what);
    if (x->f->tag.n)
        sbuf_puts(&sql, " JOIN tags t ON t.run = r.id");
    store_put_where(&sql, x->s, x->f);
    sbuf_puts(&sql,
              " AND EXISTS (SELECT 1 FROM figures g WHERE g.run = r.id AND g.metric = :metric)"
              " ORDER BY r.created DESC, r.id DESC LIMIT 1");
    ask_series(x, &q, &sql);
    if (store_next(&q)) {
        x->out->setup = store_column_str(&q, 0, x->arena);
        x->out->model = store_column_str(&q, 1, x->arena);
        x->likeness = store_column_int(&q, 2);
    }
    return store_ended(&q, x->arena);
}

static assay_status count_series(series *x, bool same, uint64_t *n)
{
    sbuf sql = {0};
    store_query q;
    sbuf_puts(&sql, "SELECT count(*) FROM (SELECT 1");
    put_figures(x, &sql, same);
    sbuf_printf(&sql, " LIMIT %d) n", COUNT_MOST);
    ask_series(x, &q, &sql);
    *n = store_next(&q) ? (uint64_t)store_column_int(&q, 0) : 0;
    return store_done(&q);
}

static void reverse(history_point *p, uint32_t n)
{
    assert(p || !n);
    for (uint32_t i = 0; i < n / 2; i++) {
        history_point t = p[i];
        p[i] = p[n - 1 - i];
        p[n - 1 - i] = t;
    }
}

static assay_status read_points(series *x)
{
    VEC(history_point) points = {0};
    sbuf sql = {0};
    store_query q;
    sbuf_printf(&sql, "SELECT g.run, g.created, %s", x->s->backend->dialect.figure);
    put_figures(x, &sql, !x->all);
    sbuf_puts(&sql, " ORDER BY g.created DESC, g.run DESC LIMIT :limit");
    ask_series(x, &q, &sql);
    for (history_point *p; store_next(&q) && (p = VEC_PUSH(x->arena, &points));)
        *p = (history_point){.id = store_column_int(&q, 0),
                             .created_s = store_column_int(&q, 1),
                             .v = store_column_value(&q, 2)};
    reverse(points.items, points.n);
    x->out->points = points.items;
    x->out->n = points.n;
    return store_ended(&q, x->arena);
}

static assay_status read_series(series *x)
{
    history_trend *out = x->out;
    uint64_t every, same;
    bool all = x->all;
    TRY(find_setup(x));
    TRY(count_series(x, false, &every));
    TRY(count_series(x, true, &same));
    TRY(read_points(x));
    assert(every >= same);
    out->at_least = every == COUNT_MOST;
    out->left_out = all ? 0 : every - same;
    out->older = (all ? every : same) > out->n ? (all ? every : same) - out->n : 0;
    if (all && every > same)
        out->setup = STR("different setups");
    return ASSAY_OK;
}

assay_status store_series(store *s, const store_filter *f, const metric_row *m, bool all, arena *a,
                          history_trend *out, assay_error *err)
{
    series x = {.s = s, .f = f, .metric = m, .all = all, .out = out, .arena = a, .err = err};
    *out = trend_of(m);
    out->model = f->model;
    out->setup = (str){"", 0};
    TRY(store_read_begin(s, err));
    return store_read_end(s, read_series(&x), err);
}
