/* Headers of safetensors files from arbitrary bytes: a status for every input, and what is accepted adds
 * up: places within the file, sizes that are the shapes', an inventory that verifies. */
#include <stdint.h>
#include <stdlib.h>

#include "formats/safetensors.h"
#include "fuzz/mutate.h"
#include "ir/verify.h"

#define LIMIT_BYTES ((size_t)64 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
#ifdef ASSAY_FUZZING
MUTATE_WITH(mutate_prefixed)
#endif

static void check(const weight_set *w, uint64_t size)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < w->items.n; i++) {
        const weight_item *x = &w->items.items[i];
        if (x->offset > size || x->size_bytes > size - x->offset)
            abort();
        sum += x->size_bytes;
    }
    if (sum != w->size_bytes || sum > size)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    arena *a = arena_new(LIMIT_BYTES);
    assay_error err = {0};
    weight_set *w = NULL;
    ir_model *m = NULL;
    if (a && safetensors_read_bytes(data, size, a, &w, &err) == ASSAY_OK) {
        check(w, size);
        if (weights_inventory(w, LIMIT_BYTES, &m, &err) == ASSAY_OK &&
            ir_verify(m, &err) != ASSAY_OK)
            abort();
    } else if (a && (err.code == ASSAY_OK || !err.message[0])) {
        abort();
    }
    ir_model_free(m);
    arena_free(a);
    return 0;
}
