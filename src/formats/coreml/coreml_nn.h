/* Neural networks of Core ML: what the reader and the table of layers share. */
#ifndef FORMATS_COREML_NN_H
#define FORMATS_COREML_NN_H

#include "formats/coreml/coreml_impl.h"

typedef struct nn_op {
    foreign_layer l;
    ml_reader *r;
    cursor params; /* the message of the layer's kind */
    uint32_t kind;
    bool old;       /* all values are [1,C,H,W] (rank 5 mapping); else exact shapes */
    const char *op; /* of the row */
} nn_op;

typedef bool nn_map_fn(nn_op *o);
typedef struct nn_row {
    uint32_t kind; /* number of the field */
    const char *name;
    nn_map_fn *map; /* NULL: `op` takes the inputs as they are; both NULL: unknown */
    const char *op;
} nn_row;
const nn_row *nn_row_of(uint32_t kind);

/* A weight of the layer: WeightParams in a field; IR_NONE: absent. */
ir_id nn_weight(nn_op *o, cursor message, uint32_t field, const char *what, int rank,
                const int64_t *dims);

#endif
