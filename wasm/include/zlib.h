/* The part of zlib's interface that report/report_html.c uses, where there is no zlib: wasm/gzip.c. */
#ifndef WASM_ZLIB_H
#define WASM_ZLIB_H

typedef unsigned char Bytef;
typedef unsigned int uInt;
typedef struct z_stream {
    const Bytef *next_in;
    Bytef *next_out;
    uInt avail_in, avail_out;
    int stage;     /* 0: the header, 1: blocks, 2: the end, 3: done */
    uInt left;     /* of the current block */
    uInt crc, all; /* of the bytes so far, and their number */
    uInt n_pending;
    Bytef pending[16]; /* a header or the end, which is written next */
} z_stream;

enum { Z_OK, Z_STREAM_END, Z_DEFLATED = 8, Z_FINISH = 4, Z_DEFAULT_STRATEGY = 0 };

int deflateInit2(z_stream *z, int level, int method, int bits, int memory, int strategy);
int deflate(z_stream *z, int flush);
int deflateEnd(z_stream *z);

#endif
