/* Models of a task on devices, by published accuracy (choose.c). */
#ifndef STUDY_CHOOSE_H
#define STUDY_CHOOSE_H

#include <assay/study.h>

#include "base/vec.h"
#include "profile/profile.h"
#include "profile/verdicts.h"
#include "zoo/zoo.h"

struct assay_choices {
    arena *arena;
    VEC(assay_choice) rows;
};

typedef struct choose_request {
    const char *task;
    const verdict_limit *budget;
    uint32_t n_budget;
    /* Maps a model of the catalogue on the devices; the profile is freed by the caller. */
    assay_status (*map)(void *ctx, const zoo_row *row, profile **out, assay_error *err);
    void *ctx;
} choose_request;

/* ASSAY_ERR_USAGE: no model of the task has a published accuracy. */
assay_status choose_models(const choose_request *q, assay_choices **out, assay_error *err);
void choices_free(assay_choices *c); /* NULL is allowed */

#endif
