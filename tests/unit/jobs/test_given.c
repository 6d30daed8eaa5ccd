/* Inputs that the caller holds in memory: conversion, batch sizes other than the data's, refusals. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "jobs/measure.h"

#define RESNET "tests/models/resnet18.onnx"

static assay_status cast(ir_dtype from, const void *data, uint64_t n, ir_dtype to, void *out)
{
    bool done = ir_can_cast(from, to) && ir_cast(from, data, n, to, out) == n;
    return done ? ASSAY_OK : ASSAY_ERR_USAGE;
}

static void test_floats(void **state)
{
    const double d[] = {0, 1.5, -2.25, 1e300, -INFINITY};
    const uint16_t half[] = {0x3c00, 0xc000, 0x0001, 0x7c00, 0x8000}; /* 1 -2 2^-24 inf -0 */
    const uint16_t brain[] = {0x3f80, 0xc040};
    float f[5];
    double back[5];
    uint16_t h[2];
    (void)state;
    assert_int_equal(cast(IR_FLOAT64, d, 5, IR_FLOAT32, f), ASSAY_OK);
    assert_true(f[1] == 1.5f && f[2] == -2.25f && isinf(f[3]) && isinf(f[4]));
    assert_int_equal(cast(IR_FLOAT16, half, 5, IR_FLOAT64, back), ASSAY_OK);
    assert_true(back[0] == 1 && back[1] == -2 && back[2] == ldexp(1, -24) && isinf(back[3]));
    assert_true(back[4] == 0 && signbit(back[4]));
    assert_int_equal(cast(IR_BFLOAT16, brain, 2, IR_FLOAT16, h), ASSAY_OK);
    assert_int_equal(h[0], 0x3c00);
    assert_int_equal(h[1], 0xc200);
}

static void test_whole_numbers(void **state)
{
    const int64_t fit[] = {-128, 0, 127}, high[] = {128}, low[] = {-129}, yes[] = {0, 1};
    const uint64_t huge[] = {UINT64_MAX};
    const int64_t least[] = {INT64_MIN};
    int8_t b[3];
    uint8_t u[2];
    int64_t w[3];
    float f[3];
    (void)state;
    assert_int_equal(cast(IR_INT64, fit, 3, IR_INT8, b), ASSAY_OK);
    assert_true(b[0] == -128 && b[1] == 0 && b[2] == 127);
    assert_int_equal(cast(IR_INT8, b, 3, IR_INT64, w), ASSAY_OK);
    assert_true(w[0] == -128 && w[2] == 127);
    assert_int_equal(cast(IR_INT64, fit, 3, IR_FLOAT32, f), ASSAY_OK);
    assert_true(f[0] == -128 && f[2] == 127);
    assert_int_equal(cast(IR_INT64, high, 1, IR_INT8, b), ASSAY_ERR_USAGE);
    assert_int_equal(cast(IR_INT64, low, 1, IR_INT8, b), ASSAY_ERR_USAGE);
    assert_int_equal(cast(IR_INT64, low, 1, IR_UINT8, u), ASSAY_ERR_USAGE);
    assert_int_equal(cast(IR_UINT64, huge, 1, IR_INT64, w), ASSAY_ERR_USAGE);
    assert_int_equal(cast(IR_INT64, least, 1, IR_INT64, w), ASSAY_OK);
    assert_true(w[0] == INT64_MIN);
    assert_int_equal(cast(IR_INT64, yes, 2, IR_BOOL, u), ASSAY_OK);
    assert_true(u[0] == 0 && u[1] == 1);
    assert_int_equal(cast(IR_INT64, high, 1, IR_BOOL, u), ASSAY_ERR_USAGE);
}

static void test_refusals(void **state)
{
    const float f[] = {1};
    int64_t w[1];
    assay_error err;
    (void)state;
    assert_int_equal(cast(IR_FLOAT32, f, 1, IR_INT64, w), ASSAY_ERR_USAGE);
    assert_int_equal(cast(IR_COMPLEX64, f, 0, IR_FLOAT32, w), ASSAY_ERR_USAGE);
    assay_options *o = assay_options_new();
    const int64_t dims[] = {2, 3}, bad[] = {2, -3}, many[] = {INT64_MAX, INT64_MAX};
    const float data[6] = {0};
    assay_input in = {sizeof in, "x", "float32", 2, dims, data, sizeof data};
    assert_int_equal(assay_options_input(o, &in, &err), ASSAY_OK);
    in.n_bytes--;
    assert_int_equal(assay_options_input(o, &in, &err), ASSAY_ERR_USAGE);
    assert_non_null(strstr(err.message, "23 bytes"));
    in.n_bytes++, in.dims = bad;
    assert_int_equal(assay_options_input(o, &in, &err), ASSAY_ERR_USAGE);
    in.dims = many;
    assert_int_equal(assay_options_input(o, &in, NULL), ASSAY_ERR_USAGE);
    in.dims = dims, in.dtype = "float31";
    assert_int_equal(assay_options_input(o, &in, &err), ASSAY_ERR_USAGE);
    in.dtype = NULL;
    assert_int_equal(assay_options_input(o, &in, &err), ASSAY_ERR_USAGE);
    in.dtype = "float32", in.rank = 65;
    assert_int_equal(assay_options_input(o, &in, &err), ASSAY_ERR_USAGE);
    assay_options_free(o);
}

enum { SIDE = 32, SAMPLE = 3 * SIDE * SIDE };

static assay_status run_at(int64_t given, int64_t batch, const char *dtype, const void *data,
                           size_t bytes, job_runnable *x)
{
    assay_error err;
    assay_model *m = NULL;
    assay_options *o = assay_options_new();
    const int64_t dims[] = {given, 3, SIDE, SIDE};
    const assay_input in = {sizeof in, NULL, dtype, 4, dims, data, bytes};
    assert_int_equal(assay_model_open("resnet18", &m, &err), ASSAY_OK);
    assert_int_equal(assay_options_input(o, &in, &err), ASSAY_OK);
    assay_status s = job_runnable_make(m, o, batch, x, &err);
    assay_model_free(m);
    assay_options_free(o);
    return s;
}

static void test_batches(void **state)
{
    static float two[2 * SAMPLE];
    static double doubles[2 * SAMPLE];
    job_runnable x;
    (void)state;
    for (int i = 0; i < 2 * SAMPLE; i++)
        doubles[i] = two[i] = (float)i;
    /* As it is: borrowed. The shape is the data's. */
    assert_int_equal(run_at(2, 0, "float32", two, sizeof two, &x), ASSAY_OK);
    assert_int_equal(x.n_wants, 1);
    assert_int_equal(x.wants[0].dims[0], 2);
    assert_int_equal(x.wants[0].dims[2], SIDE);
    assert_ptr_equal(x.wants[0].data, two);
    job_runnable_free(&x);
    /* The first of two. */
    assert_int_equal(run_at(2, 1, "float32", two, sizeof two, &x), ASSAY_OK);
    assert_int_equal(x.wants[0].data_bytes, sizeof two / 2);
    job_runnable_free(&x);
    /* Five of two, converted: in turn. */
    assert_int_equal(run_at(2, 5, "float64", doubles, sizeof doubles, &x), ASSAY_OK);
    const float *f = x.wants[0].data;
    assert_int_equal(x.wants[0].data_bytes, sizeof(float) * 5 * SAMPLE);
    for (int k = 0; k < 5; k++)
        assert_true(f[k * SAMPLE] == two[k % 2 * SAMPLE] &&
                    f[k * SAMPLE + 77] == two[k % 2 * SAMPLE + 77]);
    job_runnable_free(&x);
}

static void test_unfit(void **state)
{
    static int64_t whole[SAMPLE];
    assay_error err;
    assay_model *m = NULL;
    assay_options *o = assay_options_new();
    const int64_t dims[] = {1, 3, SIDE, SIDE};
    assay_input in = {sizeof in, "nobody", "int64", 4, dims, whole, sizeof whole};
    job_runnable x;
    (void)state;
    /* Whole numbers are fine for a float input. */
    assert_int_equal(run_at(1, 0, "int64", whole, sizeof whole, &x), ASSAY_OK);
    job_runnable_free(&x);
    assert_int_equal(assay_model_open(RESNET, &m, &err), ASSAY_OK);
    assert_int_equal(assay_options_input(o, &in, &err), ASSAY_OK);
    assert_int_equal(job_runnable_make(m, o, 0, &x, &err), ASSAY_ERR_USAGE);
    assert_non_null(strstr(err.message, "nobody"));
    job_runnable_free(&x);
    assay_options_free(o);
    assay_model_free(m);
}

/* A file that fixes its batch is run with the data's. */
static void test_fixed_batch(void **state)
{
    static float three[3 * 3 * 224 * 224];
    assay_error err;
    assay_model *m = NULL;
    assay_options *o = assay_options_new();
    const int64_t dims[] = {3, 3, 224, 224};
    const assay_input in = {sizeof in, NULL, "float32", 4, dims, three, sizeof three};
    job_runnable x;
    (void)state;
    assert_int_equal(assay_model_open(RESNET, &m, &err), ASSAY_OK);
    assert_int_equal(assay_options_input(o, &in, &err), ASSAY_OK);
    assert_int_equal(job_runnable_make(m, o, 0, &x, &err), ASSAY_OK);
    assert_true(x.rebatched);
    assert_int_equal(x.batch_shown, 3);
    assert_ptr_equal(x.wants[0].data, three);
    job_runnable_free(&x);
    assay_options_free(o);
    assay_model_free(m);
}

int run_test_given(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_floats),   cmocka_unit_test(test_whole_numbers),
        cmocka_unit_test(test_refusals), cmocka_unit_test(test_batches),
        cmocka_unit_test(test_unfit),    cmocka_unit_test(test_fixed_batch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
