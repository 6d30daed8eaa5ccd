/* Decoding images: the size is in the encoded bytes, which are data, so it stays open. */
#include "ops/op.h"

static assay_status image_decoder(op_ctx *c)
{
    bool grey = str_is(op_attr_str(c, "pixel_format", "RGB"), "Grayscale");
    return op_set(c, 0, IR_UINT8, 3, (const int64_t[]){-1, -1, grey ? 1 : 3});
}

static const op_row rows[] = {
    {.domain = "",
     .name = "ImageDecoder",
     .type = "imagedecoder",
     .versions = "20",
     .formula = "0 (decoding is not counted)",
     .infer = image_decoder,
     .min_in = 1,
     .max_in = 1,
     .min_out = 1,
     .max_out = 1,
     .backward = OP_BW_NONE,
     .saves = OP_SAVE_NOTHING},
};

const op_rows op_image_rows = OP_ROWS(rows);
