/* A growing byte buffer on the heap for building text. Failure is sticky; check once at the end. */
#ifndef BASE_SBUF_H
#define BASE_SBUF_H

#include "base/str.h"

typedef struct sbuf {
    char *p;
    size_t n, cap;
    bool failed;
} sbuf;

void sbuf_free(sbuf *b);
void sbuf_put(sbuf *b, const void *p, size_t n);
/* For one more byte where there may be no room. */
void sbuf_putc_grow(sbuf *b, char c);
static inline void sbuf_putc(sbuf *b, char c)
{
    if (!b->failed && b->n + 1 < b->cap)
        b->p[b->n++] = c;
    else
        sbuf_putc_grow(b, c);
}
void sbuf_puts(sbuf *b, const char *s);
void sbuf_str(sbuf *b, str s);
void sbuf_printf(sbuf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void sbuf_repeat(sbuf *b, const char *s, unsigned times);
/* Terminates with NUL (not counted) and returns p; "" when empty or failed. */
const char *sbuf_cstr(sbuf *b);

#endif
