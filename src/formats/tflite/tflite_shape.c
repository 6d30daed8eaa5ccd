/* Operators of TFLite that change shapes and move data. Lists that ONNX has as attributes, or in another form, are taken
 * from constant inputs; an operator that computes them is left to the table of unknown ones. */
#include <string.h>

#include "base/num.h"
#include "formats/foreign_layer.h"
#include "formats/tflite/tflite_impl.h"

static ir_id ints(tfl_op *o, const char *what, const int64_t *list, int n)
{
    return foreign_ints(o->f, o->name, what, list, n < 0 ? 0 : (uint32_t)n);
}

static assay_status map_to(ir_id node, bool *mapped)
{
    *mapped = node != IR_NONE;
    return ASSAY_OK;
}

static int option_ints(const tfl_op *o, unsigned id, int64_t *list)
{
    flat_vector v = flat_list(o->r->flat, o->options, id, 4);
    if (!v.at || v.n > TFL_LIST)
        return -1;
    for (uint32_t i = 0; i < v.n; i++)
        list[i] = flat_i32_at(o->r->flat, v, i);
    return (int)v.n;
}

/* ---- views ---- */

assay_status tfl_reshape(tfl_op *o, bool *mapped)
{
    int64_t list[TFL_LIST];
    int n = o->n_in > 1 && o->in[1] != IR_NONE ? -1 : option_ints(o, 0, list);
    const tfl_tensor *out = tfl_tensor_of(o, true, 0);
    if (o->n_in > 1 && o->in[1] != IR_NONE) {
        static const int64_t one = 1;
        ir_id in[] = {o->in[0], o->in[1]};
        if (tfl_rank(o, 1) == 0) { /* one size, without an axis */
            ir_id list_of[] = {o->in[1], ints(o, "one", &one, 1)};
            in[1] = tfl_step(o, "Reshape", list_of, 2, NULL);
        }
        return map_to(tfl_node(o, NULL, "Reshape", in, 2, NULL), mapped);
    }
    if (n < 0 && out && out->rank >= 0) { /* neither: the shape of the output */
        n = out->rank;
        memcpy(list, out->open, (size_t)n * sizeof *list);
    }
    if (n < 0)
        return ASSAY_OK;
    ir_id in[] = {o->in[0], ints(o, "shape", list, n)};
    return map_to(tfl_node(o, NULL, "Reshape", in, 2, NULL), mapped);
}

assay_status tfl_squeeze(tfl_op *o, bool *mapped)
{
    int64_t list[TFL_LIST];
    int n = option_ints(o, 0, list);
    ir_id in[] = {o->in[0], n > 0 ? ints(o, "axes", list, n) : IR_NONE};
    return map_to(tfl_node(o, NULL, "Squeeze", in, n > 0 ? 2 : 1, NULL), mapped);
}

assay_status tfl_expand_dims(tfl_op *o, bool *mapped)
{
    int64_t axis;
    bool known = tfl_ints(o, 1, &axis, 1) == 1;
    ir_id in[] = {o->in[0], known ? ints(o, "axes", &axis, 1) : o->in[1]};
    return map_to(tfl_node(o, NULL, "Unsqueeze", in, 2, NULL), mapped);
}

assay_status tfl_transpose(tfl_op *o, bool *mapped)
{
    int64_t perm[TFL_LIST];
    int n = tfl_ints(o, 1, perm, TFL_LIST);
    ir_attr_spec attrs[] = {IR_SPEC_INTS("perm", n, perm), TFL_END};
    return n < 0 ? ASSAY_OK : map_to(tfl_node(o, NULL, "Transpose", o->in, 1, attrs), mapped);
}

/* ---- joining and splitting ---- */

assay_status tfl_concat(tfl_op *o, bool *mapped)
{
    ir_attr_spec attrs[] = {IR_SPEC_INT("axis", flat_i32(o->r->flat, o->options, 0, 0)), TFL_END};
    return map_to(tfl_node(o, NULL, "Concat", o->in, o->n_in, attrs), mapped);
}

assay_status tfl_pack(tfl_op *o, bool *mapped)
{
    int64_t axis = flat_i32(o->r->flat, o->options, 1, 0);
    ir_id axes = ints(o, "axes", &axis, 1);
    ir_id *parts = ARENA_ARRAY(o->f->scratch, ir_id, o->n_in);
    ir_attr_spec attrs[] = {IR_SPEC_INT("axis", axis), TFL_END};
    TRY_MEMORY(parts, o->f->err);
    for (uint32_t i = 0; i < o->n_in; i++) {
        ir_id in[] = {o->in[i], axes};
        parts[i] = tfl_step(o, "Unsqueeze", in, 2, NULL);
    }
    return map_to(tfl_node(o, NULL, "Concat", parts, o->n_in, attrs), mapped);
}

static ir_id add_split(tfl_op *o, const ir_id *in, uint32_t n_in, int64_t axis, const ir_id *out)
{
    ir_attr_spec attrs[] = {IR_SPEC_INT("axis", axis)};
    return foreign_add(o->f, &(foreign_node){.op = "Split",
                                             .name = o->name,
                                             .in = in,
                                             .n_in = n_in,
                                             .out = out,
                                             .n_out = o->n_out,
                                             .attrs = attrs,
                                             .n_attrs = 1});
}

assay_status tfl_unpack(tfl_op *o, bool *mapped)
{
    int64_t axis = flat_i32(o->r->flat, o->options, 1, 0);
    ir_id axes = ints(o, "axes", &axis, 1);
    ir_id *parts = ARENA_ARRAY(o->f->scratch, ir_id, o->n_out);
    TRY_MEMORY(parts, o->f->err);
    for (uint32_t i = 0; i < o->n_out; i++)
        parts[i] = o->n_out == 1 ? o->in[0] : foreign_inner(o->f, o->name, "part");
    if (o->n_out > 1)
        add_split(o, o->in, 1, axis, parts);
    for (uint32_t i = 0; i < o->n_out; i++)
        foreign_binary(o->f, "Squeeze", o->name, parts[i], axes, o->out[i]);
    *mapped = true;
    return ASSAY_OK;
}

/* in: axis, x. */
assay_status tfl_split(tfl_op *o, bool *mapped)
{
    int64_t axis;
    if (tfl_ints(o, 0, &axis, 1) != 1)
        return ASSAY_OK;
    return map_to(add_split(o, &o->in[1], 1, axis, o->out), mapped);
}

/* in: x, sizes, axis. One size may be -1: the rest. */
assay_status tfl_split_v(tfl_op *o, bool *mapped)
{
    int64_t axis, sizes[TFL_LIST], sum = 0;
    int n = tfl_ints(o, 1, sizes, TFL_LIST), rest = -1;
    const tfl_tensor *x = tfl_tensor_of(o, false, 0);
    if (tfl_ints(o, 2, &axis, 1) != 1 || n < 0 || !x)
        return ASSAY_OK;
    for (int i = 0; i < n; i++) {
        if (sizes[i] < 0)
            rest = i;
        else
            sum += sizes[i] & INT32_MAX;
    }
    int64_t place = axis < 0 ? axis + x->rank : axis;
    if (rest >= 0 && (place < 0 || place >= x->rank || x->dims[place] < sum))
        return ASSAY_OK;
    if (rest >= 0)
        sizes[rest] = x->dims[place] - sum;
    ir_id in[] = {o->in[0], ints(o, "split", sizes, n)};
    return map_to(add_split(o, in, 2, axis, o->out), mapped);
}

/* ---- slices ---- */

/* Slice, then what is indexed away is squeezed, then new axes are put in; the last step makes the output. */
static assay_status add_slicing(tfl_op *o, const layer_slicing *s, bool *mapped)
{
    ir_id x = o->in[0];
    int left = (s->n > 0) + (s->n_squeeze > 0) + (s->n_insert > 0);
    if (left == 0)
        return map_to(tfl_node(o, NULL, "Identity", &x, 1, NULL), mapped);
    if (s->n > 0) {
        ir_id in[] = {x, ints(o, "starts", s->start, s->n), ints(o, "ends", s->end, s->n),
                      ints(o, "axes", s->axis, s->n), ints(o, "steps", s->step, s->n)};
        if (--left == 0)
            return map_to(tfl_node(o, NULL, "Slice", in, 5, NULL), mapped);
        x = tfl_step(o, "Slice", in, 5, NULL);
    }
    if (s->n_squeeze > 0) {
        ir_id in[] = {x, ints(o, "squeezed", s->squeeze, s->n_squeeze)};
        if (--left == 0)
            return map_to(tfl_node(o, NULL, "Squeeze", in, 2, NULL), mapped);
        x = tfl_step(o, "Squeeze", in, 2, NULL);
    }
    ir_id in[] = {x, ints(o, "inserted", s->insert, s->n_insert)};
    return map_to(tfl_node(o, NULL, "Unsqueeze", in, 2, NULL), mapped);
}

/* begin + size, or the end of the axis where size is -1. */
static ir_id computed_ends(tfl_op *o)
{
    ir_dtype t = tfl_dtype(o, false, 2);
    ir_id sum[] = {o->in[1], o->in[2]};
    ir_id sign[] = {o->in[2], foreign_number(o->f, o->name, "zero", t, 0)};
    ir_id in[] = {tfl_step(o, "Less", sign, 2, NULL),
                  foreign_number(o->f, o->name, "end", t, INT32_MAX),
                  tfl_step(o, "Add", sum, 2, NULL)};
    return tfl_step(o, "Where", in, 3, NULL);
}

assay_status tfl_slice(tfl_op *o, bool *mapped)
{
    int64_t begin[TFL_LIST], size[TFL_LIST];
    int n = tfl_ints(o, 1, begin, TFL_LIST), m = tfl_ints(o, 2, size, TFL_LIST);
    layer_slicing *s = ARENA_NEW(o->f->scratch, layer_slicing);
    TRY_MEMORY(s, o->f->err);
    if (n >= 0 && n == m) {
        for (int i = 0; i < n; i++)
            layer_slice_axis(s, i, begin[i], size[i] < 0 ? INT32_MAX : begin[i] + size[i], 1);
        return add_slicing(o, s, mapped);
    }
    ir_id in[] = {o->in[0], o->in[1], computed_ends(o)};
    return map_to(tfl_node(o, NULL, "Slice", in, 3, NULL), mapped);
}

static layer_masks masks_of(const tfl_op *o)
{
    flat *f = o->r->flat;
    return (layer_masks){.begin = flat_u32(f, o->options, 0, 0),
                         .end = flat_u32(f, o->options, 1, 0),
                         .ellipsis = flat_u32(f, o->options, 2, 0),
                         .insert = flat_u32(f, o->options, 3, 0),
                         .shrink = flat_u32(f, o->options, 4, 0)};
}

/* Begin or end is computed: the axes that are not whole, by index. */
static assay_status slice_computed(tfl_op *o, const layer_masks *k, const int64_t *steps, int n,
                                   bool *mapped)
{
    layer_slicing *s = ARENA_NEW(o->f->scratch, layer_slicing);
    TRY_MEMORY(s, o->f->err);
    for (int i = 0; i < n; i++) {
        bool whole = layer_mask_bit(k->begin, i) && layer_mask_bit(k->end, i) &&
                     !layer_mask_bit(k->shrink, i) && steps[i] == 1;
        if (!whole && (layer_mask_bit(k->begin, i) ||
                       (layer_mask_bit(k->end, i) && !layer_mask_bit(k->shrink, i))))
            return ASSAY_OK;
        if (!whole)
            layer_slice_axis(s, i, 0, 0, steps[i]);
        if (layer_mask_bit(k->shrink, i))
            s->squeeze[s->n_squeeze++] = i;
    }
    static const int64_t one = 1;
    bool point = s->n_squeeze == s->n;
    ir_id axes = ints(o, "axes", s->axis, s->n), from[] = {o->in[1], axes}, to[] = {o->in[2], axes};
    ir_id starts = tfl_step(o, "Gather", from, 2, NULL);
    ir_attr_spec as_int64[] = {IR_SPEC_INT("to", IR_INT64), TFL_END};
    starts = tfl_step(o, "Cast", &starts, 1, as_int64);
    ir_id next[] = {starts, ints(o, "one", &one, 1)};
    ir_id ends = point ? tfl_step(o, "Add", next, 2, NULL) : tfl_step(o, "Gather", to, 2, NULL);
    if (!point)
        ends = tfl_step(o, "Cast", &ends, 1, as_int64);
    ir_id in[] = {o->in[0], starts, ends, axes, ints(o, "steps", s->step, s->n)};
    if (s->n_squeeze == 0)
        return map_to(tfl_node(o, NULL, "Slice", in, 5, NULL), mapped);
    ir_id cut[] = {tfl_step(o, "Slice", in, 5, NULL),
                   ints(o, "squeezed", s->squeeze, s->n_squeeze)};
    return map_to(tfl_node(o, NULL, "Squeeze", cut, 2, NULL), mapped);
}

assay_status tfl_strided_slice(tfl_op *o, bool *mapped)
{
    int64_t begin[TFL_LIST], end[TFL_LIST], step[TFL_LIST];
    int n = tfl_ints(o, 1, begin, 32), m = tfl_ints(o, 2, end, 32), s = tfl_ints(o, 3, step, 32);
    const layer_masks k = masks_of(o);
    bool offset = flat_u8(o->r->flat, o->options, 5, 0) != 0; /* ends are counted from the begins */
    if (s > 0 && (n < 0 || m < 0) && !k.ellipsis && !k.insert && !offset)
        return slice_computed(o, &k, step, s, mapped);
    layer_slicing *plan = ARENA_NEW(o->f->scratch, layer_slicing);
    TRY_MEMORY(plan, o->f->err);
    if (n < 0 || n != m || n != s || (k.ellipsis && tfl_rank(o, 0) < 0))
        return ASSAY_OK;
    for (int i = 0; offset && i < n; i++)
        if (!num_add(begin[i], end[i], &end[i]))
            return ASSAY_OK;
    layer_slice_strided(plan, &k, &(layer_bounds){begin, end, step, n}, tfl_rank(o, 0));
    return add_slicing(o, plan, mapped);
}

assay_status tfl_reverse(tfl_op *o, bool *mapped)
{
    int64_t axes[TFL_LIST];
    int n = tfl_ints(o, 1, axes, TFL_LIST);
    layer_slicing *s = ARENA_NEW(o->f->scratch, layer_slicing);
    TRY_MEMORY(s, o->f->err);
    for (int i = 0; i < n; i++)
        layer_slice_axis(s, axes[i], -1, INT32_MIN, -1);
    return n < 0 ? ASSAY_OK : add_slicing(o, s, mapped);
}

assay_status tfl_reverse_sequence(tfl_op *o, bool *mapped)
{
    flat *f = o->r->flat;
    ir_attr_spec attrs[] = {IR_SPEC_INT("time_axis", flat_i32(f, o->options, 0, 0)),
                            IR_SPEC_INT("batch_axis", flat_i32(f, o->options, 1, 0)), TFL_END};
    return map_to(tfl_node(o, NULL, "ReverseSequence", o->in, 2, attrs), mapped);
}

/* ---- padding ---- */

/* Pairs before and after each axis become all before, then all after. */
static assay_status add_pad(tfl_op *o, const char *mode, ir_id fill, bool *mapped)
{
    int64_t pairs[TFL_LIST], pads[TFL_LIST];
    static const int64_t flat_shape = -1, perm[] = {1, 0};
    int n = tfl_ints(o, 1, pairs, TFL_LIST);
    for (int i = 0; i < n; i++)
        pads[i % 2 * (n / 2) + i / 2] = pairs[i];
    ir_attr_spec swap[] = {IR_SPEC_INTS("perm", 2, perm), TFL_END};
    ir_attr_spec attrs[] = {IR_SPEC_TEXT("mode", mode), TFL_END};
    ir_id list = IR_NONE;
    if (n >= 0 && n % 2 == 0) {
        list = ints(o, "pads", pads, n);
    } else {
        ir_id in[] = {tfl_step(o, "Transpose", &o->in[1], 1, swap),
                      ints(o, "shape", &flat_shape, 1)};
        list = tfl_step(o, "Reshape", in, 2, NULL);
    }
    ir_id in[] = {o->in[0], list, fill};
    return map_to(tfl_node(o, NULL, "Pad", in, fill == IR_NONE ? 2 : 3, attrs), mapped);
}

assay_status tfl_pad(tfl_op *o, bool *mapped)
{
    return add_pad(o, "constant", o->n_in > 2 ? o->in[2] : IR_NONE, mapped);
}

assay_status tfl_mirror_pad(tfl_op *o, bool *mapped)
{
    bool symmetric = flat_u8(o->r->flat, o->options, 0, 0) == 1;
    return add_pad(o, symmetric ? "symmetric" : "reflect", IR_NONE, mapped);
}

/* ---- indices ---- */

assay_status tfl_gather(tfl_op *o, bool *mapped)
{
    ir_attr_spec attrs[] = {IR_SPEC_INT("axis", flat_i32(o->r->flat, o->options, 0, 0)), TFL_END};
    if (flat_i32(o->r->flat, o->options, 1, 0) != 0)
        return ASSAY_OK;
    return map_to(tfl_node(o, NULL, "Gather", o->in, 2, attrs), mapped);
}

/* in: indices, table. */
assay_status tfl_embedding(tfl_op *o, bool *mapped)
{
    ir_id in[] = {o->in[1], o->in[0]};
    return map_to(tfl_node(o, NULL, "Gather", in, 2, NULL), mapped);
}

/* in: indices, updates, shape; what nothing is scattered to is 0. */
assay_status tfl_scatter(tfl_op *o, bool *mapped)
{
    ir_id zero = foreign_number(o->f, o->name, "zero", tfl_dtype(o, true, 0), 0);
    ir_id fill[] = {zero, o->in[2]};
    ir_id in[] = {tfl_step(o, "Expand", fill, 2, NULL), o->in[0], o->in[1]};
    ir_attr_spec attrs[] = {IR_SPEC_TEXT("reduction", "add"), TFL_END};
    return map_to(tfl_node(o, NULL, "ScatterND", in, 3, attrs), mapped);
}

/* in: indices [n, rank] (or [n] for a vector), shape, values, what stands elsewhere. */
assay_status tfl_sparse_to_dense(tfl_op *o, bool *mapped)
{
    static const int64_t behind = -1;
    int rank = tfl_rank(o, 0);
    ir_id fill[] = {o->in[3], o->in[1]}, last = foreign_ints(o->f, o->name, "axes", &behind, 1);
    if ((rank != 1 && rank != 2) || tfl_rank(o, 2) != 1)
        return ASSAY_OK;
    ir_id rows = rank == 2 ? o->in[0] : tfl_step(o, "Unsqueeze", TFL_IDS(o->in[0], last), NULL);
    ir_id in[] = {tfl_step(o, "Expand", fill, 2, NULL), rows, o->in[2]};
    return map_to(tfl_node(o, NULL, "ScatterND", in, 3, NULL), mapped);
}

/* ---- shapes as data ---- */

static assay_status as_output_type(tfl_op *o, ir_id from, const char *op, bool *mapped)
{
    ir_attr_spec attrs[] = {IR_SPEC_INT("to", tfl_dtype(o, true, 0)), TFL_END};
    if (tfl_dtype(o, true, 0) == IR_INT64)
        return map_to(tfl_node(o, NULL, op, &from, 1, NULL), mapped);
    ir_id wide = tfl_step(o, op, &from, 1, NULL);
    return map_to(tfl_node(o, NULL, "Cast", &wide, 1, attrs), mapped);
}

assay_status tfl_shape(tfl_op *o, bool *mapped)
{
    return as_output_type(o, o->in[0], "Shape", mapped);
}

assay_status tfl_rank_of(tfl_op *o, bool *mapped)
{
    return as_output_type(o, tfl_step(o, "Shape", o->in, 1, NULL), "Size", mapped);
}

/* in: shape, value. */
assay_status tfl_fill(tfl_op *o, bool *mapped)
{
    ir_id in[] = {o->in[1], o->in[0]};
    return map_to(tfl_node(o, NULL, "Expand", in, 2, NULL), mapped);
}

assay_status tfl_zeros_like(tfl_op *o, bool *mapped)
{
    if (tfl_dtype(o, true, 0) == IR_UNDEFINED)
        return ASSAY_OK;
    ir_id in[] = {foreign_number(o->f, o->name, "zero", tfl_dtype(o, true, 0), 0),
                  tfl_step(o, "Shape", o->in, 1, NULL)};
    return map_to(tfl_node(o, NULL, "Expand", in, 2, NULL), mapped);
}
