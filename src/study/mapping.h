/* A model on devices. The graph is inferred at batch 1, 2 and 3 and counted at four and at two bytes per number; all
 * other batches are interpolated (analyze/roofline.h). Results that the analysis of the model has anyway, mostly
 * batch 1, are reused. A model that accepts only one batch size is mapped at that one.
 */
#ifndef STUDY_MAPPING_H
#define STUDY_MAPPING_H

#include "analyze/advise.h"
#include "analyze/map.h"
#include "study/subject.h"

typedef struct mapping_work {
    const study_subject *s;
    const batch_rule *rule;
    roofline_model single, figures; /* at batch 1; from 2 on */
    term_plan plan;                 /* of the analysed graph; no steps: it is too large for one */
    arena *work;                    /* of the figures */
    advise_facts known;             /* by them, without another evaluation */
} mapping_work;

/* Devices, goal and sizes, as options give them; empty: none. */
typedef struct mapping_asked {
    str devices, goal, runtime, fit, precisions;
    const str *prices; /* price_read() */
    uint32_t n_prices;
    const int64_t *batches;
    uint32_t n_batches;
} mapping_asked;

/* Called by the analysis with what it has inferred, which is then not done again. */
assay_status mapping_take_analysis(void *work, infer_result *r, const counted *of, const profile *p,
                                   assay_error *err);
/* Fills p->mapping of the profile that the analysis made. */
assay_status mapping_run(mapping_work *j, const mapping_asked *q, profile *p, assay_error *err);
/* The terms of its time (a term_totals of analyze/terms.h) at a batch and a width, for fits. */
assay_status mapping_terms(mapping_work *j, int64_t batch, uint32_t width, profile *p, double *out,
                           assay_error *err);

#endif
