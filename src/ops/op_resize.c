/* Resize and its ancestor Upsample: the output is floor(input * scale) per axis, or given sizes.
 *
 *   Upsample-1  attributes width_scale, height_scale     Upsample-7  attribute scales
 *   Upsample-9  input 1 scales                           Resize-10   input 1 scales
 *   Resize-11+  inputs roi, scales, sizes (one of the last two; an empty one counts as absent);
 *               tf_crop_and_resize scales the region of interest instead of the whole axis
 *   Resize-18+  `axes` that the lists speak of, keep_aspect_ratio_policy for sizes
 *
 * The product is taken in float32, as runtimes do. Interpolation over d resized axes weighs 2^d
 * (linear) or 4^d (cubic) neighbours: one multiply and one add each; nearest only moves data.
 */
#include <math.h>

#include "ops/op_util_cost.h"
#include "ops/op_util_eval.h"

/* Which axis the k-th item of the lists speaks of. */
typedef struct resize_axes {
    int n;
    int axis[IR_MAX_RANK];
} resize_axes;

static assay_status resize_axes_of(op_ctx *c, int rank, resize_axes *a)
{
    const int64_t *given = NULL;
    int n = c->version >= 18 ? op_attr_ints(c, "axes", &given) : -1;
    a->n = n < 0 ? rank : n;
    if (a->n > rank)
        return op_fail(c, "%d axes for input %s", n, op_shape_text(c, 0));
    for (int k = 0; k < a->n; k++)
        TRY(op_axis(c, n < 0 ? k : given[k], rank, &a->axis[k]));
    return ASSAY_OK;
}

/* ---- by scales ---- */

static assay_status scale_dim(op_ctx *c, int64_t dim, double scale, int64_t *out)
{
    double n = floor((double)((float)dim * (float)scale));
    *out = -1;
    if (dim < 0)
        return ASSAY_OK;
    if (!(scale > 0) || !(n < 9e18))
        return op_fail(c, "cannot scale a dimension of %lld by %g", (long long)dim, scale);
    *out = dim > INT64_C(1) << 24 && scale == 1 ? dim : (int64_t)n;
    return ASSAY_OK;
}

/* The part of axis number k that tf_crop_and_resize looks at; 1 elsewhere. False when unknown. */
static bool crop_share(const op_ctx *c, const resize_axes *a, int k, double *share)
{
    double from = 0, to = 1;
    *share = 1;
    if (c->version < 11 ||
        !str_is(op_attr_str(c, "coordinate_transformation_mode", ""), "tf_crop_and_resize"))
        return true;
    if (!op_float_at(c, 1, k, &from) || !op_float_at(c, 1, (int64_t)k + a->n, &to))
        return false;
    *share = to - from;
    return true;
}

static assay_status by_scales(op_ctx *c, uint32_t input, const resize_axes *a, int64_t *dims)
{
    const op_val *v = op_value(c, input);
    if (v && v->n != a->n)
        return op_fail(c, "%lld scales for %d axes of %s", (long long)v->n, a->n,
                       op_shape_text(c, 0));
    for (int k = 0; k < a->n; k++) {
        double scale = 0, share = 1;
        int64_t *dim = &dims[a->axis[k]];
        if (!op_float_at(c, input, k, &scale) || !crop_share(c, a, k, &share))
            *dim = -1;
        else if (share == 1)
            TRY(scale_dim(c, *dim, scale, dim));
        else
            TRY(scale_dim(c, *dim, share * scale, dim));
    }
    return ASSAY_OK;
}

/* ---- by sizes ---- */

/* The one scale that keeps the aspect ratio: the smallest or largest of size / dim. */
static bool common_scale(const op_ctx *c, const resize_axes *a, const ev_list *sizes, bool smallest,
                         double *scale)
{
    *scale = smallest ? (double)INFINITY : 0;
    for (int k = 0; k < a->n; k++) {
        int64_t dim = op_dim(c, 0, a->axis[k]);
        if (!sizes->known[k] || dim <= 0)
            return false;
        double s = (double)sizes->v[k] / (double)dim;
        *scale = (smallest ? s < *scale : s > *scale) ? s : *scale;
    }
    return true;
}

static assay_status by_sizes(op_ctx *c, const resize_axes *a, int64_t *dims)
{
    ev_list sizes;
    double scale = 1;
    str policy = op_attr_str(c, "keep_aspect_ratio_policy", "stretch");
    bool smallest = str_is(policy, "not_larger"), keep = smallest || str_is(policy, "not_smaller");
    ev_list_get(c, 3, NULL, &sizes);
    if (sizes.n >= 0 && sizes.n != a->n)
        return op_fail(c, "%d sizes for %d axes of %s", sizes.n, a->n, op_shape_text(c, 0));
    bool scaled = keep && sizes.n >= 0 && common_scale(c, a, &sizes, smallest, &scale);
    for (int k = 0; k < a->n; k++) {
        int64_t *dim = &dims[a->axis[k]];
        bool known = sizes.n >= 0 && sizes.known[k];
        if (known && sizes.v[k] < 0)
            return op_fail(c, "invalid size %lld", (long long)sizes.v[k]);
        if (keep)
            *dim = scaled && scale * (double)*dim < 9e18
                       ? (int64_t)floor(scale * (double)*dim + 0.5)
                       : -1;
        else
            *dim = known ? sizes.v[k] : -1;
    }
    return ASSAY_OK;
}

/* ---- Resize ---- */

/* Present and not an empty list. */
static bool in_use(const op_ctx *c, uint32_t i)
{
    const op_val *v = op_value(c, i);
    return op_has(c, i) && op_numel(c->in[i]) != 0 && !(v && v->n == 0);
}

static assay_status resize(op_ctx *c)
{
    int rank = op_rank(c, 0);
    uint32_t scales = c->version >= 11 || c->n_in > 2 ? 2 : 1;
    int64_t dims[IR_MAX_RANK] = {0};
    resize_axes a = {0};
    if (rank < 0)
        return op_set_unknown(c, 0, op_dtype(c, 0));
    TRY(resize_axes_of(c, rank, &a));
    for (int d = 0; d < rank; d++)
        dims[d] = op_dim(c, 0, d);
    if (in_use(c, 3))
        TRY(by_sizes(c, &a, dims));
    else if (in_use(c, scales))
        TRY(by_scales(c, scales, &a, dims));
    else
        return op_fail(c, "no scales and no sizes");
    return op_set(c, 0, op_dtype(c, 0), rank, dims);
}

/* ---- Upsample ---- */

static assay_status by_attribute(op_ctx *c, int rank, int64_t *dims)
{
    const ir_attr *list = ir_attr_find(c->node, "scales");
    if (list && list->kind == IR_ATTR_FLOATS) {
        if (list->n != (uint32_t)rank)
            return op_fail(c, "%u scales for input %s", list->n, op_shape_text(c, 0));
        for (int d = 0; d < rank; d++)
            TRY(scale_dim(c, dims[d], list->v.floats[d], &dims[d]));
        return ASSAY_OK;
    }
    if (rank < 2)
        return op_fail(c, "input %s has no spatial axes to scale", op_shape_text(c, 0));
    TRY(scale_dim(c, dims[rank - 2], op_attr_float(c, "height_scale", 1), &dims[rank - 2]));
    return scale_dim(c, dims[rank - 1], op_attr_float(c, "width_scale", 1), &dims[rank - 1]);
}

static assay_status upsample(op_ctx *c)
{
    int rank = op_rank(c, 0);
    int64_t dims[IR_MAX_RANK];
    resize_axes a = {.n = rank};
    if (rank < 0)
        return op_set_unknown(c, 0, op_dtype(c, 0));
    for (int d = 0; d < rank; d++) {
        dims[d] = op_dim(c, 0, d);
        a.axis[d] = d;
    }
    if (op_has(c, 1))
        TRY(by_scales(c, 1, &a, dims));
    else
        TRY(by_attribute(c, rank, dims));
    return op_set(c, 0, op_dtype(c, 0), rank, dims);
}

/* ---- cost ---- */

/* 2 for linear, 4 for cubic, 0 for nearest. */
static uint64_t taps(const op_ctx *c)
{
    str mode = op_attr_str(c, "mode", "nearest");
    return str_is(mode, "linear") || str_is(mode, "bilinear") ? 2 : str_is(mode, "cubic") ? 4 : 0;
}

static void resize_cost(const op_ctx *c, op_cost *k)
{
    uint64_t per_axis = taps(c), neighbours = 1;
    int rank = op_rank(c, 0);
    for (int d = 0; per_axis && d < rank && rank == c->out[0].rank; d++)
        if (op_dim(c, 0, d) != c->out[0].dims[d])
            neighbours = sat_mul(neighbours, per_axis);
    if (per_axis == 0 || neighbours == 1)
        return;
    op_count(c, k, &k->mul, sat_mul(neighbours, op_out_elems(c, 0)));
    op_count(c, k, &k->add, sat_mul(neighbours, op_out_elems(c, 0)));
}

#define RESIZE(name_, versions_, infer_, aux_, max_in_)                     \
    {                                                                       \
        OP_ROW("", name_, "resize", versions_,                              \
               "nearest: 0; linear: 2^d mul + 2^d add per output element, " \
               "cubic: 4^d of each (d resized axes)",                       \
               infer_, resize_cost),                                        \
            OP_SLOTS(1, max_in_, 1, 1), .aux = aux_, .backward = OP_BW_SAME \
    }

static const op_row rows[] = {
    RESIZE("Resize", "10,11,13,18,19", resize, 0xe, 4),
    RESIZE("Upsample", "1,7,9,10", upsample, 2, 2),
};

const op_rows op_resize_rows = OP_ROWS(rows);
