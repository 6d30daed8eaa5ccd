/* Roles of dimensions: names, places, images in every layout, caches and ids. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/axis_roles.h"

static void roles_by_name(void **state)
{
    static const struct {
        const char *symbol;
        axis_role role;
    } rows[] = {
        {"batch", AXIS_BATCH},
        {"decoder_batch_size", AXIS_BATCH},
        {"num_images", AXIS_BATCH},
        {"BS", AXIS_BATCH},
        {"batch*heads", AXIS_NONE}, /* a product is not the batch */
        {"obs_len", AXIS_SEQUENCE}, /* "bs" is a whole name only */
        {"past_sequence_length + 1", AXIS_PAST},
        {"sequence_length", AXIS_SEQUENCE},
        {"height", AXIS_SIDE},
        {"num_channels", AXIS_CHANNELS},
        {"audio_in", AXIS_SAMPLES},
        {"unk__12", AXIS_NONE},
        {"", AXIS_NONE},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        str symbol = str_of(rows[i].symbol);
        assert_int_equal(axis_role_by_name(symbol), rows[i].role);
        assert_int_equal(axis_names_batch(symbol), rows[i].role == AXIS_BATCH);
        assert_int_equal(axis_names_other(symbol),
                         rows[i].role != AXIS_BATCH && rows[i].role != AXIS_NONE);
    }
}

/* ---- images ---- */

typedef struct image_row {
    const char *name;
    ir_dtype dtype;
    int rank;
    int64_t dims[5];
    int batch;
    bool image;
    image_axes axes;
} image_row;

static void check_images(const image_row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const image_row *r = &rows[i];
        axis_input in = {str_of(r->name), r->dtype, r->rank, r->dims};
        image_axes got;
        assert_int_equal(axis_image(&in, r->batch, &got), r->image);
        if (!r->image)
            continue;
        assert_int_equal(got.picture, r->axes.picture);
        assert_int_equal(got.channels, r->axes.channels);
        assert_int_equal(got.height, r->axes.height);
        assert_int_equal(got.width, r->axes.width);
        assert_int_equal(got.frames, r->axes.frames);
    }
}

static void images_of_a_batch(void **state)
{
    static const image_row rows[] = {
        {"x", IR_FLOAT32, 4, {1, 3, 224, 200}, 0, true, {true, 1, 2, 3, -1}},
        {"x", IR_UINT8, 4, {1, 224, 200, 3}, 0, true, {true, 3, 1, 2, -1}},
        {"x", IR_FLOAT16, 4, {1, 3, 224, 3}, 0, true, {true, 1, 2, 3, -1}}, /* both: first */
        {"x", IR_FLOAT32, 4, {-1, -1, -1, 3}, 0, true, {true, 3, 1, 2, -1}},
        {"x", IR_FLOAT32, 4, {1, 16, 64, 64}, 0, true, {false, 1, 2, 3, -1}},
        {"x", IR_FLOAT32, 5, {1, 3, 16, 112, 96}, 0, true, {true, 1, 3, 4, 2}},
        {"x", IR_FLOAT32, 5, {1, 16, 112, 96, 3}, 0, true, {true, 4, 2, 3, 1}},
        {"x", IR_INT64, 4, {1, 3, 8, 8}, 0, false, {0}},
        {"x", IR_FLOAT32, 2, {1, 3}, 0, false, {0}},
        {"past_key_values.0.key", IR_FLOAT32, 4, {1, 2, 128, 64}, 0, false, {0}},
        {"kv_cache", IR_FLOAT32, 4, {1, 2, 128, 64}, 0, false, {0}},
        {"attention_mask", IR_FLOAT32, 4, {1, 1, 128, 128}, 0, false, {0}},
    };
    (void)state;
    check_images(rows, sizeof rows / sizeof *rows);
}

/* [1, 128, 768] is a sequence of vectors unless it is known to have no batch. */
static void images_without_a_batch(void **state)
{
    enum { NONE = AXIS_NO_BATCH, UNKNOWN = AXIS_BATCH_UNKNOWN };
    static const image_row rows[] = {
        {"x", IR_FLOAT32, 3, {3, 224, 200}, NONE, true, {true, 0, 1, 2, -1}},
        {"x", IR_FLOAT32, 3, {224, 200, 1}, NONE, true, {true, 2, 0, 1, -1}},
        {"x", IR_FLOAT32, 3, {1, -1, -1}, NONE, true, {true, 0, 1, 2, -1}},
        {"x", IR_INT64, 3, {3, 320, 320}, NONE, false, {0}},
        {"x", IR_FLOAT32, 3, {1, 128, 768}, NONE, true, {true, 0, 1, 2, -1}},
        {"x", IR_FLOAT32, 3, {1, 128, 768}, 0, false, {0}},
        {"x", IR_FLOAT32, 3, {1, 128, 768}, UNKNOWN, false, {0}},
        {"x", IR_FLOAT32, 3, {3, -1, -1}, UNKNOWN, true, {true, 0, 1, 2, -1}},
        {"x", IR_FLOAT32, 3, {-1, 1024, 3}, UNKNOWN, false, {0}}, /* points */
        {"x", IR_FLOAT32, 3, {2, 224, 224}, NONE, false, {0}},
        {"x", IR_FLOAT32, 3, {3, 8, 224}, NONE, false, {0}},
    };
    (void)state;
    check_images(rows, sizeof rows / sizeof *rows);
}

/* ---- by place ---- */

static axis_role place_of(ir_dtype dtype, const char *name, int rank, const int64_t *sizes,
                          int axis)
{
    ir_dim dims[6] = {0};
    for (int d = 0; d < rank; d++)
        dims[d].value = sizes[d];
    ir_value v = {.name = str_of(name), .declared = {.dtype = dtype, .rank = rank, .dims = dims}};
    return axis_role_by_place(&v, rank, axis);
}

static void roles_by_place(void **state)
{
    static const struct {
        ir_dtype dtype;
        const char *name;
        int rank;
        int64_t dims[6];
        axis_role roles[6];
    } rows[] = {
        {IR_FLOAT32, "x", 4, {-1, -1, -1, -1}, {AXIS_BATCH, AXIS_CHANNELS, AXIS_SIDE, AXIS_SIDE}},
        {IR_FLOAT32, "x", 4, {-1, -1, -1, 3}, {AXIS_BATCH, AXIS_SIDE, AXIS_SIDE, AXIS_CHANNELS}},
        {IR_FLOAT32,
         "x",
         5,
         {-1, -1, -1, -1, -1},
         {AXIS_BATCH, AXIS_CHANNELS, AXIS_FRAMES, AXIS_VIDEO_SIDE, AXIS_VIDEO_SIDE}},
        {IR_FLOAT32, "x", 3, {3, -1, -1}, {AXIS_CHANNELS, AXIS_SIDE, AXIS_SIDE}},
        {IR_FLOAT32, "x", 3, {-1, -1, -1}, {AXIS_BATCH, AXIS_SEQUENCE, AXIS_SIZE}},
        {IR_FLOAT32, "state", 3, {2, -1, 64}, {AXIS_BATCH, AXIS_BATCH, AXIS_SIZE}},
        {IR_INT64, "ids", 2, {-1, -1}, {AXIS_BATCH, AXIS_SEQUENCE}},
        {IR_FLOAT32, "audio", 2, {-1, -1}, {AXIS_BATCH, AXIS_SAMPLES}},
        {IR_FLOAT32, "x", 2, {-1, -1}, {AXIS_BATCH, AXIS_SIZE}},
        {IR_FLOAT32,
         "x",
         6,
         {-1, -1, -1, -1, -1, -1},
         {AXIS_BATCH, AXIS_SIZE, AXIS_SIZE, AXIS_SIZE, AXIS_SIZE, AXIS_SIZE}},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (int d = 0; d < rows[i].rank; d++)
            assert_int_equal(place_of(rows[i].dtype, rows[i].name, rows[i].rank, rows[i].dims, d),
                             rows[i].roles[d]);
}

/* ---- caches and ids ---- */

static int64_t tokens_in(const char *name, int rank)
{
    static const int64_t dims[] = {1, 12, 77, 64};
    return axis_cached_tokens(&(axis_input){str_of(name), IR_FLOAT32, rank, dims});
}

static void caches_hold_tokens(void **state)
{
    (void)state;
    assert_int_equal(tokens_in("past_key_values.0.key", 4), 77);
    assert_int_equal(tokens_in("past_key_values.0.decoder.value", 4), 77);
    assert_int_equal(tokens_in("past_key_values.0.encoder.key", 4), -1);
    assert_int_equal(tokens_in("past_key_cross_3", 4), -1);
    assert_int_equal(tokens_in("past_key_values.0.key", 3), -1);
    assert_int_equal(tokens_in("pixel_values", 4), -1);
}

static void ids_are_a_sequence(void **state)
{
    (void)state;
    assert_int_equal(axis_of_ids(IR_INT64, 2, 0), 1);
    assert_int_equal(axis_of_ids(IR_INT32, 2, AXIS_NO_BATCH), 1);
    assert_int_equal(axis_of_ids(IR_INT64, 2, 1), 0);
    assert_int_equal(axis_of_ids(IR_INT64, 1, 0), -1);
    assert_int_equal(axis_of_ids(IR_FLOAT32, 2, 0), -1);
}

int run_test_axis_roles(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(roles_by_name),          cmocka_unit_test(images_of_a_batch),
        cmocka_unit_test(images_without_a_batch), cmocka_unit_test(roles_by_place),
        cmocka_unit_test(caches_hold_tokens),     cmocka_unit_test(ids_are_a_sequence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
