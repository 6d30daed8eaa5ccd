/* Shared by trace.c, which reads a trace, and trace_order.c, which orders it. */
#ifndef ENGINE_TRACE_IMPL_H
#define ENGINE_TRACE_IMPL_H

#include "base/vec.h"
#include "engine/trace.h"

#define TRACE_EVENTS_MAX 1000000u /* what the runtime records at most */

typedef struct raw_event {
    trace_event e;
    uint64_t tid;
} raw_event;

typedef struct raw_run {
    uint64_t start_us, dur_us, tid;
    uint32_t after; /* events that stand before it in the file */
} raw_run;

typedef struct trace_build {
    arena *arena;   /* of the result */
    arena *scratch; /* freed when it is done; holds the lists below */
    VEC(trace_node) nodes;
    VEC(raw_event) events; /* in the order of their ends */
    VEC(raw_run) runs;
    VEC(trace_kernel) kernels;
    uint64_t workers[TRACE_WORKERS]; /* numbers of threads, as they appear */
    uint32_t n_workers;
    uint64_t session_us, n_read;
} trace_build;

/* Finds runs and parents and copies all into the arena; false if out of memory. */
bool trace_order(trace_build *b, trace *out);

#endif
