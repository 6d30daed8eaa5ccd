/* Reduces a built-in architecture in width or depth: which parameters change, and to which values. */
#ifndef STUDY_SMALLER_H
#define STUDY_SMALLER_H

#include "base/arena.h"
#include "base/json_tree.h"

typedef enum smaller_kind { SMALLER_WIDTH, SMALLER_DEPTH } smaller_kind;
enum { SMALLER_TRIES = 5 };

/* The parameters that may say it, by index; NULL past the end. */
const char *smaller_key(smaller_kind kind, uint32_t index);
/* Three quarters of a width, a multiple of 64, or of less at the next try; two thirds of the layers. False: it cannot
 * be. Lists are in the arena. */
bool smaller_value(smaller_kind kind, const json_value *from, uint32_t try, arena *a,
                   json_value *to);
/* "layers 12 → 8" */
str smaller_text(arena *a, const char *key, const json_value *from, const json_value *to);

#endif
