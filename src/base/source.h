/* Where bytes come from: a file read through a sliding window, or memory. Cursors walk a source.
 *
 * Files are read with pread into a window and never mapped: a file that is cut while it is being
 * read gives an error, not a SIGBUS, and skipping a 100 MB weight costs one seek. The window starts
 * small after a jump and doubles while reading goes straight on, so a cold run touches the pages of
 * the graph and no others.
 */
#ifndef BASE_SOURCE_H
#define BASE_SOURCE_H

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"

/* The window is here for the fast paths below and for nobody else. */
typedef struct source {
    const uint8_t *window; /* bytes [window_pos, window_pos + window_len) of the source */
    uint64_t window_pos, window_len;
    uint64_t size;
    uint64_t fills;           /* how often the window was moved */
    struct source_file *file; /* NULL for memory */
} source;

/* Opens a file for reading. Fails for directories, pipes and unreadable files with a sentence. */
assay_status source_open(const char *path, source **out, assay_error *err);
/* Borrows p for the life of the source. */
assay_status source_memory(const void *p, uint64_t size, source **out, assay_error *err);
void source_close(source *s); /* NULL is allowed */

uint64_t source_size(const source *s);
const char *source_name(const source *s); /* path, or "<memory>" */
/* Bytes really read so far, for tests and the bench. */
uint64_t source_bytes_read(const source *s);

/* Copies n bytes at offset into buf. Past the end: ASSAY_ERR_MALFORMED. */
assay_status source_read(source *s, uint64_t offset, void *buf, uint64_t n, assay_error *err);

/* ---- cursor: the only code that touches the bytes of a source --------------------------------
 * A cursor is a half-open range [pos, end) of a source. Reads fail sticky: after a failure every
 * read returns 0 or empty and cursor_ok() is false; the error holds the first sentence and offset.
 * Sub-ranges are cursors of their own on the same source; the failure of one does not reach the one
 * it was split from, but their error is the same. A cursor that failed has pos == end.
 */
typedef struct cursor {
    source *src;
    uint64_t pos, end;
    assay_error *err; /* borrowed; never NULL */
    bool failed;
} cursor;

cursor cursor_at(source *s, uint64_t pos, uint64_t len, assay_error *err);
bool cursor_ok(const cursor *c);
static inline bool cursor_more(const cursor *c)
{
    return !c->failed && c->pos < c->end;
}
/* Marks the cursor failed as malformed at its position. `what` is a whole sentence. */
void cursor_fail(cursor *c, const char *what);

/* The parts of the functions below that are not worth a place in every caller. */
uint8_t cursor_u8_slow(cursor *c);
uint64_t cursor_varint_slow(cursor *c);
const uint8_t *cursor_view_slow(cursor *c, uint64_t n);
/* The next n (at most SOURCE_VIEW_MAX) bytes where they lie in the window, consumed. Valid until
 * the next read of any cursor of the same source. NULL when the cursor failed. */
#define SOURCE_VIEW_MAX 4096
static inline const uint8_t *cursor_view(cursor *c, uint64_t n)
{
    const source *s = c->src;
    uint64_t at = c->pos - s->window_pos;
    if (n == 0 || n > c->end - c->pos || at > s->window_len || n > s->window_len - at)
        return cursor_view_slow(c, n);
    c->pos += n;
    return s->window + at;
}

static inline uint8_t cursor_u8(cursor *c)
{
    const source *s = c->src;
    uint64_t at = c->pos - s->window_pos;
    if (c->pos >= c->end || at >= s->window_len)
        return cursor_u8_slow(c);
    c->pos++;
    return s->window[at];
}

uint32_t cursor_u32le(cursor *c);
uint64_t cursor_u64le(cursor *c);

/* protobuf base-128, at most 10 bytes and 64 bits. Keys, lengths and small numbers take 1 or 2. */
static inline uint64_t cursor_varint(cursor *c)
{
    const source *s = c->src;
    uint64_t at = c->pos - s->window_pos;
    if (c->pos >= c->end || at >= s->window_len)
        return cursor_varint_slow(c);
    const uint8_t *p = s->window + at;
    if (p[0] < 0x80) {
        c->pos++;
        return p[0];
    }
    if (c->end - c->pos < 2 || s->window_len - at < 2 || p[1] >= 0x80)
        return cursor_varint_slow(c);
    c->pos += 2;
    return (uint64_t)(p[0] & 0x7f) | (uint64_t)p[1] << 7;
}

void cursor_skip(cursor *c, uint64_t n);
/* Splits off the next n bytes as a separate cursor and skips them here. */
cursor cursor_sub(cursor *c, uint64_t n);
/* Copies the next n bytes. */
void cursor_copy(cursor *c, void *buf, uint64_t n);
/* Copies the next n bytes into the arena as a NUL-terminated string. n above max_len fails. */
str cursor_str(cursor *c, uint64_t n, arena *a, uint64_t max_len);
/* Bytes of the range that remain; 0 after a failure. */
static inline uint64_t cursor_left(const cursor *c)
{
    return c->end - c->pos;
}

#endif
