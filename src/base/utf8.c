/* Widths follow East Asian Width of Unicode 15 (W and F are two columns) and the general categories Mn and Me (zero),
 * by blocks; rare scripts inside a block are not distinguished. wcwidth() of the C library depends on the locale of
 * the process, which a library must not. */
#include "base/utf8.h"

#include <stdbool.h>

static bool tail(unsigned char c)
{
    return (c & 0xc0) == 0x80;
}

static unsigned lead_length(unsigned char c)
{
    return c < 0x80 ? 1 : c < 0xc2 ? 0 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : c < 0xf5 ? 4 : 0;
}

unsigned utf8_encode(uint32_t cp, char to[4])
{
    unsigned n = 0;
    if (cp < 0x80) {
        to[0] = (char)cp;
        return 1;
    }
    if (cp >= 0x10000) {
        to[n++] = (char)(0xf0 | cp >> 18);
        to[n++] = (char)(0x80 | (cp >> 12 & 0x3f));
    } else if (cp >= 0x800) {
        to[n++] = (char)(0xe0 | cp >> 12);
    }
    to[n++] = (char)(cp >= 0x800 ? 0x80 | (cp >> 6 & 0x3f) : 0xc0 | cp >> 6);
    to[n++] = (char)(0x80 | (cp & 0x3f));
    return n;
}

unsigned utf8_next(const char *p, size_t n, uint32_t *cp)
{
    static const uint32_t least[5] = {0, 0, 0x80, 0x800, 0x10000};
    static const uint8_t mask[5] = {0, 0x7f, 0x1f, 0x0f, 0x07};
    unsigned len = n ? lead_length((unsigned char)p[0]) : 0;
    if (len == 0 || len > n)
        return 0;
    uint32_t c = (unsigned char)p[0] & mask[len];
    for (unsigned i = 1; i < len; i++) {
        if (!tail((unsigned char)p[i]))
            return 0;
        c = c << 6 | ((unsigned char)p[i] & 0x3f);
    }
    if (c < least[len] || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
        return 0;
    *cp = c;
    return len;
}

typedef struct range {
    uint32_t first, last;
    int columns;
} range;

/* Ascending; what lies between has one column. */
static const range ranges[] = {
    {0x0000, 0x001f, UTF8_HIDDEN}, {0x007f, 0x009f, UTF8_HIDDEN},
    {0x00ad, 0x00ad, UTF8_HIDDEN}, {0x0300, 0x036f, 0},
    {0x0483, 0x0489, 0},           {0x0591, 0x05bd, 0},
    {0x05bf, 0x05bf, 0},           {0x05c1, 0x05c2, 0},
    {0x05c4, 0x05c5, 0},           {0x0610, 0x061a, 0},
    {0x061c, 0x061c, UTF8_HIDDEN}, {0x064b, 0x065f, 0},
    {0x0670, 0x0670, 0},           {0x06d6, 0x06dc, 0},
    {0x06df, 0x06e4, 0},           {0x0730, 0x074a, 0},
    {0x0900, 0x0902, 0},           {0x093a, 0x093a, 0},
    {0x093c, 0x093c, 0},           {0x0941, 0x0948, 0},
    {0x094d, 0x094d, 0},           {0x0e31, 0x0e31, 0},
    {0x0e34, 0x0e3a, 0},           {0x0e47, 0x0e4e, 0},
    {0x1100, 0x115f, 2},           {0x1160, 0x11ff, 0},
    {0x180b, 0x180f, UTF8_HIDDEN}, {0x1ab0, 0x1aff, 0},
    {0x1dc0, 0x1dff, 0},           {0x200b, 0x200f, UTF8_HIDDEN},
    {0x2028, 0x202e, UTF8_HIDDEN}, {0x2060, 0x206f, UTF8_HIDDEN},
    {0x20d0, 0x20ff, 0},           {0x231a, 0x231b, 2},
    {0x2329, 0x232a, 2},           {0x23e9, 0x23ec, 2},
    {0x23f0, 0x23f0, 2},           {0x23f3, 0x23f3, 2},
    {0x25fd, 0x25fe, 2},           {0x2614, 0x2615, 2},
    {0x2648, 0x2653, 2},           {0x267f, 0x267f, 2},
    {0x2693, 0x2693, 2},           {0x26a1, 0x26a1, 2},
    {0x26aa, 0x26ab, 2},           {0x26bd, 0x26be, 2},
    {0x26c4, 0x26c5, 2},           {0x26ce, 0x26ce, 2},
    {0x26d4, 0x26d4, 2},           {0x26ea, 0x26ea, 2},
    {0x26f2, 0x26f3, 2},           {0x26f5, 0x26f5, 2},
    {0x26fa, 0x26fa, 2},           {0x26fd, 0x26fd, 2},
    {0x2705, 0x2705, 2},           {0x270a, 0x270b, 2},
    {0x2728, 0x2728, 2},           {0x274c, 0x274c, 2},
    {0x274e, 0x274e, 2},           {0x2753, 0x2755, 2},
    {0x2757, 0x2757, 2},           {0x2795, 0x2797, 2},
    {0x27b0, 0x27b0, 2},           {0x27bf, 0x27bf, 2},
    {0x2b1b, 0x2b1c, 2},           {0x2b50, 0x2b50, 2},
    {0x2b55, 0x2b55, 2},           {0x2e80, 0x3029, 2},
    {0x302a, 0x302d, 0},           {0x302e, 0x303e, 2},
    {0x3041, 0x3098, 2},           {0x3099, 0x309a, 0},
    {0x309b, 0x3247, 2},           {0x3250, 0x4dbf, 2},
    {0x4e00, 0xa4cf, 2},           {0xa960, 0xa97c, 2},
    {0xac00, 0xd7a3, 2},           {0xf900, 0xfaff, 2},
    {0xfe00, 0xfe0f, 0},           {0xfe10, 0xfe19, 2},
    {0xfe20, 0xfe2f, 0},           {0xfe30, 0xfe6b, 2},
    {0xfeff, 0xfeff, UTF8_HIDDEN}, {0xff01, 0xff60, 2},
    {0xffe0, 0xffe6, 2},           {0xfff0, 0xfffb, UTF8_HIDDEN},
    {0xfffe, 0xffff, UTF8_HIDDEN}, {0x16fe0, 0x18cff, 2},
    {0x1aff0, 0x1b2ff, 2},         {0x1f004, 0x1f004, 2},
    {0x1f0cf, 0x1f0cf, 2},         {0x1f18e, 0x1f18e, 2},
    {0x1f191, 0x1f19a, 2},         {0x1f200, 0x1f320, 2},
    {0x1f32d, 0x1f335, 2},         {0x1f337, 0x1f37c, 2},
    {0x1f37e, 0x1f393, 2},         {0x1f3a0, 0x1f3ca, 2},
    {0x1f3cf, 0x1f3d3, 2},         {0x1f3e0, 0x1f3f0, 2},
    {0x1f3f4, 0x1f3f4, 2},         {0x1f3f8, 0x1f43e, 2},
    {0x1f440, 0x1f440, 2},         {0x1f442, 0x1f4fc, 2},
    {0x1f4ff, 0x1f53d, 2},         {0x1f54b, 0x1f54e, 2},
    {0x1f550, 0x1f567, 2},         {0x1f57a, 0x1f57a, 2},
    {0x1f595, 0x1f596, 2},         {0x1f5a4, 0x1f5a4, 2},
    {0x1f5fb, 0x1f64f, 2},         {0x1f680, 0x1f6c5, 2},
    {0x1f6cc, 0x1f6cc, 2},         {0x1f6d0, 0x1f6d2, 2},
    {0x1f6d5, 0x1f6df, 2},         {0x1f6eb, 0x1f6ec, 2},
    {0x1f6f4, 0x1f6fc, 2},         {0x1f7e0, 0x1f7f0, 2},
    {0x1f90c, 0x1f93a, 2},         {0x1f93c, 0x1f945, 2},
    {0x1f947, 0x1f9ff, 2},         {0x1fa70, 0x1faff, 2},
    {0x20000, 0x3fffd, 2},         {0xe0000, 0xe0fff, UTF8_HIDDEN},
};

int utf8_columns(uint32_t cp)
{
    if (cp >= 0x20 && cp < 0x7f)
        return 1;
    size_t low = 0, high = sizeof ranges / sizeof *ranges;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (cp > ranges[mid].last)
            low = mid + 1;
        else if (cp < ranges[mid].first)
            high = mid;
        else
            return ranges[mid].columns;
    }
    return 1;
}
