/* Operators that TorchScript code calls, as nodes of the graph, and what they need of the inputs; see script.h. */
#include <string.h>

#include "formats/torch/script_impl.h"

void script_renew(const script_run *r, aten_value *v)
{
    if (v->kind == ATEN_TENSOR)
        v->id = aten_latest(&r->t, v->id);
    for (uint32_t i = 0; (v->kind == ATEN_LIST || v->kind == ATEN_DICT) && i < v->list->v.n; i++)
        if (v->list->v.items[i].kind == ATEN_TENSOR)
            v->list->v.items[i].id = aten_latest(&r->t, v->list->v.items[i].id);
}

/* ---- what inputs must be ---- */

/* The input that a value comes from by first operands; *added: axes of size 1 that were put in on the way. */
static int input_behind(const script_run *r, ir_id id, int *added)
{
    *added = 0;
    for (int steps = 0; id != IR_NONE && steps < 64; steps++) {
        for (uint32_t i = 0; i < r->n_inputs; i++)
            if (r->inputs[i] == id)
                return (int)i;
        ir_id by = ir_value_at(r->f.m, id)->producer;
        const ir_node *n = by == IR_NONE ? NULL : ir_node_at(r->f.m, by);
        *added += n && (str_is(n->op, "Unsqueeze") || str_is(n->op, "unsqueeze"));
        id = n && n->n_inputs ? n->inputs[0] : IR_NONE;
    }
    return -1;
}

static const ir_tensor *weight_of(const script_run *r, const aten_value *v)
{
    const aten_value *one = v->kind == ATEN_LIST && v->list->v.n ? &v->list->v.items[0] : v;
    return one->kind == ATEN_TENSOR ? ir_value_at(r->f.m, one->id)->constant : NULL;
}

static const struct {
    const char *op;
    int x, weight, rank, axis,
        of;      /* rank 0: that of the weight; of: the size of the weight that the axis has */
    int groups;  /* argument that multiplies it, or -1 */
    bool normal; /* of any rank: that of the value, if it is known */
} need_rows[] = {
    {"_convolution", 0, 1, 0, 1, 1, 8, false}, {"conv1d", 0, 1, 0, 1, 1, 6, false},
    {"conv2d", 0, 1, 0, 1, 1, 6, false},       {"conv3d", 0, 1, 0, 1, 1, 6, false},
    {"linear", 0, 1, 2, -1, 1, -1, false},     {"matmul", 0, 1, 2, -1, 0, -1, false},
    {"addmm", 1, 2, 2, -1, 0, -1, false},      {"lstm", 0, 2, 3, 2, 1, -1, false},
    {"gru", 0, 2, 3, 2, 1, -1, false},         {"batch_norm", 0, 1, 4, 1, 0, -1, true},
    {"layer_norm", 0, 2, 3, -1, 0, -1, true},  {"conv_transpose2d", 0, 1, 0, 1, 0, 6, false},
};

static void note_need(script_run *r, str op, const script_args *a)
{
    int added;
    if (str_is(op, "embedding") && a->n > 1 && a->v[1].kind == ATEN_TENSOR) {
        int in = input_behind(r, a->v[1].id, &added);
        if (in >= 0 && !r->s->needs[in].rank)
            r->s->needs[in] = (script_need){.rank = 2, .tokens = true, .axis = 1, .size = 16};
        return;
    }
    for (size_t i = 0; i < sizeof need_rows / sizeof *need_rows; i++) {
        uint32_t x = (uint32_t)need_rows[i].x, w = (uint32_t)need_rows[i].weight;
        if (!str_is(op, need_rows[i].op) || a->n <= w || a->v[x].kind != ATEN_TENSOR)
            continue;
        const ir_tensor *weight = weight_of(r, &a->v[w]);
        int in = input_behind(r, a->v[x].id, &added), rank = need_rows[i].rank;
        if (in < 0 || !weight || weight->rank <= need_rows[i].of || r->s->needs[in].rank)
            continue;
        int64_t size = weight->dims[need_rows[i].of], groups = 1;
        if (need_rows[i].groups >= 0 && a->n > (uint32_t)need_rows[i].groups)
            aten_whole(&a->v[need_rows[i].groups], &groups);
        int known = need_rows[i].normal ? aten_rank_of(&r->t, a->v[x].id) : -1;
        rank = known >= 2 ? known : rank;
        script_need need = {.rank = rank ? rank : weight->rank,
                            .axis = need_rows[i].axis,
                            .size = size * groups,
                            .any = need_rows[i].normal && known < 2};
        if (added && need.axis == 1 && need.size == 1 && need.rank > 2)
            need = (script_need){.rank = need.rank - 1, .axis = 0, .size = 1, .closed = true};
        r->s->needs[in] = need;
    }
}

/* ---- calls of operators ---- */

static assay_status run_operator(script_run *r, str op, const script_args *a, aten_value *out)
{
    aten_call c = {.t = &r->t, .op = op, .row = aten_row_of(op)};
    uint32_t at = 0, first = r->f.m->nodes.n;
    str base = r->path.n
                   ? str_printf(r->f.m->arena, STR_FMT "." STR_FMT, STR_ARG(r->path), STR_ARG(op))
                   : str_copy(r->f.m->arena, op);
    if (!base.p)
        return err_no_memory(r->f.err);
    c.l = (foreign_layer){.f = &r->f, .name = base};
    if (r->probing)
        note_need(r, op, a);
    for (uint32_t i = 0; i < a->n; i++) {
        aten_value v = a->v[i];
        script_renew(r, &v);
        if (a->names[i].n)
            aten_name_arg(&c, a->names[i], &v);
        else if (at < ATEN_ARGS)
            c.arg[at++] = v;
    }
    if (!aten_run(&c))
        return arena_failed(r->f.m->arena) || arena_failed(r->f.scratch)
                   ? err_no_memory(r->f.err)
                   : script_stop(r, "more than 1,048,576 nodes");
    str module = r->path.n ? str_copy(r->f.m->arena, r->path) : r->path;
    for (uint32_t i = first; module.n && i < r->f.m->nodes.n; i++)
        ir_node_at(r->f.m, i)->module = module;
    *out = c.result;
    return c.result.kind == ATEN_ABSENT
               ? script_stop(r, "'" STR_FMT "' returns no value", STR_ARG(op))
               : ASSAY_OK;
}

assay_status script_run_torch(script_run *r, str qualified, const script_args *a, aten_value *out)
{
    static const char *const spaces[] = {"torch.nn.functional.", "torch.", "ops.aten.", "ops."};
    str op = qualified;
    bool done = false;
    for (size_t i = 0; i < sizeof spaces / sizeof *spaces; i++)
        if (str_starts(op, spaces[i])) {
            op = (str){op.p + strlen(spaces[i]), op.n - (uint32_t)strlen(spaces[i])};
            break;
        }
    TRY(script_builtin(r, op, a, out, &done));
    return done ? ASSAY_OK : run_operator(r, op, a, out);
}
