/* BatchNormalization behind a Conv, folded into its weights:
 *
 *     f = scale / sqrt(var + epsilon),  w' = w * f[out channel],  b' = bias + (b - mean) * f
 */
#include <math.h>

#include "rewrite/convert.h"
#include "rewrite/kit.h"

enum { SCALE = 1, BIAS, MEAN, VAR, N_PARTS };

typedef struct folding {
    kit k;
    const uint32_t *uses;
    ir_id *reader; /* [values] a node of the main graph that reads it, or IR_NONE */
    uint8_t *gone; /* [nodes] */
} folding;

static bool is_whole(const ir_tensor *t, uint64_t n)
{
    return t && t->storage != IR_DATA_NONE && t->n_elems == n;
}

static bool can_fold(const folding *x, const ir_node *conv, const ir_node *norm)
{
    const ir_tensor *w = kit_weight(&x->k, kit_in(conv, 1));
    ir_id b = kit_in(conv, 2);
    if (!w || w->rank < 3 || w->n_elems == 0 || ir_attr_int(norm, "training_mode", 0) != 0)
        return false;
    uint64_t n = (uint64_t)w->dims[0];
    for (uint32_t i = SCALE; i < N_PARTS; i++)
        if (!is_whole(kit_weight(&x->k, kit_in(norm, i)), n))
            return false;
    for (uint32_t i = 1; i < norm->n_outputs; i++)
        if (norm->outputs[i] != IR_NONE)
            return false;
    return b == IR_NONE || is_whole(kit_weight(&x->k, b), n);
}

/* The norm that alone reads what the convolution makes. */
static ir_id norm_behind(const folding *x, const ir_node *conv)
{
    ir_id y = kit_is(conv, "Conv") && conv->n_outputs == 1 ? conv->outputs[0] : IR_NONE;
    ir_id id = y == IR_NONE || x->uses[y] != 1 ? IR_NONE : x->reader[y];
    if (id == IR_NONE)
        return id;
    const ir_node *norm = ir_node_at(x->k.m, id);
    bool good = kit_is(norm, "BatchNormalization") && kit_in(norm, 0) == y && norm->n_outputs > 0 &&
                norm->outputs[0] != IR_NONE && can_fold(x, conv, norm);
    return good ? id : IR_NONE;
}

typedef struct parts {
    float *factor, *bias;
} parts;

static assay_status compute_folded(folding *x, const ir_node *conv, const ir_node *norm, uint64_t n,
                                   parts *p)
{
    float *v[N_PARTS] = {0};
    ir_id b = kit_in(conv, 2);
    double eps = ir_attr_float(norm, "epsilon", 1e-5);
    p->factor = ARENA_ARRAY(x->k.m->arena, float, (size_t)n);
    p->bias = ARENA_ARRAY(x->k.scratch, float, (size_t)n);
    for (uint32_t i = SCALE; i < N_PARTS; i++)
        v[i] = ARENA_ARRAY(x->k.scratch, float, (size_t)n);
    if (!p->factor || arena_failed(x->k.scratch))
        return err_no_memory(x->k.err);
    for (uint32_t i = SCALE; i < N_PARTS; i++)
        TRY(convert_floats(x->k.m, kit_weight(&x->k, kit_in(norm, i)), v[i], x->k.err));
    if (b != IR_NONE)
        TRY(convert_floats(x->k.m, kit_weight(&x->k, b), p->bias, x->k.err));
    for (uint64_t i = 0; i < n; i++) {
        double f = (double)v[SCALE][i] / sqrt((double)v[VAR][i] + eps);
        p->factor[i] = (float)f;
        p->bias[i] = (float)((double)v[BIAS][i] + ((double)p->bias[i] - (double)v[MEAN][i]) * f);
    }
    return ASSAY_OK;
}

static assay_status fold_pair(folding *x, ir_id conv_id, ir_id norm_id)
{
    kit *k = &x->k;
    ir_node conv = *ir_node_at(k->m, conv_id), norm = *ir_node_at(k->m, norm_id);
    const ir_tensor *w = kit_weight(k, conv.inputs[1]);
    parts p;
    TRY(compute_folded(x, &conv, &norm, (uint64_t)w->dims[0], &p));
    conversion c = {.source = w,
                    .to = IR_FLOAT32,
                    .scale = p.factor,
                    .channels = (uint64_t)w->dims[0],
                    .inner = w->n_elems / (uint64_t)w->dims[0]};
    str base = ir_value_at(k->m, conv.inputs[1])->name, name = kit_name(k, base, "_folded");
    ir_id *in = ARENA_ARRAY(k->m->arena, ir_id, 3);
    const ir_t shape = {.dtype = IR_FLOAT32, .rank = 1, .d = {w->dims[0]}};
    TRY_MEMORY(in && name.p, k->err);
    in[0] = conv.inputs[0];
    in[1] = kit_const(k, 0, name, convert_tensor(k->m, name, &c), conv.inputs[1]);
    in[2] = kit_bytes(k, 0, base, "_folded_bias", &shape, p.bias);
    ir_id *out = arena_copy(k->m->arena, norm.outputs, sizeof *out);
    if (in[1] == IR_NONE || in[2] == IR_NONE || !out)
        return err_no_memory(k->err);
    ir_value_at(k->m, in[2])->flags = ir_value_at(k->m, norm.inputs[BIAS])->flags;
    ir_value_at(k->m, conv.outputs[0])->producer = IR_NONE;
    ir_value_at(k->m, *out)->producer = conv_id;
    conv.inputs = in;
    conv.n_inputs = 3;
    conv.outputs = out;
    *ir_node_at(k->m, conv_id) = conv;
    x->gone[norm_id] = 1;
    return ASSAY_OK;
}

static void find_readers(folding *x)
{
    const ir_graph *g = ir_graph_at(x->k.m, 0);
    for (ir_id v = 0; v < x->k.m->values.n; v++)
        x->reader[v] = IR_NONE;
    for (uint32_t i = 0; i < g->nodes.n; i++) {
        const ir_node *n = ir_node_at(x->k.m, g->nodes.items[i]);
        for (uint32_t j = 0; j < n->n_inputs; j++)
            if (n->inputs[j] != IR_NONE)
                x->reader[n->inputs[j]] = g->nodes.items[i];
    }
}

static assay_status fold_graphs(folding *x)
{
    uint32_t n_values = x->k.m->values.n, n;
    x->uses = kit_uses(&x->k);
    x->reader = ARENA_ARRAY(x->k.scratch, ir_id, (size_t)n_values + 1);
    x->gone = ARENA_ARRAY(x->k.scratch, uint8_t, (size_t)x->k.m->nodes.n + 1);
    TRY_MEMORY(x->uses && x->reader && x->gone, x->k.err);
    find_readers(x);
    const ir_id *old = kit_take_nodes(&x->k, 0, &n);
    for (uint32_t i = 0; i < n; i++) {
        ir_id norm = norm_behind(x, ir_node_at(x->k.m, old[i]));
        if (norm != IR_NONE)
            TRY(fold_pair(x, old[i], norm));
        if (!x->gone[old[i]])
            kit_put_node(&x->k, 0, old[i]);
    }
    kit_drop_unused(&x->k, x->uses, n_values);
    return ASSAY_OK;
}

assay_status rewrite_fold_norms(ir_model *m, value_facts facts, assay_error *err)
{
    folding x = {0};
    assay_status s = kit_begin(&x.k, m, facts, err);
    return kit_end(&x.k, s == ASSAY_OK ? fold_graphs(&x) : s);
}
