/* Devices for a request rate of language models, by expected times (device/serving.h): the most users of one device that
 * are within the objectives give its rate of requests, of which the head-room stays free. */
#ifndef STUDY_CAPACITY_LANGUAGE_H
#define STUDY_CAPACITY_LANGUAGE_H

#include "base/error.h"
#include "device/price.h"
#include "profile/capacity.h"
#include "profile/language.h"

typedef struct capacity_language_request {
    const language_result *const *models; /* on devices, with their most users */
    uint32_t n;
    double target, headroom;
    price_list *prices; /* or NULL: devices have none */
} capacity_language_request;

/* One plan per model and device. */
assay_status capacity_run_language(const capacity_language_request *q, arena *a, capacity *out,
                                   assay_error *err);

#endif
