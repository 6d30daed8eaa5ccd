/* The directory of a zip archive. Readers take the bytes of stored entries where they lie; what is deflated is unpacked into
 * memory, at most ZIP_MAX_UNPACKED bytes of one entry and within the limit of the arena.
 *
 * Only the directory at the end is read, because archives that were written as a stream have no sizes in the headers of
 * their entries. Sizes beyond 4 GiB (zip64) are read; archives in several parts and encrypted entries are refused.
 */
#ifndef FORMATS_ZIP_H
#define FORMATS_ZIP_H

#include "base/map.h"
#include "base/source.h"
#include "base/vec.h"

typedef struct zip_entry {
    str name;
    uint64_t header;       /* where its own header lies */
    uint64_t packed, size; /* bytes in the file, and unpacked */
    uint16_t method;       /* 0: stored */
} zip_entry;

typedef struct zip_directory {
    VEC(zip_entry) entries;
    map by_name;
} zip_directory;

enum { ZIP_STORED = 0, ZIP_DEFLATED = 8 }; /* zip_entry.method */
enum { ZIP_MAX_ENTRIES = 1 << 20, ZIP_MAX_DIRECTORY = 128 << 20, ZIP_MAX_UNPACKED = 512 << 20 };

/* Everything is in the arena. */
assay_status zip_read(source *src, arena *a, zip_directory *out, assay_error *err);
/* The same of an archive that is a part of the source: `size` bytes at `at`, such as a stored entry of another one. */
assay_status zip_read_within(source *src, uint64_t at, uint64_t size, arena *a, zip_directory *out,
                             assay_error *err);
/* NULL if there is none of that name. */
const zip_entry *zip_find(const zip_directory *z, str name);
/* The bytes of a stored entry. ASSAY_ERR_UNSUPPORTED: it is compressed. */
assay_status zip_open(source *src, const zip_entry *e, cursor *out, assay_error *err);
/* The bytes of any entry, in the arena and with a NUL behind them. At most `most` bytes (up to ZIP_MAX_UNPACKED).
 * ASSAY_ERR_UNSUPPORTED: larger, or compressed by another method than deflate. */
assay_status zip_unpack(source *src, const zip_entry *e, uint64_t most, arena *a, str *out,
                        assay_error *err);
/* The same into `buf`, which has room for e->size bytes. */
assay_status zip_unpack_into(source *src, const zip_entry *e, void *buf, assay_error *err);

#endif
