/* Kernels of an engine: read from its optimised graph, and identified in its trace by name. */
#include "jobs/kernels.h"

#include "base/map.h"
#include "formats/onnx_read.h"
#include "formats/onnx_write.h"
#include "ir/build.h"

assay_status job_read_kernels(const job_runnable *x, const char *path, arena *a, kernel_map *out,
                              assay_error *err)
{
    ir_model *optimised = NULL;
    uint32_t *layer = kernels_layer_of(x->ir, &x->of, x->p->n_layers, a);
    TRY_MEMORY(layer, err);
    TRY(onnx_read_file(path, NULL, &optimised, err));
    assay_status s = kernels_map(x->ir, optimised, layer, a, out, err);
    ir_model_free(optimised);
    return s;
}

uint32_t *job_kernels_of_trace(const kernel_map *m, const trace *t, arena *a)
{
    map index;
    uint32_t *kernel_of = ARENA_ARRAY(a, uint32_t, t->n_nodes + 1u);
    if (!kernel_of || !map_init(&index, a, m->n_kernels))
        return NULL;
    for (uint32_t i = 0; i < m->n_kernels; i++)
        if (!map_put(&index, m->kernels[i].name, i))
            return NULL;
    for (uint32_t i = 0; i < t->n_nodes; i++)
        kernel_of[i] = map_get(&index, t->nodes[i].name);
    return kernel_of;
}

assay_status job_write_chain(const char *path, assay_error *err)
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
    for (int i = 1; i <= JOB_CHAIN; i++) {
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
