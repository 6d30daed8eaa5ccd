/* OpenVINO IR (the .xml alone) from arbitrary bytes. */
#include "formats/openvino/openvino.h"
#include "support/fuzz_foreign.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return fuzz_foreign(openvino_read, data, size);
}
