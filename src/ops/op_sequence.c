/* Sequences. Of a sequence whose length is known and small every item is followed on its
 * own, so that picking one, or joining all, is exact; of a longer one what all items share.
 *
 * Bytes: making, splitting and joining copy the tensors; erasing and asking for the length move
 * nothing.
 */
#include "ops/op_util_cost.h"
#include "ops/op_util_info.h"

/* ---- looking into a sequence ---- */

static int64_t length_of(const op_ctx *c)
{
    return op_has(c, 0) && c->in[0]->kind == IR_KIND_SEQUENCE ? c->in[0]->length : -1;
}

/* Whether the items of input 0 are known one by one (an empty sequence has none to know). */
static bool has_items(const op_ctx *c)
{
    return length_of(c) == 0 || (length_of(c) > 0 && c->in[0]->items);
}

static op_info elem_of(const op_ctx *c)
{
    const op_info *elem = op_has(c, 0) ? c->in[0]->elem : NULL;
    return elem ? op_info_bare(elem) : op_info_tensor(op_dtype(c, 0));
}

static assay_status want_sequence(op_ctx *c)
{
    if (!op_has(c, 0) || c->in[0]->kind == IR_KIND_SEQUENCE || c->in[0]->kind == IR_KIND_NONE)
        return ASSAY_OK;
    return op_fail(c, "the input is not a sequence");
}

/* The place that input i names, in [0, last]; *known is false when it cannot be told. A negative
 * one counts from the end of the `length` items. */
static assay_status position(op_ctx *c, uint32_t i, int64_t length, int64_t last, int64_t *place,
                             bool *known)
{
    int64_t given;
    *known = length >= 0 && op_int_at(c, i, 0, &given);
    if (!*known)
        return ASSAY_OK;
    *place = given < 0 ? given + length : given;
    if (*place < 0 || *place > last)
        return op_fail(c, "position %lld is out of range for a sequence of %lld", (long long)given,
                       (long long)length);
    return ASSAY_OK;
}

/* ---- making ---- */

static assay_status infer_construct(op_ctx *c)
{
    op_info *items = ARENA_ARRAY(c->arena, op_info, (size_t)c->n_in + 1);
    TRY_MEMORY(items, c->err);
    for (uint32_t i = 0; i < c->n_in; i++) {
        items[i] = op_info_input(c, i);
        if (items[i].kind != IR_KIND_TENSOR && items[i].kind != IR_KIND_NONE)
            return op_fail(c, "input %u is not a tensor", i);
    }
    TRY(op_set_items(c, 0, IR_UNDEFINED, items, c->n_in));
    if (c->n_in > OP_ITEMS_MAX && c->n_out)
        c->out[0].items = NULL;
    return ASSAY_OK;
}

static assay_status infer_empty(op_ctx *c)
{
    int64_t t = op_attr_int(c, "dtype", IR_FLOAT32);
    return op_set_items(c, 0, ir_dtype_valid(t) ? (ir_dtype)t : IR_UNDEFINED, NULL, 0);
}

/* A sequence with `elem` merged in, of which only the length is known. */
static assay_status grow_blindly(op_ctx *c, const op_info *added, int64_t length)
{
    op_info elem = elem_of(c);
    if (length_of(c) == 0)
        elem = op_info_bare(added);
    else
        TRY(op_info_merge(c, &elem, added, &elem));
    elem.val = NULL;
    return op_set_sequence(c, 0, &elem, length);
}

static assay_status infer_insert(op_ctx *c)
{
    TRY(want_sequence(c));
    int64_t n = length_of(c), place = n;
    op_info added = op_info_input(c, 1);
    if (added.kind != IR_KIND_TENSOR && added.kind != IR_KIND_NONE)
        return op_fail(c, "the inserted value is not a tensor");
    bool known = n >= 0;
    if (op_has(c, 2))
        TRY(position(c, 2, n, n, &place, &known));
    if (!known || !has_items(c) || n + 1 > OP_ITEMS_MAX)
        return grow_blindly(c, &added, n < 0 || n == INT64_MAX ? -1 : n + 1);
    op_info *items = ARENA_ARRAY(c->arena, op_info, (size_t)n + 1);
    TRY_MEMORY(items, c->err);
    for (int64_t k = 0, from = 0; k <= n; k++)
        items[k] = k == place ? added : c->in[0]->items[from++];
    return op_set_items(c, 0, added.dtype, items, n + 1);
}

static assay_status infer_erase(op_ctx *c)
{
    TRY(want_sequence(c));
    int64_t n = length_of(c), place = n - 1;
    bool known = n >= 0;
    if (n == 0)
        return op_fail(c, "cannot erase from an empty sequence");
    if (op_has(c, 1))
        TRY(position(c, 1, n, n - 1, &place, &known));
    op_info elem = elem_of(c);
    if (!known || !has_items(c))
        return op_set_sequence(c, 0, &elem, n < 0 ? -1 : n - 1);
    op_info *items = ARENA_ARRAY(c->arena, op_info, (size_t)n);
    TRY_MEMORY(items, c->err);
    for (int64_t k = 0, to = 0; k < n; k++)
        if (k != place)
            items[to++] = c->in[0]->items[k];
    return op_set_items(c, 0, elem.dtype, items, n - 1);
}

/* ---- asking ---- */

static assay_status infer_at(op_ctx *c)
{
    TRY(want_sequence(c));
    int64_t n = length_of(c), place = 0;
    bool known;
    TRY(position(c, 1, n, n - 1, &place, &known));
    op_info x = known && has_items(c) ? c->in[0]->items[place] : elem_of(c);
    op_info_put(c, 0, &x);
    return ASSAY_OK;
}

static assay_status infer_length(op_ctx *c)
{
    TRY(want_sequence(c));
    return op_set_scalar(c, 0, IR_INT64);
}

static assay_status value_length(op_ctx *c)
{
    return length_of(c) < 0 ? ASSAY_OK : op_put_scalar(c, 0, length_of(c));
}

/* ---- splitting ---- */

typedef struct split {
    int axis;
    int64_t size; /* of the axis; -1 unknown */
    int64_t n;    /* parts; -1 unknown */
    int64_t part; /* size of each part; -1 when they differ or are unknown */
    int n_given;  /* entries of `given`; 0 when all parts are `part` (the last may be shorter) */
    int64_t given[OP_ITEMS_MAX];
} split;

static assay_status split_by_scalar(op_ctx *c, split *s, int64_t part)
{
    if (part <= 0)
        return op_fail(c, "invalid part length %lld", (long long)part);
    s->part = part;
    if (s->size >= 0) {
        s->n = num_ceil_div(s->size, part);
        if (s->size % part != 0 && s->n == 1)
            s->part = s->size;
    }
    return ASSAY_OK;
}

static assay_status split_by_list(op_ctx *c, split *s)
{
    int64_t sum = 0;
    s->n = op_dim(c, 1, 0);
    s->n_given = op_ints(c, 1, s->given, OP_ITEMS_MAX);
    if (s->n_given <= 0) {
        s->n_given = 0;
        return ASSAY_OK;
    }
    s->part = s->given[0];
    for (int k = 0; k < s->n_given; k++) {
        if (s->given[k] < 0 || !num_add(sum, s->given[k], &sum))
            return op_fail(c, "invalid part length %lld", (long long)s->given[k]);
        if (s->given[k] != s->part)
            s->part = -1;
    }
    s->n = s->n_given;
    return op_same_dim(c, s->size, sum, "the length of the split axis", &s->size);
}

static assay_status split_parts(op_ctx *c, split *s)
{
    int64_t scalar;
    if (!op_has(c, 1))
        return split_by_scalar(c, s, 1);
    if (op_rank(c, 1) == 1)
        return split_by_list(c, s);
    if (op_rank(c, 1) == 0 && op_int_at(c, 1, 0, &scalar))
        return split_by_scalar(c, s, scalar);
    return ASSAY_OK;
}

static int64_t part_size(const split *s, int64_t k)
{
    if (s->n_given)
        return s->given[k];
    int64_t left = s->size - k * s->part; /* k < n, so this cannot pass the size */
    return left < s->part ? left : s->part;
}

/* The k-th part, or with k < 0 what all parts share. */
static assay_status part_info(op_ctx *c, const split *s, int64_t k, bool keep, op_info *out)
{
    op_info x = op_info_bare(c->in[0]);
    bool even = s->n_given || (s->size >= 0 && s->part > 0 && s->size % s->part == 0);
    TRY(op_info_drop_axis(c, &x, s->axis, out));
    if (!keep)
        return ASSAY_OK;
    return op_info_add_axis(c, out, s->axis, k >= 0 ? part_size(s, k) : even ? s->part : -1, out);
}

static assay_status set_parts(op_ctx *c, const split *s, bool keep)
{
    op_info elem;
    bool each = s->n >= 0 && s->n <= OP_ITEMS_MAX && (s->n_given || (s->size >= 0 && s->part > 0));
    TRY(part_info(c, s, -1, keep, &elem));
    if (!each)
        return op_set_sequence(c, 0, &elem, s->n);
    op_info *items = ARENA_ARRAY(c->arena, op_info, (size_t)s->n + 1);
    TRY_MEMORY(items, c->err);
    for (int64_t k = 0; k < s->n; k++)
        TRY(part_info(c, s, k, keep, &items[k]));
    return op_set_items(c, 0, op_dtype(c, 0), items, s->n);
}

static assay_status infer_split(op_ctx *c)
{
    op_info unknown = op_info_tensor(op_dtype(c, 0));
    if (op_rank(c, 0) < 0)
        return op_set_sequence(c, 0, &unknown, -1);
    split s = {.n = -1, .part = -1};
    TRY(op_axis(c, op_attr_int(c, "axis", 0), op_rank(c, 0), &s.axis));
    s.size = op_dim(c, 0, s.axis);
    TRY(split_parts(c, &s));
    return set_parts(c, &s, op_has(c, 1) || op_attr_int(c, "keepdims", 1) != 0);
}

/* ---- joining ---- */

/* The joined size of the axis: the sum over the items, or length * size when all are alike. */
static int64_t joined_size(const op_ctx *c, const op_info *elem, int axis)
{
    int64_t n = length_of(c), sum = 0;
    const op_info *items = c->in[0]->items;
    if (!items)
        return n >= 0 && elem->dims[axis] >= 0 && num_mul(n, elem->dims[axis], &sum) ? sum : -1;
    for (int64_t k = 0; k < n; k++)
        if (items[k].rank <= axis || items[k].dims[axis] < 0 ||
            !num_add(sum, items[k].dims[axis], &sum))
            return -1;
    return sum;
}

static assay_status alike_but(op_ctx *c, int axis)
{
    const op_info *items = c->in[0]->items;
    for (int64_t k = 1; items && k < length_of(c); k++) {
        if (items[0].rank < 0 || items[k].rank < 0)
            continue;
        bool clash = items[0].rank != items[k].rank;
        for (int d = 0; !clash && d < items[0].rank; d++)
            clash = d != axis && items[0].dims[d] >= 0 && items[k].dims[d] >= 0 &&
                    items[0].dims[d] != items[k].dims[d];
        if (clash)
            return op_fail(c, "cannot join shapes %s and %s along axis %d",
                           op_dims_text(c, items[0].rank, items[0].dims),
                           op_dims_text(c, items[k].rank, items[k].dims), axis);
    }
    return ASSAY_OK;
}

static assay_status infer_concat(op_ctx *c)
{
    TRY(want_sequence(c));
    op_info elem = elem_of(c);
    bool stack = op_attr_int(c, "new_axis", 0) == 1;
    if (elem.rank < 0 || length_of(c) == 0)
        return op_set_unknown(c, 0, elem.dtype);
    int axis;
    TRY(op_axis(c, op_attr_int(c, "axis", 0), elem.rank + (stack ? 1 : 0), &axis));
    TRY(alike_but(c, stack ? -1 : axis));
    op_info joined;
    if (stack) {
        TRY(op_info_add_axis(c, &elem, axis, length_of(c), &joined));
    } else {
        TRY(op_info_drop_axis(c, &elem, axis, &joined));
        TRY(op_info_add_axis(c, &joined, axis, joined_size(c, &elem, axis), &joined));
    }
    op_info_put(c, 0, &joined);
    return ASSAY_OK;
}

/* ---- bytes ---- */

static void cost_copies_inputs(const op_ctx *c, op_cost *k)
{
    uint64_t moved = 0;
    for (uint32_t i = 0; i < c->n_in; i++)
        moved = sat_add(moved, k->read[i]);
    if (c->n_out)
        k->written[0] = moved;
}

static void cost_insert(const op_ctx *c, op_cost *k)
{
    k->read[0] = 0;
    if (c->n_out)
        k->written[0] = k->read[1];
}

static void cost_copies_output(const op_ctx *c, op_cost *k)
{
    for (uint32_t i = 0; i < c->n_in; i++)
        k->read[i] = 0;
    if (c->n_out)
        k->read[0] = k->written[0];
}

#define MOVES   "no arithmetic: the tensors are copied"
#define NOTHING "no arithmetic, nothing moves"

static const op_row rows[] = {
    {OP_ROW("", "SequenceConstruct", "sequence", "11", MOVES, infer_construct, cost_copies_inputs),
     OP_SLOTS(1, 255, 1, 1), .flags = OPF_DATA_MOVE, .backward = OP_BW_MOVE},
    {OP_ROW("", "SequenceEmpty", "sequence", "11", NOTHING, infer_empty, op_cost_free),
     .flags = OPF_DATA_MOVE | OPF_NO_SHAPES, .min_out = 1, .max_out = 1},
    {OP_ROW("", "SequenceInsert", "sequence", "11", MOVES, infer_insert, cost_insert),
     OP_SLOTS(2, 3, 1, 1), .aux = 4, .flags = OPF_DATA_MOVE, .backward = OP_BW_MOVE},
    {OP_ROW("", "SequenceErase", "sequence", "11", NOTHING, infer_erase, op_cost_free),
     OP_SLOTS(1, 2, 1, 1), .aux = 2, .flags = OPF_DATA_MOVE | OPF_NO_SHAPES,
     .backward = OP_BW_MOVE},
    {OP_ROW("", "SequenceAt", "sequence", "11", MOVES, infer_at, cost_copies_output),
     OP_SLOTS(2, 2, 1, 1), .aux = 2, .flags = OPF_DATA_MOVE, .backward = OP_BW_MOVE},
    {OP_ROW("", "SequenceLength", "sequence", "11", NOTHING, infer_length, op_cost_free),
     OP_SLOTS(1, 1, 1, 1), .value = value_length,
     .flags = OPF_DATA_MOVE | OPF_SHAPE_ONLY | OPF_NO_SHAPES},
    {OP_ROW("", "SplitToSequence", "split", "11,24", MOVES, infer_split, op_cost_as_read),
     OP_SLOTS(1, 2, 1, 1), .aux = 2, .flags = OPF_DATA_MOVE, .backward = OP_BW_MOVE},
    {OP_ROW("", "ConcatFromSequence", "concat", "11", MOVES, infer_concat, cost_copies_output),
     OP_SLOTS(1, 1, 1, 1), .flags = OPF_DATA_MOVE, .backward = OP_BW_MOVE},
};

const op_rows op_sequence_rows = OP_ROWS(rows);
