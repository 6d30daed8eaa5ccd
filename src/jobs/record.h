/* What a history keeps beside a result: the context of its run. */
#ifndef JOBS_RECORD_H
#define JOBS_RECORD_H

#include "base/sbuf.h"
#include "jobs/job.h"

/* Fills the machine into a context that does not have it yet. */
void job_describe_host(profile *p);
/* Adds the context of this run to a JSON object that has none; `measured`: with the engine of the options. */
assay_status job_put_context(sbuf *document, const assay_options *o, bool measured,
                             assay_error *err);

#endif
