/* assay mcp: the server of the Model Context Protocol on stdin and stdout, one JSON message per line. Nothing else is
 * written to stdout. It ends with stdin. */
#include <assay/mcp.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"

typedef struct mcp_input {
    char *line;    /* of `cap` bytes, `n` of them used: a line, or its beginning */
    size_t n, cap; /* cap: the longest message and one more, which is then refused for its length */
    char block[4096]; /* read, and not yet looked at from `at` to `end` */
    size_t at, end;
} mcp_input;

static size_t message_limit(void)
{
    assay_limit_info l = {.size = sizeof l};
    for (size_t i = 0; assay_limit_at(i, &l); i++)
        if (strcmp(l.name, "mcp-message") == 0)
            return (size_t)l.value;
    return 0;
}

/* The next bytes of stdin: 1; 0 at its end; -1: it cannot be read. */
static int read_block(mcp_input *in)
{
    ssize_t n;
    do
        n = read(0, in->block, sizeof in->block);
    while (n < 0 && errno == EINTR);
    in->at = 0;
    in->end = n > 0 ? (size_t)n : 0;
    return n > 0 ? 1 : (int)n;
}

/* Of a line that is too long, `cap` bytes are kept. */
static void keep_bytes(mcp_input *in, const char *p, size_t n)
{
    size_t room = in->cap - in->n;
    memcpy(in->line + in->n, p, n < room ? n : room);
    in->n += n < room ? n : room;
}

/* 1: in->line is a line; 0: no more; -1: stdin cannot be read. What follows the last line feed is a line too. */
static int read_message(mcp_input *in)
{
    in->n = 0;
    for (;;) {
        int got = in->at < in->end ? 1 : read_block(in);
        if (got <= 0)
            return in->n && !got ? 1 : got;
        const char *from = in->block + in->at, *feed = memchr(from, '\n', in->end - in->at);
        size_t n = feed ? (size_t)(feed - from) : in->end - in->at;
        keep_bytes(in, from, n);
        in->at += n + (feed != NULL);
        if (feed)
            return 1;
    }
}

static bool is_blank(const mcp_input *in)
{
    for (size_t i = 0; i < in->n; i++)
        if (!strchr(" \t\r", in->line[i]) || !in->line[i])
            return false;
    return true;
}

static int answer_message(const mcp_input *in)
{
    char *reply = NULL;
    size_t n = 0;
    assay_error err;
    if (assay_mcp_answer(in->line, in->n, &reply, &n, &err) != ASSAY_OK)
        return cli_complain(&err);
    int code = reply ? cli_print(reply, n) : ASSAY_OK;
    if (!code && reply)
        code = cli_print("\n", 1);
    assay_free(reply);
    return code ? code : cli_flush();
}

static int run_mcp(cli_args *args)
{
    (void)args;
    mcp_input in = {.cap = message_limit() + 1};
    int code = ASSAY_OK, got = 0;
    in.line = malloc(in.cap);
    if (!in.line)
        return cli_complain_text(ASSAY_ERR_SYSTEM, "out of memory");
    while (!code && (got = read_message(&in)) > 0)
        if (!is_blank(&in))
            code = answer_message(&in);
    if (got < 0)
        code = cli_complain_text(ASSAY_ERR_SYSTEM, "cannot read stdin: %s", strerror(errno));
    free(in.line);
    return code;
}

static const char *const mcp_examples[] = {
    "assay mcp",
    "serve on stdin and stdout; an assistant's configuration names this command",
    NULL,
};

const cli_command command_mcp = {
    CLI_COMMAND("mcp", "", 0, 0, run_mcp), .classes = "", .examples = mcp_examples,
    .about = "Serve read-only questions to coding assistants: an MCP server on stdin and stdout.",
    .more = "Tools: list_models, list_devices, profile, compare, map, explain_layer. No model is "
            "run and nothing is written. --raise-limit sets the limits mcp-message, mcp-result "
            "and mcp-time. See docs/mcp.md."};
