/* The engine's profile of a session: a Chrome trace that ONNX Runtime wrote (an array of objects, times
 * in whole microseconds, at most 1,000,000 events), read in one pass.
 *
 * Every kernel call is an event with a duration that includes the profiler's own cost (about 3 us), so
 * nothing here is a latency. Events of the nodes inside a Loop, If or Scan lie within the time of the
 * outer node's event: `parent` names it, and whoever adds up takes only events without a parent, or
 * subtracts. Warm-up runs are in the trace as well: `run` tells them apart.
 */
#ifndef ENGINE_TRACE_H
#define ENGINE_TRACE_H

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"

#define TRACE_NONE UINT32_MAX
enum { TRACE_WORKERS = 64 };

typedef struct trace_shape {
    str type; /* the engine's word: "float", "int64", "uint8", … */
    int rank;
    const int64_t *dims;
} trace_shape;

/* A node as executed, which may be a fusion of several of the model's. */
typedef struct trace_node {
    str name, op, provider;
    uint32_t index;                      /* node_index of the engine's graph */
    const trace_shape *inputs, *outputs; /* of its first event */
    uint32_t n_inputs, n_outputs;
} trace_node;

typedef struct trace_event {
    uint32_t node;   /* in nodes */
    uint32_t run;    /* in runs, or TRACE_NONE outside of all */
    uint32_t parent; /* the event that this one lies within, or TRACE_NONE */
    uint64_t start_us, dur_us;
    uint64_t output_bytes, weight_bytes, input_bytes;
    /* Of the thread that runs the graph, inside the kernel's parallel sections: its own blocks, waiting for other
     * threads to end theirs, and handing blocks out; 0 when the engine does not tell. */
    uint64_t own_us, wait_us, share_us;
    uint64_t workers; /* bit i: worker i ran blocks of it */
    /* Of the arena when the kernel had ended; 0 when the engine does not tell. */
    uint64_t mem_in_use, mem_requested, mem_peak, mem_held;
} trace_event;

typedef struct trace_run {
    uint64_t start_us, dur_us; /* of the whole call */
    uint32_t first, n;         /* its events */
} trace_run;

/* What a device did by itself (CUDA kernels and copies), for providers that record it. */
typedef struct trace_kernel {
    str name;
    uint32_t node; /* or TRACE_NONE */
    uint64_t start_us, dur_us;
} trace_kernel;

typedef struct trace {
    const trace_node *nodes;
    const trace_event *events; /* by start; within a run in order */
    const trace_run *runs;
    const trace_kernel *kernels;
    uint32_t n_nodes, n_events, n_runs, n_kernels;
    uint32_t
        n_workers; /* threads that ran blocks of kernels; at most TRACE_WORKERS are told apart */
    uint64_t session_us; /* session_initialization, or 0 */
    bool truncated;      /* the engine's limit of events was reached */
} trace;

/* All of *out is in the arena. A file that is not whole is ASSAY_ERR_SYSTEM: the disk was full. */
assay_status trace_read(const char *path, arena *a, trace *out, assay_error *err);
/* The same from memory, for tests; what is no trace is ASSAY_ERR_ENGINE. */
assay_status trace_parse(str text, arena *a, trace *out, assay_error *err);

#endif
