/* Documents as they are kept: without the blanks between their words, deflated (RFC 1950, by zlib) when that is
 * smaller, which it is by a factor of ten and more: the names of a thousand layers repeat. */
#include <assert.h>
#include <stdlib.h>
#include <zlib.h>

#include "base/digest.h"
#include "base/memory.h"
#include "base/redact.h"
#include "store/store_impl.h"

void store_digest(str document, char hex[65])
{
    digest_bytes(document.p, document.n, hex);
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* The end of a string that begins at i: behind its closing quote. */
static uint32_t string_end(str s, uint32_t i)
{
    for (i++; i < s.n && s.p[i] != '"'; i++)
        if (s.p[i] == '\\')
            i++;
    return i < s.n ? i + 1 : s.n;
}

void store_squeeze(str s, sbuf *out)
{
    for (uint32_t i = 0; i < s.n;) {
        uint32_t from = i;
        while (i < s.n && !is_blank(s.p[i]))
            i = s.p[i] == '"' ? string_end(s, i) : i + 1;
        redact_put(out, (str){s.p + from, i - from});
        while (i < s.n && is_blank(s.p[i]))
            i++;
        assert(i > from && i <= s.n);
    }
}

assay_status store_pack(str text, arena *a, str *out, int *encoding, assay_error *err)
{
    assert(text.p && encoding);
    uLongf n = compressBound(text.n);
    Bytef *room = memory_alloc(n);
    TRY_MEMORY(room, err);
    bool smaller = compress2(room, &n, (const Bytef *)text.p, text.n, 6) == Z_OK && n < text.n;
    *out = smaller ? str_copy(a, (str){(char *)room, (uint32_t)n}) : text;
    free(room);
    *encoding = smaller;
    return out->p ? ASSAY_OK : err_no_memory(err);
}

assay_status store_damaged(store *s, assay_error *err)
{
    return err_fail(err, ASSAY_ERR_MALFORMED, "%s: the document of a record is damaged", s->shown);
}

assay_status store_unpack(store *s, str packed, int64_t encoding, int64_t size, arena *a, str *out,
                          assay_error *err)
{
    if (size < 0 || (uint64_t)size > STORE_DOCUMENT_BYTES || (encoding == 0 && packed.n != size) ||
        encoding > 1 || encoding < 0)
        return store_damaged(s, err);
    char *text = arena_alloc(a, (size_t)size + 1);
    TRY_MEMORY(text, err);
    uLongf got = (uLongf)size;
    if (encoding == 0 && packed.n)
        memcpy(text, packed.p, packed.n);
    int code = encoding == 0 ? Z_OK
                             : uncompress((Bytef *)text, &got, (const Bytef *)packed.p, packed.n);
    if (code == Z_MEM_ERROR)
        return err_no_memory(err);
    if (code != Z_OK || got != (uLongf)size)
        return store_damaged(s, err);
    *out = (str){text, (uint32_t)size};
    return ASSAY_OK;
}
