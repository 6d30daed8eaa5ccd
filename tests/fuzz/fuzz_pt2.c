/* torch.export programs from arbitrary bytes. */
#include "formats/torch/pt2.h"
#include "support/fuzz_foreign.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return fuzz_foreign(pt2_read, data, size);
}
