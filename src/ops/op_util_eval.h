/* What the value rules of several operators share: walking broadcast and strided tensors of known
 * content, keeping "known" per cell, storing results at the precision of their dtype.
 *
 * Content is followed so that the shape arithmetic of exporters ends in numbers. A result that the
 * dtype cannot hold, or that depends on an unknown cell, is an unknown cell, never a guess.
 */
#ifndef OPS_OP_UTIL_EVAL_H
#define OPS_OP_UTIL_EVAL_H

#include "ops/op.h"

/* ---- lists: axes, pads, sizes, repeats ---- */

#define EV_LIST_MAX (2 * IR_MAX_RANK)

/* Integers of a list, each known or not. */
typedef struct ev_list {
    int n; /* -1: not even the length is known */
    int64_t v[EV_LIST_MAX];
    bool known[EV_LIST_MAX];
} ev_list;

/* The list in input i or, when that is absent, in attribute `attr` (may be NULL). False when both
 * are absent. A list longer than EV_LIST_MAX counts as unknown. */
bool ev_list_get(const op_ctx *c, uint32_t i, const char *attr, ev_list *out);
/* Every item known. */
bool ev_list_full(const ev_list *l);

/* ---- contents ---- */

/* Content of input i when its shape is fully known and has as many cells; else NULL. */
const op_val *ev_input(const op_ctx *c, uint32_t i);
/* Fresh content for output o, every cell unknown; NULL when its size is unknown or too large, or
 * its dtype has no content that is followed (strings, complex numbers). */
op_val *ev_output(op_ctx *c, uint32_t o);
/* Attaches v (NULL is allowed) to output o, unless no cell of it is known. */
assay_status ev_finish(op_ctx *c, uint32_t o, op_val *v);
/* Copies cell j of `from` to cell k; unknown stays unknown, `from` may be NULL. */
static inline void ev_copy(op_val *to, int64_t k, const op_val *from, int64_t j)
{
    if (!from || !op_val_known(from, j))
        return;
    to->cells[k] = from->cells[j];
    to->known[k] = 1;
}
/* The same for n cells in a row, which both have. */
void ev_copy_run(op_val *to, int64_t k, const op_val *from, int64_t j, int64_t n);
/* Stores a result of dtype t: rounds floats to it; integers outside of its range stay unknown. */
void ev_store(op_val *to, int64_t k, ir_dtype t, op_cell cell);
/* Output 0 has the content of input 0 (views). */
assay_status ev_same(op_ctx *c);
/* One cell of a small tensor that hangs on an attribute. */
bool ev_tensor_cell(const op_ctx *c, const ir_tensor *t, int64_t k, op_cell *out);

/* ---- numbers ---- */

int64_t ev_wrap(ir_dtype t, int64_t v); /* two's complement to the width of t; bool: 0 or 1 */
/* One element from its little-endian bytes; false when its type has no cell form, or it does not fit. */
bool ev_decode(ir_dtype t, const uint8_t *bytes, op_cell *out);
/* Converts a cell between dtypes as Cast does; false when the result is not defined. */
bool ev_convert(op_cell from, ir_dtype from_t, ir_dtype to_t, op_cell *out);
static inline double ev_as_float(op_cell v, ir_dtype t)
{
    return ir_is_float(t) ? v.f : (double)v.i;
}

/* ---- walking ---- */

/* Row-major strides of a shape without unknown dims. */
void ev_strides(int rank, const int64_t *dims, int64_t *strides);
/* Offset of the k-th element (row-major over dims) in a tensor with these strides. */
int64_t ev_place(int rank, const int64_t *dims, const int64_t *strides, int64_t k);
/* out[k] = in[base + place(k)]: transposes, slices, expansions. */
assay_status ev_strided(op_ctx *c, uint32_t o, uint32_t i, int64_t base, const int64_t *strides);

/* An input as seen from the output's shape: stride 0 where it is broadcast. */
typedef struct ev_operand {
    const op_val *v; /* NULL: nothing known */
    ir_dtype dtype;
    int64_t strides[IR_MAX_RANK]; /* one for each dim of the output */
} ev_operand;

/* Ones that opset < 7 appends to the dims of input 1 when `axis` aligns it to the left. */
int ev_legacy_tail(const op_ctx *c, uint32_t i);
/* False when the shapes are not known well enough. */
bool ev_operand_of(const op_ctx *c, uint32_t i, const op_info *out, ev_operand *x);

/* ---- elementwise with broadcasting ---- */

#define EV_MAX_ARGS 3

typedef struct ev_args {
    op_cell cell[EV_MAX_ARGS];
    bool known[EV_MAX_ARGS];
    ir_dtype dtype[EV_MAX_ARGS];
} ev_args;

/* One output cell from one cell of each input; false when it stays unknown. */
typedef bool ev_cell_fn(const op_ctx *c, const void *how, const ev_args *a, op_cell *r);
/* Output 0 from inputs 0..n-1, n at most EV_MAX_ARGS. */
assay_status ev_broadcast(op_ctx *c, uint32_t n, ev_cell_fn *f, const void *how);

/* The value rule of rows with such a function. */
typedef struct ev_cells {
    uint32_t n;
    ev_cell_fn *cell;
    const void *how;
} ev_cells;
assay_status ev_by_cells(op_ctx *c);
#define EV_CELLS(n_, cell_, how_)                   \
    .value = ev_by_cells, .with = &(const ev_cells) \
    {                                               \
        .n = (n_), .cell = (cell_), .how = (how_)   \
    }

/* The same for functions of one or two known numbers of one dtype; a NULL member is not defined. */
typedef struct ev_fn1 {
    bool (*i)(int64_t a, int64_t *r);
    double (*f)(double a);
} ev_fn1;
typedef struct ev_fn2 {
    bool (*i)(int64_t a, int64_t b, int64_t *r);
    double (*f)(double a, double b);
} ev_fn2;
assay_status ev_unary(op_ctx *c, const ev_fn1 *f);
assay_status ev_binary(op_ctx *c, const ev_fn2 *f);
assay_status ev_by_pairs(op_ctx *c); /* of the row's ev_fn2 */
/* Applies f to two known cells of dtype t. */
bool ev_apply2(const ev_fn2 *f, ir_dtype t, op_cell a, op_cell b, op_cell *r);

/* The arithmetic that more than one file needs. */
extern const ev_fn2 ev_add, ev_mul, ev_max, ev_min;

#endif
