/* Documents as they are kept: without the blanks between their words, deflated (RFC 1950, by zlib) when that is
 * smaller, which it is by a factor of ten and more: the names of a thousand layers repeat. */
#include <assert.h>
#include <stdlib.h>
#include <zlib.h>

#include "base/memory.h"
#include "base/redact.h"
#include "base/sha256.h"
#include "store/store_impl.h"

void store_digest(str document, char hex[65])
{
    sha256 h;
    sha256_begin(&h);
    sha256_add(&h, document.p, document.n);
    sha256_end(&h, hex);
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

assay_status store_pack(str text, sbuf *out, int *encoding, assay_error *err)
{
    assert(text.p && encoding && !out->n);
    uLongf n = compressBound(text.n);
    Bytef *room = memory_alloc(n);
    if (!room)
        return err_no_memory(err);
    bool smaller = compress2(room, &n, (const Bytef *)text.p, text.n, 6) == Z_OK && n < text.n;
    if (smaller)
        sbuf_put(out, room, n);
    else
        sbuf_str(out, text);
    free(room);
    *encoding = smaller;
    assert(out->failed || out->n <= text.n);
    return out->failed ? err_no_memory(err) : ASSAY_OK;
}

assay_status store_unpack(store *s, const void *p, size_t n, int encoding, uint64_t size, arena *a,
                          str *out, assay_error *err)
{
    if (size > STORE_DOCUMENT_BYTES || (encoding == 0 && n != size) || encoding > 1 || encoding < 0)
        return store_fail(s, SQLITE_CORRUPT, err);
    char *text = arena_alloc(a, (size_t)size + 1);
    if (!text)
        return err_no_memory(err);
    uLongf got = (uLongf)size;
    if (encoding == 0)
        memcpy(text, p, n);
    int code = encoding == 0 ? Z_OK : uncompress((Bytef *)text, &got, p, (uLong)n);
    if (code == Z_MEM_ERROR)
        return err_no_memory(err);
    if (code != Z_OK || got != size)
        return store_fail(s, SQLITE_CORRUPT, err);
    *out = (str){text, (uint32_t)size};
    return ASSAY_OK;
}
