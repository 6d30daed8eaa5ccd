/* Predictions: facts of layers, coefficients and folds learnt from made-up measurements, and what they give for
 * layers that were never seen. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
// clang-format off
#include <cmocka.h>
// clang-format on

#include "analyze/predict.h"
#include "base/rng.h"
#include "measure/drift.h"
#include "measure/stats.h"

/* ---- layers by hand ---- */

typedef struct made {
    profile p;
    profile_layer layers[64];
    profile_tensor tensors[256];
    int64_t dims[1024];
    uint32_t n_tensors, n_dims;
    arena *a;
} made;

static profile_tensor tensor(made *m, const char *name, int rank, const int64_t *dims)
{
    int64_t *to = &m->dims[m->n_dims];
    memcpy(to, dims, sizeof *dims * (size_t)rank);
    m->n_dims += (uint32_t)rank;
    return (profile_tensor){.name = str_of(name), .shape = {rank, to}};
}

static profile_layer *layer(made *m, const char *type, uint32_t n_inputs,
                            const profile_tensor *inputs, profile_tensor output)
{
    profile_layer *l = &m->layers[m->p.n_layers++];
    profile_tensor *t = &m->tensors[m->n_tensors];
    memcpy(t, inputs, sizeof *t * n_inputs);
    t[n_inputs] = output;
    m->n_tensors += n_inputs + 1;
    *l = (profile_layer){.type = str_of(type),
                         .name = output.name,
                         .inputs = t,
                         .n_inputs = n_inputs,
                         .outputs = t + n_inputs,
                         .n_outputs = 1,
                         .times = 1};
    m->p.layers = m->layers;
    return l;
}

/* A convolution of c to n channels in groups on a square image; returns its output's name. */
static const char *conv(made *m, const char *in, const char *out, int64_t c, int64_t n,
                        int64_t groups, int64_t side, int64_t kernel)
{
    const int64_t x[] = {1, c, side, side}, w[] = {n, c / groups, kernel, kernel},
                  y[] = {1, n, side, side};
    const profile_tensor ins[] = {tensor(m, in, 4, x), tensor(m, "w", 4, w)};
    profile_layer *l = layer(m, "conv2d", 2, ins, tensor(m, out, 4, y));
    l->macs = (uint64_t)(n * side * side * (c / groups) * kernel * kernel);
    l->read_bytes = (uint64_t)(4 * c * side * side);
    l->written_bytes = (uint64_t)(4 * n * side * side);
    l->weight_bytes = (uint64_t)(4 * n * c / groups * kernel * kernel);
    l->memory = l->read_bytes + l->written_bytes + l->weight_bytes;
    return out;
}

static const char *unary(made *m, const char *type, const char *in, const char *out, int64_t c,
                         int64_t side)
{
    const int64_t x[] = {1, c, side, side};
    const profile_tensor ins[] = {tensor(m, in, 4, x)};
    profile_layer *l = layer(m, type, 1, ins, tensor(m, out, 4, x));
    l->read_bytes = l->written_bytes = (uint64_t)(4 * c * side * side);
    l->memory = 2 * l->read_bytes;
    return out;
}

static made *begin(void)
{
    static const int64_t image[] = {1, 3, 8, 8};
    static profile_tensor input = {.shape = {4, image}};
    made *m = calloc(1, sizeof *m);
    input.name = STR("input");
    m->a = arena_new(1 << 24);
    m->p.inputs = &input;
    m->p.n_inputs = 1;
    return m;
}

static void end(made *m)
{
    arena_free(m->a);
    free(m);
}

/* ---- facts ---- */

static void test_families(void **state)
{
    (void)state;
    static const struct {
        int64_t c, n, groups, kernel;
        const char *family;
    } rows[] = {
        {64, 64, 1, 3, "conv"},
        {64, 128, 1, 1, "conv 1x1"},
        {3, 64, 1, 7, "conv few channels"},
        {64, 64, 64, 3, "conv depthwise"},
        {64, 64, 4, 3, "conv grouped"},
        {128, 128, 32, 3, "conv grouped narrow"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        made *m = begin();
        conv(m, "input", "y", rows[i].c, rows[i].n, rows[i].groups, 8, rows[i].kernel);
        const predict_layer *l = predict_facts(&m->p, m->a);
        assert_non_null(l);
        assert_true(str_is(l->family, rows[i].family));
        assert_true(l->n_terms >= 5 && l->n_terms <= CALIBRATION_TERMS);
        assert_false(l->constant);
        end(m);
    }
}

static void test_constants(void **state)
{
    (void)state;
    made *m = begin();
    unary(m, "exp", "table", "t1", 4, 4); /* nobody makes "table", and it is no input */
    unary(m, "relu", "t1", "t2", 4, 4);
    unary(m, "relu", "input", "t3", 4, 4);
    const predict_layer *l = predict_facts(&m->p, m->a);
    assert_true(l[0].constant);
    assert_true(l[1].constant);
    assert_false(l[2].constant);
    end(m);
}

/* ---- learning ---- */

enum { MODELS = 4, NOISY = 24, HELD_OUT = 12, MADE = NOISY + HELD_OUT };

/* 10 ns per thousand MACs of a convolution and 2 us each; relu after it costs nothing, sigmoid costs 1 ns per
 * element; the whole takes 1.1 times the kernels and 1 us for each. */
static made *make_model(int index, predict_study *s)
{
    static char names[MADE][8];
    made *m = begin();
    const char *at = "input";
    static char values[MADE][32][8];
    snprintf(names[index], sizeof names[index], "m%d", index);
    double *seconds = arena_alloc_array(m->a, 64, sizeof *seconds);
    bool *led = arena_alloc_array(m->a, 64, sizeof *led);
    for (int i = 0; i < 8; i++) {
        char(*v)[8] = &values[index][3 * i];
        snprintf(v[0], sizeof v[0], "c%d", i);
        snprintf(v[1], sizeof v[1], "r%d", i);
        snprintf(v[2], sizeof v[2], "s%d", i);
        int64_t channels = 16 * (1 + (i + index + index / 4) % 4);
        int64_t side = 8 + 4 * ((i * 3 + index) % 5);
        at = conv(m, at, v[0], channels, channels, 1, side, 3);
        at = unary(m, "relu", at, v[1], channels, side);
        at = unary(m, "sigmoid", at, v[2], channels, side);
    }
    const predict_layer *l = predict_facts(&m->p, m->a);
    double sum = 0;
    for (uint32_t i = 0; i < m->p.n_layers; i++) {
        led[i] = i % 3 != 1;
        seconds[i] = i % 3 == 0   ? 2e-6 + (double)m->layers[i].macs * 1e-11
                     : i % 3 == 2 ? (double)m->layers[i].read_bytes / 4 * 1e-9
                                  : 0;
        sum += seconds[i];
    }
    *s = (predict_study){.model = str_of(names[index]),
                         .batch = 1,
                         .layers = l,
                         .seconds = seconds,
                         .led = led,
                         .n_layers = m->p.n_layers,
                         .kernels = 16,
                         .kernels_s = sum,
                         .latency_s = 1.1 * sum + 16e-6};
    return m;
}

static void test_learning(void **state)
{
    (void)state;
    predict_study studies[MODELS];
    made *models[MODELS];
    calibration *c = calloc(1, sizeof *c);
    assay_error err = {0};
    for (int i = 0; i < MODELS; i++)
        models[i] = make_model(i, &studies[i]);
    assert_int_equal(predict_learn(studies, MODELS, c, &err), ASSAY_OK);
    assert_true(c->present);
    assert_int_equal(c->n_families, 3); /* conv, sigmoid, and "other" */
    assert_int_equal(c->n_runs, MODELS);
    assert_true(c->error < 0.02);
    assert_true(c->low > 0.95 && c->high < 1.05);
    assert_true(fabs(c->scale - 1.1) < 0.02);
    for (int i = 0; i < MODELS; i++) {
        predict_time t;
        assert_true(predict_run(&models[i]->p, c, models[i]->a, &t));
        assert_true(fabs(t.seconds / studies[i].latency_s - 1) < 0.02);
        assert_int_equal(t.kernels, 16); /* relu is folded */
        assert_true(t.layers[1] <= 0 && t.layers[0] > 0);
        assert_true(t.known > 0.999);
    }
    /* An activation that was never seen is folded as its kind is; one that is alone is "other". */
    made *m = begin();
    conv(m, "input", "c", 32, 32, 1, 16, 3);
    unary(m, "hardswish", "c", "h", 32, 16);
    predict_time t;
    assert_true(predict_run(&m->p, c, m->a, &t));
    assert_int_equal(t.kernels, 1);
    end(m);
    m = begin();
    unary(m, "erf", "input", "e", 32, 16);
    assert_true(predict_run(&m->p, c, m->a, &t));
    assert_int_equal(t.kernels, 1);
    assert_true(t.seconds > 0);
    assert_true(t.known < 0.001);
    end(m);
    for (int i = 0; i < MODELS; i++)
        end(models[i]);
    free(c);
}

/* One kernel that was disturbed does not move the others. */
static void test_outlier(void **state)
{
    (void)state;
    predict_study studies[MODELS];
    made *models[MODELS];
    calibration *c = calloc(1, sizeof *c);
    assay_error err = {0};
    for (int i = 0; i < MODELS; i++)
        models[i] = make_model(i, &studies[i]);
    double *hit = arena_copy(models[0]->a, studies[0].seconds,
                             sizeof(double) * studies[0].n_layers);
    hit[3] *= 20;
    studies[0].seconds = hit;
    assert_int_equal(predict_learn(studies, MODELS, c, &err), ASSAY_OK);
    predict_time t;
    assert_true(predict_run(&models[1]->p, c, models[1]->a, &t));
    assert_true(fabs(t.seconds / studies[1].latency_s - 1) < 0.1);
    for (int i = 0; i < MODELS; i++)
        end(models[i]);
    free(c);
}

/* ---- a noisy machine ---- */

enum { RUNS = 9 };

/* How many times slower than at first the machine is at this point of the calibration (0 to 1): the clock falls, and a
 * neighbour comes for a while. */
static double slowness(double at)
{
    return (1 + 0.5 * at) * (at > 0.3 && at < 0.45 ? 1.8 : 1);
}

/* A quantile over runs of something that takes `seconds` on a quiet machine: every run a little longer, one of six
 * by half because its CPU was taken away. */
static double noisy(rng *r, double seconds, double at, double quantile)
{
    double times[RUNS];
    for (int i = 0; i < RUNS; i++)
        times[i] = seconds * slowness(at) * (1 + 0.04 * rng_uniform(r)) *
                   (rng_uniform(r) < 1.0 / 6 ? 1.5 : 1);
    stats_sort(times, RUNS);
    return stats_quantile(times, RUNS, quantile);
}

#define REFERENCE_S 0.015

static double reference(rng *r, double at)
{
    return noisy(r, REFERENCE_S, at, 0.5);
}

/* As jobs/calibration.c measures: the reference before, between and after, low quantiles of kernels, the median of
 * runs. */
static double *disturb(rng *r, predict_study *s, arena *a, double at, drift *d, uint32_t *samples)
{
    double *seconds = arena_copy(a, s->seconds, sizeof *seconds * s->n_layers), step = 0.3 / NOISY;
    samples[0] = drift_add(d, reference(r, at));
    s->kernels_s = 0;
    for (uint32_t i = 0; i < s->n_layers; i++)
        s->kernels_s += seconds[i] = noisy(r, seconds[i], at + step, 0.1);
    samples[1] = drift_add(d, reference(r, at + step * 1.5));
    s->latency_s = noisy(r, s->latency_s, at + 2 * step, 0.5);
    samples[2] = drift_add(d, reference(r, at + 2.5 * step));
    s->seconds = seconds;
    return seconds;
}

static void correct(predict_study *s, double *seconds, const drift *d, const uint32_t *samples)
{
    double profiled = drift_factor(d, samples[0], samples[1]);
    for (uint32_t i = 0; i < s->n_layers; i++)
        seconds[i] /= profiled;
    s->kernels_s /= profiled;
    s->latency_s /= drift_factor(d, samples[1], samples[2]);
}

/* Of models that were not calibrated on, how many lie in the interval, for the machine as it is then. */
static int inside(rng *r, const calibration *c, const drift *d)
{
    int n = 0;
    for (int i = 0; i < HELD_OUT; i++) {
        predict_study s;
        predict_time t;
        made *m = make_model(NOISY + i, &s);
        double at = 0.2 + 0.05 * i, now = drift_ratio(reference(r, at), drift_usual(d));
        double measured = noisy(r, s.latency_s, at, 0.5);
        assert_true(predict_run(&m->p, c, m->a, &t));
        n += measured >= t.seconds * now * c->low && measured <= t.seconds * now * c->high;
        end(m);
    }
    return n;
}

static int learn_noisy(bool corrected, calibration *c)
{
    predict_study studies[NOISY];
    made *models[NOISY];
    double *seconds[NOISY];
    uint32_t samples[NOISY][3];
    rng r;
    drift d = {0};
    assay_error err = {0};
    rng_seed(&r, 7);
    for (int i = 0; i < NOISY; i++) {
        models[i] = make_model(i, &studies[i]);
        seconds[i] = disturb(&r, &studies[i], models[i]->a, (double)i / NOISY, &d, samples[i]);
    }
    for (int i = 0; corrected && i < NOISY; i++)
        correct(&studies[i], seconds[i], &d, samples[i]);
    assert_int_equal(predict_learn(studies, NOISY, c, &err), ASSAY_OK);
    int n = inside(&r, c, &d);
    for (int i = 0; i < NOISY; i++)
        end(models[i]);
    return n;
}

/* Bursts, a falling clock and lost CPU time: corrected by the reference, the interval is narrow and holds. */
static void test_noise(void **state)
{
    (void)state;
    calibration *plain = calloc(1, sizeof *plain), *corrected = calloc(1, sizeof *corrected);
    int held = learn_noisy(true, corrected);
    learn_noisy(false, plain);
    assert_true(corrected->error < 0.10 && corrected->error < plain->error);
    assert_true(corrected->high / corrected->low < 1.5);
    assert_true(plain->high / plain->low > corrected->high / corrected->low);
    assert_true(held >= HELD_OUT * 3 / 4);
    free(plain);
    free(corrected);
}

static void test_nothing(void **state)
{
    (void)state;
    calibration *c = calloc(1, sizeof *c);
    assay_error err = {0};
    made *m = begin();
    predict_study s = {.model = STR("empty")};
    assert_int_equal(predict_learn(&s, 1, c, &err), ASSAY_ERR_ENGINE);
    predict_time t;
    assert_true(predict_run(&m->p, c, m->a, &t));
    assert_true(t.seconds <= 0);
    end(m);
    free(c);
}

int run_test_predict(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_families), cmocka_unit_test(test_constants),
        cmocka_unit_test(test_learning), cmocka_unit_test(test_outlier),
        cmocka_unit_test(test_noise),    cmocka_unit_test(test_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
