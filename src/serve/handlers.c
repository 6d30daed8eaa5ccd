/* Handlers of the paths. They return the library's own documents, so the API and saved files are the same. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "serve/serve.h"

#define COMPARE_MAX 12
#define TAGS_MAX    64 /* of a request: more than the library takes, which says so */
#define LIMIT_MAX   1000

/* ---- with a store ---- */

static void replace_by_failure(reply *out, assay_status s, const assay_error *err)
{
    if (!out->constant)
        assay_free(out->body);
    reply_failure(out, s, err);
}

void with_store(request *r, reply *out, store_fn *work)
{
    assay_error err = {0};
    assay_store *store = stores_take(r->s, &err);
    if (!store) {
        replace_by_failure(out, err.code, &err);
        return;
    }
    assay_status s = work(r, store, out, &err);
    if (s != ASSAY_OK)
        replace_by_failure(out, s, &err);
    if (s == ASSAY_ERR_SYSTEM || s == ASSAY_ERR_MALFORMED)
        assay_store_close(store);
    else
        stores_give(r->s, store);
}

/* A history that is busy does not say that the record is not there. */
static assay_status find_run(assay_store *store, int64_t id, bool *there, assay_error *err)
{
    const assay_record_filter f = {.size = sizeof f, .id = id, .limit = 1};
    assay_result *records = NULL;
    assay_status s = assay_store_list(store, &f, &records, err);
    *there = s == ASSAY_OK && assay_result_number(records, "total") > 0;
    assay_result_free(records);
    return s;
}

static assay_status no_such_run(const request *r, reply *out)
{
    char text[64];
    snprintf(text, sizeof text, "no record %lld", (long long)r->id);
    reply_error(out, MHD_HTTP_NOT_FOUND, text);
    return ASSAY_OK;
}

/* ---- limits of a request ---- */

static const char working[] = "too many large documents are being read. Try again later.";

static assay_status busy(reply *out, const char *why)
{
    reply_error(out, MHD_HTTP_SERVICE_UNAVAILABLE, why);
    out->retry = true;
    return ASSAY_OK;
}

static assay_status too_large(reply *out)
{
    char *why = limit_refusal("the records are too large for one request; ask for fewer or smaller "
                              "ones",
                              "serve-work");
    reply_error(out, MHD_HTTP_UNPROCESSABLE_CONTENT, why ? why : "out of memory");
    free(why);
    return ASSAY_OK;
}

bool take_work(const request *r, uint64_t bytes, reply *out)
{
    if (budget_take(&r->s->work, bytes, SERVE_WORK_WAIT_MS))
        return true;
    busy(out, working);
    return false;
}

/* A whole number of the query, within limits; false with a reply when it is not one. */
static bool number_of(const request *r, const char *name, int64_t least, int64_t most,
                      int64_t *value, reply *out)
{
    const char *text = query_of(r, name);
    char *end;
    if (!text)
        return true;
    errno = 0;
    long long v = strtoll(text, &end, 10);
    if (errno || *end || *text < '0' || *text > '9' || v < least || v > most) {
        char why[160];
        snprintf(why, sizeof why, "%s must be a whole number, %lld to %lld", name, (long long)least,
                 (long long)most);
        reply_error(out, MHD_HTTP_BAD_REQUEST, why);
        return false;
    }
    *value = v;
    return true;
}

/* "?view=1", which the page asks for: the reply becomes {"document": it, "view": what to show of it}. */
static void add_view(const request *r, reply *out)
{
    assay_error err = {0};
    assay_result *of = NULL;
    char *view = NULL;
    size_t n;
    if (!query_flag(r, "view") || out->status >= MHD_HTTP_BAD_REQUEST)
        return;
    assay_status s = assay_result_from_json(out->body, out->n, "the document", NULL, &of, &err);
    if (s == ASSAY_OK)
        s = assay_result_write(of, "view", NULL, &view, &n, &err);
    reply_join_view(out, s == ASSAY_OK ? view : "null");
    assay_free(view);
    assay_result_free(of);
}

/* ---- lists ---- */

static assay_status hand_records(assay_result *records, reply *out, assay_error *err)
{
    char *text;
    size_t n;
    assay_status s = assay_result_write(records, "json", NULL, &text, &n, err);
    if (s == ASSAY_OK)
        reply_json(out, text, n);
    assay_result_free(records);
    return s;
}

static assay_status list_runs(request *r, assay_store *store, reply *out, assay_error *err)
{
    assay_record_filter f = {.size = sizeof f,
                             .query = query_of(r, "q"),
                             .model = query_of(r, "model"),
                             .tag = query_of(r, "tag"),
                             .since = query_of(r, "since"),
                             .limit = 100};
    assay_result *records;
    if (!number_of(r, "limit", 1, LIMIT_MAX, &f.limit, out) ||
        !number_of(r, "offset", 0, INT64_MAX / 2, &f.offset, out))
        return ASSAY_OK;
    assay_status s = assay_store_list(store, &f, &records, err);
    return s == ASSAY_OK ? hand_records(records, out, err) : s;
}

void serve_records(request *r, reply *out)
{
    with_store(r, out, list_runs);
}

static assay_status list_models(request *r, assay_store *store, reply *out, assay_error *err)
{
    assay_result *records;
    (void)r;
    assay_status s = assay_store_models(store, &records, err);
    return s == ASSAY_OK ? hand_records(records, out, err) : s;
}

void serve_models(request *r, reply *out)
{
    with_store(r, out, list_models);
}

/* ---- one record ---- */

/* The document goes to the client as it is unpacked; its packed form has a place in the budget. */
static assay_status send_document(request *r, assay_store *store, uint64_t size, uint64_t memory,
                                  reply *out)
{
    assay_error err = {0};
    if (!budget_take(&r->s->replies, memory, 0))
        return busy(out, "too many large replies are being sent. Try again later.");
    *out = (reply){.status = MHD_HTTP_OK, .n = (size_t)size, .memory = memory};
    if (assay_document_open(store, r->id, &out->document, &err) == ASSAY_OK)
        return ASSAY_OK;
    budget_give(&r->s->replies, memory);
    reply_failure(out, err.code, &err);
    return ASSAY_OK;
}

static assay_status give_run(request *r, assay_store *store, reply *out, assay_error *err)
{
    uint64_t size, memory;
    assay_status s = assay_document_size(store, r->id, &size, &memory, err);
    if (s == ASSAY_ERR_USAGE)
        return no_such_run(r, out);
    return s == ASSAY_OK ? send_document(r, store, size, memory, out) : s;
}

static assay_status give_run_and_view(request *r, assay_store *store, reply *out, assay_error *err)
{
    char *text;
    size_t n;
    uint64_t size, memory;
    assay_status s = assay_document_size(store, r->id, &size, &memory, err);
    if (s == ASSAY_ERR_USAGE)
        return no_such_run(r, out);
    if (s != ASSAY_OK)
        return s;
    if (size > r->s->work.most)
        return too_large(out);
    if (!take_work(r, size, out))
        return ASSAY_OK;
    s = assay_store_document(store, r->id, &text, &n, err);
    if (s == ASSAY_OK) {
        reply_json(out, text, n);
        add_view(r, out);
    }
    budget_give(&r->s->work, size);
    return s;
}

void serve_record(request *r, reply *out)
{
    with_store(r, out, query_flag(r, "view") ? give_run_and_view : give_run);
}

static assay_status delete_run(request *r, assay_store *store, reply *out, assay_error *err)
{
    assay_status s = assay_store_delete(store, r->id, err);
    if (s == ASSAY_ERR_USAGE)
        return no_such_run(r, out);
    if (s == ASSAY_OK)
        *out = (reply){.status = MHD_HTTP_NO_CONTENT};
    return s;
}

void serve_delete(request *r, reply *out)
{
    with_store(r, out, delete_run);
}

/* The record as the list has it. */
static assay_status give_row(request *r, assay_store *store, reply *out, assay_error *err)
{
    const assay_record_filter f = {.size = sizeof f, .id = r->id, .limit = 1};
    assay_result *records;
    assay_status s = assay_store_list(store, &f, &records, err);
    return s == ASSAY_OK ? hand_records(records, out, err) : s;
}

static assay_status change_tags(request *r, assay_store *store, reply *out, assay_error *err)
{
    bool there = false;
    assay_status s = find_run(store, r->id, &there, err);
    if (s != ASSAY_OK || !there)
        return s != ASSAY_OK ? s : no_such_run(r, out);
    s = assay_store_tag_json(store, r->id, r->body ? r->body : "", r->n_body, err);
    if (s == ASSAY_ERR_MALFORMED) { /* of the request, not of the history */
        reply_failure(out, s, err);
        return ASSAY_OK;
    }
    return s == ASSAY_OK ? give_row(r, store, out, err) : s;
}

void serve_tags(request *r, reply *out)
{
    with_store(r, out, change_tags);
}

/* ---- new records ---- */

typedef struct tag_list {
    const char *tags[TAGS_MAX];
    size_t n;
    bool more; /* than there is room for: no record may have so many */
} tag_list;

static enum MHD_Result take_tag(void *ctx, enum MHD_ValueKind kind, const char *key,
                                const char *value)
{
    tag_list *t = ctx;
    (void)kind;
    if (strcmp(key, "tag") != 0 || !value || !*value)
        return MHD_YES;
    if (t->n < TAGS_MAX)
        t->tags[t->n++] = value;
    else
        t->more = true;
    return MHD_YES;
}

static assay_status keep_result(request *r, assay_store *store, const char *json, size_t n,
                                int64_t *id, assay_error *err)
{
    tag_list tags = {0};
    MHD_get_connection_values(r->mhd, MHD_GET_ARGUMENT_KIND, take_tag, &tags);
    if (tags.more) {
        snprintf(err->message, sizeof err->message, "a record can have at most 32 tags");
        return err->code = ASSAY_ERR_USAGE;
    }
    const assay_record_options options = {
        .size = sizeof options, .tags = tags.tags, .n_tags = tags.n, .name = "the body"};
    return assay_store_add(store, json, n, &options, id, err);
}

static assay_status add_record(request *r, assay_store *store, reply *out, assay_error *err)
{
    int64_t id;
    char *text;
    assay_status s = keep_result(r, store, r->body ? r->body : "", r->n_body, &id, err);
    if (s == ASSAY_ERR_MALFORMED) {
        reply_failure(out, s, err);
        return ASSAY_OK;
    }
    if (s != ASSAY_OK)
        return s;
    int n = asprintf(&text, "{\"id\": %lld}\n", (long long)id);
    *out = (reply){
        .status = MHD_HTTP_CREATED, .body = n > 0 ? text : NULL, .n = n > 0 ? (size_t)n : 0};
    snprintf(out->location, sizeof out->location, "/api/v1/records/%lld", (long long)id);
    return ASSAY_OK;
}

void serve_add(request *r, reply *out)
{
    with_store(r, out, add_record);
}

static assay_status keep_profile(request *r, assay_store *store, reply *out, assay_error *err)
{
    int64_t id;
    assay_status s = keep_result(r, store, out->body, out->n, &id, err);
    if (s != ASSAY_OK)
        return s;
    out->status = MHD_HTTP_CREATED;
    snprintf(out->location, sizeof out->location, "/api/v1/records/%lld", (long long)id);
    return ASSAY_OK;
}

/* A name for reports: what follows the last '/'. Nothing is opened by it. */
static const char *shown_name(const request *r)
{
    const char *name = query_of(r, "name"), *slash = name ? strrchr(name, '/') : NULL;
    name = slash ? slash + 1 : name;
    return name && *name && strlen(name) <= 200 ? name : "model.onnx";
}

/* Of several files the name says which of them is the model. */
static bool profile_files(request *r, unsigned *status, char **text, size_t *n, reply *out)
{
    const char *name = query_of(r, "name");
    upload u;
    if (name && strlen(name) > PARTS_PATH) {
        reply_error(out, MHD_HTTP_BAD_REQUEST, "the name of a file is too long");
        return false;
    }
    if (!parts_take(r, &u, out))
        return false;
    if (name && *name)
        strcpy(u.name, name);
    *status = worker_profile(r->s, &u, text, n);
    parts_free(r, &u);
    return true;
}

static bool profile_body(request *r, unsigned *status, char **text, size_t *n, reply *out)
{
    if (!r->n_body) {
        reply_error(out, MHD_HTTP_BAD_REQUEST, "the body must be a model file");
        return false;
    }
    if (parts_are(r))
        return profile_files(r, status, text, n, out);
    upload u = {.bytes = r->body, .n = (size_t)r->n_body};
    strcpy(u.name, shown_name(r));
    *status = worker_profile(r->s, &u, text, n);
    return true;
}

void serve_profile(request *r, reply *out)
{
    char *text = NULL;
    size_t n = 0;
    unsigned status;
    if (!profile_body(r, &status, &text, &n, out))
        return;
    if (status != MHD_HTTP_OK) {
        reply_error(out, status, text ? text : "the model could not be analysed");
        out->retry = status == MHD_HTTP_SERVICE_UNAVAILABLE;
        free(text);
        return;
    }
    reply_json(out, text, n);
    if (query_flag(r, "save"))
        with_store(r, out, keep_profile);
    char *body = out->body;
    if (take_work(r, n, out)) {
        add_view(r, out);
        budget_give(&r->s->work, n);
    } else {
        assay_free(body);
    }
}

/* ---- questions ---- */

static assay_status give_trend(request *r, assay_store *store, reply *out, assay_error *err)
{
    const char *alert = query_of(r, "alert"), *all = query_of(r, "all");
    const assay_trend_request q = {.size = sizeof q,
                                   .model = query_of(r, "model"),
                                   .metric = query_of(r, "metric"),
                                   .tag = query_of(r, "tag"),
                                   .since = query_of(r, "since"),
                                   .all = all && strcmp(all, "0") != 0,
                                   .alerts = &alert,
                                   .n_alerts = alert ? 1 : 0};
    assay_result *trend = NULL;
    char *text;
    size_t n;
    assay_status s = assay_store_trend(store, &q, &trend, err);
    if (!trend)
        return s;
    s = assay_result_write(trend, "json", NULL, &text, &n, err);
    if (s == ASSAY_OK)
        reply_json(out, text, n);
    assay_result_free(trend);
    return s;
}

void serve_trend(request *r, reply *out)
{
    with_store(r, out, give_trend);
}

/* "1,2,3": how many; 0 when it is no such list. */
static size_t read_ids(const char *text, int64_t *ids)
{
    size_t n = 0;
    for (const char *p = text; p && *p;) {
        char *end;
        if (n == COMPARE_MAX || *p < '1' || *p > '9')
            return 0;
        errno = 0;
        ids[n++] = strtoll(p, &end, 10);
        if (errno || (*end && *end != ',') || (*end && !end[1]))
            return 0;
        p = *end ? end + 1 : end;
    }
    return n;
}

/* The sizes of all records, before one of them is read; r->id is the one that was looked at last. */
static assay_status sum_sizes(request *r, assay_store *store, const int64_t *ids, size_t n,
                              uint64_t *bytes, assay_error *err)
{
    uint64_t size, memory;
    *bytes = 0;
    for (size_t i = 0; i < n; i++) {
        r->id = ids[i];
        assay_status s = assay_document_size(store, ids[i], &size, &memory, err);
        if (s != ASSAY_OK)
            return s;
        *bytes += size;
    }
    return ASSAY_OK;
}

static assay_status compare_records(assay_store *store, const int64_t *ids, size_t n, reply *out,
                                    assay_error *err)
{
    assay_result *profiles[COMPARE_MAX] = {0}, *comparison = NULL;
    char *text;
    size_t n_text;
    assay_status s = ASSAY_OK;
    for (size_t i = 0; i < n && s == ASSAY_OK; i++)
        s = assay_store_get(store, ids[i], "profile", &profiles[i], err);
    if (s == ASSAY_OK)
        s = assay_compare((const assay_result *const *)profiles, n, NULL, &comparison, err);
    if (s == ASSAY_OK)
        s = assay_result_write(comparison, "json", NULL, &text, &n_text, err);
    if (s == ASSAY_OK)
        reply_json(out, text, n_text);
    assay_result_free(comparison);
    for (size_t i = 0; i < n; i++)
        assay_result_free(profiles[i]);
    return s;
}

static assay_status give_comparison(request *r, assay_store *store, reply *out, assay_error *err)
{
    int64_t ids[COMPARE_MAX];
    size_t n = read_ids(query_of(r, "ids"), ids);
    uint64_t bytes;
    if (n < 2) {
        reply_error(out, MHD_HTTP_BAD_REQUEST, "ids must be 2 to 12 record numbers, as in ids=3,7");
        return ASSAY_OK;
    }
    assay_status s = sum_sizes(r, store, ids, n, &bytes, err);
    if (s != ASSAY_OK)
        return s == ASSAY_ERR_USAGE ? no_such_run(r, out) : s;
    if (bytes > r->s->work.most)
        return too_large(out);
    if (!take_work(r, bytes, out))
        return ASSAY_OK;
    s = compare_records(store, ids, n, out, err);
    budget_give(&r->s->work, bytes);
    return s;
}

void serve_compare(request *r, reply *out)
{
    with_store(r, out, give_comparison);
}

/* ---- what does not come from the history ---- */

/* The page is the same for everybody and holds nothing of the history: it needs no token, and asks for it before
 * it asks the API. */
void serve_page(request *r, reply *out)
{
    const server *s = r->s;
    const char *given = query_of(r, "token");
    if (s->token[0] && given && guard_token(s, given)) {
        static const char start[] = "assay_token=";
        char *cookie = NULL;
        if (asprintf(&cookie, "%s%s; HttpOnly; SameSite=Strict; Path=/", start, s->token) < 0) {
            reply_error(out, MHD_HTTP_INTERNAL_SERVER_ERROR, "out of memory");
            return;
        }
        *out = (reply){.status = MHD_HTTP_SEE_OTHER, .body = cookie, .n = 0, .cookie = cookie};
        strcpy(out->location, "/");
        return;
    }
    *out = (reply){.status = given && s->token[0] ? MHD_HTTP_UNAUTHORIZED : MHD_HTTP_OK,
                   .type = "text/html; charset=utf-8",
                   .body = s->page,
                   .n = s->n_page,
                   .constant = true,
                   .policy = s->policy};
}

void serve_openapi(request *r, reply *out)
{
    (void)r;
    *out = (reply){.status = MHD_HTTP_OK,
                   .body = (char *)(uintptr_t)serve_openapi_text,
                   .n = serve_openapi_size,
                   .constant = true};
}

void serve_health(request *r, reply *out)
{
    static const char good[] = "{\"status\": \"ok\"}\n";
    (void)r;
    *out = (reply){.status = MHD_HTTP_OK,
                   .body = (char *)(uintptr_t)good,
                   .n = sizeof good - 1,
                   .constant = true};
}
