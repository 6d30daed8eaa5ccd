/* The history in the public API: its location, and storing and listing records. */
#include <assay/history.h>

#include "base/limits.h"
#include "base/memory.h"
#include "store/store.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "api/history.h"
#include "api/result.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/json_scan.h"
#include "profile/profile_read.h"

#define IMPORT_BYTES LIMIT_IMPORT_BYTES
#define LIST_BYTES   ((size_t)256 << 20)

/* ---- where ---- */

static bool is_set(const char *text)
{
    return text && *text;
}

assay_status assay_store_path(const char *given, char **out, assay_error *err)
{
    const char *env = getenv("ASSAY_DB"), *data = getenv("XDG_DATA_HOME"), *home = getenv("HOME");
    sbuf path = {0};
    api_begin(err);
    *out = NULL;
    if (given || is_set(env))
        sbuf_puts(&path, given ? given : env);
    else if (is_set(data) && *data == '/') /* relative ones are to be ignored, says the standard */
        sbuf_printf(&path, "%s/assay/history.db", data);
    else if (is_set(home))
        sbuf_printf(&path, "%s/.local/share/assay/history.db", home);
    else
        return err_fail(err, ASSAY_ERR_USAGE, "no history file. Name it with --db or ASSAY_DB.");
    size_t n;
    return api_hand_text(ASSAY_OK, &path, out, &n, err);
}

assay_status assay_store_open(const char *path, bool create, assay_store **out, assay_error *err)
{
    char *where = NULL;
    *out = NULL;
    TRY(assay_store_path(path, &where, err));
    bool named = path || is_set(getenv("ASSAY_DB"));
    bool nowhere = !create && !named && !store_is_remote(where) && !file_stat(where).exists;
    assay_store *s = memory_zeroed(1, sizeof *s);
    assay_status status = s ? store_open(nowhere ? NULL : where, create, &s->s, err)
                            : err_no_memory(err);
    free(where);
    if (status == ASSAY_OK)
        *out = s;
    else
        free(s);
    return status;
}

assay_status assay_store_init(const char *path, bool *changed, char **version, assay_error *err)
{
    char *where = NULL, text[32] = "";
    bool own;
    sbuf said = {0};
    size_t n;
    *version = NULL;
    TRY(assay_store_path(path, &where, err));
    assay_status s = store_init(where, changed ? changed : &own, text, err);
    free(where);
    sbuf_puts(&said, text);
    return api_hand_text(s, &said, version, &n, err);
}

bool assay_store_is_remote(const char *path)
{
    char *where = NULL;
    bool remote = assay_store_path(path, &where, NULL) == ASSAY_OK && store_is_remote(where);
    free(where);
    return remote;
}

void assay_store_close(assay_store *db)
{
    if (!db)
        return;
    store_close(db->s);
    free(db);
}

/* ---- keeping ---- */

#define TAGS_BYTES ((size_t)1 << 20)

/* Converts tags of the caller. items is NULL if memory runs out. */
static store_tags convert_tags(arena *a, const char *const *texts, size_t n)
{
    str *items = a ? ARENA_ARRAY(a, str, n ? n : 1) : NULL;
    for (size_t i = 0; items && i < n; i++)
        items[i] = str_of(texts[i]);
    return (store_tags){items, (uint32_t)n};
}

/* Converts what the caller says of a record; `host` has room for the name of this machine. */
typedef struct record_label {
    arena *arena;
    char host[HOST_NAME_MAX + 1];
    store_label is;
} record_label;

static assay_status begin_label(const assay_record_options *o, record_label *out, assay_error *err)
{
    *out = (record_label){.arena = arena_new(TAGS_BYTES)};
    if (!o->machine && gethostname(out->host, sizeof out->host - 1) != 0)
        out->host[0] = '\0';
    out->is = (store_label){.tags = convert_tags(out->arena, o->tags, o->n_tags),
                            .machine = str_of(o->machine ? o->machine : out->host),
                            .sweep = str_of(o->sweep),
                            .task = o->task};
    return out->is.tags.items ? ASSAY_OK : err_no_memory(err);
}

static void end_label(record_label *l)
{
    arena_free(l->arena);
}

static assay_status add_document(assay_store *db, const profile *p, str document,
                                 const assay_record_options *o, int64_t *id, assay_error *err)
{
    store_added added = {0};
    record_label label;
    assay_status s = begin_label(o, &label, err);
    if (s == ASSAY_OK)
        s = store_add(db->s, p, document, &label.is, &added, err);
    end_label(&label);
    if (id)
        *id = added.id;
    if (o->known)
        *o->known = added.known;
    return s;
}

assay_status api_record_lines(const assay_record_options *o, str document, sbuf *out,
                              assay_error *err)
{
    record_label label;
    assay_status s = begin_label(o, &label, err);
    if (s == ASSAY_OK) {
        store_put_header(out);
        store_put_line(&label.is, document, out);
    }
    end_label(&label);
    return s;
}

assay_status assay_store_add(assay_store *db, const void *json, size_t n,
                             const assay_record_options *options, int64_t *id, assay_error *err)
{
    profile *p = NULL;
    assay_record_options o;
    api_begin(err);
    TRY(TAKE(options, o, err));
    const char *name = o.name ? o.name : "the result";
    if (n > PROFILE_FILE_BYTES)
        return err_fail(err, ASSAY_ERR_UNSUPPORTED, "%s: too large for a result: %zu bytes%s", name,
                        n, LIMIT_TEXT(LIMIT_DOCUMENT));
    const str text = {json, (uint32_t)n};
    TRY(profile_read_kept(text, name, JOB_PROFILE_BYTES, &p, err));
    assay_status s = add_document(db, p, text, &o, id, err);
    profile_free(p);
    return s;
}

assay_status assay_tags_check(const char *const *tags, size_t n, assay_error *err)
{
    api_begin(err);
    arena *a = arena_new(TAGS_BYTES);
    const store_tags list = convert_tags(a, tags, n);
    assay_status s = list.items ? store_check_tags(list, err) : err_no_memory(err);
    arena_free(a);
    return s;
}

/* ---- one record ---- */

static assay_status with_document(assay_store *db, int64_t id,
                                  assay_status (*use)(str text, void *ctx, assay_error *err),
                                  void *ctx, assay_error *err)
{
    str text = {0};
    arena *a = arena_new(PROFILE_FILE_BYTES + ((size_t)16 << 20));
    assay_status s = a ? store_document(db->s, id, a, &text, err) : err_no_memory(err);
    if (s == ASSAY_OK)
        s = use(text, ctx, err);
    arena_free(a);
    return s;
}

typedef struct getting {
    const char *name, *kind;
    assay_result **out;
} getting;

static assay_status as_result(str text, void *ctx, assay_error *err)
{
    const getting *g = ctx;
    return api_result_read(text, g->name, g->kind, g->out, err);
}

assay_status assay_store_get(assay_store *db, int64_t id, const char *kind, assay_result **out,
                             assay_error *err)
{
    char name[32];
    getting g = {name, kind, out};
    api_begin(err);
    *out = NULL;
    snprintf(name, sizeof name, "record %lld", (long long)id);
    return with_document(db, id, as_result, &g, err);
}

static assay_status as_text(str text, void *ctx, assay_error *err)
{
    sbuf *b = ctx;
    sbuf_str(b, text);
    return b->failed ? err_no_memory(err) : ASSAY_OK;
}

assay_status assay_store_document(assay_store *db, int64_t id, char **out, size_t *n,
                                  assay_error *err)
{
    sbuf text = {0};
    api_begin(err);
    *out = NULL;
    *n = 0;
    return api_hand_text(with_document(db, id, as_text, &text, err), &text, out, n, err);
}

assay_status assay_document_size(assay_store *db, int64_t id, uint64_t *size, uint64_t *memory,
                                 assay_error *err)
{
    api_begin(err);
    return store_document_size(db->s, id, size, memory, err);
}

struct assay_document {
    store_stream *stream;
};

assay_status assay_document_open(assay_store *db, int64_t id, assay_document **out,
                                 assay_error *err)
{
    assay_document *d = memory_zeroed(1, sizeof *d);
    api_begin(err);
    *out = NULL;
    assay_status s = d ? store_stream_open(db->s, id, &d->stream, err) : err_no_memory(err);
    if (s == ASSAY_OK)
        *out = d;
    else
        free(d);
    return s;
}

assay_status assay_document_read(assay_document *d, void *buf, size_t cap, size_t *n,
                                 assay_error *err)
{
    api_begin(err);
    return store_stream_read(d->stream, buf, cap, n, err);
}

void assay_document_close(assay_document *d)
{
    if (d)
        store_stream_close(d->stream);
    free(d);
}

assay_status assay_store_tag(assay_store *db, int64_t id, const assay_tag_change *change,
                             assay_error *err)
{
    assay_tag_change c;
    api_begin(err);
    TRY(TAKE(change, c, err));
    arena *a = arena_new(TAGS_BYTES);
    const store_tags add = convert_tags(a, c.add, c.n_add);
    const store_tags remove = convert_tags(a, c.remove, c.n_remove);
    assay_status s = add.items && remove.items ? store_tag(db->s, id, add, remove, err)
                                               : err_no_memory(err);
    arena_free(a);
    return s;
}

typedef struct tag_words {
    str words[STORE_TAGS];
    uint32_t n;
} tag_words;

static void scan_words(json_scan *s, tag_words *out)
{
    str more;
    if (!scan_open(s, '['))
        return;
    while (scan_item(s) && scan_str(s, out->n < STORE_TAGS ? &out->words[out->n] : &more)) {
        if (out->n == STORE_TAGS)
            scan_fail(s, "a record can have at most 32 tags");
        out->n += out->n < STORE_TAGS;
    }
}

static assay_status scan_tags(str text, arena *a, tag_words *in, tag_words *out, assay_error *err)
{
    json_scan s = scan_text(text, 0, "the request", a, err);
    str key;
    scan_open(&s, '{');
    while (scan_key(&s, &key)) {
        if (str_is(key, "add"))
            scan_words(&s, in);
        else if (str_is(key, "remove"))
            scan_words(&s, out);
        else
            scan_fail(&s, "tags must be {\"add\": [...], \"remove\": [...]}");
    }
    return scan_end(&s) ? ASSAY_OK : err->code;
}

assay_status assay_store_tag_json(assay_store *db, int64_t id, const void *json, size_t n,
                                  assay_error *err)
{
    tag_words in = {0}, out = {0};
    assay_error own;
    err = err ? err : &own;
    api_begin(err);
    if (n > 1 << 16)
        return err_fail(err, ASSAY_ERR_MALFORMED, "the list of tags is too long");
    arena *a = arena_new((size_t)1 << 20);
    assay_status s = a ? scan_tags((str){json, (uint32_t)n}, a, &in, &out, err)
                       : err_no_memory(err);
    if (s == ASSAY_OK)
        s = store_tag(db->s, id, (store_tags){in.words, in.n}, (store_tags){out.words, out.n}, err);
    arena_free(a);
    return s;
}

assay_status assay_store_delete(assay_store *db, int64_t id, assay_error *err)
{
    api_begin(err);
    return store_delete(db->s, id, err);
}

/* ---- lists ---- */

static assay_status since_of(const store *s, const char *text, int64_t *out, assay_error *err)
{
    *out = 0;
    if (!is_set(text) || clock_since(str_of(text), store_now(s), out))
        return ASSAY_OK;
    return err_fail(err, ASSAY_ERR_USAGE,
                    "since must be a day such as 2026-11-15, tuesday or yesterday, a time such as "
                    "2026-11-15T19:06:00Z, or an age such as 30d, 12h or 2w, got '%s'",
                    text);
}

/* The caller's struct may be older, and shorter. */
assay_status api_record_filter(const assay_store *db, const assay_record_filter *given,
                               store_filter *out, assay_error *err)
{
    assay_record_filter f;
    TRY(TAKE(given, f, err));
    *out = (store_filter){.query = str_of(f.query),
                          .model = str_of(f.model),
                          .tag = str_of(f.tag),
                          .sweep = str_of(f.sweep),
                          .machine = str_of(f.machine),
                          .id = f.id,
                          .limit = f.limit > 0 ? f.limit : 0,
                          .offset = f.offset > 0 ? f.offset : 0};
    return since_of(db->s, f.since, &out->since_s, err);
}

assay_status assay_store_list(assay_store *db, const assay_record_filter *filter,
                              assay_result **out, assay_error *err)
{
    store_filter f;
    api_begin(err);
    *out = NULL;
    TRY(api_record_filter(db, filter, &f, err));
    assay_result *r = handle_new(&records_kind, LIST_BYTES);
    assay_status s = r ? store_list(db->s, &f, r->arena, r->data, err) : err_no_memory(err);
    return api_hand_result(s, r, out, err);
}

assay_status assay_store_models(assay_store *db, assay_result **out, assay_error *err)
{
    api_begin(err);
    *out = NULL;
    assay_result *r = handle_new(&models_kind, LIST_BYTES);
    assay_status s = r ? store_models(db->s, r->arena, r->data, err) : err_no_memory(err);
    return api_hand_result(s, r, out, err);
}

/* ---- travelling ---- */

assay_status assay_store_export(assay_store *db, const assay_record_filter *filter, char **out,
                                size_t *n, uint64_t *n_runs, assay_error *err)
{
    store_filter f;
    sbuf text = {0};
    uint64_t own;
    api_begin(err);
    *out = NULL;
    *n = 0;
    TRY(api_record_filter(db, filter, &f, err));
    return api_hand_text(store_export(db->s, &f, &text, n_runs ? n_runs : &own, err), &text, out, n,
                         err);
}

static assay_status import_file(assay_store *db, const char *path, sbuf *bad, store_imported *done,
                                assay_error *err)
{
    str text = {0};
    arena *a = arena_new(IMPORT_BYTES + ((size_t)16 << 20));
    assay_status s = a ? file_read_limited(path, LIMIT_IMPORT, a, &text, err) : err_no_memory(err);
    if (s == ASSAY_OK)
        s = store_import(db->s, text, FILE_NAME(path), bad, done, err);
    arena_free(a);
    return s;
}

assay_status assay_store_import(assay_store *db, const char *path, uint64_t *added, uint64_t *known,
                                assay_error *err)
{
    store_imported done = {0};
    api_begin(err);
    assay_status s = import_file(db, path, NULL, &done, err);
    if (added)
        *added = done.added;
    if (known)
        *known = done.known;
    return s;
}

assay_status assay_store_import_good(assay_store *db, const char *path, uint64_t *added,
                                     uint64_t *known, char **left_out, assay_error *err)
{
    store_imported done = {0};
    sbuf bad = {0};
    size_t n;
    api_begin(err);
    *left_out = NULL;
    assay_status s = import_file(db, path, &bad, &done, err);
    if (added)
        *added = done.added;
    if (known)
        *known = done.known;
    if (s != ASSAY_OK || !done.bad) {
        sbuf_free(&bad);
        return s;
    }
    if (done.bad > 100)
        sbuf_printf(&bad, "%llu more lines left out\n", (unsigned long long)(done.bad - 100));
    return api_hand_text(s, &bad, left_out, &n, err);
}

assay_status assay_store_copy(assay_store *from, assay_store *to, uint64_t *added, uint64_t *known,
                              assay_error *err)
{
    store_copied done = {0};
    api_begin(err);
    assay_status s = store_copy(from->s, to->s, &done, err);
    if (added)
        *added = done.added;
    if (known)
        *known = done.known;
    return s;
}

assay_status assay_store_prune(assay_store *db, const assay_prune_options *options,
                               uint64_t *deleted, assay_error *err)
{
    assay_prune_options o;
    int64_t age;
    uint64_t own;
    api_begin(err);
    TRY(TAKE(options, o, err));
    if (!is_set(o.keep) || !clock_duration(str_of(o.keep), &age))
        return err_fail(err, ASSAY_ERR_USAGE,
                        "the age of the records to keep must be such as 90d, 12h or 2w, got '%s'",
                        o.keep ? o.keep : "");
    return store_prune(db->s, store_now(db->s) - age, o.keep_tagged, deleted ? deleted : &own, err);
}
