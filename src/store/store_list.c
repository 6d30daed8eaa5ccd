/* Queries of the history: lists of records and models. */

#include "base/vec.h"
#include "store/store_impl.h"

enum {
    AT_ID,
    AT_CREATED,
    AT_MODEL,
    AT_COMMAND,
    AT_HOST,
    AT_PRECISION,
    AT_DEVICE,
    AT_BATCH,
    AT_KIND,
    AT_SHA256,
    AT_MACHINE,
    AT_TOOL,
    AT_SWEEP,
    AT_TASK,
    AT_TAGS,
    AT_FIGURES
};
#define COLUMNS                                                                     \
    "r.id, r.created, r.model, r.command, r.host, r.precision, r.device, r.batch, " \
    "r.kind, r.model_sha256, r.machine, r.tool_version, r.sweep, r.task, "

/* ---- what is requested ---- */

/* The name as it was given, or the file's own name after its directories. */
#define IS_MODEL(column)                                        \
    "(" column " = :model OR substr(" column ", length(" column \
    ") - length(:model)) = '/' || :model)"

static void put_query(sbuf *b, const store_dialect *d)
{
    static const char *const columns[] = {"r.model", "coalesce(r.command, '')",
                                          "coalesce(r.host, '')"};
    sbuf_puts(b, " AND (");
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) {
        sbuf_printf(b, d->contains, columns[i]);
        sbuf_puts(b, " OR ");
    }
    sbuf_puts(b, "r.id IN (SELECT run FROM tags WHERE ");
    sbuf_printf(b, d->contains, "tag");
    sbuf_puts(b, "))");
}

void store_put_where(sbuf *b, const store *s, const store_filter *f)
{
    sbuf_puts(b, " WHERE 1 = 1");
    if (f->id)
        sbuf_puts(b, " AND r.id = :id");
    if (f->by_id)
        sbuf_puts(b, " AND r.id > :after");
    if (f->model.n)
        sbuf_puts(b, " AND r.base = :base");
    if (f->model.n && store_has_folder(f->model))
        sbuf_puts(b, " AND " IS_MODEL("r.model"));
    if (f->tag.n)
        sbuf_puts(b, " AND t.tag = :tag");
    if (f->sweep.n)
        sbuf_puts(b, " AND r.sweep = :sweep");
    if (f->task)
        sbuf_puts(b, " AND r.task = :task");
    if (f->machine.n)
        sbuf_puts(b, " AND r.machine = :machine");
    if (f->since_s)
        sbuf_puts(b, " AND r.created >= :since");
    if (f->query.n)
        put_query(b, &s->backend->dialect);
}

void store_set_filter(store_query *q, const store_filter *f, store_base_text room)
{
    store_set_text(q, "model", f->model);
    store_set_text(q, "base", store_base(f->model, room));
    store_set_text(q, "tag", f->tag);
    store_set_text(q, "sweep", f->sweep);
    store_set_text(q, "machine", f->machine);
    store_set_text(q, "q", f->query);
    store_set_int(q, "task", f->task - 1);
    store_set_int(q, "since", f->since_s);
    store_set_int(q, "id", f->id);
    store_set_int(q, "after", f->after_id);
    store_set_int(q, "limit", f->limit ? f->limit : INT64_MAX);
    store_set_int(q, "offset", f->offset);
}

/* " FROM runs r", beginning with the tag if one is requested: it has an index by time. */
static void put_from(sbuf *b, const store_filter *f)
{
    sbuf_puts(b, f->tag.n ? " FROM tags t JOIN runs r ON r.id = t.run" : " FROM runs r");
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

static void read_record(const store_query *q, arena *a, history_record *r)
{
    r->id = store_column_int(q, AT_ID);
    r->created_s = store_column_int(q, AT_CREATED);
    r->model = store_column_str(q, AT_MODEL, a);
    r->command = store_column_str(q, AT_COMMAND, a);
    r->host = store_column_str(q, AT_HOST, a);
    r->precision = store_column_str(q, AT_PRECISION, a);
    r->device = store_column_str(q, AT_DEVICE, a);
    r->batch = (uint64_t)store_column_int(q, AT_BATCH);
    r->kind = store_column_str(q, AT_KIND, a);
    r->model_sha256 = store_column_str(q, AT_SHA256, a);
    r->machine = store_column_str(q, AT_MACHINE, a);
    r->tool_version = store_column_str(q, AT_TOOL, a);
    r->sweep = store_column_str(q, AT_SWEEP, a);
    r->task = r->sweep.n ? store_column_int(q, AT_TASK) : INT64_MIN;
    read_tags(store_column_str(q, AT_TAGS, a), a, r);
    for (int i = 0; i < HISTORY_FIGURES; i++)
        r->figures[i] = store_column_value(q, AT_FIGURES + i);
}

static void put_select(sbuf *b, const store *s)
{
    const store_dialect *d = &s->backend->dialect;
    sbuf_printf(b, "SELECT " COLUMNS "%s", d->tags);
    for (int i = 0; i < HISTORY_FIGURES; i++)
        sbuf_printf(b, ", (SELECT %s FROM figures WHERE run = r.id AND metric = '%s')", d->figure,
                    history_metrics[i]);
}

/* Where nothing else is asked for, the counts are there. */
static void put_count(sbuf *b, const store *s, const store_filter *f)
{
    const bool others = f->id || f->sweep.n || f->machine.n || f->since_s || f->query.n;
    if (others || (f->tag.n && f->model.n)) {
        sbuf_puts(b, "SELECT count(*)");
        put_from(b, f);
        store_put_where(b, s, f);
        return;
    }
    sbuf_puts(b, "SELECT CAST(coalesce(sum(records), 0) AS bigint) FROM tallies WHERE what = ");
    sbuf_puts(b, f->tag.n     ? "'tag' AND name = :tag"
                 : f->model.n ? "'model' AND " IS_MODEL("name")
                              : "'model'");
}

static assay_status count_records(store *s, const store_filter *f, uint64_t *total,
                                  assay_error *err)
{
    sbuf sql = {0};
    store_base_text room;
    store_query q;
    put_count(&sql, s, f);
    store_ask_text(&q, s, &sql, err);
    store_set_filter(&q, f, room);
    *total = store_next(&q) ? (uint64_t)store_column_int(&q, 0) : 0;
    return store_done(&q);
}

/* After the last row. */
assay_status store_ended(store_query *q, arena *a)
{
    assay_error *err = q->err;
    if (q->status == ASSAY_OK && arena_failed(a))
        q->status = err_no_memory(err);
    return store_done(q);
}

assay_status store_list_only(store *s, const store_filter *f, arena *a, history_list *out,
                             assay_error *err)
{
    VEC(history_record) records = {0};
    sbuf sql = {0};
    store_base_text room;
    store_query q;
    put_select(&sql, s);
    put_from(&sql, f);
    store_put_where(&sql, s, f);
    sbuf_printf(&sql, " ORDER BY %s LIMIT :limit OFFSET :offset",
                f->by_id   ? "r.id"
                : f->tag.n ? "t.created DESC, t.run DESC"
                           : "r.created DESC, r.id DESC");
    store_ask_text(&q, s, &sql, err);
    store_set_filter(&q, f, room);
    for (history_record *r; store_next(&q) && (r = VEC_PUSH(a, &records));)
        read_record(&q, a, r);
    out->records = records.items;
    out->n = records.n;
    return store_ended(&q, a);
}

static assay_status read_list(store *s, const store_filter *f, arena *a, history_list *out,
                              assay_error *err)
{
    TRY(count_records(s, f, &out->total, err));
    return store_list_only(s, f, a, out, err);
}

assay_status store_list(store *s, const store_filter *f, arena *a, history_list *out,
                        assay_error *err)
{
    TRY(store_read_begin(s, err));
    return store_read_end(s, read_list(s, f, a, out, err), err);
}

/* coalesce() hides from PostgreSQL's planner that a model has one base name: it would expect few records, and sort them
 * instead of following the index. */
assay_status store_models(store *s, arena *a, history_models *out, assay_error *err)
{
    VEC(history_model) models = {0};
    sbuf sql = {0};
    store_query q;
    put_select(&sql, s);
    sbuf_puts(
        &sql,
        ", n.records FROM (SELECT CAST(sum(m.records) AS bigint) AS records, m.name,"
        " (SELECT x.id FROM runs x WHERE x.base = m.base AND coalesce(x.model = m.name, false)"
        " ORDER BY x.created DESC, x.id DESC LIMIT 1) AS newest FROM tallies m"
        " WHERE m.what = 'model' GROUP BY m.name, m.base HAVING sum(m.records) > 0) n"
        " JOIN runs r ON r.id = n.newest ORDER BY n.name");
    store_ask_text(&q, s, &sql, err);
    for (history_model *m; store_next(&q) && (m = VEC_PUSH(a, &models));) {
        read_record(&q, a, &m->newest);
        m->model = m->newest.model;
        m->records = (uint64_t)store_column_int(&q, AT_FIGURES + HISTORY_FIGURES);
    }
    out->models = models.items;
    out->n = models.n;
    return store_ended(&q, a);
}
