/* QuantizeLinear and DequantizeLinear around what rewrite/qdq_plan.c chose. The engine makes integer
 * kernels of the pattern.
 *
 *     activations   uint8, one scale: (max - min) / 255 with 0 inside, zero point round(-min / scale)
 *     weights       int8, symmetric, one scale per output channel (one for all below opset 13)
 *     biases        int32 in steps of input scale * weight scale
 *
 * A quantised value stays with its name as the producer makes it; everybody who reads it reads
 * "<name>_dq" then. An output of the model keeps its name on the far side.
 */
#include <math.h>

#include "rewrite/convert.h"
#include "rewrite/qdq.h"
#include "rewrite/quant.h"

enum { PER_AXIS_SINCE = 13 };
#define SCALE_MIN 1e-30f
#define BIAS_MAX  ((float)(1 << 30))

typedef struct step { /* of one activation */
    float scale;
    uint8_t zero;
    ir_id scale_id, zero_id, made, read; /* made: what the producer writes; read: what others see */
} step;

typedef struct placing {
    kit k;
    qdq_plan plan;
    const int8_options *opt;
    bool per_channel;
    step *steps; /* [values before] */
    quant_memo memo;
} placing;

/* ---- activations ---- */

static void range_to_step(const value_range *r, step *s)
{
    float lo = r && r->min < 0 && isfinite(r->min) ? r->min : 0;
    float hi = r && r->max > 0 && isfinite(r->max) ? r->max : 0;
    s->scale = hi / 255.0f - lo / 255.0f;
    if (!(s->scale >= SCALE_MIN))
        s->scale = 1.0f;
    float zero = nearbyintf(-lo / s->scale);
    s->zero = (uint8_t)(zero > 255.0f ? 255.0f : zero);
}

static bool add_step_constants(placing *x, ir_id v)
{
    kit *k = &x->k;
    step *s = &x->steps[v];
    const ir_t scale = {.dtype = IR_FLOAT32}, zero = {.dtype = IR_UINT8};
    str name = ir_value_at(k->m, v)->name;
    s->scale_id = kit_bytes(k, 0, name, "_scale", &scale, &s->scale);
    s->zero_id = kit_bytes(k, 0, name, "_zero", &zero, &s->zero);
    return s->scale_id != IR_NONE && s->zero_id != IR_NONE;
}

/* Values that share a range share its two constants. */
static bool place_value(placing *x, ir_id v)
{
    step *s = &x->steps[v];
    const step *of = &x->steps[x->plan.range_of[v]];
    bool output = (ir_value_at(x->k.m, v)->flags & IR_VALUE_OUTPUT) != 0;
    s->scale = of->scale;
    s->zero = of->zero;
    if (s == of ? !add_step_constants(x, v) : false)
        return false;
    s->scale_id = of->scale_id;
    s->zero_id = of->zero_id;
    ir_id fresh = kit_value_like(&x->k, v, output ? "_float" : "_dq", IR_FLOAT32);
    s->made = output ? fresh : v;
    s->read = output ? v : fresh;
    return fresh != IR_NONE;
}

static bool place_values(placing *x, const value_range *ranges, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (ranges[i].value < x->plan.n_values)
            range_to_step(&ranges[i], &x->steps[ranges[i].value]);
    for (int views = 0; views < 2; views++)
        for (ir_id v = 0; v < x->plan.n_values; v++) {
            bool view = x->plan.range_of[v] != v;
            if (!views && x->plan.marked[v] && !view && x->steps[v].scale == 0)
                range_to_step(NULL, &x->steps[v]);
            if (x->plan.marked[v] && view == (views == 1) && !place_value(x, v))
                return false;
        }
    return true;
}

static bool add_step(placing *x, ir_id like, const char *op, ir_id from, ir_id to, const step *s)
{
    const ir_id in[] = {from, s->scale_id, s->zero_id};
    ir_id id = kit_node(&x->k, &(kit_part){.graph = 0,
                                           .like = IR_NONE,
                                           .op = op,
                                           .part = op,
                                           .n_in = 3,
                                           .in = in,
                                           .n_out = 1,
                                           .out = &to});
    if (id == IR_NONE)
        return false;
    ir_node *n = ir_node_at(x->k.m, id);
    n->name = str_printf(x->k.m->arena, STR_FMT "/%s", STR_ARG(ir_value_at(x->k.m, to)->name), op);
    n->module = like == IR_NONE ? (str){0} : ir_node_at(x->k.m, like)->module;
    return true;
}

static bool quantise_value(placing *x, ir_id like, ir_id v)
{
    const step *s = &x->steps[v];
    if (!x->plan.marked[v])
        return true;
    ir_id q = kit_value_like(&x->k, v, "_u8", IR_UINT8);
    return q != IR_NONE && add_step(x, like, "QuantizeLinear", s->made, q, s) &&
           add_step(x, like, "DequantizeLinear", q, s->read, s);
}

/* ---- weights and biases ---- */

static bool add_dequantise(placing *x, ir_id node, const char *part, const ir_id *in, int axis,
                           ir_id *out)
{
    const ir_attr_spec attr = IR_SPEC_INT("axis", axis);
    *out = kit_value(&x->k, 0, ir_value_at(x->k.m, in[0])->name, "_dq", IR_FLOAT32);
    if (*out == IR_NONE)
        return false;
    return kit_node(&x->k, &(kit_part){.graph = 0,
                                       .like = node,
                                       .op = "DequantizeLinear",
                                       .part = part,
                                       .n_in = 3,
                                       .in = in,
                                       .n_out = 1,
                                       .out = out,
                                       .n_attrs = x->per_channel ? 1 : 0,
                                       .attrs = &attr}) != IR_NONE;
}

/* Steps of a bias are as fine as the weights' scale; one that is too fine for it is widened. */
static assay_status least_scales(placing *x, float a, const float *bias, uint64_t channels,
                                 const float **out)
{
    *out = NULL;
    if (!bias)
        return ASSAY_OK;
    float *least = ARENA_ARRAY(x->k.scratch, float, (size_t)(x->per_channel ? channels : 1));
    TRY_MEMORY(least, x->k.err);
    for (uint64_t i = 0; i < channels; i++) {
        float s = fabsf(bias[i]) / (a * BIAS_MAX);
        float *at = &least[x->per_channel ? i : 0];
        *at = s > *at ? s : *at;
    }
    *out = least;
    return ASSAY_OK;
}

static int32_t bias_steps(float b, float scale)
{
    double q = nearbyint((double)b / (double)scale);
    return (int32_t)(!(q == q) ? 0 : q > INT32_MAX ? INT32_MAX : q < -INT32_MAX ? -INT32_MAX : q);
}

static assay_status place_bias(placing *x, ir_id node, ir_id b, float a, const quant_weight *w,
                               const float *bias, ir_id *out)
{
    kit *k = &x->k;
    const ir_tensor *t = kit_weight(k, b);
    uint64_t n = t->n_elems, n_scales = x->per_channel ? n : 1;
    int32_t *q = ARENA_ARRAY(k->scratch, int32_t, (size_t)n + 1);
    int32_t *zero = ARENA_ARRAY(k->scratch, int32_t, (size_t)n + 1);
    float *scale = ARENA_ARRAY(k->scratch, float, (size_t)n + 1);
    TRY_MEMORY(q && zero && scale, k->err);
    for (uint64_t i = 0; i < n; i++) {
        float s = a * w->scales[w->channels == 1 ? 0 : i % w->channels];
        scale[x->per_channel ? i : 0] = s;
        q[i] = bias_steps(bias[i], s);
    }
    const ir_t steps = {.dtype = IR_INT32, .rank = 1, .d = {t->dims[0]}};
    const ir_t reals = {.dtype = IR_FLOAT32, .rank = x->per_channel, .d = {(int64_t)n_scales}};
    const ir_t zeros = {.dtype = IR_INT32, .rank = x->per_channel, .d = {(int64_t)n_scales}};
    str name = ir_value_at(k->m, b)->name;
    const ir_id in[] = {kit_bytes(k, 0, name, "_int32", &steps, q),
                        kit_bytes(k, 0, name, "_scale", &reals, scale),
                        kit_bytes(k, 0, name, "_zero", &zeros, zero)};
    if (in[0] == IR_NONE || in[1] == IR_NONE || in[2] == IR_NONE)
        return err_no_memory(k->err);
    ir_value_at(k->m, in[0])->flags = ir_value_at(k->m, b)->flags;
    return add_dequantise(x, node, "bias_dq", in, 0, out) ? ASSAY_OK : err_no_memory(k->err);
}

static assay_status read_bias(placing *x, ir_id b, float **out)
{
    const ir_tensor *t = b == IR_NONE ? NULL : kit_weight(&x->k, b);
    *out = t ? ARENA_ARRAY(x->k.scratch, float, (size_t)t->n_elems + 1) : NULL;
    if (!t)
        return ASSAY_OK;
    return *out ? convert_floats(x->k.m, t, *out, x->k.err) : err_no_memory(x->k.err);
}

/* in: the node's inputs, whose weight and bias are replaced. */
static assay_status place_weights(placing *x, ir_id node, ir_id *in, uint32_t n_in)
{
    ir_node n = *ir_node_at(x->k.m, node);
    int axis = qdq_channel_axis(&n);
    float a = x->steps[n.inputs[0]].scale, *bias;
    ir_id b = kit_in(&n, 2);
    uint64_t channels = (uint64_t)kit_weight(&x->k, n.inputs[1])->dims[axis];
    const ir_tensor *bt = b == IR_NONE ? NULL : kit_weight(&x->k, b);
    quant_request r = {.weight = n.inputs[1],
                       .axis = axis,
                       .per_channel = x->per_channel,
                       .limit = quant_limit(x->opt),
                       .factor = 1};
    quant_weight w;
    TRY(read_bias(x, b, &bias));
    TRY(least_scales(x, a, bias, channels, &r.least));
    TRY(quant_make(&x->k, &x->memo, &r, &w));
    const ir_id parts[] = {w.q, w.scale, w.zero};
    TRY_MEMORY(add_dequantise(x, node, "weight_dq", parts, axis, &in[1]), x->k.err);
    if (bt && n_in > 2)
        TRY(place_bias(x, node, b, a, &w, bias, &in[2]));
    return ASSAY_OK;
}

/* ---- the graphs ---- */

static ir_id read_as(const placing *x, ir_id v)
{
    return v != IR_NONE && v < x->plan.n_values && x->plan.marked[v] ? x->steps[v].read : v;
}

static assay_status refit_node(placing *x, ir_id id)
{
    ir_node n = *ir_node_at(x->k.m, id);
    ir_id *in, *out;
    TRY_MEMORY(kit_copy_ports(&x->k, &n, &in, &out), x->k.err);
    if (x->plan.weighted[id])
        TRY(place_weights(x, id, in, n.n_inputs));
    for (uint32_t i = 0; i < n.n_inputs; i++)
        in[i] = read_as(x, in[i]);
    for (uint32_t i = 0; i < n.n_outputs; i++)
        if (out[i] != IR_NONE && x->plan.marked[out[i]]) {
            ir_value_at(x->k.m, out[i])->producer = IR_NONE;
            out[i] = x->steps[out[i]].made;
            ir_value_at(x->k.m, out[i])->producer = id;
        }
    n.inputs = in;
    n.outputs = out;
    *ir_node_at(x->k.m, id) = n;
    return ASSAY_OK;
}

static assay_status rebuild_main(placing *x)
{
    uint32_t n, n_inputs = ir_graph_at(x->k.m, 0)->inputs.n;
    const ir_id *old = kit_take_nodes(&x->k, 0, &n);
    for (uint32_t i = 0; i < n_inputs; i++)
        TRY_MEMORY(quantise_value(x, IR_NONE, ir_graph_at(x->k.m, 0)->inputs.items[i]), x->k.err);
    for (uint32_t i = 0; i < n; i++) {
        ir_node was = *ir_node_at(x->k.m, old[i]);
        TRY(refit_node(x, old[i]));
        kit_put_node(&x->k, 0, old[i]);
        for (uint32_t j = 0; j < was.n_outputs; j++)
            if (was.outputs[j] != IR_NONE && !quantise_value(x, old[i], was.outputs[j]))
                return err_no_memory(x->k.err);
    }
    return ASSAY_OK;
}

/* Bodies of control flow stay as they are, but read what is there now. */
static assay_status refit_bodies(placing *x)
{
    for (uint32_t g = 1; g < x->k.n_graphs; g++) {
        ir_graph *graph = ir_graph_at(x->k.m, x->k.graphs[g]);
        for (uint32_t i = 0; i < graph->nodes.n; i++)
            TRY(refit_node(x, graph->nodes.items[i]));
        for (uint32_t i = 0; i < graph->outputs.n; i++)
            graph->outputs.items[i] = read_as(x, graph->outputs.items[i]);
    }
    return ASSAY_OK;
}

static assay_status place_ranges(placing *x, const value_range *ranges, uint32_t n)
{
    const uint32_t *uses = kit_uses(&x->k);
    TRY(qdq_plan_make(&x->k, &x->plan));
    x->steps = ARENA_ARRAY(x->k.scratch, step, (size_t)x->plan.n_values + 1);
    TRY_MEMORY(uses && x->steps && quant_memo_init(&x->memo, &x->k), x->k.err);
    if (!x->plan.n_weighted)
        return quant_nothing(false, x->k.err);
    TRY_MEMORY(place_values(x, ranges, n), x->k.err);
    TRY(rebuild_main(x));
    TRY(refit_bodies(x));
    kit_drop_unused(&x->k, uses, x->plan.n_values);
    return ASSAY_OK;
}

assay_status rewrite_qdq(ir_model *m, value_facts facts, const value_range *ranges, uint32_t n,
                         const int8_options *opt, assay_error *err)
{
    placing x = {.opt = opt};
    TRY(quant_check_opset(m, 10, err));
    x.per_channel = ir_opset_version(m, STR("")) >= PER_AXIS_SINCE && !(opt && opt->per_tensor);
    assay_status s = kit_begin(&x.k, m, facts, err);
    return kit_end(&x.k, s == ASSAY_OK ? place_ranges(&x, ranges, n) : s);
}
