/* Kernels of an engine mapped back to the layers of the model: an optimiser fuses, renames and inserts
 * nodes, but the values that are still computed keep their names.
 *
 * The optimised graph is walked in its order. A node's outputs that carry a name of the original graph
 * (or one with a suffix of the optimiser's) are what it makes; the original nodes between them and what
 * earlier nodes made are what it does. A node without such an output is looked up by its own name. What
 * remains without any original node (layout changes, copies) is the engine's own.
 */
#ifndef ANALYZE_KERNELS_H
#define ANALYZE_KERNELS_H

#include "analyze/count.h"

typedef struct kernel_row {
    str name; /* of the optimised node */
    str op;
    uint32_t first, n; /* in layers; none: the engine's own */
} kernel_row;

typedef struct kernel_map {
    kernel_row *kernels; /* nodes of the optimised main graph, in order */
    uint32_t n_kernels;
    uint32_t
        *layers; /* indices of layers, each at most once in a kernel: one that a lowering took apart
                       * may be in several */
    uint32_t n_layers;
} kernel_map;

/* layer_of: by node id of the original model, UINT32_MAX where a node is no layer. All in the arena. */
assay_status kernels_map(const ir_model *original, const ir_model *optimised,
                         const uint32_t *layer_of, arena *a, kernel_map *out, assay_error *err);

/* [nodes] the layer that each node is, or was lowered from; UINT32_MAX: none. NULL if out of memory. */
uint32_t *kernels_layer_of(const ir_model *m, const counted *of, uint32_t n_layers, arena *a);

#endif
