/* ATen normalisation and recurrent layers. */
#include <string.h>

#include "formats/aten/aten.h"

/* A vector of n equal numbers where the source has none. */
static ir_id or_filled(aten_call *c, int i, int64_t n, float v)
{
    enum { MOST = 1 << 16 };
    if (aten_tensor(c, i) != IR_NONE || n < 1 || n > MOST)
        return aten_tensor(c, i);
    float *list = ARENA_ARRAY(c->t->a, float, (size_t)n);
    for (int64_t k = 0; list && k < n; k++)
        list[k] = v;
    return list ? foreign_floats(c->t->f, c->l.name, "filled", list, (uint32_t)n) : IR_NONE;
}

static int64_t channels_of(aten_call *c)
{
    const op_info *x = aten_info(c->t, aten_tensor(c, 0));
    return x->rank >= 2 ? x->dims[1] : -1;
}

static bool batch_norm(aten_call *c, double eps, uint32_t n_out)
{
    int64_t n = channels_of(c);
    ir_id in[] = {aten_tensor(c, 0), or_filled(c, 1, n, 1), or_filled(c, 2, n, 0),
                  aten_tensor(c, 3), aten_tensor(c, 4)};
    const ir_attr_spec attrs[] = {IR_SPEC_FLOAT("epsilon", eps), LAYER_END};
    for (int i = 0; i < 5; i++)
        if (in[i] == IR_NONE)
            return false;
    return aten_node(c, "BatchNormalization", in, 5, attrs) &&
           (n_out == 1 || aten_first_of(c, n_out));
}

/* batch_norm(x, weight, bias, running_mean, running_var, training, momentum, eps, cudnn) */
bool aten_batch_norm(aten_call *c)
{
    return batch_norm(c, aten_float(c, 7, 1e-5), 1);
}

/* _native_batch_norm_legit_no_training(x, weight, bias, mean, var, momentum, eps): three outputs, of which one is used.
 * native_batch_norm has `training` before the momentum. */
bool aten_native_batch_norm(aten_call *c)
{
    bool flag = c->arg[5].kind == ATEN_BOOL;
    if (flag && aten_flag(c, 5, false))
        return false;
    return batch_norm(c, aten_float(c, flag ? 7 : 6, 1e-5), 3);
}

static ir_id ones_like_shape(aten_call *c, int i, const int64_t *dims, int n, double v)
{
    if (aten_tensor(c, i) != IR_NONE)
        return aten_tensor(c, i);
    ir_id shape = layer_ints(&c->l, "shape", dims, n);
    return aten_step2(c, "Expand", aten_like(c, v, aten_dtype(c, 0)), shape);
}

/* layer_norm(x, shape, weight, bias, eps, cudnn), native_layer_norm: three outputs. */
bool aten_layer_norm(aten_call *c)
{
    int64_t shape[LAYER_LIST];
    int n = aten_ints(c, 1, shape);
    if (n < 1 || aten_tensor(c, 0) == IR_NONE)
        return false;
    ir_id in[] = {aten_tensor(c, 0), ones_like_shape(c, 2, shape, n, 1), aten_tensor(c, 3)};
    uint32_t n_in = in[2] == IR_NONE ? 2 : 3;
    const ir_attr_spec attrs[] = {IR_SPEC_INT("axis", -n),
                                  IR_SPEC_FLOAT("epsilon", aten_float(c, 4, 1e-5)), LAYER_END};
    return aten_node(c, "LayerNormalization", in, n_in, attrs) &&
           (!str_starts(c->op, "native") || aten_first_of(c, 3));
}

/* x / sqrt(mean(x^2) + eps) * weight: rms_norm(x, shape, weight, eps) */
bool aten_rms_norm(aten_call *c)
{
    int64_t shape[LAYER_LIST], axes[LAYER_LIST];
    int n = aten_ints(c, 1, shape);
    ir_id x = aten_tensor(c, 0), weight = aten_tensor(c, 2);
    ir_dtype t = aten_dtype(c, 0);
    if (n < 1 || x == IR_NONE)
        return false;
    for (int i = 0; i < n; i++)
        axes[i] = i - n;
    ir_id square = aten_step2(c, "Mul", x, x);
    const ir_attr_spec attrs[] = {IR_SPEC_INTS("axes", n, axes), LAYER_END};
    ir_id mean = aten_step(c, "ReduceMean", &square, 1, attrs);
    ir_id sum = aten_step2(c, "Add", mean, aten_like(c, aten_float(c, 3, 1.1920929e-7), t));
    ir_id root = aten_step(c, "Sqrt", &sum, 1, NULL);
    if (weight == IR_NONE)
        return aten_node2(c, "Div", x, root);
    return aten_node2(c, "Mul", aten_step2(c, "Div", x, root), weight);
}

/* The groups are instances of a reshaped tensor; then scale and shift per channel. */
static ir_id grouped(aten_call *c, int64_t groups, double eps)
{
    enum { ONES = 1 << 16 };
    ir_id x = aten_tensor(c, 0);
    if (groups < 1 || groups > ONES)
        return IR_NONE;
    ir_id flat = layer_step_reshape(&c->l, x, (const int64_t[]){0, groups, -1}, 3);
    float *list = ARENA_ARRAY(c->t->a, float, 2 * (size_t)groups);
    for (int64_t i = 0; list && i < groups; i++)
        list[i] = 1;
    if (!list)
        return IR_NONE;
    ir_id in[] = {flat, foreign_floats(c->t->f, c->l.name, "one", list, (uint32_t)groups),
                  foreign_floats(c->t->f, c->l.name, "zero", list + groups, (uint32_t)groups)};
    const ir_attr_spec attrs[] = {IR_SPEC_FLOAT("epsilon", eps), LAYER_END};
    ir_id y = aten_step(c, "InstanceNormalization", in, 3, attrs);
    return aten_step2(c, "Reshape", y, aten_step(c, "Shape", &x, 1, NULL));
}

/* [C] as [C, 1, ..., 1] */
static ir_id per_channel(aten_call *c, ir_id v)
{
    int64_t dims[IR_MAX_RANK];
    int rank = aten_rank(c, 0);
    for (int i = 0; i < rank - 1; i++)
        dims[i] = i ? 1 : -1;
    return layer_step_reshape(&c->l, v, dims, rank - 1);
}

static bool group_norm(aten_call *c, int64_t groups, int weight, int bias, double eps)
{
    ir_id w = aten_tensor(c, weight), b = aten_tensor(c, bias);
    if (aten_tensor(c, 0) == IR_NONE || aten_rank(c, 0) < 2)
        return false;
    ir_id y = grouped(c, groups, eps);
    if (y == IR_NONE)
        return false;
    if (w != IR_NONE)
        y = aten_step2(c, "Mul", y, per_channel(c, w));
    bool made = b != IR_NONE ? aten_node2(c, "Add", y, per_channel(c, b))
                             : aten_node(c, "Identity", &y, 1, NULL);
    return made && (!str_starts(c->op, "native") || aten_first_of(c, 3));
}

/* group_norm(x, groups, weight, bias, eps) */
bool aten_group_norm(aten_call *c)
{
    return group_norm(c, aten_int(c, 1, 0), 2, 3, aten_float(c, 4, 1e-5));
}

/* native_group_norm(x, weight, bias, N, C, HxW, groups, eps) */
bool aten_native_group_norm(aten_call *c)
{
    return group_norm(c, aten_int(c, 6, 0), 1, 2, aten_float(c, 7, 1e-5));
}

/* instance_norm(x, weight, bias, mean, var, use_input_stats, momentum, eps, cudnn) */
bool aten_instance_norm(aten_call *c)
{
    int64_t n = channels_of(c);
    if (!aten_flag(c, 5, true) && aten_tensor(c, 3) != IR_NONE)
        return aten_batch_norm(c);
    ir_id in[] = {aten_tensor(c, 0), or_filled(c, 1, n, 1), or_filled(c, 2, n, 0)};
    const ir_attr_spec attrs[] = {IR_SPEC_FLOAT("epsilon", aten_float(c, 7, 1e-5)), LAYER_END};
    return in[0] != IR_NONE && in[1] != IR_NONE && in[2] != IR_NONE &&
           aten_node(c, "InstanceNormalization", in, 3, attrs);
}

/* ---- recurrent layers ---- */

typedef struct rnn {
    const char *op;
    int gates;
    const int *order; /* ONNX's gates among PyTorch's */
    bool biased, both, batch_first;
    int64_t layers;
    ir_id weights[512];
    int n_weights, per; /* tensors of one direction */
} rnn;

/* [gates * hidden, k] with the gates in ONNX's order and a leading axis for the direction. */
static ir_id ordered(aten_call *c, const rnn *r, ir_id w)
{
    enum { MOST_GATES = 4 };
    const op_info *info = aten_info(c->t, w);
    int64_t hidden = info->rank > 0 ? info->dims[0] / r->gates : 0;
    ir_id parts[MOST_GATES], axes = layer_ints(&c->l, "axes", (const int64_t[]){0}, 1);
    const ir_attr_spec join[] = {IR_SPEC_INT("axis", 0), LAYER_END};
    for (int g = 0; r->gates > 1 && g < r->gates; g++) {
        int64_t from = r->order[g] * hidden, to = from + hidden;
        ir_id in[] = {w, layer_ints(&c->l, "from", &from, 1), layer_ints(&c->l, "to", &to, 1),
                      axes};
        parts[g] = aten_step(c, "Slice", in, 4, NULL);
    }
    ir_id all = r->gates > 1 ? aten_step(c, "Concat", parts, (uint32_t)r->gates, join) : w;
    return aten_step2(c, "Unsqueeze", all, axes);
}

static ir_id joined(aten_call *c, const ir_id *parts, int n, int64_t axis)
{
    const ir_attr_spec attrs[] = {IR_SPEC_INT("axis", axis), LAYER_END};
    return n == 1 ? parts[0] : aten_step(c, "Concat", parts, (uint32_t)n, attrs);
}

/* W, R and B of one layer, both directions. */
static void layer_weights(aten_call *c, const rnn *r, int64_t layer, ir_id out[3])
{
    ir_id w[2], u[2], b[2] = {IR_NONE, IR_NONE};
    int dirs = r->both ? 2 : 1;
    for (int d = 0; d < dirs; d++) {
        const ir_id *own = r->weights + (layer * dirs + d) * r->per;
        w[d] = ordered(c, r, own[0]);
        u[d] = ordered(c, r, own[1]);
        if (r->biased)
            b[d] = joined(c, (ir_id[]){ordered(c, r, own[2]), ordered(c, r, own[3])}, 2, 1);
    }
    out[0] = joined(c, w, dirs, 0);
    out[1] = joined(c, u, dirs, 0);
    out[2] = r->biased ? joined(c, b, dirs, 0) : IR_NONE;
}

/* States of this layer: rows [layer * dirs, + dirs) of the given ones. */
static ir_id state_part(aten_call *c, ir_id all, int64_t layer, int dirs)
{
    int64_t from = layer * dirs, to = from + dirs;
    if (all == IR_NONE)
        return IR_NONE;
    ir_id in[] = {all, layer_ints(&c->l, "from", &from, 1), layer_ints(&c->l, "to", &to, 1),
                  layer_ints(&c->l, "axes", (const int64_t[]){0}, 1)};
    return aten_step(c, "Slice", in, 4, NULL);
}

/* [T, dirs, N, H] to [T, N, dirs * H] */
static ir_id joined_directions(aten_call *c, ir_id y, bool both)
{
    if (!both)
        return aten_step2(c, "Squeeze", y, layer_ints(&c->l, "axes", (const int64_t[]){1}, 1));
    ir_id turned = layer_step_transpose(&c->l, y, (const int64_t[]){0, 2, 1, 3}, 4);
    return layer_step_reshape(&c->l, turned, (const int64_t[]){0, 0, -1}, 3);
}

typedef struct rnn_states {
    ir_id h, c; /* given; IR_NONE: zero */
    ir_id last_h[64], last_c[64];
} rnn_states;

static ir_id run_layer(aten_call *c, const rnn *r, int64_t layer, ir_id x, rnn_states *s)
{
    bool lstm = strcmp(r->op, "LSTM") == 0, gru = strcmp(r->op, "GRU") == 0;
    int dirs = r->both ? 2 : 1;
    ir_id w[3], out[3];
    layer_weights(c, r, layer, w);
    const op_info *u = aten_info(c->t, r->weights[layer * dirs * r->per + 1]);
    int64_t hidden = u->rank == 2 ? u->dims[1] : 0;
    ir_id in[] = {x, w[0], w[1], w[2], IR_NONE, state_part(c, s->h, layer, dirs), IR_NONE};
    if (lstm)
        in[6] = state_part(c, s->c, layer, dirs);
    ir_attr_spec attrs[] = {IR_SPEC_INT("hidden_size", hidden),
                            IR_SPEC_TEXT("direction", r->both ? "bidirectional" : "forward"),
                            gru ? IR_SPEC_INT("linear_before_reset", 1) : LAYER_END, LAYER_END};
    for (int i = 0; i < 3; i++)
        out[i] = foreign_inner(c->t->f, c->l.name, r->op);
    foreign_layer l = c->l;
    l.out = out;
    l.n_out = lstm ? 3 : 2;
    layer_node(&l, NULL, r->op, in, lstm ? 7 : 6, attrs);
    s->last_h[layer] = out[1];
    s->last_c[layer] = out[2];
    return joined_directions(c, out[0], r->both);
}

static bool rnn_outputs(aten_call *c, const rnn *r, ir_id y, const rnn_states *s)
{
    const int64_t turn[] = {1, 0, 2};
    const ir_attr_spec perm[] = {IR_SPEC_INTS("perm", 3, turn), LAYER_END};
    const ir_attr_spec join[] = {IR_SPEC_INT("axis", 0), LAYER_END};
    bool lstm = strcmp(r->op, "LSTM") == 0;
    uint32_t n = (uint32_t)r->layers;
    if (!aten_outs(c, lstm ? 3 : 2))
        return false;
    bool made = layer_into(&c->l, r->batch_first ? "Transpose" : "Identity", &y, 1,
                           r->batch_first ? perm : NULL, c->l.out[0]) != IR_NONE;
    made = made && layer_into(&c->l, "Concat", s->last_h, n, join, c->l.out[1]) != IR_NONE;
    return made &&
           (!lstm || layer_into(&c->l, "Concat", s->last_c, n, join, c->l.out[2]) != IR_NONE);
}

static bool read_rnn(aten_call *c, rnn *r)
{
    static const int lstm[] = {0, 3, 1, 2}, gru[] = {1, 0, 2}, plain[] = {0};
    bool is_lstm = strcmp(r->op, "LSTM") == 0, is_gru = strcmp(r->op, "GRU") == 0;
    r->gates = is_lstm ? 4 : is_gru ? 3 : 1;
    r->order = is_lstm ? lstm : is_gru ? gru : plain;
    r->n_weights = aten_tensors(c, 2, r->weights, 512);
    r->biased = aten_flag(c, 3, true);
    r->layers = aten_int(c, 4, 1);
    r->both = aten_flag(c, 7, false);
    r->batch_first = aten_flag(c, 8, false);
    r->per = r->biased ? 4 : 2;
    return aten_tensor(c, 0) != IR_NONE && aten_rank(c, 0) == 3 && r->layers >= 1 &&
           r->layers <= 64 && r->n_weights == r->layers * (r->both ? 2 : 1) * r->per;
}

/* lstm(x, [h, c], weights, biased, layers, dropout, training, bidirectional, batch_first); gru and rnn_tanh have h alone. */
bool aten_rnn(aten_call *c)
{
    rnn *r = ARENA_NEW(c->t->a, rnn);
    rnn_states *s = ARENA_NEW(c->t->a, rnn_states);
    ir_id states[2] = {IR_NONE, IR_NONE};
    if (!r || !s)
        return false;
    r->op = c->row->op;
    if (!read_rnn(c, r))
        return false;
    if (c->arg[1].kind == ATEN_TENSOR)
        states[0] = c->arg[1].id;
    else if (aten_tensors(c, 1, states, 2) < 1)
        return false;
    s->h = states[0];
    s->c = states[1];
    ir_id x = aten_tensor(c, 0);
    if (r->batch_first)
        x = layer_step_transpose(&c->l, x, (const int64_t[]){1, 0, 2}, 3);
    for (int64_t i = 0; i < r->layers; i++)
        x = run_layer(c, r, i, x, s);
    return rnn_outputs(c, r, x, s);
}
