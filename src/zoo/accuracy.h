/* Published accuracy of the weights that models of the catalogue are known with: data/accuracy.csv, each row with the
 * name of the weights and where the figure comes from. Models without a row have no published figure here.
 */
#ifndef ZOO_ACCURACY_H
#define ZOO_ACCURACY_H

#include "base/error.h"
#include "base/str.h"
#include "base/vec.h"

typedef struct zoo_accuracy {
    str model;
    str metric; /* "top1", "box_ap", "miou": percent, more is better */
    double value;
    str weights, source;
} zoo_accuracy;

typedef struct zoo_accuracies {
    VEC(zoo_accuracy) rows;
} zoo_accuracies;

assay_status zoo_accuracies_read(arena *a, zoo_accuracies *out, assay_error *err);
const zoo_accuracy *zoo_accuracy_of(const zoo_accuracies *t, const char *model); /* NULL: none */

#endif
