/* A load on an endpoint by options: one run in a closed or open loop, a replay, or a curve. What is below `loading` is
 * shared by load_endpoint.c, load_setup.c, load_steps.c and load_watch.c. */
#ifndef MEASURE_LOAD_ENDPOINT_H
#define MEASURE_LOAD_ENDPOINT_H

#include "base/vec.h"
#include "measure/load_run.h"
#include "measure/load_stats.h"
#include "profile/load.h"

typedef struct load_drawn { /* lengths of prompts or answers */
    load_lengths of;
    str text; /* as given */
} load_drawn;

typedef struct load_options {
    str protocol, method, body, data, expect, requests, trace, header_file, model, cgroup, ca_file;
    VEC(str) headers;
    VEC(double) rates; /* of the steps of a curve */
    load_objectives slo;
    str slo_text;
    load_drawn prompt, output; /* of --prompt-tokens and --generate */
    bool curve, no_stream, insecure;
    int arrivals;                  /* 0: poisson, 1: constant */
    int64_t num_requests, pid;     /* 0: not given */
    int64_t concurrency;           /* connections, given or by default */
    int64_t connections;           /* --concurrency, if it was given; else 0 */
    double rate, duration;         /* per second, seconds; 0: not given */
    double timeout, warmup, speed; /* seconds, seconds, ratio */
    int64_t seed;
} load_options;

/* Called now and then; false ends the load. `what` is under way, `done` requests were answered. */
typedef struct load_hook {
    bool (*go_on)(void *ctx, const char *what, uint64_t done, double fraction);
    void *ctx;
} load_hook;

/* Loads the endpoint and fills *out, which is in the arena and unknown but for its `about`. ASSAY_ERR_ENGINE: no request
 * succeeded; ASSAY_ERR_THRESHOLD: the SLO was missed; ASSAY_ERR_INTERRUPTED. In all three *out is whole, and *done is
 * true. */
assay_status load_endpoint_run(const char *url, const load_options *o, load_hook hook, arena *a,
                               load_result *out, bool *done, assay_error *err);

typedef struct loading {
    const load_options *o;
    load_hook hook;
    arena *a;
    load_result *out;
    load_plan plan;
    load_client *client;
    uint32_t most; /* connections */
    double planned_s;
    uint64_t begin_ns;
    const char *what; /* that is under way */
} loading;

/* A run, with the hook of the caller. */
assay_status load_run_hooked(loading *l, load_run_request *q, load_run_result *run,
                             assay_error *err);
/* Steps of a curve; the run with the highest good rate fills the rest of the result (load_steps.c). */
assay_status load_steps_run(loading *l, assay_error *err);
/* The plan by the options: target, protocol, bodies, headers (load_setup.c). */
assay_status load_setup(loading *l, const char *url, assay_error *err);

/* ---- the server's own use (load_watch.c) ---- */

typedef struct load_watch load_watch;
/* Begins to look; *out is NULL when the options name no process and no control group. */
assay_status load_watch_begin(const load_options *o, arena *a, load_watch **out, assay_error *err);
/* Ends, and hands out what was seen; NULL if nothing was. `w` may be NULL. */
profile_watch *load_watch_end(load_watch *w);

#endif
