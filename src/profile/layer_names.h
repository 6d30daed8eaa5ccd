/* Suggestions for a layer pattern without a match, from the words in names, modules, types and operators of the
 * model. */
#ifndef PROFILE_LAYER_NAMES_H
#define PROFILE_LAYER_NAMES_H

#include "base/sbuf.h"
#include "profile/profile.h"

/* Of a list of patterns (time_groups.h), how many there are and how many no layer holds; of the latter: "No layer's
 * name, module, type or operator holds 'atention'. Did you mean 'attention'? Types here: ...; modules: ..." */
typedef struct layer_patterns_missed {
    uint32_t n, missed;
} layer_patterns_missed;
layer_patterns_missed layer_patterns_check(const profile *p, str patterns, sbuf *out);

#endif
