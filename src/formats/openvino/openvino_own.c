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
