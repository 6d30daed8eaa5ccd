/* Operators with channels last as ONNX: data is transposed to N,C,spatial and back; see to_onnx.h. */
#include <string.h>

#include "base/num.h"
#include "rewrite/to_onnx_impl.h"

enum { AXES = IR_KIT_RANK };

/* ---- data ---- */

/* Of the value as it is. */
static ir_id stored_first(exporting *x, ir_id value, int rank)
{
    int64_t perm[AXES] = {0, rank - 1};
    for (int d = 2; d < rank; d++)
        perm[d] = d - 1;
    return step_transpose(x, "channels_first", value, perm, rank);
}

static ir_id channels_first(exporting *x, ir_id value, int rank)
{
    return stored_first(x, real_of(x, value), rank);
}

/* The operator itself has the name of the layer; what is around it is called after it. */
static void swap_names(exporting *x, ir_id value)
{
    ir_node *layer = ir_node_at(x->k.m, x->node);
    ir_node *made = ir_node_at(x->k.m, ir_value_at(x->k.m, value)->producer);
    str name = layer->name;
    layer->name = kit_name(&x->k, name, "/channels_last");
    made->name = name;
}

static assay_status turn_last(exporting *x, ir_id value, int rank, bool stored)
{
    int64_t perm[AXES] = {0};
    for (int d = 1; d < rank - 1; d++)
        perm[d] = d + 1;
    perm[rank - 1] = 1;
    const ir_attr_spec attrs[] = {IR_SPEC_INTS("perm", rank, perm), STEP_END};
    if (value == IR_NONE)
        return err_no_memory(x->k.err);
    swap_names(x, value);
    return stored ? finish_stored(x, "Transpose", &value, 1, attrs)
                  : finish(x, "Transpose", &value, 1, attrs);
}

/* The value is of real numbers. */
static assay_status channels_last(exporting *x, ir_id value, int rank)
{
    return turn_last(x, value, rank, false);
}

/* It has the stored numbers of the output. */
static assay_status stored_last(exporting *x, ir_id value, int rank)
{
    return turn_last(x, value, rank, true);
}

/* Whether the output has the parameters of the input, of 8 bits: computed on stored numbers. */
static bool keeps_grid(exporting *x, const ir_node *n)
{
    ir_id a = n->inputs[0], y = n->outputs[0];
    int64_t za, zy;
    if (!has_eight_bits(x, a) || !has_eight_bits(x, y) || stored_type(x, a) != stored_type(x, y) ||
        !has_one_scale(x, a) || !has_one_scale(x, y))
        return false;
    const ir_value va = *ir_value_at(x->k.m, a), vy = *ir_value_at(x->k.m, y);
    const float *sa = read_scales(x, &va), *sy = read_scales(x, &vy);
    return sa && sy && *sa == *sy && read_zero(x, &va, &za) && read_zero(x, &vy, &zy) && za == zy;
}

/* ---- windows ---- */

typedef struct window {
    int rank, n; /* of the data; spatial axes */
    const int64_t *in, *out;
    int64_t kernel[AXES], stride[AXES], dilation[AXES], pads[2 * AXES], extra[AXES];
} window;

static void take_list(const ir_node *n, const char *name, int64_t *to, int count)
{
    const ir_attr *a = ir_attr_find(n, name);
    for (int d = 0; d < count; d++)
        to[d] = a && a->kind == IR_ATTR_INTS && (int)a->n == count ? a->v.ints[d] : 1;
}

static assay_status read_window(exporting *x, const ir_node *n, window *w)
{
    int rank;
    *w = (window){0};
    w->in = known_dims(x, n->inputs[0], &w->rank);
    w->out = known_dims(x, n->outputs[0], &rank);
    if (!w->in || !w->out || rank != w->rank || rank < 3 || rank > 5)
        return no_form(x, "its sizes are not known");
    w->n = rank - 2;
    take_list(n, "strides", w->stride, w->n);
    take_list(n, "dilations", w->dilation, w->n);
    take_list(n, "kernel_shape", w->kernel, w->n);
    return ASSAY_OK;
}

/* SAME puts the odd one behind; without auto_pad, pads are stated. */
static void pad_window(const ir_node *n, window *w)
{
    bool same = str_is(ir_attr_str(n, "auto_pad", ""), "SAME_UPPER");
    if (ir_attr_find(n, "pads") && ir_attr_str(n, "auto_pad", "").n == 0)
        take_list(n, "pads", w->pads, 2 * w->n);
    for (int d = 0; same && d < w->n; d++) {
        int64_t reach = (w->kernel[d] - 1) * w->dilation[d] + 1;
        int64_t all = (w->out[d + 1] - 1) * w->stride[d] + reach - w->in[d + 1];
        w->pads[d] = all > 0 ? all / 2 : 0;
        w->pads[d + w->n] = all > 0 ? all - all / 2 : 0;
    }
}

/* What is cut off at the begin of an axis of a transposed one. */
static int64_t cut_begin(const ir_node *n, int d, int64_t all)
{
    const ir_attr *pads = ir_attr_find(n, "pads");
    if (pads && pads->kind == IR_ATTR_INTS && d < (int)pads->n)
        return pads->v.ints[d];
    return str_is(ir_attr_str(n, "auto_pad", ""), "SAME_UPPER") && all > 0 ? all / 2 : 0;
}

/* The same seen from the output of a transposed one; what its size has beyond that is output padding. */
static void pad_transposed(const ir_node *n, window *w)
{
    for (int d = 0; d < w->n; d++) {
        int64_t reach = (w->kernel[d] - 1) * w->dilation[d] + 1;
        int64_t full = (w->in[d + 1] - 1) * w->stride[d] + reach;
        int64_t all = full - w->out[d + 1];
        w->pads[d] = cut_begin(n, d, all);
        int64_t end = all - w->pads[d];
        w->pads[d + w->n] = end > 0 ? end : 0;
        w->extra[d] = end < 0 ? -end : 0;
    }
}

/* ---- kernels ---- */

typedef struct letters {
    int out, in, times, one;
    int spatial[AXES], n;
} letters;

static letters letters_of(const ir_node *n)
{
    str s = ir_attr_str(n, "kernel_layout", "HWIO");
    letters l = {.out = -1, .in = -1, .times = -1, .one = -1};
    for (int i = 0; i < (int)s.n && i < AXES; i++) {
        char c = s.p[i];
        if (c == 'O')
            l.out = i;
        else if (c == 'I')
            l.in = i;
        else if (c == 'M')
            l.times = i;
        else if (c == '1')
            l.one = i;
        else
            l.spatial[l.n++] = i;
    }
    return l;
}

/* The kernel with its axes `first`, `second` and then the spatial ones. */
static ir_id turned_kernel(exporting *x, ir_id w, const letters *l, int first, int second)
{
    int64_t perm[AXES] = {first, second};
    for (int d = 0; d < l->n; d++)
        perm[d + 2] = l->spatial[d];
    return step_transpose(x, "kernel", w, perm, l->n + 2);
}

static assay_status take_kernel(exporting *x, const ir_node *n, const letters *l, window *w,
                                const int64_t **dims)
{
    int rank;
    *dims = known_dims(x, n->inputs[1], &rank);
    if (!*dims || rank != w->rank || l->n != w->n)
        return no_form(x, "the sizes of its kernel are not known");
    for (int d = 0; d < l->n; d++)
        w->kernel[d] = (*dims)[l->spatial[d]];
    return ASSAY_OK;
}

/* [out, in of a group, spatial...]. */
static ir_id conv_kernel(exporting *x, ir_id kernel, const letters *l, const window *w,
                         const int64_t *dims)
{
    if (l->times < 0)
        return turned_kernel(x, kernel, l, l->out, l->in >= 0 ? l->in : l->one);
    int64_t shape[AXES] = {dims[l->in] * dims[l->times], 1};
    memcpy(shape + 2, w->kernel, (size_t)w->n * sizeof *shape);
    ir_id in[] = {turned_kernel(x, kernel, l, l->in, l->times),
                  step_ints(x, "kernel_shape", shape, (uint32_t)w->rank)};
    return step(x, "kernel_flat", "Reshape", in, 2, NULL);
}

/* A kernel of one pixel with stride 1 rounds each pixel, like a linear layer. */
static ir_id product_data(exporting *x, const ir_node *n, const window *w, bool transposed)
{
    bool pixel = !transposed;
    for (int d = 0; d < w->n; d++)
        pixel = pixel && w->kernel[d] == 1 && w->stride[d] == 1;
    ir_id data = real_of(x, n->inputs[0]);
    return stored_first(x, step_dynamic(x, n, data, pixel ? w->rank - 1 : 1, w->rank), w->rank);
}

static assay_status export_conv(exporting *x, const ir_node *n)
{
    window w;
    const letters l = letters_of(n);
    const int64_t *k;
    TRY(read_window(x, n, &w));
    TRY(take_kernel(x, n, &l, &w, &k));
    pad_window(n, &w);
    int64_t channels = w.in[w.rank - 1], per = l.in >= 0 && l.times < 0 ? k[l.in] : 1;
    const ir_attr_spec attrs[] = {IR_SPEC_INTS("strides", w.n, w.stride),
                                  IR_SPEC_INTS("dilations", w.n, w.dilation),
                                  IR_SPEC_INTS("pads", 2 * w.n, w.pads),
                                  IR_SPEC_INT("group", per > 0 ? channels / per : 1), STEP_END};
    if (is_integer_product(x, n)) {
        ir_id data = stored_first(x, n->inputs[0], w.rank);
        ir_id kernel = conv_kernel(x, n->inputs[1], &l, &w, k);
        return stored_last(x, step_integer_conv(x, n, data, kernel, attrs), w.rank);
    }
    ir_id in[] = {product_data(x, n, &w, false),
                  conv_kernel(x, real_of(x, n->inputs[1]), &l, &w, k), real_bias(x, kit_in(n, 2))};
    ir_id y = step(x, "Conv", "Conv", in, in[2] == IR_NONE ? 2 : 3, attrs);
    return channels_last(x, y, w.rank);
}

static assay_status export_transposed(exporting *x, const ir_node *n)
{
    window w;
    const letters l = letters_of(n);
    const int64_t *k;
    TRY(read_window(x, n, &w));
    TRY(take_kernel(x, n, &l, &w, &k));
    if (l.in < 0 || l.out < 0)
        return no_form(x, "its kernel is depthwise");
    pad_transposed(n, &w);
    ir_id in[] = {product_data(x, n, &w, true),
                  turned_kernel(x, real_of(x, n->inputs[1]), &l, l.in, l.out),
                  real_bias(x, kit_in(n, 2))};
    const ir_attr_spec attrs[] = {IR_SPEC_INTS("strides", w.n, w.stride),
                                  IR_SPEC_INTS("dilations", w.n, w.dilation),
                                  IR_SPEC_INTS("pads", 2 * w.n, w.pads),
                                  IR_SPEC_INTS("output_padding", w.n, w.extra), STEP_END};
    ir_id y = step(x, "ConvTranspose", "ConvTranspose", in, in[2] == IR_NONE ? 2 : 3, attrs);
    return channels_last(x, y, w.rank);
}

static assay_status export_pool(exporting *x, const ir_node *n)
{
    window w;
    TRY(read_window(x, n, &w));
    pad_window(n, &w);
    bool most = str_is(n->op, "MaxPool");
    for (int d = 0; d < w.n; d++)
        if (!most && w.dilation[d] != 1)
            return no_form(x, "a mean over a dilated window is not in ONNX");
    const ir_attr_spec attrs[] = {
        IR_SPEC_INTS("kernel_shape", w.n, w.kernel), IR_SPEC_INTS("strides", w.n, w.stride),
        IR_SPEC_INTS("pads", 2 * w.n, w.pads),
        most ? IR_SPEC_INTS("dilations", w.n, w.dilation)
             : IR_SPEC_INT("count_include_pad", ir_attr_int(n, "count_include_pad", 0)),
        STEP_END};
    const char *op = most ? "MaxPool" : "AveragePool";
    if (!keeps_grid(x, n)) {
        ir_id in = channels_first(x, n->inputs[0], w.rank);
        return channels_last(x, step(x, op, op, &in, 1, attrs), w.rank);
    }
    ir_id in = stored_first(x, n->inputs[0], w.rank);
    if (most)
        return stored_last(x, step(x, op, op, &in, 1, attrs), w.rank);
    ir_dtype t = stored_type(x, n->inputs[0]);
    ir_id real = step_cast(x, "real", in, IR_FLOAT32);
    int64_t count = 1;
    for (int d = 0; d < w.n; d++)
        count *= w.kernel[d] > 0 && w.kernel[d] < 4096 ? w.kernel[d] : 4096;
    ir_id mean = step_away_from_zero(x, step(x, op, op, &real, 1, attrs), count);
    return stored_last(x, step_cast(x, "stored", mean, t), w.rank);
}

/* ---- sizes ---- */

static const char *coordinates(const ir_node *n)
{
    if (ir_attr_int(n, "align_corners", 0))
        return "align_corners";
    return ir_attr_int(n, "half_pixel_centers", 0) ? "half_pixel" : "asymmetric";
}

static assay_status export_resize(exporting *x, const ir_node *n)
{
    int rank;
    const int64_t *out = known_dims(x, n->outputs[0], &rank);
    const char *mode = coordinates(n);
    if (!out || rank != 4)
        return no_form(x, "its sizes are not known");
    const int64_t sizes[] = {out[0], out[3], out[1], out[2]};
    bool linear = str_is(ir_attr_str(n, "mode", "nearest"), "linear"), stored = keeps_grid(x, n);
    ir_id data = stored ? stored_first(x, n->inputs[0], 4) : channels_first(x, n->inputs[0], 4);
    if (stored && linear)
        data = step_cast(x, "real", data, IR_FLOAT32);
    ir_id in[] = {data, IR_NONE, IR_NONE, step_ints(x, "sizes", sizes, 4)};
    const ir_attr_spec attrs[] = {IR_SPEC_TEXT("mode", linear ? "linear" : "nearest"),
                                  IR_SPEC_TEXT("coordinate_transformation_mode", mode),
                                  IR_SPEC_TEXT("nearest_mode", strcmp(mode, "asymmetric") == 0
                                                                   ? "floor"
                                                                   : "round_prefer_ceil"),
                                  STEP_END};
    ir_id y = step(x, "Resize", "Resize", in, 4, attrs);
    if (stored && linear)
        y = step_cast(x, "stored", step_half_up(x, y), stored_type(x, n->inputs[0]));
    return stored ? stored_last(x, y, 4) : channels_last(x, y, 4);
}

static assay_status export_blocks(exporting *x, const ir_node *n)
{
    const char *op = str_is(n->op, "SpaceToDepth") ? "SpaceToDepth" : "DepthToSpace";
    const ir_attr_spec attrs[] = {IR_SPEC_INT("blocksize", ir_attr_int(n, "blocksize", 1)),
                                  STEP_END};
    ir_id in = channels_first(x, n->inputs[0], 4);
    return channels_last(x, step(x, op, op, &in, 1, attrs), 4);
}

/* ---- blocks of space and batch ---- */

typedef struct blocks {
    int rank, n;
    const int64_t *in, *out;
    int64_t block[AXES], edge[2 * AXES];
} blocks;

static assay_status read_blocks(exporting *x, const ir_node *n, blocks *b)
{
    int rank;
    b->in = known_dims(x, n->inputs[0], &b->rank);
    b->out = known_dims(x, n->outputs[0], &rank);
    b->n = constant_ints(x, n->inputs[1], b->block, AXES);
    int edges = constant_ints(x, n->inputs[2], b->edge, 2 * AXES);
    if (!b->in || !b->out || b->n < 1 || edges != 2 * b->n || b->rank + b->n > AXES ||
        b->n >= b->rank)
        return no_form(x, "its sizes are not known");
    return ASSAY_OK;
}

/* [N,s...,rest] is padded, cut into [N,s/b,b,...,rest], and the blocks go in front of the batch. */
static assay_status export_to_batch(exporting *x, const ir_node *n)
{
    blocks b;
    int64_t pads[2 * AXES] = {0}, cut[AXES], perm[AXES], at = 1;
    TRY(read_blocks(x, n, &b));
    for (int d = 0; d < b.n; d++) {
        pads[d + 1] = b.edge[2 * d];
        pads[d + 1 + b.rank] = b.edge[2 * d + 1];
    }
    ir_id in[] = {real_of(x, n->inputs[0]), step_ints(x, "pads", pads, 2 * (uint32_t)b.rank)};
    ir_id y = step(x, "padded", "Pad", in, 2, NULL);
    cut[0] = b.in[0];
    perm[b.n] = 0;
    for (int d = 0; d < b.n; d++) {
        perm[d] = at + 1;
        perm[b.n + 1 + d] = at;
        cut[at++] = b.out[d + 1];
        cut[at++] = b.block[d];
    }
    for (int d = b.n + 1; d < b.rank; d++, at++) {
        perm[at] = at;
        cut[at] = b.in[d];
    }
    ir_id split[] = {y, step_ints(x, "cut_shape", cut, (uint32_t)at)};
    y = step(x, "cut", "Reshape", split, 2, NULL);
    ir_id join[] = {step_transpose(x, "moved", y, perm, (int)at),
                    step_ints(x, "shape", b.out, (uint32_t)b.rank)};
    return finish(x, "Reshape", join, 2, NULL);
}

/* The way back; the crops are a Slice at the end. */
static assay_status export_to_space(exporting *x, const ir_node *n)
{
    blocks b;
    int64_t cut[AXES], perm[AXES], whole[AXES], starts[AXES], ends[AXES], axes[AXES];
    TRY(read_blocks(x, n, &b));
    whole[0] = cut[b.n] = b.out[0];
    perm[0] = b.n;
    for (int d = 0; d < b.n; d++) {
        cut[d] = b.block[d];
        cut[b.n + 1 + d] = b.in[d + 1];
        perm[1 + 2 * d] = b.n + 1 + d;
        perm[2 + 2 * d] = d;
        whole[d + 1] = b.in[d + 1] * b.block[d];
        axes[d] = d + 1;
        starts[d] = b.edge[2 * d];
        ends[d] = whole[d + 1] - b.edge[2 * d + 1];
    }
    for (int d = b.n + 1; d < b.rank; d++) {
        cut[b.n + d] = whole[d] = b.in[d];
        perm[b.n + d] = b.n + d;
    }
    int total = b.rank + b.n;
    ir_id split[] = {real_of(x, n->inputs[0]), step_ints(x, "cut_shape", cut, (uint32_t)total)};
    ir_id y = step(x, "cut", "Reshape", split, 2, NULL);
    ir_id join[] = {step_transpose(x, "moved", y, perm, total),
                    step_ints(x, "whole_shape", whole, (uint32_t)b.rank)};
    uint32_t m = (uint32_t)b.n;
    ir_id in[] = {step(x, "whole", "Reshape", join, 2, NULL), step_ints(x, "starts", starts, m),
                  step_ints(x, "ends", ends, m), step_ints(x, "axes", axes, m)};
    return finish(x, "Slice", in, 4, NULL);
}

/* ---- the rest ---- */

static assay_status export_lrn(exporting *x, const ir_node *n)
{
    const ir_attr_spec attrs[] = {IR_SPEC_INT("size", ir_attr_int(n, "size", 1)),
                                  IR_SPEC_FLOAT("alpha", ir_attr_float(n, "alpha", 1e-4)),
                                  IR_SPEC_FLOAT("beta", ir_attr_float(n, "beta", 0.75)),
                                  IR_SPEC_FLOAT("bias", ir_attr_float(n, "bias", 1)), STEP_END};
    ir_id in = channels_first(x, n->inputs[0], 4);
    return channels_last(x, step(x, "LRN", "LRN", &in, 1, attrs), 4);
}

static assay_status export_batch_norm(exporting *x, const ir_node *n)
{
    int rank;
    const int64_t *dims = known_dims(x, n->inputs[0], &rank);
    if (!dims || rank < 2)
        return no_form(x, "its sizes are not known");
    ir_id in[] = {channels_first(x, n->inputs[0], rank), n->inputs[1], n->inputs[2], n->inputs[3],
                  n->inputs[4]};
    const ir_attr_spec attrs[] = {IR_SPEC_FLOAT("epsilon", ir_attr_float(n, "epsilon", 1e-5)),
                                  STEP_END};
    return channels_last(x, step(x, "BatchNormalization", "BatchNormalization", in, 5, attrs),
                         rank);
}

/* QuantizeLinear behind it is all there is to do. */
static assay_status export_requantize(exporting *x, const ir_node *n)
{
    ir_id in = real_of(x, n->inputs[0]);
    ir_dtype t = (ir_dtype)ir_attr_int(n, "to", IR_INT8);
    return t == IR_INT32 ? finish_wide(x, in, t) : finish(x, "Identity", &in, 1, NULL);
}

assay_status export_nhwc(exporting *x, const ir_node *n)
{
    static const struct {
        const char *op;
        assay_status (*write)(exporting *x, const ir_node *n);
    } rows[] = {{"Conv", export_conv},
                {"ConvTranspose", export_transposed},
                {"MaxPool", export_pool},
                {"AveragePool", export_pool},
                {"FullyConnected", export_linear},
                {"Resize", export_resize},
                {"SpaceToDepth", export_blocks},
                {"DepthToSpace", export_blocks},
                {"SpaceToBatch", export_to_batch},
                {"BatchToSpace", export_to_space},
                {"BatchNormalization", export_batch_norm},
                {"LRN", export_lrn},
                {"Requantize", export_requantize}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (str_is(n->op, rows[i].op))
            return rows[i].write(x, n);
    return no_form(x, "it has none");
}
