/* gzip (RFC 1952) of stored blocks (RFC 1951, 3.2.4), by the calls of zlib: valid and not smaller. A page in a browser reads
 * it at once, so that compressing it would be in vain. All input is there from the beginning (Z_FINISH). */
#include <string.h>
#include <zlib.h>

enum { BLOCK = 65535 };

int deflateInit2(z_stream *z, int level, int method, int bits, int memory, int strategy)
{
    static const Bytef header[10] = {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255};
    (void)level;
    (void)method;
    (void)bits;
    (void)memory;
    (void)strategy;
    z->stage = 0;
    z->left = z->all = 0;
    z->crc = ~0u;
    memcpy(z->pending, header, z->n_pending = sizeof header);
    return Z_OK;
}

static uInt crc_byte(uInt crc, Bytef b)
{
    crc ^= b;
    for (int i = 0; i < 8; i++)
        crc = crc >> 1 ^ (0xedb88320u & -(crc & 1));
    return crc;
}

static void put_pending(z_stream *z, uInt v, int n)
{
    for (int i = 0; i < n; i++)
        z->pending[z->n_pending++] = (Bytef)(v >> 8 * i);
}

/* The header of the next block, or what follows the last one. */
static void begin_block(z_stream *z)
{
    if (z->stage == 0) {
        const uInt n = z->avail_in < BLOCK ? z->avail_in : BLOCK;
        z->left = n;
        put_pending(z, n == z->avail_in, 1);
        put_pending(z, n, 2);
        put_pending(z, ~n, 2);
        z->stage = n == z->avail_in ? 1 : 0;
    } else if (z->stage == 1) {
        put_pending(z, ~z->crc, 4);
        put_pending(z, z->all, 4);
        z->stage = 2;
    } else {
        z->stage = 3;
    }
}

static void put_byte(z_stream *z, Bytef b)
{
    *z->next_out++ = b;
    z->avail_out--;
}

static void put_pending_byte(z_stream *z)
{
    put_byte(z, z->pending[0]);
    memmove(z->pending, z->pending + 1, --z->n_pending);
}

static void put_input_byte(z_stream *z)
{
    const Bytef b = *z->next_in++;
    z->avail_in--;
    z->left--;
    z->all++;
    z->crc = crc_byte(z->crc, b);
    put_byte(z, b);
}

int deflate(z_stream *z, int flush)
{
    (void)flush;
    while (z->avail_out && z->stage < 3) {
        if (z->n_pending)
            put_pending_byte(z);
        else if (z->left)
            put_input_byte(z);
        else
            begin_block(z);
    }
    return z->stage == 3 ? Z_STREAM_END : Z_OK;
}

int deflateEnd(z_stream *z)
{
    (void)z;
    return Z_OK;
}
