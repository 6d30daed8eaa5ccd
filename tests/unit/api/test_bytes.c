/* Models from bytes: every format that is complete in one file gives what the file gives. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <assay/assay.h>

#include "support/values.h"

static uint8_t *load_file(const char *path, size_t *n)
{
    enum { MOST = 1 << 20 };
    uint8_t *p = malloc(MOST);
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    *n = fread(p, 1, MOST, f);
    fclose(f);
    assert_true(*n > 0 && *n < MOST);
    return p;
}

static totals analyse(assay_model *m)
{
    assay_error err = {0};
    assay_result *r = NULL;
    if (assay_analyze(m, NULL, &r, &err) != ASSAY_OK)
        fail_msg("%s", err.message);
    totals t = totals_of(r);
    assay_result_free(r);
    assay_model_free(m);
    return t;
}

static void bytes_are_as_good_as_a_file(void **state)
{
    static const char *const paths[] = {
        "tests/models/resnet18.onnx",    "tests/data/tflite/float.tflite",
        "tests/data/keras/tiny.h5",      "tests/data/keras/tiny.keras",
        "tests/data/keras/graph_2.json", "tests/data/torch/state.pth",
        "tests/data/torch/legacy.pth",   "tests/data/torch/checkpoint.ckpt",
    };
    (void)state;
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        assay_error err = {0};
        assay_model *a = NULL, *b = NULL;
        size_t n;
        uint8_t *p = load_file(paths[i], &n);
        assert_int_equal(assay_model_open(paths[i], &a, &err), ASSAY_OK);
        if (assay_model_from_bytes(p, n, "model", NULL, &b, &err) != ASSAY_OK)
            fail_msg("%s: %s", paths[i], err.message);
        totals x = analyse(a), y = analyse(b);
        assert_true(x.parameters > 0);
        assert_int_equal(x.parameters, y.parameters);
        assert_int_equal(x.buffers, y.buffers);
        assert_int_equal(x.macs, y.macs);
        free(p);
    }
}

static void bytes_of_something_else_are_named(void **state)
{
    static const char png[] = "\x89PNG\r\n\x1a\n0000000000";
    assay_error err = {0};
    assay_model *m = NULL;
    (void)state;
    assert_int_equal(assay_model_from_bytes(png, sizeof png, "x.h5", NULL, &m, &err),
                     ASSAY_ERR_UNSUPPORTED);
    assert_non_null(strstr(err.message, "PNG"));
}

int run_test_bytes(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_are_as_good_as_a_file),
        cmocka_unit_test(bytes_of_something_else_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
