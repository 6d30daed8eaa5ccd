/* Unpacks raw deflate data (RFC 1951), as zip archives have it. The only place that knows who does it: zlib here, the host in
 * a build without zlib.
 *
 * The caller says how many bytes come out, from the directory of the archive. Neither more nor fewer are accepted, so what
 * is allocated is never more than what was announced and checked.
 */
#ifndef BASE_INFLATE_H
#define BASE_INFLATE_H

#include "base/source.h"

/* Deflate cannot make more than this of one byte: a larger announcement is a lie. */
enum { INFLATE_MOST = 1032 };

/* All that is left of the cursor becomes the `size` bytes of buf. ASSAY_ERR_MALFORMED: it does not. */
assay_status inflate_raw(cursor *packed, void *buf, uint64_t size, assay_error *err);

#endif
