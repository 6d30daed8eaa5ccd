/* Decoding: see image.h. Both libraries get the whole file in memory, and are asked for the size before a
 * pixel is decoded. */
#include "formats/image.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/file.h"

#ifdef ASSAY_HAS_JPEG
#include <jpeglib.h>
#endif
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

typedef struct decoding {
    const char *path;
    str bytes;
    image *out;
    assay_error *err;
} decoding;

static assay_status bad(const decoding *d, const char *why)
{
    char shown[FILE_SHOWN];
    return err_fail(d->err, ASSAY_ERR_MALFORMED, "'%s' cannot be decoded: %s.",
                    file_shown(d->path, shown), why);
}

#if defined ASSAY_HAS_PNG || defined ASSAY_HAS_JPEG
static assay_status make_room(const decoding *d, uint64_t width, uint64_t height)
{
    char shown[FILE_SHOWN];
    if (width == 0 || height == 0)
        return bad(d, "it has no pixels");
    if (width > IMAGE_SIDE || height > IMAGE_SIDE || width * height > IMAGE_PIXELS)
        return err_fail(d->err, ASSAY_ERR_UNSUPPORTED,
                        "'%s' has %llu x %llu pixels; at most %u a side and %llu in all are taken.",
                        file_shown(d->path, shown), (unsigned long long)width,
                        (unsigned long long)height, IMAGE_SIDE, (unsigned long long)IMAGE_PIXELS);
    d->out->width = (uint32_t)width;
    d->out->height = (uint32_t)height;
    d->out->rgb = calloc((size_t)(width * height), 3);
    return d->out->rgb ? ASSAY_OK : err_no_memory(d->err);
}

#endif

#if !defined ASSAY_HAS_PNG || !defined ASSAY_HAS_JPEG
static assay_status not_built(const decoding *d, const char *what)
{
    char shown[FILE_SHOWN];
    return err_fail(d->err, ASSAY_ERR_UNSUPPORTED,
                    "'%s' is %s, and this assay was built without it.", file_shown(d->path, shown),
                    what);
}
#endif

/* ---- PNG ---- */

#ifdef ASSAY_HAS_PNG

static assay_status decode_png(const decoding *d)
{
    const png_color white = {255, 255, 255};
    png_image p = {.version = PNG_IMAGE_VERSION};
    assay_status s = ASSAY_OK;
    if (!png_image_begin_read_from_memory(&p, d->bytes.p, d->bytes.n))
        s = bad(d, p.message);
    if (s == ASSAY_OK)
        s = make_room(d, p.width, p.height);
    p.format = PNG_FORMAT_RGB;
    if (s == ASSAY_OK && !png_image_finish_read(&p, &white, d->out->rgb, 0, NULL))
        s = bad(d, p.message);
    png_image_free(&p);
    return s;
}

#else
static assay_status decode_png(const decoding *d)
{
    return not_built(d, "PNG");
}
#endif

/* ---- JPEG ---- */

#ifdef ASSAY_HAS_JPEG
/* More passes over a progressive picture than any encoder makes only cost time. */
enum { JPEG_SCANS_MOST = 200, JPEG_MEMORY = 512 << 20 };

typedef struct jpeg_guard {
    struct jpeg_error_mgr base; /* first: the library hands this pointer back */
    struct jpeg_progress_mgr progress;
    char why[JMSG_LENGTH_MAX];
    jmp_buf back;
} jpeg_guard;

static void jpeg_fail(j_common_ptr c)
{
    jpeg_guard *g = (jpeg_guard *)c->err;
    c->err->format_message(c, g->why);
    longjmp(g->back, 1);
}

static void jpeg_quiet(j_common_ptr c, int level)
{
    (void)c;
    (void)level;
}

static void jpeg_watch(j_common_ptr c)
{
    jpeg_guard *g = (jpeg_guard *)c->err;
    if (c->is_decompressor && ((j_decompress_ptr)c)->input_scan_number > JPEG_SCANS_MOST) {
        snprintf(g->why, sizeof g->why, "it has more than %d scans", JPEG_SCANS_MOST);
        longjmp(g->back, 1);
    }
}

static assay_status jpeg_rows(const decoding *d, struct jpeg_decompress_struct *c)
{
    jpeg_read_header(c, TRUE);
    c->out_color_space = JCS_RGB;
    TRY(make_room(d, c->image_width, c->image_height));
    jpeg_start_decompress(c);
    while (c->output_scanline < c->output_height) {
        JSAMPROW row = d->out->rgb + (size_t)c->output_scanline * d->out->width * 3;
        jpeg_read_scanlines(c, &row, 1);
    }
    jpeg_finish_decompress(c);
    return ASSAY_OK;
}

static assay_status decode_jpeg(const decoding *d)
{
    struct jpeg_decompress_struct c = {0};
    jpeg_guard g = {.why = ""};
    assay_status s;
    c.err = jpeg_std_error(&g.base);
    g.base.error_exit = jpeg_fail;
    g.base.emit_message = jpeg_quiet;
    g.progress.progress_monitor = jpeg_watch;
    if (setjmp(g.back)) {
        jpeg_destroy_decompress(&c);
        return bad(d, g.why);
    }
    jpeg_create_decompress(&c);
    c.progress = &g.progress;
    c.mem->max_memory_to_use = JPEG_MEMORY;
    jpeg_mem_src(&c, (const unsigned char *)d->bytes.p, d->bytes.n);
    s = jpeg_rows(d, &c);
    jpeg_destroy_decompress(&c);
    return s;
}

#else
static assay_status decode_jpeg(const decoding *d)
{
    return not_built(d, "JPEG");
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
        s = decode_jpeg(&d);
    else
        s = bad(&d, "it is neither PNG nor JPEG");
    if (s != ASSAY_OK)
        image_free(out);
    return s;
}
