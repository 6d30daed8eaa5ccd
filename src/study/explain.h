/* Why a profile differs from its baseline. */
#ifndef STUDY_EXPLAIN_H
#define STUDY_EXPLAIN_H

#include "profile/profile.h"
#include "profile/verdicts.h"

/* Fills what moved between the two, and by how much; texts are copied into the arena. */
assay_status explain_change(const profile *base, const profile *now, arena *a, verdicts *v,
                            assay_error *err);

#endif
