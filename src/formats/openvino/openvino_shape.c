/* Operators of OpenVINO that change shapes and move data. Their axes and sizes are constants; where the .bin is absent,
 * they follow from the sizes of the ports. */
#include "formats/openvino/openvino_impl.h"

#include <string.h>

/* A list of constants: 1; the sizes of the ports must tell: 0; it is computed: -1. */
static int list_of(ov_op *o, uint32_t slot, int64_t *list, int *n)
{
    *n = ov_const_ints(o, slot, list);
    if (*n >= 0)
        return 1;
    if (!ov_constant(o, slot))
        return -1;
    ov_guessed(o);
    return 0;
}

static int64_t axis_in(int64_t axis, int rank)
{
    return axis < 0 ? axis + rank : axis;
}

static ir_id as_int64(ov_op *o, uint32_t i)
{
    ir_attr_spec to[] = {IR_SPEC_INT("to", IR_INT64), LAYER_END};
    return ov_in_dtype(o, i) == IR_INT64 ? o->l.in[i]
                                         : layer_step(&o->l, "Cast", &o->l.in[i], 1, to);
}

/* ---- views ---- */

/* The sizes of the output; the first is a copy where it is the input's, so that another batch fits. */
static bool reshape_to_port(ov_op *o)
{
    const ov_port *x = ov_in(o, 0), *y = ov_out(o, 0);
    int64_t list[IR_MAX_RANK];
    int open = 0;
    if (!y || y->rank < 0)
        return false;
    for (int d = 0; d < y->rank; d++) {
        list[d] = y->dims[d];
        open += list[d] < 0;
    }
    if (x && x->rank > 0 && y->rank > 0 && x->dims[0] == y->dims[0] && y->dims[0] != 0) {
        open -= list[0] < 0;
        list[0] = 0;
    }
    return open <= 1 && layer_reshape(&o->l, o->l.in[0], list, y->rank);
}

bool ov_reshape(ov_op *o)
{
    int64_t list[OV_LIST];
    int n, known = list_of(o, 1, list, &n);
    ir_attr_spec attrs[] = {IR_SPEC_INT("allowzero", !ov_bool(o, "special_zero", true)), LAYER_END};
    if (known == 0)
        return reshape_to_port(o);
    bool zero = false;
    for (int i = 0; known == 1 && i < n; i++)
        zero |= list[i] == 0;
    return made(layer_node_of(&o->l, NULL, "Reshape", o->l.in, 2, zero ? attrs : NULL, 1));
}

/* The axes of 1 that the larger of both shapes has and the other lacks, from the left; so many as the constant has. */
static int missing_axes(const ov_op *o, const ov_port *large, const ov_port *small, int64_t *axes)
{
    const ov_port *list = ov_in(o, 1);
    int n = 0, k = 0,
        want = list && list->rank == 0                              ? 1
               : list && list->rank == 1 && list->dims[0] < OV_LIST ? (int)list->dims[0]
                                                                    : -1;
    if (!large || !small || large->rank < 0 || small->rank < 0 || want < 0)
        return -1;
    for (int d = 0; d < large->rank; d++) {
        bool same = k < small->rank && small->dims[k] == large->dims[d];
        bool must = large->rank - d > small->rank - k;
        if (large->dims[d] == 1 && n < want && must && !same)
            axes[n++] = d;
        else
            k++;
    }
    for (int d = 0; d < large->rank && n < want;
         d++) { /* any that fits: sizes of 1 before equal ones */
        bool taken = false;
        for (int i = 0; i < n; i++)
            taken |= axes[i] == d;
        if (!taken && (large->dims[d] == 1 || large == ov_out(o, 0)))
            axes[n++] = d;
    }
    return n == want ? n : -1;
}

static bool change_axes(ov_op *o, const char *op)
{
    int64_t list[OV_LIST];
    int n, known = list_of(o, 1, list, &n);
    if (known == 0) {
        bool less = op[0] == 'S';
        n = missing_axes(o, less ? ov_in(o, 0) : ov_out(o, 0), less ? ov_out(o, 0) : ov_in(o, 0),
                         list);
        if (n < 0)
            return reshape_to_port(o);
        known = 1;
    }
    ir_id in[] = {o->l.in[0], known == 1 ? layer_ints(&o->l, "axes", list, n) : o->l.in[1]};
    return made(layer_node_of(&o->l, NULL, op, in, 2, NULL, 1));
}

bool ov_squeeze(ov_op *o)
{
    return o->l.n_in < 2 || o->l.in[1] == IR_NONE ? layer_unary(&o->l, "Squeeze", NULL)
                                                  : change_axes(o, "Squeeze");
}

bool ov_unsqueeze(ov_op *o)
{
    return change_axes(o, "Unsqueeze");
}

bool ov_transpose(ov_op *o)
{
    int64_t perm[OV_LIST];
    int n, known = list_of(o, 1, perm, &n);
    const ov_port *x = ov_in(o, 0), *y = ov_out(o, 0);
    if (known < 0)
        return false;
    if (known == 0) {
        if (!x || !y || x->rank != y->rank || x->rank < 0 ||
            !layer_find_perm(x->rank, x->dims, y->dims, perm))
            return false;
        n = x->rank;
    }
    return n == 0 ? layer_unary(&o->l, "Transpose", NULL)
                  : layer_transpose(&o->l, o->l.in[0], perm, n);
}

/* ---- joining and splitting ---- */

bool ov_concat(ov_op *o)
{
    ir_attr_spec attrs[] = {IR_SPEC_INT("axis", ov_int(o, "axis", 0)), LAYER_END};
    return made(layer_node_of(&o->l, NULL, "Concat", o->l.in, o->l.n_in, attrs, 1));
}

/* The first axis in which input 0 and output 0 differ; of one output, any. */
static int64_t differing_axis(const ov_op *o)
{
    const ov_port *x = ov_in(o, 0), *y = ov_out(o, 0);
    for (int d = 0; x && y && x->rank == y->rank && d < x->rank; d++)
        if (x->dims[d] != y->dims[d])
            return d;
    return x && y && x->rank == y->rank && x->rank > 0 && o->l.n_out == 1 ? 0 : -1;
}

static bool split_axis(ov_op *o, int64_t *axis)
{
    int64_t list[OV_LIST];
    int n, known = list_of(o, 1, list, &n);
    if (known == 1 && n == 1)
        *axis = list[0];
    else if (known == 0)
        *axis = differing_axis(o);
    else
        return false;
    return known == 1 || *axis >= 0;
}

static bool add_split(ov_op *o, int64_t axis, const ir_id *in, uint32_t n)
{
    ir_attr_spec attrs[] = {IR_SPEC_INT("axis", axis), LAYER_END};
    return made(layer_node(&o->l, NULL, "Split", in, n, attrs));
}

bool ov_split(ov_op *o)
{
    int64_t axis;
    return split_axis(o, &axis) && add_split(o, axis, o->l.in, 1);
}

/* One length may be -1: the rest. */
static bool fill_rest(const ov_op *o, int64_t axis, int64_t *list, int n)
{
    const ov_port *x = ov_in(o, 0);
    int64_t sum = 0;
    int rest = -1;
    for (int i = 0; i < n; i++) {
        if (list[i] < 0)
            rest = i;
        else
            sum += list[i] & INT32_MAX;
    }
    if (rest < 0)
        return true;
    axis = x ? axis_in(axis, x->rank) : -1;
    if (axis < 0 || axis >= x->rank || x->dims[axis] < sum)
        return false;
    list[rest] = x->dims[axis] - sum;
    return true;
}

bool ov_variadic_split(ov_op *o)
{
    int64_t axis, list[OV_LIST];
    int n, known;
    if (!split_axis(o, &axis) || o->l.n_out > OV_LIST)
        return false;
    known = list_of(o, 2, list, &n);
    const ov_port *x = ov_in(o, 0);
    if (known == 0) {
        int64_t at = x ? axis_in(axis, x->rank) : -1;
        for (n = 0; n < (int)o->l.n_out; n++) {
            const ov_port *y = ov_out(o, (uint32_t)n);
            if (at < 0 || at >= y->rank || y->dims[at] < 0)
                return false;
            list[n] = y->dims[at];
        }
    }
    if (known == 1 && !fill_rest(o, axis, list, n))
        return false;
    ir_id in[] = {o->l.in[0], known < 0 ? o->l.in[2] : layer_ints(&o->l, "split", list, n)};
    return add_split(o, axis, in, 2);
}

/* ---- taking parts ---- */

/* The axis at which the sizes of the indices stand in the sizes of the output. */
static int64_t gather_axis(const ov_op *o)
{
    const ov_port *x = ov_in(o, 0), *k = ov_in(o, 1), *y = ov_out(o, 0);
    if (!x || !k || !y || x->rank < 1 || k->rank < 0 || y->rank != x->rank + k->rank - 1)
        return -1;
    for (int axis = 0; axis < x->rank; axis++) {
        bool fits = true;
        for (int d = 0; d < y->rank; d++) {
            int64_t size = d < axis             ? x->dims[d]
                           : d < axis + k->rank ? k->dims[d - axis]
                                                : x->dims[d - k->rank + 1];
            fits &= size == y->dims[d];
        }
        if (fits)
            return axis;
    }
    return -1;
}

bool ov_gather(ov_op *o)
{
    int64_t list[OV_LIST] = {0};
    int n = 1, known = layer_input(&o->l, 2) == IR_NONE ? 1 : list_of(o, 2, list, &n);
    const ov_port *x = ov_in(o, 0), *k = ov_in(o, 1);
    int64_t batch = axis_in(ov_int(o, "batch_dims", 0), k ? k->rank : 0);
    if (known == 0)
        list[0] = batch ? batch : gather_axis(o);
    if (known < 0 || n > 1 || (known == 0 && list[0] < 0))
        return false;
    if (batch)
        return batch > 0 && axis_in(list[0], x ? x->rank : 0) == batch &&
               layer_gather_batched(&o->l, o->l.in[0], as_int64(o, 1), batch);
    ir_attr_spec attrs[] = {IR_SPEC_INT("axis", list[0]), LAYER_END};
    return made(layer_node_of(&o->l, NULL, "Gather", o->l.in, 2, attrs, 1));
}

bool ov_gather_elements(ov_op *o)
{
    ir_attr_spec attrs[] = {IR_SPEC_INT("axis", ov_int(o, "axis", 0)), LAYER_END};
    return made(layer_node_of(&o->l, NULL, "GatherElements", o->l.in, 2, attrs, 1));
}

bool ov_gather_nd(ov_op *o)
{
    ir_attr_spec attrs[] = {IR_SPEC_INT("batch_dims", ov_int(o, "batch_dims", 0)), LAYER_END};
    if (str_is(o->layer->opset, "opset5") && ov_int(o, "batch_dims", 0) > 1)
        return false; /* it joins the batch axes */
    return made(layer_node_of(&o->l, NULL, "GatherND", o->l.in, 2, attrs, 1));
}

typedef struct slice_masks {
    int64_t begin[OV_LIST], end[OV_LIST], added[OV_LIST], shrunk[OV_LIST], ellipsis[OV_LIST];
} slice_masks;

static void read_masks(const ov_op *o, slice_masks *m)
{
    ov_ints(o, "begin_mask", m->begin);
    ov_ints(o, "end_mask", m->end);
    ov_ints(o, "new_axis_mask", m->added);
    ov_ints(o, "shrink_axis_mask", m->shrunk);
    ov_ints(o, "ellipsis_mask", m->ellipsis);
}

/* Bounds of a strided slice, or of the sizes of the output where they are not there. */
typedef struct slice_bounds {
    int n; /* entries of the masks */
    bool known;
    int64_t begin[OV_LIST], end[OV_LIST], step[OV_LIST];
} slice_bounds;

/* Axes that an ellipsis stands for. */
static int hidden_axes(const slice_masks *m, const slice_bounds *b, int rank)
{
    int used = 0;
    for (int i = 0; i < b->n; i++)
        used += !m->added[i] && !m->ellipsis[i];
    return rank > used ? rank - used : 0;
}

static void take_axis(layer_slicing *s, const slice_masks *m, const slice_bounds *b, int i,
                      int from, const ov_port *y, int to)
{
    int64_t step = b->known ? b->step[i] : 1;
    if (m->shrunk[i]) {
        int64_t at = b->known ? b->begin[i] : 0;
        layer_slice_axis(s, from, at, at == -1 ? INT32_MAX : at + 1, 1);
        s->squeeze[s->n_squeeze++] = from;
    } else if (b->known && !(m->begin[i] && m->end[i] && step == 1)) {
        int64_t low = step < 0 ? INT32_MAX : 0, high = step < 0 ? -INT32_MAX : INT32_MAX;
        layer_slice_axis(s, from, m->begin[i] ? low : b->begin[i], m->end[i] ? high : b->end[i],
                         step);
    } else if (!b->known && y && to < y->rank && y->dims[to] >= 0) {
        layer_slice_axis(s, from, 0, y->dims[to], 1);
    }
}

static bool walk_slice(ov_op *o, const slice_masks *m, const slice_bounds *b)
{
    const ov_port *x = ov_in(o, 0), *y = ov_out(o, 0);
    layer_slicing *s = ARENA_NEW(o->r->f.scratch, layer_slicing);
    int from = 0, to = 0;
    if (!s || !x || x->rank < 0)
        return false;
    for (int i = 0; i < b->n; i++) {
        if (m->ellipsis[i]) {
            from += hidden_axes(m, b, x->rank);
            to += hidden_axes(m, b, x->rank);
        } else if (m->added[i]) {
            s->insert[s->n_insert++] = to++;
        } else if (from >= x->rank) {
            return false;
        } else {
            take_axis(s, m, b, i, from, y, to);
            to += !m->shrunk[i];
            from++;
        }
    }
    return layer_slice(&o->l, o->l.in[0], s);
}

static bool any_mask(const int64_t *mask)
{
    for (int i = 0; i < OV_LIST; i++)
        if (mask[i])
            return true;
    return false;
}

/* One element at a place that is not known here. */
static bool computed_element(ov_op *o)
{
    ir_attr_spec axis[] = {IR_SPEC_INT("axis", 0), LAYER_END};
    int64_t zero = 0;
    ir_id taken = layer_step(&o->l, "Gather", o->l.in, 2, axis);
    ir_id in[] = {taken, layer_ints(&o->l, "axes", &zero, 1)};
    return made(layer_node_of(&o->l, NULL, "Squeeze", in, 2, NULL, 1));
}

/* Bounds that the graph computes: as they are, where no mask changes them. */
static bool computed_slice(ov_op *o, const slice_masks *m, int n)
{
    int64_t axes[IR_MAX_RANK];
    if (n == 1 && m->shrunk[0])
        return computed_element(o);
    if (any_mask(m->begin) || any_mask(m->end) || any_mask(m->added) || any_mask(m->shrunk) ||
        any_mask(m->ellipsis) || n <= 0 || n > IR_MAX_RANK)
        return false;
    for (int i = 0; i < n; i++)
        axes[i] = i;
    ir_id in[] = {o->l.in[0], o->l.in[1], o->l.in[2], layer_ints(&o->l, "axes", axes, n),
                  layer_input(&o->l, 3)};
    return made(layer_node_of(&o->l, NULL, "Slice", in, in[4] == IR_NONE ? 4 : 5, NULL, 1));
}

/* Sizes of a shape, whose places matter: an operator behind it may ask for them. */
static bool holds_sizes(const ov_op *o)
{
    return ov_in(o, 0) && ov_in(o, 0)->rank == 1 && ir_is_integer(ov_in_dtype(o, 0));
}

/* By the sizes of the ports alone, where the constants that it is computed from are absent. An end that is masked is that
 * of x, and else it begins where x does; m NULL: no mask says so. */
static bool sized_slice(ov_op *o, const slice_masks *m)
{
    layer_slicing *s = ARENA_NEW(o->r->f.scratch, layer_slicing);
    const ov_port *x = ov_in(o, 0), *y = ov_out(o, 0);
    if (!s || !ov_static(x) || !ov_static(y) || x->rank != y->rank)
        return false;
    for (int d = 0; d < y->rank; d++) {
        bool last = m && m->end[d] && !m->begin[d], first = m && m->begin[d];
        int64_t from = last ? x->dims[d] - y->dims[d] : 0;
        if (y->dims[d] > x->dims[d])
            return false;
        if (x->dims[d] == y->dims[d])
            continue;
        if (!last && !first && holds_sizes(o))
            return false;
        layer_slice_axis(s, d, from, from + y->dims[d], 1);
    }
    ov_guessed(o);
    return layer_slice(&o->l, o->l.in[0], s);
}

bool ov_strided_slice(ov_op *o)
{
    slice_masks *m = ARENA_NEW(o->r->f.scratch, slice_masks);
    slice_bounds *b = ARENA_NEW(o->r->f.scratch, slice_bounds);
    const ov_port *list = ov_in(o, 1);
    if (!m || !b)
        return false;
    read_masks(o, m);
    b->n = list && list->rank == 1 && list->dims[0] >= 0 && list->dims[0] <= IR_MAX_RANK
               ? (int)list->dims[0]
               : -1;
    int n = ov_const_ints(o, 1, b->begin), k = ov_const_ints(o, 2, b->end);
    int s = layer_input(&o->l, 3) == IR_NONE ? -1 : ov_const_ints(o, 3, b->step);
    for (int i = 0; s < 0 && i < OV_LIST; i++)
        b->step[i] = 1;
    bool stepped = layer_input(&o->l, 3) == IR_NONE || s == n;
    b->known = n >= 0 && n == k && stepped && n == b->n;
    if (b->n < 0)
        return false;
    if (b->known)
        return walk_slice(o, m, b);
    if (!o->r->bin && sized_slice(o, m))
        return true;
    if (!o->r->bin && holds_sizes(o) && ov_in(o, 0)->dims[0] > 1)
        return computed_slice(o, m, b->n);
    if (!ov_constant(o, 1) || !ov_constant(o, 2) || !ov_static(ov_out(o, 0)))
        return computed_slice(o, m, b->n);
    ov_guessed(o);
    return walk_slice(o, m, b);
}

/* in: x, starts, ends, steps, axes. */
bool ov_slice(ov_op *o)
{
    int64_t axes[OV_LIST];
    const ov_port *list = ov_in(o, 1);
    bool absent = false;
    for (uint32_t i = 1; i < o->l.n_in; i++)
        absent |= ov_constant(o, i) && ov_const_ints(o, i, axes) < 0;
    if (absent)
        return sized_slice(o, NULL);
    int n = list && list->rank == 1 && list->dims[0] > 0 && list->dims[0] <= IR_MAX_RANK
                ? (int)list->dims[0]
                : 0;
    for (int i = 0; i < n; i++)
        axes[i] = i;
    ir_id in[] = {o->l.in[0], o->l.in[1], o->l.in[2],
                  layer_input(&o->l, 4) != IR_NONE ? o->l.in[4]
                                                   : layer_ints(&o->l, "axes", axes, n),
                  layer_input(&o->l, 3)};
    return n > 0 &&
           made(layer_node_of(&o->l, NULL, "Slice", in, in[4] == IR_NONE ? 4 : 5, NULL, 1));
}

/* ---- filling ---- */

static bool port_pads(const ov_op *o, int64_t *pads, int *n)
{
    const ov_port *x = ov_in(o, 0), *y = ov_out(o, 0);
    if (!ov_static(x) || !ov_static(y) || x->rank != y->rank)
        return false;
    *n = x->rank;
    for (int d = 0; d < x->rank; d++) {
        pads[d] = 0;
        pads[x->rank + d] = y->dims[d] - x->dims[d];
    }
    return true;
}

/* 1: the pads are constants, or those of the ports; 0: they are not known; -1: they are computed. */
static int fixed_pads(ov_op *o, int64_t *pads, int *n)
{
    int64_t ends[OV_LIST];
    int m, begin = list_of(o, 1, pads, n), end = list_of(o, 2, ends, &m);
    if (begin == 0 || end == 0)
        return port_pads(o, pads, n);
    if (begin < 0 || end < 0)
        return -1;
    if (*n == m)
        memcpy(pads + m, ends, (size_t)m * sizeof *ends);
    return *n == m;
}

/* in: x, begins, ends, value. */
bool ov_pad(ov_op *o)
{
    int64_t pads[2 * OV_LIST];
    int n, fixed = fixed_pads(o, pads, &n);
    ir_attr_spec axis[] = {IR_SPEC_INT("axis", 0), LAYER_END};
    const char *mode = ov_is(o, "pad_mode", "edge", "constant")      ? "edge"
                       : ov_is(o, "pad_mode", "reflect", "constant") ? "reflect"
                                                                     : "constant";
    ir_attr_spec attrs[] = {IR_SPEC_TEXT("mode", mode), LAYER_END};
    if (ov_is(o, "pad_mode", "symmetric", "constant"))
        return fixed == 1 && layer_pad_symmetric(&o->l, o->l.in[0], pads, n);
    ir_id list = IR_NONE;
    if (fixed == 0)
        return false;
    if (fixed == 1) {
        list = layer_ints(&o->l, "pads", pads, 2 * n);
    } else {
        ir_id parts[] = {as_int64(o, 1), as_int64(o, 2)};
        list = layer_step(&o->l, "Concat", parts, 2, axis);
    }
    ir_id in[] = {o->l.in[0], list, layer_input(&o->l, 3)};
    return made(layer_node_of(&o->l, NULL, "Pad", in, in[2] == IR_NONE ? 2 : 3, attrs, 1));
}

bool ov_tile(ov_op *o)
{
    int64_t list[OV_LIST];
    int n, known = list_of(o, 1, list, &n);
    const ov_port *x = ov_in(o, 0), *y = ov_out(o, 0);
    if (known == 0) {
        if (!ov_static(x) || !ov_static(y) || x->rank != y->rank)
            return false;
        n = x->rank;
        for (int d = 0; d < n; d++)
            list[d] = x->dims[d] > 0 ? y->dims[d] / x->dims[d] : 1;
    }
    if (known >= 0 && (!x || x->rank != n))
        return false;
    ir_id in[] = {o->l.in[0], known < 0 ? as_int64(o, 1) : layer_ints(&o->l, "repeats", list, n)};
    return made(layer_node_of(&o->l, NULL, "Tile", in, 2, NULL, 1));
}

/* in: x, shape, axes of x in the result (mode explicit). */
bool ov_broadcast(ov_op *o)
{
    int64_t list[OV_LIST];
    int n, known = list_of(o, 1, list, &n);
    const ov_port *y = ov_out(o, 0);
    if (ov_is(o, "mode", "explicit", "numpy"))
        return false;
    if (known == 0) {
        if (!ov_static(y))
            return false;
        n = y->rank;
        memcpy(list, y->dims, (size_t)n * sizeof *list);
    }
    ir_id in[] = {o->l.in[0], known < 0 ? as_int64(o, 1) : layer_ints(&o->l, "shape", list, n)};
    return made(layer_node_of(&o->l, NULL, "Expand", in, 2, NULL, 1));
}

/* Indices of ONNX are int64; the layer's may be int32. */
static bool then_cast(ov_op *o, ir_id from, ir_dtype is, ir_dtype want)
{
    return want == is || want == IR_UNDEFINED
               ? layer_into(&o->l, "Identity", &from, 1, NULL, o->l.out[0]) != IR_NONE
               : layer_cast(&o->l, from, want);
}

bool ov_shape_of(ov_op *o)
{
    ir_dtype t = ov_out(o, 0) ? ov_out(o, 0)->dtype : IR_INT64;
    if (t == IR_INT64)
        return layer_unary(&o->l, "Shape", NULL);
    return then_cast(o, layer_step(&o->l, "Shape", o->l.in, 1, NULL), IR_INT64, t);
}

bool ov_nonzero(ov_op *o)
{
    ir_dtype t = ov_out(o, 0) ? ov_out(o, 0)->dtype : IR_INT64;
    if (t == IR_INT64)
        return layer_unary(&o->l, "NonZero", NULL);
    return then_cast(o, layer_step(&o->l, "NonZero", o->l.in, 1, NULL), IR_INT64, t);
}

bool ov_range(ov_op *o)
{
    ir_dtype t = ov_in_dtype(o, 0), want = ov_out(o, 0) ? ov_out(o, 0)->dtype : t;
    int64_t zero = 0;
    double ignored;
    const ov_port *y = ov_out(o, 0);
    ir_id in[3];
    if (ov_constant(o, 1) && !ov_const_number(o, 1, &ignored) && ov_static(y) && y->rank == 1) {
        ov_guessed(o);
        in[0] = layer_number(&o->l, "start", IR_INT64, (double)zero);
        in[1] = layer_number(&o->l, "limit", IR_INT64, (double)y->dims[0]);
        in[2] = layer_number(&o->l, "delta", IR_INT64, 1);
        return then_cast(o, layer_step(&o->l, "Range", in, 3, NULL), IR_INT64, want);
    }
    for (uint32_t i = 0; i < 3; i++) {
        ir_attr_spec to[] = {IR_SPEC_INT("to", want), LAYER_END};
        in[i] = ov_in_dtype(o, i) == want ? o->l.in[i]
                                          : layer_step(&o->l, "Cast", &o->l.in[i], 1, to);
    }
    return want != IR_UNDEFINED && made(layer_node_of(&o->l, NULL, "Range", in, 3, NULL, 1));
}

/* in: indices, depth, on, off. */
bool ov_one_hot(ov_op *o)
{
    static const int64_t zero;
    int64_t axis = ov_int(o, "axis", -1), depth[OV_LIST];
    const ov_port *y = ov_out(o, 0);
    int n, known = list_of(o, 1, depth, &n);
    int64_t at = y && y->rank > 0 ? axis_in(axis, y->rank) : -1;
    if (known == 0) {
        if (at < 0 || at >= y->rank || y->dims[at] < 0)
            return false;
        depth[0] = y->dims[at];
    }
    ir_id axes = layer_ints(&o->l, "axes", &zero, 1);
    ir_id off[] = {o->l.in[3], axes}, on[] = {o->l.in[2], axes};
    ir_attr_spec first[] = {IR_SPEC_INT("axis", 0), LAYER_END};
    ir_id pair[] = {layer_step(&o->l, "Unsqueeze", off, 2, NULL),
                    layer_step(&o->l, "Unsqueeze", on, 2, NULL)};
    ir_id in[] = {o->l.in[0], known < 0 ? o->l.in[1] : layer_ints(&o->l, "depth", depth, 1),
                  layer_step(&o->l, "Concat", pair, 2, first)};
    ir_attr_spec attrs[] = {IR_SPEC_INT("axis", axis), LAYER_END};
    return made(layer_node_of(&o->l, NULL, "OneHot", in, 3, attrs, 1));
}

/* K is a list of one in ONNX. */
bool ov_topk(ov_op *o)
{
    static const int64_t one = 1;
    int64_t axis = ov_int(o, "axis", -1), k[OV_LIST];
    const ov_port *y = ov_out(o, 0);
    int n, known = list_of(o, 1, k, &n);
    int64_t at = y && y->rank > 0 ? axis_in(axis, y->rank) : -1;
    if (known == 0) {
        if (at < 0 || at >= y->rank || y->dims[at] < 0)
            return false;
        k[0] = y->dims[at];
    }
    ir_id list[] = {o->l.in[1], layer_ints(&o->l, "shape", &one, 1)};
    ir_id in[] = {o->l.in[0], known < 0 ? layer_step(&o->l, "Reshape", list, 2, NULL)
                                        : layer_ints(&o->l, "k", k, 1)};
    ir_dtype t = ov_out(o, 1) ? ov_out(o, 1)->dtype : IR_INT64;
    ir_id indices = o->l.n_out < 2  ? IR_NONE
                    : t == IR_INT64 ? o->l.out[1]
                                    : foreign_inner(o->l.f, o->l.name, "indices");
    ir_id out[] = {o->l.out[0], indices};
    ir_attr_spec attrs[] = {IR_SPEC_INT("axis", axis),
                            IR_SPEC_INT("largest", ov_is(o, "mode", "max", "max"))};
    ir_id node = foreign_add(o->l.f, &(foreign_node){.op = "TopK",
                                                     .name = o->l.name,
                                                     .in = in,
                                                     .n_in = 2,
                                                     .out = out,
                                                     .n_out = o->l.n_out < 2 ? 1 : 2,
                                                     .attrs = attrs,
                                                     .n_attrs = 2});
    if (o->l.n_out > 1 && t != IR_INT64) {
        ir_attr_spec to[] = {IR_SPEC_INT("to", t), LAYER_END};
        layer_into(&o->l, "Cast", &indices, 1, to, o->l.out[1]);
    }
    return made(node);
}

/* ---- blocks of channels ---- */

bool ov_blocks(ov_op *o)
{
    bool deep = ov_is(o, "mode", "depth_first", "blocks_first");
    bool down = str_is(str_of(o->row->op), "SpaceToDepth");
    ir_attr_spec attrs[] = {IR_SPEC_INT("blocksize", ov_int(o, "block_size", 1)),
                            IR_SPEC_TEXT("mode", deep ? "CRD" : "DCR"), LAYER_END};
    if (down) {
        attrs[1] = LAYER_END;
        if (deep)
            return false; /* ONNX has the other order only */
    }
    return layer_unary(&o->l, o->row->op, attrs);
}

/* [.., g * c, ..] as [.., g, c, ..], swapped. */
bool ov_shuffle(ov_op *o)
{
    const ov_port *x = ov_in(o, 0);
    int64_t group = ov_int(o, "group", 1), dims[IR_MAX_RANK + 1], perm[IR_MAX_RANK + 1];
    if (!ov_static(x) || group < 1 || x->rank < 1 || x->rank >= IR_MAX_RANK)
        return false;
    int64_t axis = axis_in(ov_int(o, "axis", 1), x->rank);
    if (axis < 0 || axis >= x->rank || x->dims[axis] % group)
        return false;
    for (int d = 0, k = 0; d < x->rank; d++) {
        if (d == axis)
            dims[k++] = group;
        dims[k++] = d == axis ? x->dims[d] / group : x->dims[d];
    }
    for (int d = 0; d <= x->rank; d++)
        perm[d] = d == axis ? d + 1 : d == axis + 1 ? d - 1 : d;
    ir_id wide = layer_step_reshape(&o->l, o->l.in[0], dims, x->rank + 1);
    ir_id turned = layer_step_transpose(&o->l, wide, perm, x->rank + 1);
    return layer_reshape(&o->l, turned, x->dims, x->rank);
}

/* ---- scattering, sums, order ---- */

bool ov_scatter(ov_op *o)
{
    return made(layer_node_of(&o->l, OV_DOMAIN, "ScatterUpdate", o->l.in, o->l.n_in, NULL, 1));
}

/* All sizes are those of x: without the .bin, any axis gives them. */
bool ov_scatter_elements(ov_op *o)
{
    int64_t list[OV_LIST] = {0};
    int n, known = list_of(o, 3, list, &n);
    ir_attr_spec attrs[] = {IR_SPEC_INT("axis", known == 1 && n == 1 ? list[0] : 0), LAYER_END};
    if (known < 0 || (ov_has(o, "reduction") && !ov_is(o, "reduction", "none", "none")))
        return false;
    return made(layer_node_of(&o->l, NULL, "ScatterElements", o->l.in, 3, attrs, 1));
}

bool ov_cumsum(ov_op *o)
{
    ir_attr_spec attrs[] = {IR_SPEC_INT("exclusive", ov_bool(o, "exclusive", false)),
                            IR_SPEC_INT("reverse", ov_bool(o, "reverse", false)), LAYER_END};
    int64_t axis[OV_LIST], zero = 0;
    int n = 0, known = layer_input(&o->l, 1) == IR_NONE ? 0 : list_of(o, 1, axis, &n);
    ir_id in[] = {o->l.in[0],
                  known == 0 ? layer_number(&o->l, "axis", IR_INT64, (double)zero) : o->l.in[1]};
    return made(layer_node_of(&o->l, NULL, "CumSum", in, 2, attrs, 1));
}

/* The axes whose size is 1 or missing in the output. */
static int reduced_axes(const ov_op *o, bool keep, int64_t *axes)
{
    const ov_port *x = ov_in(o, 0), *y = ov_out(o, 0);
    int n = 0, k = 0;
    if (!x || !y || x->rank < 0 || y->rank < 0 || (!keep && (!ov_static(x) || !ov_static(y))))
        return -1; /* kept axes of size 1 tell, also where others are open */
    for (int d = 0; d < x->rank; d++) {
        bool gone = keep ? x->rank == y->rank && y->dims[d] != x->dims[d]
                         : x->rank - d > y->rank - k && (k >= y->rank || y->dims[k] != x->dims[d]);
        if (gone)
            axes[n++] = d;
        else
            k++;
    }
    if (keep ? x->rank != y->rank : k != y->rank)
        return -1;
    return n;
}

bool ov_reduce(ov_op *o)
{
    int64_t axes[OV_LIST];
    bool keep = ov_bool(o, "keep_dims", false);
    int n, known = list_of(o, 1, axes, &n);
    if (known != 1)
        n = reduced_axes(o, keep, axes); /* of constants without content, or computed */
    return n >= 0 && layer_reduce(&o->l, o->row->op, o->l.in[0], axes, n, keep);
}

/* in: x, axes: their numbers, or a mask. Without them the first is taken: all of them cost the same. */
bool ov_reverse(ov_op *o)
{
    int64_t list[OV_LIST] = {0};
    int n, known = list_of(o, 1, list, &n);
    bool mask = ov_is(o, "mode", "mask", "index") && known;
    layer_slicing *s = ARENA_NEW(o->l.f->scratch, layer_slicing);
    for (int i = 0; s && i < (known ? n : 1); i++)
        if (!mask || list[i])
            layer_slice_axis(s, mask ? i : list[i], -1, INT32_MIN, -1);
    return s && known >= 0 && layer_slice(&o->l, o->l.in[0], s);
}

bool ov_reverse_sequence(ov_op *o)
{
    ir_attr_spec attrs[] = {IR_SPEC_INT("batch_axis", ov_int(o, "batch_axis", 0)),
                            IR_SPEC_INT("time_axis", ov_int(o, "seq_axis", 1)), LAYER_END};
    return made(layer_node_of(&o->l, NULL, "ReverseSequence", o->l.in, 2, attrs, 1));
}

bool ov_einsum(ov_op *o)
{
    str equation = ov_attr(o, "equation");
    ir_attr_spec attrs[] = {IR_SPEC_TEXT("equation", equation.p ? equation.p : ""), LAYER_END};
    return made(layer_node_of(&o->l, NULL, "Einsum", o->l.in, o->l.n_in, attrs, 1));
}

/* ---- variables ---- */

/* The state that the first run begins with is the input. */
bool ov_read_value(ov_op *o)
{
    return o->l.n_in > 0 && o->l.in[0] != IR_NONE && layer_unary(&o->l, "Identity", NULL);
}

bool ov_assign(ov_op *o)
{
    return o->l.n_out == 0 || layer_unary(&o->l, "Identity", NULL);
}
