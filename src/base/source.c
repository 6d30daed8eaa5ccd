/* Sources and cursors.
 *
 * A file has one window, a heap buffer filled by pread(). A read outside of it that goes straight
 * on from it (or skips less than a page) doubles the next fill up to STEP_MAX; any other read is a jump and fills to the end
 * of its page only (or of the next, when little of it is left). The kernel is told not to read
 * ahead, so a cold run reads the pages of the graph and leaves those of the weights on the disk.
 *
 * Memory is a source whose window is all of it.
 */
#include "base/source.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"

enum {
    PAGE = 4096,
    STEP_MIN = PAGE,
    STEP_MAX = 32 << 10,
    FILL_LEAST = 512, /* a fill that ends sooner takes the next page too */
    GAP_MAX = PAGE,   /* a record that is skipped, not a weight */
    BUFFER = STEP_MAX + 2 * PAGE,
};

struct source_file {
    int fd;
    uint64_t step; /* size of the last fill's stride */
    uint64_t bytes_read;
    uint8_t *buffer;
    char name[]; /* path */
};

/* ---- opening --------------------------------------------------------------------------------- */

static struct source_file *file_new(const char *path)
{
    size_t n = strlen(path) + 1;
    struct source_file *f = memory_zeroed(1, sizeof *f + n);
    if (!f)
        return NULL;
    f->buffer = memory_alloc(BUFFER);
    if (!f->buffer) {
        free(f);
        return NULL;
    }
    f->fd = -1;
    memcpy(f->name, path, n);
    return f;
}

assay_status source_open(const char *path, source **out, assay_error *err)
{
    source *s = memory_zeroed(1, sizeof *s);
    *out = NULL;
    if (!s || !(s->file = file_new(path))) {
        free(s);
        return err_no_memory(err);
    }
    assay_status status = file_open_read(path, &s->file->fd, &s->size, err);
    if (status != ASSAY_OK) {
        source_close(s);
        return status;
    }
    posix_fadvise(s->file->fd, 0, 0, POSIX_FADV_RANDOM);
    *out = s;
    return ASSAY_OK;
}

assay_status source_memory(const void *p, uint64_t size, source **out, assay_error *err)
{
    source *s = memory_zeroed(1, sizeof *s);
    *out = s;
    TRY_MEMORY(s, err);
    s->window = p;
    s->window_len = s->size = size;
    return ASSAY_OK;
}

void source_close(source *s)
{
    if (!s)
        return;
    if (s->file) {
        if (s->file->fd >= 0)
            close(s->file->fd);
        free(s->file->buffer);
        free(s->file);
    }
    free(s);
}

uint64_t source_size(const source *s)
{
    return s->size;
}

const char *source_name(const source *s)
{
    return s->file ? s->file->name : "<memory>";
}

uint64_t source_bytes_read(const source *s)
{
    return s->file ? s->file->bytes_read : 0;
}

/* ---- reading --------------------------------------------------------------------------------- */

static assay_status read_failed(const source *s, uint64_t offset, int error, assay_error *err)
{
    char name[FILE_SHOWN];
    file_shown(s->file->name, name);
    memory_note_unread(error ? error : EIO, name);
    if (error)
        return err_fail_at(err, ASSAY_ERR_SYSTEM, offset, "%s: cannot read: %s", name,
                           strerror(error));
    return err_fail_at(err, ASSAY_ERR_SYSTEM, offset,
                       "%s: file shrank while it was read: it had %" PRIu64
                       " bytes and now ends at or before byte %" PRIu64
                       ". Try again when nothing writes to it.",
                       name, s->size, offset);
}

static assay_status read_file(source *s, uint64_t offset, uint8_t *buf, uint64_t n,
                              assay_error *err)
{
    while (n > 0) {
        size_t part = n > (1u << 30) ? 1u << 30 : (size_t)n;
        ssize_t got = pread(s->file->fd, buf, part, (off_t)offset);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return read_failed(s, offset, got < 0 ? errno : 0, err);
        s->file->bytes_read += (uint64_t)got;
        buf += got;
        offset += (uint64_t)got;
        n -= (uint64_t)got;
    }
    return ASSAY_OK;
}

/* Bytes to fill at pos so that at least `need` are there and the fill ends with a page. */
static uint64_t fill_length(const source *s, uint64_t pos, uint64_t need)
{
    assert(pos <= s->size && need <= s->size - pos);
    uint64_t n = s->file->step - pos % PAGE;
    if (n < FILL_LEAST || n < need)
        n += PAGE;
    return n < s->size - pos ? n : s->size - pos;
}

/* Moves the window so that [pos, pos + need) lies in it; need is at most SOURCE_VIEW_MAX. The
 * window is left empty when that fails. */
static assay_status fill(source *s, uint64_t pos, uint64_t need, assay_error *err)
{
    struct source_file *f = s->file;
    bool straight = s->window_len > 0 && pos - s->window_pos <= s->window_len + GAP_MAX;
    f->step = !straight ? STEP_MIN : f->step < STEP_MAX ? f->step * 2 : STEP_MAX;
    uint64_t n = fill_length(s, pos, need);
    assert(need <= SOURCE_VIEW_MAX && need <= n && n <= BUFFER);
    s->fills++;
    s->window = f->buffer;
    s->window_pos = pos;
    s->window_len = 0;
    TRY(read_file(s, pos, f->buffer, n, err));
    s->window_len = n;
    return ASSAY_OK;
}

static bool in_window(const source *s, uint64_t pos, uint64_t n)
{
    uint64_t at = pos - s->window_pos;
    return at <= s->window_len && n <= s->window_len - at;
}

assay_status source_read(source *s, uint64_t offset, void *buf, uint64_t n, assay_error *err)
{
    if (offset > s->size || n > s->size - offset)
        return err_fail_at(err, ASSAY_ERR_MALFORMED, offset,
                           "truncated or damaged file: %" PRIu64 " bytes needed at byte %" PRIu64
                           ", but the file has %" PRIu64 " bytes",
                           n, offset, s->size);
    if (n == 0)
        return ASSAY_OK;
    if (!in_window(s, offset, n))
        return read_file(s, offset, buf, n, err);
    memcpy(buf, s->window + (offset - s->window_pos), n);
    return ASSAY_OK;
}

/* ---- cursors --------------------------------------------------------------------------------- */

static void stop_cursor(cursor *c)
{
    c->failed = true;
    c->end = c->pos;
}

cursor cursor_at(source *s, uint64_t pos, uint64_t len, assay_error *err)
{
    cursor c = {.src = s, .pos = pos, .err = err};
    if (pos <= s->size && len <= s->size - pos) {
        c.end = pos + len;
        return c;
    }
    err_fail_at(err, ASSAY_ERR_MALFORMED, pos,
                "truncated or damaged file: %" PRIu64 " bytes at byte %" PRIu64
                " run past the end of the file (%" PRIu64 " bytes)",
                len, pos, s->size);
    stop_cursor(&c);
    return c;
}

bool cursor_ok(const cursor *c)
{
    return !c->failed;
}

void cursor_fail(cursor *c, const char *what)
{
    if (c->failed)
        return;
    err_fail_at(c->err, ASSAY_ERR_MALFORMED, c->pos, "%s", what);
    stop_cursor(c);
}

/* Whether n bytes are left; a failure that says so when not. */
static bool has_bytes(cursor *c, uint64_t n)
{
    if (c->failed)
        return false;
    assert(c->pos <= c->end && c->end <= c->src->size);
    if (n <= c->end - c->pos)
        return true;
    err_fail_at(c->err, ASSAY_ERR_MALFORMED, c->pos,
                "truncated or damaged file: length %" PRIu64 " at byte %" PRIu64
                " runs past the end of its message (%" PRIu64 " bytes left)",
                n, c->pos, c->end - c->pos);
    stop_cursor(c);
    return false;
}

const uint8_t *cursor_view_slow(cursor *c, uint64_t n)
{
    source *s = c->src;
    if (n > SOURCE_VIEW_MAX || !has_bytes(c, n))
        return NULL;
    if (n == 0)
        return (const uint8_t *)""; /* an empty source has no window to point into */
    if (!in_window(s, c->pos, n) && fill(s, c->pos, n, c->err) != ASSAY_OK) {
        stop_cursor(c);
        return NULL;
    }
    assert(in_window(s, c->pos, n));
    const uint8_t *p = s->window + (c->pos - s->window_pos);
    c->pos += n;
    return p;
}

uint8_t cursor_u8_slow(cursor *c)
{
    const uint8_t *p = cursor_view(c, 1);
    return p ? *p : 0;
}

uint32_t cursor_u32le(cursor *c)
{
    const uint8_t *p = cursor_view(c, 4);
    if (!p)
        return 0;
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

uint64_t cursor_u64le(cursor *c)
{
    const uint8_t *p = cursor_view(c, 8);
    uint64_t v = 0;
    for (int i = 0; p && i < 8; i++)
        v |= (uint64_t)p[i] << (8 * i);
    return v;
}

uint64_t cursor_varint_slow(cursor *c)
{
    uint64_t v = 0;
    for (unsigned shift = 0; shift < 70; shift += 7) {
        uint8_t byte = cursor_u8(c);
        if (c->failed)
            return 0;
        if (shift == 63 && byte > 1)
            break;
        v |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            return v;
    }
    cursor_fail(c, "number has more than 64 bits; the file is damaged or of another format");
    return 0;
}

void cursor_skip(cursor *c, uint64_t n)
{
    if (has_bytes(c, n))
        c->pos += n;
}

cursor cursor_sub(cursor *c, uint64_t n)
{
    cursor sub = *c;
    if (!has_bytes(c, n)) {
        stop_cursor(&sub);
        return sub;
    }
    sub.end = c->pos += n;
    return sub;
}

void cursor_copy(cursor *c, void *buf, uint64_t n)
{
    if (!has_bytes(c, n)) {
        memset(buf, 0, n);
        return;
    }
    if (n > SOURCE_VIEW_MAX) {
        if (source_read(c->src, c->pos, buf, n, c->err) != ASSAY_OK)
            stop_cursor(c);
        else
            c->pos += n;
        return;
    }
    const uint8_t *p = cursor_view(c, n);
    if (p && n)
        memcpy(buf, p, n);
}

str cursor_str(cursor *c, uint64_t n, arena *a, uint64_t max_len)
{
    str none = {NULL, 0};
    if (!has_bytes(c, n))
        return none;
    if (n > max_len || n >= UINT32_MAX) {
        err_fail_at(c->err, ASSAY_ERR_MALFORMED, c->pos,
                    "damaged file: a string of %" PRIu64 " bytes where at most %" PRIu64
                    " are allowed",
                    n, max_len);
        stop_cursor(c);
        return none;
    }
    char *p = arena_alloc(a, (size_t)n + 1);
    if (!p) {
        err_no_memory(c->err);
        stop_cursor(c);
        return none;
    }
    cursor_copy(c, p, n);
    return c->failed ? none : (str){p, (uint32_t)n};
}
