/* LSTM, GRU and RNN of NCNN as those of ONNX.
 *
 * Weights are [directions, gates * hidden, inputs], then biases [directions, gates, hidden], then weights of the state.
 *            NCNN                        ONNX
 *   LSTM     input, forget, output, cell input, output, forget, cell
 *   GRU      reset, update, new          update, reset, new; a fourth bias is that of the state in the new gate
 * Data is [rows, width] without a batch here, and [rows, batch, width] there. */
#include "base/num.h"
#include "formats/ncnn/ncnn_impl.h"

typedef struct cell {
    const char *type;
    int gates, biases;
    int8_t order[4];
} cell;
static const cell cells[] = {
    {"LSTM", 4, 4, {0, 2, 1, 3}}, {"GRU", 3, 4, {1, 0, 2}}, {"RNN", 1, 1, {0}}};

static const cell *cell_of(const nc_op *o)
{
    for (size_t i = 0; i < sizeof cells / sizeof *cells; i++)
        if (str_is(o->layer->type, cells[i].type))
            return &cells[i];
    return NULL;
}

/* Rows of gate k of weights or biases. */
static ir_id gate_of(nc_op *o, ir_id x, int64_t k, int64_t rows)
{
    int64_t from = k * rows, to = from + rows, axis = 1;
    ir_id in[] = {x, layer_ints(&o->l, "from", &from, 1), layer_ints(&o->l, "to", &to, 1),
                  layer_ints(&o->l, "axis", &axis, 1)};
    return layer_step(&o->l, "Slice", in, 4, NULL);
}

static ir_id joined(nc_op *o, const ir_id *parts, int n)
{
    ir_attr_spec axis[] = {IR_SPEC_INT("axis", 1), LAYER_END};
    return n == 1 ? parts[0] : layer_step(&o->l, "Concat", parts, (uint32_t)n, axis);
}

/* The gates in the order of ONNX. */
static ir_id ordered(nc_op *o, const cell *c, ir_id x, int64_t rows)
{
    ir_id parts[4];
    if (c->gates == 1)
        return x;
    for (int i = 0; i < c->gates; i++)
        parts[i] = gate_of(o, x, c->order[i], rows);
    return joined(o, parts, c->gates);
}

/* [directions, 2 * gates * hidden]: those of x, then those of the state. */
static ir_id biases_of(nc_op *o, const cell *c, ir_id x, int64_t both, int64_t hidden)
{
    int64_t flat[] = {both, c->biases * hidden}, shape[] = {both, hidden};
    ir_id parts[8], all = layer_step_reshape(&o->l, x, flat, 2);
    ir_id size = layer_ints(&o->l, "shape", shape, 2);
    ir_id zero = layer_step(&o->l, "ConstantOfShape", &size, 1, NULL);
    for (int i = 0; i < c->gates; i++) {
        parts[i] = c->gates == 1 ? all : gate_of(o, all, c->order[i], hidden);
        parts[c->gates + i] = zero;
    }
    if (c->biases > c->gates)
        parts[2 * c->gates - 1] = gate_of(o, all, c->gates, hidden);
    return joined(o, parts, 2 * c->gates);
}

/* [1, a, b] as [a, 1, b]. */
static ir_id turned(nc_op *o, ir_id x)
{
    static const int64_t perm[] = {1, 0, 2};
    return x == IR_NONE ? IR_NONE : layer_step_transpose(&o->l, x, perm, 3);
}

static bool put_outputs(nc_op *o, const ir_id *made_of, uint32_t n)
{
    static const int64_t perm[] = {2, 0, 1, 3}, flat[] = {0, 0, -1}, state[] = {1, 0, 2};
    foreign_layer first = o->l;
    first.n_out = 1;
    bool ok = layer_reshape(&first, layer_step_transpose(&o->l, made_of[0], perm, 4), flat, 3);
    for (uint32_t i = 1; ok && i < n; i++) {
        ir_attr_spec attrs[] = {IR_SPEC_INTS("perm", 3, state), LAYER_END};
        ok = made(layer_into(&o->l, "Transpose", &made_of[i], 1, attrs, o->l.out[i]));
    }
    return ok;
}

bool nc_rnn(nc_op *o)
{
    static const char *const ways[] = {"forward", "reverse", "bidirectional"};
    static const char *const names[] = {"Y", "Y_h", "Y_c"};
    const cell *c = cell_of(o);
    int64_t outputs = nc_int(o, 0, 0), all = nc_int(o, 1, 0), way = nc_int(o, 2, 0), n;
    int64_t both = way == 2 ? 2 : 1, hidden = nc_int(o, 3, outputs);
    uint32_t states = c && c->gates == 4 ? 2 : 1;
    if (!c || outputs < 1 || all < 1 || way < 0 || way > 2 || hidden != outputs ||
        !num_mul(both * c->gates, hidden, &n) || all % n || o->l.n_out > 1 + states)
        return false;
    int64_t wx[] = {both, c->gates * hidden, all / n}, wb[] = {both, c->biases, hidden};
    int64_t wh[] = {both, c->gates * hidden, outputs};
    ir_id x = nc_weight(o, "weight_x", true, 3, wx), b = nc_weight(o, "bias", true, 3, wb);
    ir_id h = nc_weight(o, "weight_h", true, 3, wh), out[3];
    for (uint32_t i = 0; i < o->l.n_out; i++)
        out[i] = foreign_inner(&o->r->f, o->l.name, names[i]);
    ir_id in[] = {turned(o, o->l.in[0]),
                  ordered(o, c, x, hidden),
                  ordered(o, c, h, hidden),
                  biases_of(o, c, b, both, hidden),
                  IR_NONE,
                  turned(o, layer_input(&o->l, 1)),
                  states == 2 ? turned(o, layer_input(&o->l, 2)) : IR_NONE};
    ir_attr_spec attrs[] = {IR_SPEC_INT("hidden_size", hidden),
                            IR_SPEC_TEXT("direction", ways[way]),
                            IR_SPEC_INT("linear_before_reset", 1), LAYER_END};
    if (c->gates != 3)
        attrs[2] = LAYER_END;
    const foreign_layer inner = {&o->r->f, o->l.name, in, out, 7, o->l.n_out};
    uint32_t n_in = o->l.n_in > 1 ? 5 + states : 4;
    return made(layer_node(&inner, NULL, c->type, in, n_in, attrs)) &&
           put_outputs(o, out, o->l.n_out);
}
