/* StableHLO modules from arbitrary bytes. */
#include "formats/stablehlo/stablehlo.h"
#include "support/fuzz_foreign.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return fuzz_foreign(stablehlo_read, data, size);
}
