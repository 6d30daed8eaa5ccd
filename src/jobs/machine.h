/* This machine, measured. */
#ifndef JOBS_MACHINE_H
#define JOBS_MACHINE_H

#include "device/machine.h"
#include "jobs/job.h"

/* Fills out; what was learnt before and still holds is read into the arena. */
assay_status job_machine_measure(const assay_options *o, const assay_hooks *hooks, arena *a,
                                 machine *out, assay_error *err);

#endif
