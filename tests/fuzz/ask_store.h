/* Every question that a history can be asked, for the fuzz targets of its backends. Rows may hold anything: each answer
 * is ASSAY_OK or a failure with a sentence. */
#ifndef FUZZ_ASK_STORE_H
#define FUZZ_ASK_STORE_H

#include <stdlib.h>

#include "profile/metrics.h"
#include "profile/profile_read.h"
#include "store/store.h"

#define ASK_LIMIT_BYTES ((size_t)64 << 20)

static void promise(bool kept)
{
    if (!kept)
        abort();
}

static bool answered(assay_status status, const assay_error *err)
{
    promise((status == ASSAY_OK) == (err->message[0] == '\0'));
    return status == ASSAY_OK;
}

static void ask_stream(store *s, int64_t id)
{
    assay_error err = {0};
    store_stream *d = NULL;
    char piece[4096];
    size_t n = 1;
    uint64_t size, memory;
    answered(store_document_size(s, id, &size, &memory, &err), &err);
    err = (assay_error){0};
    if (!answered(store_stream_open(s, id, &d, &err), &err))
        return;
    for (assay_status status = ASSAY_OK; status == ASSAY_OK && n;)
        answered(status = store_stream_read(d, piece, sizeof piece, &n, &err), &err);
    store_stream_close(d);
}

static void ask_documents(store *s, const history_list *list, arena *a)
{
    for (uint32_t i = 0; i < list->n && i < 8; i++) {
        assay_error err = {0};
        str text;
        answered(store_document(s, list->records[i].id, a, &text, &err), &err);
        ask_stream(s, list->records[i].id);
    }
}

static void ask_lists(store *s, arena *a)
{
    const store_filter filters[] = {{.by_id = true},
                                    {.query = STR("e"), .limit = 3, .offset = 1},
                                    {.model = STR("net")},
                                    {.model = STR("a/net"), .since_s = 1},
                                    {.tag = STR("a"), .limit = 2},
                                    {.machine = STR("m"), .id = 1},
                                    {.sweep = STR("s"), .task = 1}};
    for (size_t i = 0; i < sizeof filters / sizeof *filters; i++) {
        assay_error err = {0};
        history_list list = {0};
        sbuf text = {0};
        uint64_t n;
        if (answered(store_list(s, &filters[i], a, &list, &err), &err) && i == 0)
            ask_documents(s, &list, a);
        err = (assay_error){0};
        answered(store_export(s, &filters[i], &text, &n, &err), &err);
        sbuf_free(&text);
    }
}

static void ask_figures(store *s, arena *a)
{
    const store_filter one = {.model = STR("net"), .limit = 100}, all = {.limit = 100};
    for (uint32_t i = 0; i < metric_table_n; i += 4) {
        const metric_row *m = &metric_table[i];
        history_trend trend = {0};
        fleet_points points = {0};
        assay_error err = {0};
        answered(store_series(s, &one, m, i & 4, a, &trend, &err), &err);
        err = (assay_error){0};
        answered(store_points(s, &all, m, a, &points, &err), &err);
    }
}

static void ask_models(store *s, arena *a)
{
    assay_error err = {0};
    history_models models = {0};
    answered(store_models(s, a, &models, &err), &err);
}

static void ask_changes(store *s)
{
    const str tags[] = {STR("a"), STR("b")};
    const store_tags some = {tags, 2}, none = {0};
    assay_error err = {0};
    store *other = NULL;
    store_copied copied = {0};
    uint64_t deleted;
    answered(store_tag(s, 1, some, none, &err), &err);
    err = (assay_error){0};
    answered(store_tag(s, 1, none, some, &err), &err);
    err = (assay_error){0};
    promise(store_open(NULL, true, &other, NULL) == ASSAY_OK);
    answered(store_copy(s, other, &copied, &err), &err);
    err = (assay_error){0};
    answered(store_copy(other, s, &copied, &err), &err);
    store_close(other);
    err = (assay_error){0};
    answered(store_delete(s, 1, &err), &err);
    err = (assay_error){0};
    answered(store_prune(s, INT64_MAX / 2, true, &deleted, &err), &err);
    err = (assay_error){0};
    answered(store_prune(s, INT64_MAX / 2, false, &deleted, &err), &err);
}

/* A save, twice as the same task. */
static void ask_save(store *s)
{
    static const char text[] =
        "{\"schema\":\"assay.profile/1\",\"model\":\"net\",\"context\":{\"timestamp\":"
        "\"2026-11-01T00:00:00Z\"},\"total_macs\":20,\"latency\":{\"mean\":5.5,\"runs\":3},"
        "\"configurations\":[{\"batch\":1,\"precision\":\"fp32\",\"runs\":3}]}";
    const str tags[] = {STR("a"), STR("q\"\\")};
    profile *p = NULL;
    promise(profile_read(str_of(text), "text", ASK_LIMIT_BYTES, &p, NULL) == ASSAY_OK);
    for (int i = 0; i < 3; i++) {
        const store_label label = {{tags, i ? 2 : 0}, STR("m"), i ? STR("s") : STR(""), 7, 0};
        store_added added = {0};
        assay_error err = {0};
        answered(store_add(s, p, str_of(text), &label, &added, &err), &err);
    }
    profile_free(p);
}

static void ask_everything(store *s)
{
    arena *a = arena_new(ASK_LIMIT_BYTES);
    promise(a != NULL);
    ask_save(s);
    ask_lists(s, a);
    ask_models(s, a);
    ask_figures(s, a);
    ask_changes(s);
    arena_free(a);
}

#endif
