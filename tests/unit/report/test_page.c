/* The page with data in it: what is inlined is the documents to the byte, whatever they hold. What a browser
 * makes of it is tests/page/. Without node there is no page, and the sentence that says so is looked at. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <cmocka.h>

#include <assay/study.h>

#include "report/page.h"
#include "report/report.h"
#include "support/skip.h"

static unsigned char digit(char c)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *at = strchr(digits, c);
    assert_non_null(at);
    return (unsigned char)(at - digits);
}

/* The JSON inside a page; the caller's. */
static char *inside(const char *page)
{
    static const char mark[] = "data-encoding=\"gzip\">";
    const char *at = strstr(page, mark);
    assert_non_null(at);
    at += strlen(mark);
    size_t n = strcspn(at, "<"), bytes = 0, room = (size_t)1 << 24;
    unsigned char *packed = malloc(n);
    char *text = malloc(room);
    assert_int_equal(n % 4, 0);
    for (size_t i = 0; i < n; i += 4) {
        uint32_t v = 0;
        int pad = (at[i + 2] == '=') + (at[i + 3] == '=');
        for (int k = 0; k < 4; k++)
            v = v << 6 | (at[i + k] == '=' ? 0 : digit(at[i + k]));
        for (int k = 0; k < 3 - pad; k++)
            packed[bytes++] = (unsigned char)(v >> (16 - 8 * k));
    }
    z_stream z = {.next_in = packed, .avail_in = (uInt)bytes, .next_out = (Bytef *)text};
    z.avail_out = (uInt)room - 1;
    assert_int_equal(inflateInit2(&z, 15 + 16), Z_OK);
    assert_int_equal(inflate(&z, Z_FINISH), Z_STREAM_END);
    assert_int_equal(z.avail_in, 0);
    text[z.total_out] = '\0';
    inflateEnd(&z);
    free(packed);
    return text;
}

static void need_page(void)
{
    if (!report_page_exists())
        SKIP_BECAUSE("built without the page");
}

static void test_documents(void **state)
{
    (void)state;
    need_page();
    const str documents[] = {STR("{\"a\":\"</script><script>alert(1)</script>\"}"),
                             STR("{\"b\":\"@ASSAY_DATA@ @ASSAY_CONNECT@\"}")};
    sbuf out = {0};
    assay_error err;
    assert_int_equal(report_page(documents, 2, &(page_how){.no_graphs = true}, &out, &err),
                     ASSAY_OK);
    char *json = inside(sbuf_cstr(&out));
    assert_non_null(strstr(json, "\"mode\":\"report\",\"graphs\":false,\"details\":true"));
    assert_non_null(strstr(json,
                           "\"documents\":[{\"a\":\"</script><script>alert(1)</script>\"},"
                           "{\"b\":\"@ASSAY_DATA@ @ASSAY_CONNECT@\"}],\"views\":[null,null]}"));
    assert_non_null(strstr(out.p, "connect-src 'none'"));
    assert_null(strstr(out.p, "@ASSAY_"));
    assert_null(strstr(out.p, "alert(1)"));
    free(json);
    sbuf_free(&out);
}

/* Every length: base64 has three ways to end. */
static void test_lengths(void **state)
{
    (void)state;
    need_page();
    char text[64] = "\"";
    for (uint32_t n = 1; n < 12; n++) {
        memset(text + 1, 'x', n);
        strcpy(text + 1 + n, "\"");
        sbuf out = {0};
        const str document = str_of(text);
        assert_int_equal(report_page(&document, 1, &(page_how){0}, &out, NULL), ASSAY_OK);
        char *json = inside(sbuf_cstr(&out));
        assert_non_null(strstr(json, text));
        free(json);
        sbuf_free(&out);
    }
}

static void test_api(void **state)
{
    (void)state;
    need_page();
    assay_error err;
    assay_model *model;
    assay_result *made;
    char *text, *again;
    size_t n, m;
    assert_int_equal(assay_model_open("lenet", &model, &err), ASSAY_OK);
    assert_int_equal(assay_analyze(model, NULL, &made, &err), ASSAY_OK);
    const assay_result *const both[] = {made, made};
    assay_result *comparison;
    assert_int_equal(assay_results_write(both, 2, "html", NULL, &text, &n, &err), ASSAY_OK);
    assert_int_equal(strlen(text), n);
    char *json = inside(text);
    char *first = strstr(json, "\"schema\":\"assay.profile/1\"");
    assert_non_null(first);
    assert_non_null(strstr(first + 1, "\"schema\":\"assay.profile/1\""));
    /* The same profile gives the same bytes. */
    assert_int_equal(assay_results_write(both, 2, "html", NULL, &again, &m, &err), ASSAY_OK);
    assert_int_equal(m, n);
    assert_memory_equal(again, text, n);
    assay_free(again);
    assay_free(text);
    free(json);
    assert_int_equal(assay_dashboard(&text, &n, &err), ASSAY_OK);
    assert_non_null(strstr(text, "connect-src 'self'"));
    json = inside(text);
    assert_non_null(strstr(json, "\"mode\":\"dashboard\""));
    assert_non_null(strstr(json, "\"documents\":[]"));
    free(json);
    assay_free(text);
    assert_int_equal(assay_compare(both, 2, NULL, &comparison, &err), ASSAY_OK);
    assert_int_equal(assay_result_write(comparison, "html", NULL, &text, &n, &err), ASSAY_OK);
    assay_result_free(comparison);
    json = inside(text);
    assert_non_null(strstr(json, "assay.comparison/1"));
    free(json);
    assay_free(text);
    assay_result_free(made);
    assay_model_free(model);
}

static void test_absent(void **state)
{
    (void)state;
    assay_error err;
    sbuf out = {0};
    if (report_page_exists()) {
        assert_non_null(strstr(assay_page_licenses(), "Apache License"));
        assert_non_null(strstr(assay_page_licenses(), "Redistribution and use"));
        return;
    }
    assert_int_equal(report_page(NULL, 0, &(page_how){0}, &out, &err), ASSAY_ERR_UNSUPPORTED);
    assert_non_null(strstr(err.message, "node"));
    assert_string_equal(assay_page_licenses(), "");
}

int run_test_page(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_documents),
        cmocka_unit_test(test_lengths),
        cmocka_unit_test(test_api),
        cmocka_unit_test(test_absent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
