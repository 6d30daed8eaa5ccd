/* What the operators behind a value ask of its shape; see infer_needs.c. */
#ifndef ANALYZE_INFER_NEEDS_H
#define ANALYZE_INFER_NEEDS_H

#include "analyze/infer.h"

typedef struct infer_need {
    op_need need;
    uint8_t strength; /* 0: nothing is asked */
} infer_need;

/* [n_values], made when it is first asked for; NULL: out of memory. */
const infer_need *infer_needs(infer_result *r);

#endif
