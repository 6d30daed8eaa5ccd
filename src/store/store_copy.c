/* Copying a history into another, and deleting old records: both in batches, beside others that write. */
#include <stdio.h>
#include <time.h>

#include "base/clock.h"
#include "profile/profile_read.h"
#include "store/store_impl.h"

enum { COPY_BATCH = 200, PRUNE_BATCH = 200 };

/* ---- copying ---- */

typedef struct copying {
    store *from, *to;
    store_copied *done;
    assay_error *err;
} copying;

/* A document may be there several times: the n-th of them is missing if the other history has fewer than n. */
static assay_status is_missing(copying *c, const history_record *r, str document, bool *missing)
{
    char digest[65];
    int64_t here, there;
    store_digest(document, digest);
    TRY(store_count_digest(c->from, digest, r->id, &here, c->err));
    TRY(store_count_digest(c->to, digest, INT64_MAX, &there, c->err));
    *missing = there < here;
    return ASSAY_OK;
}

static assay_status insert_copy(copying *c, const history_record *r, str document, arena *a)
{
    const store_label label = store_label_of(r);
    profile *p = NULL;
    store_row row = {0};
    bool known = false;
    TRY(profile_read_kept(document, c->from->shown, STORE_PROFILE_BYTES, &p, c->err));
    assay_status status = store_row_of(p, document, &label, a, &row, c->err);
    if (status == ASSAY_OK)
        status = c->to->backend->insert(c->to, &row, &known, c->err);
    profile_free(p);
    c->done->added += status == ASSAY_OK && !known;
    c->done->known += status == ASSAY_OK && known;
    return status;
}

static assay_status copy_document(copying *c, const history_record *r, arena *a)
{
    str document = {0};
    bool missing = false;
    TRY(store_document(c->from, r->id, a, &document, c->err));
    TRY(is_missing(c, r, document, &missing));
    if (missing)
        return insert_copy(c, r, document, a);
    c->done->known++;
    return ASSAY_OK;
}

static assay_status copy_records(copying *c, const history_list *list)
{
    assay_status status = ASSAY_OK;
    for (uint32_t i = 0; i < list->n && status == ASSAY_OK; i++) {
        arena *a = arena_new(2 * STORE_DOCUMENT_BYTES + STORE_ROW_BYTES);
        status = a ? copy_document(c, &list->records[i], a) : err_no_memory(c->err);
        arena_free(a);
    }
    return status;
}

static assay_status copy_batch(copying *c, int64_t *after, bool *more, arena *a)
{
    const store_filter f = {.after_id = *after, .by_id = true, .limit = COPY_BATCH};
    history_list list = {0};
    TRY(store_list_only(c->from, &f, a, &list, c->err));
    *more = list.n == COPY_BATCH;
    if (!list.n)
        return ASSAY_OK;
    *after = list.records[list.n - 1].id;
    TRY(store_begin_taking(c->to, c->err));
    return store_end(c->to, copy_records(c, &list), c->err);
}

assay_status store_copy(store *from, store *to, store_copied *out, assay_error *err)
{
    copying c = {from, to, out, err};
    bool more = true;
    *out = (store_copied){0};
    for (int64_t after = 0; more;) {
        arena *a = arena_new((size_t)256 << 20);
        assay_status status = a ? copy_batch(&c, &after, &more, a) : err_no_memory(err);
        arena_free(a);
        TRY(status);
    }
    return ASSAY_OK;
}

/* ---- deleting ---- */

#define UNTAGGED " AND NOT EXISTS (SELECT 1 FROM tags t WHERE t.run = r.id)"

typedef struct pruning {
    store *s;
    int64_t before_s, created_s, id; /* behind that record the next batch begins */
    bool keep_tagged;
    assay_error *err;
} pruning;

/* Lists the next records as "1,2,3". */
static assay_status choose(pruning *x, sbuf *ids)
{
    store_query q;
    sbuf sql = {0};
    sbuf_printf(&sql,
                "SELECT r.id, r.created FROM runs r WHERE r.created < :before AND (r.created, r.id)"
                " > (:created, :id)%s ORDER BY r.created, r.id LIMIT %d",
                x->keep_tagged ? UNTAGGED : "", PRUNE_BATCH);
    store_ask_text(&q, x->s, &sql, x->err);
    store_set_int(&q, "before", x->before_s);
    store_set_int(&q, "created", x->created_s);
    store_set_int(&q, "id", x->id);
    while (store_next(&q)) {
        x->id = store_column_int(&q, 0);
        x->created_s = store_column_int(&q, 1);
        sbuf_printf(ids, "%s%lld", ids->n ? "," : "", (long long)x->id);
    }
    return store_done(&q);
}

/* One that was tagged since it was chosen stays. */
static assay_status delete_chosen(pruning *x, sbuf *ids, uint64_t *deleted)
{
    store_query q;
    sbuf sql = {0};
    /* SQLite knows an alias of DELETE since 3.15 */
    sbuf_printf(&sql, "DELETE FROM runs AS r WHERE r.id IN (%s)%s", sbuf_cstr(ids),
                x->keep_tagged ? UNTAGGED : "");
    sql.failed = sql.failed || ids->failed;
    store_ask_text(&q, x->s, &sql, x->err);
    TRY(store_run(&q));
    *deleted += (uint64_t)q.changes;
    return ASSAY_OK;
}

static void pause_ns(uint64_t ns)
{
    nanosleep(&(struct timespec){(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)}, NULL);
}

assay_status store_prune(store *s, int64_t before_s, bool keep_tagged, uint64_t *deleted,
                         assay_error *err)
{
    pruning x = {.s = s,
                 .before_s = before_s,
                 .created_s = INT64_MIN,
                 .keep_tagged = keep_tagged,
                 .err = err};
    assay_status status = store_may_write(s, err);
    *deleted = 0;
    for (bool more = true; more && status == ASSAY_OK;) {
        sbuf ids = {0};
        uint64_t since = clock_mono_ns();
        status = choose(&x, &ids);
        more = ids.n > 0;
        if (status == ASSAY_OK && more)
            status = delete_chosen(&x, &ids, deleted);
        sbuf_free(&ids);
        if (more)
            pause_ns(clock_mono_ns() - since); /* others that wait for the file get it */
    }
    return status;
}
