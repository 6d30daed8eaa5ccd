/* Importing arbitrary bytes into a history: all of them or nothing. What was taken can be listed, exported and
 * imported into another history, run for run.
 */
#include <stdint.h>
#include <stdlib.h>

#include "fuzz/ask_store.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint64_t count(store *s)
{
    const store_filter all = {0};
    history_list list = {0};
    arena *a = arena_new((size_t)64 << 20);
    promise(a && store_list(s, &all, a, &list, NULL) == ASSAY_OK && list.n == list.total);
    arena_free(a);
    return list.total;
}

static void check(store *s, uint64_t runs)
{
    const store_filter all = {0};
    store_imported again = {0};
    sbuf text = {0};
    store *other = NULL;
    uint64_t n = 0;
    promise(store_export(s, &all, &text, &n, NULL) == ASSAY_OK && n == runs);
    promise(store_open(NULL, true, &other, NULL) == ASSAY_OK);
    promise(store_import(other, (str){text.p, (uint32_t)text.n}, "again", NULL, &again, NULL) ==
            ASSAY_OK);
    promise(again.added == runs && count(other) == runs);
    store_close(other);
    sbuf_free(&text);
}

/* The good lines alone: then there is a sentence about each of the others. */
static void import_good_lines(str text)
{
    store_imported done = {0};
    assay_error err = {0};
    sbuf bad = {0};
    store *s = NULL;
    promise(store_open(NULL, true, &s, NULL) == ASSAY_OK);
    if (answered(store_import(s, text, "fuzz", &bad, &done, &err), &err))
        promise(count(s) == done.added && (bad.n > 0) == (done.bad > 0));
    ask_everything(s);
    store_close(s);
    sbuf_free(&bad);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    store_imported done = {0};
    assay_error err = {0};
    store *s = NULL;
    if (size > 1 << 18)
        return 0;
    promise(store_open(NULL, true, &s, NULL) == ASSAY_OK);
    const str text = {size ? (const char *)data : "", (uint32_t)size};
    assay_status status = store_import(s, text, "fuzz", NULL, &done, &err);
    promise((status == ASSAY_OK) == (err.message[0] == '\0'));
    promise(count(s) == (status == ASSAY_OK ? done.added : 0));
    if (status == ASSAY_OK)
        check(s, done.added);
    store_close(s);
    import_good_lines(text);
    return 0;
}
