/* A model of trivial nodes, for measuring the overhead of an engine per kernel. */
#include "formats/onnx_write.h"
#include "ir/build.h"

assay_status onnx_write_chain(const char *path, assay_error *err)
{
    ir_model *m = NULL;
    const int64_t dims[] = {1};
    TRY(ir_model_new((size_t)16 << 20, &m, err));
    ir_set_opset(m, (str){0}, 17);
    m->ir_version = 8;
    m->name = STR("chain");
    ir_id last = ir_add_value(m, 0, STR("x0"));
    ir_value_at(m, last)->declared = ir_tensor_type(m, IR_FLOAT32, 1, dims);
    ir_add_input(m, 0, last);
    for (int i = 1; i <= ONNX_CHAIN; i++) {
        ir_id next = ir_add_value(m, 0, str_printf(m->arena, "x%d", i));
        const ir_node node = {.name = str_printf(m->arena, "n%d", i),
                              .op = STR("Neg"),
                              .version = 17,
                              .call = IR_NONE,
                              .inputs = &last,
                              .outputs = &next,
                              .n_inputs = 1,
                              .n_outputs = 1};
        ir_add_node(m, 0, &node);
        last = next;
    }
    ir_value_at(m, last)->declared = ir_tensor_type(m, IR_FLOAT32, 1, dims);
    ir_add_output(m, 0, last);
    assay_status s = arena_failed(m->arena) ? err_no_memory(err)
                                            : onnx_write_file(m, path, NULL, NULL, err);
    ir_model_free(m);
    return s;
}
