/* Records: adding, tagging and deleting them, and their documents. */
#include <assert.h>

#include "base/clock.h"
#include "base/redact.h"
#include "base/utf8.h"
#include "store/store_impl.h"

/* ---- columns for search and comparison ---- */

static void put_host(sbuf *b, const profile_context *c)
{
    size_t from = b->n;
    if (c->cpu.n || c->machine.n)
        sbuf_str(b, c->cpu.n ? c->cpu : c->machine);
    if (c->cores && b->n > from)
        sbuf_printf(b, ", %llu core%s", (unsigned long long)c->cores, c->cores == 1 ? "" : "s");
}

/* Records with the same shapes, types and counting convention have comparable counts. */
static void put_shape(sbuf *b, const profile *p)
{
    for (uint32_t i = 0; i < p->n_inputs; i++) {
        const profile_tensor *t = &p->inputs[i];
        sbuf_puts(b, i ? " " : "");
        sbuf_str(b, t->name);
        for (int d = 0; d < t->shape.rank; d++)
            sbuf_printf(b, "%s%lld", d ? "×" : " ", (long long)t->shape.dims[d]);
    }
    if (p->precision.n)
        sbuf_printf(b, " as " STR_FMT, STR_ARG(p->precision));
    if (p->lens.n && !str_is(p->lens, "assay"))
        sbuf_printf(b, " by " STR_FMT, STR_ARG(p->lens));
}

/* Records with the same setup have comparable times. */
static void put_setup(sbuf *b, const profile *p, const profile_config *c)
{
    const profile_measured *m = p->measured;
    if (m || p->watch)
        put_host(b, &p->context);
    if (!m)
        return;
    if (m->engine.device.n)
        sbuf_printf(b, " · " STR_FMT, STR_ARG(m->engine.device));
    if (c && c->batch)
        sbuf_printf(b, " · batch %llu · " STR_FMT, (unsigned long long)c->batch,
                    STR_ARG(c->precision));
    if (m->engine.threads)
        sbuf_printf(b, " · threads %d", m->engine.threads);
    if (m->concurrency > 1)
        sbuf_printf(b, " · concurrency %llu", (unsigned long long)m->concurrency);
    if (m->rate > 0)
        sbuf_printf(b, " · rate %g/s", m->rate);
    if (m->interleaved)
        sbuf_puts(b, " · interleaved");
    sbuf_puts(b, " · ");
    put_shape(b, p);
}

static uint64_t batch_of(const profile *p, const profile_config *c)
{
    const profile_shape *s = p->n_inputs ? &p->inputs[0].shape : NULL;
    if (c)
        return c->batch;
    return s && s->rank > 0 && s->dims[0] > 0 ? (uint64_t)s->dims[0] : 0;
}

static void bind_buffer(store *s, sqlite3_stmt *q, int at, sbuf *b)
{
    store_bind_str(s, q, at, (str){b->p, (uint32_t)b->n});
    sbuf_free(b);
}

/* As the document is: what is searched and listed has no secrets either. */
static void bind_redacted(store *s, sqlite3_stmt *q, int at, str text)
{
    sbuf b = {0};
    redact_put(&b, text);
    s->bind_code = b.failed ? SQLITE_NOMEM : s->bind_code;
    bind_buffer(s, q, at, &b);
}

static int64_t created_of(const profile *p)
{
    int64_t t;
    return clock_parse(p->context.timestamp, &t) ? t : clock_epoch();
}

str store_kind(const profile *p)
{
    return str_of(p->kind ? p->kind : p->watch ? "watch" : "profile");
}

/* ---- limits ---- */

typedef struct name_row {
    const char *what;
    str text;
    uint32_t most;
} name_row;

static assay_status check_name(const name_row *r, assay_error *err)
{
    if (r->text.n > r->most)
        return err_fail(err, ASSAY_ERR_UNSUPPORTED, "%s has %u bytes; a record can have at most %u",
                        r->what, r->text.n, r->most);
    if (r->text.n && memchr(r->text.p, '\0', r->text.n))
        return err_fail(err, ASSAY_ERR_MALFORMED, "%s contains a NUL", r->what);
    return ASSAY_OK;
}

static assay_status check_inputs(const profile *p, assay_error *err)
{
    uint64_t total = 0;
    for (uint32_t i = 0; i < p->n_inputs; i++) {
        TRY(check_name(&(name_row){"an input's name", p->inputs[i].name, STORE_NAME_BYTES}, err));
        total += p->inputs[i].name.n;
    }
    if (total > STORE_TEXT_BYTES)
        return err_fail(err, ASSAY_ERR_UNSUPPORTED,
                        "the names of the inputs have %llu bytes; a record can have at most %d",
                        (unsigned long long)total, STORE_TEXT_BYTES);
    return ASSAY_OK;
}

assay_status store_check_names(const profile *p, assay_error *err)
{
    const profile_config *c = profile_smallest(p);
    const name_row rows[] = {
        {"the model's name", p->model, STORE_NAME_BYTES},
        {"the command", p->context.command, STORE_TEXT_BYTES},
        {"the CPU's name", p->context.cpu, STORE_NAME_BYTES},
        {"the machine's name", p->context.machine, STORE_NAME_BYTES},
        {"the precision", c ? c->precision : p->precision, STORE_NAME_BYTES},
        {"the convention", p->lens, STORE_NAME_BYTES},
        {"the device", p->measured ? p->measured->engine.device : (str){NULL, 0}, STORE_NAME_BYTES},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        TRY(check_name(&rows[i], err));
    return check_inputs(p, err);
}

static assay_status insert_row(store *s, const profile *p, int64_t *id, assay_error *err)
{
    assert(id);
    const profile_config *c = profile_smallest(p);
    sqlite3_stmt *q;
    sbuf host = {0}, shape = {0}, setup = {0};
    TRY(store_prepare(s,
                      "INSERT INTO runs(model, created, command, host, precision, device, batch,"
                      " shape, setup, kind) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
                      &q, err));
    put_host(&host, &p->context);
    put_shape(&shape, p);
    put_setup(&setup, p, c);
    bool failed = host.failed || shape.failed || setup.failed;
    bind_redacted(s, q, 1, p->model.n ? p->model : STR("unnamed"));
    store_bind_int(s, q, 2, created_of(p));
    bind_redacted(s, q, 3, p->context.command);
    bind_buffer(s, q, 4, &host);
    store_bind_str(s, q, 5, c ? c->precision : p->precision);
    store_bind_str(s, q, 6, p->measured ? p->measured->engine.device : (str){NULL, 0});
    if (batch_of(p, c))
        store_bind_int(s, q, 7, (int64_t)batch_of(p, c));
    bind_buffer(s, q, 8, &shape);
    bind_buffer(s, q, 9, &setup);
    store_bind_str(s, q, 10, store_kind(p));
    assay_status status = store_finish(s, q, err);
    *id = sqlite3_last_insert_rowid(s->db);
    return status == ASSAY_OK && failed ? err_no_memory(err) : status;
}

static assay_status insert_document(store *s, int64_t id, str squeezed, assay_error *err)
{
    sqlite3_stmt *q;
    sbuf body = {0};
    char digest[65];
    int encoding;
    TRY(store_pack(squeezed, &body, &encoding, err));
    assay_status status = store_prepare(
        s, "INSERT INTO documents(run, digest, encoding, size, body) VALUES(?, ?, ?, ?, ?)", &q,
        err);
    if (status == ASSAY_OK) {
        store_digest(squeezed, digest);
        store_bind_int(s, q, 1, id);
        store_bind_str(s, q, 2, str_of(digest));
        store_bind_int(s, q, 3, encoding);
        store_bind_int(s, q, 4, squeezed.n);
        store_bind_bytes(s, q, 5, body.p, body.n);
        status = store_finish(s, q, err);
    }
    sbuf_free(&body);
    return status;
}

assay_status store_insert_figures(store *s, int64_t id, const profile *p, assay_error *err)
{
    sqlite3_stmt *q;
    for (uint32_t i = 0; i < metric_table_n; i++) {
        metric_value v;
        assert(metric_table[i].get && metric_table[i].name);
        if (!metric_table[i].get(p, &v))
            continue;
        TRY(store_prepare(s, "INSERT INTO figures(run, metric, value) VALUES(?, ?, ?)", &q, err));
        store_bind_int(s, q, 1, id);
        store_bind_str(s, q, 2, str_of(metric_table[i].name));
        if (v.whole && v.n <= INT64_MAX)
            store_bind_int(s, q, 3, (int64_t)v.n);
        else
            store_bind_real(s, q, 3, v.v);
        TRY(store_finish(s, q, err));
    }
    return ASSAY_OK;
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

#define INSERT_TAG "INSERT OR IGNORE INTO tags(run, tag) VALUES(?, ?)"
#define REMOVE_TAG "DELETE FROM tags WHERE run = ? AND tag = ?"

static assay_status change_tag(store *s, const char *sql, int64_t id, str tag, assay_error *err)
{
    sqlite3_stmt *q;
    TRY(store_prepare(s, sql, &q, err));
    store_bind_int(s, q, 1, id);
    store_bind_str(s, q, 2, tag);
    return store_finish(s, q, err);
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
    sqlite3_stmt *q;
    TRY(store_prepare(s, "SELECT count(*) FROM tags WHERE run = ?", &q, err));
    store_bind_int(s, q, 1, id);
    int code = store_step(s, q), n = sqlite3_column_int(q, 0);
    assay_status status = code == SQLITE_ROW ? ASSAY_OK : store_fail(s, code, err);
    sqlite3_finalize(q);
    return status == ASSAY_OK && n > STORE_TAGS ? too_many_tags((uint32_t)n, err) : status;
}

/* ---- keeping ---- */

assay_status store_insert(store *s, const profile *p, str document, store_tags tags, int64_t *id,
                          assay_error *err)
{
    TRY(insert_row(s, p, id, err));
    TRY(insert_document(s, *id, document, err));
    TRY(store_insert_figures(s, *id, p, err));
    for (uint32_t i = 0; i < tags.n; i++)
        TRY(change_tag(s, INSERT_TAG, *id, tags.items[i], err));
    return ASSAY_OK;
}

static assay_status add_squeezed(store *s, const profile *p, str document, store_tags tags,
                                 int64_t *id, assay_error *err)
{
    TRY(store_begin(s, err));
    return store_end(s, store_insert(s, p, document, tags, id, err), err);
}

assay_status store_add(store *s, const profile *p, str document, store_tags tags, int64_t *id,
                       assay_error *err)
{
    assert(p && document.p && (tags.items || !tags.n));
    sbuf squeezed = {0};
    TRY(store_check_tags(tags, err));
    TRY(store_check_names(p, err));
    store_squeeze(document, &squeezed);
    assay_status status = squeezed.failed
                              ? err_no_memory(err)
                              : add_squeezed(s, p, (str){squeezed.p, (uint32_t)squeezed.n}, tags,
                                             id, err);
    sbuf_free(&squeezed);
    return status;
}

/* ---- one record ---- */

static assay_status no_such_run(store *s, int64_t id, assay_error *err)
{
    return err_fail(err, ASSAY_ERR_USAGE, "%s: no record %lld in the history", s->shown,
                    (long long)id);
}

assay_status store_document(store *s, int64_t id, arena *a, str *out, assay_error *err)
{
    sqlite3_stmt *q;
    TRY(store_prepare(s, "SELECT encoding, size, body FROM documents WHERE run = ?", &q, err));
    store_bind_int(s, q, 1, id);
    int code = store_step(s, q);
    assay_status status;
    if (code == SQLITE_ROW && !sqlite3_column_blob(q, 2) && sqlite3_errcode(s->db) == SQLITE_NOMEM)
        status = err_no_memory(err);
    else if (code == SQLITE_ROW)
        status = store_unpack(s, sqlite3_column_blob(q, 2), (size_t)sqlite3_column_bytes(q, 2),
                              sqlite3_column_int(q, 0), (uint64_t)sqlite3_column_int64(q, 1), a,
                              out, err);
    else
        status = code == SQLITE_DONE ? no_such_run(s, id, err) : store_fail(s, code, err);
    sqlite3_finalize(q);
    return status;
}

assay_status store_packed(store *s, int64_t id, bool with_body, store_packing *out,
                          assay_error *err)
{
    sqlite3_stmt *q;
    *out = (store_packing){0};
    TRY(store_prepare(s,
                      with_body
                          ? "SELECT encoding, size, length(body), body FROM documents WHERE run = ?"
                          : "SELECT encoding, size, length(body) FROM documents WHERE run = ?",
                      &q, err));
    store_bind_int(s, q, 1, id);
    int code = store_step(s, q);
    assay_status status = code == SQLITE_ROW    ? ASSAY_OK
                          : code == SQLITE_DONE ? no_such_run(s, id, err)
                                                : store_fail(s, code, err);
    if (status == ASSAY_OK) {
        *out = (store_packing){.encoding = sqlite3_column_int64(q, 0),
                               .size = sqlite3_column_int64(q, 1),
                               .n = (uint64_t)sqlite3_column_int64(q, 2)};
        status = with_body ? store_keep_packed(out, sqlite3_column_blob(q, 3), err) : ASSAY_OK;
    }
    sqlite3_finalize(q);
    return status;
}

assay_status store_delete(store *s, int64_t id, assay_error *err)
{
    sqlite3_stmt *q;
    TRY(store_prepare(s, "DELETE FROM runs WHERE id = ?", &q, err));
    store_bind_int(s, q, 1, id);
    TRY(store_finish(s, q, err));
    return sqlite3_changes(s->db) ? ASSAY_OK : no_such_run(s, id, err);
}

static assay_status check_run(store *s, int64_t id, assay_error *err)
{
    sqlite3_stmt *q;
    TRY(store_prepare(s, "SELECT 1 FROM runs WHERE id = ?", &q, err));
    store_bind_int(s, q, 1, id);
    int code = store_step(s, q);
    sqlite3_finalize(q);
    return code == SQLITE_ROW    ? ASSAY_OK
           : code == SQLITE_DONE ? no_such_run(s, id, err)
                                 : store_fail(s, code, err);
}

static assay_status change_tags(store *s, int64_t id, store_tags add, store_tags remove,
                                assay_error *err)
{
    TRY(check_run(s, id, err));
    for (uint32_t i = 0; i < remove.n; i++)
        TRY(change_tag(s, REMOVE_TAG, id, remove.items[i], err));
    for (uint32_t i = 0; i < add.n; i++)
        TRY(change_tag(s, INSERT_TAG, id, add.items[i], err));
    return add.n ? count_tags(s, id, err) : ASSAY_OK;
}

assay_status store_tag(store *s, int64_t id, store_tags add, store_tags remove, assay_error *err)
{
    TRY(store_check_tags(add, err));
    TRY(store_begin(s, err));
    return store_end(s, change_tags(s, id, add, remove, err), err);
}
