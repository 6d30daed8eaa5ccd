/* Writes protobuf wire format for tests: a message is a growing buffer, a nested message is another
 * buffer that is appended and freed. Out of memory ends the test program.
 */
#ifndef SUPPORT_WIRE_WRITER_H
#define SUPPORT_WIRE_WRITER_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef struct ww {
    uint8_t *p;
    size_t n, cap;
} ww;

static inline void ww_free(ww *w)
{
    free(w->p);
    *w = (ww){0};
}

static inline void ww_bytes(ww *w, const void *p, size_t n)
{
    if (w->n + n > w->cap) {
        w->cap = 2 * (w->n + n) + 64;
        w->p = realloc(w->p, w->cap);
        if (!w->p)
            abort();
    }
    if (n > 0)
        memcpy(w->p + w->n, p, n);
    w->n += n;
}

static inline void ww_varint(ww *w, uint64_t v)
{
    uint8_t b[10];
    size_t n = 0;
    do {
        b[n] = (uint8_t)((v & 0x7f) | (v > 0x7f ? 0x80 : 0));
        n++;
        v >>= 7;
    } while (v);
    ww_bytes(w, b, n);
}

static inline void ww_tag(ww *w, unsigned number, unsigned type)
{
    ww_varint(w, (uint64_t)number << 3 | type);
}

static inline void ww_int(ww *w, unsigned number, int64_t v)
{
    ww_tag(w, number, 0);
    ww_varint(w, (uint64_t)v);
}

static inline void ww_fixed(ww *w, uint64_t v, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++) {
        uint8_t b = (uint8_t)(v >> (8 * i));
        ww_bytes(w, &b, 1);
    }
}

static inline void ww_float(ww *w, unsigned number, float v)
{
    uint32_t bits;
    memcpy(&bits, &v, 4);
    ww_tag(w, number, 5);
    ww_fixed(w, bits, 4);
}

static inline void ww_data(ww *w, unsigned number, const void *p, size_t n)
{
    ww_tag(w, number, 2);
    ww_varint(w, n);
    ww_bytes(w, p, n);
}

static inline void ww_str(ww *w, unsigned number, const char *s)
{
    ww_data(w, number, s, strlen(s));
}

/* Appends a nested message and frees it. */
static inline void ww_sub(ww *w, unsigned number, ww sub)
{
    ww_data(w, number, sub.p, sub.n);
    ww_free(&sub);
}

static inline void ww_packed(ww *w, unsigned number, const int64_t *v, size_t n)
{
    ww list = {0};
    for (size_t i = 0; i < n; i++)
        ww_varint(&list, (uint64_t)v[i]);
    ww_sub(w, number, list);
}

#endif
