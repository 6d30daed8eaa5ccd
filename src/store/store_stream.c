/* Documents that are read piece by piece. The packed body (store_pack.c) stays in memory and is inflated on demand: a
 * reader that takes its time costs a tenth of the document, and no connection to the database. */
#include <assert.h>
#include <stdlib.h>
#include <zlib.h>

#include "base/memory.h"
#include "store/store_impl.h"

enum { INFLATE_BYTES = 48 << 10 }; /* of zlib's own state */

struct store_stream {
    store_packing packed;
    uint64_t given; /* bytes of the text so far */
    z_stream z;
};

assay_status store_keep_packed(store_packing *p, const void *body, assay_error *err)
{
    if (p->n > STORE_DOCUMENT_BYTES || p->size < 0 || (uint64_t)p->size > STORE_DOCUMENT_BYTES ||
        p->encoding < 0 || p->encoding > 1 || (p->encoding == 0 && p->n != (uint64_t)p->size))
        return err_fail(err, ASSAY_ERR_MALFORMED, "the document of a record is damaged");
    p->body = body || !p->n ? memory_alloc((size_t)p->n + 1) : memory_note_lack();
    TRY_MEMORY(p->body, err);
    if (p->n)
        memcpy(p->body, body, (size_t)p->n);
    return ASSAY_OK;
}

assay_status store_document_size(store *s, int64_t id, uint64_t *size, uint64_t *memory,
                                 assay_error *err)
{
    store_packing p;
    *size = *memory = 0;
    TRY(store_packed(s, id, false, &p, err));
    *size = p.size > 0 ? (uint64_t)p.size : 0;
    *memory = p.n + (p.encoding ? INFLATE_BYTES : 0) + sizeof(store_stream);
    return ASSAY_OK;
}

static assay_status begin(store_stream *d, assay_error *err)
{
    if (!d->packed.encoding)
        return ASSAY_OK;
    d->z.next_in = d->packed.body;
    d->z.avail_in = (uInt)d->packed.n;
    return inflateInit(&d->z) == Z_OK ? ASSAY_OK : (memory_note_lack(), err_no_memory(err));
}

assay_status store_stream_open(store *s, int64_t id, store_stream **out, assay_error *err)
{
    store_stream *d = memory_zeroed(1, sizeof *d);
    assert(out);
    *out = NULL;
    TRY_MEMORY(d, err);
    assay_status status = store_packed(s, id, true, &d->packed, err);
    if (status == ASSAY_OK)
        status = begin(d, err);
    if (status == ASSAY_OK)
        *out = d;
    else
        store_stream_close(d);
    return status;
}

static bool inflate_some(store_stream *d, void *buf, size_t cap, size_t *n)
{
    d->z.next_out = buf;
    d->z.avail_out = (uInt)cap;
    int code = inflate(&d->z, Z_NO_FLUSH);
    *n = cap - d->z.avail_out;
    return (code == Z_OK || code == Z_STREAM_END) && *n;
}

assay_status store_stream_read(store_stream *d, void *buf, size_t cap, size_t *n, assay_error *err)
{
    uint64_t left = (uint64_t)d->packed.size - d->given;
    *n = 0;
    cap = cap < left ? cap : (size_t)left;
    if (!cap)
        return ASSAY_OK;
    if (d->packed.encoding) {
        if (!inflate_some(d, buf, cap, n))
            return err_fail(err, ASSAY_ERR_MALFORMED, "the document of a record is damaged");
    } else {
        memcpy(buf, (const char *)d->packed.body + d->given, cap);
        *n = cap;
    }
    d->given += *n;
    return ASSAY_OK;
}

void store_stream_close(store_stream *d)
{
    if (!d)
        return;
    if (d->z.state)
        inflateEnd(&d->z);
    free(d->packed.body);
    free(d);
}
