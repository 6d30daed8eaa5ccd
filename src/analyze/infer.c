/* The walk: every node in execution order, its row asked for shapes and then for contents, the answer
 * reconciled with what the file declares. Subgraphs are walked when their control-flow row asks.
 */
#include "analyze/infer.h"

#include <assert.h>
#include <stdio.h>

#include "analyze/count.h"
#include "base/text.h"

#define CONTENT_BUDGET \
    (UINT64_C(1) << 24) /* cells of content per analysis, against hostile chains */
#define WALK_DEPTH_MAX 64

/* Many values of a file are one constant: its content is read once. */
typedef struct read_constant {
    const ir_tensor *tensor;
    const op_val *val;
} read_constant;
enum { READ_CONSTANTS = 64 };

typedef struct walker {
    op_env env;
    infer_result *r;
    const infer_options *opt;
    uint8_t *asked; /* [n_values] whether a constant's content was already looked for */
    read_constant read[READ_CONSTANTS]; /* by address; the newest stay */
    uint64_t budget;
    int depth;
    op_info *out; /* outputs of the node at hand; grown to the widest */
    const op_info **in;
    uint32_t in_cap, out_cap;
} walker;

static walker *walker_of(op_env *env)
{
    return env->self;
}

/* ---- what rules may ask (op_env) ---- */

static const op_val *read_once(walker *w, const ir_tensor *t)
{
    read_constant *read = &w->read[((uintptr_t)t >> 4) % READ_CONSTANTS];
    if (read->tensor != t)
        *read = (read_constant){t, infer_constant(w->r, t)};
    return read->val;
}

static const op_val *env_value(op_env *env, const op_ctx *c, uint32_t input)
{
    walker *w = walker_of(env);
    infer_result *r = w->r;
    ir_id id = c->in_ids ? c->in_ids[input] : IR_NONE;
    if (id == IR_NONE)
        return c->in[input]->val;
    const ir_tensor *t = ir_value_at(r->model, id)->constant;
    if (!r->info[id].val && t && !w->asked[id]) {
        w->asked[id] = 1;
        r->info[id].val = read_once(w, t);
    }
    return r->info[id].val;
}

static bool env_spend(op_env *env, uint64_t n)
{
    walker *w = walker_of(env);
    if (n > w->budget)
        return false;
    w->budget -= n;
    return true;
}

static void add_item(infer_result *r, ir_id node, bool unknown, const char *reason)
{
    (void)VEC_ADD(r->arena, &r->items,
                  (infer_item){node, unknown, str_copy(r->arena, str_of(reason))});
}

static ir_id id_of_node(const infer_result *r, const ir_node *n)
{
    return (ir_id)(n - r->model->nodes.items);
}

static void env_assume(op_env *env, const op_ctx *c, const char *reason)
{
    infer_result *r = walker_of(env)->r;
    ir_id id = id_of_node(r, c->node);
    if (!(r->state[id] & INFER_ASSUMED))
        add_item(r, id, false, reason);
    r->state[id] |= INFER_ASSUMED;
    notes_add(&r->notes, "assumed", c->node->name, NULL, STR_FMT ": %s", STR_ARG(c->node->op),
              reason);
}

static void env_times(op_env *env, ir_id graph, uint64_t times)
{
    walker_of(env)->r->times[graph] = times;
}

static const ir_type *env_declared(op_env *env, ir_id value)
{
    const walker *w = walker_of(env);
    if (value == IR_NONE || w->opt->ignore_declared || w->r->resized)
        return NULL;
    const ir_type *t = &ir_value_at(w->r->model, value)->declared;
    return t->kind == IR_KIND_NONE ? NULL : t;
}

static ir_id env_costlier(op_env *env, ir_id a, ir_id b)
{
    infer_result *r = walker_of(env)->r;
    return count_graph_flops(r, a) >= count_graph_flops(r, b) ? a : b;
}

static assay_status walk_graph(walker *w, ir_id graph, assay_error *err);

static assay_status env_graph(op_env *env, const op_ctx *c, ir_id graph, const op_info *in,
                              uint32_t n_in, op_info *out, uint32_t n_out, assay_error *err)
{
    walker *w = walker_of(env);
    const ir_graph *g = ir_graph_at(w->r->model, graph);
    if (w->depth >= WALK_DEPTH_MAX)
        return err_fail(err, ASSAY_ERR_UNSUPPORTED, "subgraphs are nested deeper than %d levels",
                        WALK_DEPTH_MAX);
    for (uint32_t i = 0; i < g->inputs.n && i < n_in; i++) {
        w->r->info[g->inputs.items[i]] = in[i];
        TRY(infer_reconcile(w->r, w->opt, g->inputs.items[i], err));
    }
    /* The rule's own in and out arrays are ours: the inner walk must not write over them. */
    op_info *saved_out = w->out;
    const op_info **saved_in = w->in;
    uint32_t in_cap = w->in_cap, out_cap = w->out_cap;
    w->out = NULL, w->in = NULL, w->in_cap = w->out_cap = 0;
    w->depth++;
    assay_status status = walk_graph(w, graph, err);
    w->depth--;
    w->out = saved_out, w->in = saved_in, w->in_cap = in_cap, w->out_cap = out_cap;
    for (uint32_t o = 0; status == ASSAY_OK && o < g->outputs.n && o < n_out; o++)
        out[o] = w->r->info[g->outputs.items[o]];
    (void)c;
    return status;
}

/* ---- one node ---- */

static bool reserve(walker *w, const ir_node *n)
{
    if (n->n_outputs > w->out_cap || !w->out) {
        w->out_cap = n->n_outputs + 8;
        w->out = ARENA_ARRAY(w->r->arena, op_info, w->out_cap);
    }
    if (n->n_inputs > w->in_cap || !w->in) {
        w->in_cap = n->n_inputs + 8;
        w->in = ARENA_ARRAY(w->r->arena, const op_info *, w->in_cap);
    }
    return w->out && w->in;
}

static assay_status check_arity(const ir_node *n, const op_row *row, assay_error *err)
{
    if (n->n_inputs >= row->min_in && (row->max_in == 255 || n->n_inputs <= row->max_in))
        return ASSAY_OK;
    char name[128];
    text_safe_into(name, sizeof name, n->name);
    return err_fail_node(err, ASSAY_ERR_MALFORMED, name,
                         "node '%s' (%s) has %u inputs; the operator takes %s %u", name, row->name,
                         n->n_inputs, n->n_inputs < row->min_in ? "at least" : "at most",
                         n->n_inputs < row->min_in ? row->min_in : row->max_in);
}

/* An operator that its opset does not have: engines will refuse the file; the count is valid. */
static void note_newer(infer_result *r, const ir_node *n, const op_row *row)
{
    int since = 0;
    if (row->domain[0] || n->version <= 0)
        return;
    for (const char *p = row->versions; *p >= '0' && *p <= '9'; p++)
        since = since * 10 + (*p - '0');
    if (n->version >= since)
        return;
    notes_add(&r->notes, "opset-operator", n->name, "Export the model again with a newer opset.",
              "%s is new in opset %d; the model uses opset %d.", row->name, since, n->version);
}

static void mark_unknown(infer_result *r, ir_id id)
{
    const ir_node *n = ir_node_at(r->model, id);
    if (r->state[id] & INFER_UNKNOWN)
        return;
    r->state[id] |= INFER_UNKNOWN;
    sbuf b = {0};
    text_safe(&b, n->domain);
    sbuf_puts(&b, n->domain.n ? "::" : "");
    text_safe(&b, n->op);
    char reason[256];
    snprintf(reason, sizeof reason, "Operator %s is unknown. Its cost is not counted.",
             sbuf_cstr(&b));
    sbuf_free(&b);
    add_item(r, id, true, reason);
    notes_add(&r->notes, "unknown-operator", n->name,
              "Totals are a lower bound. Describe the operator in a file of rules (--ops).", "%s",
              reason);
}

/* Sizes must stay countable: 2^62 elements is beyond any memory. */
static assay_status check_size(op_ctx *c, uint32_t o)
{
    const op_info *x = &c->out[o];
    for (int d = 0; d < x->rank; d++)
        if (x->dims[d] < -1)
            return op_fail(c, "output %u has a negative size in %s", o,
                           op_dims_text(c, x->rank, x->dims));
    if (x->rank >= 0 && op_numel(x) > (INT64_C(1) << 59))
        return op_fail(c, "output %u of shape %s is too large", o,
                       op_dims_text(c, x->rank, x->dims));
    return ASSAY_OK;
}

/* Float contents matter as scales and sizes only; longer ones are masks and tables. */
static bool outputs_small(const op_ctx *c)
{
    for (uint32_t o = 0; o < c->n_out; o++) {
        const op_info *x = &c->out[o];
        int64_t n = op_numel(x), most = ir_is_float(x->dtype) ? OP_FLOATS_MAX : OP_VALUE_MAX;
        if (x->kind != IR_KIND_TENSOR || n < 0 || n > most)
            return false;
    }
    return true;
}

static assay_status apply_row(walker *w, op_ctx *c, bool inherited)
{
    TRY(c->row->infer(c));
    for (uint32_t o = 0; o < c->n_out; o++) {
        TRY(check_size(c, o));
        c->out[o].assumed |= inherited;
    }
    if (c->row->value && outputs_small(c))
        TRY(c->row->value(c));
    return arena_failed(w->r->arena) ? err_no_memory(c->err) : ASSAY_OK;
}

/* Upper bounds that stand in for data-dependent sizes need not agree with each other: that is no fault
 * of the model. The node's outputs stay unknown, and it is said. */
static void forgive(walker *w, op_ctx *c, ir_id id)
{
    for (uint32_t o = 0; o < c->n_out; o++)
        c->out[o] = (op_info){.kind = IR_KIND_TENSOR, .rank = -1, .length = -1, .assumed = true};
    notes_add(&w->r->notes, "assumed", c->node->name, NULL,
              "Assumed sizes are inconsistent here: %s", c->err->message);
    w->r->state[id] |= INFER_ASSUMED;
    err_clear(c->err);
}

/* A node whose every output is known in advance costs nothing when the model runs. */
static bool is_folded(const infer_result *r, const op_ctx *c)
{
    if (c->row->flags & OPF_CONSTANT)
        return true;
    if (c->row->flags & (OPF_RANDOM | OPF_CONTROL))
        return false;
    if ((c->row->flags & OPF_IDENTITY) && c->n_in == 1 && c->in_ids[0] != IR_NONE &&
        r->origin[c->in_ids[0]] != IR_NONE)
        return true;
    for (uint32_t o = 0; o < c->n_out; o++)
        if (c->node->outputs[o] != IR_NONE && !op_val_full(c->out[o].val))
            return false;
    return c->n_out > 0;
}

static assay_status store_outputs(walker *w, const op_ctx *c, bool defaulted)
{
    for (uint32_t o = 0; o < c->n_out; o++) {
        ir_id id = c->node->outputs[o];
        if (id == IR_NONE)
            continue;
        /* A body that is walked again must not lose what was read of its constants. */
        const op_val *read_before = ir_value_at(w->r->model, id)->constant ? w->r->info[id].val
                                                                           : NULL;
        w->r->info[id] = c->out[o];
        w->r->info[id].defaulted |= defaulted;
        if (!c->out[o].val)
            w->r->info[id].val = read_before;
        TRY(infer_reconcile(w->r, w->opt, id, c->err));
    }
    return ASSAY_OK;
}

/* What the inputs rest on, and so do the outputs. */
typedef struct basis {
    bool assumed, defaulted;
} basis;

static basis take_inputs(walker *w, const ir_node *n)
{
    basis on = {0};
    for (uint32_t i = 0; i < n->n_inputs; i++) {
        const op_info *x = n->inputs[i] == IR_NONE ? NULL : &w->r->info[n->inputs[i]];
        w->in[i] = x;
        on.assumed |= x && x->assumed;
        on.defaulted |= x && x->defaulted;
    }
    return on;
}

static assay_status walk_node(walker *w, ir_id id, assay_error *err)
{
    infer_result *r = w->r;
    const ir_node *n = ir_node_at(r->model, id);
    TRY_MEMORY(reserve(w, n), err);
    basis on = take_inputs(w, n);
    memset(w->out, 0, n->n_outputs * sizeof *w->out);
    for (uint32_t o = 0; o < n->n_outputs; o++)
        w->out[o].rank = -1, w->out[o].length = -1;
    r->state[id] |= INFER_REACHED;
    op_ctx c = {.model = r->model,
                .node = n,
                .row = r->rows[id],
                .version = n->version,
                .in = w->in,
                .in_ids = n->inputs,
                .n_in = n->n_inputs,
                .out = w->out,
                .n_out = n->n_outputs,
                .arena = r->arena,
                .env = &w->env,
                .err = err};
    if (!c.row) {
        mark_unknown(r, id);
        return store_outputs(w, &c, on.defaulted);
    }
    TRY(check_arity(n, c.row, err));
    note_newer(r, n, c.row);
    assay_status status = apply_row(w, &c, on.assumed);
    if (status == ASSAY_ERR_UNSUPPORTED && on.assumed)
        forgive(w, &c, id);
    else
        TRY(status);
    if (is_folded(r, &c))
        r->state[id] |= INFER_FOLDED;
    else
        r->state[id] &= (uint8_t)~INFER_FOLDED;
    TRY(store_outputs(w, &c, on.defaulted));
    return c.row->flags & OPF_VIEW ? infer_fill_view(r, &c) : ASSAY_OK;
}

/* ---- graphs ---- */

static void place_constants(infer_result *r, const ir_graph *g)
{
    for (uint32_t k = 0; k < g->constants.n; k++) {
        ir_id id = g->constants.items[k];
        const ir_tensor *t = ir_value_at(r->model, id)->constant;
        /* A sparse initialiser is read as the dense tensor it stands for. */
        r->info[id] = (op_info){.kind = IR_KIND_TENSOR,
                                .dtype = t->dtype,
                                .rank = t->rank,
                                .dims = t->dims,
                                .val = r->info[id].val,
                                .length = -1};
    }
}

static assay_status walk_graph(walker *w, ir_id graph, assay_error *err)
{
    infer_result *r = w->r;
    const ir_graph *g = ir_graph_at(r->model, graph);
    place_constants(r, g);
    for (uint32_t k = 0; k < g->nodes.n; k++) {
        r->walked++;
        assay_status status = walk_node(w, g->nodes.items[k], err);
        if (status != ASSAY_OK && r->failed_at == IR_NONE)
            r->failed_at = g->nodes.items[k]; /* the innermost */
        TRY(status);
        r->failed_at = IR_NONE; /* what failed inside was dealt with */
    }
    return ASSAY_OK;
}

/* times[] holds runs per run of the owner; make it runs per run of the model. */
static bool multiply_times(infer_result *r)
{
    const ir_model *m = r->model;
    uint64_t *own = arena_copy(r->arena, r->times, m->graphs.n * sizeof *own);
    for (ir_id g = 1; own && g < m->graphs.n; g++)
        for (ir_id up = ir_graph_at(m, g)->parent; up != IR_NONE && r->times[g];) {
            r->times[g] = sat_mul(r->times[g], own[up]);
            up = ir_graph_at(m, up)->parent;
        }
    return own != NULL;
}

/* Contents for cost rules, after the walk. */
static const op_val *settled_value(op_env *env, const op_ctx *c, uint32_t input)
{
    const infer_result *r = env->self;
    const op_info *x = c->in[input];
    const ir_tensor *t = c->in_ids[input] == IR_NONE
                             ? NULL
                             : ir_value_at(r->model, c->in_ids[input])->constant;
    return x->val || !t ? x->val : infer_constant(r, t);
}

/* ---- before the walk: rows, and which constant a value is ---- */

/* Readers keep one copy of an operator's name for all its nodes, and builders use literals: an address stands for
 * a name. */
typedef struct known_op {
    const char *op, *domain;
    uint32_t op_length, domain_length;
    const op_row *row;
} known_op;
enum { KNOWN_OPS = 64 };

static const op_row *row_of(const infer_result *r, const ir_node *n, known_op *known)
{
    known_op *k = &known[((uintptr_t)n->op.p >> 4) % KNOWN_OPS];
    if (k->op != n->op.p || k->op_length != n->op.n || k->domain != n->domain.p ||
        k->domain_length != n->domain.n)
        *k = (known_op){n->op.p, n->domain.p, n->op.n, n->domain.n,
                        op_find(r->ops, n->domain, n->op)};
    return k->row;
}

static void resolve_node(infer_result *r, ir_id id, known_op *known)
{
    const ir_node *n = ir_node_at(r->model, id);
    const op_row *row = r->rows[id] = row_of(r, n, known);
    bool pass = row && (row->flags & OPF_PASS) && n->n_inputs > 0 && n->inputs[0] != IR_NONE;
    for (uint32_t o = 0; o < n->n_outputs; o++) {
        ir_id v = n->outputs[o];
        if (v == IR_NONE)
            continue;
        if (ir_value_at(r->model, v)->constant)
            r->origin[v] = v;
        else if (pass && o == 0)
            r->origin[v] = r->origin[n->inputs[0]];
    }
}

static assay_status resolve_graph(infer_result *r, ir_id graph, int depth, known_op *known,
                                  assay_error *err)
{
    const ir_graph *g = ir_graph_at(r->model, graph);
    if (depth > WALK_DEPTH_MAX)
        return err_fail(err, ASSAY_ERR_UNSUPPORTED, "subgraphs are nested deeper than %d levels",
                        WALK_DEPTH_MAX);
    for (uint32_t k = 0; k < g->constants.n; k++)
        r->origin[g->constants.items[k]] = g->constants.items[k];
    for (uint32_t k = 0; k < g->nodes.n; k++) {
        const ir_node *n = ir_node_at(r->model, g->nodes.items[k]);
        for (uint32_t a = 0; a < n->n_attrs; a++) {
            ir_graphs inner = ir_attr_graphs(&n->attrs[a]);
            for (uint32_t i = 0; i < inner.n; i++)
                TRY(resolve_graph(r, inner.ids[i], depth + 1, known, err));
        }
        resolve_node(r, g->nodes.items[k], known);
    }
    return ASSAY_OK;
}

static assay_status new_result(const ir_model *m, const op_rows *user_ops, arena *a,
                               infer_result **out, assay_error *err)
{
    infer_result *r = ARENA_NEW(a, infer_result);
    TRY_MEMORY(r, err);
    r->model = m;
    r->arena = a;
    r->ops = op_index_new(a, user_ops);
    r->info = ARENA_ARRAY(a, op_info, m->values.n + 1);
    r->origin = ARENA_ARRAY(a, ir_id, m->values.n + 1);
    r->rows = ARENA_ARRAY(a, const op_row *, m->nodes.n + 1);
    r->state = ARENA_ARRAY(a, uint8_t, m->nodes.n + 1);
    r->times = ARENA_ARRAY(a, uint64_t, m->graphs.n + 1);
    notes_init(&r->notes, a);
    map_init(&r->symbol_at, a, 0);
    if (!r->ops || arena_failed(a))
        return err_no_memory(err);
    for (ir_id id = 0; id < m->values.n; id++) {
        r->info[id].rank = -1;
        r->info[id].length = -1;
        r->origin[id] = IR_NONE;
    }
    r->times[0] = 1;
    r->failed_at = IR_NONE;
    r->env = (op_env){.self = r, .value = settled_value, .arena = a};
    *out = r;
    return ASSAY_OK;
}

assay_status infer_once(const ir_model *m, const infer_options *opt, const infer_trial *trial,
                        arena *a, infer_result **out, assay_error *err)
{
    infer_result *r = NULL;
    TRY(new_result(m, opt->user_ops, a, &r, err));
    assert(r);
    *out = r;
    r->trial = *trial;
    walker w = {.env = {.value = env_value,
                        .graph = env_graph,
                        .times = env_times,
                        .costlier = env_costlier,
                        .declared = env_declared,
                        .assume = env_assume,
                        .spend = env_spend,
                        .arena = a},
                .r = r,
                .opt = opt,
                .asked = ARENA_ARRAY(a, uint8_t, m->values.n + 1),
                .budget = CONTENT_BUDGET};
    w.env.self = &w;
    TRY_MEMORY(w.asked, err);
    known_op known[KNOWN_OPS] = {0};
    TRY(resolve_graph(r, 0, 0, known, err));
    TRY(infer_inputs(r, opt, err));
    assay_status status = walk_graph(&w, 0, err);
    r->content_read = CONTENT_BUDGET - w.budget;
    TRY(status);
    return multiply_times(r) && !arena_failed(a) ? ASSAY_OK : err_no_memory(err);
}

void infer_context(infer_result *r, ir_id node, const op_info **in, op_info *out, op_ctx *c)
{
    const ir_node *n = ir_node_at(r->model, node);
    for (uint32_t i = 0; i < n->n_inputs; i++)
        in[i] = n->inputs[i] == IR_NONE ? NULL : &r->info[n->inputs[i]];
    for (uint32_t o = 0; o < n->n_outputs; o++)
        out[o] = n->outputs[o] == IR_NONE ? (op_info){.rank = -1} : r->info[n->outputs[o]];
    *c = (op_ctx){.model = r->model,
                  .node = n,
                  .row = r->rows[node],
                  .version = n->version,
                  .in = in,
                  .in_ids = n->inputs,
                  .n_in = n->n_inputs,
                  .out = out,
                  .n_out = n->n_outputs,
                  .arena = r->arena,
                  .env = &r->env};
}

void infer_as_native(infer_result *r)
{
    r->native = r->model->native;
    for (ir_id id = 0; r->native != IR_UNDEFINED && id < r->model->values.n; id++)
        if (!ir_value_at(r->model, id)->constant && r->info[id].dtype == IR_FLOAT32)
            r->info[id].dtype = r->native;
}
