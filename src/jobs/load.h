/* A load on an endpoint, by the options of a command. */
#ifndef JOBS_LOAD_H
#define JOBS_LOAD_H

#include "jobs/job.h"

/* See load_endpoint_run(). */
assay_status job_load(const char *url, const assay_options *o, const assay_hooks *hooks, arena *a,
                      load_result *out, bool *done, assay_error *err);

#endif
