/* See load_http.h. */
#include "measure/load_http.h"

#include <string.h>
#include <strings.h>

void load_http_begin(load_http *h)
{
    h->state = HTTP_STATUS;
    h->status = 0;
    h->keep_alive = h->chunked = h->has_length = false;
    h->left = h->body_bytes = 0;
    h->why = NULL;
    h->head_bytes = h->n_line = 0;
}

static bool fail_http(load_http *h, load_http_state state, const char *why)
{
    h->state = state;
    h->why = why;
    return false;
}

/* ---- lines ---- */

/* The next line without its end, in place where it arrived whole. False: more bytes are needed, or failure. */
static bool take_line(load_http *h, str *in, str *line)
{
    const char *end = in->n ? memchr(in->p, '\n', in->n) : NULL;
    uint32_t n = end ? (uint32_t)(end - in->p) + 1 : in->n;
    str piece = {in->p, n};
    *in = (str){in->p + n, in->n - n};
    h->head_bytes += n;
    if (h->head_bytes > LOAD_HTTP_HEAD || h->n_line + n > LOAD_HTTP_LINE)
        return fail_http(h, HTTP_TOO_BIG, "a header is too long");
    if (!end || h->n_line) {
        memcpy(h->line + h->n_line, piece.p, n);
        h->n_line += n;
        piece = (str){h->line, h->n_line};
    }
    if (!end)
        return false;
    h->n_line = 0;
    piece.n -= piece.n > 1 && piece.p[piece.n - 2] == '\r' ? 2 : 1;
    *line = piece;
    return true;
}

/* ---- the head ---- */

static bool digits3(const char *p, int *out)
{
    *out = 0;
    for (int i = 0; i < 3; i++) {
        if (p[i] < '0' || p[i] > '9')
            return false;
        *out = *out * 10 + (p[i] - '0');
    }
    return true;
}

/* "HTTP/1.1 200 OK"; the words after the number may be missing. */
static bool read_status(load_http *h, str line)
{
    bool is_http = line.n >= 12 && memcmp(line.p, "HTTP/1.", 7) == 0 && line.p[8] == ' ' &&
                   (line.p[7] == '0' || line.p[7] == '1') && (line.n == 12 || line.p[12] == ' ');
    if (!is_http || !digits3(line.p + 9, &h->status) || h->status < 100)
        return fail_http(h, HTTP_BAD, "the response is not HTTP/1.1");
    h->keep_alive = line.p[7] == '1';
    h->chunked = h->has_length = false;
    h->state = HTTP_HEADERS;
    return true;
}

static bool name_is(str name, const char *word)
{
    return name.n == strlen(word) && strncasecmp(name.p, word, name.n) == 0;
}

static bool read_length(load_http *h, str value)
{
    uint64_t n;
    if (!str_to_u64(value, &n) || (h->has_length && n != h->left))
        return fail_http(h, HTTP_BAD, "invalid or repeated Content-Length");
    h->left = n;
    h->has_length = true;
    return true;
}

static void read_connection(load_http *h, str value)
{
    for (str word; str_split(&value, ',', &word);) {
        if (name_is(str_trim(word), "close"))
            h->keep_alive = false;
        if (name_is(str_trim(word), "keep-alive"))
            h->keep_alive = true;
    }
}

static bool read_header(load_http *h, str line)
{
    str value = line, name = str_cut(&value, ':');
    if (!name.n || name.n == line.n || name.p[0] == ' ' || name.p[0] == '\t')
        return fail_http(h, HTTP_BAD, "a header has no name");
    value = str_trim(value);
    if (name_is(name, "content-length"))
        return read_length(h, value);
    if (name_is(name, "connection"))
        read_connection(h, value);
    if (name_is(name, "transfer-encoding")) {
        if (!name_is(value, "chunked"))
            return fail_http(h, HTTP_BAD, "the transfer encoding is not 'chunked'");
        h->chunked = true;
    }
    return true;
}

/* Which body follows (RFC 9112, 6.3). */
static void end_head(load_http *h)
{
    bool none = h->no_body || h->status == 204 || h->status == 304;
    if (h->status < 200) {
        load_http_state was = h->status == 101 ? HTTP_BAD : HTTP_STATUS;
        uint32_t head = h->head_bytes;
        load_http_begin(h);
        h->head_bytes = head; /* endless interim responses are too much */
        if (was == HTTP_BAD)
            fail_http(h, HTTP_BAD, "the server changed the protocol");
        return;
    }
    if (!none && h->has_length && h->left > h->body_most)
        fail_http(h, HTTP_TOO_BIG, "the response is too large");
    else if (none || (!h->chunked && h->has_length && !h->left))
        h->state = HTTP_DONE;
    else if (h->chunked)
        h->state = HTTP_CHUNK_SIZE;
    else
        h->state = h->has_length ? HTTP_FIXED : HTTP_UNTIL_CLOSE;
    if (h->state == HTTP_UNTIL_CLOSE)
        h->keep_alive = false;
}

/* ---- the body ---- */

static int hex_of(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/* "1a;name=value" */
static bool read_chunk_size(load_http *h, str line)
{
    uint64_t n = 0;
    uint32_t i = 0;
    for (; i < line.n && hex_of(line.p[i]) >= 0; i++) {
        if (n >> 59)
            return fail_http(h, HTTP_BAD, "a chunk has an impossible size");
        n = n * 16 + (uint64_t)hex_of(line.p[i]);
    }
    bool ends = i == line.n || line.p[i] == ';' || line.p[i] == ' ' || line.p[i] == '\t';
    if (!i || !ends)
        return fail_http(h, HTTP_BAD, "a chunk has no size");
    h->head_bytes = 0; /* of the lines between chunks, each is limited by itself */
    h->left = n;
    h->state = n ? HTTP_CHUNK_DATA : HTTP_TRAILERS;
    return true;
}

static void take_body(load_http *h, str *in)
{
    bool bounded = h->state != HTTP_UNTIL_CLOSE;
    uint32_t n = bounded && h->left < in->n ? (uint32_t)h->left : in->n;
    h->body_bytes += n;
    if (h->body_bytes > h->body_most) {
        fail_http(h, HTTP_TOO_BIG, "the response is too large");
        return;
    }
    if (n && h->body)
        h->body(h->ctx, in->p, n);
    *in = (str){in->p + n, in->n - n};
    h->left -= bounded ? n : 0;
    if (bounded && !h->left)
        h->state = h->state == HTTP_FIXED ? HTTP_DONE : HTTP_CHUNK_END;
}

/* ---- all ---- */

static void take_head_line(load_http *h, str line)
{
    if (h->state == HTTP_STATUS)
        read_status(h, line);
    else if (h->state == HTTP_HEADERS && line.n)
        read_header(h, line);
    else if (h->state == HTTP_HEADERS)
        end_head(h);
    else if (h->state == HTTP_CHUNK_SIZE)
        read_chunk_size(h, line);
    else if (h->state == HTTP_CHUNK_END && line.n)
        fail_http(h, HTTP_BAD, "a chunk is longer than its size");
    else if (h->state == HTTP_CHUNK_END)
        h->state = HTTP_CHUNK_SIZE;
    else if (!line.n) /* trailers are skipped */
        h->state = HTTP_DONE;
}

size_t load_http_feed(load_http *h, const char *p, size_t n)
{
    str in = {p, (uint32_t)n}, line;
    while (in.n && !load_http_over(h)) {
        bool data = h->state == HTTP_FIXED || h->state == HTTP_UNTIL_CLOSE ||
                    h->state == HTTP_CHUNK_DATA;
        if (data)
            take_body(h, &in);
        else if (take_line(h, &in, &line))
            take_head_line(h, line);
    }
    return n - in.n;
}

bool load_http_close(load_http *h)
{
    if (h->state == HTTP_UNTIL_CLOSE)
        h->state = HTTP_DONE;
    return h->state == HTTP_DONE;
}
