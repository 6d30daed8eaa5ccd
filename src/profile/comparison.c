/* Names of changes. */
#include "profile/comparison.h"

const char *const comparison_change_words[] = {
    [CHANGE_REMOVED] = "removed",   [CHANGE_ADDED] = "added", [CHANGE_CHANGED] = "changed",
    [CHANGE_RESHAPED] = "reshaped", [CHANGE_NONE] = "same",   [CHANGE_NONE + 1] = NULL};
