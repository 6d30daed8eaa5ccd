/* Recurrent layers: X [T,B,I] (layout 1: [B,T,I]), W [D,G*H,I], R [D,G*H,H] with D directions and G
 * gates (RNN 1, GRU 3, LSTM 4).
 *
 * Counting: T*B*D*G*H*(I+H) MACs and, per hidden unit and step, the cell's own arithmetic; a bias
 * is two adds per gate (W's and R's), peepholes 3 mul + 3 add. Shorter sequence_lens do not count
 * less.
 */
#include "ops/op_util_contract.h"

typedef struct sizes {
    int64_t steps, batch, input, dirs, hidden;
    bool batch_first;
} sizes;

static int64_t directions(const op_ctx *c)
{
    return str_is(op_attr_str(c, "direction", "forward"), "bidirectional") ? 2 : 1;
}

static sizes sizes_of(const op_ctx *c)
{
    bool first = op_attr_int(c, "layout", 0) != 0, known = op_rank(c, 0) == 3;
    int64_t hidden = op_attr_int(c, "hidden_size", 0);
    return (sizes){.steps = known ? op_dim(c, 0, first) : -1,
                   .batch = known ? op_dim(c, 0, !first) : -1,
                   .input = known ? op_dim(c, 0, 2) : -1,
                   .dirs = directions(c),
                   .hidden = hidden > 0 ? hidden : op_dim(c, 2, 2),
                   .batch_first = first};
}

static assay_status check_weights(op_ctx *c, const sizes *s, int64_t gates)
{
    int64_t width;
    for (uint32_t i = 0; i < 3; i++)
        if (op_rank(c, i) >= 0 && op_rank(c, i) != 3)
            return op_fail(c, "X %s, W %s and R %s must have rank 3", op_shape_text(c, 0),
                           op_shape_text(c, 1), op_shape_text(c, 2));
    if (s->input >= 0 && op_dim(c, 1, 2) >= 0 && s->input != op_dim(c, 1, 2))
        return op_fail(c, "X %s and W %s do not match", op_shape_text(c, 0), op_shape_text(c, 1));
    if (s->hidden < 0 || op_dim(c, 1, 1) < 0)
        return ASSAY_OK;
    if (!num_mul(s->hidden, gates, &width) || width != op_dim(c, 1, 1))
        return op_fail(c, "W %s does not match %lld gates of %lld units", op_shape_text(c, 1),
                       (long long)gates, (long long)s->hidden);
    return ASSAY_OK;
}

/* What the state begins with, for every sample of the batch: initial_h and, for an LSTM, initial_c. */
static assay_status check_state(op_ctx *c, const sizes *s)
{
    for (uint32_t i = 5; i < 7; i++) {
        int64_t given = op_rank(c, i) == 3 ? op_dim(c, i, !s->batch_first) : -1;
        if (given >= 0 && s->batch >= 0 && given != s->batch)
            return op_fail(c, "X %s has %lld samples, the initial state %s has %lld",
                           op_shape_text(c, 0), (long long)s->batch, op_shape_text(c, i),
                           (long long)given);
    }
    return ASSAY_OK;
}

/* What one hidden unit does in one step beside the contraction. */
typedef struct cell {
    uint64_t gates, add, mul, special;
} cell;
static const cell simple = {.gates = 1, .special = 1};
/* h = (1 - z) * n + z * h, and r * h inside n. */
static const cell gru = {.gates = 3, .add = 2, .mul = 3, .special = 3};
/* c = f * c + i * g; h = o * tanh(c); with peepholes in slot 7, 3 mul + 3 add more. */
static const cell lstm = {.gates = 4, .add = 1, .mul = 3, .special = 5};

/* Y, Y_h and, for an LSTM, Y_c. */
static assay_status rnn_infer(op_ctx *c)
{
    int64_t gates = (int64_t)((const cell *)c->row->with)->gates;
    sizes s = sizes_of(c);
    TRY(check_weights(c, &s, gates));
    TRY(check_state(c, &s));
    int64_t y[2][4] = {{s.steps, s.dirs, s.batch, s.hidden}, {s.batch, s.steps, s.dirs, s.hidden}};
    int64_t state[2][3] = {{s.dirs, s.batch, s.hidden}, {s.batch, s.dirs, s.hidden}};
    TRY(op_set(c, 0, op_dtype(c, 0), 4, y[s.batch_first]));
    TRY(op_set(c, 1, op_dtype(c, 0), 3, state[s.batch_first]));
    return op_set(c, 2, op_dtype(c, 0), 3, state[s.batch_first]);
}

static void rnn_cost(const op_ctx *c, op_cost *k)
{
    cell u = *(const cell *)c->row->with;
    sizes s = sizes_of(c);
    if (s.steps < 0 || s.batch < 0 || s.input < 0 || s.hidden < 0)
        return;
    uint64_t units = sat_mul(op_mul3((uint64_t)s.steps, (uint64_t)s.batch, (uint64_t)s.dirs),
                             (uint64_t)s.hidden);
    uint64_t width = sat_add((uint64_t)s.input, (uint64_t)s.hidden);
    op_add_mac(k, op_mul3(units, u.gates, width));
    if (op_has(c, 3))
        u.add += 2 * u.gates;
    if (c->row->with == &lstm && op_has(c, 7)) {
        u.add += 3;
        u.mul += 3;
    }
    op_count(c, k, &k->add, sat_mul(units, u.add));
    op_count(c, k, &k->mul, sat_mul(units, u.mul));
    op_count(c, k, &k->special, sat_mul(units, u.special));
}

/* Steps come first unless the layout says otherwise. */
static int rnn_batch_axis(const ir_node *n)
{
    return ir_attr_int(n, "layout", 0) ? 0 : 1;
}

#define RECURRENT(op, family, since, words, unit, slots, inputs, outputs)                          \
    {                                                                                              \
        OP_ROW("", op, family, since, words, rnn_infer, rnn_cost),                                 \
            OP_SLOTS(3, inputs, 0, outputs), .with = unit, .weights = slots, .aux = 0x70,          \
                                             .backward = OP_BW_CONTRACTION, .saves = OP_SAVE_BOTH, \
                                             .batch_axis = rnn_batch_axis                          \
    }

static const op_row rows[] = {
    RECURRENT("RNN", "rnn", "1,7,14,22",
              "T*B*dirs*H*(I+H) MACs; per unit and step: 1 special, 2 add with bias", &simple,
              1 << 1 | 1 << 2 | 1 << 3, 6, 2),
    RECURRENT("GRU", "gru", "1,3,7,14,22",
              "T*B*dirs*3*H*(I+H) MACs; per unit and step: 3 special + 3 mul + 2 add, 6 add with "
              "bias",
              &gru, 1 << 1 | 1 << 2 | 1 << 3, 6, 2),
    RECURRENT("LSTM", "lstm", "1,7,14,22",
              "T*B*dirs*4*H*(I+H) MACs; per unit and step: 5 special + 3 mul + 1 add, 8 add with "
              "bias, 3 mul + 3 add with peepholes",
              &lstm, 1 << 1 | 1 << 2 | 1 << 3 | 1 << 7, 8, 3),
};

const op_rows op_rnn_rows = OP_ROWS(rows);
