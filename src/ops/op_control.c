/* If and SequenceMap: the control flow that runs each subgraph a plain number of times. Loop and
 * Scan have files of their own.
 *
 * If with a known condition is its one branch, contents included. With an unknown condition both
 * branches are inferred and the costlier one is counted; what the outputs are is taken from that
 * branch too, so that the layers behind it fit to what was counted. A branch that contradicts its
 * own inputs cannot be the one that runs.
 */
#include "ops/op_util_info.h"

typedef struct branch {
    ir_id graph;
    op_info *out; /* [n_out] */
    assay_status status;
    assay_error err;
} branch;

static assay_status open_branch(op_ctx *c, const char *name, branch *b)
{
    b->graph = op_attr_graph(c, name);
    if (b->graph == IR_NONE)
        return op_fail(c, "no '%s' graph", name);
    uint32_t n = ir_graph_at(c->model, b->graph)->outputs.n;
    if (n != c->n_out)
        return op_fail(c, "'%s' has %u outputs but the node has %u", name, n, c->n_out);
    b->out = ARENA_ARRAY(c->arena, op_info, (size_t)c->n_out + 1);
    return b->out ? ASSAY_OK : err_no_memory(c->err);
}

static void infer_branch(op_ctx *c, branch *b)
{
    err_clear(&b->err);
    b->status = op_info_run(c, b->graph, NULL, 0, b->out, c->n_out, &b->err);
}

static assay_status pass_error(op_ctx *c, const branch *b)
{
    if (c->err && c->err->code == ASSAY_OK)
        *c->err = b->err;
    return b->status;
}

static void choose(op_ctx *c, const branch *taken, const branch *other)
{
    c->env->times(c->env, taken->graph, 1);
    c->env->times(c->env, other->graph, 0);
    for (uint32_t o = 0; o < c->n_out; o++)
        op_info_put(c, o, &taken->out[o]);
}

static assay_status take_known(op_ctx *c, branch *taken, const branch *other)
{
    infer_branch(c, taken);
    if (taken->status != ASSAY_OK)
        return pass_error(c, taken);
    choose(c, taken, other);
    return ASSAY_OK;
}

/* The content of an output is only known when both branches agree on it. */
static assay_status keep_agreed_content(op_ctx *c, const branch *other)
{
    for (uint32_t o = 0; o < c->n_out; o++) {
        op_info merged;
        TRY(op_info_merge(c, &c->out[o], &other->out[o], &merged));
        c->out[o].val = merged.val;
    }
    return ASSAY_OK;
}

static assay_status take_possible(op_ctx *c, const branch *taken, const branch *failed)
{
    if (failed->status != ASSAY_ERR_UNSUPPORTED)
        return pass_error(c, failed);
    if (taken->status != ASSAY_OK)
        return pass_error(c, taken);
    choose(c, taken, failed);
    op_assume(c, "the condition is unknown; the only branch with valid shapes was counted");
    return ASSAY_OK;
}

static assay_status take_costlier(op_ctx *c, const branch *yes, const branch *no)
{
    bool first = c->env->costlier(c->env, yes->graph, no->graph) == yes->graph;
    const branch *other = first ? no : yes;
    choose(c, first ? yes : no, other);
    TRY(keep_agreed_content(c, other));
    op_assume(c, "the condition is unknown; the costlier branch (%s) was counted",
              first ? "then_branch" : "else_branch");
    return ASSAY_OK;
}

static assay_status infer_if(op_ctx *c)
{
    branch yes, no;
    TRY(open_branch(c, "then_branch", &yes));
    TRY(open_branch(c, "else_branch", &no));
    op_info cond = op_info_input(c, 0);
    bool truth;
    if (op_info_truth(&cond, &truth))
        return truth ? take_known(c, &yes, &no) : take_known(c, &no, &yes);
    infer_branch(c, &yes);
    infer_branch(c, &no);
    if (yes.status != ASSAY_OK)
        return take_possible(c, &no, &yes);
    if (no.status != ASSAY_OK)
        return take_possible(c, &yes, &no);
    return take_costlier(c, &yes, &no);
}

/* ---- SequenceMap ---- */

/* What one sample of every input is: an element of a sequence, or the tensor itself. */
static void samples(const op_ctx *c, op_info *in)
{
    for (uint32_t i = 0; i < c->n_in; i++) {
        op_info x = op_info_input(c, i);
        if (x.kind != IR_KIND_SEQUENCE)
            in[i] = x;
        else
            in[i] = x.elem ? op_info_bare(x.elem) : op_info_tensor(x.dtype);
    }
}

static assay_status map_length(op_ctx *c, int64_t *length)
{
    *length = -1;
    for (uint32_t i = 0; i < c->n_in; i++)
        if (op_has(c, i) && c->in[i]->kind == IR_KIND_SEQUENCE)
            TRY(op_same_dim(c, *length, c->in[i]->length, "its sequence length", length));
    return ASSAY_OK;
}

static assay_status infer_sequence_map(op_ctx *c)
{
    ir_id body = op_attr_graph(c, "body");
    if (body == IR_NONE)
        return op_fail(c, "no 'body' graph");
    const ir_graph *g = ir_graph_at(c->model, body);
    if (g->inputs.n != c->n_in || g->outputs.n != c->n_out)
        return op_fail(c, "its body has %u inputs and %u outputs but the node has %u and %u",
                       g->inputs.n, g->outputs.n, c->n_in, c->n_out);
    int64_t length;
    TRY(map_length(c, &length));
    op_info *in = ARENA_ARRAY(c->arena, op_info, (size_t)c->n_in + 1);
    op_info *out = ARENA_ARRAY(c->arena, op_info, (size_t)c->n_out + 1);
    TRY_MEMORY(in && out, c->err);
    samples(c, in);
    TRY(op_info_run(c, body, in, c->n_in, out, c->n_out, c->err));
    c->env->times(c->env, body, length < 0 ? 1 : (uint64_t)length);
    for (uint32_t o = 0; o < c->n_out; o++) {
        op_info elem = op_info_bare(&out[o]);
        TRY(op_set_sequence(c, o, &elem, length));
        c->out[o].assumed |= elem.assumed;
    }
    if (length < 0)
        op_assume(c, "the sequence length is unknown; its body was counted once");
    return ASSAY_OK;
}

static const op_row rows[] = {
    {OP_ROW("", "If", "if", "1,11,13,16,19,21,23,24,25",
            "that of the branch taken; of the costlier branch when the condition is unknown",
            infer_if, op_cost_free),
     OP_SLOTS(1, 1, 1, 255), .aux = 1, .flags = OPF_CONTROL | OPF_NO_SHAPES},
    {OP_ROW("", "SequenceMap", "sequencemap", "17", "the body's cost * length of the sequence",
            infer_sequence_map, op_cost_free),
     OP_SLOTS(1, 255, 1, 255), .flags = OPF_CONTROL | OPF_NO_SHAPES},
};

const op_rows op_control_rows = OP_ROWS(rows);
