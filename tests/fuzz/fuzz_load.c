/* Answers of a server, whatever they are: HTTP responses in pieces, with their body read as a stream of tokens. The first
 * byte says how large the pieces are. */
#include <stdint.h>

#include "measure/load_http.h"
#include "measure/load_openai.h"
#include "measure/load_trace.h"

static void take_body(void *ctx, const char *p, size_t n)
{
    load_call *c = ctx;
    c->now_ns++;
    load_chat_protocol.piece(c, (str){p, (uint32_t)n});
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static load_http h;
    const load_plan plan = {.protocol = &load_chat_protocol};
    load_call c = {.plan = &plan};
    const load_item *items;
    uint32_t n;
    if (size < 1 || size > 1 << 20)
        return 0;
    size_t step = data[0] ? data[0] : size;
    h = (load_http){.body_most = 1 << 20, .body = take_body, .ctx = &c};
    load_http_begin(&h);
    for (size_t at = 1; at < size && !load_http_over(&h); at += step)
        load_http_feed(&h, (const char *)data + at, size - at < step ? size - at : step);
    load_http_close(&h);
    load_chat_protocol.end(&c);
    sbuf_free(&c.body);
    sbuf_free(&c.gaps);
    arena *a = arena_new(1 << 22);
    if (a)
        load_trace_parse((str){(const char *)data + 1, (uint32_t)size - 1}, "trace", 1, a, &items,
                         &n, NULL);
    arena_free(a);
    return 0;
}
