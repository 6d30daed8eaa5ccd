/* Layers of NCNN without weights: element by element, views, joining, splitting, moving. */
#include <math.h>
#include <string.h>

#include "formats/ncnn/ncnn_impl.h"

/* ---- inputs and copies ---- */

/* Its outputs are its input: no node. */
bool nc_alias(nc_op *o)
{
    return layer_unary(&o->l, "Identity", NULL);
}

/* ---- activations ---- */

bool nc_relu(nc_op *o)
{
    double slope = nc_float(o, 0, 0);
    ir_attr_spec attrs[] = {IR_SPEC_FLOAT("alpha", slope), LAYER_END};
    return slope != 0 ? layer_unary(&o->l, "LeakyRelu", attrs) : layer_unary(&o->l, "Relu", NULL);
}

bool nc_clip(nc_op *o)
{
    return layer_clip(&o->l, o->l.in[0], IR_FLOAT32, nc_float(o, 0, (double)NAN),
                      nc_float(o, 1, (double)NAN));
}

bool nc_elu(nc_op *o)
{
    ir_attr_spec attrs[] = {IR_SPEC_FLOAT("alpha", nc_float(o, 0, 0.1)), LAYER_END};
    return layer_unary(&o->l, "Elu", attrs);
}

bool nc_celu(nc_op *o)
{
    ir_attr_spec attrs[] = {IR_SPEC_FLOAT("alpha", nc_float(o, 0, 1)), LAYER_END};
    return layer_unary(&o->l, "Celu", attrs);
}

bool nc_hard(nc_op *o)
{
    ir_attr_spec attrs[] = {IR_SPEC_FLOAT("alpha", nc_float(o, 0, 0.2)),
                            IR_SPEC_FLOAT("beta", nc_float(o, 1, 0.5)), LAYER_END};
    if (str_is(o->layer->type, "HardSigmoid"))
        return layer_unary(&o->l, "HardSigmoid", attrs);
    ir_id in[] = {o->l.in[0], layer_step(&o->l, "HardSigmoid", o->l.in, 1, attrs)};
    return made(layer_node_of(&o->l, NULL, "Mul", in, 2, NULL, 1));
}

bool nc_swish(nc_op *o)
{
    return layer_swish(&o->l, o->l.in[0]);
}

bool nc_mish(nc_op *o)
{
    return layer_mish(&o->l, o->l.in[0]);
}

bool nc_gelu(nc_op *o)
{
    const char *op = nc_int(o, 0, 0) ? "FastGelu" : "Gelu";
    return made(layer_node_of(&o->l, FOREIGN_MS, op, o->l.in, 1, NULL, 1));
}

/* ---- arithmetic ---- */

/* The operand with fewer axes gets new ones, at the inner end unless it is aligned there. */
static ir_id widened(nc_op *o, uint32_t small, uint32_t large)
{
    const nc_shape *s = &o->in[small], *l = &o->in[large];
    int64_t axes[NC_RANK];
    int n = 0, shift = nc_shift(l, s);
    if (s->rank == 0 || l->rank <= s->rank)
        return o->l.in[small];
    for (int k = 0; k < l->rank; k++)
        if (k < shift || k >= shift + s->rank)
            axes[n++] = k + 1;
    ir_id in[] = {o->l.in[small], layer_ints(&o->l, "axes", axes, n)};
    return layer_step(&o->l, "Unsqueeze", in, 2, NULL);
}

bool nc_binary(nc_op *o)
{
    static const char *const ops[] = {"Add", "Sub", "Mul", "Div", "Max",
                                      "Min", "Pow", "Sub", "Div", "Pow"};
    int64_t op = nc_int(o, 0, 0);
    if (op < 0 || op > 9)
        return false;
    ir_id in[2];
    if (o->l.n_in < 2) {
        in[0] = o->l.in[0];
        in[1] = layer_number(&o->l, "b", IR_FLOAT32, nc_float(o, 2, 0));
    } else {
        in[0] = widened(o, 0, 1);
        in[1] = widened(o, 1, 0);
    }
    ir_id turned[] = {in[1], in[0]};
    return made(layer_node_of(&o->l, NULL, ops[op], op >= 7 ? turned : in, 2, NULL, 1));
}

bool nc_unary(nc_op *o)
{
    static const char *const ops[] = {"Abs",  "Neg",        "Floor", "Ceil", NULL,   "Sqrt", NULL,
                                      "Exp",  "Log",        "Sin",   "Cos",  "Tan",  "Asin", "Acos",
                                      "Atan", "Reciprocal", "Tanh",  NULL,   "Round"};
    int64_t op = nc_int(o, 0, 0);
    if (op == 4) {
        ir_id in[] = {o->l.in[0], o->l.in[0]};
        return made(layer_node_of(&o->l, NULL, "Mul", in, 2, NULL, 1));
    }
    if (op == 6) {
        ir_id root = layer_step(&o->l, "Sqrt", o->l.in, 1, NULL);
        return made(layer_node_of(&o->l, NULL, "Reciprocal", &root, 1, NULL, 1));
    }
    bool known = op >= 0 && op < (int64_t)(sizeof ops / sizeof *ops) && ops[op];
    return known && layer_unary(&o->l, ops[op], NULL);
}

/* Two or more inputs; coefficients of 1 are left out. */
bool nc_eltwise(nc_op *o)
{
    static const char *const ops[] = {"Mul", "Add", "Max"};
    double list[NC_LIST];
    int64_t op = nc_int(o, 0, 0);
    int n = nc_floats(o, 1, list);
    if (op < 0 || op > 2 || o->l.n_in < 2 || n > NC_LIST)
        return false;
    ir_id sum = o->l.in[0];
    for (uint32_t i = 0; i < o->l.n_in; i++) {
        ir_id x = o->l.in[i];
        if (op == 1 && (int)i < n && list[i] != 1) {
            ir_id in[] = {x, layer_number(&o->l, "coefficient", IR_FLOAT32, list[i])};
            x = layer_step(&o->l, "Mul", in, 2, NULL);
        }
        ir_id both[] = {sum, x};
        sum = i == 0              ? x
              : i + 1 < o->l.n_in ? layer_step(&o->l, ops[op], both, 2, NULL)
              : made(layer_node_of(&o->l, NULL, ops[op], both, 2, NULL, 1)) ? o->l.out[0]
                                                                            : IR_NONE;
    }
    return sum != IR_NONE;
}

/* ---- joining and splitting ---- */

bool nc_concat(nc_op *o)
{
    int64_t axis = nc_int(o, 0, 0);
    axis = o->in[0].rank ? nc_axis(&o->in[0], axis) : axis < 0 ? axis : axis + 1;
    ir_attr_spec attrs[] = {IR_SPEC_INT("axis", axis), LAYER_END};
    return made(layer_node_of(&o->l, NULL, "Concat", o->l.in, o->l.n_in, attrs, 1));
}

bool nc_slice(nc_op *o)
{
    int64_t axis = nc_axis(&o->in[0], nc_int(o, 1, 0)), list[NC_LIST];
    for (uint32_t i = 0; i < o->l.n_out; i++) {
        if (axis < 1 || i >= NC_LIST || !o->out[i].rank || o->out[i].d[axis - 1] < 0)
            return false;
        list[i] = o->out[i].d[axis - 1];
    }
    ir_attr_spec attrs[] = {IR_SPEC_INT("axis", axis), LAYER_END};
    ir_id in[] = {o->l.in[0], layer_ints(&o->l, "split", list, (int)o->l.n_out)};
    return made(layer_node(&o->l, NULL, "Split", in, 2, attrs));
}

/* Every term has the batch in front. */
bool nc_einsum(nc_op *o)
{
    char text[NC_LIST + 1], all[4 * NC_LIST] = "...";
    if (!nc_equation(o, text, sizeof text))
        return false;
    char *to = all + 3;
    for (const char *p = text; *p && to < all + sizeof all - 8; p++) {
        *to++ = *p;
        if (*p == ',' || *p == '>')
            to = (char *)memcpy(to, "...", 3) + 3;
    }
    *to = '\0';
    ir_attr_spec attrs[] = {IR_SPEC_TEXT("equation", all), LAYER_END};
    return made(layer_node_of(&o->l, NULL, "Einsum", o->l.in, o->l.n_in, attrs, 1));
}

/* ---- views ---- */

/* dims are the sizes of the output; the batch is copied. */
static bool reshape_to(nc_op *o, int64_t *dims, int n)
{
    int open = 0;
    dims[0] = 0;
    for (int k = 1; k < n; k++)
        open += dims[k] < 0;
    return o->out[0].rank && open <= 1 && layer_reshape(&o->l, o->l.in[0], dims, n);
}

static bool reshape_to_output(nc_op *o)
{
    int64_t dims[NC_RANK + 1];
    int n = nc_dims(&o->out[0], dims);
    return reshape_to(o, dims, n);
}

/* The size that the file leaves open stays open, so that it follows the size of the input. */
bool nc_reshape(nc_op *o)
{
    static const int64_t keys[][4] = {{0}, {1, 0}, {2, 1, 0}, {2, 11, 1, 0}};
    int64_t dims[NC_RANK + 1];
    int n = nc_dims(&o->out[0], dims);
    for (int k = 1; k < n && n <= 5 && !nc_text(o, 6).n; k++)
        if (nc_int(o, keys[n - 2][k - 1], 0) == -1)
            dims[k] = -1;
    return !nc_int(o, 3, 0) && reshape_to(o, dims, n);
}

bool nc_view(nc_op *o)
{
    return reshape_to_output(o);
}

bool nc_flatten(nc_op *o)
{
    ir_attr_spec attrs[] = {IR_SPEC_INT("axis", 1), LAYER_END};
    return layer_unary(&o->l, "Flatten", attrs);
}

bool nc_permute(nc_op *o)
{
    int64_t perm[NC_RANK], all[NC_RANK + 1] = {0};
    int n = nc_permutation(o, o->in[0].rank, perm);
    for (int k = 0; k < n; k++)
        all[k + 1] = perm[k] + 1;
    return n > 0 && layer_transpose(&o->l, o->l.in[0], all, n + 1);
}

/* ---- moving ---- */

bool nc_interp(nc_op *o)
{
    static const char *const modes[] = {"nearest", "nearest", "linear", "cubic"};
    const nc_shape *x = &o->in[0], *y = &o->out[0];
    int64_t kind = nc_int(o, 0, 0), sizes[NC_RANK + 1];
    bool align = nc_int(o, 6, 0) != 0, whole = x->rank == 3;
    if (kind < 0 || kind > 3 || y->rank != 3 || (x->rank != 3 && x->rank != 1))
        return false;
    float scales[4] = {1, 1, 1, 1};
    for (int k = 1; k < 3; k++) {
        if (y->d[k] < 0)
            return false;
        whole &= x->d[k] > 0 && y->d[k] % x->d[k] == 0;
        scales[k + 1] = whole ? (float)(y->d[k] / x->d[k]) : 1;
    }
    ir_attr_spec attrs[] = {IR_SPEC_TEXT("mode", modes[kind]),
                            IR_SPEC_TEXT("coordinate_transformation_mode", align ? "align_corners"
                                                                           : kind < 2
                                                                               ? "asymmetric"
                                                                               : "half_pixel"),
                            IR_SPEC_TEXT("nearest_mode", "floor"), LAYER_END};
    ir_id from = o->l.in[0];
    if (x->rank == 1) {
        static const int64_t axes[] = {2, 3};
        ir_id wide[] = {from, layer_ints(&o->l, "axes", axes, 2)};
        from = layer_step(&o->l, "Unsqueeze", wide, 2, NULL);
    }
    nc_dims(y, sizes);
    ir_id in[] = {from, IR_NONE, IR_NONE, IR_NONE};
    if (whole)
        in[2] = foreign_floats(o->l.f, o->l.name, "scales", scales, 4);
    else
        in[3] = layer_ints(&o->l, "sizes", sizes, 4);
    return made(layer_node_of(&o->l, NULL, "Resize", in, whole ? 3 : 4, attrs, 1));
}

bool nc_crop(nc_op *o)
{
    int64_t start[NC_RANK], size[NC_RANK];
    layer_slicing *s = ARENA_NEW(o->r->f.scratch, layer_slicing);
    if (!s || !nc_crop_of(o, start, size))
        return false;
    for (int k = 0; k < o->in[0].rank; k++) {
        if (size[k] < 0)
            return false;
        if (start[k] || size[k] != o->in[0].d[k])
            layer_slice_axis(s, k + 1, start[k], start[k] + size[k], 1);
    }
    return layer_slice(&o->l, o->l.in[0], s);
}

bool nc_pad(nc_op *o)
{
    int rank = o->in[0].rank, kind = (int)nc_int(o, 4, 0);
    int64_t pads[2 * (NC_RANK + 1)] = {0};
    if (rank == 0 || kind < 0 || kind > 2 || nc_int(o, 6, 0))
        return false;
    int n = rank + 1;
    pads[n - 1] = nc_int(o, 2, 0);
    pads[2 * n - 1] = nc_int(o, 3, 0);
    if (rank > 1) {
        pads[n - 2] = nc_int(o, 0, 0);
        pads[2 * n - 2] = nc_int(o, 1, 0);
    }
    if (rank > 2) {
        pads[1] = nc_int(o, 7, 0);
        pads[n + 1] = nc_int(o, 8, 0);
    }
    ir_attr_spec attrs[] = {IR_SPEC_TEXT("mode", kind == 0   ? "constant"
                                                 : kind == 1 ? "edge"
                                                             : "reflect"),
                            LAYER_END};
    ir_id in[] = {o->l.in[0], layer_ints(&o->l, "pads", pads, 2 * n),
                  layer_number(&o->l, "value", IR_FLOAT32, nc_float(o, 5, 0))};
    return made(layer_node_of(&o->l, NULL, "Pad", in, kind ? 2 : 3, attrs, 1));
}

bool nc_reduction(nc_op *o)
{
    static const char *const ops[] = {"ReduceSum", "ReduceL1",     "ReduceSumSquare", "ReduceMean",
                                      "ReduceMax", "ReduceMin",    "ReduceProd",      "ReduceL1",
                                      "ReduceL2",  "ReduceLogSum", "ReduceLogSumExp"};
    int64_t op = nc_int(o, 0, 0), axes[NC_RANK];
    unsigned bits = nc_reduced_axes(o);
    int n = 0;
    bool keep = nc_int(o, 4, 0) != 0;
    if (op < 0 || op > 10 || o->in[0].rank == 0 || nc_float(o, 2, 1) != 1)
        return false;
    for (int k = 0; k < o->in[0].rank; k++)
        if (bits >> k & 1)
            axes[n++] = k + 1;
    if (n == o->in[0].rank && !keep) { /* a blob has one axis at least */
        ir_attr_spec kept[] = {IR_SPEC_INT("keepdims", 1), IR_SPEC_INTS("axes", n, axes),
                               LAYER_END};
        static const int64_t one[] = {0, 1};
        ir_id in[] = {o->l.in[0], layer_ints(&o->l, "axes", axes, n)};
        bool sum = op == 0;
        if (sum)
            kept[1] = LAYER_END;
        ir_id x = layer_step(&o->l, ops[op], in, sum ? 2 : 1, kept);
        return layer_reshape(&o->l, x, one, 2);
    }
    return layer_reduce(&o->l, ops[op], o->l.in[0], axes, n, keep);
}

/* [g, c / g] swapped. */
bool nc_shuffle_channel(nc_op *o)
{
    const nc_shape *x = &o->in[0];
    int64_t group = nc_int(o, 0, 1);
    if (x->rank != 3 || group < 1 || x->d[0] % group || x->d[0] < 1)
        return false;
    if (nc_int(o, 1, 0))
        group = x->d[0] / group;
    int64_t dims[] = {0, group, x->d[0] / group, x->d[1], x->d[2]}, perm[] = {0, 2, 1, 3, 4};
    int64_t back[] = {0, x->d[0], x->d[1], x->d[2]};
    ir_id turned = layer_step_transpose(&o->l, layer_step_reshape(&o->l, o->l.in[0], dims, 5), perm,
                                        5);
    return x->d[1] > 0 && x->d[2] > 0 && layer_reshape(&o->l, turned, back, 4);
}

bool nc_pixel_shuffle(nc_op *o)
{
    bool down = str_is(o->layer->type, "Reorg");
    ir_attr_spec attrs[] = {IR_SPEC_INT("blocksize", nc_int(o, 0, 1)),
                            IR_SPEC_TEXT("mode", nc_int(o, 1, 0) ? "DCR" : "CRD"), LAYER_END};
    if (down)
        attrs[1] = LAYER_END;
    return layer_unary(&o->l, down ? "SpaceToDepth" : "DepthToSpace", attrs);
}
