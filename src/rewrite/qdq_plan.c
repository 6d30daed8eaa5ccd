/* Which values of the main graph become uint8.
 *
 * Contractions with constant weights ask for their input; convolutions also for their output, because only then there
 * is a kernel without float in it. An activation that clips (Relu, Clip) belongs to what is before it: the value
 * after it is the one that is quantised, and quantising clips. Operators that have 8-bit kernels and lie between such
 * values (sums, pools, concatenations) follow when all their inputs are quantised; views take their input's range
 * over.
 */
#include "rewrite/qdq.h"
#include "rewrite/quant.h"

typedef enum follow { FOLLOW_COMPUTE, FOLLOW_SAME_RANGE, FOLLOW_VIEW } follow;

static const struct {
    const char *ops; /* blanks between */
    follow how;
    bool clips; /* an activation behind it belongs to it */
} followers[] = {
    {"Add", FOLLOW_COMPUTE, true},
    {"Mul Concat AveragePool GlobalAveragePool Sigmoid LeakyRelu", FOLLOW_COMPUTE, false},
    {"MaxPool", FOLLOW_SAME_RANGE, false},
    {"Flatten Reshape Squeeze Unsqueeze Transpose", FOLLOW_VIEW, false},
};
enum { N_FOLLOWERS = sizeof followers / sizeof *followers };

typedef struct planner {
    kit *k;
    qdq_plan *p;
    const uint32_t *uses;
    ir_id *reader; /* [values] a node of the main graph that reads it */
} planner;

static bool is_activation(const planner *x, ir_id v)
{
    return v != IR_NONE && kit_dtype(x->k, v) == IR_FLOAT32 && !ir_value_at(x->k->m, v)->constant;
}

/* ---- contractions ---- */

int qdq_channel_axis(const ir_node *n)
{
    if (kit_is(n, "Conv"))
        return 0;
    return kit_is(n, "Gemm") && ir_attr_int(n, "transB", 0) ? 0 : 1;
}

/* A bias of one number per channel becomes int32 steps; any other keeps the node in float32. */
static bool bias_fits(const kit *k, const ir_node *n, const ir_tensor *w)
{
    ir_id b = kit_in(n, 2);
    const ir_tensor *t = b == IR_NONE ? NULL : kit_weight(k, b);
    if (b == IR_NONE)
        return true;
    return t && t->rank == 1 && t->dims[0] == w->dims[qdq_channel_axis(n)] &&
           t->storage != IR_DATA_NONE && ir_attr_float(n, "alpha", 1.0) == 1.0 &&
           ir_attr_float(n, "beta", 1.0) == 1.0;
}

static bool is_weighted(const planner *x, const ir_node *n)
{
    bool conv = kit_is(n, "Conv"), gemm = kit_is(n, "Gemm");
    const ir_tensor *w = kit_weight(x->k, kit_in(n, 1));
    if ((!conv && !gemm && !kit_is(n, "MatMul")) || n->n_outputs != 1 || n->outputs[0] == IR_NONE ||
        !w || w->n_elems == 0 || !is_activation(x, kit_in(n, 0)))
        return false;
    if (!conv && w->rank != 2)
        return false;
    return (!gemm || ir_attr_int(n, "transA", 0) == 0) && (!conv || w->rank >= 3) &&
           bias_fits(x->k, n, w);
}

/* ---- marking ---- */

static ir_id behind_clip(const planner *x, ir_id v)
{
    ir_id id = x->uses[v] == 1 ? x->reader[v] : IR_NONE;
    const ir_node *n = id == IR_NONE ? NULL : ir_node_at(x->k->m, id);
    bool clips = n && (kit_is(n, "Relu") || kit_is(n, "Clip")) && kit_in(n, 0) == v &&
                 n->n_outputs == 1 && n->outputs[0] != IR_NONE;
    return clips ? n->outputs[0] : v;
}

static void mark_value(planner *x, ir_id v)
{
    x->p->marked[v] = 1;
}

/* ONNX Runtime makes a float Gemm of a MatMul and the constant that is added to it before it looks for
 * quantised patterns; a quantised value between the two keeps them apart. */
static bool biased_behind(const planner *x, const ir_node *n)
{
    ir_id y = n->outputs[0], id = x->uses[y] == 1 ? x->reader[y] : IR_NONE;
    const ir_node *add = id == IR_NONE ? NULL : ir_node_at(x->k->m, id);
    if (!kit_is(n, "MatMul") || !add || !kit_is(add, "Add") || add->n_inputs != 2)
        return false;
    ir_id other = add->inputs[add->inputs[0] == y ? 1 : 0];
    return other != IR_NONE && ir_value_at(x->k->m, other)->constant;
}

static void mark_weighted(planner *x, ir_id id)
{
    const ir_node *n = ir_node_at(x->k->m, id);
    if (!is_weighted(x, n))
        return;
    x->p->weighted[id] = 1;
    x->p->n_weighted++;
    mark_value(x, n->inputs[0]);
    if (kit_is(n, "Conv") || biased_behind(x, n))
        mark_value(x, behind_clip(x, n->outputs[0]));
}

static bool inputs_marked(const planner *x, const ir_node *n)
{
    bool any = false;
    for (uint32_t i = 0; i < n->n_inputs; i++) {
        ir_id v = n->inputs[i];
        if (v == IR_NONE || kit_dtype(x->k, v) != IR_FLOAT32)
            continue;
        if (!x->p->marked[v])
            return false;
        any = true;
    }
    return any;
}

static void follow_inputs(planner *x, const ir_node *n)
{
    int i = 0;
    while (i < N_FOLLOWERS && !(str_empty(n->domain) && str_in_list(n->op, followers[i].ops, ' ')))
        i++;
    if (i == N_FOLLOWERS || n->n_outputs != 1 || n->outputs[0] == IR_NONE || !inputs_marked(x, n))
        return;
    ir_id y = n->outputs[0];
    if (followers[i].how == FOLLOW_VIEW && !x->p->marked[y])
        return;
    if (followers[i].how != FOLLOW_COMPUTE)
        x->p->range_of[y] = x->p->range_of[n->inputs[0]];
    mark_value(x, followers[i].clips ? behind_clip(x, y) : y);
}

static void find_readers(planner *x)
{
    const ir_graph *g = ir_graph_at(x->k->m, 0);
    for (ir_id v = 0; v < x->p->n_values; v++)
        x->reader[v] = IR_NONE;
    for (uint32_t i = 0; i < g->nodes.n; i++) {
        const ir_node *n = ir_node_at(x->k->m, g->nodes.items[i]);
        for (uint32_t j = 0; j < n->n_inputs; j++)
            if (n->inputs[j] != IR_NONE)
                x->reader[n->inputs[j]] = g->nodes.items[i];
    }
}

assay_status qdq_plan_make(kit *k, qdq_plan *p)
{
    size_t n = (size_t)k->m->values.n + 1;
    *p = (qdq_plan){.n_values = k->m->values.n,
                    .marked = ARENA_ARRAY(k->scratch, uint8_t, n),
                    .range_of = ARENA_ARRAY(k->scratch, ir_id, n),
                    .weighted = ARENA_ARRAY(k->scratch, uint8_t, (size_t)k->m->nodes.n + 1)};
    planner x = {.k = k, .p = p, .uses = kit_uses(k), .reader = ARENA_ARRAY(k->scratch, ir_id, n)};
    TRY_MEMORY(!arena_failed(k->scratch), k->err);
    const ir_graph *g = ir_graph_at(k->m, 0);
    find_readers(&x);
    for (ir_id v = 0; v < p->n_values; v++)
        p->range_of[v] = v;
    for (uint32_t i = 0; i < g->nodes.n; i++)
        mark_weighted(&x, g->nodes.items[i]);
    for (uint32_t i = 0; i < g->nodes.n; i++)
        follow_inputs(&x, ir_node_at(k->m, g->nodes.items[i]));
    return ASSAY_OK;
}

/* ---- calibration ---- */

static assay_status list_points(kit *k, arena *a, const ir_id **ids, uint32_t *n)
{
    qdq_plan p;
    VEC(ir_id) list = {0};
    TRY(qdq_plan_make(k, &p));
    for (ir_id v = 0; v < p.n_values; v++) {
        if (!p.marked[v] || p.range_of[v] != v)
            continue;
        TRY_MEMORY(VEC_ADD(a, &list, v), k->err);
    }
    *ids = list.items;
    *n = list.n;
    return p.n_weighted ? ASSAY_OK : quant_nothing(false, k->err);
}

assay_status rewrite_calibration_points(ir_model *m, value_facts facts, arena *a, const ir_id **ids,
                                        uint32_t *n, assay_error *err)
{
    kit k;
    *ids = NULL;
    *n = 0;
    assay_status s = kit_begin(&k, m, facts, err);
    return kit_end(&k, s == ASSAY_OK ? list_points(&k, a, ids, n) : s);
}
