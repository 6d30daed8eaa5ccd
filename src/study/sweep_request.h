/* Files of sweeps: a plan as it was written, or a request that a plan is made from (sweep_request.c). */
#ifndef STUDY_SWEEP_REQUEST_H
#define STUDY_SWEEP_REQUEST_H

#include "base/digest.h"
#include "profile/sweep.h"

/* Options of every measurement that a plan keeps, and the axes of a plan, as options: their names, NULL at the end
 *. */
extern const char *const sweep_settings[], *const sweep_axes[];

/* A file with a request, as the options that it sets. */
typedef struct sweep_file {
    const char **models;
    uint32_t n_models;
    const sweep_setting *options;
    uint32_t n_options;
} sweep_file;
assay_status sweep_request_read(str text, const char *path, arena *a, sweep_file *out,
                                assay_error *err);
/* ASSAY_ERR_MALFORMED: the tasks are not numbered, or the digest is another. */
assay_status sweep_plan_check(const sweep_plan *plan, const char *path, assay_error *err);

/* Of a plan, without its id and its digest. */
assay_status sweep_digest_plan(const sweep_plan *plan, digest_hex out, assay_error *err);

#endif
