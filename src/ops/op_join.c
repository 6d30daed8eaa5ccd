/* Joining tensors along an axis and splitting them again: bytes move, nothing is computed. */
#include "ops/op_util_cost.h"
#include "ops/op_util_eval.h"

/* ---- Concat ---- */

/* The rank that the inputs agree on; -1 when none is known. */
static assay_status common_rank(op_ctx *c, int *rank)
{
    *rank = -1;
    for (uint32_t i = 0; i < c->n_in; i++) {
        int r = op_rank(c, i);
        if (r >= 0 && *rank >= 0 && r != *rank)
            return op_fail(c, "input %u has shape %s, but another input has rank %d", i,
                           op_shape_text(c, i), *rank);
        if (r >= 0)
            *rank = r;
    }
    return ASSAY_OK;
}

static assay_status join_shape(op_ctx *c, uint32_t i, int rank, int axis, int64_t *dims)
{
    for (int d = 0; d < rank; d++) {
        int64_t dim = op_dim(c, i, d);
        if (d != axis && dim >= 0 && dims[d] >= 0 && dim != dims[d])
            return op_fail(c, "input %u has shape %s, which does not match %s on axis %d", i,
                           op_shape_text(c, i), op_dims_text(c, rank, dims), d);
        if (d != axis)
            dims[d] = dim >= 0 ? dim : dims[d];
        else if (dim < 0 || dims[d] < 0)
            dims[d] = -1;
        else if (!num_add(dims[d], dim, &dims[d]))
            return op_fail(c, "joined axis %d is too long to count", axis);
    }
    return ASSAY_OK;
}

static ir_dtype any_dtype(const op_ctx *c)
{
    ir_dtype t = IR_UNDEFINED;
    for (uint32_t i = 0; i < c->n_in && t == IR_UNDEFINED; i++)
        t = op_dtype(c, i);
    return t;
}

static assay_status concat(op_ctx *c)
{
    int rank = -1, axis = 0;
    int64_t dims[IR_MAX_RANK];
    TRY(common_rank(c, &rank));
    if (rank < 0)
        return op_set_unknown(c, 0, any_dtype(c));
    TRY(op_axis(c, op_attr_int(c, "axis", 1), rank, &axis));
    for (int d = 0; d < rank; d++)
        dims[d] = d == axis ? 0 : -1;
    for (uint32_t i = 0; i < c->n_in; i++)
        if (op_has(c, i))
            TRY(join_shape(c, i, rank, axis, dims));
    return op_set(c, 0, any_dtype(c), rank, dims);
}

/* Each input is a run of `inner` cells in every one of the `outer` rows of the output. */
static assay_status concat_value(op_ctx *c)
{
    int rank = c->n_out ? c->out[0].rank : -1, axis = 0;
    bool any = false;
    for (uint32_t i = 0; i < c->n_in; i++)
        any |= ev_input(c, i) != NULL;
    op_val *v = rank > 0 && any ? ev_output(c, 0) : NULL;
    if (!v || v->n == 0)
        return ev_finish(c, 0, v);
    TRY(op_axis(c, op_attr_int(c, "axis", 1), rank, &axis));
    int64_t cell = op_product(c->out[0].dims, axis + 1, rank), at = 0;
    int64_t row = cell * c->out[0].dims[axis];
    for (uint32_t i = 0; i < c->n_in; i++) {
        if (!op_has(c, i))
            continue;
        const op_val *in = ev_input(c, i);
        int64_t inner = cell * op_dim(c, i, axis);
        for (int64_t k = 0, r = 0; in && k < in->n; k += inner, r++)
            ev_copy_run(v, r * row + at, in, k, inner);
        at += inner;
    }
    return ev_finish(c, 0, v);
}

/* ---- Split ---- */

/* Length of part o when the axis of length dim is cut into n equal parts, the last one shorter. */
static int64_t equal_part(int64_t dim, int64_t n, uint32_t o)
{
    if (dim < 0)
        return -1;
    int64_t chunk = num_ceil_div(dim, n), begin;
    if (!num_mul(chunk, (int64_t)o, &begin) || begin >= dim)
        return 0;
    return dim - begin < chunk ? dim - begin : chunk;
}

typedef struct split_plan {
    int axis;
    int64_t dim;
    bool listed; /* lengths are given, by input 1 or by attribute */
    const int64_t *list;
    int n_list;
} split_plan;

static assay_status split_plan_of(op_ctx *c, split_plan *p)
{
    *p = (split_plan){.n_list = -1};
    TRY(op_axis(c, op_attr_int(c, "axis", 0), op_rank(c, 0), &p->axis));
    p->dim = op_dim(c, 0, p->axis);
    if (!op_has(c, 1))
        p->n_list = op_attr_ints(c, "split", &p->list);
    p->listed = op_has(c, 1) || p->n_list >= 0;
    return ASSAY_OK;
}

/* Length of part o: -1 when not known, less when it is nonsense. */
static int64_t split_part(const op_ctx *c, const split_plan *p, uint32_t o)
{
    int64_t length = -1;
    if (!p->listed)
        return equal_part(p->dim, c->n_out, o);
    if (p->n_list >= 0 && (int64_t)o < p->n_list)
        length = p->list[o];
    else if (p->n_list >= 0 || !op_int_at(c, 1, o, &length))
        return -1;
    return length < 0 ? -2 : length;
}

static assay_status check_split(op_ctx *c, const split_plan *p)
{
    int64_t sum = 0;
    bool known = true;
    if (!p->listed && c->version < 18 && p->dim >= 0 && c->n_out && p->dim % c->n_out != 0)
        return op_fail(c, "axis %d of %s is not divisible into %u equal parts", p->axis,
                       op_shape_text(c, 0), c->n_out);
    for (uint32_t o = 0; o < c->n_out; o++) {
        int64_t part = split_part(c, p, o);
        if (part < -1)
            return op_fail(c, "part %u has a negative length", o);
        known &= part >= 0 && num_add(sum, part, &sum);
    }
    if (known && p->dim >= 0 && sum != p->dim)
        return op_fail(c, "the parts add up to %lld, but axis %d of %s has %lld", (long long)sum,
                       p->axis, op_shape_text(c, 0), (long long)p->dim);
    return ASSAY_OK;
}

static assay_status split(op_ctx *c)
{
    int rank = op_rank(c, 0);
    split_plan p;
    int64_t dims[IR_MAX_RANK];
    for (uint32_t o = 0; o < c->n_out; o++)
        TRY(op_set_unknown(c, o, op_dtype(c, 0)));
    if (rank < 0)
        return ASSAY_OK;
    TRY(split_plan_of(c, &p));
    TRY(check_split(c, &p));
    for (int d = 0; d < rank; d++)
        dims[d] = op_dim(c, 0, d);
    for (uint32_t o = 0; o < c->n_out; o++) {
        dims[p.axis] = split_part(c, &p, o);
        TRY(op_set(c, o, op_dtype(c, 0), rank, dims));
    }
    return ASSAY_OK;
}

static assay_status split_value(op_ctx *c)
{
    split_plan p;
    int64_t strides[IR_MAX_RANK], at = 0;
    if (!ev_input(c, 0) || op_numel(c->in[0]) == 0)
        return ASSAY_OK;
    TRY(split_plan_of(c, &p));
    ev_strides(op_rank(c, 0), op_dims(c, 0), strides);
    for (uint32_t o = 0; o < c->n_out; o++) {
        int64_t part = split_part(c, &p, o);
        if (part < 0 || part > p.dim - at)
            return ASSAY_OK;
        TRY(ev_strided(c, o, 0, at * strides[p.axis], strides));
        at += part;
    }
    return ASSAY_OK;
}

static const op_row rows[] = {
    {OP_ROW("", "Concat", "concat", "1,4,11,13", "0 (data movement)", concat, NULL),
     OP_SLOTS(1, 255, 1, 1), .value = concat_value, .flags = OPF_DATA_MOVE, .backward = OP_BW_MOVE,
     .saves = OP_SAVE_NOTHING},
    {OP_ROW("", "Split", "split", "1,2,11,13,18", "0 (data movement)", split, NULL),
     OP_SLOTS(1, 2, 1, 255), .value = split_value, .aux = 1u << 1, .flags = OPF_DATA_MOVE,
     .backward = OP_BW_MOVE, .saves = OP_SAVE_NOTHING},
};

const op_rows op_join_rows = OP_ROWS(rows);
