/* Dynamic quantisation of MatMul and Gemm with constant weights.
 *
 *     a_q, a_s, a_z = DynamicQuantizeLinear(a)            uint8, once per value
 *     y = Cast(MatMulInteger(a_q, w_q, a_z, w_z)) * (a_s * w_s)  [+ c]
 *
 * The engine makes one kernel of it. Weights are int8: ONNX Runtime runs those several times faster than
 * float32, uint8 ones no faster. Convolutions stay in float32: ConvInteger there takes 1.4 times as long as
 * the float convolution with uint8 weights, ten times with int8 ones (64 channels, 3x3, 56x56, one thread);
 * int8 with calibrated ranges (rewrite/qdq.c) is the way for those.
 */
#include "rewrite/quant.h"

typedef struct quantised { /* an activation */
    ir_id q, scale, zero, graph;
} quantised;

typedef struct dynamic {
    kit k;
    bool per_channel;
    int limit;
    quant_memo memo;
    quantised *done; /* [values before] graph IR_NONE: not yet */
    uint32_t n_values, n_replaced;
} dynamic;

/* ---- what can be ---- */

typedef struct job { /* y = a * w [+ c] */
    ir_id a, c;
    quant_source w;
    bool turn; /* the constant is [n, k] */
    double alpha, beta;
} job;

static bool job_of(const dynamic *x, const ir_node *n, job *j)
{
    bool gemm = kit_is(n, "Gemm");
    if ((!gemm && !kit_is(n, "MatMul")) || n->n_inputs < 2 || n->n_outputs != 1 ||
        n->outputs[0] == IR_NONE || n->inputs[0] == IR_NONE ||
        (gemm && ir_attr_int(n, "transA", 0) != 0))
        return false;
    *j = (job){.a = n->inputs[0], .c = gemm ? kit_in(n, 2) : IR_NONE, .alpha = 1};
    j->w = quant_find(&x->k, n->inputs[1]);
    j->turn = j->w.turned != (gemm && ir_attr_int(n, "transB", 0) != 0);
    j->alpha = gemm ? ir_attr_float(n, "alpha", 1.0) : 1.0;
    j->beta = gemm ? ir_attr_float(n, "beta", 1.0) : 1.0;
    const ir_tensor *w = j->w.value == IR_NONE ? NULL : kit_weight(&x->k, j->w.value);
    return w && w->rank >= 2 && w->n_elems > 0 && (!j->turn || w->rank == 2) &&
           kit_dtype(&x->k, j->a) == IR_FLOAT32 && !kit_weight(&x->k, j->a);
}

/* ---- parts ---- */

static ir_id add_node_like(dynamic *x, ir_id like, const char *op, const char *part,
                           const ir_id *in, uint32_t n_in, ir_id out)
{
    return kit_node(&x->k, &(kit_part){.graph = ir_node_at(x->k.m, like)->graph,
                                       .like = like,
                                       .op = op,
                                       .part = part,
                                       .n_in = n_in,
                                       .in = in,
                                       .n_out = 1,
                                       .out = &out});
}

static bool quantise_input(dynamic *x, ir_id node, ir_id a, quantised *out)
{
    ir_id graph = ir_node_at(x->k.m, node)->graph;
    if (x->done[a].graph == graph) {
        *out = x->done[a];
        return true;
    }
    str name = ir_value_at(x->k.m, a)->name;
    *out = (quantised){.q = kit_value_like(&x->k, a, "_u8", IR_UINT8),
                       .scale = kit_value(&x->k, graph, name, "_scale", IR_FLOAT32),
                       .zero = kit_value(&x->k, graph, name, "_zero", IR_UINT8),
                       .graph = graph};
    const ir_id outs[] = {out->q, out->scale, out->zero};
    if (out->q == IR_NONE || out->scale == IR_NONE || out->zero == IR_NONE)
        return false;
    ir_value_at(x->k.m, out->q)->graph = graph;
    x->done[a] = *out;
    return kit_node(&x->k, &(kit_part){.graph = graph,
                                       .like = node,
                                       .op = "DynamicQuantizeLinear",
                                       .part = "quantise",
                                       .n_in = 1,
                                       .in = &a,
                                       .n_out = 3,
                                       .out = outs}) != IR_NONE;
}

/* What a Gemm adds: c, or beta times c. */
static ir_id bias_of(dynamic *x, ir_id node, const job *j)
{
    const ir_t scalar = {.dtype = IR_FLOAT32};
    const float beta = (float)j->beta;
    ir_id graph = ir_node_at(x->k.m, node)->graph;
    if (j->beta == 1.0)
        return j->c;
    str name = ir_value_at(x->k.m, j->c)->name;
    ir_id factor = kit_bytes(&x->k, graph, name, "_beta", &scalar, &beta);
    ir_id out = kit_value(&x->k, graph, name, "_scaled", IR_FLOAT32);
    if (factor == IR_NONE || out == IR_NONE)
        return IR_NONE;
    add_node_like(x, node, "Mul", "beta", (const ir_id[]){j->c, factor}, 2, out);
    return out;
}

static assay_status replace_node(dynamic *x, ir_id node, const job *j)
{
    kit *k = &x->k;
    ir_id y = ir_node_at(k->m, node)->outputs[0];
    const ir_tensor *t = kit_weight(k, j->w.value);
    quant_request r = {.graph = ir_node_at(k->m, node)->graph,
                       .weight = j->w.value,
                       .axis = j->turn ? 0 : t->rank - 1,
                       .turn = j->turn,
                       /* engines take no scale per column of a stack of matrices */
                       .per_channel = x->per_channel && t->rank == 2,
                       .limit = x->limit,
                       .factor = j->alpha};
    quant_weight w;
    quantised a;
    TRY(quant_make(k, &x->memo, &r, &w));
    TRY_MEMORY(quantise_input(x, node, j->a, &a), k->err);
    ir_id sum = kit_value_like(k, y, "_int32", IR_INT32);
    ir_id real = kit_value_like(k, y, "_int32_f32", IR_FLOAT32);
    ir_id scale = kit_value(k, r.graph, ir_value_at(k->m, y)->name, "_scale", IR_FLOAT32);
    ir_id scaled = j->c == IR_NONE ? y : kit_value_like(k, y, "_scaled", IR_FLOAT32);
    if (sum == IR_NONE || real == IR_NONE || scale == IR_NONE || scaled == IR_NONE)
        return err_no_memory(k->err);
    add_node_like(x, node, "MatMulInteger", "matmul", (const ir_id[]){a.q, w.q, a.zero, w.zero}, 4,
                  sum);
    kit_cast(k, r.graph, node, sum, real, IR_FLOAT32);
    add_node_like(x, node, "Mul", "scales", (const ir_id[]){a.scale, w.scale}, 2, scale);
    add_node_like(x, node, "Mul", "scale", (const ir_id[]){real, scale}, 2, scaled);
    ir_id c = j->c == IR_NONE ? IR_NONE : bias_of(x, node, j);
    if (j->c != IR_NONE && c == IR_NONE)
        return err_no_memory(k->err);
    if (c != IR_NONE)
        add_node_like(x, node, "Add", "bias", (const ir_id[]){scaled, c}, 2, y);
    x->n_replaced++;
    return ASSAY_OK;
}

/* ---- the walk ---- */

static assay_status walk_graph(dynamic *x, ir_id graph)
{
    uint32_t n;
    const ir_id *old = kit_take_nodes(&x->k, graph, &n);
    job j;
    for (uint32_t i = 0; i < n; i++) {
        if (job_of(x, ir_node_at(x->k.m, old[i]), &j))
            TRY(replace_node(x, old[i], &j));
        else
            kit_put_node(&x->k, graph, old[i]);
    }
    return ASSAY_OK;
}

static assay_status quantise_graphs(dynamic *x)
{
    const uint32_t *uses = kit_uses(&x->k);
    x->n_values = x->k.m->values.n;
    x->done = ARENA_ARRAY(x->k.scratch, quantised, (size_t)x->n_values + 1);
    TRY_MEMORY(uses && x->done && quant_memo_init(&x->memo, &x->k), x->k.err);
    for (uint32_t i = 0; i < x->n_values; i++)
        x->done[i].graph = IR_NONE;
    for (uint32_t i = 0; i < x->k.n_graphs; i++)
        TRY(walk_graph(x, x->k.graphs[i]));
    kit_drop_unused(&x->k, uses, x->n_values);
    return x->n_replaced ? ASSAY_OK : quant_nothing(true, x->k.err);
}

assay_status rewrite_int8_dynamic(ir_model *m, value_facts facts, const int8_options *opt,
                                  assay_error *err)
{
    dynamic x = {.per_channel = !opt || !opt->per_tensor, .limit = quant_limit(opt)};
    TRY(quant_check_opset(m, 11, err));
    assay_status s = kit_begin(&x.k, m, facts, err);
    return kit_end(&x.k, s == ASSAY_OK ? quantise_graphs(&x) : s);
}
