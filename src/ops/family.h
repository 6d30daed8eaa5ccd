/* What the operators of one family have in common beyond shapes and costs: what they are to a kernel that takes
 * several operators, to a formula that several operators write, to numbers that pass through them, to the loops of an
 * engine. A family is what op_row.type names; it is one row here, and code that needs the kind of an operator uses its family:
 * nobody else lists names. What differs between operators of a family is a column of op_row.
 */
#ifndef OPS_FAMILY_H
#define OPS_FAMILY_H

#include <stdint.h>

#include "base/str.h"

/* The part that a layer can play in a kernel of several. */
typedef enum op_role {
    OPR_NONE, /* elementwise operators go by their operands, others stay alone */
    OPR_CONV,
    OPR_MATMUL,
    OPR_ATTENTION,
    OPR_NORM,   /* reduces and normalises: layer, group and instance norms, softmax */
    OPR_POOL,   /* pooling and reductions */
    OPR_AFFINE, /* scale and shift per channel: batch norm at inference */
    OPR_ACT,
    OPR_POINT, /* element by element, whatever OPF_ELEMENTWISE says of its constants */
    OPR_PAD,
    OPR_LAYOUT,  /* moves each element once: transpose, depth to space */
    OPR_DEQUANT, /* to floating point */
    OPR_QUANT,   /* from it */
    OPR_COUNT
} op_role;

/* What it is in a formula. */
typedef enum op_algebra {
    OPA_NONE,
    OPA_ADD,
    OPA_SUM, /* of any number of operands */
    OPA_SUB,
    OPA_MUL,
    OPA_DIV,
    OPA_NEG,
    OPA_RECIPROCAL,
    OPA_SQRT,
    OPA_POW,
} op_algebra;

enum {
    OPS_SAME_VALUE = 1,    /* the result is another form of input 0: formulas look through it */
    OPS_MOVES_NUMBERS = 2, /* integers come out as they went in: indices stay indices */
    OPS_CONVERTS = 4,      /* to another number type */
    OPS_REORDERS = 8,      /* axes */
    OPS_REPEATS = 16,      /* elements */
    OPS_CUTS = 32,         /* a contiguous or strided part */
    OPS_PICKS = 64,        /* a part by its indices */
    OPS_AVERAGES = 128,    /* over axes */
    OPS_WEIGHS = 256,      /* shares that add up to one: softmax */
    OPS_CONVOLVES = 512,   /* x[n, c, ...] with w[m, c/g, ...] */
    OPS_ROW_NORM = 2048,   /* normalises rows: kernels exist that add the residual before */
    OPS_USUAL_LOOPS =
        1024, /* a contraction by the loops that engines are made for; else it has its own */
};

typedef struct op_family {
    const char *type; /* as op_row.type */
    op_role role;
    op_algebra algebra;
    uint16_t is;          /* OPS_ */
    const char *known_as; /* a computation that exporters also write in parts; or NULL */
} op_family;

/* Sorted by type. Families of which nothing is said here have no row. */
extern const op_family op_families[];
extern const uint32_t op_families_n;

/* By op_row.type, or by a layer's ("conv2d" is of "conv#d"). Never NULL: a row of nothing. */
const op_family *op_family_find(str type);

#endif
