/* The bytes of a request's head, as strict as RFC 9112 allows: what two programs could read in two ways is refused.
 * Lines end with CR LF, a field's name ends at its colon, a line does not go on in the next one, and there are no
 * control characters. The library accepts all of these. */
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "serve/serve.h"

enum { METHOD_BYTES = 64 };

static bool is_token(char c)
{
    return isalnum((unsigned char)c) || (c && strchr("!#$%&'*+-.^_`|~", c));
}

static size_t token_length(const char *p, size_t n)
{
    size_t i = 0;
    while (i < n && is_token(p[i]))
        i++;
    return i;
}

bool head_is_name(const char *text)
{
    size_t n = strlen(text);
    return n && token_length(text, n) == n;
}

bool head_has_nul(const char *target, size_t n)
{
    for (size_t i = 0; i + 2 < n; i++)
        if (memcmp(target + i, "%00", 3) == 0)
            return true;
    return false;
}

static bool has_control(const char *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (((unsigned char)p[i] < 0x20 && p[i] != '\t') || p[i] == 0x7f)
            return true;
    return false;
}

/* "GET /path HTTP/1.1", or how it begins. */
static bool is_request_line(const char *p, size_t n, bool whole)
{
    size_t method = token_length(p, n);
    if (method == n)
        return !whole && n <= METHOD_BYTES;
    return method && method <= METHOD_BYTES && p[method] == ' ' && !head_has_nul(p, n);
}

/* "Name: value", or how it begins. */
static bool is_field(const char *p, size_t n, bool whole)
{
    size_t name = token_length(p, n);
    return name == n ? !whole : name && p[name] == ':';
}

static bool is_line(const char *p, size_t n, bool first, bool whole)
{
    return !has_control(p, n) && (first ? is_request_line(p, n, whole) : is_field(p, n, whole));
}

bool head_field(const char *p, size_t n, const char *name, char *out, size_t cap)
{
    const char *end = p + n;
    size_t n_name = strlen(name);
    for (const char *feed; (feed = memchr(p, '\n', (size_t)(end - p))) != NULL; p = feed + 1) {
        size_t line = (size_t)(feed - p);
        if (line <= n_name || p[n_name] != ':' || strncasecmp(p, name, n_name) != 0)
            continue;
        const char *value = p + n_name + 1;
        value += strspn(value, " \t");
        size_t length = value < feed ? (size_t)(feed - 1 - value) : 0;
        if (length >= cap)
            return false;
        memcpy(out, value, length);
        out[length] = '\0';
        return true;
    }
    return false;
}

size_t head_length(const char *p, size_t n)
{
    const char *end = memmem(p, n, "\r\n\r\n", 4);
    /* Empty lines before the request line: they are not its end. */
    const char *from = p;
    while (n - (size_t)(from - p) >= 2 && memcmp(from, "\r\n", 2) == 0)
        from += 2;
    if (end && end < from)
        end = memmem(from, n - (size_t)(from - p), "\r\n\r\n", 4);
    return end ? (size_t)(end - p) + 4 : n;
}

/* Empty lines before the first one are ignored (RFC 9112, 2.2). */
head_state head_check(const char *p, size_t n)
{
    bool first = true;
    const char *end = p + n;
    for (const char *feed; (feed = memchr(p, '\n', (size_t)(end - p))) != NULL; p = feed + 1) {
        size_t line = (size_t)(feed - p);
        if (!line || feed[-1] != '\r')
            return HEAD_BAD;
        if (line == 1 && !first)
            return HEAD_GOOD;
        if (line > 1 && !is_line(p, line - 1, first, true))
            return HEAD_BAD;
        first = first && line == 1;
    }
    size_t rest = (size_t)(end - p);
    rest -= rest && p[rest - 1] == '\r';
    return !rest || is_line(p, rest, first, false) ? HEAD_INCOMPLETE : HEAD_BAD;
}
