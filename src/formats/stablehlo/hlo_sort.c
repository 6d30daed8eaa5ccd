/* Sorting and transposed convolutions of StableHLO.
 *
 * sort: the region compares two elements of the first operand. TopK of all elements gives them in order, and the places
 * that the other operands are taken from.
 *
 * A convolution of data with zeros between its elements (lhs_dilate) is a transposed one: the kernel is turned around, its
 * inputs and outputs are swapped, and padding of k - 1 - p is cut off. */
#include <string.h>

#include "formats/stablehlo/hlo_impl.h"

/* ---- sort ---- */

/* Whether the region is "a > b" or "a < b" of its first two arguments, and then returns. */
static bool sorts_down(hlo_op *o, bool *down)
{
    hlo_op *inner = ARENA_NEW(o->l.f->scratch, hlo_op);
    str region = o->n_regions == 1 ? o->regions[0] : STR(""), names[HLO_LIST];
    bool found = false;
    int n = hlo_region_args(&region, names, HLO_LIST);
    const char *p = region.p, *end = p + region.n;
    if (!inner || n < 2 || hlo_read_op(o->r, &p, end, inner, &found) != ASSAY_OK || !found ||
        !str_is(hlo_short(inner->name), "compare") || inner->operands.n != 2)
        return false;
    const str *by = inner->operands.items;
    str way = hlo_attr(inner, "comparison_direction");
    const char *stop = inner->body.p + inner->body.n;
    way = way.p ? way : hlo_word(hlo_skip(inner->body.p, stop), stop);
    bool turned = str_eq(by[0], names[1]) && str_eq(by[1], names[0]);
    *down = (str_contains(way, "GT") || str_contains(way, "GE")) != turned;
    bool plain = str_contains(way, "GT") || str_contains(way, "GE") || str_contains(way, "LT") ||
                 str_contains(way, "LE");
    return plain && (turned || (str_eq(by[0], names[0]) && str_eq(by[1], names[1]))) &&
           hlo_read_op(o->r, &p, end, inner, &found) == ASSAY_OK && found &&
           str_ends(inner->name, "return");
}

bool hlo_sort(hlo_op *o)
{
    const hlo_type *t = hlo_in(o, 0);
    int64_t axis = hlo_int(o, "dimension", "dimension", -1);
    bool down = false;
    axis = axis < 0 ? axis + t->rank : axis;
    if (t->rank < 1 || axis < 0 || axis >= t->rank || t->dims[axis] < 0 || t->dtype == IR_BOOL ||
        o->l.n_out != o->l.n_in || !sorts_down(o, &down))
        return false;
    ir_id places = foreign_inner(o->l.f, o->l.name, "places");
    ir_id in[] = {o->in[0], layer_ints(&o->l, "k", &t->dims[axis], 1)},
          out[] = {o->l.out[0], places};
    const ir_attr_spec attrs[] = {IR_SPEC_INT("axis", axis), IR_SPEC_INT("largest", down),
                                  LAYER_END};
    foreign_layer first = o->l;
    first.out = out;
    first.n_out = 2;
    bool ok = made(layer_node(&first, NULL, "TopK", in, 2, attrs));
    for (uint32_t i = 1; ok && i < o->l.n_in; i++) {
        const ir_attr_spec along[] = {IR_SPEC_INT("axis", axis), LAYER_END};
        ir_id from[] = {o->in[i], places};
        ok = made(layer_into(&o->l, "GatherElements", from, 2, along, o->l.out[i]));
    }
    return ok;
}

/* ---- transposed convolutions ---- */

/* The spatial axes turned around. */
static ir_id turned_kernel(hlo_op *o, ir_id w, int n)
{
    int64_t from[3], to[3], axes[3], steps[3];
    for (int d = 0; d < n; d++) {
        from[d] = -1;
        to[d] = INT32_MIN;
        axes[d] = d + 2;
        steps[d] = -1;
    }
    ir_id in[] = {w, layer_ints(&o->l, "from", from, n), layer_ints(&o->l, "to", to, n),
                  layer_ints(&o->l, "axes", axes, n), layer_ints(&o->l, "steps", steps, n)};
    return layer_step(&o->l, "Slice", in, 5, NULL);
}

ir_id hlo_transposed(hlo_op *o, const hlo_transposition *t)
{
    int64_t pads[6], extra[3] = {0}, perm[IR_MAX_RANK];
    int n = t->n;
    for (int d = 0; d < n; d++) {
        int64_t size = hlo_in(o, 1)->dims[t->kernel[d + 2]];
        int64_t reach = (size - 1) * t->dilations[d];
        pads[d] = reach - t->pads[d];
        pads[n + d] = reach - t->pads[n + d];
        if (size < 1 || t->strides[d] != 1 || pads[d] < 0)
            return IR_NONE;
        extra[d] = pads[n + d] < 0 ? -pads[n + d] : 0;
        pads[n + d] = pads[n + d] < 0 ? 0 : pads[n + d];
        if (extra[d] >= t->inner[d] && extra[d] >= t->dilations[d])
            return IR_NONE; /* more than output padding may be */
    }
    memcpy(perm, t->kernel, (size_t)(n + 2) * sizeof *perm);
    perm[0] = t->kernel[1];
    perm[1] = t->kernel[0];
    ir_id w = layer_step_transpose(&o->l, o->in[1], perm, n + 2);
    ir_id in[] = {layer_step_transpose(&o->l, o->in[0], t->data, n + 2),
                  t->reversed ? w : turned_kernel(o, w, n)};
    const ir_attr_spec attrs[] = {
        IR_SPEC_INTS("strides", n, t->inner), IR_SPEC_INTS("dilations", n, t->dilations),
        IR_SPEC_INTS("pads", 2 * n, pads), IR_SPEC_INTS("output_padding", n, extra), LAYER_END};
    return layer_step(&o->l, "ConvTranspose", in, 2, attrs);
}
