/* The directory of a zip archive. Entries are not unpacked: readers take the bytes of stored ones where they lie.
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

enum { ZIP_MAX_ENTRIES = 1 << 20, ZIP_MAX_DIRECTORY = 128 << 20 };

/* Everything is in the arena. */
assay_status zip_read(source *src, arena *a, zip_directory *out, assay_error *err);
/* NULL if there is none of that name. */
const zip_entry *zip_find(const zip_directory *z, str name);
/* The bytes of a stored entry. ASSAY_ERR_UNSUPPORTED: it is compressed. */
assay_status zip_open(source *src, const zip_entry *e, cursor *out, assay_error *err);

#endif
