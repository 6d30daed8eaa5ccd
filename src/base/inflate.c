/* Raw deflate data by zlib; see inflate.h. */
#include "base/inflate.h"

#include <zlib.h>

#include "base/memory.h"

enum { PIECE = 1 << 14, OUT_PIECE = 1 << 30, RAW_WINDOW = -15 };

static assay_status fail_packed(assay_error *err, uint64_t at)
{
    return err_fail_at(err, ASSAY_ERR_MALFORMED, at, "compressed data is damaged");
}

/* One piece in, all that it makes out; at most what is left of the buffer. */
static assay_status inflate_piece(z_stream *z, uint64_t *left, int *code, uint64_t at,
                                  assay_error *err)
{
    do {
        uInt room = *left > OUT_PIECE ? OUT_PIECE : (uInt)*left;
        uint8_t over; /* room for a byte too many */
        Bytef *out = z->next_out;
        z->next_out = room ? out : &over;
        z->avail_out = room ? room : 1;
        uInt before = z->avail_out;
        *code = inflate(z, Z_NO_FLUSH);
        uInt made = before - z->avail_out;
        if ((*code != Z_OK && *code != Z_STREAM_END && *code != Z_BUF_ERROR) || (!room && made))
            return *code == Z_MEM_ERROR ? (memory_note_lack(), err_no_memory(err))
                                        : fail_packed(err, at);
        z->next_out = out + (room ? made : 0);
        *left -= room ? made : 0;
        if (*code == Z_BUF_ERROR)
            break;
    } while (*code == Z_OK && (z->avail_in || z->avail_out == 0));
    return ASSAY_OK;
}

static assay_status inflate_all(z_stream *z, cursor *packed, uint64_t left, assay_error *err)
{
    uint8_t piece[PIECE];
    int code = Z_OK;
    while (code != Z_STREAM_END && cursor_more(packed)) {
        uint64_t n = cursor_left(packed) < PIECE ? cursor_left(packed) : PIECE, at = packed->pos;
        cursor_copy(packed, piece, n);
        if (!cursor_ok(packed))
            return packed->err->code;
        z->next_in = piece;
        z->avail_in = (uInt)n;
        TRY(inflate_piece(z, &left, &code, at, err));
    }
    return code == Z_STREAM_END && left == 0 && !z->avail_in && !cursor_more(packed)
               ? ASSAY_OK
               : fail_packed(err, packed->pos);
}

assay_status inflate_raw(cursor *packed, void *buf, uint64_t size, assay_error *err)
{
    z_stream z = {.next_out = buf};
    if (size / INFLATE_MOST > cursor_left(packed))
        return fail_packed(err, packed->pos);
    if (inflateInit2(&z, RAW_WINDOW) != Z_OK)
        return memory_note_lack(), err_no_memory(err);
    assay_status s = inflate_all(&z, packed, size, err);
    inflateEnd(&z);
    return s;
}
