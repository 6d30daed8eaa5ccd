/* Computations that exporters write as several operators, found again and named: norms, activations,
 * attention, rotary embedding, gated MLPs, squeeze-and-excite, group norm as instance norm.
 *
 * A match is a set of layers with one exit: all it makes inside is read inside. So a match may be a kernel.
 */
#ifndef ANALYZE_PATTERN_H
#define ANALYZE_PATTERN_H

#include "analyze/flow.h"
#include "profile/fusion.h"

typedef enum pattern_class {
    PATTERN_ACT,
    PATTERN_NORM,
    PATTERN_ATTENTION,
    PATTERN_POINT, /* elementwise on several tensors: rotary embedding */
    PATTERN_BLOCK, /* made of several contractions */
} pattern_class;

typedef struct pattern_match {
    const char *name, *form;
    pattern_class is;
    const uint32_t *layers; /* ascending; the last is the exit */
    uint32_t n;
    bool native; /* one operator of the file: nothing to fuse */
} pattern_match;

typedef struct pattern_list {
    pattern_match *items; /* by exit; matches may lie within others */
    uint32_t n, cap;
} pattern_list;

/* In the arena of the inference. */
assay_status pattern_find(const flow *f, pattern_list *out, assay_error *err);
/* The matches as plain data, in p's arena. */
assay_status pattern_fill(const flow *f, const pattern_list *list, profile *p, assay_error *err);

#endif
