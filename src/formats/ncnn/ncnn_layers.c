/* Layers of NCNN with weights, and those that compute on several axes. Values are [batch, sizes...]. */
#include <math.h>
#include <string.h>

#include "base/num.h"
#include "formats/ncnn/ncnn_impl.h"

/* ---- activations ---- */

/* Type `kind` with its parameters, as the node that makes the output. */
static bool activate(nc_op *o, int64_t kind, ir_id x)
{
    double p[NC_LIST] = {0};
    int n = nc_floats(o, 10, p);
    foreign_layer l = o->l;
    l.in = &x;
    l.n_in = 1;
    ir_attr_spec slope[] = {IR_SPEC_FLOAT("alpha", n > 0 ? p[0] : 0), LAYER_END};
    ir_attr_spec hard[] = {IR_SPEC_FLOAT("alpha", n > 0 ? p[0] : 0.2),
                           IR_SPEC_FLOAT("beta", n > 1 ? p[1] : 0.5), LAYER_END};
    if (kind == 1)
        return layer_unary(&l, "Relu", NULL);
    if (kind == 2)
        return layer_unary(&l, "LeakyRelu", slope);
    if (kind == 3)
        return layer_clip(&l, x, IR_FLOAT32, n > 0 ? p[0] : 0, n > 1 ? p[1] : 6);
    if (kind == 4)
        return layer_unary(&l, "Sigmoid", NULL);
    if (kind == 5)
        return layer_mish(&l, x);
    ir_id in[] = {x, layer_step(&l, "HardSigmoid", &x, 1, hard)};
    return layer_node_of(&l, NULL, "Mul", in, 2, NULL, 1) != IR_NONE;
}

bool nc_activated(nc_op *o, const char *op, const ir_id *in, uint32_t n, const ir_attr_spec *attrs,
                  int64_t key)
{
    int64_t kind = nc_int(o, key, 0);
    if (kind < 1 || kind > 6)
        return layer_node_of(&o->l, NULL, op, in, n, attrs, 1) != IR_NONE;
    ir_id x = layer_step(&o->l, op, in, n, attrs);
    return x != IR_NONE && activate(o, kind, x);
}

/* ---- convolutions ---- */

enum { CONV_ATTRS = LAYER_WINDOW_ATTRS + 3 };

static layer_window window_of(const nc_op *o)
{
    int64_t k = nc_int(o, 1, 0), dil = nc_int(o, 2, 1), s = nc_int(o, 3, 1), p = nc_int(o, 4, 0);
    int64_t top = nc_int(o, 14, p);
    layer_window w = {.n = 2,
                      .has_kernel = true,
                      .has_strides = true,
                      .has_dilations = true,
                      .kernel = {nc_int(o, 11, k), k},
                      .strides = {nc_int(o, 13, s), s},
                      .dilations = {nc_int(o, 12, dil), dil},
                      .pads = {top, p, nc_int(o, 16, top), nc_int(o, 15, p)}};
    if (p == -233)
        w.auto_pad = "SAME_UPPER";
    if (p == -234)
        w.auto_pad = "SAME_LOWER";
    return w;
}

static ir_id bias_of(nc_op *o, int64_t key, int64_t n)
{
    return nc_int(o, key, 0) ? nc_weight(o, "bias", false, 1, &n) : IR_NONE;
}

/* Scales of int8 weights lie behind the bias. */
static void skip_scales(nc_op *o, int64_t key, int64_t outputs, int64_t group)
{
    int64_t term = nc_int(o, key, 0);
    if (!term)
        return;
    int64_t n = str_starts(o->layer->type, "ConvolutionDepthWise") ? (term % 100 == 1 ? group : 1)
                                                                   : outputs;
    nc_skip_floats(o, n > 0 ? (uint64_t)n : 0);
    nc_skip_floats(o, 1);
    if (term > 100)
        nc_skip_floats(o, 1);
}

/* Inputs of one group by the number of weights; -1: they are no whole number. */
static int64_t group_inputs(const nc_op *o, const layer_window *w, int64_t outputs)
{
    int64_t n = outputs, all = nc_int(o, 6, 0);
    for (int i = 0; i < w->n; i++)
        if (!num_mul(n, w->kernel[i], &n))
            return -1;
    return n > 0 && all > 0 && all % n == 0 ? all / n : -1;
}

static bool add_conv(nc_op *o, const layer_window *w, int64_t group)
{
    int64_t outputs = nc_int(o, 0, 0), dims[2 + NC_RANK] = {outputs, group_inputs(o, w, outputs)};
    ir_attr_spec attrs[CONV_ATTRS] = {{0}};
    if (dims[1] < 1 || group < 1 || nc_int(o, 19, 0))
        return false;
    memcpy(dims + 2, w->kernel, (size_t)w->n * sizeof *dims);
    attrs[layer_window_attrs(w, attrs)] = IR_SPEC_INT("group", group);
    ir_id kernel = nc_weight(o, "weight", true, w->n + 2, dims);
    ir_id in[] = {o->l.in[0], kernel, bias_of(o, 5, outputs)};
    skip_scales(o, 8, outputs, group);
    return kernel != IR_NONE && nc_activated(o, "Conv", in, in[2] == IR_NONE ? 2 : 3, attrs, 9);
}

/* One pixel: a product of a vector with the kernel. */
static bool dense_conv(nc_op *o, const layer_window *w)
{
    int64_t outputs = nc_int(o, 0, 0), dims[] = {outputs, group_inputs(o, w, outputs)};
    ir_attr_spec turned[] = {IR_SPEC_INT("transB", 1), LAYER_END};
    if (dims[1] < 1 || nc_int(o, 7, 1) != 1)
        return false;
    ir_id kernel = nc_weight(o, "weight", true, 2, dims);
    ir_id in[] = {o->l.in[0], kernel, bias_of(o, 5, outputs)};
    skip_scales(o, 8, outputs, 1);
    return nc_activated(o, "Gemm", in, in[2] == IR_NONE ? 2 : 3, turned, 9);
}

bool nc_conv(nc_op *o)
{
    layer_window w = window_of(o);
    if (o->in[0].rank == 1)
        return dense_conv(o, &w);
    return add_conv(o, &w, nc_int(o, 7, 1));
}

bool nc_conv1d(nc_op *o)
{
    int64_t p = nc_int(o, 4, 0);
    layer_window w = {.n = 1,
                      .has_kernel = true,
                      .has_strides = true,
                      .has_dilations = true,
                      .kernel = {nc_int(o, 1, 0)},
                      .strides = {nc_int(o, 3, 1)},
                      .dilations = {nc_int(o, 2, 1)},
                      .pads = {p, nc_int(o, 15, p)}};
    return add_conv(o, &w, nc_int(o, 7, 1));
}

/* NCNN has a kernel [outputs, inputs, ...], ONNX [inputs, outputs of one group, ...]. */
bool nc_deconv(nc_op *o)
{
    layer_window w = window_of(o);
    int64_t outputs = nc_int(o, 0, 0), group = nc_int(o, 7, 1), per = group_inputs(o, &w, outputs);
    int64_t extra[] = {nc_int(o, 19, 0), nc_int(o, 18, 0)}, dims[4], sizes[2],
            perm[] = {0, 2, 1, 3, 4};
    if (per < 1 || group < 1 || outputs % group || nc_int(o, 28, 0) || per * group < 1)
        return false;
    ir_attr_spec attrs[CONV_ATTRS + 2] = {{0}};
    int k = layer_window_attrs(&w, attrs);
    attrs[k++] = IR_SPEC_INT("group", group);
    if (extra[0] || extra[1])
        attrs[k++] = IR_SPEC_INTS("output_padding", 2, extra);
    if (nc_int(o, 20, 0) > 0 && o->out[0].rank == 3) {
        memcpy(sizes, o->out[0].d + 1, sizeof sizes);
        attrs[k] = IR_SPEC_INTS("output_shape", 2, sizes);
    }
    int64_t wide[] = {group, outputs / group, per, w.kernel[0], w.kernel[1]};
    ir_id kernel = nc_weight(o, "weight", true, 5, wide);
    dims[0] = per * group;
    dims[1] = outputs / group;
    memcpy(dims + 2, w.kernel, 2 * sizeof *dims);
    kernel = layer_step_reshape(&o->l, layer_step_transpose(&o->l, kernel, perm, 5), dims, 4);
    ir_id in[] = {o->l.in[0], kernel, bias_of(o, 5, outputs)};
    return nc_activated(o, "ConvTranspose", in, in[2] == IR_NONE ? 2 : 3, attrs, 9);
}

/* ---- pooling ---- */

static bool global_pool(nc_op *o, bool max)
{
    ir_attr_spec axis[] = {IR_SPEC_INT("axis", 1), LAYER_END};
    ir_id x = layer_step(&o->l, max ? "GlobalMaxPool" : "GlobalAveragePool", o->l.in, 1, NULL);
    return layer_node_of(&o->l, NULL, "Flatten", &x, 1, axis, 1) != IR_NONE;
}

static bool adaptive_pool(nc_op *o, bool max)
{
    const nc_shape *x = &o->in[0], *y = &o->out[0];
    layer_window w = {.n = 2, .has_kernel = true, .has_strides = true};
    if (x->rank != 3 || y->rank != 3)
        return false;
    if (y->d[1] == 1 && y->d[2] == 1)
        return layer_unary(&o->l, max ? "GlobalMaxPool" : "GlobalAveragePool", NULL);
    for (int i = 0; i < 2; i++) {
        if (x->d[i + 1] < 1 || y->d[i + 1] < 1 || x->d[i + 1] % y->d[i + 1])
            return false;
        w.kernel[i] = w.strides[i] = x->d[i + 1] / y->d[i + 1];
    }
    ir_attr_spec attrs[CONV_ATTRS] = {{0}};
    layer_window_attrs(&w, attrs);
    return layer_unary(&o->l, max ? "MaxPool" : "AveragePool", attrs);
}

/* Rounding up is a pad behind the last window. */
static int64_t tail(int64_t size, int64_t kernel, int64_t stride, int64_t pads)
{
    int64_t over = size >= 0 && stride > 0 ? (size + pads - kernel) % stride : 0;
    return over > 0 ? stride - over : 0;
}

bool nc_pool(nc_op *o)
{
    bool max = nc_int(o, 0, 0) == 0;
    int64_t k = nc_int(o, 1, 0), s = nc_int(o, 2, 1), p = nc_int(o, 3, 0), mode = nc_int(o, 5, 0);
    int64_t top = nc_int(o, 13, p);
    if (nc_int(o, 4, 0))
        return global_pool(o, max);
    if (nc_int(o, 7, 0))
        return adaptive_pool(o, max);
    layer_window w = {.n = 2,
                      .has_kernel = true,
                      .has_strides = true,
                      .kernel = {nc_int(o, 11, k), k},
                      .strides = {nc_int(o, 12, s), s},
                      .pads = {top, p, nc_int(o, 15, top), nc_int(o, 14, p)},
                      .auto_pad = mode == 2   ? "SAME_UPPER"
                                  : mode == 3 ? "SAME_LOWER"
                                              : NULL};
    if (mode == 0 && o->in[0].rank == 3) {
        w.pads[2] += tail(o->in[0].d[1], w.kernel[0], w.strides[0], w.pads[0] + w.pads[2]);
        w.pads[3] += tail(o->in[0].d[2], w.kernel[1], w.strides[1], w.pads[1] + w.pads[3]);
    }
    ir_attr_spec attrs[CONV_ATTRS] = {{0}};
    int n = layer_window_attrs(&w, attrs);
    if (!max)
        attrs[n] = IR_SPEC_INT("count_include_pad", nc_int(o, 6, 0) != 0);
    return layer_unary(&o->l, max ? "MaxPool" : "AveragePool", attrs);
}

/* ---- products ---- */

bool nc_dense(nc_op *o)
{
    int64_t outputs = nc_int(o, 0, 0), all = nc_int(o, 2, 0);
    int64_t dims[] = {outputs, outputs > 0 ? all / outputs : 0};
    if (outputs < 1 || all < 1 || all % outputs)
        return false;
    bool rows = o->in[0].rank == 2 && o->out[0].rank == 2;
    ir_attr_spec axis[] = {IR_SPEC_INT("axis", 1), LAYER_END};
    ir_attr_spec turned[] = {IR_SPEC_INT("transB", 1), LAYER_END};
    ir_id kernel = nc_weight(o, "weight", true, 2, dims), bias = bias_of(o, 1, outputs);
    skip_scales(o, 8, outputs, 1);
    ir_id x = o->l.in[0];
    if (!rows) {
        x = o->in[0].rank == 1 ? x : layer_step(&o->l, "Flatten", &x, 1, axis);
        ir_id in[] = {x, kernel, bias};
        return nc_activated(o, "Gemm", in, bias == IR_NONE ? 2 : 3, turned, 9);
    }
    static const int64_t perm[] = {1, 0};
    ir_id in[] = {x, layer_step_transpose(&o->l, kernel, perm, 2)};
    if (bias == IR_NONE)
        return nc_activated(o, "MatMul", in, 2, NULL, 9);
    ir_id sum[] = {layer_step(&o->l, "MatMul", in, 2, NULL), bias};
    return nc_activated(o, "Add", sum, 2, NULL, 9);
}

bool nc_matmul(nc_op *o)
{
    ir_attr_spec turned[] = {IR_SPEC_INT("transB", 1), LAYER_END};
    if (nc_int(o, 0, 0))
        return layer_node_of(&o->l, FOREIGN_MS, "FusedMatMul", o->l.in, 2, turned, 1) != IR_NONE;
    return layer_node_of(&o->l, NULL, "MatMul", o->l.in, 2, NULL, 1) != IR_NONE;
}

/* A constant operand of a Gemm, or the next input. */
static ir_id gemm_operand(nc_op *o, const char *what, bool constant, const int64_t *dims,
                          uint32_t *slot)
{
    return constant ? nc_weight(o, what, true, 2, dims) : layer_input(&o->l, (*slot)++);
}

/* Sizes of C by its kind of broadcast: a number, [M], [M,1], [M,N], [N]. */
static ir_id gemm_bias(nc_op *o, int64_t m, int64_t n)
{
    int64_t dims[5][2] = {{1, 1}, {m, 1}, {m, 1}, {m, n}, {1, n}}, kind = nc_int(o, 10, 0);
    return kind >= 0 && kind < 5 ? nc_weight(o, "c", true, 2, dims[kind]) : IR_NONE;
}

bool nc_gemm(nc_op *o)
{
    bool ca = nc_int(o, 4, 0) != 0, cb = nc_int(o, 5, 0) != 0, cc = nc_int(o, 6, 0) != 0;
    int64_t ta = nc_int(o, 2, 0), tb = nc_int(o, 3, 0);
    int64_t m = nc_int(o, 7, 0), n = nc_int(o, 8, 0), k = nc_int(o, 9, 0);
    int64_t da[] = {ta ? k : m, ta ? m : k}, db[] = {tb ? n : k, tb ? k : n};
    uint32_t slot = 0;
    ir_id a = gemm_operand(o, "a", ca, da, &slot), b = gemm_operand(o, "b", cb, db, &slot);
    ir_id c = cc ? gemm_bias(o, m, n) : layer_input(&o->l, slot);
    if (a == IR_NONE || b == IR_NONE)
        return false;
    ir_attr_spec attrs[] = {IR_SPEC_INT("transA", ta), IR_SPEC_INT("transB", tb),
                            IR_SPEC_FLOAT("alpha", nc_float(o, 0, 1)), LAYER_END};
    ir_id in[] = {a, b};
    if (c == IR_NONE || nc_float(o, 1, 1) == 0)
        return layer_node_of(&o->l, FOREIGN_MS, "FusedMatMul", in, 2, attrs, 1) != IR_NONE;
    ir_id sum[] = {layer_step_in(&o->l, FOREIGN_MS, "FusedMatMul", in, 2, attrs), c};
    return layer_node_of(&o->l, NULL, "Add", sum, 2, NULL, 1) != IR_NONE;
}

/* ---- normalisation ---- */

/* One number for each channel, as many axes as a value behind the batch. */
static ir_id by_channel(nc_op *o, const char *what, int64_t n)
{
    int64_t dims[NC_RANK + 1] = {n, 1, 1, 1, 1};
    int rank = o->in[0].rank ? o->in[0].rank : 3;
    return nc_weight(o, what, false, rank, dims);
}

/* Weights: slope, mean, variance, bias. */
bool nc_batch_norm(nc_op *o)
{
    int64_t n = nc_int(o, 0, 0);
    static const char *const names[] = {"slope", "mean", "variance", "bias"};
    ir_id part[4];
    for (int i = 0; i < 4; i++)
        part[i] = nc_weight(o, names[i], false, 1, &n);
    ir_id in[] = {o->l.in[0], part[0], part[3], part[1], part[2]};
    ir_attr_spec attrs[] = {IR_SPEC_FLOAT("epsilon", nc_float(o, 1, 0)), LAYER_END};
    return n > 0 && layer_node_of(&o->l, NULL, "BatchNormalization", in, 5, attrs, 1) != IR_NONE;
}

/* By channel; -233: the second input has the factors. */
bool nc_scale(nc_op *o)
{
    int64_t n = nc_int(o, 0, 0);
    bool bias = nc_int(o, 1, 0) != 0;
    ir_id factor = n == NC_UNSET ? layer_input(&o->l, 1) : by_channel(o, "scale", n);
    if (factor == IR_NONE)
        return false;
    if (n == NC_UNSET && o->layer->n_in > 1 && o->in[1].rank && o->in[1].rank < o->in[0].rank) {
        int64_t axes[NC_RANK];
        int k = 0;
        for (int d = o->in[1].rank; d < o->in[0].rank; d++)
            axes[k++] = d + 1;
        ir_id wide[] = {factor, layer_ints(&o->l, "axes", axes, k)};
        factor = layer_step(&o->l, "Unsqueeze", wide, 2, NULL);
    }
    ir_id in[] = {o->l.in[0], factor};
    if (!bias)
        return layer_node_of(&o->l, NULL, "Mul", in, 2, NULL, 1) != IR_NONE;
    int64_t channels = n == NC_UNSET ? (o->in[0].rank ? o->in[0].d[0] : -1) : n;
    if (channels < 1)
        return false;
    ir_id sum[] = {layer_step(&o->l, "Mul", in, 2, NULL), by_channel(o, "bias", channels)};
    return layer_node_of(&o->l, NULL, "Add", sum, 2, NULL, 1) != IR_NONE;
}

bool nc_prelu(nc_op *o)
{
    ir_id in[] = {o->l.in[0], by_channel(o, "slope", nc_int(o, 0, 0))};
    return in[1] != IR_NONE && layer_node_of(&o->l, NULL, "PRelu", in, 2, NULL, 1) != IR_NONE;
}

/* [n] of one number: norms that have no scale of their own. */
static ir_id plain(nc_op *o, const char *what, int64_t n, float number)
{
    enum { MOST = 1 << 16 };
    if (n < 1 || n > MOST)
        return IR_NONE;
    float *list = ARENA_ARRAY(o->r->f.scratch, float, (size_t)n);
    for (int64_t i = 0; list && i < n; i++)
        list[i] = number;
    return list ? foreign_floats(&o->r->f, o->l.name, what, list, (uint32_t)n) : IR_NONE;
}

/* Scale and shift of n numbers, or ones and zeros. */
static bool norm_inputs(nc_op *o, int64_t n, bool scaled, ir_id *in)
{
    in[0] = o->l.in[0];
    in[1] = scaled ? nc_weight(o, "gamma", false, 1, &n) : plain(o, "ones", n, 1);
    in[2] = scaled ? nc_weight(o, "beta", false, 1, &n) : plain(o, "zeros", n, 0);
    return in[1] != IR_NONE && in[2] != IR_NONE;
}

bool nc_layer_norm(nc_op *o)
{
    ir_id in[3];
    int64_t n = nc_int(o, 0, 0);
    int rank = o->in[0].rank;
    int64_t width = rank ? o->in[0].d[rank - 1] : n;
    ir_attr_spec attrs[] = {IR_SPEC_INT("axis", -1), IR_SPEC_FLOAT("epsilon", nc_float(o, 1, 1e-3)),
                            LAYER_END};
    return n > 0 && width == n && norm_inputs(o, n, nc_int(o, 2, 1) != 0, in) &&
           made(layer_node_of(&o->l, NULL, "LayerNormalization", in, 3, attrs, 1));
}

bool nc_instance_norm(nc_op *o)
{
    ir_id in[3];
    int64_t n = nc_int(o, 0, 0);
    ir_attr_spec attrs[] = {IR_SPEC_FLOAT("epsilon", nc_float(o, 1, 1e-3)), LAYER_END};
    return n > 0 && norm_inputs(o, n, nc_int(o, 2, 1) != 0, in) &&
           made(layer_node_of(&o->l, NULL, "InstanceNormalization", in, 3, attrs, 1));
}

/* Each group is one channel of an InstanceNormalization. */
bool nc_group_norm(nc_op *o)
{
    int64_t groups = nc_int(o, 0, 1), n = nc_int(o, 1, 0), split[] = {0, groups, -1};
    int64_t back[NC_RANK + 1];
    int rank = nc_dims(&o->in[0], back);
    ir_attr_spec attrs[] = {IR_SPEC_FLOAT("epsilon", nc_float(o, 2, 1e-3)), LAYER_END};
    if (groups < 1 || n < 1 || n % groups || !o->in[0].rank)
        return false;
    back[0] = 0;
    ir_id in[] = {layer_step_reshape(&o->l, o->l.in[0], split, 3), plain(o, "ones", groups, 1),
                  plain(o, "zeros", groups, 0)};
    ir_id unit = layer_step(&o->l, "InstanceNormalization", in, 3, attrs);
    if (!nc_int(o, 3, 1))
        return layer_reshape(&o->l, unit, back, rank);
    ir_id mul[] = {layer_step_reshape(&o->l, unit, back, rank), by_channel(o, "gamma", n)};
    ir_id add[] = {layer_step(&o->l, "Mul", mul, 2, NULL), by_channel(o, "beta", n)};
    return made(layer_node_of(&o->l, NULL, "Add", add, 2, NULL, 1));
}

/* ---- small layers ---- */

bool nc_bias(nc_op *o)
{
    ir_id in[] = {o->l.in[0], by_channel(o, "bias", nc_int(o, 0, 0))};
    return made(layer_node_of(&o->l, NULL, "Add", in, 2, NULL, 1));
}

/* (shift + x * scale) ^ power */
bool nc_power(nc_op *o)
{
    ir_id mul[] = {o->l.in[0], layer_number(&o->l, "scale", IR_FLOAT32, nc_float(o, 1, 1))};
    ir_id add[] = {layer_step(&o->l, "Mul", mul, 2, NULL),
                   layer_number(&o->l, "shift", IR_FLOAT32, nc_float(o, 2, 0))};
    ir_id pow[] = {layer_step(&o->l, "Add", add, 2, NULL),
                   layer_number(&o->l, "power", IR_FLOAT32, nc_float(o, 0, 1))};
    return made(layer_node_of(&o->l, NULL, "Pow", pow, 2, NULL, 1));
}

bool nc_threshold(nc_op *o)
{
    ir_attr_spec to[] = {IR_SPEC_INT("to", IR_FLOAT32), LAYER_END};
    ir_id in[] = {o->l.in[0], layer_number(&o->l, "threshold", IR_FLOAT32, nc_float(o, 0, 0))};
    ir_id above = layer_step(&o->l, "Greater", in, 2, NULL);
    return made(layer_node_of(&o->l, NULL, "Cast", &above, 1, to, 1));
}

/* A custom layer of YOLOv5 and YOLOX: each second row and column, into channels. */
bool nc_focus(nc_op *o)
{
    static const int64_t axes[] = {2, 3}, steps[] = {2, 2}, ends[] = {INT32_MAX, INT32_MAX};
    ir_attr_spec axis[] = {IR_SPEC_INT("axis", 1), LAYER_END};
    ir_id part[4];
    for (int i = 0; i < 4; i++) {
        int64_t from[] = {i % 2, i / 2};
        ir_id in[] = {o->l.in[0], layer_ints(&o->l, "from", from, 2),
                      layer_ints(&o->l, "to", ends, 2), layer_ints(&o->l, "axes", axes, 2),
                      layer_ints(&o->l, "steps", steps, 2)};
        part[i] = layer_step(&o->l, "Slice", in, 5, NULL);
    }
    return o->in[0].rank == 3 && made(layer_node_of(&o->l, NULL, "Concat", part, 4, axis, 1));
}

bool nc_lrn(nc_op *o)
{
    ir_attr_spec attrs[] = {IR_SPEC_INT("size", nc_int(o, 1, 5)),
                            IR_SPEC_FLOAT("alpha", nc_float(o, 2, 1)),
                            IR_SPEC_FLOAT("beta", nc_float(o, 3, 0.75)),
                            IR_SPEC_FLOAT("bias", nc_float(o, 4, 1)), LAYER_END};
    return nc_int(o, 0, 0) == 0 && layer_unary(&o->l, "LRN", attrs);
}

/* x / sqrt(sum over channels) * scale */
bool nc_normalize(nc_op *o)
{
    static const int64_t channels = 1;
    int64_t n = nc_int(o, 3, 0);
    if (nc_int(o, 0, 0) || !nc_int(o, 4, 1) || n < 1)
        return false;
    ir_attr_spec attrs[] = {IR_SPEC_INT("keepdims", 1), IR_SPEC_INTS("axes", 1, &channels),
                            LAYER_END};
    ir_id floor[] = {layer_step(&o->l, "ReduceSumSquare", o->l.in, 1, attrs),
                     layer_number(&o->l, "eps", IR_FLOAT32, nc_float(o, 2, 1e-4))};
    ir_id sum = layer_step(&o->l, "Add", floor, 2, NULL);
    ir_id in[] = {o->l.in[0], layer_step(&o->l, "Sqrt", &sum, 1, NULL)};
    ir_id scaled[] = {layer_step(&o->l, "Div", in, 2, NULL), by_channel(o, "scale", n)};
    return layer_node_of(&o->l, NULL, "Mul", scaled, 2, NULL, 1) != IR_NONE;
}

bool nc_softmax(nc_op *o)
{
    int64_t axis = o->in[0].rank ? nc_axis(&o->in[0], nc_int(o, 0, 0)) : nc_int(o, 0, 0) + 1;
    ir_attr_spec attrs[] = {IR_SPEC_INT("axis", axis), LAYER_END};
    return axis >= 0 && layer_unary(&o->l, "Softmax", attrs);
}

/* ---- attention, recurrent layers ---- */

/* One projection: x [.., rows, inputs] by a weight [outputs, inputs], with a bias. */
static ir_id project(nc_op *o, const char *what, ir_id x, int64_t outputs, int64_t inputs)
{
    static const int64_t perm[] = {1, 0};
    int64_t dims[] = {outputs, inputs};
    ir_id weight = nc_weight(o, what, true, 2, dims);
    ir_id in[] = {x, layer_step_transpose(&o->l, weight, perm, 2)};
    ir_id sum[] = {layer_step(&o->l, "MatMul", in, 2, NULL),
                   nc_weight(o, "bias", false, 1, &outputs)};
    return layer_step(&o->l, "Add", sum, 2, NULL);
}

/* [1, rows, size] as heads. */
static ir_id heads_of(nc_op *o, ir_id x, int64_t heads, int64_t size)
{
    int64_t dims[] = {0, -1, heads, size / heads}, perm[] = {0, 2, 1, 3};
    return layer_step_transpose(&o->l, layer_step_reshape(&o->l, x, dims, 4), perm, 4);
}

bool nc_attention(nc_op *o)
{
    int64_t size = nc_int(o, 0, 0), heads = nc_int(o, 1, 0), all = nc_int(o, 2, 0);
    int64_t from = size > 0 ? all / size : 0, kd = nc_int(o, 3, size), vd = nc_int(o, 4, size);
    if (size < 1 || heads < 1 || size % heads || all % size || nc_int(o, 5, 0) || from < 1)
        return false;
    ir_id q = o->l.in[0], k = o->l.n_in > 1 ? o->l.in[1] : q, v = o->l.n_in > 2 ? o->l.in[2] : k;
    double scale = nc_float(o, 6, 1 / sqrt((double)(size / heads)));
    ir_attr_spec turned[] = {IR_SPEC_INT("transB", 1), IR_SPEC_FLOAT("alpha", scale), LAYER_END};
    ir_attr_spec axis[] = {IR_SPEC_INT("axis", -1), LAYER_END};
    int64_t flat[] = {0, -1, size}, back[] = {0, 2, 1, 3};
    ir_id both[] = {heads_of(o, project(o, "q", q, size, from), heads, size),
                    heads_of(o, project(o, "k", k, size, kd), heads, size)};
    ir_id values = heads_of(o, project(o, "v", v, size, vd), heads, size);
    ir_id scores = layer_step_in(&o->l, FOREIGN_MS, "FusedMatMul", both, 2, turned);
    ir_id in[] = {layer_step(&o->l, "Softmax", &scores, 1, axis), values};
    ir_id mixed = layer_step_transpose(&o->l, layer_step(&o->l, "MatMul", in, 2, NULL), back, 4);
    ir_id out = project(o, "out", layer_step_reshape(&o->l, mixed, flat, 3), from, size);
    return layer_node_of(&o->l, NULL, "Identity", &out, 1, NULL, 1) != IR_NONE;
}

/* Words are indices. */
bool nc_embed(nc_op *o)
{
    int64_t dims[] = {nc_int(o, 1, 0), nc_int(o, 0, 0)};
    ir_attr_spec to[] = {IR_SPEC_INT("to", IR_INT64), LAYER_END};
    if (dims[0] < 1 || dims[1] < 1)
        return false;
    ir_id table = nc_weight(o, "weight", true, 2, dims), bias = bias_of(o, 2, dims[1]);
    ir_id in[] = {table, layer_step(&o->l, "Cast", o->l.in, 1, to)};
    if (bias == IR_NONE)
        return layer_node_of(&o->l, NULL, "Gather", in, 2, NULL, 1) != IR_NONE;
    ir_id sum[] = {layer_step(&o->l, "Gather", in, 2, NULL), bias};
    return layer_node_of(&o->l, NULL, "Add", sum, 2, NULL, 1) != IR_NONE;
}

bool nc_memory(nc_op *o)
{
    int64_t dims[NC_RANK + 1];
    int n = nc_dims(&o->out[0], dims);
    ir_id in = nc_weight(o, "data", nc_int(o, 21, 1) == 0, n, dims);
    return in != IR_NONE && layer_node_of(&o->l, NULL, "Identity", &in, 1, NULL, 1) != IR_NONE;
}
