/* The buffer that ggml's graph allocator needs for a computation, without running it.
 *
 * ggml (ggml-alloc.c) walks the nodes in their order. A node gets the smallest free block that holds it, else the end of
 * the buffer; an operator that may work in place takes over the block of a source of the same size that nobody else
 * still reads; a block is free after its last reader. Inputs get their blocks before all nodes. Views have none of
 * their own: here, their readers read what they look at. The buffer is as long as the highest block reached.
 */
#ifndef ENGINE_LLAMA_ALLOC_H
#define ENGINE_LLAMA_ALLOC_H

#include "base/vec.h"

enum { LLAMA_SOURCES = 4, LLAMA_NO_TENSOR = 0 };

typedef struct llama_tensor {
    uint64_t bytes; /* 0: it needs none, such as what is written to the cache */
    uint64_t at;
    uint32_t sources[LLAMA_SOURCES]; /* LLAMA_NO_TENSOR: none */
    uint32_t readers;                /* that have not run yet */
    bool input, in_place, output;    /* output: never free */
    bool placed;
} llama_tensor;

typedef struct llama_graph {
    arena *arena;
    VEC(llama_tensor) tensors; /* the first is no tensor */
    bool failed;               /* out of memory, or a size that passes 2^64 */
} llama_graph;

void llama_graph_init(llama_graph *g, arena *a);
/* Tensors by their number; LLAMA_NO_TENSOR if out of memory. */
uint32_t llama_graph_input(llama_graph *g, uint64_t bytes);
uint32_t llama_graph_add(llama_graph *g, uint64_t bytes, uint32_t a, uint32_t b, uint32_t c);
/* The same by an operator that may work in place of one of its sources. */
uint32_t llama_graph_in_place(llama_graph *g, uint64_t bytes, uint32_t a, uint32_t b);
/* Bytes of the buffer; 0 when the graph failed. */
uint64_t llama_graph_buffer(llama_graph *g);

#endif
