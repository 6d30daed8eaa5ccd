/* Memory of arena blocks: zeroed however often it was used, never shared by two pieces, freed by any thread. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <stdbool.h>
#include <string.h>

#include "base/pages.h"
#include "base/rng.h"

static bool all_bytes_are(const unsigned char *p, size_t n, unsigned char byte)
{
    return n == 0 || (p[0] == byte && memcmp(p, p + 1, n - 1) == 0);
}

static pages take_filled(size_t size, unsigned char byte)
{
    pages p = pages_take(size);
    assert_non_null(p.at);
    assert_true(p.size >= size);
    assert_int_equal((uintptr_t)p.at % 64, 0);
    assert_true(all_bytes_are(p.at, size, 0));
    memset(p.at, byte, p.size);
    return p;
}

/* Pieces of all sizes come and go in any order; each keeps its bytes until it is given back. */
static void pieces_are_zeroed_and_apart(void **state)
{
    enum { LIVE = 40, STEPS = 3000 };
    pages live[LIVE] = {{0}};
    rng r;
    (void)state;
    rng_seed(&r, 7);
    for (int step = 0; step < STEPS; step++) {
        size_t i = rng_next(&r) % LIVE;
        unsigned char byte = (unsigned char)(i + 1);
        if (live[i].at) {
            assert_true(all_bytes_are(live[i].at, live[i].size, byte));
            pages_give(live[i]);
            live[i].at = NULL;
        } else {
            live[i] = take_filled((size_t)1 << (4 + rng_next(&r) % 17), byte);
        }
    }
    for (size_t i = 0; i < LIVE; i++)
        if (live[i].at)
            pages_give(live[i]);
}

/* What one arena gave back serves the next: neither the order nor the number of rounds makes new regions. */
static void memory_is_reused(void **state)
{
    (void)state;
    pages first = take_filled(20000, 1), second = take_filled(30000, 2);
    const void *at = first.at;
    pages_give(first);
    pages_give(second);
    for (int i = 0; i < 1000; i++) {
        pages p = take_filled(20000, 3), q = take_filled(900000, 4);
        assert_ptr_equal(p.at, at);
        pages_give(p);
        pages_give(q);
    }
}

static void more_than_a_region_holds_is_had_too(void **state)
{
    enum { N = 12 };
    pages p[N];
    (void)state;
    for (size_t i = 0; i < N; i++)
        p[i] = take_filled((size_t)700000 * (i + 1), (unsigned char)(i + 1));
    for (size_t i = 0; i < N; i++) {
        assert_true(all_bytes_are(p[i].at, p[i].size, (unsigned char)(i + 1)));
        pages_give(p[i]);
    }
}

static void *give_and_take(void *taken)
{
    pages own = pages_take(100000);
    bool good = own.at && all_bytes_are(own.at, own.size, 0);
    pages_give(*(pages *)taken);
    memset(own.at, 9, own.size);
    *(pages *)taken = own;
    return good ? taken : NULL;
}

static void another_thread_may_give_back(void **state)
{
    (void)state;
    for (int i = 0; i < 20; i++) {
        pages p = take_filled(50000, 5), kept = take_filled(60000, 6);
        pthread_t thread;
        void *good = NULL;
        assert_int_equal(pthread_create(&thread, NULL, give_and_take, &p), 0);
        assert_int_equal(pthread_join(thread, &good), 0);
        assert_non_null(good);
        assert_true(all_bytes_are(p.at, p.size, 9));
        assert_true(all_bytes_are(kept.at, kept.size, 6));
        pages_give(p);
        pages_give(kept);
    }
}

int run_test_pages(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_are_zeroed_and_apart),
        cmocka_unit_test(memory_is_reused),
        cmocka_unit_test(more_than_a_region_holds_is_had_too),
        cmocka_unit_test(another_thread_may_give_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
