/* Bands: the figure at each limit, figures that are unknown, and what a settled profile has. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "profile/bands.h"
#include "profile/profile_fields.h"

static void limits_belong_to_one_side(void **state)
{
    static const struct {
        band_scale scale;
        double figure;
        const char *word;
        band_tone tone;
    } rows[] = {
        {BAND_WORK, 0, "light", BAND_GOOD},
        {BAND_WORK, 9999999999.0, "light", BAND_GOOD},
        {BAND_WORK, 10e9, "medium", BAND_FAIR},
        {BAND_WORK, 50e9, "medium", BAND_FAIR},
        {BAND_WORK, 50000000001.0, "heavy", BAND_POOR},
        {BAND_INTENSITY, 9.99, "memory-bound", BAND_POOR},
        {BAND_INTENSITY, 10, "balanced", BAND_FAIR},
        {BAND_INTENSITY, 49.99, "balanced", BAND_FAIR},
        {BAND_INTENSITY, 50, "compute-bound", BAND_GOOD},
        {BAND_INTENSITY, 100, "compute-bound", BAND_GOOD},
        {BAND_INTENSITY, 100.01, "strongly compute-bound", BAND_GOOD},
        {BAND_INTENSITY, INFINITY, "strongly compute-bound", BAND_GOOD},
        {BAND_MEMORY, 1999999999.0, "small GPU", BAND_GOOD},
        {BAND_MEMORY, 2e9, "medium GPU", BAND_FAIR},
        {BAND_MEMORY, 8e9, "medium GPU", BAND_FAIR},
        {BAND_MEMORY, 8000000001.0, "high-end GPU", BAND_POOR},
        {BAND_SPEED, 49.999, "real time", BAND_GOOD},
        {BAND_SPEED, 50, "near real time", BAND_FAIR},
        {BAND_SPEED, 200, "near real time", BAND_FAIR},
        {BAND_SPEED, 200.001, "slow", BAND_POOR},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const band *b = band_of(rows[i].scale, rows[i].figure);
        assert_string_equal(b->word, rows[i].word);
        assert_int_equal(b->tone, rows[i].tone);
    }
}

static void unknown_figures_have_none(void **state)
{
    (void)state;
    for (int scale = BAND_WORK; scale <= BAND_SPEED; scale++)
        assert_null(band_of((band_scale)scale, NAN));
    assert_null(band_word(NULL));
}

/* The words of layers are those of the schema. */
static void intensity_has_ids(void **state)
{
    (void)state;
    assert_string_equal(band_of(BAND_INTENSITY, 1)->id, "memory");
    assert_string_equal(band_of(BAND_INTENSITY, 20)->id, "balanced");
    assert_string_equal(band_of(BAND_INTENSITY, 60)->id, "compute");
    assert_string_equal(band_of(BAND_INTENSITY, 200)->id, "strong-compute");
}

static field_value at(const profile *p, const char *path)
{
    field_value root = fields_root(profile_kind.of, p);
    return fields_get(&root, path);
}

static void assert_word(const profile *p, const char *path, const char *word)
{
    field_value v = at(p, path);
    assert_int_equal(v.type, VALUE_TEXT);
    assert_true(str_is(v.text, word));
}

static profile *counted(const char *lens)
{
    profile *p = profile_new(1 << 20);
    assert_non_null(p);
    p->lens = str_of(lens);
    p->total_flops = 12000000000u;
    p->total_memory = 1000000000;
    p->arithmetic_intensity = 12;
    p->memory_plan.peak_bytes = 2100000000u; /* above 2 GB, below 2 GiB */
    return p;
}

static void a_counted_profile_has_bands(void **state)
{
    profile *p = counted("assay");
    (void)state;
    assert_true(profile_settle(p));
    assert_word(p, "bands.work.word", "medium");
    assert_word(p, "bands.work.tone", "fair");
    assert_word(p, "bands.intensity.word", "balanced");
    assert_word(p, "bands.memory.word", "medium GPU");
    assert_int_equal(at(p, "bands.speed").type, VALUE_NONE);
    assert_int_equal(at(p, "bands.run_memory").type, VALUE_NONE);
    profile_free(p);
}

/* 12 billion as another convention counts them are not 12 GFLOPs. */
static void work_is_of_our_convention(void **state)
{
    profile *p = counted("fvcore");
    (void)state;
    assert_true(profile_settle(p));
    assert_int_equal(at(p, "bands.work").type, VALUE_NONE);
    assert_word(p, "bands.intensity.word", "balanced");
    profile_free(p);
}

static void an_empty_profile_has_none(void **state)
{
    profile *p = profile_new(1 << 20);
    (void)state;
    assert_true(profile_settle(p));
    assert_int_equal(at(p, "bands").type, VALUE_NONE);
    profile_free(p);
}

static void measured_figures_have_bands(void **state)
{
    profile *p = counted("assay");
    profile_config list[] = {{.batch = 4, .latency = {.runs = 50, .mean = 300}},
                             {.batch = 1,
                              .latency = {.runs = 50, .mean = 60},
                              .memory = {.before_session = 1000000000, .peak = 10000000000u}}};
    profile_measured m = {.configs = list, .n_configs = 2};
    (void)state;
    p->measured = &m;
    assert_true(profile_settle(p));
    assert_word(p, "bands.speed.word", "near real time");
    assert_word(p, "bands.run_memory.word", "high-end GPU");
    assert_word(p, "configurations.0.bands.speed.word", "slow");
    assert_int_equal(at(p, "configurations.0.bands.memory").type, VALUE_NONE);
    assert_word(p, "configurations.1.bands.memory.tone", "poor");
    m.interleaved = true; /* models that share a process */
    assert_true(profile_settle(p));
    assert_int_equal(at(p, "bands.run_memory").type, VALUE_NONE);
    profile_free(p);
}

int run_test_bands(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(limits_belong_to_one_side),
        cmocka_unit_test(unknown_figures_have_none),
        cmocka_unit_test(intensity_has_ids),
        cmocka_unit_test(a_counted_profile_has_bands),
        cmocka_unit_test(work_is_of_our_convention),
        cmocka_unit_test(an_empty_profile_has_none),
        cmocka_unit_test(measured_figures_have_bands),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
