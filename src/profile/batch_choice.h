/* The recommended batch size for throughput: one rule for all outputs.
 *
 * Of the configurations that ran and leave a fifth of the memory free, those within BATCH_TIE_PERCENT of the fastest
 * count as equally fast, because the noise within a sweep is that large. Of these, the one with the lowest mean
 * latency is chosen, and the explanation says so.
 */
#ifndef PROFILE_BATCH_CHOICE_H
#define PROFILE_BATCH_CHOICE_H

#include "base/arena.h"
#include "profile/measured.h"

enum { BATCH_TIE_PERCENT = 2 };

typedef struct batch_pick {
    const profile_config *chosen;  /* NULL: none ran within the memory */
    const profile_config *fastest; /* of those that fit; chosen itself when nothing ties with it */
    const profile_config *too_large; /* faster than all that fit, and does not; or NULL */
} batch_pick;

/* Of one precision, or of all when it is NULL. room_bytes is the memory there is; 0: not known. */
batch_pick profile_pick_batch(const profile_measured *m, const char *precision,
                              uint64_t room_bytes);
/* Fills m->choice with the pick of all configurations and its sentence. */
void profile_choose_batch(profile_measured *m, uint64_t room_bytes, arena *a);
/* The configuration that m->choice means; NULL: there is none. */
const profile_config *profile_chosen(const profile_measured *m);

#endif
