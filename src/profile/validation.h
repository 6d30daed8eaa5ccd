/* Counts compared with another tool's: the result "assay.validation/1" (validation_fields.c), filled by
 * study/validate.c. All pointers are in the arena. */
#ifndef PROFILE_VALIDATION_H
#define PROFILE_VALIDATION_H

#include "base/arena.h"
#include "base/result.h"
#include "base/vec.h"

typedef struct validation_type { /* one operator type; counts in the tool's unit */
    str type;
    uint64_t ours, theirs;
    int64_t difference; /* theirs less ours */
} validation_type;

typedef struct validation_recorded { /* the tool's answer as it was written down once */
    bool present;
    uint64_t count;
    str setup;          /* "torch 1.13 torchvision 0.14" */
    bool equal;         /* to the lens' count */
    int64_t difference; /* the lens' count less this */
} validation_recorded;

typedef struct validation_live { /* the tool itself, run just now */
    bool present;                /* it was asked */
    bool answered;               /* count, version and equal; else error */
    uint64_t count;              /* FIELD_UNKNOWN: no answer */
    str version;                 /* "fvcore 0.1.5, torch 2.1.0" */
    bool equal;                  /* to the lens' count */
    str error;                   /* why there is no answer */
} validation_live;

typedef struct validation_row {
    str model;
    const char *lens, *unit;
    uint64_t ours, theirs;     /* in the tool's unit: our MACs or FLOPs, and the lens */
    double difference_percent; /* of the tool's count; ours above it is positive */
    double accuracy_percent;   /* 100 less the difference without its sign; at least 0 */
    const char *verdict; /* "equal", "acceptable" (below VALIDATION_TOLERANCE) or "too large" */
    uint64_t parameters;
    uint64_t assumed, unknown; /* operators */
    validation_recorded recorded;
    validation_live live;
    const validation_type *types; /* whose counts differ, by difference, descending */
    uint32_t n_types;
} validation_row;

/* Two tools that count by other rules differ by 5 to 10 %; less than this is acceptable. */
#define VALIDATION_TOLERANCE 10.0

typedef struct validation {
    str conclusion; /* one or two sentences: result_conclude() */
    arena *arena;
    double tolerance_percent;
    VEC(validation_row) rows;
} validation;

extern const result_kind validation_kind;

#endif
