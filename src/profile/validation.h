/* Our counts beside another tool's, as plain data: filled by study/validate.c, read by reports. All
 * pointers live in the arena.
 */
#ifndef PROFILE_VALIDATION_H
#define PROFILE_VALIDATION_H

#include "base/arena.h"
#include "base/notes.h"
#include "base/str.h"
#include "base/vec.h"

typedef struct validation_type { /* one operator type; counts in the tool's unit */
    str type;
    uint64_t ours, theirs;
} validation_type;

typedef struct validation_live { /* the tool itself, run just now */
    bool asked, answered;
    uint64_t count;
    str version; /* "fvcore 0.1.5, torch 2.1.0" */
    str reason;  /* why there is no answer */
} validation_live;

typedef struct validation_row {
    str model;
    const char *lens, *unit;
    uint64_t ours, theirs; /* in the tool's unit: our MACs or FLOPs, and the lens */
    uint64_t parameters;
    uint64_t assumed, unknown; /* operators */
    bool recorded;             /* the tool's answer was written down once */
    uint64_t recorded_count;
    str recorded_setup; /* "torch 1.13 torchvision 0.14" */
    validation_live live;
    const validation_type *types; /* whose counts differ, by difference, descending */
    uint32_t n_types;
} validation_row;

typedef struct validation {
    arena *arena;
    VEC(validation_row) rows;
} validation;

#endif
