/* Core ML models from arbitrary bytes. */
#include "formats/coreml/coreml.h"
#include "support/fuzz_foreign.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return fuzz_foreign(coreml_read, data, size);
}
