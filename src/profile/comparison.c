/* Names of changes. */
#include "profile/comparison.h"

const char *comparison_change_name(comparison_change c)
{
    static const char *const names[] = {[CHANGE_REMOVED] = "removed",
                                        [CHANGE_ADDED] = "added",
                                        [CHANGE_CHANGED] = "changed",
                                        [CHANGE_RESHAPED] = "reshaped",
                                        [CHANGE_NONE] = "same"};
    return names[c];
}
