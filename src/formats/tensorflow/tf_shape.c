/* Operators of TensorFlow that change shapes and move data. Lists that ONNX has as attributes are folded (tf_fold.c). */

#include "formats/tensorflow/tf_impl.h"

static bool node_of(const tf_op *o, const char *op, const ir_id *in, uint32_t n,
                    const ir_attr_spec *attrs)
{
    return made(layer_node_of(&o->l, NULL, op, in, n, attrs, 1));
}

static ir_id as_int64(const tf_op *o, ir_id x)
{
    const ir_attr_spec wide[] = {IR_SPEC_INT("to", IR_INT64), LAYER_END};
    return layer_step(&o->l, "Cast", &x, 1, wide);
}

/* A list of whole numbers that an operator of ONNX takes as int64: folded, or computed. */
static ir_id int_list(const tf_op *o, uint32_t in, const char *what)
{
    int64_t list[TF_LIST];
    int n = tf_fold_in(o, in, list);
    return n >= 0 ? layer_ints(&o->l, what, list, n) : as_int64(o, o->in[in]);
}

/* ---- views ---- */

bool tf_reshape(tf_op *o)
{
    ir_id in[] = {o->in[0], int_list(o, 1, "shape")};
    const ir_attr_spec attrs[] = {IR_SPEC_INT("allowzero", 1), LAYER_END};
    int64_t list[TF_LIST];
    bool zero = false, open = false;
    for (int n = tf_fold_in(o, 1, list), i = 0; i < n; i++) {
        zero = zero || list[i] == 0;
        open = open || list[i] < 0;
    }
    return node_of(o, "Reshape", in, 2, zero && !open ? attrs : NULL);
}

bool tf_squeeze(tf_op *o)
{
    int64_t list[TF_LIST];
    int n = tf_int_list(o, "squeeze_dims", list);
    n = n < 0 ? tf_int_list(o, "axis", list) : n;
    ir_id in[] = {o->in[0], n > 0 ? layer_ints(&o->l, "axes", list, n) : IR_NONE};
    return node_of(o, "Squeeze", in, n > 0 ? 2 : 1, NULL);
}

bool tf_expand_dims(tf_op *o)
{
    int64_t axis;
    bool known = tf_fold_one(o, 1, &axis);
    ir_id in[] = {o->in[0], known ? layer_ints(&o->l, "axes", &axis, 1) : o->in[1]};
    return known && node_of(o, "Unsqueeze", in, 2, NULL);
}

bool tf_transpose(tf_op *o)
{
    int64_t perm[TF_LIST];
    int n = tf_fold_in(o, 1, perm);
    return n >= 0 && layer_transpose(&o->l, o->in[0], perm, n);
}

bool tf_broadcast_to(tf_op *o)
{
    ir_id in[] = {o->in[0], int_list(o, 1, "shape")};
    return node_of(o, "Expand", in, 2, NULL);
}

bool tf_tile(tf_op *o)
{
    ir_id in[] = {o->in[0], int_list(o, 1, "repeats")};
    return node_of(o, "Tile", in, 2, NULL);
}

/* ---- joining and splitting ---- */

/* ConcatV2: values, axis. Concat: axis, values. */
bool tf_concat(tf_op *o)
{
    int64_t axis;
    bool first = str_is(o->n->op, "Concat");
    uint32_t n = o->l.n_in - 1;
    if (o->l.n_in < 2 || !tf_fold_one(o, first ? 0 : n, &axis))
        return false;
    const ir_attr_spec attrs[] = {IR_SPEC_INT("axis", axis), LAYER_END};
    return node_of(o, "Concat", o->in + first, n, attrs);
}

bool tf_pack(tf_op *o)
{
    int64_t axis = tf_int(o, "axis", 0);
    ir_id axes = layer_ints(&o->l, "axes", &axis, 1);
    ir_id *parts = ARENA_ARRAY(o->l.f->scratch, ir_id, (size_t)o->l.n_in + 1);
    const ir_attr_spec attrs[] = {IR_SPEC_INT("axis", axis), LAYER_END};
    for (uint32_t i = 0; parts && i < o->l.n_in; i++) {
        ir_id in[] = {o->in[i], axes};
        parts[i] = layer_step(&o->l, "Unsqueeze", in, 2, NULL);
    }
    return parts && o->l.n_in > 0 && node_of(o, "Concat", parts, o->l.n_in, attrs);
}

static bool add_split(tf_op *o, const ir_id *in, uint32_t n_in, int64_t axis, const ir_id *out)
{
    const ir_attr_spec attrs[] = {IR_SPEC_INT("axis", axis)};
    return made(foreign_add(o->l.f, &(foreign_node){.op = "Split",
                                                    .name = o->l.name,
                                                    .in = in,
                                                    .n_in = n_in,
                                                    .out = out,
                                                    .n_out = o->l.n_out,
                                                    .attrs = attrs,
                                                    .n_attrs = 1}));
}

bool tf_unpack(tf_op *o)
{
    int64_t axis = tf_int(o, "axis", 0);
    ir_id axes = layer_ints(&o->l, "axes", &axis, 1);
    ir_id *parts = ARENA_ARRAY(o->l.f->scratch, ir_id, (size_t)o->l.n_out + 1);
    for (uint32_t i = 0; parts && i < o->l.n_out; i++)
        parts[i] = o->l.n_out == 1 ? o->in[0] : foreign_inner(o->l.f, o->l.name, "part");
    if (!parts || (o->l.n_out > 1 && !add_split(o, o->in, 1, axis, parts)))
        return false;
    for (uint32_t i = 0; i < o->l.n_out; i++)
        foreign_binary(o->l.f, "Squeeze", o->l.name, parts[i], axes, o->l.out[i]);
    return true;
}

/* in: axis, x. */
bool tf_split(tf_op *o)
{
    int64_t axis;
    return tf_fold_one(o, 0, &axis) && add_split(o, &o->in[1], 1, axis, o->l.out);
}

/* in: x, sizes, axis. One size may be -1, the rest; it needs the size of the axis. */
bool tf_split_v(tf_op *o)
{
    int64_t axis, sizes[TF_LIST], dims[IR_MAX_RANK], sum = 0;
    int n = tf_fold_in(o, 1, sizes), rank = -1, rest = -1;
    if (!tf_fold_one(o, 2, &axis) || n < 0 || (uint32_t)n != o->l.n_out)
        return false;
    for (int i = 0; i < n; i++) {
        rest = sizes[i] < 0 ? i : rest;
        sum += sizes[i] < 0 ? 0 : sizes[i] & INT32_MAX;
    }
    if (rest >= 0) {
        bool known = tf_static_shape(o->r, tf_in_ref(o, 0), &rank, dims);
        int64_t at = axis < 0 ? axis + rank : axis;
        if (!known || at < 0 || at >= rank || dims[at] < sum)
            return false;
        sizes[rest] = dims[at] - sum;
    }
    ir_id in[] = {o->in[0], layer_ints(&o->l, "split", sizes, n)};
    return add_split(o, in, 2, axis, o->l.out);
}

/* ---- slices ---- */

/* in: x, begin, size; -1: to the end of the axis. */
bool tf_slice(tf_op *o)
{
    int64_t begin[TF_LIST], size[TF_LIST];
    int n = tf_fold_in(o, 1, begin), m = tf_fold_in(o, 2, size);
    layer_slicing *s = ARENA_NEW(o->l.f->scratch, layer_slicing);
    const foreign_layer *l = &o->l;
    if (!s)
        return false;
    if (n >= 0 && n == m) {
        for (int i = 0; i < n; i++)
            layer_slice_axis(s, i, begin[i], size[i] < 0 ? INT32_MAX : begin[i] + size[i], 1);
        return layer_slice(l, o->in[0], s);
    }
    ir_id from = as_int64(o, o->in[1]), by = as_int64(o, o->in[2]), sum[] = {from, by};
    ir_id sign[] = {by, layer_number(l, "zero", IR_INT64, 0)};
    ir_id pick[] = {layer_step(l, "Less", sign, 2, NULL),
                    layer_number(l, "end", IR_INT64, INT32_MAX),
                    layer_step(l, "Add", sum, 2, NULL)};
    ir_id in[] = {o->in[0], from, layer_step(l, "Where", pick, 3, NULL)};
    return node_of(o, "Slice", in, 3, NULL);
}

static layer_masks masks_of(const tf_op *o)
{
    return (layer_masks){.begin = (uint64_t)tf_int(o, "begin_mask", 0),
                         .end = (uint64_t)tf_int(o, "end_mask", 0),
                         .ellipsis = (uint64_t)tf_int(o, "ellipsis_mask", 0),
                         .insert = (uint64_t)tf_int(o, "new_axis_mask", 0),
                         .shrink = (uint64_t)tf_int(o, "shrink_axis_mask", 0)};
}

/* The numbers of the axes that are not whole, where begin or end is computed. A masked begin is 0; a masked end is the end
 * of the axis, which a constant says. */
static ir_id computed_bounds(const tf_op *o, uint32_t in, const layer_slicing *s, uint64_t mask,
                             const int64_t *places)
{
    int64_t keep[TF_LIST], far[TF_LIST];
    ir_id list = as_int64(o, o->in[in]), axes[] = {list, layer_ints(&o->l, "places", places, s->n)};
    ir_id found = layer_step(&o->l, "Gather", axes, 2, NULL);
    bool masked = false;
    for (int i = 0; i < s->n; i++) {
        keep[i] = !layer_mask_bit(mask, (int)places[i]);
        far[i] = keep[i] || in == 1 ? 0 : INT32_MAX;
        masked = masked || !keep[i];
    }
    if (!masked)
        return found;
    ir_id times[] = {found, layer_ints(&o->l, "kept", keep, s->n)};
    found = layer_step(&o->l, "Mul", times, 2, NULL);
    ir_id plus[] = {found, layer_ints(&o->l, "masked", far, s->n)};
    return in == 1 ? found : layer_step(&o->l, "Add", plus, 2, NULL);
}

static bool slice_computed(tf_op *o, const layer_masks *k, const int64_t *steps, int n)
{
    layer_slicing *s = ARENA_NEW(o->l.f->scratch, layer_slicing);
    int64_t places[TF_LIST];
    static const int64_t one = 1;
    uint64_t begin_mask = k->begin, end_mask = k->end;
    for (int i = 0; s && i < n && i < TF_LIST; i++) {
        bool whole = layer_mask_bit(k->begin, i) && layer_mask_bit(k->end, i) &&
                     !layer_mask_bit(k->shrink, i) && steps[i] == 1;
        if (steps[i] <= 0)
            return false;
        if (layer_mask_bit(k->shrink, i)) {
            s->squeeze[s->n_squeeze++] = i;
            begin_mask &= ~((uint64_t)1 << i);
            end_mask &= ~((uint64_t)1 << i);
        }
        if (!whole) {
            places[s->n] = i;
            layer_slice_axis(s, i, 0, 0, steps[i]);
        }
    }
    if (!s || s->n == 0 || (s->n_squeeze && s->n_squeeze != s->n))
        return false;
    ir_id starts = computed_bounds(o, 1, s, begin_mask, places);
    ir_id next[] = {starts, layer_ints(&o->l, "one", &one, 1)};
    ir_id ends = s->n_squeeze ? layer_step(&o->l, "Add", next, 2, NULL)
                              : computed_bounds(o, 2, s, end_mask, places);
    ir_id in[] = {o->in[0], starts, ends, layer_ints(&o->l, "axes", s->axis, s->n),
                  layer_ints(&o->l, "steps", s->step, s->n)};
    if (s->n_squeeze == 0)
        return node_of(o, "Slice", in, 5, NULL);
    ir_id cut[] = {layer_step(&o->l, "Slice", in, 5, NULL),
                   layer_ints(&o->l, "squeezed", s->squeeze, s->n_squeeze)};
    return node_of(o, "Squeeze", cut, 2, NULL);
}

bool tf_strided_slice(tf_op *o)
{
    int64_t begin[TF_LIST], end[TF_LIST], step[TF_LIST];
    int n = tf_fold_in(o, 1, begin), m = tf_fold_in(o, 2, end), s = tf_fold_in(o, 3, step);
    const layer_masks k = masks_of(o);
    if (s > 0 && (n < 0 || m < 0) && !k.ellipsis && !k.insert)
        return slice_computed(o, &k, step, s);
    layer_slicing *plan = ARENA_NEW(o->l.f->scratch, layer_slicing);
    int rank = k.ellipsis ? tf_rank(o, 0) : 0;
    if (!plan || n <= 0 || n != m || n != s)
        return false;
    if (k.ellipsis && rank < 0 && (k.insert || k.shrink))
        return false;
    layer_slice_strided(plan, &k, &(layer_bounds){begin, end, step, n}, rank);
    return layer_slice(&o->l, o->in[0], plan);
}

bool tf_reverse(tf_op *o)
{
    int64_t axes[TF_LIST];
    int n = tf_fold_in(o, 1, axes);
    layer_slicing *s = ARENA_NEW(o->l.f->scratch, layer_slicing);
    for (int i = 0; s && i < n; i++)
        layer_slice_axis(s, axes[i], -1, INT32_MIN, -1);
    return s && n >= 0 && layer_slice(&o->l, o->in[0], s);
}

bool tf_reverse_sequence(tf_op *o)
{
    const ir_attr_spec attrs[] = {IR_SPEC_INT("time_axis", tf_int(o, "seq_dim", 0)),
                                  IR_SPEC_INT("batch_axis", tf_int(o, "batch_dim", 0)), LAYER_END};
    ir_id in[] = {o->in[0], as_int64(o, o->in[1])};
    return node_of(o, "ReverseSequence", in, 2, attrs);
}

/* ---- padding ---- */

/* Pairs before and after each axis become all before, then all after: how many numbers; -1: they are not known. */
static int known_pads(tf_op *o, uint32_t in, int64_t *pads)
{
    int64_t pairs[TF_LIST];
    int n = tf_fold_in(o, in, pairs);
    if (n < 0 || n % 2)
        return -1;
    for (int i = 0; i < n; i++)
        pads[i % 2 * (n / 2) + i / 2] = pairs[i];
    return n;
}

static bool add_pad(tf_op *o, const char *mode, ir_id fill)
{
    int64_t pads[TF_LIST];
    static const int64_t flat = -1, perm[] = {1, 0};
    const ir_attr_spec attrs[] = {IR_SPEC_TEXT("mode", mode), LAYER_END};
    int n = known_pads(o, 1, pads);
    ir_id list;
    if (n >= 0)
        list = layer_ints(&o->l, "pads", pads, n);
    else
        list = layer_step_reshape(
            &o->l, as_int64(o, layer_step_transpose(&o->l, o->in[1], perm, 2)), &flat, 1);
    ir_id in[] = {o->in[0], list, fill};
    return node_of(o, "Pad", in, fill == IR_NONE ? 2 : 3, attrs);
}

bool tf_pad(tf_op *o)
{
    return add_pad(o, "constant", layer_input(&o->l, 2));
}

/* SYMMETRIC repeats the edge, which no mode of ONNX does. */
bool tf_mirror_pad(tf_op *o)
{
    int64_t pads[TF_LIST];
    if (tf_is(o, "mode", "REFLECT"))
        return add_pad(o, "reflect", IR_NONE);
    int n = known_pads(o, 1, pads);
    return n >= 0 && layer_pad_symmetric(&o->l, o->in[0], pads, n / 2);
}

/* in: x, size, pads, kernel. The pads that a graph transformation writes for none are zeros. */
bool tf_resize_conv(tf_op *o)
{
    int64_t pads[TF_LIST];
    int n = known_pads(o, 2, pads);
    const ir_attr_spec how[] = {
        IR_SPEC_TEXT("mode", "linear"),
        IR_SPEC_INT("align_corners", tf_bool(o, "resize_align_corners", false)), LAYER_END};
    const ir_attr_spec reflect[] = {IR_SPEC_TEXT("mode", "reflect"), LAYER_END};
    bool none = n >= 0;
    for (int i = 0; i < n; i++)
        none &= pads[i] == 0;
    if (n < 0 || (!none && !tf_is(o, "mode", "REFLECT")))
        return false;
    ir_id x = layer_step_in(&o->l, FOREIGN_NHWC, "Resize", o->in, 2, how);
    ir_id in[] = {x, layer_ints(&o->l, "pads", pads, n)};
    ir_id taken[] = {none ? x : layer_step(&o->l, "Pad", in, 2, reflect), o->in[3]};
    return tf_conv_of(o, taken);
}

/* ---- indices ---- */

/* GatherV2: x, indices, axis; Gather: x, indices. */
bool tf_gather(tf_op *o)
{
    int64_t axis = 0;
    int64_t batch = tf_int(o, "batch_dims", 0);
    if (o->l.n_in > 2 && !tf_fold_one(o, 2, &axis))
        return false;
    if (batch)
        return batch > 0 && batch == axis &&
               layer_gather_batched(&o->l, o->in[0], as_int64(o, o->in[1]), batch);
    const ir_attr_spec attrs[] = {IR_SPEC_INT("axis", axis), LAYER_END};
    return node_of(o, "Gather", o->in, 2, attrs);
}

bool tf_resource_gather(tf_op *o)
{
    ir_id in[] = {tf_variable_of(o->r, tf_in_ref(o, 0)), layer_input(&o->l, 1)};
    return in[0] != IR_NONE && in[1] != IR_NONE && tf_int(o, "batch_dims", 0) == 0 &&
           node_of(o, "Gather", in, 2, NULL);
}

/* in: table, keys, value of absent ones. */
bool tf_lookup(tf_op *o)
{
    ir_dtype t = tf_dtype(o, "Tout");
    const ir_attr_spec attrs[] = {IR_SPEC_INT("to", t), LAYER_END};
    ir_id in[] = {layer_input(&o->l, 1), layer_input(&o->l, 2)};
    return t != IR_UNDEFINED && in[0] != IR_NONE && in[1] != IR_NONE &&
           made(layer_node_of(&o->l, TF_DOMAIN, "LookupTableFindV2", in, 2, attrs, 1));
}

bool tf_gather_nd(tf_op *o)
{
    ir_id in[] = {o->in[0], as_int64(o, o->in[1])};
    return node_of(o, "GatherND", in, 2, NULL);
}

/* in: indices, updates, shape. */
bool tf_scatter(tf_op *o)
{
    ir_dtype t = tf_dtype(o, "T");
    ir_id base[] = {layer_number(&o->l, "zero", t, 0), int_list(o, 2, "shape")};
    const ir_attr_spec attrs[] = {IR_SPEC_TEXT("reduction", "add"), LAYER_END};
    ir_id in[] = {layer_step(&o->l, "Expand", base, 2, NULL), as_int64(o, o->in[0]), o->in[1]};
    return t != IR_UNDEFINED && node_of(o, "ScatterND", in, 3, attrs);
}

bool tf_where(tf_op *o)
{
    static const int64_t perm[] = {1, 0};
    return layer_transpose(&o->l, layer_step(&o->l, "NonZero", o->in, 1, NULL), perm, 2);
}

/* in: indices, depth, on, off. */
bool tf_one_hot(tf_op *o)
{
    static const int64_t zero;
    ir_id axes = layer_ints(&o->l, "axes", &zero, 1);
    ir_id off[] = {o->in[3], axes}, on[] = {o->in[2], axes};
    const ir_attr_spec first[] = {IR_SPEC_INT("axis", 0), LAYER_END};
    const ir_attr_spec attrs[] = {IR_SPEC_INT("axis", tf_int(o, "axis", -1)), LAYER_END};
    ir_id pair[] = {layer_step(&o->l, "Unsqueeze", off, 2, NULL),
                    layer_step(&o->l, "Unsqueeze", on, 2, NULL)};
    ir_id in[] = {o->in[0], o->in[1], layer_step(&o->l, "Concat", pair, 2, first)};
    return node_of(o, "OneHot", in, 3, attrs);
}

/* K is a list of one; indices are int64. */
bool tf_topk(tf_op *o)
{
    static const int64_t one = 1;
    int64_t k = tf_int(o, "k", 0);
    ir_id list = IR_NONE;
    if (o->l.n_in < 2 || tf_fold_one(o, 1, &k))
        list = layer_ints(&o->l, "k", &k, 1);
    else
        list = layer_step_reshape(&o->l, as_int64(o, o->in[1]), &one, 1);
    ir_id in[] = {o->in[0], list}, indices = foreign_inner(o->l.f, o->l.name, "indices");
    ir_id out[] = {o->l.out[0], indices};
    const ir_attr_spec to[] = {IR_SPEC_INT("to", IR_INT32), LAYER_END};
    foreign_add(o->l.f,
                &(foreign_node){
                    .op = "TopK", .name = o->l.name, .in = in, .n_in = 2, .out = out, .n_out = 2});
    return o->l.n_out < 2 || made(layer_into(&o->l, "Cast", &indices, 1, to, o->l.out[1]));
}

/* ---- shapes ---- */

static bool typed(tf_op *o, ir_id x, const char *op, const char *key, ir_dtype def, uint32_t out)
{
    ir_dtype t = tf_dtype(o, key) == IR_UNDEFINED ? def : tf_dtype(o, key);
    const ir_attr_spec to[] = {IR_SPEC_INT("to", t), LAYER_END};
    ir_id wide = layer_step(&o->l, op, &x, 1, NULL);
    if (t == IR_INT64)
        return made(layer_into(&o->l, op, &x, 1, NULL, o->l.out[out]));
    return made(layer_into(&o->l, "Cast", &wide, 1, to, o->l.out[out]));
}

bool tf_shape(tf_op *o)
{
    return typed(o, o->in[0], "Shape", "out_type", IR_INT32, 0);
}

bool tf_shape_n(tf_op *o)
{
    for (uint32_t i = 0; i < o->l.n_in && i < o->l.n_out; i++)
        if (!typed(o, o->in[i], "Shape", "out_type", IR_INT32, i))
            return false;
    return true;
}

bool tf_size(tf_op *o)
{
    return typed(o, o->in[0], "Size", "out_type", IR_INT32, 0);
}

bool tf_rank_of(tf_op *o)
{
    return typed(o, layer_step(&o->l, "Shape", o->in, 1, NULL), "Size", "", IR_INT32, 0);
}

/* in: shape, value. */
bool tf_fill(tf_op *o)
{
    ir_id in[] = {o->in[1], int_list(o, 0, "shape")};
    return node_of(o, "Expand", in, 2, NULL);
}

/* ZerosLike, OnesLike. */
bool tf_zeros_like(tf_op *o)
{
    ir_dtype t = tf_dtype(o, "T");
    ir_id in[] = {layer_number(&o->l, "value", t == IR_UNDEFINED ? IR_FLOAT32 : t,
                               str_is(o->n->op, "OnesLike")),
                  layer_step(&o->l, "Shape", o->in, 1, NULL)};
    return t != IR_UNDEFINED && t != IR_STRING && node_of(o, "Expand", in, 2, NULL);
}

/* RandomUniform and RandomStandardNormal of a shape: the like of a tensor of that shape. */
bool tf_random(tf_op *o)
{
    ir_dtype t = tf_dtype(o, "dtype");
    const ir_attr_spec attrs[] = {IR_SPEC_INT("dtype", t), LAYER_END};
    ir_id in[] = {layer_number(&o->l, "zero", IR_FLOAT32, 0), int_list(o, 0, "shape")};
    ir_id like = layer_step(&o->l, "Expand", in, 2, NULL);
    return ir_is_float(t) && node_of(o, o->row->onnx, &like, 1, attrs);
}
