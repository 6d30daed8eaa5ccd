/* A result that was written to a file, as the plain data it was made from: "assay.profile/1" back into a
 * `profile` (profile_read.c). What the file does not have is absent, as if it had not been asked for; keys
 * that nobody here knows are skipped, because a newer version may have written them.
 */
#ifndef PROFILE_PROFILE_READ_H
#define PROFILE_PROFILE_READ_H

#include "base/error.h"
#include "profile/profile.h"

#define PROFILE_FILE_BYTES ((uint64_t)256 << 20)

/* What the top of a JSON document says of itself. */
typedef struct profile_schema {
    str name;      /* "assay.profile", or empty when there is none; in the arena */
    int64_t major; /* 1 */
    int64_t minor; /* 2 of "assay.profile/1.2"; 0 when there is none */
} profile_schema;

/* Reads up to the key "schema" and no further. ASSAY_ERR_MALFORMED when the text is no JSON object. */
assay_status profile_schema_of(str text, const char *shown, arena *a, profile_schema *out,
                               assay_error *err);
/* What a schema's documents are, for sentences: "a result", "a comparison", ...; NULL when not known. */
const char *profile_schema_what(str name);

/* *p takes; its arena is limited to limit_bytes. `shown` is what sentences call the text.
 * ASSAY_ERR_MALFORMED with the key's path and the byte offset; ASSAY_ERR_UNSUPPORTED for a later major
 * version. Borrows nothing. */
assay_status profile_read(str text, const char *shown, size_t limit_bytes, profile **p,
                          assay_error *err);
/* The same, and of "assay.pipeline/1" and "assay.machine/1" what a history needs (profile_read_kept.c). */
assay_status profile_read_kept(str text, const char *shown, size_t limit_bytes, profile **p,
                               assay_error *err);

#endif
