/* NCNN (the .param alone) from arbitrary bytes. */
#include "formats/ncnn/ncnn.h"
#include "support/fuzz_foreign.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return fuzz_foreign(ncnn_read, data, size);
}
