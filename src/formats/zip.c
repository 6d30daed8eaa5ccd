/* Directories of zip archives; see zip.h. */
#include "formats/zip.h"

#include <string.h>

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
    uint64_t entries, bytes, at;
} directory_place;

/* The record at the end of the file; a comment of up to 64 KiB may follow it. */
static assay_status find_end(source *src, uint64_t *at, uint8_t end[END_BYTES], assay_error *err)
{
    uint64_t size = source_size(src),
             least = size > END_COMMENT + END_BYTES ? size - END_COMMENT - END_BYTES : 0;
    if (size < END_BYTES)
        return fail_zip(err, size, "truncated");
    for (uint64_t pos = size - END_BYTES + 1; pos-- > least;) {
        TRY(source_read(src, pos, end, END_BYTES, err));
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
    TRY(source_read(src, end_at - LOCATOR_BYTES, locator, sizeof locator, err));
    if (little(locator, 4) != MAGIC_LOCATOR)
        return ASSAY_OK;
    TRY(source_read(src, little(locator + 8, 8), end, sizeof end, err));
    if (little(end, 4) != MAGIC_END64)
        return fail_zip(err, little(locator + 8, 8), "no zip64 record where it should be");
    *d = (directory_place){little(end + 32, 8), little(end + 40, 8), little(end + 48, 8)};
    return ASSAY_OK;
}

static assay_status find_directory(source *src, directory_place *d, assay_error *err)
{
    uint8_t end[END_BYTES];
    uint64_t at = 0;
    TRY(find_end(src, &at, end, err));
    if (little(end + 4, 2) != 0)
        return err_fail_at(err, ASSAY_ERR_UNSUPPORTED, at, "zip archive in several parts");
    *d = (directory_place){little(end + 10, 2), little(end + 12, 4), little(end + 16, 4)};
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

static assay_status read_entry(cursor *c, arena *a, zip_directory *z)
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
    if (!extra)
        return err_no_memory(c->err);
    cursor_copy(c, extra, n_extra);
    cursor_skip(c, little(head + 32, 2));
    if (!cursor_ok(c))
        return c->err->code;
    if (little(head + 8, 2) & FLAG_ENCRYPTED)
        return err_fail_at(c->err, ASSAY_ERR_UNSUPPORTED, at, "zip archive: encrypted");
    if (!read_extra64(&e, extra, n_extra))
        return fail_zip(c->err, at, "damaged directory");
    if (!map_put(&z->by_name, e.name, z->entries.n) || !VEC_ADD(a, &z->entries, e))
        return err_no_memory(c->err);
    return ASSAY_OK;
}

assay_status zip_read(source *src, arena *a, zip_directory *out, assay_error *err)
{
    directory_place d = {0};
    *out = (zip_directory){0};
    TRY(find_directory(src, &d, err));
    if (!map_init(&out->by_name, a, (uint32_t)d.entries))
        return err_no_memory(err);
    cursor c = cursor_at(src, d.at, d.bytes, err);
    for (uint64_t i = 0; i < d.entries; i++)
        TRY(read_entry(&c, a, out));
    return ASSAY_OK;
}

const zip_entry *zip_find(const zip_directory *z, str name)
{
    uint32_t at = map_get(&z->by_name, name);
    return at == MAP_NONE ? NULL : &z->entries.items[at];
}

assay_status zip_open(source *src, const zip_entry *e, cursor *out, assay_error *err)
{
    uint8_t head[HEADER_BYTES];
    if (e->method != 0)
        return err_fail_node(err, ASSAY_ERR_UNSUPPORTED, e->name.p,
                             "zip archive: '" STR_FMT "' is compressed", STR_ARG(e->name));
    TRY(source_read(src, e->header, head, sizeof head, err));
    if (little(head, 4) != MAGIC_HEADER)
        return fail_zip(err, e->header, "no entry where the directory says");
    *out = cursor_at(src, e->header + HEADER_BYTES + little(head + 26, 2) + little(head + 28, 2),
                     e->packed, err);
    return cursor_ok(out) ? ASSAY_OK : err->code;
}
