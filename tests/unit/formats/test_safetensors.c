/* Headers of safetensors files and sets: what is read, and every lie that is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "formats/safetensors.h"
#include "support/folder.h"
#include "support/place.h"
#include "support/weights_writer.h"

/* ---- one file ---- */

static void reads_a_file(void **state)
{
    (void)state;
    assay_error err = {0};
    weight_set *w = NULL;
    arena *a = arena_new(1 << 20);
    wf f = st_file("{\"__metadata__\":{\"format\":\"pt\"},"
                   "\"b\":{\"dtype\":\"F32\",\"shape\":[2,3],\"data_offsets\":[8,32]},"
                   "\"a\\u00e9\":{\"shape\":[],\"x\":[{\"y\":[1.5e3,null]}],\"dtype\":\"I64\","
                   "\"data_offsets\":[0,8]},"
                   "\"empty\":{\"dtype\":\"BF16\",\"shape\":[0,7],\"data_offsets\":[8,8]},"
                   "\"small\":{\"dtype\":\"F4\",\"shape\":[4],\"data_offsets\":[32,34]}}   ",
                   34);
    assert_int_equal(safetensors_read_bytes(f.p, f.n, a, &w, &err), ASSAY_OK);
    assert_int_equal(w->items.n, 4);
    const weight_item *b = weight_set_get(w, STR("b"));
    assert_non_null(b);
    assert_true(str_is(b->stored, "float32"));
    assert_int_equal(b->rank, 2);
    assert_int_equal(b->dims[1], 3);
    assert_int_equal(b->n_elems, 6);
    assert_int_equal(b->size_bytes, 24);
    assert_int_equal(b->offset, f.n - 34 + 8);
    assert_true(weight_set_get(w, STR("a\xc3\xa9"))->integer);
    assert_int_equal(weight_set_get(w, STR("empty"))->n_elems, 0);
    assert_int_equal(weight_set_get(w, STR("small"))->size_bytes, 2);
    assert_int_equal(w->size_bytes, 34);
    assert_int_equal(w->metadata.n, 1);
    assert_true(str_is(w->metadata.items[0].value, "pt"));
    wf_free(&f);
    arena_free(a);
}

static void refuse(const char *json, size_t data, const char *place, const char *fact)
{
    assay_error err = {0};
    weight_set *w = NULL;
    arena *a = arena_new(1 << 20);
    wf f = st_file(json, data);
    assert_int_equal(safetensors_read_bytes(f.p, f.n, a, &w, &err), ASSAY_ERR_MALFORMED);
    error_is(&err, ASSAY_ERR_MALFORMED, place, fact);
    wf_free(&f);
    arena_free(a);
}

#define ONE(shape, from, to) \
    "{\"t\":{\"dtype\":\"F32\",\"shape\":" shape ",\"data_offsets\":[" from "," to "]}}"
#define TWO(a0, a1, b0, b1)                                                                      \
    "{\"t\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[" a0 "," a1 "]},\"u\":{\"dtype\":" \
    "\"U8\",\"shape\":[4],\"data_offsets\":[" b0 "," b1 "]}}"

static void refuses_lies(void **state)
{
    (void)state;
    refuse(ONE("[2]", "0", "4"), 8, "'t'", "4");
    refuse(ONE("[2]", "0", "8"), 7, "@13", NULL);
    refuse(ONE("[2]", "0", "8"), 9, "@70", "1");
    refuse(ONE("[2]", "4", "12"), 12, "@63", NULL);
    refuse(ONE("[2]", "8", "0"), 8, "'t'", NULL);
    refuse(ONE("[9223372036854775808]", "0", "8"), 8, "@55", "2^63");
    refuse(ONE("[9223372036854775807, 4]", "0", "8"), 8, "'t'", NULL);
    refuse(ONE("[4294967296, 4294967296, 4294967296]", "0", "8"), 8, "'t'", NULL);
    refuse(ONE("[-1]", "0", "8"), 8, "@37", NULL);
    refuse(ONE("[1.0]", "0", "8"), 8, "@38", NULL);
    refuse(ONE("[02]", "0", "8"), 8, "@39", NULL);
    refuse(ONE("2", "0", "8"), 8, "@36", NULL);
    refuse(TWO("0", "4", "2", "6"), 6, "@115", "'t'");
    refuse(TWO("0", "4", "5", "9"), 9, "@117", NULL);
    refuse("{\"t\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]},\"t\":{\"dtype\":\"U8\","
           "\"shape\":[1],\"data_offsets\":[1,2]}}",
           2, "'t'", "'t'");
    refuse("{\"t\":{\"dtype\":\"U8\",\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}}", 1,
           "'t'", NULL);
    refuse("{\"t\":{\"dtype\":\"Q9\",\"shape\":[1],\"data_offsets\":[0,1]}}", 1, "'t'", "'Q9'");
    refuse("{\"t\":{\"dtype\":\"F4\",\"shape\":[1],\"data_offsets\":[0,1]}}", 1, "'t'", NULL);
    refuse("{\"t\":{\"shape\":[1],\"data_offsets\":[0,1]}}", 1, "'t'", NULL);
    refuse("{\"t\":{\"dtype\":\"U8\",\"data_offsets\":[0,1]}}", 1, "'t'", NULL);
    refuse("{\"t\":{\"dtype\":\"U8\",\"shape\":[1]}}", 1, "'t'", "data_offsets");
    refuse("{\"t\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0]}}", 1, "'t'", NULL);
    refuse("{\"t\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1,2]}}", 1, "'t'", NULL);
    refuse("{\"__metadata__\":{},\"__metadata__\":{}}", 0, "@42", "__metadata__");
    refuse("{\"__metadata__\":{\"a\":1}}", 0, "@29", NULL);
}

static void refuses_broken_json(void **state)
{
    (void)state;
    refuse("", 0, "@8", NULL);
    refuse("[]", 0, "@8", NULL);
    refuse("{\"t\"", 0, "@12", NULL);
    refuse("{\"t\":1}", 0, "@13", NULL);
    refuse("{\"t", 0, "@11", NULL);
    refuse("{} x", 0, "@11", NULL);
    refuse("{\"t\":{\"a\":\"\\q\"}}", 0, "@21", NULL);
    refuse("{\"t\":{\"a\":\"\\ud800\"}}", 0, "@25", NULL);
    refuse("{\"t\":{\"a\":\"\xff\"}}", 0, "@20", "UTF-8");
    refuse("{\"t\":{\"a\":01}}", 0, "@20", NULL);
    refuse("{\"t\":{\"a\":nul}}", 0, "@18", NULL);
    refuse("{\"t\":{\"a\":[1,]}}", 0, "@21", NULL);
    refuse("{\"t\":{\"a\":1 \"b\":2}}", 0, "@20", NULL);
}

static void refuses_depth(void **state)
{
    char json[1200] = "{\"t\":{\"x\":";
    (void)state;
    for (int i = 0; i < 500; i++)
        strcat(json, "[");
    refuse(json, 0, "@81", "64");
}

static void refuses_lengths(void **state)
{
    assay_error err = {0};
    weight_set *w = NULL;
    arena *a = arena_new(1 << 20);
    wf f = {0};
    (void)state;
    assert_int_equal(safetensors_read_bytes("abc", 3, a, &w, &err), ASSAY_ERR_MALFORMED);
    error_is(&err, ASSAY_ERR_MALFORMED, NULL, "3");
    err = (assay_error){0};
    wf_int(&f, UINT64_MAX, 8);
    assert_int_equal(safetensors_read_bytes(f.p, f.n, a, &w, &err), ASSAY_ERR_MALFORMED);
    assert_non_null(strstr(err.message, "safetensors-header"));
    err = (assay_error){0};
    f.n = 0;
    wf_int(&f, 50, 8);
    assert_int_equal(safetensors_read_bytes(f.p, f.n, a, &w, &err), ASSAY_ERR_MALFORMED);
    assert_non_null(strstr(err.message, "only 0 follow"));
    wf_free(&f);
    arena_free(a);
}

/* Every length of a file that is cut, and every byte of its header changed: a status, never a crash. */
static void survives_damage(void **state)
{
    (void)state;
    wf f = st_file(TWO("0", "4", "4", "8"), 8);
    for (size_t n = 0; n <= f.n; n++) {
        arena *a = arena_new(1 << 20);
        weight_set *w = NULL;
        assay_error err = {0};
        assay_status s = safetensors_read_bytes(f.p, n, a, &w, &err);
        assert_int_equal(s, n == f.n ? ASSAY_OK : ASSAY_ERR_MALFORMED);
        arena_free(a);
    }
    for (size_t i = 0; i < f.n - 8; i++) {
        arena *a = arena_new(1 << 20);
        weight_set *w = NULL;
        assay_error err = {0};
        f.p[i] ^= 0x41;
        safetensors_read_bytes(f.p, f.n, a, &w, &err);
        f.p[i] ^= 0x41;
        arena_free(a);
    }
    wf_free(&f);
}

/* ---- sets ---- */

static void save(const char *name, const char *json, size_t data)
{
    wf f = st_file(json, data);
    assert_int_equal(wf_save(&f, in_test_folder(name)), 0);
    wf_free(&f);
}

static void save_text(const char *name, const char *text)
{
    wf f = {0};
    wf_put(&f, text, strlen(text));
    assert_int_equal(wf_save(&f, in_test_folder(name)), 0);
    wf_free(&f);
}

#define U8(name) "{\"" name "\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[0,4]}}"

static void expect_index(const char *text, assay_status status, const char *part)
{
    assay_error err = {0};
    weight_set *w = NULL;
    arena *a = arena_new(1 << 20);
    save_text("i.safetensors.index.json", text);
    assert_int_equal(weights_read_index(&safetensors_reader,
                                        in_test_folder("i.safetensors.index.json"), a, &w, &err),
                     status);
    if (part && !strstr(err.message, part))
        fail_msg("'%s' does not say '%s'", err.message, part);
    if (status == ASSAY_OK)
        assert_int_equal(w->items.n, 2);
    arena_free(a);
}

static void reads_an_index(void **state)
{
    (void)state;
    save("x1", U8("a"), 4);
    save("x2", U8("b"), 4);
    expect_index("{\"metadata\":{\"total_size\":8},\"weight_map\":{\"a\":\"x1\",\"b\":\"x2\"}}",
                 ASSAY_OK, NULL);
    expect_index("{\"weight_map\":{\"a\":\"x2\",\"b\":\"x1\"}}", ASSAY_ERR_MALFORMED, "'a'");
    expect_index("{\"weight_map\":{\"a\":\"x1\",\"c\":\"x2\"}}", ASSAY_ERR_MALFORMED, "'c'");
    expect_index("{\"weight_map\":{\"a\":\"x1\",\"a\":\"x1\"}}", ASSAY_ERR_MALFORMED, "'a'");
    expect_index("{\"weight_map\":{\"a\":\"../x1\"}}", ASSAY_ERR_MALFORMED, "x1");
    expect_index("{\"weight_map\":{\"a\":\"gone\"}}", ASSAY_ERR_SYSTEM, "gone");
    expect_index("{\"metadata\":{}}", ASSAY_ERR_MALFORMED, "weight_map");
    save("x2", U8("a"), 4);
    expect_index("{\"weight_map\":{\"a\":\"x1\",\"b\":\"x2\"}}", ASSAY_ERR_MALFORMED, "'a'");
}

/* 200 GB in 40 sparse files of 100 tensors: only headers are touched. */
static void large_sets_are_fast(void **state)
{
    enum { FILES = 40, TENSORS = 100 };
    const uint64_t each = (uint64_t)50 << 20;
    wf index = {0};
    char text[256];
    (void)state;
    wf_put(&index, "{\"weight_map\":{", 15);
    for (int i = 0; i < FILES; i++) {
        wf json = {0};
        for (int k = 0; k < TENSORS; k++) {
            int n = snprintf(text, sizeof text,
                             "%s\"layers.%d.%d\":{\"dtype\":\"BF16\",\"shape\":[%d,1048576],"
                             "\"data_offsets\":[%llu,%llu]}",
                             k ? "," : "{", i, k, 25, (unsigned long long)(each * (uint64_t)k),
                             (unsigned long long)(each * (uint64_t)(k + 1)));
            wf_put(&json, text, (size_t)n);
            n = snprintf(text, sizeof text, "%s\"layers.%d.%d\":\"big-%d\"", i + k ? "," : "", i, k,
                         i);
            wf_put(&index, text, (size_t)n);
        }
        wf_put(&json, "}", 2);
        wf file = st_file((const char *)json.p, 0);
        snprintf(text, sizeof text, "big-%d", i);
        assert_int_equal(wf_save(&file, in_test_folder(text)), 0);
        assert_int_equal(truncate(in_test_folder(text), (off_t)(file.n + each * TENSORS)), 0);
        wf_free(&file);
        wf_free(&json);
    }
    wf_put(&index, "}}", 2);
    assert_int_equal(wf_save(&index, in_test_folder("big.safetensors.index.json")), 0);
    wf_free(&index);
    arena *a = arena_new((size_t)64 << 20);
    assay_error err = {0};
    weight_set *w = NULL;
    uint64_t from = clock_mono_ns();
    assert_int_equal(weights_read_index(&safetensors_reader,
                                        in_test_folder("big.safetensors.index.json"), a, &w, &err),
                     ASSAY_OK);
    uint64_t took = clock_mono_ns() - from;
    assert_int_equal(w->items.n, FILES * TENSORS);
    assert_true(w->size_bytes > 200000000000u);
    assert_true(took < 1000000000u); /* 100 ms are promised; tests run on busy machines */
    arena_free(a);
}

int run_test_safetensors(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_a_file),        cmocka_unit_test(refuses_lies),
        cmocka_unit_test(refuses_broken_json), cmocka_unit_test(refuses_depth),
        cmocka_unit_test(refuses_lengths),     cmocka_unit_test(survives_damage),
        cmocka_unit_test(reads_an_index),      cmocka_unit_test(large_sets_are_fast),
    };
    return cmocka_run_group_tests(tests, make_test_folder, remove_test_folder);
}
