/* assay: a server of the Model Context Protocol with read-only tools (docs/mcp.md), without the transport.
 *
 *     while (read_line(&line, &n)) {            // at most the limit `mcp-message`
 *         assay_mcp_answer(line, n, &reply, &n_reply, &err);
 *         if (reply)
 *             write_line(reply, n_reply);
 *         assay_free(reply);
 *     }
 *
 * A message is one JSON-RPC 2.0 object. The server keeps no state: the answer depends on the message alone.
 */
#ifndef ASSAY_MCP_H
#define ASSAY_MCP_H

#include <assay/assay.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The answer to a message of `n` bytes: one line of JSON without a line feed. NULL: no answer is needed, because the
 * message is a notification or a response. The answer to a malformed message is an error of the protocol. Tools run in
 * a child process (fork), so the caller must have only one thread. The limits `mcp-message`, `mcp-result` and
 * `mcp-time` of assay_limit_at() apply. No file is written and no model is run. Free the text with assay_free().
 * ASSAY_ERR_SYSTEM: out of memory. */
ASSAY_API assay_status assay_mcp_answer(const void *message, size_t n, char **reply,
                                        size_t *n_reply, assay_error *err);

/* A tool of the server. Texts are static. */
typedef struct assay_mcp_tool_info {
    size_t size;
    const char *name, *title, *about;
} assay_mcp_tool_info;
/* The index-th tool, from 0; false past the end. */
ASSAY_API bool assay_mcp_tool_at(size_t index, assay_mcp_tool_info *out);

#ifdef __cplusplus
}
#endif
#endif
