/* The plan as a sequence of events: placement, allocation, sharing and release of each tensor, and live tensors at
 * selected steps. */
#ifndef ANALYZE_MEMORY_EVENTS_H
#define ANALYZE_MEMORY_EVENTS_H

#include "analyze/memory.h"
#include "analyze/memory_plan.h"

typedef struct memory_share { /* a value that takes the buffer of another */
    ir_id value, of;
    uint32_t step, buffer;
    bool view; /* else in place */
} memory_share;

typedef struct memory_story {
    const ir_model *model;
    const memory_buffer *buffers; /* with their offsets */
    uint32_t n_buffers;
    const memory_share *shares; /* by step */
    uint32_t n_shares;
    const uint64_t *live; /* [n_steps] */
    uint32_t n_steps, peak;
    const memory_detail *detail;
    arena *scratch;
    profile *p; /* its timeline is there */
} memory_story;

/* The largest buffers that are alive at a step, at most `most`, in the profile's arena; *left_out are smaller.
 * Buffers of no bytes are not alive. */
assay_status memory_alive(const memory_story *s, uint32_t step, uint32_t most,
                          const profile_witness **out, uint32_t *n, uint64_t *left_out,
                          assay_error *err);
/* Fills slots, and with detail->events also events and snapshots, of the profile's plan. */
assay_status memory_tell(const memory_story *s, assay_error *err);

#endif
