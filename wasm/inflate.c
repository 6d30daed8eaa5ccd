/* Raw deflate data (RFC 1951) where there is no zlib; see base/inflate.h. The output is its own window: all of it is in one
 * buffer. A code is decoded bit by bit with the counts of its lengths (canonical Huffman codes), which needs no tables. */
#include "base/inflate.h"

#include <string.h>

enum { BITS_MAX = 15, LITERALS = 288, DISTANCES = 30, PIECE = 1 << 14, END = 256 };

typedef struct huffman {
    uint16_t count[BITS_MAX + 1]; /* codes of each length */
    uint16_t symbol[LITERALS];    /* in the order of their codes */
} huffman;

typedef struct unpacking {
    cursor *in;
    uint64_t begin; /* of the data in its file */
    uint32_t bits;
    unsigned n_bits;
    uint8_t *out;
    uint64_t n, size;
    bool bad;
    huffman literals, distances;
} unpacking;

static uint32_t take_bits(unpacking *u, unsigned n)
{
    while (u->n_bits < n) {
        if (!cursor_more(u->in)) {
            u->bad = true;
            return 0;
        }
        u->bits |= (uint32_t)cursor_u8(u->in) << u->n_bits;
        u->n_bits += 8;
    }
    const uint32_t v = u->bits & ((1u << n) - 1);
    u->bits >>= n;
    u->n_bits -= n;
    return v;
}

static void put_out(unpacking *u, uint8_t b)
{
    if (u->n < u->size)
        u->out[u->n++] = b;
    else
        u->bad = true;
}

/* False if the lengths are of no code: over-subscribed, or incomplete with more than one symbol. */
static bool make_code(huffman *h, const uint8_t *lengths, unsigned n)
{
    uint16_t at[BITS_MAX + 1] = {0};
    int left = 1;
    memset(h->count, 0, sizeof h->count);
    for (unsigned i = 0; i < n; i++)
        h->count[lengths[i]]++;
    const unsigned used = n - h->count[0];
    h->count[0] = 0;
    for (int b = 1; b <= BITS_MAX; b++) {
        left = left * 2 - h->count[b];
        if (left < 0)
            return false;
        at[b] = (uint16_t)(at[b - 1] + h->count[b - 1]);
    }
    for (unsigned i = 0; i < n; i++)
        if (lengths[i])
            h->symbol[at[lengths[i]]++] = (uint16_t)i;
    return left == 0 || used <= 1;
}

static unsigned take_symbol(unpacking *u, const huffman *h)
{
    int code = 0, first = 0, index = 0;
    for (int b = 1; b <= BITS_MAX && !u->bad; b++) {
        code |= (int)take_bits(u, 1);
        const int n = h->count[b];
        if (code - n < first)
            return h->symbol[index + code - first];
        index += n;
        first = (first + n) << 1;
        code <<= 1;
    }
    u->bad = true;
    return END;
}

static void copy_back(unpacking *u, unsigned length, unsigned distance)
{
    if (distance > u->n || length > u->size - u->n) {
        u->bad = true;
        return;
    }
    for (; length; length--, u->n++)
        u->out[u->n] = u->out[u->n - distance];
}

static void take_match(unpacking *u, unsigned symbol)
{
    static const uint16_t lengths[] = {3,  4,  5,  6,   7,   8,   9,   10,  11, 13,
                                       15, 17, 19, 23,  27,  31,  35,  43,  51, 59,
                                       67, 83, 99, 115, 131, 163, 195, 227, 258};
    static const uint8_t extra[] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2,
                                    2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0};
    static const uint16_t far[] = {1,    2,    3,    4,    5,    7,    9,    13,    17,    25,
                                   33,   49,   65,   97,   129,  193,  257,  385,   513,   769,
                                   1025, 1537, 2049, 3073, 4097, 6145, 8193, 12289, 16385, 24577};
    if (symbol - 257 >= sizeof extra) {
        u->bad = true;
        return;
    }
    const unsigned length = lengths[symbol - 257] + take_bits(u, extra[symbol - 257]);
    const unsigned d = take_symbol(u, &u->distances);
    if (u->bad || d >= DISTANCES) {
        u->bad = true;
        return;
    }
    copy_back(u, length, far[d] + take_bits(u, d < 4 ? 0 : d / 2 - 1));
}

static void take_coded(unpacking *u)
{
    while (!u->bad) {
        const unsigned s = take_symbol(u, &u->literals);
        if (s < END)
            put_out(u, (uint8_t)s);
        else if (s == END)
            return;
        else
            take_match(u, s);
    }
}

static void take_stored(unpacking *u)
{
    u->bits = u->n_bits = 0;
    uint32_t n = take_bits(u, 16);
    u->bad |= (take_bits(u, 16) ^ n) != 0xffff;
    for (; n && !u->bad; n--)
        put_out(u, (uint8_t)take_bits(u, 8));
}

static void use_fixed(unpacking *u)
{
    uint8_t l[LITERALS];
    for (int i = 0; i < LITERALS; i++)
        l[i] = i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : 8;
    make_code(&u->literals, l, LITERALS);
    memset(l, 5, DISTANCES);
    make_code(&u->distances, l, DISTANCES);
}

/* The lengths of both codes, which are coded themselves. */
static void take_lengths(unpacking *u, const huffman *of, uint8_t *l, unsigned n)
{
    for (unsigned i = 0; i < n && !u->bad;) {
        const unsigned s = take_symbol(u, of);
        if (s < 16) {
            l[i++] = (uint8_t)s;
            continue;
        }
        const unsigned times = s == 16   ? 3 + take_bits(u, 2)
                               : s == 17 ? 3 + take_bits(u, 3)
                                         : 11 + take_bits(u, 7);
        if ((s == 16 && i == 0) || times > n - i) {
            u->bad = true;
            return;
        }
        memset(l + i, s == 16 ? l[i - 1] : 0, times);
        i += times;
    }
}

static void use_dynamic(unpacking *u)
{
    static const uint8_t order[19] = {16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                      11, 4,  12, 3, 13, 2, 14, 1, 15};
    uint8_t l[LITERALS + 32] = {0}, first[19] = {0};
    const unsigned n_literals = 257 + take_bits(u, 5), n_distances = 1 + take_bits(u, 5);
    const unsigned n_first = 4 + take_bits(u, 4);
    for (unsigned i = 0; i < n_first; i++)
        first[order[i]] = (uint8_t)take_bits(u, 3);
    huffman of;
    if (n_literals > 286 || n_distances > DISTANCES || !make_code(&of, first, 19)) {
        u->bad = true;
        return;
    }
    take_lengths(u, &of, l, n_literals + n_distances);
    u->bad |= u->bad || !l[END] || !make_code(&u->literals, l, n_literals) ||
              !make_code(&u->distances, l + n_literals, n_distances);
}

static void take_block(unpacking *u)
{
    const uint32_t kind = take_bits(u, 2);
    if (kind == 0) {
        take_stored(u);
        return;
    }
    if (kind == 1)
        use_fixed(u);
    else if (kind == 2)
        use_dynamic(u);
    else
        u->bad = true;
    if (!u->bad)
        take_coded(u);
}

assay_status inflate_raw(cursor *packed, void *buf, uint64_t size, assay_error *err)
{
    unpacking u = {.in = packed, .begin = packed->pos, .out = buf, .size = size};
    bool last = false, lie = size / INFLATE_MOST > cursor_left(packed);
    while (!lie && !last && !u.bad) {
        last = take_bits(&u, 1) != 0;
        take_block(&u);
    }
    if (!cursor_ok(packed))
        return packed->err->code;
    if (!lie && !u.bad && u.n == size && !cursor_more(packed))
        return ASSAY_OK;
    /* Where zlib would say so: at the piece that is damaged, or at the end. */
    uint64_t at = u.bad && cursor_more(packed) ? u.begin + (packed->pos - u.begin) / PIECE * PIECE
                                               : packed->pos;
    return err_fail_at(err, ASSAY_ERR_MALFORMED, at, "compressed data is damaged");
}
