/* A load on an endpoint: shared by the load*.c files of this room. */
#ifndef JOBS_LOAD_H
#define JOBS_LOAD_H

#include "jobs/job.h"
#include "measure/load_run.h"
#include "profile/load.h"

/* Loads the endpoint and fills *out, which is in the arena. ASSAY_ERR_ENGINE: no request succeeded;
 * ASSAY_ERR_THRESHOLD: the SLO was missed; ASSAY_ERR_INTERRUPTED. In all three *out is whole, and *done is true. */
assay_status job_load(const char *url, const assay_options *o, const assay_hooks *hooks, arena *a,
                      load_result *out, bool *done, assay_error *err);

typedef struct loading {
    const assay_options *o;
    const assay_hooks *hooks;
    arena *a;
    load_result *out;
    load_plan plan;
    load_client *client;
    uint32_t most; /* connections */
    double planned_s;
    uint64_t begin_ns;
    const char *what; /* that is under way */
} loading;

/* A run, with the hooks of the caller. */
assay_status job_load_run(loading *l, load_run_request *q, load_run_result *run, assay_error *err);
/* Steps of a curve; the run with the highest good rate fills the rest of the result (load_curve.c). */
assay_status job_load_curve(loading *l, assay_error *err);
/* The plan by the options: target, protocol, bodies, headers (load_plan.c). */
assay_status job_load_plan(loading *l, const char *url, assay_error *err);

/* ---- the server's own use (load_watch.c) ---- */

typedef struct job_load_watch job_load_watch;
/* Begins to look; *out is NULL when the options name no process and no control group. */
assay_status job_load_watch_begin(const assay_options *o, arena *a, job_load_watch **out,
                                  assay_error *err);
/* Ends, and hands out what was seen; NULL if nothing was. `w` may be NULL. */
profile_watch *job_load_watch_end(job_load_watch *w);

#endif
