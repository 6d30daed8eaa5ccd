/* Progress and cancellation of long calls. */
#ifndef JOBS_HOOKS_H
#define JOBS_HOOKS_H

#include "jobs/job.h"

/* Whether the caller wants a long call to end; hooks may be NULL. */
bool job_cancelled(const assay_hooks *hooks);

/* The same for calls that take no hooks but those of the options: ASSAY_ERR_INTERRUPTED. */
assay_status job_stopped(const assay_options *o, assay_error *err);
/* The status of a call that ended with s: an engine that was stopped fails, which is an interruption and not an
 * engine failure. */
assay_status job_ended(const assay_hooks *h, assay_status s, assay_error *err);
/* And tells how far it is: `what` is done `done` times of `planned` (0: not known). */
assay_status job_go_on(const assay_options *o, const char *what, uint64_t done, uint64_t planned,
                       assay_error *err);

#endif
