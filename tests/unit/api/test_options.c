/* The table of options: every row is whole, and values are read by their kind. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "api/api.h"

static bool is_lower_word(const char *s)
{
    return *s && strspn(s, "abcdefghijklmnopqrstuvwxyz-") == strlen(s);
}

static void check_name(const assay_option_info *o, size_t index)
{
    assay_option_info other = {.size = sizeof other};
    if (!is_lower_word(o->name))
        fail_msg("'%s' is no name", o->name);
    for (size_t i = 0; i < index && assay_option_at(i, &other); i++) {
        if (strcmp(other.name, o->name) == 0)
            fail_msg("--%s has two rows", o->name);
        if (o->letter && other.letter == o->letter)
            fail_msg("-%c is --%s and --%s", o->letter, o->name, other.name);
    }
}

/* Words one space apart, each a command or a class. */
static void check_commands(const assay_option_info *o)
{
    char words[256], *rest = NULL;
    snprintf(words, sizeof words, "%s", o->commands);
    assert_int_equal(strlen(words), strlen(o->commands));
    for (char *w = strtok_r(words, " ", &rest); w; w = strtok_r(NULL, " ", &rest))
        if (!is_lower_word(w + (*w == '@')))
            fail_msg("--%s: '%s' is no command", o->name, w);
}

static void check_text(const assay_option_info *o)
{
    size_t n = strlen(o->about);
    if (n < 10 || o->about[n - 1] != '.' || !(o->about[0] >= 'A' && o->about[0] <= 'Z'))
        fail_msg("--%s: '%s' is no sentence", o->name, o->about);
    assert_true(o->topic && *o->topic && o->values && o->formats);
    assert_true(o->min <= o->max);
}

static void test_rows(void **state)
{
    (void)state;
    assay_option_info o = {.size = sizeof o};
    size_t n = 0;
    for (; assay_option_at(n, &o); n++) {
        check_name(&o, n);
        check_commands(&o);
        check_text(&o);
    }
    assert_true(n > 50);
    assert_true(n > 60);
}

/* What is not given is not known; what is given can be asked for. */
static void test_given(void **state)
{
    (void)state;
    assay_options *o = assay_options_new();
    assay_option_info info = {.size = sizeof info};
    assert_non_null(o);
    for (size_t i = 0; assay_option_at(i, &info); i++)
        assert_null(assay_options_get(o, info.name));
    assert_int_equal(assay_options_set(o, "top", "7", NULL), ASSAY_OK);
    assert_int_equal(assay_options_set(o, "strict", NULL, NULL), ASSAY_OK);
    assert_int_equal(assay_options_set(o, "batch", "zero", NULL), ASSAY_ERR_USAGE);
    assert_string_equal(assay_options_get(o, "top"), "7");
    assert_string_equal(assay_options_get(o, "strict"), "true");
    assert_null(assay_options_get(o, "batch"));
    assert_null(assay_options_get(o, "no-such-option"));
    assert_null(assay_options_get(NULL, "top"));
    assay_options_free(o);
}

/* A default stands in the row alone: what help shows is what the field holds, and may be set again. */
static void test_defaults(void **state)
{
    (void)state;
    const assay_options none = options_default();
    assay_options *o = assay_options_new();
    assay_option_info info = {.size = sizeof info};
    size_t defaults = 0;
    for (size_t i = 0; assay_option_at(i, &info); i++) {
        if (!*info.initial)
            continue;
        defaults++;
        assert_int_equal(assay_options_set(o, info.name, info.initial, NULL), ASSAY_OK);
    }
    assert_true(defaults >= 8);
    assert_memory_equal(&o->view, &none.view, sizeof none.view);
    assert_memory_equal(&o->measure, &none.measure, sizeof none.measure);
    assert_memory_equal(&o->fusion, &none.fusion, sizeof none.fusion);
    assert_true(none.view.top == 10 && none.measure.num_runs == 50 && none.fusion.strategy == 1);
    assert_true(none.pipeline.guidance < 0 && none.check.tolerance == 2);
    assay_options_free(o);
}

typedef struct value_case {
    const char *name, *value;
    assay_status status;
} value_case;

static const value_case values[] = {
    {"batch", "1", ASSAY_OK},
    {"batch", "0", ASSAY_ERR_USAGE},
    {"batch", "+1", ASSAY_ERR_USAGE},
    {"batch", "1073741825", ASSAY_ERR_USAGE},
    {"batch", "9999999999999999999999", ASSAY_ERR_USAGE},
    {"batch", NULL, ASSAY_ERR_USAGE},
    {"duration", "0", ASSAY_ERR_USAGE}, /* above 0 */
    {"duration", "0.5", ASSAY_OK},
    {"duration", "1.2.3", ASSAY_ERR_USAGE},
    {"interval", "1", ASSAY_OK}, /* from 1 */
    {"interval", "0.9", ASSAY_ERR_USAGE},
    {"guidance-scale", "0", ASSAY_OK},
    {"guidance-scale", ".", ASSAY_ERR_USAGE},
    {"memory-limit", "1.5GiB", ASSAY_OK},
    {"memory-limit", "0", ASSAY_ERR_USAGE},
    {"memory-limit", "12XB", ASSAY_ERR_USAGE},
    {"unit", "tokens", ASSAY_OK},
    {"unit", "token", ASSAY_ERR_USAGE},
    {"unit", "", ASSAY_ERR_USAGE},
    {"device", "cuda:3", ASSAY_OK}, /* an open set */
    {"strategy", "none", ASSAY_OK},
    {"strategy", "none|conventional", ASSAY_ERR_USAGE},
    {"opt-level", "3", ASSAY_ERR_USAGE},
    {"weight-bits", "7", ASSAY_OK},
    {"at", "", ASSAY_ERR_USAGE},
    {"at", "conv1", ASSAY_OK},
    {"precision", "fp32,int8", ASSAY_OK},
    {"precision", "fp32,", ASSAY_ERR_USAGE},
    {"precision", "", ASSAY_ERR_USAGE},
    {"strict", "false", ASSAY_OK},
    {"strict", "no", ASSAY_ERR_USAGE},
};

static void test_kinds(void **state)
{
    (void)state;
    assay_options *o = assay_options_new();
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        const value_case *v = &values[i];
        assay_error err;
        assay_status s = assay_options_set(o, v->name, v->value, &err);
        if (s != v->status)
            fail_msg("--%s %s: %d", v->name, v->value ? v->value : "(nothing)", (int)s);
        /* The command line puts dashes before a name that begins the sentence. */
        if (s != ASSAY_OK)
            assert_int_equal(strncmp(err.message, v->name, strlen(v->name)), 0);
    }
    assert_int_equal(o->measure.memory_limit, (uint64_t)3 << 29);
    assay_options_free(o);
}

/* Words of a list are counted, and no more than the row allows are taken. */
static void test_lists(void **state)
{
    (void)state;
    assay_options *o = assay_options_new();
    int taken = 0;
    while (assay_options_set(o, "at", "x", NULL) == ASSAY_OK)
        taken++;
    assert_true(taken > 1);
    assert_int_equal(o->analysis.at.n, taken);
    assay_options_free(o);
}

int run_test_options(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),  cmocka_unit_test(test_given), cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_kinds), cmocka_unit_test(test_lists),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
