/* Shapes, types and small contents of values while the graph is built, by the rules of ops/. Nodes are followed when
 * somebody asks, in the order in which they were added. A contradiction is noted and leaves the outputs unknown: the
 * analysis will report it. */
#include <string.h>

#include "formats/aten/aten.h"

enum { CELLS = 1 << 22 };

/* ---- what rules may ask ---- */

static const op_val *env_value(op_env *env, const op_ctx *c, uint32_t input)
{
    (void)env;
    return c->in[input]->val;
}

static bool env_spend(op_env *env, uint64_t n)
{
    aten *t = env->self;
    if (n > t->budget)
        return false;
    t->budget -= n;
    return true;
}

static void env_assume(op_env *env, const op_ctx *c, const char *reason)
{
    (void)env, (void)c, (void)reason;
}

static const ir_type *env_declared(op_env *env, ir_id value)
{
    (void)env, (void)value;
    return NULL;
}

static void env_times(op_env *env, ir_id graph, uint64_t times)
{
    (void)env, (void)graph, (void)times;
}

static ir_id env_costlier(op_env *env, ir_id a, ir_id b)
{
    (void)env, (void)b;
    return a;
}

static assay_status env_graph(op_env *env, const op_ctx *c, ir_id graph, const op_info *in,
                              uint32_t n_in, op_info *out, uint32_t n_out, assay_error *err)
{
    (void)env, (void)c, (void)graph, (void)in, (void)n_in, (void)out, (void)n_out;
    return err_fail(err, ASSAY_ERR_UNSUPPORTED, "a subgraph");
}

bool aten_begin(aten *t, foreign *f)
{
    *t = (aten){.f = f, .a = f->scratch, .budget = CELLS};
    t->ops = op_index_new(t->a, NULL);
    t->env = (op_env){.self = t,
                      .value = env_value,
                      .graph = env_graph,
                      .times = env_times,
                      .costlier = env_costlier,
                      .assume = env_assume,
                      .declared = env_declared,
                      .spend = env_spend,
                      .arena = t->a};
    return t->ops && ir_set_opset(f->m, STR(ATEN_DOMAIN), 1);
}

/* ---- values before the rules ---- */

static int64_t whole_at(const ir_tensor *k, uint64_t i)
{
    int64_t wide = 0;
    int32_t half = 0;
    if (k->dtype == IR_INT64)
        memcpy(&wide, k->bytes + 8 * i, sizeof wide);
    else if (k->dtype == IR_INT32)
        memcpy(&half, k->bytes + 4 * i, sizeof half);
    return k->dtype == IR_INT64 ? wide : k->dtype == IR_INT32 ? half : k->bytes[i];
}

/* Lists of sizes, axes and scales, which readers make. */
static const op_val *content_of(aten *t, const ir_tensor *k)
{
    bool whole = k->dtype == IR_INT64 || k->dtype == IR_INT32 || k->dtype == IR_BOOL;
    if (k->storage != IR_DATA_INLINE || !k->bytes || k->n_elems > OP_FLOATS_MAX ||
        (!whole && k->dtype != IR_FLOAT32))
        return NULL;
    op_val *v = ARENA_NEW(t->a, op_val);
    op_cell *cells = ARENA_ARRAY(t->a, op_cell, (size_t)k->n_elems + 1);
    if (!v || !cells)
        return NULL;
    for (uint64_t i = 0; i < k->n_elems; i++) {
        float f;
        if (whole) {
            cells[i].i = whole_at(k, i);
        } else {
            memcpy(&f, k->bytes + 4 * i, sizeof f);
            cells[i].f = (double)f;
        }
    }
    *v = (op_val){.n = (int64_t)k->n_elems, .cells = cells};
    return v;
}

static op_info declared_info(aten *t, const ir_type *d)
{
    op_info x = {.kind = IR_KIND_TENSOR, .rank = -1, .length = -1};
    if (d->kind != IR_KIND_TENSOR)
        return x;
    x.dtype = d->dtype;
    int64_t *dims = d->rank > 0 ? ARENA_ARRAY(t->a, int64_t, (size_t)d->rank) : NULL;
    for (int i = 0; dims && i < d->rank; i++)
        dims[i] = d->dims[i].value;
    if (d->rank == 0 || dims) {
        x.rank = d->rank;
        x.dims = dims;
    }
    return x;
}

static op_info first_info(aten *t, ir_id id)
{
    const ir_value *v = ir_value_at(t->f->m, id);
    if (!v->constant)
        return declared_info(t, &v->declared);
    return (op_info){.kind = IR_KIND_TENSOR,
                     .dtype = v->constant->dtype,
                     .rank = v->constant->rank,
                     .dims = v->constant->dims,
                     .val = content_of(t, v->constant),
                     .length = -1};
}

static bool meet_values(aten *t)
{
    while (t->info.n < t->f->m->values.n)
        if (!VEC_ADD(t->a, &t->info, first_info(t, t->info.n)))
            return false;
    return true;
}

/* ---- nodes ---- */

static bool is_small(const op_ctx *c)
{
    for (uint32_t o = 0; o < c->n_out; o++) {
        int64_t n = op_numel(&c->out[o]);
        if (c->out[o].kind != IR_KIND_TENSOR || n < 0 ||
            n > (ir_is_float(c->out[o].dtype) ? OP_FLOATS_MAX : OP_VALUE_MAX))
            return false;
    }
    return true;
}

static void keep_outputs(aten *t, const op_ctx *c)
{
    for (uint32_t o = 0; o < c->n_out; o++) {
        ir_id id = c->node->outputs[o];
        if (id == IR_NONE)
            continue;
        op_info declared = first_info(t, id), x = c->out[o];
        x.kind = x.kind == IR_KIND_NONE ? IR_KIND_TENSOR : x.kind;
        x.dtype = x.dtype == IR_UNDEFINED ? declared.dtype : x.dtype;
        if (x.rank < 0) {
            x.rank = declared.rank;
            x.dims = declared.dims;
        }
        t->info.items[id] = x;
    }
}

static void follow_node(aten *t, const ir_node *n)
{
    const op_info **in = ARENA_ARRAY(t->a, const op_info *, (size_t)n->n_inputs + 1);
    op_info *out = ARENA_ARRAY(t->a, op_info, (size_t)n->n_outputs + 1);
    assay_error err = {0};
    if (!in || !out)
        return;
    for (uint32_t i = 0; i < n->n_inputs; i++)
        in[i] = n->inputs[i] == IR_NONE ? NULL : &t->info.items[n->inputs[i]];
    for (uint32_t o = 0; o < n->n_outputs; o++)
        out[o].rank = -1, out[o].length = -1;
    op_ctx c = {.model = t->f->m,
                .node = n,
                .row = op_find(t->ops, n->domain, n->op),
                .version = n->version,
                .in = in,
                .in_ids = n->inputs,
                .n_in = n->n_inputs,
                .out = out,
                .n_out = n->n_outputs,
                .arena = t->a,
                .env = &t->env,
                .err = &err};
    bool fits = c.row && n->n_inputs >= c.row->min_in &&
                (c.row->max_in == 255 || n->n_inputs <= c.row->max_in);
    assay_status s = fits ? c.row->infer(&c) : ASSAY_OK;
    if (s == ASSAY_OK && fits && c.row->value && is_small(&c))
        s = c.row->value(&c);
    for (uint32_t o = 0; s != ASSAY_OK && o < n->n_outputs; o++)
        out[o] = (op_info){.kind = IR_KIND_TENSOR, .rank = -1, .length = -1};
    if (s != ASSAY_OK && t->contradiction.code == ASSAY_OK)
        t->contradiction = err;
    keep_outputs(t, &c);
}

const op_info *aten_info(aten *t, ir_id id)
{
    static const op_info unknown = {.kind = IR_KIND_TENSOR, .rank = -1, .length = -1};
    const ir_model *m = t->f->m;
    if (!meet_values(t))
        return &unknown;
    while (t->followed < m->nodes.n)
        follow_node(t, ir_node_at(m, t->followed++));
    return id < t->info.n ? &t->info.items[id] : &unknown;
}

int aten_rank_of(aten *t, ir_id id)
{
    return aten_info(t, id)->rank;
}

ir_dtype aten_dtype_of(aten *t, ir_id id)
{
    return aten_info(t, id)->dtype;
}
