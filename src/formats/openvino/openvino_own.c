/* Operators of OpenVINO that keep their name: rows of the domain "openvino" with the attributes of the file, and those that
 * ONNX has with other attributes (regions, grids, distinct elements). */
#include <string.h>

#include "formats/openvino/openvino_impl.h"

enum { OWN_ATTRS = 48 };

/* ---- attributes as they are ---- */

static int parse_floats(str text, double *list, int max)
{
    int n = 0;
    for (str item; str_split(&text, ',', &item);)
        if (n == max || !str_to_f64(str_trim(item), &list[n++]))
            return -1;
    return n;
}

/* Whole numbers, numbers, true and false, else the text. An empty one says nothing. */
static bool own_attr(ov_op *o, const xml_attr *a, ir_attr_spec *to)
{
    arena *scratch = o->r->f.scratch;
    int64_t ints[OV_LIST];
    double floats[OV_LIST];
    str v = str_trim(a->value);
    const char *name = str_copy(scratch, a->name).p;
    int n = v.n ? ov_parse_ints(v, ints, OV_LIST) : 0,
        m = n > 0 ? 0 : parse_floats(v, floats, OV_LIST);
    if (!v.n || !name)
        return false;
    if (n == 1)
        *to = IR_SPEC_INT(name, ints[0]);
    else if (n > 1)
        *to = IR_SPEC_INTS(name, n, arena_copy(scratch, ints, (size_t)n * sizeof *ints));
    else if (m == 1)
        *to = IR_SPEC_FLOAT(name, floats[0]);
    else if (m > 1)
        *to = (ir_attr_spec){.name = name,
                             .kind = IR_ATTR_FLOATS,
                             .n = m,
                             .floats = arena_copy(scratch, floats, (size_t)m * sizeof *floats)};
    else if (str_is(v, "true") || str_is(v, "false") || str_is(v, "True") || str_is(v, "False"))
        *to = IR_SPEC_INT(name, str_is(v, "true") || str_is(v, "True"));
    else
        *to = IR_SPEC_TEXT(name, str_copy(scratch, v).p);
    return !arena_failed(scratch);
}

/* Rules that differ between opsets ask for the number. */
static int64_t opset_of(const ov_op *o)
{
    int64_t n = 1;
    str v = o->layer->opset;
    return str_starts(v, "opset") && str_to_i64((str){v.p + 5, v.n - 5}, &n) ? n : 1;
}

bool ov_own(ov_op *o)
{
    ir_attr_spec attrs[OWN_ATTRS + 2] = {IR_SPEC_INT("opset", opset_of(o))};
    int n = 1;
    for (uint32_t i = 0; i < o->layer->data.n && n <= OWN_ATTRS; i++)
        n += own_attr(o, &o->layer->data.items[i], &attrs[n]);
    return made(layer_node(&o->l, OV_DOMAIN, o->row->type, o->l.in, o->l.n_in, attrs));
}

/* ---- with other attributes in ONNX ---- */

bool ov_roi_align(ov_op *o)
{
    bool centre = ov_is(o, "aligned_mode", "half_pixel", "asymmetric");
    if (!centre && !ov_is(o, "aligned_mode", "asymmetric", "asymmetric"))
        return ov_own(o);
    ir_attr_spec attrs[] = {
        IR_SPEC_INT("output_height", ov_int(o, "pooled_h", 1)),
        IR_SPEC_INT("output_width", ov_int(o, "pooled_w", 1)),
        IR_SPEC_INT("sampling_ratio", ov_int(o, "sampling_ratio", 0)),
        IR_SPEC_FLOAT("spatial_scale", ov_float(o, "spatial_scale", 1)),
        IR_SPEC_TEXT("mode", ov_is(o, "mode", "max", "avg") ? "max" : "avg"),
        IR_SPEC_TEXT("coordinate_transformation_mode", centre ? "half_pixel" : "output_half_pixel"),
        LAYER_END};
    return made(layer_node_of(&o->l, NULL, "RoiAlign", o->l.in, 3, attrs, 1));
}

bool ov_grid_sample(ov_op *o)
{
    const char *mode = ov_is(o, "mode", "nearest", "bilinear")   ? "nearest"
                       : ov_is(o, "mode", "bicubic", "bilinear") ? "bicubic"
                                                                 : "bilinear";
    const char *edge = ov_is(o, "padding_mode", "border", "zeros")       ? "border"
                       : ov_is(o, "padding_mode", "reflection", "zeros") ? "reflection"
                                                                         : "zeros";
    ir_attr_spec attrs[] = {IR_SPEC_TEXT("mode", mode), IR_SPEC_TEXT("padding_mode", edge),
                            IR_SPEC_INT("align_corners", ov_bool(o, "align_corners", false)),
                            LAYER_END};
    return made(layer_node_of(&o->l, NULL, "GridSample", o->l.in, 2, attrs, 1));
}

/* ---- windows and frames ---- */

/* x / (bias + alpha * mean of x * x in the window) ^ beta; zeros around x count. With the channels among the axes they
 * become one more axis of space. */
bool ov_window_lrn(ov_op *o, const int64_t *axes, int n, int64_t size, double bias)
{
    const foreign_layer *l = &o->l;
    const ov_port *x = ov_in(o, 0);
    int first = 2;
    for (int i = 0; i < n; i++)
        first = axes[i] == 1 ? 1 : first;
    if (!x || x->rank <= first || x->rank > 5 || size < 1 || size > INT32_MAX || n < 1)
        return false;
    layer_window w = {.n = x->rank - first, .has_kernel = true};
    for (int d = 0; d < w.n; d++)
        w.kernel[d] = 1;
    for (int i = 0; i < n; i++) {
        if (axes[i] < 1 || axes[i] >= x->rank)
            return false;
        w.kernel[axes[i] - first] = size;
        w.pads[axes[i] - first] = (size - 1) / 2;
        w.pads[w.n + axes[i] - first] = size / 2;
    }
    ir_attr_spec attrs[LAYER_WINDOW_ATTRS + 2] = {{0}};
    attrs[layer_window_attrs(&w, attrs)] = IR_SPEC_INT("count_include_pad", 1);
    const int64_t one = 1;
    ir_id square[] = {l->in[0], l->in[0]};
    ir_id mean[] = {layer_step(l, "Mul", square, 2, NULL), layer_ints(l, "axes", &one, 1)};
    mean[0] = first == 1 ? layer_step(l, "Unsqueeze", mean, 2, NULL) : mean[0];
    mean[0] = layer_step(l, "AveragePool", mean, 1, attrs);
    mean[0] = first == 1 ? layer_step(l, "Squeeze", mean, 2, NULL) : mean[0];
    ir_id scaled[] = {mean[0], layer_number(l, "alpha", IR_FLOAT32, ov_float(o, "alpha", 0))};
    ir_id sum[] = {layer_step(l, "Mul", scaled, 2, NULL),
                   layer_number(l, "bias", IR_FLOAT32, bias)};
    ir_id power[] = {layer_step(l, "Add", sum, 2, NULL),
                     layer_number(l, "beta", IR_FLOAT32, ov_float(o, "beta", 0))};
    ir_id in[] = {l->in[0], layer_step(l, "Pow", power, 2, NULL)};
    return made(layer_node_of(l, NULL, "Div", in, 2, NULL, 1));
}

static ir_id scalar_of(const ov_op *o, const char *what, int64_t v)
{
    return layer_number(&o->l, what, IR_INT64, (double)v);
}

/* in: signal [length] or [batch, length], window, frame size, step. A window shorter than the frame has no equal. */
bool ov_stft(ov_op *o)
{
    static const int64_t perm[] = {0, 2, 1, 3}, batched[] = {0, -1, 1}, alone[] = {1, -1, 1};
    const foreign_layer *l = &o->l;
    const ov_port *x = ov_in(o, 0), *w = ov_in(o, 1);
    int64_t size[OV_LIST], step[OV_LIST], front = 0;
    if (!x || x->rank < 1 || x->rank > 2 || ov_const_ints(o, 2, size) != 1 ||
        ov_const_ints(o, 3, step) != 1 || !w || w->rank != 1 || w->dims[0] != size[0])
        return false;
    bool single = x->rank == 1, swap = ov_bool(o, "transpose_frames", false);
    ir_id in[] = {layer_step_reshape(l, l->in[0], single ? alone : batched, 3),
                  scalar_of(o, "frame_step", step[0]), l->in[1],
                  scalar_of(o, "frame_length", size[0])};
    if (!single && !swap)
        return made(layer_node_of(l, NULL, "STFT", in, 4, NULL, 1));
    ir_id cut[] = {layer_step(l, "STFT", in, 4, NULL), layer_ints(l, "axes", &front, 1)};
    if (!single)
        return layer_transpose(l, cut[0], perm, 4);
    cut[0] = swap ? layer_step_transpose(l, cut[0], perm, 4) : cut[0];
    return made(layer_node_of(l, NULL, "Squeeze", cut, 2, NULL, 1));
}

/* The axis is an optional constant. */
bool ov_unique(ov_op *o)
{
    int64_t axis[OV_LIST];
    int n = o->l.n_in > 1 ? ov_const_ints(o, 1, axis) : 0;
    ir_attr_spec attrs[] = {IR_SPEC_INT("sorted", ov_bool(o, "sorted", true)),
                            n == 1 ? IR_SPEC_INT("axis", axis[0]) : LAYER_END, LAYER_END};
    return (n == 0 || n == 1) && made(layer_node(&o->l, NULL, "Unique", o->l.in, 1, attrs));
}

/* Both inputs as the type that the ports of the outputs have. */
bool ov_promote(ov_op *o)
{
    for (uint32_t i = 0; i < 2; i++)
        if (!ov_out(o, i) || ov_out(o, i)->dtype == IR_UNDEFINED)
            return false;
    for (uint32_t i = 0; i < 2; i++) {
        ir_attr_spec to[] = {IR_SPEC_INT("to", ov_out(o, i)->dtype), LAYER_END};
        if (!made(layer_into(&o->l, "Cast", &o->l.in[i], 1, to, o->l.out[i])))
            return false;
    }
    return true;
}
