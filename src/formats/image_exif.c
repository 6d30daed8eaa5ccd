/* The orientation in EXIF: tag 0x0112 of the first TIFF directory (Exif 2.32, 4.6.2 and 4.6.4).
 *
 *   "II*\0" or "MM\0*" (byte order), u32 offset of the directory
 *   directory: u16 entries, each u16 tag, u16 type, u32 count, four bytes of value
 *
 * Everything else in the block is skipped, and an invalid block is ignored.
 */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "formats/image_impl.h"

enum { TAG_ORIENTATION = 0x0112, TYPE_SHORT = 3, ENTRY_BYTES = 12 };

typedef struct tiff {
    const uint8_t *p;
    size_t n;
    bool big;
} tiff;

static uint32_t tiff_number(const tiff *t, size_t at, int bytes)
{
    uint32_t v = 0;
    for (int i = 0; i < bytes; i++)
        v |= (uint32_t)t->p[at + (size_t)i] << 8 * (t->big ? bytes - 1 - i : i);
    return v;
}

static int of_directory(const tiff *t, size_t at)
{
    if (at > t->n - 2)
        return 1;
    uint32_t entries = tiff_number(t, at, 2);
    for (at += 2; entries && t->n - at >= ENTRY_BYTES; entries--, at += ENTRY_BYTES) {
        if (tiff_number(t, at, 2) != TAG_ORIENTATION || tiff_number(t, at + 2, 2) != TYPE_SHORT)
            continue;
        uint32_t v = tiff_number(t, at + 8, 2);
        return v >= 1 && v <= 8 ? (int)v : 1;
    }
    return 1;
}

int image_orientation(const uint8_t *exif, size_t n)
{
    bool headed = n >= 6 && memcmp(exif, "Exif\0\0", 6) == 0;
    tiff t = {.p = headed ? exif + 6 : exif, .n = headed ? n - 6 : n};
    if (t.n < 8 || (memcmp(t.p, "II*\0", 4) != 0 && memcmp(t.p, "MM\0*", 4) != 0))
        return 1;
    t.big = t.p[0] == 'M';
    return of_directory(&t, tiff_number(&t, 4, 4));
}

/* Where the pixel that belongs at column x, row y of the upright picture is stored. */
static size_t stored_at(const image *i, int orientation, uint32_t x, uint32_t y)
{
    uint32_t right = i->width - 1, bottom = i->height - 1;
    uint32_t a = orientation >= 5 ? y : x, b = orientation >= 5 ? x : y;
    bool from_right = orientation == 2 || orientation == 3 || orientation == 7 || orientation == 8;
    bool from_bottom = orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7;
    uint32_t column = from_right ? right - a : a, row = from_bottom ? bottom - b : b;
    return ((size_t)row * i->width + column) * 3;
}

assay_status image_upright(image *i, int orientation, assay_error *err)
{
    bool turned = orientation >= 5;
    uint32_t width = turned ? i->height : i->width, height = turned ? i->width : i->height;
    if (orientation == 1)
        return ASSAY_OK;
    uint8_t *rgb = memory_alloc((size_t)width * height * 3);
    TRY_MEMORY(rgb, err);
    for (uint32_t y = 0; y < height; y++)
        for (uint32_t x = 0; x < width; x++)
            memcpy(rgb + ((size_t)y * width + x) * 3, i->rgb + stored_at(i, orientation, x, y), 3);
    free(i->rgb);
    *i = (image){.width = width, .height = height, .rgb = rgb};
    return ASSAY_OK;
}
