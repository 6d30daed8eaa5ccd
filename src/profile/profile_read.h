/* Reads and writes the document of a profile, "assay.profile/1". Missing keys are unknown values; unknown keys are
 * skipped. */
#ifndef PROFILE_PROFILE_READ_H
#define PROFILE_PROFILE_READ_H

#include "base/error.h"
#include "base/limits.h"
#include "base/sbuf.h"
#include "profile/profile.h"

#define PROFILE_FILE_BYTES LIMIT_DOCUMENT_BYTES

/* *p takes; its arena is limited to limit_bytes. `shown` is what messages call the text. ASSAY_ERR_MALFORMED with the
 * key's path and the byte offset; ASSAY_ERR_UNSUPPORTED for a later version. Borrows nothing. */
assay_status profile_read(str text, const char *shown, size_t limit_bytes, profile **p,
                          assay_error *err);
/* The same, and of "assay.pipeline/1" and "assay.machine/1" what a history needs (profile_read_kept.c). */
assay_status profile_read_kept(str text, const char *shown, size_t limit_bytes, profile **p,
                               assay_error *err);
/* The document; of a profile that profile_settle() has seen. */
void profile_write_json(const profile *p, sbuf *out, int indent);

#endif
