/* Images from arbitrary bytes: decoded or refused, and put into small inputs of every layout. */
#include <stdint.h>
#include <stdlib.h>

#include "formats/image.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void put_everywhere(const image *i)
{
    for (int k = 0; k < 8; k++) {
        const image_want w = {.dtype = k & 1 ? IR_UINT8 : IR_FLOAT32,
                              .channels = k & 2 ? 1 : 3,
                              .height = 5,
                              .width = 7,
                              .channels_last = k & 4};
        void *out = malloc((size_t)image_bytes(&w));
        assay_error err = {0};
        if (out)
            image_put(i, &w, out, &err);
        free(out);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    assay_error err = {0};
    image i = {0};
    if (size > 1 << 18)
        return 0;
    if (image_decode("fuzz.png", (str){(const char *)data, (uint32_t)size}, &i, &err) == ASSAY_OK) {
        if (!i.rgb || !i.width || !i.height)
            abort();
        if ((uint64_t)i.width * i.height <= 1 << 20)
            put_everywhere(&i);
    } else if (err.code == ASSAY_OK || !err.message[0]) {
        abort();
    }
    image_free(&i);
    return 0;
}
