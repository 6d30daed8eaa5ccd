/* Placing buffers with known lifetimes at offsets so that none that live together overlap. */
#ifndef ANALYZE_MEMORY_PLAN_H
#define ANALYZE_MEMORY_PLAN_H

#include "base/arena.h"
#include "base/error.h"
#include "ir/graph.h"

typedef struct memory_buffer {
    ir_id value; /* the value it was made for; others may share it */
    uint64_t bytes, offset;
    uint32_t from, to; /* steps, inclusive */
} memory_buffer;

/* Sets every offset; *total is the size of the block that holds them all. */
assay_status memory_plan_offsets(memory_buffer *buffers, uint32_t n, uint32_t n_steps,
                                 arena *scratch, uint64_t *total, assay_error *err);

#endif
