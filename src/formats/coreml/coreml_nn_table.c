/* The layers of Core ML's neural networks and what they become. Those that are not here are unknown. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "formats/coreml/coreml_nn.h"

static int64_t size_of(const nn_op *o, uint32_t field)
{
    return (int64_t)(wire_find_u64(o->params, field, 0) & INT32_MAX);
}

/* ---- windows ---- */

/* 1 valid {1 amounts {10 edges {1 start, 2 end}}}, or same. */
static void take_pads(cursor params, uint32_t valid, uint32_t same, layer_window *w)
{
    wire_field f;
    cursor amounts = wire_sub(wire_sub(params, valid), 1);
    int i = 0;
    if (wire_has(params, same)) {
        w->auto_pad = wire_find_u64(wire_sub(params, same), 1, 0) ? "SAME_LOWER" : "SAME_UPPER";
        return;
    }
    while (i < w->n && wire_next(&amounts, &f))
        if (f.number == 10 && f.type == WIRE_LEN) {
            w->pads[i] = (int64_t)(wire_find_u64(f.body, 1, 0) & INT32_MAX);
            w->pads[w->n + i++] = (int64_t)(wire_find_u64(f.body, 2, 0) & INT32_MAX);
        }
}

static void take_sizes(cursor params, uint32_t field, int64_t def, int64_t *to)
{
    int64_t list[ML_LIST];
    int n = ml_list(params, field, list);
    for (int i = 0; i < 2; i++)
        to[i] = i < n && list[i] > 0 && list[i] < INT32_MAX ? list[i] : def;
}

static bool nn_conv(nn_op *o)
{
    layer_window w = {.n = 2, .has_kernel = true, .has_strides = true, .has_dilations = true};
    bool grows = wire_find_u64(o->params, 60, 0) != 0;
    int64_t outputs = size_of(o, 1), inputs = size_of(o, 2), list[ML_LIST];
    int64_t group = (int64_t)(wire_find_u64(o->params, 10, 1) & INT32_MAX);
    group = group ? group : 1;
    take_sizes(o->params, 20, 3, w.kernel);
    take_sizes(o->params, 30, 1, w.strides);
    take_sizes(o->params, 40, 1, w.dilations);
    take_pads(o->params, 50, 51, &w);
    int64_t dims[] = {grows ? inputs : outputs, grows ? outputs / group : inputs, w.kernel[0],
                      w.kernel[1]};
    ir_attr_spec attrs[LAYER_WINDOW_ATTRS + 3] = {{0}};
    int k = layer_window_attrs(&w, attrs);
    attrs[k++] = IR_SPEC_INT("group", group);
    if (grows && ml_list(o->params, 100, list) == 2)
        attrs[k] = IR_SPEC_INTS("output_shape", 2, list);
    if (o->l.n_in < 1 || outputs < 1 || inputs < 1)
        return false;
    ir_id in[] = {o->l.in[0], nn_weight(o, o->params, 90, "weight", 4, dims),
                  nn_weight(o, o->params, 91, "bias", 1, &outputs)};
    return in[1] != IR_NONE && made(layer_node_of(&o->l, NULL, grows ? "ConvTranspose" : "Conv", in,
                                                  in[2] == IR_NONE ? 2 : 3, attrs, 1));
}

static bool nn_pool(nn_op *o)
{
    bool max = wire_find_u64(o->params, 1, 0) == 0;
    layer_window w = {.n = 2, .has_kernel = true, .has_strides = true};
    int64_t list[ML_LIST];
    if (wire_find_u64(o->params, 1, 0) > 1)
        return false;
    if (wire_find_u64(o->params, 60, 0))
        return layer_unary(&o->l, max ? "GlobalMaxPool" : "GlobalAveragePool", NULL);
    take_sizes(o->params, 10, 3, w.kernel);
    take_sizes(o->params, 20, 1, w.strides);
    take_pads(o->params, 30, 31, &w);
    bool last = wire_has(o->params, 32);
    int n = last ? ml_list(wire_sub(o->params, 32), 10, list) : 0;
    for (int i = 0; i < n && i < 2; i++)
        w.pads[i] = w.pads[2 + i] = list[i];
    ir_attr_spec attrs[LAYER_WINDOW_ATTRS + 3] = {{0}};
    int k = layer_window_attrs(&w, attrs);
    attrs[k++] = IR_SPEC_INT("ceil_mode", last);
    if (!max)
        attrs[k] = IR_SPEC_INT("count_include_pad", !wire_find_u64(o->params, 50, 0));
    return layer_unary(&o->l, max ? "MaxPool" : "AveragePool", attrs);
}

/* ---- products ---- */

/* Old values have two axes of 1 behind the channels: a convolution of one pixel. */
static bool nn_dense(nn_op *o)
{
    int64_t in_size = size_of(o, 1), outputs = size_of(o, 2), dims[] = {outputs, in_size, 1, 1};
    ir_attr_spec turned[] = {IR_SPEC_INT("transB", 1), LAYER_END};
    if (o->l.n_in < 1 || in_size < 1 || outputs < 1)
        return false;
    ir_id w = nn_weight(o, o->params, 20, "weight", o->old ? 4 : 2, dims);
    ir_id in[] = {o->l.in[0], w, nn_weight(o, o->params, 21, "bias", 1, &outputs)};
    if (w == IR_NONE)
        return false;
    if (o->old)
        return made(layer_node_of(&o->l, NULL, "Conv", in, in[2] == IR_NONE ? 2 : 3, NULL, 1));
    if (in[2] == IR_NONE)
        return made(layer_node_of(&o->l, FOREIGN_MS, "FusedMatMul", in, 2, turned, 1));
    ir_id sum[] = {layer_step_in(&o->l, FOREIGN_MS, "FusedMatMul", in, 2, turned), in[2]};
    return made(layer_node_of(&o->l, NULL, "Add", sum, 2, NULL, 1));
}

/* Weights of the layer are stored column by column: [second, first]. */
static bool nn_matmul(nn_op *o)
{
    int64_t dims[] = {size_of(o, 6), size_of(o, 5)};
    bool own = wire_has(o->params, 8);
    ir_id in[] = {layer_input(&o->l, 0),
                  own ? nn_weight(o, o->params, 8, "weight", 2, dims) : layer_input(&o->l, 1)};
    ir_id bias = own ? nn_weight(o, o->params, 9, "bias", 1, &dims[0]) : IR_NONE;
    ir_attr_spec attrs[] = {IR_SPEC_INT("transA", (int64_t)wire_find_u64(o->params, 1, 0)),
                            IR_SPEC_INT("transB", own || wire_find_u64(o->params, 2, 0)),
                            LAYER_END};
    if (in[0] == IR_NONE || in[1] == IR_NONE)
        return false;
    if (bias == IR_NONE)
        return made(layer_node_of(&o->l, FOREIGN_MS, "FusedMatMul", in, 2, attrs, 1));
    ir_id sum[] = {layer_step_in(&o->l, FOREIGN_MS, "FusedMatMul", in, 2, attrs), bias};
    return made(layer_node_of(&o->l, NULL, "Add", sum, 2, NULL, 1));
}

/* ---- activations ---- */

/* alpha * x + beta. */
static bool linear_activation(nn_op *o, cursor p)
{
    ir_id scaled[] = {o->l.in[0], layer_number(&o->l, "alpha", IR_FLOAT32, wire_find_f32(p, 1, 0))};
    ir_id product = layer_step(&o->l, "Mul", scaled, 2, NULL);
    ir_id in[] = {product, layer_number(&o->l, "beta", IR_FLOAT32, wire_find_f32(p, 2, 0))};
    return made(layer_node_of(&o->l, NULL, "Add", in, 2, NULL, 1));
}

/* alpha * tanh(beta * x). */
static bool scaled_tanh(nn_op *o, cursor p)
{
    ir_id scaled[] = {o->l.in[0], layer_number(&o->l, "beta", IR_FLOAT32, wire_find_f32(p, 2, 0))};
    ir_id inner = layer_step(&o->l, "Mul", scaled, 2, NULL);
    ir_id curve = layer_step(&o->l, "Tanh", &inner, 1, NULL);
    ir_id in[] = {curve, layer_number(&o->l, "alpha", IR_FLOAT32, wire_find_f32(p, 1, 0))};
    return made(layer_node_of(&o->l, NULL, "Mul", in, 2, NULL, 1));
}

static bool nn_activation(nn_op *o)
{
    static const struct {
        uint32_t field;
        const char *op;
        bool alpha, beta;
    } rows[] = {{10, "Relu", 0, 0}, {15, "LeakyRelu", 1, 0}, {20, "ThresholdedRelu", 1, 0},
                {30, "Tanh", 0, 0}, {40, "Sigmoid", 0, 0},   {41, "HardSigmoid", 1, 1},
                {50, "Elu", 1, 0},  {60, "Softsign", 0, 0},  {70, "Softplus", 0, 0}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (!wire_has(o->params, rows[i].field) || o->l.n_in != 1)
            continue;
        cursor p = wire_sub(o->params, rows[i].field);
        ir_attr_spec attrs[3] = {{0}};
        if (rows[i].alpha)
            attrs[0] = IR_SPEC_FLOAT("alpha", wire_find_f32(p, 1, 0));
        if (rows[i].beta)
            attrs[1] = IR_SPEC_FLOAT("beta", wire_find_f32(p, 2, 0));
        return layer_unary(&o->l, rows[i].op, attrs);
    }
    if (wire_has(o->params, 5) && o->l.n_in == 1)
        return linear_activation(o, wire_sub(o->params, 5));
    if (wire_has(o->params, 31) && o->l.n_in == 1)
        return scaled_tanh(o, wire_sub(o->params, 31));
    if (wire_has(o->params, 25) && o->l.n_in == 1) {
        wire_field f;
        cursor alpha = wire_sub(wire_sub(wire_sub(o->params, 25), 1), 1);
        int64_t dims[] = {(int64_t)(cursor_left(&alpha) / 4), 1, 1};
        ir_id in[] = {o->l.in[0], wire_find(o->params, 25, &f)
                                      ? nn_weight(o, f.body, 1, "alpha", 3, dims)
                                      : IR_NONE};
        return in[1] != IR_NONE && made(layer_node_of(&o->l, NULL, "PRelu", in, 2, NULL, 1));
    }
    return false;
}

static bool nn_softmax(nn_op *o)
{
    int64_t axis = o->kind == 950 ? (int64_t)wire_find_u64(o->params, 1, 0) : o->old ? 1 : -1;
    ir_attr_spec attrs[] = {IR_SPEC_INT("axis", axis), LAYER_END};
    return layer_unary(&o->l, "Softmax", attrs);
}

static bool nn_unary(nn_op *o)
{
    static const char *const ops[] = {"Sqrt", NULL, "Reciprocal", NULL, "Exp", "Log", "Abs", NULL};
    uint64_t type = wire_find_u64(o->params, 1, 0);
    bool plain = wire_find_f32(o->params, 4, 0) == 0 && wire_find_f32(o->params, 5, 1) == 1;
    if (type > 7 || !plain)
        return false;
    if (ops[type])
        return layer_unary(&o->l, ops[type], NULL);
    if (type == 1) {
        ir_id root = layer_step(&o->l, "Sqrt", o->l.in, 1, NULL);
        return made(layer_node_of(&o->l, NULL, "Reciprocal", &root, 1, NULL, 1));
    }
    if (type != 3)
        return false;
    ir_id in[] = {o->l.in[0],
                  layer_number(&o->l, "power", IR_FLOAT32, wire_find_f32(o->params, 2, 1))};
    return made(layer_node_of(&o->l, NULL, "Pow", in, 2, NULL, 1));
}

/* ---- normalisation ---- */

static bool nn_batch_norm(nn_op *o)
{
    int64_t n = size_of(o, 1);
    bool instance = wire_find_u64(o->params, 6, 0) != 0;
    ir_id in[] = {layer_input(&o->l, 0), nn_weight(o, o->params, 15, "gamma", 1, &n),
                  nn_weight(o, o->params, 16, "beta", 1, &n),
                  nn_weight(o, o->params, 17, "mean", 1, &n),
                  nn_weight(o, o->params, 18, "variance", 1, &n)};
    ir_attr_spec attrs[] = {IR_SPEC_FLOAT("epsilon", wire_find_f32(o->params, 10, 1e-5)),
                            LAYER_END};
    uint32_t want = instance ? 3 : 5;
    for (uint32_t i = 0; i < want; i++)
        if (in[i] == IR_NONE)
            return false;
    return made(layer_node_of(&o->l, NULL,
                              instance ? "InstanceNormalization" : "BatchNormalization", in, want,
                              attrs, 1));
}

static bool nn_lrn(nn_op *o)
{
    ir_attr_spec attrs[] = {IR_SPEC_INT("size", size_of(o, 3)),
                            IR_SPEC_FLOAT("alpha", wire_find_f32(o->params, 1, 0)),
                            IR_SPEC_FLOAT("beta", wire_find_f32(o->params, 2, 0)),
                            IR_SPEC_FLOAT("bias", wire_find_f32(o->params, 4, 1)), LAYER_END};
    return layer_unary(&o->l, "LRN", attrs);
}

/* Weights of a shape [C] or [C,H,W]. */
static ir_id shaped_weight(nn_op *o, uint32_t shape, uint32_t field, const char *what)
{
    int64_t list[ML_LIST], dims[3] = {1, 1, 1};
    int n = ml_list(o->params, shape, list);
    for (int i = 0; i < n && i < 3; i++)
        dims[i] = list[i];
    return n < 1 || n > 3 ? IR_NONE : nn_weight(o, o->params, field, what, 3, dims);
}

static bool nn_scale(nn_op *o)
{
    ir_id in[] = {layer_input(&o->l, 0), shaped_weight(o, 1, 2, "scale")};
    bool bias = wire_find_u64(o->params, 3, 0) != 0;
    if (in[0] == IR_NONE || in[1] == IR_NONE)
        return false;
    if (!bias)
        return made(layer_node_of(&o->l, NULL, "Mul", in, 2, NULL, 1));
    ir_id sum[] = {layer_step(&o->l, "Mul", in, 2, NULL), shaped_weight(o, 4, 5, "bias")};
    return sum[1] != IR_NONE && made(layer_node_of(&o->l, NULL, "Add", sum, 2, NULL, 1));
}

static bool nn_bias(nn_op *o)
{
    ir_id in[] = {layer_input(&o->l, 0), shaped_weight(o, 1, 2, "bias")};
    return in[0] != IR_NONE && in[1] != IR_NONE &&
           made(layer_node_of(&o->l, NULL, "Add", in, 2, NULL, 1));
}

/* ---- arithmetic of several inputs ---- */

/* One input takes a number of the layer. */
static bool nn_many(nn_op *o)
{
    ir_id x = layer_input(&o->l, 0);
    if (o->l.n_in == 1) {
        ir_id in[] = {x, layer_number(&o->l, "alpha", IR_FLOAT32, wire_find_f32(o->params, 1, 0))};
        return made(layer_node_of(&o->l, NULL, o->op, in, 2, NULL, 1));
    }
    for (uint32_t i = 1; i < o->l.n_in; i++) {
        ir_id in[] = {x, o->l.in[i]};
        if (i + 1 == o->l.n_in)
            return made(layer_node_of(&o->l, NULL, o->op, in, 2, NULL, 1));
        x = layer_step(&o->l, o->op, in, 2, NULL);
    }
    return false;
}

/* ---- shapes ---- */

static bool nn_flatten(nn_op *o)
{
    static const int64_t old[] = {0, -1, 1, 1}, nd[] = {0, -1}, last[] = {0, 2, 3, 1};
    ir_id x = layer_input(&o->l, 0);
    if (x == IR_NONE)
        return false;
    if (wire_find_u64(o->params, 1, 0))
        x = layer_step_transpose(&o->l, x, last, 4);
    return o->old ? layer_reshape(&o->l, x, old, 4) : layer_reshape(&o->l, x, nd, 2);
}

/* [C,H,W] or [Seq,C,H,W], channels first; or exact sizes. */
static bool nn_reshape(nn_op *o)
{
    int64_t list[ML_LIST], dims[IR_MAX_RANK] = {1};
    int n = ml_list(o->params, 1, list);
    ir_id x = layer_input(&o->l, 0);
    if (n < 1 || n > IR_MAX_RANK - 1 || x == IR_NONE ||
        (o->kind == 300 && wire_find_u64(o->params, 2, 0)))
        return false;
    for (int i = 0; i < n; i++)
        list[i] = list[i] > INT32_MAX ? -1 : list[i];
    if (o->kind == 1140 || n == 4)
        return layer_reshape(&o->l, x, list, n);
    memcpy(dims + 1, list, (size_t)n * sizeof *list);
    return layer_reshape(&o->l, x, dims, n + 1);
}

static bool nn_transpose(nn_op *o)
{
    int64_t perm[ML_LIST];
    int n = ml_list(o->params, 1, perm);
    ir_id x = layer_input(&o->l, 0);
    if (x == IR_NONE || n < 1)
        return false;
    for (int i = 0; i < n; i++) /* [Seq,C,H,W] has the places of [1,C,H,W] */
        if (perm[i] < 0 || perm[i] >= n)
            return false;
    return layer_transpose(&o->l, x, perm, n);
}

static bool nn_concat(nn_op *o)
{
    int64_t axis = o->kind == 980 ? (int64_t)wire_find_u64(o->params, 1, 0) : 1;
    ir_attr_spec attrs[] = {IR_SPEC_INT("axis", axis), LAYER_END};
    if ((o->kind == 320 && wire_find_u64(o->params, 100, 0)) || !o->l.n_in)
        return false;
    return made(layer_node_of(&o->l, NULL, "Concat", o->l.in, o->l.n_in, attrs, 1));
}

static bool nn_split(nn_op *o)
{
    ir_attr_spec attrs[] = {
        IR_SPEC_INT("axis", o->kind == 975 ? (int64_t)wire_find_u64(o->params, 1, 0) : 1),
        LAYER_END};
    int64_t list[ML_LIST];
    int n = o->kind == 975 ? ml_list(o->params, 3, list) : 0;
    ir_id in[] = {layer_input(&o->l, 0), n > 0 ? layer_ints(&o->l, "split", list, n) : IR_NONE};
    return in[0] != IR_NONE && made(layer_node(&o->l, NULL, "Split", in, n > 0 ? 2 : 1, attrs));
}

static bool nn_axes(nn_op *o)
{
    int64_t axes[ML_LIST];
    int n = ml_list(o->params, 1, axes);
    ir_id in[] = {layer_input(&o->l, 0), layer_ints(&o->l, "axes", axes, n)};
    return in[0] != IR_NONE && n > 0 && made(layer_node_of(&o->l, NULL, o->op, in, 2, NULL, 1));
}

static bool nn_reduce(nn_op *o)
{
    int64_t axes[ML_LIST];
    int n = ml_list(o->params, 1, axes);
    ir_id x = layer_input(&o->l, 0);
    return x != IR_NONE && n > 0 && !wire_find_u64(o->params, 3, 0) &&
           layer_reduce(&o->l, o->op, x, axes, n, wire_find_u64(o->params, 2, 0) != 0);
}

static bool nn_old_reduce(nn_op *o)
{
    static const char *const ops[] = {"ReduceSum",    "ReduceMean",      "ReduceProd",
                                      "ReduceLogSum", "ReduceSumSquare", "ReduceL1",
                                      "ReduceL2",     "ReduceMax",       "ReduceMin"};
    static const int64_t axes[] = {1, 2, 3};
    static const uint8_t first[] = {0, 1, 0, 1, 2}, count[] = {3, 2, 1, 1, 1};
    uint64_t mode = wire_find_u64(o->params, 1, 0), axis = wire_find_u64(o->params, 3, 0);
    ir_id x = layer_input(&o->l, 0);
    return mode < 9 && axis < 5 && x != IR_NONE &&
           layer_reduce(&o->l, ops[mode], x, axes + first[axis], count[axis], true);
}

static bool nn_upsample(nn_op *o)
{
    int64_t by[2];
    take_sizes(o->params, 1, 1, by);
    float scales[] = {1, 1, (float)by[0], (float)by[1]};
    bool linear = wire_find_u64(o->params, 5, 0) == 1;
    ir_attr_spec attrs[] = {
        IR_SPEC_TEXT("mode", linear ? "linear" : "nearest"),
        IR_SPEC_TEXT("coordinate_transformation_mode", linear ? "half_pixel" : "asymmetric"),
        IR_SPEC_TEXT("nearest_mode", "floor"), LAYER_END};
    ir_id in[] = {layer_input(&o->l, 0), IR_NONE,
                  foreign_floats(o->l.f, o->l.name, "scales", scales, 4)};
    return in[0] != IR_NONE && !wire_has(o->params, 7) &&
           made(layer_node_of(&o->l, NULL, "Resize", in, 3, attrs, 1));
}

static bool nn_pad(nn_op *o)
{
    layer_window w = {.n = 2};
    wire_field f;
    cursor amounts = wire_sub(o->params, 10);
    int i = 0;
    while (i < 2 && wire_next(&amounts, &f))
        if (f.number == 10 && f.type == WIRE_LEN) {
            w.pads[i] = (int64_t)(wire_find_u64(f.body, 1, 0) & INT32_MAX);
            w.pads[2 + i++] = (int64_t)(wire_find_u64(f.body, 2, 0) & INT32_MAX);
        }
    int64_t pads[] = {0, 0, w.pads[0], w.pads[1], 0, 0, w.pads[2], w.pads[3]};
    const char *mode = wire_has(o->params, 2)   ? "reflect"
                       : wire_has(o->params, 3) ? "edge"
                                                : "constant";
    ir_attr_spec attrs[] = {IR_SPEC_TEXT("mode", mode), LAYER_END};
    ir_id in[] = {layer_input(&o->l, 0), layer_ints(&o->l, "pads", pads, 8)};
    return in[0] != IR_NONE && made(layer_node_of(&o->l, NULL, "Pad", in, 2, attrs, 1));
}

static bool nn_constant(nn_op *o)
{
    int64_t list[ML_LIST];
    int n = ml_list(o->params, 1, list);
    ir_id in = n > 0 ? nn_weight(o, o->params, 2, "data", n, list) : IR_NONE;
    return in != IR_NONE && made(layer_node_of(&o->l, NULL, "Identity", &in, 1, NULL, 1));
}

/* By number. */
static const nn_row rows[] = {
    {100, "convolution", nn_conv, NULL},
    {120, "pooling", nn_pool, NULL},
    {130, "activation", nn_activation, NULL},
    {140, "innerProduct", nn_dense, NULL},
    {150, "embedding", NULL, NULL},
    {160, "batchnorm", nn_batch_norm, NULL},
    {165, "mvn", NULL, NULL},
    {170, "l2normalize", NULL, NULL},
    {175, "softmax", nn_softmax, NULL},
    {180, "lrn", nn_lrn, NULL},
    {190, "crop", NULL, NULL},
    {200, "padding", nn_pad, NULL},
    {210, "upsample", nn_upsample, NULL},
    {220, "unary", nn_unary, NULL},
    {230, "add", nn_many, "Add"},
    {231, "multiply", nn_many, "Mul"},
    {240, "average", NULL, "Mean"},
    {245, "scale", nn_scale, NULL},
    {250, "bias", nn_bias, NULL},
    {260, "max", NULL, "Max"},
    {261, "min", NULL, "Min"},
    {280, "reduce", nn_old_reduce, NULL},
    {290, "loadConstant", nn_constant, NULL},
    {300, "reshape", nn_reshape, NULL},
    {301, "flatten", nn_flatten, NULL},
    {310, "permute", nn_transpose, NULL},
    {320, "concat", nn_concat, NULL},
    {330, "split", nn_split, NULL},
    {400, "simpleRecurrent", NULL, NULL},
    {410, "gru", NULL, NULL},
    {420, "uniDirectionalLSTM", NULL, NULL},
    {430, "biDirectionalLSTM", NULL, NULL},
    {500, "custom", NULL, NULL},
    {600, "copy", NULL, "Identity"},
    {665, "ceil", NULL, "Ceil"},
    {670, "floor", NULL, "Floor"},
    {680, "sign", NULL, "Sign"},
    {685, "round", NULL, "Round"},
    {760, "tanh", NULL, "Tanh"},
    {790, "erf", NULL, "Erf"},
    {870, "minBroadcastable", NULL, "Min"},
    {875, "maxBroadcastable", NULL, "Max"},
    {880, "addBroadcastable", NULL, "Add"},
    {885, "powBroadcastable", NULL, "Pow"},
    {890, "divideBroadcastable", NULL, "Div"},
    {900, "multiplyBroadcastable", NULL, "Mul"},
    {905, "subtractBroadcastable", NULL, "Sub"},
    {950, "softmaxND", nn_softmax, NULL},
    {975, "splitND", nn_split, NULL},
    {980, "concatND", nn_concat, NULL},
    {985, "transpose", nn_transpose, NULL},
    {1045, "batchedMatmul", nn_matmul, NULL},
    {1070, "loadConstantND", nn_constant, NULL},
    {1120, "squeeze", nn_axes, "Squeeze"},
    {1125, "expandDims", nn_axes, "Unsqueeze"},
    {1140, "reshapeStatic", nn_reshape, NULL},
    {1250, "reduceL1", nn_reduce, "ReduceL1"},
    {1255, "reduceL2", nn_reduce, "ReduceL2"},
    {1260, "reduceMax", nn_reduce, "ReduceMax"},
    {1265, "reduceMin", nn_reduce, "ReduceMin"},
    {1270, "reduceSum", nn_reduce, "ReduceSum"},
    {1275, "reduceProd", nn_reduce, "ReduceProd"},
    {1280, "reduceMean", nn_reduce, "ReduceMean"},
};

const nn_row *nn_row_of(uint32_t kind)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].kind == kind)
            return &rows[i];
    return NULL;
}
