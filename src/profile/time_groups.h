/* Measured times of layers, summed: by type, by module (every one of the tree, with all below it) and by patterns of
 * names. The deviation of a sum is computed from the sums of each run, because the times of the layers in one run are
 * correlated. */
#ifndef PROFILE_TIME_GROUPS_H
#define PROFILE_TIME_GROUPS_H

#include "profile/profile.h"

/* Whether a layer's name, type, module or operator holds that text; letters of either case are the same. */
bool layer_holds(const profile_layer *l, str part);
/* Cuts the next pattern off a list; false at its end. Empty ones are passed over. */
bool layer_next_pattern(str *rest, str *out);
/* The same of a list "attention,mlp"; an empty list takes all. */
bool layer_is_one_of(const profile_layer *l, str patterns);

typedef struct time_groups {
    const profile_time_group
        *items; /* types, then modules, then patterns; by time, longest first */
    uint32_t n;
} time_groups;

/* per_run: [runs][p->n_layers] milliseconds, or NULL: deviations are not reported. Lives in the arena; false if out
 * of memory. */
bool time_groups_make(const profile *p, const double *per_run, uint32_t runs, str patterns,
                      arena *a, time_groups *out);
/* Shares, rates and bounds of groups, which profile_settle() keeps. */
void time_groups_settle(const profile *p, profile_time_group *groups, uint32_t n);
/* Whether the sums by pattern that are there are those of just that list. */
bool time_groups_are_of(time_groups g, str patterns);

#endif
