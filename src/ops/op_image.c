/* Decoding images: the size is in the encoded bytes, which are data, so it stays open. */
#include "ops/op.h"

static assay_status image_decoder(op_ctx *c)
{
    bool grey = str_is(op_attr_str(c, "pixel_format", "RGB"), "Grayscale");
    return op_set(c, 0, IR_UINT8, 3, (const int64_t[]){-1, -1, grey ? 1 : 3});
}

/* Of onnxruntime-extensions: always three channels. */
static assay_status decode_image(op_ctx *c)
{
    return op_set(c, 0, IR_UINT8, 3, (const int64_t[]){-1, -1, 3});
}

#define DECODE_IMAGE(domain)                                                              \
    {                                                                                     \
        OP_ROW(domain, "DecodeImage", "imagedecoder", "1", "0 (decoding is not counted)", \
               decode_image, NULL),                                                       \
            OP_SLOTS(1, 2, 1, 1)                                                          \
    }

static const op_row rows[] = {
    {OP_ROW("", "ImageDecoder", "imagedecoder", "20", "0 (decoding is not counted)", image_decoder,
            NULL),
     OP_SLOTS(1, 1, 1, 1), .backward = OP_BW_NONE, .saves = OP_SAVE_NOTHING},
    DECODE_IMAGE("ai.onnx.contrib"),
    DECODE_IMAGE("com.microsoft.extensions"),
};

const op_rows op_image_rows = OP_ROWS(rows);
