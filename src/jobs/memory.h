/* What of the memory plan an analysis lists, by the options. */
#ifndef JOBS_MEMORY_H
#define JOBS_MEMORY_H

#include "analyze/memory.h"
#include "jobs/job.h"

enum { JOB_SNAPSHOTS_MOST = 64 }; /* snapshots that may be asked for */

/* ASSAY_ERR_USAGE when "at" names no layer of the profile; what is listed lives in `work`. */
assay_status job_memory_detail(const assay_options *o, const profile *p, arena *work,
                               memory_detail *out, assay_error *err);

#endif
