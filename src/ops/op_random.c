/* Random tensors: by shape attribute, by the shape of another tensor, or drawn from probabilities.
 * A draw counts as one special function; scaling it to a range or a distribution as mul and add.
 */
#include "ops/op_util_cost.h"

/* The dtype in attribute `dtype`, else `def`. */
static ir_dtype dtype_attr(const op_ctx *c, ir_dtype def)
{
    int64_t t = op_attr_int(c, "dtype", def);
    return ir_dtype_valid(t) ? (ir_dtype)t : IR_UNDEFINED;
}

static assay_status by_shape(op_ctx *c)
{
    const int64_t *dims = NULL;
    int n = op_attr_ints(c, "shape", &dims);
    for (int d = 0; d < n; d++)
        if (dims[d] < 0)
            return op_fail(c, "the requested shape has a negative dimension");
    return op_set(c, 0, dtype_attr(c, IR_FLOAT32), n, dims);
}

static assay_status like(op_ctx *c)
{
    return op_set_shape_of(c, 0, dtype_attr(c, op_dtype(c, 0)), 0);
}

/* [batch, classes] to [batch, sample_size]. */
static assay_status multinomial(op_ctx *c)
{
    int64_t dims[2] = {op_dim(c, 0, 0), op_attr_int(c, "sample_size", 1)};
    if (op_rank(c, 0) >= 0 && op_rank(c, 0) != 2)
        return op_fail(c, "the input must be [batch, classes], not %s", op_shape_text(c, 0));
    if (dims[1] < 0)
        return op_fail(c, "invalid sample size %lld", (long long)dims[1]);
    return op_set(c, 0, dtype_attr(c, IR_INT32), 2, dims);
}

/* ---- costs ---- */

static void draw(const op_ctx *c, op_cost *k)
{
    uint64_t n = op_out_elems(c, 0);
    k->special = sat_add(k->special, n);
    k->mul = sat_add(k->mul, n);
    k->add = sat_add(k->add, n);
}

/* Of the tensor it is like, only the shape is looked at. */
static void draw_like(const op_ctx *c, op_cost *k)
{
    op_cost_write_only(c, k);
    draw(c, k);
}

static void bernoulli_cost(const op_ctx *c, op_cost *k)
{
    k->special = sat_add(k->special, op_out_elems(c, 0));
    k->cmp = sat_add(k->cmp, op_out_elems(c, 0));
}

/* Each sample draws for every class and keeps the best. */
static void multinomial_cost(const op_ctx *c, op_cost *k)
{
    int64_t classes = op_dim(c, 0, 1);
    uint64_t n = sat_mul(op_out_elems(c, 0), classes > 0 ? (uint64_t)classes : 0);
    k->special = sat_add(k->special, n);
    k->add = sat_add(k->add, n);
    k->cmp = sat_add(k->cmp, n);
}

#define RANDOM(name_, type_, versions_, formula_, infer_, cost_, flags_, n_in_) \
    {                                                                           \
        OP_ROW("", name_, type_, versions_, formula_, infer_, cost_),           \
            OP_SLOTS(n_in_, n_in_, 1, 1), .flags = OPF_RANDOM | (flags_)        \
    }
#define DRAW "per element: 1 special + 1 mul + 1 add"

static const op_row rows[] = {
    RANDOM("RandomNormal", "random", "1,22", DRAW, by_shape, draw, 0, 0),
    RANDOM("RandomUniform", "random", "1,22", DRAW, by_shape, draw, 0, 0),
    RANDOM("RandomNormalLike", "random", "1,22", DRAW, like, draw_like, OPF_SHAPE_ONLY, 1),
    RANDOM("RandomUniformLike", "random", "1,22", DRAW, like, draw_like, OPF_SHAPE_ONLY, 1),
    RANDOM("Bernoulli", "random", "15,22", "per element: 1 special + 1 cmp", like, bernoulli_cost,
           0, 1),
    RANDOM("Multinomial", "multinomial", "7,22", "per sample and class: 1 special + 1 add + 1 cmp",
           multinomial, multinomial_cost, 0, 1),
};

const op_rows op_random_rows = OP_ROWS(rows);
