/* Counts compared with those of other tools: by their conventions, and with recorded counts. */
#ifndef STUDY_VALIDATE_H
#define STUDY_VALIDATE_H

#include "analyze/count.h"
#include "profile/validation.h"

/* Adds a row for a model and a lens. `built_in` is the catalogue's name when the model was built by its
 * defaults, else empty: only then recorded answers apply. `shapes` are sizes for a file, or NULL. */
assay_status validate_model(const ir_model *m, const infer_options *shapes, str model, str built_in,
                            const lens *by, validation *v, assay_error *err);

/* What a tool answered for a built-in model, from data/peer_counts.csv. */
typedef struct peer_count {
    uint64_t count; /* of the lens' unit */
    str setup;
} peer_count;
bool peer_find(str model, int64_t input_side, const lens *by, peer_count *out);

#endif
