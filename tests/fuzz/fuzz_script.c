/* TorchScript archives from arbitrary bytes. */
#include "formats/torch/script.h"
#include "support/fuzz_foreign.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return fuzz_foreign(script_read, data, size);
}
