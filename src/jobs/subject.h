/* The model of a command as the subject of a study (study/subject.h). */
#ifndef JOBS_SUBJECT_H
#define JOBS_SUBJECT_H

#include "jobs/job.h"
#include "study/subject.h"

/* Valid as long as the model, the options and this struct, which is not copied. */
typedef struct job_subject {
    study_subject of;
    assay_model *model;
    const assay_options *o;
} job_subject;
void job_subject_init(job_subject *s, assay_model *m, const assay_options *o);

/* Of the study_subject: subject_batch_rule(), sized_make(), subject_implied_batch(). */
assay_status job_batch_rule(assay_model *m, const assay_options *o, const batch_rule **out,
                            assay_error *err);
assay_status job_sized_make(assay_model *m, const assay_options *o, int64_t batch, sized_model *out,
                            assay_error *err);
assay_status job_implied_batch(assay_model *m, const assay_options *o, int64_t *batch,
                               assay_error *err);

#endif
