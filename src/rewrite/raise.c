/* Operators that change their form from one opset to the next, and the conversion to newer ones.
 *
 * Steps without a row only widened the element types or added attributes whose default is the old meaning
 * (checked against the changelog of ai.onnx up to opset 24). Steps with a row and no function have no newer
 * form.
 */
#include "rewrite/raise.h"

typedef struct raise_row {
    const char *ops; /* blanks between */
    int since;
    lower_fn *raise;
    const char *why; /* there is no newer form */
} raise_row;

static const raise_row rows[] = {
    {"Upsample", 9, raise_upsample_9, NULL},
    {"Upsample", 10, raise_upsample_10, NULL},
    {"BatchNormalization", 9, raise_batch_norm_9, NULL},
    {"Scan", 9, NULL, "its inputs have a batch axis before opset 9"},
    {"Dropout", 10, raise_dropout_10, NULL},
    {"Slice", 10, raise_slice, NULL},
    {"TopK", 10, raise_top_k, NULL},
    {"Clip", 11, raise_clip, NULL},
    {"Pad", 11, raise_pad_11, NULL},
    {"Resize", 11, raise_resize_11, NULL},
    {"Scatter", 11, raise_scatter, NULL},
    {"Dropout", 12, raise_dropout_12, NULL},
    {"ReduceSum Squeeze Unsqueeze", 13, raise_axes, NULL},
    {"Resize", 13, raise_resize_13, NULL},
    {"Softmax LogSoftmax Hardmax", 13, raise_softmax, NULL},
    {"Split", 13, raise_split_13, NULL},
    {"BatchNormalization", 14, raise_batch_norm_14, NULL},
    {"RoiAlign", 16, raise_roi_align, NULL},
    {"ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean ReduceMin ReduceProd "
     "ReduceSumSquare",
     18, raise_axes, NULL},
    {"Split", 18, raise_split_18, NULL},
    {"DFT", 20, NULL, "its axis is an input since opset 20"},
    {"GridSample", 20, raise_grid_sample, NULL},
    {"GroupNormalization", 21, NULL, "its scale is per channel since opset 21"},
};
enum { N_ROWS = sizeof rows / sizeof *rows };

/* ---- one node ---- */

/* The oldest crossed step behind `above`; the operator may have become another one in between. */
static const raise_row *next_step(const lowering *x, int above)
{
    const raise_row *best = NULL;
    for (int i = 0; i < N_ROWS; i++)
        if (rows[i].since > above && rows[i].since <= x->target &&
            str_in_list(x->node.op, rows[i].ops, ' ') && (!best || rows[i].since < best->since))
            best = &rows[i];
    return best;
}

static bool crosses_oldest(const char *versions, int from)
{
    int64_t v;
    for (str rest = str_of(versions), item; str_split(&rest, ',', &item);)
        if (str_to_i64(item, &v) && v > from && v <= RAISE_OLDEST)
            return true;
    return false;
}

assay_status raise_node(lowering *x, const char *versions, int from)
{
    const raise_row *row;
    if (from < RAISE_OLDEST && crosses_oldest(versions, from))
        return low_fail(x, "operator versions older than opset 7 are not supported");
    for (int at = from; !x->replaced && (row = next_step(x, at)); at = row->since) {
        if (!row->raise)
            return low_fail(x, row->why);
        TRY(row->raise(x));
        TRY(x->status);
    }
    return x->replaced ? ASSAY_OK : low_keep(x);
}

assay_status raise_one_output(lowering *x, const char *why)
{
    for (uint32_t i = 1; i < x->node.n_outputs; i++) {
        ir_id v = x->node.outputs[i];
        if (v != IR_NONE && x->uses[v])
            return low_fail(x, why);
        if (v != IR_NONE)
            ir_value_at(x->m, v)->producer = IR_NONE;
    }
    x->node.n_outputs = x->node.n_outputs ? 1 : 0;
    return ASSAY_OK;
}

/* ---- back ---- */

typedef struct id_copy {
    ir_id *ids;
    uint32_t n;
} id_copy;

struct raise_copy {
    ir_node *nodes;
    ir_value *values;
    uint32_t n_nodes, n_values;
    id_copy *graph_nodes, *constants; /* [graphs] */
};

static void *copy_items(arena *a, const void *p, size_t n, size_t size)
{
    return n ? arena_copy(a, p, n * size) : NULL;
}

raise_copy *raise_keep(lowering *x)
{
    const ir_model *m = x->m;
    arena *a = x->scratch;
    raise_copy *c = ARENA_NEW(a, raise_copy);
    if (!c)
        return NULL;
    *c = (raise_copy){.nodes = copy_items(a, m->nodes.items, m->nodes.n, sizeof *c->nodes),
                      .values = copy_items(a, m->values.items, m->values.n, sizeof *c->values),
                      .n_nodes = m->nodes.n,
                      .n_values = m->values.n,
                      .graph_nodes = ARENA_ARRAY(a, id_copy, (size_t)m->graphs.n + 1),
                      .constants = ARENA_ARRAY(a, id_copy, (size_t)m->graphs.n + 1)};
    for (ir_id g = 0; g < m->graphs.n && !arena_failed(a); g++) {
        const ir_graph *graph = ir_graph_at(m, g);
        c->graph_nodes[g] = (id_copy){
            copy_items(a, graph->nodes.items, graph->nodes.n, sizeof(ir_id)), graph->nodes.n};
        c->constants[g] = (id_copy){
            copy_items(a, graph->constants.items, graph->constants.n, sizeof(ir_id)),
            graph->constants.n};
    }
    return arena_failed(a) ? NULL : c;
}

/* Lists never shrink their room, so what was in them fits. */
void raise_undo(lowering *x, const raise_copy *c)
{
    ir_model *m = x->m;
    m->nodes.n = c->n_nodes;
    m->values.n = c->n_values;
    if (c->n_nodes)
        memcpy(m->nodes.items, c->nodes, c->n_nodes * sizeof *c->nodes);
    if (c->n_values)
        memcpy(m->values.items, c->values, c->n_values * sizeof *c->values);
    for (ir_id g = 0; g < m->graphs.n; g++) {
        ir_graph *graph = ir_graph_at(m, g);
        const id_copy *nodes = &c->graph_nodes[g], *constants = &c->constants[g];
        graph->nodes.n = nodes->n;
        graph->constants.n = constants->n;
        if (nodes->n)
            memcpy(graph->nodes.items, nodes->ids, nodes->n * sizeof(ir_id));
        if (constants->n)
            memcpy(graph->constants.items, constants->ids, constants->n * sizeof(ir_id));
    }
}
