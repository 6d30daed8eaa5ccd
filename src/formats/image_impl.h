/* Shared by the image*.c files: the input of a decoder and its result. */
#ifndef FORMATS_IMAGE_IMPL_H
#define FORMATS_IMAGE_IMPL_H

#include "formats/image.h"

typedef struct decoding {
    const char *path; /* for sentences */
    str bytes;
    image *out;
    assay_error *err;
} decoding;

/* "'x.png' cannot be decoded: it is cut short." */
assay_status image_bad(const decoding *d, const char *why);
/* The same for a good file of a kind that is not read. */
assay_status image_unread(const decoding *d, const char *why);
/* A library was not there when assay was built. */
assay_status image_not_built(const decoding *d, const char *what);
/* Sets the size and allocates the pixels, or refuses the size. */
assay_status image_room(const decoding *d, uint64_t width, uint64_t height);

assay_status image_decode_jpeg(const decoding *d);

/* Of an EXIF block (a TIFF directory, after any "Exif\0\0"): 1 to 8; 1, as stored, when it tells none. */
int image_orientation(const uint8_t *exif, size_t n);
/* Turns and mirrors the image so that an orientation other than 1 is undone. */
assay_status image_upright(image *i, int orientation, assay_error *err);

#endif
