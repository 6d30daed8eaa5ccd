/* Input tensors that the caller holds in memory, between options and measuring (given.c). */
#ifndef JOBS_GIVEN_H
#define JOBS_GIVEN_H

#include "jobs/measure.h"

/* Elements of one type as another: whole numbers must be within the range of the new type, floats become
 * no whole numbers. Data need not be aligned. ASSAY_ERR_USAGE names the element that does not fit. */
assay_status given_cast(str input, ir_dtype from, const void *data, uint64_t n, ir_dtype to,
                        void *out, assay_error *err);

/* Makes the data of a given tensor what the input wants: its type, and its batch when the model is run at
 * another than the data's, where samples are left out or repeated in turn. */
assay_status given_take(const job_input *in, job_runnable *x, input_want *w, assay_error *err);

#endif
