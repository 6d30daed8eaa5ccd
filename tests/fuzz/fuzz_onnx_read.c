/* The reader, the inliner and the verifier on any bytes: every input ends in a status, what is
 * accepted holds together, and short data can be read.
 */
#include <stdlib.h>

#include "formats/onnx_read.h"
#include "fuzz/mutate.h"
#include "ir/verify.h"
#include "rewrite/inline.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
#ifdef ASSAY_FUZZING
MUTATE_WITH(mutate_protobuf)
#endif

static void read_constants(const ir_model *m)
{
    for (ir_id i = 0; i < m->values.n; i++) {
        const ir_tensor *t = ir_value_at(m, i)->constant;
        if (!t || t->storage == IR_DATA_NONE || t->size_bytes > (1u << 20))
            continue;
        uint8_t *buf = malloc(t->size_bytes ? (size_t)t->size_bytes : 1);
        if (buf)
            m->reader.read(m->reader.ctx, t, buf, NULL);
        free(buf);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    onnx_read_options opt = {.memory_limit = (uint64_t)64 << 20};
    assay_error err;
    ir_model *m;
    err_clear(&err);
    if (onnx_read_bytes(data, size, &opt, &m, &err) != ASSAY_OK) {
        if (err.code == ASSAY_OK || err.message[0] == '\0')
            abort();
        return 0;
    }
    read_constants(m);
    if (ir_verify(m, &err) != ASSAY_OK)
        abort();
    if (rewrite_inline(m, &err) == ASSAY_OK && ir_verify(m, &err) != ASSAY_OK)
        abort();
    ir_model_free(m);
    return 0;
}
