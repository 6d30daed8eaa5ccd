/* Generates data for every input of a session that suits its use in the model.
 *
 * Floats are normal, indices within the table they look up, positions count up, masks are ones, lengths full, shapes
 * and axes what the operators that read them need, strings all "1". The same seed gives the same data. Data that the
 * caller read from a file is used unchanged.
 */
#ifndef MEASURE_INPUTS_H
#define MEASURE_INPUTS_H

#include "base/error.h"
#include "engine/engine.h"

typedef enum input_role {
    INPUT_PLAIN,    /* floats normal, bytes any, other integers one */
    INPUT_INDEX,    /* integers below bound */
    INPUT_POSITION, /* from, from + 1, ... along the last dimension, below bound */
    INPUT_MASK,     /* ones */
    INPUT_LENGTH,   /* every element is bound */
    INPUT_NUMBERS,  /* as listed */
} input_role;

typedef struct input_want {
    str name;
    ir_dtype dtype;
    int rank;
    const int64_t *dims;
    int batch_axis; /* -1: it has none */
    input_role role;
    uint64_t bound;        /* 0: not known */
    uint64_t from;         /* of positions */
    const double *numbers; /* of INPUT_NUMBERS, borrowed: one for each element */
    const void *data;      /* borrowed; NULL: make it */
    uint64_t data_bytes;
} input_want;

typedef struct input_set {
    engine_tensor *tensors; /* one per input of the session, in its order */
    uint32_t n;
    uint64_t size_bytes;
} input_set;

/* *out is freed by inputs_free() in any case. Fails when an input of the session is not among the wants,
 * or is of a kind that cannot be made (sequences). */
assay_status inputs_make(const input_want *wants, uint32_t n_wants, const engine_session_info *info,
                         uint64_t seed, input_set *out, assay_error *err);
void inputs_free(input_set *s);

/* Fills n elements; for tests. */
void inputs_fill(const input_want *w, uint64_t n, uint64_t seed, void *data);

#endif
