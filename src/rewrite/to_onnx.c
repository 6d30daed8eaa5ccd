/* Foreign graphs as ONNX: the walk, quantised values, whole numbers; see to_onnx.h. */
#include "rewrite/to_onnx_impl.h"

#include <stdio.h>
#include <string.h>

#include "ir/made.h"

/* ---- parts ---- */

static uint32_t count_attrs(const ir_attr_spec *attrs)
{
    uint32_t n = 0;
    while (attrs && attrs[n].name)
        n++;
    return n;
}

static ir_id add_part(exporting *x, const char *part, const char *op, const ir_id *in,
                      uint32_t n_in, const ir_attr_spec *attrs, ir_id out)
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
                                                        .n_attrs = count_attrs(attrs)});
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

/* ---- quantised values ---- */

static bool is_quantised_type(ir_dtype t)
{
    return t == IR_INT8 || t == IR_UINT8 || t == IR_INT16 || t == IR_INT4 || t == IR_UINT4;
}

/* Wider types are not: indices may have parameters by accident; a bias is real_bias()'s. */
static bool is_quantised(const exporting *x, ir_id id)
{
    const ir_value *v = id == IR_NONE ? NULL : ir_value_at(x->k.m, id);
    if (!v || !v->quant)
        return false;
    return is_quantised_type(v->constant ? v->constant->dtype : v->declared.dtype);
}

static ir_dtype stored_type(const exporting *x, ir_id id)
{
    const ir_value *v = ir_value_at(x->k.m, id);
    return v->constant ? v->constant->dtype : v->declared.dtype;
}

static ir_id scale_of(exporting *x, const ir_value *v)
{
    ir_tensor *t = arena_copy(x->k.m->arena, v->quant->scale, sizeof *t);
    if (!t)
        return IR_NONE;
    if (t->n_elems == 1)
        t->rank = 0;
    t->name = kit_name(&x->k, v->name, "/scale");
    return kit_const(&x->k, x->graph, t->name, t, IR_NONE);
}

/* Zero points of the file are int64; here they have the type t. */
static ir_id zero_of(exporting *x, const ir_value *v, ir_dtype t)
{
    uint64_t n = v->quant->scale->n_elems;
    unsigned size = ir_dtype_get(t)->bits / 8u;
    int64_t dim = (int64_t)n;
    const uint8_t *from = NULL;
    uint8_t *to = ARENA_ARRAY(x->k.m->arena, uint8_t, (size_t)(n * size) + 1);
    ir_tensor *tensor = ir_make_tensor_borrowed(x->k.m, v->name, t, n > 1, &dim);
    if (!to || !tensor ||
        (v->quant->zero &&
         ir_read_whole(&x->k.m->reader, v->quant->zero, &from, x->k.err) != ASSAY_OK))
        return IR_NONE;
    for (uint64_t i = 0; from && i < n; i++)
        memcpy(to + i * size, from + 8 * i, size);
    tensor->storage = IR_DATA_INLINE;
    tensor->bytes = to;
    tensor->name = kit_name(&x->k, v->name, "/zero_point");
    return kit_const(&x->k, x->graph, tensor->name, tensor, IR_NONE);
}

static ir_id cast_to(exporting *x, const char *part, ir_id in, ir_dtype t)
{
    const ir_attr_spec attrs[] = {IR_SPEC_INT("to", t), STEP_END};
    return step(x, part, "Cast", &in, 1, attrs);
}

/* 16 bits and more are not among the types of opset 17, and symmetric: q * scale. */
static ir_id dequantise_wide(exporting *x, ir_id id, ir_id scale)
{
    ir_id in[] = {cast_to(x, "real", id, IR_FLOAT32), scale};
    return step(x, "scaled", "Mul", in, 2, NULL);
}

ir_id real_of(exporting *x, ir_id id)
{
    if (!is_quantised(x, id))
        return id;
    if (id < x->n_real && x->real[id] != IR_NONE)
        return x->real[id];
    ir_value v = *ir_value_at(x->k.m, id);
    ir_dtype t = stored_type(x, id);
    ir_id in[] = {id, scale_of(x, &v), IR_NONE}, made;
    const ir_attr_spec attrs[] = {IR_SPEC_INT("axis", v.quant->axis), STEP_END};
    bool many = v.quant->scale->n_elems > 1;
    if (t == IR_INT16) {
        made = dequantise_wide(x, id, in[1]);
    } else {
        in[2] = zero_of(x, &v, t);
        made = step(x, "real", "DequantizeLinear", in, 3, many ? attrs : NULL);
    }
    if (id < x->n_real)
        x->real[id] = made;
    return made;
}

/* The last part, which makes the value itself. */
static void add_last(exporting *x, const char *op, const ir_id *in, uint32_t n_in,
                     const ir_attr_spec *attrs, ir_id out)
{
    ir_id id = add_part(x, "quantised", op, in, n_in, attrs, out);
    if (id != IR_NONE)
        ir_node_at(x->k.m, id)->name = kit_name(&x->k, ir_value_at(x->k.m, out)->name,
                                                "/quantised");
}

ir_id real_bias(exporting *x, ir_id id)
{
    ir_value v = *ir_value_at(x->k.m, id);
    bool wide = v.quant && v.constant && ir_is_integer(v.constant->dtype);
    return wide ? dequantise_wide(x, id, scale_of(x, &v)) : real_of(x, id);
}

static void quantise_wide(exporting *x, ir_id from, ir_id scale, ir_id out)
{
    ir_t scalar = {.dtype = IR_FLOAT32};
    const float low = -32768, high = 32767;
    ir_id in[] = {from, scale};
    ir_id q = step(x, "unscaled", "Div", in, 2, NULL);
    q = step(x, "rounded", "Round", &q, 1, NULL);
    str base = ir_value_at(x->k.m, out)->name;
    ir_id clip[] = {q, kit_bytes(&x->k, x->graph, base, "/low", &scalar, &low),
                    kit_bytes(&x->k, x->graph, base, "/high", &scalar, &high)};
    q = step(x, "clipped", "Clip", clip, 3, NULL);
    const ir_attr_spec attrs[] = {IR_SPEC_INT("to", IR_INT16), STEP_END};
    add_last(x, "Cast", &q, 1, attrs, out);
}

static void quantise(exporting *x, ir_id from, ir_id out)
{
    ir_value v = *ir_value_at(x->k.m, out);
    ir_dtype t = stored_type(x, out);
    ir_id scale = scale_of(x, &v);
    if (t == IR_INT16) {
        quantise_wide(x, from, scale, out);
        return;
    }
    ir_id in[] = {from, scale, zero_of(x, &v, t)};
    add_last(x, "QuantizeLinear", in, 3, NULL, out);
}

assay_status finish(exporting *x, const char *op, const ir_id *in, uint32_t n_in,
                    const ir_attr_spec *attrs)
{
    const ir_node old = *ir_node_at(x->k.m, x->node);
    bool quantised = is_quantised(x, old.outputs[0]);
    ir_id out = quantised ? step_value(x, "real_output") : old.outputs[0];
    ir_id node = add_part(x, op, op, in, n_in, attrs, out);
    if (node == IR_NONE)
        return err_no_memory(x->k.err);
    ir_node_at(x->k.m, node)->name = old.name;
    if (quantised)
        quantise(x, out, old.outputs[0]);
    return ASSAY_OK;
}

assay_status finish_wide(exporting *x, ir_id real, ir_dtype t)
{
    ir_value v = *ir_value_at(x->k.m, ir_node_at(x->k.m, x->node)->outputs[0]);
    const ir_attr_spec attrs[] = {IR_SPEC_INT("to", t), STEP_END};
    if (!v.quant)
        return no_form(x, "its scale is not known");
    ir_id in[] = {real, scale_of(x, &v)};
    ir_id q = step(x, "unscaled", "Div", in, 2, NULL);
    q = step(x, "rounded", "Round", &q, 1, NULL);
    return finish(x, "Cast", &q, 1, attrs);
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
    if (!kit_copy_ports(&x->k, &n, &in, &out))
        return err_no_memory(x->k.err);
    for (uint32_t i = 0; i < n.n_inputs; i++) {
        if (in[i] != IR_NONE && i < 32 && (wide >> i & 1) && kit_dtype(&x->k, in[i]) != IR_INT64)
            in[i] = cast_to(x, "int64", in[i], IR_INT64);
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
            quantise(x, out[i], n.outputs[i]);
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
    if (!ours && !str_empty(n.domain) && !str_is(n.domain, "com.microsoft"))
        return no_form(x, "it is not known");
    if (is_batch_first_rnn(&n))
        return export_batch_first_rnn(x, n);
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
    if (!x->real)
        return err_no_memory(x->k.err);
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
