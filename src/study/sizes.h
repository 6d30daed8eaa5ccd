/* Sizes of a model by name: what `batch`, `height` or `seq_len` mean in it. */
#ifndef STUDY_SIZES_H
#define STUDY_SIZES_H

#include "base/sbuf.h"
#include "profile/profile.h"
#include "study/batch.h"

enum { SIZE_PLACES = 16 };

typedef enum size_kind { SIZE_BATCH, SIZE_INPUT, SIZE_SYMBOL, SIZE_PARAMETER } size_kind;

typedef struct size_place {
    uint32_t input;
    int axis;
} size_place;

typedef struct size_binding {
    size_kind kind;
    str key;                        /* SIZE_SYMBOL, SIZE_PARAMETER */
    size_place places[SIZE_PLACES]; /* SIZE_INPUT */
    uint32_t n_places;
    int decimals; /* of values; 0 unless SIZE_PARAMETER */
    int64_t own;  /* what the model has by itself; 0: not known */
} size_binding;

const char *size_kind_name(size_kind k);

/* A symbolic dimension of a file's inputs. */
bool size_of_symbol(const ir_model *m, const profile *base, str name, size_binding *out);
/* Any other size; `base` is the model's profile as it is. ASSAY_ERR_USAGE with what there is when the model has no such
 * size: batch, height, width, side (or size), seq (or sequence, tokens), frames, a parameter of a built-in architecture,
 * or INPUT[AXIS]. */
assay_status size_find(const batch_rule *rule, const profile *base, str name, bool built_in,
                       size_binding *out, assay_error *err);
/* "batch, height, width, side, size, and INPUT[AXIS]": those that the model has. */
void size_names(const batch_rule *rule, const profile *base, sbuf *out);

#endif
