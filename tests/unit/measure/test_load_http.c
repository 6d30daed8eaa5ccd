/* HTTP responses: whole, in pieces of every size, and broken ones. */
#include "measure/load_http.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
// clang-format off
#include <cmocka.h>
// clang-format on

typedef struct body {
    char text[256];
    size_t n;
} body;

static void take(void *ctx, const char *p, size_t n)
{
    body *b = ctx;
    assert_true(b->n + n < sizeof b->text);
    memcpy(b->text + b->n, p, n);
    b->n += n;
    b->text[b->n] = 0;
}

typedef struct response_row {
    const char *text, *body;
    int status;
    load_http_state state; /* before the connection closes */
    bool keep, whole;      /* whole: with the end of the connection */
} response_row;

static const response_row rows[] = {
    {"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", "hello", 200, HTTP_DONE, true, true},
    {"HTTP/1.1 200\r\ncontent-length:0\r\n\r\n", "", 200, HTTP_DONE, true, true},
    {"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nhi", "hi", 200, HTTP_DONE, false, true},
    {"HTTP/1.1 200 OK\nContent-Length: 2\nConnection: Close\n\nhi", "hi", 200, HTTP_DONE, false,
     true},
    {"HTTP/1.1 204 No Content\r\n\r\n", "", 204, HTTP_DONE, true, true},
    {"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx", "x", 200,
     HTTP_DONE, true, true},
    {"HTTP/1.1 200 OK\r\n\r\nall of it", "all of it", 200, HTTP_UNTIL_CLOSE, false, true},
    {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n3;x=y\r\nllo\r\n0\r\nT: v\r\n\r\n",
     "hello", 200, HTTP_DONE, true, true},
    {"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhello", "hello", 200, HTTP_FIXED, true, false},
    {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel", "hel", 200, HTTP_CHUNK_DATA,
     true, false},
    {"HTTP/2 200\r\n\r\n", "", 0, HTTP_BAD, false, false},
    {"SSH-2.0-OpenSSH_9.2\r\n", "", 0, HTTP_BAD, false, false},
    {"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", "", 200, HTTP_BAD, true,
     false},
    {"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", "", 200, HTTP_BAD, true, false},
    {"HTTP/1.1 200 OK\r\nno name\r\n\r\n", "", 200, HTTP_BAD, true, false},
    {"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n", "", 200, HTTP_BAD, true, false},
    {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", "", 200, HTTP_BAD, true, false},
    {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff1\r\n", "", 200,
     HTTP_BAD, true, false},
    {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab\r\n", "a", 200, HTTP_BAD, true,
     false},
    {"HTTP/1.1 200 OK\r\nContent-Length: 101\r\n\r\n", "", 200, HTTP_TOO_BIG, true, false},
    {"HTTP/1.1 101 Switching\r\n\r\n", "", 0, HTTP_BAD, false, false},
};

static void check_row(const response_row *row, size_t step)
{
    body b = {.n = 0};
    static load_http h;
    h = (load_http){.body_most = 100, .body = take, .ctx = &b};
    load_http_begin(&h);
    size_t n = strlen(row->text);
    for (size_t at = 0; at < n && !load_http_over(&h);) {
        size_t some = n - at < step ? n - at : step,
               used = load_http_feed(&h, row->text + at, some);
        assert_true(used == some || load_http_over(&h));
        at += used;
    }
    assert_int_equal(h.state, row->state);
    assert_int_equal(h.status, row->status);
    assert_string_equal(b.text, row->body);
    if (row->state != HTTP_BAD)
        assert_int_equal(h.keep_alive, row->keep);
    assert_int_equal(load_http_close(&h), row->whole);
}

static void test_responses(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (size_t step = 1; step <= strlen(rows[i].text); step++)
            check_row(&rows[i], step);
}

static void test_limits(void **state)
{
    (void)state;
    static load_http h;
    static char line[LOAD_HTTP_LINE + 2];
    h = (load_http){.body_most = 10};
    load_http_begin(&h);
    memset(line, 'a', sizeof line);
    load_http_feed(&h, line, sizeof line);
    assert_int_equal(h.state, HTTP_TOO_BIG);
    load_http_begin(&h);
    const char *head = "HTTP/1.1 200 OK\r\n", *more = "A: b\r\n";
    load_http_feed(&h, head, strlen(head));
    for (int i = 0; i < LOAD_HTTP_HEAD && !load_http_over(&h); i++)
        load_http_feed(&h, more, strlen(more));
    assert_int_equal(h.state, HTTP_TOO_BIG);
}

/* What follows a response is not part of it. */
static void test_extra(void **state)
{
    (void)state;
    static load_http h;
    const char *text = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhiHTTP/1.1";
    h = (load_http){.body_most = 10};
    load_http_begin(&h);
    assert_int_equal(load_http_feed(&h, text, strlen(text)), strlen(text) - 8);
    assert_int_equal(h.state, HTTP_DONE);
}

int run_test_load_http(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_responses),
                                       cmocka_unit_test(test_limits), cmocka_unit_test(test_extra)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
