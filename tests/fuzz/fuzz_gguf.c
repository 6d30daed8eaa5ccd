/* GGUF from arbitrary bytes: a status for every input; what is accepted lies within the file, and an
 * architecture that is known is built, matched with its tensors and verified. */
#include <stdint.h>
#include <stdlib.h>

#include "formats/gguf.h"
#include "fuzz/mutate.h"
#include "ir/verify.h"

#define LIMIT_BYTES ((size_t)64 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
#ifdef ASSAY_FUZZING
MUTATE_WITH(mutate_gguf)
#endif

static void check(const weight_set *w, uint64_t size)
{
    for (uint32_t i = 0; i < w->items.n; i++) {
        const weight_item *x = &w->items.items[i];
        if (x->offset > size || x->size_bytes > size - x->offset)
            abort();
    }
}

static void build(const model_config *c, const weight_set *w)
{
    assay_error err = {0};
    ir_model *m = NULL;
    const zoo_request q = {.row = c->row, .set = &c->args, .memory_limit = LIMIT_BYTES};
    if (zoo_build(&q, &m, &err) != ASSAY_OK)
        return;
    if (weights_match(w, m, &err) == ASSAY_OK && ir_verify(m, &err) != ASSAY_OK)
        abort();
    ir_model_free(m);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    arena *a = arena_new(LIMIT_BYTES);
    assay_error err = {0};
    gguf_file g;
    model_config c;
    if (a && gguf_read_bytes(data, size, a, &g, &err) == ASSAY_OK) {
        check(g.weights, size);
        if (gguf_configure(&g, "fuzz", a, &c, &err) == ASSAY_OK && c.row)
            build(&c, g.weights);
    } else if (a && (err.code == ASSAY_OK || !err.message[0])) {
        abort();
    }
    arena_free(a);
    return 0;
}
