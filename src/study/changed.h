/* Whether an input size changed a built-in architecture. */
#ifndef STUDY_CHANGED_H
#define STUDY_CHANGED_H

#include "ir/graph.h"

/* Whether a parameter of a built-in architecture is the size of its image. */
bool changed_is_image_size(str key);
/* Compares the weights of `ir` with those of `usual`, the same architecture at its default input size. Where they
 * differ, ir gets the warning "architecture-changed" and its architecture_changed is set. False: out of memory. */
bool changed_note(const ir_model *usual, ir_model *ir, arena *scratch);

#endif
