/* Scaling through the public functions, and its arithmetic on functions whose form is known. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
// clang-format off
#include <cmocka.h>
// clang-format on

#include <assay/study.h>

#include "study/scaling.h"
#include "study/scaling_memo.h"
#include "support/values.h"

/* ---- functions of our own behind the callback ---- */

typedef struct fake {
    int64_t refuse_unless; /* a multiple of this */
    int64_t last;          /* the largest size taken; 0: any */
    uint64_t (*macs)(const int64_t *at);
} fake;

static assay_status evaluate(void *ctx, const int64_t *at, scaling_figures *out, bool *assumed,
                             assay_error *err)
{
    const fake *f = ctx;
    (void)assumed;
    if (at[0] % f->refuse_unless || (f->last && at[0] > f->last))
        return err_fail(err, ASSAY_ERR_UNSUPPORTED, "not %lld", (long long)at[0]);
    for (int m = 0; m < SCALING_METRICS; m++)
        out->v[m] = f->macs(at);
    return ASSAY_OK;
}

static scale_work *scaled(const fake *f, uint32_t n_axes, int64_t from, int64_t to,
                          const scaling_question *q)
{
    arena *a = arena_new((size_t)64 << 20);
    scale_work *s = ARENA_NEW(a, scale_work);
    fake copy = *f;
    scaling_request r = {.evaluate = evaluate, .ctx = &copy};
    assay_error err;
    err_clear(&err);
    s->arena = a;
    s->n_axes = n_axes;
    for (uint32_t k = 0; k < n_axes; k++)
        s->axes[k] = (scale_axis){.name = k ? STR("batch") : STR("side"),
                                  .kind = "input",
                                  .from = k ? 1 : from,
                                  .to = k ? 8 : to};
    s->metrics[SCALING_MACS] = true;
    if (q)
        s->questions[s->n_questions++] = *q;
    if (scaling_run(&r, s, &err) != ASSAY_OK)
        print_error("%s\n", err.message);
    assert_int_equal(err.code, ASSAY_OK);
    return s;
}

static uint64_t cubic(const int64_t *at)
{
    uint64_t x = (uint64_t)at[0], b = at[1] ? (uint64_t)at[1] : 1;
    return b * (3 * x * x * x + 5 * x) + 7;
}

static void test_polynomial(void **state)
{
    const fake f = {.refuse_unless = 1, .macs = cubic};
    (void)state;
    scale_work *s = scaled(&f, 2, 3, 40, NULL);
    const scale_fit *fit = &s->fits[SCALING_MACS];
    assert_true(fit->exact);
    assert_int_equal(s->axes[0].granule, 1);
    assert_int_equal(fit->n_terms, 3);
    assert_int_equal(fit->terms[0].numerator, 3);
    assert_int_equal(fit->terms[0].powers[0], 3);
    assert_int_equal(fit->terms[0].powers[1], 1);
    assert_int_equal(fit->terms[1].numerator, 5);
    assert_int_equal(fit->terms[2].numerator, 7);
    assert_int_equal(fit->terms[2].powers[0], 0);
    assert_true(fit->n_checked > 10);
    arena_free(s->arena);
}

/* Triangular numbers: halves. */
static uint64_t halves(const int64_t *at)
{
    return (uint64_t)(at[0] * (at[0] + 1) / 2);
}

static void test_rational(void **state)
{
    const fake f = {.refuse_unless = 1, .macs = halves};
    (void)state;
    scale_work *s = scaled(&f, 1, 1, 100, NULL);
    const scale_fit *fit = &s->fits[SCALING_MACS];
    assert_true(fit->exact);
    assert_int_equal(fit->terms[0].numerator, 1);
    assert_int_equal(fit->terms[0].denominator, 2);
    arena_free(s->arena);
}

/* Windows of 8 are padded: a polynomial at multiples of 8 alone. */
static uint64_t padded(const int64_t *at)
{
    uint64_t w = (uint64_t)(at[0] + 7) / 8;
    return w * w * 64 * 10;
}

static void test_granule(void **state)
{
    const fake f = {.refuse_unless = 1, .macs = padded};
    (void)state;
    scale_work *s = scaled(&f, 1, 64, 512, NULL);
    const scale_fit *fit = &s->fits[SCALING_MACS];
    assert_true(fit->exact);
    assert_int_equal(s->axes[0].granule, 8);
    assert_int_equal(s->axes[0].accepted, 1);
    assert_int_equal(fit->terms[0].numerator, 640);
    assert_true(fit->n_between > 0 && fit->between_percent > 0);
    for (uint32_t i = 0; i < s->axes[0].n_values; i++)
        assert_int_equal(s->axes[0].values[i] % 8, 0);
    arena_free(s->arena);
}

/* Takes multiples of 14 alone. */
static void test_patches(void **state)
{
    const fake f = {.refuse_unless = 14, .macs = cubic};
    (void)state;
    scale_work *s = scaled(&f, 1, 224, 900, NULL);
    assert_int_equal(s->axes[0].accepted, 14);
    assert_int_equal(s->axes[0].granule, 14);
    assert_true(s->fits[SCALING_MACS].exact);
    assert_int_equal(s->n_refused, 0);
    arena_free(s->arena);
}

static uint64_t root(const int64_t *at)
{
    return (uint64_t)(1e6 * pow((double)at[0], 1.5));
}

static void test_no_polynomial(void **state)
{
    const fake f = {.refuse_unless = 1, .macs = root};
    (void)state;
    scale_work *s = scaled(&f, 1, 10, 1000, NULL);
    const scale_fit *fit = &s->fits[SCALING_MACS];
    assert_false(fit->exact);
    assert_true(fit->error_percent > 0);
    assert_true(fabs(fit->exponent[0] - 1.5) < 0.01);
    arena_free(s->arena);
}

static scale_answer asked(const fake *f, uint64_t limit, bool at_least)
{
    const scaling_question q = {
        .text = STR("q"), .metric = SCALING_MACS, .limit = limit, .at_least = at_least};
    scale_work *s = scaled(f, 1, 16, 512, &q);
    assert_int_equal(s->n_answers, 1);
    scale_answer a = s->answers[0];
    arena_free(s->arena);
    return a;
}

static void test_questions(void **state)
{
    const fake f = {.refuse_unless = 1, .macs = padded}, ends = {1, 1000, padded};
    (void)state;
    /* 640 w^2 <= 640 * 12^2: 96 is the last, 97 has 13 windows. */
    scale_answer a = asked(&f, 640 * 144, false);
    assert_int_equal(a.outcome, SCALING_FOUND);
    assert_int_equal(a.at[0], 96);
    assert_int_equal(a.figure, 640 * 144);
    assert_int_equal(a.next, 97);
    assert_int_equal(a.next_figure, 640 * 169);
    /* below the range and far above it */
    a = asked(&f, 640, false);
    assert_int_equal(a.at[0], 8);
    assert_true(a.outside);
    a = asked(&f, 640ull * 10000 * 10000, false);
    assert_int_equal(a.at[0], 80000);
    a = asked(&f, 639, false);
    assert_int_equal(a.outcome, SCALING_NONE);
    a = asked(&f, 640 * 144 + 1, true);
    assert_int_equal(a.at[0], 97);
    assert_int_equal(a.next, 96);
    /* the model ends before the limit */
    a = asked(&ends, UINT64_MAX / 2, false);
    assert_int_equal(a.at[0], 1000);
    assert_int_equal(a.next, 1001);
    assert_true(a.next_refused.n > 0);
    a = asked(&ends, UINT64_MAX / 2, true);
    assert_int_equal(a.outcome, SCALING_NONE);
}

static void test_degree(void **state)
{
    const int64_t u[] = {1, 2, 4, 7, 9, 12};
    uint64_t y[6];
    (void)state;
    for (int i = 0; i < 6; i++)
        y[i] = (uint64_t)(u[i] * u[i]);
    assert_int_equal(scaling_degree(u, y, 6), 2);
    assert_int_equal(scaling_degree(u, y, 4), -1); /* nothing to spare */
    y[5]++;
    assert_int_equal(scaling_degree(u, y, 6), -1);
    for (int i = 0; i < 6; i++)
        y[i] = 5;
    assert_int_equal(scaling_degree(u, y, 6), 0);
}

/* ---- real models ---- */

static assay_result *scale(const char *model, const char *const *options, assay_status expected)
{
    assay_options *o = assay_options_new();
    assay_result *s = NULL;
    assay_model *m;
    assay_error err;
    for (; *options; options += 2)
        assert_int_equal(assay_options_set(o, options[0], options[1], &err), ASSAY_OK);
    assert_int_equal(assay_model_open(model, &m, &err), ASSAY_OK);
    assert_int_equal(assay_scale(m, o, &s, &err), expected);
    assay_model_free(m);
    assay_options_free(o);
    return s;
}
#define OPTIONS(...) ((const char *const[]){__VA_ARGS__, NULL})

static void term_is(const assay_result *s, const char *metric, size_t i, int64_t numerator,
                    uint8_t power)
{
    assay_value p = {.size = sizeof p};
    char powers[64];
    snprintf(powers, sizeof powers, "forms.%s.terms.%zu.powers", metric, i);
    assert_int_equal(whole_at(s, "forms.%s.terms.%zu.numerator", metric, i), numerator);
    assert_int_equal(whole_at(s, "forms.%s.terms.%zu.denominator", metric, i), 1);
    bool any = assay_result_item(s, powers, 0, &p);
    assert_int_equal(any ? p.whole : 0, power);
}

static bool is_exact(const assay_result *s, const char *metric, size_t n_terms)
{
    return number_at(s, "forms.%s.exact", metric) == 1 &&
           count_at(s, "forms.%s.terms", metric) == n_terms &&
           number_at(s, "forms.%s.checked", metric) >= 3;
}

static void test_resnet50_is_linear_in_batch(void **state)
{
    (void)state;
    assay_result *s = scale("resnet50", OPTIONS("dim", "batch=1..64", "solve", "memory<=1GiB"),
                            ASSAY_OK);
    assert_true(is_exact(s, "macs", 1));
    term_is(s, "macs", 0, 4089184256, 1);
    assert_true(is_exact(s, "parameters", 1));
    term_is(s, "parameters", 0, 25557032, 0);
    assert_true(is_exact(s, "peak_bytes", 2));
    assert_string_equal(text_at(s, "answers.0.outcome"), "found");
    assert_true(number_at(s, "answers.0.figure") <= 1u << 30);
    assert_true(number_at(s, "answers.0.next_figure") > 1u << 30);
    assert_true(number_at(s, "answers.0.next") == number_at(s, "answers.0.value") + 1);
    assay_result_free(s);
}

/* 16 by 16 patches: MACs are of degree 4 in the side, attention being quadratic in its square. */
static void test_vit_takes_patches(void **state)
{
    (void)state;
    assay_result *s = scale("vit_b_16", OPTIONS("dim", "side=224..1024"), ASSAY_OK);
    assert_int_equal(whole_at(s, "axes.0.granule"), 16);
    assert_int_equal(whole_at(s, "axes.0.accepted"), 16);
    assert_true(is_exact(s, "macs", 3));
    term_is(s, "macs", 0, 2 * 12 * 768, 4); /* QK and AV of 12 layers, width 768 */
    assay_result_free(s);
}

static void test_swinir_by_windows(void **state)
{
    (void)state;
    assay_result *s = scale("swinir_small",
                            OPTIONS("dim", "height=64..256", "input-shape", "1,1,64,64"), ASSAY_OK);
    assert_int_equal(whole_at(s, "axes.0.granule"), 8);
    assert_true(is_exact(s, "macs", 1));
    assay_result_free(s);
}

/* 32 layers, 32 heads of 128: QK and AV are 2·32·4096 s². */
static void test_llama_is_quadratic(void **state)
{
    (void)state;
    assay_result *s = scale("llama-3.1-8b", OPTIONS("dim", "seq=128..4096", "dim", "batch=2"),
                            ASSAY_OK);
    assert_true(is_exact(s, "macs", 2));
    term_is(s, "macs", 0, 2ll * 2 * 32 * 4096, 2);
    assay_result_free(s);
}

static void said(const assay_result *s, const char *part)
{
    assay_error err;
    char *text;
    size_t n;
    assert_int_equal(assay_result_write(s, "json", NULL, &text, &n, &err), ASSAY_OK);
    if (!strstr(text, part))
        fail_msg("%s is not in %.300s", part, text);
    assay_free(text);
}

/* Bytes are those of the type that the model is published in, which is named; so is the cache. */
static void test_native_precision(void **state)
{
    (void)state;
    assay_result *s = scale("llama-3.1-8b", OPTIONS("dim", "sequence=1,2"), ASSAY_OK);
    assert_int_equal(whole_at(s, "points.0.peak_bytes") -
                         whole_at(s, "points.0.activations_peak_bytes"),
                     2 * 8030261248);
    said(s, "\"precision\": \"bfloat16\"");
    said(s, "\"kv_cache\": \"excluded\"");
    assay_result_free(s);
    s = scale("llama-3.1-8b", OPTIONS("dim", "past=8,16", "set", "seq_len=1"), ASSAY_OK);
    assert_true(whole_at(s, "points.1.activations_peak_bytes") > 131072 * 17);
    said(s, "\"kv_cache\": \"included\"");
    assay_result_free(s);
    s = scale("llama-3.1-8b", OPTIONS("dim", "sequence=1,2", "precision", "fp32"), ASSAY_OK);
    said(s, "\"precision\": \"float32\"");
    assay_result_free(s);
    s = scale("lenet", OPTIONS("dim", "batch=1,2"), ASSAY_OK);
    said(s, "\"precision\": \"float32\"");
    assay_result_free(s);
}

/* Positions end at 1024: larger sizes are listed and left out, forms stand. */
static void test_refused_sizes(void **state)
{
    size_t refused = 0;
    (void)state;
    assay_result *s = scale("gpt2", OPTIONS("dim", "seq=256..4096"), ASSAY_OK);
    size_t n = count_at(s, "points");
    for (size_t i = 0; i < n; i++)
        refused += *text_at(s, "points.%zu.refused", i) != 0;
    assert_true(refused >= 1 && refused < n);
    assert_non_null(strstr(text_at(s, "points.%zu.refused", n - 1), "1024 positions"));
    assert_true(is_exact(s, "macs", 2));
    assay_result_free(s);
}

static void test_files(void **state)
{
    (void)state;
    /* a fixed batch is rewritten, fixed sides are replaced */
    assay_result *s = scale("tests/models/resnet18.onnx",
                            OPTIONS("dim", "batch=1,3", "dim", "side=224,448"), ASSAY_OK);
    assert_int_equal(whole_at(s, "points.0.macs"), 1814073344);
    assert_true(number_at(s, "points.3.sizes.batch") == 3);
    assert_true(number_at(s, "points.3.sizes.side") == 448);
    assert_int_equal(whole_at(s, "points.3.macs"), 3 * (4 * (1814073344ull - 512000) + 512000));
    assert_int_equal(count_at(s, "points"), 4);
    assay_result_free(s);
    /* by index */
    s = scale("tests/models/resnet18.onnx", OPTIONS("dim", "input[2]=64..256"), ASSAY_OK);
    assay_result_free(s);
}

static void test_parameters(void **state)
{
    (void)state;
    assay_result *s = scale(
        "swinir", OPTIONS("dim", "embed_dim=60..180", "input-shape", "1,3,64,64"), ASSAY_OK);
    assert_true(is_exact(s, "parameters", 3));
    assay_result_free(s);
    s = scale("efficientnet_b0", OPTIONS("dim", "width_mult=0.5,1.0,2.0"), ASSAY_OK);
    assert_true(number_at(s, "points.1.sizes.width_mult") == 1.0);
    assert_int_equal(whole_at(s, "points.1.parameters"), 5288548);
    assay_result_free(s);
}

static void test_bad(void **state)
{
    assay_options *o = assay_options_new();
    assay_error err;
    static const char *const dims[] = {"batch=4..2",      "batch=1..",     "batch=0..3",
                                       "batch=1..9:0",    "batch=1..9..0", "batch=,",
                                       "batch=1..2..3:4", "batch=a..b"};
    static const char *const questions[] = {"memory",       "memory<24GB",         "speed<=3",
                                            "memory<=lots", "macs<=3GB",           "<=3",
                                            "memory<=",     "memory<=99999999999T"};
    (void)state;
    for (size_t i = 0; i < sizeof dims / sizeof *dims; i++)
        assert_int_equal(assay_options_set(o, "dim", dims[i], &err), ASSAY_ERR_USAGE);
    for (size_t i = 0; i < sizeof questions / sizeof *questions; i++)
        assert_int_equal(assay_options_set(o, "solve", questions[i], &err), ASSAY_ERR_USAGE);
    assay_options_free(o);
    assert_null(scale("resnet18", OPTIONS("batch", "2"), ASSAY_ERR_USAGE));
    assert_null(scale("resnet18", OPTIONS("dim", "nonsense=1..4"), ASSAY_ERR_USAGE));
    assert_null(scale("tests/models/resnet18.onnx", OPTIONS("dim", "seq=1..4"), ASSAY_ERR_USAGE));
    assert_null(scale("resnet18", OPTIONS("dim", "batch=0.5..2.0"), ASSAY_ERR_USAGE));
    assert_null(
        scale("resnet18", OPTIONS("dim", "batch=1..2", "dim", "batch=1..3"), ASSAY_ERR_USAGE));
    assert_null(
        scale("resnet18", OPTIONS("dim", "batch=1..2", "solve", "side:macs<=3G"), ASSAY_ERR_USAGE));
    assert_null(scale("resnet18", OPTIONS("dim", "batch=1..1000000..1", "dim", "side=64..4096..1"),
                      ASSAY_ERR_USAGE));
}

int run_test_scaling(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_polynomial),
        cmocka_unit_test(test_rational),
        cmocka_unit_test(test_granule),
        cmocka_unit_test(test_patches),
        cmocka_unit_test(test_no_polynomial),
        cmocka_unit_test(test_questions),
        cmocka_unit_test(test_degree),
        cmocka_unit_test(test_resnet50_is_linear_in_batch),
        cmocka_unit_test(test_vit_takes_patches),
        cmocka_unit_test(test_swinir_by_windows),
        cmocka_unit_test(test_llama_is_quadratic),
        cmocka_unit_test(test_native_precision),
        cmocka_unit_test(test_refused_sizes),
        cmocka_unit_test(test_files),
        cmocka_unit_test(test_parameters),
        cmocka_unit_test(test_bad),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
