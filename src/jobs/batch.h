/* The batch dimension of a model, for all jobs that read, set or divide by a batch size. */
#ifndef JOBS_BATCH_H
#define JOBS_BATCH_H

#include "jobs/job.h"
#include "study/batch.h"

/* The rule of a model that was built or read, found when it is first asked for and kept with the model. The
 * options give the other sizes. */
assay_status job_batch_rule(assay_model *m, const assay_options *o, const batch_rule **out,
                            assay_error *err);

/* A model at a batch size, ready for inference. A file that fixes another is read again and rewritten. */
typedef struct job_sized {
    infer_options shapes;
    const ir_model *ir;
    ir_model *own;          /* the rewritten copy behind ir; or NULL */
    const batch_rule *rule; /* NULL: no batch size was requested */
    int64_t batch;          /* that was requested */
} job_sized;

/* batch 0: as the model and the options have it. Freed by job_sized_free() in any case. */
assay_status job_sized_make(assay_model *m, const assay_options *o, int64_t batch, job_sized *out,
                            assay_error *err);
void job_sized_free(job_sized *x);
/* What to make of a failed inference: of a copy for another batch, that the graph does not take it. */
assay_status job_sized_failed(const job_sized *x, assay_status s, assay_error *err);

/* The batch of a shape that was given, when the file fixes another: such a model is rewritten as --batch asks for.
 * Else *batch stays as it is. */
assay_status job_implied_batch(assay_model *m, const assay_options *o, int64_t *batch,
                               assay_error *err);

#endif
