/* Messages to the MCP server from arbitrary bytes: no answer, or one line of JSON with an id and either a result or an
 * error. Tools are not called here: they run in processes of their own, and fuzz_options, fuzz_onnx_read, ... have what
 * they read. */
#include <assay/mcp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_tree.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void promise(bool kept)
{
    if (!kept)
        abort();
}

static void check_reply(const char *reply, size_t n)
{
    assay_error err = {0};
    json_value tree;
    arena *a = arena_new((size_t)1 << 26);
    promise(a && memchr(reply, '\n', n) == NULL);
    promise(json_tree_parse((str){reply, (uint32_t)n}, "reply", NULL, a, &tree, &err) == ASSAY_OK);
    promise(json_get(&tree, "id") && !json_get(&tree, "result") != !json_get(&tree, "error"));
    arena_free(a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *reply = NULL;
    size_t n = 0;
    assay_error err = {0};
    if (size > 65536 ||
        (size && memmem(data, size, "tools/call", 10) && memmem(data, size, "}}", 2)))
        return 0;
    promise(assay_mcp_answer(size ? (const void *)data : "", size, &reply, &n, &err) == ASSAY_OK);
    if (reply)
        check_reply(reply, n);
    assay_free(reply);
    return 0;
}
