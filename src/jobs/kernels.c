/* Kernels of an engine: read from its optimised graph, and identified in its trace by name. */
#include "jobs/kernels.h"

#include "base/map.h"
#include "formats/onnx_read.h"

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
