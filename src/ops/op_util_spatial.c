/* Sliding windows for convolutions and pooling; the formulas are in the header. Every size comes
 * from a file, so all of it is checked arithmetic, and what would divide by zero fails first.
 */
#include "ops/op_util_spatial.h"

#include "ops/op_util_contract.h"
#include <assert.h>

/* Copies an attribute of exactly n integers, or fills with def when it is absent. */
static assay_status read_list(op_ctx *c, const char *name, int n, int64_t def, int64_t *out)
{
    const int64_t *list = NULL;
    int count = op_attr_ints(c, name, &list);
    if (count > 0 && count != n)
        return op_fail(c, "attribute %s has %d values for %d spatial axes of input %s", name, count,
                       n, op_shape_text(c, 0));
    for (int d = 0; d < n; d++)
        out[d] = count > 0 ? list[d] : def;
    return ASSAY_OK;
}

static assay_status check_positive(op_ctx *c, const char *name, int n, const int64_t *list)
{
    for (int d = 0; d < n; d++)
        if (list[d] < 1)
            return op_fail(c, "attribute %s must be at least 1, got %lld", name,
                           (long long)list[d]);
    return ASSAY_OK;
}

static assay_status read_pads(op_ctx *c, op_window *w)
{
    int64_t pads[2 * IR_MAX_RANK] = {0};
    TRY(read_list(c, "pads", 2 * w->n, 0, pads));
    for (int d = 0; d < w->n; d++) {
        w->begin[d] = pads[d];
        w->end[d] = pads[w->n + d];
    }
    return ASSAY_OK;
}

static op_pad_mode pad_mode(const op_ctx *c)
{
    str mode = op_attr_str(c, "auto_pad", "NOTSET");
    if (str_is(mode, "SAME_UPPER") || str_is(mode, "SAME_LOWER"))
        return OP_PAD_SAME;
    return str_is(mode, "VALID") ? OP_PAD_VALID : OP_PAD_EXPLICIT;
}

assay_status op_window_read(op_ctx *c, int n, op_window *w)
{
    const int64_t *kernel = NULL;
    *w = (op_window){.n = n, .mode = pad_mode(c), .ceil_mode = op_attr_int(c, "ceil_mode", 0) != 0};
    if (n < 0 || n > IR_MAX_RANK)
        return op_fail(c, "input %s has no spatial axes", op_shape_text(c, 0));
    TRY(read_list(c, "kernel_shape", n, -1, w->kernel));
    TRY(read_list(c, "strides", n, 1, w->stride));
    TRY(read_list(c, "dilations", n, 1, w->dilation));
    TRY(read_pads(c, w));
    if (op_attr_ints(c, "kernel_shape", &kernel) > 0)
        TRY(check_positive(c, "kernel_shape", n, w->kernel));
    TRY(check_positive(c, "strides", n, w->stride));
    return check_positive(c, "dilations", n, w->dilation);
}

assay_status op_window_from_weight(op_ctx *c, op_window *w, uint32_t weight, int first)
{
    int rank = op_rank(c, weight);
    if (rank < 0)
        return ASSAY_OK;
    if (rank != first + w->n)
        return op_fail(c, "weight %s does not match the %d spatial axes of input %s",
                       op_shape_text(c, weight), w->n, op_shape_text(c, 0));
    for (int d = 0; d < w->n; d++) {
        int64_t size = op_dim(c, weight, first + d);
        if (size >= 0 && w->kernel[d] >= 0 && size != w->kernel[d])
            return op_fail(c, "kernel_shape %s does not match the weight %s",
                           op_dims_text(c, w->n, w->kernel), op_shape_text(c, weight));
        if (size == 0)
            return op_fail(c, "weight %s has an empty kernel", op_shape_text(c, weight));
        if (size >= 0)
            w->kernel[d] = size;
    }
    return ASSAY_OK;
}

/* (kernel - 1) * dilation + 1. */
static bool extent(const op_window *w, int axis, int64_t *out)
{
    return num_mul(w->kernel[axis] - 1, w->dilation[axis], out) && num_add(*out, 1, out);
}

static assay_status too_large(op_ctx *c)
{
    return op_fail(c, "window sizes overflow for input %s", op_shape_text(c, 0));
}

static assay_status does_not_fit(op_ctx *c, const op_window *w)
{
    return op_fail(c, "kernel %s is larger than the padded input %s",
                   op_dims_text(c, w->n, w->kernel), op_shape_text(c, 0));
}

static int64_t floor_div(int64_t a, int64_t b)
{
    assert(b > 0);
    return a / b - (a % b < 0);
}

static assay_status strided(op_ctx *c, const op_window *w, int axis, int64_t in, int64_t *out)
{
    bool padded = w->mode == OP_PAD_EXPLICIT;
    int64_t begin = padded ? w->begin[axis] : 0, end = padded ? w->end[axis] : 0;
    int64_t stride = w->stride[axis], reach, room, size, last;
    if (!extent(w, axis, &reach) || !num_add(in, begin, &size) || !num_add(size, end, &room) ||
        !num_sub(room, reach, &room) || (w->ceil_mode && !num_add(room, stride - 1, &room)))
        return too_large(c);
    *out = floor_div(room, stride) + 1;
    if (w->ceil_mode && num_mul(*out - 1, stride, &last) && last >= size)
        --*out;
    if (*out > 0)
        return ASSAY_OK;
    *out = 0;
    return in == 0 ? ASSAY_OK : does_not_fit(c, w);
}

/* Size of the output along one axis. */
assay_status op_window_out(op_ctx *c, const op_window *w, int axis, int64_t in, int64_t *out)
{
    *out = -1;
    if (in < 0)
        return ASSAY_OK;
    if (w->mode == OP_PAD_SAME) {
        *out = num_ceil_div(in, w->stride[axis]);
        return ASSAY_OK;
    }
    return w->kernel[axis] < 0 ? ASSAY_OK : strided(c, w, axis, in, out);
}

assay_status op_window_out_transposed(op_ctx *c, const op_window *w, int axis, int64_t in,
                                      int64_t output_padding, int64_t *out)
{
    int64_t reach, full, same;
    *out = -1;
    if (in < 0 || w->kernel[axis] < 0)
        return ASSAY_OK;
    if (!extent(w, axis, &reach) || !num_mul(in - 1, w->stride[axis], &full) ||
        !num_add(full, reach, &full) || !num_add(full, output_padding, &full) ||
        !num_mul(in, w->stride[axis], &same))
        return too_large(c);
    if (w->mode == OP_PAD_SAME && full > same)
        full = same;
    if (w->mode == OP_PAD_EXPLICIT &&
        (!num_sub(full, w->begin[axis], &full) || !num_sub(full, w->end[axis], &full)))
        return too_large(c);
    *out = in == 0 || full < 0 ? 0 : full;
    return full <= 0 && in > 0 ? does_not_fit(c, w) : ASSAY_OK;
}

uint64_t op_window_elems(const op_ctx *c)
{
    const int64_t *kernel = NULL;
    int n = op_attr_ints(c, "kernel_shape", &kernel);
    int64_t elems = n > 0 ? op_product(kernel, 0, n) : 0;
    return elems < 0 ? 0 : (uint64_t)elems;
}

/* ---- convolution ---- */

static assay_status check_channels(op_ctx *c, const op_conv *v, int axis)
{
    int64_t group = op_attr_int(c, "group", 1);
    int64_t in = axis < 0 ? -1 : op_dim(c, 0, axis), per = op_dim(c, v->w, 1), want;
    int64_t maps = op_rank(c, v->w) > 0 ? op_dim(c, v->w, 0) : -1;
    if (group < 1)
        return op_fail(c, "attribute group must be at least 1, got %lld", (long long)group);
    if (maps >= 0 && maps % group)
        return op_fail(c, "%lld output channels of weight %s are not divisible into %lld groups",
                       (long long)maps, op_shape_text(c, v->w), (long long)group);
    if (in >= 0 && per >= 0 && (!num_mul(per, group, &want) || want != in))
        return op_fail(c, "input %s and weight %s do not match with group %lld",
                       op_shape_text(c, 0), op_shape_text(c, v->w), (long long)group);
    if (op_rank(c, v->b) == 1 && op_dim(c, v->b, 0) >= 0 && maps >= 0 && op_dim(c, v->b, 0) != maps)
        return op_fail(c, "bias %s does not match weight %s", op_shape_text(c, v->b),
                       op_shape_text(c, v->w));
    return ASSAY_OK;
}

static assay_status conv_rank(op_ctx *c, const op_conv *v, int *rank)
{
    *rank = op_rank(c, 0) >= 0 ? op_rank(c, 0) : op_rank(c, v->w);
    if (*rank >= 0 && *rank < 3)
        return op_fail(c, "input %s and weight %s must have at least rank 3", op_shape_text(c, 0),
                       op_shape_text(c, v->w));
    return ASSAY_OK;
}

static ir_dtype conv_type(const op_ctx *c, const op_conv *v)
{
    ir_dtype told = v->t != IR_UNDEFINED ? v->t : op_dtype(c, v->type_slot);
    return told != IR_UNDEFINED ? told : op_dtype(c, 0);
}

assay_status op_conv_infer(op_ctx *c)
{
    const op_conv *v = c->row->with;
    const ir_dtype type = conv_type(c, v);
    const bool last = v->channels_last ||
                      (v->asks_layout && op_attr_int(c, "channels_last", 0) != 0);
    int rank;
    int64_t dims[IR_MAX_RANK];
    op_window w;
    TRY(conv_rank(c, v, &rank));
    if (rank < 0)
        return op_set_unknown(c, 0, type);
    int first = last ? 1 : 2, channel = last ? rank - 1 : 1;
    TRY(op_window_read(c, rank - 2, &w));
    TRY(op_window_from_weight(c, &w, v->w, 2));
    TRY(check_channels(c, v, op_rank(c, 0) < 0 ? -1 : channel));
    dims[0] = op_dim(c, 0, 0);
    dims[channel] = op_dim(c, v->w, 0);
    for (int d = 0; d < w.n; d++)
        TRY(op_window_out(c, &w, d, op_dim(c, 0, first + d), &dims[first + d]));
    return op_set(c, 0, type, rank, dims);
}

void op_conv_cost(const op_ctx *c, op_cost *k)
{
    const op_conv *v = c->row->with;
    uint64_t out = op_out_elems(c, 0);
    op_add_mac(k, sat_mul(out, op_in_product(c, v->w, 1)));
    if (op_has(c, v->b))
        op_count(c, k, &k->add, out);
}

void op_conv_cost_requantised(const op_ctx *c, op_cost *k)
{
    op_conv_cost(c, k);
    op_count(c, k, &k->mul, sat_mul(op_out_elems(c, 0), 2));
}

/* ---- pooling ---- */

static assay_status pool_rank(op_ctx *c, int least)
{
    if (op_rank(c, 0) >= 0 && op_rank(c, 0) < least)
        return op_fail(c, "input %s must have at least rank %d", op_shape_text(c, 0), least);
    return ASSAY_OK;
}

assay_status op_pool_infer(op_ctx *c, ir_dtype t1, bool channels_last)
{
    int rank = op_rank(c, 0), first = channels_last ? 1 : 2;
    int64_t dims[IR_MAX_RANK];
    op_window w;
    TRY(pool_rank(c, 3));
    if (rank < 0) {
        TRY(op_set_unknown(c, 0, op_dtype(c, 0)));
        return op_set_unknown(c, 1, t1);
    }
    TRY(op_window_read(c, rank - 2, &w));
    memcpy(dims, op_dims(c, 0), (size_t)rank * sizeof *dims);
    for (int d = 0; d < w.n; d++)
        TRY(op_window_out(c, &w, d, dims[first + d], &dims[first + d]));
    TRY(op_set(c, 0, op_dtype(c, 0), rank, dims));
    return op_set(c, 1, t1, rank, dims);
}

assay_status op_global_pool_infer(op_ctx *c, bool channels_last)
{
    int rank = op_rank(c, 0), first = channels_last ? 1 : 2;
    int64_t dims[IR_MAX_RANK];
    TRY(pool_rank(c, 2));
    if (rank < 0)
        return op_set_unknown(c, 0, op_dtype(c, 0));
    memcpy(dims, op_dims(c, 0), (size_t)rank * sizeof *dims);
    for (int d = 0; d < rank - 2; d++)
        dims[first + d] = 1;
    return op_set(c, 0, op_dtype(c, 0), rank, dims);
}
