/* Recommendations for a model, from its profile and from the model evaluated with other sizes. */
#ifndef STUDY_ADVISE_ASK_H
#define STUDY_ADVISE_ASK_H

#include "analyze/advise.h"
#include "study/subject.h"

/* Fills p->recommendations from what p holds by now. `hardware` names a device, or is empty; `known`: changes whose
 * effect is known already; or NULL. A built-in model may be left built otherwise. */
assay_status advise_ask(const study_subject *s, str hardware, const advise_facts *known, profile *p,
                        assay_error *err);

#endif
