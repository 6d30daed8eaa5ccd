/* Recurrent layers with the batch first (layout 1), which engines do not run, as those with the steps first: what goes in
 * and what comes out is transposed. See to_onnx.h. */

#include "rewrite/to_onnx_impl.h"

bool is_batch_first_rnn(const ir_node *n)
{
    return str_empty(n->domain) && ir_attr_int(n, "layout", 0) != 0 &&
           (kit_is(n, "LSTM") || kit_is(n, "GRU") || kit_is(n, "RNN"));
}

/* Without the attribute. */
static bool forget_layout(exporting *x, ir_node *n)
{
    ir_attr *list = ARENA_ARRAY(x->k.m->arena, ir_attr, (size_t)n->n_attrs + 1);
    uint32_t kept = 0;
    for (uint32_t i = 0; list && i < n->n_attrs; i++)
        if (!str_is(n->attrs[i].name, "layout"))
            list[kept++] = n->attrs[i];
    n->attrs = list;
    n->n_attrs = kept;
    return list != NULL;
}

/* Y [T,D,N,H] is [N,T,D,H], states [D,N,H] are [N,D,H]. */
static void put_batch_first(exporting *x, uint32_t slot, ir_id from, ir_id out)
{
    static const int64_t sequence[] = {2, 0, 1, 3}, state[] = {1, 0, 2};
    const ir_attr_spec attrs[] = {
        slot == 0 ? IR_SPEC_INTS("perm", 4, sequence) : IR_SPEC_INTS("perm", 3, state), STEP_END};
    step_into(x, "batch_first", "Transpose", from, attrs, out);
}

assay_status export_batch_first_rnn(exporting *x, ir_node n)
{
    static const int64_t turn[] = {1, 0, 2};
    ir_id *in, *out, made[3] = {IR_NONE, IR_NONE, IR_NONE};
    if (n.n_outputs > 3 || !kit_copy_ports(&x->k, &n, &in, &out))
        return n.n_outputs > 3 ? no_form(x, "it has too many outputs") : err_no_memory(x->k.err);
    for (uint32_t i = 0; i < n.n_inputs; i++) /* X, initial_h, initial_c */
        if (in[i] != IR_NONE && (i == 0 || i == 5 || i == 6))
            in[i] = step_transpose(x, "steps_first", in[i], turn, 3);
    for (uint32_t i = 0; i < n.n_outputs; i++)
        if (out[i] != IR_NONE)
            made[i] = out[i] = step_value(x, "steps_first_output");
    ir_node *own = ir_node_at(x->k.m, x->node);
    own->inputs = in;
    own->outputs = out;
    TRY_MEMORY(forget_layout(x, own), x->k.err);
    kit_put_node(&x->k, x->graph, x->node);
    for (uint32_t i = 0; i < n.n_outputs; i++)
        if (made[i] != IR_NONE)
            ir_value_at(x->k.m, made[i])->producer = x->node;
    for (uint32_t i = 0; i < n.n_outputs; i++)
        if (made[i] != IR_NONE)
            put_batch_first(x, i, made[i], n.outputs[i]);
    return ASSAY_OK;
}
