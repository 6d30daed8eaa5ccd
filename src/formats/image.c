/* Decoding: see image.h. Both libraries get the whole file in memory, and report the size before a pixel is
 * decoded. */
#include "formats/image.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/file.h"
#include "base/memory.h"
#include "formats/image_impl.h"

#ifdef ASSAY_HAS_PNG
#include <png.h>
#endif

bool image_named(const char *path)
{
    static const char *const suffixes[] = {".png", ".jpg", ".jpeg"};
    const char *dot = strrchr(path, '.');
    for (size_t i = 0; dot && i < sizeof suffixes / sizeof *suffixes; i++)
        if (strcasecmp(dot, suffixes[i]) == 0)
            return true;
    return false;
}

void image_free(image *i)
{
    free(i->rgb);
    *i = (image){0};
}

assay_status image_bad(const decoding *d, const char *why)
{
    char shown[FILE_SHOWN];
    return err_fail(d->err, ASSAY_ERR_MALFORMED, "%s: cannot decode: %s",
                    file_shown(d->path, shown), why);
}

assay_status image_unread(const decoding *d, const char *why)
{
    char shown[FILE_SHOWN];
    return err_fail(d->err, ASSAY_ERR_UNSUPPORTED,
                    "%s: not supported: %s. Use an 8-bit RGB image, PNG or JPEG.",
                    file_shown(d->path, shown), why);
}

assay_status image_not_built(const decoding *d, const char *what)
{
    char shown[FILE_SHOWN];
    return err_fail(d->err, ASSAY_ERR_UNSUPPORTED, "%s: this build of assay does not support %s",
                    file_shown(d->path, shown), what);
}

assay_status image_room(const decoding *d, uint64_t width, uint64_t height)
{
    if (width == 0 || height == 0)
        return image_bad(d, "no pixels");
    if (width > IMAGE_SIDE || height > IMAGE_SIDE || width * height > IMAGE_PIXELS)
        return err_fail(
            d->err, ASSAY_ERR_UNSUPPORTED,
            "%s: image of %llu x %llu pixels: the limits are %u per side and %llu in total",
            FILE_NAME(d->path), (unsigned long long)width, (unsigned long long)height, IMAGE_SIDE,
            (unsigned long long)IMAGE_PIXELS);
    d->out->width = (uint32_t)width;
    d->out->height = (uint32_t)height;
    d->out->rgb = memory_zeroed((size_t)(width * height), 3);
    return d->out->rgb ? ASSAY_OK : err_no_memory(d->err);
}

/* ---- PNG ---- */

#ifdef ASSAY_HAS_PNG

static uint32_t big_endian(const char *p)
{
    const uint8_t *u = (const uint8_t *)p;
    return (uint32_t)u[0] << 24 | (uint32_t)u[1] << 16 | (uint32_t)u[2] << 8 | u[3];
}

/* Chunks are length, name, data, checksum. Whether a whole one begins at `at` < s.n; *n: bytes of its data. */
static bool png_chunk_at(str s, size_t at, uint32_t *n)
{
    *n = s.n - at >= 12 ? big_endian(s.p + at) : UINT32_MAX;
    return s.n - at >= 12 && *n <= s.n - at - 12;
}

/* The reader of whole images does not tell of this chunk. */
static int png_orientation(str s)
{
    uint32_t n;
    for (size_t at = 8; at < s.n && png_chunk_at(s, at, &n); at += 12 + (size_t)n)
        if (memcmp(s.p + at + 4, "eXIf", 4) == 0)
            return image_orientation((const uint8_t *)s.p + at + 8, n);
    return 1;
}

/* The reader allocates what a chunk claims to hold, up to 2 GiB, before it reads it. */
static bool png_chunks_fit(str s)
{
    uint32_t n;
    for (size_t at = 8; at < s.n; at += 12 + (size_t)n) {
        if (!png_chunk_at(s, at, &n))
            return false;
        if (memcmp(s.p + at + 4, "IEND", 4) == 0)
            return true;
    }
    return true;
}

static assay_status png_bad(const decoding *d, const char *message)
{
    bool cut = strstr(message, "beyond end") || strstr(message, "Not enough");
    return image_bad(d, cut ? "truncated file" : message);
}

/* 16 bits are taken for sRGB, as everyone does; the library's own guess is linear light. */
static assay_status decode_png(const decoding *d)
{
    const png_color white = {255, 255, 255};
    png_image p = {.version = PNG_IMAGE_VERSION};
    assay_status s = ASSAY_OK;
    if (!png_chunks_fit(d->bytes))
        return image_bad(d, "truncated file");
    if (!png_image_begin_read_from_memory(&p, d->bytes.p, d->bytes.n))
        s = png_bad(d, p.message);
    if (s == ASSAY_OK)
        s = image_room(d, p.width, p.height);
    p.format = PNG_FORMAT_RGB;
    p.flags |= PNG_IMAGE_FLAG_16BIT_sRGB;
    if (s == ASSAY_OK && !png_image_finish_read(&p, &white, d->out->rgb, 0, NULL))
        s = png_bad(d, p.message);
    png_image_free(&p);
    return s == ASSAY_OK ? image_upright(d->out, png_orientation(d->bytes), d->err) : s;
}

bool image_reads_png(void)
{
    return true;
}

#else
bool image_reads_png(void)
{
    return false;
}

static assay_status decode_png(const decoding *d)
{
    return image_not_built(d, "PNG");
}
#endif

assay_status image_decode(const char *path, str bytes, image *out, assay_error *err)
{
    const decoding d = {.path = path, .bytes = bytes, .out = out, .err = err};
    *out = (image){0};
    assay_status s;
    if (bytes.n >= 8 && memcmp(bytes.p, "\x89PNG\r\n\x1a\n", 8) == 0)
        s = decode_png(&d);
    else if (bytes.n >= 3 && memcmp(bytes.p, "\xff\xd8\xff", 3) == 0)
        s = image_decode_jpeg(&d);
    else
        s = image_bad(&d, "not a PNG or JPEG file");
    if (s != ASSAY_OK)
        image_free(out);
    return s;
}
