/* What the operators behind a value ask of its shape, for inputs whose rank or sizes a file leaves open.
 *
 * One walk from the last node of the main graph to the first. An operator asks for itself: a convolution by the rank and the
 * channels of its weight, pooling by its window, Slice and Reshape by lists of one axis. And it passes on what is asked of
 * its output, where that has the rank of the input: activations, sums, padding, joins. What an operator asks for itself
 * counts more than what it passes on, and then the first reader counts.
 *
 * Sizes that follow are forced, and so are ranks but for those of a product of matrices, a lookup, a mean over the sides of
 * an image and a sum with a constant, which take the usual one. All other sizes of such an input are assumed and reported.
 */
#include "analyze/infer_needs.h"

enum { NOTHING, GUESSED, PASSED, ASKED };

typedef struct walk {
    const infer_result *r;
    infer_need *by; /* [n_values] */
    const ir_node *n;
    const op_row *row;
} walk;

static const ir_tensor *constant_of(const walk *w, uint32_t slot)
{
    ir_id id = slot < w->n->n_inputs ? w->n->inputs[slot] : IR_NONE;
    return id == IR_NONE ? NULL : ir_value_at(w->r->model, id)->constant;
}

/* The same tensor after a Transpose; NULL: the permutation is none of its rank. */
static const ir_tensor *ordered(const walk *w, const ir_tensor *t, const ir_attr *perm)
{
    ir_tensor *to = ARENA_NEW(w->r->arena, ir_tensor);
    int64_t *dims = ARENA_ARRAY(w->r->arena, int64_t, (size_t)t->rank + 1);
    if (!to || !dims || perm->kind != IR_ATTR_INTS || (int)perm->n != t->rank)
        return NULL;
    for (int d = 0; d < t->rank; d++) {
        if (perm->v.ints[d] < 0 || perm->v.ints[d] >= t->rank)
            return NULL;
        dims[d] = t->dims[perm->v.ints[d]];
    }
    *to = *t;
    to->dims = dims;
    return to;
}

/* A weight seen through what changes only its type or the order of its axes; NULL: it is none. */
static const ir_tensor *weight_of(const walk *w)
{
    enum { STEPS = 4 };
    ir_id id = w->n->n_inputs > 1 ? w->n->inputs[1] : IR_NONE;
    const ir_attr *perm = NULL;
    for (int step = 0; step < STEPS && id != IR_NONE; step++) {
        const ir_value *v = ir_value_at(w->r->model, id);
        if (v->constant)
            return perm ? ordered(w, v->constant, perm) : v->constant;
        const ir_node *n = v->producer == IR_NONE ? NULL : ir_node_at(w->r->model, v->producer);
        bool turned = n && str_is(n->op, "Transpose");
        if (!n || !n->n_inputs || (turned && perm) ||
            !(turned || str_is(n->op, "Cast") || str_is(n->op, "DequantizeLinear") ||
              str_is(n->op, "Identity")))
            return NULL;
        perm = turned ? ir_attr_find(n, "perm") : perm;
        id = n->inputs[0];
    }
    return NULL;
}

static void ask(walk *w, uint32_t slot, op_need need, uint8_t strength)
{
    ir_id id = slot < w->n->n_inputs ? w->n->inputs[slot] : IR_NONE;
    if (id == IR_NONE || need.rank < 0 || need.rank > IR_MAX_RANK || w->by[id].strength > strength)
        return;
    w->by[id] = (infer_need){need, strength};
}

static void ask_rank(walk *w, uint32_t slot, int64_t rank, uint8_t strength)
{
    if (rank >= 0 && rank <= IR_MAX_RANK)
        ask(w, slot, (op_need){.rank = (int)rank, .axis = 0, .size = -1}, strength);
}

/* ---- what an operator asks for itself ---- */

static void ask_window(walk *w)
{
    const ir_attr *kernel = ir_attr_find(w->n, "kernel_shape");
    if (kernel && kernel->kind == IR_ATTR_INTS)
        ask_rank(w, 0, (int64_t)kernel->n + 2, ASKED);
}

static void ask_image(walk *w)
{
    ask_rank(w, 0, 4, ASKED);
}

static void ask_permuted(walk *w)
{
    const ir_attr *perm = ir_attr_find(w->n, "perm");
    if (perm && perm->kind == IR_ATTR_INTS)
        ask_rank(w, 0, perm->n, ASKED);
}

/* Two numbers for each axis. */
static void ask_padded(walk *w)
{
    const ir_tensor *pads = constant_of(w, 1);
    if (pads)
        ask_rank(w, 0, (int64_t)(pads->n_elems / 2), ASKED);
    ask_rank(w, 1, 1, ASKED);
}

/* Input 1 and what follows are lists. */
static void ask_lists(walk *w)
{
    for (uint32_t i = 1; i < w->n->n_inputs; i++)
        ask_rank(w, i, 1, ASKED);
}

static void ask_scalars(walk *w)
{
    for (uint32_t i = 0; i < w->n->n_inputs; i++)
        ask_rank(w, i, 0, ASKED);
}

static void ask_condition(walk *w)
{
    ask_rank(w, 0, 0, ASKED);
}

/* Scale and shift have a number for each channel. */
static void ask_channels(walk *w, int axis)
{
    const ir_tensor *scale = constant_of(w, 1);
    op_need need = {.rank = 4, .any_rank = axis == 1, .axis = axis, .size = -1};
    if (scale && scale->rank == 1)
        need.size = scale->dims[0];
    ask(w, 0, need, ASKED);
}

static void ask_channels_first(walk *w)
{
    ask_channels(w, 1);
}

static void ask_channels_last(walk *w)
{
    ask_channels(w, -1);
}

/* Ids that look up rows of a table: one sequence for each sample. */
static void ask_lookup(walk *w)
{
    const ir_tensor *table = constant_of(w, 0);
    if (table && table->rank == 2 && ir_is_float(table->dtype))
        ask(w, 1, (op_need){.rank = 2, .any_rank = true, .size = -1}, GUESSED);
}

static const int64_t *two_axes(const walk *w)
{
    const ir_attr *axes = ir_attr_find(w->n, "axes");
    const ir_tensor *list = constant_of(w, 1);
    if (axes && axes->kind == IR_ATTR_INTS && axes->n == 2)
        return axes->v.ints;
    return list && list->n_elems == 2 && list->dtype == IR_INT64 && list->storage == IR_DATA_INLINE
               ? (const int64_t *)(const void *)list->bytes
               : NULL;
}

/* Over the two sides of an image. */
static void ask_reduced(walk *w)
{
    const int64_t *axes = two_axes(w);
    if (axes && axes[1] == axes[0] + 1 && (axes[0] == 1 || axes[0] == 2))
        ask_rank(w, 0, 4, GUESSED);
}

/* ---- what it passes on ---- */

static const op_need *asked_of_output(const walk *w)
{
    for (uint32_t i = 0; i < w->n->n_outputs; i++)
        if (w->n->outputs[i] != IR_NONE && w->by[w->n->outputs[i]].strength != NOTHING)
            return &w->by[w->n->outputs[i]].need;
    return NULL;
}

static uint8_t passed(const walk *w)
{
    for (uint32_t i = 0; i < w->n->n_outputs; i++)
        if (w->n->outputs[i] != IR_NONE && w->by[w->n->outputs[i]].strength == GUESSED)
            return GUESSED;
    return PASSED;
}

static void pass_whole(walk *w)
{
    const op_need *out = asked_of_output(w);
    if (out)
        ask(w, 0, *out, passed(w));
}

static void pass_rank(walk *w)
{
    const op_need *out = asked_of_output(w);
    if (out)
        ask_rank(w, 0, out->rank, passed(w));
}

static void pass_rank_to_all(walk *w)
{
    const op_need *out = asked_of_output(w);
    for (uint32_t i = 0; out && i < w->n->n_inputs; i++)
        ask_rank(w, i, out->rank, passed(w));
}

static void pass_changed(walk *w, int sign)
{
    const op_need *out = asked_of_output(w);
    const ir_tensor *axes = constant_of(w, 1);
    if (out && axes && axes->n_elems <= IR_MAX_RANK)
        ask_rank(w, 0, out->rank + sign * (int)axes->n_elems, passed(w));
    ask_rank(w, 1, 1, ASKED);
}

static void pass_unsqueezed(walk *w)
{
    pass_changed(w, -1);
}

static void pass_squeezed(walk *w)
{
    pass_changed(w, 1);
}

/* The places that are taken are in the place of the axis. */
static void pass_gathered(walk *w)
{
    const op_need *out = asked_of_output(w);
    const ir_tensor *places = constant_of(w, 1);
    if (out && places)
        ask_rank(w, 0, out->rank - places->rank + 1, passed(w));
}

/* Sums and products: both sides have the rank of the result, but for constants, which may have fewer. */
static void pass_broadcast(walk *w)
{
    const op_need *out = asked_of_output(w);
    for (uint32_t i = 0; i < w->n->n_inputs; i++) {
        const ir_tensor *other = w->n->n_inputs == 2 ? constant_of(w, 1 - i) : NULL;
        if (out && (w->n->n_inputs == 1 || other))
            ask(w, i, *out, passed(w));
        else if (out)
            ask_rank(w, i, out->rank, passed(w));
        else if (other && other->rank >= 2)
            ask_rank(w, i, other->rank, GUESSED);
    }
}

/* ---- operators ---- */

static const struct need_rule {
    const char *domain, *op;
    void (*asks)(walk *w), (*passes)(walk *w);
} rules[] = {
    {"", "AveragePool", ask_window, pass_whole},
    {"", "BatchNormalization", ask_channels_first, NULL},
    {"", "Cast", NULL, pass_whole},
    {"", "Clip", NULL, pass_whole},
    {"", "Concat", NULL, pass_rank_to_all},
    {"", "Dropout", NULL, pass_whole},
    {"", "Expand", ask_lists, NULL},
    {"", "Gather", ask_lookup, pass_gathered},
    {"", "GlobalAveragePool", NULL, pass_whole},
    {"", "If", ask_condition, NULL},
    {"", "LpPool", ask_window, pass_whole},
    {"", "MaxPool", ask_window, pass_whole},
    {"", "Pad", ask_padded, pass_rank},
    {"", "Range", ask_scalars, NULL},
    {"", "ReduceMean", ask_reduced, NULL},
    {"", "ReduceMax", ask_reduced, NULL},
    {"", "ReduceSum", ask_reduced, NULL},
    {"", "Reshape", ask_lists, NULL},
    {"", "Slice", ask_lists, pass_rank},
    {"", "Split", NULL, pass_rank},
    {"", "Squeeze", NULL, pass_squeezed},
    {"", "Tile", ask_lists, pass_rank},
    {"", "Transpose", ask_permuted, NULL},
    {"", "Unsqueeze", NULL, pass_unsqueezed},
    {"assay.nhwc", "AveragePool", ask_window, pass_whole},
    {"assay.nhwc", "BatchNormalization", ask_channels_last, NULL},
    {"assay.nhwc", "BatchToSpace", NULL, pass_rank},
    {"assay.nhwc", "DepthToSpace", ask_image, NULL},
    {"assay.nhwc", "L2Pool", ask_window, pass_whole},
    {"assay.nhwc", "LRN", ask_image, pass_whole},
    {"assay.nhwc", "MaxPool", ask_window, pass_whole},
    {"assay.nhwc", "Resize", ask_image, pass_whole},
    {"assay.nhwc", "SpaceToBatch", NULL, pass_whole},
    {"assay.nhwc", "SpaceToDepth", ask_image, NULL},
};

static void look_at(walk *w)
{
    const struct need_rule *rule = NULL;
    for (size_t i = 0; i < sizeof rules / sizeof *rules && !rule; i++)
        if (str_is(w->n->op, rules[i].op) && str_is(w->n->domain, rules[i].domain))
            rule = &rules[i];
    if (rule && rule->passes)
        rule->passes(w);
    else if (!rule && w->row && w->row->flags & OPF_ELEMENTWISE)
        pass_broadcast(w);
    else if (!rule && w->row && w->row->infer == op_infer_like)
        pass_whole(w);
    if (rule && rule->asks)
        rule->asks(w);
    const ir_tensor *weight = w->row && w->row->needs ? weight_of(w) : NULL;
    if (weight)
        ask(w, 0, w->row->needs(w->n, weight), ASKED);
}

const infer_need *infer_needs(infer_result *r)
{
    const ir_graph *g = ir_graph_at(r->model, 0);
    if (r->needs)
        return r->needs;
    walk w = {.r = r, .by = ARENA_ARRAY(r->arena, infer_need, r->model->values.n + 1)};
    for (uint32_t k = g->nodes.n; w.by && k-- > 0;) {
        w.n = ir_node_at(r->model, g->nodes.items[k]);
        w.row = r->rows[g->nodes.items[k]];
        look_at(&w);
    }
    return r->needs = w.by;
}
