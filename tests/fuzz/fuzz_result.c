/* The reader of results on arbitrary bytes. Whatever it takes keeps its promises: every writer can show it,
 * and what is written of it is read again and written the same.
 */
#include <stdint.h>
#include <stdlib.h>

#include <assay/assay.h>

#include "base/sbuf.h"
#include "profile/profile_read.h"
#include "report/report.h"

#define LIMIT_BYTES ((size_t)64 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void promise(bool kept)
{
    if (!kept)
        abort();
}

static void write_all(const profile *p)
{
    static const char *const views[] = {NULL, "bench", "layers", "memory"};
    static const char *const rows[] = {NULL, "runs", "batches", NULL};
    for (int v = 0; v < 4; v++) {
        const report_options o = {
            .width = 80, .top = 5, .depth = 3, .verbose = v & 1, .view = views[v], .rows = rows[v]};
        for (uint32_t k = 0; k < report_table_n; k++) {
            sbuf out = {0};
            report_table[k].write(p, &o, &out, NULL);
            sbuf_free(&out);
        }
    }
}

static void check(const profile *p)
{
    sbuf one = {0}, two = {0};
    profile *again = NULL;
    profile_write_json(p, &one, 2);
    promise(!one.failed);
    promise(profile_read((str){one.p, (uint32_t)one.n}, "one", LIMIT_BYTES, &again, NULL) ==
            ASSAY_OK);
    profile_write_json(again, &two, 2);
    promise(one.n == two.n && memcmp(one.p, two.p, one.n) == 0);
    write_all(p);
    profile_free(again);
    sbuf_free(&one);
    sbuf_free(&two);
}

/* What is written of a result of any kind is read again, and written the same. */
static void write_twice(const assay_result *of)
{
    assay_result *again = NULL;
    char *one = NULL, *two = NULL;
    size_t n = 0, m = 0;
    if (assay_result_write(of, "json", NULL, &one, &n, NULL) == ASSAY_OK) {
        promise(assay_result_from_json(one, n, "one", NULL, &again, NULL) == ASSAY_OK);
        promise(assay_result_write(again, "json", NULL, &two, &m, NULL) == ASSAY_OK);
        promise(n == m && memcmp(one, two, n) == 0);
    }
    assay_free(one);
    assay_free(two);
    assay_result_free(again);
}

/* Documents that are no profile: shown as far as they go, or refused with a sentence. */
static void show(const uint8_t *data, size_t size)
{
    static const char *const formats[] = {"md", "console", "csv", "summary-html"};
    assay_error err = {0};
    assay_result *of = NULL;
    assay_status read = assay_result_from_json(data, size, "fuzz", NULL, &of, &err);
    promise(read == ASSAY_OK ? of != NULL : !of && err.message[0]);
    if (of)
        write_twice(of);
    for (int i = 0; of && i < 4; i++) {
        char *text = NULL;
        size_t n = 0;
        assay_status s = assay_result_write(of, formats[i], NULL, &text, &n, &err);
        promise(s == ASSAY_OK ? text != NULL : !text && err.message[0]);
        assay_free(text);
    }
    assay_result_free(of);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    profile *p = NULL;
    assay_error err = {0};
    if (size > 1 << 20)
        return 0;
    if (profile_read((str){(const char *)data, (uint32_t)size}, "fuzz", LIMIT_BYTES, &p, &err) ==
        ASSAY_OK)
        check(p);
    else
        show(data, size);
    profile_free(p);
    return 0;
}
