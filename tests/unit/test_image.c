/* Images as inputs: decoding, resizing, layouts, and files that are broken or lie. What was not built in is
 * left out. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "formats/image.h"

/* red, blue; green, white */
static const uint8_t small_png[] = {
    0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0x00, 0x00, 0x00, 0x0d, 0x49, 0x48, 0x44,
    0x52, 0x00, 0x00, 0x00, 0x02, 0x00, 0x00, 0x00, 0x02, 0x08, 0x02, 0x00, 0x00, 0x00, 0xfd,
    0xd4, 0x9a, 0x73, 0x00, 0x00, 0x00, 0x12, 0x49, 0x44, 0x41, 0x54, 0x78, 0xda, 0x63, 0xf8,
    0xcf, 0x00, 0x04, 0xff, 0x41, 0xe8, 0xff, 0xff, 0xff, 0x00, 0x1f, 0xee, 0x05, 0xfb, 0x97,
    0xae, 0x1c, 0x51, 0x00, 0x00, 0x00, 0x00, 0x49, 0x45, 0x4e, 0x44, 0xae, 0x42, 0x60, 0x82};
/* 8 x 8, all red */
static const uint8_t small_jpeg[] = {
    0xff, 0xd8, 0xff, 0xe0, 0x00, 0x10, 0x4a, 0x46, 0x49, 0x46, 0x00, 0x01, 0x01, 0x00, 0x00, 0x01,
    0x00, 0x01, 0x00, 0x00, 0xff, 0xdb, 0x00, 0x43, 0x00, 0x08, 0x06, 0x06, 0x07, 0x06, 0x05, 0x08,
    0x07, 0x07, 0x07, 0x09, 0x09, 0x08, 0x0a, 0x0c, 0x14, 0x0d, 0x0c, 0x0b, 0x0b, 0x0c, 0x19, 0x12,
    0x13, 0x0f, 0x14, 0x1d, 0x1a, 0x1f, 0x1e, 0x1d, 0x1a, 0x1c, 0x1c, 0x20, 0x24, 0x2e, 0x27, 0x20,
    0x22, 0x2c, 0x23, 0x1c, 0x1c, 0x28, 0x37, 0x29, 0x2c, 0x30, 0x31, 0x34, 0x34, 0x34, 0x1f, 0x27,
    0x39, 0x3d, 0x38, 0x32, 0x3c, 0x2e, 0x33, 0x34, 0x32, 0xff, 0xdb, 0x00, 0x43, 0x01, 0x09, 0x09,
    0x09, 0x0c, 0x0b, 0x0c, 0x18, 0x0d, 0x0d, 0x18, 0x32, 0x21, 0x1c, 0x21, 0x32, 0x32, 0x32, 0x32,
    0x32, 0x32, 0x32, 0x32, 0x32, 0x32, 0x32, 0x32, 0x32, 0x32, 0x32, 0x32, 0x32, 0x32, 0x32, 0x32,
    0x32, 0x32, 0x32, 0x32, 0x32, 0x32, 0x32, 0x32, 0x32, 0x32, 0x32, 0x32, 0x32, 0x32, 0x32, 0x32,
    0x32, 0x32, 0x32, 0x32, 0x32, 0x32, 0x32, 0x32, 0x32, 0x32, 0x32, 0x32, 0x32, 0x32, 0xff, 0xc0,
    0x00, 0x11, 0x08, 0x00, 0x08, 0x00, 0x08, 0x03, 0x01, 0x22, 0x00, 0x02, 0x11, 0x01, 0x03, 0x11,
    0x01, 0xff, 0xc4, 0x00, 0x15, 0x00, 0x01, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x06, 0xff, 0xc4, 0x00, 0x14, 0x10, 0x01, 0x00, 0x00,
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0xff, 0xc4,
    0x00, 0x15, 0x01, 0x01, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x00, 0x00, 0x00, 0x06, 0x07, 0xff, 0xc4, 0x00, 0x14, 0x11, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0xff, 0xda, 0x00, 0x0c, 0x03,
    0x01, 0x00, 0x02, 0x11, 0x03, 0x11, 0x00, 0x3f, 0x00, 0x8b, 0x00, 0x65, 0x71, 0x7f, 0xff, 0xd9};

static assay_status decode(const void *p, size_t n, image *out)
{
    assay_error err = {0};
    /* A copy of just this length lets the sanitizer see a read behind the end. */
    char *copy = malloc(n ? n : 1);
    memcpy(copy, p, n);
    assay_status s = image_decode("x.png", (str){copy, (uint32_t)n}, out, &err);
    assert_true(s == ASSAY_OK || (!out->rgb && err.message[0]));
    free(copy);
    return s;
}

static bool built_with(const uint8_t *p, size_t n)
{
    image im;
    assay_status s = decode(p, n, &im);
    image_free(&im);
    return s != ASSAY_ERR_UNSUPPORTED;
}
#define HAS_PNG  built_with(small_png, sizeof small_png)
#define HAS_JPEG built_with(small_jpeg, sizeof small_jpeg)

static void test_decode(void **state)
{
    (void)state;
    static const uint8_t pixels[] = {255, 0, 0, 0, 0, 255, 0, 255, 0, 255, 255, 255};
    image im;
    assert_int_equal(decode("GIF89a..", 8, &im), ASSAY_ERR_MALFORMED);
    assert_int_equal(decode("", 0, &im), ASSAY_ERR_MALFORMED);
    if (HAS_PNG) {
        assert_int_equal(decode(small_png, sizeof small_png, &im), ASSAY_OK);
        assert_true(im.width == 2 && im.height == 2);
        assert_memory_equal(im.rgb, pixels, sizeof pixels);
        image_free(&im);
    }
    if (!HAS_JPEG)
        return;
    assert_int_equal(decode(small_jpeg, sizeof small_jpeg, &im), ASSAY_OK);
    assert_true(im.width == 8 && im.height == 8);
    for (int i = 0; i < 64; i++)
        assert_true(im.rgb[3 * i] > 250 && im.rgb[3 * i + 1] < 4 && im.rgb[3 * i + 2] < 4);
    image_free(&im);
}

/* Cut anywhere, and with bytes changed anywhere: a sentence or a picture, nothing else. */
static void damage(const uint8_t *p, size_t n, uint64_t seed)
{
    uint8_t *copy = malloc(n);
    image im;
    rng r;
    rng_seed(&r, seed);
    for (size_t cut = 0; cut < n; cut++) {
        decode(p, cut, &im);
        image_free(&im);
    }
    for (int k = 0; k < 4000; k++) {
        memcpy(copy, p, n);
        for (uint64_t i = rng_next(&r) % 3 + 1; i > 0; i--)
            copy[rng_next(&r) % n] = (uint8_t)rng_next(&r);
        decode(copy, n, &im);
        image_free(&im);
    }
    free(copy);
}

static void test_damaged(void **state)
{
    (void)state;
    damage(small_png, sizeof small_png, 1);
    damage(small_jpeg, sizeof small_jpeg, 2);
}

static void test_sizes_that_lie(void **state)
{
    (void)state;
    uint8_t copy[sizeof small_jpeg];
    image im;
    if (!HAS_JPEG)
        skip();
    memcpy(copy, small_jpeg, sizeof copy);
    for (size_t i = 0; i + 9 < sizeof copy; i++)
        if (copy[i] == 0xff && copy[i + 1] == 0xc0)
            copy[i + 5] = copy[i + 7] = 0xf0;
    assert_int_equal(decode(copy, sizeof copy, &im), ASSAY_ERR_UNSUPPORTED);
}

static void test_fits(void **state)
{
    (void)state;
    static const struct {
        ir_dtype dtype;
        int rank;
        int64_t dims[4];
        bool fits, last;
        uint32_t channels, height;
    } rows[] = {
        {IR_FLOAT32, 4, {2, 3, 224, 200}, true, false, 3, 224},
        {IR_UINT8, 4, {1, 224, 200, 3}, true, true, 3, 224},
        {IR_FLOAT32, 3, {1, 28, 28}, true, false, 1, 28},
        {IR_FLOAT32, 3, {28, 28, 1}, true, true, 1, 28},
        {IR_FLOAT32, 4, {1, 4, 64, 64}, false, false, 0, 0},
        {IR_FLOAT32, 4, {1, 3, -1, 64}, false, false, 0, 0},
        {IR_FLOAT32, 4, {1, 3, 1 << 30, 64}, false, false, 0, 0},
        {IR_INT64, 4, {1, 3, 8, 8}, false, false, 0, 0},
        {IR_FLOAT32, 2, {1, 3}, false, false, 0, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        image_want w;
        assert_int_equal(image_fits(rows[i].dtype, rows[i].rank, rows[i].dims, &w), rows[i].fits);
        if (rows[i].fits)
            assert_true(w.channels_last == rows[i].last && w.channels == rows[i].channels &&
                        w.height == rows[i].height);
    }
    assert_true(image_named("a.JPG") && image_named("b/c.jpeg") && image_named("x.png"));
    assert_false(image_named("x.npy") || image_named("png"));
}

static void test_resize(void **state)
{
    (void)state;
    static uint8_t pixels[] = {255, 0, 0, 0, 0, 255, 0, 255, 0, 255, 255, 255};
    const image im = {.width = 2, .height = 2, .rgb = pixels};
    assay_error err = {0};
    uint8_t got[48];
    float one[3];
    image_want w = {
        .dtype = IR_UINT8, .channels = 3, .height = 2, .width = 2, .channels_last = true};
    assert_int_equal(image_put(&im, &w, got, &err), ASSAY_OK);
    assert_memory_equal(got, pixels, sizeof pixels);
    w.channels_last = false;
    assert_int_equal(image_put(&im, &w, got, &err), ASSAY_OK);
    assert_memory_equal(got, "\xff\0\0\xff\0\0\xff\xff\0\xff\0\xff", 12);
    /* Twice as large: corners stay, what lies between is mixed 3 to 1. */
    w = (image_want){
        .dtype = IR_UINT8, .channels = 3, .height = 4, .width = 4, .channels_last = true};
    assert_int_equal(image_put(&im, &w, got, &err), ASSAY_OK);
    assert_memory_equal(got, "\xff\0\0\xbf\0\x40\x40\0\xbf\0\0\xff", 12);
    /* One pixel: the mean of all, normalised. */
    w = (image_want){.dtype = IR_FLOAT32, .channels = 3, .height = 1, .width = 1};
    assert_int_equal(image_put(&im, &w, one, &err), ASSAY_OK);
    assert_true(fabsf(one[0] - (0.5F - 0.485F) / 0.229F) < 1e-5F);
    assert_true(fabsf(one[2] - (0.5F - 0.406F) / 0.225F) < 1e-5F);
    w.channels = 1;
    assert_int_equal(image_put(&im, &w, one, &err), ASSAY_OK);
    assert_true(fabsf(one[0] - (0.5F - 0.449F) / 0.226F) < 1e-5F);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_decode),         cmocka_unit_test(test_damaged),
        cmocka_unit_test(test_sizes_that_lie), cmocka_unit_test(test_fits),
        cmocka_unit_test(test_resize),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
