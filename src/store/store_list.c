/* Queries of the history: lists of records and models, and a metric over time. */
#include <assert.h>
#include <stdio.h>

#include "base/vec.h"
#include "store/store_impl.h"

#define COLUMNS                                                                                    \
    "r.id, r.created, r.model, r.command, r.host, r.precision, r.device, r.batch,"                 \
    " (SELECT group_concat(tag, ',') FROM (SELECT tag FROM tags WHERE run = r.id ORDER BY tag)), " \
    "r.kind"
enum { AT_TAGS = 8, AT_KIND, AT_FIGURES };

/* ---- what is requested ---- */

static void put_where(sbuf *b, const store_filter *f)
{
    sbuf_puts(b, " WHERE 1");
    if (f->id)
        sbuf_puts(b, " AND r.id = :id");
    /* The name as it was given, or the file's own name after its directories. */
    if (f->model.n)
        sbuf_puts(b, " AND (r.model = :model OR (substr(r.model, -length(:model) - 1, 1) = '/'"
                     " AND substr(r.model, -length(:model)) = :model))");
    if (f->tag.n)
        sbuf_puts(b, " AND r.id IN (SELECT run FROM tags WHERE tag = :tag)");
    if (f->since_s)
        sbuf_puts(b, " AND r.created >= :since");
    if (f->query.n)
        sbuf_puts(b, " AND (instr(lower(r.model), lower(:q)) OR"
                     " instr(lower(coalesce(r.command, '')), lower(:q)) OR"
                     " instr(lower(coalesce(r.host, '')), lower(:q)) OR"
                     " r.id IN (SELECT run FROM tags WHERE instr(lower(tag), lower(:q))))");
}

static void bind_named(store *s, sqlite3_stmt *q, const char *name, str text)
{
    int at = sqlite3_bind_parameter_index(q, name);
    if (at)
        store_bind_text(s, q, at, text);
}

static void bind_number(store *s, sqlite3_stmt *q, const char *name, int64_t v)
{
    int at = sqlite3_bind_parameter_index(q, name);
    if (at)
        store_bind_int(s, q, at, v);
}

static void bind_filter(store *s, sqlite3_stmt *q, const store_filter *f)
{
    bind_named(s, q, ":model", f->model);
    bind_named(s, q, ":tag", f->tag);
    bind_named(s, q, ":q", f->query);
    bind_number(s, q, ":since", f->since_s);
    bind_number(s, q, ":id", f->id);
    bind_number(s, q, ":limit", f->limit ? f->limit : -1);
    bind_number(s, q, ":offset", f->offset);
}

/* Prepares `sql` and binds the filter; frees the text. */
static assay_status prepare_query(store *s, sbuf *sql, const store_filter *f, sqlite3_stmt **q,
                                  assay_error *err)
{
    const char *text = sbuf_cstr(sql);
    *q = NULL;
    assay_status status = sql->failed ? err_no_memory(err) : store_prepare(s, text, q, err);
    sbuf_free(sql);
    if (status == ASSAY_OK)
        bind_filter(s, *q, f);
    return status;
}

/* After the last row: how it ended. */
static assay_status ended(store *s, sqlite3_stmt *q, int code, arena *a, assay_error *err)
{
    assay_status status = code == SQLITE_DONE ? ASSAY_OK : store_fail(s, code, err);
    sqlite3_finalize(q);
    return status == ASSAY_OK && arena_failed(a) ? err_no_memory(err) : status;
}

/* ---- records ---- */

static void read_tags(str all, arena *a, history_record *r)
{
    VEC(str) tags = {0};
    for (str tag; all.n && str_split(&all, ',', &tag);) {
        (void)VEC_ADD(a, &tags, str_copy(a, tag));
    }
    r->tags = tags.items;
    r->n_tags = tags.n;
}

static void read_record(sqlite3_stmt *q, arena *a, history_record *r)
{
    r->id = sqlite3_column_int64(q, 0);
    r->created_s = sqlite3_column_int64(q, 1);
    r->model = store_column_str(q, 2, a);
    r->command = store_column_str(q, 3, a);
    r->host = store_column_str(q, 4, a);
    r->precision = store_column_str(q, 5, a);
    r->device = store_column_str(q, 6, a);
    r->batch = (uint64_t)sqlite3_column_int64(q, 7);
    read_tags(store_column_str(q, AT_TAGS, a), a, r);
    r->kind = store_column_str(q, AT_KIND, a);
    for (int i = 0; i < HISTORY_FIGURES; i++)
        r->figures[i] = store_column_value(q, AT_FIGURES + i);
}

static void put_select(sbuf *b, const char *extra)
{
    sbuf_puts(b, "SELECT " COLUMNS);
    for (int i = 0; i < HISTORY_FIGURES; i++)
        sbuf_printf(b, ", (SELECT value FROM figures WHERE run = r.id AND metric = '%s')",
                    history_metrics[i]);
    sbuf_puts(b, extra);
    sbuf_puts(b, " FROM runs r");
}

static assay_status count_records(store *s, const store_filter *f, uint64_t *total,
                                  assay_error *err)
{
    sbuf sql = {0};
    sqlite3_stmt *q;
    sbuf_puts(&sql, "SELECT count(*) FROM runs r");
    put_where(&sql, f);
    TRY(prepare_query(s, &sql, f, &q, err));
    int code = store_step(s, q);
    *total = (uint64_t)sqlite3_column_int64(q, 0);
    assay_status status = code == SQLITE_ROW ? ASSAY_OK : store_fail(s, code, err);
    sqlite3_finalize(q);
    return status;
}

static assay_status read_list(store *s, const store_filter *f, arena *a, history_list *out,
                              assay_error *err)
{
    VEC(history_record) records = {0};
    sbuf sql = {0};
    sqlite3_stmt *q;
    int code;
    TRY(count_records(s, f, &out->total, err));
    put_select(&sql, "");
    put_where(&sql, f);
    sbuf_puts(&sql, " ORDER BY r.created DESC, r.id DESC LIMIT :limit OFFSET :offset");
    TRY(prepare_query(s, &sql, f, &q, err));
    while ((code = store_step(s, q)) == SQLITE_ROW) {
        history_record *r = VEC_PUSH(a, &records);
        if (!r)
            break;
        read_record(q, a, r);
    }
    out->records = records.items;
    out->n = records.n;
    return ended(s, q, code == SQLITE_ROW ? SQLITE_NOMEM : code, a, err);
}

assay_status store_list(store *s, const store_filter *f, arena *a, history_list *out,
                        assay_error *err)
{
    TRY(store_read_begin(s, err));
    return store_read_end(s, read_list(s, f, a, out, err), err);
}

assay_status store_models(store *s, arena *a, history_models *out, assay_error *err)
{
    VEC(history_model) models = {0};
    const store_filter none = {0};
    sbuf sql = {0};
    sqlite3_stmt *q;
    int code;
    put_select(&sql, ", (SELECT count(*) FROM runs x WHERE x.model = r.model)");
    sbuf_puts(&sql, " WHERE r.id = (SELECT id FROM runs n WHERE n.model = r.model"
                    " ORDER BY n.created DESC, n.id DESC LIMIT 1) ORDER BY r.model");
    TRY(prepare_query(s, &sql, &none, &q, err));
    while ((code = store_step(s, q)) == SQLITE_ROW) {
        history_model *m = VEC_PUSH(a, &models);
        if (!m)
            break;
        read_record(q, a, &m->newest);
        m->model = m->newest.model;
        m->records = (uint64_t)sqlite3_column_int64(q, AT_FIGURES + HISTORY_FIGURES);
    }
    out->models = models.items;
    out->n = models.n;
    return ended(s, q, code == SQLITE_ROW ? SQLITE_NOMEM : code, a, err);
}

/* ---- a figure over time ---- */

/* The column by which records that must not be compared differ. */
static const char *key_of(const metric_row *m)
{
    return m->measured ? "coalesce(r.setup, '')" : "coalesce(r.shape, '')";
}

typedef struct series {
    store *s;
    const store_filter *f;
    const metric_row *metric;
    bool all;
    history_trend *out;
    arena *arena;
    assay_error *err;
} series;

/* SELECT `what` of the records that contain the metric; `tail` follows the conditions. */
static assay_status ask_series(series *x, const char *what, bool same, const char *tail,
                               sqlite3_stmt **q)
{
    sbuf sql = {0};
    sbuf_printf(&sql, "SELECT %s FROM runs r JOIN figures g ON g.run = r.id AND g.metric = :metric",
                what);
    put_where(&sql, x->f);
    if (same)
        sbuf_printf(&sql, " AND %s = :setup", key_of(x->metric));
    sbuf_puts(&sql, tail);
    TRY(prepare_query(x->s, &sql, x->f, q, x->err));
    bind_named(x->s, *q, ":metric", str_of(x->metric->name));
    bind_named(x->s, *q, ":setup", x->out->setup);
    return ASSAY_OK;
}

static assay_status find_setup(series *x)
{
    sqlite3_stmt *q;
    char what[96];
    snprintf(what, sizeof what, "%s, r.model", key_of(x->metric));
    TRY(ask_series(x, what, false, " ORDER BY r.created DESC, r.id DESC LIMIT 1", &q));
    int code = store_step(x->s, q);
    if (code == SQLITE_ROW) {
        x->out->setup = store_column_str(q, 0, x->arena);
        x->out->model = store_column_str(q, 1, x->arena);
        code = SQLITE_DONE;
    }
    return ended(x->s, q, code, x->arena, x->err);
}

static assay_status count_series(series *x, bool same, uint64_t *n)
{
    sqlite3_stmt *q;
    TRY(ask_series(x, "count(*)", same, "", &q));
    int code = store_step(x->s, q);
    *n = (uint64_t)sqlite3_column_int64(q, 0);
    assay_status status = code == SQLITE_ROW ? ASSAY_OK : store_fail(x->s, code, x->err);
    sqlite3_finalize(q);
    return status;
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
    sqlite3_stmt *q;
    int code;
    TRY(ask_series(x, "r.id, r.created, g.value", !x->all,
                   " ORDER BY r.created DESC, r.id DESC LIMIT :limit", &q));
    while ((code = store_step(x->s, q)) == SQLITE_ROW) {
        history_point *p = VEC_PUSH(x->arena, &points);
        if (!p)
            break;
        *p = (history_point){.id = sqlite3_column_int64(q, 0),
                             .created_s = sqlite3_column_int64(q, 1),
                             .v = store_column_value(q, 2)};
    }
    reverse(points.items, points.n);
    x->out->points = points.items;
    x->out->n = points.n;
    return ended(x->s, q, code == SQLITE_ROW ? SQLITE_NOMEM : code, x->arena, x->err);
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
    out->left_out = all ? 0 : every - same;
    out->older = (all ? every : same) > out->n ? (all ? every : same) - out->n : 0;
    if (all && every > same)
        out->setup = STR("different setups");
    return ASSAY_OK;
}

assay_status store_series(store *s, const store_filter *f, const metric_row *m, bool all, arena *a,
                          history_trend *out, assay_error *err)
{
    series x = {s, f, m, all, out, a, err};
    *out = trend_of(m);
    out->model = f->model;
    out->setup = (str){"", 0};
    TRY(store_read_begin(s, err));
    return store_read_end(s, read_series(&x), err);
}
