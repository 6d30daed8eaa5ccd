/* An HTTP/1.1 response, read as its bytes arrive (RFC 9112): status line, headers, and a body of a known length, in
 * chunks, or until the connection closes. Interim responses (1xx) are skipped. Nothing is allocated; a line of the
 * head is limited to LOAD_HTTP_LINE bytes, the head to LOAD_HTTP_HEAD, the body to `body_most`.
 *
 * It does not read requests, decode contents (no Accept-Encoding is sent) or follow redirects.
 */
#ifndef MEASURE_LOAD_HTTP_H
#define MEASURE_LOAD_HTTP_H

#include "base/str.h"

enum { LOAD_HTTP_LINE = 4096, LOAD_HTTP_HEAD = 65536 };

typedef enum load_http_state {
    HTTP_STATUS,
    HTTP_HEADERS,
    HTTP_FIXED,
    HTTP_UNTIL_CLOSE,
    HTTP_CHUNK_SIZE,
    HTTP_CHUNK_DATA,
    HTTP_CHUNK_END,
    HTTP_TRAILERS,
    HTTP_DONE,
    HTTP_BAD,    /* no HTTP, or against its rules: `why` */
    HTTP_TOO_BIG /* a limit was passed */
} load_http_state;

typedef struct load_http {
    load_http_state state;
    bool no_body; /* of HEAD */
    uint64_t body_most;
    /* Called with each piece of the body. */
    void (*body)(void *ctx, const char *p, size_t n);
    void *ctx;
    int status; /* 200; of the final response */
    bool keep_alive, chunked, has_length;
    uint64_t left;       /* of the body or the chunk */
    uint64_t body_bytes; /* so far */
    const char *why;     /* a clause, of HTTP_BAD and HTTP_TOO_BIG */
    uint32_t head_bytes, n_line;
    char line[LOAD_HTTP_LINE];
} load_http;

/* Before a response; keeps body, ctx, no_body and body_most. */
void load_http_begin(load_http *h);
/* Takes bytes and returns how many belong to the response: fewer than n when it is done or failed. */
size_t load_http_feed(load_http *h, const char *p, size_t n);
/* The connection has ended: a body without a length is whole then. Whether the response is. */
bool load_http_close(load_http *h);
static inline bool load_http_over(const load_http *h)
{
    return h->state >= HTTP_DONE;
}

#endif
