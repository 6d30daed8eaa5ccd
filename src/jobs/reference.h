/* The reference kernel of a calibration: a short model that the engine runs between the measured ones with the same
 * threads, so that whatever slows them slows it (measure/drift.h). */
#ifndef JOBS_REFERENCE_H
#define JOBS_REFERENCE_H

#include "jobs/measure.h"
#include "measure/drift.h"

typedef struct job_reference job_reference;

/* Freed by job_reference_close(), which allows NULL. */
assay_status job_reference_open(engine *e, const assay_options *o, job_reference **out,
                                assay_error *err);
void job_reference_close(job_reference *r);

/* Runs it a few times and adds the median to the samples; *at is its position. */
assay_status job_reference_sample(job_reference *r, uint32_t *at, assay_error *err);
const drift *job_reference_drift(const job_reference *r);

#endif
