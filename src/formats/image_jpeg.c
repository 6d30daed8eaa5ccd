/* JPEG by libjpeg-turbo: baseline, progressive and arithmetic coding; grey, YCbCr, RGB, CMYK and YCCK, 8 bits.
 *
 * Adobe writes CMYK inverted (255 is no ink), and marks the file; without the mark 0 is no ink. Either way red = 255
 * (1 - cyan)(1 - black), and so on, without a colour profile. The library goes on behind the end of a file that is
 * cut short, with grey: that is an error here, for what would be measured is not the image.
 */
#include "formats/image_impl.h"

#ifdef ASSAY_HAS_JPEG
#include <setjmp.h>
#include <stdio.h>

#include <jpeglib.h>

#include <jerror.h>

/* More passes over a progressive picture than any encoder makes only cost time. */
enum { JPEG_SCANS_MOST = 200, JPEG_MEMORY = 512 << 20 };

typedef struct jpeg_guard {
    struct jpeg_error_mgr base; /* first: the library hands this pointer back */
    struct jpeg_progress_mgr progress;
    char why[JMSG_LENGTH_MAX];
    bool unread; /* the file is good, and of a kind that is not read */
    jmp_buf back;
} jpeg_guard;

typedef struct jpeg_refusal {
    int code;
    bool unread;
    const char *why;
} jpeg_refusal;

/* What the library says in its own terms. */
static const jpeg_refusal refusals[] = {
    {JERR_BAD_PRECISION, true, "samples are not 8-bit"},
    {JERR_SOF_UNSUPPORTED, true, "lossless or hierarchical JPEG"},
    {JERR_ARITH_NOTIMPL, true, "arithmetic coding, which this libjpeg does not support"},
    {JERR_CONVERSION_NOTIMPL, true, "unknown colour space"},
    {JERR_COMPONENT_COUNT, true, "too many colour components"},
    {JERR_EMPTY_IMAGE, false, "no pixels"},
    {JERR_NO_IMAGE, false, "truncated file"},
    {JERR_INPUT_EOF, false, "truncated file"},
    {JWRN_JPEG_EOF, false, "truncated file"},
    {JWRN_HIT_MARKER, false, "truncated or damaged data"},
    {JWRN_HUFF_BAD_CODE, false, "damaged data"},
    {JWRN_ARITH_BAD_CODE, false, "damaged data"},
};

static const jpeg_refusal *refusal_of(int code)
{
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++)
        if (refusals[i].code == code)
            return &refusals[i];
    return NULL;
}

static void jpeg_fail(j_common_ptr c)
{
    jpeg_guard *g = (jpeg_guard *)c->err;
    const jpeg_refusal *r = refusal_of(c->err->msg_code);
    c->err->format_message(c, g->why);
    if (r)
        snprintf(g->why, sizeof g->why, "%s", r->why);
    g->unread = r && r->unread;
    longjmp(g->back, 1);
}

/* Warnings have level -1; those without a row are of no consequence for the pixels. */
static void jpeg_remark(j_common_ptr c, int level)
{
    if (level < 0 && refusal_of(c->err->msg_code))
        jpeg_fail(c);
}

static void jpeg_watch(j_common_ptr c)
{
    jpeg_guard *g = (jpeg_guard *)c->err;
    if (c->is_decompressor && ((j_decompress_ptr)c)->input_scan_number > JPEG_SCANS_MOST) {
        snprintf(g->why, sizeof g->why, "more than %d scans", JPEG_SCANS_MOST);
        longjmp(g->back, 1);
    }
}

/* ---- colours ---- */

static void from_cmyk(const uint8_t *cmyk, bool inverted, uint32_t n, uint8_t *rgb)
{
    uint8_t flip = inverted ? 0 : 255;
    for (uint32_t x = 0; x < n; x++, cmyk += 4, rgb += 3)
        for (int k = 0; k < 3; k++)
            rgb[k] = (uint8_t)(((cmyk[k] ^ flip) * (cmyk[3] ^ flip) + 127) / 255);
}

/* The library converts YCCK to CMYK and everything else to RGB. */
static void read_row(const decoding *d, j_decompress_ptr c, JSAMPARRAY inks)
{
    JSAMPROW rgb = d->out->rgb + (size_t)c->output_scanline * d->out->width * 3;
    if (!inks) {
        jpeg_read_scanlines(c, &rgb, 1);
        return;
    }
    jpeg_read_scanlines(c, inks, 1);
    from_cmyk(inks[0], c->saw_Adobe_marker, d->out->width, rgb);
}

/* ---- the whole ---- */

static int orientation_of(j_decompress_ptr c)
{
    for (jpeg_saved_marker_ptr m = c->marker_list; m; m = m->next)
        if (m->marker == JPEG_APP0 + 1 && image_orientation(m->data, m->data_length) != 1)
            return image_orientation(m->data, m->data_length);
    return 1;
}

static assay_status read_picture(const decoding *d, j_decompress_ptr c)
{
    jpeg_save_markers(c, JPEG_APP0 + 1, 0xffff);
    jpeg_read_header(c, TRUE);
    bool cmyk = c->jpeg_color_space == JCS_CMYK || c->jpeg_color_space == JCS_YCCK;
    if (c->jpeg_color_space == JCS_UNKNOWN)
        return image_unread(d, "unknown colour space");
    c->out_color_space = cmyk ? JCS_CMYK : JCS_RGB;
    TRY(image_room(d, c->image_width, c->image_height));
    jpeg_start_decompress(c);
    /* Of the library's own memory, which is freed however this ends. */
    JSAMPARRAY inks = cmyk
                          ? c->mem->alloc_sarray((j_common_ptr)c, JPOOL_IMAGE, d->out->width * 4, 1)
                          : NULL;
    while (c->output_scanline < c->output_height)
        read_row(d, c, inks);
    int orientation = orientation_of(c);
    jpeg_finish_decompress(c);
    return image_upright(d->out, orientation, d->err);
}

assay_status image_decode_jpeg(const decoding *d)
{
    struct jpeg_decompress_struct c = {0};
    jpeg_guard g = {.why = ""};
    assay_status s;
    c.err = jpeg_std_error(&g.base);
    g.base.error_exit = jpeg_fail;
    g.base.emit_message = jpeg_remark;
    g.progress.progress_monitor = jpeg_watch;
    if (setjmp(g.back)) {
        jpeg_destroy_decompress(&c);
        return g.unread ? image_unread(d, g.why) : image_bad(d, g.why);
    }
    jpeg_create_decompress(&c);
    c.progress = &g.progress;
    c.mem->max_memory_to_use = JPEG_MEMORY;
    jpeg_mem_src(&c, (const unsigned char *)d->bytes.p, d->bytes.n);
    s = read_picture(d, &c);
    jpeg_destroy_decompress(&c);
    return s;
}

bool image_reads_jpeg(void)
{
    return true;
}

#else
bool image_reads_jpeg(void)
{
    return false;
}

assay_status image_decode_jpeg(const decoding *d)
{
    return image_not_built(d, "JPEG");
}
#endif
