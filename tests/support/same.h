/* Whether two models are the same graph with the same content: operators, names, attributes, types,
 * weights byte by byte. Ids, made-up files and places of data may differ. */
#ifndef TESTS_SUPPORT_SAME_H
#define TESTS_SUPPORT_SAME_H

#include "ir/graph.h"

/* NULL, or what differs first; the text lasts until the next call with the same buffer. */
const char *same_models(const ir_model *a, const ir_model *b, char why[256]);

#endif
