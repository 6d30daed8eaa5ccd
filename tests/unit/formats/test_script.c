/* TorchScript: the graph that its code describes, and damage of the file. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "formats/torch/script.h"
#include "formats/torch/script_impl.h"
#include "support/folder.h"
#include "support/foreign.h"

#define SCRIPT "tests/data/torch/script.pt"

static void the_code_is_followed(void **state)
{
    (void)state;
    ir_model *m = foreign_model(SCRIPT);
    const ir_node *conv = foreign_node_of(m, "Conv", 0);
    assert_non_null(conv);
    assert_true(str_is(foreign_input_of(m, conv, 1)->name, "0.weight"));
    assert_non_null(foreign_node_of(m, "BatchNormalization", 0));
    assert_non_null(foreign_node_of(m, "Gemm", 0));
    ir_model_free(m);
}

static assay_status parse(const char *text, script_file *f)
{
    arena *a = arena_new((size_t)1 << 20);
    assay_error err = {0};
    assay_status s = script_parse(str_of(text), STR("__torch__"), a, f, &err);
    assert_int_equal(s == ASSAY_OK, err.code == ASSAY_OK);
    arena_free(a);
    return s;
}

static void code_outside_of_the_subset_is_refused(void **state)
{
    static const char *const bad[] = {"def f(x):\n  with x:\n    pass\n",
                                      "def f(x:\n",

                                      "def f(x):\n  return x +\n",
                                      "  x = 1\n",
                                      "x = \"a\n",
                                      "def f(x):\n  x = [1, 2\n",
                                      "def f(x):\nreturn x\n"};
    script_file f;
    (void)state;
    memset(&f, 0, sizeof f);
    assert_int_equal(
        parse("def f(x: int=-1) -> Tuple[int, int]:\n  a, b, = (x, 2.5)\n  return (a, b)\n", &f),
        ASSAY_OK);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        memset(&f, 0, sizeof f);
        assert_int_equal(parse(bad[i], &f), ASSAY_ERR_UNSUPPORTED);
    }
}

static void damage_has_a_status(void **state)
{
    size_t n;
    uint8_t *bytes = foreign_load(SCRIPT, &n);
    const format_row row = {.reader = FORMAT_FOREIGN, .read = script_read};
    (void)state;
    for (size_t i = 0; i < n; i += 61) {
        assay_error err = {0};
        ir_model *m = NULL;
        bytes[i] ^= 0x21;
        if (format_read_bytes(&row, bytes, n, FOREIGN_TEST_LIMIT, &m, &err) == ASSAY_OK)
            ir_model_free(m);
        else
            assert_true(err.code != ASSAY_OK && err.message[0]);
        bytes[i] ^= 0x21;
    }
    free(bytes);
}

static void reads_the_structure_only(void **state)
{
    (void)state;
    foreign_reads_little(SCRIPT, "data/0", script_read);
}

int run_test_script(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_code_is_followed),
        cmocka_unit_test(code_outside_of_the_subset_is_refused),
        cmocka_unit_test(damage_has_a_status),
        cmocka_unit_test(reads_the_structure_only),
    };
    return cmocka_run_group_tests(tests, make_test_folder, remove_test_folder);
}
