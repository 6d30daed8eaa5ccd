/* How fvcore counts an einsum. */
#ifndef ANALYZE_LENS_EINSUM_H
#define ANALYZE_LENS_EINSUM_H

#include "analyze/count.h"

/* k->mac where the equation has more operands than can be searched. */
uint64_t lens_einsum_fvcore(const op_ctx *c, const op_cost *k);

#endif
