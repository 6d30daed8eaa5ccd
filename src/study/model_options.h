/* Sizes and number types of a model as options give them, and the parameters of a built-in one. */
#ifndef STUDY_MODEL_OPTIONS_H
#define STUDY_MODEL_OPTIONS_H

#include "analyze/infer.h"
#include "base/vec.h"
#include "zoo/zoo.h"

struct precision_row;

typedef struct model_options {
    VEC(infer_shape) shapes;
    VEC(infer_dim) dims;
    zoo_args set;
    const op_rows *ops; /* of --ops; or NULL */
    str config;
    int64_t batch; /* 0: as the model has it */
    ir_dtype precision;
    const struct precision_row *target; /* what precision asks an export for; NULL: none exists */
    str precisions;                     /* as given */
    bool precision_list;                /* more than one, or one that only devices have */
    int64_t seed, weight_bits;          /* weight_bits 0: as the processor needs it */
    bool strict;
    bool follow_symlinks; /* of external data, out of the model's directory */
    bool dims_may_miss;   /* a dimension that the model lacks is a warning */
} model_options;

#endif
