/* Export and import of a history: lines of JSON (https://jsonlines.org), the first of which says what it is.
 *
 *   {"schema":"assay.history/1","tool_version":"0.1.0","exported":"2026-11-15T19:06:00Z"}
 *   {"tags":["nightly"],"document":{"schema":"assay.profile/1",...}}
 *
 * A line may also have "machine", "sweep" and "task", and "created" when that is not the time in the document. Numbers of
 * records are not carried over: they are the history's own.
 */
#include "base/clock.h"
#include "base/json_scan.h"
#include "base/json_write.h"
#include "profile/profile_read.h"
#include "profile/result_kinds.h"
#include "store/store_impl.h"

/* ---- export ---- */

void store_put_header(sbuf *out)
{
    json_writer w;
    char now[32];
    clock_timestamp(now);
    json_begin(&w, out, 0);
    json_object(&w);
    json_key(&w, "schema");
    json_cstr(&w, "assay.history/1");
    json_key(&w, "tool_version");
    json_cstr(&w, assay_version());
    json_key(&w, "exported");
    json_cstr(&w, now);
    json_end(&w);
    sbuf_putc(out, '\n');
}

static void put_label(json_writer *w, const store_label *l)
{
    char when[32];
    json_key(w, "tags");
    json_array(w);
    for (uint32_t i = 0; i < l->tags.n; i++)
        json_str(w, l->tags.items[i]);
    json_end(w);
    if (l->machine.n) {
        json_key(w, "machine");
        json_str(w, l->machine);
    }
    if (l->sweep.n) {
        json_key(w, "sweep");
        json_str(w, l->sweep);
        json_key(w, "task");
        json_i64(w, l->task);
    }
    if (l->created_s) {
        clock_format(l->created_s, when);
        json_key(w, "created");
        json_cstr(w, when);
    }
}

void store_put_line(const store_label *label, str document, sbuf *out)
{
    json_writer w;
    json_begin(&w, out, 0);
    json_object(&w);
    put_label(&w, label);
    json_end(&w);
    if (out->n && out->p[out->n - 1] == '}')
        out->n--;
    sbuf_puts(out, ",\"document\":");
    sbuf_str(out, document);
    sbuf_puts(out, "}\n");
}

/* The time of a record, when its document does not say it. */
static int64_t own_time(str document, int64_t created_s, const char *shown)
{
    assay_error ignored = {0};
    profile *p = NULL;
    int64_t t = 0;
    bool same = profile_read_kept(document, shown, STORE_PROFILE_BYTES, &p, &ignored) == ASSAY_OK &&
                clock_parse(p->context.timestamp, &t) && t == created_s;
    profile_free(p);
    return same ? 0 : created_s;
}

store_label store_label_of(const history_record *r)
{
    return (store_label){.tags = {r->tags, r->n_tags},
                         .machine = r->machine,
                         .sweep = r->sweep,
                         .task = r->sweep.n ? r->task : 0,
                         .created_s = r->created_s};
}

static assay_status put_record(store *s, const history_record *r, sbuf *out, assay_error *err)
{
    arena *a = arena_new(STORE_DOCUMENT_BYTES + ((size_t)1 << 20));
    store_label label = store_label_of(r);
    str text = {0};
    assay_status status = a ? store_document(s, r->id, a, &text, err) : err_no_memory(err);
    if (status == ASSAY_OK) {
        label.created_s = own_time(text, r->created_s, s->shown);
        store_put_line(&label, text, out);
    }
    arena_free(a);
    return status;
}

static assay_status put_records(store *s, const store_filter *f, sbuf *out, uint64_t *n,
                                assay_error *err)
{
    history_list list = {0};
    arena *a = arena_new((size_t)256 << 20);
    assay_status status = a ? store_list(s, f, a, &list, err) : err_no_memory(err);
    store_put_header(out);
    /* Oldest first, so that an import gives numbers in the order of time. */
    for (uint32_t i = list.n; status == ASSAY_OK && i-- > 0;)
        status = put_record(s, &list.records[i], out, err);
    *n = list.n;
    arena_free(a);
    return status == ASSAY_OK && out->failed ? err_no_memory(err) : status;
}

/* A record that is deleted meanwhile is exported all the same. */
assay_status store_export(store *s, const store_filter *f, sbuf *out, uint64_t *n, assay_error *err)
{
    TRY(store_read_begin(s, err));
    return store_read_end(s, put_records(s, f, out, n, err), err);
}

/* ---- import ---- */

enum { BAD_LISTED = 100 };

typedef struct importing {
    store *s;
    const char *shown;
    sbuf *bad; /* NULL: a bad line ends the import */
    store_imported *done;
    assay_error *err;
    bool writing; /* what fails from here on is the history's fault, not the line's */
} importing;

assay_status store_count_digest(store *s, const char *digest, int64_t to_id, int64_t *n,
                                assay_error *err)
{
    store_query q;
    store_ask(&q, s, "SELECT count(*) FROM documents WHERE digest = :sha AND run <= :id", err);
    store_set_text(&q, "sha", str_of(digest));
    store_set_int(&q, "id", to_id);
    *n = store_next(&q) ? store_column_int(&q, 0) : 0;
    return store_done(&q);
}

static assay_status is_known(importing *w, str squeezed, bool *known)
{
    char digest[65];
    int64_t n;
    store_digest(squeezed, digest);
    TRY(store_count_digest(w->s, digest, INT64_MAX, &n, w->err));
    *known = n > 0;
    return ASSAY_OK;
}

static assay_status insert_row(importing *w, const profile *p, str squeezed,
                               const store_label *label)
{
    store_row row = {0};
    bool known = false;
    arena *a = arena_new(STORE_DOCUMENT_BYTES + STORE_ROW_BYTES);
    assay_status status = a ? store_row_of(p, squeezed, label, a, &row, w->err)
                            : err_no_memory(w->err);
    if (status == ASSAY_OK)
        status = w->s->backend->insert(w->s, &row, &known, w->err);
    arena_free(a);
    w->done->known += status == ASSAY_OK && known;
    w->done->added += status == ASSAY_OK && !known;
    return status;
}

/* What is read is the document as it came: blanks may hide a mistake, and offsets are of the file. */
static assay_status take_new(importing *w, str document, str squeezed, const store_label *label)
{
    profile *p = NULL;
    TRY(profile_read_kept(document, w->shown, STORE_PROFILE_BYTES, &p, w->err));
    assay_status status = store_check_names(p, w->err);
    w->writing = status == ASSAY_OK;
    if (status == ASSAY_OK)
        status = insert_row(w, p, squeezed, label);
    profile_free(p);
    return status;
}

static assay_status take_document(importing *w, str document, const store_label *label)
{
    sbuf b = {0};
    bool known = false;
    store_squeeze(document, &b);
    str squeezed = {b.p, (uint32_t)b.n};
    assay_status status = b.failed ? err_no_memory(w->err) : is_known(w, squeezed, &known);
    if (status == ASSAY_OK && known)
        w->done->known++;
    else if (status == ASSAY_OK)
        status = take_new(w, document, squeezed, label);
    sbuf_free(&b);
    return status;
}

static void read_tags(json_scan *s, str *tags, uint32_t *n)
{
    str more;
    *n = 0;
    if (!scan_open(s, '['))
        return;
    while (scan_item(s) && scan_str(s, *n < STORE_TAGS ? &tags[*n] : &more)) {
        if (*n == STORE_TAGS)
            scan_fail(s, "a record can have at most 32 tags");
        *n += *n < STORE_TAGS;
    }
}

static void read_time(json_scan *s, int64_t *out)
{
    str text;
    if (scan_str(s, &text) && !clock_parse(text, out))
        scan_fail(s, "expected a time such as 2026-11-15T19:06:00Z");
}

/* A line's keys beside the document; *document is its text. */
typedef struct import_line {
    str tags[STORE_TAGS], document;
    store_label label;
} import_line;

static void read_line(json_scan *s, import_line *line)
{
    store_label *l = &line->label;
    str key;
    scan_open(s, '{');
    while (scan_key(s, &key)) {
        const char *from = s->at;
        if (str_is(key, "tags"))
            read_tags(s, line->tags, &l->tags.n);
        else if (str_is(key, "machine"))
            scan_str(s, &l->machine);
        else if (str_is(key, "sweep"))
            scan_str(s, &l->sweep);
        else if (str_is(key, "task"))
            scan_i64(s, &l->task);
        else if (str_is(key, "created"))
            read_time(s, &l->created_s);
        else
            scan_skip(s);
        if (str_is(key, "document"))
            line->document = (str){from, (uint32_t)(s->at - from)};
    }
    l->tags.items = line->tags;
}

static assay_status take_line(importing *w, str text, uint64_t offset, arena *a)
{
    json_scan s = scan_text(text, offset, w->shown, a, w->err);
    import_line line = {0};
    read_line(&s, &line);
    if (!scan_end(&s))
        return w->err->code;
    if (!line.document.n)
        return err_fail_at(w->err, ASSAY_ERR_MALFORMED, offset,
                           "%s: line without a document (byte %llu)", w->shown,
                           (unsigned long long)offset);
    TRY(store_check_label(&line.label, w->err));
    return take_document(w, line.document, &line.label);
}

/* What remains of a failure when bad lines are left out: nothing, unless the line is not to blame. */
static assay_status leave_out(importing *w, uint64_t line, assay_status status)
{
    if (status == ASSAY_OK || !w->bad || w->writing || status == ASSAY_ERR_SYSTEM)
        return status;
    const char *why = w->err->message;
    size_t n = strlen(w->shown);
    if (strncmp(why, w->shown, n) == 0 && why[n] == ':')
        why += n + 2; /* behind the file's name */
    if (w->done->bad++ < BAD_LISTED)
        sbuf_printf(w->bad, "line %llu left out: %s\n", (unsigned long long)line, why);
    err_clear(w->err);
    return w->bad->failed ? err_no_memory(w->err) : ASSAY_OK;
}

/* Every line behind the first. */
static assay_status take_lines(importing *w, str text)
{
    const char *end = text.p + text.n, *at = memchr(text.p, '\n', text.n);
    assay_status status = ASSAY_OK;
    uint64_t line = 2;
    for (at = at ? at + 1 : end; at < end && status == ASSAY_OK; line++) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        stop = stop ? stop : end;
        arena *a = arena_new((size_t)64 << 20);
        TRY_MEMORY(a, w->err);
        w->writing = false;
        if (stop - at > 1)
            status = take_line(w, (str){at, (uint32_t)(stop - at)}, (uint64_t)(at - text.p), a);
        arena_free(a);
        status = leave_out(w, line, status);
        at = stop < end ? stop + 1 : end;
    }
    return status;
}

static assay_status take_text(importing *w, str text)
{
    result_identity is = {0};
    const char *newline = text.n ? memchr(text.p, '\n', text.n) : NULL;
    str first = {text.p, newline ? (uint32_t)(newline - text.p) : text.n};
    assay_error ignored = {0};
    arena *a = arena_new((size_t)16 << 20);
    TRY_MEMORY(a, w->err);
    /* Of a result that goes over many lines the first alone says nothing. */
    bool lines = result_identify(first, w->shown, a, &is, &ignored) == ASSAY_OK &&
                 str_is(is.schema, "assay.history");
    arena_free(a);
    if (lines && is.version != 1)
        return err_fail(w->err, ASSAY_ERR_UNSUPPORTED,
                        "%s: exported by a newer assay (assay.history/%lld). Use that version.",
                        w->shown, (long long)is.version);
    return lines ? take_lines(w, text) : take_document(w, text, &(store_label){0});
}

assay_status store_import(store *s, str text, const char *shown, sbuf *bad, store_imported *out,
                          assay_error *err)
{
    assay_error own = {0};
    *out = (store_imported){0};
    importing w = {.s = s, .shown = shown, .bad = bad, .done = out, .err = err ? err : &own};
    TRY(store_begin_taking(s, w.err));
    return store_end(s, take_text(&w, text), w.err);
}
