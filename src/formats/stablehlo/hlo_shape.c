/* Operators of StableHLO that change shapes and move data. What ONNX cannot express is a row of the domain "stablehlo",
 * whose size the text states (ops/op_stablehlo.c). */
#include <string.h>

#include "formats/stablehlo/hlo_impl.h"

static bool is_static(const hlo_type *t)
{
    for (int d = 0; d < t->rank; d++)
        if (t->dims[d] < 0)
            return false;
    return t->rank >= 0;
}

static bool same_sizes(const hlo_type *a, const hlo_type *b)
{
    if (a->rank != b->rank)
        return false;
    for (int d = 0; d < a->rank; d++)
        if (a->dims[d] != b->dims[d])
            return false;
    return true;
}

/* A row of the domain whose result is as the text says. */
static bool own_row(hlo_op *o, const char *op)
{
    const hlo_type *t = hlo_out(o, 0);
    const ir_attr_spec attrs[] = {IR_SPEC_INTS("shape", t->rank, t->dims), LAYER_END};
    return is_static(t) && made(layer_node_of(&o->l, HLO_DOMAIN, op, o->in, o->l.n_in, attrs, 1));
}

bool hlo_reshape(hlo_op *o)
{
    const hlo_type *t = hlo_out(o, 0);
    int open = 0;
    for (int d = 0; d < t->rank; d++)
        open += t->dims[d] < 0;
    return t->rank >= 0 && open <= 1 && layer_reshape(&o->l, o->in[0], t->dims, t->rank);
}

/* Puts dims in increasing order, and x with them. */
static ir_id sort_axes(hlo_op *o, ir_id x, int64_t *dims, int64_t *sizes, int n)
{
    int64_t perm[IR_MAX_RANK];
    bool moved = false;
    for (int i = 0; i < n; i++)
        perm[i] = i;
    for (int i = 1; i < n; i++)
        for (int k = i; k > 0 && dims[k] < dims[k - 1]; k--) {
            int64_t d = dims[k], s = sizes[k], p = perm[k];
            dims[k] = dims[k - 1], sizes[k] = sizes[k - 1], perm[k] = perm[k - 1];
            dims[k - 1] = d, sizes[k - 1] = s, perm[k - 1] = p;
            moved = true;
        }
    return moved ? layer_step_transpose(&o->l, x, perm, n) : x;
}

/* Axis i of x is axis dims[i] of the result; the others are new. */
bool hlo_broadcast(hlo_op *o)
{
    const hlo_type *t = hlo_out(o, 0);
    hlo_type x = *hlo_in(o, 0);
    int64_t dims[HLO_LIST], ones[IR_MAX_RANK];
    int n = hlo_ints(o, "dims", "broadcast_dimensions", dims);
    n = n < 0 && x.rank == 0 ? 0 : n;
    if (n != x.rank || !is_static(t))
        return false;
    ir_id from = sort_axes(o, o->in[0], dims, x.dims, n);
    bool in_place = true;
    for (int d = 0; d < t->rank; d++)
        ones[d] = 1;
    for (int i = 0; i < n; i++) {
        if (dims[i] < 0 || dims[i] >= t->rank || (i && dims[i] == dims[i - 1]))
            return false;
        ones[dims[i]] = x.dims[i];
        in_place = in_place && dims[i] == i + t->rank - n; /* as ONNX broadcasts */
    }
    if (same_sizes(&x, t))
        return made(layer_node_of(&o->l, NULL, "Identity", &from, 1, NULL, 1));
    if (!in_place)
        from = layer_step_reshape(&o->l, from, ones, t->rank);
    ir_id in[] = {from, layer_ints(&o->l, "shape", t->dims, t->rank)};
    return made(layer_node_of(&o->l, NULL, "Expand", in, 2, NULL, 1));
}

/* stablehlo.broadcast: new axes in front. */
bool hlo_broadcast_old(hlo_op *o)
{
    const hlo_type *t = hlo_out(o, 0);
    ir_id in[] = {o->in[0], layer_ints(&o->l, "shape", t->dims, t->rank)};
    return is_static(t) && made(layer_node_of(&o->l, NULL, "Expand", in, 2, NULL, 1));
}

bool hlo_transpose(hlo_op *o)
{
    int64_t perm[HLO_LIST];
    int n = hlo_ints(o, "dims", "permutation", perm);
    return n == hlo_in(o, 0)->rank && layer_transpose(&o->l, o->in[0], perm, n);
}

bool hlo_concat(hlo_op *o)
{
    const ir_attr_spec attrs[] = {IR_SPEC_INT("axis", hlo_int(o, "dim", "dimension", 0)),
                                  LAYER_END};
    return o->l.n_in > 0 && made(layer_node_of(&o->l, NULL, "Concat", o->in, o->l.n_in, attrs, 1));
}

/* "[0:1, 2:4:2]" behind the operand: start, limit and stride of each axis. */
static int read_ranges(str body, int64_t *start, int64_t *limit, int64_t *stride)
{
    const char *open = memchr(body.p, '[', body.n);
    const char *close = open ? hlo_close(open, body.p + body.n) : NULL;
    str rest = close ? (str){open + 1, (uint32_t)(close - 1 - open - 1)} : (str){0};
    int n = 0;
    for (str item; str_split(&rest, ',', &item) && n < HLO_LIST; n++) {
        str a = str_cut(&item, ':'), b = str_cut(&item, ':');
        stride[n] = 1;
        if (!str_to_i64(str_trim(a), &start[n]) || !str_to_i64(str_trim(b), &limit[n]) ||
            (item.n && !str_to_i64(str_trim(item), &stride[n])))
            return -1;
    }
    return n;
}

bool hlo_slice(hlo_op *o)
{
    int64_t start[HLO_LIST], limit[HLO_LIST], stride[HLO_LIST];
    int n = hlo_ints(o, "start_indices", "start_indices", start);
    if (n < 0)
        n = read_ranges(o->body, start, limit, stride);
    else if (hlo_ints(o, "limit_indices", "limit_indices", limit) != n ||
             hlo_ints(o, "strides", "strides", stride) != n)
        return false;
    layer_slicing *s = ARENA_NEW(o->l.f->scratch, layer_slicing);
    if (!s || n != hlo_in(o, 0)->rank)
        return false;
    for (int i = 0; i < n; i++)
        if (start[i] != 0 || stride[i] != 1 || limit[i] != hlo_in(o, 0)->dims[i])
            layer_slice_axis(s, i, start[i], limit[i], stride[i]);
    return layer_slice(&o->l, o->in[0], s);
}

bool hlo_reverse(hlo_op *o)
{
    int64_t axes[HLO_LIST];
    int n = hlo_ints(o, "dims", "dimensions", axes);
    layer_slicing *s = ARENA_NEW(o->l.f->scratch, layer_slicing);
    for (int i = 0; s && i < n; i++)
        layer_slice_axis(s, axes[i], -1, INT32_MIN, -1);
    return s && n >= 0 && layer_slice(&o->l, o->in[0], s);
}

/* Elements between others (interior) are a row of its own. */
bool hlo_pad(hlo_op *o)
{
    int64_t pads[2 * HLO_LIST], interior[HLO_LIST];
    int n = hlo_ints(o, "low", "edge_padding_low", pads);
    if (n < 0 || n > HLO_LIST || hlo_ints(o, "high", "edge_padding_high", pads + n) != n)
        return false;
    int m = hlo_ints(o, "interior", "interior_padding", interior);
    for (int i = 0; i < m; i++)
        if (interior[i] != 0)
            return own_row(o, "Pad");
    ir_id in[] = {o->in[0], layer_ints(&o->l, "pads", pads, 2 * n), o->in[1]};
    return made(layer_node_of(&o->l, NULL, "Pad", in, 3, NULL, 1));
}

/* ---- indices ---- */

/* One axis is indexed and taken away, the others are whole, in the order of ONNX's Gather: the axis. -1: something else. */
static int64_t gathered_axis(hlo_op *o, int *index_rank)
{
    int64_t from[HLO_LIST], gone[HLO_LIST], offset[HLO_LIST], size[HLO_LIST];
    const hlo_type *x = hlo_in(o, 0), *at = hlo_in(o, 1);
    int n_offset = hlo_ints(o, "offset_dims", "offset_dims", offset);
    int64_t depth = hlo_int(o, "index_vector_dim", "index_vector_dim", 0);
    if (hlo_ints(o, "start_index_map", "start_index_map", from) != 1 ||
        hlo_ints(o, "collapsed_slice_dims", "collapsed_slice_dims", gone) != 1 ||
        gone[0] != from[0] || hlo_ints(o, "slice_sizes", "slice_sizes", size) != x->rank ||
        x->rank < 1 || from[0] < 0 || from[0] >= x->rank || size[from[0]] != 1 ||
        n_offset != x->rank - 1)
        return -1;
    bool column = depth == at->rank - 1 && at->rank > 0 && at->dims[at->rank - 1] == 1;
    if (!column && depth != at->rank)
        return -1;
    *index_rank = at->rank - column;
    for (int d = 0, k = 0; d < x->rank; d++) {
        if (d == from[0])
            continue;
        if (size[d] != x->dims[d] || offset[k] != (d < from[0] ? d : d - 1 + *index_rank))
            return -1;
        k++;
    }
    return from[0];
}

bool hlo_gather(hlo_op *o)
{
    int rank;
    int64_t axis = gathered_axis(o, &rank);
    const ir_attr_spec attrs[] = {IR_SPEC_INT("axis", axis), LAYER_END};
    if (axis < 0)
        return own_row(o, "Gather");
    ir_id in[] = {o->in[0], o->in[1]};
    if (rank != hlo_in(o, 1)->rank)
        in[1] = layer_step_reshape(&o->l, in[1], hlo_in(o, 1)->dims, rank);
    return made(layer_node_of(&o->l, NULL, "Gather", in, 2, attrs, 1));
}

/* Operands, indices, updates: one each. */
bool hlo_scatter(hlo_op *o)
{
    if (o->l.n_in != 3 || o->n_regions != 1)
        return false;
    bool adds = str_contains(o->regions[0], ".add");
    bool plain = !adds && !str_contains(o->regions[0], "stablehlo.m") &&
                 !str_contains(o->regions[0], "mhlo.m");
    return (adds || plain) && own_row(o, adds ? "ScatterAdd" : "Scatter");
}

bool hlo_dynamic_slice(hlo_op *o)
{
    return own_row(o, "DynamicSlice");
}

bool hlo_dynamic_update(hlo_op *o)
{
    return own_row(o, "DynamicUpdateSlice");
}

/* Results are the operands. */
bool hlo_barrier(hlo_op *o)
{
    for (uint32_t i = 0; i < o->n_results; i++)
        if (i >= o->operands.n || !hlo_stand(o, i, &o->values[i]))
            return false;
    return true;
}
