/* The null engine: it runs nothing and follows a script. Its clock advances only by the scripted durations of runs,
 * sessions and sleeps, so that tests know every number.
 *
 * Runs of all jobs are counted together, from 0. Run k takes run_ns[k % n_run_ns], or what
 * duration(context, k) says. With several threads the runs follow each other: one server.
 */
#ifndef ENGINE_NULL_H
#define ENGINE_NULL_H

#include "engine/engine.h"

typedef struct engine_script_failure {
    uint64_t run;        /* that run fails, after its time has passed */
    uint64_t n_runs;     /* and those after it, n in all; 0 is 1 */
    const char *message; /* the sentence */
} engine_script_failure;

typedef struct engine_script {
    uint64_t start_ns;           /* the clock when the engine is opened */
    uint64_t tick_ns;            /* each reading of the clock takes this long */
    uint64_t session_ns;         /* making a session takes */
    const char *session_failure; /* making a session fails with this sentence; or NULL */
    const uint64_t *run_ns;      /* durations of runs, used round and round */
    uint32_t n_run_ns;
    uint64_t (*duration)(void *context, uint64_t run); /* instead of run_ns; or NULL */
    void *context;
    const engine_script_failure *failures;
    uint32_t n_failures;
    const char *const *messages; /* logged while the session is made; ends with NULL; or NULL */
    const engine_memory *memory; /* memory[min(runs so far, n_memory - 1)] */
    uint32_t n_memory;           /* 0: the engine cannot tell */
    const char *trace_path;      /* what engine_profile_end gives; NULL: it fails */
    const engine_io *inputs, *outputs;
    uint32_t n_inputs, n_outputs;
    const engine_tensor *output_data; /* one per output, or NULL: reading an output fails */
    bool falls_back;                  /* every device but "cpu" falls back to the CPU */
    bool out_of_memory;               /* failures are of memory that ran out */
    /* Told of every session that is opened; or NULL. */
    void (*opened)(void *context, const engine_model *model, const engine_options *options);
} engine_script;

/* Runs begun so far. */
uint64_t engine_null_runs(const engine *e);
/* Lets time pass, as work outside of the engine would. */
void engine_null_advance(engine *e, uint64_t ns);

#endif
