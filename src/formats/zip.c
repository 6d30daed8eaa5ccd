/* Directories of zip archives; see zip.h. */
#include "formats/zip.h"

#include "base/inflate.h"
#include "base/num.h"

enum {
    END_BYTES = 22,
    END_COMMENT = 65535,
    LOCATOR_BYTES = 20,
    END64_BYTES = 56,
    ENTRY_BYTES = 46,
    HEADER_BYTES = 30,
    EXTRA_ZIP64 = 1,
    FLAG_ENCRYPTED = 1
};
#define MAGIC_END     0x06054b50u
#define MAGIC_LOCATOR 0x07064b50u
#define MAGIC_END64   0x06064b50u
#define MAGIC_ENTRY   0x02014b50u
#define MAGIC_HEADER  0x04034b50u

static uint64_t little(const uint8_t *p, unsigned n)
{
    uint64_t v = 0;
    for (unsigned i = n; i-- > 0;)
        v = v << 8 | p[i];
    return v;
}

static assay_status fail_zip(assay_error *err, uint64_t at, const char *what)
{
    return err_fail_at(err, ASSAY_ERR_MALFORMED, at, "zip archive: %s", what);
}

/* ---- the end of the directory ---- */

typedef struct directory_place {
    uint64_t start, size; /* the archive within the source */
    uint64_t entries, bytes, at;
} directory_place;

/* The record at the end of the file; a comment of up to 64 KiB may follow it. */
static assay_status find_end(source *src, const directory_place *d, uint64_t *at,
                             uint8_t end[END_BYTES], assay_error *err)
{
    uint64_t size = d->size,
             least = size > END_COMMENT + END_BYTES ? size - END_COMMENT - END_BYTES : 0;
    if (size < END_BYTES)
        return fail_zip(err, size, "truncated");
    for (uint64_t pos = size - END_BYTES + 1; pos-- > least;) {
        TRY(source_read(src, d->start + pos, end, END_BYTES, err));
        *at = pos;
        if (little(end, 4) == MAGIC_END && pos + END_BYTES + little(end + 20, 2) <= size)
            return ASSAY_OK;
    }
    return fail_zip(err, size, "no directory at the end: the file is truncated");
}

/* Numbers that do not fit the record stand in one of 64 bits before it. */
static assay_status read_end64(source *src, uint64_t end_at, directory_place *d, assay_error *err)
{
    uint8_t locator[LOCATOR_BYTES], end[END64_BYTES];
    if (end_at < LOCATOR_BYTES)
        return ASSAY_OK;
    TRY(source_read(src, d->start + end_at - LOCATOR_BYTES, locator, sizeof locator, err));
    if (little(locator, 4) != MAGIC_LOCATOR)
        return ASSAY_OK;
    if (little(locator + 8, 8) > d->size)
        return fail_zip(err, end_at, "no zip64 record where it should be");
    TRY(source_read(src, d->start + little(locator + 8, 8), end, sizeof end, err));
    if (little(end, 4) != MAGIC_END64)
        return fail_zip(err, little(locator + 8, 8), "no zip64 record where it should be");
    d->entries = little(end + 32, 8);
    d->bytes = little(end + 40, 8);
    d->at = little(end + 48, 8);
    return ASSAY_OK;
}

static assay_status find_directory(source *src, directory_place *d, assay_error *err)
{
    uint8_t end[END_BYTES];
    uint64_t at = 0;
    TRY(find_end(src, d, &at, end, err));
    if (little(end + 4, 2) != 0)
        return err_fail_at(err, ASSAY_ERR_UNSUPPORTED, at, "zip archive in several parts");
    d->entries = little(end + 10, 2);
    d->bytes = little(end + 12, 4);
    d->at = little(end + 16, 4);
    TRY(read_end64(src, at, d, err));
    if (d->entries > ZIP_MAX_ENTRIES || d->bytes > ZIP_MAX_DIRECTORY)
        return fail_zip(err, at, "more than 1,048,576 entries or a directory above 128 MiB");
    return ASSAY_OK;
}

/* ---- entries ---- */

/* Sizes of 64 bits stand in an extra field, in this order, where the field of 32 bits is full. */
static bool read_extra64(zip_entry *e, const uint8_t *p, uint64_t n)
{
    uint64_t *const wide[] = {&e->size, &e->packed, &e->header};
    for (uint64_t at = 0; at + 4 <= n;) {
        uint64_t id = little(p + at, 2), length = little(p + at + 2, 2), pos = at + 4;
        if (length > n - pos)
            return false;
        for (unsigned i = 0; id == EXTRA_ZIP64 && i < 3; i++) {
            if (*wide[i] != UINT32_MAX)
                continue;
            if (pos + 8 > at + 4 + length)
                return false;
            *wide[i] = little(p + pos, 8);
            pos += 8;
        }
        at += 4 + length;
    }
    return true;
}

static assay_status read_entry(cursor *c, arena *a, uint64_t start, zip_directory *z)
{
    uint8_t head[ENTRY_BYTES], *extra;
    uint64_t at = c->pos;
    cursor_copy(c, head, sizeof head);
    if (!cursor_ok(c) || little(head, 4) != MAGIC_ENTRY)
        return cursor_ok(c) ? fail_zip(c->err, at, "damaged directory") : c->err->code;
    uint64_t n_extra = little(head + 30, 2);
    zip_entry e = {.method = (uint16_t)little(head + 10, 2),
                   .packed = little(head + 20, 4),
                   .size = little(head + 24, 4),
                   .header = little(head + 42, 4)};
    e.name = cursor_str(c, little(head + 28, 2), a, UINT16_MAX);
    extra = arena_alloc(a, n_extra + 1);
    TRY_MEMORY(extra, c->err);
    cursor_copy(c, extra, n_extra);
    cursor_skip(c, little(head + 32, 2));
    if (!cursor_ok(c))
        return c->err->code;
    if (little(head + 8, 2) & FLAG_ENCRYPTED)
        return err_fail_at(c->err, ASSAY_ERR_UNSUPPORTED, at, "zip archive: encrypted");
    if (!read_extra64(&e, extra, n_extra) || e.header > UINT64_MAX - start)
        return fail_zip(c->err, at, "damaged directory");
    e.header += start;
    TRY_MEMORY(map_put(&z->by_name, e.name, z->entries.n) && VEC_ADD(a, &z->entries, e), c->err);
    return ASSAY_OK;
}

assay_status zip_read_within(source *src, uint64_t at, uint64_t size, arena *a, zip_directory *out,
                             assay_error *err)
{
    directory_place d = {.start = at, .size = size};
    *out = (zip_directory){0};
    TRY(find_directory(src, &d, err));
    TRY_MEMORY(map_init(&out->by_name, a, (uint32_t)d.entries), err);
    if (d.at > size || d.bytes > size - d.at)
        return fail_zip(err, at, "its directory lies outside of it");
    cursor c = cursor_at(src, at + d.at, d.bytes, err);
    for (uint64_t i = 0; i < d.entries; i++)
        TRY(read_entry(&c, a, at, out));
    return ASSAY_OK;
}

assay_status zip_read(source *src, arena *a, zip_directory *out, assay_error *err)
{
    return zip_read_within(src, 0, source_size(src), a, out, err);
}

const zip_entry *zip_find(const zip_directory *z, str name)
{
    uint32_t at = map_get(&z->by_name, name);
    return at == MAP_NONE ? NULL : &z->entries.items[at];
}

/* Its bytes as they lie in the file. */
static assay_status open_packed(source *src, const zip_entry *e, cursor *out, assay_error *err)
{
    uint8_t head[HEADER_BYTES];
    TRY(source_read(src, e->header, head, sizeof head, err));
    if (little(head, 4) != MAGIC_HEADER)
        return fail_zip(err, e->header, "no entry where the directory says");
    *out = cursor_at(src, e->header + HEADER_BYTES + little(head + 26, 2) + little(head + 28, 2),
                     e->packed, err);
    return cursor_ok(out) ? ASSAY_OK : err->code;
}

static assay_status fail_method(const zip_entry *e, const char *what, assay_error *err)
{
    return err_fail_node(err, ASSAY_ERR_UNSUPPORTED, e->name.p, "zip archive: '" STR_FMT "' %s",
                         STR_ARG(e->name), what);
}

assay_status zip_open(source *src, const zip_entry *e, cursor *out, assay_error *err)
{
    if (e->method != ZIP_STORED)
        return fail_method(e, "is compressed", err);
    return open_packed(src, e, out, err);
}

assay_status zip_unpack_into(source *src, const zip_entry *e, void *buf, assay_error *err)
{
    cursor c;
    if (e->method != ZIP_STORED && e->method != ZIP_DEFLATED)
        return fail_method(e, "is compressed by another method than deflate", err);
    TRY(open_packed(src, e, &c, err));
    if (e->method == ZIP_DEFLATED)
        return inflate_raw(&c, buf, e->size, err);
    if (e->size != e->packed)
        return fail_zip(err, e->header, "a stored entry of two sizes");
    cursor_copy(&c, buf, e->size);
    return cursor_ok(&c) ? ASSAY_OK : err->code;
}

assay_status zip_unpack(source *src, const zip_entry *e, uint64_t most, arena *a, str *out,
                        assay_error *err)
{
    char *p = NULL;
    if (e->size > most || e->size > ZIP_MAX_UNPACKED)
        return fail_method(e, "is too large to be unpacked", err);
    if (e->size / INFLATE_MOST > e->packed)
        return fail_zip(err, e->header, "an entry is larger than its data can make");
    p = arena_alloc(a, (size_t)e->size + 1);
    TRY_MEMORY(p, err);
    *out = (str){p, (uint32_t)e->size};
    return zip_unpack_into(src, e, p, err);
}
