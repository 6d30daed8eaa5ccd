/* The map: against a plain array under random insertions and deletions, and at its limits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>

#include "base/map.h"
#include "base/rng.h"

static void finds_what_was_put(void **state)
{
    arena *a = arena_new(1 << 26);
    map m;
    (void)state;
    assert_true(map_init(&m, a, 0));
    for (uint32_t i = 0; i < 50000; i++)
        assert_true(map_put(&m, str_printf(a, "name%u", i), i));
    assert_int_equal(m.n, 50000);
    for (uint32_t i = 0; i < 50000; i++)
        assert_int_equal(map_get(&m, str_printf(a, "name%u", i)), i);
    assert_int_equal(map_get(&m, STR("name50000")), MAP_NONE);
    arena_free(a);
}

static void expected_size_needs_no_growth(void **state)
{
    arena *a = arena_new(1 << 26);
    map m;
    (void)state;
    assert_true(map_init(&m, a, 10000));
    uint32_t cap = m.cap;
    for (uint32_t i = 0; i < 10000; i++)
        assert_true(map_put(&m, str_printf(a, "%u", i), i));
    assert_int_equal(m.cap, cap);
    arena_free(a);
}

static void interned_keys_outlive_what_they_were_read_from(void **state)
{
    arena *a = arena_new(1 << 20);
    char buffer[] = "Conv";
    str key = {buffer, 4}, again = STR("Conv"), empty = {NULL, 0};
    map m;
    (void)state;
    map_init(&m, a, 0);
    assert_int_equal(map_intern(&m, a, &key, 3), 3);
    assert_ptr_not_equal(key.p, buffer);
    memset(buffer, 'x', 4);
    assert_int_equal(map_intern(&m, a, &again, 9), 3);
    assert_ptr_equal(again.p, key.p);
    assert_int_equal(map_intern(&m, a, &empty, 4), 4);
    assert_non_null(empty.p);
    assert_int_equal(m.n, 2);
    arena_free(a);
}

static void interning_fails_when_memory_is_out(void **state)
{
    arena *a = arena_new(1 << 20), *full = arena_new(16);
    str key = STR("a name that is too long for the arena");
    map m;
    (void)state;
    map_init(&m, a, 0);
    assert_int_equal(map_intern(&m, full, &key, 3), MAP_NONE);
    arena_free(full);
    arena_free(a);
}

static void odd_keys_are_keys(void **state)
{
    arena *a = arena_new(1 << 20);
    map m;
    (void)state;
    map_init(&m, a, 0);
    assert_int_equal(map_get(&m, (str){NULL, 0}), MAP_NONE);
    assert_true(map_put(&m, (str){NULL, 0}, 7));
    assert_int_equal(map_get(&m, STR("")), 7);
    assert_true(map_put(&m, STR("a\0b"), 8));
    assert_int_equal(map_get(&m, STR("a")), MAP_NONE);
    assert_int_equal(map_get(&m, STR("a\0b")), 8);
    assert_int_equal(map_get(&m, STR("a\0c")), MAP_NONE);
    assert_true(map_put(&m, STR("a\0b"), 9));
    assert_int_equal(map_get(&m, STR("a\0b")), 9);
    assert_int_equal(m.n, 2);
    bool is_new = true;
    uint32_t *at = map_at(&m, STR(""), 1, &is_new);
    assert_true(at && *at == 7 && !is_new);
    at = map_at(&m, STR("new"), 5, &is_new);
    assert_true(at && *at == 5 && is_new);
    assert_int_equal(map_get(&m, STR("new")), 5);
    arena_free(a);
}

static void agrees_with_an_array_under_random_changes(void **state)
{
    enum { KEYS = 500 };
    arena *a = arena_new(1 << 26);
    uint32_t truth[KEYS];
    str keys[KEYS];
    map m;
    rng r;
    (void)state;
    rng_seed(&r, 1);
    map_init(&m, a, 0);
    for (uint32_t i = 0; i < KEYS; i++) {
        keys[i] = str_printf(a, "%u", i);
        truth[i] = MAP_NONE;
    }
    for (int step = 0; step < 200000; step++) {
        uint32_t i = (uint32_t)(rng_next(&r) % KEYS);
        bool is_new, was_new = truth[i] == MAP_NONE;
        if (was_new || rng_next(&r) & 1) {
            truth[i] = (uint32_t)step;
            assert_true(map_put(&m, keys[i], truth[i]));
        }
        assert_int_equal(*map_at(&m, keys[i], 0, &is_new), truth[i]);
        assert_false(is_new);
        uint32_t j = (uint32_t)(rng_next(&r) % KEYS);
        assert_int_equal(map_get(&m, keys[j]), truth[j]);
    }
    assert_true(m.cap <= 2048);
    arena_free(a);
}

static void fails_when_memory_is_out(void **state)
{
    arena *a = arena_new(4096);
    static char names[10000][8];
    map m;
    uint32_t n = 0;
    (void)state;
    assert_true(map_init(&m, a, 0));
    for (; n < 10000; n++) {
        snprintf(names[n], sizeof names[n], "%u", n);
        if (!map_put(&m, str_of(names[n]), n))
            break;
    }
    assert_true(n > 8 && n < 10000);
    for (uint32_t i = 0; i < n; i++)
        assert_int_equal(map_get(&m, str_of(names[i])), i);
    arena_free(a);
}

static void an_arena_without_room_gives_an_empty_map(void **state)
{
    arena *a = arena_new(1);
    map m;
    (void)state;
    assert_false(map_init(&m, a, 100));
    assert_int_equal(map_get(&m, STR("x")), MAP_NONE);
    assert_false(map_put(&m, STR("x"), 1));
    arena_free(a);
}

int run_test_map(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_what_was_put),
        cmocka_unit_test(expected_size_needs_no_growth),
        cmocka_unit_test(interned_keys_outlive_what_they_were_read_from),
        cmocka_unit_test(interning_fails_when_memory_is_out),
        cmocka_unit_test(odd_keys_are_keys),
        cmocka_unit_test(agrees_with_an_array_under_random_changes),
        cmocka_unit_test(fails_when_memory_is_out),
        cmocka_unit_test(an_arena_without_room_gives_an_empty_map),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
