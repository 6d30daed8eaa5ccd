/* Recurrent layers as ONNX's LSTM, GRU and RNN with the batch first (layout 1).
 *
 * Keras has kernel [inputs, G*H], recurrent_kernel [H, G*H] and bias [G*H]; gates are i,f,c,o (LSTM) and z,r,h (GRU). ONNX
 * has [1, G*H, inputs] and gates i,o,f,c and z,r,h. The weights are rearranged by nodes that an engine runs when it loads
 * the model. A bias [2, 3H] of a GRU (reset_after) is that of inputs and of the state.
 */

#include <string.h>

#include "formats/keras/keras_impl.h"

enum { MAX_UNITS = 1 << 24 };

typedef struct cell_kind {
    const char *classes, *op;
    int gates;
    const int64_t *order; /* of ONNX's gates among those of Keras; NULL: the same */
    int n_states;
} cell_kind;

static const int64_t lstm_order[] = {0, 3, 1, 2};
static const cell_kind kinds[] = {
    {"LSTM|LSTMCell|CuDNNLSTM|LSTMV2", "LSTM", 4, lstm_order, 2},
    {"GRU|GRUCell|CuDNNGRU|GRUV2", "GRU", 3, NULL, 1},
    {"SimpleRNN|SimpleRNNCell", "RNN", 1, NULL, 1},
};

static const cell_kind *kind_of(str cls)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (str_in_list(cls, kinds[i].classes, '|'))
            return &kinds[i];
    return NULL;
}

typedef struct recurrent {
    const cell_kind *kind;
    keras_call cell; /* whose layer has the weights */
    int64_t units;
    bool backwards, sequences, after; /* after: reset_after */
    const ir_t *state;                /* [n_states] of the beginning, or NULL */
    ir_t kernel, recurrence, bias;
} recurrent;

typedef struct run_result {
    ir_t y, state[2];
} run_result;

/* ---- activations ---- */

typedef struct cell_function {
    const char *name, *onnx;
    double alpha, beta;
    int n; /* how many of both it takes */
} cell_function;

static const cell_function *function_of(const keras_call *c, const json_value *config,
                                        const char *key, const char *def)
{
    static const cell_function list[] = {
        {"tanh", "Tanh", 0, 0, 0},         {"sigmoid", "Sigmoid", 0, 0, 0},
        {"relu", "Relu", 0, 0, 0},         {"hard_sigmoid", "HardSigmoid", 0.2, 0.5, 2},
        {"linear", "Affine", 1, 0, 2},     {"elu", "Elu", 1, 0, 1},
        {"softsign", "Softsign", 0, 0, 0}, {"softplus", "Softplus", 0, 0, 0},
    };
    static const cell_function hard_3 = {"hard_sigmoid", "HardSigmoid", 1.0 / 6, 0.5, 2};
    const json_value *v = keras_get(config, key), *inner;
    str name = v ? keras_object(v, &inner) : str_of(def);
    if (v && inner && inner->kind == JSON_TEXT)
        name = inner->s;
    if (str_is(name, hard_3.name) && c->r->major >= 3)
        return &hard_3;
    for (size_t i = 0; i < sizeof list / sizeof *list; i++)
        if (str_is(name, list[i].name))
            return &list[i];
    return NULL;
}

/* The functions of a cell in ONNX's order; 0: one of them is unknown. */
static uint32_t functions_of(const recurrent *r, const cell_function *f[3])
{
    const json_value *config = r->cell.config;
    f[1] = function_of(&r->cell, config, "activation", "tanh");
    f[2] = f[1];
    f[0] = r->kind->gates == 1
               ? f[1]
               : function_of(&r->cell, config, "recurrent_activation|inner_activation", "sigmoid");
    if (!f[0] || !f[1])
        return 0;
    return r->kind->gates == 4 ? 3 : r->kind->gates == 3 ? 2 : 1;
}

static bool attach_functions(const recurrent *r, ir_id node)
{
    const cell_function *f[3];
    uint32_t n = functions_of(r, f), k = 0;
    str names[3];
    double alpha[3], beta[3];
    for (uint32_t i = 0; i < n; i++) {
        names[i] = str_of(f[i]->onnx);
        if (f[i]->n) {
            alpha[k] = f[i]->alpha;
            beta[k++] = f[i]->beta;
        }
    }
    foreign *to = r->cell.f;
    return foreign_attach_texts(to, node, "activations", names, n) &&
           (!k || (foreign_attach_floats(to, node, "activation_alpha", alpha, k) &&
                   foreign_attach_floats(to, node, "activation_beta", beta, k)));
}

/* ---- weights ---- */

/* Keras 1 has the weights of each gate apart, in this order. */
typedef struct gate {
    const char *kernel, *recurrence, *bias;
    int place; /* among the gates of later versions */
} gate;

static const gate lstm_gates[] = {{"W_i", "U_i", "b_i", 0},
                                  {"W_c", "U_c", "b_c", 2},
                                  {"W_f", "U_f", "b_f", 1},
                                  {"W_o", "U_o", "b_o", 3}};
static const gate gru_gates[] = {
    {"W_z", "U_z", "b_z", 0}, {"W_r", "U_r", "b_r", 1}, {"W_h", "U_h", "b_h", 2}};

static const gate *gates_apart(const recurrent *r)
{
    const gate *list = r->kind->gates == 4 ? lstm_gates : r->kind->gates == 3 ? gru_gates : NULL;
    return list && keras_has_weight(&r->cell, list[0].kernel) ? list : NULL;
}

static bool take_gates(recurrent *r, const gate *list, ir_t x)
{
    keras_call *c = &r->cell;
    const int64_t u = r->units, k[] = {x.d[2], u}, h[] = {u, u};
    const uint32_t n = (uint32_t)r->kind->gates;
    ir_t kernel[4], recurrence[4], bias[4];
    for (uint32_t i = 0; i < n; i++) {
        int at = list[i].place;
        kernel[at] = keras_weight(c, list[i].kernel, KERAS_TRAINED, 2, k);
        recurrence[at] = keras_weight(c, list[i].recurrence, KERAS_TRAINED, 2, h);
        bias[at] = keras_weight(c, list[i].bias, KERAS_TRAINED, 1, &u);
        if (kernel[at].rank != 2 || recurrence[at].rank != 2 || bias[at].rank != 1 ||
            kernel[at].d[1] != u || recurrence[at].d[0] != u || recurrence[at].d[1] != u)
            return false;
    }
    r->kernel = keras_concat(c, "kernel_gates", kernel, n, 1);
    r->recurrence = keras_concat(c, "recurrent_gates", recurrence, n, 1);
    r->bias = keras_concat(c, "bias_joined", bias, n, 0);
    return u > 0 && u <= MAX_UNITS && r->kernel.id != IR_NONE;
}

static bool take_weights(recurrent *r, ir_t x)
{
    const gate *apart = gates_apart(r);
    if (apart)
        return take_gates(r, apart, x);
    keras_call *c = &r->cell;
    int g = r->kind->gates;
    const int64_t u = r->units, wide = u < 0 ? -1 : u * g;
    const int64_t k[] = {x.d[2], wide}, h[] = {u, wide}, two[] = {2, wide};
    bool cudnn = str_starts(c->l->cls, "CuDNN");
    r->after = g == 3 && (cudnn || keras_bool(c->config, "reset_after", false));
    r->kernel = keras_weight(c, "kernel", KERAS_TRAINED, 2, k);
    r->recurrence = keras_weight(c, "recurrent_kernel", KERAS_TRAINED, 2, h);
    r->bias = (ir_t){.id = IR_NONE};
    if (cudnn) {
        const int64_t both = wide < 0 ? -1 : 2 * wide;
        r->bias = keras_weight(c, "bias", KERAS_TRAINED, 1, &both);
    } else if (keras_bool(c->config, "use_bias", true)) {
        r->bias = r->after ? keras_weight(c, "bias", KERAS_TRAINED, 2, two)
                           : keras_weight(c, "bias", KERAS_TRAINED, 1, &wide);
    }
    bool biased = cudnn || keras_bool(c->config, "use_bias", true);
    if (r->kernel.id == IR_NONE || r->recurrence.id == IR_NONE || r->kernel.rank != 2 ||
        r->recurrence.rank != 2 || (biased && r->bias.id == IR_NONE))
        return false;
    r->units = r->recurrence.d[0];
    return r->units > 0 && r->units <= MAX_UNITS && r->kernel.d[1] == r->units * g &&
           r->recurrence.d[1] == r->units * g;
}

/* Gates along `axis` in ONNX's order. */
static ir_t in_order(recurrent *r, const char *part, ir_t x, int axis)
{
    ir_attr_spec attrs[] = {IR_SPEC_INT("axis", axis), KERAS_END};
    if (!r->kind->order)
        return x;
    ir_id in[] = {x.id, keras_consts(&r->cell, "gates", r->kind->order, r->kind->gates)};
    return keras_step(&r->cell, part, "Gather", in, 2, attrs, x);
}

/* [n, G*H] is [1, G*H, n]. */
static ir_t turned(recurrent *r, const char *part, ir_t w)
{
    const int64_t apart[] = {w.d[0], r->kind->gates, r->units}, perm[] = {1, 2, 0},
                  wide[] = {1, w.d[1], w.d[0]};
    ir_t x = keras_reshape(&r->cell, part, w, apart, 3);
    x = keras_transpose(&r->cell, part, in_order(r, part, x, 1), perm);
    return keras_reshape(&r->cell, part, x, wide, 3);
}

/* [1, 2*G*H]: of the inputs, then of the state. */
static ir_t both_biases(recurrent *r)
{
    keras_call *c = &r->cell;
    const int64_t g = r->kind->gates, u = r->units, wide = g * u;
    const int64_t apart[] = {g, u}, flat[] = {wide}, all[] = {1, 2 * wide}, halves[] = {2, g, u};
    if (r->bias.rank == 2 || r->bias.d[0] == 2 * wide) {
        ir_t x = keras_reshape(c, "bias_gates", r->bias, halves, 3);
        return keras_reshape(c, "bias_flat", in_order(r, "bias_order", x, 1), all, 2);
    }
    ir_t x = keras_reshape(c, "bias_gates", r->bias, apart, 2);
    ir_t parts[] = {keras_reshape(c, "bias_flat", in_order(r, "bias_order", x, 0), flat, 1),
                    keras_filled(c, "no_bias", r->bias.dtype, wide, 0)};
    return keras_reshape(c, "bias_all", keras_concat(c, "biases", parts, 2, 0), all, 2);
}

/* ---- running ---- */

/* X, W, R, B, sequence_lens, initial_h, initial_c */
static ir_id add_node(recurrent *r, keras_call *c, ir_t x, const ir_id *out)
{
    ir_id in[7] = {x.id,
                   turned(r, "kernel", r->kernel).id,
                   turned(r, "recurrence", r->recurrence).id,
                   IR_NONE,
                   IR_NONE,
                   IR_NONE,
                   IR_NONE};
    uint32_t n = 3;
    if (r->bias.id != IR_NONE) {
        in[3] = both_biases(r).id;
        n = 4;
    }
    for (int i = 0; r->state && i < r->kind->n_states; i++) {
        in[5 + i] = keras_expand_dims(c, "initial", r->state[i], 1).id;
        n = 6 + (uint32_t)i;
    }
    ir_attr_spec attrs[] = {IR_SPEC_INT("hidden_size", r->units), IR_SPEC_INT("layout", 1),
                            IR_SPEC_TEXT("direction", r->backwards ? "reverse" : "forward"),
                            IR_SPEC_INT("linear_before_reset", r->after)};
    return foreign_add(c->f, &(foreign_node){.op = r->kind->op,
                                             .name = c->name,
                                             .in = in,
                                             .n_in = n,
                                             .out = out,
                                             .n_out = 1 + (uint32_t)r->kind->n_states,
                                             .attrs = attrs,
                                             .n_attrs = r->kind->gates == 3 ? 4 : 3});
}

/* x [N,T,I]: y is [N,T,H] or [N,H]. false before any node is made if it cannot be. */
static bool run_cell(recurrent *r, keras_call *c, ir_t x, run_result *out)
{
    const cell_function *f[3];
    if (x.rank != 3 || !take_weights(r, x) || !functions_of(r, f))
        return false;
    x = keras_cast(c, x, r->kernel.dtype);
    ir_t all = {.dtype = x.dtype, .rank = 4, .d = {x.d[0], x.d[1], 1, r->units}};
    ir_t last = {.dtype = x.dtype, .rank = 3, .d = {x.d[0], 1, r->units}};
    ir_id made[3] = {foreign_inner(c->f, c->name, "Y"), foreign_inner(c->f, c->name, "Y_h"),
                     r->kind->n_states > 1 ? foreign_inner(c->f, c->name, "Y_c") : IR_NONE};
    ir_id node = add_node(r, c, x, made);
    if (node == IR_NONE || !attach_functions(r, node))
        return false;
    c->main_made = true;
    all.id = made[0];
    for (int i = 0; i < r->kind->n_states; i++) {
        last.id = made[1 + i];
        out->state[i] = last;
    }
    out->y = r->sequences ? keras_squeeze(c, "sequence", all, 2) : (ir_t){.id = IR_NONE};
    return true;
}

/* States are [N,H] for Keras. */
static ir_t flat_state(keras_call *c, ir_t s)
{
    return keras_squeeze(c, "state", s, 1);
}

typedef struct plan {
    bool sequences, state, backwards;
    bool in_order; /* of time, also where it runs backwards */
} plan;

static plan plan_of(const json_value *config)
{
    return (plan){.sequences = keras_bool(config, "return_sequences", false),
                  .state = keras_bool(config, "return_state", false),
                  .backwards = keras_bool(config, "go_backwards", false)};
}

/* y, and the states behind it if they are asked for. */
static bool give_run(keras_call *c, const plan *p, run_result *o, int n_states)
{
    static const int64_t reversed[] = {-1, INT64_MIN, -1};
    ir_t h = {.id = IR_NONE};
    if (!p->sequences || p->state)
        h = flat_state(c, o->state[0]);
    ir_t y = p->sequences ? o->y : h;
    if (p->sequences && p->backwards && !p->in_order)
        y = keras_slice(c, "reversed", y, 1, reversed);
    keras_give(c, y);
    if (p->state) {
        c->out[c->n_out++] = h;
        for (int i = 1; i < n_states; i++)
            c->out[c->n_out++] = flat_state(c, o->state[i]);
    }
    return y.id != IR_NONE;
}

static bool read_cell(keras_call *c, keras_layer *part, recurrent *r)
{
    r->kind = kind_of(part->cls);
    r->cell = *c;
    r->cell.l = part;
    r->cell.config = part->config;
    r->units = keras_int(part->config, "units|output_dim", -1);
    if (r->units > MAX_UNITS)
        return false;
    return r->kind != NULL && !keras_bool(c->config, "time_major", false);
}

/* LSTM, GRU, SimpleRNN: their cell has their settings. */
static bool run_simple(keras_call *c, const plan *p)
{
    recurrent r = {.backwards = p->backwards, .sequences = p->sequences};
    run_result out;
    bool cudnn = str_starts(c->l->cls, "CuDNN");
    keras_layer *part = cudnn ? c->l : keras_part(c, "cell", c->l->cls, c->config);
    if (!c->n_in || !part || !read_cell(c, part, &r))
        return false;
    if (c->n_in > (uint32_t)r.kind->n_states)
        r.state = c->in + 1;
    return run_cell(&r, c, c->in[0], &out) && give_run(c, p, &out, r.kind->n_states);
}

/* "cell/cells/lstm_cell_1": numbered among those of its class. */
static const char *stacked_attr(keras_call *c, const json_value *cells, uint32_t i)
{
    const json_value *config;
    uint32_t before = 0;
    str cls = keras_object(&cells[i], &config), snake = keras_snake_case(c->r->a, cls);
    for (uint32_t k = 0; k < i; k++)
        before += str_eq(keras_object(&cells[k], &config), cls);
    if (!snake.p)
        return NULL;
    return before ? arena_printf(c->r->a, "cell/cells/" STR_FMT "_%u", STR_ARG(snake), before)
                  : arena_printf(c->r->a, "cell/cells/" STR_FMT, STR_ARG(snake));
}

/* RNN(cell), RNN([cell, cell]): the cells of a stack run one after another. */
static bool run_cells(keras_call *c, const plan *p)
{
    const json_value *config, *inner;
    str cls = keras_object(keras_get(c->config, "cell"), &config);
    uint32_t n = 1;
    const bool stacked = str_is(cls, "StackedRNNCells");
    const json_value *cells = stacked ? keras_items(keras_get(config, "cells"), &n)
                                      : keras_get(c->config, "cell");
    run_result out = {.y = {.id = IR_NONE}};
    ir_t x = c->n_in ? c->in[0] : keras_unknown_shape(IR_FLOAT32);
    recurrent r = {.backwards = p->backwards};
    if (!cells || !n || c->n_in != 1 || (n > 1 && (p->state || p->backwards)))
        return false;
    for (uint32_t i = 0; i < n; i++) {
        str own = keras_object(&cells[i], &inner);
        const char *attr = stacked ? stacked_attr(c, cells, i) : "cell";
        if (!attr)
            return false;
        keras_layer *part = keras_part(c, attr, own, inner);
        r = (recurrent){.backwards = p->backwards, .sequences = i + 1 < n || p->sequences};
        if (!part || !read_cell(c, part, &r) || !run_cell(&r, c, x, &out))
            return false;
        x = out.y;
    }
    return give_run(c, p, &out, r.kind->n_states);
}

/* ---- a cell alone: one step ---- */

/* x [N,I] and its states; the output and the new states are out[]. */
static bool run_step(keras_call *c, keras_layer *part, ir_t x, const ir_t *states, ir_t *out)
{
    recurrent r = {.state = states};
    run_result made;
    if (x.rank != 2 || !read_cell(c, part, &r) ||
        !run_cell(&r, c, keras_expand_dims(c, "step", x, 1), &made))
        return false;
    for (int i = 0; i < r.kind->n_states; i++)
        out[i] = flat_state(c, made.state[i]);
    return true;
}

/* Inputs are x and the states of all cells; without states they are zero. */
bool keras_cell(keras_call *c)
{
    const json_value *inner, *cells = NULL;
    bool stacked = str_is(c->l->cls, "StackedRNNCells");
    uint32_t n = 1, at = 1, made = 1;
    if (stacked)
        cells = keras_items(keras_get(c->config, "cells"), &n);
    ir_t x = c->n_in ? c->in[0] : keras_unknown_shape(IR_FLOAT32);
    if (!c->n_in || (stacked && !cells) || !n || 2 * n + 1 > KERAS_MAX_PORTS)
        return false;
    for (uint32_t i = 0; i < n; i++) {
        str own = stacked ? keras_object(&cells[i], &inner) : c->l->cls;
        const char *attr = stacked ? stacked_attr(c, cells, i) : NULL;
        keras_layer *part = stacked
                                ? attr ? keras_part(c, attr + strlen("cell/"), own, inner) : NULL
                                : c->l;
        const cell_kind *kind = kind_of(own);
        bool given = kind && c->n_in >= at + (uint32_t)kind->n_states;
        if (!part || !kind || !run_step(c, part, x, given ? c->in + at : NULL, c->out + made))
            return false;
        x = c->out[made];
        made += (uint32_t)kind->n_states;
        at += (uint32_t)kind->n_states;
    }
    keras_give(c, x);
    c->n_out = made;
    return true;
}

static bool run_layer(keras_call *c, const plan *p)
{
    return str_is(c->l->cls, "RNN") ? run_cells(c, p) : run_simple(c, p);
}

bool keras_recurrent(keras_call *c)
{
    const plan p = plan_of(c->config);
    return run_layer(c, &p);
}

bool keras_rnn(keras_call *c)
{
    return keras_recurrent(c);
}

/* ---- both directions ---- */

static ir_t merge_ways(keras_call *c, str mode, ir_t a, ir_t b)
{
    ir_t both[] = {a, b};
    if (str_is(mode, "sum"))
        return keras_binary(c, "merged", "Add", a, b);
    if (str_is(mode, "mul"))
        return keras_binary(c, "merged", "Mul", a, b);
    if (str_is(mode, "ave")) {
        ir_t sum = keras_binary(c, "sum", "Add", a, b);
        return keras_binary(c, "merged", "Mul", sum, keras_scalar(c, "half", a.dtype, 0.5));
    }
    return keras_concat(c, "merged", both, 2, a.rank - 1);
}

/* One way of it: outputs in out[]. */
static bool run_way(keras_call *c, keras_layer *part, bool backwards, ir_t *out, uint32_t *n)
{
    keras_call way = *c;
    plan p = plan_of(part->config);
    p.backwards = backwards;
    p.in_order = true;
    way.l = part;
    way.config = part->config;
    way.name = str_printf(c->f->m->arena, STR_FMT "/%s", STR_ARG(c->name),
                          backwards ? "backward" : "forward");
    way.out = out;
    way.n_out = 0;
    way.main_made = false;
    uint32_t half = (c->n_in - 1) / 2; /* states of the beginning, for each way */
    ir_t *in = ARENA_ARRAY(c->r->a, ir_t, (size_t)half + 1);
    if (!in || !way.name.p || !kind_of(part->cls))
        return false;
    in[0] = c->in[0];
    for (uint32_t i = 0; i < half; i++)
        in[1 + i] = c->in[1 + i + (backwards ? half : 0)];
    way.in = in;
    way.n_in = 1 + half;
    bool run = run_layer(&way, &p);
    *n = way.n_out;
    return run;
}

bool keras_bidirectional(keras_call *c)
{
    const json_value *config, *other;
    str cls = keras_object(keras_get(c->config, "layer"), &config),
        back = keras_object(keras_get(c->config, "backward_layer"), &other);
    ir_t forth_out[4], back_out[4];
    uint32_t n = 0, m = 0;
    if (!c->n_in || !cls.n)
        return false;
    keras_layer *forth = keras_part(c, "forward_layer|_forward_layer", cls, config);
    keras_layer *backward = back.n ? keras_part(c, "backward_layer|_backward_layer", back, other)
                                   : keras_part(c, "backward_layer|_backward_layer", cls, config);
    if (!forth || !backward || !run_way(c, forth, false, forth_out, &n) ||
        !run_way(c, backward, true, back_out, &m) || !n || n != m)
        return false;
    const json_value *mode = json_get(c->config, "merge_mode");
    if (mode && mode->kind == JSON_NULL) {
        c->out[0] = forth_out[0];
        c->out[1] = back_out[0];
        c->n_out = 2;
    } else {
        str how = keras_word(c->config, "merge_mode", "concat");
        keras_give(c, merge_ways(c, how, forth_out[0], back_out[0]));
    }
    for (uint32_t i = 1; i < n; i++)
        c->out[c->n_out++] = forth_out[i];
    for (uint32_t i = 1; i < n; i++)
        c->out[c->n_out++] = back_out[i];
    return c->out[0].id != IR_NONE;
}

/* ---- steps that convolve ---- */

/* [kernel..., a, 4 * filters] */
static ir_t conv_weight(keras_call *cell, const char *name, int n, const int64_t *kernel,
                        const int64_t channels[2])
{
    int64_t dims[IR_KIT_RANK];
    for (int d = 0; d < n; d++)
        dims[d] = kernel[d];
    dims[n] = channels[0];
    dims[n + 1] = channels[1];
    return keras_weight(cell, name, KERAS_TRAINED, n + 2, dims);
}

static int64_t stepped(int64_t in, int64_t kernel, int64_t stride, bool same)
{
    return in < 0        ? -1
           : same        ? (in + stride - 1) / stride
           : in < kernel ? 0
                         : (in - kernel) / stride + 1;
}

/* ConvLSTM1D to 3D with channels last: a row of the domain "keras". */
bool keras_conv_lstm(keras_call *c)
{
    int n = c->l->row->arg;
    int64_t kernel[3], stride[3] = {1, 1, 1}, dilation[3] = {1, 1, 1};
    const int64_t filters = keras_int(c->config, "filters|nb_filter", -1);
    bool same = str_is(keras_word(c->config, "padding|border_mode", "valid"), "same");
    const plan p = plan_of(c->config);
    if (c->n_in != 1 || c->in[0].rank != n + 3 ||
        !keras_ints(c->config, "kernel_size", kernel, n) || filters < 1 || filters > MAX_UNITS ||
        p.state || keras_channels_first(c->config))
        return false;
    keras_ints(c->config, "strides|subsample", stride, n);
    keras_ints(c->config, "dilation_rate", dilation, n);
    ir_t x = c->in[0], y = {.dtype = x.dtype, .rank = 0};
    y.d[y.rank++] = x.d[0];
    if (p.sequences)
        y.d[y.rank++] = x.d[1];
    for (int d = 0; d < n; d++) {
        if (kernel[d] < 1 || kernel[d] > KERAS_MAX_WINDOW || stride[d] < 1 ||
            stride[d] > KERAS_MAX_WINDOW || dilation[d] < 1 || dilation[d] > KERAS_MAX_WINDOW)
            return false;
        y.d[y.rank++] = stepped(x.d[d + 2], (kernel[d] - 1) * dilation[d] + 1, stride[d], same);
    }
    y.d[y.rank++] = filters;
    keras_call cell = *c;
    cell.l = keras_part(c, "cell", c->l->cls, c->config);
    if (!cell.l)
        return false;
    const int64_t wide = 4 * filters, in[] = {x.d[n + 2], wide}, state[] = {filters, wide};
    ir_t w = conv_weight(&cell, "kernel", n, kernel, in),
         r = conv_weight(&cell, "recurrent_kernel", n, kernel, state), b = {.id = IR_NONE};
    bool biased = keras_bool(c->config, "use_bias", true);
    if (biased)
        b = keras_weight(&cell, "bias", KERAS_TRAINED, 1, &wide);
    if (w.id == IR_NONE || r.id == IR_NONE || (biased && b.id == IR_NONE))
        return false;
    ir_attr_spec attrs[] = {IR_SPEC_TEXT("auto_pad", same ? "SAME_UPPER" : "VALID"),
                            IR_SPEC_INTS("strides", n, stride),
                            IR_SPEC_INTS("dilations", n, dilation),
                            IR_SPEC_INT("return_sequences", p.sequences), KERAS_END};
    return keras_give(c,
                      keras_step_in(c, KERAS_DOMAIN, NULL, "ConvLSTM",
                                    (ir_id[]){x.id, w.id, r.id, b.id}, biased ? 4 : 3, attrs, y));
}
