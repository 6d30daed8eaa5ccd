/* What was read from any bytes can be written, and what was written can be read: with the lengths of a
 * protobuf message right, or the second reading would fail.
 */
#include <stdlib.h>

#include "base/num.h"
#include "formats/onnx_read.h"
#include "formats/onnx_write.h"
#include "fuzz/mutate.h"
#include "ir/verify.h"
#include "rewrite/inline.h"

#define BYTES_MAX ((uint64_t)8 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
#ifdef ASSAY_FUZZING
MUTATE_WITH(mutate_protobuf)
#endif

static uint64_t weight_bytes(const ir_model *m)
{
    uint64_t n = 0;
    for (ir_id i = 0; i < m->values.n; i++) {
        const ir_tensor *t = ir_value_at(m, i)->constant;
        n = sat_add(n, t ? sat_add(t->size_bytes, t->n_elems) : 0);
    }
    for (ir_id i = 0; i < m->nodes.n; i++)
        for (uint32_t k = 0; k < ir_node_at(m, i)->n_attrs; k++) {
            const ir_attr *a = &ir_node_at(m, i)->attrs[k];
            bool list = a->kind == IR_ATTR_TENSORS || a->kind == IR_ATTR_SPARSES;
            bool one = a->kind == IR_ATTR_TENSOR || a->kind == IR_ATTR_SPARSE;
            for (uint32_t j = 0; (list || one) && a->ref.n == 0 && j < a->n; j++) {
                const ir_tensor *t = list ? a->v.tensors[j] : a->v.tensor;
                n = sat_add(n, t ? sat_add(t->size_bytes, t->n_elems) : 0);
            }
        }
    return n;
}

static void write_and_read(const ir_model *m)
{
    sbuf out = {0};
    wire_sink to = wire_sink_sbuf(&out);
    ir_model *back = NULL;
    assay_error err;
    err_clear(&err);
    if (onnx_write_sinks(m, NULL, &to, NULL, "", NULL, &err) == ASSAY_OK) {
        if (onnx_read_bytes(out.p, out.n, NULL, &back, &err) != ASSAY_OK ||
            ir_verify(back, &err) != ASSAY_OK)
            abort();
    } else if (err.message[0] == '\0') {
        abort();
    }
    ir_model_free(back);
    sbuf_free(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    onnx_read_options opt = {.memory_limit = (uint64_t)64 << 20};
    assay_error err;
    ir_model *m;
    err_clear(&err);
    if (onnx_read_bytes(data, size, &opt, &m, &err) != ASSAY_OK)
        return 0;
    if (rewrite_inline(m, &err) == ASSAY_OK && weight_bytes(m) < BYTES_MAX)
        write_and_read(m);
    ir_model_free(m);
    return 0;
}
