/* Foreign graphs as ONNX: the walk and the operators of ONNX; see to_onnx.h. */
#include "rewrite/to_onnx_impl.h"

#include <stdio.h>
#include <string.h>

#include "ir/made.h"

/* ---- parts ---- */

ir_id add_part(exporting *x, const char *part, const char *op, const ir_id *in, uint32_t n_in,
               const ir_attr_spec *attrs, ir_id out)
{
    return out == IR_NONE ? IR_NONE
                          : kit_node(&x->k, &(kit_part){.graph = x->graph,
                                                        .like = x->node,
                                                        .op = op,
                                                        .part = part,
                                                        .in = in,
                                                        .n_in = n_in,
                                                        .out = &out,
                                                        .n_out = 1,
                                                        .attrs = attrs,
                                                        .n_attrs = ir_attr_specs(attrs)});
}

ir_id step_value(exporting *x, const char *part)
{
    str base = str_printf(x->k.scratch, STR_FMT "/", STR_ARG(ir_node_at(x->k.m, x->node)->name));
    return base.p ? kit_value(&x->k, x->graph, base, part, IR_UNDEFINED) : IR_NONE;
}

ir_id step(exporting *x, const char *part, const char *op, const ir_id *in, uint32_t n_in,
           const ir_attr_spec *attrs)
{
    ir_id out = step_value(x, part), id = add_part(x, part, op, in, n_in, attrs, out);
    if (id == IR_NONE)
        return IR_NONE;
    ir_node_at(x->k.m, id)->name = ir_value_at(x->k.m, out)->name; /* nothing else has it */
    return out;
}

void step_into(exporting *x, const char *part, const char *op, ir_id in, const ir_attr_spec *attrs,
               ir_id out)
{
    ir_id id = add_part(x, part, op, &in, 1, attrs, out);
    if (id != IR_NONE)
        ir_node_at(x->k.m, id)->name = kit_name(&x->k, ir_value_at(x->k.m, out)->name,
                                                "/batch_first");
}

ir_id step_two(exporting *x, const char *part, const char *op, ir_id a, ir_id b)
{
    ir_id in[] = {a, b};
    return step(x, part, op, in, 2, NULL);
}

ir_id step_ints(exporting *x, const char *part, const int64_t *list, uint32_t n)
{
    ir_t shape = {.dtype = IR_INT64, .rank = 1, .d = {n}};
    str base = ir_node_at(x->k.m, x->node)->name;
    return kit_bytes(&x->k, x->graph, str_printf(x->k.scratch, STR_FMT "/", STR_ARG(base)), part,
                     &shape, list);
}

ir_id step_transpose(exporting *x, const char *part, ir_id in, const int64_t *perm, int n)
{
    const ir_attr_spec attrs[] = {IR_SPEC_INTS("perm", n, perm), STEP_END};
    return step(x, part, "Transpose", &in, 1, attrs);
}

assay_status no_form(exporting *x, const char *why)
{
    const ir_node *n = ir_node_at(x->k.m, x->node);
    char name[128];
    snprintf(name, sizeof name, "%.*s", (int)(n->name.n < 100 ? n->name.n : 100), n->name.p);
    return err_fail_node(x->k.err, ASSAY_ERR_UNSUPPORTED, name,
                         "node '%s': operator " STR_FMT " cannot be written as ONNX: %s", name,
                         STR_ARG(n->op), why);
}

const int64_t *known_dims(const exporting *x, ir_id value, int *rank)
{
    const op_info *i = value == IR_NONE ? NULL : kit_info(&x->k, value);
    *rank = i ? i->rank : -1;
    return i && i->rank <= IR_KIT_RANK && op_shape_full(i) ? i->dims : NULL;
}

int constant_ints(exporting *x, ir_id value, int64_t *list, int max)
{
    const ir_tensor *t = value == IR_NONE ? NULL : ir_value_at(x->k.m, value)->constant;
    const uint8_t *bytes = NULL;
    const ir_reader *r = &x->k.m->reader;
    if (!t || t->n_elems > (uint64_t)max || (t->dtype != IR_INT32 && t->dtype != IR_INT64) ||
        ir_read_whole(r, t, &bytes, x->k.err) != ASSAY_OK)
        return -1;
    unsigned size = t->dtype == IR_INT64 ? 8 : 4;
    for (uint64_t i = 0; i < t->n_elems; i++) {
        uint64_t v = 0;
        memcpy(&v, bytes + i * size, size);
        list[i] = size == 8 ? (int64_t)v : (int32_t)(uint32_t)v;
    }
    return (int)t->n_elems;
}

/* ---- operators of ONNX ---- */

static const char *const moves_values[] = {"Reshape", "Transpose", "Squeeze", "Unsqueeze",
                                           "Slice",   "Split",     "Gather",  "Identity",
                                           "Expand",  "Tile",      "GatherND"};
static const char *const takes_any[] = {
    "Loop", "If", "Cast", "QuantizeLinear", "DequantizeLinear", "Shape", "Size"};

/* Inputs that must be int64. */
static const struct {
    const char *op;
    uint32_t slots;
} wide_slots[] = {{"Reshape", 2}, {"Expand", 2},   {"Tile", 2},      {"Slice", 0x1e},
                  {"Pad", 2},     {"Squeeze", 2},  {"Unsqueeze", 2}, {"Split", 2},
                  {"TopK", 2},    {"GatherND", 2}, {"ScatterND", 2}, {"ReverseSequence", 2}};

static bool is_one_of(const ir_node *n, const char *const *list, size_t count)
{
    for (size_t i = 0; str_empty(n->domain) && i < count; i++)
        if (str_is(n->op, list[i]))
            return true;
    return false;
}

static uint32_t wide_slots_of(const ir_node *n)
{
    for (size_t i = 0; str_empty(n->domain) && i < sizeof wide_slots / sizeof *wide_slots; i++)
        if (str_is(n->op, wide_slots[i].op))
            return wide_slots[i].slots;
    return 0;
}

static bool is_symmetric_pad(const ir_node *n)
{
    return kit_is(n, "Pad") && str_is(ir_attr_str(n, "mode", "constant"), "symmetric");
}

/* What is made by moving a quantised value has its parameters, also where the source does not name it. */
static void move_parameters(exporting *x, const ir_node *n)
{
    ir_id from = kit_in(n, 0);
    for (uint32_t i = 0; i < n->n_outputs && is_quantised(x, from); i++) {
        ir_value *v = n->outputs[i] == IR_NONE ? NULL : ir_value_at(x->k.m, n->outputs[i]);
        if (!v || v->quant || v->flags & IR_VALUE_OUTPUT)
            continue;
        v->quant = ir_value_at(x->k.m, from)->quant;
        v->declared = ir_tensor_type(x->k.m, stored_type(x, from), -1, NULL);
    }
}

/* The node itself with other inputs, and with its quantised outputs behind it. */
static assay_status export_plain(exporting *x, ir_node n)
{
    ir_id *in, *out;
    bool moves = is_one_of(&n, moves_values, sizeof moves_values / sizeof *moves_values);
    bool any = moves || is_one_of(&n, takes_any, sizeof takes_any / sizeof *takes_any);
    uint32_t wide = wide_slots_of(&n);
    if (is_symmetric_pad(&n))
        return no_form(x, "mode symmetric is not in ONNX");
    if (moves)
        move_parameters(x, &n);
    TRY_MEMORY(kit_copy_ports(&x->k, &n, &in, &out), x->k.err);
    for (uint32_t i = 0; i < n.n_inputs; i++) {
        if (in[i] != IR_NONE && i < 32 && (wide >> i & 1) && kit_dtype(&x->k, in[i]) != IR_INT64)
            in[i] = step_cast(x, "int64", in[i], IR_INT64);
        else if (!any)
            in[i] = real_of(x, in[i]);
    }
    for (uint32_t i = 0; i < n.n_outputs && !any; i++)
        if (is_quantised(x, out[i]))
            out[i] = step_value(x, "real_output");
    ir_node *own = ir_node_at(x->k.m, x->node);
    own->inputs = in;
    own->outputs = out;
    kit_put_node(&x->k, x->graph, x->node);
    for (uint32_t i = 0; i < n.n_outputs; i++)
        if (out[i] != IR_NONE)
            ir_value_at(x->k.m, out[i])->producer = x->node;
    for (uint32_t i = 0; i < n.n_outputs; i++)
        if (out[i] != n.outputs[i] && out[i] != IR_NONE)
            store_quantised(x, out[i], n.outputs[i]);
    return ASSAY_OK;
}

/* ---- the walk ---- */

static assay_status check_types(exporting *x, const ir_node *n)
{
    for (uint32_t i = 0; i < n->n_inputs; i++) {
        const ir_tensor *t = n->inputs[i] == IR_NONE ? NULL
                                                     : ir_value_at(x->k.m, n->inputs[i])->constant;
        if (t && t->storage == IR_DATA_NONE && t->n_elems)
            return no_form(x, "it has state, or data that is not in the file");
        if (t && t->sparse)
            return no_form(x, "its weights are sparse");
        if (t && ir_dtype_get(t->dtype)->bits < 8 && t->dtype != IR_STRING)
            return no_form(x, "its weights have less than 8 bits, which need opset 21");
    }
    return ASSAY_OK;
}

static assay_status export_node(exporting *x)
{
    const ir_node n = *ir_node_at(x->k.m, x->node);
    bool ours = str_is(n.domain, "assay.nhwc");
    TRY(check_types(x, &n));
    if (str_is(n.domain, "openvino"))
        return export_openvino(x, &n);
    if (!ours && !str_empty(n.domain) && !str_is(n.domain, "com.microsoft"))
        return no_form(x, "unknown operator");
    if (is_batch_first_rnn(&n))
        return export_batch_first_rnn(x, n);
    assay_status status;
    if (export_integer(x, &n, &status))
        return status;
    return ours ? export_nhwc(x, &n) : export_plain(x, n);
}

/* Types of values between the nodes change: engines infer them. */
static void forget_types(exporting *x, const ir_node *n)
{
    for (uint32_t i = 0; i < n->n_outputs; i++) {
        ir_value *v = n->outputs[i] == IR_NONE ? NULL : ir_value_at(x->k.m, n->outputs[i]);
        if (v && !(v->flags & IR_VALUE_OUTPUT) && !v->quant)
            v->declared = (ir_type){.kind = IR_KIND_NONE};
    }
}

static assay_status export_graph(exporting *x)
{
    uint32_t n;
    for (uint32_t i = 0; i < x->n_real; i++)
        x->real[i] = IR_NONE;
    const ir_id *nodes = kit_take_nodes(&x->k, x->graph, &n);
    for (uint32_t i = 0; i < n; i++) {
        x->node = nodes[i];
        forget_types(x, ir_node_at(x->k.m, x->node));
        TRY(export_node(x));
    }
    return ASSAY_OK;
}

/* What a graph takes and gives needs a rank, or no type at all (within a node). */
static void complete_types(exporting *x, const ir_id *ids, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        ir_value *v = ir_value_at(x->k.m, ids[i]);
        const op_info *found = kit_info(&x->k, ids[i]);
        if (v->declared.kind != IR_KIND_TENSOR || v->declared.rank >= 0)
            continue;
        v->declared = found && found->rank >= 0
                          ? ir_tensor_type(x->k.m, v->declared.dtype, found->rank, found->dims)
                          : (ir_type){.kind = IR_KIND_NONE};
    }
}

static assay_status export_graphs(exporting *x)
{
    x->n_real = x->k.m->values.n;
    x->real = ARENA_ARRAY(x->k.scratch, ir_id, (size_t)x->n_real + 1);
    TRY_MEMORY(x->real, x->k.err);
    uint32_t before = x->n_real;
    const uint32_t *uses = kit_uses(&x->k);
    for (uint32_t g = 0; g < x->k.n_graphs; g++) {
        x->graph = x->k.graphs[g];
        TRY(export_graph(x));
        const ir_graph *graph = ir_graph_at(x->k.m, x->graph);
        complete_types(x, graph->inputs.items, graph->inputs.n);
        complete_types(x, graph->outputs.items, graph->outputs.n);
    }
    if (uses)
        kit_drop_unused(&x->k, uses, before);
    x->k.m->ir_version = 0;
    x->k.m->foreign = false;
    return ASSAY_OK;
}

assay_status rewrite_to_onnx(ir_model *m, value_facts facts, assay_error *err)
{
    exporting x = {.graph = 0};
    assay_status s = kit_begin(&x.k, m, facts, err);
    if (s == ASSAY_OK)
        s = export_graphs(&x);
    return kit_end(&x.k, s);
}
