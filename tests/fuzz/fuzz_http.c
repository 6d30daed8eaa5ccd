/* Heads of HTTP requests, as the dashboard's server checks them. A good head stays good whatever follows it; every
 * beginning of it is incomplete and none is bad; a bad one stays bad. Fields of a good head are found. */
#include <stdint.h>
#include <stdlib.h>

#include "serve/head.c"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void promise(bool kept)
{
    if (!kept)
        abort();
}

static void check_good(const char *p, size_t n)
{
    char value[64];
    size_t length = head_length(p, n);
    promise(length >= 4 && length <= n && memcmp(p + length - 4, "\r\n\r\n", 4) == 0);
    promise(head_check(p, length) == HEAD_GOOD);
    for (size_t i = 0; i < length; i++)
        promise(head_check(p, i) == HEAD_INCOMPLETE);
    head_field(p, length, "Content-Length", value, sizeof value);
    head_field(p, length, "Transfer-Encoding", value, 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *p = (const char *)data;
    if (size > 2048)
        return 0;
    head_state state = head_check(p, size);
    if (state == HEAD_GOOD)
        check_good(p, size);
    if (state == HEAD_INCOMPLETE && size)
        promise(head_check(p, size - 1) == HEAD_INCOMPLETE);
    head_has_nul(p, size);
    return 0;
}
