/* One metric over the records of all models and machines, with what a fleet is grouped by. */
#include "base/vec.h"
#include "store/store_impl.h"

enum {
    AT_ID,
    AT_CREATED,
    AT_MODEL,
    AT_MACHINE,
    AT_VERSION,
    AT_HOST,
    AT_DEVICE,
    AT_SETUP,
    AT_SETUP_KEY,
    AT_TAGS,
    AT_VALUE
};

static void put_points(sbuf *b, const store *s, const store_filter *f, const char *what)
{
    sbuf_printf(b, "SELECT %s FROM figures g JOIN runs r ON r.id = g.run", what);
    if (f->tag.n)
        sbuf_puts(b, " JOIN tags t ON t.run = r.id");
    store_put_where(b, s, f);
    sbuf_puts(b, " AND g.metric = :metric");
}

static void ask_points(store_query *q, store *s, sbuf *sql, const store_filter *f,
                       const metric_row *m, store_base_text room, assay_error *err)
{
    store_ask_text(q, s, sql, err);
    store_set_filter(q, f, room);
    store_set_text(q, "metric", str_of(m->name));
}

static void read_point(const store_query *q, arena *a, fleet_point *p)
{
    *p = (fleet_point){.id = store_column_int(q, AT_ID),
                       .created_s = store_column_int(q, AT_CREATED),
                       .model = store_column_str(q, AT_MODEL, a),
                       .machine = store_column_str(q, AT_MACHINE, a),
                       .version = store_column_str(q, AT_VERSION, a),
                       .host = store_column_str(q, AT_HOST, a),
                       .device = store_column_str(q, AT_DEVICE, a),
                       .setup = store_column_str(q, AT_SETUP, a),
                       .setup_key = store_column_int(q, AT_SETUP_KEY),
                       .tags = store_column_str(q, AT_TAGS, a),
                       .value = store_column_value(q, AT_VALUE).v};
}

static assay_status count_points(store *s, const store_filter *f, const metric_row *m, uint64_t *n,
                                 assay_error *err)
{
    sbuf sql = {0};
    store_base_text room;
    store_query q;
    put_points(&sql, s, f, "count(*)");
    ask_points(&q, s, &sql, f, m, room, err);
    *n = store_next(&q) ? (uint64_t)store_column_int(&q, 0) : 0;
    return store_done(&q);
}

static assay_status read_points(store *s, const store_filter *f, const metric_row *m, arena *a,
                                fleet_points *out, assay_error *err)
{
    VEC(fleet_point) points = {0};
    sbuf sql = {0}, what = {0};
    store_base_text room;
    store_query q;
    const store_dialect *d = &s->backend->dialect;
    sbuf_printf(&what,
                "r.id, r.created, r.model, r.machine, r.tool_version, r.host, r.device, r.setup, "
                "r.setup_key, %s, %s",
                d->tags, d->figure);
    put_points(&sql, s, f, sbuf_cstr(&what));
    sbuf_free(&what);
    sbuf_puts(&sql, " ORDER BY r.created DESC, r.id DESC LIMIT :limit");
    ask_points(&q, s, &sql, f, m, room, err);
    for (fleet_point *p; store_next(&q) && (p = VEC_PUSH(a, &points));)
        read_point(&q, a, p);
    out->items = points.items;
    out->n = points.n;
    return store_ended(&q, a);
}

static assay_status read_all(store *s, const store_filter *f, const metric_row *m, arena *a,
                             fleet_points *out, assay_error *err)
{
    uint64_t all = 0;
    TRY(read_points(s, f, m, a, out, err));
    if (f->limit && out->n == (uint64_t)f->limit)
        TRY(count_points(s, f, m, &all, err));
    out->older = all > out->n ? all - out->n : 0;
    return ASSAY_OK;
}

assay_status store_points(store *s, const store_filter *f, const metric_row *m, arena *a,
                          fleet_points *out, assay_error *err)
{
    *out = (fleet_points){0};
    TRY(store_read_begin(s, err));
    return store_read_end(s, read_all(s, f, m, a, out, err), err);
}
