/* Records: adding, tagging and deleting them, and their documents. */
#include <assert.h>

#include "base/memory.h"
#include "base/utf8.h"
#include "store/store_impl.h"

/* ---- inserting ---- */

static assay_status insert_run(store *s, store_row *r, assay_error *err)
{
    store_query q;
    store_ask(&q, s,
              "INSERT INTO runs(model, created, command, host, precision, device, batch, shape,"
              " setup, kind, base, model_sha256, machine, tool_version, sweep, task, setup_key,"
              " shape_key, stored) VALUES(:model, :created, :command, :host, :precision, :device,"
              " :batch, :shape, :setup, :kind, :base, :digest, :machine, :tool, :sweep, :task,"
              " :setup_key, :shape_key, :stored) RETURNING id",
              err);
    store_set_run(&q, r);
    store_set_int(&q, "stored", store_now(s));
    r->id = store_next(&q) ? store_column_int(&q, 0) : 0;
    return store_run(&q);
}

void store_set_run(store_query *q, const store_row *r)
{
    store_set_text(q, "model", r->model);
    store_set_int(q, "created", r->created_s);
    store_set_name(q, "command", r->command);
    store_set_name(q, "host", r->host);
    store_set_name(q, "precision", r->precision);
    store_set_name(q, "device", r->device);
    if (r->batch)
        store_set_int(q, "batch", r->batch);
    store_set_name(q, "shape", r->shape);
    store_set_name(q, "setup", r->setup);
    store_set_text(q, "kind", r->kind);
    store_set_text(q, "base", r->base);
    store_set_name(q, "digest", r->model_sha256);
    store_set_name(q, "machine", r->machine);
    store_set_name(q, "tool", r->tool_version);
    store_set_name(q, "sweep", r->sweep);
    if (r->sweep.n)
        store_set_int(q, "task", r->task);
    store_set_int(q, "setup_key", r->setup_key);
    store_set_int(q, "shape_key", r->shape_key);
}

void store_set_document(store_query *q, const store_row *r)
{
    store_set_text(q, "sha", str_of(r->digest));
    store_set_int(q, "encoding", r->encoding);
    store_set_int(q, "size", r->size);
    store_set_bytes(q, "body", r->body);
}

static assay_status insert_document(store *s, const store_row *r, assay_error *err)
{
    store_query q;
    store_ask(&q, s,
              "INSERT INTO documents(run, digest, encoding, size, body)"
              " VALUES(:id, :sha, :encoding, :size, :body)",
              err);
    store_set_int(&q, "id", r->id);
    store_set_document(&q, r);
    return store_run(&q);
}

assay_status store_insert_figures(store *s, const store_row *r, assay_error *err)
{
    store_query q;
    for (uint32_t i = 0; i < r->n_figures; i++) {
        const store_figure *f = &r->figures[i];
        store_ask(&q, s,
                  "INSERT INTO figures(run, metric, value, base, likeness, created)"
                  " VALUES(:id, :metric, :value, :base, :likeness, :created)",
                  err);
        store_set_int(&q, "id", r->id);
        store_set_text(&q, "metric", str_of(f->metric));
        if (f->v.whole && f->v.n <= INT64_MAX)
            store_set_int(&q, "value", (int64_t)f->v.n);
        else
            store_set_real(&q, "value", f->v.v);
        store_set_text(&q, "base", r->base);
        store_set_int(&q, "likeness", f->likeness);
        store_set_int(&q, "created", r->created_s);
        TRY(store_run(&q));
    }
    return ASSAY_OK;
}

static assay_status insert_tag(store *s, int64_t id, str tag, assay_error *err)
{
    store_query q;
    store_ask(&q, s,
              "INSERT INTO tags(run, tag, created) SELECT id, :tag, created FROM runs"
              " WHERE id = :id ON CONFLICT DO NOTHING",
              err);
    store_set_int(&q, "id", id);
    store_set_text(&q, "tag", tag);
    return store_run(&q);
}

assay_status store_insert_rows(store *s, store_row *r, assay_error *err)
{
    TRY(insert_run(s, r, err));
    TRY(insert_document(s, r, err));
    TRY(store_insert_figures(s, r, err));
    for (uint32_t i = 0; i < r->tags.n; i++)
        TRY(insert_tag(s, r->id, r->tags.items[i], err));
    return ASSAY_OK;
}

assay_status store_task_record(store *s, str sweep, int64_t task, int64_t *id, assay_error *err)
{
    store_query q;
    store_ask(&q, s, "SELECT id FROM runs WHERE sweep = :sweep AND task = :task", err);
    store_set_text(&q, "sweep", sweep);
    store_set_int(&q, "task", task);
    *id = store_next(&q) ? store_column_int(&q, 0) : 0;
    return store_done(&q);
}

/* ---- tags ---- */

assay_status store_check_tag(str tag, assay_error *err)
{
    bool good = tag.n >= 1 && tag.n <= STORE_TAG_BYTES;
    for (uint32_t i = 0; i < tag.n && good;) {
        uint32_t cp = 0;
        unsigned n = utf8_next(tag.p + i, tag.n - i, &cp);
        good = n && cp != ',' && utf8_columns(cp) != UTF8_HIDDEN;
        i += n;
    }
    return good ? ASSAY_OK
                : err_fail(err, ASSAY_ERR_USAGE,
                           "invalid tag '" STR_FMT
                           "': a tag is 1 to %d bytes of printable text without commas",
                           STR_ARG(tag), STORE_TAG_BYTES);
}

static assay_status too_many_tags(uint32_t n, assay_error *err)
{
    return err_fail(err, ASSAY_ERR_USAGE,
                    "a record can have at most %d tags; this one would have %u", STORE_TAGS, n);
}

static bool is_repeated(store_tags tags, uint32_t i)
{
    for (uint32_t k = 0; k < i; k++)
        if (str_eq(tags.items[k], tags.items[i]))
            return true;
    return false;
}

assay_status store_check_tags(store_tags tags, assay_error *err)
{
    uint32_t distinct = 0;
    for (uint32_t i = 0; i < tags.n; i++) {
        TRY(store_check_tag(tags.items[i], err));
        distinct += !is_repeated(tags, i);
    }
    return distinct > STORE_TAGS ? too_many_tags(distinct, err) : ASSAY_OK;
}

/* Called after all tags are inserted: if there are too many, the transaction is rolled back. */
static assay_status count_tags(store *s, int64_t id, assay_error *err)
{
    store_query q;
    store_ask(&q, s, "SELECT count(*) FROM tags WHERE run = :id", err);
    store_set_int(&q, "id", id);
    int64_t n = store_next(&q) ? store_column_int(&q, 0) : 0;
    TRY(store_done(&q));
    return n > STORE_TAGS ? too_many_tags((uint32_t)n, err) : ASSAY_OK;
}

/* ---- storing ---- */

/* The time of a result is that of the clock of its machine; the history has one of its own. */
static int64_t by_server(const store *s, const store_label *label, int64_t created)
{
    return label->created_s ? created : created + s->clock_ahead_s;
}

static assay_status add_squeezed(store *s, const profile *p, str document, const store_label *label,
                                 store_added *out, assay_error *err)
{
    store_row row = {0};
    arena *a = arena_new(STORE_DOCUMENT_BYTES + STORE_ROW_BYTES);
    assay_status status = a ? store_row_of(p, document, label, a, &row, err) : err_no_memory(err);
    row.created_s = by_server(s, label, row.created_s);
    if (status == ASSAY_OK)
        status = store_may_write(s, err);
    if (status == ASSAY_OK)
        status = s->backend->add(s, &row, &out->known, err);
    out->id = row.id;
    arena_free(a);
    return status;
}

assay_status store_add(store *s, const profile *p, str document, const store_label *label,
                       store_added *out, assay_error *err)
{
    assert(p && document.p && label && (label->tags.items || !label->tags.n));
    sbuf squeezed = {0};
    *out = (store_added){0};
    s->lost = false;
    TRY(store_check_label(label, err));
    TRY(store_check_names(p, err));
    store_squeeze(document, &squeezed);
    assay_status status = squeezed.failed
                              ? err_no_memory(err)
                              : add_squeezed(s, p, (str){squeezed.p, (uint32_t)squeezed.n}, label,
                                             out, err);
    sbuf_free(&squeezed);
    return status;
}

/* ---- one record ---- */

static assay_status no_such_record(store *s, int64_t id, assay_error *err)
{
    return err_fail(err, ASSAY_ERR_USAGE, "%s: no record %lld in the history", s->shown,
                    (long long)id);
}

assay_status store_document(store *s, int64_t id, arena *a, str *out, assay_error *err)
{
    store_query q;
    store_ask(&q, s, "SELECT encoding, size, body FROM documents WHERE run = :id", err);
    store_set_int(&q, "id", id);
    bool there = store_next(&q);
    if (there) {
        store_value body = s->backend->column(&q, 2);
        q.status = memory_lacked() ? err_no_memory(err)
                                   : store_unpack(s, body.text, store_column_int(&q, 0),
                                                  store_column_int(&q, 1), a, out, err);
    }
    TRY(store_done(&q));
    return there ? ASSAY_OK : no_such_record(s, id, err);
}

assay_status store_packed(store *s, int64_t id, bool with_body, store_packing *out,
                          assay_error *err)
{
    store_query q;
    *out = (store_packing){0};
    store_ask(&q, s,
              with_body ? "SELECT encoding, size, length(body), body FROM documents WHERE run = :id"
                        : "SELECT encoding, size, length(body) FROM documents WHERE run = :id",
              err);
    store_set_int(&q, "id", id);
    bool there = store_next(&q);
    if (there)
        *out = (store_packing){.encoding = store_column_int(&q, 0),
                               .size = store_column_int(&q, 1),
                               .n = (uint64_t)store_column_int(&q, 2)};
    if (there && with_body) {
        str body = s->backend->column(&q, 3).text;
        q.status = body.n == out->n  ? store_keep_packed(out, body.p, err)
                   : memory_lacked() ? err_no_memory(err)
                                     : store_damaged(s, err);
    }
    TRY(store_done(&q));
    return there ? ASSAY_OK : no_such_record(s, id, err);
}

assay_status store_delete(store *s, int64_t id, assay_error *err)
{
    store_query q;
    TRY(store_may_write(s, err));
    store_ask(&q, s, "DELETE FROM runs WHERE id = :id", err);
    store_set_int(&q, "id", id);
    TRY(store_run(&q));
    return q.changes ? ASSAY_OK : no_such_record(s, id, err);
}

static assay_status check_record(store *s, int64_t id, assay_error *err)
{
    store_query q;
    store_ask(&q, s, "SELECT 1 FROM runs WHERE id = :id", err);
    store_set_int(&q, "id", id);
    bool there = store_next(&q);
    TRY(store_done(&q));
    return there ? ASSAY_OK : no_such_record(s, id, err);
}

static assay_status remove_tag(store *s, int64_t id, str tag, assay_error *err)
{
    store_query q;
    store_ask(&q, s, "DELETE FROM tags WHERE run = :id AND tag = :tag", err);
    store_set_int(&q, "id", id);
    store_set_text(&q, "tag", tag);
    return store_run(&q);
}

static assay_status change_tags(store *s, int64_t id, store_tags add, store_tags remove,
                                assay_error *err)
{
    TRY(check_record(s, id, err));
    for (uint32_t i = 0; i < remove.n; i++)
        TRY(remove_tag(s, id, remove.items[i], err));
    for (uint32_t i = 0; i < add.n; i++)
        TRY(insert_tag(s, id, add.items[i], err));
    return add.n ? count_tags(s, id, err) : ASSAY_OK;
}

assay_status store_tag(store *s, int64_t id, store_tags add, store_tags remove, assay_error *err)
{
    TRY(store_check_tags(add, err));
    TRY(store_begin(s, err));
    return store_end(s, change_tags(s, id, add, remove, err), err);
}
