/* Timed runs: warm-up until timings are steady, then samples by number, by time or until the interval of the mean is
 * narrow.
 *
 * Closed loop: each of `concurrency` threads begins its next run when its last has ended. Open loop: requests arrive
 * by a Poisson process of `rate` per second, whether or not the model keeps up. The latency of a request counts from
 * its arrival, so that waiting for a slow run is included (no coordinated omission).
 *
 * Only the engine's call is between the two clock readings.
 */
#ifndef MEASURE_SAMPLE_H
#define MEASURE_SAMPLE_H

#include "base/arena.h"
#include "base/error.h"
#include "engine/engine.h"
#include "measure/counter.h"
#include "profile/measured.h"

typedef struct sample_run {
    uint64_t due_ns; /* open loop: when it should have begun; else start_ns */
    uint64_t start_ns, end_ns;
    uint64_t cpu_ns; /* of the process, of the thread when there are several */
    uint32_t voluntary, involuntary, minor_faults, major_faults;
    uint64_t instructions; /* of the process; 0: not reported */
} sample_run;

typedef struct sample_runs {
    sample_run *items; /* in order of start */
    uint32_t n;
    uint64_t begin_ns, end_ns; /* of the whole loop */
    bool interrupted;          /* the hook said no */
    bool precise;              /* the requested precision was reached */
} sample_runs;
void sample_runs_free(sample_runs *r);

/* Milliseconds of one: from when it was due. */
static inline double sample_ms(const sample_run *r)
{
    return (double)(r->end_ns - r->due_ns) / 1e6;
}

#define SAMPLE_RUNS_MAX 1000000u

typedef struct sample_rule {
    uint64_t runs;        /* at least; with neither of the two below, exactly */
    uint64_t duration_ns; /* and for this long; 0: no matter how long */
    double precision;     /* and until half the 95 % interval is this share of the mean; 0: none */
    uint64_t max_ns;      /* never longer, for the sake of precision; 0: a minute */
} sample_rule;

typedef struct sample_load {
    uint32_t concurrency; /* 0 is 1 */
    double rate;          /* per second; 0: closed loop */
    uint64_t seed;
    const counter *counter; /* of instructions, asked when one runs at a time; or NULL */
} sample_load;

/* Called after runs, from one thread at a time; false ends the loop, which is no failure. planned is 0
 * when it is not known. */
typedef struct sample_hook {
    bool (*go_on)(void *ctx, uint64_t done, uint64_t planned, double fraction);
    void *ctx;
} sample_hook;

/* One job per thread. A run that fails ends everything with its error; what was measured before stays in
 * *out, which the caller frees in any case. */
assay_status sample_measure(engine *e, engine_job *const *jobs, const sample_rule *rule,
                            const sample_load *load, const sample_hook *hook, sample_runs *out,
                            assay_error *err);

/* ---- warm-up ---- */

typedef struct warmup_rule {
    uint32_t min_runs;
    uint32_t max_runs; /* 0: ten times the least, at least 100 */
    uint64_t max_ns;   /* 0: 20 s; the least is always run */
} warmup_rule;

#define WARMUP_RUNS_MAX 1000000u

typedef struct warmup_result {
    double *ms; /* [runs] each one's duration, in order */
    uint32_t runs;
    uint32_t
        steady_after; /* runs after which timings were steady and stayed so; 0: they were not */
    bool steady, interrupted;
    double first_ms, last_ms;
} warmup_result;
void warmup_result_free(warmup_result *r);
/* What a configuration tells of its warm-up; the durations are copied. False if out of memory. */
bool warmup_keep(const warmup_result *r, arena *a, profile_config *to);

/* *out is freed by warmup_result_free() in any case. */
assay_status warmup_run(engine *e, engine_job *job, const warmup_rule *rule,
                        const sample_hook *hook, warmup_result *out, assay_error *err);

#endif
