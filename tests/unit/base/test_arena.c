/* Arenas, arrays in them and borrowed strings: limits, zeroed memory, sticky failure, overflow. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/arena.h"
#include "base/str.h"
#include "base/vec.h"

static void memory_is_zeroed_and_aligned(void **state)
{
    arena *a = arena_new(1 << 24);
    static const unsigned char zero[70000];
    (void)state;
    for (size_t n = 0; n < 70000; n = n * 3 + 1) {
        unsigned char *p = arena_alloc(a, n);
        assert_non_null(p);
        assert_int_equal((uintptr_t)p % 16, 0);
        assert_memory_equal(p, zero, n);
        memset(p, 0xaa, n);
    }
    arena_free(a);
}

static void allocations_do_not_overlap(void **state)
{
    arena *a = arena_new(1 << 26);
    unsigned char *p[2000];
    (void)state;
    for (int i = 0; i < 2000; i++) {
        p[i] = arena_alloc(a, (size_t)(i * 37 % 5000) + 1);
        memset(p[i], i & 0xff, (size_t)(i * 37 % 5000) + 1);
    }
    for (int i = 0; i < 2000; i++)
        for (int j = 0; j <= i * 37 % 5000; j++)
            assert_int_equal(p[i][j], i & 0xff);
    arena_free(a);
}

/* Blocks have sizes that small allocations use up to the last byte. */
static void blocks_that_are_used_up_keep_what_they_hold(void **state)
{
    enum { N = 20000 };
    arena *a = arena_new(1 << 24);
    uint32_t *p[N];
    (void)state;
    for (uint32_t i = 0; i < N; i++) {
        p[i] = arena_alloc(a, 16);
        assert_non_null(p[i]);
        assert_int_equal(*p[i], 0);
        *p[i] = i;
    }
    for (uint32_t i = 0; i < N; i++)
        assert_int_equal(*p[i], i);
    assert_int_equal(arena_used(a), N * 16);
    arena_free(a);
}

static void limit_is_kept_and_failure_is_sticky(void **state)
{
    arena *a = arena_new(1000);
    (void)state;
    assert_non_null(arena_alloc(a, 500));
    assert_false(arena_failed(a));
    assert_null(arena_alloc(a, 600));
    assert_true(arena_failed(a));
    assert_null(arena_alloc(a, 1));
    assert_null(arena_strdup(a, ""));
    assert_null(arena_printf(a, "x"));
    assert_null(str_copy(a, STR("x")).p);
    assert_true(arena_used(a) <= 1000);
    arena_free(a);
    arena_free(NULL);
}

static void tiny_allocations_count_what_they_take(void **state)
{
    arena *a = arena_new(16 * 100);
    int n = 0;
    (void)state;
    while (arena_alloc(a, 1))
        n++;
    assert_int_equal(n, 100);
    arena_free(a);
}

static void huge_sizes_fail(void **state)
{
    (void)state;
    arena *a = arena_new(SIZE_MAX);
    assert_null(arena_alloc(a, SIZE_MAX));
    arena_free(a);
    a = arena_new(SIZE_MAX);
    assert_null(arena_alloc(a, SIZE_MAX - 8));
    arena_free(a);
    a = arena_new(SIZE_MAX);
    assert_null(arena_alloc_array(a, SIZE_MAX / 2, 4));
    assert_true(arena_failed(a));
    arena_free(a);
}

static void only_the_newest_grows_in_place(void **state)
{
    arena *a = arena_new(1 << 20);
    (void)state;
    char *p = arena_alloc(a, 16), *q = arena_alloc(a, 16);
    assert_false(arena_extend(a, p, 16, 32));
    memset(q, 1, 16);
    assert_true(arena_extend(a, q, 16, 64));
    for (int i = 16; i < 64; i++)
        assert_int_equal(q[i], 0);
    assert_false(arena_extend(a, q, 64, 1 << 22));
    assert_false(arena_failed(a));
    arena_free(a);
}

static void a_failed_extension_is_no_failure(void **state)
{
    arena *a = arena_new(64);
    (void)state;
    char *p = arena_alloc(a, 32);
    assert_false(arena_extend(a, p, 32, 80));
    assert_false(arena_failed(a));
    assert_true(arena_extend(a, p, 32, 64));
    arena_free(a);
}

typedef struct pair {
    uint64_t x, y;
} pair;

static void vec_keeps_items_and_zeroes_new_ones(void **state)
{
    arena *a = arena_new(1 << 24);
    VEC(pair) v = {0}, w = {0};
    (void)state;
    for (uint32_t i = 0; i < 20000; i++) {
        pair *p = VEC_PUSH(a, &v), *q = VEC_PUSH(a, &w);
        assert_true(p && q && p->x == 0 && p->y == 0);
        p->x = i;
        q->y = i;
    }
    for (uint32_t i = 0; i < 20000; i++) {
        assert_int_equal(v.items[i].x, i);
        assert_int_equal(w.items[i].y, i);
    }
    arena_free(a);
}

static void vec_stops_at_the_limit(void **state)
{
    arena *a = arena_new(4096);
    VEC(pair) v = {0};
    (void)state;
    while (VEC_PUSH(a, &v))
        ;
    assert_true(v.n > 16 && v.n <= 256);
    assert_true(arena_failed(a));
    arena_free(a);
}

static void vec_refuses_overflow(void **state)
{
    arena *a = arena_new(SIZE_MAX);
    void *items = NULL;
    uint32_t cap = UINT32_MAX;
    (void)state;
    assert_false(vec_grow(a, &items, UINT32_MAX, &cap, 16));
    cap = 1u << 31;
    assert_false(vec_grow(a, &items, 1u << 31, &cap, SIZE_MAX / 8));
    arena_free(a);
}

static void reserved_room_is_not_moved(void **state)
{
    arena *a = arena_new(1 << 20);
    VEC(uint64_t) v = {0};
    (void)state;
    *VEC_PUSH(a, &v) = 7;
    arena_alloc(a, 1);
    assert_true(VEC_RESERVE(a, &v, 1000));
    const uint64_t *at = v.items;
    for (uint32_t i = 1; i < 1000; i++)
        *VEC_PUSH(a, &v) = i;
    assert_ptr_equal(v.items, at);
    assert_int_equal(v.items[0], 7);
    assert_true(VEC_RESERVE(a, &v, 10));
    assert_int_equal(v.cap, 1000);
    assert_false(VEC_RESERVE(a, &v, UINT32_MAX));
    arena_free(a);
}

static void strings_compare_by_bytes(void **state)
{
    str empty = {NULL, 0};
    (void)state;
    assert_true(str_eq(empty, STR("")));
    assert_true(str_starts(STR("conv1.weight"), "conv"));
    assert_false(str_starts(STR("co"), "conv"));
    assert_true(str_ends(STR("conv1.weight"), ".weight"));
    assert_true(str_starts(empty, "") && str_ends(empty, "") && str_contains(empty, ""));
    assert_true(str_contains(STR("a\0b"), "b"));
    assert_false(str_contains(STR("ab"), "abc"));
    assert_true(str_cmp(STR("a"), STR("b")) < 0);
    assert_true(str_cmp(STR("ab"), STR("a")) > 0);
    assert_int_equal(str_cmp(STR("\xff"), STR("a")) > 0, 1);
    assert_int_equal(str_cmp(empty, STR("")), 0);
    assert_true(str_hash(STR("a")) != str_hash(STR("a\0")));
    assert_true(str_hash(STR("abcdefgh")) != str_hash(STR("abcdefgh\0")));
}

static void edit_distance_is_bounded(void **state)
{
    char longer[200];
    (void)state;
    assert_int_equal(str_distance(STR("resnet50"), STR("resnet50"), 3), 0);
    assert_int_equal(str_distance(STR("resnt50"), STR("resnet50"), 3), 1);
    assert_int_equal(str_distance(STR("kitten"), STR("sitting"), 3), 3);
    assert_int_equal(str_distance(STR("kitten"), STR("sitting"), 2), 3);
    assert_int_equal(str_distance(STR(""), STR("abc"), 5), 3);
    memset(longer, 'a', sizeof longer);
    assert_int_equal(str_distance((str){longer, 200}, (str){longer, 199}, 2), 3);
}

int run_test_arena(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_is_zeroed_and_aligned),
        cmocka_unit_test(allocations_do_not_overlap),
        cmocka_unit_test(blocks_that_are_used_up_keep_what_they_hold),
        cmocka_unit_test(limit_is_kept_and_failure_is_sticky),
        cmocka_unit_test(tiny_allocations_count_what_they_take),
        cmocka_unit_test(huge_sizes_fail),
        cmocka_unit_test(only_the_newest_grows_in_place),
        cmocka_unit_test(a_failed_extension_is_no_failure),
        cmocka_unit_test(vec_keeps_items_and_zeroes_new_ones),
        cmocka_unit_test(vec_stops_at_the_limit),
        cmocka_unit_test(vec_refuses_overflow),
        cmocka_unit_test(reserved_room_is_not_moved),
        cmocka_unit_test(strings_compare_by_bytes),
        cmocka_unit_test(edit_distance_is_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
