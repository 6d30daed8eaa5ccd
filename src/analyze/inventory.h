/* Weights whose architecture is not known: parameters, bytes by type, the largest tensors. */
#ifndef ANALYZE_INVENTORY_H
#define ANALYZE_INVENTORY_H

#include "ir/graph.h"
#include "profile/profile.h"

/* Fills architecture, totals of parameters and the inventory of p. Nothing is computed, so flops, layers
 * and memory plan stay empty. */
assay_status inventory_run(const ir_model *m, profile *p, assay_error *err);

/* Adds the inventory of a file whose model was analysed by its graph. */
assay_status inventory_beside(const ir_model *m, profile *p, assay_error *err);

#endif
