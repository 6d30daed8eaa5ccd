/* What the rules of the contrib operators (com.microsoft and its relatives) share: dims that may be
 * unknown, counting as floats whatever the dtype of input 0 is, fused activations. Contractions,
 * norms and windows are those of op_util_contract.h, op_util_norm.h and op_util_spatial.h.
 */
#ifndef OPS_OP_UTIL_MS_H
#define OPS_OP_UTIL_MS_H

#include "ops/op.h"

#define MS_DOMAIN "com.microsoft"
/* A row of this domain; all of its operators are at version 1. */
#define MS_ROW(name_, type_, formula_, infer_, cost_) \
    OP_ROW(MS_DOMAIN, name_, type_, "1", formula_, infer_, cost_)

/* ---- dims: -1 is unknown and stays unknown; so does what overflows --------------------------- */

int64_t ms_dim_add(int64_t a, int64_t b);
int64_t ms_dim_mul(int64_t a, int64_t b);
int64_t ms_dim_div(int64_t a, int64_t b); /* rounds down; -1 when b is not positive */
static inline int64_t ms_dim_min(int64_t a, int64_t b)
{
    return a < 0 || b < 0 ? -1 : (a < b ? a : b);
}
static inline int64_t ms_dim_or(int64_t a, int64_t b)
{
    return a >= 0 ? a : b;
}
/* As a factor of a count: unknown counts 0, as everywhere in costs. */
static inline uint64_t ms_u(int64_t dim)
{
    return dim < 0 ? 0 : (uint64_t)dim;
}
uint64_t ms_product(int n, const int64_t *dims); /* of known dims; 0 when one is unknown */

/* ---- LSTMs: X [T,B,I], W, R with the hidden size on axis `hidden` ------------------------------ */

int64_t ms_lstm_hidden(const op_ctx *c, int hidden);
int64_t ms_lstm_directions(const op_ctx *c);
/* Y, Y_h and Y_c. */
assay_status ms_lstm_infer(op_ctx *c, int hidden);

/* ---- counting -------------------------------------------------------------------------------- */

/* op_count() decides by the dtype of input 0; many contrib operators take ids, scales or quantised
 * data there and still calculate in floats: ms_add() says the kind itself, and a context from
 * ms_real() (it hides the inputs) makes the shared cost rules count floats. */
static inline void ms_add(uint64_t *kind, uint64_t n)
{
    *kind = sat_add(*kind, n);
}
static inline op_ctx ms_real(const op_ctx *c)
{
    op_ctx real = *c;
    real.n_in = 0;
    return real;
}
/* written[o] = bytes of n elements of output o's dtype. */
void ms_written_elems(const op_ctx *c, op_cost *k, uint32_t o, uint64_t n);

/* Operations per element of a function that is fused into an operator. */
typedef struct ms_act {
    const char *name; /* lower case */
    uint8_t add, mul, div, special, cmp;
} ms_act;

/* By name in any case; a row of zeros for "", "none", "identity", NULL for a name nobody knows. */
const ms_act *ms_act_find(str name);
void ms_act_cost(op_cost *k, const ms_act *act, uint64_t n); /* NULL act: nothing */
void ms_rotary_cost(op_cost *k, uint64_t n);                 /* 2 mul + 1 add per rotated element */

/* ---- common shape rules ---------------------------------------------------------------------- */

/* The rank of input i if it is not known to be another; fails naming the input. */
assay_status ms_want_rank(op_ctx *c, uint32_t i, int rank);

/* Input 0 [.., K] times a matrix whose sizes come from elsewhere (attributes): [.., N] in output
 * `o` with dtype t. */
assay_status ms_linear_infer(op_ctx *c, uint32_t o, int64_t inner, int64_t outer, ir_dtype t);

/* A name nobody knows costs nothing: says so instead of being silent. */
assay_status ms_known_activation(op_ctx *c);
/* A table of cosines or sines is read one row per position. */
void ms_read_rows(const op_ctx *c, op_cost *k, uint32_t i, int64_t positions);

/* X, W, B, Z: the convolution, + Z, the activation. */
op_cost_fn ms_conv_cost;

#endif
