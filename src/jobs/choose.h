/* Models of a task on devices, by published accuracy (choose.c). */
#ifndef JOBS_CHOOSE_H
#define JOBS_CHOOSE_H

#include <assay/study.h>

#include "jobs/job.h"

struct assay_choices {
    arena *arena;
    VEC(assay_choice) rows;
};

/* The options name the devices. ASSAY_ERR_USAGE: no model of the task has a published accuracy. */
assay_status job_choose(const char *task, const assay_options *o, assay_choices **out,
                        assay_error *err);
void job_choices_free(assay_choices *c); /* NULL is allowed */

#endif
