/* Images as inputs of models: PNG by libpng, JPEG by libjpeg-turbo, resized and put into the layout of the input.
 *
 *   resize      to the input's height and width, the aspect ratio is not kept; a triangle filter (bilinear)
 *               that widens when the image shrinks, as Pillow and torchvision do
 *   normalise   float32: (x / 255 - mean) / deviation with ImageNet's numbers; uint8: as it is
 *   channels    3: red, green, blue; 1: luma (BT.601) with the mean of the three numbers
 *
 * Transparent pixels are blended with white, and the EXIF orientation is applied (a PNG may have one as well). The
 * limits are IMAGE_SIDE pixels per side and IMAGE_PIXELS in total. A build without one of the libraries refuses such
 * files with a message.
 */
#ifndef FORMATS_IMAGE_H
#define FORMATS_IMAGE_H

#include "base/arena.h"
#include "base/error.h"
#include "ir/dtype.h"

#define IMAGE_SIDE   32768u
#define IMAGE_PIXELS ((uint64_t)64 << 20)

typedef struct image {
    uint32_t width, height;
    uint8_t *rgb; /* rows from the top, three bytes a pixel; freed by image_free() */
} image;

/* Whether a file name means an image (.png, .jpg, .jpeg, in any case). */
bool image_named(const char *path);

/* Whether the library of that format was there when this was built. */
bool image_reads_png(void);
bool image_reads_jpeg(void);

/* path is only for sentences. */
assay_status image_decode(const char *path, str bytes, image *out, assay_error *err);
void image_free(image *i);

typedef struct image_want {
    ir_dtype dtype;                   /* IR_FLOAT32 or IR_UINT8 */
    uint32_t channels, height, width; /* 0: open, or beyond all bounds */
    bool channels_last;
} image_want;

/* Whether images are made into this: 1 or 3 channels of float32 or uint8, sides known and not too long. */
bool image_can_fill(const image_want *w);
uint64_t image_bytes(const image_want *w);
/* data: image_bytes() long. */
assay_status image_put(const image *i, const image_want *w, void *data, assay_error *err);

#endif
