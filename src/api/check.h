/* Between the check*.c files of this room. */
#ifndef API_CHECK_H
#define API_CHECK_H

#include "api/api.h"
#include "profile/verdicts.h"

/* Fills what moved between the two, and by how much; texts are copied into the arena. */
assay_status api_explain(const profile *base, const profile *now, arena *a, verdicts *v,
                         assay_error *err);

#endif
