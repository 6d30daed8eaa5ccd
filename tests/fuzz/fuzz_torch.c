/* PyTorch files from arbitrary bytes: a status for every input; what is accepted has names, shapes and sums that agree. */
#include <stdint.h>
#include <stdlib.h>

#include "formats/torch/torch.h"

#define LIMIT_BYTES ((size_t)64 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_items(const weight_set *w)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < w->items.n; i++) {
        const weight_item *x = &w->items.items[i];
        if (!x->name.n || !x->stored.n || (x->rank && !x->dims))
            abort();
        n += x->n_elems;
    }
    if (n != w->n_elems)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    assay_error err = {0};
    weight_set *w = NULL;
    arena *a = arena_new(LIMIT_BYTES);
    if (!a)
        return 0;
    if (torch_read_bytes(data, size, a, &w, &err) == ASSAY_OK)
        check_items(w);
    else if (err.code == ASSAY_OK || !err.message[0])
        abort();
    arena_free(a);
    return 0;
}
