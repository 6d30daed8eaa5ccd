/* Replies: bodies and common headers. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "serve/serve.h"

char *json_quoted(const char *text)
{
    size_t n = strlen(text), at = 0;
    char *out = malloc(6 * n + 3);
    if (!out)
        return NULL;
    out[at++] = '"';
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (c == '"' || c == '\\') {
            out[at++] = '\\';
            out[at++] = (char)c;
        } else if (c < 0x20) {
            at += (size_t)sprintf(out + at, "\\u%04x", c);
        } else {
            out[at++] = (char)c;
        }
    }
    out[at++] = '"';
    out[at] = '\0';
    return out;
}

void reply_json(reply *out, char *text, size_t n)
{
    *out = (reply){.status = MHD_HTTP_OK, .body = text, .n = n};
}

void reply_error(reply *out, unsigned status, const char *message)
{
    char *quoted = json_quoted(message), *text = NULL;
    int n = quoted ? asprintf(&text, "{\"error\": {\"status\": %u, \"message\": %s}}\n", status,
                              quoted)
                   : -1;
    free(quoted);
    *out = (reply){.status = status};
    if (n < 0)
        return;
    out->body = text;
    out->n = (size_t)n;
}

/* What the library refused is the client's doing, unless it is the machine's: a history that is busy or a disk
 * that is full may be better in a while. */
void reply_failure(reply *out, assay_status status, const assay_error *err)
{
    unsigned code = status == ASSAY_ERR_USAGE || status == ASSAY_ERR_MALFORMED
                        ? MHD_HTTP_BAD_REQUEST
                    : status == ASSAY_ERR_UNSUPPORTED ? MHD_HTTP_UNPROCESSABLE_CONTENT
                    : status == ASSAY_ERR_SYSTEM      ? MHD_HTTP_SERVICE_UNAVAILABLE
                                                      : MHD_HTTP_INTERNAL_SERVER_ERROR;
    reply_error(out, code, err->message);
    out->retry = code == MHD_HTTP_SERVICE_UNAVAILABLE;
}

const char *query_of(const request *r, const char *name)
{
    const char *v = MHD_lookup_connection_value(r->mhd, MHD_GET_ARGUMENT_KIND, name);
    return v && *v ? v : NULL;
}

bool query_flag(const request *r, const char *name)
{
    const char *text = query_of(r, name);
    return text && strcmp(text, "0") != 0 && strcmp(text, "false") != 0;
}

void reply_join_view(reply *out, const char *view)
{
    char *both = NULL;
    int n = asprintf(&both, "{\"document\": %.*s, \"view\": %s}\n", (int)out->n, out->body, view);
    assay_free(out->body);
    out->body = n > 0 ? both : NULL;
    out->n = n > 0 ? (size_t)n : 0;
}

void reply_stream(reply *out, FILE *f, char **text, size_t *n)
{
    if (f && fclose(f) == 0 && *text) {
        reply_json(out, *text, *n);
        return;
    }
    free(*text);
    reply_error(out, MHD_HTTP_INTERNAL_SERVER_ERROR, "out of memory");
}
