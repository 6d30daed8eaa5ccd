/* float16 and bfloat16.
 *
 * Every float32 value has a home type: the type that its producer computes. A node computes in 16 bits when its
 * operator may (rewrite/half_table.c), when the types of all it touches are known, and when what it makes is not
 * known in advance (shape arithmetic: sizes above 2048 are not exact in float16). Who needs a value in the other type
 * gets it from a Cast that stands right after the producer, or, of a constant, from a converted one. Bodies of If,
 * Loop and Scan follow the node that runs them.
 */
#include "rewrite/half.h"

#include <stdio.h>

#include "rewrite/convert.h"
#include "rewrite/kit.h"

enum { IS_F32 = 1, HOME_HALF = 2, WANT_F32 = 4, WANT_HALF = 8, SWAPPED = 16 };

typedef struct halving {
    kit k;
    ir_dtype dtype;
    bool convert_inputs;
    const char *suffix;
    uint32_t n_values;  /* before the rewrite */
    uint8_t *flags;     /* [n_values] */
    ir_id *f32, *half;  /* [n_values] the value in either type */
    uint8_t *node_half; /* [nodes] */
    uint8_t *keep;      /* [graphs] all of it stays float32 */
    uint32_t n_half;    /* nodes that would work on float32 and now do in 16 bits */
    ir_id first_whole;  /* the first that does not, or IR_NONE */
} halving;

/* ---- which nodes ---- */

static bool known_type(const halving *x, ir_id v)
{
    return v == IR_NONE || kit_dtype(&x->k, v) != IR_UNDEFINED;
}

static bool all_known(const halving *x, const ir_node *n)
{
    for (uint32_t i = 0; i < n->n_inputs; i++)
        if (!known_type(x, n->inputs[i]))
            return false;
    for (uint32_t i = 0; i < n->n_outputs; i++)
        if (!known_type(x, n->outputs[i]))
            return false;
    return true;
}

static bool graph_known(const halving *x, ir_id graph)
{
    const ir_graph *g = ir_graph_at(x->k.m, graph);
    for (uint32_t i = 0; i < g->nodes.n; i++)
        if (!all_known(x, ir_node_at(x->k.m, g->nodes.items[i])))
            return false;
    for (uint32_t i = 0; i < g->inputs.n; i++)
        if (!known_type(x, g->inputs.items[i]))
            return false;
    return true;
}

/* Moving a weight around does not make it shape arithmetic. */
static bool moves_weight(const halving *x, const ir_node *n)
{
    return kit_weight(&x->k, kit_in(n, 0)) &&
           str_in_list(n->op, "Identity Transpose Reshape Squeeze Unsqueeze Flatten", ' ');
}

static bool known_content(const halving *x, const ir_node *n)
{
    for (uint32_t i = 0; i < n->n_outputs; i++) {
        const op_info *info = n->outputs[i] == IR_NONE ? NULL : kit_info(&x->k, n->outputs[i]);
        if (n->outputs[i] != IR_NONE && (!info || !info->val))
            return false;
    }
    return !moves_weight(x, n);
}

static bool bodies_known(const halving *x, const ir_node *n)
{
    for (uint32_t i = 0; i < n->n_attrs; i++) {
        ir_graphs in = ir_attr_graphs(&n->attrs[i]);
        for (uint32_t j = 0; j < in.n; j++)
            if (!graph_known(x, in.ids[j]))
                return false;
    }
    return true;
}

/* Why a node stays in float32; NULL when it does not. */
static const char *stays_because(const halving *x, const ir_node *n)
{
    int since = half_since(half_find(n->op), x->dtype);
    if (!str_empty(n->domain))
        return "only operators of the domain ai.onnx are converted";
    if (since == HALF_NEVER)
        return "its operator stays in float32";
    if (kit_version(&x->k, n) < since)
        return "its operator supports that type only in newer opsets";
    if (!all_known(x, n) || !bodies_known(x, n))
        return "the types of its inputs and outputs are not all known";
    return known_content(x, n) ? "its output is a constant" : NULL;
}

static void keep_bodies(halving *x, const ir_node *n)
{
    for (uint32_t i = 0; i < n->n_attrs; i++) {
        ir_graphs in = ir_attr_graphs(&n->attrs[i]);
        for (uint32_t j = 0; j < in.n; j++)
            x->keep[in.ids[j]] = 1;
    }
}

static void set_home(halving *x, ir_id v)
{
    if (v != IR_NONE && (x->flags[v] & IS_F32))
        x->flags[v] |= HOME_HALF;
}

static bool touches_floats(const halving *x, const ir_node *n)
{
    for (uint32_t i = 0; i < n->n_inputs; i++)
        if (n->inputs[i] != IR_NONE && (x->flags[n->inputs[i]] & IS_F32))
            return true;
    for (uint32_t i = 0; i < n->n_outputs; i++)
        if (n->outputs[i] != IR_NONE && (x->flags[n->outputs[i]] & IS_F32))
            return true;
    return false;
}

static void count_node(halving *x, const ir_node *n, ir_id id)
{
    if (!touches_floats(x, n))
        return;
    x->n_half += x->node_half[id] && !kit_is(n, "Cast"); /* alone it only loses digits */
    if (!x->node_half[id] && x->first_whole == IR_NONE && !kit_is(n, "Constant") &&
        !kit_is(n, "Cast"))
        x->first_whole = id;
}

static void decide_node(halving *x, ir_id graph, ir_id id)
{
    const ir_node *n = ir_node_at(x->k.m, id);
    const half_row *row = half_find(n->op);
    x->node_half[id] = !x->keep[graph] && !stays_because(x, n);
    count_node(x, n, id);
    if (!x->node_half[id]) {
        keep_bodies(x, n);
        return;
    }
    for (uint32_t i = 0; i < n->n_outputs; i++)
        if (i >= 32 || !(row->out_f32 >> i & 1))
            set_home(x, n->outputs[i]);
}

/* Parents come first, so a graph's keep is known when its turn is. */
static void decide_nodes(halving *x)
{
    for (ir_id v = 0; v < x->n_values; v++)
        x->flags[v] = kit_dtype(&x->k, v) == IR_FLOAT32 ? IS_F32 : 0;
    for (uint32_t i = 0; i < x->k.n_graphs; i++) {
        ir_id graph = x->k.graphs[i];
        const ir_graph *g = ir_graph_at(x->k.m, graph);
        bool half = graph == 0 ? x->convert_inputs : !x->keep[graph];
        for (uint32_t j = 0; half && j < g->inputs.n; j++)
            set_home(x, g->inputs.items[j]);
        for (uint32_t j = 0; j < g->nodes.n; j++)
            decide_node(x, graph, g->nodes.items[j]);
    }
}

/* ---- what is needed ---- */

static void want_type(halving *x, ir_id v, bool half)
{
    if (v != IR_NONE && (x->flags[v] & IS_F32))
        x->flags[v] |= half ? WANT_HALF : WANT_F32;
}

static bool slot_half(const halving *x, ir_id node, uint32_t i)
{
    uint32_t keep = half_find(ir_node_at(x->k.m, node)->op)->in_f32;
    return x->node_half[node] && (i >= 32 || !(keep >> i & 1));
}

static bool output_half(const halving *x, ir_id graph)
{
    return graph == 0 ? x->convert_inputs : !x->keep[graph];
}

static void collect_wants(halving *x)
{
    for (uint32_t i = 0; i < x->k.n_graphs; i++) {
        ir_id graph = x->k.graphs[i];
        const ir_graph *g = ir_graph_at(x->k.m, graph);
        for (uint32_t j = 0; j < g->nodes.n; j++) {
            const ir_node *n = ir_node_at(x->k.m, g->nodes.items[j]);
            for (uint32_t s = 0; s < n->n_inputs; s++)
                want_type(x, n->inputs[s], slot_half(x, g->nodes.items[j], s));
        }
        for (uint32_t j = 0; j < g->outputs.n; j++)
            want_type(x, g->outputs.items[j], output_half(x, graph));
    }
}

/* ---- values in both types ---- */

static const ir_tensor *dense_constant(const halving *x, ir_id v)
{
    return kit_weight(&x->k, v);
}

static bool convert_constant(halving *x, ir_id v)
{
    ir_value old = *ir_value_at(x->k.m, v);
    conversion c = {.source = old.constant, .to = x->dtype, .channels = 1, .inner = 1};
    if (!(x->flags[v] & WANT_HALF))
        return true;
    if (x->flags[v] & WANT_F32) {
        str name = kit_name(&x->k, old.name, x->suffix);
        const ir_tensor *t = name.p ? convert_tensor(x->k.m, name, &c) : NULL;
        x->half[v] = kit_const(&x->k, old.graph, name, t, v);
        return x->half[v] != IR_NONE;
    }
    const ir_tensor *t = convert_tensor(x->k.m, old.name, &c);
    ir_value_at(x->k.m, v)->constant = t;
    ir_value_at(x->k.m, v)->declared.dtype = old.declared.kind == IR_KIND_TENSOR
                                                 ? x->dtype
                                                 : old.declared.dtype;
    x->half[v] = v;
    x->f32[v] = IR_NONE;
    return t != NULL;
}

static bool is_main_output(const halving *x, ir_id v)
{
    const ir_value *value = ir_value_at(x->k.m, v);
    return value->graph == 0 && (value->flags & IR_VALUE_OUTPUT);
}

/* The value keeps its name in the type of its home; an output of the model keeps it in the type that the
 * caller gets. */
static bool place_value(halving *x, ir_id v)
{
    bool home = x->flags[v] & HOME_HALF;
    uint8_t other = home ? WANT_F32 : WANT_HALF;
    ir_id fresh = IR_NONE;
    if (x->flags[v] & other)
        fresh = kit_value_like(&x->k, v, home ? "_f32" : x->suffix, home ? IR_FLOAT32 : x->dtype);
    if ((x->flags[v] & other) && fresh == IR_NONE)
        return false;
    bool swapped = is_main_output(x, v) && home != x->convert_inputs && fresh != IR_NONE;
    x->flags[v] |= swapped ? SWAPPED : 0;
    x->half[v] = home != swapped ? v : fresh;
    x->f32[v] = home != swapped ? fresh : v;
    for (int i = 0; i < 2; i++) {
        ir_id id = i ? x->f32[v] : x->half[v];
        ir_value *value = id == IR_NONE ? NULL : ir_value_at(x->k.m, id);
        if (value && value->declared.kind == IR_KIND_TENSOR)
            value->declared.dtype = i ? IR_FLOAT32 : x->dtype;
    }
    return true;
}

static bool place_values(halving *x)
{
    for (ir_id v = 0; v < x->n_values; v++) {
        x->f32[v] = x->half[v] = v;
        if (!(x->flags[v] & IS_F32))
            continue;
        if (!(dense_constant(x, v) ? convert_constant(x, v) : place_value(x, v)))
            return false;
    }
    return true;
}

/* ---- the graphs anew ---- */

static void cast_behind(halving *x, ir_id graph, ir_id node, ir_id v)
{
    bool home = x->flags[v] & HOME_HALF;
    if (!(x->flags[v] & IS_F32) || !(x->flags[v] & (home ? WANT_F32 : WANT_HALF)))
        return;
    if (home)
        kit_cast(&x->k, graph, node, x->half[v], x->f32[v], IR_FLOAT32);
    else
        kit_cast(&x->k, graph, node, x->f32[v], x->half[v], x->dtype);
}

static bool retarget_cast(halving *x, ir_node *n)
{
    ir_attr *attrs = arena_copy(x->k.m->arena, n->attrs, n->n_attrs * sizeof *attrs);
    for (uint32_t i = 0; attrs && i < n->n_attrs; i++)
        if (str_is(attrs[i].name, "to"))
            attrs[i].v.i = x->dtype;
    n->attrs = attrs;
    return attrs != NULL;
}

static ir_id made_as(const halving *x, ir_id v)
{
    return x->flags[v] & HOME_HALF ? x->half[v] : x->f32[v];
}

static bool refit_node(halving *x, ir_id id)
{
    ir_node n = *ir_node_at(x->k.m, id);
    ir_id *in, *out;
    if (!kit_copy_ports(&x->k, &n, &in, &out))
        return false;
    for (uint32_t i = 0; i < n.n_inputs; i++)
        if (in[i] != IR_NONE)
            in[i] = slot_half(x, id, i) ? x->half[in[i]] : x->f32[in[i]];
    for (uint32_t i = 0; i < n.n_outputs; i++)
        if (out[i] != IR_NONE && (x->flags[out[i]] & IS_F32)) {
            ir_value_at(x->k.m, out[i])->producer = IR_NONE;
            out[i] = made_as(x, out[i]);
            ir_value_at(x->k.m, out[i])->producer = id;
        }
    bool cast = x->node_half[id] && str_is(n.op, "Cast") && n.n_outputs > 0 &&
                n.outputs[0] != IR_NONE && (x->flags[n.outputs[0]] & IS_F32);
    if (cast && !retarget_cast(x, &n))
        return false;
    n.inputs = in;
    n.outputs = out;
    *ir_node_at(x->k.m, id) = n;
    return true;
}

/* A Constant node whose value was converted becomes an initialiser. */
static bool now_initialiser(halving *x, ir_id graph, ir_id id)
{
    const ir_node *n = ir_node_at(x->k.m, id);
    ir_id v = n->n_outputs ? n->outputs[0] : IR_NONE;
    if (!kit_is(n, "Constant") || v == IR_NONE || !(x->flags[v] & IS_F32) || x->half[v] != v ||
        x->f32[v] == v)
        return false;
    ir_value_at(x->k.m, v)->producer = IR_NONE;
    ir_add_constant(x->k.m, graph, v, ir_value_at(x->k.m, v)->constant);
    return true;
}

static bool rebuild_node(halving *x, ir_id graph, ir_id id)
{
    ir_node old = *ir_node_at(x->k.m, id);
    if (now_initialiser(x, graph, id))
        return true;
    if (!(kit_is(&old, "Constant") && old.n_outputs && old.outputs[0] != IR_NONE &&
          ir_value_at(x->k.m, old.outputs[0])->constant) &&
        !refit_node(x, id))
        return false;
    kit_put_node(&x->k, graph, id);
    for (uint32_t i = 0; i < old.n_outputs; i++)
        if (old.outputs[i] != IR_NONE && !dense_constant(x, old.outputs[i]))
            cast_behind(x, graph, id, old.outputs[i]);
    return true;
}

static void cast_sources(halving *x, ir_id graph)
{
    uint32_t n = ir_graph_at(x->k.m, graph)->inputs.n;
    for (uint32_t i = 0; i < n; i++)
        cast_behind(x, graph, IR_NONE, ir_graph_at(x->k.m, graph)->inputs.items[i]);
    n = ir_graph_at(x->k.m, graph)->constants.n;
    for (uint32_t i = 0; i < n; i++) {
        ir_id v = ir_graph_at(x->k.m, graph)->constants.items[i];
        if (v < x->n_values && ir_value_at(x->k.m, v)->constant->sparse)
            cast_behind(x, graph, IR_NONE, v);
    }
}

/* Outputs of the model keep their ids; those of bodies take what is in the right type. */
static void refit_outputs(halving *x, ir_id graph)
{
    ir_graph *g = ir_graph_at(x->k.m, graph);
    for (uint32_t i = 0; i < g->outputs.n; i++) {
        ir_id v = g->outputs.items[i], now;
        if (!(x->flags[v] & IS_F32))
            continue;
        now = output_half(x, graph) ? x->half[v] : x->f32[v];
        if (now == v || now == IR_NONE)
            continue;
        ir_value_at(x->k.m, v)->flags &= ~(uint32_t)IR_VALUE_OUTPUT;
        ir_value_at(x->k.m, now)->flags |= IR_VALUE_OUTPUT;
        g->outputs.items[i] = now;
    }
}

static bool rebuild_graphs(halving *x)
{
    for (uint32_t i = 0; i < x->k.n_graphs; i++) {
        ir_id graph = x->k.graphs[i];
        uint32_t n;
        const ir_id *old = kit_take_nodes(&x->k, graph, &n);
        cast_sources(x, graph);
        for (uint32_t j = 0; j < n; j++)
            if (!rebuild_node(x, graph, old[j]))
                return false;
        refit_outputs(x, graph);
    }
    return true;
}

/* ---- the whole ---- */

/* A model that is as it was must not go by another name. */
static assay_status nothing_changes(const halving *x)
{
    const char *to = ir_dtype_get(x->dtype)->name;
    if (x->first_whole == IR_NONE)
        return err_fail(x->k.err, ASSAY_ERR_UNSUPPORTED,
                        "cannot convert to %s: no node computes in float32", to);
    const ir_node *n = ir_node_at(x->k.m, x->first_whole);
    const char *why = stays_because(x, n);
    int since = half_since(half_find(n->op), x->dtype);
    char newer[48] = "";
    if (str_empty(n->domain) && since != HALF_NEVER && kit_version(&x->k, n) < since)
        snprintf(newer, sizeof newer, " (%d and newer)", since);
    return err_fail_node(
        x->k.err, ASSAY_ERR_UNSUPPORTED, n->name.p,
        "cannot convert to %s at opset %d: the first float32 node is '%.*s' (" STR_FMT
        "), and %s%s",
        to, ir_opset_version(x->k.m, STR("")), (int)(n->name.n < 100 ? n->name.n : 100),
        n->name.p ? n->name.p : "", STR_ARG(n->op),
        why ? why : "it belongs to a body whose node stays in float32", newer);
}

static assay_status rewrite_halves(halving *x)
{
    arena *a = x->k.scratch;
    x->n_values = x->k.m->values.n;
    size_t n = (size_t)x->n_values + 1;
    x->flags = ARENA_ARRAY(a, uint8_t, n);
    x->f32 = ARENA_ARRAY(a, ir_id, n);
    x->half = ARENA_ARRAY(a, ir_id, n);
    x->node_half = ARENA_ARRAY(a, uint8_t, (size_t)x->k.m->nodes.n + 1);
    x->keep = ARENA_ARRAY(a, uint8_t, (size_t)x->k.m->graphs.n + 1);
    TRY_MEMORY(!arena_failed(a), x->k.err);
    decide_nodes(x);
    if (!x->n_half)
        return nothing_changes(x);
    collect_wants(x);
    return place_values(x) && rebuild_graphs(x) ? ASSAY_OK : err_no_memory(x->k.err);
}

assay_status rewrite_half(ir_model *m, value_facts facts, const half_options *opt, assay_error *err)
{
    halving x = {.dtype = opt->dtype,
                 .convert_inputs = opt->convert_inputs,
                 .first_whole = IR_NONE,
                 .suffix = opt->dtype == IR_BFLOAT16 ? "_bf16" : "_fp16"};
    assay_status s = kit_begin(&x.k, m, facts, err);
    return kit_end(&x.k, s == ASSAY_OK ? rewrite_halves(&x) : s);
}
