/* Measures one configuration: session, inputs, warm-up, runs, and counters of the system.
 *
 *   resident now ─ session ─ inputs ─ first run ─ warm-up ─ resident before ─ runs ─ after
 *
 * Memory is that of the whole process. `before_session` is the memory before: the caller has loaded the engine and
 * run a trivial model, so that this is not attributed to the first configuration. The kernel's high-water mark is
 * reset per configuration. */
#ifndef MEASURE_MEASURE_H
#define MEASURE_MEASURE_H

#include "base/notes.h"
#include "measure/inputs.h"
#include "measure/outputs.h"
#include "measure/sample.h"
#include "measure/watch.h"
#include "profile/measured.h"

typedef struct measure_hooks {
    bool (*go_on)(void *ctx, bool warming, uint64_t done, uint64_t planned, double fraction);
    bool (*cancelled)(void *ctx); /* asked from another thread, while a run goes on; may be NULL */
    void *ctx;
} measure_hooks;

typedef struct measure_request {
    engine *engine;
    engine_model model;
    engine_options options;
    const input_want *wants;
    uint32_t n_wants;
    warmup_rule warmup;
    sample_rule rule;
    sample_load load;
    measure_hooks hooks;
    const char *root;       /* before /proc and /sys; NULL is "" */
    const gpu_monitor *gpu; /* NULL: there is none */
    uint64_t seed;
    uint64_t batch;        /* samples of one run; 0: a batch of nothing, which has no throughput */
    uint64_t flops, bytes; /* of one run at this batch, for rates; 0: not known */
    uint64_t engine_bytes; /* resident memory that loading and first using the engine took */
    bool no_malloc_trim;
    const counter_source *counter; /* of instructions; NULL: the kernel's */
    output_set
        *outputs; /* of one more run, when all else is measured; or NULL. The caller frees it */
} measure_request;

/* What the engine's session said, for the profile: called while the session is open. */
typedef void measure_session_fn(void *ctx, engine_session *s);

/* Fills *out (batch, precision and plan are the caller's). An interruption is no failure: out->partial.
 * A failure after runs were measured keeps them. */
assay_status measure_config(const measure_request *q, arena *a, profile_config *out,
                            measure_session_fn *seen, void *ctx, assay_error *err);

/* The outputs of a single run: session, inputs, run. *out is freed by outputs_free() in any case. */
assay_status measure_outputs(const measure_request *q, output_set *out, assay_error *err);

/* Median of `runs` runs after `warmup` others, of a session that is open; milliseconds. */
assay_status measure_median(engine *e, engine_job *job, uint32_t warmup, uint32_t runs,
                            const sample_hook *hook, double *ms, assay_error *err);

/* Warnings about the runs of a configuration: not steady, drifting, less precise than asked for (percent; 0: nobody
 * asked), on a machine that others use too. */
void measure_note_config(const profile_config *c, double precision_target, notes *n);

#endif
