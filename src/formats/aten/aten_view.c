/* ATen operators that give tensors another shape or order. */
#include <string.h>

#include "formats/aten/aten.h"

static ir_id axes_input(aten_call *c, const int64_t *axes, int n)
{
    return layer_ints(&c->l, "axes", axes, n);
}

/* ---- shapes ---- */

/* A size of 0 would be copied by Reshape; PyTorch means 0. */
static bool reshape_to(aten_call *c, ir_id x, ir_id shape)
{
    return x != IR_NONE && shape != IR_NONE && aten_node2(c, "Reshape", x, shape);
}

/* A list that keeps leading sizes of the tensor has 0 in their place, which the graph need not compute. */
static ir_id view_shape(aten_call *c, ir_id x, const aten_value *list)
{
    aten_value own = aten_new_list(c->t, false);
    for (uint32_t i = 0; list->kind == ATEN_LIST && i < list->list->v.n; i++) {
        aten_value v = list->list->v.items[i];
        bool kept = v.kind == ATEN_SIZE && v.id == IR_NONE && v.of == x && v.axis == (int)i;
        if (!aten_push(c->t, &own, kept ? aten_of_int(0) : v))
            return IR_NONE;
    }
    return list->kind == ATEN_LIST ? aten_list_tensor(c->t, c->l.name, &own) : IR_NONE;
}

bool aten_view(aten_call *c)
{
    ir_id x = aten_tensor(c, 0);
    if (x == IR_NONE)
        return false;
    if (c->arg[1].kind == ATEN_INT) /* view(dtype) */
        return false;
    return reshape_to(c, x, view_shape(c, x, &c->arg[1]));
}

bool aten_view_as(aten_call *c)
{
    ir_id x = aten_tensor(c, 0), like = aten_tensor(c, 1);
    return x != IR_NONE && like != IR_NONE &&
           reshape_to(c, x, aten_step(c, "Shape", &like, 1, NULL));
}

/* Axes [from, to] of x become one. */
bool aten_flatten(aten_call *c)
{
    int64_t from, to;
    int rank = aten_rank(c, 0), n = 0;
    ir_id x = aten_tensor(c, 0);
    if (x == IR_NONE || rank < 0 || !aten_axis(c, 0, aten_int(c, 1, 0), &from) ||
        !aten_axis(c, 0, aten_int(c, 2, -1), &to) || to < from)
        return false;
    if (rank == 0)
        return reshape_to(c, x, layer_ints(&c->l, "shape", (const int64_t[]){1}, 1));
    if (from == 1 && to == rank - 1) {
        const ir_attr_spec attrs[] = {IR_SPEC_INT("axis", 1), LAYER_END};
        return aten_node(c, "Flatten", &x, 1, attrs);
    }
    aten_value list = aten_new_list(c->t, false);
    for (; n < from; n++)
        aten_push(c->t, &list, aten_of_int(0));
    aten_push(c->t, &list, aten_of_int(-1));
    for (int64_t i = to + 1; i < rank; i++)
        aten_push(c->t, &list, aten_size_of(c->t, x, i));
    return reshape_to(c, x, aten_list_tensor(c->t, c->l.name, &list));
}

/* unflatten(x, dim, sizes) */
bool aten_unflatten(aten_call *c)
{
    int64_t axis;
    ir_id x = aten_tensor(c, 0);
    int rank = aten_rank(c, 0);
    aten_value list = aten_new_list(c->t, false);
    if (x == IR_NONE || c->arg[2].kind != ATEN_LIST || !aten_axis(c, 0, aten_int(c, 1, 0), &axis))
        return false;
    for (int64_t i = 0; i < rank; i++) {
        for (uint32_t k = 0; i == axis && k < c->arg[2].list->v.n; k++)
            aten_push(c->t, &list, c->arg[2].list->v.items[k]);
        if (i != axis)
            aten_push(c->t, &list, i < axis ? aten_of_int(0) : aten_size_of(c->t, x, i));
    }
    return reshape_to(c, x, aten_list_tensor(c->t, c->l.name, &list));
}

/* Only axes of size 1 go away; squeeze(x) takes all of them. */
bool aten_squeeze(aten_call *c)
{
    int64_t axes[LAYER_LIST], kept[LAYER_LIST];
    int rank = aten_rank(c, 0), n = aten_ints(c, 1, axes), k = 0;
    ir_id x = aten_tensor(c, 0);
    if (x == IR_NONE || rank < 0 || n == -2)
        return false;
    const int64_t *dims = aten_info(c->t, x)->dims;
    for (int i = 0; n < 0 && i < rank; i++)
        if (dims[i] == 1)
            kept[k++] = i;
    for (int i = 0; i < n; i++)
        if (!aten_axis(c, 0, axes[i], &kept[k]))
            return false;
        else if (rank > 0 && dims[kept[k]] == 1)
            k++;
    return k ? aten_node2(c, "Squeeze", x, axes_input(c, kept, k)) : aten_same(c);
}

bool aten_unsqueeze(aten_call *c)
{
    int64_t axis = aten_int(c, 1, 0);
    int rank = aten_rank(c, 0);
    if (rank < 0 || aten_tensor(c, 0) == IR_NONE)
        return false;
    axis += axis < 0 ? rank + 1 : 0;
    return aten_node2(c, "Unsqueeze", aten_tensor(c, 0), axes_input(c, &axis, 1));
}

/* ---- order ---- */

static bool transpose_to(aten_call *c, const int64_t *perm, int n)
{
    ir_id x = aten_tensor(c, 0);
    const ir_attr_spec attrs[] = {IR_SPEC_INTS("perm", n, perm), LAYER_END};
    return x != IR_NONE && aten_node(c, "Transpose", &x, 1, attrs);
}

bool aten_permute(aten_call *c)
{
    int64_t perm[LAYER_LIST];
    int n = aten_ints(c, 1, perm);
    for (int i = 0; i < n; i++)
        if (!aten_axis(c, 0, perm[i], &perm[i]))
            return false;
    return n > 0 && transpose_to(c, perm, n);
}

bool aten_transpose(aten_call *c)
{
    int64_t perm[IR_MAX_RANK], a, b;
    int rank = aten_rank(c, 0);
    if (!aten_axis(c, 0, aten_int(c, 1, 0), &a) || !aten_axis(c, 0, aten_int(c, 2, 1), &b) ||
        rank == 0)
        return false;
    for (int i = 0; i < rank; i++)
        perm[i] = i;
    perm[a] = b;
    perm[b] = a;
    return transpose_to(c, perm, rank);
}

/* t(x), numpy_T(x), mT: of a matrix. */
bool aten_t(aten_call *c)
{
    return aten_rank(c, 0) == 2 ? transpose_to(c, (const int64_t[]){1, 0}, 2)
                                : aten_rank(c, 0) >= 0 && aten_rank(c, 0) < 2 && aten_same(c);
}

/* movedim(x, source, destination) of one axis or several. */
bool aten_movedim(aten_call *c)
{
    int64_t from[LAYER_LIST], to[LAYER_LIST], perm[IR_MAX_RANK];
    int n = aten_ints(c, 1, from), m = aten_ints(c, 2, to), rank = aten_rank(c, 0);
    bool taken[IR_MAX_RANK] = {false};
    if (n < 1 || n != m || rank < 1)
        return false;
    for (int i = 0; i < rank; i++)
        perm[i] = -1;
    for (int i = 0; i < n; i++) {
        if (!aten_axis(c, 0, from[i], &from[i]) || !aten_axis(c, 0, to[i], &to[i]))
            return false;
        perm[to[i]] = from[i];
        taken[from[i]] = true;
    }
    for (int i = 0, next = 0; i < rank; i++) {
        while (next < rank && taken[next])
            next++;
        if (perm[i] < 0)
            perm[i] = next++;
    }
    return transpose_to(c, perm, rank);
}

/* ---- copies ---- */

/* expand(x, sizes): -1 keeps a size. Expand takes 1 for that. */
bool aten_expand(aten_call *c)
{
    ir_id x = aten_tensor(c, 0);
    aten_value list = aten_new_list(c->t, false);
    if (x == IR_NONE || c->arg[1].kind != ATEN_LIST)
        return false;
    for (uint32_t i = 0; i < c->arg[1].list->v.n; i++) {
        aten_value v = c->arg[1].list->v.items[i];
        aten_push(c->t, &list, v.kind == ATEN_INT && v.i == -1 ? aten_of_int(1) : v);
    }
    ir_id shape = aten_list_tensor(c->t, c->l.name, &list);
    return shape != IR_NONE && aten_node2(c, "Expand", x, shape);
}

bool aten_expand_as(aten_call *c)
{
    ir_id like = aten_tensor(c, 1);
    return like != IR_NONE && aten_tensor(c, 0) != IR_NONE &&
           aten_node2(c, "Expand", aten_tensor(c, 0), aten_step(c, "Shape", &like, 1, NULL));
}

/* repeat(x, times), tile: leading axes are added. */
bool aten_repeat(aten_call *c)
{
    ir_id x = aten_tensor(c, 0);
    int rank = aten_rank(c, 0);
    if (x == IR_NONE || rank < 0 || c->arg[1].kind != ATEN_LIST)
        return false;
    uint32_t n = c->arg[1].list->v.n;
    aten_value list = aten_new_list(c->t, false);
    for (uint32_t i = n; i < (uint32_t)rank; i++)
        aten_push(c->t, &list, aten_of_int(1));
    for (uint32_t i = 0; i < n; i++)
        aten_push(c->t, &list, c->arg[1].list->v.items[i]);
    ir_id times = aten_list_tensor(c->t, c->l.name, &list);
    int64_t axes[LAYER_LIST];
    int added = (int)n - rank;
    for (int i = 0; i < added && i < LAYER_LIST; i++)
        axes[i] = i;
    if (added > 0 && added <= LAYER_LIST)
        x = aten_step2(c, "Unsqueeze", x, axes_input(c, axes, added));
    return times != IR_NONE && aten_node2(c, "Tile", x, times);
}

enum { JOINED = 4096 };

/* Tensors of a list in one type. */
static int joined_parts(aten_call *c, ir_id *parts)
{
    int n = aten_tensors(c, 0, parts, JOINED);
    ir_dtype t = IR_UNDEFINED;
    for (int i = 0; i < n; i++) {
        ir_dtype own = aten_dtype_of(c->t, parts[i]);
        t = t == IR_UNDEFINED || (ir_is_float(own) && !ir_is_float(t)) ? own : t;
    }
    for (int i = 0; i < n; i++)
        parts[i] = aten_cast(c, parts[i], t);
    return n;
}

/* Along an axis, or a new one. */
static bool join_parts(aten_call *c, bool stacked)
{
    ir_id *parts = ARENA_ARRAY(c->t->a, ir_id, JOINED);
    int n = parts ? joined_parts(c, parts) : -1;
    int rank = n > 0 ? aten_rank_of(c->t, parts[0]) : -1;
    int64_t axis = aten_int(c, 1, 0);
    if (n < 1 || rank < 0)
        return false;
    axis += axis < 0 ? rank + stacked : 0;
    for (int i = 0; stacked && i < n; i++)
        parts[i] = aten_step2(c, "Unsqueeze", parts[i], axes_input(c, &axis, 1));
    const ir_attr_spec attrs[] = {IR_SPEC_INT("axis", axis), LAYER_END};
    return aten_node(c, "Concat", parts, (uint32_t)n, attrs);
}

bool aten_cat(aten_call *c)
{
    return join_parts(c, false);
}

bool aten_stack(aten_call *c)
{
    return join_parts(c, true);
}

/* ---- parts ---- */

static bool split_into(aten_call *c, int64_t axis, const int64_t *sizes, int n)
{
    const ir_attr_spec attrs[] = {IR_SPEC_INT("axis", axis), LAYER_END};
    ir_id in[] = {aten_tensor(c, 0), layer_ints(&c->l, "sizes", sizes, n)};
    return aten_outs(c, (uint32_t)n) && layer_node(&c->l, NULL, "Split", in, 2, attrs) != IR_NONE;
}

/* Parts of `size`, the last being what is left. */
static bool split_by(aten_call *c, int64_t axis, int64_t size)
{
    int64_t sizes[LAYER_LIST], all = aten_info(c->t, aten_tensor(c, 0))->dims[axis];
    int n = 0;
    if (size < 1 || all < 1 || (all + size - 1) / size > LAYER_LIST)
        return false;
    for (int64_t left = all; left > 0; left -= size)
        sizes[n++] = left < size ? left : size;
    return split_into(c, axis, sizes, n);
}

/* split(x, size or sizes, dim), split_with_sizes */
bool aten_split(aten_call *c)
{
    int64_t axis, sizes[LAYER_LIST];
    int n = aten_ints(c, 1, sizes);
    if (aten_tensor(c, 0) == IR_NONE || n < 1 || aten_rank(c, 0) < 1 ||
        !aten_axis(c, 0, aten_int(c, 2, 0), &axis))
        return false;
    return c->arg[1].kind == ATEN_LIST ? split_into(c, axis, sizes, n)
                                       : split_by(c, axis, sizes[0]);
}

bool aten_chunk(aten_call *c)
{
    int64_t axis, parts = aten_int(c, 1, 0);
    if (aten_tensor(c, 0) == IR_NONE || aten_rank(c, 0) < 1 || parts < 1 ||
        !aten_axis(c, 0, aten_int(c, 2, 0), &axis))
        return false;
    int64_t all = aten_info(c->t, aten_tensor(c, 0))->dims[axis];
    return all > 0 && split_by(c, axis, (all + parts - 1) / parts);
}

/* Every index of an axis. */
bool aten_unbind(aten_call *c)
{
    int64_t axis;
    ir_id x = aten_tensor(c, 0);
    if (x == IR_NONE || aten_rank(c, 0) < 1 || !aten_axis(c, 0, aten_int(c, 1, 0), &axis))
        return false;
    int64_t all = aten_info(c->t, x)->dims[axis];
    const ir_attr_spec attrs[] = {IR_SPEC_INT("axis", axis), LAYER_END};
    if (all < 1 || all > LAYER_LIST || !aten_outs(c, (uint32_t)all))
        return false;
    c->t->fixed = true;
    for (int64_t i = 0; i < all; i++) {
        ir_id in[] = {x, aten_like(c, (double)i, IR_INT64)};
        if (layer_into(&c->l, "Gather", in, 2, attrs, c->l.out[i]) == IR_NONE)
            return false;
    }
    return true;
}

/* A bound of a slice as an int64 tensor [1]. */
static ir_id bound(aten_call *c, const aten_value *v, int64_t def)
{
    aten_value list = aten_new_list(c->t, false);
    bool given = v->kind == ATEN_INT || v->kind == ATEN_SIZE;
    return aten_push(c->t, &list, given ? *v : aten_of_int(def))
               ? aten_list_tensor(c->t, c->l.name, &list)
               : IR_NONE;
}

static bool is_whole(const aten_value *from, const aten_value *to, int64_t step)
{
    bool starts = from->kind <= ATEN_NONE || (from->kind == ATEN_INT && from->i == 0);
    bool ends = to->kind <= ATEN_NONE || (to->kind == ATEN_INT && to->i == INT64_MAX);
    return starts && ends && step == 1;
}

static bool slice_to(aten_call *c, int64_t axis, const aten_value *from, const aten_value *to,
                     int64_t step)
{
    ir_id x = aten_tensor(c, 0);
    if (is_whole(from, to, step))
        return aten_same(c);
    ir_id in[] = {x, bound(c, from, 0), bound(c, to, INT64_MAX), axes_input(c, &axis, 1),
                  layer_ints(&c->l, "steps", &step, 1)};
    return in[1] != IR_NONE && in[2] != IR_NONE && aten_node(c, "Slice", in, 5, NULL);
}

/* slice(x, dim, start, end, step) */
bool aten_slice(aten_call *c)
{
    int64_t axis;
    if (aten_tensor(c, 0) == IR_NONE || aten_rank(c, 0) < 1 ||
        !aten_axis(c, 0, aten_int(c, 1, 0), &axis))
        return false;
    return slice_to(c, axis, &c->arg[2], &c->arg[3], aten_int(c, 4, 1));
}

/* narrow(x, dim, start, length) */
bool aten_narrow(aten_call *c)
{
    int64_t axis;
    if (aten_tensor(c, 0) == IR_NONE || aten_rank(c, 0) < 1 ||
        !aten_axis(c, 0, aten_int(c, 1, 0), &axis))
        return false;
    aten_value end = aten_size_math(c->t, "add", &c->arg[2], &c->arg[3]);
    return end.kind != ATEN_ABSENT && slice_to(c, axis, &c->arg[2], &end, 1);
}

/* select(x, dim, index): the axis goes away. */
bool aten_select(aten_call *c)
{
    int64_t axis;
    ir_id x = aten_tensor(c, 0), at = IR_NONE;
    if (x == IR_NONE || aten_rank(c, 0) < 1 || !aten_axis(c, 0, aten_int(c, 1, 0), &axis))
        return false;
    if (c->arg[2].kind == ATEN_INT || c->arg[2].kind == ATEN_SIZE)
        at = aten_scalar(c->t, c->l.name, &c->arg[2]);
    const ir_attr_spec attrs[] = {IR_SPEC_INT("axis", axis), LAYER_END};
    return at != IR_NONE && aten_node(c, "Gather", (ir_id[]){x, at}, 2, attrs);
}

/* index_select(x, dim, indices); gather(x, dim, indices): row->op */
bool aten_index_select(aten_call *c)
{
    int64_t axis;
    ir_id in[] = {aten_tensor(c, 0), aten_tensor(c, 2)};
    if (in[0] == IR_NONE || in[1] == IR_NONE || aten_rank(c, 0) < 1 ||
        !aten_axis(c, 0, aten_int(c, 1, 0), &axis))
        return false;
    const ir_attr_spec attrs[] = {IR_SPEC_INT("axis", axis), LAYER_END};
    return aten_node(c, c->row->op, in, 2, attrs);
}

/* index(x, [None, i, ...]) with tensors of whole numbers: one index is a Gather; several in a row, from the first axis on, a
 * GatherND. */
bool aten_index(aten_call *c)
{
    const aten_value *list = &c->arg[1];
    ir_id x = aten_tensor(c, 0), at[8];
    int n = 0, first = -1, last = -1;
    if (x == IR_NONE || list->kind != ATEN_LIST || list->list->v.n > 8)
        return false;
    for (uint32_t i = 0; i < list->list->v.n; i++) {
        const aten_value *v = &list->list->v.items[i];
        if (v->kind != ATEN_TENSOR)
            continue;
        ir_dtype t = aten_dtype_of(c->t, v->id);
        if (t == IR_BOOL || t == IR_UINT8)
            return false;
        at[n++] = v->id;
        first = first < 0 ? (int)i : first;
        last = (int)i;
    }
    const ir_attr_spec attrs[] = {IR_SPEC_INT("axis", first), LAYER_END};
    if (n == 1)
        return aten_node(c, "Gather", (ir_id[]){x, at[0]}, 2, attrs);
    if (n < 2 || first != 0 || last != n - 1)
        return false;
    ir_id sum = at[0], ones = axes_input(c, (const int64_t[]){-1}, 1);
    for (int i = 1; i < n; i++)
        sum = aten_step2(c, "Add", sum, at[i]);
    ir_id shape = aten_step(c, "Shape", &sum, 1, NULL);
    for (int i = 0; i < n; i++)
        at[i] = aten_step2(c, "Unsqueeze", aten_step2(c, "Expand", at[i], shape), ones);
    const ir_attr_spec join[] = {IR_SPEC_INT("axis", -1), LAYER_END};
    return aten_node2(c, "GatherND", x, aten_step(c, "Concat", at, (uint32_t)n, join));
}

/* flip(x, dims) */
bool aten_flip(aten_call *c)
{
    int64_t axes[LAYER_LIST], from[LAYER_LIST], to[LAYER_LIST], step[LAYER_LIST];
    int n = aten_ints(c, 1, axes);
    if (aten_tensor(c, 0) == IR_NONE || n < 1)
        return false;
    for (int i = 0; i < n; i++) {
        from[i] = step[i] = -1;
        to[i] = INT64_MIN;
    }
    ir_id in[] = {aten_tensor(c, 0), layer_ints(&c->l, "starts", from, n),
                  layer_ints(&c->l, "ends", to, n), axes_input(c, axes, n),
                  layer_ints(&c->l, "steps", step, n)};
    return aten_node(c, "Slice", in, 5, NULL);
}

static ir_id part_of_axis(aten_call *c, ir_id x, int64_t axis, int64_t from, int64_t to)
{
    ir_id in[] = {x, layer_ints(&c->l, "starts", &from, 1), layer_ints(&c->l, "ends", &to, 1),
                  axes_input(c, &axis, 1)};
    return aten_step(c, "Slice", in, 4, NULL);
}

/* roll(x, shifts, dims): the last `shift` items go to the front. */
bool aten_roll(aten_call *c)
{
    int64_t shifts[LAYER_LIST], axes[LAYER_LIST];
    int n = aten_ints(c, 1, shifts), m = aten_ints(c, 2, axes);
    ir_id x = aten_tensor(c, 0);
    if (x == IR_NONE || n < 1 || n != m)
        return false;
    for (int i = 0; i < n; i++) {
        if (!aten_axis(c, 0, axes[i], &axes[i]))
            return false;
        int64_t cut = -shifts[i];
        if (cut == 0)
            continue;
        ir_id parts[] = {part_of_axis(c, x, axes[i], cut, INT64_MAX),
                         part_of_axis(c, x, axes[i], 0, cut)};
        const ir_attr_spec attrs[] = {IR_SPEC_INT("axis", axes[i]), LAYER_END};
        x = aten_step(c, "Concat", parts, 2, attrs);
    }
    return aten_node(c, "Identity", &x, 1, NULL);
}

/* ---- padding ---- */

/* PyTorch lists pairs from the last axis on; Pad all begins, then all ends. */
static ir_id pads_of(aten_call *c)
{
    int64_t list[LAYER_LIST], pads[2 * IR_MAX_RANK] = {0};
    int n = aten_ints(c, 1, list), rank = aten_rank(c, 0);
    if (n < 0 || n % 2 || rank < 0 || n / 2 > rank)
        return IR_NONE;
    for (int i = 0; i < n / 2; i++) {
        pads[rank - 1 - i] = list[2 * i];
        pads[2 * rank - 1 - i] = list[2 * i + 1];
    }
    return layer_ints(&c->l, "pads", pads, 2 * rank);
}

static bool pad_with(aten_call *c, const char *mode, int value)
{
    const ir_attr_spec attrs[] = {IR_SPEC_TEXT("mode", mode), LAYER_END};
    ir_id in[] = {aten_tensor(c, 0), pads_of(c), IR_NONE};
    bool constant = strcmp(mode, "constant") == 0;
    if (in[0] == IR_NONE || in[1] == IR_NONE)
        return false;
    if (constant)
        in[2] = aten_like(c, aten_float(c, value, 0), aten_dtype(c, 0));
    return aten_node(c, "Pad", in, constant ? 3 : 2, attrs);
}

/* pad(x, pads, mode, value) */
bool aten_pad_mode(aten_call *c)
{
    return aten_is_text(c, 2, "reflect")     ? pad_with(c, "reflect", 3)
           : aten_is_text(c, 2, "replicate") ? pad_with(c, "edge", 3)
           : aten_is_text(c, 2, "circular")  ? false
                                             : pad_with(c, "constant", 3);
}

/* constant_pad_nd(x, pads, value), reflection_pad2d(x, pads), replication_pad2d: row->op is the mode. */
bool aten_pad(aten_call *c)
{
    return pad_with(c, c->row->op, 2);
}

/* pixel_shuffle(x, factor): row->op is DepthToSpace or SpaceToDepth; channel_shuffle(x, groups). */
bool aten_shuffle(aten_call *c)
{
    ir_id x = aten_tensor(c, 0);
    int64_t n = aten_int(c, 1, 0);
    if (x == IR_NONE || aten_rank(c, 0) != 4 || n < 1)
        return false;
    const ir_attr_spec crd[] = {IR_SPEC_INT("blocksize", n), IR_SPEC_TEXT("mode", "CRD"),
                                LAYER_END};
    if (strcmp(c->row->op, "DepthToSpace") == 0)
        return aten_node(c, "DepthToSpace", &x, 1, crd);
    if (strcmp(c->row->op, "channel") != 0)
        return false;
    ir_id shape = aten_step(c, "Shape", &x, 1, NULL);
    const op_info *info = aten_info(c->t, x);
    int64_t channels = info->dims[1];
    ir_id split = layer_step_reshape(&c->l, x, (const int64_t[]){0, n, channels / n, -1}, 4);
    ir_id turned = layer_step_transpose(&c->l, split, (const int64_t[]){0, 2, 1, 3}, 4);
    return aten_node2(c, "Reshape", turned, shape);
}

/* tril(x, k), triu: row->op "0" or "1" is `upper`. */
bool aten_tril(aten_call *c)
{
    const ir_attr_spec attrs[] = {IR_SPEC_INT("upper", c->row->op[0] == '1'), LAYER_END};
    ir_id in[] = {aten_tensor(c, 0), aten_like(c, (double)aten_int(c, 1, 0), IR_INT64)};
    return in[0] != IR_NONE && aten_node(c, "Trilu", in, 2, attrs);
}

/* scatter(x, dim, indices, values), scatter_add: row->op is the reduction. */
bool aten_scatter(aten_call *c)
{
    int64_t axis;
    ir_id in[] = {aten_tensor(c, 0), aten_tensor(c, 2), aten_tensor(c, 3)};
    if (in[0] == IR_NONE || in[1] == IR_NONE || in[2] == IR_NONE || aten_rank(c, 0) < 1 ||
        !aten_axis(c, 0, aten_int(c, 1, 0), &axis))
        return false;
    const ir_attr_spec attrs[] = {IR_SPEC_INT("axis", axis), IR_SPEC_TEXT("reduction", c->row->op),
                                  LAYER_END};
    return aten_node(c, "ScatterElements", in, 3, attrs);
}

/* copy_(x, y): y in the type and shape of x. */
bool aten_copy(aten_call *c)
{
    ir_id x = aten_tensor(c, 0), y = aten_operand(c, 1, aten_dtype(c, 0));
    return x != IR_NONE && y != IR_NONE &&
           aten_node2(c, "Expand", y, aten_step(c, "Shape", &x, 1, NULL));
}

/* slice_scatter(x, part, dim, start, end, step): x with a slice of it replaced. Constant bounds and a step of 1. */
bool aten_slice_scatter(aten_call *c)
{
    int64_t axis, from = aten_int(c, 3, 0), to = aten_int(c, 4, INT64_MAX);
    ir_id x = aten_tensor(c, 0), part = aten_tensor(c, 1), parts[3];
    uint32_t n = 0;
    if (x == IR_NONE || part == IR_NONE || aten_rank(c, 0) < 1 || aten_int(c, 5, 1) != 1 ||
        !aten_axis(c, 0, aten_int(c, 2, 0), &axis))
        return false;
    int64_t size = aten_info(c->t, x)->dims[axis];
    if (size < 0 && (from != 0 || to != INT64_MAX))
        return false;
    from += from < 0 ? size : 0;
    to = to < 0 ? to + size : to > size ? size : to;
    if (from > 0)
        parts[n++] = part_of_axis(c, x, axis, 0, from);
    parts[n++] = part;
    if (to < size)
        parts[n++] = part_of_axis(c, x, axis, to, INT64_MAX);
    const ir_attr_spec attrs[] = {IR_SPEC_INT("axis", axis), LAYER_END};
    return aten_node(c, n == 1 ? "Identity" : "Concat", parts, n, n == 1 ? NULL : attrs);
}
