/* What an attribute is when a file leaves it out. A number that is written and one that is not mean the same layer. */
#ifndef OPS_DEFAULTS_H
#define OPS_DEFAULTS_H

#include <stdbool.h>

#include "base/str.h"

typedef struct op_default {
    str name, op; /* op empty: of every operator that has the attribute */
    bool is_text;
    double number; /* of every item */
    str text;
} op_default;

/* Of ai.onnx alone: others have their own (com.microsoft's norms another epsilon). NULL: not known. */
const op_default *op_default_find(str domain, str op, str attribute);

#endif
