/* Live counts of another tool, run with the installed Python. */
#ifndef STUDY_LIVE_H
#define STUDY_LIVE_H

#include "analyze/count.h"
#include "profile/validation.h"

/* Never fails: why there is no answer stands in out->error. `built_in` is torchvision's name of the
 * model, or empty. */
void live_ask(const ir_model *m, str built_in, const lens *by, arena *a, validation_live *out);

#endif
