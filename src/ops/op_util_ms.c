/* Shared by the rows of the contrib operators; see op_util_ms.h. Nothing here knows an operator by
 * name, only activation functions.
 */
#include "ops/op_util_ms.h"
#include "ops/op_util_spatial.h"

#include <string.h>

/* ---- dims ---- */

int64_t ms_dim_add(int64_t a, int64_t b)
{
    int64_t sum;
    return a >= 0 && b >= 0 && num_add(a, b, &sum) ? sum : -1;
}

int64_t ms_dim_mul(int64_t a, int64_t b)
{
    int64_t product;
    return a >= 0 && b >= 0 && num_mul(a, b, &product) ? product : -1;
}

int64_t ms_dim_div(int64_t a, int64_t b)
{
    return a >= 0 && b > 0 ? a / b : -1;
}

uint64_t ms_product(int n, const int64_t *dims)
{
    uint64_t product = 1;
    for (int d = 0; d < n; d++)
        product = sat_mul(product, ms_u(dims[d]));
    return product;
}

/* ---- counting ---- */

void ms_written_elems(const op_ctx *c, op_cost *k, uint32_t o, uint64_t n)
{
    if (o < c->n_out)
        k->written[o] = ir_dtype_bytes(c->out[o].dtype, n);
}

/* clang-format off */
static const ms_act activations[] = {
    {.name = ""},
    {.name = "none"},
    {.name = "identity"},
    {.name = "relu", .cmp = 1},
    {.name = "leakyrelu", .cmp = 1, .mul = 1},
    {.name = "thresholdedrelu", .cmp = 1},
    {.name = "clip", .cmp = 2},
    {.name = "sigmoid", .special = 1},
    {.name = "tanh", .special = 1},
    {.name = "hardsigmoid", .mul = 1, .add = 1, .cmp = 2},
    {.name = "hardswish", .mul = 2, .add = 1, .cmp = 2},
    {.name = "silu", .mul = 1, .special = 1},
    {.name = "swish", .mul = 1, .special = 1},
    {.name = "quickgelu", .mul = 2, .special = 1},
    {.name = "gelu", .mul = 3, .add = 1, .special = 1},
    {.name = "fastgelu", .mul = 6, .add = 2, .special = 1},
    {.name = "elu", .cmp = 1, .special = 1, .add = 1, .mul = 1},
    {.name = "selu", .cmp = 1, .special = 1, .add = 1, .mul = 2},
    {.name = "celu", .cmp = 2, .special = 1, .add = 2, .mul = 1, .div = 1},
    {.name = "mish", .special = 3, .add = 1, .mul = 1},
    {.name = "softplus", .special = 2, .add = 1},
    {.name = "parametricsoftplus", .special = 2, .add = 1, .mul = 2},
    {.name = "softsign", .cmp = 1, .add = 1, .div = 1},
    {.name = "scaledtanh", .special = 1, .mul = 2},
    {.name = "affine", .mul = 1, .add = 1},
    {.name = "softmax", .cmp = 1, .add = 2, .special = 1, .div = 1},
    {.name = "logsoftmax", .cmp = 1, .add = 2, .special = 1, .div = 1},
};
/* clang-format on */

static bool same_word(str word, const char *lower)
{
    if (word.n != strlen(lower))
        return false;
    for (size_t i = 0; i < word.n; i++) {
        char ch = word.p[i];
        if ((ch >= 'A' && ch <= 'Z' ? (char)(ch + ('a' - 'A')) : ch) != lower[i])
            return false;
    }
    return true;
}

const ms_act *ms_act_find(str name)
{
    for (size_t i = 0; i < sizeof activations / sizeof *activations; i++)
        if (same_word(name, activations[i].name))
            return &activations[i];
    return NULL;
}

void ms_act_cost(op_cost *k, const ms_act *act, uint64_t n)
{
    if (!act)
        return;
    ms_add(&k->add, sat_mul(n, act->add));
    ms_add(&k->mul, sat_mul(n, act->mul));
    ms_add(&k->div, sat_mul(n, act->div));
    ms_add(&k->special, sat_mul(n, act->special));
    ms_add(&k->cmp, sat_mul(n, act->cmp));
}

void ms_rotary_cost(op_cost *k, uint64_t n)
{
    ms_add(&k->mul, sat_mul(n, 2));
    ms_add(&k->add, n);
}

/* ---- common shape rules ---- */

assay_status ms_want_rank(op_ctx *c, uint32_t i, int rank)
{
    int got = op_rank(c, i);
    if (got >= 0 && got != rank)
        return op_fail(c, "input %u must have rank %d, not %s", (unsigned)i, rank,
                       op_shape_text(c, i));
    return ASSAY_OK;
}

assay_status ms_linear_infer(op_ctx *c, uint32_t o, int64_t inner, int64_t outer, ir_dtype t)
{
    int rank = op_rank(c, 0);
    if (rank < 0)
        return op_set_unknown(c, o, t);
    if (rank == 0)
        return op_fail(c, "the input is a scalar");
    int64_t dims[IR_MAX_RANK], same;
    if (inner >= 0 && op_dim(c, 0, -1) >= 0 && inner != op_dim(c, 0, -1))
        return op_fail(c, "the last dimension of input %s does not match the inner size %lld",
                       op_shape_text(c, 0), (long long)inner);
    TRY(op_same_dim(c, op_dim(c, 0, -1), inner, "the contracted dimension", &same));
    memcpy(dims, op_dims(c, 0), (size_t)rank * sizeof *dims);
    dims[rank - 1] = outer < 0 ? -1 : outer;
    return op_set(c, o, t, rank, dims);
}

/* ---- LSTMs ---- */

int64_t ms_lstm_hidden(const op_ctx *c, int hidden)
{
    int64_t size = op_attr_int(c, "hidden_size", -1);
    return size > 0 ? size : op_dim(c, 2, hidden);
}

int64_t ms_lstm_directions(const op_ctx *c)
{
    return str_is(op_attr_str(c, "direction", "forward"), "bidirectional") ? 2 : 1;
}

assay_status ms_lstm_infer(op_ctx *c, int hidden)
{
    ir_dtype t = op_dtype(c, 0);
    TRY(ms_want_rank(c, 0, 3));
    int64_t dims[] = {op_dim(c, 0, 0), ms_lstm_directions(c), op_dim(c, 0, 1),
                      ms_lstm_hidden(c, hidden)};
    TRY(op_set(c, 0, t, 4, dims));
    TRY(op_set(c, 1, t, 3, dims + 1));
    return op_set(c, 2, t, 3, dims + 1);
}

assay_status ms_known_activation(op_ctx *c)
{
    if (!ms_act_find(op_attr_str(c, "activation", "")))
        op_assume(c, "the fused activation is unknown; it was counted as 0");
    return ASSAY_OK;
}

void ms_read_rows(const op_ctx *c, op_cost *k, uint32_t i, int64_t positions)
{
    int64_t rows = ms_dim_min(op_dim(c, i, 0), positions);
    if (rows >= 0)
        op_read_elems(c, k, i, sat_mul(ms_u(rows), ms_u(op_dim(c, i, 1))));
}

void ms_conv_cost(const op_ctx *c, op_cost *k)
{
    uint64_t n = op_out_elems(c, 0);
    op_conv_cost(c, k);
    if (op_has(c, 3))
        op_count(c, k, &k->add, n);
    ms_act_cost(k, ms_act_find(op_attr_str(c, "activation", "")), n);
}
