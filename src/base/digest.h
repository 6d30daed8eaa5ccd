/* SHA-256 of files, directories and texts as 64 hexadecimal digits.
 *
 * Of a file: its bytes. Of a directory: the names and digests of its files, by name (directories below it do not count). */
#ifndef BASE_DIGEST_H
#define BASE_DIGEST_H

#include "base/error.h"
#include "base/sbuf.h"

typedef char digest_hex[65];

/* Of a file or directory; ASSAY_ERR_SYSTEM when it cannot be read. */
assay_status digest_path(const char *path, digest_hex out, assay_error *err);
/* Of bytes. */
void digest_bytes(const void *p, size_t n, digest_hex out);
/* Of a text, which is freed. ASSAY_ERR_SYSTEM: out of memory when it was made. */
assay_status digest_text(sbuf *text, digest_hex out, assay_error *err);

#endif
