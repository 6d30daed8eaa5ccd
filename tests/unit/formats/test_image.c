/* Images as inputs: decoding, resizing, layouts, and files that are broken or lie. What was not built in is
 * left out. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "formats/image.h"
#include "formats/image_impl.h"
#include "support/skip.h"

#ifdef ASSAY_HAS_JPEG
#include <jpeglib.h>
#endif
#ifdef ASSAY_HAS_PNG
#include <png.h>
#endif

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
        SKIP_BECAUSE("built without libjpeg");
    memcpy(copy, small_jpeg, sizeof copy);
    for (size_t i = 0; i + 9 < sizeof copy; i++)
        if (copy[i] == 0xff && copy[i + 1] == 0xc0)
            copy[i + 5] = copy[i + 7] = 0xf0;
    assert_int_equal(decode(copy, sizeof copy, &im), ASSAY_ERR_UNSUPPORTED);
}

static void test_what_is_filled(void **state)
{
    (void)state;
    static const struct {
        image_want want;
        bool fills;
    } rows[] = {
        {{IR_FLOAT32, 3, 224, 200, false}, true},     {{IR_UINT8, 1, 28, 28, true}, true},
        {{IR_FLOAT32, 4, 64, 64, false}, false},      {{IR_FLOAT32, 3, 0, 64, false}, false},
        {{IR_FLOAT32, 3, 1 << 30, 64, false}, false}, {{IR_FLOAT16, 3, 8, 8, false}, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_int_equal(image_can_fill(&rows[i].want), rows[i].fills);
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

/* ---- kinds of pictures, written by the libraries themselves ---- */

enum { SIDE_X = 24, SIDE_Y = 16 };

#ifdef ASSAY_HAS_JPEG

typedef struct jpeg_kind {
    J_COLOR_SPACE given, stored;
    uint8_t color[4];
    bool plain; /* without Adobe's mark */
    bool progressive;
    uint8_t orientation;
    uint8_t want[3];
} jpeg_kind;

static void write_exif(struct jpeg_compress_struct *c, uint8_t orientation)
{
    uint8_t block[] = "Exif\0\0MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\0\0\0\0\0\0\0";
    block[25] = orientation;
    jpeg_write_marker(c, JPEG_APP0 + 1, block, sizeof block - 1);
}

static size_t write_jpeg(const jpeg_kind *k, unsigned char **out)
{
    struct jpeg_compress_struct c = {0};
    struct jpeg_error_mgr e;
    unsigned long n = 0;
    uint8_t row[SIDE_X * 4];
    JSAMPROW rows[] = {row};
    *out = NULL;
    c.err = jpeg_std_error(&e);
    jpeg_create_compress(&c);
    jpeg_mem_dest(&c, out, &n);
    c.image_width = SIDE_X;
    c.image_height = SIDE_Y;
    c.in_color_space = k->given;
    c.input_components = k->given == JCS_CMYK ? 4 : k->given == JCS_GRAYSCALE ? 1 : 3;
    jpeg_set_defaults(&c);
    jpeg_set_colorspace(&c, k->stored);
    jpeg_set_quality(&c, 100, TRUE);
    c.write_Adobe_marker = c.write_Adobe_marker && !k->plain;
    if (k->progressive)
        jpeg_simple_progression(&c);
    jpeg_start_compress(&c, TRUE);
    if (k->orientation)
        write_exif(&c, k->orientation);
    for (int x = 0; x < SIDE_X * c.input_components; x++)
        row[x] = k->color[x % c.input_components];
    while (c.next_scanline < SIDE_Y)
        jpeg_write_scanlines(&c, rows, 1);
    jpeg_finish_compress(&c);
    jpeg_destroy_compress(&c);
    return n;
}

static void is_all(const image *im, const uint8_t *want)
{
    for (size_t i = 0; i < (size_t)im->width * im->height * 3; i++)
        assert_in_range(im->rgb[i] + 3 - want[i % 3], 0, 6);
}

static void test_jpeg_kinds(void **state)
{
    static const jpeg_kind rows[] = {
        {JCS_GRAYSCALE, JCS_GRAYSCALE, {77}, .want = {77, 77, 77}},
        {JCS_RGB, JCS_YCbCr, {200, 40, 90}, .want = {200, 40, 90}},
        {JCS_RGB, JCS_YCbCr, {200, 40, 90}, .progressive = true, .want = {200, 40, 90}},
        {JCS_RGB, JCS_RGB, {200, 40, 90}, .want = {200, 40, 90}},
        /* Adobe's: 255 is no ink; the last is how much light black lets through. */
        {JCS_CMYK, JCS_CMYK, {255, 128, 0, 255}, .want = {255, 128, 0}},
        {JCS_CMYK, JCS_CMYK, {255, 255, 255, 51}, .want = {51, 51, 51}},
        {JCS_CMYK, JCS_YCCK, {200, 40, 90, 255}, .want = {200, 40, 90}},
        {JCS_CMYK, JCS_YCCK, {200, 40, 90, 128}, .progressive = true, .want = {100, 20, 45}},
        /* Without the mark 0 is no ink. */
        {JCS_CMYK, JCS_CMYK, {0, 127, 255, 0}, .plain = true, .want = {255, 128, 0}},
        {JCS_RGB, JCS_YCbCr, {200, 40, 90}, .orientation = 6, .want = {200, 40, 90}},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        unsigned char *bytes;
        image im;
        size_t n = write_jpeg(&rows[i], &bytes);
        assert_int_equal(decode(bytes, n, &im), ASSAY_OK);
        assert_int_equal(im.width, rows[i].orientation ? SIDE_Y : SIDE_X);
        is_all(&im, rows[i].want);
        image_free(&im);
        damage(bytes, n, i);
        free(bytes);
    }
}

/* What is missing is not made up in grey. */
static void test_jpeg_cut(void **state)
{
    static const jpeg_kind kind = {.given = JCS_RGB, .stored = JCS_YCbCr, .color = {200, 40, 90}};
    unsigned char *bytes;
    image im;
    size_t n = write_jpeg(&kind, &bytes);
    (void)state;
    for (size_t cut = 4; cut < n - 2; cut++)
        assert_int_equal(decode(bytes, cut, &im), ASSAY_ERR_MALFORMED);
    free(bytes);
}

static void test_jpeg_unread(void **state)
{
    static const jpeg_kind kind = {.given = JCS_RGB, .stored = JCS_YCbCr, .color = {200, 40, 90}};
    assay_error err = {0};
    unsigned char *bytes;
    image im;
    size_t n = write_jpeg(&kind, &bytes);
    (void)state;
    for (size_t i = 0; i + 5 < n; i++)
        if (bytes[i] == 0xff && bytes[i + 1] == 0xc0)
            bytes[i + 4] = 12; /* bits of a sample */
    assert_int_equal(image_decode("x.jpg", (str){(char *)bytes, (uint32_t)n}, &im, &err),
                     ASSAY_ERR_UNSUPPORTED);
    assert_non_null(strstr(err.message, "8-bit"));
    free(bytes);
}
#endif

#ifdef ASSAY_HAS_PNG

typedef struct png_kind {
    int type, bits, interlace;
    uint8_t pixel[8]; /* big end first */
    int bytes;
    uint8_t want[3];
} png_kind;

typedef struct written {
    uint8_t bytes[8192];
    size_t n;
} written;

static void take(png_structp p, png_bytep data, size_t n)
{
    written *w = png_get_io_ptr(p);
    assert_true(w->n + n <= sizeof w->bytes);
    memcpy(w->bytes + w->n, data, n);
    w->n += n;
}

static void write_png(const png_kind *k, written *w)
{
    static const png_color palette[] = {{0, 0, 0}, {10, 20, 30}, {200, 40, 90}};
    png_structp p = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
    png_infop info = png_create_info_struct(p);
    uint8_t row[SIDE_X * 8];
    png_bytep rows[SIDE_Y];
    w->n = 0;
    png_set_write_fn(p, w, take, NULL);
    png_set_IHDR(p, info, SIDE_X, SIDE_Y, k->bits, k->type, k->interlace,
                 PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    if (k->type == PNG_COLOR_TYPE_PALETTE)
        png_set_PLTE(p, info, palette, 3);
    for (int x = 0; x < SIDE_X * k->bytes; x++)
        row[x] = k->pixel[x % k->bytes];
    for (int y = 0; y < SIDE_Y; y++)
        rows[y] = row;
    png_write_info(p, info);
    png_write_image(p, rows);
    png_write_end(p, info);
    png_destroy_write_struct(&p, &info);
}

static void test_png_kinds(void **state)
{
    enum { GREY = PNG_COLOR_TYPE_GRAY, PALETTE = PNG_COLOR_TYPE_PALETTE };
    enum {
        RGB = PNG_COLOR_TYPE_RGB,
        RGBA = PNG_COLOR_TYPE_RGBA,
        GREY_A = PNG_COLOR_TYPE_GRAY_ALPHA
    };
    static const png_kind rows[] = {
        {GREY, 8, 0, {77}, 1, {77, 77, 77}},
        {GREY, 16, 0, {77, 77}, 2, {77, 77, 77}},
        {GREY, 1, 0, {0xff}, 1, {255, 255, 255}},
        {RGB, 8, 1, {200, 40, 90}, 3, {200, 40, 90}},
        {RGB, 16, 0, {200, 200, 40, 40, 90, 90}, 6, {200, 40, 90}},
        {PALETTE, 8, 0, {2}, 1, {200, 40, 90}},
        {PALETTE, 8, 1, {1}, 1, {10, 20, 30}},
        {GREY_A, 8, 0, {77, 255}, 2, {77, 77, 77}},
        {GREY_A, 8, 0, {77, 0}, 2, {255, 255, 255}}, /* nothing over white */
        {RGBA, 8, 1, {200, 40, 90, 255}, 4, {200, 40, 90}},
        {RGBA, 16, 0, {200, 200, 40, 40, 90, 90, 0, 0}, 8, {255, 255, 255}},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        written w;
        image im;
        write_png(&rows[i], &w);
        assert_int_equal(decode(w.bytes, w.n, &im), ASSAY_OK);
        assert_true(im.width == SIDE_X && im.height == SIDE_Y);
        for (size_t k = 0; k < SIDE_X * SIDE_Y * 3; k++)
            assert_int_equal(im.rgb[k], rows[i].want[k % 3]);
        image_free(&im);
        for (size_t cut = 8; cut < w.n - 16; cut++)
            assert_int_equal(decode(w.bytes, cut, &im), ASSAY_ERR_MALFORMED);
    }
}
#endif

/* ---- which way is up ---- */

/* Stored rows "ab", "cd", "ef"; what is seen, row by row (Exif 2.32, table 6). */
static void test_upright(void **state)
{
    static const char *const seen[] = {"abcdef", "badcfe", "fedcba", "efcdab",
                                       "acebdf", "ecafdb", "fdbeca", "bdface"};
    (void)state;
    for (int o = 1; o <= 8; o++) {
        image im = {.width = 2, .height = 3, .rgb = malloc(18)};
        assay_error err = {0};
        for (int i = 0; i < 18; i++)
            im.rgb[i] = (uint8_t)("abcdef"[i / 3]);
        assert_int_equal(image_upright(&im, o, &err), ASSAY_OK);
        assert_true(im.width == (o < 5 ? 2U : 3U) && im.height == (o < 5 ? 3U : 2U));
        for (int i = 0; i < 6; i++)
            assert_int_equal(im.rgb[3 * i], seen[o - 1][i]);
        image_free(&im);
    }
}

static void test_orientation(void **state)
{
    static const uint8_t big[] = "Exif\0\0MM\0*\0\0\0\x08\0\x02\x01\x0f\0\x03\0\0\0\x01\0\x05\0\0"
                                 "\x01\x12\0\x03\0\0\0\x01\0\x08\0\0";
    static const uint8_t little[] = "II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\x03\0\0\0";
    static const uint8_t lies[] = "II*\0\xff\xff\xff\xff\x01\0";
    (void)state;
    assert_int_equal(image_orientation(big, sizeof big - 1), 8);
    assert_int_equal(image_orientation(little, sizeof little - 1), 3);
    assert_int_equal(image_orientation(lies, sizeof lies - 1), 1);
    for (size_t n = 0; n < sizeof little - 5; n++)
        assert_int_equal(image_orientation(little, n), 1);
    for (size_t n = 0; n + 5 < sizeof big; n++) {
        uint8_t *copy = malloc(n ? n : 1); /* for the sanitizer */
        memcpy(copy, big, n);
        assert_in_range(image_orientation(copy, n), 1, 8);
        free(copy);
    }
}

int run_test_image(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_decode),         cmocka_unit_test(test_damaged),
        cmocka_unit_test(test_sizes_that_lie), cmocka_unit_test(test_what_is_filled),
        cmocka_unit_test(test_resize),
#ifdef ASSAY_HAS_JPEG
        cmocka_unit_test(test_jpeg_kinds),     cmocka_unit_test(test_jpeg_cut),
        cmocka_unit_test(test_jpeg_unread),
#endif
#ifdef ASSAY_HAS_PNG
        cmocka_unit_test(test_png_kinds),
#endif
        cmocka_unit_test(test_upright),        cmocka_unit_test(test_orientation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
