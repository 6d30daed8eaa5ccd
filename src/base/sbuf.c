/* A growing text buffer. It doubles; a failed allocation marks the buffer as failed. */
#include "base/sbuf.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"

enum { FIRST = 256 };

void sbuf_free(sbuf *b)
{
    free(b->p);
    *b = (sbuf){0};
}

/* Room for n more bytes and a NUL. */
static bool reserve(sbuf *b, size_t n)
{
    assert(b->n <= b->cap && (b->p || !b->cap));
    if (b->failed || n > SIZE_MAX / 4 - b->n) {
        b->failed = true;
        return false;
    }
    if (b->cap > b->n + n)
        return true;
    size_t cap = b->cap ? b->cap : FIRST;
    while (cap <= b->n + n)
        cap *= 2;
    char *p = memory_resize(b->p, cap);
    if (!p) {
        b->failed = true;
        return false;
    }
    b->p = p;
    b->cap = cap;
    return true;
}

void sbuf_put(sbuf *b, const void *p, size_t n)
{
    if (n == 0 || !reserve(b, n))
        return;
    assert(p && b->n + n < b->cap);
    memcpy(b->p + b->n, p, n);
    b->n += n;
}

void sbuf_putc_grow(sbuf *b, char c)
{
    if (reserve(b, 1))
        b->p[b->n++] = c;
}

void sbuf_puts(sbuf *b, const char *s)
{
    sbuf_put(b, s, strlen(s));
}

void sbuf_str(sbuf *b, str s)
{
    sbuf_put(b, s.p, s.n);
}

void sbuf_printf(sbuf *b, const char *fmt, ...)
{
    va_list ap;
    if (!reserve(b, 64))
        return;
    va_start(ap, fmt);
    int n = vsnprintf(b->p + b->n, b->cap - b->n, fmt, ap);
    va_end(ap);
    if (n >= 0 && (size_t)n >= b->cap - b->n) {
        if (!reserve(b, (size_t)n))
            return;
        va_start(ap, fmt);
        n = vsnprintf(b->p + b->n, b->cap - b->n, fmt, ap);
        va_end(ap);
    }
    if (n < 0)
        b->failed = true;
    else
        b->n += (size_t)n;
}

void sbuf_repeat(sbuf *b, const char *s, unsigned times)
{
    size_t n = strlen(s);
    for (unsigned i = 0; i < times && !b->failed; i++)
        sbuf_put(b, s, n);
}

const char *sbuf_cstr(sbuf *b)
{
    if (b->failed || !reserve(b, 0))
        return "";
    assert(b->n < b->cap);
    b->p[b->n] = '\0';
    return b->p;
}
