/* Experimental operators of opset 1 that were never standardised but live on in old files; runtimes
 * still accept them under these names and attributes.
 *
 *   Affine              alpha x + beta             ParametricSoftplus  alpha log(1 + exp(beta x))
 *   Scale               scale x                    ScaledTanh          alpha tanh(beta x)
 *   ImageScaler         scale x + bias[channel]    Crop                [N,C,H,W] cut by `border`
 *   GivenTensorFill     a tensor of `values`       DynamicSlice is Slice with inputs (op_slice.c)
 */
#include "ops/op_util_cost.h"
#include "ops/op_util_eval.h"

/* border is [left, top, right, bottom]; `scale` = [height, width] fixes the size instead. */
static assay_status crop_plane(op_ctx *c, int64_t *dims)
{
    const int64_t *border = NULL, *scale = NULL;
    int n = op_attr_ints(c, "border", &border), n_scale = op_attr_ints(c, "scale", &scale);
    for (int d = 0; d < 2; d++) {
        int64_t *dim = &dims[2 + d];
        if (n_scale == 2)
            *dim = scale[d];
        else if (n == 4 && *dim >= 0 &&
                 (!num_sub(*dim, border[1 - d], dim) || !num_sub(*dim, border[3 - d], dim)))
            *dim = -1;
        if (*dim < 0 && op_dim(c, 0, 2 + d) >= 0)
            return op_fail(c, "%s is smaller than the cropped border", op_shape_text(c, 0));
    }
    return ASSAY_OK;
}

static assay_status crop(op_ctx *c)
{
    int64_t dims[4];
    if (op_rank(c, 0) < 0)
        return op_set_unknown(c, 0, op_dtype(c, 0));
    if (op_rank(c, 0) != 4)
        return op_fail(c, "the input must have rank 4, not %s", op_shape_text(c, 0));
    for (int d = 0; d < 4; d++)
        dims[d] = op_dim(c, 0, d);
    TRY(crop_plane(c, dims));
    return op_set(c, 0, op_dtype(c, 0), 4, dims);
}

/* The shape is an attribute, or the content or the shape of the input; extra_shape is appended. */
static assay_status given_tensor_fill(op_ctx *c)
{
    const int64_t *extra = NULL;
    ev_list shape;
    int n_extra = op_attr_ints(c, "extra_shape", &extra);
    bool as_shape = op_attr_int(c, "input_as_shape", 0) != 0;
    if (op_has(c, 0) && !as_shape)
        return op_set_shape_of(c, 0, IR_FLOAT32, 0);
    if (!ev_list_get(c, 0, "shape", &shape) || shape.n < 0)
        return op_set_unknown(c, 0, IR_FLOAT32);
    for (int k = 0; k < n_extra && shape.n < EV_LIST_MAX; k++)
        shape.v[shape.n++] = extra[k];
    for (int d = 0; d < shape.n; d++)
        shape.v[d] = shape.v[d] < 0 ? -1 : shape.v[d];
    return op_set(c, 0, IR_FLOAT32, shape.n, shape.v);
}

static void affine_cost(const op_ctx *c, op_cost *k)
{
    op_count_mix(c, k, (op_mix){.mul = 1, .add = 1}, op_out_elems(c, 0));
}

static void softplus_cost(const op_ctx *c, op_cost *k)
{
    op_count_mix(c, k, (op_mix){.special = 2, .mul = 2, .add = 1}, op_out_elems(c, 0));
}

static void scaled_tanh_cost(const op_ctx *c, op_cost *k)
{
    op_count_mix(c, k, (op_mix){.special = 1, .mul = 2}, op_out_elems(c, 0));
}

#define LEGACY(name_, type_, formula_, infer_, cost_, flags_, min_in_, max_in_)                   \
    {                                                                                             \
        OP_ROW("", name_, type_, "1", formula_, infer_, cost_), OP_SLOTS(min_in_, max_in_, 1, 1), \
            .flags = flags_, .backward = OP_BW_ELEMENTWISE, .saves = OP_SAVE_INPUTS               \
    }
#define EACH (OPF_ELEMENTWISE | OPF_INPLACE)

static const op_row rows[] = {
    LEGACY("Affine", "affine", "per element: 1 mul + 1 add", op_infer_like, affine_cost, EACH, 1,
           1),
    LEGACY("ImageScaler", "imagescaler", "per element: 1 mul + 1 add", op_infer_like, affine_cost,
           EACH, 1, 1),
    LEGACY("Scale", "scale", "per element: 1 mul", op_infer_like, op_cost_mul1, EACH, 1, 1),
    LEGACY("ParametricSoftplus", "softplus", "per element: 2 special + 2 mul + 1 add",
           op_infer_like, softplus_cost, EACH, 1, 1),
    LEGACY("ScaledTanh", "tanh", "per element: 1 special + 2 mul", op_infer_like, scaled_tanh_cost,
           EACH, 1, 1),
    LEGACY("Crop", "crop", "0 (data movement); reads the selected elements", crop, op_cost_taken,
           OPF_DATA_MOVE, 1, 1),
    LEGACY("GivenTensorFill", "fill", "0 (fills)", given_tensor_fill, op_cost_write_only,
           OPF_DATA_MOVE, 0, 1),
};

const op_rows op_legacy_rows = OP_ROWS(rows);
