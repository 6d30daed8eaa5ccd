/* Coefficients of one device from a user's own measurements; see fit_user.c for the file. */
#ifndef DEVICE_FIT_USER_H
#define DEVICE_FIT_USER_H

#include "device/runtime.h"

/* Fits the rows of the file and puts them into the table as those of the device, for the runtime. d stays borrowed.
 * ASSAY_ERR_MALFORMED: what is wrong with the file, with the row. */
assay_status fit_user_rows(const char *path, const device *d, const runtime *r, runtime_table *t,
                           arena *a, assay_error *err);

#endif
