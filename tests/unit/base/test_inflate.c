/* Deflated data: what comes out, and that lies about its size and damage are errors. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <zlib.h>
#include <cmocka.h>

#include "base/inflate.h"

enum { PLAIN = 100000, ROOM = 2 * PLAIN };

typedef struct packing {
    uint8_t plain[PLAIN], packed[ROOM], out[PLAIN + 1];
    uint64_t n;
} packing;

static void pack(packing *p, bool noise)
{
    z_stream z = {.next_in = p->plain, .avail_in = PLAIN, .next_out = p->packed, .avail_out = ROOM};
    for (uint32_t i = 0, x = 1; i < PLAIN; i++, x = x * 1664525u + 1013904223u)
        p->plain[i] = noise ? (uint8_t)(x >> 24) : (uint8_t)(i / 1000);
    assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY), Z_OK);
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    p->n = z.total_out;
    deflateEnd(&z);
}

static assay_status unpack(packing *p, uint64_t n, uint64_t size)
{
    assay_error err = {0};
    source *src = NULL;
    assert_int_equal(source_memory(p->packed, n, &src, &err), ASSAY_OK);
    cursor c = cursor_at(src, 0, n, &err);
    assay_status s = inflate_raw(&c, p->out, size, &err);
    assert_int_equal(s == ASSAY_OK, err.code == ASSAY_OK);
    source_close(src);
    return s;
}

static void what_was_packed_comes_out(void **state)
{
    static packing p;
    (void)state;
    for (int noise = 0; noise < 2; noise++) {
        pack(&p, noise);
        assert_int_equal(unpack(&p, p.n, PLAIN), ASSAY_OK);
        assert_memory_equal(p.out, p.plain, PLAIN);
    }
}

static void a_wrong_size_is_an_error(void **state)
{
    static packing p;
    (void)state;
    pack(&p, false);
    assert_int_equal(unpack(&p, p.n, PLAIN - 1), ASSAY_ERR_MALFORMED);
    assert_int_equal(unpack(&p, p.n, PLAIN + 1), ASSAY_ERR_MALFORMED);
    assert_int_equal(unpack(&p, p.n, 0), ASSAY_ERR_MALFORMED);
    assert_int_equal(unpack(&p, p.n, UINT64_MAX), ASSAY_ERR_MALFORMED);
    assert_int_equal(unpack(&p, p.n - 1, PLAIN), ASSAY_ERR_MALFORMED);
    assert_int_equal(unpack(&p, 0, PLAIN), ASSAY_ERR_MALFORMED);
    assert_int_equal(unpack(&p, p.n + 1, PLAIN), ASSAY_ERR_MALFORMED);
}

static void damage_has_a_status(void **state)
{
    static packing p;
    (void)state;
    pack(&p, false);
    for (uint64_t i = 0; i < p.n; i++) {
        uint8_t before = p.packed[i];
        p.packed[i] ^= 0x55;
        unpack(&p, p.n, PLAIN);
        p.packed[i] = before;
    }
}

int run_test_inflate(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_packed_comes_out),
        cmocka_unit_test(a_wrong_size_is_an_error),
        cmocka_unit_test(damage_has_a_status),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
