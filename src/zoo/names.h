/* Finding an architecture by the names of its weights.
 *
 * Two sums describe a set of names, in any order: `exact` of the names as they are, and `plain` of the
 * distinct names with every number replaced by '#', which does not depend on how deep a model is. The sums of
 * the catalogue are in data/zoo_names.csv, so that no model is built to look one up:
 *
 *     name,tensors,exact,plain      both sums in hexadecimal digits
 *
 * Statistics of normalisations, index tables and heads that only training uses are no part of it: files
 * have them or not.
 */
#ifndef ZOO_NAMES_H
#define ZOO_NAMES_H

#include "zoo/zoo.h"

typedef struct zoo_names {
    uint32_t n;
    uint64_t exact, plain;
} zoo_names;

/* Whether the name of a tensor belongs to a sum. */
bool zoo_name_counts(str name);
/* Whether it is of a head that only training uses ("aux_classifier.0.weight"). */
bool zoo_name_is_auxiliary(str name);
/* Sums of names that all count. False if out of memory. */
bool zoo_names_sum(const str *names, uint32_t n, arena *scratch, zoo_names *out);
/* Those of the weights of a model that was built. */
bool zoo_names_of(const ir_model *m, arena *scratch, zoo_names *out);
/* Whether a row belongs into the table: not if it is quantised, nor if its names are those of any small model. */
bool zoo_names_has(const zoo_row *row);

/* Rows whose names have the sum `exact` (or `plain`), at most max; their count. */
uint32_t zoo_by_names(const zoo_names *of, bool plain, const zoo_row **out, uint32_t max);

#endif
