/* Cost of a model as a function of its sizes, over the ranges of options (scaling.h has the work). */
#ifndef STUDY_SCALING_ASK_H
#define STUDY_SCALING_ASK_H

#include "profile/scaling.h"
#include "study/scaling_options.h"
#include "study/subject.h"

typedef struct scaling_asked {
    const study_subject *subject; /* without the sizes that are set here */
    const profile *base;          /* of it, as it is */
    const scaling_options *of;
    const infer_dim *dims; /* sizes by name that stay as they are */
    uint32_t n_dims;
    bool training; /* the memory of training is shown */
} scaling_asked;

/* The result is in the arena. */
assay_status scaling_study(const scaling_asked *q, arena *a, scaling *out, assay_error *err);

#endif
